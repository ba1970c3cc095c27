"""The longest line of code fits the text column of a laptop's screen, beside the contents."""

import pytest

from sci_book.resources import ROOT
from tests.chromium import chromium

STYLE = (ROOT / "book" / "_assets" / "book.css").read_text(encoding="utf-8")
COLUMN = 686  # pixels of a cell's code on a screen of 1,280, by the theme


@pytest.mark.parametrize("screen", [1280, 1440])
def test_a_line_of_a_hundred_characters_does_not_wrap(screen):
    code = "".join(f'<div class="highlight"><pre>{"x" * n}</pre></div>' for n in (10, 100))
    body = f'<div class="bd-article" style="width: {COLUMN}px">{code}</div>'
    with chromium() as browser:
        page = browser.new_page(viewport={"width": screen, "height": 900})
        page.set_content(f"<style>{STYLE}</style>{body}")
        one, long = page.eval_on_selector_all("pre", "all => all.map(each => each.clientHeight)")
    assert one == long > 0
