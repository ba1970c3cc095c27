"""The decoding methods: frozen presets and their variants. `scoring` scores tokens by them.

The presets hold the paper's constants (section 4.2 and appendix B). A variant is a preset with a
field changed, for example ``dataclasses.replace(SCI5, beta=0.8)`` for the original data sets.
"""

from dataclasses import dataclass
from math import inf, log

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
