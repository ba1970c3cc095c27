"""What a method makes of the base's answers, drawn with switches: broken, mended, untouched.

The picture is HTML that follows the theme and the screen's width: every state of its switches is in
the page, and the style sheet shows one, so that it needs no script.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import chain, product
from typing import Any

import numpy as np
import pandas as pd

from sci_book.papers.shared import frame
from sci_book.papers.shared.figures import Pictures
from sci_book.papers.shared.tables import MISSING, number, signed
from sci_core.methods import Method

WAYS = {"breaks": -1, "mends": 1}
SWITCHES = {"beta": "β", "questions": "questions"}
"""The keys of lines that a reader switches between, with the words beside the buttons."""


def turned(
    model: frame.Trained, by: Method | str, way: str, rows: frame.Rows, **keys: Any
) -> dict[str, Any]:
    """The share of some rows whose answer a method mends, or breaks: a line of the frame.

    It mends an answer if it alone is right, and breaks it if the base alone is.
    """

    def values(training: Any) -> np.ndarray:
        gap = training.right(by) - training.right("base")
        return np.where(np.isfinite(gap), gap == WAYS[way], np.nan)

    return frame.line(model, values, rows, (0.0, 1.0), way=way, **keys)


def switched(tidy: pd.DataFrame, first: Sequence[Any], controls: Sequence[str]) -> Pictures:
    """`turned` lines as bars, a panel a model and a line a method, with a switch a key.

    Args:
        tidy: `frame.measured` of lines with the keys `beta`, `questions`, `method` and `way`.
        first: the values of `SWITCHES` that are shown first.
        controls: methods that take no idea of their own: these are marked.
    """
    values = {key: list(dict.fromkeys(tidy[key])) for key in SWITCHES}
    buttons = [_buttons(key, values[key], at) for key, at in zip(SWITCHES, first, strict=True)]
    states = []
    for beta, questions in product(*values.values()):
        asked = tidy[tidy["questions"] == questions]
        part = asked[asked["beta"] == beta]
        largest = _largest(asked[~asked["method"].isin(controls)])
        at = dict(zip(SWITCHES, (beta, questions), strict=True))
        names = [f"{key}{values[key].index(value)}" for key, value in at.items()]
        said = f"β {beta:g}, {questions}"
        states += [_panel(of_model, f"{model}, {said}", " ".join(names), controls, largest)
                   for model, of_model in part.groupby("model", sort=False)]  # fmt: skip
    return Pictures(f'<div class="turned">{"".join(buttons)}{"".join(states)}</div>')


def _buttons(key: str, values: Sequence[Any], first: Any) -> str:
    labels = [
        f'<label><input type="radio" name="turned-{key}" class="{key}{place}"'
        f"{' checked' if value == first else ''}> {escape(str(value))}</label>"
        for place, value in enumerate(values)
    ]
    return f"<fieldset><legend>{SWITCHES[key]}</legend>{''.join(labels)}</fieldset>"


def _largest(lines: pd.DataFrame) -> float:
    """What the longest bar stands for, the same for each β and model: bars compare.

    A control's may be far longer, and is cut off there.
    """
    numbers = [*lines["estimate"], *chain.from_iterable(lines["others"])]
    return max((each for each in numbers if np.isfinite(each)), default=0.0) or 1.0


def _panel(
    lines: pd.DataFrame, said: str, classes: str, controls: Sequence[str], largest: float
) -> str:
    n = lines["n"].max()
    body = []
    for method, ways in lines.groupby("method", sort=False):
        at = {line["way"]: line for line in ways.to_dict("records")}
        broken, mended = (at[way]["estimate"] for way in WAYS)
        left, right = (_bar(at[way], way, largest) for way in WAYS)
        mark = ' class="control"' if method in controls else ""
        body.append(
            f'<tr{mark}><th scope="row">{escape(str(method))}</th>{left}{right}'
            f"<td>{number(100 - broken - mended, 1)}</td><td>{signed(mended - broken, 1)}</td></tr>"
        )
    heads = "".join(f'<th scope="col">{head}</th>' for head in (*WAYS, "leaves", "gains"))
    return (
        f'<table class="turned-panel {classes}"><caption>{escape(said)}: '
        f"{n:,} rows, %</caption><thead><tr><td></td>{heads}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table>"
    )


def _bar(line: dict[str, Any], way: str, largest: float) -> str:
    """A cell with a bar as long as the number, and a faint dot a training."""
    if not line["n"]:
        return f'<td class="{way}">{MISSING}</td>'
    numbers = [each for each in (line["estimate"], *line["others"]) if np.isfinite(each)]
    share, *others = (min(100 * each / largest, 100.0) for each in numbers)
    dots = "".join(f'<i style="--at:{dot:.1f}"></i>' for dot in others)
    return f'<td class="{way}" style="--at:{share:.1f}">{dots}{number(line["estimate"], 1)}</td>'
