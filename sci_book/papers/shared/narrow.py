"""A figure once more for a phone: its panels one below another, its legend under them."""

from itertools import pairwise
from textwrap import fill

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.text import Text

WIDTH = 3.5  # inches, of which a phone 390 pixels wide shows all, a seventh smaller than a desk
LEAST = 7.2  # points: ten pixels there
MOST = 34  # characters of a title or an axis's label in a line
MOST_BESIDE = 16  # of what stands left of an axis
LINE = 1.25 * LEAST / 72  # inches


def stacked(figure: Figure) -> Figure:
    """The figure itself, changed so that nothing is lost at half its width."""
    entries = _take_legends(figure)
    _stack(figure)
    for text in figure.findobj(Text):
        text.set_fontsize(max(LEAST, text.get_fontsize()))
        if "\n" not in text.get_text():
            text.set_text(fill(text.get_text(), MOST))
    figure.draw_without_rendering()
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height * max(1.0, *map(_wrap_beside, figure.axes)))
    if entries:
        columns = 2 if max(map(len, entries)) <= 22 else 1
        figure.legend(
            entries.values(), entries, loc="outside lower left", ncols=columns, fontsize=LEAST + 1
        )
    figure.draw_without_rendering()
    for ax in filter(_crowded, figure.axes):
        ax.tick_params(axis="x", labelrotation=90)
    return figure


def _wrap_beside(ax: Axes) -> float:
    """Wrap the names beside a panel; how many times as high it must be for them."""
    names = [label.get_text() for label in ax.get_yticklabels()]
    if max(map(len, names), default=0) <= MOST_BESIDE:
        return 1.0
    whole = {"break_long_words": False, "break_on_hyphens": False}
    names = [fill(name, MOST_BESIDE, **whole) for name in names]
    ax.set_yticks(ax.get_yticks(), names)
    lines = [1 + name.count("\n") for name in names]
    between = max((sum(pair) / 2 for pair in pairwise(lines)), default=1)
    return between * LINE * len(names) / (ax.get_position().height * ax.figure.get_figheight())


def _take_legends(figure: Figure) -> dict[str, object]:
    """Every label of any legend once, with its mark; no legend is left."""
    own = (ax.get_legend() for ax in figure.axes)
    entries = {}
    for legend in [*figure.legends, *filter(None, own)]:
        if legend.get_visible():
            texts = (text.get_text() for text in legend.get_texts())
            entries |= dict(zip(texts, legend.legend_handles, strict=True))
        legend.remove()
    return entries


def _stack(figure: Figure) -> None:
    """Panels row by row, each as high as before, with what the first of its row and column says."""
    places = [(ax, place) for ax in figure.axes if (place := ax.get_subplotspec())]
    width, height = figure.get_size_inches()
    if places and (grid := places[0][1].get_gridspec()).ncols > 1:
        places.sort(key=lambda each: (each[1].rowspan.start, each[1].colspan.start))
        of_row, of_column = {}, {}
        for ax, place in places:
            _say_as(of_row.setdefault(place.rowspan.start, ax), ax)
            top = of_column.setdefault(place.colspan.start, ax)
            for side in ("left", "center"):
                if not ax.get_title(side):
                    ax.set_title(top.get_title(side), loc=side)
        rows = grid.get_height_ratios()
        shares = [sum(rows[place.rowspan.start : place.rowspan.stop]) for _, place in places]
        stack = GridSpec(len(places), 1, figure, height_ratios=shares)
        for (ax, _), place in zip(places, stack, strict=True):
            ax.set_subplotspec(place)
        height *= sum(shares) / sum(rows)
    figure.set_size_inches(min(WIDTH, width), height)


def _say_as(first: Axes, ax: Axes) -> None:
    """The labels of an axis that a panel shares with the first of its row; below it, its own."""
    on_top = ax.xaxis.get_tick_params().get("labeltop")
    ax.tick_params(labelleft=True, labelbottom=not on_top)
    if ax in first.get_shared_y_axes().get_siblings(first):
        ax.set_ylabel(ax.get_ylabel() or first.get_ylabel(), size=first.yaxis.label.get_size())
        if names := first.get_yticklabels():
            ax.tick_params(axis="y", labelsize=names[0].get_fontsize())


def _crowded(ax: Axes) -> bool:
    """Whether two labels along the horizontal axis touch."""
    labels = [label for label in ax.get_xticklabels() if label.get_visible() and label.get_text()]
    boxes = sorted((label.get_window_extent() for label in labels), key=lambda box: box.x0)
    return any(left.x1 > right.x0 for left, right in pairwise(boxes))
