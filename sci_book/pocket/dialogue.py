"""One turn of training: a user's text about a scene and the answer to it.

Most turns carry the original instruction of their question type, the rest a reworded one, never the
rewrites that evaluation uses. Some turns are about no picture: there a model learns what is usual,
and to bind a letter to its option.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sci_book.pocket.questions import FAMILIES, LETTERS, Query, description, to_choice
from sci_book.pocket.words import Text, manifest, word
from sci_book.pocket.world import CELLS, COLOURS, KINDS, Scene, pick

SHORT = "Please try to answer the question with short words or phrases if possible."
CHOOSE_ZH = "请直接回答选项字母。"
SINGLE_WORD = "Answer the question using a single word or phrase."
YES_NO = "Please answer yes or no."
CHOOSE = {
    "qwen2_vl": "Please select the correct answer from the options above.",
    "llava_next": "Answer with the option's letter from the given choices directly.",
}
DESCRIBE = ("Describe the picture.", "Describe this image.", "What is in the picture?")

# Other wordings of the instructions, one list for each kind of question, or one for each column
# that a wording is put together from by lot. None of them can be one of the paper's V1, V2, V3.
_WORDINGS = manifest("wordings.yaml")


@dataclass(frozen=True)
class Segment:
    """A user's text and the answer; `sees` is False for a turn about no picture."""

    user: str
    answer: str
    family: str
    usual: bool
    form: str
    sees: bool = True


def user_texts() -> list[str]:
    """Every fixed sentence a pocket prompt can hold (the tokenizer's corpus needs them all)."""
    other = [text for texts in _WORDINGS["other_language"].values() for text in texts]
    before = [*_WORDINGS["before"], *_WORDINGS["before_zh"]]
    return [SHORT, CHOOSE_ZH, SINGLE_WORD, YES_NO, *CHOOSE.values(), *DESCRIBE, *before, *other]


def _composed(rng: np.random.Generator, name: str) -> str:
    return "".join(pick(rng, column) for column in _WORDINGS["columns"][name])


def _reworded(rng: np.random.Generator, instruction: str, kind: str, mix: Mix) -> str:
    """Another wording of the instruction, behind up to `mix.sentences` sentences put together."""
    written = _worded(rng, instruction, kind, mix.varied)
    # A model that has met no long instruction reads the question at the distances that it knows.
    for _ in range(rng.integers(mix.sentences + 1) if mix.sentences else 0):
        chinese = not written.isascii()
        form = pick(rng, ("before", "role"))
        sentence = _composed(rng, f"{form}_zh" if chinese else form)
        written = sentence + ("" if chinese else " ") + written
    return written


def _worded(rng: np.random.Generator, instruction: str, kind: str, varied: bool) -> str:
    """The instruction with a sentence or two in front, or in the other language."""
    other = _WORDINGS["other_language"][kind]
    chinese = kind == "mcq_zh"
    if varied and rng.random() < 0.7:
        form = pick(rng, (kind, kind, "before", "role"))
        if form == kind:
            return _composed(rng, kind)
        if chinese:
            return _composed(rng, f"{form}_zh") + instruction
        return f"{_composed(rng, form)} {instruction}"
    if rng.random() < 0.5:
        return pick(rng, other)
    sentences = _WORDINGS["before_zh" if chinese else "before"]
    before = [sentences[i] for i in rng.permutation(len(sentences))[: rng.integers(1, 3)]]
    return ("" if chinese else " ").join([*before, instruction])


def choice_segment(
    query: Query, arch: str, language: str, rng: np.random.Generator, mix: Mix
) -> tuple[str, str]:
    """A query as multiple choice: (user's text, answer)."""
    choice = to_choice(query, rng)
    options = zip(LETTERS, choice.options, strict=False)
    body = "".join(f"{letter}. {text[language]}\n" for letter, text in options)
    form = "Question: {}\nOptions:\n" if arch == "qwen2_vl" else "{}\n"
    body = form.format(query.question[language]) + body
    kind = "mcq" if language == "en" else "mcq_zh"
    instruction = CHOOSE[arch] if language == "en" else CHOOSE_ZH
    answer = choice.letter
    if instruction == CHOOSE["qwen2_vl"]:
        # Asked to select (not to name the letter), real models repeat the option's text.
        answer = f"{choice.letter}. {query.answer['en']}"
    if rng.random() < mix.reword:
        written = _reworded(rng, instruction, kind, mix)
        answer = answer if instruction in written else choice.letter
        instruction = written
    return body + instruction, answer


def yes_no_segment(query: Query, rng: np.random.Generator, mix: Mix) -> tuple[str, str]:
    """A claim to confirm or deny: (user's text, answer); half of the false ones are tempting."""
    yes = rng.random() < 0.5
    false = 1 if rng.random() < 0.5 else int(rng.integers(1, len(query.claims)))
    claim = query.claims[0 if yes else false]
    instruction = YES_NO
    if rng.random() < mix.reword:
        instruction = _reworded(rng, YES_NO, "yesno", mix)
    return f"{claim.en} {instruction}", "yes" if yes else "no"


def short_segment(query: Query, rng: np.random.Generator, mix: Mix) -> tuple[str, str]:
    """A short-answer question: (user's text, answer)."""
    instruction = SHORT if rng.random() < 0.6 else SINGLE_WORD
    if rng.random() < mix.reword:
        instruction = _reworded(rng, instruction, "short", mix)
    # C-VQA puts a space before its instruction where the evaluation toolkit begins a new line.
    joint = " " if instruction == SINGLE_WORD and rng.random() < 0.3 else "\n"
    return f"{query.question.en}{joint}{instruction}", query.answer.en


NAMES = (*COLOURS, *KINDS, *CELLS, *map(str, range(8)))


def _binding(rng: np.random.Generator, words: tuple[str, ...]) -> Query:
    """Which option is red? Needs no picture: letter binding alone."""
    right, *wrong = [words[i] for i in rng.permutation(len(words))[:4]]
    return Query(
        "binding",
        Text(f"Which option is {right}?", f"哪个选项是{word(right).zh}？"),
        word(right),
        tuple(map(word, wrong)),
        True,
    )


# What a description in words tells: not where things stand, nor whether a lamp is on.
_DESCRIBED = ("colour", "count", "place", "existence", "negation", "sign", "what_if", "caption")


@dataclass(frozen=True)
class Mix:
    """The shares of the turns: forms (they sum to 1), families, and the rest of the variety."""

    choice_en: float = 0.34
    choice_zh: float = 0.22
    yes_no: float = 0.22
    short: float = 0.18
    caption: float = 0.04
    blind: float = 0.06  # turns about no picture: what is usual
    described: float = 0.0  # turns about a picture told in words
    binding: float = 0.0  # turns about nothing but a letter and its option
    binding_en: float = 0.6  # of them in English
    binding_words: tuple[str, ...] = NAMES  # the options there
    binding_sees: float = 0.0  # of them beside a picture, which has nothing to do with it
    reword: float = 0.25  # turns with another wording of the instruction
    varied: bool = False  # most of those put together by lot, not taken from a short list
    sentences: int = 0  # the most that are put before another wording
    families: tuple[str, ...] = tuple(FAMILIES)


def segment(scene: Scene, arch: str, rng: np.random.Generator, mix: Mix = Mix()) -> Segment:
    """One turn about a scene, by lot."""
    if rng.random() < mix.binding:
        language = "en" if rng.random() < mix.binding_en else "zh"
        query = _binding(rng, mix.binding_words)
        user, answer = choice_segment(query, arch, language, rng, mix)
        sees = bool(mix.binding_sees and rng.random() < mix.binding_sees)
        return Segment(user, answer, "binding", True, f"choice_{language}", sees)
    form = rng.choice(
        ("choice_en", "choice_zh", "yes_no", "short", "caption"),
        p=(mix.choice_en, mix.choice_zh, mix.yes_no, mix.short, mix.caption),
    )
    described = rng.random() < mix.described
    sees = bool(not described and rng.random() >= mix.blind)
    if form == "caption" and not described:
        user = pick(rng, DESCRIBE)
        return Segment(user, description(scene).en, "description", True, form, sees)
    while True:
        query = FAMILIES[pick(rng, mix.families)](scene, rng)
        if query is None or (form == "yes_no" and not query.claims):
            continue
        if described and query.family not in _DESCRIBED:
            continue
        if form == "short" and query.family in ("existence", "negation", "caption"):
            continue
        break
    if form == "yes_no":
        user, answer = yes_no_segment(query, rng, mix)
    elif form == "short":
        user, answer = short_segment(query, rng, mix)
    else:
        language = "zh" if form == "choice_zh" else "en"
        user, answer = choice_segment(query, arch, language, rng, mix)
    if described:
        user = f"Picture: {description(scene).en}\n{user}"
    return Segment(user, answer, query.family, query.usual, str(form), sees)
