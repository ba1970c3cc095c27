"""The annotation chain of C-VQA-Real: flip → presuppose → rewrite → polish, over a text model.

Every item that comes out is checked by rule before it enters; what fails is counted under a named
reason. The rule cannot see the picture: of a *direct* item it works the sum out again, of a
*boolean* one it checks the flip and the form, and, as in the paper, a person must still look.
Indirect questions were written by hand in the paper and have no chain.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from sci_book.data.answers.numerals import NUMBER_WORDS
from sci_book.papers.cvqa.prompts import PROMPTS
from sci_book.papers.shared.text_model import Completion, TextModel

_LONGEST = 300  # characters of a question
_LARGEST = 10**6
_LABELS = ["Step1", "Step2", "New question", "New answer"]
_WORDS = NUMBER_WORDS[:13]  # to twelve
_STOP = frozenset(
    re.findall(
        r"\w+",
        """how many much is are was were be being been do does did will would could can the a an
        this that these those there here in on at of to it its if you see any and""",
    )
)


class Source(NamedTuple):
    """A question about a picture and its answer: a number, or "yes" or "no"."""

    question: str
    answer: str


class Annotated(NamedTuple):
    """A source with its counterfactual question and answer."""

    source: Source
    question: str
    answer: str


def annotate(
    model: TextModel, sources: Sequence[Source], kind: str
) -> tuple[list[Annotated], Counter[str]]:
    """Counterfactual questions for sources of one kind, "direct" or "boolean".

    Returns the items that passed, and how many sources gave none, by reason.

    Raises:
        ValueError: for another kind.
    """
    if kind not in ("direct", "boolean"):
        raise ValueError(
            f"There is no annotation chain for {kind!r} questions; expected direct or boolean "
            "(the paper wrote the indirect ones by hand)."
        )
    completions = model.complete([annotation_prompt(kind, *source) for source in sources])
    outcomes = [_draft(kind, *pair) for pair in zip(sources, completions, strict=True)]
    drafts = [draft for draft in outcomes if isinstance(draft, Annotated)]
    polished = model.complete([polish_prompt(draft.question) for draft in drafts])
    items = [_polish(kind, *pair) for pair in zip(drafts, polished, strict=True)]
    return items, Counter(reason for reason in outcomes if isinstance(reason, str))


def annotation_prompt(kind: str, question: str, answer: str) -> str:
    """Flip, presuppose and rewrite, in one prompt."""
    return f"{PROMPTS[kind]}Original question:{question}\nOriginal answer:{answer}\n"


def polish_prompt(question: str) -> str:
    """Polish: the last step, on a question alone."""
    return f"{PROMPTS['polish']}Question:{question}\n"


def problem(kind: str, source: Source, question: str, answer: str) -> str | None:
    """Why a counterfactual question and answer cannot enter, by name; None if they can."""
    if not re.fullmatch(r"\d{1,6}" if kind == "direct" else "yes|no", source.answer):
        return "original answer of no known kind"
    if len(question) > _LONGEST or not question.endswith("?") or "\n" in question:
        return "no question"
    if not re.search(r"\bif\b", question, re.IGNORECASE):
        return "no presupposition"
    words = _content(source.question)
    if 2 * len(words & _content(question)) < len(words):
        return "another question"
    if kind == "boolean":
        flipped = {"yes": "no", "no": "yes"}[source.answer]
        return None if answer == flipped else "answer not flipped"
    if not re.fullmatch(r"\d{1,6}", answer):
        return "answer is no number"
    then = changed(question, int(source.answer))
    if then is None:
        return "sum cannot be checked"
    if then != int(answer):
        return "wrong sum"
    return "answer unchanged" if answer == source.answer else None


def changed(question: str, now: int) -> int | None:
    """The number after a direct presupposition, worked out from its words; None if unread."""
    clause = re.split(r"\bif\b", question.lower().rstrip("?. "), maxsplit=1)[-1]
    for part in re.split(r"\band\b|,", clause):
        after = _after(part, now)
        if after is None or not 0 <= after <= _LARGEST:
            return None
        now = after
    return now


_MORE = re.compile(
    r"\b(?:more|extra|additional|another|add(?:ed)?|came|come|comes|join(?:ed)?|arrived?|"
    r"appear(?:ed)?|bought|brought|placed|put|entered|showed)\b"
)
_LESS = re.compile(
    r"\b(?:fewer|less|removed?|left|leave|leaves|gone|went|flew|flown|disappear(?:ed)?|eaten|ate|"
    r"taken|took|sold|stolen|died|walked away|ran away|driven away|drove away|thrown|fell)\b"
)
_ALL = re.compile(r"\b(?:all|every)\b")
_FACTORS = (
    (re.compile(r"\b(?:doubled?|twice)\b"), 2),
    (re.compile(r"\b(?:tripled?|three times)\b"), 3),
    (re.compile(r"\bhalved\b"), 0.5),
)


def _after(part: str, now: int) -> int | None:
    """The number after one presupposition; None where it says nothing, or two things at once."""
    numbers = [_numeral(w) for w in re.findall(r"[a-z]+|\d+", part) if _numeral(w) is not None]
    more, less = bool(_MORE.search(part)), bool(_LESS.search(part))
    factors = [factor for pattern, factor in _FACTORS if pattern.search(part)]
    if factors:
        said = "three times" in part  # a number that is the factor's own
        clear = len(factors) == 1 and not (more or less) and len(numbers) == said
        after = factors[0] * now
        return int(after) if clear and after == int(after) else None
    if more == less:
        return None
    if less and _ALL.search(part) and not numbers:
        return 0
    if not numbers and re.search(r"\b(?:another|an?)\b", part):
        numbers = [1]
    if len(numbers) != 1 or _ALL.search(part):
        return None
    return now + numbers[0] if more else now - numbers[0]


def _numeral(word: str) -> int | None:
    if word.isdigit():
        return int(word[:8])
    return _WORDS.index(word) if word in _WORDS else None


def _content(text: str) -> set[str]:
    """The words that carry a question, without their endings."""
    words = set(re.findall(r"[a-z]+", text.lower())) - _STOP
    return {re.sub(r"(?:ies|es|s|ing|ed)$", "", word) or word for word in words}


def _draft(kind: str, source: Source, completion: Completion) -> Annotated | str:
    """The item in a completion, or why there is none."""
    if completion.text is None:
        return "no completion"
    lines = [line.strip() for line in completion.text.splitlines() if line.strip()]
    if [line.partition(":")[0] for line in lines] != _LABELS:
        return "not in the form asked for"
    question, answer = (line.partition(":")[2].strip() for line in lines[2:])
    answer = answer.strip(" .").lower()
    return problem(kind, source, question, answer) or Annotated(source, question, answer)


def _polish(kind: str, draft: Annotated, completion: Completion) -> Annotated:
    """The draft with its polished question, where that one passes the same checks."""
    text = (completion.text or "").strip()
    same_numbers = re.findall(r"\d+", text) == re.findall(r"\d+", draft.question)
    if not same_numbers or problem(kind, draft.source, text, draft.answer):
        return draft
    return draft._replace(question=text)


class RuleAnnotator:
    """A `TextModel` that answers the chain's prompts by rule, for the commonest questions.

    It rewrites "How many X are there …?" and its kin, "Is there a X …?" and "Is the X Y?"; any
    other question is a failed completion. Which change it proposes depends on the question alone.
    """

    name = "rules"

    def complete(self, prompts: Sequence[str]) -> list[Completion]:
        """A completion for each prompt of the chain; see `TextModel.complete`."""
        return [self._completion(prompt) for prompt in prompts]

    def _completion(self, prompt: str) -> Completion:
        match = re.search(r"Original question:(.*)\nOriginal answer:(.*)\n\Z", prompt)
        if not match:
            question = prompt.rsplit("Question:", 1)[-1].strip()
            return Completion(question[:1].upper() + question[1:], None, 0)
        question, answer = match[1].strip(), match[2].strip()
        rule = _flipped if answer in ("yes", "no") else _counted
        parts = rule(question, answer) if len(question) <= _LONGEST else None
        if parts is None:
            return Completion(None, "no rule for this question", 0)
        lines = [f"{label}:{text}" for label, text in zip(_LABELS, parts, strict=True)]
        return Completion("\n".join(lines), None, 0)


def _counted(question: str, answer: str) -> tuple[str, str, str, str] | None:
    match = re.fullmatch(
        r"How many ([\w' -]+?) (?:(?:are|is) (there|here|[\w' -]+)|(?:can|do) you (see))"
        r"((?: [\w' -]+)?)\?",
        question,
    )
    if not match or not answer.isdecimal():
        return None
    noun, place, sees, tail = match.groups()
    verb = "would there be" if place == "there" else f"would be {place}"
    verb = f"would you {sees}" if sees else verb
    now = int(answer)
    chance = zlib.crc32(question.encode())
    number = 1 + chance % 3
    was = "was" if number == 1 else "were"
    if chance // 3 % 2 and number <= now:
        step, sum_, then = f"Remove {number}", f"{now}-{number}", now - number
        clause = f"{number} of them {was} removed"
    else:
        step, sum_, then = f"Add {number}", f"{now}+{number}", now + number
        clause = f"{number} more {was} added"
    new_question = f"How many {noun} {verb}{tail} if {clause}?"
    return step, f"The answer would be {sum_}={then}", new_question, str(then)


def _flipped(question: str, answer: str) -> tuple[str, str, str, str] | None:
    new = "no" if answer == "yes" else "yes"
    if match := re.fullmatch(r"(?:Is|Are) there ((?:an?|any) [\w' -]+)\?", question):
        main = f"Would there be {match[1]}"
        clause = "all such things were taken away" if answer == "yes" else "one were put there"
    elif match := re.fullmatch(
        r"(Is|Are) ((?:the|this|these|those) (?!an? )\w+) (\w+)\?", question
    ):
        verb, subject, predicate = match.groups()
        main = f"Would {subject} be {predicate}"
        became = "stopped being" if new == "no" else "became"
        clause = f"{'it' if verb == 'Is' else 'they'} {became} {predicate}"
    else:
        return None
    how = f"How to make this true: {clause}"
    return f"The new answer should be {new}", how, f"{main} if {clause}?", new
