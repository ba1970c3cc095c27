"""Nothing in the package is there for its own tests alone."""

import pytest

from tests import reachability

pytestmark = pytest.mark.quick


def test_users_reach_every_definition_and_parameter():
    assert reachability.left() == []
    assert len(reachability.KEPT) <= 10


def test_what_nobody_reaches_is_named(tmp_path):
    files = {
        "pyproject.toml": '[project.scripts]\ntool = "sci_core.tool:main"',
        "Makefile": "",
        "sci_core/__init__.py": "",
        "sci_core/tool.py": """
from sci_core.parts import Used, given as taken

def main():
    return taken(1, passed=2), Used().called

def forgotten():
    return only_there()

def only_there(): ...
""",
        "sci_core/parts.py": """
def given(first, passed=0, folded=0): ...

class Used:
    def called(self): ...
    def silent(self): ...
""",
    }
    (tmp_path / "sci_core").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert reachability.left(tmp_path) == [
        "sci_core.parts.Used.silent",
        "sci_core.tool.forgotten",
        "sci_core.tool.only_there",
        "sci_core.parts.given(folded=)",
    ]
