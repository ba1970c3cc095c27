"""Tables, figures and stamps: labelled, stable, and honest about what is missing."""

import platform
import re
from base64 import b64decode
from dataclasses import replace
from io import BytesIO
from xml.etree import ElementTree

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from PIL import Image

from sci_book import methods
from sci_book.papers.shared import figures, stamp, tables
from sci_book.papers.shared.svg import INK, svg
from sci_core.methods import METHODS, SCI5


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "paper": [26.08, None, 50.0],
            "reproduced": [25.0, 12.375, 50.0],
            "n": [2155, 400, 10],
            "low": [23.1, None, 40.0],
            "high": [26.9, None, 60.0],
            "verdict": ["holds", None, "not comparable"],
        },
        index=["SCI5", "base", "a < b"],
    )


def test_compare_shows_both_sides_labelled(frame):
    table = tables.compare(frame, name="t", caption="Accuracy, %", ours="pocket Qwen2-VL")
    shown = ["paper", "pocket Qwen2-VL", "ours − paper", "n", tables.INTERVAL, "verdict"]
    assert list(table.frame.columns) == shown
    expected = ["26.08", "25.00", "−1.08", "2155", "[23.10, 26.90]", "holds"]
    assert table.frame.loc["SCI5"].tolist() == expected
    expected = ["—", "12.38", "—", "400", "—", "—"]
    assert table.frame.loc["base"].tolist() == expected


def test_table_html_is_stable_escaped_and_plain_text_holds_the_numbers(frame):
    table = tables.compare(frame, name="t", caption="Accuracy, %", ours="pocket")
    html = table._repr_html_()
    again = tables.compare(frame, name="t", caption="Accuracy, %", ours="pocket")
    assert html == again._repr_html_()
    assert 'id="T_t"' in html and 'class="sci-table"' in html
    assert "a &lt; b" in html and "verdict-holds" in html and "verdict-not-comparable" in html
    assert repr(table).startswith("Accuracy, %\n") and "26.08" in repr(table)


def test_compare_names_a_missing_column_and_an_unknown_verdict(frame):
    with pytest.raises(ValueError, match=r"\['n'\] are missing"):
        tables.compare(frame.drop(columns="n"), name="t", caption="c", ours="pocket")
    frame.loc["SCI5", "verdict"] = "maybe"
    with pytest.raises(ValueError, match=r"\['maybe'\] are no verdicts"):
        tables.compare(frame, name="t", caption="c", ours="pocket")


def test_side_by_side_pairs_every_metric_and_dashes_what_the_paper_lacks():
    ours = pd.DataFrame({"B": [1.0, 2.0], "S∖B": [3.0, 4.0]}, index=["base", "SCI5"])
    paper = pd.DataFrame({"B": [9.0]}, index=["SCI5"])
    table = tables.side_by_side(paper, ours, name="t", caption="c", ours="pocket")
    assert table.frame[("B", "paper")].tolist() == ["—", "9.00"]
    assert table.frame[("B", "pocket")].tolist() == ["1.00", "2.00"]
    assert table.frame[("S∖B", "paper")].tolist() == ["—", "—"]
    assert 'class="sci-table"' in table._repr_html_()


def test_plain_keeps_integers_and_rounds_floats():
    frame = pd.DataFrame({"n": [3, 4], "share": [0.5, np.nan], "name": ["a", "b"]})
    table = tables.plain(frame, name="t", caption="c", decimals=[0, 1, 0])
    assert table.frame.iloc[0].tolist() == ["3", "0.5", "a"]
    assert table.frame.iloc[1].tolist() == ["4", "—", "b"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(-0.004, "0.00"), (-1.5, "−1.50"), (None, "—"), (float("nan"), "—"), (np.inf, "inf")],
)
def test_a_number_is_written_as_tables_write_it(value, text):
    assert tables.number(value) == text


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (16.25, 1, "16.3"),
        (16.45, 1, "16.5"),  # 16.449999999999999 in binary
        (-16.25, 1, "−16.3"),
        (100 * np.mean([1] * 57 + [0] * 143), 0, "29"),  # 28.499999999999996
        (2.5, 0, "3"),
        (0.125, 2, "0.13"),
        (16.2499, 1, "16.2"),
        (np.float32(0.5), 0, "1"),
        (123456789012345.0, 1, "123456789012345.0"),
    ],
)
def test_a_half_is_rounded_away_from_zero(value, decimals, text):
    assert tables.number(value, decimals) == text


def test_a_method_keeps_its_colour_and_one_without_a_row_has_its_own():
    rows = methods.METHODS | methods.ROUNDS
    assert all(figures.colour(name) == row.colour for name, row in rows.items())
    others = ["SCI9", "DoLa", "SCI(M=1, N=3)", "VCD beta=0.8", "blur5", "noise600", "V4", "sci5"]
    shades = [figures.colour(name) for name in (*rows, *figures.SUBSET_COLOURS, *others)]
    assert len({*shades}) == len(shades)
    assert all(re.fullmatch("#[0-9a-f]{6}", shade) for shade in shades)
    assert [figures.colour(name) for name in others] == shades[-len(others) :]


def test_the_lists_of_methods_follow_the_registry():
    assert methods.BASELINES == ("TIE", "VCD", "M3ID")
    assert methods.SCI == ("SCI3", "SCI5", "SCI7")
    assert (*methods.BASELINES, *methods.SCI) == methods.COMPARED
    assert list(methods.METHODS) == list(METHODS)
    assert all(row.label and row.sentence.endswith(".") for row in methods.METHODS.values())


def test_a_preset_without_a_row_goes_by_its_name_and_is_compared(monkeypatch):
    for name in ("DoLa", "SCI9", "OPERA"):
        monkeypatch.setitem(METHODS, name, replace(SCI5, name=name))
        label, colour, sentence, compared = methods.row(name)
        assert (label, sentence, compared) == (name, "A method of the rule sci.", True)
        assert colour == figures.colour(name)
    assert not methods.row("base").compared and not methods.row("SCI5-lite").compared


def test_figures_draw_what_they_are_given():
    with mpl.rc_context():
        figures.use_style()
        _, ax = plt.subplots()
        figures.estimates(
            ax,
            {"base": 10.0, "SCI5": 20.0},
            {"base": (8.0, 12.0), "SCI5": (18.0, 22.0)},
            {"SCI5": 26.08},
            ours="pocket",
            xlabel="accuracy, %",
        )
        assert [text.get_text() for text in ax.get_yticklabels()] == ["base", "SCI5"]
        labels = [text.get_text() for text in ax.get_legend().get_texts()]
        assert labels == ["pocket", "paper"]
        plt.close("all")


def test_a_figure_is_svg_whose_colours_follow_the_theme():
    def drawn():
        figure, ax = plt.subplots()
        ax.bar([0, 1], [1, 2], color=figures.colour("SCI7"))
        ax.plot([0, 1], [1, 2], "D", mfc="white", mec=INK)
        ax.text(0, 0.5, "on the bar", color="white")
        ax.set_title("a <title>")
        return svg(figure, 'bars & a "line"')

    with mpl.rc_context():
        figures.use_style()
        text = drawn()
        assert drawn() == text  # nothing random, no date
        plt.close("all")
    root = ElementTree.fromstring(text)
    assert root.get("role") == "img" and root.get("aria-label") == 'bars & a "line"'
    said = {each.text: each.get("style") for each in root.iter("{http://www.w3.org/2000/svg}text")}
    assert "currentColor" in said["a <title>"]
    assert "#ffffff" in said["on the bar"] and "var(" not in said["on the bar"]
    assert "light-dark(#9c2f0b, #c8481a)" in text and INK not in text
    assert "fill: var(--pst-color-background, #ffffff)" in text  # the open diamond
    assert "<style" not in text  # it would reach beyond the figure
    named = set(re.findall(r' id="([^"]*)"', text))
    assert named and named <= set(re.findall(r"#([\w-]+)", text))  # no other could be met twice


def test_pictures_are_small_and_the_same_every_time():
    noise = np.random.default_rng(0).random((3, 96, 96, 3))
    one, two = (figures.pictures(noise, ["a", "<b>", ""], columns=2) for _ in range(2))
    assert one == two and len(one.html) < 120_000
    assert re.findall('alt="([^"]*)"', one.html) == ["a", "&lt;b&gt;", ""]
    sources = re.findall('src="data:image/(png|jpeg);base64,([^"]*)"', one.html)
    assert len(sources) == 3
    for kind, content in sources:
        shown = Image.open(BytesIO(b64decode(content)))
        assert shown.format == kind.upper() and shown.size == (96, 96)


def test_a_figure_is_shown_with_its_caption_and_its_text(monkeypatch):
    said = []
    monkeypatch.setattr(figures, "display", lambda html: said.append(html.data))
    with mpl.rc_context():
        figures.use_style()
        figures.show(plt.subplots()[0], "a < b", alt="an empty panel")
    figures.show(figures.pictures(["no"][:0], [], columns=1), "none", alt="no picture")
    assert not plt.get_fignums()
    assert "<figcaption>a &lt; b</figcaption>" in said[0]
    assert 'role="img" aria-label="an empty panel"' in said[0]
    assert 'role="group" aria-label="no picture"' in said[1]


def test_checksum_follows_content_and_names_not_place(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder / "deep").mkdir(parents=True)
        (tmp_path / folder / "deep" / "x.txt").write_text("1", encoding="utf-8")
    first = stamp.checksum([tmp_path / "a"])
    assert first == stamp.checksum([tmp_path / "b"]) and len(first) == 16
    (tmp_path / "b" / "deep" / "x.txt").write_text("2", encoding="utf-8")
    assert first != stamp.checksum([tmp_path / "b"])
    with pytest.raises(FileNotFoundError, match="no such file or folder"):
        stamp.checksum([tmp_path / "absent"])


def test_provenance_is_the_same_twice_and_names_pinned_versions():
    arguments = ({"pocket": "abc"}, {"mme": "def"}, {"pocket": "123"})
    table = stamp.provenance(*arguments)
    assert repr(table) == repr(stamp.provenance(*arguments))
    assert f"torch {stamp.locked_versions()['torch']}" in repr(table)
    assert "pocket: abc" in repr(table) and "mme: def" in repr(table)


def test_circumstances_name_no_host():
    with mpl.rc_context():  # the style would stay, and another test's titles lie left
        text = repr(stamp.circumstances(stamp.begin() - 12.4))
    assert "12 s" in text and "UTC" in text and platform.node() not in text
