"""Made-up answers to the experiments of the Edge Reliability Gap."""

from dataclasses import asdict

import numpy as np

from sci_book.papers.edge.negation import TEMPLATES
from sci_book.pipeline import findings, ledger
from sci_book.pipeline.claims import load_claims
from sci_book.results.records import Records, build_table, write_records
from sci_core.methods import METHODS
from tests.rows import answers as in_tokens
from tests.rows import first_node, sample

POLICIES = ("original", "V1", "V2", "black", "noise500", "VCD", "SCI5")
CAPTION = "2 red cows in a field."
WRONG = "3 red cows in a field."
YES, RED = 1, 3
CLAIMS = [claim for claim in load_claims(own=True) if claim.paper == "edge"]
PAGES = {claim.page for claim in CLAIMS if claim.leads}


def answers(dataset, index, kind, category, truth, said, confidence=None, sci=None):
    """One record: what the base says, what SCI5 says, and one node of the base's confidence."""
    group = f"{'captions' if 'captions' in dataset else 'questions'} {index % 100}"
    row = sample(
        index, dataset=dataset, group=group, question_type=kind, category=category, truth=truth
    )
    words = dict.fromkeys(POLICIES, said) | {"SCI5": sci or said, "black": "unseen"}
    row |= in_tokens(words, dict.fromkeys(words.values(), RED))
    if confidence is not None:
        row["nodes"] = [first_node([RED], np.full((5, 1), np.log(confidence)))]
    return row


def records_of(rows, name="mine"):
    datasets = dict.fromkeys(row["dataset"] for row in rows)
    stamp = {
        "schema": 1, "model": name, "revision": "r", "dtype": "float32", "rows": "x",
        "rounds": list(POLICIES[:5]),
        "methods": [asdict(METHODS[each]) for each in POLICIES[5:]], "eos": [9],
        "datasets": dict.fromkeys(datasets, "sum"), "max_new_tokens": 8,
    }  # fmt: skip
    return Records(build_table(rows, POLICIES), stamp, {RED: "red"})


def whole(right=(1, 1, 1, 0), blurred=(1, 1, 0, 0), no=(1, 0, 0), sci_yes=False):
    """Four questions and two captions, clean and blurred; probes of the first three questions."""
    rows = []
    for tag, flags in (("questions", right), ("blurred questions", blurred)):
        for k, good in enumerate(flags):
            said = "red" if good else "blue"
            kept = 0.95 if good else 0.55
            rows.append(answers(tag, k, "short", "colour | What color?", "red", said, kept))
    for tag in ("captions", "blurred captions"):
        for k, said in enumerate((CAPTION, WRONG)):
            about = "caption | Describe."
            rows.append(answers(tag, k, "free", about, CAPTION, said, 0.8, sci=WRONG))
    for k, good in enumerate(right):
        for severity in (1, 2, 3, 4, 5):
            said = "red" if good and severity < 4 else "blue"
            what = f"fog {severity}"
            place = 100 * severity + k
            rows.append(answers("corrupted questions", place, "short", what, "red", said))
    for k, good in enumerate(no):
        for turn, template in enumerate(TEMPLATES):
            said = {"false_yn": "no" if good else "yes"}.get(template, "a green tree")
            sci = "yes" if sci_yes else None
            made = answers(
                "negated questions", 4 * k + turn, "free", template, "red", said, sci=sci
            )
            rows.append(made | {"group": f"questions {k}"})
    return rows


def written(folder, **rows):
    """A folder of records: rows by the model's name, "_" for "-"."""
    (folder / "edge").mkdir(exist_ok=True)
    for name, mine in rows.items():
        name = name.replace("_", "-")
        write_records(folder / "edge" / f"{name}.parquet", records_of(mine, name))
    return folder


def two_models(folder):
    """Records of two models, and of the first in NF4."""
    other = whole(right=(1, 1, 1, 1), blurred=(1, 1, 1, 1), no=(1, 1, 1))
    return written(folder, one=whole(), two=other, one_nf4=whole(blurred=(0, 0, 0, 0)))


def failed(row):
    """The record of a row that was not answered."""
    return {k: None if ":" in k else v for k, v in row.items()} | {"error": "RowError"}


def ledger_of(folder, *names):
    """The ledger of this paper, with the book's own questions."""
    return ledger.evaluate(CLAIMS, findings.named(names, folder), None)
