"""What tests of the chapters share: drawn records of two models, their subsets and outcomes."""

import matplotlib.pyplot as plt
import pytest

from sci_book.papers.shared import chapters
from sci_book.results.controls import NULLS
from sci_book.results.records import write_records
from tests.papers.shared import made_up
from tests.papers.shared.drawn_records import drawn_subjects
from tests.papers.shared.pair_records import LLAVA, METHODS, NAMED, QWEN, ROUNDS, records_of


@pytest.fixture(autouse=True)
def figures_closed():
    """A test need not close what it draws, nor undo the style that a page sets."""
    with plt.rc_context():
        yield
    plt.close("all")


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    for seed, (file, model, digest) in enumerate(
        [(QWEN, QWEN, "same"), (LLAVA, LLAVA, "same"), ("mine", "mine", "same"),
         ("hub", "Qwen/Qwen2-VL-7B-Instruct", "same"), ("cut", LLAVA, "other"),
         ("seed1", QWEN, "same")]
    ):  # fmt: skip
        write_records(folder / f"{file}.parquet", records_of(model, seed=seed, digest=digest))
    return folder


@pytest.fixture(scope="session")
def pair(folder):
    return chapters.subjects([QWEN, LLAVA], folder)


@pytest.fixture(scope="session")
def sets(pair):
    return {each.name: each.sets("any", "rows") for each in pair}


@pytest.fixture(scope="session")
def right(pair):
    names = ("base", *ROUNDS, *METHODS, *NULLS)
    return {each.name: {name: each.right(NAMED.get(name, name)) for name in names} for each in pair}


@pytest.fixture(scope="session")
def subjects(tmp_path_factory):
    """A model of the paper's and one of a reader's own, each with records decoded from logits."""
    return drawn_subjects(tmp_path_factory.mktemp("records"), [QWEN, "mine"])


@pytest.fixture(scope="session")
def mine(subjects):
    """The reader's own."""
    return next(subject for subject in subjects if subject.name == "mine")


@pytest.fixture(scope="session")
def beside(tmp_path_factory):
    """Records of two models; the first has longer ones, and some of another noise, beside them."""
    folder, part = tmp_path_factory.mktemp("records"), slice(0, 90)
    for seed, name in enumerate((QWEN, "bare")):
        write_records(folder / f"{name}.parquet", made_up.records_of(name, seed=seed))
    longer = made_up.records_of(QWEN, made_up.EXTENDED, part=part)
    write_records(folder / "extended" / f"{QWEN}.parquet", longer)
    cut = made_up.records_of(QWEN, part=part, seed=7, noise="clamp")
    write_records(folder / "extended" / f"{QWEN}-clamp.parquet", cut)
    return folder
