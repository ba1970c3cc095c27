"""Which objects a description names, for CHAIR (Rohrbach et al., 2018, section 3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from sci_book.data.manifests import read_yaml
from sci_book.data.rows import DatasetError

MOST_NAMES = 5_000
NOTHING = "nothing"
"""The name under which a list of objects keeps phrases that name none of them: "toilet paper"."""

_CJK = re.compile(r"[\u3400-\u9fff]")


class Objects:
    """The objects that a data set knows, each with the words that name it.

    Args:
        words: by object, its other names; singular forms, of which the English plurals are known.
            Under `NOTHING` stand phrases that hold such a word and mean something else.
    """

    def __init__(self, words: Mapping[str, Sequence[str]]):
        named = {
            form: name
            for name, others in words.items()
            for word in (others if name == NOTHING else (name, *others))
            for form in _forms(word)
        }
        named |= {form: name for name in words if name != NOTHING for form in [_tidy(name)]}
        self._named = named
        # The longest first: a hot dog is no dog.
        alternatives = "|".join(map(_pattern, sorted(named, key=len, reverse=True)))
        self._any = re.compile(alternatives or r"(?!)")

    def named_in(self, text: str) -> list[str]:
        """Every mention of an object, by the object's name, in the order of the text."""
        found = (self._named[match[0]] for match in self._any.finditer(_tidy(text)))
        return [name for name in found if name != NOTHING]


def objects_of(truths: Iterable[str]) -> Objects:
    """The objects that a data set's own truths list, between commas, semicolons or strokes."""
    names = {name.strip() for truth in truths for name in re.split(r"[,;|\n]", truth)}
    return Objects({name: () for name in sorted(names - {""})})


def read_objects(path: Path) -> dict[str, list[str]]:
    """A YAML file of objects, `name: [other names]` a line, as `Objects` takes it.

    Raises:
        DatasetError: for anything else; one sentence.
    """
    words = {name: others or [] for name, others in read_yaml(path).items()}
    for name, others in words.items():
        texts = [name, *others] if isinstance(others, list) else [None]
        if not all(isinstance(text, str) and text.strip() for text in texts):
            raise DatasetError(
                f"{path}: {name!r} has {others!r}; expected the name of an object and a list of "
                "its other names, such as `person: [man, woman]`, or `person: []`. Quote yes, no, "
                "on, off and numbers."
            )
    if sum(1 + len(others) for others in words.values()) > MOST_NAMES:
        raise DatasetError(f"{path} holds more than {MOST_NAMES:,} names.")
    return words


def _tidy(text: str) -> str:
    return " ".join(text.casefold().replace("-", " ").split())


def _pattern(form: str) -> str:
    written = re.escape(form)
    return written if _CJK.search(form) else rf"\b{written}\b"


@cache
def _forms(word: str) -> tuple[str, ...]:
    """A name in singular and plural, as `_tidy` writes them."""
    import inflect  # with the first description that is read

    name = _tidy(word)
    return (name,) if _CJK.search(name) else (name, _tidy(inflect.engine().plural_noun(name)))
