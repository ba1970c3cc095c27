"""Words of the pocket world's questions, in English and Chinese."""

from __future__ import annotations

from dataclasses import dataclass

from sci_book.files import read_yaml
from sci_book.resources import MANIFESTS


@dataclass(frozen=True)
class Text:
    """The same words in English and in Chinese."""

    en: str
    zh: str

    def __getitem__(self, language: str) -> str:
        return self.en if language == "en" else self.zh


def manifest(name: str) -> dict:
    """What a file of `data_manifests/pocket` holds."""
    return read_yaml(MANIFESTS / "pocket" / name)


_WORDS = manifest("words.yaml")
CHINESE: dict[str, str | list[str]] = _WORDS["chinese"]
"""By name; of a kind of things, also its measure word."""
PLACE_PHRASE: dict[str, str] = _WORDS["place_phrase"]


def word(name: str) -> Text:
    zh = CHINESE.get(name, name)
    return Text(name, zh if isinstance(zh, str) else zh[0])


def plural(kind: str) -> str:
    """The English plural of a kind of things."""
    return _WORDS["plural"].get(kind, kind + "s")


def with_article(noun: str) -> str:
    """The noun behind "a" or "an"."""
    return ("an " if noun[0] in "aeiou" else "a ") + noun


def phrase(kind: str, number: int, c: str) -> Text:
    """A number of things of one kind and colour."""
    zh, measure = CHINESE[kind]
    noun = kind if number == 1 else plural(kind)
    return Text(f"{number} {c} {noun}", f"{number}{measure}{word(c).zh}的{zh}")
