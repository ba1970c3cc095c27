"""The explorer in a real browser: its numbers are `Replay`'s, and it works with what a reader has.

It needs Chromium, which is no Python package (README).
"""

import random
import re
import shutil
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from sci_book.papers.sci.explorer import data
from sci_book.papers.sci.explorer.data import write
from sci_book.papers.sci.explorer.questions import choose
from sci_book.papers.sci.overhead import ratio
from sci_book.papers.shared import chapters, tables
from sci_book.resources import FROZEN_RECORDS, ROOT
from sci_book.results import controls
from sci_book.results.drbench import subsets
from sci_book.results.records import read_records
from sci_book.results.replay import Replay
from sci_core.methods import METHODS, RULES, SCI7, Method
from tests.chromium import one_window, raw_page, watched
from tests.soak import TIMES, mostly

MODELS = ("pocket-qwen2vl", "pocket-llavanext")
SETTINGS = 30, 200  # presets among them; the second number in `make test ALL=1`
COLUMNS = {"B": "B", "S": "S", "S∖B": "S∖B", "BS": "BS", "all rows": "all"}


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    """The page as the book has it, without the book around it."""
    folder = tmp_path_factory.mktemp("book")
    assets = folder / "_static" / "explorer"
    shutil.copytree(ROOT / "book" / "_assets" / "explorer", assets)
    write(assets, MODELS, FROZEN_RECORDS, "pocket")
    return raw_page(folder, "explorer")


@pytest.fixture(scope="module")
def window():
    with one_window() as window:
        yield window


@pytest.fixture
def opened(window, page_file):
    """Opens the page at an address; nothing may go wrong on any of them."""
    pages, problems = [], []

    def open_at(address="", **context):
        page = window.browser.new_page(**context) if context else window.new_page()
        pages.append(page)
        problems.append(watched(page))
        page.goto(page_file.as_uri() + address)
        if context.get("java_script_enabled", True):
            page.wait_for_selector("[data-part=accuracy] td")
        return page

    yield open_at
    for page in pages:
        page.close()
    assert not any(problems), problems


def settings(count):
    """The presets of the page's rounds, then settings by lot over all that its controls reach."""
    lot = random.Random(22)
    found = [preset for preset in METHODS.values() if {*preset.rounds} <= {*SCI7.rounds}]
    while len(found) < count:
        found.append(
            Method(
                "by lot",
                "mean" if len(found) % 3 == 0 else "sci",
                textual=tuple(name for name in SCI7.textual if lot.random() < 0.6),
                visual=tuple(name for name in SCI7.visual if lot.random() < 0.6),
                tau1=float(f"{10 ** lot.uniform(-0.7, 1.3):.3g}"),
                tau2=float(f"{10 ** lot.uniform(-1.3, 0.7):.3g}"),
                beta=float(f"{10 ** lot.uniform(-2.3, 0):.3g}"),
            )
        )
    return found


ACCURACY = "([name, method]) => SCI_EXPLORER.accuracy(name, method)"


def as_asked(method):
    """A method as the page holds it."""
    constants = {key: getattr(method, key) for key in ("tau1", "tau2", "beta", "alpha")}
    rounds = {"textual": list(method.textual), "visual": list(method.visual)}
    return {"rule": method.rule, **rounds, **constants}


def expected(records, sets, answers):
    """By column: rows, and the share that is right, unsettled rows all wrong and all right."""
    settled = (answers["known"] & answers["proven"]).to_numpy()
    truth = records.frame["truth"].to_numpy(dtype=object)
    right = settled & (answers["answer"].to_numpy(dtype=object) == truth)
    found = {}
    for name, column in COLUMNS.items():
        rows = sets[column].to_numpy()
        low, high = 100 * np.mean(right[rows]), 100 * np.mean((right | ~settled)[rows])
        found[name] = {"n": int(rows.sum()), "low": low, "high": high}
    return found


@pytest.mark.parametrize("count", mostly(SETTINGS))
@pytest.mark.parametrize("number", range(len(MODELS)))
def test_accuracies_are_those_of_replay(number, count, opened):
    name = MODELS[number]
    page = opened(f"#m={name}")
    records = read_records(FROZEN_RECORDS / f"{name}.parquet")
    replay, sets = Replay(records), subsets(records)
    for method in settings(count)[number :: len(MODELS)]:
        shown = page.evaluate(ACCURACY, [name, as_asked(method)])
        for column, values in expected(records, sets, replay.answers(method)).items():
            assert shown[column] == pytest.approx(values, abs=0.01), (method, column)


REWORDED, BETAS = [("V1",), ("V1", "V2"), ("V3",)], [0.05, 0.3, 0.8]


def test_the_rounds_decide_what_is_plausible_that_a_rule_says(opened, monkeypatch):
    """The original alone, where textual rounds speak against tokens, as in `Replay`.

    Each choice of rounds with a β of its own; in `make soak` with every β.
    """
    monkeypatch.setitem(RULES, "against", replace(RULES["sci"], decides="original"))
    page = opened()
    page.evaluate("""() => { const rules = SCI_EXPLORER.rules();
                             rules.against = { ...rules.sci, decides: "original" }; }""")
    records = read_records(FROZEN_RECORDS / f"{MODELS[0]}.parquet")
    replay, sets = Replay(records), subsets(records)
    each = zip(REWORDED, BETAS, strict=True)
    for textual, beta in product(REWORDED, BETAS) if TIMES > 1 else each:
        method = Method("by the original", "against", textual, ("black",), beta=beta)
        shown = page.evaluate(ACCURACY, [MODELS[0], as_asked(method)])
        for column, values in expected(records, sets, replay.answers(method)).items():
            assert shown[column] == pytest.approx(values, abs=0.01), (method, column)
        voting = page.evaluate(ACCURACY, [MODELS[0], as_asked(method) | {"rule": "sci"}])
        assert voting["BS"] != shown["BS"]


def test_every_equation_of_the_library_is_one_of_the_page_and_an_unknown_rule_is_an_error(opened):
    page = opened()
    known = page.evaluate("Object.keys(SCI_EXPLORER.rules())")
    assert known == list(RULES)
    settings = {
        "textual": [],
        "visual": ["noise500"],
        "tau1": 1,
        "tau2": 1,
        "beta": 0.3,
        "alpha": 1,
    }
    asked = """([name, method]) => {
        try { return SCI_EXPLORER.accuracy(name, method) } catch (error) { return `${error}` }
    }"""
    for rule in ("dola", "SCI", "toString", ""):
        said = page.evaluate(asked, [MODELS[0], {**settings, "rule": rule}])
        assert said.startswith(
            f'Error: The rule "{rule}" is unknown to this page, which knows base, '
        )
    assert page.evaluate(asked, [MODELS[0], {**settings, "rule": "vcd"}])["B"]["n"]


@pytest.mark.parametrize(
    ("exported", "unknown", "said"),
    [
        (
            '"equation":"m3id_logits"',
            '"equation":"dola_logits"',
            'The equation "dola_logits" of the rule "m3id" is not in engine.js',
        ),
        ('"rule":"second"', '"rule":"third"', 'The control "third" is not in engine.js'),
    ],
)
def test_a_page_with_an_equation_or_a_control_that_it_lacks_does_not_start(
    exported, unknown, said, window, page_file, tmp_path
):
    shutil.copytree(page_file.parents[1], tmp_path / "book")
    file = tmp_path / "book" / "_static" / "explorer" / "questions.js"
    text = file.read_text(encoding="utf-8")
    assert text.count(exported) == 1
    file.write_text(text.replace(exported, unknown), encoding="utf-8")
    page = window.new_page()
    page.goto((tmp_path / "book" / "book" / "explorer.html").as_uri())
    page.wait_for_function(
        "() => document.querySelector('[data-part=status]').textContent.includes('cannot start')"
    )
    assert said in page.inner_text("[data-part=status]")
    page.close()


@pytest.mark.parametrize("name", mostly(MODELS))
def test_the_controls_answer_as_those_of_the_library(name, opened):
    page = opened(f"#m={name}")
    (model,) = chapters.subjects([name], FROZEN_RECORDS)
    asked, sets = model.records.ok, subsets(model.records)
    ruled = {each for each, control in controls.CONTROLS.items() if control.rule}
    assert ruled == {"runner-up", "vote(2)", "vote(3)"}
    for control in ruled:
        shown = page.evaluate("([m, c]) => SCI_EXPLORER.control(m, c)", [name, control])
        right = model.right(control)
        assert [each["right"] for each in shown] == (right == 1)[asked].tolist() and asked.all()
        by_subset = page.evaluate("([m, c]) => SCI_EXPLORER.accuracyOf(m, c)", [name, control])
        for column, rows in COLUMNS.items():
            share = pytest.approx(100 * right[sets[rows]].mean())
            assert (by_subset[column]["low"], by_subset[column]["high"]) == (share, share)
    second = page.evaluate("m => SCI_EXPLORER.control(m, 'runner-up')", name)
    said = [text or "" for text in controls.runner_up(model.records)]
    assert [each["said"] for each in second] == said and len({*said}) > 20


def test_numbers_are_rounded_as_those_of_tables(opened):
    values = [16.25, 16.45, -16.25, 0.125, 28.499999999999996, -0.004, 2.675, 100, 0.5, -1.005]
    page = opened()
    for decimals in (0, 1, 2):
        said = [page.evaluate("([x, d]) => SciEngine.fixed(x, d)", [x, decimals]) for x in values]
        assert said == [tables.number(value, decimals) for value in values]


EVERY_QUESTION = """async () => {
    const list = document.querySelector("[data-part=question]"), found = [];
    for (const { value } of [...list.options]) {
        list.value = value;
        list.dispatchEvent(new Event("input", { bubbles: true }));
        await Promise.all([...document.images].map(image => image.decode()));
        found.push({
            said: document.querySelector("[data-part=asked] .muted").textContent,
            verdicts: [...document.querySelectorAll("[data-part=answers] td:last-child")]
                .map(cell => cell.textContent),
            steps: document.querySelectorAll("[data-step]").length,
        });
    }
    return found;
}"""


@pytest.fixture(scope="module")
def questions(window, page_file):
    """What the page says of each question when it is chosen."""
    page = window.new_page()
    problems = watched(page)
    page.goto(page_file.as_uri())
    page.wait_for_selector("[data-part=accuracy] td")
    yield page.evaluate(EVERY_QUESTION)
    page.close()
    assert not problems


def test_every_question_is_shown_with_its_answers(questions):
    """And the base's answer beside SCI5's is what the rule chose the question for."""
    outcome = {
        ("wrong", "right"): "corrected",
        ("right", "wrong"): "spoilt",
        ("right", "right"): "right before and after",
        ("wrong", "wrong"): "wrong before and after",
    }
    chosen = choose(chapters.subjects(MODELS, FROZEN_RECORDS))
    assert len(questions) == len(chosen) > 80 and any(each["steps"] for each in questions)
    for each in questions:
        base, *_, sci5 = each["verdicts"]
        if "not settled by the records" not in (base, sci5):
            assert outcome[base, sci5] in each["said"]


def test_keys_alone_change_a_setting_and_the_numbers(opened):
    page = opened()

    def numbers():
        return page.inner_text("[data-part=accuracy] tbody tr:nth-last-child(2)")

    before = numbers()
    page.focus("[data-slider=beta]")
    for _ in range(40):
        page.keyboard.press("ArrowLeft")
    page.wait_for_function("before => document.querySelector"
                           "('[data-part=accuracy] tbody tr:nth-last-child(2)').innerText"
                           " !== before",
                           arg=before)  # fmt: skip
    assert page.inner_text("[data-part=beta]") != "0.3"
    page.focus("[data-method=SCI5]")
    page.keyboard.press("Enter")
    assert page.get_attribute("[data-method=SCI5]", "aria-pressed") == "true"
    assert numbers() == before
    page.focus("[data-round=V2]")
    page.keyboard.press("Space")
    assert numbers() != before and page.inner_text("[data-part=tau1]") == "1.5"
    assert page.evaluate("document.activeElement.dataset.round") == "V2"
    asked = page.inner_text("[data-part=asked] .asked")
    page.focus("[data-move='1']")
    page.keyboard.press("Enter")
    assert page.inner_text("[data-part=asked] .asked") != asked


def test_every_control_has_a_name_and_is_reached_by_tab(opened):
    page = opened()
    names = page.evaluate(
        """() => [...document.querySelectorAll("#sci-explorer :is(input, select, button)")].map(
            each => each.getAttribute("aria-label") || each.labels?.[0]?.textContent
                || each.textContent)"""
    )
    assert len(names) > 15 and all(name.strip() for name in names)
    reached = set()
    for _ in range(len(names) + 10):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.outerHTML.slice(0, 80)"))
    assert len(reached) >= len(names) - 3  # sliders that a method does not use are passed over


def test_an_address_brings_back_what_it_was_copied_from(opened):
    page = opened()
    page.select_option("[data-part=model]", MODELS[1])
    page.wait_for_function("name => location.hash.includes(name)", arg=MODELS[1])
    page.click("[data-method=SCI7]")
    page.click("[data-round=V3]")
    shown = page.inner_text("#sci-explorer")
    again = opened(page.evaluate("location.hash"))
    assert again.inner_text("#sci-explorer") == shown


def test_the_address_of_every_button_brings_that_button_back(opened):
    """One whose β is 0 too, which lies below the slider's least."""
    page = opened()
    names = page.eval_on_selector_all("[data-method]", "all => all.map(one => one.dataset.method)")
    assert {"mean(2)", "SCI5"} <= {*names}
    for name in names if TIMES > 1 else ("mean(2)", "SCI5"):
        page.click(f"[data-method='{name}']")
        page.click("[data-do=keep]")
        again = opened(page.evaluate("location.hash"))
        assert again.inner_text("#sci-explorer") == page.inner_text("#sci-explorer")
        pressed = again.locator("[data-method][aria-pressed=true]")
        assert pressed.evaluate_all("all => all.map(one => one.dataset.method)") == [name]
        assert "Infinity" not in again.inner_text("#sci-explorer")


def test_methods_that_differ_in_alpha_alone_are_told_apart(window, page_file, tmp_path):
    shutil.copytree(page_file.parents[1], tmp_path / "book")
    file = tmp_path / "book" / "_static" / "explorer" / "questions.js"
    text = file.read_text(encoding="utf-8")
    (vcd,) = re.findall(r'"VCD":({"rule":"vcd".*?})', text)
    twice = vcd.replace('"alpha":1.0', '"alpha":2.0').replace('"label":"VCD"', '"label":"VCD, α 2"')
    assert twice != vcd
    head = '"methods":{'
    text = text.replace(head, f'{head}"twice":{twice},', 1)
    file.write_text(text, encoding="utf-8")
    page = window.new_page()

    def named(address):
        page.goto("about:blank")
        page.goto((tmp_path / "book" / "book" / "explorer.html").as_uri() + address)
        page.wait_for_selector("[data-part=accuracy] td")
        pressed = page.locator("[data-method][aria-pressed=true]").all_inner_texts()
        assert "Not understood" not in page.inner_text("[data-part=status]")
        return pressed, page.inner_text("[data-part=kept]").partition(".")[0]

    addresses = []
    for name in ("VCD", "twice"):
        named("")
        page.click(f"[data-method={name}]")
        page.click("[data-do=keep]")
        addresses.append(page.evaluate("location.hash"))
    assert "alpha" not in addresses[0] and "alpha=2" in addresses[1]
    assert [named(address) for address in addresses] == [
        (["VCD"], "Kept: VCD"),
        (["VCD, α 2"], "Kept: twice"),
    ]
    pressed, kept = named(addresses[1].replace("alpha=2", "alpha=3").replace("0.3,2", "0.3,3"))
    assert pressed == [] and kept.endswith("β 0") and "α 3" in page.inner_text("[data-part=kept]")
    page.close()


def test_two_settings_stand_side_by_side_with_the_questions_that_differ_and_in_the_address(opened):
    page = opened()
    page.click("[data-do=keep]")
    assert page.inner_text("[data-part=kept]").endswith("0 are answered otherwise.")
    page.click("[data-method=base]")
    told = page.inner_text("[data-part=kept]")
    assert int(re.search(r"here (\d+) are", told)[1]) > 8
    page.select_option("[data-part=wanted]", "differs from the kept setting")
    kept, yours = page.locator("[data-part=answers] tr").all_inner_texts()[-2:]
    assert kept.startswith("kept (SCI5)") and kept.split("\t")[1] != yours.split("\t")[1]
    rows = dict(
        line.split("\t", 1) for line in page.inner_text("[data-part=accuracy] tbody").splitlines()
    )
    assert rows["kept"] != rows["your setting"] == rows["base"]
    shown = page.inner_text("#sci-explorer")
    again = opened(page.evaluate("location.hash"))
    assert again.inner_text("#sci-explorer") == shown
    again.click("[data-do=drop]")
    assert "kept" not in again.evaluate("location.hash") + again.inner_text("[data-part=accuracy]")


# The address of a page that is open is changed, and it says what it could not read of it.
SAID_OF = """async address => {
    const status = document.querySelector("[data-part=status]");
    status.textContent = "";
    location.hash = address;
    while (!status.textContent) await new Promise(done => setTimeout(done));
    return status.textContent;
}"""


def test_a_kept_setting_that_is_none_is_said(opened):
    page = opened()
    for kept in ("SCI", "sci,V1,2,1", "vcd,V1.V2,1,1,0.3", "sci,V1,99,1,0.3", ""):
        address = f"#kept={kept}&show=differs_from_the_kept_setting"
        assert f"kept={kept}, show=" in page.evaluate(SAID_OF, address)


def test_it_leads_to_a_setting_and_to_a_question_that_sci_breaks(opened):
    page = opened()
    page.get_by_role("button", name="untick V1").click()
    page.wait_for_function("() => !document.querySelector('[data-round=V1]').checked")
    assert page.inner_text("[data-part=tau1]") == "1.5"
    page.get_by_role("button", name="β to 0.8").click()
    page.wait_for_function("() => document.querySelector('[data-part=beta]').textContent === '0.8'")
    assert page.inner_text("[data-part=kept]").startswith("Kept: SCI5.")
    page.get_by_role("button", name="a question that SCI breaks").click()
    page.wait_for_function("() => location.hash.includes('show=spoilt')")
    base, *_, yours = page.locator("[data-part=answers] td:last-child").all_inner_texts()
    assert (base, yours) == ("right", "wrong")


def test_the_cost_of_a_setting_is_that_of_table_7(opened):
    page = opened()
    for name in ("base", "VCD", "SCI3", "SCI5", "SCI7"):
        page.click(f"[data-method={name}]")
        said = f"It reads {ratio(METHODS[name], data.IMAGE_TOKENS):.2f} times the base's tokens"
        assert page.inner_text("[data-part=cost]").startswith(said)


def test_what_a_picture_adds_is_drawn_from_zero_and_the_longest_bar_is_of_a_token_that_is_left(
    opened,
):
    page = opened()
    bars = page.evaluate("""() => [...document.querySelectorAll("td.signed")].map(cell => [
        parseFloat(cell.textContent.replace("−", "-")), cell.classList.contains("faint"),
        ...["--from", "--to"].map(end => parseFloat(cell.style.getPropertyValue(end)))])""")
    assert bars
    left = [abs(value) for value, dropped, *_ in bars if not dropped]
    for value, dropped, start, end in bars:
        assert (start < 50) == (value < 0) and (end > 50) == (value > 0)
        if not dropped:
            assert end - start == pytest.approx(50 * abs(value) / max(left), abs=0.2)
    assert page.locator("tr.term td.cut").count() == len(bars)
    # The cutoff's line, here in colours of no theme, ends below the numbers.
    page.add_style_tag(content="td { --pst-color-danger: red; --pst-color-primary: blue; }")
    for number, line in page.evaluate("""() => [...document.querySelectorAll("td.cut")].map(one => {
        const text = document.createRange(), cell = one.getBoundingClientRect();
        text.selectNodeContents(one);
        const [, high] = getComputedStyle(one).backgroundSize.split(",")[0].split(" ");
        const line = parseFloat(high) * (high.endsWith("%") ? cell.height / 100 : 1);
        return [text.getBoundingClientRect().bottom, cell.bottom - line];
    })"""):
        assert number <= line
    assert page.locator("tr:first-child td.won").count() == 1


def test_a_link_is_copied_or_shown(opened):
    page = opened("#beta=0.5")
    page.click("[data-do=copy]")
    page.wait_for_function("() => document.querySelector('[data-part=status]').textContent")
    said = page.inner_text("[data-part=status]")
    assert said == "The link is copied." or "beta=0.5" in said


def test_an_address_with_a_mistake_is_said_and_the_rest_is_shown(opened):
    page = opened("#m=gpt")
    page.wait_for_function("() => document.querySelector('[data-part=status]').textContent")
    said = page.inner_text("[data-part=status]")
    assert said == "Not understood in the address, so left out: m=gpt."
    for wrong in ("q=-1&beta=7", "rounds=V9.black", "tau1=<b>2"):
        said = page.evaluate(SAID_OF, f"#{wrong}")
        left_out = wrong.replace("&", ", ")
        assert said == f"Not understood in the address, so left out: {left_out}."
        assert page.get_attribute("[data-method=SCI5]", "aria-pressed") == "true"


def test_free_answers_are_followed_token_by_token(opened, questions):
    page = opened()
    several = next(place for place, each in enumerate(questions) if each["steps"])
    page.select_option("[data-part=question]", index=several)
    first = page.inner_text("[data-part=rounds]")
    page.click("[data-step='1']")
    assert page.get_attribute("[data-step='1']", "aria-pressed") == "true"
    assert page.inner_text("[data-part=rounds]") != first


def test_without_scripts_there_is_a_picture_and_a_sentence(opened):
    page = opened(java_script_enabled=False)
    assert "needs scripts" in page.inner_text("body")
    assert page.locator("img").first.bounding_box()["width"] > 100


def test_nothing_is_wider_than_the_screen(opened):
    page = opened(viewport={"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1280, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_where_data_are_missing_the_page_says_what_to_do(window, page_file, tmp_path):
    shutil.copytree(page_file.parents[1], tmp_path / "book")
    (tmp_path / "book" / "_static" / "explorer" / f"{MODELS[0]}.js").unlink()
    page = window.new_page()
    page.goto((tmp_path / "book" / "book" / "explorer.html").as_uri())
    page.wait_for_function(
        "() => document.querySelector('[data-part=status]').textContent.includes('cannot start')"
    )
    assert "Build the book anew" in page.inner_text("[data-part=status]")
    page.close()
