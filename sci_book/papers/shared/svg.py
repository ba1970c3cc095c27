"""A matplotlib figure as SVG for a page: no ground of its own, and colours that follow the theme.

Text stays text, so that it can be searched, selected and read aloud; ink takes the page's colour,
and colours that would drown on a dark page have a lighter one there (CSS `light-dark`).
"""

import re
from hashlib import sha256
from html import escape
from io import StringIO

import matplotlib as mpl
from matplotlib.figure import Figure

INK = "#111827"
"""Axes, labels and marks that are black on a light page and light on a dark one."""
PAPER = "#ffffff"
"""What is as the page's ground, but for text: white text lies on a colour."""
ON_PALE = "#111111"
"""Text and frames on a pale colour, which is as pale on a dark page."""
ON_INK = "#fefefe"
"""Text on what is filled with `INK`."""
_DARK = {
    ON_INK: "#111827",
    "#cccccc": "#4b5563",  # axes
    "#e5e7eb": "#374151",  # grids, and rows outside BS
    "#f3f4f6": "#1f2937",
    "#d1fae5": "#064e3b",
    "#374151": "#cbd5e1",
    "#6b7280": "#9ca3af",
    "#6b21a8": "#a855f7",
    "#9c2f0b": "#c8481a",
    "#1e40af": "#6366f1",
    "#b91c1c": "#ef4444",
}
"""On a dark page, by the colour on a light one."""
_LIGHT = re.compile("|".join(_DARK))
_FONT = "'DejaVu Sans', Verdana, sans-serif"


def svg(figure: Figure, alt: str, *, for_phone: bool = False) -> str:
    """The `<svg>` element of a figure, the same for the same figure.

    Args:
        figure: made in the book's style (`figures.use_style`).
        alt: what a reader hears who does not see it.
        for_phone: hidden where the page's style does not show it.
    """
    # Ids are apart from those of other figures of the page.
    salt = sha256(f"{alt}{for_phone or ''}".encode()).hexdigest()[:8]
    buffer = StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": salt}):
        figure.savefig(buffer, format="svg", transparent=True, bbox_inches="tight")
    text = buffer.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->|<style.*?</style>", "", text, flags=re.S)
    box = re.search(r'viewBox="([^"]*)"', text).group(1)
    body = text[text.index(">", text.index("<svg")) + 1 :]
    used = set(re.findall(r"#([\w-]+)", body))
    body = re.sub(r' id="([^"]+)"', lambda match: match[0] if match[1] in used else "", body)
    body = re.sub(r"-?\d+\.\d{3,}", _shorter, body)
    body = re.sub(r"<(text|tspan|\w+)\b[^>]*>", _themed, body)
    # In one line, without turns by nothing, and with the one family of letters named once: half of
    # the bytes of a page.
    body = re.sub(r' transform="rotate\(-?0 [^)]*\)"', "", body)
    body = re.sub(r" ?font-family: 'DejaVu Sans';?", "", body)
    body = re.sub(r"<g>\s*</g>|<g/>|<defs>\s*</defs>", "", body)
    body = re.sub(r">\s+<", "><", re.sub(r"\s+", " ", body)).replace("'DejaVu Sans'", _FONT)
    points = float(box.split()[2])
    return (
        f'<svg role="img" aria-label="{escape(alt)}" viewBox="{box}" '
        'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'stroke-linejoin="round" style="font-family:{_FONT};{"display:none;" if for_phone else ""}'
        f'width:{points:.0f}pt;max-width:100%;height:auto">{body}'
    )


def _shorter(number: re.Match[str]) -> str:
    """A hundredth of a point is seen by nobody."""
    value = float(number[0])
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.4f}".rstrip("0").rstrip(".") or "0"


def _themed(element: re.Match[str]) -> str:
    text = element[0].replace(INK, "currentColor")
    if element[1] not in ("text", "tspan"):
        text = text.replace(PAPER, f"var(--pst-color-background, {PAPER})")
    return _LIGHT.sub(lambda match: f"light-dark({match[0]}, {_DARK[match[0]]})", text)
