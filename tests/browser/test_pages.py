"""Every page of the rendered book in a real browser: no formula fails, and nothing is fetched.

Run after `make book`, by `make pages`; it needs Chromium, which is no Python package.
"""

from pathlib import Path

import pytest

from tests.chromium import chromium, watched

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "_build" / "html"
PAGES = sorted(
    str(path.relative_to(BOOK))
    for part in ("book", "notebooks")
    for path in (BOOK / part).rglob("*.html")
)
# In the text that MathJax keeps beside its drawing: an error, or in red a command it does not know.
FAILED_FORMULAS = """async () => {
    if (!window.MathJax) return []
    await MathJax.startup.promise
    const failed = "mjx-assistive-mml :is(merror, mtext[mathcolor=red])"
    return [...document.querySelectorAll(failed)].map(each => each.textContent)
}"""
UNDRAWN_FORMULAS = """() => [...document.querySelectorAll(".math")]
    .filter(each => !each.querySelector("mjx-container")).map(each => each.textContent)"""


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


def problems(browser, path):
    """What goes wrong on a page: formulas, scripts, and requests that leave this machine."""
    page = browser.new_page()
    found = watched(page)
    page.goto(path.as_uri())
    found += [f"formula: {error}" for error in page.evaluate(FAILED_FORMULAS)]
    found += [f"not drawn: {formula}" for formula in page.evaluate(UNDRAWN_FORMULAS)]
    page.close()
    return found


def test_the_book_is_rendered():
    contents = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    named = {line.split("file: ")[1] for line in contents.splitlines() if "file: " in line}
    missing = named - {page.removesuffix(".html") for page in PAGES}
    assert named and not missing, f"run `make book` first; not rendered: {sorted(missing)}"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_all_its_formulas(page, browser):
    assert problems(browser, BOOK / page) == []


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (r"\[x^2 \tag{1}\]", []),
        (r"\[\begin{split}a \\ b\end{split}\]", []),
        (
            r"\[\begin{split}a \\ b \tag{1}\end{split}\]",
            [r"formula: \tag not allowed in split environment"],
        ),
        (r"\[\frac{1}{2\]", [r"not drawn: \[\frac{1}{2\]"]),
        (r"\[\nosuch\]", [r"formula: \nosuch"]),
        ("plain text", ["not drawn: plain text"]),
        ("<script>nothing()</script>\\(x\\)", ["script: nothing is not defined"]),
        ('<img src="http://127.0.0.1:9/x.png">\\(x\\)', ["request: http://127.0.0.1:9/x.png"]),
    ],
)
def test_a_page_with_a_fault_is_found(body, says, browser, tmp_path):
    mathjax = (ROOT / "book" / "_assets" / "mathjax" / "tex-svg.js").as_uri()
    page = tmp_path / "page.html"
    page.write_text(
        f'<!doctype html><script defer src="{mathjax}"></script><div class="math">{body}</div>',
        encoding="utf-8",
    )
    assert problems(browser, page) == says
