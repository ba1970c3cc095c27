"""Tables 3, 9, 10 and 15, Figure 5: a right answer, asked about with a "not"."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from sci_book.papers.edge.chapters.models import Found, Model, Pair, paired_probes
from sci_book.papers.edge.conditions import KINDS
from sci_book.papers.edge.negation import READINGS, TEMPLATES, draw_rows
from sci_book.papers.edge.printed import DIFFERENCE, PAPER_SETS, printed
from sci_book.papers.edge.statistics import Wald, wald_difference
from sci_book.papers.shared.chapters import PAPER, row, side
from sci_book.papers.shared.figures import WIDTH
from sci_book.papers.shared.lines import compared, points, table_of
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import MISSING, Table, interval, number, p_value
from sci_book.results.statistics import Interval, difference, holm, share, sign_flip_test, wilson

OPEN = ("is_not", "absent")
INVERTED = "false_yn"
READ_AS = dict(zip(READINGS, ("to the letter", "published code", "whole words"), strict=True))


def pair_probes(pair: Pair, reading: str = "paper") -> pd.DataFrame:
    """The probes of the rows that both models have right: at most `ROWS` of a kind, drawn by lot.

    Columns of `Model.probes` for the compact model, `success large` and `text large`.
    """
    both = paired_probes(*(model.probes(reading=reading) for model in pair[:2]), " large")
    probes = []
    for kind in KINDS:
        mine = both[both["kind"] == kind]
        probes.append(mine[mine["row"].isin(draw_rows(np.unique(mine["row"])))])
    return pd.concat(probes)


def printed_templates() -> Table:
    """Tables 3 and 15: prompts and criteria as printed."""
    read = {"keep_default_na": False, "dtype": str, "index_col": "template"}
    prompts = pd.read_csv(PAPER / "edge_table15.csv", **read)
    criteria = pd.read_csv(PAPER / "edge_table03.csv", **read)
    frame = prompts.drop(columns="table").join(criteria.drop(columns="table"))
    return Table("prose-templates", frame.rename_axis(index=None), "Tables 15 and 3, as printed")


def table09(pair: Pair) -> Table:
    """Success over all probes, with Wilson's interval, its change from 100 %, the gap with Wald's.

    Before the "not" every row of these was right, so success less 1 is the paper's drop.
    """
    rows, lines = pair_probes(pair), {}
    for model, name, end in pair.sides:
        look = partial(printed, "edge_table09", dataset="both", model=name)
        paper = look(metric="negation")
        lines[f"success, {model.shown} (Wilson)"] = row(_passed(rows, end), paper=paper)
        clustered = share(rows[f"success{end}"], rows["group"])
        lines[f"success, {model.shown} (by picture)"] = row(clustered, paper=paper)
        change = Interval(*(value - 1 for value in clustered[:3]), *clustered[3:])
        lines[f"change, {model.shown} (by picture)"] = row(change, paper=look(metric="change"))
    for kind, mine, look in _gaps(rows):
        paper = look(metric="gap")
        what = f"gap, {kind}, large − compact"
        if len(mine):
            wald = Interval(*_wald(mine)[:3], len(mine), 0)
            lines[f"{what} (Wald)"] = row(wald, paper=paper)
        gap = difference(mine["success large"] - mine["success"], mine["group"])
        lines[f"{what} (paired)"] = row(gap, paper=paper)
    caption = "Table 9: probes passed in %, gaps in points"
    return compared(lines, pair[:2], name="table09", caption=caption, decimals=1)


def tests(pair: Pair) -> Table:
    """Table 9's z and p of the gap, as if probes were independent, and a p by picture."""
    rows, lines, head = pair_probes(pair), {}, side(pair[:2])
    for kind, mine, look in _gaps(rows):
        z, p, below = (look(metric=name) for name in ("z", "p", "p below"))
        names = ("z", "p of z", "p, sign-flip by picture")
        cells = dict.fromkeys((f"{head}: {name}" for name in names), MISSING)
        if len(mine):
            wald = _wald(mine)
            flip = sign_flip_test(mine["success large"] - mine["success"], mine["group"])
            texts = number(wald.z), p_value(wald.p), p_value(flip)
            cells = dict(zip(cells, texts, strict=True))
        lines[f"gap, {kind}"] = {
            "paper: z": number(z),
            "paper: p": number(p) if np.isnan(below) else f"< {below:.0e}",
            **cells,
        }
    caption = "Table 9: tests of no gap between large and compact"
    return table_of(lines, name="tests", caption=caption)


def table10(pair: Pair) -> Table:
    """Success by template and kind and its average, the paper's number in brackets."""
    rows, lines = pair_probes(pair), {}
    for template in (*TEMPLATES, "average"):
        cells = lines[template] = {}
        for kind, (model, name, end) in product(KINDS, pair.sides):
            mine = rows[rows["kind"] == kind]
            if template == "average":
                success = share(mine[f"success{end}"], mine["group"])
            else:
                success = _passed(mine[mine["template"] == template], end)
            paper = printed("edge_table10", dataset=PAPER_SETS[kind], model=name, item=template)
            ends = interval(100 * success.low, 100 * success.high, 0)
            percent = number(100 * success.estimate, 0)
            cells[f"{kind}, {model.shown}"] = f"{percent} {ends} (paper {paper:g})"
    sizes = ", ".join(f"{kind} {_rows(rows, kind)}" for kind in KINDS)
    caption = f"Table 10: success in %, Wilson’s interval (average: by picture); pictures: {sizes}"
    return table_of(lines, name="table10", caption=caption)


def readings(pair: Pair) -> Table:
    """What the three readings of Table 3 make of the same replies, in %."""
    lines = {}
    for reading in READINGS:
        rows = pair_probes(pair, reading)
        for model, _, end in pair.sides:
            by = 100 * rows.groupby("template")[f"success{end}"].mean().reindex(list(TEMPLATES))
            lines[f"{READ_AS[reading]}: {model.shown}"] = by.to_dict()
    caption = "Success in % by reading of Table 3"
    return table_of(lines, name="readings", caption=caption, decimals=0)


def by_template(pair: Pair) -> Table:
    """Large less compact for every template and kind: paired, with Holm's p over all."""
    rows, lines, p_values = pair_probes(pair), {}, []
    for kind, template in product(KINDS, TEMPLATES):
        mine = rows[(rows["kind"] == kind) & (rows["template"] == template)]
        gap = mine["success large"] - mine["success"]
        mean_gap = difference(gap, mine["group"])
        p_values.append(sign_flip_test(gap, mine["group"]) if len(mine) else 1.0)
        lines[f"{kind}, {template}"] = {**points("gap, points", mean_gap), "n": mean_gap.n}
    for cells, p in zip(lines.values(), holm(p_values), strict=True):
        cells["Holm’s p"] = number(p, 3)
    caption = "Success, large − compact, on the same pictures"
    return table_of(lines, name="gaps", caption=caption, decimals=1)


def own_gap(model: Model, kind: str) -> pd.DataFrame:
    """By picture, the mean success of the open templates less that of the inverted one.

    Pictures of which one of these probes failed to be answered are left out.
    """
    mine = model.probes()
    mine = mine[mine["kind"] == kind]
    wide = mine.pivot(index=["row", "group"], columns="template", values="success")
    wide = wide.reindex(columns=[*OPEN, INVERTED]).dropna()
    gap = wide[list(OPEN)].mean(axis=1) - wide[INVERTED]
    return gap.rename("gap").reset_index()


def examples(recorded: Found) -> Table:
    """The replies of each template to the first question and caption probed, right or wrong."""
    lines = {}
    for model in recorded.full:
        mine = model.probes()
        for kind in KINDS:
            own = model.answers(kind)["text"]
            few = mine[mine["kind"] == kind]
            few = few[few["row"] == few["row"].min()]
            for probe in few.itertuples():
                lines[f"{model.shown}, {kind} {probe.row}, {probe.template}"] = {
                    "its own answer": own[probe.row],
                    "its reply": probe.text,
                    "passes": "yes" if probe.success else "no",
                }
    caption = "Replies to the first picture of each kind"
    return table_of(lines, name="prose-replies", caption=caption)


def draw(pair: Pair) -> Figure:
    """Figure 5: success by template, both models, the paper's as open diamonds."""
    rows = pair_probes(pair)
    figure, panels = plt.subplots(1, 2, figsize=(WIDTH, 3.4), sharey=True)
    for ax, kind in zip(panels, KINDS, strict=True):
        for index, (model, name, end) in enumerate(pair.sides):
            for column, template in enumerate(TEMPLATES):
                mine = rows[(rows["kind"] == kind) & (rows["template"] == template)]
                success = _passed(mine, end)
                x, first = column + 0.36 * (index - 0.5), column == 0
                if success.n:
                    ax.bar(x, 100 * success.estimate, 0.34, color=model.colour,
                           label=model.shown if first else None)  # fmt: skip
                    ax.vlines(x, 100 * success.low, 100 * success.high, color=INK)
                paper = printed("edge_table10", dataset=PAPER_SETS[kind], model=name, item=template)
                ax.plot(x, paper, "Ds"[index], mfc="white", mec=INK, markersize=5,
                        label=f"paper, {name}" if first else None)  # fmt: skip
        ax.set_xticks(range(len(TEMPLATES)), list(TEMPLATES), fontsize=8)
        ax.grid(axis="x", visible=False)
        ax.set_title(f"{kind} ({PAPER_SETS[kind]})")
    panels[0].set_ylabel("probes passed, %")
    panels[0].set_ylim(-3, 105)
    panels[1].legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def coverage(recorded: Found) -> str:
    """How many rows were probed, in a sentence."""
    parts = []
    for model in recorded.full:
        mine = model.probes()
        counts = [f"{_rows(mine, kind)} {kind}" for kind in KINDS]
        parts.append(f"{model.shown}: {' and '.join(counts) if len(mine) else 'none'}")
    return f"Pictures probed. {'; '.join(parts) or 'None'}."


def _passed(probes: pd.DataFrame, end: str) -> Interval:
    """The share passed by the model whose columns have an `end`, with Wilson's interval."""
    return wilson(int(probes[f"success{end}"].sum()), len(probes))


def _rows(probes: pd.DataFrame, kind: str) -> int:
    return int(probes.loc[probes["kind"] == kind, "row"].nunique())


def _gaps(probes: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame, Callable[..., float]]]:
    """By kind and of both: the name, its probes, and what finds the paper's numbers of its gap."""
    for kind in (*KINDS, "both"):
        look = partial(
            printed, "edge_table09", dataset=PAPER_SETS.get(kind, kind), model=DIFFERENCE
        )
        yield kind, probes if kind == "both" else probes[probes["kind"] == kind], look


def _wald(probes: pd.DataFrame) -> Wald:
    """The gap of the pair as if its probes were independent."""
    n = len(probes)
    return wald_difference(int(probes["success"].sum()), n, int(probes["success large"].sum()), n)
