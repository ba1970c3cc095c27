"""One look for every figure: the same colour for a method on every page, a caption and a text.

A figure has no ground of its own (`svg.py`); its colours stay apart for colour-blind readers (they
step in lightness too).
"""

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from html import escape
from io import BytesIO
from itertools import count
from numbers import Real
from textwrap import fill
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from IPython.display import HTML, display
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.figure import Figure
from PIL import Image

from sci_book import methods
from sci_book.data.catalogue import model_entry
from sci_book.papers.shared.narrow import stacked, stacks
from sci_book.papers.shared.svg import INK, svg

DPI = 110
WIDTH = 7.2  # inches: the width of the book's text column
MOST_BYTES = 6_000  # of a picture as a PNG

MODEL_COLOURS = ("#0072b2", "#dd6b20", "#6b21a8")  # `model_colours` gives each model its own
TRAINING_COLOURS = (INK, "#0072b2", "#dd6b20", "#009e73", "#6b21a8")  # of trainings, in order
# Subsets of DRBench, and what lies outside them.
SUBSET_COLOURS = {
    "B only": "#b45309",
    "S only": "#0f766e",
    "B and S": "#7c3aed",
    "outside BS": "#e5e7eb",
}
METHOD_COLOURS = {name: row.colour for name, row in methods.METHODS.items()}
READ_ON = 0.6  # how opaque a colour may be for ink on it to be read, on a light page and a dark one


def over_ground(
    most: str, least: str | None = None, opaque: float = 1.0
) -> LinearSegmentedColormap:
    """A colour map whose zero is the page's own ground, light or dark.

    Args:
        most: the colour of the upper end.
        least: the colour of the lower end, with zero in the middle; without it zero is that end.
        opaque: how opaque an end is; `READ_ON` where numbers are written on it.
    """
    above, below = ([to_rgba(end, alpha) for alpha in (0, opaque)] for end in (most, least or most))
    steps = [(0.0, below[1]), (0.5, below[0]), (0.5, above[0]), (1.0, above[1])]
    return LinearSegmentedColormap.from_list("over ground", steps if least else above)


LOSS_TO_GAIN = over_ground(METHOD_COLOURS["SCI5"], METHOD_COLOURS["VCD"])


def use_style() -> None:
    """Set the book's look for every figure of the notebook that calls it."""
    sns.set_theme(
        style="whitegrid",
        rc={
            "figure.dpi": DPI,
            "savefig.dpi": DPI,
            "text.color": INK,
            "axes.labelcolor": INK,
            "xtick.color": INK,
            "ytick.color": INK,
            "figure.figsize": (WIDTH, 3.6),
            "figure.constrained_layout.use": True,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": 11,
            "axes.titlelocation": "left",
            "axes.labelsize": 10,
            "grid.color": "#e5e7eb",
            "legend.frameon": False,
            "font.family": "DejaVu Sans",
        },
    )


def colour(name: str) -> str:
    """The colour of a subset, a method or a round, the same on every page (`methods.colour`)."""
    return SUBSET_COLOURS.get(name) or methods.colour(name)


def model_colours(names: Sequence[str]) -> dict[str, str]:
    """A colour a model: that of its manifest, which is the same on every page, or the next free."""
    places: dict[str, int] = {}
    for name in names:
        with suppress(ValueError):  # a model this book does not know
            place = model_entry(name).get("colour")
            if place is not None and place not in places.values():
                places[name] = place
    free = (place for place in count() if place not in {*places.values()})
    places |= {name: next(free) for name in names if name not in places}
    return {name: MODEL_COLOURS[places[name] % len(MODEL_COLOURS)] for name in names}


def estimates(
    ax: Axes,
    values: Mapping[str, Real],
    intervals: Mapping[str, Sequence[Real]],
    paper: Mapping[str, Real] | None = None,
    *,
    ours: str,
    xlabel: str,
) -> None:
    """One line a method: our value with its interval, the paper's as an open diamond.

    Args:
        values: our value by method name, drawn from top to bottom; `paper`'s where it has one.
        intervals: low and high by method name.
        ours: the label of our side, such as "pocket Qwen2-VL".
    """
    for row, (name, value) in enumerate(values.items()):
        low, high = intervals[name]
        ax.hlines(row, low, high, color=colour(name), linewidth=2.5)
        ax.plot(value, row, "o", color=colour(name), markersize=7, label=ours if not row else None)
    if paper:
        rows = [row for row, name in enumerate(values) if name in paper]
        marks = [paper[name] for name in values if name in paper]
        ax.plot(marks, rows, "D", mfc="white", mec=INK, markersize=6, label="paper")
    ax.set_yticks(range(len(values)), list(values))
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(xlabel)
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


class Pictures(NamedTuple):
    """Captioned pictures as they stand on a page: HTML."""

    html: str


def show(drawn: Figure | Pictures, caption: str, alt: str) -> None:
    """Display a figure or pictures with a caption.

    Args:
        drawn: a figure is closed.
        caption: what there is to see, in a sentence or two.
        alt: the same for who does not see it: what is drawn, in which panels, along which axes.
    """
    if isinstance(drawn, Pictures):
        role, inner = f' role="group" aria-label="{escape(alt)}"', drawn.html
    else:
        role, inner = "", svg(drawn, alt)
        if stacks(drawn):
            inner += svg(stacked(drawn), alt, for_phone=True)
        plt.close(drawn)
    inner += f"<figcaption>{escape(caption)}</figcaption>"
    display(HTML(f'<figure class="shown"{role}>{inner}</figure>'))


def pictures(
    images: Iterable[object], captions: Iterable[str], *, columns: int | None = None
) -> Pictures:
    """Captioned pictures in rows, fewer a row on a narrow page, pixels kept sharp.

    Args:
        images: PIL images, or arrays as `imshow` takes them.
        captions: one an image; a caption may be an empty string.
        columns: most pictures in a row; all in one row if not given.
    """
    images = list(images)
    columns = columns or len(images)
    # At most so many columns, and none narrower than a caption's word.
    least = f"max(5.5rem, {100 // (columns + 1) + 1}%)"
    tiles = [
        f'<div><img alt="{escape(caption)}" src="{_source(image)}">'
        f"<span>{escape(caption)}</span></div>"
        for image, caption in zip(images, captions, strict=True)
    ]
    width = min(100, 25 * columns)
    return Pictures(
        f'<div class="pictures" style="max-width:{width}%;'
        f'grid-template-columns:repeat(auto-fill,minmax({least},1fr))">{"".join(tiles)}</div>'
    )


def _source(image: object) -> str:
    """A picture as a data address: PNG, or JPEG where noise makes a large PNG."""
    if not isinstance(image, Image.Image):
        values = np.asarray(image)
        image = Image.fromarray(
            values if values.dtype == np.uint8 else (255 * values).round().astype(np.uint8)
        )
    content = BytesIO()
    image.convert("RGB").save(content, format="png")
    kind = "png"
    if content.tell() > MOST_BYTES:
        content, kind = BytesIO(), "jpeg"
        image.convert("RGB").save(content, format="jpeg", quality=85)
    return f"data:image/{kind};base64,{b64encode(content.getvalue()).decode('ascii')}"


def panels(names: Iterable[str], height: float, **shared: bool) -> tuple[Figure, dict[str, Axes]]:
    """A figure of a titled panel a model, side by side; without a model it says that there is none.

    Args:
        height: in inches.
        shared: `sharex` and `sharey`, as `plt.subplots` takes them.
    """
    names = list(names)
    figure, (row,) = plt.subplots(
        1, max(1, len(names)), figsize=(WIDTH, height), squeeze=False, **shared
    )
    for ax, name in zip(row, names, strict=False):
        ax.set_title(name)
    if not names:
        nothing(row[0], "No model has answered these questions.")
    return figure, dict(zip(names, row, strict=False))


def bars(ax: Axes, place: int, label: str, intervals: Sequence[Sequence]) -> np.ndarray:
    """The first (`place` 0) or second (1) of a pair of bars at 0, 1, …, each with its interval.

    `intervals` are estimate, low and high of each. Returns their middles.
    """
    heights, low, high = np.array([interval[:3] for interval in intervals], dtype=float).T
    middles = np.arange(len(heights)) + (0.4 * place - 0.2)
    ends = {"yerr": [heights - low, high - heights], "error_kw": {"lw": 1, "ecolor": INK}}
    ax.bar(middles, heights, 0.38, color=MODEL_COLOURS[place], label=label, **ends)
    return middles


def legend_below(figure: Figure, axes: Iterable[Axes] | None = None, **options) -> None:
    """One legend below the panels: every label of any panel once."""
    handles = {}
    for ax in figure.axes if axes is None else axes:
        handles |= dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    if handles:
        options = {"ncols": len(handles), **options}
        figure.legend(handles.values(), list(handles), loc="outside lower center", **options)


def nothing(ax: Axes, sentence: str) -> None:
    """Write in an empty panel what there is none of."""
    ax.text(0.5, 0.5, fill(sentence, 46), ha="center", va="center", transform=ax.transAxes)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.grid(visible=False)
