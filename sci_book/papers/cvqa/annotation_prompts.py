"""The prompts of the annotation chain (paper, Appendix B), as an opening, a form and examples.

The paper's zebra example ends in a wrong sum ("2-1+2=3", then "New answer:1"); here it ends in 3,
so that the model is not taught the mistake that `annotation.py` rejects.
"""

from __future__ import annotations

from typing import NamedTuple


class Example(NamedTuple):
    """One worked example; the last four lines are what a model is to write."""

    question: str
    answer: str
    step1: str
    step2: str
    new_question: str
    new_answer: str


_CHANGE = (
    "Change the original questions to new questions of unreal conditions with counterfactual "
    "presuppositions, using if clauses. Do not change the meaning of questions in new questions."
)

DIRECT = (
    "You will change some numerical questions.\n"
    "Your task is to perform the following actions:\n"
    "1 - Read the original numerical question and answer\n"
    "2 - Increase or decrease the number of items directly.\n"
    "3 - Work out how this would change the answer to the question.\n"
    "4 - Write a new question that asks how many items would there be if the number of items was "
    "increased or decreased according to the step 2.\n"
    f"{_CHANGE}\n"
    "5 - Write the new answer to the new question.\n\n"
    "Answer each initial question with the following format:\n"
    "Original question:<original question>\n"
    "Original answer:<original answer>\n"
    "Step1:Add or remove <number> <item> to the original question.\n"
    "Step2:<how the answer would change>\n"
    "New question:<new question>\n"
    "New answer:<new answer with a single number>\n"
)

BOOLEAN = (
    "You will change some questions.\n"
    "Your task is to perform the following actions:\n"
    "1 - Read the original yes/no question and answer\n"
    "2 - Flip the original answer\n"
    "3 - Work out how to make the answer true.\n"
    "4 - Write a new question that asks if the answer would be true if the action you worked out "
    "in step 3 was performed.\n"
    f"{_CHANGE}\n"
    "5 - Write the new answer to the new question.\n\n"
    "Answer each initial question with the following format:\n"
    "Original question:<original question>\n"
    "Original answer:<original answer>\n"
    "Step1:The new answer should be <yes/no>, so ...\n"
    "Step2:How to make ...:...\n"
    "New question:<new question>\n"
    "New answer:<new answer>\n"
)

POLISH = (
    "Inspect the question below and correct its grammar. Do not change its meaning, its numbers or "
    "its presupposition. Write the corrected question only.\n"
)

DIRECT_EXAMPLES = (
    Example("How many birds are there?", "3", "Add 3 birds", "The answer would be 3+3=6",
            "How many birds would there be if 3 birds came?", "6"),
    Example("How many people in the picture?", "2", "add 2 women", "The answer would be 2+2=4",
            "How many people would be in the picture if there were 2 more women?", "4"),
    Example("How many zebras are here?", "2", "1 zebra left and 2 zebras came",
            "The answer would be 2-1+2=3",
            "How many zebras would there be if 1 zebra left and 2 zebras came?", "3"),
    Example("How many bikes are outside?", "2", "double the bikes", "The answer would be 2*2=4",
            "How many bikes would there be if the number of bikes doubled?", "4"),
    Example("How many sinks?", "2", "add 2 sinks", "The answer would be 2+2=4",
            "How many sinks if two more sinks were added?", "4"),
    Example("How many oranges are there?", "2", "eat all oranges", "The answer would be 2-2=0",
            "How many oranges would there be if all oranges were eaten?", "0"),
    Example("How many animals are here?", "2", "another zebra comes", "The answer would be 2+1=3",
            "How many animals would there be if another zebra came?", "3"),
    Example("How many birds are there?", "3", "2 birds fly away", "The answer would be 3-2=1",
            "How many birds would there be if 2 birds flew away?", "1"),
)  # fmt: skip

BOOLEAN_EXAMPLES = (
    Example("Are the goggles covering her eyes?", "yes",
            "The new answer should be no, so the goggles are not covering her eyes.",
            "How to make the goggles not cover her eyes: take off the glasses.",
            "Would the goggles be covering her eyes if she took off the glasses?", "no"),
    Example("Is there a hotdog on this car?", "yes",
            "The new answer should be no, so there is no hotdog on this car.",
            "How to make there be no hotdog on this car: remove all food.",
            "Would there be a hotdog on this car if all food was removed?", "no"),
    Example("Are these vegetables cooked?", "yes",
            "The new answer should be no, so these vegetables are not cooked.",
            "How to make these vegetables not be cooked: make them raw.",
            "Would these vegetables be cooked if they were raw?", "no"),
    Example("Is he happy?", "no", "The new answer should be yes, so he is happy.",
            "How to make him happy: make him laugh.",
            "Would he be happy if he was laughing?", "yes"),
    Example("Is this woman doing something active?", "no",
            "The new answer should be yes, so she is doing something active.",
            "How to make her do something active: make her dance.",
            "Would this woman be doing something active if she was dancing?", "yes"),
    Example("Is the ground wet?", "no", "The new answer should be yes, so the ground is wet.",
            "How to make the ground wet: make it rain.",
            "Would the ground be wet if it was raining?", "yes"),
    Example("Is the sky clear?", "yes", "The new answer should be no, so the sky is not clear.",
            "How to make the sky not clear: make it cloudy.",
            "Would the sky be clear if it was cloudy?", "no"),
    Example("Is the plane flying?", "no", "The new answer should be yes, so the plane is flying.",
            "How to make the plane fly: make it take off.",
            "Would the plane be flying if it took off?", "yes"),
)  # fmt: skip


def written(example: Example) -> str:
    """What a model is to write for an example."""
    return (
        f"Step1:{example.step1}\nStep2:{example.step2}\n"
        f"New question:{example.new_question}\nNew answer:{example.new_answer}"
    )


def annotation_prompt(kind: str, question: str, answer: str) -> str:
    """Flip, presuppose and rewrite, in one prompt; `kind` is "direct" or "boolean"."""
    opening, examples = (
        (DIRECT, DIRECT_EXAMPLES) if kind == "direct" else (BOOLEAN, BOOLEAN_EXAMPLES)
    )
    shown = "".join(f"{_asked(e.question, e.answer)}{written(e)}\n-----\n" for e in examples)
    return (
        f"{opening}\nHere are some examples:\n-----\n{shown}\n"
        f"Now change the following questions step by step:\n{_asked(question, answer)}"
    )


def polish_prompt(question: str) -> str:
    """Polish: the last step, on a question alone."""
    return f"{POLISH}Question:{question}\n"


def _asked(question: str, answer: str) -> str:
    return f"Original question:{question}\nOriginal answer:{answer}\n"
