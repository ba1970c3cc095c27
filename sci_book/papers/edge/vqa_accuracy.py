"""The official VQA accuracy (Antol et al., 2015; Goyal et al., 2017), as in its evaluation code.

An answer counts `min(1, agreeing humans / 3)`, averaged over the ten sets of nine humans. Before it
is compared it is brought into the form the annotators' answers have: punctuation, number words,
articles, contractions. The evaluation code's quirks are kept, for scores are compared with others':
the humans' answers lose their punctuation only where the ten differ, and nothing else ever, and
"none" becomes "0".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_PUNCTUATION = ';/[]"{}()=+\\_-><@`,?!'
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_DIGITS = {word: str(number) for number, word in enumerate(_NUMBERS)} | {"none": "0"}
_ARTICLES = {"a", "an", "the"}
_CONTRACTED = re.findall(
    r"\S+",
    """
    ain't aren't can't could've couldn't couldn't've didn't doesn't don't hadn't hadn't've hasn't
    haven't he'd he'd've he's how'd how'll how's isn't it'd it'd've it'll ma'am mightn't mightn't've
    might've mustn't must've needn't not've o'clock oughtn't 'ow's'at shan't she'd've should've
    shouldn't shouldn't've somebody'd've somebody'll somebody's someone'd someone'd've someone'll
    someone's something'd something'd've something'll that's there'd there'd've there're there's
    they'd they'd've they'll they're they've 'twas wasn't we'd've we've weren't what'll what're
    what's what've when's where'd where's where've who'd who'd've who'll who's who've why'll why're
    why's won't would've wouldn't wouldn't've y'all y'all'll y'all'd've you'd you'd've you'll you're
    you've
    """,
)
# A contraction is recognised with exactly one of its apostrophes missing.
_CONTRACTIONS = {
    word[:at] + word[at + 1 :]: word
    for word in _CONTRACTED
    for at, sign in enumerate(word)
    if sign == "'"
} | {"somebody'd": "somebodyd"}  # the evaluation code has this one the wrong way round


def vqa_accuracy(prediction: str, answers: Sequence[str]) -> float:
    """The official accuracy of one answer, in [0, 1].

    ``mean_i min(1, |{j != i : answer_j = prediction}| / 3)`` over the annotators i.

    Parameters
    ----------
    prediction : what the model wrote.
    answers : the annotators' answers, ten in VQAv2.

    Raises
    ------
    ValueError : if there is no annotator.
    """
    if not answers:
        raise ValueError("No annotator's answer is given; the VQA accuracy needs them (VQAv2: 10).")
    given = _words(_punctuation(re.sub(r"[\n\t]", " ", prediction).strip()))
    if len(set(answers)) > 1:
        answers = [_punctuation(answer) for answer in answers]
    agreeing = sum(answer == given for answer in answers)
    leave_out = [agreeing - (answer == given) for answer in answers]
    return sum(min(1.0, others / 3) for others in leave_out) / len(answers)


def _punctuation(text: str) -> str:
    """Signs vanish beside a space and in a text with a number such as 1,000; else they are spaces.

    A full stop vanishes unless a digit follows.
    """
    number = re.search(r"\d,\d", text)
    found = text
    for sign in _PUNCTUATION:
        beside_space = f"{sign} " in text or f" {sign}" in text
        found = found.replace(sign, "" if beside_space or number else " ")
    return re.sub(r"\.(?!\d)", "", found)


def _words(text: str) -> str:
    words = (_DIGITS.get(word, word) for word in text.lower().split())
    return " ".join(_CONTRACTIONS.get(word, word) for word in words if word not in _ARTICLES)
