"""A figure once more for a phone: its panels one below another, its legend under them."""

from collections.abc import Iterable
from itertools import pairwise
from textwrap import fill

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.text import Text

WIDTH = 3.5  # inches, of which a phone 390 pixels wide shows all, a seventh smaller than a desk
LEAST = 7.2  # points: ten pixels there
LINE = 1.25 / 72  # inches, of a letter of one point
# Characters in a line: of a title or an axis's label, of names beside a panel, and of those below.
MOST, MOST_BESIDE, MOST_BELOW = 34, 16, 12
APART = 0.4  # of a line, between names beside a panel of which some are wrapped
MOST_PANELS = 12  # below one another; what has more is compared across, and scrolls


def stacks(figure: Figure) -> bool:
    """Whether a figure has a form for a phone."""
    return len(figure.axes) <= MOST_PANELS


def stacked(figure: Figure) -> Figure:
    """The figure itself, once it is drawn, changed so that nothing is lost at half its width."""
    heights = {ax: _height(ax) for ax in figure.axes if ax.get_subplotspec()}  # no colour bar's
    entries = _take_legends(figure)
    _stack(figure)
    for text in figure.findobj(Text):
        text.set_fontsize(max(LEAST, text.get_fontsize()))
        if "\n" not in text.get_text():
            text.set_text(_wrapped([text.get_text()], MOST)[0])
    beside = {ax: _wrap_names(ax) for ax in figure.axes}
    heights = {ax: max(height, beside[ax]) for ax, height in heights.items()}
    if entries:
        columns = 2 if max(map(len, entries)) <= 22 else 1
        figure.legend(
            entries.values(), entries, loc="outside lower left", ncols=columns, fontsize=LEAST + 1
        )
    _lay_out(figure)
    if crowded := [*filter(_crowded, figure.axes)]:
        for ax in crowded:
            ax.tick_params(axis="x", labelrotation=90)
        _lay_out(figure)
    _grow(figure, heights)
    return figure


def _lay_out(figure: Figure) -> None:
    """Put panels in their places without drawing them, which takes several times as long."""
    if engine := figure.get_layout_engine():
        engine.execute(figure)
    for ax in figure.axes:
        locator = ax.get_axes_locator()
        ax.apply_aspect(locator(ax, None) if locator else None)


def _height(ax: Axes) -> float:
    return ax.get_position().height * ax.figure.get_figheight()


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
    """Panels row by row, with what the first of a row and of a column says of the others."""
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
            ax.tick_params(axis="y", labelsize=names[0].get_fontsize(), labelrotation=0)


def _wrap_names(ax: Axes) -> float:
    """Wrap long names beside and below a panel; how high it must be for those beside it."""
    below = [label.get_text() for label in ax.get_xticklabels()]
    if max(map(len, below), default=0) > MOST_BELOW and not any(name[:1] == "$" for name in below):
        ax.set_xticks(ax.get_xticks(), _wrapped(below, MOST_BELOW))
        ax.tick_params(axis="x", labelrotation=0, labelsize=LEAST)
    names = [label.get_text() for label in ax.get_yticklabels()]
    if max(map(len, names), default=0) <= MOST_BESIDE:
        return 0.0
    names = _wrapped(names, MOST_BESIDE)
    ax.set_yticks(ax.get_yticks(), names)
    lines = [1 + name.count("\n") for name in names]
    line = LINE * ax.get_yticklabels()[0].get_fontsize()
    most = max((sum(pair) / 2 for pair in pairwise(lines)), default=1)
    return len(names) * line * (most + APART)


def _wrapped(names: Iterable[str], most: int) -> list[str]:
    return [fill(name, most, break_long_words=False, break_on_hyphens=False) for name in names]


def _crowded(ax: Axes) -> bool:
    """Whether two labels along the horizontal axis touch."""
    labels = [label for label in ax.get_xticklabels() if label.get_visible() and label.get_text()]
    boxes = sorted((label.get_window_extent() for label in labels), key=lambda box: box.x0)
    return any(left.x1 > right.x0 for left, right in pairwise(boxes))


def _grow(figure: Figure, heights: dict[Axes, float]) -> None:
    """Make the figure so high that each panel is at least as high as said."""
    factor = max((wanted / _height(ax) for ax, wanted in heights.items()), default=1)
    more = max(0.0, factor - 1) * sum(map(_height, heights))
    figure.set_figheight(figure.get_figheight() + more)
