"""The neuro-symbolic row: a text model writes a program, the program runs over the scene.

The detector is perfect here (the scene's own list of things), so what is measured is the program
alone: whether its writer understood the presupposition (paper, Table 6 and Figure 9). Two writers
need no model: rules that heed the presupposition, and the same rules that ignore it, the failure
the paper reports of its code models.
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
    programmed = []
    for item, completion in zip(items, programmer.complete(prompts), strict=True):
        if completion.text is None:
            programmed.append(Programmed(None, None, completion.error))
        else:
            outcome = run(completion.text, scenes[item.image])
            programmed.append(Programmed(completion.text, outcome.answer or "", outcome.error))
    return programmed


class RuleProgrammer:
    """A `TextModel` that writes programs for the pocket twin's questions by rule.

    Unless it `heeds` the presupposition, it answers as if there were none.
    """

    def __init__(self, *, heeds: bool = True):
        self.name = "rules" if heeds else "rules, presupposition ignored"
        self._heeds = heeds

    def complete(self, prompts: Sequence[str]) -> list[Completion]:
        """A program for each prompt that ends in a question; see `TextModel.complete`."""
        return [self._completion(prompt) for prompt in prompts]

    def _completion(self, prompt: str) -> Completion:
        question = prompt.rsplit("Question: ", 1)[-1].partition("\n")[0].strip()
        main, _, clause = question.rstrip("?").partition(" if ")
        program = _program(main, clause if self._heeds else "")
        return Completion(program, None if program else "no rule for this question", 0)


_UNCHANGING = {"fish": "fish", "sheep": "sheep", "buses": "bus", "bus": "bus"}
_THERE = "(?:are there|would there be)"
_GONE = r"all ([a-z]+) were removed"
_NOW = "len(find('{kind}'))"
# A question's pattern, what it asks now, the same under each presupposition, and the program. Names
# in braces are the question's groups, and numbers those of the presupposition, in the singular.
_RULES: tuple[tuple[str, str, dict[str, str], str], ...] = (
    (r"How many lamps (?:are|would be) on", "on(t)", {r"every switch were pressed": "not on(t)"},
     "return len([t for t in find('lamp') if {then}])"),
    (rf"How many things {_THERE}", "", {_GONE: " and kind(t) != '{0}'"},
     "return len([t for t in find() if True{then}])"),
    (rf"How many (?P<colour>[a-z]+) things {_THERE}", "", {_GONE: " and kind(t) != '{0}'"},
     "return len([t for t in find() if colour(t) == '{colour}'{then}])"),
    (rf"How many (?P<kind>[a-z]+) {_THERE}", _NOW, {
        r"(\d+) more [a-z]+ were added": _NOW + " + {0}",
        r"(\d+) [a-z]+ were removed": _NOW + " - {0}",
        r"the number of [a-z]+ doubled": "2 * " + _NOW,
        _GONE: "0",
        r"everything in the ([a-z]+) (row|column) were removed":
            "len([t for t in find('{kind}') if {1}(t) != '{0}'])",
        r"every ([a-z]+) were turned into an? [a-z]+": _NOW + " + len(find('{0}'))",
     }, "return {then}"),
    (r"(?:Is|Would) there (?:be )?an? (?P<kind>[a-z]+) in the picture", _NOW,
     {_GONE: "0", r"an? ([a-z]+) were added": "1"}, "return {then} > 0"),
    (r"(?:Is|Would) the lamp (?:be )?(?P<lit>on|off)", "on(t)",
     {r"its switch were pressed": "not on(t)"}, "t = find('lamp')[0]\nreturn ({then}) == {lit}"),
    (r"(?:Is|Would) the (?P<kind>[a-z]+) (?:be )?at the (?P<cell>[a-z ]+)",
     "cell(find('{kind}')[0])", {r"it were moved to the ([a-z ]+)": "'{0}'"},
     "return {then} == '{cell}'"),
    (r"(?:Is|Are|Would) the (?P<kind>[a-z]+) (?:be )?(?P<colour>[a-z]+)",
     "colour(find('{kind}')[0])", {r"(?:it|they) were painted ([a-z]+)": "'{0}'"},
     "return {then} == '{colour}'"),
)  # fmt: skip


def _program(main: str, clause: str) -> str | None:
    """The program for a question and a presupposition ("" for none); None where no rule fits."""
    for pattern, now, changes, program in _RULES:
        if question_match := re.fullmatch(pattern, main):
            names = {name: _singular(word) for name, word in question_match.groupdict().items()}
            names |= {"lit": names.get("lit") == "on"}
            for presupposition, then in ({"": now} | changes).items():
                if clause_match := re.fullmatch(presupposition, clause):
                    numbered = map(_singular, clause_match.groups())
                    return program.format(then=then.format(*numbered, **names), **names)
            return None
    return None


def _singular(noun: str) -> str:
    return _UNCHANGING.get(noun, noun.removesuffix("s"))
