"""The form of every committed notebook, and proof that a changed one is caught."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from jupytext.cli import jupytext
from papermill.translators import PythonTranslator

from sci_book.papers.shared.figures import READ_ON, over_ground
from sci_book.papers.shared.pages import places, sections_of
from sci_book.pipeline.notebooks import (
    ChapterError,
    NotebookError,
    execute,
    load_parameters,
    parameter_names,
    read_source,
)
from sci_book.resources import ROOT

SOURCES = sorted((ROOT / "notebooks").glob("*.py"))
MAX_BYTES = 500_000  # most of it figures, which are text (SVG), in two forms
# Every claim's line, picture, numbers and words; ten objections and every combination of rounds,
# each with a dot a training.
ITS_OWN = {"verdicts": 1_000_000, "objections": 700_000, "rounds": 550_000}
MAX_DEF_LINES = 25
MAX_PARAMETER_LINES = 8

SCRATCH = """\
# %% [markdown]
# # A scratch chapter

# %% tags=["parameters"]
limit: int = 3  # rows, where 0 = all
name: str = "pocket"

# %%
print("rows", limit * 7)

# %% tags=["nbval-ignore-output"]
import time

print(time.time_ns())
"""

ANSWERED = """\
# %% tags=["nbval-ignore-output"]
from sci_book.papers.shared.answer import Answer

at_head = Answer()

# %% tags=["remove-output"]
at_head.write(f"It is {6 * 7}.")
"""


def chapters(test):
    """A test of the form of every page, which `make quick` tries too."""
    return pytest.mark.quick(
        pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)(test)
    )


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]


def committed(source):
    path = source.with_suffix(".ipynb")
    assert path.is_file(), f"{source.name} has no executed {path.name}; run `make reproduce`"
    return nbformat.read(path, as_version=4)


def unrun(notebook):
    """What nbval lets pass: code cells of a notebook that were never executed."""
    return [cell.source for cell in code_cells(notebook) if cell.execution_count is None]


@chapters
def test_every_cell_ran_and_none_failed(source):
    notebook = committed(source)
    assert not unrun(notebook)
    counts = [cell.execution_count for cell in code_cells(notebook)]
    assert counts == list(range(1, len(counts) + 1)), "cells did not run once each, in order"
    for output in (output for cell in code_cells(notebook) for output in cell.outputs):
        assert output.output_type != "error", output.get("evalue")
        assert output.get("name") != "stderr", f"a cell wrote to stderr: {output.get('text')}"


@chapters
def test_source_and_notebook_agree(source):
    expected = [(c.cell_type, c.metadata, c.id, c.source) for c in read_source(source).cells]
    actual = [(c.cell_type, c.metadata, c.id, c.source) for c in committed(source).cells]
    assert actual == expected, f"{source.name} changed after its notebook was executed"


def test_jupytext_keeps_every_pair_as_it_is(tmp_path):
    """`jupytext --sync` of pages that agree changes neither side of any, whichever is newer."""
    folder = ROOT / "notebooks"
    files = [path for path in folder.iterdir() if path.suffix in (".py", ".ipynb", ".toml")]
    for path in files:
        shutil.copyfile(path, tmp_path / path.name)
    for newer in ("*.py", "*.ipynb"):
        for path in (names := sorted(tmp_path.glob(newer))):
            path.touch()
        assert jupytext(["--sync", "--quiet", *map(str, names)]) == 0
        changed = [
            path.name for path in files if path.read_bytes() != (tmp_path / path.name).read_bytes()
        ]
        assert not changed


@chapters
def test_holds_no_library_code_and_no_trailing_semicolon(source):
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        assert not isinstance(node, ast.ClassDef), f"class {node.name}: classes live in sci_core"
        if isinstance(node, ast.FunctionDef):
            lines = node.end_lineno - node.lineno + 1
            assert lines <= MAX_DEF_LINES, f"def {node.name} has {lines} lines"
    for cell in code_cells(read_source(source)):
        assert not cell.source.rstrip().endswith(";"), "nbval fails on a trailing semicolon"


@chapters
def test_parameters_are_few_and_typed_and_name_no_place_relative_to_the_notebook(source):
    """A chapter runs by hand from anywhere: paths are the repository's (`stamp.located`)."""
    notebook = read_source(source)
    cells = [c for c in notebook.cells if "parameters" in c.metadata.get("tags", [])]
    assert len(cells) == 1, "a chapter has exactly one cell tagged parameters"
    body = ast.parse(cells[0].source).body
    assert all(isinstance(node, ast.AnnAssign) and node.value for node in body)
    known = [each.name for each in PythonTranslator.inspect(cells[0])]
    assert known == parameter_names(notebook), "papermill warns of a parameter that it cannot read"
    assert 1 <= len(body) <= MAX_PARAMETER_LINES
    assert "hide-input" in cells[0].metadata.tags and '"../' not in cells[0].source


@chapters
def test_begins_with_a_title_and_states_a_claim(source):
    """In its first cell; a page of several sections in each of them."""
    first = read_source(source).cells[0]
    assert first.cell_type == "markdown" and first.source.startswith("# ")
    own = [places()[name].text for name in sections_of(source.stem)]
    assert "**Claim" in first.source or own, "a page states what could be false: **Claim.** …"
    assert "**Claim" in first.source or all("**Claim" in text for text in own)


@chapters
def test_is_small_and_names_no_machine(source):
    path = source.with_suffix(".ipynb")
    assert path.stat().st_size < ITS_OWN.get(path.stem, MAX_BYTES)
    text = nbformat.writes(committed(source))
    found = re.search(r'/(home|root|work|Users|tmp)/[^"\s]*|<[^<>]* at 0x[0-9a-f]{6,}>', text)
    assert not found, f"{path.name} holds {found and found.group()}"


@chapters
def test_numbers_with_decimals_are_rounded_by_one_rule(source):
    """`tables.number`: Python's formats round a half of one number up and of another down."""
    assert not re.findall(r":[+,]?\.[1-9]f", source.read_text(encoding="utf-8"))


@chapters
def test_heat_maps_lie_on_the_pages_own_ground(source):
    """A map of matplotlib's or seaborn's own is pale at zero, which glares on a dark page."""
    others = r"get_cmap\(|as_cmap=True|cmap=[\"']|colormaps\["
    assert not re.findall(others, source.read_text(encoding="utf-8"))


@pytest.mark.parametrize("least", ["#6b21a8", None])
def test_zero_of_a_heat_map_is_the_pages_ground(least):
    shades = over_ground("#dd6b20", least, READ_ON)
    assert shades(0.5 if least else 0.0)[3] < 0.01 and shades(1.0)[3] == pytest.approx(READ_ON)


@chapters
def test_every_figure_has_a_caption_and_says_what_it_shows(source):
    """By `figures.show`: a picture that a cell leaves behind by itself has neither."""
    cells = nbformat.read(source.with_suffix(".ipynb"), as_version=4).cells
    data = [out.get("data", {}) for cell in cells for out in cell.get("outputs", [])]
    assert not [kind for each in data for kind in each if kind.startswith("image/")]
    pages = [each["text/html"] for each in data if "text/html" in each]
    for page in (each for each in pages if "<svg" in each or "<img" in each):
        (said,) = re.findall(r'<figure class="shown"[^>]*>?[^>]* aria-label="([^"]*)"', page)
        (caption,) = re.findall(r"<figcaption>(.+)</figcaption>", page)
        for text in (said, caption):
            assert len(text) >= 40 and text[-1] == ".", f"{text!r}: expected 40 signs, and a stop."


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scratch")
    source = folder / "chapter.py"
    source.write_text(SCRATCH, encoding="utf-8")
    assert execute(source, folder / "chapter.ipynb", cwd=folder)
    return source


def nbval(notebook):
    """The exit status and the report of nbval on one notebook, in a process of its own."""
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "-q"]
    command += ["-p", "no:cacheprovider", "--rootdir", str(notebook.parent), str(notebook)]
    done = subprocess.run(command, cwd=notebook.parent, capture_output=True, text=True)
    return done.returncode, done.stdout


def test_runs_again_to_the_same_bytes(scratch):
    target = scratch.with_suffix(".ipynb")
    before = target.read_bytes()
    assert not execute(scratch, target, cwd=scratch.parent)
    assert target.read_bytes() == before
    assert not list(scratch.parent.glob("*.tmp"))


def test_parameters_reach_the_cells(scratch, tmp_path):
    execute(scratch, tmp_path / "other.ipynb", cwd=tmp_path, parameters={"limit": 5})
    assert "rows 35" in (tmp_path / "other.ipynb").read_text(encoding="utf-8")


@pytest.mark.skipif(os.name == "nt", reason="sockets in a folder are what other systems have")
def test_a_kernel_takes_no_port_that_another_may_take(tmp_path):
    asks = "from ipykernel.kernelapp import IPKernelApp as app\n\nprint(app.instance().ip)\n"
    places = set()
    for name in ("one", "other"):
        (tmp_path / f"{name}.py").write_text(f"# %%\n{asks}", encoding="utf-8")
        execute(tmp_path / f"{name}.py", tmp_path / f"{name}.ipynb", cwd=tmp_path)
        (cell,) = nbformat.read(tmp_path / f"{name}.ipynb", as_version=4).cells
        places.add(Path(cell.outputs[0].text.strip()))
    assert len(places) == 2 and all(place.is_absolute() for place in places)
    assert not [place for place in places if place.parent.exists()]


def test_parameter_with_an_equals_sign_in_its_comment_is_known(scratch):
    assert parameter_names(read_source(scratch)) == ["limit", "name"]


def test_unknown_parameter_fails_with_the_known_ones(scratch, tmp_path):
    with pytest.raises(NotebookError, match=r"no parameter 'limt'; it has limit, name"):
        execute(scratch, tmp_path / "x.ipynb", cwd=tmp_path, parameters={"limt": 5})


def test_missing_source_and_malformed_parameters_are_named(tmp_path):
    with pytest.raises(NotebookError, match=r"absent\.py is not a file"):
        read_source(tmp_path / "absent.py")
    (tmp_path / "bad.yaml").write_text("- 1\n", encoding="utf-8")
    with pytest.raises(NotebookError, match="holds a list; expected a mapping"):
        load_parameters(tmp_path / "bad.yaml")


def test_a_failing_cell_leaves_the_old_notebook(scratch, tmp_path):
    target = tmp_path / "chapter.ipynb"
    target.write_text("old", encoding="utf-8")
    broken = tmp_path / "chapter.py"
    broken.write_text(SCRATCH + "\n# %%\nraise RuntimeError('boom')\n", encoding="utf-8")
    with pytest.raises(ChapterError) as stopped:
        execute(broken, target, cwd=tmp_path)
    assert str(stopped.value) == "chapter: RuntimeError: boom"
    assert target.read_text(encoding="utf-8") == "old"

    # What was computed before stays on its page, and a sentence stands for what failed.
    nbformat.validate(stopped.value.page)
    *before, failed = code_cells(stopped.value.page)
    assert any("rows 21" in output.get("text", "") for cell in before for output in cell.outputs)
    assert [output.output_type for output in failed.outputs] == ["display_data"]
    assert "(`RuntimeError: boom`)" in failed.outputs[0].data["text/markdown"]


def test_a_kernel_that_dies_is_a_chapter_that_failed(tmp_path):
    killed = tmp_path / "chapter.py"
    end = "\n# %%\nimport os\n\nos._exit(9)\n\n# %%\nprint('never')\n"
    killed.write_text(SCRATCH + end, encoding="utf-8")
    with pytest.raises(ChapterError, match="its process ended") as stopped:
        execute(killed, tmp_path / "chapter.ipynb", cwd=tmp_path)
    *_, failed, never = code_cells(stopped.value.page)
    assert "its process ended" in failed.outputs[0].data["text/markdown"] and not never.outputs


def test_a_kernel_says_nothing_on_the_terminal(tmp_path, capfd):
    loud = tmp_path / "chapter.py"
    cell = "\n# %%\nimport os, sys\n\nprint('loud', file=sys.__stdout__)\nos.write(2, b'loud')\n"
    loud.write_text(SCRATCH + cell, encoding="utf-8")
    execute(loud, tmp_path / "chapter.ipynb", cwd=tmp_path)
    assert capfd.readouterr() == ("", "")


def test_nbval_passes_what_ran_and_fails_on_one_changed_digit(scratch, tmp_path):
    target = tmp_path / "chapter.ipynb"
    text = scratch.with_suffix(".ipynb").read_text(encoding="utf-8")
    target.write_text(text, encoding="utf-8")
    status, report = nbval(target)
    assert status == 0, report
    assert text.count("rows 21") == 1
    target.write_text(text.replace("rows 21", "rows 22"), encoding="utf-8")
    status, report = nbval(target)
    assert status == 1 and "rows 22" in report


def test_an_answer_that_is_computed_further_down_stands_at_the_head_and_nbval_compares_it(tmp_path):
    source, target = tmp_path / "answered.py", tmp_path / "answered.ipynb"
    source.write_text(ANSWERED, encoding="utf-8")
    execute(source, target, cwd=tmp_path)
    head, computed = code_cells(nbformat.read(target, as_version=4))
    both = [output.data["text/markdown"] for cell in (head, computed) for output in cell.outputs]
    assert both == ["It is 42."] * 2
    status, report = nbval(target)
    assert status == 0, report
    target.write_text(target.read_text("utf-8").replace("It is 42.", "It is 43."), encoding="utf-8")
    status, report = nbval(target)
    assert status == 1 and "It is 43." in report


def test_an_unexecuted_cell_is_caught(scratch):
    notebook = nbformat.read(scratch.with_suffix(".ipynb"), as_version=4)
    assert not unrun(notebook)
    notebook.cells[2].execution_count = None
    assert unrun(notebook) == ['print("rows", limit * 7)']
