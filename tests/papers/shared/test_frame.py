"""One frame: lines with their own intervals, over trainings; and one interval a number."""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pytest
from matplotlib.collections import PathCollection

from sci_book.papers.shared import frame, tables
from sci_book.results.stamps import NotRecorded
from sci_book.results.statistics import apart, difference, measure, ratio
from tests.papers.shared.committed import PAGES, shown

pytestmark = pytest.mark.quick


@dataclass(eq=False)
class Model:
    """A training with values of its own, on rows of its own."""

    values: np.ndarray
    shown: str = "pocket X"
    trainings: list = field(default_factory=list)

    @property
    def clusters(self):
        return np.array([f"g{place // 2}" for place in range(len(self.values))], dtype=object)


def trained(count, seed=0):
    generator = np.random.default_rng(seed)
    made = [Model(generator.choice([-1.0, 0.0, 1.0, np.nan], 60)) for _ in range(count)]
    made[0].trainings = made
    return made[0]


def values_of(training):
    return training.values


def rows_of(training):
    return np.arange(len(training.values)) < 50


def columns(training):
    kept = rows_of(training) & np.isfinite(training.values)
    return np.stack([training.values[kept], np.ones(kept.sum())]), training.clusters[kept]


def test_of_few_trainings_the_estimate_is_the_first_ones_and_the_others_are_dots():
    model = trained(3)
    (made,) = frame.measured([frame.line(model, values_of, rows_of, subset="B")]).to_dict("records")
    (first, clusters), *others = map(columns, model.trainings)
    expected = difference(first[0], clusters).times(100)
    assert (made["estimate"], made["low"], made["high"], made["n"]) == expected[:4]
    assert made["others"] == tuple(100 * values[0].mean() for values, _ in others)
    assert (made["model"], made["subset"]) == ("pocket X", "B")


def test_of_four_trainings_the_estimate_is_their_mean_with_an_interval_over_them():
    model = trained(4)
    (made,) = frame.measured([frame.line(model, values_of, rows_of)]).to_dict("records")
    expected = measure(list(map(columns, model.trainings)), ratio, span=(-1.0, 1.0)).times(100)
    assert (made["estimate"], made["low"], made["high"]) == expected[:3]
    alone = [100 * values[0].mean() for values, _ in map(columns, model.trainings)]
    assert made["others"] == pytest.approx(alone) and made["trainings"] == 4


def test_a_training_without_the_answers_is_left_out_and_without_the_first_ones_there_is_none():
    model = trained(3)

    def only(*places):
        def values(training):
            if training not in [model.trainings[place] for place in places]:
                raise NotRecorded("answers alone")
            return training.values

        return values

    (made,) = frame.measured([frame.line(model, only(0, 2), rows_of)]).to_dict("records")
    assert len(made["others"]) == 1 and not made["absent"]
    none = frame.measured([frame.line(model, only(1), rows_of, what="it", claim="greater")])
    assert none.loc[0, ["n", "absent", "verdict"]].tolist() == [0, True, "not comparable"]
    shown = frame.table(none, ("what",), ("model",), name="t", caption="c", show=("here", "n"))
    assert shown.frame.loc["it"].tolist() == [tables.NOT_RECORDED, "0"]


def test_a_model_without_rows_has_a_dash():
    none = frame.line(trained(1), values_of, lambda training: np.zeros(60, dtype=bool), subset="B")
    found = frame.table(
        frame.measured([none]), ("model",), ("subset",), name="t", caption="c", show=("here", "n")
    )
    assert found.frame.loc["pocket X"].tolist() == [tables.MISSING, "0"]


def test_one_thing_shown_has_no_head_beside_its_columns():
    tidy = frame.measured([frame.line(trained(1), values_of, rows_of, subset="B")])
    one, two = (
        frame.table(tidy, ("model",), ("subset",), name="t", caption="c", show=show).frame
        for show in (("here",), ("here", "n"))
    )
    assert list(one) == ["B"] and list(two) == [("B", "here"), ("B", "n")]
    assert one["B"].tolist() == two["B", "here"].tolist()


def test_a_column_that_no_line_has_is_named_with_those_there_are():
    tidy = frame.measured([frame.line(trained(1), values_of, rows_of)])
    with pytest.raises(ValueError, match=r"show names \['paper'\], .* expected some of .*'here'"):
        frame.table(tidy, ("model",), (), name="t", caption="c")


@pytest.mark.parametrize("count", [3, 4])
def test_a_mean_less_that_of_other_rows_has_the_interval_of_both(count):
    model = trained(count)

    def sides(training):
        kept = [rows_of(training) & np.isfinite(training.values) & part
                for part in (np.arange(60) < 20, np.arange(60) >= 20)]  # fmt: skip
        return tuple((training.values[mask], training.clusters[mask]) for mask in kept)

    made = frame.line(
        model, values_of, lambda training: np.arange(60) < 20,
        less=lambda training: rows_of(training) & (np.arange(60) >= 20),
    )  # fmt: skip
    (made,) = frame.measured([made]).to_dict("records")
    pairs = [sides(training) for training in model.trainings]
    expected = apart(pairs if count == 4 else pairs[:1]).times(100)
    assert (made["estimate"], made["low"], made["high"], made["n"]) == expected[:4]
    gaps = [100 * (first[0].mean() - second[0].mean()) for first, second in pairs]
    mean = np.mean(gaps) if count == 4 else gaps[0]
    assert made["key"] == expected.key and made["estimate"] == pytest.approx(mean)
    assert made["others"] == pytest.approx(gaps[1:] if count == 3 else gaps)


def test_a_score_is_of_what_each_training_has():
    def largest(trainings):
        return measure(trainings, lambda sums: sums[0] * 2)

    def score(model):
        (made,) = frame.measured([frame.score(model, columns, largest, what="twice")]).to_dict(
            "records"
        )
        return made

    few, four = score(trained(3)), score(trained(4))
    assert few["estimate"] == pytest.approx(200 * columns(trained(3))[0][0].sum())
    assert len(few["others"]) == 2 and few["what"] == "twice"
    assert four["estimate"] == largest(list(map(columns, trained(4).trainings))).estimate * 100
    (alone,) = frame.measured([frame.single("a rule", largest([columns(trained(1))]))]).to_dict(
        "records"
    )
    assert (alone["model"], alone["key"], alone["others"]) == (
        "a rule",
        score(trained(1))["key"],
        (),
    )


def test_a_page_without_a_model_says_so():
    nothing = frame.measured([], "subset")
    assert "subset" in nothing
    for across in ((), ("subset",)):
        made = frame.table(nothing, ("model",), across, name="t", caption="Levels")
        assert made._repr_html_() == "<p>Levels: none.</p>"
    (text,) = frame.dots(nothing, ("model", "subset"), "method", xlabel="points").axes[0].texts
    assert "No model" in text.get_text()


def test_a_number_keeps_its_key_in_every_unit_and_another_number_has_another():
    lines = [frame.line(trained(1, seed), values_of, rows_of) for seed in (0, 1)]
    one, other = frame.measured(lines)["key"]
    again = difference(columns(trained(1))[0][0], columns(trained(1))[1]).times(1)
    assert re.fullmatch("[0-9a-f]{12}", one) and one == again.key != other
    shown_as = frame.table(
        frame.measured([frame.line(trained(1), values_of, rows_of)]),
        ("model",), (), name="t", caption="c", show=("here",),
    )  # fmt: skip
    assert f"k{one}" in shown_as._repr_html_()


CELL = re.compile(r"<(?:td|span) ([^>]*)>([^<]*(?:<small>[^<]*)?)<")
ENDS = re.compile(r"\[(−?[\d.]+), (−?[\d.]+)\]")


@cache
def cells():
    """Every cell of a committed page with an interval: page, key or "", and the ends as text."""
    return [
        (
            page,
            (re.findall(r"\bk([0-9a-f]{12})", attributes) or [""])[0],
            ENDS.search(text).groups(),
        )
        for page in PAGES
        for html in shown(page, "text/html")
        for attributes, text in CELL.findall(html)
        if ENDS.search(text)
    ]


def test_a_number_has_one_interval_in_the_whole_book():
    found = defaultdict(set)
    for _, key, ends in cells():
        if key:
            found[key].add(ends)
    assert len(found) > 500
    for key, pairs in found.items():
        decimals = {tuple(len(end.partition(".")[2]) for end in pair) for pair in pairs}
        assert len(pairs) == len(decimals), (key, pairs)  # one in each precision and unit


def test_an_interval_has_a_key():
    assert {page for page, key, _ in cells() if not key} == set()


def test_models_stand_side_by_side_on_a_line_each_in_its_colour(capsys):
    models = [trained(3, seed) for seed in (0, 1)]
    for place, model in enumerate(models):
        model.name = model.shown = f"model {place}"
    lines = [frame.line(model, values_of, rows_of, subset="B", what=what)
             for what in ("one", "other") for model in models]  # fmt: skip
    tidy = frame.measured(lines)
    figure = frame.side_by_side(models, tidy, "subset", "what", xlabel="points")
    (ax,) = figure.axes
    marks = [mark for mark in ax.collections if isinstance(mark, PathCollection)]
    dots = {tuple(mark.get_facecolors()[0]): mark.get_offsets() for mark in marks
            if mark.get_sizes().tolist() == [40] and len(mark.get_offsets())}  # fmt: skip
    assert len(dots) == 2
    for model, offsets in zip(models, dots.values(), strict=True):
        mine = tidy[tidy["model"] == model.shown]
        assert list(offsets[:, 0]) == pytest.approx(list(mine["estimate"]))
        assert [round(height) for height in offsets[:, 1]] == [0, 1]
    assert [each.get_text() for each in ax.get_yticklabels()] == ["one", "other"]
    assert {each.get_text() for each in figure.legends[0].get_texts()} == {
        "model 0", "model 1", "other trainings",
    }  # fmt: skip
    shown = frame.shown(models, tidy, "subset", "what", "What.", name="t", alt="Dots.")
    capsys.readouterr()  # the picture
    assert shown.folded and list(shown.frame.index) == [
        "model 0: one", "model 0: other", "model 1: one", "model 1: other",
    ]  # fmt: skip


def test_without_a_line_a_picture_says_that_there_is_no_model():
    none = frame.measured([], "subset", "what")
    figure = frame.side_by_side([], none, "subset", "what", xlabel="points")
    assert "No model" in figure.axes[0].texts[0].get_text()
