"""The annotation chain of C-VQA-Real: flip → presuppose → rewrite → polish, over a text model.

Every item that comes out is checked by rule before it enters; what fails is kept under a named
reason and counted. The rule cannot see the picture: of a *direct* item it works the sum out again,
of a *boolean* one it checks the flip and the form (`checked` says which), and, as in the paper, a
person must still look. Indirect questions were written by hand in the paper and have no chain.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from sci_book.papers.cvqa.annotation_prompts import annotation_prompt, polish_prompt
from sci_book.papers.shared.text_model import Completion, TextModel

_LONGEST = 300  # characters of a question
_LARGEST = 10**6
_LABELS = ("Step1", "Step2", "New question", "New answer")
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
          "eleven", "twelve")  # fmt: skip
_STOP = frozenset((
    "how", "many", "much", "is", "are", "was", "were", "be", "being", "been", "do", "does", "did",
    "will", "would", "could", "can", "the", "a", "an", "this", "that", "these", "those", "there",
    "here", "in", "on", "at", "of", "to", "it", "its", "if", "you", "see", "any", "and",
))  # fmt: skip


class Source(NamedTuple):
    """A question about a picture and its answer: a number, or "yes" or "no"."""

    question: str
    answer: str


class Rejected(NamedTuple):
    """A source that gave no item: the reason's name, and what came."""

    source: Source
    reason: str
    came: str


@dataclass(frozen=True)
class Annotated:
    """A source, its counterfactual question and answer, and how far a rule could check them."""

    source: Source
    question: str
    answer: str
    presupposition: str
    polished: bool
    checked: Literal["arithmetic", "form"]


@dataclass(frozen=True)
class Annotation:
    """The items that passed, and the sources that gave none."""

    items: tuple[Annotated, ...]
    rejected: tuple[Rejected, ...]

    def reasons(self) -> Mapping[str, int]:
        """How many sources gave no item, by reason."""
        return Counter(rejected.reason for rejected in self.rejected)


def annotate(model: TextModel, sources: Sequence[Source], kind: str) -> Annotation:
    """Counterfactual questions for sources of one kind, "direct" or "boolean".

    Raises:
        ValueError: for another kind.
    """
    if kind not in ("direct", "boolean"):
        raise ValueError(
            f"There is no annotation chain for {kind!r} questions; expected direct or boolean "
            "(the paper wrote the indirect ones by hand)."
        )
    prompts = [annotation_prompt(kind, *source) for source in sources]
    drafts: list[Annotated] = []
    rejected: list[Rejected] = []
    for source, completion in zip(sources, model.complete(prompts), strict=True):
        found = _draft(kind, source, completion)
        (drafts if isinstance(found, Annotated) else rejected).append(found)
    polished = model.complete([polish_prompt(draft.question) for draft in drafts])
    items = [_polish(kind, draft, c) for draft, c in zip(drafts, polished, strict=True)]
    return Annotation(tuple(items), tuple(rejected))


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
    """The number after a direct presupposition, worked out from its words; None if unread.

    Read are so many more, added, come or joined; removed, left, gone or eaten; another; all gone;
    doubled, tripled and halved; and several of these joined by "and".
    """
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


def _draft(kind: str, source: Source, completion: Completion) -> Annotated | Rejected:
    if completion.text is None:
        return Rejected(source, "no completion", completion.error or "")
    lines = [line.strip() for line in completion.text.splitlines() if line.strip()]
    labels = [line.partition(":")[0] for line in lines]
    if labels != list(_LABELS):
        return Rejected(source, "not in the form asked for", completion.text[:200])
    step, _, question, answer = (line.partition(":")[2].strip() for line in lines)
    answer = answer.strip(" .").lower()
    reason = problem(kind, source, question, answer)
    if reason:
        return Rejected(source, reason, f"{question} {answer}"[:200])
    checked = "arithmetic" if kind == "direct" else "form"
    return Annotated(source, question, answer, step, False, checked)


def _polish(kind: str, draft: Annotated, completion: Completion) -> Annotated:
    """The draft with its polished question, where that one passes the same checks."""
    text = (completion.text or "").strip()
    same_numbers = re.findall(r"\d+", text) == re.findall(r"\d+", draft.question)
    if not same_numbers or problem(kind, draft.source, text, draft.answer):
        return draft
    return Annotated(draft.source, text, draft.answer, draft.presupposition, True, draft.checked)


class RuleAnnotator:
    """A `TextModel` that answers the chain's prompts by rule, for the commonest questions.

    It rewrites "How many X are there …?" and its kin, "Is there a X …?" and "Is the X Y?"; any
    other question is a failed completion. Which change it proposes depends on the question alone.
    """

    name = "rules"

    def complete(self, prompts: Sequence[str]) -> list[Completion]:
        """A completion for each prompt of the chain; see `TextModel.complete`."""
        return [self._one(prompt) for prompt in prompts]

    def _one(self, prompt: str) -> Completion:
        asked = re.search(r"Original question:(.*)\nOriginal answer:(.*)\n\Z", prompt)
        if not asked:
            question = prompt.rsplit("Question:", 1)[-1].strip()
            return Completion(question[:1].upper() + question[1:], None, 0)
        question, answer = asked[1].strip(), asked[2].strip()
        if len(question) > _LONGEST:
            return Completion(None, "no rule for this question", 0)
        found = _flipped(question, answer) if answer in ("yes", "no") else _counted(
            question, answer)  # fmt: skip
        if found is None:
            return Completion(None, "no rule for this question", 0)
        step1, step2, new_question, new_answer = found
        return Completion(
            f"Step1:{step1}\nStep2:{step2}\nNew question:{new_question}\nNew answer:{new_answer}",
            None, 0,
        )  # fmt: skip


def _counted(question: str, answer: str) -> tuple[str, str, str, str] | None:
    asked = re.fullmatch(
        r"How many ([\w' -]+?) (?:(?:are|is) (there|here|[\w' -]+)|(?:can|do) you (see))"
        r"((?: [\w' -]+)?)\?", question,
    )  # fmt: skip
    if not asked or not answer.isdecimal():
        return None
    noun, place, sees, tail = asked.groups()
    verb = (
        f"would you {sees}"
        if sees
        else ("would there be" if place == "there" else f"would be {place}")
    )
    now = int(answer)
    chance = zlib.crc32(question.encode())
    number = 1 + chance % 3
    if chance // 3 % 2 and number <= now:
        step, sum_, then = f"Remove {number}", f"{now}-{number}={now - number}", now - number
        clause = f"{number} of them {'was' if number == 1 else 'were'} removed"
    else:
        step, sum_, then = f"Add {number}", f"{now}+{number}={now + number}", now + number
        clause = f"{number} more {'was' if number == 1 else 'were'} added"
    return step, f"The answer would be {sum_}", (
        f"How many {noun} {verb}{tail} if {clause}?"), str(then)  # fmt: skip


def _flipped(question: str, answer: str) -> tuple[str, str, str, str] | None:
    new = "no" if answer == "yes" else "yes"
    step = f"The new answer should be {new}"
    if asked := re.fullmatch(r"(?:Is|Are) there ((?:an?|any) [\w' -]+)\?", question):
        clause = "all such things were taken away" if answer == "yes" else "one were put there"
        return step, f"How to make this true: {clause}", (
            f"Would there be {asked[1]} if {clause}?"), new  # fmt: skip
    if asked := re.fullmatch(r"(Is|Are) ((?:the|this|these|those) (?!an? )\w+) (\w+)\?", question):
        verb, subject, predicate = asked.groups()
        it = "it" if verb == "Is" else "they"
        clause = f"{it} stopped being {predicate}" if new == "no" else f"{it} became {predicate}"
        return step, f"How to make this true: {clause}", (
            f"Would {subject} be {predicate} if {clause}?"), new  # fmt: skip
    return None
