"""Laws of the methods: presets, constraint and score together."""

import dataclasses
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sci_core.methods import (
    BASE,
    M3ID,
    METHODS,
    SCI3,
    SCI5,
    SCI7,
    TIE,
    VCD,
    VISUAL_ROUNDS,
    Method,
    method,
    sci,
)
from sci_core.sampling import choose
from sci_core.scoring import scores, survivors
from tests.drawn_logits import MANY, TOY, TWO, logits

pytestmark = pytest.mark.quick

FIVE = logits(st.just(5))


def greedy(scores):
    return scores.argmax(-1)


@pytest.mark.parametrize(
    ("preset", "rounds", "tau1"),
    [
        (SCI3, ("original", "V1", "black"), 1.5),
        (SCI5, ("original", "V1", "V2", "black", "noise500"), 2.0),
        (SCI7, ("original", "V1", "V2", "V3", "black", "noise500", "noise400"), 2.5),
    ],
)
def test_sci_presets(preset, rounds, tau1):
    assert preset.rounds == rounds
    assert (preset.rule, preset.tau1, preset.tau2, preset.beta) == ("sci", tau1, 0.2, 0.3)
    assert (preset.edit, preset.log_probs, preset.raw_margin) == ("every_step", False, None)


@pytest.mark.parametrize("preset", [TIE, VCD, M3ID])
def test_baselines_look_at_noise500(preset):
    assert preset.rounds == ("original", "noise500")
    constants = (preset.tau1, preset.beta, preset.alpha, preset.clock)
    said = "the paper's constants; records are of these, so of others a page says *not recorded*"
    assert constants == (1.0, 0.3, 1.0, "prompt"), said


def test_presets_are_frozen_and_found_by_name():
    assert BASE.rounds == ("original",)
    papers = ("base", "TIE", "VCD", "M3ID", "SCI3", "SCI5", "SCI7")
    assert tuple(METHODS)[: len(papers)] == papers  # first, in the order of its tables
    assert all(method(name) is preset for name, preset in METHODS.items())
    with pytest.raises(dataclasses.FrozenInstanceError):
        SCI5.beta = 0.8
    with pytest.raises(ValueError, match="unknown method 'SCI6'; choose one of base, TIE, VCD"):
        method("SCI6")


def test_names_are_read_in_any_case():
    assert all(method(name.upper()) is method(name.lower()) is METHODS[name] for name in METHODS)
    assert method(" sci5 ") is SCI5


@pytest.mark.parametrize(
    ("spelling", "expected", "name"),
    [
        ("SCI(M=2, N=2)", SCI5, "SCI5"),
        ("sci(n=3,m=1)", sci(1, 3), "SCI(M=1, N=3)"),
        (
            "SCI(M=2, N=2, tau1=1.5, beta=0.5)",
            dataclasses.replace(SCI5, tau1=1.5, beta=0.5),
            "SCI(M=2, N=2, tau1=1.5, beta=0.5)",
        ),
        ("sci5(beta=0.8)", dataclasses.replace(SCI5, beta=0.8), "SCI(M=2, N=2, beta=0.8)"),
        ("SCI5(tau1=2)", SCI5, "SCI5"),
        ("SCI5(edit=first_token)", dataclasses.replace(SCI5, edit="first_token"),
         "SCI(M=2, N=2, edit='first_token')"),
        ("vcd(beta=0.1, alpha=2)", dataclasses.replace(VCD, alpha=2.0, beta=0.1),
         "VCD(alpha=2.0, beta=0.1)"),
        ("M3ID(clock='generated')", dataclasses.replace(M3ID, clock="generated"),
         "M3ID(clock='generated')"),
        ("TIE(raw_margin=0, log_probs=True)",
         dataclasses.replace(TIE, raw_margin=0.0, log_probs=True),
         "TIE(raw_margin=0.0, log_probs=True)"),
    ],
)  # fmt: skip
def test_a_name_may_hold_constants_of_ones_own(spelling, expected, name):
    found = method(spelling)
    assert found == dataclasses.replace(expected, name=name)
    assert method(found.name) == found  # a record's name can be asked for again


@pytest.mark.parametrize(
    ("spelling", "sentence"),
    [
        (
            "SCI",
            "unknown method 'SCI'; choose one of base, .* or give constants .* as in 'SCI\\(M=2",
        ),
        ("SCI(M=2, N=2, gamma=1)", "no constant 'gamma'; it takes M, N, tau1, tau2, beta"),
        ("SCI5(M=2)", "SCI5 has no constant 'M'; it takes tau1, tau2"),
        ("VCD(tau2=1)", "no constant 'tau2'; it takes alpha, beta"),
        ("base(beta=0.5)", "base has no constant 'beta'; it takes none"),
        ("SCI5(beta=2)", "beta in \\[0, 1\\]; got tau1=2.0, tau2=0.2, beta=2.0"),
        ("SCI(M=99, N=0)", "M=99 visual rounds"),
        ("SCI5(0.8)", "no method with constants; expected a name and key=value"),
        ("SCI5(beta=0.8", "no method with constants"),
        ("SCI5(**{})", "no method with constants"),
        ("SCI5(beta=open('x'))", "no method with constants"),
    ],
)
def test_a_name_that_is_none_says_what_is_known(spelling, sentence):
    with pytest.raises(ValueError, match=sentence):
        method(spelling)


@given(st.integers(0, len(VISUAL_ROUNDS)), st.integers(0, 6))
def test_sci_in_general(M, N):
    general = sci(M, N)
    assert len(general.rounds) == len(set(general.rounds)) == 1 + M + N
    assert general.visual == VISUAL_ROUNDS[:M]
    assert general.tau1 == 1 + N / 2
    assert general.name == (f"SCI{1 + M + N}" if M == N else f"SCI(M={M}, N={N})")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"rule": "vcd"}, r"takes \(0, 1\)"),
        ({"rule": "base", "textual": ("V1",)}, r"takes \(0, 0\)"),
        ({"rule": "sci", "tau1": 0.0}, "tau1=0.0"),
        ({"rule": "sci", "tau2": -1.0}, "tau2=-1.0"),
        ({"rule": "sci", "beta": 1.5}, "beta=1.5"),
        ({"rule": "sci", "raw_margin": -1.0}, "raw_margin"),
        ({"rule": "cd"}, "rule 'cd' is unknown; choose one of base, tie, vcd, m3id, sci"),
    ],
)
def test_contradictory_fields_are_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        Method("mine", **fields)


def test_a_methods_scores_are_the_specifications_example():
    final = scores(SCI3, TOY, step=0)
    torch.testing.assert_close(final, torch.tensor([[1.3333333, 7.0, -math.inf]]))
    expected = torch.tensor([[0.00345, 0.99655, 0.0]])
    torch.testing.assert_close(final.softmax(-1), expected, atol=5e-6, rtol=0)


@given(TWO, st.floats(0.05, 5.0), st.floats(0.01, 1.0))
def test_vcd_is_sci_without_textual_rounds(Z, alpha, beta):
    vcd = dataclasses.replace(VCD, alpha=alpha, beta=beta)
    general = dataclasses.replace(sci(1, 0), tau1=1.0, tau2=1 / alpha, beta=beta)
    torch.testing.assert_close(scores(general, Z, step=0), scores(vcd, Z, step=0))


@given(TWO)
def test_tie_and_vcd_constrain_the_original_logits(Z):
    for preset in (TIE, VCD, dataclasses.replace(M3ID, clock="generated")):
        cutoff = Z[0].amax(-1, keepdim=True) + math.log(preset.beta)
        assert torch.equal(scores(preset, Z, step=3).isinf(), Z[0] < cutoff)


@given(logits(st.just(1)))
def test_no_counterfactual_round_is_greedy_decoding(Z):
    assert torch.equal(scores(BASE, Z, step=0), Z[0])
    assert torch.equal(greedy(scores(sci(0, 0), Z, step=0)), Z[0].argmax(-1))


@given(FIVE)
def test_beta_one_answers_with_the_argmax_of_tc(Z):
    strict = dataclasses.replace(SCI5, beta=1.0)
    tc = Z[:3].amax(0)
    assert torch.equal(scores(strict, Z, step=0).isfinite(), tc == tc.amax(-1, keepdim=True))


@given(FIVE)
def test_repeated_rounds_change_nothing(Z):
    once = scores(SCI5, Z, step=0)
    more = dataclasses.replace(
        SCI5, textual=("V1", "V2", "V1"), visual=("black", "noise500", "black", "noise500")
    )
    twice = scores(more, Z[[0, 1, 2, 1, 3, 4, 3, 4]], step=0)
    torch.testing.assert_close(twice, once)


def test_a_mean_over_the_prompts_decides_what_is_plausible_where_it_is_scored():
    """The toy vector with TC by mean: [1.5, 2, 0] / 1.5, so that the cutoff is 0.1294."""
    method = dataclasses.replace(SCI3, name="by mean", rule="mean")
    final = scores(method, TOY, step=0)
    torch.testing.assert_close(final, torch.tensor([[1.0, 1 + 1 / 3 + 5, -torch.inf]]))
    assert survivors(method, TOY[:2], step=0).tolist() == [[True, True, False]]
    narrow = dataclasses.replace(method, beta=0.8)
    assert survivors(narrow, TOY[:2], step=0).tolist() == [[False, True, False]]


@pytest.mark.parametrize(
    ("preset", "beta", "gap", "ratio"),
    [
        (SCI3, 0.3, 1.81, 0.164),
        (SCI5, 0.3, 2.41, 0.090),
        (SCI7, 0.3, 3.01, 0.049),
        (SCI5, 0.8, 0.45, None),
    ],
)
def test_the_gap_that_leaves_one_survivor(preset, beta, gap, ratio):
    preset = dataclasses.replace(preset, beta=beta)
    assert round(preset.tau1 * math.log(1 / beta), 2) == gap
    if ratio is not None:
        assert round(beta**preset.tau1, 3) == ratio
    Z = torch.zeros(1 + len(preset.textual), 2, 3, dtype=torch.float64)
    Z[:, :, 1:] = -30.0
    Z[0, :, 1] = -torch.tensor([gap - 0.01, gap + 0.01], dtype=torch.float64)
    assert survivors(preset, Z, step=0).sum(-1).tolist() == [2, 1]


@given(FIVE, st.floats(0.2, 1.0), st.integers(0, 2**32), st.floats(0.01, 5.0))
def test_a_sole_survivor_wins_whatever_the_dummies_say(Z, beta, seed, temperature):
    preset = dataclasses.replace(SCI5, beta=beta)
    before = survivors(preset, Z[:3], step=0)  # the visual rounds have not run
    final = scores(preset, Z, step=0)
    assert torch.equal(before, final.isfinite())
    decided = before.sum(-1) == 1
    samples = list(range(len(final)))
    for chosen in (
        greedy(final),
        choose(final, samples=samples),
        choose(final, temperature=temperature, seed=seed, samples=samples),
        choose(final, temperature=temperature, top_k=1, top_p=0.5, seed=seed, samples=samples),
    ):
        assert before[torch.arange(len(final)), chosen].all()
        assert torch.equal(chosen[decided], before.int().argmax(-1)[decided])


@given(MANY, st.booleans())
def test_survivors_before_and_after_the_visual_rounds_agree(Z, log_probs):
    textual = (len(Z) - 1) // 2
    preset = dataclasses.replace(sci(len(Z) - 1 - textual, textual), log_probs=log_probs)
    before = survivors(preset, Z[: 1 + textual], step=0)
    assert torch.equal(before, survivors(preset, Z, step=0))
    assert torch.equal(before, scores(preset, Z, step=0).isfinite())


def test_log_probs_leave_other_survivors():
    generator = torch.Generator().manual_seed(0)
    Z = 3 * torch.randn(5, 200, 50, generator=generator)
    Z += 3 * torch.randn(5, 200, 1, generator=generator)
    raw = survivors(SCI5, Z, step=0)
    normed = survivors(dataclasses.replace(SCI5, log_probs=True), Z, step=0)
    assert (raw != normed).any(-1).float().mean() > 0.5


@given(TWO, st.floats(-5.0, 5.0))
def test_without_textual_rounds_log_probs_change_no_answer_and_no_survivor(Z, shift):
    moved = Z + torch.tensor([0.0, shift])[:, None, None]
    plain = scores(VCD, Z, step=0).softmax(-1)
    torch.testing.assert_close(scores(VCD, moved, step=0).softmax(-1), plain)


def test_a_raw_margin_does_not_loosen_with_the_rounds():
    for preset in (SCI3, SCI5, SCI7):
        Z = torch.zeros(len(preset.rounds), 1, 3)
        Z[..., 1:] = torch.tensor([-1.75, -1.85])
        fixed = dataclasses.replace(preset, raw_margin=1.8)
        assert scores(fixed, Z, step=0).isfinite().tolist() == [[True, True, False]]


@given(FIVE)
def test_first_token_only(Z):
    once = dataclasses.replace(SCI5, edit="first_token")
    assert torch.equal(scores(once, Z, step=0), scores(SCI5, Z, step=0))
    assert torch.equal(scores(once, Z, step=1), Z[0])
    assert [once.edits(step) for step in range(3)] == [True, False, False]
    assert all(SCI5.edits(step) for step in range(3))
    assert not BASE.edits(0)


@given(TWO, st.integers(0, 20))
def test_m3id_clocks(Z, step):
    prompts = torch.arange(10, 10 + Z.shape[1])
    generated = dataclasses.replace(M3ID, clock="generated", beta=0.0)
    prompt = dataclasses.replace(M3ID, beta=0.0)
    weight = math.exp(0.02 * step) - 1
    torch.testing.assert_close(scores(generated, Z, step=step), Z[0] + weight * (Z[0] - Z[1]))
    weights = torch.exp(0.02 * (prompts + step).double())[:, None] - 1
    torch.testing.assert_close(
        scores(prompt, Z, step=step, prompt_tokens=prompts), Z[0] + weights * (Z[0] - Z[1])
    )
    assert torch.equal(scores(generated, Z, step=0), Z[0])


def test_m3id_needs_its_clock():
    with pytest.raises(ValueError, match="needs prompt_tokens"):
        scores(M3ID, torch.zeros(2, 1, 3), step=0)


@given(FIVE, st.data())
def test_forbidden_tokens_leave_tc_before_its_maximum(Z, data):
    forbidden = torch.zeros(Z.shape[1:], dtype=torch.bool)
    forbidden[:, data.draw(st.integers(0, Z.shape[2] - 1))] = True
    if forbidden.all():
        return
    allowed = ~forbidden[0]
    for preset, rounds in ((SCI5, Z), (VCD, Z[:2]), (BASE, Z[:1])):
        final = scores(preset, rounds, step=0, forbidden=forbidden)
        assert final[forbidden].isinf().all()
        alone = scores(preset, rounds[:, :, allowed], step=0)
        assert torch.equal(final[:, allowed], alone)


def test_nan_never_passes_the_constraint():
    for round_, name in enumerate(SCI3.rounds):
        Z = torch.zeros(3, 2, 4)
        Z[round_, 1, 2] = math.nan
        with pytest.raises(FloatingPointError, match=rf"round\(s\) {name} for question\(s\) 1 "):
            scores(SCI3, Z, step=0)
    Z = torch.zeros(2, 1, 4)
    Z[1, 0, 0] = math.inf
    with pytest.raises(FloatingPointError, match=r"round\(s\) V1"):
        survivors(SCI3, Z, step=0)


def test_scores_that_overflow_are_an_error():
    Z = torch.tensor([[[1.0, 0.0]], [[0.0, 1.0]]])
    with pytest.raises(FloatingPointError, match=r"scores of M3ID overflow torch\.float32"):
        scores(M3ID, Z, step=0, prompt_tokens=torch.tensor([5000]))


def test_wrong_rounds_and_half_precision_are_refused():
    with pytest.raises(ValueError, match=r"SCI3 reads 3 rounds \(original, V1, black\); Z has 2"):
        scores(SCI3, torch.zeros(2, 1, 4), step=0)
    with pytest.raises(TypeError, match="bfloat16; convert them to float32"):
        scores(SCI3, torch.zeros(3, 1, 4, dtype=torch.bfloat16), step=0)


def test_the_margin_is_the_constraints_own():
    """Of the constants of appendix C: 1.81, 2.41 and 3.01 logits; none at beta 0."""
    presets = [METHODS[name] for name in ("SCI3", "SCI5", "SCI7")]
    assert [round(each.margin, 2) for each in presets] == [1.81, 2.41, 3.01]
    assert dataclasses.replace(presets[0], raw_margin=0.7).margin == 0.7
    assert dataclasses.replace(presets[0], beta=0.0).margin == math.inf
