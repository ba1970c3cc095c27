"""One look for every figure: the same colour for a method on every page, on white, at 110 dpi.

White figures on a white frame read well on a dark page and on paper; the colours stay apart for
colour-blind readers (they step in lightness too).
"""

from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from math import ceil
from numbers import Real
from textwrap import fill

import matplotlib.pyplot as plt
import seaborn as sns
from IPython.display import Image as DisplayedImage
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

DPI = 110
WIDTH = 7.2  # inches: 792 pixels, the width of the book's text column

MODEL_COLOURS = ("#0072b2", "#dd6b20", "#6b21a8")  # in the order of a chapter
# Baselines in cool colours, SCI in warm ones that deepen with its rounds.
METHOD_COLOURS = {
    "base": "#6b7280",
    "TIE": "#56b4e9",
    "VCD": "#0072b2",
    "M3ID": "#009e73",
    "SCI3": "#f0b040",
    "SCI5": "#dd6b20",
    "SCI7": "#9c2f0b",
}
# Rounds: the original in black, rewordings in blues, counterfactual images in purples.
ROUND_COLOURS = {
    "original": "#111827",
    "V1": "#93c5fd",
    "V2": "#3b82f6",
    "V3": "#1e40af",
    "black": "#6b21a8",
    "noise500": "#c084fc",
    "noise400": "#e9b8fb",
}
# Subsets of DRBench, and what lies outside them.
SUBSET_COLOURS = {
    "B only": "#b45309",
    "S only": "#0f766e",
    "B and S": "#7c3aed",
    "outside BS": "#e5e7eb",
}
_COLOURS = METHOD_COLOURS | ROUND_COLOURS | SUBSET_COLOURS


def use_style() -> None:
    """Set the book's look for every figure of the notebook that calls it."""
    sns.set_theme(
        style="whitegrid",
        rc={
            "figure.dpi": DPI,
            "savefig.dpi": DPI,
            "figure.facecolor": "white",
            "savefig.facecolor": "white",
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
    """The colour of a method, a round or a subset, the same on every page.

    Raises:
        KeyError: a name that has no colour; the message lists those that have.
    """
    if name not in _COLOURS:
        raise KeyError(f"{name!r} has no colour; these have: {', '.join(_COLOURS)}")
    return _COLOURS[name]


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
        ax: where to draw.
        values: our value by method name, drawn from top to bottom.
        intervals: low and high by method name.
        paper: the paper's value by method name, where it has one.
        ours: the label of our side, such as "pocket Qwen2-VL".
        xlabel: quantity and unit.
    """
    for row, (name, value) in enumerate(values.items()):
        low, high = intervals[name]
        ax.hlines(row, low, high, color=colour(name), linewidth=2.5)
        ax.plot(value, row, "o", color=colour(name), markersize=7, label=ours if not row else None)
    if paper:
        rows = [row for row, name in enumerate(values) if name in paper]
        marks = [paper[name] for name in values if name in paper]
        ax.plot(marks, rows, "D", mfc="white", mec="#111827", markersize=6, label="paper")
    ax.set_yticks(range(len(values)), list(values))
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(xlabel)
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def rounds_by_token(
    ax: Axes, logits: Mapping[str, Sequence[Real]], tokens: Sequence[str], *, ylabel: str
) -> None:
    """Grouped bars: for each token, one bar a round (or a combined quantity).

    Args:
        ax: where to draw.
        logits: values by round name, one a token; names without a colour of their own are grey.
        tokens: the tokens' text, as the reader should see it.
        ylabel: quantity and unit.
    """
    width = 0.8 / len(logits)
    for place, (name, values) in enumerate(logits.items()):
        offsets = [i - 0.4 + width * (place + 0.5) for i in range(len(tokens))]
        ax.bar(offsets, values, width, color=_COLOURS.get(name, "#6b7280"), label=name)
    ax.axhline(0, color="#111827", linewidth=0.8)
    ax.set_xticks(range(len(tokens)), list(tokens))
    ax.grid(axis="x", visible=False)
    ax.set_ylabel(ylabel)
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def pictures(
    images: Iterable[object], captions: Iterable[str], *, columns: int | None = None
) -> DisplayedImage:
    """Captioned pictures in rows, pixels kept sharp, as one JPEG to display.

    A JPEG, because a dummy picture's noise makes a large PNG.

    Args:
        images: anything `imshow` takes (a PIL image, an array).
        captions: one an image; a caption may be an empty string.
        columns: pictures in a row; all in one row if not given.
    """
    images = list(images)
    columns = columns or len(images)
    rows = ceil(len(images) / columns)
    height = WIDTH / max(columns, 4) + 0.1  # square, a quarter of the width at most, and a caption
    figure, axes = plt.subplots(rows, columns, figsize=(WIDTH, rows * height), squeeze=False)
    for ax in axes.ravel():
        ax.set_axis_off()
    used = axes.ravel()[: len(images)]
    for ax, image, caption in zip(used, images, captions, strict=True):
        ax.imshow(image, interpolation="nearest")
        ax.set_title(caption, fontsize=9, loc="center")
    content = BytesIO()
    figure.savefig(content, format="jpeg", dpi=DPI, pil_kwargs={"quality": 80})
    plt.close(figure)
    return DisplayedImage(content.getvalue(), format="jpeg")


def nothing(ax: Axes, sentence: str) -> None:
    """Write in an empty panel what there is none of."""
    ax.text(0.5, 0.5, fill(sentence, 46), ha="center", va="center", transform=ax.transAxes)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.grid(visible=False)


def compact(figure: Figure) -> DisplayedImage:
    """A finished figure as a PNG of 128 colours: a third of the bytes, and none of its looks.

    For a page of many figures, whose notebook must stay small.
    """
    content = BytesIO()
    figure.savefig(content, format="png", dpi=DPI, bbox_inches="tight")
    plt.close(figure)
    drawn = Image.open(content).convert("RGB").quantize(128, dither=Image.Dither.NONE)
    content = BytesIO()
    drawn.save(content, format="png", optimize=True)
    return DisplayedImage(content.getvalue(), format="png")
