"""What a pocket model is trained to read is what evaluation writes."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from sci_book.data.datasets import Row
from sci_book.data.prompts import build_prompt
from sci_book.pocket import dialogue
from sci_book.pocket.dialogue import Mix, choice_segment, segment, short_segment, yes_no_segment
from sci_book.pocket.questions import LETTERS, colour, to_choice
from sci_book.pocket.world import Lot, sample_scene
from sci_core.counterfactuals import REWRITES, rewrite

FAMILIES = ("qwen2_vl", "llava_next")


def some_query(seed):
    rng = np.random.default_rng(seed)
    scene = sample_scene(rng, Lot(0.5))
    return colour(scene, rng)


def row(kind, question, options=()):
    options = dict(zip(LETTERS, options, strict=False))
    return Row("pocket_mmstar", 0, 0, "0", kind, question, "A", "", options=options)


PLAIN = Mix(reword=0.0)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_multiple_choice_reads_the_same(family, language):
    query = some_query(5)
    user, answer = choice_segment(query, family, language, np.random.default_rng(9), PLAIN)
    choice = to_choice(query, np.random.default_rng(9))
    texts = [text[language] for text in choice.options]
    assert user == build_prompt(row("mcq", query.question[language], texts), family)
    assert answer[0] == choice.letter


@pytest.mark.parametrize("family", FAMILIES)
def test_short_and_yes_no_read_the_same(family):
    query = some_query(6)
    shorts = {short_segment(query, np.random.default_rng(k), PLAIN)[0] for k in range(40)}
    assert build_prompt(row("short", query.question.en), family) in shorts
    for k in range(10):
        user, answer = yes_no_segment(query, np.random.default_rng(k), PLAIN)
        assert user == build_prompt(row("yesno", user), family)
        assert answer == ("yes" if user.startswith(query.claims[0].en) else "no")


@pytest.mark.parametrize("family", FAMILIES)
def test_training_never_shows_an_evaluation_rewrite(family):
    """The rewrites that make a row sensitive are new to the model, as the paper's were to its."""
    rng = np.random.default_rng(0)
    shown = set()
    for _ in range(400):
        made = segment(sample_scene(rng, Lot(0.5)), family, rng, Mix(reword=1.0))
        shown.add(made.user)
    for kind in ("mcq", "yesno", "short"):
        prompt = build_prompt(row(kind, f"Why? {dialogue.YES_NO}" if kind == "yesno" else "Why?",
                                  ("a", "b") if kind == "mcq" else ()), family)  # fmt: skip
        for name in ("V1", "V2", "V3"):
            new = rewrite(prompt, name).removeprefix(prompt.split("\n")[0]).strip()
            assert not any(text.endswith(new) for text in shown)


def test_no_wording_put_together_by_lot_is_an_evaluation_rewrite():
    rewrites = {text for table in REWRITES.values() for text in table.values()}
    instructions = [*REWRITES["V1"], ""]
    for name, columns in dialogue._WORDINGS["columns"].items():
        for pieces in product(*columns):
            written = "".join(pieces)
            joint = "" if name.endswith("zh") else " "
            assert not rewrites & {written + joint + each for each in instructions}
            assert written not in rewrites
    rng = np.random.default_rng(0)
    for kind, instruction in (
        ("mcq", dialogue.CHOOSE["qwen2_vl"]), ("mcq", dialogue.CHOOSE["llava_next"]),
        ("mcq_zh", dialogue.CHOOSE_ZH), ("yesno", dialogue.YES_NO),
        ("short", dialogue.SHORT), ("short", dialogue.SINGLE_WORD),
    ):  # fmt: skip
        for mix in (Mix(varied=True), Mix(varied=True, sentences=3)):
            made = {dialogue._reworded(rng, instruction, kind, mix) for _ in range(3000)}
            assert len(made) > 500
            assert not any(text.endswith(tuple(rewrites)) for text in made)


def test_sentences_are_put_before_another_wording_and_only_there():
    mix = Mix(varied=True, sentences=3)
    for seed in range(200):
        alone, behind = (
            dialogue._reworded(np.random.default_rng(seed), dialogue.YES_NO, "yesno", each)
            for each in (replace(mix, sentences=0), mix)
        )
        assert behind.endswith(alone)


def test_forms_come_in_the_shares_asked_for():
    rng = np.random.default_rng(0)
    made = [segment(sample_scene(rng, Lot(0.5)), "qwen2_vl", rng) for _ in range(3000)]
    shares = {form: sum(m.form == form for m in made) / len(made) for form in
              ("choice_en", "choice_zh", "yes_no", "short", "caption")}  # fmt: skip
    for form, share in shares.items():
        assert abs(share - getattr(Mix(), form)) < 0.04
    assert abs(np.mean([not m.sees for m in made]) - Mix().blind) < 0.03
