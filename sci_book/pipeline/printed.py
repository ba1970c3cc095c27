"""A claim's predicate on the paper's own numbers: would the paper hold by the test put to a model?

No interval is at hand, so a number is on the claimed side or not. A part that the paper does not
print leaves a claim open, unless another part is on the wrong side.
"""

from collections.abc import Sequence
from functools import cache

import pandas as pd

from sci_book.papers.sci import printed as of_sci
from sci_book.papers.shared.paper import OWN
from sci_book.papers.shared.tables import MISSING
from sci_book.pipeline.claims import Claim
from sci_book.resources import PAPER


def verdicts(claim: Claim) -> dict[str, str]:
    """ "holds" or "fails" by the paper's name of a model, or of what a line of a table is about.

    Empty where the paper prints no number that decides it.
    """
    words = {name: _word(claim, values) for name, values in _parts(claim).items()}
    return {name: word for name, word in words.items() if word}


def in_words(claim: Claim) -> str:
    """`verdicts` in a word or a few: "holds", "fails for Qwen2-VL", "holds in 4 of 5"."""
    by_model = verdicts(claim)
    words = list(by_model.values())
    if not words:
        return MISSING
    if len(set(words)) == 1:
        return words[0]
    if len(words) == 2:
        return f"fails for {next(name for name, word in by_model.items() if word == 'fails')}"
    return f"holds in {words.count('holds')} of {len(words)}"


def _word(claim: Claim, values: Sequence[float | None]) -> str:
    side = 1 if claim.claim == "greater" else -1
    known = [side * (value - claim.margin) > 0 for value in values if value is not None]
    if claim.needed is not None:
        return "holds" if sum(known) >= claim.needed else "fails" if known else ""
    if not all(known):
        return "fails"
    return "holds" if known and len(known) == len(values) else ""


def _parts(claim: Claim) -> dict[str, list[float | None]]:
    if claim.printed:
        return _declared(**claim.printed)
    if claim.paper != OWN or claim.measure not in of_sci.PRINTED:
        return {}
    measure = of_sci.PRINTED[claim.measure]
    labels = claim.about[:1] or of_sci.labels()
    return {label: measure(label, **claim.arguments) for label in labels}


def _declared(
    table: str,
    value: str | list[str],
    index: str = "model",
    where: str = "",
    columns: str | list[str] = "",
    values: str = "value",
) -> dict[str, list[float | None]]:
    """What a companion's claim says of where its numbers are printed.

    Args:
        table: a file of `data_manifests/paper`, such as "edge_table05".
        value: a part's number in the claim's unit, or several parts' (`DataFrame.eval`).
        index: the column that names what a line is about.
        where: which lines (`DataFrame.query`).
        columns: whose values become columns for `value`, joined by a space if there are several.
        values: what stands in them.
    """
    frame = _read(table)
    frame = frame.query(where, engine="python") if where else frame
    if columns:
        heads = [columns] if isinstance(columns, str) else columns
        frame = frame.assign(head=frame[heads].agg(" ".join, axis=1))
        frame = frame.pivot(index=index, columns="head", values=values).reset_index()
    parts: dict[str, list[float | None]] = {}
    for expression in [value] if isinstance(value, str) else value:
        numbers = frame.eval(expression, engine="python")
        for name, number in zip(frame[index], numbers, strict=True):
            parts.setdefault(name, []).append(None if pd.isna(number) else float(number))
    return parts


@cache
def _read(table: str) -> pd.DataFrame:
    text = pd.read_csv(PAPER / f"{table}.csv", keep_default_na=False, dtype=str)
    return text.apply(_numbers)


def _numbers(column: pd.Series) -> pd.Series:
    """The column as numbers if every field that is not empty is one."""
    numbers = pd.to_numeric(column, errors="coerce")
    return numbers if numbers.notna()[column != ""].all() and (column != "").any() else column
