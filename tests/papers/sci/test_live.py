"""The model in the page, in a real browser: what it answers is what `sci_core.generate` answers.

It needs Chromium, which is no Python package (README).
"""

import base64
import shutil
import warnings
from dataclasses import replace

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
from tests.chromium import chromium, watched

MODEL = "pocket-qwen2vl"
PICTURES, QUESTIONS = 52, 12  # on each picture
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
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def started(browser, folder):
    """A bare page, on which the model has been started."""
    path = folder.parents[1] / "bare.html"
    script = '<script src="_static/live/page.js" data-live></script>'
    path.write_text(f'<!doctype html><meta charset="utf-8">{script}', encoding="utf-8")
    shown = browser.new_page()
    problems = watched(shown)
    shown.goto(path.as_uri())
    assert shown.evaluate("SCI_LIVE.start()")["vectors"]
    yield shown
    shown.close()
    assert not problems


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


def test_tokens_are_those_of_the_kernel_in_every_method(started, model, pairs):
    found = started.evaluate(ANSWERS, [[coded(p), *asked, False] for p, *asked in pairs])
    assert len(pairs) >= 600 and len({(p.tobytes(), prompt) for p, prompt, _ in pairs}) >= 600
    wrong = []
    for name in live.asked_methods():
        mine = [at for at, (*_, method) in enumerate(pairs) if method == name]
        images = [Image.fromarray(pairs[at][0]) for at in mine]
        with warnings.catch_warnings():  # of prompts without an instruction
            warnings.simplefilter("ignore", UserWarning)
            answers = generate(model, images, [pairs[at][1] for at in mine], METHODS[name])
        assert len(mine) > 50
        for at, answer in zip(mine, answers, strict=True):
            if (found[at][0], found[at][1]) != (list(answer.tokens), answer.text):
                wrong.append((name, pairs[at][1], found[at][1], answer.text))
    assert not wrong


@pytest.mark.parametrize("name", ["SCI7", "VDD"])
def test_logits_of_every_round_and_step_are_the_kernels(name, started, model, pairs):
    asked = pairs[::25]
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


def test_plain_loops_say_what_vectors_say(browser, folder, started, pairs):
    few = [[coded(picture), prompt, "SCI5", True] for picture, prompt, _ in pairs[::120]]
    shown = browser.new_page()
    shown.goto((folder.parents[1] / "bare.html").as_uri())
    assert not shown.evaluate("SCI_LIVE.start(false)")["vectors"]
    both = zip(shown.evaluate(ANSWERS, few), started.evaluate(ANSWERS, few), strict=True)
    for (tokens, *_, steps), (same_tokens, *_, same_steps) in both:
        assert tokens == same_tokens
        for step, same in zip(steps, same_steps, strict=True):
            assert np.abs(np.array(step) - np.array(same)).max() < CLOSE
    shown.close()
