"""A figure for a phone: nothing of it is lost, cut or small."""

from itertools import pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.text import Text

from sci_book.papers.shared import figures
from sci_book.papers.shared.narrow import LEAST, MOST_PANELS, WIDTH, stacked, stacks

NAMES = ["B", "conditional failure rate, knowledge", "drop from original to counterfactual"]


@pytest.fixture
def grid():
    """Two rows of three panels that share their lines, and a legend beside the last."""
    with mpl.rc_context():
        figures.use_style()
        figure, axes = plt.subplots(2, 3, figsize=(7.2, 4), sharey=True)
        for place, ax in enumerate(axes.flat):
            ax.plot(np.arange(3.0), range(3), "o", label="here")
            if place < 3:
                ax.set_title(f"column {place}")
        for ax, name in zip(axes[:, 0], ("first", "second"), strict=True):
            ax.set_ylabel(name)
        axes[0, 0].set_yticks(range(3), NAMES, fontsize=6)
        axes[1, 2].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        figure.draw_without_rendering()
        yield figure
        plt.close(figure)


def test_panels_stand_below_one_another_each_with_what_its_row_and_column_say(grid):
    panels = list(stacked(grid).axes)
    for above, below in pairwise(ax.get_tightbbox() for ax in panels):
        assert above.y0 >= below.y1
    assert [ax.get_title(loc="left") for ax in panels] == 2 * [f"column {i}" for i in range(3)]
    assert [ax.get_ylabel() for ax in panels] == 3 * ["first"] + 3 * ["second"]
    for ax in panels:
        names = [label for label in ax.get_yticklabels() if label.get_visible()]
        assert [name.get_text().replace("\n", " ") for name in names] == NAMES


def test_nothing_is_small_or_beyond_the_width_and_every_label_is_in_the_legend(grid):
    figure = stacked(grid)
    assert all(text.get_fontsize() >= LEAST for text in figure.findobj(Text) if text.get_text())
    assert figure.get_figwidth() == WIDTH
    assert figure.get_tightbbox().width <= WIDTH + 0.1
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["here"]
    assert not any(ax.get_legend() for ax in figure.axes)


def test_names_beside_a_panel_do_not_touch(grid):
    figure = stacked(grid)
    for ax in figure.axes:
        boxes = sorted(
            (name.get_window_extent() for name in ax.get_yticklabels()), key=lambda b: b.y0
        )
        assert all(below.y1 <= above.y0 + 1 for below, above in pairwise(boxes))


def test_many_long_names_of_a_lone_panel_do_not_touch():
    figure, ax = plt.subplots(figsize=(7.2, 3), layout="constrained")
    ax.set_yticks(range(14), ["a model by its name: a data set by its own"] * 14, fontsize=10)
    stacked(figure).draw_without_rendering()
    boxes = sorted((each.get_window_extent() for each in ax.get_yticklabels()), key=lambda b: b.y0)
    plt.close(figure)
    assert all(below.y1 <= above.y0 + 1 for below, above in pairwise(boxes))


def test_panels_keep_their_height_and_a_colour_bar_makes_none_higher():
    figure, axes = plt.subplots(1, 2, figsize=(7.2, 3), layout="constrained")
    for ax in axes:
        picture = ax.imshow(np.eye(4), aspect="auto")
    figure.colorbar(picture, ax=axes)
    figure.draw_without_rendering()
    before = [ax.get_position().height * 3 for ax in axes]
    stacked(figure).draw_without_rendering()
    after = [ax.get_position().height * figure.get_figheight() for ax in axes]
    plt.close(figure)
    assert np.allclose(after, before, rtol=0.05)


@pytest.mark.parametrize(("words", "turned"), [(["a", "b"], 0), (["counterfactuals"] * 6, 90)])
def test_labels_below_a_panel_are_turned_where_they_would_touch(words, turned):
    figure, ax = plt.subplots(figsize=(7.2, 3))
    ax.set_xticks(range(len(words)), words)
    stacked(figure)
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {turned}
    plt.close(figure)


def test_many_small_panels_stay_beside_one_another(grid):
    assert stacks(grid)
    figure, _ = plt.subplots(MOST_PANELS + 1)
    assert not stacks(figure)
    plt.close(figure)
