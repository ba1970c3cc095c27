"""The first code that a reader meets runs as it stands, pasted into an empty file."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "book/introduction.md")


@pytest.mark.parametrize("page", PAGES)
def test_the_first_snippet_runs_and_prints_an_answer(page, tmp_path):
    text = (ROOT / page).read_text(encoding="utf-8")
    (tmp_path / "mine.py").write_text(re.search(r"```python\n(.*?)```", text, re.S)[1], "utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", tmp_path / "mine.py"],
        cwd=ROOT, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"\w[\w ]*\n", done.stdout)
