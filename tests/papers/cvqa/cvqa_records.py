"""Made-up records of C-VQA, which the tests of its chapters and of its measures share."""

from dataclasses import asdict
from functools import cache

from sci_book.papers.cvqa import measures, pairs
from sci_book.pipeline import ledger
from sci_book.pipeline.claims import load_claims
from sci_book.resources import FROZEN_RECORDS
from sci_book.results.records import Records, build_table, write_records
from sci_core.methods import M3ID, SCI3, SCI5, SCI7, TIE, VCD
from tests.rows import sample

METHODS = (TIE, VCD, M3ID, SCI3, SCI5, SCI7)
POLICIES = ["original", *(each.name for each in METHODS)]
NUMBER, YES_NO, LETTER = "number", "yesno", "mcq"
MODELS = ["pocket-qwen2vl", "pocket-llavanext"]


@cache
def frozen():
    """The models with their frozen records."""
    return pairs.subjects(MODELS, FROZEN_RECORDS).subjects


def line(dataset, item, side, kind, form, truth, texts, *, error=None):
    """One row; `texts` by policy, the original's for a policy that is not named."""
    made = sample(
        2 * item + side, dataset=dataset, question_type=form, category=kind, truth=truth,
        group=f"{dataset.replace('yesno', 'real')}:{kind}:{item}",
        options="ABCD" if form == LETTER else "", error=error,
    )  # fmt: skip
    for policy in [] if error else POLICIES:
        text = texts.get(policy, texts["original"])
        read = text if form == LETTER and text in list("ABCD") else None
        made |= {f"tokens:{policy}": [1], f"text:{policy}": text, f"parsed:{policy}": read}
    return made


def records_of(lines, model="mine"):
    """Records of such rows."""
    names = dict.fromkeys(each["dataset"] for each in lines)
    stamp = {
        "schema": 1, "model": model, "revision": "r", "rounds": ["original"], "rows": "some",
        "methods": [asdict(each) for each in METHODS], "eos": [9], "max_new_tokens": 8,
        "datasets": dict.fromkeys(names, "content:x"),
    }  # fmt: skip
    return Records(build_table(lines, POLICIES), stamp, {})


def numbers(count=40, *, kind="direct", right=(1.0, 0.5), dataset="pocket_cvqa_real", **texts):
    """Items about numbers: this share of either side right, from the front."""
    made = []
    for item in range(count):
        for side, share in enumerate(right):
            answer = "3" if item < share * count else "7"
            made.append(line(dataset, item, side, kind, NUMBER, "3", {"original": answer, **texts}))
    return made


def subject_of(folder, lines, name="mine"):
    (folder / "cvqa").mkdir(exist_ok=True)
    write_records(folder / "cvqa" / f"{name}.parquet", records_of(lines, name))
    return pairs.subjects([name], folder).subjects[0]


def puzzles(count, said):
    return [
        line("pocket_cvqa_synthetic", item, side, "abs_counting_1", LETTER, "ABCD"[item % 4],
             {"original": said(item)})
        for item in range(count)
        for side in (0, 1)
    ]  # fmt: skip


def finding_on(name, subject):
    """The ledger's finding on a claim."""
    (claim,) = [claim for claim in load_claims() if claim.id == name]
    return ledger._finding(claim, subject.name, [measures.Evidence(subject)])
