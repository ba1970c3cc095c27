"""Names that a page is given: a list, one name, or text that is a list."""

import ast
import re

import pytest

from sci_book.papers.registry import PAPERS, papers_titled
from sci_book.papers.shared import chapters, parameters
from sci_book.pipeline.findings import named
from sci_book.pipeline.notebooks import PARAMETERS_TAG, parameter_names, read_source
from sci_book.pipeline.reproduce import chapter_sources
from sci_book.resources import FROZEN_RECORDS, ROOT

READERS = {
    "names", "papers_titled", "subjects", "named", "read", "load", "cells", "sources",
    "paper_numbers", "model_names", "companions",
}  # fmt: skip
"""Functions of pages that take names as they are given."""
SAY_MODELS = ("subjects", "named", "read", "cells", "companions")
"""Those whose errors call the first list `models`."""


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["mine"], ["mine"]),
        (("a", "b"), ["a", "b"]),
        ("mine", ["mine"]),
        ("pocket-qwen2vl", ["pocket-qwen2vl"]),
        ('["mine"]', ["mine"]),
        ("['a', 'b']", ["a", "b"]),
        ("[a, b]", ["a", "b"]),
        (" [a] ", ["a"]),
        ("a, b", ["a", "b"]),
        ("a,b,", ["a", "b"]),
        ("runs/a/records/m.parquet", ["runs/a/records/m.parquet"]),
        ("Qwen/Qwen2-VL-7B-Instruct", ["Qwen/Qwen2-VL-7B-Instruct"]),
        ("The Edge Reliability Gap", ["The Edge Reliability Gap"]),
        ("图", ["图"]),
        ("", []),
        ([], []),
        ("[]", []),
    ],
)
def test_one_name_is_a_list_of_one_and_text_that_is_a_list_is_read_as_one(given, expected):
    assert parameters.names(given) == expected


@pytest.mark.parametrize(
    ("given", "named_as"),
    [
        (3, "trained is 3 (int)"),
        (None, "trained is None (NoneType)"),
        (True, "trained is True (bool)"),
        (2.5, "trained is 2.5 (float)"),
        ({"a": 1}, "trained is {'a': 1} (dict)"),
        (["a", 3], "trained[1] is 3 (int)"),
        ([["a"]], "trained[0] is ['a'] (list)"),
        ("[a, 7]", "trained[1] is 7 (int)"),
        (["a", " "], "trained[1] is ' ' (str)"),
        ("[a, b", "trained is '[a, b' (str)"),
    ],
)
def test_another_type_is_refused_by_name(given, named_as):
    with pytest.raises(ValueError, match=r"expected a name or a list of names") as refusal:
        parameters.names(given, "trained")
    assert str(refusal.value).startswith(named_as) and "-y 'trained: [" in str(refusal.value)


@pytest.mark.parametrize("models", ["pocket-qwen2vl", '["pocket-qwen2vl"]', "[pocket-qwen2vl]"])
def test_a_page_reads_the_same_models_however_they_are_given(models):
    (subject,) = chapters.subjects(models, FROZEN_RECORDS)
    assert subject.name == "pocket-qwen2vl"
    assert [model.name for model in named(models, FROZEN_RECORDS)] == ["pocket-qwen2vl"]
    found = chapters.companions(models, FROZEN_RECORDS, "metara", "MetaRA")
    assert [model.name for model in found.subjects] == ["pocket-qwen2vl"]


def test_papers_are_named_by_their_titles():
    titles = [paper.title for paper in PAPERS.values()]
    assert papers_titled(titles[::-1]) == list(PAPERS)
    assert papers_titled("ORIC") == ["oric"] and papers_titled("[ORIC, C-VQA]") == ["cvqa", "oric"]
    for wrong in ("oric", [], "SCI", ["ORIC", "Another"]):
        with pytest.raises(ValueError, match=r"expected one or more of 'Self-Critical Inference'"):
            papers_titled(wrong)


@pytest.mark.parametrize("source", chapter_sources(), ids=lambda source: source.stem)
def test_every_list_of_every_page_is_read_by_a_function_that_takes_text(source):
    notebook, lists = read_source(source), set()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in code:
        if PARAMETERS_TAG in cell.metadata.get("tags", []):
            for node in ast.parse(cell.source).body:
                if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.List | ast.Tuple):
                    lists.add(node.target.id)
                assert not (isinstance(node, ast.Assign) and isinstance(node.value, ast.List))
    for cell in code:
        if PARAMETERS_TAG in cell.metadata.get("tags", []):
            continue
        tree = ast.parse(cell.source)
        read = {
            id(argument)
            for call in ast.walk(tree)
            if isinstance(call, ast.Call)
            and getattr(call.func, "attr", getattr(call.func, "id", "")) in READERS
            for argument in call.args
        }
        replaced = {  # `pocket_models = parameters.names(pocket_models, …)`
            target.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and any(id(one) in read for one in ast.walk(node.value))
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        lists -= replaced
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and getattr(call.func, "attr", "") in SAY_MODELS:
                given = {one.id for one in call.args[:1] if isinstance(one, ast.Name)} & lists
                assert given <= {"models"}, f"an error about {given} would say `models`"
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id in lists and isinstance(node.ctx, ast.Load):
                assert id(node) in read, f"{source.name} uses {node.id} as it is given"


def test_what_a_page_invites_to_change_is_there():
    """Its parameters, or what its code assigns; records lie in the folder of a run, not of all."""
    for source in chapter_sources():
        text = source.read_text("utf-8")
        invited = text.partition("## If you change")[2].partition("# %%")[0]
        assigned = re.findall(r"^(\w+)(?:: [\w\[\]]+)? = ", text, re.MULTILINE)
        for name, value in re.findall(r"`(\w+) ?= ?([^`]*)`", invited):
            assert name in {*parameter_names(read_source(source)), *assigned}, (source.stem, name)
            place = re.fullmatch(r"runs/[\w-]+(/records)?", value)
            assert name != "records" or place or (ROOT / value).is_dir(), (source.stem, value)
