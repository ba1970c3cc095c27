"""Equations that the library lacks, whose textual rounds speak against a token.

A test that takes them sets `ROWS` in `methods.RULES` first.
"""

from sci_core.methods import Method, Rule


def one_against(Z, alpha):
    """Instruction contrastive decoding: what a disturbed prompt says is taken away."""
    original, disturbed = Z
    return (1 + alpha) * original - alpha * disturbed


def many_against(Z, N, alpha):
    """The same with the mean of several disturbed prompts."""
    return (1 + alpha) * Z[0] - alpha * Z[1 : 1 + N].mean(dim=0)


def worst_against(Z, N):
    """What no disturbed prompt likes as much."""
    return Z[0] - Z[1 : 1 + N].amax(dim=0)


def both_against(Z, alpha, tau2):
    """A disturbed prompt and a dummy picture are taken away."""
    original, disturbed, dummy = Z
    return (1 + alpha) * original - alpha * disturbed + (original - dummy) / tau2


ROWS = {
    "one": Rule(f"{__name__}:one_against", ("alpha",), (1, 0), "original"),
    "many": Rule(f"{__name__}:many_against", ("N", "alpha"), None, "original"),
    "worst": Rule(f"{__name__}:worst_against", ("N",), None, "original"),
    "both": Rule(f"{__name__}:both_against", ("alpha", "tau2"), (1, 1), "original"),
}


def methods():
    """A method of each, and one whose constraint has other constants."""
    return (
        Method("one", "one", ("V1",)),
        Method("one, raw margin", "one", ("V2",), raw_margin=0.9, alpha=2.5),
        Method("one, by log-probabilities", "one", ("V1",), log_probs=True, beta=0.5),
        Method("many", "many", ("V1", "V2", "V3"), alpha=0.5),
        Method("worst", "worst", ("V1", "V2"), tau1=2.0),
        Method("both", "both", ("V1",), ("black",), beta=0.8),
        Method("both, first token", "both", ("V2",), ("noise500",), edit="first_token"),
    )
