"""The model in the page, in a real browser: what it answers is what `sci_core.generate` answers.

It needs Chromium, which is no Python package (README).
"""

import base64
import re
import shutil
import warnings
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sci_book.papers.sci.live import page as live
from sci_book.papers.sci.live import world
from sci_book.pocket.dialogue import segment
from sci_book.pocket.draw import CELL, SIZE, draw
from sci_book.pocket.world import COLOURS, KINDS, LIGHTS, SYMBOLS, Lot, Thing, pick, sample_scene
from sci_book.resources import CHECKPOINTS, ROOT
from sci_core import generate, load_model
from sci_core.counterfactuals import counterfactual_image
from sci_core.methods import METHODS
from tests.chromium import one_window, raw_page, watched
from tests.soak import mostly

MODEL = "pocket-qwen2vl"
PICTURES, QUESTIONS = 52, 12  # on each picture
FEW = 12  # pictures; all in `make test ALL=1`
CLOSE = 1e-3  # logits
MEGABYTES = 8  # that the page loads
SECONDS = 0.5  # of SCI5, after an edit
FREE = ("How many cows are there?", "图中有几只猫？", "What color is the dinosaur's hat?")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The page's folder among the static files of a book."""
    made = tmp_path_factory.mktemp("book") / "_static" / "live"
    shutil.copytree(ROOT / "book" / "_assets" / "live", made)
    live.write(made, MODEL)
    return made


@pytest.fixture(scope="module")
def window():
    with one_window() as window:
        yield window


@pytest.fixture(scope="module")
def page_file(folder):
    shutil.copytree(ROOT / "book" / "_assets" / "explorer", folder.with_name("explorer"))
    return raw_page(folder.parents[1], "ask_it_yourself")


@contextmanager
def loaded(window, page_file):
    """The page, on which the model has been loaded; nothing may go wrong on it."""
    shown = window.browser.new_page()
    problems = watched(shown)
    shown.goto(page_file.as_uri())
    shown.wait_for_function("() => SCI_LIVE.idle()")
    shown.click("[data-load]")
    shown.wait_for_selector("[data-part=rounds] tbody td", timeout=120_000)
    yield shown
    shown.close()
    assert not problems


@pytest.fixture(scope="module")
def started(window, page_file):
    with loaded(window, page_file) as shown:
        yield shown


@pytest.fixture(scope="module")
def beside(window, page_file):
    """The page once more: each has a thread of its own, so two answer in half the time."""
    with loaded(window, page_file) as shown:
        yield shown


def coded(pixels):
    return base64.b64encode(np.ascontiguousarray(pixels, np.uint8).tobytes()).decode()


def changed(scene, rng):
    """A scene as a reader changes one: a thing recoloured or moved, one put, one taken."""
    free = [cell for cell in range(9) if cell not in {thing.cell for thing in scene.things}]
    first, *others = scene.things
    recoloured = replace(first, cell=pick(rng, [first.cell, *free]))
    if first.kind != "sign":
        recoloured = replace(recoloured, colour=pick(rng, COLOURS))
    left = [cell for cell in free if cell != recoloured.cell]
    kind = pick(rng, (*KINDS, "sign"))
    on = bool(rng.integers(2)) if kind == "lamp" else None
    text = pick(rng, SYMBOLS) if kind == "sign" else None
    put = Thing(kind, "white" if text else pick(rng, COLOURS), left[0], on=on, text=text)
    return replace(scene, things=(recoloured, *others[1:], put))


def edited(pixels, rng):
    """A picture as a reader changes one: a cell covered, a line painted over it."""
    changed = pixels.copy()
    top, left = CELL * rng.integers(0, 3, 2)
    changed[top : top + CELL, left : left + CELL] = rng.integers(0, 256, 3)
    for at in range(SIZE):
        changed[at, max(0, (at * 2) % SIZE - 2) : (at * 2) % SIZE + 2] = rng.integers(0, 256, 3)
    return changed


@pytest.fixture(scope="module")
def pairs():
    """(picture, prompt, method): scenes as they are, changed or painted over, asked a lot."""
    rng = np.random.default_rng(12)
    names, made = list(live.asked_methods()), []
    for number in range(PICTURES):
        scene = sample_scene(rng, Lot(skew=0.5))
        scene = changed(scene, rng) if number % 3 == 1 and len(scene.things) < 8 else scene
        picture = edited(draw(scene), rng) if number % 3 == 2 else draw(scene)
        prompts = [segment(scene, "qwen2_vl", rng).user for _ in range(QUESTIONS - 1)]
        for prompt in (*prompts, FREE[number % len(FREE)]):
            made.append((picture, prompt, names[len(made) % len(names)]))
    return made


@pytest.fixture(scope="module")
def model():
    return load_model(str(CHECKPOINTS / MODEL), device="cpu")


ANSWERS = """async cases => {
    const bytes = text => Uint8Array.from(atob(text), letter => letter.charCodeAt(0)), found = [];
    const setup = SCI_LIVE.methods();
    for (const [picture, prompt, name, logits] of cases) {
        const asked = { rgb: bytes(picture), prompt, method: setup[name], own: false };
        const { tokens, text, rounds, steps } = await SCI_LIVE.ask("answer", asked);
        found.push([tokens, text, rounds.map(round => round.prompt),
                    logits ? steps.map(step => step.logits.map(z => [...z])) : null]);
    }
    return found;
}"""


@pytest.mark.parametrize("pictures", mostly([FEW, PICTURES]))
def test_tokens_are_those_of_the_kernel_in_every_method(pictures, started, beside, model, pairs):
    pairs = pairs[: pictures * QUESTIONS]
    cases = [[coded(picture), *asked, False] for picture, *asked in pairs]
    # The browser answers while this process does.
    for tab, shown in enumerate((started, beside)):
        shown.evaluate(f"cases => {{ window.answers = ({ANSWERS})(cases) }}", cases[tab::2])
    least = pictures * QUESTIONS - 24  # few questions are there twice
    assert len({(p.tobytes(), prompt) for p, prompt, _ in pairs}) >= least
    expected = [()] * len(pairs)
    for name in live.asked_methods():
        mine = [at for at, (*_, method) in enumerate(pairs) if method == name]
        images = [Image.fromarray(pairs[at][0]) for at in mine]
        with warnings.catch_warnings():  # of prompts without an instruction
            warnings.simplefilter("ignore", UserWarning)
            answers = generate(model, images, [pairs[at][1] for at in mine], METHODS[name])
        assert len(mine) >= pictures
        for at, answer in zip(mine, answers, strict=True):
            expected[at] = ([*answer.tokens], answer.text)
    found = [()] * len(pairs)
    for tab, shown in enumerate((started, beside)):
        found[tab::2] = shown.evaluate("() => window.answers")
    both = zip(pairs, found, expected, strict=True)
    wrong = [(*asked, tuple(got[:2]), want) for (_, *asked), got, want in both
             if tuple(got[:2]) != want]  # fmt: skip
    assert not wrong


@pytest.mark.parametrize("name", ["SCI7", "VDD"])
def test_logits_of_every_round_and_step_are_the_kernels(name, started, model, pairs):
    asked = pairs[::82]
    images = [Image.fromarray(picture) for picture, *_ in asked]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        answers = generate(
            model, images, [prompt for _, prompt, _ in asked], METHODS[name], return_logits=True
        )
    found = started.evaluate(ANSWERS, [[coded(p), prompt, name, True] for p, prompt, _ in asked])
    for (*_, steps), answer in zip(found, answers, strict=True):
        assert len(steps) == len(answer.logits)
        for step, logits in zip(steps, answer.logits, strict=True):
            assert np.abs(np.array(step) - logits.numpy()).max() < CLOSE


PIXELS = """async asked => Promise.all(asked.map(async ([what, given]) => {
    const { rgb: text } = given;
    const rgb = text && Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
    const made = await SCI_LIVE.ask(what, { ...given, rgb });
    return btoa(String.fromCharCode(...made));
}))"""


def pixels(started, what, asked):
    """Pictures that the page's thread makes."""
    made = started.evaluate(PIXELS, [[what, given] for given in asked])
    shape = (SIZE, SIZE, 3)
    return [np.frombuffer(base64.b64decode(text), np.uint8).reshape(shape) for text in made]


def test_scenes_are_drawn_as_the_world_draws_them_changed_ones_too(started):
    rng = np.random.default_rng(13)
    scenes = world.scenes()
    scenes += [changed(scene, rng) for scene in scenes for _ in range(5) if len(scene.things) < 8]
    scenes += [replace(scene, light=light) for scene in scenes[:2] for light in LIGHTS]
    asked = [{"scene": world.as_json(scene)} for scene in scenes]
    for scene, made in zip(scenes, pixels(started, "draw", asked), strict=True):
        assert (made == draw(scene)).all(), scene
    assert {thing.kind for scene in scenes for thing in scene.things} == {*KINDS, "sign"}


def test_noise_is_the_kernels_to_the_last_pixel(started, pairs):
    shown = [picture for picture, *_ in pairs[:: 9 * QUESTIONS]]
    for name in ("noise500", "noise400"):
        asked = [{"rgb": coded(picture), "name": name} for picture in shown]
        for picture, noisy in zip(shown, pixels(started, "noise", asked), strict=True):
            assert (noisy == counterfactual_image(Image.fromarray(picture), name)).all()


def test_plain_loops_say_what_vectors_say(window, page_file, started, pairs):
    few = [[coded(picture), prompt, "SCI5", True] for picture, prompt, _ in pairs[::208]]
    shown = window.new_page()
    shown.goto(page_file.as_uri())
    shown.wait_for_function("() => SCI_LIVE.idle()")
    assert not shown.evaluate("SCI_LIVE.load(false)")["vectors"]
    both = zip(shown.evaluate(ANSWERS, few), started.evaluate(ANSWERS, few), strict=True)
    for (tokens, *_, steps), (same_tokens, *_, same_steps) in both:
        assert tokens == same_tokens
        for step, same in zip(steps, same_steps, strict=True):
            assert np.abs(np.array(step) - np.array(same)).max() < CLOSE
    shown.close()


# Of the scene that an address names, what is on the canvas; and what the table says.
CANVAS = """() => {
    const canvas = document.querySelector("[data-part=picture]"), [side] = [canvas.width];
    const { data } = canvas.getContext("2d").getImageData(0, 0, side, side);
    return [...data].filter((_, at) => at % 4 < 3);
}"""
ANSWERED = "() => document.querySelector('[data-part=answers]').innerText"


@pytest.fixture
def opened(window, page_file):
    """Opens the page at an address; nothing may go wrong on any of them."""
    pages = []

    def open_page(address="", **context):
        shown = window.browser.new_page(**context) if context else window.new_page()
        pages.append((shown, watched(shown)))
        shown.goto(page_file.as_uri() + address)
        if context.get("java_script_enabled", True):
            shown.wait_for_function("() => SCI_LIVE.idle()")
        return shown

    yield open_page
    for shown, problems in pages:
        shown.close()
        assert not problems


def settled(shown, before=None):
    """Waits until the picture and the answers are those of the address."""
    shown.wait_for_function(
        "before => SCI_LIVE.idle() && location.hash !== before", arg=before, timeout=60_000
    )


def on_canvas(shown):
    return np.array(shown.evaluate(CANVAS)).reshape(SIZE, SIZE, 3)


def test_what_the_page_loads_is_small_and_the_weights_wait_for_a_button(folder, page_file, window):
    shown, loaded = window.browser.new_page(), []
    shown.on("request", lambda request: loaded.append(request.url))
    shown.goto(page_file.as_uri())
    shown.wait_for_function("() => SCI_LIVE.idle()")
    assert not any("weights" in url for url in loaded)
    shown.click("[data-load]")
    shown.wait_for_selector("[data-part=rounds] tbody td", timeout=120_000)
    files = [url.removeprefix("file://") for url in {*loaded} if url.startswith("file:")]
    sizes = [Path(file.partition("#")[0]).stat().st_size for file in files]
    assert str(folder / "weights.js") in files and sum(sizes) < MEGABYTES * 1e6
    shown.close()


def test_an_edit_is_answered_by_sci5_at_once_and_beside_it_what_was_said_before(started):
    seconds = []
    for colour in ("white", "green", "blue", "black", "brown", "orange", "purple", "yellow"):
        before = started.evaluate("location.hash")
        started.select_option("[data-part=colour]", colour)
        settled(started, before)
        seconds.append(
            float(re.search(r"[\d.]+(?= sec)", started.inner_text("[data-part=time]"))[0])
        )
        scene = world.scenes()[0]
        things = [replace(t, colour=colour) if t.cell == 4 else t for t in scene.things]
        assert (on_canvas(started) == draw(replace(scene, things=tuple(things)))).all()
        assert "before" in started.evaluate(ANSWERED)
    assert min(seconds) < SECONDS
    started.click("[data-reset]")
    settled(started)
    assert "before" not in started.evaluate(ANSWERED)


def test_keys_alone_put_move_take_and_cover_a_thing(opened):
    shown = opened("#scene=0")
    scene = world.scenes()[0]

    def press(part, *keys):
        before = shown.evaluate("location.hash")
        shown.focus(part)
        for key in keys:
            shown.keyboard.press(key)
        settled(shown, before)

    shown.focus("[data-cell='8']")
    shown.keyboard.press("Enter")
    assert shown.inner_text("[data-part=cell]") == "bottom right: nothing"
    press("[data-part=kind]", "b", "o", "o")  # book
    put = Thing("book", "red", 8)
    assert (on_canvas(shown) == draw(replace(scene, things=(*scene.things, put)))).all()
    press("[data-part=to]", "ArrowUp")
    moved = replace(put, cell=6)
    assert shown.inner_text("[data-part=cell]") == "bottom left: red book"
    picture = draw(replace(scene, things=(*scene.things, moved)))
    assert (on_canvas(shown) == picture).all()
    press("[data-part=covered]", "Space")
    picture[64:, :32] = 128
    assert (on_canvas(shown) == picture).all()
    press("[data-part=covered]", "Space")
    press("[data-part=kind]", "Home")
    assert (on_canvas(shown) == draw(scene)).all()


def test_an_address_brings_back_what_it_was_copied_from(opened):
    shown = opened(
        "#scene=4&things=sign.E.0_lamp.red.4.on&cover=8&paint=0aa1cd&method=VCD&ask=你好"
    )
    shown.click("[data-load]")
    shown.wait_for_selector("[data-part=rounds] tbody td", timeout=120_000)
    settled(shown)
    things = (Thing("sign", "white", 0, text="E"), Thing("lamp", "red", 4, on=True))
    picture = draw(replace(world.scenes()[4], things=things))
    picture[64:, 64:] = 128
    picture[30:36, 30:36] = 128
    picture[39:45, 36:42] = 0
    assert (on_canvas(shown) == picture).all()
    assert shown.input_value("[data-part=prompt]") == "你好"
    again = opened(shown.evaluate("location.hash"))
    settled(again)
    assert (on_canvas(again) == picture).all()
    assert again.evaluate("location.hash") == shown.evaluate("location.hash")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("#scene=99", "scene=99"),
        ("#things=cow.pink.3", "things=cow.pink.3"),
        ("#things=cow.red.3_cup.blue.3", "things=cow.red.3_cup.blue.3"),
        ("#cover=9&paint=x", "cover=9, paint=x"),
        ("#method=<b>&step=-1", "method=<b>, step=-1"),
    ],
)
def test_an_address_with_a_mistake_is_said_and_the_rest_is_shown(address, said, opened):
    shown = opened(address)
    settled(shown)
    shown.wait_for_function("document.querySelector('[data-part=status]').textContent")
    assert shown.inner_text("[data-part=status]") == (
        f"Not understood in the address, so left out: {said}."
    )


def test_painting_paints_where_the_pointer_goes(opened):
    shown = opened("#scene=1", viewport={"width": 390, "height": 844})
    shown.check("[data-part=painting]")
    shown.select_option("[data-part=brush]", "black")
    box = shown.locator("[data-part=picture]").bounding_box()
    shown.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    shown.mouse.down()
    shown.mouse.up()
    settled(shown, "#scene=1")
    shown.wait_for_function("location.hash.includes('paint=')")
    settled(shown)
    picture = draw(world.scenes()[1])
    picture[45:51, 45:51] = 0
    assert (on_canvas(shown) == picture).all()


def test_words_that_the_model_never_learnt_are_named(started):
    started.fill("[data-part=prompt]", "What color is the dinosaur's hat? 图中有几只猫？")
    settled(started)
    started.wait_for_function("document.querySelector('[data-part=unknown]').textContent")
    assert started.inner_text("[data-part=unknown]").endswith("spells: dinosaur, hat.")


PROMPTS = """async () => {
    const part = name => document.querySelector(`[data-part=${name}]`), made = [];
    const choose = async (name, value) => {
        part(name).value = value;
        part(name).dispatchEvent(new Event("input", { bubbles: true }));
        while (!SCI_LIVE.idle()) await new Promise(done => setTimeout(done));
    };
    for (const family of [...part("family").options]) {
        await choose("family", family.value);
        for (const form of [...part("form").options].map(option => option.value)) {
            await choose("form", form);
            const text = part("prompt").value;
            made.push([family.value, text, await SCI_LIVE.ask("unknown", { text })]);
        }
    }
    return made;
}"""


def test_every_question_put_together_is_in_the_models_words(started):
    made = started.evaluate(PROMPTS)
    assert len({family for family, *_ in made}) > 5 and len({text for _, text, _ in made}) > 20
    for _, prompt, unknown in made:
        assert prompt and "undefined" not in prompt and "{" not in prompt
        assert not unknown, prompt


def test_every_control_has_a_name(opened):
    names = opened().evaluate(
        """() => [...document.querySelectorAll(
            "#sci-live :is(input, select, button, textarea)")].map(
            each => each.getAttribute("aria-label") || each.labels?.[0]?.textContent
                || each.textContent)"""
    )
    assert len(names) > 30 and all(name.strip() for name in names)


def test_without_scripts_there_is_a_picture_and_a_sentence(opened):
    shown = opened(java_script_enabled=False)
    assert "needs scripts" in shown.inner_text("body")
    assert shown.locator("img").first.bounding_box()["width"] > 100


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_screen(width, opened):
    shown = opened(viewport={"width": width, "height": 844})
    assert shown.evaluate("document.documentElement.scrollWidth") <= width


def test_where_data_are_missing_the_page_says_what_to_do(window, page_file, tmp_path):
    shutil.copytree(page_file.parents[1], tmp_path / "book")
    (tmp_path / "book" / "_static" / "live" / "weights.js").unlink()
    shown = window.new_page()
    shown.goto((tmp_path / "book" / "book" / page_file.name).as_uri())
    shown.wait_for_function("() => SCI_LIVE.idle()")
    shown.click("[data-load]")
    shown.wait_for_function(
        "() => document.querySelector('[data-part=status]').textContent.includes('cannot be')"
    )
    assert "Build the book anew" in shown.inner_text("[data-part=status]")
    shown.close()
