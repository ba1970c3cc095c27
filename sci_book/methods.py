"""How the book shows each named method and round: what it is called, its colour, a sentence on it.

What a method computes is in `sci_core.methods`. A preset there is in tables, matrix and explorer;
without a row here it goes by its own name, in a colour that the name gives.
"""

import colorsys
import hashlib
import inspect
from collections.abc import Iterable
from dataclasses import replace
from pkgutil import resolve_name
from typing import Any, NamedTuple

from sci_core.methods import METHODS as PRESETS
from sci_core.methods import RULES, Method, Number


class Row(NamedTuple):
    """A method or a round as readers meet it.

    label     its name in heads, legends and on buttons
    colour    the same on every page
    sentence  what it is
    compared  whether tables compare it with the base, as the paper's do
    """

    label: str
    colour: str
    sentence: str
    compared: bool = False


# Baselines in cool colours, SCI in warm ones that deepen with its rounds.
_METHODS = {
    "base": Row("base", "#6b7280", "The model's own greedy answer."),
    "TIE": Row("TIE", "#56b4e9", "What the picture adds to the logits of a noisy one.", True),
    "VCD": Row("VCD", "#0072b2", "The logits, and once more what the picture adds to them.", True),
    "M3ID": Row("M3ID", "#009e73", "As VCD, with a weight that grows along the text.", True),
    "SCI3": Row("SCI3", "#f0b040", "One rewording and one dummy picture.", True),
    "SCI5": Row("SCI5", "#dd6b20", "Two rewordings and two dummy pictures.", True),
    "SCI7": Row("SCI7", "#9c2f0b", "Three rewordings and three dummy pictures.", True),
    "ICD": Row("ICD", "#155e63", "The logits, less what a confusing instruction says."),
    "VDD": Row("VDD", "#1d4ed8", "The logits, less what is said without the picture."),
    "mean(2)": Row("mean of 3", "#84cc16", "The mean log-probability over original, V1 and V2."),
    "mean(3)": Row("mean of 4", "#4d7c0f", "The mean log-probability over original, V1 to V3."),
    "SCI5-lite": Row("SCI5-lite", "#b7791f", "SCI5 with its noise on a smaller picture; ours."),
}
# Controls in greens and greys: what a gain is measured against.
CONTROLS = {
    "runner-up": Row("second choice", "#9ca3af", "The base's second choice of an answer."),
    "uniform other": Row("another answer", "#d1d5db", "Any other option, by lot."),
    "vote(2)": Row("vote of 3", "#65a30d", "What most of the original, V1 and V2 answer."),
    "vote(3)": Row("vote of 4", "#3f6212", "What most of the original and V1 to V3 answer.", True),
    "shift": Row("shifted yes", "#0d9488", "The base, with a constant added to yes."),
    "sampled": Row("sampled", "#a8a29e", "A draw from the base at temperature 1."),
    "sampled, plausible": Row(
        "sampled, constrained", "#78716c", "A draw among the tokens that the constraint leaves."
    ),
}
# The original in black, rewordings in blues, counterfactual images in purples.
ROUNDS = {
    "original": Row("original", "#111827", "The question and the picture as they are."),
    "V1": Row("V1", "#93c5fd", "The request to look at details, in front of the instruction."),
    "V2": Row("V2", "#3b82f6", "The instruction in the other language."),
    "V3": Row("V3", "#1e40af", "A smart student is addressed, in front of the instruction."),
    "black": Row("black", "#6b21a8", "A black picture of the same size."),
    "noise500": Row("noise500", "#c084fc", "The picture under noise, at step 500 of 1000."),
    "confused": Row("confused", "#0e7490", "A confusing instruction, in front of the prompt."),
    "none": Row("none", "#4338ca", "No picture at all."),
    "unk": Row("unk", "#5b21d6", "An unknown token in the picture's place."),
    "noise400": Row("noise400", "#e9b8fb", "The picture under less noise, at step 400 of 1000."),
}


def known(name: str) -> Row | None:
    """What is written of a method, a round or a control; None of any other name."""
    return _METHODS.get(name) or ROUNDS.get(name) or CONTROLS.get(name)


def colour(name: str) -> str:
    """The colour of a method or a round; one without a row has its own, which its name gives."""
    if (row_of_name := known(name)) is not None:
        return row_of_name.colour
    digest = hashlib.sha256(name.encode()).digest()
    hue, lightness, depth = (byte / 255 for byte in digest[:3])
    red, green, blue = colorsys.hls_to_rgb(hue, 0.3 + 0.25 * lightness, 0.45 + 0.4 * depth)
    return f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"


def row(name: str) -> Row:
    """The row of a preset: its own, or one that its name gives."""
    sentence = f"A method of the rule {PRESETS[name].rule}."
    return _METHODS.get(name) or Row(name, colour(name), sentence, compared=True)


METHODS = {name: row(name) for name in PRESETS}
COMPARED = tuple(name for name, each in METHODS.items() if each.compared)
"""The methods that tables compare with the base."""
COMPARED_CONTROLS = tuple(name for name, each in CONTROLS.items() if each.compared)
"""Those of the controls that the matrix sets beside them."""
SCI = tuple(name for name in COMPARED if PRESETS[name].rule == "sci")
BASELINES = tuple(name for name in COMPARED if name not in SCI)


def with_constants(method: Method, **constants: Number | None) -> Method:
    """A method with the constants that are given and that its rule reads; None leaves its own."""
    known = RULES[method.rule].constants
    given = {name: value for name, value in constants.items() if value is not None}
    return replace(method, **{name: value for name, value in given.items() if name in known})


def betas(methods: Iterable[Method], given: Number | None = None) -> str:
    """Which β some methods have, for a caption: the one given to all, or each its own."""
    if given is not None:
        return f"β of every method: {given:g}"
    own: dict[Number, list[str]] = {}
    for method in methods:
        if RULES[method.rule].equation is not None:
            own.setdefault(method.beta, []).append(method.name)
    texts = [f"{beta:g} ({', '.join(names)})" for beta, names in own.items()]
    return f"each method’s own β: {'; '.join(texts) if len(own) > 1 else f'{next(iter(own)):g}'}"


_EXPORTED = ("rule", "textual", "visual", "tau1", "tau2", "beta", "alpha")


def exported_methods() -> dict[str, dict[str, Any]]:
    """By name, a method's rule, rounds and constants, label, colour and sentence: for JSON."""
    return {
        name: {field: getattr(PRESETS[name], field) for field in _EXPORTED}
        | {"label": each.label, "colour": each.colour, "sentence": each.sentence}
        for name, each in METHODS.items()
    }


def exported_rules() -> dict[str, dict[str, Any]]:
    """What a page needs to know of equations, by name: for JSON.

    equation   its function's name; None: the model's own logits, without a constraint
    rounds     how many (textual, visual) it reads; None: any
    decides    whose logits decide what is plausible
    tc         how these are joined
    constants  those that it reads
    given      the function's other arguments, the same in all methods
    """
    return {
        name: {
            "equation": rule.equation and rule.equation.rpartition(":")[2],
            "rounds": rule.rounds,
            "decides": rule.decides,
            "tc": rule.tc,
            "constants": rule.constants,
            "given": _given(rule.equation),
        }
        for name, rule in RULES.items()
    }


def _given(equation: str | None) -> dict[str, float]:
    """By name, the arguments of an equation's function that are the same in all methods."""
    if equation is None:
        return {}
    # Not by its signature, which Sphinx rewrites when it documents the function.
    function = inspect.unwrap(resolve_name(equation))
    names, defaults = function.__code__.co_varnames, function.__defaults__ or ()
    last = function.__code__.co_argcount
    return dict(zip(names[last - len(defaults) : last], defaults, strict=True))
