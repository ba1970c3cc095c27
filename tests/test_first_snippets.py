"""The first code that a reader meets runs as it stands, pasted into an empty file."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def first_snippet(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.search(r"```python\n(.*?)```", text, re.S)[1]


def test_the_first_snippet_runs_and_prints_an_answer(tmp_path):
    (tmp_path / "mine.py").write_text(first_snippet("README.md"), "utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", tmp_path / "mine.py"],
        cwd=ROOT, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"\w[\w ]*\n", done.stdout)


def test_the_introductions_first_snippet_is_the_readmes_but_for_comments():
    pages = ("README.md", "book/introduction.md")
    said, again = (re.sub(r"  # .*", "", first_snippet(page)) for page in pages)
    assert said == again and "generate(" in said
