"""The folder that a run's book is rendered from: no page and no link that leads nowhere."""

import re

import jupytext
import nbformat
import pytest
import yaml

from sci_book.papers.registry import PAPERS
from sci_book.pipeline.notebooks import write_notebook
from sci_book.pipeline.own_book import (
    _without,
    add_note,
    chosen_papers,
    is_chosen,
    lay_out,
    papers_of,
    without_links,
)
from sci_book.pipeline.reproduce import build_book, chapter_sources
from sci_book.resources import ROOT
from tests.soak import mostly

EXPLORER = {"models": ["mine"], "records": "nowhere", "data": "mine.yaml"}
TITLES = {"table07_cost": "What a round costs", "oric_sci": "ORIC and SCI"}
CHAPTERS = [source.stem for source in chapter_sources()]


@pytest.mark.parametrize(
    ("only", "companions", "expected"),
    [
        (None, True, tuple(PAPERS)),
        ("", True, tuple(PAPERS)),
        ("oric, SCI", True, ("sci", "oric")),
        (None, False, ("sci",)),
        ("sci,oric", False, ("sci",)),
    ],
)
def test_papers_are_chosen_in_the_books_order(only, companions, expected):
    assert chosen_papers(only, companions) == expected


def test_every_chapter_is_executed_with_all_papers_and_only_its_own_with_one():
    assert all(is_chosen(chapter, PAPERS) for chapter in CHAPTERS)
    for paper in PAPERS:
        alone = [chapter for chapter in CHAPTERS if is_chosen(chapter, [paper])]
        assert alone and ("verdicts" in alone) == (paper == "sci")
        others = [other for other in PAPERS if other not in (paper, "sci")]
        assert not [each for each in alone if each.startswith(tuple(f"{o}_" for o in others))]
    assert is_chosen("verdicts", ["sci", "oric"])
    assert papers_of("oric_sci") == {"oric"} and papers_of("00_quickstart") == {"sci"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see {doc}`the costs <../notebooks/table07_cost>`.", "see the costs."),
        (
            "see {doc}`table07_cost` and {doc}`03_cost`",
            "see *What a round costs* and {doc}`03_cost`",
        ),
        ("[costs](../notebooks/table07_cost.ipynb#memory), [ORIC](oric_sci.html)", "costs, ORIC"),
        ('<td><a href="oric_sci.html">oric_sci</a></td>', "<td>oric_sci</td>"),
        ('[kept](table07_cost_more.html) <a href="x.html">x</a>', None),
        ("a `table07_cost` in code, and table07_cost by name", None),
        (
            "{grid-item-card} Costs\n:link: ../notebooks/table07_cost\n:link-type: doc\nWhat.",
            "{grid-item-card} Costs\nWhat.",
        ),
        ("{grid-item-card} Kept\n:link: ../notebooks/x\n:link-type: doc\nWhat.", None),
    ],
)
def test_links_to_pages_that_are_not_there_are_their_words(text, expected):
    assert without_links(text, TITLES) == (text if expected is None else expected)
    assert without_links(text, {}) == text


@pytest.fixture
def repository(tmp_path):
    """A repository of two chapters, one of which is left out, and prose that links to both."""
    root = tmp_path / "root"
    (root / "book" / "_assets").mkdir(parents=True)
    (root / "notebooks").mkdir()
    (root / "sci_core").mkdir()
    (root / "sci_book").mkdir()
    settings = {"title": "scratch", "only_build_toc_files": True, "html": {}}
    extensions = dict.fromkeys(("explorer_data", "results_at_a_glance"), "book/_ext")
    settings["sphinx"] = {"config": {}, "local_extensions": extensions}
    (root / "_config.yml").write_text(yaml.safe_dump(settings))
    (root / "book" / "_ext").symlink_to(ROOT / "book" / "_ext")
    part = {"caption": "One", "chapters": [{"file": "notebooks/kept"}]}
    other = {"caption": "Two", "chapters": [{"file": "notebooks/gone"}]}
    contents = {"format": "jb-book", "root": "book/introduction", "parts": [part, other]}
    (root / "_toc.yml").write_text(yaml.safe_dump(contents))
    links = "{doc}`../notebooks/kept`, {doc}`../notebooks/gone`, [there](../notebooks/gone.ipynb)"
    glance = "```{results-at-a-glance}\n```\n"  # of a chapter that is not there: nothing
    (root / "book" / "introduction.md").write_text(f"# Introduction\n\nSee {links}.\n\n{glance}")
    for name in ("kept", "gone"):
        source = f"# %% [markdown]\n# # The chapter {name}\n#\n# See {{doc}}`gone`.\n"
        (root / "notebooks" / f"{name}.py").write_text(source)
    folder = tmp_path / "run"
    page = jupytext.read(root / "notebooks" / "kept.py", fmt="py:percent")
    write_notebook(page, folder / "notebooks" / "kept.ipynb")
    return root, folder


def test_a_book_without_a_chapter_has_no_dead_link_and_builds_with_warnings_as_errors(repository):
    root, folder = repository
    folder.joinpath("_toc.yml").symlink_to(root / "_toc.yml")  # as an older run left it
    folder.joinpath("book").symlink_to(root / "book")
    add_note(folder / "notebooks" / "kept.ipynb", "There are no records.")
    lay_out(folder, root, ["kept"], "A run of <my-model>, LIMIT=20", EXPLORER)
    contents = yaml.safe_load((folder / "_toc.yml").read_text(encoding="utf-8"))
    assert contents["parts"] == [{"caption": "One", "chapters": [{"file": "notebooks/kept"}]}]
    assert "gone.ipynb" in (root / "book" / "introduction.md").read_text(encoding="utf-8")

    first = build_book(folder)
    pages = first.parent.rglob("*.html")
    texts = {page.stem: page.read_text(encoding="utf-8") for page in pages}
    assert "gone" not in texts
    for name in ("introduction", "kept"):
        assert "gone.html" not in texts[name]
        assert "A run of &lt;my-model&gt;, LIMIT=20" in texts[name]
        assert "<em>The chapter gone</em>" in texts[name]
    assert "There are no records." in texts["kept"]
    explorer = folder / "_build" / "html" / "_static" / "explorer" / "questions.js"
    assert "mine.parquet holds no records" in explorer.read_text(encoding="utf-8")
    nbformat.validate(nbformat.read(folder / "notebooks" / "kept.ipynb", as_version=4))


@pytest.mark.parametrize("link", mostly(["kept.html#an-old-name", "kept.html", "kept.html#later"]))
def test_what_the_front_page_quotes_of_a_chapter_keeps_its_links(repository, link):
    root, folder = repository
    source = "# %% [markdown]\n# # Kept\n#\n# (an_old_name)=\n# ## A\n#\n# (later)=\n# ## B\n"
    write_notebook(jupytext.reads(source, "py:percent"), folder / "notebooks" / "kept.ipynb")
    said = {"text/markdown": f"- Not comparable: [why]({link})", "text/html": "<figure></figure>"}
    cell = nbformat.v4.new_code_cell(
        outputs=[nbformat.v4.new_output("display_data", data=said)], execution_count=1
    )
    chapter = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Results"), cell])
    write_notebook(chapter, folder / "notebooks" / "results.ipynb")
    contents = yaml.safe_load((root / "_toc.yml").read_text("utf-8"))
    contents["parts"][0]["chapters"].append({"file": "notebooks/results"})
    (root / "_toc.yml").write_text(yaml.safe_dump(contents))
    (root / "notebooks" / "results.py").write_text("# %% [markdown]\n# # Results\n")
    lay_out(folder, root, ["kept", "results"], "A run", EXPLORER)
    built = build_book(folder).parent / "book" / "introduction.html"
    assert f'href="../notebooks/{link}"' in built.read_text("utf-8")


def test_sections_of_a_page_that_is_left_out_stand_in_its_place():
    entries = [{"file": "a", "sections": [{"file": "b"}, {"file": "c"}]}, {"file": "d"}]
    assert _without(entries, {"a"}) == [{"file": "b"}, {"file": "c"}, {"file": "d"}]
    assert _without(entries, {"b", "c"}) == [{"file": "a"}, {"file": "d"}]
    assert _without(entries, {"a", "c", "d"}) == [{"file": "b"}]


@pytest.mark.parametrize("papers", [["sci"], *([p] for p in PAPERS if p != "sci"), ["sci", "oric"]])
def test_no_prose_leads_to_a_page_that_a_book_of_some_papers_leaves_out(papers, tmp_path):
    made = [chapter for chapter in CHAPTERS if is_chosen(chapter, papers)]
    for name in made:
        write_notebook(nbformat.v4.new_notebook(), tmp_path / "notebooks" / f"{name}.ipynb")
    lay_out(tmp_path, ROOT, made, "A run", EXPLORER)
    left_out = "|".join(chapter for chapter in CHAPTERS if chapter not in made)
    for page in (tmp_path / "book").glob("*.md"):
        led = re.findall(
            rf"\.\./notebooks/(?:{left_out})\b|\b(?:{left_out})\.html", page.read_text("utf-8")
        )
        assert not led, f"{page.name} leads to {led}"


def test_the_whole_book_keeps_all_its_pages(tmp_path):
    for name in CHAPTERS:
        write_notebook(nbformat.v4.new_notebook(), tmp_path / "notebooks" / f"{name}.ipynb")
    lay_out(tmp_path, ROOT, CHAPTERS, "A run", EXPLORER)
    for name in ("_toc.yml", "book/introduction.md", "book/method.md"):
        mine, its = (tmp_path / name).read_text("utf-8"), (ROOT / name).read_text("utf-8")
        assert yaml.safe_load(mine) == yaml.safe_load(its) if name == "_toc.yml" else mine == its
