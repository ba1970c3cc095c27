"""The formulas of every page, as text: what Sphinx and MathJax will not take.

`tests/browser` looks at the rendered pages; this finds the usual slips without a browser.
"""

import json
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parents[1]
MATHJAX = (ROOT / "book" / "_assets" / "mathjax" / "tex-svg.js").read_text(encoding="utf-8")
PAGES = sorted(
    path for part, kind in (("book", "md"), ("notebooks", "ipynb"))
    for path in (ROOT / part).glob(f"*.{kind}")
)  # fmt: skip
OWN_LINES = r"\\begin\{((?:align|gather|equation|multline)\*?)\}(.*?)\\end\{\1\}"
INSIDE = r"\\begin\{(aligned|alignedat|gathered|split|cases|array|\w*matrix)\}(.*?)\\end\{\1\}"


def texts(path):
    """The Markdown of a page: its own, or a notebook's cells and what they show as Markdown."""
    content = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return [content]
    cells = json.loads(content)["cells"]
    own = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    return own + ["".join(each.get("data", {}).get("text/markdown", "")) for each in outputs]


def formulas(text):
    """Displayed formulas, by how they are written: lines of their own, in dollars, in the text."""
    text = re.sub(r"^(```+|:::+).*?^\1", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"(`+).*?\1", "", text, flags=re.DOTALL)
    dollars = re.findall(r"\$\$(.+?)\$\$", text, re.DOTALL)
    rest = re.sub(r"\$\$.+?\$\$", "", text, flags=re.DOTALL)
    lines = [match.group(2) for match in re.finditer(OWN_LINES, rest, re.DOTALL)]
    return dollars, lines, re.findall(r"(?<![\\$])\$([^$\n][^$]*?)\$(?![\d$])", rest)


def faults(text):
    dollars, lines, inline = formulas(text)
    found = [
        rf"\tag in several lines: {each}"  # which Sphinx puts into a split environment
        for each in dollars
        if r"\\" in each and r"\tag" in each
    ]
    for each in (*dollars, *lines, *inline):
        if any(r"\tag" in match.group(2) for match in re.finditer(INSIDE, each, re.DOTALL)):
            found.append(rf"\tag inside an environment: {each}")
        if re.findall(r"\\begin\{(.+?)\}", each) != re.findall(r"\\end\{(.+?)\}", each)[::-1]:
            found.append(f"environments: {each}")
        if len(re.findall(r"(?<!\\)\{", each)) != len(re.findall(r"(?<!\\)\}", each)):
            found.append(f"braces: {each}")
        names = re.findall(r"\\([A-Za-z]+)", each)
        found += [f"unknown command: \\{name}" for name in names if not is_known(name)]
    return found


def is_known(command):
    """Whether the bundled MathJax has a command of this name."""
    return bool(re.search(rf'[{{,]"?{command}"?:', MATHJAX))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_formulas_of_a_page_can_be_drawn(path):
    assert [fault for text in texts(path) for fault in faults(text)] == []


def test_formulas_are_found():
    found = [formulas(text) for path in PAGES for text in texts(path)]
    dollars, lines, inline = (sum(map(len, kind)) for kind in zip(*found, strict=True))
    assert dollars >= 3 and lines >= 3 and inline >= 30


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (r"$$x \tag{1}$$", None),
        (r"$$\begin{aligned}a &= b \\ &= c\end{aligned}$$", None),
        (r"\begin{align*}a &= b \tag{1} \\ &= c \tag{2}\end{align*}", None),
        (r"`$\nosuch$` costs $5 and $\tau_1$", None),
        ("$$\\begin{aligned}\na &= b \\\\\n&= c\n\\end{aligned} \\tag{3, 4}$$", "several lines"),
        (r"$$\begin{aligned}a \tag{1}\end{aligned}$$", "inside an environment"),
        (r"$$\begin{aligned}a$$", "environments"),
        (r"$$\frac{1}{2$$", "braces"),
        (r"of $\nosuch{x}$", r"unknown command: \nosuch"),
    ],
)
def test_a_fault_is_found(text, says):
    found = faults(text)
    assert (len(found) == 1 and says in found[0]) if says else found == []
