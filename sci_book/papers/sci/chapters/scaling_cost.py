"""What the rounds of `scaling` cost: tokens counted, and time where it was measured."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from sci_book.papers.sci.chapters.cost import ratio
from sci_book.papers.sci.chapters.scaling import LADDERS, MOST, name_of
from sci_book.papers.sci.chapters.shapes import Subjects
from sci_book.papers.shared.chapters import Subject
from sci_book.papers.shared.tables import Table, number, plain
from sci_book.papers.shared.timing import on_pocket_data, ungated


def counted(kind: str, image_tokens: int) -> dict[int, float]:
    """By number of rounds, tokens through the language model in multiples of the base.

    Counted on made-up questions (`overhead.LAYOUT`), two phases, black kept, every round read.
    """
    methods = (LADDERS[kind](count) for count in range(MOST + 1))
    return {len(method.rounds): ratio(method, image_tokens) for method in methods}


def measured(result: dict | None, model: str) -> pd.DataFrame:
    """Time of `generate` on the pocket twins, in multiples of the base; empty if not measured.

    Columns `ratio_median, ratio_q1, ratio_q3, token_rows_ratio`, by number of rounds.
    """
    columns = ["ratio_median", "ratio_q1", "ratio_q3", "token_rows_ratio"]
    if result is None:
        return pd.DataFrame(columns=columns)
    rows = on_pocket_data(result)
    rows = rows[(rows["model"] == model) & rows["method"].str.fullmatch(r"SCI\d+")]
    return rows.set_index(rows["method"].str[3:].astype(int))[columns]


def cost_table(
    result: dict | None, subjects: Subjects, costs: Mapping[int, float], image_tokens: int
) -> Table:
    """What each size costs, in multiples of the base: counted, and measured where it was.

    The `result` of the benchmark, if there is one, has the models' times on the pocket twins too;
    `costs` are `counted` of both kinds, with so many image tokens.
    """
    columns = {("tokens", f"counted, {image_tokens}"): costs}
    if result is not None:
        timed = ungated(result, image_tokens)
        timed = timed[(timed["batch"] == 1) & (timed["new_tokens"] == 5)]
        names = {subject.name.removeprefix("pocket-"): subject.brief for subject in subjects}
        order = [*names, *timed["model"].unique()]
        for row in sorted(timed.to_dict("records"), key=lambda row: order.index(row["model"])):
            model = names.get(row["model"], row["model"])
            column = columns.setdefault((f"time, {image_tokens}", model), {})
            column[int(row["method"].removeprefix("SCI"))] = row["ratio_median"]
    for subject in subjects:
        times = measured(result, subject.name)
        if len(times):
            columns["tokens, twins", subject.brief] = times["token_rows_ratio"].to_dict()
            columns["time, twins", subject.brief] = times["ratio_median"].to_dict()
    cells = {
        head: [column.get(size, np.nan) if size > 1 else 1.0 for size in costs]
        for head, column in columns.items()
    }
    frame = pd.DataFrame(cells, index=[name_of(size) for size in costs])
    caption = (
        f"Cost in multiples of the base: questions with {image_tokens} image tokens, in two "
        "phases, and the pocket twins, with the gate; time is a median on one thread"
    )
    return plain(frame, name="cost", caption=caption)


def price(frame: pd.DataFrame, costs: Mapping[int, float], subject: Subject) -> str:
    """What the largest size costs and gains on BS, against SCI7 and against the best, in words."""
    values = frame["value"].dropna()
    if values.empty:
        return f"**{subject.shown}** has no row in BS."
    best, last = int(values.idxmax()), int(values.index.max())
    return (
        f"**{subject.shown}.** {name_of(last)} costs {number(costs[last])} times the base and is "
        f"right on {number(values[last])} % of BS; the base on {number(values[1])} %. The highest "
        f"point of the curve is that of {name_of(best)}, {number(values[best])} % at "
        f"{number(costs[best])} times the base."
    )
