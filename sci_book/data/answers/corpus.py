"""A corpus of answers whose meaning is known, and how a set of rules reads it.

A corpus is one YAML file of kinds of answers (`data_manifests/answers/kinds.yaml`). A kind has a
name, a question type, a language, templates, and the answer that a careful person reads from all of
them, `unknown` where none is clearly given. `cases` fills the templates:

========  =======================================  =================================================
type      filled with                              placeholders
========  =======================================  =================================================
`mcq`     every option of every option set         `{letter}` `{lower}` `{wide}` (full width)
          (`sets`; else all of the language)       `{text}` `{Text}`; of the next option `{other}`
                                                   `{other_text}`, of the one after it `{third}`
                                                   `{third_text}`
`yesno`   both words of every pair (`pairs`;       `{yes}` `{Yes}` `{YES}` the word, `{no}` `{No}`
          else yes and no) × every thing           the opposite word; `{thing}`
`number`  every number, with the things in turn    `{n}` `{word}` `{Word}` `{zh}`; of the next
                                                   number `{other}` `{other_word}` `{other_zh}`;
                                                   `{thing}`
========  =======================================  =================================================

Every other brace stays as it is. A template with the same text and options counts once in a kind,
and `score` lets all kinds weigh equally, however many texts they have.

    python -m sci_book.data.answers.corpus [FILE …]

prints how this book's rules and the toolkit's read one or more corpora. Without a file it reads all
of `data_manifests/answers/` and writes the two tables of the page on answers (`tables`).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from sci_book.data.answers.rules import RULES, Rule, parse, rule_of
from sci_book.files import read_yaml
from sci_book.resources import MANIFESTS, ROOT

CORPORA = MANIFESTS / "answers"
CORPUS = CORPORA / "kinds.yaml"
PAGE_TABLES = {name: ROOT / "book" / f"answers_{name}.csv" for name in ("counts", "worst")}
TYPES = ("mcq", "yesno", "number")
OUTCOMES = ("right", "unknown", "wrong")
Reader = Callable[[str, str, Mapping[str, str]], str | None]
"""From a question type, a text and its options to the answer; None is unknown."""

_FULL_WIDTH = ord("Ａ") - ord("A")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_YES_NO = ("yes", "no")


@dataclass(frozen=True)
class Case:
    """One text of a corpus and the answer it is meant to give; None is unknown."""

    kind: str
    question_type: str
    language: str
    text: str
    intended: str | None
    options: Mapping[str, str] = field(default_factory=dict)


def cases(path: str | Path = CORPUS) -> list[Case]:
    """Every text of a corpus, kind by kind.

    Raises:
        ValueError: for a kind of another question type, of no text, or with a name used before.
    """
    corpus = read_yaml(Path(path))
    expanded: dict[str, dict[Any, Case]] = {}
    for kind in corpus["kinds"]:
        name, question_type = kind["name"], kind["type"]
        if question_type not in TYPES or name in expanded:
            raise ValueError(
                f"{path}: kind {name!r} of type {question_type!r}; expected a name of its own and "
                f"one of the types {', '.join(TYPES)}."
            )
        texts = expanded[name] = {}
        for template, (values, options) in product(kind["templates"], _fillings(kind, corpus)):
            text, answer = _fill(template, values), _fill(str(kind["answer"]), values)
            intended = None if answer == "unknown" else values.get(f"meaning of {answer}", answer)
            case = Case(name, question_type, kind["language"], text, intended, options)
            texts[text, tuple(options.items())] = case
        if not texts:
            raise ValueError(f"{path}: kind {name!r} has no text; give it a template and a set.")
    return [case for texts in expanded.values() for case in texts.values()]


def score(cases: Iterable[Case], read: Reader = parse) -> pd.DataFrame:
    """How many texts of each kind are read right, not at all, and wrong.

    An intended answer that is given, and an unknown that is intended, are right; unknown where an
    answer is intended is unknown; any other answer is wrong. One line a kind: `type`, `language`,
    `texts` and the three counts.
    """
    lines = [(case.kind, case.question_type, case.language, _outcome(case, read)) for case in cases]
    frame = pd.DataFrame(lines, columns=["kind", "type", "language", "outcome"])
    counts = frame.groupby(["kind", "type", "language"], sort=False)["outcome"].value_counts()
    counts = counts.unstack(fill_value=0).reindex(columns=list(OUTCOMES), fill_value=0)
    counts.insert(0, "texts", counts.sum(axis=1))
    return counts.rename_axis(columns=None).reset_index()


def shares(scored: pd.DataFrame) -> pd.DataFrame:
    """Percent right, unknown and wrong by question type and over all, kinds weighing equally."""
    names = [*(name for name in TYPES if name in set(scored["type"])), "all"]
    lines = []
    for name in names:
        kinds = scored if name == "all" else scored[scored["type"] == name]
        mean = kinds[list(OUTCOMES)].div(kinds["texts"], axis=0).mean() * 100
        counts = {"kinds": len(kinds), "texts": int(kinds["texts"].sum())}
        lines.append({"type": name, **counts, **mean.round(2).to_dict()})
    return pd.DataFrame(lines)


def worst(scored: pd.DataFrame, count: int = 15) -> pd.DataFrame:
    """The kinds with most wrong, then with least right, of those with anything not right."""
    part = scored[list(OUTCOMES)].div(scored["texts"], axis=0)
    order = part.sort_values(["wrong", "right"], ascending=[False, True], kind="stable").index
    return scored.loc[[kind for kind in order if part["right"][kind] < 1][:count]]


def _outcome(case: Case, read: Reader) -> str:
    answer = read(case.question_type, case.text, case.options)
    if answer == case.intended:
        return "right"
    return "unknown" if answer is None else "wrong"


def _fill(template: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), template)


def _fillings(
    kind: Mapping[str, Any], corpus: Mapping[str, Any]
) -> list[tuple[dict[str, str], Mapping[str, str]]]:
    """What each template of a kind is filled with, and the options it is read beside."""
    if kind["type"] == "mcq":
        sets = corpus["option_sets"]
        names = kind.get("sets") or [
            name for name, option_set in sets.items() if option_set["language"] == kind["language"]
        ]
        every = [sets[name]["options"] for name in names]
        return [
            (_letters(options, place), options)
            for options in every
            for place in range(len(options))
        ]
    things = corpus["things"][kind["language"]]
    if kind["type"] == "yesno":
        pairs = kind.get("pairs", [_YES_NO])
        return [
            ({**_words(pair, place), "thing": thing}, {})
            for pair, place, thing in product(pairs, range(2), things)
        ]
    numbers = corpus["numbers"]
    return [
        ({**_numbers(numbers, place), "thing": things[place % len(things)]}, {})
        for place in range(len(numbers))
    ]


def _letters(options: Mapping[str, str], place: int) -> dict[str, str]:
    letters = list(options)
    letter, other, third = (letters[(place + step) % len(letters)] for step in range(3))
    text = options[letter]
    return {
        "letter": letter,
        "lower": letter.lower(),
        "wide": chr(ord(letter) + _FULL_WIDTH),
        "text": text,
        "Text": text[:1].upper() + text[1:],
        "other": other,
        "other_text": options[other],
        "third": third,
        "third_text": options[third],
    }


def _words(pair: Sequence[str], place: int) -> dict[str, str]:
    yes, no = pair[place], pair[1 - place]
    return {
        "yes": yes,
        "Yes": yes.capitalize(),
        "YES": yes.upper(),
        "no": no,
        "No": no.capitalize(),
        f"meaning of {yes}": _YES_NO[place],
        f"meaning of {no}": _YES_NO[1 - place],
    }


def _numbers(numbers: Sequence[Mapping[str, str]], place: int) -> dict[str, str]:
    this, other = numbers[place], numbers[(place + 1) % len(numbers)]
    return {
        **this,
        "Word": this["word"].capitalize(),
        "other": other["n"],
        "other_word": other["word"],
        "other_zh": other["zh"],
    }


def rule_sets() -> dict[str, dict[str, Rule]]:
    """What is compared, by name: this book's rules by question type, then the toolkit's letters."""
    own = {question_type: rule_of(question_type) for question_type in TYPES}
    sets = {"this book's": own}
    for rule in RULES.values():
        if rule.name.startswith("vlmevalkit"):
            sets[f"toolkit {rule.version}"] = {rule.question_type: rule}
    return sets


def tables(paths: Iterable[Path], count: int = 3) -> dict[str, pd.DataFrame]:
    """Two tables on some corpora: shares by rule set and type, and each rule set's worst kinds."""
    counts, kinds = [], []
    for path in paths:
        every = cases(path)
        for name, rules in rule_sets().items():
            scored = score(
                [case for case in every if case.question_type in rules],
                lambda kind, text, options, rules=rules: rules[kind].read(text, options),
            )
            part = shares(scored) if len(rules) > 1 else shares(scored).iloc[:1]
            counts.append(part.assign(corpus=path.stem, rules=name))
            kinds.append(worst(scored, count).assign(corpus=path.stem, rules=name))
    columns = ["corpus", "rules"]
    frames = {"counts": pd.concat(counts), "worst": pd.concat(kinds)}
    return {
        name: table[[*columns, *(column for column in table.columns if column not in columns)]]
        for name, table in frames.items()
    }


def main(paths: Sequence[str] = ()) -> None:
    """Print the tables of some corpora; without one, write those of the page."""
    made = tables(map(Path, paths) if paths else sorted(CORPORA.glob("*.yaml")), 40 if paths else 3)
    for name, table in made.items():
        if not paths:
            table.to_csv(PAGE_TABLES[name], index=False, lineterminator="\n")
        print(table.to_string(index=False))


if __name__ == "__main__":
    main(sys.argv[1:])
