"""One question worked out by hand: its rounds' logits, SCI's terms, and a picture of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import shorten, wrap
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image
from torch import Tensor

from sci_book.papers.shared.figures import WIDTH
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import MISSING, number
from sci_core.counterfactuals import is_visual
from sci_core.logits import tc_logits, vc_logits
from sci_core.methods import Method

TC, VC = "TC/τ₁", "VC/τ₂"
_SIDE = 160  # most pixels of the picture's longer side: it is drawn an inch and a half wide
_FIRST_OF_UNKNOWN_SCRIPTS = 0x2E80  # the figures' font lacks what lies beyond (Chinese and others)
# Text on a cell is of two fixed colours, neither of which follows the page's theme.
_ON_LIGHT, _ON_DARK = "#000004", "#ffffff"
_LOGITS = LinearSegmentedColormap.from_list("logits", ["#edf3f9", "#8fb8dc", "#15497f"])
_TERMS = LinearSegmentedColormap.from_list(
    "terms", ["#4a2a86", "#b9a6dd", "#f4f1ea", "#f3ad6f", "#94400a"]
)


class Worked(NamedTuple):
    """The first step of an answer, option by option.

    logits   rounds by options, raw logits of the options' letters
    terms    TC/τ₁, VC/τ₂ and the method's score by options; the score of an implausible one is NaN
    token    the id that the equations choose among all tokens
    """

    logits: pd.DataFrame
    terms: pd.DataFrame
    token: int


def letter_tokens(tokenizer: object, letters: Sequence[str], logits: Tensor) -> dict[str, int]:
    """The token by which a model says each letter: with or without a space before it.

    Of the two, the likelier by the logits `[vocab]` of the original round.
    """
    spellings = {
        letter: {
            tokenizer.encode(text, add_special_tokens=False)[-1] for text in (letter, f" {letter}")
        }
        for letter in letters
    }
    return {letter: max(ids, key=lambda token: logits[token]) for letter, ids in spellings.items()}


def work_out(Z: Tensor, method: Method, tokens: Mapping[str, int]) -> Worked:
    """SCI's equations for one step, written out over all tokens.

    TC is the best that any wording gives a token (equation 6), VC what the picture adds to it over
    the dummies (equation 7); a token whose TC/τ₁ lies more than ln(1/β) below the best one's is
    implausible (equation 11); the score of the others is TC/τ₁ + VC/τ₂ (equation 5).

    Args:
        Z: [rounds, vocab] raw logits in the order of `method.rounds`.
        tokens: ids by option letter.

    Raises:
        ValueError: the method is not of the rule "sci", or Z holds another number of rounds.
    """
    if method.rule != "sci" or len(Z) != len(method.rounds):
        raise ValueError(
            f"expected a method of the rule 'sci' and logits of its rounds; got {method.name} of "
            f"the rule {method.rule!r} with {len(method.rounds)} rounds, and logits of {len(Z)}"
        )
    textual = len(method.textual)
    read = Z.log_softmax(-1) if method.log_probs else Z
    tc = tc_logits(read[:, None], textual)[0] / method.tau1
    vc = vc_logits(read[:, None], textual)[0] / method.tau2
    plausible = tc >= tc.max() - method.margin / method.tau1
    score = torch.where(plausible, tc + vc, -torch.inf)
    letters, ids = list(tokens), list(tokens.values())
    values = {TC: tc[ids], VC: vc[ids], method.name: score[ids]}
    terms = pd.DataFrame.from_dict(
        {name: column.tolist() for name, column in values.items()}, orient="index", columns=letters
    )
    return Worked(
        pd.DataFrame(Z[:, ids].tolist(), index=list(method.rounds), columns=letters),
        terms.replace(-np.inf, np.nan),
        int(score.argmax()),
    )


def draw(
    image: Image.Image,
    worked: Worked,
    options: Mapping[str, str],
    *,
    right: str,
    base: str | None,
    answer: str | None,
) -> Figure:
    """The picture, and beside it a cell a round and option; below, the equations' terms.

    Both blocks have the options as columns. Logits share one scale of colours, the terms another
    that is pale at zero. The largest number of a row is bold; an implausible option has a dash for
    a score.

    Args:
        options: texts by letter, in the order of the columns.
        right: the letter of the right answer, ticked in the head of its column.
        base: the letter that the base answers, framed in the first row; None if it is no letter.
        answer: the letter that the method answers, framed in the row of the score.
    """
    rounds, terms = worked.logits, worked.terms
    wide = 52 // len(options)  # letters that a column has room for
    heads = [_head(letter, text, letter == right, wide) for letter, text in options.items()]
    lines = max(head.count("\n") for head in heads)
    height = 0.3 * (len(rounds) + len(terms)) + 0.2 * lines + 0.45
    figure, panels = plt.subplot_mosaic(
        [["picture", "rounds"], ["picture", "terms"]],
        figsize=(WIDTH, height),
        width_ratios=[1.5, 4.6],
        height_ratios=[len(rounds), len(terms)],
    )
    _draw_picture(panels["picture"], image)
    largest = max(1.0, float(np.nanmax(np.abs(terms.to_numpy(dtype=float)))))
    _draw_cells(panels["rounds"], rounds, _LOGITS, Normalize(*_span(rounds)))
    _draw_cells(panels["terms"], terms, _TERMS, Normalize(-largest, largest))
    panels["rounds"].set_yticks(range(len(rounds)), [_round_label(name) for name in rounds.index])
    panels["terms"].set_yticks(range(len(terms)), [*terms.index[:-1], f"{terms.index[-1]}: sum"])
    panels["rounds"].xaxis.tick_top()
    panels["rounds"].set_xticks(range(len(heads)), heads)
    for tick, letter in zip(panels["rounds"].get_xticklabels(), options, strict=True):
        tick.set_fontweight("bold" if letter == right else "normal")
    panels["terms"].set_xticks([])
    for panel, line, letter in (("rounds", 0, base), ("terms", len(terms) - 1, answer)):
        if letter is not None:
            _frame(panels[panel], line, rounds.columns.get_loc(letter))
    return figure


def _draw_picture(ax: Axes, image: Image.Image) -> None:
    small = image.convert("RGB")
    small.thumbnail((_SIDE, _SIDE))
    ax.imshow(small, interpolation="none")
    ax.set_axis_off()


def _draw_cells(ax: Axes, frame: pd.DataFrame, colours: Colormap, scale: Normalize) -> None:
    """A coloured rectangle with its number a cell; a dash on no colour where there is none."""
    values = frame.to_numpy(dtype=float)
    for (line, column), value in np.ndenumerate(values):
        place, known = (column - 0.48, line - 0.46), not np.isnan(value)
        fill = colours(float(scale(value))) if known else "none"
        ax.add_patch(Rectangle(place, 0.96, 0.92, facecolor=fill, edgecolor="none"))
        most = known and value == np.nanmax(values[line])
        ax.text(
            column, line, number(value) if known else MISSING, ha="center", va="center",
            fontsize=9, fontweight="bold" if most else "normal",
            color=_text_colour(fill) if known else INK,
        )  # fmt: skip
    ax.set_xlim(-0.55, values.shape[1] - 0.45)
    ax.set_ylim(values.shape[0] - 0.45, -0.55)
    ax.tick_params(labelsize=9, length=0)
    ax.grid(visible=False)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _frame(ax: Axes, line: int, column: int) -> None:
    corner = column - 0.48, line - 0.46
    ax.add_patch(Rectangle(corner, 0.96, 0.92, fill=False, edgecolor=INK, lw=2.4, clip_on=False))


def _text_colour(fill: tuple[float, ...]) -> str:
    """Of the two colours of text the one that stands out more from a fill, by WCAG's luminance."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in fill[:3]]
    luminance = float(np.dot([0.2126, 0.7152, 0.0722], linear))
    return _ON_LIGHT if luminance > 0.18 else _ON_DARK


def _span(frame: pd.DataFrame) -> tuple[float, float]:
    """The least and the largest value of a frame, a little apart where they are the same."""
    values = frame.to_numpy(dtype=float)
    return float(values.min()), float(max(values.max(), values.min() + 1e-6))


def _round_label(name: str) -> str:
    kind = "" if name == "original" else "dummy: " if is_visual(name) else "reworded: "
    return f"{kind}{name}"


def _head(letter: str, text: str, right: bool, wide: int) -> str:
    """An option as the head of a column: its letter, ticked if it is right, and its text below."""
    mark = f"✓ {letter}" if right else letter
    if not text or max(map(ord, text)) >= _FIRST_OF_UNKNOWN_SCRIPTS:
        return mark
    return "\n".join([mark, *wrap(shorten(text, 3 * wide, placeholder=" …"), max(wide, 4))])
