"""The wheel, in an empty folder of an empty environment: alone, and with the commands' packages."""

import re
import shutil
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement
from PIL import Image

from tests.conftest import OWN_DATA

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = ("sci_core", "sci_book", "data_manifests", "checkpoints")
GENERATE = """\
from pathlib import Path

import sci_core
from PIL import Image

shipped = Path(sci_core.__file__).parents[1] / "sci_book" / "checkpoints"
model = sci_core.load_model(shipped / "pocket-qwen2vl-small")
picture = Image.open("photo.jpg")
question = "What colour is the ball? Answer the question using a single word or phrase."
(answer,) = sci_core.generate(model, [picture], [question], sci_core.SCI5, max_new_tokens=2)
print(len(answer.tokens))
"""
COMMANDS = """\
import contextlib
import io
import sys

from sci_book.cli import main

for command in (
    ["ask", "photo.jpg", "Is there a ball? Please answer yes or no."],
    ["data", "list"],
    ["data", "make", "pocket_oric"],
    ["evaluate", "--data", "mine.yaml", "--executor", "inline", "--out", "run"],
    ["doctor"],
    ["reproduce"],
):
    said, status = io.StringIO(), 0
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            main(command)
        except SystemExit as stop:
            status = stop.code or 0
    print(f"$ {status}\\n{said.getvalue()}".rstrip())
"""


def run(*command, folder, packages=None, status=0):
    """The output of a command that sees its environment's packages, and those of one folder."""
    variables = {"PATH": "/usr/bin:/bin", "HF_HUB_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    variables |= {"OMP_NUM_THREADS": "1", "HOME": str(folder)}
    variables |= {"PYTHONPATH": str(packages)} if packages else {}
    command = [str(word) for word in command]
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)
    assert done.returncode == status, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def needed(requirements, extras=("",)):
    """The distributions that requirements bring, and those that they need in their turn."""
    found, waiting = {}, [Requirement(line) for line in requirements]
    while waiting:
        one = waiting.pop()
        marked = one.marker is None or any(one.marker.evaluate({"extra": key}) for key in extras)
        if marked and one.name.lower() not in found:
            found[one.name.lower()] = metadata.distribution(one.name)
            waiting += map(Requirement, found[one.name.lower()].requires or ())
    return found.values()


def link(distributions, folder):
    """A folder that shows these distributions, and nothing else that is installed here."""
    folder.mkdir()
    installed = Path(sysconfig.get_paths()["purelib"])
    tops = {file.parts[0] for one in distributions for file in one.files or ()}
    for name in tops - {"..", "__pycache__"}:
        (folder / name).symlink_to(installed / name)
    return folder


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A checkout with a wheel built in it: its folder and the wheel."""
    root, out = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("wheel")
    for name in SHIPPED:
        ignore = shutil.ignore_patterns("records", "golden", "__pycache__")
        shutil.copytree(ROOT / name, root / name, ignore=ignore)
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, root)
    for command in (["git", "init", "-q"], ["git", "add", "."]):
        subprocess.run(command, cwd=root, check=True)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--no-index", "--wheel-dir", out, "."], cwd=root, check=True)
    (wheel,) = out.glob("*.whl")
    return root, wheel


@pytest.fixture(scope="module")
def environment(tree, tmp_path_factory):
    """An environment that holds the wheel alone: its `bin` folder and the installed files."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    command = [sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install"]
    command += ["--quiet", "--no-deps", "--no-index", tree[1]]
    subprocess.run(command, check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    return folder / "bin", site


@pytest.fixture(scope="module")
def packages(environment, tmp_path_factory):
    """Folders with the packages of `pip install .`, and of the extra `eval`."""
    (own,) = metadata.distributions(path=[str(environment[1])], name="sci-core")
    folder = tmp_path_factory.mktemp("packages")
    return tuple(
        link(needed(own.requires, extras), folder / name)
        for name, extras in (("kernel", [""]), ("eval", ["", "eval"]))
    )


@pytest.fixture
def empty(tmp_path, environment):
    """A folder with a picture, from which nothing may reach into the installed package."""
    noise = np.random.default_rng(0).integers(0, 256, (96, 96, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "photo.jpg")
    before = sorted(environment[1].rglob("*"))
    yield tmp_path
    assert sorted(environment[1].rglob("*")) == before


def test_a_build_in_the_tree_leaves_nothing_that_git_sees(tree):
    command = ["git", "status", "--porcelain", "--untracked-files=all"]
    done = subprocess.run(command, cwd=tree[0], capture_output=True, text=True, check=True)
    assert not [line for line in done.stdout.splitlines() if not line.startswith("A ")]


@pytest.mark.parametrize("folder", ["lmms_eval_tasks", "vlmevalkit_runs"])
def test_what_other_tools_read_is_in_the_wheel(environment, folder):
    shipped, installed = (root / "sci_book" / "integrations" for root in (ROOT, environment[1]))
    files = [path for path in (shipped / folder).iterdir() if path.is_file()]
    assert len(files) == len(list((installed / folder).glob("*.*"))) > 0
    for path in files:
        assert path.read_bytes() == (installed / folder / path.name).read_bytes()


def test_the_kernel_decodes_with_its_few_packages(environment, packages, empty):
    (empty / "decode.py").write_text(GENERATE, encoding="utf-8")
    said = run(environment[0] / "python", "decode.py", folder=empty, packages=packages[0])
    assert said.split()[-1] in ("1", "2")  # tokens of an answer cut at two
    lacking = run(environment[0] / "sci", folder=empty, packages=packages[0], status=1)
    assert lacking == (  # typer and others come with transformers
        "sci: the package 'pandas' is not installed; the kernel works without it, the commands "
        "need the extra 'eval': pip install -e '.[eval]' in a clone of this project\n"
    )


@pytest.mark.slow
def test_the_commands_work_in_an_empty_folder(environment, packages, empty):
    (empty / "commands.py").write_text(COMMANDS, encoding="utf-8")
    (empty / "mine.yaml").write_text(OWN_DATA, encoding="utf-8")
    (empty / "mine.csv").write_text("question,answer,picture\nA ball?,red,photo.jpg\n")
    said = run(environment[0] / "python", "commands.py", folder=empty, packages=packages[1])
    answer, listed, drawn, evaluated, health, refused = f"\n{said}".split("\n$ ")[1:]
    assert answer.startswith("0\nSCI5: ") and "V2" in answer
    assert re.search("^pocket_oric .*not here", listed, re.M)
    assert drawn.startswith("0\n") and drawn.endswith(f"\n{empty / 'data' / 'oric'}")
    assert evaluated.startswith("0\n") and "\n1 rows in run, 0 with an error" in evaluated
    faults = [line for line in health.splitlines() if line.startswith("no")]
    assert faults == ["no  pocket data (draw it with `sci data make`)"]
    assert refused.startswith("2\nsci: sci reproduce reads chapters and frozen records")
