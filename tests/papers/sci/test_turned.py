"""What methods mend and break: its counts, and the picture with its switches."""

from types import SimpleNamespace

import numpy as np
import pytest
from bs4 import BeautifulSoup

from sci_book.papers.sci.chapters import turned
from sci_book.papers.shared import frame

RIGHT = {
    "base": np.array([1, 1, 0, 0, np.nan, 1, 0, 1]),
    "SCI5": np.array([1, 0, 1, 1, 1.0, 0, 0, 1]),
}


class Model(SimpleNamespace):
    """A model with answers by name, all rows groups of their own."""

    shown = "<mine>"
    clusters = np.array([f"g{row}" for row in range(8)], dtype=object)

    @property
    def trainings(self):
        return [self]

    def right(self, name):
        return RIGHT[name]


def lines(betas=(0.3, 0.8), questions=("all", "B")):
    model, every = Model(), np.ones(8, dtype=bool)
    return frame.measured(
        turned.turned(model, "SCI5", way, lambda _: every, method=name, beta=beta, questions=asked)
        for beta in betas
        for asked in questions
        for name in ("SCI5", "second choice")
        for way in turned.WAYS
    )


def test_a_row_without_an_answer_is_neither_mended_nor_broken_and_not_counted():
    of = lines((0.3,), ("all",)).set_index(["method", "way"]).loc["SCI5"]
    assert of["n"].tolist() == [7, 7]
    assert of["estimate"].to_dict() == pytest.approx({"breaks": 200 / 7, "mends": 200 / 7})


def test_every_state_is_in_the_page_one_is_chosen_and_numbers_are_those_of_the_lines():
    html = turned.switched(lines(), (0.8, "all"), ["second choice"]).html
    page = BeautifulSoup(html, "html.parser")
    chosen = {each["class"][0] for each in page.select("input[checked]")}
    assert chosen == {"beta1", "questions0"}
    panels = page.find_all("table")
    assert len(panels) == 4 and {frozenset(each["class"][1:]) for each in panels} == {
        frozenset({f"beta{beta}", f"questions{asked}"}) for beta in range(2) for asked in range(2)
    }
    (row, control) = panels[0].tbody.find_all("tr")
    assert control["class"] == ["control"] and not row.get("class")
    assert [cell.text for cell in row.find_all("td")] == ["28.6", "28.6", "42.9", "0.0"]
    assert panels[0].caption.text == "<mine>, β 0.3, all: 7 rows, %"


def test_bars_of_one_choice_of_rows_have_one_scale_and_dots_are_trainings():
    tidy = lines()
    tidy.loc[tidy["method"] == "second choice", "estimate"] = 99.0
    tidy.loc[
        (tidy["method"] == "SCI5") & (tidy["questions"] == "all") & (tidy["beta"] == 0.3),
        "estimate",
    ] = 50.0
    tidy["others"] = [(10.0, np.nan)] * len(tidy)
    page = BeautifulSoup(turned.switched(tidy, (0.3, "all"), ["second choice"]).html, "html.parser")
    panels = page.find_all("table")
    bars = {"".join(each["class"][1:]): each.select_one("td.mends") for each in panels}
    assert bars["beta0questions0"]["style"] == "--at:100.0"
    assert bars["beta1questions0"]["style"] == "--at:57.1"
    assert bars["beta0questions1"]["style"] == "--at:100.0"  # its own rows
    cut_off = panels[0].select("tr.control td.mends")
    assert [each["style"] for each in cut_off] == ["--at:100.0"]
    assert [dot["style"] for dot in bars["beta0questions0"].find_all("i")] == ["--at:20.0"]


def test_what_is_not_recorded_is_a_dash():
    tidy = lines((0.3,), ("all",))
    tidy["estimate"], tidy["n"] = np.nan, 0
    tidy["others"] = [()] * len(tidy)
    page = BeautifulSoup(turned.switched(tidy, (0.3, "all"), []).html, "html.parser")
    assert [cell.text for cell in page.tbody.tr.find_all("td")] == ["—"] * 4
