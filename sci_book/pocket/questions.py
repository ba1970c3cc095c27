"""Questions about a scene, in English and Chinese, with the exact answer and wrong ones.

A `Query` is one fact asked about, as a short-answer question; `to_choice` makes it multiple choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sci_book.pocket.words import CHINESE, PLACE_PHRASE, Text, phrase, plural, with_article, word
from sci_book.pocket.world import (
    CELLS,
    COLOURS,
    KINDS,
    MOST_OF_A_KIND,
    PLACES,
    SYMBOLS,
    USUAL_SYMBOL,
    Scene,
)

LETTERS = "ABCD"


@dataclass(frozen=True)
class Query:
    """A fact asked about; `usual` tells whether a language prior would give its answer.

    `wrong` is in order of temptation: the usual answer first if wrong here, then the rest by lot.
    `claims` are yes/no questions: the first is true, the others are false, in the order of `wrong`.
    """

    family: str
    question: Text
    answer: Text
    wrong: tuple[Text, ...]
    usual: bool
    claims: tuple[Text, ...] = ()


def _shuffled(rng: np.random.Generator, values) -> list:
    values = list(values)
    return [values[i] for i in rng.permutation(len(values))]


def _tempting(rng: np.random.Generator, values, answer, usual) -> list:
    """The wrong values, the usual one first (if wrong), the others by lot."""
    others = _shuffled(rng, [value for value in values if value not in (answer, usual)])
    return others if usual == answer else [usual, *others]


def _pick_kind(scene: Scene, rng: np.random.Generator, *, single: bool = False) -> str | None:
    kinds = [kind for kind in scene.kinds if not single or scene.count(kind) == 1]
    return kinds[rng.integers(len(kinds))] if kinds else None


def _query(
    family: str,
    question: Text,
    answer,
    wrong: Sequence,
    usual: bool,
    claim: Callable[[Any], Text] | None = None,
) -> Query:
    """A query by its values (names, symbols or numbers), each put into words and into a claim."""
    values = (answer, *wrong)
    first, *others = (word(str(value)) for value in values)
    claims = () if claim is None else tuple(map(claim, values))
    return Query(family, question, first, tuple(others), usual, claims)


def colour(scene: Scene, rng: np.random.Generator) -> Query | None:
    """What color is the cow?"""
    kind = _pick_kind(scene, rng)
    if kind is None:
        return None
    answer, usual, zh = scene.of(kind)[0].colour, KINDS[kind].colour, word(kind).zh
    verb, noun = ("are", plural(kind)) if scene.count(kind) > 1 else ("is", kind)
    return _query(
        "colour",
        Text(f"What color {verb} the {noun}?", f"{zh}是什么颜色？"),
        answer,
        _tempting(rng, COLOURS, answer, usual),
        answer == usual,
        lambda c: Text(f"{verb.capitalize()} the {noun} {c}?", f"{zh}是{word(c).zh}的吗？"),
    )


def count(scene: Scene, rng: np.random.Generator) -> Query | None:
    """How many cows are there?"""
    kind = _pick_kind(scene, rng)
    if kind is None:
        return None
    answer, usual = scene.count(kind), KINDS[kind].count
    zh, measure = CHINESE[kind]

    def claim(n: int) -> Text:
        there = (
            f"Is there exactly {n} {kind}" if n == 1 else f"Are there exactly {n} {plural(kind)}"
        )
        return Text(f"{there}?", f"图中正好有{n}{measure}{zh}吗？")

    return _query(
        "count",
        Text(f"How many {plural(kind)} are there?", f"图中有几{measure}{zh}？"),
        answer,
        _tempting(rng, range(1, MOST_OF_A_KIND + 1), answer, usual),
        answer == usual,
        claim,
    )


def position(scene: Scene, rng: np.random.Generator) -> Query | None:
    """Where is the cow? (kinds of which there is one)"""
    kind = _pick_kind(scene, rng, single=True)
    if kind is None:
        return None
    answer, usual = CELLS[scene.of(kind)[0].cell], CELLS[KINDS[kind].cell]
    zh = word(kind).zh
    return _query(
        "position",
        Text(f"Where is the {kind}?", f"{zh}在哪里？"),
        answer,
        _tempting(rng, CELLS, answer, usual),
        answer == usual,
        lambda c: Text(f"Is the {kind} at the {c}?", f"{zh}在{word(c).zh}吗？"),
    )


def place(scene: Scene, rng: np.random.Generator) -> Query | None:
    """What place is this? Usual where most kinds are at home in it."""
    homes = [p for kind in scene.kinds for p in KINDS[kind].places]
    fitting = sum(scene.place in KINDS[kind].places for kind in scene.kinds)
    # The tempting place is the one that most of the things belong to.
    expected = max(PLACES, key=homes.count) if homes else scene.place
    usual = scene.place if 2 * fitting >= len(scene.kinds) else expected
    return _query(
        "place",
        Text("What place is this?", "这是什么地方？"),
        scene.place,
        _tempting(rng, PLACES, scene.place, usual),
        scene.place == usual,
        lambda p: Text(f"Is this place the {p}?", f"这里是{word(p).zh}吗？"),
    )


def _absent(scene: Scene, rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """Kinds that are not there: those at home in the place first, then the others."""
    absent = [kind for kind in KINDS if kind not in scene.kinds]
    at_home = [kind for kind in absent if scene.place in KINDS[kind].places]
    return _shuffled(rng, at_home), _shuffled(rng, [k for k in absent if k not in at_home])


def existence(scene: Scene, rng: np.random.Generator) -> Query | None:
    """Which of these is in the picture? Tempting: a kind at home in the place, but absent."""
    kind = _pick_kind(scene, rng)
    if kind is None:
        return None
    at_home, abroad = _absent(scene, rng)
    usual = scene.place in KINDS[kind].places
    return _query(
        "existence",
        Text("Which of these is in the picture?", "图中有哪一样？"),
        kind,
        # Where the answer fits the place the other options do not, and the reverse.
        abroad + at_home if usual else at_home + abroad,
        usual,
        lambda k: Text(f"Is there {with_article(k)} in the picture?", f"图中有{word(k).zh}吗？"),
    )


def negation(scene: Scene, rng: np.random.Generator) -> Query | None:
    """Which of these is not in the picture? (scenes with at least three kinds or a claim)"""
    if len(scene.kinds) < 3:
        return None
    at_home, abroad = _absent(scene, rng)
    strangers = [kind for kind in scene.kinds if scene.place not in KINDS[kind].places]
    usual = not strangers
    return _query(
        "negation",
        Text("Which of these is not in the picture?", "图中没有哪一样？"),
        # Usual: what is absent does not belong here. Otherwise it belongs, and a stranger is there.
        (abroad if usual or not at_home else at_home)[0],
        strangers + [kind for kind in _shuffled(rng, scene.kinds) if kind not in strangers],
        usual,
        lambda k: Text(
            f"Is it true that there is no {k} in the picture?", f"图中没有{word(k).zh}，对吗？"
        ),
    )


def sign(scene: Scene, rng: np.random.Generator) -> Query | None:
    """What is written on the sign?"""
    if scene.sign is None:
        return None
    answer, usual = scene.sign.text, USUAL_SYMBOL[scene.place]
    return _query(
        "sign",
        Text("What is written on the sign?", "牌子上写着什么？"),
        answer,
        _tempting(rng, SYMBOLS, answer, usual),
        answer == usual,
        lambda s: Text(f"Does the sign say {s}?", f"牌子上写着{s}吗？"),
    )


def state(scene: Scene, rng: np.random.Generator) -> Query | None:
    """Is the lamp on or off? (two options)"""
    if "lamp" not in scene.kinds:
        return None
    answer, other = ("on", "off") if scene.of("lamp")[0].on else ("off", "on")
    lamps = "Are the lamps" if scene.count("lamp") > 1 else "Is the lamp"
    return _query(
        "state",
        Text(f"{lamps} on or off?", "灯是开着还是关着？"),
        answer,
        [other],
        answer == "on",
        lambda s: Text(f"{lamps} switched {s}?", f"灯{word(s).zh}吗？"),
    )


def content(scene: Scene, rng: np.random.Generator) -> Query | None:
    """What is at the top left? Colour and kind, two words."""
    things = [thing for thing in scene.things if thing.kind != "sign"]
    if not things:
        return None
    thing = things[rng.integers(len(things))]
    usual_colour = KINDS[thing.kind].colour

    def phrase(c: str, k: str) -> Text:
        return Text(f"{c} {k}", f"{word(c).zh}的{word(k).zh}")

    others = _shuffled(rng, [k for k in KINDS if k != thing.kind])
    colours = _shuffled(rng, [c for c in COLOURS if c not in (thing.colour, usual_colour)])
    wrong = (
        phrase(usual_colour if thing.colour != usual_colour else colours[0], thing.kind),
        phrase(KINDS[others[0]].colour, others[0]),
        phrase(thing.colour, others[1]),
        phrase(KINDS[others[2]].colour, others[2]),
    )
    where = word(CELLS[thing.cell])
    answer = phrase(thing.colour, thing.kind)
    return Query(
        "content",
        Text(f"What is at the {where.en}?", f"{where.zh}是什么？"),
        answer,
        wrong,
        thing.colour == usual_colour,
        tuple(
            Text(f"Is there {with_article(t.en)} at the {where.en}?", f"{where.zh}是{t.zh}吗？")
            for t in (answer, *wrong)
        ),
    )


def what_if(scene: Scene, rng: np.random.Generator) -> Query | None:
    """How many cows would there be if two more were added, or one were removed?"""
    kind = _pick_kind(scene, rng)
    if kind is None:
        return None
    now, usual = scene.count(kind), KINDS[kind].count
    step = int((-1, 1, 2)[rng.integers(3)])
    zh, measure = CHINESE[kind]
    if step < 0:
        tail = Text(f" if 1 {kind} were removed", f"如果拿走1{measure}{zh}")
    else:
        noun = kind if step == 1 else plural(kind)
        tail = Text(f" if {step} more {noun} were added", f"如果再加{step}{measure}{zh}")

    def claim(n: int) -> Text:
        there = f"Would there be {n} {kind if n == 1 else plural(kind)}"
        return Text(f"{there}{tail.en}?", f"{tail.zh}，会有{n}{measure}{zh}吗？")

    return _query(
        "what_if",
        Text(
            f"How many {plural(kind)} would there be{tail.en}?",
            f"{tail.zh}，会有几{measure}{zh}？",
        ),
        now + step,
        _tempting(rng, range(0, MOST_OF_A_KIND + 3), now + step, usual + step),
        now == usual,
        claim,
    )


def switched(scene: Scene, rng: np.random.Generator) -> Query | None:
    """Would the lamp be on if it were switched? (two options)"""
    if scene.count("lamp") != 1:
        return None
    on = not scene.of("lamp")[0].on
    answer, other = ("on", "off") if on else ("off", "on")
    return _query(
        "switched",
        Text(
            "Would the lamp be on or off if its switch were pressed?",
            "如果按下开关，灯是开着还是关着？",
        ),
        answer,
        [other],
        not on,  # a lamp is usually on, so pressing its switch usually turns it off
        lambda s: Text(
            f"Would the lamp be {s} if its switch were pressed?",
            f"如果按下开关，灯会{word(s).zh}吗？",
        ),
    )


def caption(scene: Scene, rng: np.random.Generator) -> Query | None:
    """Which sentence describes the picture? One kind with its number and colour, and the place."""
    kind = _pick_kind(scene, rng)
    if kind is None:
        return None
    number, c, usual = scene.count(kind), scene.of(kind)[0].colour, KINDS[kind]

    def sentence(n: int, colour_: str, where: str) -> Text:
        thing = phrase(kind, n, colour_)
        return Text(f"{thing.en} {PLACE_PHRASE[where]}", f"{word(where).zh}里有{thing.zh}")

    other_colours = _tempting(rng, COLOURS, c, usual.colour)
    other_numbers = _tempting(rng, range(1, MOST_OF_A_KIND + 1), number, usual.count)
    other_places = _shuffled(rng, [p for p in PLACES if p != scene.place])
    return Query(
        "caption",
        Text("Which sentence describes the picture?", "哪一句描述了这张图？"),
        sentence(number, c, scene.place),
        (
            sentence(number, other_colours[0], scene.place),
            sentence(other_numbers[0], c, scene.place),
            sentence(number, c, other_places[0]),
        ),
        c == usual.colour and number == usual.count and scene.place in usual.places,
    )


def description(scene: Scene) -> Text:
    """A free caption: every kind with its number and colour, the sign, the place."""
    parts = [phrase(k, scene.count(k), scene.of(k)[0].colour) for k in scene.kinds]
    if scene.sign is not None:
        parts.append(Text(f"a sign with {scene.sign.text}", f"写着{scene.sign.text}的牌子"))
    en = [part.en for part in parts]
    joined = en[0] if len(en) == 1 else ", ".join(en[:-1]) + " and " + en[-1]
    zh = "、".join(part.zh for part in parts)
    return Text(
        f"{joined[0].upper()}{joined[1:]} {PLACE_PHRASE[scene.place]}.",
        f"{word(scene.place).zh}里有{zh}。",
    )


FAMILIES = {
    family.__name__: family
    for family in (
        colour, count, position, place, existence, negation, sign, state, content, what_if,
        switched, caption,
    )
}  # fmt: skip


@dataclass(frozen=True)
class Choice:
    """A query as multiple choice: option texts in order and the index of the right one."""

    options: tuple[Text, ...]
    right: int

    @property
    def letter(self) -> str:
        return LETTERS[self.right]


def to_choice(query: Query, rng: np.random.Generator) -> Choice:
    """Four options (or as many as there are): the answer, the most tempting wrong one, others."""
    options = [query.answer, *query.wrong[: len(LETTERS) - 1]]
    order = rng.permutation(len(options))
    return Choice(tuple(options[i] for i in order), int(np.flatnonzero(order == 0)[0]))
