"""A wrong argument is one sentence that names it, the question where there is one, and what came.

Tried in a process without the type checks of the tests, as users call it.
"""

import json
import re
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from PIL import Image

PICTURE = Image.effect_noise((40, 40), 50).convert("RGB")
PROMPT = "What? Please answer yes or no."
TWO = {"images": [PICTURE] * 2, "prompts": [PROMPT] * 2}


def of(name, values, says):
    return [({name: value}, says) for value in values]


COUNT = (None, "8", 2.5, 8.0, True, [8], float("nan"), float("inf"), 1j, Decimal(8))
NUMBER = (None, "1", True, [1.0], float("nan"), float("inf"), np.bool_(True), Fraction(1, 2))
TEXT = (None, 3, b"x", ["a"], float("nan"))
GENERATE = [
    *of("model", (None, "checkpoints/x", 3), "model must be what load_model returns; got"),
    *of("method", (None, 3, ["SCI5"], replace), "method must be a Method or the name of one"),
    *of("max_new_tokens", (*COUNT, 0, -1), "max_new_tokens must be a whole number of 1 or more; "),
    *of("batch_size", (*COUNT, 0), "batch_size must be a whole number of 1 or more; got"),
    *of("workers", (*COUNT, -1), "workers must be a whole number of 0 or more; got"),
    *of("temperature", (*NUMBER, -1.0), "temperature must be 0 .greedy. or a number above it; got"),
    *of("top_k", (*COUNT[1:], 0), "top_k must be a whole number of 1 or more, or None"),
    *of("top_p", (*NUMBER[1:], 0, 1.5), "top_p must be a number in .0, 1., or None"),
    *of("seed", (*COUNT, -1, 2**64), "seed must be a whole number in .0, 2..64.; got"),
    *of("gate", (None, "no", 1), "gate must be True or False; got"),
    *of("return_logits", (None, "no", 0), "return_logits must be True or False; got"),
    *of("prefixes", ({}, "x", 2**30), "prefixes must be a PrefixCache or None; got"),
    *of("noise", (None, 3, "clampp", ["wrap"]), "Unknown noise .* use one of clamp, wrap, normal"),
    *of("engine", (None, 3, "fast"), "Unknown engine .* use one of two_phase, sequential"),
    *of(
        "images",
        (None, 3, PICTURE, {0: PICTURE, 1: PICTURE}),
        "images and prompts are lists; .* got",
    ),
    *of(
        "prompts",
        (None, 3, PROMPT, b"abc", {PROMPT, "x"}, {PROMPT: 1}),
        "images and prompts are lists; .* got",
    ),
    *of("prompts", ([PROMPT, text] for text in TEXT), "The prompt of question 1 must be a text"),
    *of(
        "images",
        ([PICTURE, thing] for thing in TEXT),
        "Question 1: Expected a PIL.Image.Image, got",
    ),
    *of(
        "rewrites",
        ("ab", 3, b"ab", 2.5, {"V1": ["a"], "V2": ["b"]}),
        "rewrites=.*; expected a list of texts for each prompt, 'strict' or None",
    ),
    *of(
        "rewrites",
        (
            [["a", "b"], wrong]
            for wrong in (
                None,
                3,
                "ab",
                [None, "a"],
                ["a", 3],
                [["a"], "b"],
                [],
                {"V1": "a", "V2": "b"},
                {"a", "b"},
            )
        ),
        "The rewrites of question 1 are .*; expected one text for each textual round .V1, V2",
    ),
]
CUSTOM = [
    *of("processor", (None, "Qwen", 3), "processor must be what made the inputs, with a tokenizer"),
    *of("method", (None, 3), "method must be a Method or the name of one"),
    *of("seed", (*COUNT[1:], -1), "seed must be a whole number in .0, 2..64.; got"),
    *of("batch_size", (*COUNT, 0), "batch_size must be a whole number of 1 or more; got"),
    *of("prefixes", ({}, "x"), "prefixes must be a PrefixCache or None; got"),
    *of("noise", (None, "clampp"), "Unknown noise"),
    *of("prompts", ([PROMPT, text] for text in TEXT), "The prompt of question 1 must be a text"),
    *of("images", ([PICTURE, None],), "Question 1: Expected a PIL.Image.Image, got NoneType"),
    *of("rewrites", ([["a", "b"], [None, "b"]],), "The rewrites of question 1 are"),
]
SCI = [
    *of("M", COUNT, "M must be a whole number of rounds; got"),
    *of("N", COUNT, "N must be a whole number of rounds; got"),
    *of("M", (9, -1), "M=.* visual rounds; there are 0 to 8"),
    *of("N", (-1,), "N=-1 textual rounds; give 0 or more"),
]
METHOD = [
    *(
        case
        for name in ("tau1", "tau2", "beta", "alpha")
        for case in of(name, NUMBER, f"{name} must be a finite number; got")
    ),
    *of("raw_margin", NUMBER[1:], "raw_margin must be a finite number; got"),
    *of("name", TEXT, "name must be a text; got"),
    *of("rule", TEXT, "rule must be a text; got"),
    *of("edit", (*TEXT, "never"), "edit must be 'every_step' or 'first_token'; got"),
    *of("clock", (*TEXT, "wall"), "clock must be 'prompt' or 'generated'; got"),
    *of("log_probs", (None, 1, "no"), "log_probs must be True or False; got"),
    *of("textual", (None, "V1", ["V1"], ("V1", None)), "textual must be a tuple of names"),
    *of("visual", (None, "black", [3], (3,)), "visual must be a tuple of names"),
]
SPELT = [
    *of(
        "name", ("SCI(tau1=2)", "SCI(M=2.5, N=1)"), "'SCI.*': M must be a whole number of rounds; g"
    ),
    *of("name", ("SCI5(beta=high)",), "'SCI5.*': beta must be a finite number; got 'high'"),
    *of("name", ("SCI5(log_probs=1)",), "'SCI5.*': log_probs must be True or False; got 1"),
]
CASES = {
    "generate": GENERATE,
    "custom_generate": CUSTOM,
    "sci": SCI,
    "Method": METHOD,
    "method": SPELT,
}


def tried():
    """What each case gives: the class of the error and its words."""
    import sci_core
    from tests import tiny

    model = tiny.load("qwen2_vl")
    usual = {
        "generate": {"model": model, **TWO},
        "custom_generate": {"processor": model.processor, **TWO},
        "sci": {"M": 1, "N": 1},
        "Method": {"name": "mine", "rule": "sci"},
        "method": {},
    }
    found = {}
    for name, cases in CASES.items():
        for number, (change, _) in enumerate(cases):
            try:
                getattr(sci_core, name)(**{**usual[name], **change})
                found[f"{name} {number}"] = ["no error", ""]
            except Exception as error:
                found[f"{name} {number}"] = [type(error).__name__, str(error)]
    own = [["a", "b"], ["c", "d"]]
    plain = sci_core.generate(model, **TWO, max_new_tokens=2)
    array = np.array(TWO["prompts"], dtype=object)
    again = sci_core.generate(model, iter(TWO["images"]), array, max_new_tokens=2)
    found["lists"] = [again == plain, len(plain) == 2]
    plain = sci_core.generate(model, **TWO, rewrites=own, max_new_tokens=2)
    for rewrites in (np.array(own, dtype=object), tuple(map(tuple, own)), map(iter, own)):
        again = sci_core.generate(model, **TWO, rewrites=rewrites, max_new_tokens=2)
        found["lists"].append(again == plain)
    return found


@pytest.fixture(scope="module")
def errors():
    script = "import json; from tests.test_arguments import tried; print(json.dumps(tried()))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", CASES)
def test_a_wrong_argument_is_one_sentence_that_names_it(name, errors):
    for number, (change, says) in enumerate(CASES[name]):
        kind, said = errors[f"{name} {number}"]
        assert kind in ("TypeError", "ValueError"), (change, kind, said)
        assert re.match(says, said), (change, said)
        assert "\n" not in said


def test_numbers_of_numpy_are_numbers():
    """They come from frames and sweeps, and a stamp of them must be written as JSON."""
    from sci_core import SCI5, Method, generate, sci
    from tests import tiny

    model = tiny.load("qwen2_vl", "float64")
    one = {"temperature": 0.75, "top_k": 20, "top_p": 0.5, "seed": 3, "max_new_tokens": 4}
    plain = generate(model, **TWO, method=SCI5, **one, batch_size=2, workers=0)
    for whole, number in ((np.int64, np.float64), (np.int32, np.float32), (np.uint8, np.float16)):
        given = {k: number(v) if isinstance(v, float) else whole(v) for k, v in one.items()}
        counts = {"batch_size": whole(2), "workers": whole(0)}
        assert generate(model, **TWO, method=SCI5, **given, **counts) == plain
        assert sci(whole(2), whole(2)) == SCI5
        assert repr(sci(whole(3), whole(1))) == repr(sci(3, 1))
        method = replace(SCI5, tau1=number(2), beta=number(0.5), raw_margin=whole(3))
        assert method == Method(**{**vars(SCI5), "beta": 0.5, "raw_margin": 3})
        assert json.loads(json.dumps(vars(method)))["beta"] == 0.5


def test_lists_may_be_any_that_hold_one_for_each_question(errors):
    """Of the questions, and of the texts that reword them."""
    assert errors["lists"] == [True] * 5
