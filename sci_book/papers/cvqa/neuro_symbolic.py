"""The neuro-symbolic row: a text model writes a program, the program runs over the scene.

The detector is perfect here (the scene's own list of things), so what is measured is the program
alone: whether the model that wrote it understood the presupposition (paper, Table 6 and Figure 9).
Two writers of programs need no model: rules that heed the presupposition, and the same rules that
ignore it, the failure the paper reports of its code models.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sci_book.data.datasets import DatasetError
from sci_book.files import json_lines
from sci_book.papers.cvqa.program import FIELDS, run
from sci_book.papers.cvqa.prompts import PROMPTS
from sci_book.papers.cvqa.questions import Item, Side
from sci_book.papers.shared.text_model import Completion, TextModel


class Programmed(NamedTuple):
    """A program and what came of it.

    `text` is the answer to score: None where the text model failed (the row is left out), "" where
    its program did (the row has no answer, and is wrong). `error` says why either is missing.
    """

    program: str | None
    text: str | None
    error: str | None


def load_scenes(path: str | Path) -> dict[str, dict]:
    """The detections of every picture, by its name.

    Raises:
        DatasetError: if the file is missing, or a line is no scene; the message names the line.
    """
    path = Path(path)
    if not path.is_file():
        raise DatasetError(f"{path} does not exist; expected the scenes, one JSON object a line.")
    scenes = {}
    for number, line in enumerate(json_lines(path.read_text(encoding="utf-8")), start=1):
        try:
            scene = json.loads(line)
            things = [{field: thing[field] for field in FIELDS} for thing in scene["things"]]
            name = scene["img_path"]
            scenes[name] = {"place": scene["place"], "light": scene["light"], "things": things}
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise DatasetError(
                f"{path}, line {number}: no scene ({type(error).__name__}); expected an object "
                f"with img_path, place, light, and things with {', '.join(FIELDS)}."
            ) from None
    return scenes


def answer_by_program(
    items: Sequence[Item], side: Side, scenes: Mapping[str, Mapping], programmer: TextModel
) -> list[Programmed]:
    """One program an item, written by `programmer` and run over the item's scene.

    Raises:
        ValueError: if an item's picture has no scene.
    """
    missing = [item.image for item in items if item.image not in scenes]
    if missing:
        raise ValueError(
            f"{len(missing)} of {len(items)} items have no scene, {missing[0]!r} first; expected "
            "one line a picture in the scenes file."
        )
    prompts = [PROMPTS["program"].replace("{question}", item.query(side)) for item in items]
    found = []
    for item, completion in zip(items, programmer.complete(prompts), strict=True):
        if completion.text is None:
            found.append(Programmed(None, None, completion.error))
        else:
            outcome = run(completion.text, scenes[item.image])
            found.append(Programmed(completion.text, outcome.answer or "", outcome.error))
    return found


class RuleProgrammer:
    """A `TextModel` that writes programs for the pocket twin's questions by rule.

    Args:
        heeds: whether it reads the presupposition; if not, it answers as if there were none.
    """

    def __init__(self, *, heeds: bool = True):
        self.name = "rules" if heeds else "rules, presupposition ignored"
        self._heeds = heeds

    def complete(self, prompts: Sequence[str]) -> list[Completion]:
        """A program for each prompt that ends in a question; see `TextModel.complete`."""
        return [self._one(prompt) for prompt in prompts]

    def _one(self, prompt: str) -> Completion:
        question = prompt.rsplit("Question: ", 1)[-1].partition("\n")[0].strip()
        main, _, clause = question.rstrip("?").partition(" if ")
        program = _program(main, clause if self._heeds else "")
        return Completion(program, None if program else "no rule for this question", 0)


_UNCHANGING = {"fish": "fish", "sheep": "sheep", "buses": "bus", "bus": "bus"}
_GONE = r"all ([a-z]+) were removed"


def _program(main: str, clause: str) -> str | None:
    """The program for a question and a presupposition ("" for none); None where no rule fits."""
    if found := re.fullmatch(r"How many lamps (?:are|would be) on", main):
        lit = _changed("on(t)", clause, {r"every switch were pressed": "not on(t)"})
        return lit and f"return len([t for t in find('lamp') if {lit}])"
    if found := re.fullmatch(r"How many ((?:[a-z]+ )?things) (?:are there|would there be)", main):
        return _count_of_things(found[1].removesuffix("things").strip(), clause)
    if found := re.fullmatch(r"How many ([a-z]+) (?:are there|would there be)", main):
        return _count_of_kind(_singular(found[1]), clause)
    if found := re.fullmatch(r"(?:Is|Would) there (?:be )?an? ([a-z]+) in the picture", main):
        many = _changed(
            f"len(find('{found[1]}'))", clause, {_GONE: "0", r"an? ([a-z]+) were added": "1"}
        )
        return many and f"return {many} > 0"
    if found := re.fullmatch(r"(?:Is|Would) the lamp (?:be )?(on|off)", main):
        lit = _changed("on(t)", clause, {r"its switch were pressed": "not on(t)"})
        return lit and f"t = find('lamp')[0]\nreturn ({lit}) == {found[1] == 'on'}"
    if found := re.fullmatch(r"(?:Is|Would) the ([a-z]+) (?:be )?at the ([a-z ]+)", main):
        where = _changed(
            f"cell(find('{found[1]}')[0])", clause, {r"it were moved to the ([a-z ]+)": "'{0}'"}
        )
        return where and f"return {where} == '{found[2]}'"
    if found := re.fullmatch(r"(?:Is|Are|Would) the ([a-z]+) (?:be )?([a-z]+)", main):
        tint = _changed(
            f"colour(find('{_singular(found[1])}')[0])", clause,
            {r"(?:it|they) were painted ([a-z]+)": "'{0}'"},
        )  # fmt: skip
        return tint and f"return {tint} == '{found[2]}'"
    return None


def _count_of_kind(kind: str, clause: str) -> str | None:
    now = f"len(find('{kind}'))"
    then = _changed(now, clause, {
        r"(\d+) more [a-z]+ were added": now + " + {0}",
        r"(\d+) [a-z]+ were removed": now + " - {0}",
        r"the number of [a-z]+ doubled": "2 * " + now,
        _GONE: "0",
        r"everything in the ([a-z]+) (row|column) were removed":
            f"len([t for t in find('{kind}') if {{1}}(t) != '{{0}}'])",
        r"every ([a-z]+) were turned into an? [a-z]+": now + " + len(find('{0}'))",
    })  # fmt: skip
    return then and f"return {then}"


def _count_of_things(colour: str, clause: str) -> str | None:
    condition = f" if colour(t) == '{colour}'" if colour else " if True"
    gone = _changed("", clause, {_GONE: "{0}"})
    if gone is None:
        return None
    if gone:
        condition += f" and kind(t) != '{_singular(gone)}'"
    return f"return len([t for t in find(){condition}])"


def _changed(plain: str, clause: str, rules: Mapping[str, str]) -> str | None:
    """The expression under a presupposition; `plain` without one, None where no rule reads it."""
    if not clause:
        return plain
    for pattern, expression in rules.items():
        if found := re.fullmatch(pattern, clause):
            return expression.format(*found.groups())
    return None


def _singular(noun: str) -> str:
    return _UNCHANGING.get(noun, noun.removesuffix("s"))
