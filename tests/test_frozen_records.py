"""The frozen records still come out of this code: a hash-fixed part is decoded anew.

One row in 120 here, a tenth in `make soak` and in `make reproduce`; of the companions' small
sets one in 80, in `make soak` in 20, and of Edge's, which have few question groups, always in 20.
"""

import json
import zlib
from functools import cache

import pandas as pd
import pytest

from sci_book.commands.options import DEFAULT_PAIR
from sci_book.data.answers import rules as answers
from sci_book.data.catalogue import model_entry
from sci_book.data.datasets import load_dataset
from sci_book.papers.registry import COMPANIONS, PAPERS
from sci_book.papers.shared import paper
from sci_book.pipeline import frozen as frozen_records
from sci_book.pipeline.pocket_data import draw_companions
from sci_book.pipeline.reproduce import pocket_checkpoints
from sci_book.resources import FROZEN_RECORDS, ROOT
from sci_book.results.records import read_records
from sci_book.run.verify import verify_subset
from tests.pocket_data import pocket
from tests.soak import TIMES, rarely

SHARE = 10 if TIMES > 1 else 120  # one row of so many
COMPANIONS_SHARE = 20 if TIMES > 1 else 80
TEXTS = 1 if TIMES > 1 else 8  # one distinct answer of so many is read again


@pytest.fixture(scope="module", autouse=True)
def loaded_once():
    """All sets are drawn; each is read once, and so is each model."""
    with pytest.MonkeyPatch.context() as patch:
        once = cache(paper.load_dataset)
        patch.setattr(
            paper, "load_dataset", lambda name: pocket() if name == "pocket" else once(name)
        )
        patch.setattr(frozen_records, "load_model", cache(frozen_records.load_model))
        draw_companions()
        yield


@pytest.mark.parametrize(
    "checkpoint",
    [rarely(path) if path.name.endswith("-small") else path for path in pocket_checkpoints()],
    ids=lambda path: path.name,
)
def test_a_part_decodes_to_the_frozen_answers(checkpoint):
    frozen = read_records(FROZEN_RECORDS / f"{checkpoint.name}.parquet")
    dataset = pocket()
    assert len(frozen.table) == len(dataset) == 16_566 and frozen.ok.all()
    found = verify_subset(frozen_records.load_model(checkpoint), frozen, dataset, share=SHARE)
    print(found.summary())
    assert found.rows > 13_000 // SHARE and found.passed, found.summary()


# The shipped trainings' answers to every row of DRBench, and those of every run that is kept.
@pytest.mark.parametrize(
    ("files", "least"), [("*.parquet", 400_000), rarely("**/*.parquet", 2_000_000)]
)
def test_the_answer_rules_of_today_read_every_frozen_text_as_it_was_read(files, least):
    """Letters are left out of what conditions are judged on, rows of a world that no test draws."""
    shown, sums, read, texts = {}, {}, set(), 0
    for file in sorted(FROZEN_RECORDS.glob(files)):
        records = read_records(file)
        frame = records.frame[["dataset", "index", "question_type"]].assign(shown="{}")
        choices = (frame["question_type"] == "mcq") & (file.parent.name != "conditions")
        for name in set(frame.loc[choices, "dataset"]) - set(shown):
            dataset = load_dataset(name)
            shown[name] = {row.index: json.dumps(row.options) for row in dataset}
            sums |= dataset.checksums
        of_rows = {name: sums.get(name, each) for name, each in records.stamp["datasets"].items()}
        assert of_rows == records.stamp["datasets"], f"{file} is of other rows than today's"
        compared = records.ok & (choices | (frame["question_type"] != "mcq")).to_numpy()
        names, numbers = frame.loc[choices, "dataset"], frame.loc[choices, "index"]
        frame.loc[choices, "shown"] = [shown[a][b] for a, b in zip(names, numbers, strict=True)]
        answered = [
            frame.assign(text=records.text(policy), was=records.parsed(policy))[compared]
            for policy in records.policies
        ]
        alike = ["question_type", "shown", "text", "was"]
        unlike = pd.concat(answered)[alike]
        # Most are a letter alone, which reads itself unless an option's text is a letter too.
        plain = (unlike["question_type"] == "mcq") & (unlike["text"] == unlike["was"])
        unlike = unlike[~plain | unlike["shown"].str.contains(r': "[A-Za-z]"')]
        unlike = unlike.drop_duplicates()
        unlike = unlike[[zlib.crc32(text.encode()) % TEXTS == 0 for text in unlike["text"]]]
        new = set(unlike.itertuples(index=False, name=None)) - read
        read |= new
        for kind, options, text, was in new:
            was = None if pd.isna(was) else was
            assert answers.parse(kind, text, json.loads(options)) == was, (file.name, options, text)
        texts += sum(map(len, answered))
    assert texts > least


FILES = [
    (checkpoint, file)
    for checkpoint in pocket_checkpoints()
    for file in frozen_records.frozen_files(checkpoint.name, FROZEN_RECORDS, full=False)
]


@pytest.mark.parametrize(
    ("checkpoint", "file"),
    [each if each[1].stem == "pocket-qwen2vl" else rarely(*each) for each in FILES],
    ids=[f"{file.parent.name}-{file.stem}" for _, file in FILES],
)
def test_some_rows_of_the_companions_decode_to_the_frozen_answers(checkpoint, file):
    edge = file.parent.name == "edge"  # its small sets have few question groups
    found = list(frozen_records.verify(checkpoint, file, share=20 if edge else COMPANIONS_SHARE))
    assert len(found) == (3 if edge else 1)
    for each in found:
        print(each.summary())
        assert each.rows > 4 and each.passed, each.summary()


def test_the_models_of_the_chapters_have_records_of_every_companion():
    for name in DEFAULT_PAIR.split(","):
        found = frozen_records.frozen_files(name, FROZEN_RECORDS, full=True)
        expected = [f"{paper}/{name}" for paper in COMPANIONS]
        expected += [f"{p}/{name}-{less}" for p in COMPANIONS for less in PAPERS[p].precisions]
        assert [f"{path.parent.name}/{path.stem}" for path in found] == expected


def test_every_checkpoint_is_small_safe_and_named():
    for checkpoint in pocket_checkpoints():
        assert model_entry(checkpoint.name)["pocket"]
        assert ROOT / model_entry(checkpoint.name)["load"] == checkpoint
        weights = [path for path in checkpoint.iterdir() if path.stat().st_size > 1_000_000]
        assert [path.name for path in weights] == ["model.safetensors"]
        assert weights[0].stat().st_size <= 12_000_000
