"""Questions about a scene, in English and Chinese, with the exact answer and wrong ones.

A `Query` is one fact asked about, as a short-answer question; `to_choice` makes it multiple choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sci_book.pocket.words import (
    CHINESE,
    PLACE_PHRASE,
    Text,
    manifest,
    phrase,
    plural,
    with_article,
    word,
)
from sci_book.pocket.world import (
    CELLS,
    COLOURS,
    KINDS,
    MOST_OF_A_KIND,
    PLACES,
    SYMBOLS,
    USUAL_SYMBOL,
    Scene,
    pick,
)

LETTERS = "ABCD"
Value = str | int | Text  # a name, a symbol, a number, or words
_WORDINGS = manifest("questions.yaml")


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


def _query(
    family: str, answer: Value, wrong: Sequence[Value], usual: bool, **names: str | Text
) -> Query:
    """A query by its values, each put into words and, where the family has claims, into one.

    `names` fill the family's wordings (`questions.yaml`).
    """
    forms = _WORDINGS[family]

    def written(form: str, **more: str | Text) -> Text:
        texts = []
        for pattern, language in zip(forms[form], ("en", "zh"), strict=True):
            said = {k: v[language] if isinstance(v, Text) else v for k, v in (names | more).items()}
            texts.append(pattern.format(**said))
        return Text(*texts)

    def claim(value: Text) -> Text:
        form = "claim of one" if value.en == "1" and "claim of one" in forms else "claim"
        return written(form, value=value, a_value=with_article(value.en))

    values = [v if isinstance(v, Text) else word(str(v)) for v in (answer, *wrong)]
    claims = tuple(map(claim, values)) if "claim" in forms else ()
    return Query(family, written("question"), values[0], tuple(values[1:]), usual, claims)


def _by_habit(
    family: str,
    rng: np.random.Generator,
    possible: Iterable[Value],
    answer: Value,
    habit: Value,
    **names: str | Text,
) -> Query:
    """A query whose usual answer is `habit`, the other possible values by lot behind it."""
    wrong = _tempting(rng, possible, answer, habit)
    return _query(family, answer, wrong, answer == habit, **names)


def _kind_names(kind: str) -> dict[str, str | Text]:
    """What the wordings call the kind asked about."""
    return {"kind": word(kind), "kinds": plural(kind), "measure": CHINESE[kind][1]}


def colour(scene: Scene, rng: np.random.Generator) -> Query:
    """What color is the cow?"""
    kind = pick(rng, scene.kinds)
    verb, noun = ("are", plural(kind)) if scene.count(kind) > 1 else ("is", kind)
    names = {"kind": word(kind), "noun": noun, "verb": verb, "Verb": verb.capitalize()}
    answer, usual = scene.of(kind)[0].colour, KINDS[kind].colour
    return _by_habit("colour", rng, COLOURS, answer, usual, **names)


def count(scene: Scene, rng: np.random.Generator) -> Query:
    """How many cows are there?"""
    kind = pick(rng, scene.kinds)
    numbers, usual = range(1, MOST_OF_A_KIND + 1), KINDS[kind].count
    return _by_habit("count", rng, numbers, scene.count(kind), usual, **_kind_names(kind))


def position(scene: Scene, rng: np.random.Generator) -> Query | None:
    """Where is the cow? (kinds of which there is one)"""
    single = [kind for kind in scene.kinds if scene.count(kind) == 1]
    if not single:
        return None
    kind = pick(rng, single)
    answer, usual = CELLS[scene.of(kind)[0].cell], CELLS[KINDS[kind].cell]
    return _by_habit("position", rng, CELLS, answer, usual, kind=word(kind))


def place(scene: Scene, rng: np.random.Generator) -> Query:
    """What place is this? Usual where most kinds are at home in it."""
    homes = [p for kind in scene.kinds for p in KINDS[kind].places]
    fitting = sum(scene.place in KINDS[kind].places for kind in scene.kinds)
    # The tempting place is the one that most of the things belong to.
    expected = max(PLACES, key=homes.count) if homes else scene.place
    usual = scene.place if 2 * fitting >= len(scene.kinds) else expected
    return _by_habit("place", rng, PLACES, scene.place, usual)


def _absent(scene: Scene, rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """Kinds that are not there: those at home in the place first, then the others."""
    absent = [kind for kind in KINDS if kind not in scene.kinds]
    at_home = [kind for kind in absent if scene.place in KINDS[kind].places]
    return _shuffled(rng, at_home), _shuffled(rng, [k for k in absent if k not in at_home])


def existence(scene: Scene, rng: np.random.Generator) -> Query:
    """Which of these is in the picture? Tempting: a kind at home in the place, but absent."""
    kind = pick(rng, scene.kinds)
    at_home, abroad = _absent(scene, rng)
    usual = scene.place in KINDS[kind].places
    # Where the answer fits the place the other options do not, and the reverse.
    return _query("existence", kind, abroad + at_home if usual else at_home + abroad, usual)


def negation(scene: Scene, rng: np.random.Generator) -> Query | None:
    """Which of these is not in the picture? (scenes with at least three kinds or a claim)"""
    if len(scene.kinds) < 3:
        return None
    at_home, abroad = _absent(scene, rng)
    strangers = [kind for kind in scene.kinds if scene.place not in KINDS[kind].places]
    usual = not strangers
    # Usual: what is absent does not belong here. Otherwise it belongs, and a stranger is there.
    answer = (abroad if usual or not at_home else at_home)[0]
    others = [kind for kind in _shuffled(rng, scene.kinds) if kind not in strangers]
    return _query("negation", answer, strangers + others, usual)


def sign(scene: Scene, rng: np.random.Generator) -> Query | None:
    """What is written on the sign?"""
    if scene.sign is None:
        return None
    return _by_habit("sign", rng, SYMBOLS, scene.sign.text, USUAL_SYMBOL[scene.place])


def state(scene: Scene, rng: np.random.Generator) -> Query | None:
    """Is the lamp on or off? (two options)"""
    if "lamp" not in scene.kinds:
        return None
    answer, other = ("on", "off") if scene.of("lamp")[0].on else ("off", "on")
    lamps = "Are the lamps" if scene.count("lamp") > 1 else "Is the lamp"
    return _query("state", answer, [other], answer == "on", lamps=lamps)


def content(scene: Scene, rng: np.random.Generator) -> Query:
    """What is at the top left? Colour and kind, two words."""
    things = [thing for thing in scene.things if thing.kind != "sign"]
    thing = pick(rng, things)
    usual_colour = KINDS[thing.kind].colour

    def coloured(c: str, k: str) -> Text:
        return Text(f"{c} {k}", f"{word(c).zh}的{word(k).zh}")

    others = _shuffled(rng, [k for k in KINDS if k != thing.kind])
    colours = _shuffled(rng, [c for c in COLOURS if c not in (thing.colour, usual_colour)])
    wrong = (
        coloured(usual_colour if thing.colour != usual_colour else colours[0], thing.kind),
        coloured(KINDS[others[0]].colour, others[0]),
        coloured(thing.colour, others[1]),
        coloured(KINDS[others[2]].colour, others[2]),
    )
    answer, usual = coloured(thing.colour, thing.kind), thing.colour == usual_colour
    return _query("content", answer, wrong, usual, where=word(CELLS[thing.cell]))


def what_if(scene: Scene, rng: np.random.Generator) -> Query:
    """How many cows would there be if two more were added, or one were removed?"""
    kind = pick(rng, scene.kinds)
    now, usual = scene.count(kind), KINDS[kind].count
    step = pick(rng, (-1, 1, 2))
    zh, measure = CHINESE[kind]
    if step < 0:
        tail = Text(f" if 1 {kind} were removed", f"如果拿走1{measure}{zh}")
    else:
        noun = kind if step == 1 else plural(kind)
        tail = Text(f" if {step} more {noun} were added", f"如果再加{step}{measure}{zh}")
    numbers, names = range(MOST_OF_A_KIND + 3), _kind_names(kind)
    return _by_habit("what_if", rng, numbers, now + step, usual + step, **names, tail=tail)


def switched(scene: Scene, rng: np.random.Generator) -> Query | None:
    """Would the lamp be on if it were switched? (two options)"""
    if scene.count("lamp") != 1:
        return None
    on = not scene.of("lamp")[0].on
    answer, other = ("on", "off") if on else ("off", "on")
    # A lamp is usually on, so pressing its switch usually turns it off.
    return _query("switched", answer, [other], not on)


def caption(scene: Scene, rng: np.random.Generator) -> Query:
    """Which sentence describes the picture? One kind with its number and colour, and the place."""
    kind = pick(rng, scene.kinds)
    number, c, usual = scene.count(kind), scene.of(kind)[0].colour, KINDS[kind]

    def sentence(n: int, colour_: str, where: str) -> Text:
        thing = phrase(kind, n, colour_)
        return Text(f"{thing.en} {PLACE_PHRASE[where]}", f"{word(where).zh}里有{thing.zh}")

    other_colours = _tempting(rng, COLOURS, c, usual.colour)
    other_numbers = _tempting(rng, range(1, MOST_OF_A_KIND + 1), number, usual.count)
    other_places = _shuffled(rng, [p for p in PLACES if p != scene.place])
    wrong = (
        sentence(number, other_colours[0], scene.place),
        sentence(other_numbers[0], c, scene.place),
        sentence(number, c, other_places[0]),
    )
    as_usual = c == usual.colour and number == usual.count and scene.place in usual.places
    return _query("caption", sentence(number, c, scene.place), wrong, as_usual)


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
