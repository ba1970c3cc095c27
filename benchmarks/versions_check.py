"""Decode a few fixed questions with the installed packages, and say which answers are as expected.

`versions.py` runs this in one environment after another:

    python benchmarks/versions_check.py CASES.json

CASES.json is a list of checkpoints, each with pictures, prompts and, by method, the tokens that are
right. It prints one JSON object: the versions that answered, each checkpoint's outcome ("equal", a
count of answers that differ, or the first line of an error) and the warnings that were given. It
needs the kernel's packages alone.
"""

import json
import logging
import platform
import re
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def answers(model, case: dict, method: str, engine: str) -> list[list[int]]:
    """The tokens of each question of a case."""
    from PIL import Image

    from sci_core import generate

    pictures = [Image.open(path) for path in case["pictures"]]
    decoded = generate(
        model, pictures, case["prompts"], method, max_new_tokens=case["tokens"], engine=engine
    )
    return [list(answer.tokens) for answer in decoded]


def outcome(case: dict) -> str:
    """Whether both engines give a checkpoint's right answers; an error by its first line."""
    from sci_core import load_model

    try:
        model = load_model(case["checkpoint"], dtype="float32", device="cpu")
        wrong = [
            f"{engine}, {method}: {sum(map(list.__ne__, found, right))} of {len(right)} differ"
            for method, right in case["right"].items()
            for engine in ("two_phase", "sequential")
            if (found := answers(model, case, method, engine)) != right
        ]
    except Exception as error:
        return f"{type(error).__name__}: {first_line(str(error))}"
    return "; ".join(wrong) or "equal"


def first_line(text: str) -> str:
    """The first line of what somebody said, without colours and paths."""
    line = text.strip().splitlines()[0] if text.strip() else ""
    return re.sub(r"\x1b\[[0-9;]*m|(?<!\S)/\S*/", "", line)


class Kept(logging.Handler):
    """Keeps what transformers writes to its log, whose warnings are no Python warnings."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def main() -> None:
    from sci_core.families import releases

    releases.OLDEST.clear()  # an older one is tried as well
    cases = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    log = Kept()
    logging.getLogger("transformers").addHandler(log)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        outcomes = {case["name"]: outcome(case) for case in cases}
    said = [*log.lines, *(str(warning.message) for warning in given)]
    found = {
        "transformers": version("transformers"),
        "torch": version("torch").split("+")[0],
        "python": platform.python_version(),
        "outcomes": outcomes,
        "warnings": sorted({first_line(line) for line in said}),
    }
    print(json.dumps(found, allow_nan=False))


if __name__ == "__main__":
    main()
