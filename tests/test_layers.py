"""Imports go downward only, families have one home, kernels touch no file."""

import ast
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parents[1]
PAPERS = tuple(
    folder.parent.name
    for folder in sorted((ROOT / "sci_book" / "papers").glob("*/paper.py"))
    if folder.parent.name != "shared"
)

# From below upwards: a file imports its own part and those below. The papers share a floor, so
# that none imports another; `sci_book` itself holds names alone, loaded when first used.
FLOORS = {
    "sci_core": 0,
    "sci_core.families": 1,
    "sci_core.engine": 2,
    "sci_core.generate": 3,
    "sci_core.custom_generate": 4,
    "sci_book.files": 5,
    "sci_book.methods": 5,
    "sci_book.resources": 5,
    "sci_book.pocket": 6,
    "sci_book.data": 7,
    "sci_book.results": 8,
    "sci_book.run": 9,
    "sci_book.integrations": 10,
    "sci_book.papers.shared": 10,
    "sci_book.audit": 11,  # knows no paper: what one asks alone, its folder gives to the engine
    **{f"sci_book.papers.{paper}": 12 for paper in PAPERS},
    "sci_book.papers": 13,  # the registry
    "sci_book.pipeline": 14,
    "sci_book.commands": 15,
    "sci_book": 16,
}

# Third-party packages the kernel stands on, beside the standard library.
KERNEL_PACKAGES = {
    "torch",
    "transformers",
    "PIL",
    "numpy",
    "jaxtyping",
    "safetensors",
    "lazy_loader",
}

FAMILY_NAMES = ("qwen", "llava", "idefics", "smolvlm", "internvl")
# adapters.py adapts them; the pocket world makes one checkpoint of each; the command line's
# default is one of these.
FAMILY_HOMES = {
    "sci_book/commands/options.py",
    "sci_core/families/adapters.py",
    "sci_book/pocket/architectures.py",
    "sci_book/pocket/dialogue.py",
    "sci_book/pocket/tokenizer.py",
    "sci_book/pocket/train.py",
}

KERNELS = {"logits.py", "plausibility.py", "methods.py", "scoring.py", "sampling.py", "plan.py"}
FILE_CALLS = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "safe_open"}

LAZY = ("sci_core", "sci_book")

FILES = [
    path for package in ("sci_core", "sci_book") for path in sorted((ROOT / package).rglob("*.py"))
]
KERNEL = [path for path in FILES if path.is_relative_to(ROOT / "sci_core")]


def dotted(path):
    """The name by which a file is imported."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imported(path):
    """Every module, or name of one, that `path` imports anywhere in the file, dotted."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def part(module):
    """The longest name in FLOORS that a dotted name lies in, or None for other packages."""
    while module and module not in FLOORS:
        module = module.rpartition(".")[0]
    return module or None


def names(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", FILES, ids=names)
def test_imports_go_downward(path):
    own = part(dotted(path))
    for module in imported(path):
        other = part(module)
        assert other in {None, own} or FLOORS[other] < FLOORS[own], (
            f"{names(path)} is of {own}, and imports {module} of {other}, which is not below it"
        )


@pytest.mark.parametrize("path", KERNEL, ids=names)
def test_the_kernel_stands_on_few_packages(path):
    known = sys.stdlib_module_names | KERNEL_PACKAGES | {"sci_core"}
    foreign = {module.split(".")[0] for module in imported(path)} - known
    assert not foreign, f"{names(path)} imports {foreign}; the kernel uses {KERNEL_PACKAGES}"
    assert "sci_book" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", LAZY)
def test_a_lazy_package_has_every_name_of_its_stub(name):
    package = importlib.import_module(name)
    stub = Path(package.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    listed = ast.literal_eval(stub.split("__all__ = ")[1])
    assert sorted(package.__all__) == sorted(listed)
    assert not [each for each in listed if isinstance(getattr(package, each), ModuleType)]


@pytest.mark.parametrize("path", FILES, ids=names)
def test_only_families_knows_a_family(path):
    """Names in code, attributes and strings; docstrings and comments may mention a family."""
    if names(path) in FAMILY_HOMES:
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


FOREIGN_PARTS = """
import torch, numpy as np
from torch.optim._muon import step
from transformers import PreTrainedModel as Base, _private
torch.optim._muon.zeropower = None
np.random.seed.x += 1
Base.forward: object = print
setattr(torch, "compile", None)
sys.meta_path.insert(0, None)
torch.Tensor.__doc__, self._own, torch.zeros(2)._private
"""


def liberties(source):
    """Where code changes another package, looks into its private parts, or hooks its import."""
    tree, foreign, found = ast.parse(source), {"sys"}, []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            foreign |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            module = (node.module or "").split(".")
            if module[0] not in ("sci_core", "sci_book", "__future__"):
                foreign |= {alias.asname or alias.name for alias in node.names}
                words = [*module, *(alias.name for alias in node.names)]
                found += [node for word in words if word[0] == "_" and word[:2] != "__"]
    hooks = ("sys.meta_path", "sys.path_hooks", "sys.path")

    def is_foreign(node):
        inside = isinstance(node, ast.Attribute)
        while isinstance(node, ast.Attribute):
            node = node.value
        return inside and isinstance(node, ast.Name) and node.id in foreign

    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_foreign(node):
            private = node.attr[0] == "_" and node.attr[:2] != "__"
            written = isinstance(node.ctx, ast.Store | ast.Del)
            hooking = ast.unparse(node) in hooks
            exits = ast.unparse(node) == "os._exit"  # which is documented
            found += [node] * (written or hooking or (private and not exits))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "setattr":
            found += [node] * (getattr(node.args[0], "id", None) in foreign)
    return sorted({f"line {node.lineno}: {ast.unparse(node)}" for node in found})


@pytest.mark.parametrize("path", FILES, ids=names)
def test_no_other_package_is_changed_or_looked_into(path):
    found = liberties(path.read_text(encoding="utf-8"))
    assert not found, f"{names(path)} depends on what may change unsaid: {found}"


def test_the_scan_sees_every_liberty():
    lines = {int(line.split(":")[0].split()[1]) for line in liberties(FOREIGN_PARTS)}
    assert lines == {3, 4, 5, 6, 7, 8, 9}


def test_the_scan_knows_parts():
    assert part("sci_book.papers.shared.tables.number") == "sci_book.papers.shared"
    assert part("sci_core.logits") == "sci_core"
    assert part("torch.nn") is None


PROCESS = """
import json, os, random, sys, warnings
import numpy, torch, transformers
from PIL import Image, ImageFile

# What these load has filters of its own.
from transformers import AutoTokenizer, GenerationMixin, Qwen2VLForConditionalGeneration

def state():
    return {
        "import": [id(hook) for hook in (*sys.meta_path, *sys.path_hooks)] + sys.path,
        "warnings": [str(one) for one in warnings.filters],
        "variables": dict(os.environ),
        "folder": os.getcwd(),
        "numbers by lot": [
            hash(random.getstate()), str(numpy.random.get_state()),
            torch.get_rng_state().tolist(),
        ],
        "torch": [
            torch.get_num_threads(), torch.is_grad_enabled(), str(torch.get_default_dtype()),
            torch.are_deterministic_algorithms_enabled(),
        ],
        "logging": transformers.logging.get_verbosity(),
        "pictures": [Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES],
        "classes": [
            id(value) for kind in (torch.Tensor, torch.optim.Adam, transformers.GenerationMixin)
            for value in vars(kind).values()
        ],
    }

states = {"before": state()}
import sci_core
states["import sci_core"] = state()
model = sci_core.load_model(sys.argv[1])
states["load_model"] = state()
picture, prompt = Image.new("RGB", (60, 60), "red"), "Is it red? Please answer yes or no."
sci_core.generate(model, [picture], [prompt], "SCI5", 2, temperature=1.0, seed=3)
states["generate, by lot"] = state()
decode = sci_core.custom_generate(model.processor, [picture], [prompt], "SCI3")
shown = model.processor.prepare(picture)
ids = torch.tensor(model.processor.token_ids([prompt], [shown.ids]))
model.hf.generate(
    input_ids=ids, **shown.inputs, mm_token_type_ids=(ids == model.image_token_id).int(),
    custom_generate=decode, max_new_tokens=2,
)
states["custom_generate"] = state()
print(json.dumps(states))
"""


@pytest.fixture(scope="module")
def states(tmp_path_factory):
    """What a process of a user's is like after each thing that it does with the kernel."""
    command = [sys.executable, "-c", PROCESS, ROOT / "checkpoints" / "pocket-qwen2vl-small"]
    done = subprocess.run(
        command,
        cwd=tmp_path_factory.mktemp("elsewhere"),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert not done.returncode, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    "deed", ["import sci_core", "load_model", "generate, by lot", "custom_generate"]
)
def test_a_users_process_is_left_as_it_was(states, deed):
    assert states[deed] == states["before"]
