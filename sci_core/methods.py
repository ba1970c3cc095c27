"""The decoding methods: frozen presets, their variants, and the score each gives to a token.

The presets hold the paper's constants (section 4.2 and appendix B). A variant is a preset with a
field changed, for example ``dataclasses.replace(SCI5, beta=0.8)`` for the original data sets.
"""

from dataclasses import dataclass
from math import inf, log

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from sci_core.logits import m3id_logits, sci_logits, tc_logits, tie_logits, vcd_logits
from sci_core.plausibility import constrain, plausible, plausible_within, require_finite

M3ID_DECAY = 0.02

# The paper stops at three. Further dummies are noisier than its own, never less: an image with
# less noise shows more of what a dummy must hide.
VISUAL_ROUNDS = (
    "black",
    "noise500",
    "noise400",
    "noise600",
    "noise700",
    "noise800",
    "noise900",
    "noise999",
)


@dataclass(frozen=True)
class Method:
    """One way to turn the logits of several rounds into a score per token.

    name     what tables and records call it
    rule     the equation of ``logits.py``: "tie", "vcd", "m3id" or "sci"; "base" is the model's
             own logits, unconstrained
    textual  names of the rounds with a rewritten prompt, in order
    visual   names of the rounds with a dummy image, in order
    tau1     temperature of TC in the score and in the constraint (1 in the baselines, whose
             constraint reads the undivided original logits)
    tau2     temperature of VC (rule "sci")
    beta     ratio of the plausibility constraint: 1 keeps the argmax, 0 switches it off
    alpha    weight of the contrast (rule "vcd")

    Named variants:
    raw_margin  the constraint's margin in undivided logits, instead of ``tau1 * log(1 / beta)``
    log_probs   use each round's log-probabilities; TC, not VC, depends on the constant removed
    edit        "every_step" as the paper says; "first_token" decodes the rest plainly, as in the
                published code
    clock       M3ID's t: "prompt" counts the prompt's text tokens and those generated so far;
                "generated" counts the generated ones only, so the first token equals the base

    Raises ValueError if the fields contradict each other.
    """

    name: str
    rule: str
    textual: tuple[str, ...] = ()
    visual: tuple[str, ...] = ()
    tau1: float = 1.0
    tau2: float = 0.2
    beta: float = 0.3
    alpha: float = 1.0
    raw_margin: float | None = None
    log_probs: bool = False
    edit: str = "every_step"
    clock: str = "prompt"

    def __post_init__(self) -> None:
        counts = (len(self.textual), len(self.visual))
        expected = {"base": (0, 0), "tie": (0, 1), "vcd": (0, 1), "m3id": (0, 1), "sci": counts}
        if self.rule not in expected:
            raise ValueError(f"rule {self.rule!r} is unknown; choose one of {', '.join(expected)}")
        if counts != expected[self.rule]:
            raise ValueError(
                f"rule {self.rule!r} takes {expected[self.rule]} (textual, visual) rounds, not "
                f"{counts}; rule 'sci' takes any number of both"
            )
        if not (self.tau1 > 0 and self.tau2 > 0 and 0 <= self.beta <= 1):
            raise ValueError(
                f"temperatures must be positive and beta in [0, 1]; got tau1={self.tau1}, "
                f"tau2={self.tau2}, beta={self.beta}"
            )
        if self.raw_margin is not None and not self.raw_margin >= 0:
            raise ValueError(f"raw_margin must be 0 or more logits; got {self.raw_margin}")
        for field, allowed in (
            ("edit", ("every_step", "first_token")),
            ("clock", ("prompt", "generated")),
        ):
            if getattr(self, field) not in allowed:
                raise ValueError(
                    f"{field} must be {' or '.join(map(repr, allowed))}; "
                    f"got {getattr(self, field)!r}"
                )

    @property
    def rounds(self) -> tuple[str, ...]:
        """Names of the rounds along the first axis of ``Z``."""
        return ("original", *self.textual, *self.visual)

    @property
    def margin(self) -> float:
        """How far below the best TC a token may lie, in undivided logits; infinite at beta 0."""
        if self.raw_margin is not None:
            return self.raw_margin
        return self.tau1 * log(1 / self.beta) if self.beta else inf

    def edits(self, step: int) -> bool:
        """Whether the counterfactual rounds have a say in the token at ``step`` (first: 0)."""
        return self.rule != "base" and (self.edit == "every_step" or step == 0)


def sci(M: int, N: int) -> Method:
    """SCI with M dummy images and N rewritten prompts, the paper's other constants.

    ``tau1 = 1 + N / 2`` (appendix D: half a unit more per textual round; Table 5 follows it down
    to N = 0), ``tau2 = 0.2``, ``beta = 0.3``. Visual rounds are the first M of ``VISUAL_ROUNDS``,
    textual rounds are V1 .. VN. The paper has three rewrite tables, V1, V2, V3; the library adds V4
    to V7, and prompts for more must be given. ``sci(1, 1)``, ``sci(2, 2)``, ``sci(3, 3)`` are
    SCI3, SCI5 and SCI7; beyond, the rules go on as they are: ``sci(7, 7)`` has 15 rounds.

    Raises ValueError for a negative number or more visual rounds than there are names.
    """
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

METHODS = {method.name: method for method in (BASE, TIE, VCD, M3ID, SCI3, SCI5, SCI7)}


def method(name: str) -> Method:
    """The preset of this name. Raises ValueError, listing the names, if there is none."""
    if name not in METHODS:
        raise ValueError(f"unknown method {name!r}; choose one of {', '.join(METHODS)}")
    return METHODS[name]


def survivors(
    method: Method,
    Z: Float[Tensor, "rounds batch vocab"],
    *,
    step: int,
    forbidden: Bool[Tensor, "batch vocab"] | None = None,
) -> Bool[Tensor, "batch vocab"]:
    """Tokens the constraint leaves at this step; known before any visual round has run.

    ``Z`` holds the original and the textual rounds; visual rounds may follow and are not read.
    Where one token survives it is the answer, greedy or sampled, and the visual rounds can be
    skipped. A method that does not edit this step keeps every token that is not forbidden.

    Raises FloatingPointError for logits that are not finite, ValueError if all are forbidden.
    """
    textual = 1 + len(method.textual)
    return _survivors(
        method, _checked(method, Z[:textual], method.rounds[:textual], step), step, forbidden
    )


def scores(
    method: Method,
    Z: Float[Tensor, "rounds batch vocab"],
    *,
    step: int,
    prompt_tokens: Int[Tensor, " batch"] | None = None,
    forbidden: Bool[Tensor, "batch vocab"] | None = None,
) -> Float[Tensor, "batch vocab"]:
    """The final score of each token, minus infinity where the constraint drops it.

    Arguments:
      Z              raw logits in float32 or float64, rounds exactly ``method.rounds``
      step           tokens generated so far
      prompt_tokens  text tokens of each prompt; needed by M3ID on its prompt clock
      forbidden      tokens another processor forbids; they leave before the constraint's maximum

    Temperature, top-k and top-p act on the result (``sampling.choose``).

    Raises FloatingPointError for logits that are not finite or scores that overflow, TypeError
    for half precision, ValueError for the wrong number of rounds.
    """
    Z = _checked(method, Z, method.rounds, step)
    keep = _survivors(method, Z, step, forbidden)
    if not method.edits(step):
        score = Z[0]
    elif method.rule == "tie":
        score = tie_logits(Z)
    elif method.rule == "vcd":
        score = vcd_logits(Z, method.alpha)
    elif method.rule == "m3id":
        score = m3id_logits(Z, _position(method, Z, step, prompt_tokens), M3ID_DECAY)
    else:
        score = sci_logits(Z, len(method.textual), method.tau1, method.tau2)
    if not torch.isfinite(score).all():
        raise FloatingPointError(
            f"the scores of {method.name} overflow {score.dtype} at step {step}; finite scores "
            "were expected: use larger temperatures, float64 logits, or M3ID's generated clock"
        )
    return constrain(score, keep)


def _checked(
    method: Method, Z: Float[Tensor, "rounds batch vocab"], rounds: tuple[str, ...], step: int
) -> Float[Tensor, "rounds batch vocab"]:
    if Z.dtype not in (torch.float32, torch.float64):
        raise TypeError(f"logits are {Z.dtype}; convert them to float32 (or float64) first")
    if len(Z) != len(rounds):
        raise ValueError(
            f"{method.name} reads {len(rounds)} rounds ({', '.join(rounds)}); Z has {len(Z)}"
        )
    require_finite(Z, rounds, step)
    return torch.log_softmax(Z, dim=-1) if method.log_probs else Z


def _survivors(
    method: Method, Z: Tensor, step: int, forbidden: Bool[Tensor, "batch vocab"] | None
) -> Bool[Tensor, "batch vocab"]:
    if not method.edits(step):
        return plausible(Z[0], 0.0, forbidden)
    tc = tc_logits(Z, len(method.textual))
    if method.raw_margin is not None:
        return plausible_within(tc, method.raw_margin, forbidden)
    return plausible(tc / method.tau1, method.beta, forbidden)


def _position(
    method: Method, Z: Tensor, step: int, prompt_tokens: Int[Tensor, " batch"] | None
) -> Int[Tensor, " batch"]:
    if method.clock == "generated":
        return torch.full((Z.shape[1],), step, device=Z.device)
    if prompt_tokens is None:
        raise ValueError(
            "M3ID on its prompt clock needs prompt_tokens, the text tokens of each prompt; pass "
            "them, or use dataclasses.replace(M3ID, clock='generated')"
        )
    return prompt_tokens.to(Z.device) + step
