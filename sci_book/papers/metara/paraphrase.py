"""The question in other words (every relation): by rule, or by a text model where one is given.

The rules keep every content word, and no other enters: they put words in another order, or set a
sentence of `FRAMES` before the question. What a text model writes is checked for what a rule can
check, and refused by name where it fails.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from sci_book.papers.metara.overlay import is_chinese
from sci_book.papers.metara.pictures import Refused
from sci_book.papers.shared.text_model import Completion, TextModel

LONGEST = 1_000  # characters of a question
MORE_WORDS = 3  # a paraphrase has at most so many times the words of its question

FRAMES = (
    "Look at the image.",
    "Look carefully at the picture.",
    "Examine the image.",
    "Here is a question about the picture.",
)
FRAMES_ZH = ("请看图。", "仔细观察图像。", "结合图像回答问题。", "请观察图片中的细节。")

# The wh-word is left where its answer would stand: (form, order of its parts).
_BE = r"(?P<be>is|are|was|were)"
_THE = r"(?:the|a|an|this|that|these|those|it|at|on|in)\b[^?,]*"
_REORDERINGS = tuple(
    (re.compile(form, re.IGNORECASE), order)
    for form, order in (
        (rf"(?P<wh>how many) (?P<what>[\w' -]+?) {_BE} there(?P<rest>[^?]*)\?",
         "there {be} {wh} {what}{rest}?"),
        (rf"(?P<wh>what|which) (?P<what>\w+) {_BE} (?P<rest>{_THE})\?",
         "{rest} {be} {wh} {what}?"),
        (rf"(?P<wh>what|where|who|when) {_BE} (?P<rest>{_THE})\?", "{rest} {be} {wh}?"),
    )
)  # fmt: skip

PROMPT = """\
Rewrite the question below with synonyms or in another order of words. Its meaning and its answer \
must stay exactly the same. Keep every number, name and quoted text. Do not answer it. \
Write the rewritten question alone, on one line, in the language of the question.
Question: {question}"""

_NEGATIONS = frozenset(("no", "not", "never", "none", "nothing", "neither", "without", "cannot",
                        "不", "没"))  # fmt: skip


Paraphraser = Callable[[Sequence[str], Sequence[int]], list[str | Refused]]
"""From questions and numbers to rewording `numbers[i]` of each question, or why there is none."""


def keep_questions(questions: Sequence[str], numbers: Sequence[int]) -> list[str | Refused]:
    """The questions as they are: the paraphrases of an identity transform."""
    return list(questions)


def by_rules(questions: Sequence[str], numbers: Sequence[int]) -> list[str | Refused]:
    """Another order of the same words where a form is known, and sentences set before it.

    `numbers` count through `rewordings`, round and round.
    """
    reworded: list[str | Refused] = []
    for question, number in zip(questions, numbers, strict=True):
        forms = rewordings(question)
        reworded.append(_not_a_question(question) or forms[number % len(forms)])
    return reworded


def by_text_model(model: TextModel) -> Paraphraser:
    """A text model asked by `PROMPT`, once for each distinct question that can be asked.

    A request that fails, and a text that cannot be the same question, are refused, never replaced
    by a rule's.
    """

    def read(question: str, completion: Completion) -> str | Refused:
        if completion.text is None:
            return Refused("no paraphrase", completion.error or "no answer")
        text = completion.text.strip()
        problem = changed(question, text)
        return text if problem is None else Refused(f"paraphrase: {problem}", text[:200])

    def rewrite(questions: Sequence[str], numbers: Sequence[int]) -> list[str | Refused]:
        reworded = {question: _not_a_question(question) for question in questions}
        usable = [question for question, refusal in reworded.items() if refusal is None]
        completions = model.complete([PROMPT.format(question=question) for question in usable])
        reworded |= zip(usable, map(read, usable, completions), strict=True)
        return [reworded[question] for question in questions]

    return rewrite


def rewordings(question: str) -> tuple[str, ...]:
    """Every rewording by rule, the reordered one first where its form is known; never none."""
    question = question.strip()
    if is_chinese(question):
        return tuple(frame + question for frame in FRAMES_ZH)
    reordered = reorder(question)
    framed = tuple(f"{frame} {question}" for frame in FRAMES)
    return framed if reordered is None else (reordered, *framed)


def reorder(question: str) -> str | None:
    """The same words in another order, or None where the question has no known form.

    "What color is the cow?" becomes "The cow is what color?".
    """
    for form, order in _REORDERINGS:
        if match := form.fullmatch(question.strip()):
            parts = match.groupdict()
            words = order.format(**{**parts, "wh": parts["wh"].lower()})
            return words[0].upper() + words[1:]
    return None


def content_words(text: str) -> Counter[str]:
    """The words of a text that are in no frame, lower-cased, counted; Chinese by characters."""
    for frame in (*FRAMES, *FRAMES_ZH):
        text = text.removeprefix(frame)
    return Counter(re.findall(r"[㐀-鿿]|[^\W㐀-鿿]+", text.lower()))


def changed(question: str, paraphrase: str) -> str | None:
    """Why a paraphrase cannot be of this question, by name; None where no rule objects."""
    if not paraphrase or "\n" in paraphrase or len(paraphrase) > LONGEST:
        return "no single line"
    if not paraphrase.endswith(("?", "？")):
        return "no question"
    if _words(question) == _words(paraphrase):
        return "unchanged"
    if is_chinese(question) != is_chinese(paraphrase):
        return "another language"
    if Counter(re.findall(r"\d+", question)) != Counter(re.findall(r"\d+", paraphrase)):
        return "numbers changed"
    quoted = re.findall(r"[\"“]([^\"”]+)[\"”]", question)
    if any(words not in paraphrase for words in quoted):
        return "quotation changed"
    if _negated(question) != _negated(paraphrase):
        return "negation changed"
    before, after = (content_words(text).total() for text in (question, paraphrase))
    if after > MORE_WORDS * max(before, 4):
        return "too long"
    return None


def _words(text: str) -> list[str]:
    """Its words in order, whatever their case and the marks between them."""
    return re.findall(r"\w+", text.casefold())


def _negated(text: str) -> bool:
    return not _NEGATIONS.isdisjoint(content_words(re.sub(r"n['’]t\b", " not", text)))


def _not_a_question(question: str) -> Refused | None:
    if not question.strip():
        return Refused("no question", "The question is empty; there is nothing to paraphrase.")
    if len(question) > LONGEST:
        return Refused("no question", f"{len(question):,} characters; at most {LONGEST:,}.")
    return None
