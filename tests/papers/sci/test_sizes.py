"""Table 1 and Figure 1(c): sizes of subsets and the rows that two models share, counted anew."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from sci_book.pipeline import findings
from sci_book.results.metrics import KINDS
from tests.papers.shared.committed import ran
from tests.papers.shared.pair_records import LLAVA, QWEN

NAME, FIGURE = "table01_fig01c_sizes", "Figure 1(c)"


@pytest.fixture(scope="module")
def page(folder):
    with plt.rc_context():
        return ran(NAME, models=[QWEN, LLAVA], records=str(folder))


def test_sizes_count_rows_beside_the_papers(page, pair, sets):
    lines = page["sizes"].set_index(["model", "subset", "kind"]).sort_index()
    mcq = (pair[0].records.frame["question_type"] == "mcq").to_numpy()
    line = lines.loc[pair[0].shown, "B", "MCQ"]
    assert line["rows"] == str((sets[QWEN]["B"].to_numpy() & mcq).sum())
    assert line["n"] == (sets[QWEN]["all"].to_numpy() & mcq).sum()
    assert line["estimate"] == pytest.approx(100 * int(line["rows"]) / line["n"])
    assert line["paper, rows"] == "1080" and line["paper"] == pytest.approx(100 * 1080 / 10632)
    rows = lines.loc[pair[0].shown]["rows"].astype(int)
    for kind in KINDS:
        B, S, BS, both = (rows[subset, kind] for subset in ("B", "S", "BS", "overlap"))
        assert B + S - both == BS


def test_statements_are_paired_differences_of_shares(page, sets):
    numbers = [value for (_, part), value in page["known"].items() if "also" not in part]
    assert sorted(round(value, 2) for value in numbers) == [-11.43, 6.37, 7.73]
    assert set(page["known"]) == {
        (finding.model, part) for finding in page["findings"] if finding.claim.leads
        for part, *_ in finding.parts
    }  # fmt: skip
    share = {(name, s): 100 * sets[name][s].sum() / 95 for name in sets for s in ("B", "S", "BS")}
    lines = page["frame"].measured(page["stated"]())
    found = lines[lines["by"] == "any, by rows"].set_index("statement")["estimate"]
    assert found.tolist() == pytest.approx([
        share[QWEN, "BS"] - share[LLAVA, "BS"],
        share[QWEN, "B"] - share[QWEN, "S"],
        share[LLAVA, "S"] - share[QWEN, "S"],
    ])  # fmt: skip


def test_shared_rows_stand_beside_the_papers(page, sets):
    both = sets[QWEN]["BS"] & sets[LLAVA]["BS"]
    lines = page["lines"].set_index("part")
    assert lines.loc["both", "estimate"] == pytest.approx(100 * both.sum() / 95)
    assert lines.loc["both, times independence", "paper"] == pytest.approx(2.2445, abs=1e-3)
    lead = findings.leading(page["findings"], FIGURE)
    (own,) = (each for each in lead if each.model == QWEN)
    assert own.interval.estimate == pytest.approx(both.sum() / sets[QWEN]["BS"].sum())
    assert page["known"][QWEN, own.part] == pytest.approx(100 * 7.34 / (100 * 1756 / 13251))


def test_lift_is_one_for_independent_masks_and_the_inverse_share_for_equal_ones(page):
    one, other = np.repeat([True, False], 50), np.tile([True, False], 50)
    for second, expected in ((other, 1), (one, 2)):
        columns = np.stack([one & second, one, second, np.ones(100)]).astype(float)
        found = page["of_sums"](columns, np.arange(100), page["times"])
        assert found.estimate == pytest.approx(expected)


def test_parts_of_bs_add_up(page, pair):
    parts, sizes = (page[name].set_index(["model", "subset"]) for name in ("kinds", "sizes"))
    for model in pair:
        for column in ("paper", "estimate"):
            whole = sizes[sizes["kind"] == "Overall"].loc[model.shown, "BS"][column]
            assert parts.loc[model.shown][column].sum() == pytest.approx(whole)
    assert round(parts.loc[pair[1].shown]["paper"].sum(), 2) == 24.68


def test_one_model_alone_shares_no_rows_and_the_paper_lacks_a_strangers(folder):
    with plt.rc_context():
        alone = ran(NAME, models=["mine"], records=str(folder))
    assert alone["sizes"]["paper"].isna().all() and alone["sizes"]["estimate"].gt(0).any()
    assert not len(alone["lines"]) and not alone["known"]
    assert findings.verdict_of(alone["findings"], FIGURE) == "not comparable"
