"""What a text claims of the options that it mentions, and which one it settles on.

A text is cut into clauses. What a clause says of a mention (a sign, `mentions`) is one of:

==========  =====================================================  =================================
claim       what it is                                             example
==========  =====================================================  =================================
`named`     the clause calls the option the answer, or right       "the answer is B", "B fits best"
`bare`      the option is all that is said, but for a reason       "B", "So B.", "B, because …"
`denied`    the clause says that the option is wrong               "not B", "B is wrong"
`open`      asked, doubted, on a condition, or one of several      "B?", "maybe B", "B or C"
==========  =====================================================  =================================

or else `told` ("B is shown on the left"). A text settles on the one option that it names; where it
names none, on the one that stands bare. An option named in a conclusion or a correction ("so …",
"no, the answer is …") replaces those named before. Two options, an option that is also denied, and
doubt behind the answer settle nothing. What explains an answer that was given by its letter may
tell of other options ("B. A is a car, so it cannot be right").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Literal, NamedTuple

from sci_book.data.answers.cues import cue, denied, judged_wrong
from sci_book.data.answers.mentions import SIGN, has_letter, named_by

_MOST = 500  # mentions: a text with more repeats itself without end, and settles nothing
_NEAR = 120  # characters on either side of a mention that are looked at
_VERDICT = re.compile(  # a list of options judged one by one: "A. red - correct", "| A | yes |"
    rf"({SIGN})(?:\.{{0,2}}[)\]]? ?[-–—:(|] ?(correct|incorrect|right|wrong|true|false"
    r"|(?<=\| )(?:yes|no)|正确|错误)|[.。]{0,2}[ :](正确|错误))(?=[)\s|.。,;]*$)",
    re.IGNORECASE | re.MULTILINE,
)
_RIGHT = frozenset(("correct", "right", "true", "yes", "正确"))
_NOUN = re.compile(" [a-z]{2,20}")
_ENDED = re.compile(r"[.!?;:。！？；：]\W*$")  # a clause behind which an answer may stand bare
_SHARE = re.compile(r"[ :=-]{1,3}\d+(?:\.\d+)? ?%")  # "B: 60%, C: 40%"
_ASKED = re.compile(r"[^\n.。]*(?:\?|吗)\s*$")
_OPENING = re.compile(r"[(\[{\"'“‘「【«*<\s-]*")
_MARKED_OFF = re.compile(r"[)\]}\"'”」】*]*[.,:;)\]、。]")


class Claim(NamedTuple):
    """What is said of some options, and whether it replaces what was said before."""

    kind: Literal["named", "bare", "asserted", "denied", "open", "told", "mentioned"]
    names: set[str]
    replaces: bool = False


class _Mention(NamedTuple):
    """Mentions that stand together, with what surrounds them.

    before, after   the words of the clause on either side
    rest            all that follows in the text
    opens           whether nothing stands before them
    begins          whether what stands before their clause has ended: a letter may stand bare
    introduced      whether their clause is the first, a conclusion, or behind a cue: a text may
    """

    signs: str
    before: str
    after: str
    rest: str
    opens: bool
    begins: bool
    introduced: bool


def settled(text: str, names: Iterable[str], *, any_reason: bool = False) -> str | None:
    """The name that a marked text settles on, or `None`.

    Args:
        text: a text in lines, with a sign for each mention.
        names: what the signs stand for.
        any_reason: whether any words may follow an answer that opens the text ("Yes it is"), not
            only a mark or a reason.
    """
    names = list(names)
    if sum(1 for _ in islice(cue("group").finditer(text), _MOST + 1)) > _MOST:
        return None
    by_kind: dict[str, set[str]] = {
        kind: set() for kind in ("named", "bare", "asserted", "denied", "told", "mentioned")
    }
    in_doubt = False
    for claim in _claims(text, names, any_reason):
        if claim.kind == "open":
            in_doubt = True
            continue
        if claim.replaces and claim.kind in ("named", "bare"):
            by_kind[claim.kind] = set()
        if claim.kind == "named" or (claim.replaces and claim.kind == "bare"):
            in_doubt = False
        by_kind[claim.kind] |= claim.names
    # Beside an option that is named, others may be told of; beside one that stands bare, none by
    # its letter; beside one that a sentence asserts, none at all.
    answers = by_kind["named"] or (by_kind["bare"] | by_kind["told"] if by_kind["bare"] else set())
    if not answers and not by_kind["denied"]:
        others = by_kind["told"] | by_kind["mentioned"]
        answers = by_kind["asserted"] | others if by_kind["asserted"] else set()
    if len(answers) != 1 or in_doubt or answers & by_kind["denied"]:
        return None
    return answers.pop()


def _claims(text: str, names: list[str], any_reason: bool) -> Iterator[Claim]:
    text = _VERDICT.sub(
        lambda match: (
            f"{match[1]} is {'correct' if match[match.lastindex].lower() in _RIGHT else 'wrong'}."
        ),
        text,
    )
    text = cue("and_not").sub(r"\1", cue("not_but").sub("", cue("no_doubt").sub("surely", text)))
    analysed = cue("analysis").match(text) is not None
    corrected, kind = False, "told"
    answered = explained = False  # by a letter; under a heading such as "Explanation:"
    ended, announced, place = True, True, 0
    for clause in filter(str.strip, cue("clauses").split(text)):
        start = text.index(clause, place)
        place = start + len(clause)
        corrects = cue("retraction").match(clause)
        concludes = cue("conclusion").match(clause)
        replaces = corrected or corrects is not None or concludes is not None
        analysed = analysed and not replaces
        taken_back = corrected or corrects is not None
        explained = not taken_back and (explained or cue("heading").match(clause) is not None)
        introduced = announced or replaces
        begins = ended or introduced
        announced = cue("cue").search(clause[-_NEAR:]) is not None
        ended = _ENDED.search(clause) is not None
        set_aside = len(clause.partition(",")[0]) if cue("first_thought").match(clause) else 0
        # What is taken back by a clause of its own is replaced by the next that names an option.
        corrected = (corrected or corrects is not None) and not cue("group").search(clause)
        if corrects or judged_wrong(clause.strip()):
            yield Claim("open", set())
        asked = cue("condition").match(clause) or _ASKED.match(clause)
        for group in cue("group").finditer(clause, set_aside):
            end = start + group.end()
            mention = _Mention(
                signs=group[0],
                before=clause[: group.start()][-_NEAR:],
                after=clause[group.end() :][:_NEAR],
                rest=text[end : end + _NEAR],
                opens=_OPENING.fullmatch(text, 0, start + group.start()) is not None,
                begins=begins,
                introduced=introduced,
            )
            if not cue("as_before").search(mention.before):
                kind = _kind(mention, any_reason)
            if kind == "bare" and analysed:
                kind = "told"
            named = named_by(group[0], names)
            if kind in ("named", "bare") and (asked or len(named) > 1):
                kind = "open"
            if kind == "bare":
                ended = True
                kind = "named" if corrects else kind
            # A sentence asserts an option where it is the only one, and said once.
            if kind == "asserted" and len(re.findall(SIGN, text)) > 1:
                kind = "mentioned"
            if kind == "told" and not has_letter(group[0]):
                kind = "mentioned"
            letter = has_letter(group[0])
            behind = answered and not taken_back
            if behind and _explains(kind, mention, concludes=replaces, headed=explained):
                kind = "mentioned"
            answered |= letter and (kind == "named" or (kind == "bare" and mention.opens))
            yield Claim(kind, named, replaces)


def _explains(kind: str, mention: _Mention, *, concludes: bool, headed: bool) -> bool:
    """Whether a mention behind an answer by its letter says no more than why: "B. A is a car".

    What is named by its text alone gives way to the letter, unless it concludes.
    """
    if kind in ("denied", "mentioned") or cue("as_well").match(mention.after):
        return False
    if not has_letter(mention.signs):
        return headed or not concludes
    if kind == "named":
        return cue("only_called").fullmatch(mention.before) is not None
    told_of = kind == "told" and cue("is_told_of").match(mention.after)
    return headed or bool(told_of) or cue("told_before").search(mention.before) is not None


def _kind(mention: _Mention, any_reason: bool) -> str:
    """What the words around a mention make of it."""
    before, after = mention.before, mention.after
    if cue("looked_at").search(before):
        return "told"
    if cue("doubt").search(before) or cue("unsure").match(mention.rest) or _SHARE.match(after):
        return "open"
    letter = has_letter(mention.signs)
    if mention.opens and letter and _MARKED_OFF.match(after):
        # "(B) does not look blue" explains; "option B does not fit" denies.
        return "denied" if judged_wrong(after) else "bare"
    if cue("excluded").search(before) or denied(before, after):
        return "denied"
    if cue("right").match(after):
        return "named"
    closed = cue("closed").match(after) is not None
    if closed and cue("cue").search(before.rstrip("([{\"'“‘「【«*< ")):
        return "named"
    if letter:
        ends = cue("ended_letter").match(mention.rest) is not None
    else:
        ends = (
            len(mention.signs) == 1
            and mention.introduced
            and cue("ended_text").match(mention.rest) is not None
        )
    ends = ends or (any_reason and mention.opens)
    if ends and mention.begins and cue("bare").fullmatch(before):
        return "bare"
    if not letter and cue("asserted").match(before):
        counted = _NOUN.match(after) if cue("counted").match(before) else None
        if cue("ended_sentence").match(after) or (
            counted and cue("ended_sentence").match(after, counted.end())
        ):
            return "asserted"
    if not letter and mention.opens and len(mention.signs) == 1 and cue("is_the").match(after):
        return "asserted"
    return "told"
