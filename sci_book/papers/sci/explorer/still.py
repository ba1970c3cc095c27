"""One question of the explorer as a still picture, for a reader whose browser runs no scripts."""

from html import escape

import numpy as np
import torch

from sci_book.results.records import Records
from sci_core.logits import tc_logits, vc_logits
from sci_core.methods import SCI5

_CELL, _LINE, _LABEL = 88, 24, 96
_GREY, _BLUE = "#767676", "#6b9bd2"  # to be read on white and on black


def still(records: Records, row: int, question: str) -> str:
    """SVG of a row's logits, a line a round and a column a likely token, with SCI5's terms."""
    nodes = records.nodes
    node = int(np.flatnonzero(nodes.row == row)[0])
    tokens = nodes.tokens[node].tolist()
    logits = nodes.logits[:, node]
    likely = sorted(
        np.flatnonzero(~nodes.padding[node]).tolist(), key=lambda slot: -logits[0, slot]
    )[:5]
    lines = dict(zip(records.rounds, logits, strict=True))
    stacked = torch.from_numpy(np.stack([lines[name] for name in SCI5.rounds])[:, None])
    tc = tc_logits(stacked, len(SCI5.textual))[0].numpy()
    vc = vc_logits(stacked, len(SCI5.textual))[0].numpy()
    terms = {"TC": tc, "VC": vc, "score": tc / SCI5.tau1 + vc / SCI5.tau2}
    drawn = {name: lines[name] for name in SCI5.rounds} | terms
    parts = [_text(0, 16, question)]
    for place, slot in enumerate(likely):
        parts.append(_text(_LABEL + place * _CELL, 40, records.pieces[tokens[slot]]))
    for number, (name, values) in enumerate(drawn.items()):
        top = 48 + number * _LINE
        parts.append(_text(0, top + 16, name))
        numbers = np.array([values[slot] for slot in likely])
        shares = (numbers - numbers.min()) / (np.ptp(numbers) or 1)
        for place, (value, share) in enumerate(zip(numbers, shares, strict=True)):
            left = _LABEL + place * _CELL
            parts.append(
                f'<rect x="{left}" y="{top + 2}" width="{share * (_CELL - 12):.1f}" '
                f'height="{_LINE - 4}" fill="{_BLUE}" opacity="0.5"/>'
            )
            parts.append(_text(left, top + 16, f"{value:.2f}"))
    width, height = _LABEL + len(likely) * _CELL, 56 + len(drawn) * _LINE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="13" fill="{_GREY}">{"".join(parts)}</svg>\n'
    )


def _text(x: int, y: int, text: str) -> str:
    return f'<text x="{x}" y="{y}">{escape(text)}</text>'
