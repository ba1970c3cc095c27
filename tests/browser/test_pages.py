"""Every page of the rendered book in a real browser.

No formula fails, nothing is fetched, no picture lacks a text, no code or table is cut off, no page
is longer than a reader scrolls, none moves sideways on a phone, where every picture is whole and
its words are large enough, and nothing runs off the paper in print; and what a screen reader
stumbles over.
Run after `make book`, by `make pages`; it needs Chromium, which is no Python package.
"""

import re
from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_FILE_PATH

from sci_book.papers.shared.pages import address, places, sections_of
from sci_core.methods import SCI5
from tests.chromium import one_window, watched

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "_build" / "html"
FILES = {
    str(path.relative_to(BOOK))
    for part in ("book", "notebooks")
    for path in (BOOK / part).rglob("*.html")
}
LEAD_ON = {
    f"{'' if name.startswith('book/') else 'notebooks/'}{name}.html": address(name)
    for name, place in places().items()
    if name != place.page
}
PAGES = sorted(FILES - set(LEAD_ON))
# In the text that MathJax keeps beside its drawing: an error, or in red a command it does not know.
FAILED_FORMULAS = """async () => {
    if (!window.MathJax) return []
    await MathJax.startup.promise
    const failed = "mjx-assistive-mml :is(merror, mtext[mathcolor=red])"
    return [...document.querySelectorAll(failed)].map(each => each.textContent)
}"""
UNDRAWN_FORMULAS = """() => [...document.querySelectorAll(".math")]
    .filter(each => !each.querySelector("mjx-container")).map(each => each.textContent)"""

DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
MOST_SCREENS = 12
# A page with sections is read by section; a reference is looked up.
WITH_SECTIONS, REFERENCE = 20, 25
# Whether words stand out depends on their colours, size and weight, whether a link does on those of
# the block around it, too: of each look, one element is asked.
ACCESSIBLE = """async rules => {
    const ground = (each) => {
        const {backgroundColor, backgroundImage} = getComputedStyle(each)
        const none = backgroundColor === "rgba(0, 0, 0, 0)" && backgroundImage === "none"
        return none && each.parentElement ? ground(each.parentElement)
            : backgroundColor + backgroundImage
    }
    const faint = (each) => each ? getComputedStyle(each).opacity * faint(each.parentElement) : 1
    const look = (each) => {
        const {color, fontSize, fontWeight} = getComputedStyle(each)
        return [color, fontSize, fontWeight, faint(each), ground(each)].join()
    }
    const inline = (each) => getComputedStyle(each).display === "inline"
    const block = (each) => inline(each) ? block(each.parentElement) : each
    const words = (each) => [...each.childNodes].map(one => one.nodeType === 3 ? one.data.trim()
        : one.nodeType === 1 && inline(one) && !one.matches("a") ? words(one) : "").join("")
    const type = (each) => {
        const {fontFamily, fontStyle, textDecoration, borderTop, borderBottom, outline}
            = getComputedStyle(each)
        return [look(each), fontFamily, fontStyle, textDecoration, borderTop, borderBottom, outline]
    }
    const line = (each) => [type(each), type(block(each)), !words(block(each))].join()
    const mark = (name, elements, key) =>
        [...new Map(elements.map(each => [key(each), each])).values()]
            .forEach(each => each.setAttribute(name, ""))
    const seen = [...document.body.querySelectorAll("*")].filter(each => each.checkVisibility())
    mark("data-look", seen.filter(each => each.matches("input, select, textarea")
        || [...each.childNodes].some(one => one.nodeType === 3 && one.data.trim())), look)
    mark("data-line", seen.filter(each => each.matches("a[href]") && inline(each)
        && each.innerText.trim()), line)
    axe.configure({rules: [{id: "color-contrast", selector: "[data-look]"},
        {id: "link-in-text-block", selector: "[data-line]"}]})
    const {violations} = await axe.run(document, {resultTypes: ["violations"], rules})
    return violations.map(each => `${each.id}: ${each.nodes[0].html.slice(0, 120)}`)
}"""
# Of the theme: the toggles of the contents have no name, the logo stands beside every landmark.
APART = {name: {"enabled": False} for name in ("summary-name", "region")}
# Each picture, but what decorates: without a text, or with a file's name for one.
UNSAID = """() => [...document.querySelectorAll(".bd-article :is(img, svg[role=img])")]
    .filter(each => !each.ariaHidden)
    .map(each => [each, each.getAttribute("alt") ?? each.getAttribute("aria-label")])
    .filter(([, text]) => text === null || /[0-9a-f]{16}|[.](png|svg)$/.test(text))
    .map(([each]) => "no text: " + each.outerHTML.slice(0, 80))"""
CUT_OFF = """() => [...document.querySelectorAll(".bd-article pre")]
    .filter(each => each.offsetParent && each.scrollWidth > each.clientWidth + 2)
    .map(each => "cut off: " + each.textContent.slice(0, 60))"""
# Without the code in sight, which a reader may pass over; another test bounds its lines.
SCREENS = f"""() => {{
    const height = (each) => each.getBoundingClientRect().height
    const code = [...document.querySelectorAll(".bd-article div.cell_input")].map(height)
    const whole = height(document.querySelector(".bd-article"))
    return (whole - code.reduce((sum, each) => sum + each, 0)) / {DESK["height"]}
}}"""
# Of what a sheet of A4 is wide, less its margins; there nothing scrolls.
PAPER = {"width": 718, "height": 1050}
OFF_PAPER = """() => {
    const right = document.querySelector(".bd-article").getBoundingClientRect().right + 2
    return [...document.querySelectorAll(".bd-article :is(table, pre, figure, svg)")]
        .filter(each => each.checkVisibility() && each.getBoundingClientRect().right > right)
        .map(each => `off the paper: ${each.tagName} ${each.id || each.className}`)
}"""
# A picture whose point is beside the screen, or whose words are too small there; but exponents.
UNREADABLE = """() => {
    const shown = (each) => each.checkVisibility()
    const scale = ({a, b}) => Math.hypot(a, b)
    const size = (each) => parseFloat(getComputedStyle(each).fontSize) * scale(each.getScreenCTM())
    const cut = [...document.querySelectorAll(".bd-article figure")]
        .filter(each => shown(each) && each.scrollWidth > each.clientWidth + 1)
    const small = [...document.querySelectorAll(".bd-article figure text")]
        .filter(each => shown(each) && each.textContent.trim() && size(each) < 9.75)
    return [...cut.map(each => "cut on a phone: " + each.textContent.trim().slice(-60)),
        ...small.map(each => "small on a phone: " + each.textContent.trim())]
}"""
# Words of a picture that stand on one another, by half a line or a good part of their length.
OVER_ONE_ANOTHER = """() => [...document.querySelectorAll(".bd-article figure svg")]
    .filter(each => each.checkVisibility()).flatMap(figure => {
        const words = [...figure.querySelectorAll("text")].filter(each => each.textContent.trim())
            .map(each => [each.textContent.trim(), each.getBoundingClientRect()])
        const share = (a, b, low, high, size) =>
            (Math.min(a[high], b[high]) - Math.max(a[low], b[low])) / Math.min(a[size], b[size])
        const pairs = words.flatMap(([one, a], k) => words.slice(k + 1)
            .filter(([, b]) => share(a, b, "top", "bottom", "height") > 0.45
                && share(a, b, "left", "right", "width") > 0.12)
            .map(([other]) => `on one another: ${one}, ${other}`))
        return pairs.slice(0, 2)
    })"""
ACROSS = {"notebooks/table03_cross_model.html"}  # sixteen heat maps, which scroll
# A table that is cut until a reader scrolls it; the matrix is one to scroll, and the explorer's.
SCROLLS = """() => [...document.querySelectorAll(
        ".bd-article :is(.text_html, .pst-scrollable-table-container, .scoreboard)")]
    .filter(each => each.checkVisibility() && each.querySelector("table"))
    .filter(each => each.scrollWidth > each.clientWidth + 1)
    .map(each => `scrolls at ${innerWidth}: ` + each.querySelector("table").id)"""
SIDEWAYS = "() => document.documentElement.scrollWidth - window.innerWidth"


@pytest.fixture(scope="module")
def window():
    with one_window(viewport=DESK) as window:
        yield window


def problems(page, path):
    """What goes wrong on a page: formulas, scripts, and requests that leave this machine."""
    found = watched(page)
    page.goto(path.as_uri())
    found += [f"formula: {error}" for error in page.evaluate(FAILED_FORMULAS)]
    return found + [f"not drawn: {formula}" for formula in page.evaluate(UNDRAWN_FORMULAS)]


def most_screens(page):
    """How many screens of a desk a page may be long."""
    if page.startswith("book/api"):
        return REFERENCE
    name = page.removeprefix("notebooks/").removesuffix(".html")
    several = sections_of(name) or name == "objections"  # which answers nine
    return WITH_SECTIONS if several else MOST_SCREENS


def test_the_book_is_rendered():
    contents = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    named = {line.split("file: ")[1] for line in contents.splitlines() if "file: " in line}
    missing = named - {page.removesuffix(".html") for page in PAGES}
    assert named and not missing, f"run `make book` first; not rendered: {sorted(missing)}"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_reads_well(page, window):
    shown = window.new_page()
    found = problems(shown, BOOK / page)
    found += [*shown.evaluate(UNSAID), *shown.evaluate(CUT_OFF), *shown.evaluate(SCROLLS)]
    found += shown.evaluate(OVER_ONE_ANOTHER)
    screens = shown.evaluate(SCREENS)
    if screens > (most := most_screens(page)):
        found.append(f"{screens:.1f} screens, where {most} are allowed")
    shown.add_script_tag(path=AXE_FILE_PATH)
    found += shown.evaluate(ACCESSIBLE, APART)
    shown.set_viewport_size(PHONE)
    if (beyond := shown.evaluate(SIDEWAYS)) > 0:
        found.append(f"moves {beyond} pixels sideways on a phone")
    found += [*shown.evaluate(SCROLLS), *shown.evaluate(OVER_ONE_ANOTHER)]
    if page not in ACROSS:
        found += shown.evaluate(UNREADABLE)
    shown.set_viewport_size(PAPER)
    shown.emulate_media(media="print")
    found += shown.evaluate(OFF_PAPER)
    shown.close()
    assert not found, "\n".join(found)


@pytest.mark.parametrize(("file", "to"), LEAD_ON.items())
def test_the_old_address_of_a_section_leads_to_it(file, to):
    """Followed by hand: a browser opens no second page from disk as fast as a file is read."""
    page, _, anchor = to.removeprefix("../book/").partition("#")
    assert f'url={page}#{anchor}"' in (BOOK / file).read_text(encoding="utf-8")
    target = (BOOK / file).with_name(page).read_text(encoding="utf-8")
    assert f'id="{anchor}"' in target


def test_a_search_names_what_explains_before_what_uses_it(window):
    shown = window.new_page()
    shown.goto(f"{(BOOK / 'search.html').as_uri()}?q=VCD")
    first = shown.locator("#search-results li a").first
    assert first.get_attribute("href", timeout=20_000).endswith("book/method.html")
    shown.close()


def test_the_front_page_answers_before_the_second_screen_and_is_light(window):
    file = BOOK / "book" / "introduction.html"
    shown = window.new_page()
    shown.goto(file.as_uri())
    last = shown.locator(".results-at-a-glance li").last.bounding_box()
    assert last["y"] + last["height"] <= 2 * DESK["height"]
    assert file.stat().st_size <= 400_000
    for page, of in (("results", ".results-at-a-glance"), ("asked", ".answers-of")):
        shown.goto(file.as_uri())
        words = shown.locator(f"{of} li").all_inner_texts()
        shown.goto((BOOK / "notebooks" / f"{page}.html").as_uri())
        said = shown.locator(".cell_output li").all_inner_texts()[: len(words)]
        assert words and ["".join(each.split()) for each in words] == [
            "".join(x.split()) for x in said
        ]
    shown.close()


def test_the_front_pages_picture_switches_and_its_setting_is_the_explorers_and_the_snippets(
    window,
):
    page = (BOOK / "book" / "introduction.html").as_uri()
    shown = window.browser.new_context(java_script_enabled=False, viewport=DESK).new_page()
    shown.goto(page)
    captions = """() => [...document.querySelectorAll(".turned-panel")]
        .filter(each => each.checkVisibility()).map(each => each.caption.textContent)"""
    first = shown.evaluate(captions)
    assert first and all(f"β {SCI5.beta:g}, all" in each for each in first)
    shown.get_by_label("0.8").check()
    shown.get_by_label("outside").check()
    assert all("β 0.8, outside" in each for each in shown.evaluate(captions))
    assert len(shown.evaluate(captions)) == len(first)
    assert "method=SCI5" in shown.locator("div.highlight").first.inner_text()
    shown.close()
    shown = window.new_page()
    shown.goto((BOOK / "book" / "explorer.html").as_uri())
    shown.wait_for_selector("[data-part=accuracy] td")
    assert shown.get_attribute("[data-method=SCI5]", "aria-pressed") == "true"
    assert shown.inner_text("[data-part=beta]") == f"{SCI5.beta:g}"
    shown.close()


def test_the_front_pages_hero_is_whole_on_a_phone(window):
    shown = window.browser.new_page(viewport=PHONE)
    shown.goto((BOOK / "book" / "introduction.html").as_uri())
    hero = shown.locator("#sci-in-one-picture svg").bounding_box()
    assert hero["x"] >= 0 and hero["x"] + hero["width"] <= PHONE["width"]
    shown.close()


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("tau1", "notebooks/beta_and_tau"),
        ("own data", "book/your_own_data"),
        ("CHAIR", "notebooks/descriptions"),
        ("cite", "book/bibliography"),
        ("BibTeX", "book/bibliography"),
    ],
)
def test_a_search_finds_titles_and_synonyms_first(words, page, window):
    shown = window.new_page()
    shown.goto(f"{(BOOK / 'search.html').as_uri()}?q={words.replace(' ', '+')}")
    first = shown.locator("#search-results li a").first
    assert f"{page}.html" in first.get_attribute("href", timeout=20_000)
    shown.close()


def test_the_scoreboard_is_filtered_by_words_and_verdict_and_stands_without_scripts(window):
    page = (BOOK / "notebooks" / "verdicts.html").as_uri()
    lines = """() => [...document.querySelectorAll("details.scoreboard tbody tr")]
        .filter(line => line.checkVisibility()).map(line => line.textContent)"""
    shown = window.new_page()
    shown.goto(page)
    first = shown.evaluate(lines)
    shown.get_by_label("Words").fill("SCI5 vcd")
    found = shown.evaluate(lines)
    assert found and all("SCI5" in line and "VCD" in line for line in found)
    count = shown.locator(".scoreboard-filter output")
    assert count.inner_text().startswith(f"{len(found)} of ")
    shown.get_by_label("Words").fill("")
    shown.get_by_label("Verdict").select_option("fails")
    failed = shown.evaluate(lines)
    assert failed and all("fails" in line for line in failed)
    shown.get_by_label("Verdict").select_option("")
    assert shown.evaluate(lines) == first
    shown.close()
    still = window.browser.new_context(java_script_enabled=False).new_page()
    still.goto(page)
    assert still.locator("details.scoreboard[open] tbody tr").count() == len(first)
    assert not still.locator(".scoreboard-filter input").count()
    still.close()


def test_folded_tables_are_open_on_paper(window):
    shown = window.new_page()
    shown.goto((BOOK / "notebooks" / "table02_drbench.html").as_uri())
    heights = """() => [...document.querySelectorAll(".cell_output details")]
        .filter(each => !each.querySelector("#T_circumstances"))
        .map(each => each.getBoundingClientRect().height)"""
    folded = shown.evaluate(heights)
    how_it_ran = shown.locator(".cell_output details:has(#T_circumstances)")
    assert how_it_ran.is_visible()
    shown.emulate_media(media="print")
    printed = shown.evaluate(heights)
    assert not how_it_ran.is_visible()
    shown.close()
    assert folded and max(folded) < 60 < min(printed)


def test_a_row_of_a_wide_table_is_stacked_on_a_phone_each_number_beneath_its_head(window):
    shown = window.browser.new_page(viewport=PHONE)
    shown.goto((BOOK / "notebooks" / "table02_drbench.html").as_uri())
    label, *cells = shown.locator("#T_less-base tbody tr").first.locator("th, td").all()
    heads = [cell.evaluate("each => getComputedStyle(each, '::before').content") for cell in cells]
    parts = [f'"{part}, {of}"' for part in ("B", "S", "BS", "S∖B") for of in ("paper", "here")]
    assert heads == parts
    below = label.bounding_box()["y"] + label.bounding_box()["height"]
    assert all(cell.bounding_box()["y"] >= below for cell in cells)
    shown.close()


def test_the_scoreboard_is_printed_and_what_tells_its_words_again_is_not(window):
    shown = window.new_page()
    shown.goto((BOOK / "notebooks" / "verdicts.html").as_uri())
    shown.emulate_media(media="print")
    assert shown.locator("details.scoreboard").first.is_visible()
    again = shown.locator(".off-paper, details:has([id^='T_prose-ledger'])").all()
    assert again and not any(each.is_visible() for each in again)
    shown.close()


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
def test_a_page_with_a_fault_is_found(body, says, window, tmp_path):
    mathjax = (ROOT / "book" / "_assets" / "mathjax" / "tex-svg.js").as_uri()
    page = tmp_path / "page.html"
    page.write_text(
        f'<!doctype html><script defer src="{mathjax}"></script><div class="math">{body}</div>',
        encoding="utf-8",
    )
    shown = window.new_page()
    assert problems(shown, page) == says
    shown.close()


LINK = '<a style="color: #222; text-decoration: none" href="#a">a link</a>'
CHOICE = '<select aria-label="A choice" style="{}"><option>One.</option></select>'


@pytest.mark.parametrize(
    ("faint", "said"),
    [
        ('<p style="color: #bbb">Faint.</p>', "color-contrast: "),
        ('<p style="background: #666; color: #444">Faint.</p>', "color-contrast: "),
        ('<div style="opacity: 0.3"><p>Faint.</p></div>', "color-contrast: <p "),
        (CHOICE.format("color: #bbb; background: #fff"), "color-contrast: <select "),
        (f"<p>A line with {LINK} in it.</p><p>\n{LINK}\n</p>", "link-in-text-block: <a "),
    ],
)
def test_words_that_do_not_stand_out_are_found(faint, said, window):
    shown = window.new_page()
    words = "<p>Dark on white.</p>" * 3 + CHOICE.format("")
    link = f"<p>{LINK}</p><p>A line with {LINK.replace(' none', ' underline')} in it.</p>"
    found = []
    for body in (words + link, words + link + faint + words):
        head = "<title>A page</title><h1>A page</h1>"
        shown.set_content(f'<!doctype html><html lang="en"><main>{head}{body}</main></html>')
        shown.add_script_tag(path=AXE_FILE_PATH)
        found.append(shown.evaluate(ACCESSIBLE, APART))
    none, (one,) = found
    assert not none and one.startswith(said)
    shown.close()


def test_the_matrix_is_sorted_and_filtered_opens_its_cells_and_stands_without_scripts(window):
    page = (BOOK / "notebooks" / "matrix.html").as_uri()
    lines = """() => [...document.querySelectorAll("table.matrix tbody tr")]
        .filter(line => line.checkVisibility()).map(line => line.cells[6].textContent)"""
    shown = window.new_page()
    shown.goto(page)
    first = shown.evaluate(lines)
    for turned in (False, True):
        shown.get_by_role("button", name=re.compile("^SCI7")).click()
        texts = [text.split()[0].replace("−", "-") for text in shown.evaluate(lines)]
        numbers = [float(text) for text in texts if text != "—"]
        assert len(texts) == len(first) and numbers == sorted(numbers, reverse=turned)
        assert set(texts[len(numbers) :]) == {"—"}  # last, whichever way
    shown.get_by_label("Words").fill("b,")
    assert 0 < len(shown.evaluate(lines)) <= 18  # labels with the word, of each model and seed
    shown.get_by_label("Words").fill("bs")
    shown.get_by_role("combobox", name="Model").select_option("pocket Qwen2-VL")
    assert 0 < len(shown.evaluate(lines)) < len(first)
    cell = shown.locator("table.matrix tbody tr:visible td button").first
    cell.focus()
    shown.keyboard.press("Enter")
    opened = shown.locator("tr.opened")
    assert "groups of rows gained" in opened.inner_text()
    shown.get_by_role("button", name=re.compile("^TIE")).click()
    assert not opened.count()
    cell.click()
    opened.get_by_role("link", name="This setting on the explorer").click()
    shown.wait_for_selector("#sci-explorer .asked")
    assert not shown.get_by_text("Not understood in the address").count()
    shown.close()
    still = window.browser.new_context(java_script_enabled=False).new_page()
    still.goto(page)
    assert still.locator("table.matrix tbody tr").count() == len(first)
    assert not still.locator("table.matrix button").count()
    still.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_shared_link_tells_what_the_page_says_and_the_foot_how_to_cite_it(name):
    text = (BOOK / name).read_text(encoding="utf-8")
    tags = dict(re.findall(r'<meta property="og:([a-z:_]+)" content="([^"]*)"', text))
    (described,) = re.findall(r'<meta name="description" content="([^"]*)"', text)
    assert described == tags["description"] and 20 < len(described) <= 210
    assert tags["site_name"] == "Self-Critical Inference, executed" and tags["title"]
    assert ((BOOK / name).parent / tags["image"]).resolve().is_file()
    (icon,) = re.findall(r'<link rel="icon" href="([^"]*)"', text)
    assert ((BOOK / name).parent / icon).resolve().is_file()
    assert re.search(r"Version \d+\.\d+\.\d+.*How to cite", text, re.DOTALL)
