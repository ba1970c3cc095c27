"""Effects of methods: one correction over the models of a page, and one table of them."""

import numpy as np

from sci_book.papers.shared.effects import Effect, effect_frames
from sci_book.papers.shared.tables import compare
from sci_book.results.statistics import Interval, difference, holm, sign_flip_test

CLUSTERS = [f"picture {k}" for k in range(40)]


def gains(share):
    return np.array([1.0 if k < share * 40 else 0.0 for k in range(40)])


def effect_of_rows(what, claim, values, clusters):
    p = sign_flip_test(values, clusters) if len(values) else np.nan
    return Effect(what, claim, difference(values, clusters), p)


def page():
    """Three lines of one model and one of another; macro F1 has no p, captions no row."""
    return {
        "one": [
            effect_of_rows("accuracy", "greater", gains(0.5), CLUSTERS),
            Effect("macro F1", "greater", Interval(0.1, -0.5, 1, 4, 4), np.nan),
            effect_of_rows("captions", "less", [], []),
        ],
        "two": [effect_of_rows("failures", "less", -gains(0.2), CLUSTERS)],
    }  # fmt: skip


def test_each_line_has_its_own_interval_and_p_values_are_corrected_over_all_models():
    frames = effect_frames(page())
    first, second = frames["one"].loc["accuracy"], frames["two"].loc["failures"]
    assert first["low"] == 100 * difference(gains(0.5), CLUSTERS).low
    assert frames["one"].loc["macro F1", "low"] == -50
    tests = [sign_flip_test(gains(share), CLUSTERS) for share in (0.5, 0.2)]
    assert [first["p"], second["p"]] == holm(tests).tolist() != tests
    assert (first["verdict"], second["verdict"]) == ("holds", "holds")
    captions = frames["one"].loc["captions"]
    assert captions["verdict"] == "not comparable" and np.isnan(captions["p"])
    assert effect_frames({}) == {}


def test_the_table_shows_holms_p_before_the_verdict():
    frame = effect_frames(page())["one"]
    options = {"name": "effects", "caption": "Gains", "ours": "pocket"}
    shown = compare(frame, paper=False, **options).frame
    assert list(shown) == ["pocket", "n", "95 % interval", "p (Holm)", "verdict"]
    assert shown["p (Holm)"].tolist()[1:] == ["—", "—"]
    assert list(compare(frame.drop(columns="p"), **options).frame)[:3] == [
        "paper",
        "pocket",
        "ours − paper",
    ]
