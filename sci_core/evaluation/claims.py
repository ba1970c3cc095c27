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

or nothing ("B is shown on the left"). A text settles on the one option that it names; where it
names none, on the one that stands bare. An option named in a conclusion or a correction ("so …",
"no, the answer is …") replaces those named before. Two options, an option that is also denied, and
doubt behind the answer settle nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from sci_core.evaluation import cues
from sci_core.evaluation.denials import denied, judged_wrong
from sci_core.evaluation.mentions import SIGN, named_by

_NEAR = 120  # characters on either side of a mention that are looked at
_GAP = r"[)\]\"'”]?(?: ?(?:,|/|&|、|\+|和|与|及|跟|或者?|还是|以及) ?| )"
_JOIN = (
    r"(?:(?:or|and|nor|to|but(?= also)|also|maybe|perhaps|possibly|even|then|vs\.?|versus) ){0,3}"
    r"(?:(?:option|选项) ?)?[(\[\"'“]?"
)
_GROUP = re.compile(rf"{SIGN}(?:{_GAP}{_JOIN}{SIGN})*", re.IGNORECASE)
_OPTION = r"(?:option |选项)?[(\[]?"
_MEMBERS = rf"{SIGN}(?:(?:, ?| ?/ ?| (?:or|and|nor) |、|和|或){SIGN})*[)\]]?"
_NOT_BUT = re.compile(
    rf"(?:\bnot|n't be|不是|不选|并非) ?{_OPTION}{_MEMBERS}[,;]? ?"
    r"(?:but(?: rather| it is| it's)?|it's|it is|rather|(?:而是|而?应?该?选|而?应?该?是|是))"
    rf" ?(?={_OPTION}{SIGN}(?! (?:is|isn't)\b))",
    re.IGNORECASE,
)
_AND_NOT = re.compile(
    rf"(?<={SIGN})([)\]\"”.]?)[,;]? ?(?:(?:and |but )?(?:definitely |certainly )?not|rather than"
    rf"|instead of|而不是|而非|[并而]?不是|不选) ?{_OPTION}{_MEMBERS}(?=$|[\s.,;!。)])",
    re.IGNORECASE,
)
_CLAUSES = re.compile(
    r"(?<=[.!?;])\s+|(?<=[。？；!?;…])|\n+"
    r"|(?=[,;]? (?:so|therefore|hence|thus|whereas|while|but(?! also| not| no\b))\b)"
    rf"|(?=(?: and|,) {SIGN} (?:is|isn't|was)\b)|(?=,{SIGN}(?:项|选项)?(?:是|正确))"
    r"|(?=,? ?(?:所以|因此|但|故|综上|那么))",
    re.IGNORECASE,
)
_ENDED = re.compile(r"[.!?;:。！？；：]\W*$")  # a clause behind which an answer may stand bare
_SHARE = re.compile(r"[ :=-]{1,3}\d+(?:\.\d+)? ?%")  # "B: 60%, C: 40%"
_ASKED = re.compile(r"[^\n.。]*(?:\?|吗)\s*$")


class Claim(NamedTuple):
    """What is said of some options, and whether it replaces what was said before."""

    what: Literal["named", "bare", "denied", "open"]
    names: set[str]
    replaces: bool


def settled(text: str, names: Iterable[str], *, any_reason: bool = False) -> str | None:
    """The name that a marked text settles on, or `None`.

    Parameters
    ----------
    text : a text in lines, with a sign for each mention.
    names : what the signs stand for.
    any_reason : whether any words may follow a bare answer ("Yes it is"), not only a mark or a
        reason.
    """
    names = list(names)
    named: set[str] = set()
    bare: set[str] = set()
    denials: set[str] = set()
    in_doubt = False
    for claim in _claims(text, names, any_reason):
        if claim.what == "named":
            named = claim.names if claim.replaces else named | claim.names
            in_doubt = False
        elif claim.what == "bare":
            bare = claim.names if claim.replaces and not named else bare | claim.names
            in_doubt = in_doubt and not claim.replaces
        elif claim.what == "denied":
            denials |= claim.names
        else:
            in_doubt = True
    answers = named or bare
    if len(answers) != 1 or in_doubt or answers & denials:
        return None
    return answers.pop()


def _claims(text: str, names: list[str], any_reason: bool) -> Iterator[Claim]:
    text = _AND_NOT.sub(r"\1", _NOT_BUT.sub("", text))
    opens = True
    for number, clause in enumerate(filter(str.strip, _CLAUSES.split(text))):
        replaces = cues.CONCLUSION.match(clause) is not None
        begins = opens or replaces
        opens = _ENDED.search(clause) is not None or cues.CUE.search(clause[-_NEAR:]) is not None
        if cues.FIRST_THOUGHT.match(clause):
            continue
        if cues.RETRACTION.match(clause) or judged_wrong(clause.strip()):
            yield Claim("open", set(), False)
        asked = cues.CONDITION.match(clause) or _ASKED.match(clause)
        for mention in _GROUP.finditer(clause):
            before = clause[: mention.start()][-_NEAR:]
            after = clause[mention.end() :][:_NEAR]
            found = named_by(mention[0], names)
            what = _what(before, after, first=number == 0, any_reason=any_reason and number == 0)
            if what == "bare":
                if not begins:
                    continue
                opens = True
            if what and what != "denied" and (asked or len(found) > 1):
                what = "open"
            if what:
                yield Claim(what, found, replaces)


def _what(before: str, after: str, *, first: bool, any_reason: bool) -> str | None:
    """What the words around a mention in a clause make of it."""
    opens = first and not before.strip("([{\"'“‘「【*<- ")
    if opens and re.match(r"[)\]}\"'”」】*]*[.,:;)\]、。:]\s?", after) and not _SHARE.match(after):
        # "(B) does not look blue" explains; "option B does not fit" denies.
        return "denied" if judged_wrong(after) else "bare"
    if cues.DOUBT.search(before) or _SHARE.match(after):
        return "open"
    if cues.EXCLUDED.search(before) or denied(before, after):
        return "denied"
    if cues.RIGHT.match(after):
        return "named"
    closed = cues.CLOSED.match(after) is not None
    before = before.rstrip("([{\"'“‘「【*< ")
    if closed and cues.CUE.search(before):
        return "named"
    if (closed or any_reason) and cues.BARE.fullmatch(before):
        return "bare"
    return None
