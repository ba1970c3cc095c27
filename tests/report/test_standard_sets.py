"""Tables 4 and 10 on drawn records, against counts, the metrics' own definitions and the paper."""

import numpy as np
import pytest

from sci_book.papers.sci.audit_counts import unfit
from sci_book.papers.sci.chapters import standard_gains, standard_scores, standard_sets
from sci_book.papers.shared import chapters
from sci_book.pipeline import findings
from sci_book.results.drbench import split
from sci_book.results.metrics import KINDS
from sci_book.results.records import Records, write_records
from sci_core.methods import SCI5, TIE
from tests.report.drawn_records import DATASETS, drawn_records

QWEN, LLAVA = "pocket-qwen2vl", "pocket-llavanext"
SPOILT = (5, 48 + 3, 2 * 48 + 7)  # in three data sets
METHODS = ["base", *standard_gains.NAMES]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    for seed, name in enumerate([QWEN, LLAVA, "mine"]):
        spoilt = SPOILT if name == QWEN else ()
        write_records(folder / f"{name}.parquet", drawn_records(name, seed=seed, spoilt=spoilt))
    return folder


@pytest.fixture(scope="module")
def subjects(folder):
    return chapters.subjects([QWEN, LLAVA, "mine"], folder)


@pytest.fixture(scope="module")
def found(subjects):
    return {each.name: standard_sets.outcomes(each, 0.8) for each in subjects}


@pytest.mark.parametrize(
    ("dataset", "head"),
    [
        ("mmbench_en", "MMB-E"),
        ("pocket_mmbench_cn", "MMB-C"),
        ("other_world_mme", "MME"),
        ("mymme", "mymme"),
        ("mme_extra", "mme_extra"),
        ("textvqa", "textvqa"),
    ],
)
def test_a_data_set_is_known_by_its_ending(dataset, head):
    assert standard_sets.column_of(dataset) == head


def test_columns_follow_the_papers_order_and_add_up(subjects):
    masks = standard_sets.columns(subjects[0])
    assert list(masks) == ["MMB-E", "MME", "MMS", "ViLP", *KINDS]
    records = subjects[0].records
    assert (sum(masks[head] for head in ("MMB-E", "MMS")) == masks["MCQ"]).all()
    assert (masks["MCQ"] ^ masks["Others"] == masks["Overall"]).all()
    assert masks["Overall"].sum() == ((split(records, "rows") == "test") & records.ok).sum()


def test_a_recorded_method_is_the_one_replayed(subjects):
    for method in standard_sets.METHODS:
        at = standard_sets.with_beta(method, 0.8)
        recorded = standard_sets.answered(subjects[0], at)
        assert np.array_equal(recorded.right, subjects[0].replay.right(at), equal_nan=True)
        assert np.isnan(recorded.right).sum() == len(SPOILT) and not recorded.unsettled.any()


def test_beta_changes_the_name_only_where_it_changes(subjects):
    assert standard_sets.with_beta(SCI5, 0.3) is SCI5
    raised = standard_sets.with_beta(SCI5, 0.8)
    assert raised.name == "SCI5 beta=0.8" in subjects[0].records.policies
    assert standard_sets.with_beta(TIE, 0.5).name not in subjects[0].records.policies


def test_one_counterfactual_round_follows_the_papers_tau1(subjects):
    rules = {each.name: each for each in standard_sets.ONE_ROUND}
    assert len(rules) == 6
    for name, each in rules.items():
        assert each.rounds == ("original", name.removeprefix("base + "))
        assert each.tau1 == (1.5 if each.textual else 1.0)
    alone = standard_sets.one_round(subjects[1], 0.8)
    assert list(alone) == ["base", *rules]
    table = standard_sets.one_round_table(subjects[1], alone, 0.8).frame
    rows = standard_sets.columns(subjects[1])["MCQ"]
    accuracy = 100 * alone["base + V1"].right[rows].mean()
    assert float(table.loc["base + V1", ("MCQ", "%")]) == pytest.approx(accuracy, abs=0.005)


def test_unknown_answers_are_wrong_and_counted(subjects):
    """A yes/no row answered "maybe" in V1; nothing else is unknown."""
    records = subjects[1].records
    row = int(np.flatnonzero(standard_sets.columns(subjects[1])["MME"])[0])
    table = records.table.to_pylist()
    table[row] |= {"parsed:V1": None, "text:V1": "maybe"}
    changed = records.table.from_pylist(table, schema=records.table.schema)
    name = subjects[1].name
    subject = chapters.Subject(
        name, None, name, name, subjects[1].path, Records(changed, records.stamp, records.pieces)
    )
    outcome = standard_sets.outcomes(subject, 0.8)
    assert outcome["V1"].right[row] == 0 and outcome["V1"].unknown[row]
    shown = standard_sets.unknown_table([subject], {name: outcome})
    assert shown.frame.index.tolist() == ["V1"]
    assert shown.frame.loc["V1", (name, "unknown")] == "1"
    assert "the other 12 of 13" in shown.caption


def test_table_10_holds_table_4():
    printed = chapters.paper_values("table04")
    whole = standard_sets.paper_accuracy()
    for model, method, _, kind in printed.index.unique():
        values = printed[model, method, "all", kind]
        assert whole[model, method, kind] in np.atleast_1d(values)
    assert whole["LLaVA-NeXT", "SCI5", "CCB"] == 46.20
    assert standard_sets.paper_difference("Qwen2-VL", "SCI5", "base", "ViLP") == pytest.approx(1.53)
    assert np.isnan(standard_sets.paper_difference(None, "SCI5", "base", "MCQ"))


def test_every_printed_row_has_a_counterpart(found):
    printed = {method for _, method, _ in standard_sets.paper_accuracy()}
    assert printed <= set(found[QWEN])


def test_the_margin_of_the_chapter_is_above_every_printed_gain():
    gains = [
        standard_sets.paper_difference(label, "SCI5", "base", kind)
        for label in ("Qwen2-VL", "LLaVA-NeXT")
        for kind in KINDS
    ]
    assert 0 < max(gains) < 1.0


def test_printed_rows_that_fit_no_count_are_found():
    assert unfit("table10", "Qwen2-VL", "method") == ["V1", "V2"]
    assert unfit("table10", "LLaVA-NeXT", "method") == []
    assert unfit("table10", None, "method") == []
    note = standard_sets.unfitting_note(["Qwen2-VL", None, "LLaVA-NeXT", "Qwen2-VL"])
    assert "Qwen2-VL, V1 and V2" in note and "LLaVA" not in note
    assert standard_sets.unfitting_note([None]) == ""


def test_accuracies_are_counted_and_stand_beside_the_papers(subjects, found):
    tables = standard_sets.accuracy_tables(subjects[0], found[QWEN], 0.8)
    assert [len(table.frame.columns) for table in tables] == [6, 2, 6]
    rows = standard_sets.columns(subjects[0])["MME"]
    cell = tables[0].frame.loc["SCI5", (f"MME (n = {rows.sum()})", "pocket")]
    right = [found[QWEN]["SCI5"].right[k] for k in np.flatnonzero(rows)]
    assert float(cell.split()[0]) == pytest.approx(100 * sum(right) / len(right), abs=0.005)
    total = tables[-1].frame
    assert "80.98" in total.loc["SCI5"].tolist() and "—" in total.loc["SCI7"].tolist()


def test_the_papers_gains_stand_beside_the_ledgers(subjects, found):
    page = findings.of_page("table04_standard", subjects)
    (gains,) = (each for each in findings.leading(page) if each.model == LLAVA)
    paper = standard_gains.paper_numbers(subjects)
    assert not [model for model, _ in paper if model == "mine"]
    rows = standard_sets.columns(subjects[1])["Others"]
    gap = (found[LLAVA]["SCI5"].right - found[LLAVA]["base"].right)[rows]
    (others,) = (part for part in gains.parts if part[0].endswith("Others"))
    assert others[1].estimate == pytest.approx(gap.mean())
    assert paper[LLAVA, others[0]] == pytest.approx(72.70 - 71.86)
    assert {(LLAVA, name) for name, *_ in gains.parts} == {key for key in paper if key[0] == LLAVA}


def test_stars_follow_holm_over_all_tables(subjects, found):
    same = {
        name: dict.fromkeys(METHODS, outcome["base"]) for name, outcome in found.items()
    }  # nobody differs from the base
    tables = standard_gains.difference_tables(subjects, same)
    assert len(tables) == 2 * len(subjects)
    cells = [cell for table in tables for cell in table.frame.to_numpy().ravel()]
    ends = {cell.removeprefix("0.00 ") for cell in cells}  # all alike: as much either way
    assert all(end.replace("−", "").startswith(f"[{end.split()[1][:-1]},") for end in ends)
    apart = {name: {**same[name]} for name in same}
    zero = apart[QWEN]["base"]
    apart[QWEN]["SCI7"] = zero._replace(right=zero.right + 1)  # every cluster one point up
    starred = standard_gains.difference_tables(subjects, apart)[1].frame["SCI7 − base"]
    assert all(cell.startswith("+100.00") for cell in starred)
    assert starred["Overall"].startswith("+100.00* ")


def test_settings_differ_in_beta_alone(subjects):
    lines = standard_gains.under_settings(subjects[:2])
    assert len(lines) == 2 * 9 * 3
    wide = lines[lines["model"] == QWEN].pivot(
        index="conclusion", columns="setting", values="reproduced"
    )
    raised = wide.loc["SCI5 > base, MCQ", ["β = 0.8 for all", "as published"]]
    assert raised.nunique() == 1  # SCI5 runs at 0.8 in both
    lowered = wide.loc["VCD < base, Others", ["β = 0.3 for all", "as published"]]
    assert lowered.nunique() == 1
    subject = subjects[0]
    numbers, verdicts = standard_gains.setting_tables(lines, subject)
    assert len(numbers.frame) == len(verdicts.frame) == 9
    assert numbers.frame.loc["SCI5 > base, Overall", ("", "paper")] == "0.40"
    turned = sum(len(set(line)) > 1 for line in verdicts.frame.to_numpy().tolist())
    assert f"Of 9 verdicts, {turned} change" in standard_gains.turning(lines, subject)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_figure_has_a_panel_a_model(subjects, found, count):
    figure = standard_gains.draw_differences(subjects[:count], found)
    titles = [ax.get_title() for ax in figure.axes if ax.axison]
    assert titles == [each.shown for each in subjects[:count]]
    labels = [text.get_text() for text in figure.legends[0].texts]
    assert labels == [*standard_gains.DRAWN, "paper"]


@pytest.mark.parametrize("place", [0, 1])
def test_scores_are_the_metrics_on_whole_groups(subjects, found, place):
    subject = subjects[place]
    right = found[subject.name]["SCI5"].right
    scores = standard_scores.scores(subject, right)
    test = split(subject.records, "groups") == "test"
    frame, outcome = subject.records.frame[test], right[test]
    whole = frame["error"].isna().groupby(frame["group"]).transform("all")
    frame = frame.assign(right=outcome)[whole]
    sets = dict(list(frame.groupby("dataset")))
    circular = sets["tiny_mmbench_en"].groupby("group")["right"].all()
    assert scores["MMB-E circular"].estimate == pytest.approx(circular.mean())
    assert scores["MMB-E circular"].n == len(circular)
    assert "MMS circular" not in scores  # without rotations there is nothing circular
    mme, vilp = sets["tiny_mme"], sets["tiny_vilp"]
    pictures = mme.groupby(["category", "group"])["right"].all()
    assert scores["MME acc"].estimate == pytest.approx(mme["right"].mean())
    assert scores["MME acc+"].estimate == pytest.approx(pictures.mean())
    parts = mme.groupby("category")["right"].mean() + pictures.groupby("category").mean()
    assert scores["MME score"].estimate == pytest.approx(parts.sum())
    prior = vilp.groupby("group").cumcount() == 0  # the first of three pictures
    for name, mine in (("Prior", vilp[prior]), ("Score", vilp[~prior])):
        assert scores[f"ViLP {name}"].estimate == pytest.approx(mine["right"].mean())
        assert scores[f"ViLP {name}"].n == len(mine)
    assert all(each.low <= each.estimate <= each.high for each in scores.values())


def test_a_difference_of_scores_is_paired(subjects, found):
    one, two = (found[QWEN][name].right for name in ("SCI5", "base"))
    gaps = standard_scores.scores(subjects[0], one, two)
    first, second = (standard_scores.scores(subjects[0], each) for each in (one, two))
    for name, gap in gaps.items():
        assert gap.estimate == pytest.approx(first[name].estimate - second[name].estimate)
    same = standard_scores.scores(subjects[0], one, one)
    for each in same.values():  # all alike: as much either way, or no bounds
        assert each.estimate == 0
        assert each.low == -each.high or np.isnan([each.low, each.high]).all()


def test_score_tables_name_what_they_count(subjects, found, monkeypatch):
    tables = standard_scores.score_tables(subjects[0], found[QWEN], METHODS)
    assert [table.name.split("-")[-1] for table in tables] == ["circular", "MME", "ViLP"]
    assert all(table.frame.index.tolist() == METHODS for table in tables)
    for fit, words in ((True, {"holds", "fails", "inconclusive"}), (False, {"not comparable"})):
        monkeypatch.setattr(chapters.Subject, "fit", property(lambda _, fit=fit: fit))
        gained = standard_scores.score_gains(subjects, found)
        assert len(gained) == 3
        assert set(gained[0].frame["SCI5 − base", "verdict"]) <= words


@pytest.mark.parametrize("kept", [("tiny_mmbench_en",), ("tiny_mme",), ("tiny_vilp",)])
def test_records_of_one_data_set_make_every_table(tmp_path, kept):
    write_records(tmp_path / f"{QWEN}.parquet", drawn_records(QWEN, rows=12, datasets=kept))
    (subject,) = chapters.subjects([QWEN], tmp_path)
    found = {QWEN: standard_sets.outcomes(subject, 0.8)}
    tables = standard_sets.accuracy_tables(subject, found[QWEN], 0.8)
    empty = "Others" if DATASETS[kept[0]][0] == "mcq" else "MCQ"
    assert f"{empty} (n = 0)" in tables[-1].frame.columns.get_level_values(0)
    (gains,) = findings.leading(findings.of_page("table04_standard", [subject]))
    (part,) = (part for part in gains.parts if part[0].endswith(empty))
    assert (part[1].n, part[2]) == (0, "not comparable")
    shown = [*tables, *standard_gains.difference_tables([subject], found)]
    alone = standard_sets.one_round(subject, 0.8)
    shown.append(standard_sets.one_round_table(subject, alone, 0.8))
    shown.append(standard_sets.unknown_table([subject], {QWEN: found[QWEN] | alone}))
    lines = standard_gains.under_settings([subject])
    shown += standard_gains.setting_tables(lines, subject)
    shown += standard_scores.score_tables(subject, found[QWEN], METHODS)
    shown += standard_scores.score_gains([subject], found)
    for table in shown:
        assert "nan" not in repr(table).lower()
        table._repr_html_()
    assert "nan" not in standard_gains.turning(lines, subject)
    standard_gains.draw_differences([subject], found)
