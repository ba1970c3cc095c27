"""The one frame: a measure is lines, each with its own interval; a table and a picture of them.

A page says in sight what it measures: `line` takes a model, the values of its rows and which rows.
Every training of the model that has the answers is asked, on its own rows. Of `FEWEST` trainings
and more the estimate is their mean, with an interval over trainings and questions, and each is a
dot beside it. Of fewer it is that of the shipped one with its interval from questions, and the
others are the dots. Where the model's own records lack an answer that a line asks for, the line
says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from operator import itemgetter
from textwrap import fill
from typing import Any, Protocol, runtime_checkable

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sci_book.methods import known
from sci_book.papers.shared.figures import WIDTH, colour, legend_below, model_colours, show
from sci_book.papers.shared.figures import panels as figure_panels
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import (
    INTERVAL,
    MISSING,
    NOT_RECORDED,
    Table,
    interval,
    number,
    with_ends,
)
from sci_book.results.stamps import NotRecorded
from sci_book.results.statistics import (
    FEWEST,
    NO_DATA,
    Interval,
    Statistic,
    apart,
    measure,
    ratio,
    verdict,
)
from sci_core.arguments import Number

Values = Callable[[Any], np.ndarray]
"""Of a training, one number a row of its records, or several `[quantities, rows]`; NaN for none."""
Rows = Callable[[Any], np.ndarray | pd.Series]
"""Of a training, which rows of its records: a mask."""
Columns = Callable[[Any], tuple[np.ndarray, np.ndarray]]
"""Of a training, numbers `[quantities, rows]` and a group a row: see `statistics.measure`."""
_NUMBERS = ("absent", "estimate", "low", "high", "n", "key", "others", "trainings")
PLAIN = "#0072b2"  # of lines that are no methods, rounds or subsets
OTHER = "#9ca3af"  # of a single training


@runtime_checkable
class Trained(Protocol):
    """A model with its answers, of every training of its recipe, itself the first: `Subject`."""

    shown: str

    @property
    def trainings(self) -> list[Any]: ...

    @property
    def clusters(self) -> np.ndarray: ...


@runtime_checkable
class Named(Protocol):
    """A model with the name that gives it its colour, and what tables call it."""

    name: str
    shown: str


def line(
    model: Trained,
    values: Values,
    rows: Rows,
    span: tuple[float, float] | None = (-1.0, 1.0),
    *,
    statistic: Statistic = ratio,
    less: Rows | None = None,
    **keys: Any,
) -> dict[str, Any]:
    """A mean over some rows of a model, by `keys` such as subset and method; see `measured`.

    A key `claim`, "greater" or "less", is the side of zero that is claimed.

    Args:
        statistic: of the sums over the rows, where `values` are of several quantities.
        less: other rows of the model, whose mean is subtracted; `n` counts the first.
    """

    def sample(training: Any, some: Rows) -> tuple[np.ndarray, np.ndarray]:
        found = np.atleast_2d(values(training))
        kept = np.asarray(some(training), dtype=bool) & np.isfinite(found).all(axis=0)
        return found[:, kept], training.clusters[kept]

    def columns(training: Any) -> tuple[np.ndarray, np.ndarray]:
        found, groups = sample(training, rows)
        return (found if len(found) > 1 else np.vstack([found, np.ones(found.shape[1])])), groups

    if less is None:
        return of_sums(model, columns, statistic, span=span, **keys)

    def both(training: Any) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
        sides = (sample(training, rows), sample(training, less))
        return tuple((found[0], groups) for found, groups in sides)

    return score(model, both, apart, **keys)


def of_sums(
    model: Trained,
    columns: Columns,
    statistic: Statistic,
    *,
    span: tuple[float, float] | None = None,
    **keys: Any,
) -> dict[str, Any]:
    """A function of the sums of some columns over rows, by `keys`; see `measured`."""
    return score(model, columns, partial(measure, statistic=statistic, span=span), **keys)


def score(
    model: Trained,
    of_training: Callable[[Any], Any],
    interval: Callable[[Sequence], Interval],
    **keys: Any,
) -> dict[str, Any]:
    """A number that is no function of sums, such as a mean of F1s, by `keys`; see `measured`.

    Args:
        of_training: what a training has that the number is made of.
        interval: of a list of these, one a training, the number over all.
    """
    trainings = []
    for training in model.trainings:
        try:
            trainings.append(of_training(training))
        except NotRecorded:  # a further training may have answers of fewer methods
            if training is model:  # whose number no other training's can stand for
                break
    return {"model": model.shown, **keys, "trainings": trainings, "interval": interval}


def if_recorded(compute: Callable[..., Any], *arguments: Any, otherwise: Any = np.nan) -> Any:
    """What is computed of records; `otherwise` where they do not hold what that asks for."""
    try:
        return compute(*arguments)
    except NotRecorded:
        return otherwise


def single(shown: str, found: Interval, **keys: Any) -> dict[str, Any]:
    """A line of what has no trainings, such as a detector, or one committed run."""
    return {"model": shown, **keys, "trainings": [found], "interval": itemgetter(0)}


def measured(lines: Iterable[dict[str, Any]], *keys: str) -> pd.DataFrame:
    """Every line with its estimate in percent or points, a row each.

    Columns: the lines' keys; whether the records lack an answer (`absent`); `estimate`, `low`,
    `high`, `n`; `key` of the number; `trainings`, of how many the estimate is; and `others`, the
    estimates of single trainings that stand beside it. `verdict` where something is claimed:
    whether the interval lies on that side, conditions aside. Lines of another unit have a key
    `scale` in the place of 100.

    Args:
        keys: of the lines, which the columns have if there is no line, too.
    """
    tidy = []
    for made in lines:
        trainings, how, scale = made.pop("trainings"), made.pop("interval"), made.pop("scale", 100)
        found, others = _over(trainings, how)
        shown = found.times(scale)
        tidy.append(
            {
                **made,
                "absent": not trainings,
                "estimate": shown.estimate,
                "low": shown.low,
                "high": shown.high,
                "n": found.n,
                "key": found.key,
                "others": tuple(scale * other for other in others),
                "trainings": min(found.trainings, len(trainings)),
                **({"verdict": verdict(found, claim=made["claim"])} if "claim" in made else {}),
            }
        )
    return pd.DataFrame(tidy, columns=None if tidy else ["model", *keys, *_NUMBERS])


def _over(
    trainings: Sequence, interval: Callable[[Sequence], Interval]
) -> tuple[Interval, list[float]]:
    each = [interval([one]) for one in trainings]
    many = len(trainings) >= FEWEST
    found = interval(trainings) if many else next(iter(each), NO_DATA)
    return found, [one.estimate for one in (each if many else each[1:])]


def table(
    tidy: pd.DataFrame,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    name: str,
    caption: str,
    show: Sequence[str] = ("paper", "here"),
    decimals: int = 2,
) -> Table:
    """`measured` as a page shows it: `rows` down, `columns` across, and in each what `show` names.

    Args:
        show: "here" is the number with its interval, "points" the number, "interval", "n"; any
            other name is a column of `tidy`, a number or text. One alone has no head of its own.
    """
    if not len(tidy):
        return Table(name, pd.DataFrame(), caption)
    if missing := [each for each in show if each not in _CELLS and each not in tidy]:
        raise ValueError(
            f"show names {missing}, which no line of this table has; expected some of "
            f"{[*_CELLS, *tidy]}. Give it to frame.line as a key, or leave it out of show."
        )
    cells: dict[tuple[str, ...], dict[str, str]] = {}
    for at in tidy.to_dict("records"):
        across, down = (tuple(at[key] for key in keys) for keys in (columns, rows))
        for head in show:
            text = _CELLS[head](at, decimals) if head in _CELLS else _plain(at[head], decimals)
            cells.setdefault((*across, head), {})[": ".join(down)] = text
    wide = pd.DataFrame(cells, dtype=object).fillna(MISSING)  # str would drop the keys
    if cells and not columns:
        wide.columns = list(show)
    elif cells and len(show) == 1:  # a head over each cell that says the same is none
        wide.columns = wide.columns.droplevel(-1)
    return Table(name, wide, caption)


def _here(at: Mapping[str, Any], decimals: int) -> str:
    if not at["n"]:
        return NOT_RECORDED if at["absent"] else MISSING
    return with_ends(at["estimate"], at["low"], at["high"], decimals, at["key"])


def _plain(value: Number | str | None, decimals: int = 2) -> str:
    return value if isinstance(value, str) else number(value, decimals)


_CELLS: dict[str, Callable[[Mapping[str, Any], int], str]] = {
    "here": _here,
    "points": lambda at, decimals: number(at["estimate"], decimals),
    "interval": lambda at, decimals: interval(at["low"], at["high"], decimals, at["key"]),
    "n": lambda at, decimals: number(at["n"], 0),
}


def dots(
    tidy: pd.DataFrame,
    panels: tuple[str, str],
    lines: str,
    *,
    xlabel: str,
    coloured: str | None = None,
) -> Figure:
    """A grid of panels, a line each: ours with its interval, single trainings, the paper's.

    Args:
        panels: the keys that panels down and panels across stand for.
        lines: the key that names a line of a panel.
        coloured: the key that has the colour, a method, round or subset; by default the lines'.
    """
    if not len(tidy):
        return figure_panels([], 1.5)[0]
    down, across = (list(dict.fromkeys(tidy[key])) for key in panels)
    names = list(dict.fromkeys(tidy[lines]))
    figure, axes = plt.subplots(
        len(down), len(across), squeeze=False, sharex="col", sharey=True,
        figsize=(WIDTH, 0.6 + max(1.4, 0.5 + 0.25 * len(names)) * len(down)),
    )  # fmt: skip
    coloured = coloured or lines
    named = any(map(known, tidy[coloured]))  # a colour that a reader has seen elsewhere
    for (i, one), (j, other) in product(enumerate(down), enumerate(across)):
        part = tidy[(tidy[panels[0]] == one) & (tidy[panels[1]] == other)].set_index(lines)
        of_panel = {panels[0]: one, panels[1]: other}
        shades = [colour(of_panel.get(coloured, name)) if named else PLAIN for name in names]
        _panel(axes[i, j], part.reindex(names), shades)
        n = f", n = {part['n'].max():,.0f}" if part["n"].nunique() < 2 else ""
        axes[i, j].set_title(f"{other}{n}", fontsize=10)
        axes[i, 0].set_ylabel(fill(one, 18))
        axes[-1, j].set_xlabel(xlabel, fontsize=9)
    axes[0, 0].set_ylim(len(names) - 0.5, -0.5)
    legend_below(figure, axes[0, :1])
    return figure


def curve(
    ax: Axes, along: pd.DataFrame, shade: str, label: str, style: str = "o-", band: bool = False
) -> None:
    """A line through estimates over the places that index them, with a band of their intervals."""
    ax.plot(along.index, along["estimate"], style, color=shade, ms=4, lw=1.5, label=label)
    if band:
        ax.fill_between(along.index, along["low"], along["high"], color=shade, alpha=0.22, lw=0)


def shown(
    models: Sequence[Named],
    tidy: pd.DataFrame,
    panels: str,
    lines: str,
    caption: str,
    *,
    name: str,
    alt: str,
    unit: str = "points",
) -> Table:
    """Display lines as `side_by_side`, and return their numbers as a table, folded."""
    show(side_by_side(models, tidy, panels, lines, xlabel=unit), caption, alt)
    order = tidy["model"].map([model.shown for model in models].index)
    said = f"The same in numbers, {unit}, {INTERVAL}s"
    ordered = tidy.iloc[np.argsort(order, kind="stable")]
    keys, across, heads = ("model", lines), (panels,), ("here", "n")
    return table(ordered, keys, across, name=name, caption=said, show=heads).fold()


def side_by_side(
    models: Sequence[Named], tidy: pd.DataFrame, panels: str, lines: str, *, xlabel: str
) -> Figure:
    """A row of panels with a line a value of `lines`, on which the models stand side by side.

    Args:
        panels: the key that a panel stands for.
    """
    if not len(tidy):
        return figure_panels([], 1.5)[0]
    colours = model_colours([model.name for model in models])
    shades = {model.shown: colours[model.name] for model in models}
    across, names = (list(dict.fromkeys(tidy[key])) for key in (panels, lines))
    figure, (axes,) = plt.subplots(
        1, len(across), squeeze=False, sharey=True,
        figsize=(WIDTH, 1.2 + 0.16 * len(names) * (1 + len(shades))),
    )  # fmt: skip
    for ax, one in zip(axes, across, strict=True):
        for place, (model, shade) in enumerate(shades.items()):
            part = tidy[(tidy[panels] == one) & (tidy["model"] == model)].set_index(lines)
            aside = 0.7 * ((place + 0.5) / len(shades) - 0.5)
            _marks(ax, part.reindex(names), [shade] * len(names), aside)
            ax.scatter([], [], color=shade, s=40, label=model)
            if "paper" in part and part["paper"].notna().any():
                printed, at = part["paper"].reindex(names), np.arange(len(names)) + aside
                ax.plot(printed, at, "D", mfc="white", mec=shade, ms=5)
            _other_trainings(ax, part.reindex(names), aside)
        for marks in ax.collections:
            marks.set_clip_on(False)  # all of them lie within; fewer bytes in a page
        _finish(ax, names)
        ax.set_title(fill(str(one), 80 // (len(across) + 1)), fontsize=10)
        ax.set_xlabel(xlabel, fontsize=9)
    axes[0].set_ylim(len(names) - 0.5, -0.5)
    legend_below(figure)
    return figure


def _panel(ax: Axes, part: pd.DataFrame, shades: Sequence[str]) -> None:
    _marks(ax, part, shades)
    ax.scatter([], [], color=INK, s=40, label="here")  # whatever a line's colour
    if "paper" in part:
        ax.plot(part["paper"], range(len(part)), "D", mfc="white", mec=INK, ms=6, label="paper")
    _other_trainings(ax, part)
    _finish(ax, part.index)


def _marks(ax: Axes, part: pd.DataFrame, shades: Sequence[str], aside: float = 0.0) -> None:
    """Dots with intervals, a line each, so far below its middle."""
    places = np.arange(len(part)) + aside
    ax.hlines(places, part["low"], part["high"], color=shades, linewidth=2.5)
    ax.scatter(part["estimate"], places, c=shades, s=40, zorder=3)


def _other_trainings(ax: Axes, part: pd.DataFrame, aside: float = 0.0) -> None:
    faint = [(dot, at + aside) for at, dots in enumerate(part["others"]) if isinstance(dots, tuple)
             for dot in dots if np.isfinite(dot)]  # fmt: skip
    if faint:
        label = "each training" if part["trainings"].max() > 1 else "other trainings"
        estimates, places = zip(*faint, strict=True)
        ax.scatter(estimates, places, c=OTHER, s=14, label=label)


def _finish(ax: Axes, names: Iterable[str]) -> None:
    names = list(names)
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(labelsize=9, labelbottom=True)
    ax.grid(axis="y", visible=False)
