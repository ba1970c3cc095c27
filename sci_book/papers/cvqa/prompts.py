"""The prompts of C-VQA around a question (paper, section 4; public code)."""

from __future__ import annotations

from typing import Literal

from sci_book.papers.cvqa.questions import Form

SUFFIX = " Answer the question using a single word or phrase."
STEP_BY_STEP = "Let's think step by step:"

BY_FORM: dict[Form, str] = {
    "number": SUFFIX,
    "boolean": " Please answer yes or no.",
    "letter": " Answer with the option's letter from the given choices directly.",
}

Style = Literal["suffix", "step_by_step", "short_answer"]


def prompt(query: str, style: Style) -> str:
    """A question as a model is asked it.

    suffix        the question, then the instruction to answer with a word or phrase
    step_by_step  the same, then "Let's think step by step:" (Table 4); the paper does not say
                  whether the instruction stays, and the rewrites of SCI are rewrites of it
    short_answer  "Question: … Short answer:", for models tuned on that form

    Raises
    ------
    ValueError : for another style.
    """
    query = query.strip()
    if style == "suffix":
        return query + SUFFIX
    if style == "step_by_step":
        return f"{query}{SUFFIX} {STEP_BY_STEP}"
    if style == "short_answer":
        return f"Question: {query} Short answer:"
    raise ValueError(f"No prompt style {style!r}; expected suffix, step_by_step or short_answer.")


def prompt_by_form(query: str, form: Form) -> str:
    """A question with the instruction for its kind of answer; a variant, not the paper's.

    A small model may have learnt "a single word or phrase" as the sign of another kind of question
    than yes or no, and answers by that. Each of these instructions has its rewrites V1, V2, V3
    (`sci_core.counterfactuals`), so that SCI can be asked with it.
    """
    return query.strip() + BY_FORM[form]
