"""Imports go downward only, families have one home, kernels touch no file, pins agree."""

import ast
import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "sci_core"

# What each layer of sci_core may import from sci_core; "" is the top level itself. The files
# named here stand above every layer and may import anything.
ALLOWED = {
    "": {""},
    "pocket": {"", "pocket"},
    "evaluation": {"", "evaluation"},
    "probes": {"", "evaluation", "probes"},
    "report": {"", "evaluation", "probes", "report"},
    "integrations": {"", "evaluation", "integrations"},
}
ABOVE_ALL = {
    "cli.py",
    "__main__.py",
    "companions.py",
    "elsewhere.py",
    "paper_sets.py",
    "reproduce.py",
}

PAPERS = ("cvqa", "edge", "metara", "oric")  # folders of probes and of report

# Third-party packages the top level stands on, beside the standard library.
TOP_LEVEL_PACKAGES = {
    "torch",
    "transformers",
    "PIL",
    "numpy",
    "jaxtyping",
    "safetensors",
    "lazy_loader",
}

FAMILY_NAMES = ("qwen", "llava", "idefics", "smolvlm", "internvl")
# families.py adapts them; the pocket world makes one checkpoint of each; the command line's
# default is one of these.
FAMILY_HOMES = {
    "cli.py",
    "families.py",
    "pocket/architectures.py",
    "pocket/dialogue.py",
    "pocket/tokenizer.py",
    "pocket/train.py",
}

KERNELS = {"logits.py", "plausibility.py", "methods.py", "scoring.py", "sampling.py", "plan.py"}
FILE_CALLS = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "safe_open"}

LAZY = ("sci_core", "sci_book")

FILES = sorted(PACKAGE.rglob("*.py"))
STUBS = sorted(PACKAGE.rglob("*.pyi"))


def layer(path):
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else ""


def imported(path):
    """Every module that `path` names in an import, anywhere in the file, as a dotted name."""
    package = ["sci_core", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def target_layer(module):
    """The layer of sci_core that a dotted name lies in, or None for other packages."""
    head, *rest = module.split(".")
    if head != "sci_core":
        return None
    return rest[0] if rest and (PACKAGE / rest[0]).is_dir() else ""


def paper_of(parts):
    """The companion paper that a module lies with, by its names below sci_core, or None."""
    inside = len(parts) > 1 and parts[0] in ("probes", "report") and parts[1] in PAPERS
    return parts[1] if inside else None


@pytest.mark.parametrize("path", [*FILES, *STUBS], ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_downward(path):
    if path.relative_to(PACKAGE).as_posix() in ABOVE_ALL:
        return
    allowed = ALLOWED[layer(path)]
    upward = {m for m in imported(path) if target_layer(m) not in {None, *allowed}}
    assert not upward, f"{path.name} may import only from {sorted(allowed)}, but imports {upward}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_top_level_stands_on_few_packages(path):
    if layer(path) or path.name in ABOVE_ALL:
        return
    known = sys.stdlib_module_names | TOP_LEVEL_PACKAGES | {"sci_core"}
    foreign = {m.split(".")[0] for m in imported(path)} - known
    assert not foreign, f"{path.name} imports {foreign}; the top level uses {TOP_LEVEL_PACKAGES}"


@pytest.mark.parametrize("name", LAZY)
def test_a_lazy_package_has_every_name_of_its_stub(name):
    package = importlib.import_module(name)
    stub = Path(package.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    listed = ast.literal_eval(stub.split("__all__ = ")[1])
    assert sorted(package.__all__) == sorted(listed)
    assert not [each for each in listed if isinstance(getattr(package, each), ModuleType)]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_only_families_knows_a_family(path):
    """Names in code, attributes and strings; docstrings and comments may mention a family."""
    if path.relative_to(PACKAGE).as_posix() in FAMILY_HOMES:
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    named = set()
    for node in ast.walk(tree):
        if id(node) in docstrings:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            text = getattr(node, "id", None) or getattr(node, "attr", None) or ""
        if any(family in str(text).lower() for family in FAMILY_NAMES):
            named.add(f"line {node.lineno}: {text}")
    assert not named, f"{path.name} names a model family: {sorted(named)}"


@pytest.mark.parametrize("path", [f for f in FILES if f.name in KERNELS], ids=lambda p: p.name)
def test_kernels_open_no_file(path):
    calls = {
        getattr(node.func, "id", None) or getattr(node.func, "attr", None)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    }
    assert not calls & FILE_CALLS, f"{path.name} opens a file: {calls & FILE_CALLS}"
    assert "pathlib" not in set(imported(path)), f"{path.name} handles paths"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_papers_never_import_each_other(path):
    paper = paper_of(path.relative_to(PACKAGE).with_suffix("").parts)
    others = {m for m in imported(path) if paper_of(m.split(".")[1:]) not in {None, paper}}
    shared = "what two papers need belongs to probes/shared or report/shared"
    assert paper is None or not others, f"{path.name} is of {paper} and imports {others}: {shared}"


def test_the_scan_reads_layers():
    assert paper_of(["report", "edge", "models"]) == "edge" and paper_of(["cli"]) is None
    assert paper_of(["report", "shared", "intervals"]) is None
    assert target_layer("sci_book.papers.shared.tables") == "report"
    assert target_layer("sci_core.logits") == ""
    assert target_layer("torch.nn") is None


def test_conda_and_pip_users_get_the_same_versions():
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lock if "==" in line]
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert environment["dependencies"][-1]["pip"] == pins
    assert pins[0].startswith("torch==") and not any("+" in pin for pin in pins)
