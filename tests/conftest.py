"""What tests of the command line share: a checkpoint, data of one's own, a repository apart.

The project is imported where it is used: the process that hands tests out needs none of it, and
would keep the others waiting.
"""

import multiprocessing
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from jupyter_client.provisioning import local_provisioner
from PIL import Image

from tests.forked_kernels import ForkedKernel

OWN_DATA = """\
file: mine.csv
format: csv
columns: {question: question, answer: answer, image: picture}
pictures: files
question_type: short
"""


def sci(*arguments):
    """Run the command line in this process; its exit status (0 if it returns)."""
    from sci_book import cli

    try:
        cli.main([str(each) for each in arguments])
    except SystemExit as stop:
        return stop.code or 0
    return 0


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    from tests import tiny

    return tiny.write_checkpoint(tmp_path_factory.mktemp("tiny"), "qwen2_vl")


@pytest.fixture(scope="session")
def real():
    """Real annotations and photographs, whose licences keep them out of this repository."""
    if "SCI_REAL_DATA" not in os.environ:
        pytest.skip("real data, whose licences keep them out of here: name them in SCI_REAL_DATA")
    return Path(os.environ["SCI_REAL_DATA"])


@pytest.fixture(scope="session")
def paper_text(real):
    """The text of a paper, by its name: files beside the real data, in the registry's order."""
    from sci_book.papers.registry import PAPERS

    def read(paper):
        number = list(PAPERS).index(paper)
        (path,) = (real.parent / "papers").glob(f"{number:03}_*.txt")
        return path.read_text(encoding="utf-8")

    return read


@pytest.fixture
def sandbox(tmp_path, monkeypatch):
    """A repository of its own, so that steps and stamps touch nothing here."""
    from sci_book import resources

    for name, folder in (("RUNS", "runs"), ("NOTEBOOKS", "notebooks"), ("CHECKPOINTS", "models")):
        (tmp_path / folder).mkdir()
        monkeypatch.setattr(resources, name, tmp_path / folder)
    monkeypatch.setattr(resources, "FROZEN_RECORDS", tmp_path / "records")
    return tmp_path


@pytest.fixture
def own_data(tmp_path):
    """Three questions of a user's own, and their YAML file."""
    (tmp_path / "mine.yaml").write_text(OWN_DATA, encoding="utf-8")
    pixels = np.random.default_rng(0).integers(0, 256, (3, 64, 64, 3), dtype=np.uint8)
    lines = ["question,answer,picture"]
    for number, picture in enumerate(pixels):
        Image.fromarray(picture).save(tmp_path / f"{number}.png")
        lines.append(f"What colour is the ball?,red,{number}.png")
    (tmp_path / "mine.csv").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path / "mine.yaml"


@pytest.fixture(autouse=True)
def forked(monkeypatch):
    """Workers are forked from a process that has imported what each would import.

    One that is spawned is started by a script (`tests/run/test_executors.py`), or by a process that
    a test has forked (`tests/run/test_kills.py`), whose child that process is not.
    """
    of_name, here = multiprocessing.get_context, os.getpid()
    context = of_name("forkserver")
    context.set_forkserver_preload(
        ["ipykernel.debugger", "ipykernel.kernelapp", "transformers.processing_utils",
         "sci_book.run.executors"]
    )  # fmt: skip

    def get_context(name=None):
        return context if name == "spawn" and os.getpid() == here else of_name(name)

    monkeypatch.setattr(multiprocessing, "get_context", get_context)


@pytest.fixture
def forked_kernels(monkeypatch):
    """Notebooks run in kernels that are forked as workers are; others are started anew."""
    monkeypatch.setattr(local_provisioner, "launch_kernel", ForkedKernel)


@pytest.fixture
def damageable(tmp_path):
    """A copy of a checkpoint that a test may damage."""
    from tests import tiny

    def copy(family="qwen2_vl"):
        return shutil.copytree(tiny.checkpoint(family), tmp_path / family)

    return copy
