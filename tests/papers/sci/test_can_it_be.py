"""Which counts a percentage can be: the page's function and its script, against every count."""

import random
import re
from pathlib import Path

import pytest

from sci_book.audit.printed import counts_printed
from sci_book.papers.shared import tables
from tests.chromium import chromium, watched

ROOT = Path(__file__).resolve().parents[3]
SOURCE = (ROOT / "notebooks" / "audit_paper_numbers.py").read_text(encoding="utf-8")
SCRIPT = (ROOT / "book" / "_assets" / "can_it_be.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def can_be():
    """The function that stands in sight on the page."""
    (text,) = re.findall(r"^def can_be\(.*?(?=^\S)", SOURCE, re.MULTILINE | re.DOTALL)
    exec(text, names := {"counts_printed": counts_printed, "tables": tables})
    return names["can_be"]


@pytest.fixture(scope="module")
def page():
    with chromium() as browser:
        page = browser.new_page()
        problems = watched(page)
        page.set_content(
            '<div class="can-it-be" data-share="27.93" data-rows="1756"><p>no</p></div>'
        )
        page.add_script_tag(content=SCRIPT)
        page.evaluate("dispatchEvent(new Event('DOMContentLoaded'))")
        yield page
        assert not problems


def asked():
    rng = random.Random(7)
    fixed = [("27.93", 1756), ("0", 5), ("100", 3), ("0.00", 30_000), ("100.00", 30_000),
             ("33.3", 3), ("99.999", 7), ("50", 12_345), ("12.34", 999_999_999),
             ("3.1", 32), ("3.4", 29)]  # fmt: skip
    drawn = [
        (f"{rng.uniform(0, 100):.{rng.randint(0, 3)}f}", int(10 ** rng.uniform(0, 4.5)))
        for _ in range(300)
    ]
    real = [(f"{100 * rng.randint(0, n) / n:.2f}", n) for n in rng.choices(range(1, 20_000), k=100)]
    return fixed + drawn + real


def counts(share, rows):
    """Every count that is as near to the percentage as half of its last decimal."""
    unit = 100 * 10 ** len(share.partition(".")[2])
    printed = int(share.replace(".", ""))
    return [k for k in range(rows + 1) if abs(2 * (k * unit - printed * rows)) <= rows]


def test_it_names_every_count_that_rounds_so_and_no_other(can_be):
    verdicts = set()
    for share, rows in asked():
        if rows > 100_000:
            continue
        fits, said = counts(share, rows), can_be(share, rows)
        verdicts.add(min(len(fits), 2))
        numbers = [int(n.replace(",", "")) for n in re.findall(r"([\d,]+)(?= right| to )", said)]
        assert said.startswith(f"{share} % of {rows:,} rows can{'' if fits else 'not'} be: ")
        if fits:
            assert numbers == sorted({fits[0], fits[-1]}), said
        else:  # the two that it lies between
            below, above = numbers
            assert above == below + 1 and 100 * below / rows < float(share) < 100 * above / rows
    assert verdicts == {0, 1, 2}


def test_the_script_says_the_same_words(can_be, page):
    pairs = asked()
    said = page.evaluate("pairs => pairs.map(pair => canBe(...pair))", pairs)
    assert said == [can_be(*pair) for pair in pairs]


def test_a_half_is_rounded_up_here_as_on_every_page(can_be, page):
    for said in (can_be("3.1", 32), page.evaluate("canBe('3.1', 32)")):
        assert said.endswith("1 right answers are 3.13 %.")


def test_what_is_typed_is_answered_at_once_or_asked_for_again(can_be, page):
    share, rows = page.query_selector_all(".can-it-be input")
    assert (share.input_value(), rows.input_value()) == ("27.93", "1756")
    answer = page.query_selector(".can-it-be p")
    for typed, of, expected in (
        ("50", "8", can_be("50", 8)), ("14,52", "1,756", can_be("14.52", 1756)),
        ("101", "8", "Type a percentage"), ("abc", "8", "Type a percentage"),
        ("5", "0", "Type how many rows"), ("5", "", "Type how many rows"),
        ("5", "-3", "Type how many rows"), ("1e2", "9", "Type a percentage"),
    ):  # fmt: skip
        share.fill(typed)
        rows.fill(of)
        assert answer.inner_text().startswith(expected)
