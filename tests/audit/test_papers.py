"""What the audits of the five papers find, in their tables as printed and with a digit changed."""

from pathlib import Path

import pytest
import yaml

from sci_book.audit.findings import CONSISTENT, INCONSISTENT, UNTOLD, verdict_of
from tests.audit.printed_tables import AUDITS, copied, of, plant

FOUND = yaml.safe_load(Path(__file__).with_name("findings.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def audits():
    return {paper: make() for paper, make in AUDITS.items()}


@pytest.mark.parametrize("paper", AUDITS)
def test_every_finding_is_what_it_was_found_to_be(paper, audits):
    findings, expected = audits[paper].findings, FOUND[paper]
    assert len(findings) == expected["checks"]
    for verdict in (INCONSISTENT, UNTOLD):
        assert of(findings, verdict) == set(expected[verdict])
    assert all(finding.place and finding.follows for finding in findings.values())
    assert (verdict_of(findings.values()) == "fails") == bool(expected[INCONSISTENT])


@pytest.mark.parametrize("paper", AUDITS)
def test_the_numbers_in_question_are_marked_and_no_others(paper, audits):
    reasons = audits[paper].in_question()
    rows = {name: table[table.map(bool)].index.tolist() for name, table in reasons.items()}
    assert rows == FOUND[paper]["in question"]


# What a finding says that no page shows; the others `pytest --nbval` compares.
SAYS = {
    "oric": {
        "Table 1, Janus-Pro-7B, incongruous": "15 of 25 yes and 14 of 25 no right",
        "Table 3 and Table 10": "equal cells",
    },
    "metara": {
        "mean of Table V, KBVQA": "= 12.5",
        "mean of Table V, OCR-VQA": "= 14.4",
        "mean of Table VI, OCR-VQA": "10.24",
    },
}


@pytest.mark.parametrize(("paper", "about"), [(p, about) for p in SAYS for about in SAYS[p]])
def test_what_the_findings_say(paper, about, audits):
    assert SAYS[paper][about] in audits[paper].findings[about].follows


# A digit that is changed, and the findings that then stop being consistent.
PLANTED = [
    ("sci", "table02", {"model": "LLaVA-NeXT", "method": "VCD", "subset": "S",
                        "question_type": "MCQ"}, "40.55",
     {"Table 2: LLaVA-NeXT, VCD, S", "totals of Table 2", "Table 2 and Table 9"}),
    ("sci", "table09", {"model": "Qwen2-VL", "method": "V3", "subset": "B",
                        "question_type": "Overall"}, "6.98",
     {"Table 9: Qwen2-VL, V3, B", "totals of Table 9"}),
    ("sci", "table01", {"model": "LLaVA-NeXT", "subset": "overlap", "question_type": "MCQ"}, "340",
     {"|BS| = |B| + |S| − overlap", "MCQ + Others = Overall"}),
    ("sci", "dataset_sizes", {"model": "", "subset": "all", "dataset": "mme",
                              "split": "validation"},
     "480", {"data sets add up to Table 1", "test split = ⌊0.8 n⌋"}),
    ("sci", "table07", {"method": "SCI7", "batched": "yes", "metric": "ratio"}, "2.49",
     {"time of SCI7, batched", "batched"}),
    ("sci", "fig01c", {"model": "LLaVA-NeXT"}, "24.86", {"hard rows of LLaVA-NeXT", "hard rows"}),
    ("cvqa", "cvqa_table03", {"model": "VisProg", "type": "direct"}, "-0.9",
     {"differences of Table 3"}),
    ("cvqa", "cvqa_table06", {"model": "GPT-3.5-turbo", "type": "direct"}, "83.7",
     {"differences of Table 6", "ViperGPT twice"}),
    ("cvqa", "cvqa_table07", {"model": "InstructBLIP (Vicuna-7B)"}, "30.0", {"the random level"}),
    ("cvqa", "cvqa_quotes", {"id": "share no"}, "55.20", {"shares of no and yes"}),
    ("cvqa", "cvqa_quotes", {"id": "numerical"}, "2015", {"types of questions", "all questions"}),
    ("cvqa", "cvqa_quotes", {"id": "noun-token ratio by types"}, "0.0983", {"verbs and nouns"}),
    ("edge", "edge_table04", {"dataset": "COCO", "model": "Qwen2.5-VL-7B"}, "90.0",
     {"combined accuracy, Qwen2.5-VL-7B", "difference in accuracy, COCO",
      "accuracy of the bins, Qwen2.5-VL-7B, COCO"}),
    ("edge", "edge_table05", {"dataset": "VQAv2", "model": "Qwen2.5-VL-7B", "item": "C"}, "21.4",
     {"labels, Qwen2.5-VL-7B, VQAv2", *(f"Figure 1, VQAv2, {c}" for c in "ABCD")}),
    ("edge", "edge_table06", {"dataset": "COCO", "model": "SmolVLM2-500M"}, "0.413",
     {"ECE, SmolVLM2-500M, COCO", "mean ECE, SmolVLM2-500M"}),
    ("edge", "edge_table07", {"metric": "McNemar p"}, "0.638", {"McNemar's p"}),
    ("edge", "edge_table08", {"model": "Qwen2.5-VL-3B", "item": "FP16", "metric": "retention"},
     "0.915", {"retention, Qwen2.5-VL-3B FP16"}),
    ("edge", "edge_table09", {"model": "SmolVLM2-500M", "metric": "negation low"}, "64.3",
     {"interval of SmolVLM2-500M"}),
    ("edge", "edge_table10", {"dataset": "COCO", "model": "Qwen2.5-VL-7B", "item": "is_not"}, "79",
     {"mean of the templates, Qwen2.5-VL-7B, COCO", "Tables 9 and 10, Qwen2.5-VL-7B",
      "interval of Qwen2.5-VL-7B", "gap, both", "gap, COCO", "p of the gap, COCO"}),
    ("edge", "edge_table11", {"item": "[0.5,0.6)", "metric": "accuracy"}, "32.4",
     {"ECE, SmolVLM2-500M, VQAv2", "bins, SmolVLM2-500M, VQAv2",
      "accuracy of the bins, SmolVLM2-500M, VQAv2"}),
    ("oric", "oric_table01", {"part": "POPE", "model": "Janus-Pro-7B", "metric": "f1"}, "96.99",
     {"Table 1, Janus-Pro-7B, POPE"}),
    ("oric", "oric_table03", {"model": "Emu3-Chat", "label": "no", "metric": "f1"}, "70.76",
     {"Table 3 and Table 10"}),
    ("oric", "oric_table04", {"part": "POPE", "model": "Emu3-Chat", "item": "small"}, "62.88",
     {"gap between sizes, Emu3-Chat, POPE"}),
    ("oric", "oric_table05", {"part": "a", "model": "Visual-RFT", "label": "yes", "metric": "f1"},
     "81.95", {"macro f1, Visual-RFT, Table 5(a)", "F1 of yes, Visual-RFT, Table 5(a)"}),
    ("oric", "oric_table07", {"model": "Emu3", "label": "no", "metric": "change"}, "-16.31",
     {"change, Emu3, negatives only"}),
    ("oric", "oric_table08", {"part": "ORIC", "model": "Fuyu-8B", "label": "overall",
                              "metric": "f1"}, "34.61", {"Table 8 and Table 10"}),
    ("oric", "oric_table10", {"model": "OWLv2", "label": "no", "metric": "recall"}, "84.10",
     {"macro recall, OWLv2", "yes-proportion, OWLv2", "F1 of no, OWLv2", "Table 3 and Table 10"}),
    ("metara", "metara_table05", {"dataset": "InfoVQA"}, "18.6", {"mean of Table V, OCR-VQA"}),
    ("metara", "metara_table05", {"dataset": "TextVQA"}, "17.0",
     {"mean of Table V, OCR-VQA", "hardest data sets", "mean and spread of the tasks"}),
    ("metara", "metara_table06", {"dataset": "OCR-VQA", "split": "MR2"}, "13.1",
     {"mean of Table VI, OCR-VQA", "MR2 of OCR-VQA in the text"}),
    ("metara", "metara_table06", {"dataset": "OCR-VQA", "split": "MR3"}, "9.0",
     {"OCR-VQA above KBVQA"}),
]  # fmt: skip
COLUMNS = {"cvqa_table03": "change", "cvqa_table06": "original", "cvqa_table07": "original",
           "cvqa_quotes": "printed"}  # fmt: skip


@pytest.mark.parametrize("case", PLANTED, ids=lambda case: f"{case[1]} {case[3]}")
def test_a_slip_of_a_digit_is_found(case, audits, tmp_path):
    paper, table, fields, value, expected = case
    plant(copied(paper, tmp_path), table, fields, value, COLUMNS.get(table, "value"))
    changed = AUDITS[paper](folder=tmp_path).findings
    before, after = (found.keys() - of(found, CONSISTENT)
                     for found in (audits[paper].findings, changed))  # fmt: skip
    assert after - before == expected


def test_numbers_copied_from_a_right_source_are_consistent(tmp_path):
    """Ranks that fit their values, and finals that are means, are called so."""
    paper = AUDITS["metara"]()
    three, four = (paper.tables[f"metara_table0{number}"].copy() for number in (3, 4))
    for model in dict.fromkeys(three["model"]):
        mine = three["model"] == model
        mean = three.loc[mine & (three["metric"] == "FR"), "value"].astype(float).mean()
        three.loc[mine & (three["metric"] == "final FR"), "value"] = f"{mean:.1f}"
    theirs = four[four["method"] == "MetaVQA"]["value"].tolist()
    four.loc[four["method"] == "MetaRA", "value"] = theirs
    copied("metara", tmp_path)
    for number, table in ((3, three), (4, four)):
        table.to_csv(tmp_path / "paper" / f"metara_table0{number}.csv", index=False)
    changed = AUDITS["metara"](folder=tmp_path).findings
    for about in ("final FR as a mean, OCR-VQA", "direction of the columns, OCR-VQA",
                  "ranks by MetaRA", "MetaRA's columns of Table IV"):  # fmt: skip
        assert changed[about].verdict == CONSISTENT, changed[about]


def test_a_tenth_that_is_one_would_be_told(tmp_path):
    sizes, folder = {"direct": 115, "indirect": 86, "boolean": 113}, copied("cvqa", tmp_path)
    table = AUDITS["cvqa"]().tables["cvqa_table05"]
    for kind, n in sizes.items():
        for side in ("original", "counterfactual"):
            share = float(table.query(f"type == {kind!r} and metric == {side!r}")["value"].iloc[0])
            value = f"{100 * round(n * share / 100) / n:.1f}"
            plant(folder, "cvqa_table05", {"type": kind}, value, side)
    found = AUDITS["cvqa"](folder=tmp_path).findings
    about = [f"Table 5, {name}" for name in (*sizes, "all rows")]
    assert {found[name].verdict for name in about} == {CONSISTENT}
    assert found["Table 5, all rows"].follows.endswith("for direct, indirect, boolean")
