"""A page and a section are found by name, and every address that the book had leads on."""

import pytest

from sci_book.papers.shared import pages
from sci_book.papers.shared.pages import PageError
from sci_book.resources import ROOT

HAD = (ROOT / "tests/papers/shared/addresses.txt").read_text(encoding="utf-8").split()


@pytest.fixture
def book(tmp_path):
    """A chapter of two sections and a page of prose."""
    for folder in ("notebooks", "book"):
        (tmp_path / folder).mkdir()
    chapter = "# %% [markdown]\n# # Stress\n\n# %% [markdown]\n# (table07_Blur)=\n# ## Blur: more\n"
    (tmp_path / "notebooks" / "stress.py").write_text(f"{chapter}# x\n#\n# (other)=\n# ### Other\n")
    (tmp_path / "book" / "api.md").write_text("# Reference\n\n(api_data)=\n## Data\n", "utf-8")
    return tmp_path


def test_a_section_is_found_on_its_page(book):
    assert {name: (at.page, at.title) for name, at in pages.places(book).items()} == {
        "stress": ("stress", "Stress"),
        "table07_Blur": ("stress", "Blur: more"),
        "other": ("stress", "Other"),
        "book/api": ("book/api", "Reference"),
        "book/api_data": ("book/api", "Data"),
    }
    assert pages.places(book)["other"].text == "# (other)=\n# ### Other\n"
    assert "Blur" not in pages.places(book)["stress"].text
    assert pages.sections_of("stress", book) == ["table07_Blur", "other"]
    assert pages.title_of("other", book) == "Other"


def test_the_address_of_a_section_is_its_pages_with_an_anchor(book, monkeypatch):
    found = pages.places(book)
    monkeypatch.setattr(pages, "places", lambda root: found)
    assert pages.address("stress") == "stress.html" and pages.page_of("other") == "stress"
    assert pages.named("stress") == ""
    assert pages.address("table07_Blur") == "stress.html#table07-blur"
    assert pages.named("table07_Blur") == "[Blur: more](#table07-blur)"
    assert pages.link("book/api_data") == "[Data](../book/api.html#api-data)"


def test_one_name_is_of_one_section(book):
    (book / "notebooks" / "more.py").write_text("# %% [markdown]\n# # More\n\n# (other)=\n# ## O\n")
    with pytest.raises(PageError, match="more and stress both have a section other"):
        pages.places(book)


def test_a_name_that_nothing_has_is_refused(book):
    with pytest.raises(PageError, match="names nowhere, and there is no such page or section"):
        pages.title_of("nowhere", book)


@pytest.mark.parametrize("name", HAD)
def test_every_address_that_the_book_had_is_a_page_or_a_section(name):
    assert pages.page_of(name)
