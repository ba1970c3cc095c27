"""The decoding methods: frozen presets and their variants. `scoring` scores tokens by them.

The presets hold the paper's constants (section 4.2 and appendix B). A variant is a preset with a
field changed, for example ``dataclasses.replace(SCI5, beta=0.8)`` for the original data sets.
"""

import ast
from dataclasses import dataclass, fields, replace
from math import inf, log
from typing import Any, Literal, get_args

import numpy as np

from sci_core.arguments import Number, Whole, check, is_number, is_whole

# The paper stops at three. Further dummies are noisier, and so hide more.
VISUAL_ROUNDS = ("black", *(f"noise{t}" for t in (500, 400, 600, 700, 800, 900, 999)))


@dataclass(frozen=True)
class Rule:
    """All there is of an equation. A new one is a function and a row of `RULES`.

    Attributes:
        equation: where its function of the rounds' logits is, as "module:name"; it is imported when
            it is first used. None: the model's own logits, without a constraint.
        takes: what the function is given after ``Z``, in order: fields of the method, ``N``, or
            "position", the t of the next token by the method's clock.
        rounds: required number of (textual, visual) rounds; None = any.
        decides: whose logits decide which tokens are plausible. "original": the original round
            alone, as a contrast with a disturbed prompt needs it. "textual": the maximum over it
            and all textual rounds, which then must speak for a token: its score may never fall as
            one of their logits rises. The visual rounds never decide, so that the gate is exact.
        tc: how the rounds that decide are joined: the "max" over them, or their "mean".
    """

    equation: str | None
    takes: tuple[str, ...]
    rounds: tuple[int, int] | None
    decides: str
    tc: str = "max"

    def __post_init__(self) -> None:
        if self.equation is not None and ":" not in str(self.equation):
            raise ValueError(f"equation must be 'module:name' or None; got {self.equation!r}")
        if self.decides not in ("original", "textual"):
            raise ValueError(f"decides must be 'original' or 'textual'; got {self.decides!r}")
        if self.tc not in ("max", "mean"):
            raise ValueError(f"tc must be 'max' or 'mean'; got {self.tc!r}")

    @property
    def constants(self) -> tuple[str, ...]:
        """The fields of a method that mean something to it, and that a name may set."""
        if self.equation is None:
            return ()
        own = (name for name in self.takes if name not in ("N", "position"))
        clock = ("clock",) if "position" in self.takes else ()
        return (*own, "beta", "raw_margin", "log_probs", "edit", *clock)


Edit = Literal["every_step", "first_token"]
Clock = Literal["prompt", "generated"]
_KINDS = {
    str: ("a text", lambda value: isinstance(value, str)),
    bool: ("True or False", lambda value: isinstance(value, bool)),
    Number: ("a finite number", is_number),
    Number | None: ("a finite number", lambda value: value is None or is_number(value)),
    tuple[str, ...]: (
        "a tuple of names of rounds",
        lambda value: isinstance(value, tuple) and all(isinstance(name, str) for name in value),
    ),
    Edit: ("'every_step' or 'first_token'", lambda value: value in get_args(Edit)),
    Clock: ("'prompt' or 'generated'", lambda value: value in get_args(Clock)),
}
"""By the type of a method's field: what is expected, and whether a value is that."""

RULES = {
    "base": Rule(None, (), (0, 0), "original"),
    "tie": Rule("sci_core.logits:tie_logits", (), (0, 1), "original"),
    "vcd": Rule("sci_core.logits:vcd_logits", ("alpha",), (0, 1), "original"),
    "m3id": Rule("sci_core.logits:m3id_logits", ("position",), (0, 1), "original"),
    "sci": Rule("sci_core.logits:sci_logits", ("N", "tau1", "tau2"), None, "textual"),
    "icd": Rule("sci_core.logits:vcd_logits", ("alpha",), (1, 0), "original"),
    "vdd": Rule("sci_core.logits:vcd_logits", ("alpha",), (0, 2), "original"),
    "mean": Rule("sci_core.logits:mean_logits", ("N", "tau1", "tau2"), None, "textual", "mean"),
}
"""The equations by name. book/new_family.md adds one, step by step."""


@dataclass(frozen=True)
class Method:
    """One way to turn the logits of several rounds into a score per token.

    Attributes:
        name: what tables and records call it.
        rule: the equation, a row of `RULES`: "tie", "vcd", "m3id" or "sci"; "base" is the model's
            own logits, unconstrained.
        textual: names of the rounds with a rewritten prompt, in order.
        visual: names of the rounds with a dummy image, in order.
        tau1: temperature of TC in the score and in the constraint (1 in the baselines).
        tau2: temperature of VC (rule "sci").
        beta: ratio of the plausibility constraint: 1 keeps the argmax, 0 switches it off.
        alpha: weight of the contrast (rule "vcd").
        raw_margin: the constraint's margin in undivided logits, not ``tau1 * log(1 / beta)``.
        log_probs: use each round's log-probabilities.
        edit: "every_step", or "first_token" as in the published code: the rest is decoded plainly.
        clock: M3ID's t: "prompt" counts the tokens of the chat turn, without all that stands in the
            picture's place (image tokens, marks of tiles), and those generated so far; "generated"
            the generated ones only.

    Raises ValueError if the fields contradict each other or are out of range, and TypeError for one
    of another type.
    """

    name: str
    rule: str
    textual: tuple[str, ...] = ()
    visual: tuple[str, ...] = ()
    tau1: Number = 1.0
    tau2: Number = 0.2
    beta: Number = 0.3
    alpha: Number = 1.0
    raw_margin: Number | None = None
    log_probs: bool = False
    edit: Edit = "every_step"
    clock: Clock = "prompt"

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            expected, holds = _KINDS[field.type]
            check(field.name, value, expected, holds(value))
            if isinstance(value, np.generic):  # which JSON cannot hold
                object.__setattr__(self, field.name, value.item())
        if self.rule not in RULES:
            raise ValueError(f"rule {self.rule!r} is unknown; choose one of {', '.join(RULES)}")
        counts = (len(self.textual), len(self.visual))
        needed = RULES[self.rule].rounds
        if needed not in (None, counts):
            raise ValueError(
                f"rule {self.rule!r} takes {needed} (textual, visual) rounds, not "
                f"{counts}; rule 'sci' takes any number of both"
            )
        if not (self.tau1 > 0 and self.tau2 > 0 and 0 <= self.beta <= 1):
            raise ValueError(
                f"temperatures must be positive and beta in [0, 1]; got tau1={self.tau1}, "
                f"tau2={self.tau2}, beta={self.beta}"
            )
        if self.raw_margin is not None and not self.raw_margin >= 0:
            raise ValueError(f"raw_margin must be 0 or more logits; got {self.raw_margin}")

    @property
    def rounds(self) -> tuple[str, ...]:
        """Names of the rounds along the first axis of ``Z``."""
        return ("original", *self.textual, *self.visual)

    @property
    def N(self) -> int:
        """How many textual rounds there are beside the original."""
        return len(self.textual)

    @property
    def deciding(self) -> int:
        """How many textual rounds decide, beside the original, which tokens are plausible."""
        return self.N if RULES[self.rule].decides == "textual" else 0

    @property
    def margin(self) -> Number:
        """How far below the best TC a token may lie, in undivided logits; infinite at beta 0."""
        if self.raw_margin is not None:
            return self.raw_margin
        return self.tau1 * log(1 / self.beta) if self.beta else inf

    def edits(self, step: int) -> bool:
        """Whether the counterfactual rounds have a say in the token at ``step`` (first: 0)."""
        edited = RULES[self.rule].equation is not None
        return edited and (self.edit == "every_step" or step == 0)


def sci(M: Whole, N: Whole) -> Method:
    """Make SCI with M dummy images and N rewritten prompts, the paper's other constants.

    ``tau1 = 1 + N / 2`` (appendix D), ``tau2 = 0.2``, ``beta = 0.3``. Visual rounds are the first M
    of ``VISUAL_ROUNDS``, textual rounds V1 .. VN; beyond V7 rewrites must be given. ``sci(1, 1)``,
    ``sci(2, 2)``, ``sci(3, 3)`` are SCI3, SCI5 and SCI7.

    Raises ValueError for a negative number or more visual rounds than there are names, and for what
    is no whole number ValueError or TypeError.
    """
    for name, count in (("M", M), ("N", N)):
        check(name, count, "a whole number of rounds", is_whole(count))
    M, N = int(M), int(N)
    if not 0 <= M <= len(VISUAL_ROUNDS):
        raise ValueError(
            f"M={M} visual rounds; there are 0 to {len(VISUAL_ROUNDS)}: {', '.join(VISUAL_ROUNDS)}"
        )
    if N < 0:
        raise ValueError(f"N={N} textual rounds; give 0 or more")
    return Method(
        name=f"SCI{1 + M + N}" if M == N else f"SCI(M={M}, N={N})",
        rule="sci",
        textual=tuple(f"V{i}" for i in range(1, N + 1)),
        visual=VISUAL_ROUNDS[:M],
        tau1=1 + 0.5 * N,
    )


BASE = Method("base", "base")
TIE = Method("TIE", "tie", visual=("noise500",))
VCD = Method("VCD", "vcd", visual=("noise500",))
M3ID = Method("M3ID", "m3id", visual=("noise500",))
SCI3 = sci(1, 1)
SCI5 = sci(2, 2)
SCI7 = sci(3, 3)
# Ours, not the paper's: the noise of SCI5 on a quarter of the picture's width and height.
SCI5_LITE = replace(SCI5, name="SCI5-lite", visual=("black", "tinynoise500"))

# Neighbours, with the constants of their published scripts: ICD subtracts a disturbed prompt (Wang
# et al., 2024), VDD what is said without the picture (Zhang et al., 2024).
ICD = Method("ICD", "icd", textual=("confused",), beta=0.1)
VDD = Method("VDD", "vdd", visual=("none", "unk"), beta=0.1)
# Controls: the mean log-probability of the original and of the first rewordings.
MEANS = tuple(Method(f"mean({N})", "mean", sci(0, N).textual, beta=0.0) for N in (2, 3))

METHODS = {
    method.name: method
    for method in (BASE, TIE, VCD, M3ID, SCI3, SCI5, SCI7, SCI5_LITE, ICD, VDD, *MEANS)
}


EXAMPLE = "SCI(M=2, N=2, tau1=1.5, beta=0.5)"


def method(name: str) -> Method:
    """Return the method that a name spells: a preset, or one with constants of one's own.

    ``"SCI5"`` is a preset and ``"sci5"`` the same. ``"SCI(M=2, N=2, tau1=1.5, beta=0.5)"`` is
    ``sci(2, 2)`` with two constants changed, ``"VCD(alpha=2)"`` changes one of a preset. A constant
    at its usual value is left out of the name, so that ``"SCI(M=2, N=2)"`` is ``SCI5``.

    Raises ValueError for an unknown name or constant, listing those that are known, and as
    `Method` and `sci` for a constant that is out of range.
    """
    presets = {name.casefold(): preset for name, preset in METHODS.items()}
    if name.strip().casefold() in presets:
        return presets[name.strip().casefold()]
    head, call, _ = name.strip().partition("(")
    preset = presets.get(head.strip().casefold())
    general = preset is None and bool(call) and head.strip().casefold() == "sci"
    if preset is None and not general:
        raise ValueError(
            f"unknown method {name!r}; choose one of {', '.join(METHODS)}, or give constants of "
            f"your own, as in {EXAMPLE!r}"
        )
    arguments = _constants(name) if call else {}
    try:
        if preset is None:
            preset = sci(arguments.pop("M", None), arguments.pop("N", None))
        allowed = RULES[preset.rule].constants
        for key in arguments:
            if key not in allowed:
                known = ", ".join([*(["M", "N"] if general else []), *allowed]) or "none"
                raise ValueError(f"{head.strip()} has no constant {key!r}; it takes {known}")
        changed = replace(preset, **arguments)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name!r}: {error} An example is {EXAMPLE!r}.") from error
    values = {key: (getattr(preset, key), getattr(changed, key)) for key in allowed}
    constants = [f"{key}={value!r}" for key, (usual, value) in values.items() if value != usual]
    if not constants:
        return preset
    if preset.rule == "sci":
        constants = [f"M={len(preset.visual)}", f"N={len(preset.textual)}", *constants]
    spelt = "SCI" if preset.rule == "sci" else preset.name
    return replace(changed, name=f"{spelt}({', '.join(constants)})")


def _constants(name: str) -> dict[str, Any]:
    """Read what stands between the parentheses of a name: Python's literals, numbers as floats."""
    try:
        call = ast.parse(name.strip(), mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise SyntaxError
        constants: dict[str, Any] = {}
        for keyword in call.keywords:
            if keyword.arg is None:  # **others
                raise SyntaxError
            key = keyword.arg.upper() if keyword.arg in "mn" else keyword.arg
            given = keyword.value  # a name is a text without its quotes, as in edit=first_token
            value = given.id if isinstance(given, ast.Name) else ast.literal_eval(given)
            constants[key] = float(value) if type(value) is int and key not in "MN" else value
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(
            f"{name!r} is no method with constants; expected a name and key=value pairs, as in "
            f"{EXAMPLE!r}"
        ) from error
    return constants
