"""A new dummy image and a new equation are each said in one place, and everything follows."""

import importlib
import random
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import ImageFilter

from sci_book.data.rewordings import check_rounds
from sci_core import SCI3, TIE, VCD, Method, PrefixCache, counterfactual_image, generate
from sci_core.counterfactuals import DUMMIES, Dummy, is_visual, rewrite
from sci_core.engine.questions import split_rounds
from sci_core.methods import RULES
from sci_core.methods import method as named_method
from sci_core.scoring import scores, survivors
from tests import equations, tiny
from tests.drawn_logits import logits
from tests.soak import TIMES, mostly

RECIPE = Path(__file__).resolve().parents[1] / "book" / "new_family.md"


@pytest.fixture
def blur(monkeypatch):
    def draw(image, radius, variant):
        return image.filter(ImageFilter.GaussianBlur(radius))

    dummy = Dummy("'blur' and a radius, such as 'blur5'", draw, number=r"\d{1,2}")
    monkeypatch.setitem(DUMMIES, "blur", dummy)


@pytest.mark.quick
def test_an_unknown_dummy_is_textual_until_it_is_registered(blur, monkeypatch):
    rounds = ("original", "V1", "blur5", "black")
    assert is_visual("blur5") and split_rounds(rounds) == (("V1",), ("blur5", "black"))
    check_rounds(rounds)
    with pytest.raises(ValueError, match="or 'blur' and a radius"):
        counterfactual_image(tiny.random_questions(random.Random(0), 1)[0][0], "blur500")
    monkeypatch.delitem(DUMMIES, "blur")
    assert not is_visual("blur5")


@pytest.mark.parametrize("noise", ["clamp", "normalized"])
@pytest.mark.quick
def test_a_registered_dummy_is_decoded_by_both_engines_alike(blur, noise):
    model = tiny.load("qwen2_vl", "float64")
    images, prompts = tiny.random_questions(random.Random(0), 3)
    blurred = replace(TIE, name="blur", visual=("blur5",))
    fast, slow, noisy = (
        [answer.tokens for answer in generate(model, images, prompts, method, 2, **how)]
        for method, how in (
            (blurred, {"noise": noise}),
            (blurred, {"noise": noise, "engine": "sequential", "gate": False}),
            (Method("SCI", "sci", visual=("black", "blur5")), {}),
        )
    )
    assert fast == slow and len(noisy) == 3


@pytest.fixture
def icd(tmp_path, monkeypatch):
    """The module that the recipe tells a reader to write."""
    recipe = RECIPE.read_text(encoding="utf-8").partition("## A new equation")[2]
    (code,) = re.findall(r"```python\n(.*?)```", recipe, re.DOTALL)
    (tmp_path / "icd.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    before = dict(RULES)
    yield importlib.import_module("icd")
    del sys.modules["icd"]
    RULES.clear()
    RULES.update(before)


@pytest.fixture
def others(monkeypatch):
    for name, row in equations.ROWS.items():
        monkeypatch.setitem(RULES, name, row)
    return equations.methods()


@pytest.mark.parametrize(
    ("original", "disturbed", "chosen"),
    [
        ([2, 1.9, -3, 0], [0, 6, 1, 0], 0),
        ([2, 1.9, -3, 0], [6, 0, 1, 0], 1),  # both are plausible: the contrast decides
        ([5, 0, 0, 0], [9, -9, -9, -9], 0),  # one token is plausible, and wins
        ([1, 1, 1, -8], [3, 2, 1, -50], 2),
        ([0, 0, -2, -2], [4, 4, -9, -9], 0),  # a tie: the lowest id
    ],
)
@pytest.mark.quick
def test_a_disturbed_prompt_has_no_say_in_what_is_plausible(original, disturbed, chosen, icd):
    Z = torch.tensor([original, disturbed], dtype=torch.float32)[:, None]
    final = scores(icd.ICD, Z, step=0)
    assert int(final.argmax()) == chosen
    spared = Z[0] >= Z[0].max() - icd.ICD.margin
    assert torch.equal(final.isfinite(), spared)
    assert torch.equal(survivors(icd.ICD, Z, step=0), spared)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(Z=logits(st.just(5)), junk=logits(st.just(2)))
@pytest.mark.quick
def test_what_a_round_says_that_does_not_decide_spares_no_token(Z, junk, others):
    """Neither a disturbed prompt nor a dummy picture: the gate, which reads the textual rounds
    alone, sees what the scores see."""
    for method in others:
        textual = 1 + method.N
        own = Z[: len(method.rounds)]
        finite = scores(method, own, step=0).isfinite()
        assert torch.equal(finite, survivors(method, own[:textual], step=0))
        if method.log_probs:
            continue
        cutoff = own[0].amax(dim=-1, keepdim=True) / method.tau1 - method.margin / method.tau1
        clear = (own[0] / method.tau1 - cutoff).abs() > 1e-4
        assert torch.equal(finite[clear], (own[0] / method.tau1 >= cutoff)[clear])


@pytest.mark.parametrize("family", mostly(tiny.FAMILIES))
def test_the_recipe_for_an_equation_holds_however_it_is_decoded(family, icd, others):
    """One by one, in batches, with shared prefixes and gated: the same tokens, in float64."""
    model = tiny.load(family, "float64")
    generator = random.Random(f"{family} equations")
    images, prompts = tiny.random_questions(generator, 7)
    if TIMES == 1:  # each other equation with one of the families
        others = others[tiny.FAMILIES.index(family) :: len(tiny.FAMILIES)]
    asked = [(icd.ICD, icd.disturbed(prompts))]
    asked += [
        (other, [[rewrite(p, n) for n in other.textual] for p in prompts]) for other in others
    ]
    store = PrefixCache()
    looked = set()
    for method, rewrites in asked:
        how = {"max_new_tokens": 4, "rewrites": rewrites}
        plain = generate(model, images, prompts, method, engine="sequential", gate=False, **how)
        for more in (
            {"gate": False, "batch_size": 1},
            {"gate": False, "batch_size": 7, "prefixes": store},
            {"batch_size": 3, "prefixes": store},
            {"engine": "sequential"},
            {"temperature": 0.0, "return_logits": True},
        ):
            found = generate(model, images, prompts, method, **how, **more)
            assert [(a.tokens, a.end) for a in found] == [(a.tokens, a.end) for a in plain]
            if method.visual and "gate" not in more and "return_logits" not in more:
                looked |= {look for answer in found for look in answer.looked}
    assert looked == {True, False} and store.hits > 0


@pytest.mark.quick
def test_an_equation_that_was_added_is_checked_and_named_as_the_others(icd, others, monkeypatch):
    assert RULES["icd"].constants == ("alpha", "beta", "raw_margin", "log_probs", "edit")
    assert RULES["many"].constants == RULES["icd"].constants
    assert RULES["both"].constants[:2] == ("alpha", "tau2")
    with pytest.raises(ValueError, match=r"'icd' takes \(1, 0\) \(textual, visual\) rounds"):
        replace(icd.ICD, visual=("black",))
    with pytest.raises(ValueError, match=r"choose one of base, tie, vcd, m3id, sci, .*icd"):
        Method("mine", "none")
    monkeypatch.setitem(named_method.__globals__["METHODS"], "ICD", icd.ICD)
    assert named_method("icd(alpha=2)") == replace(icd.ICD, name="ICD(alpha=2.0)", alpha=2.0)


@pytest.mark.parametrize(
    ("where", "error"),
    [("no_such_module:icd", ImportError), ("sci_core.logits:no_such", AttributeError)],
)
@pytest.mark.quick
def test_a_row_whose_equation_is_not_there_is_not_decoded_as_another(where, error, monkeypatch):
    for rule, like in (("new", VCD), ("newer", SCI3)):
        monkeypatch.setitem(RULES, rule, replace(RULES[like.rule], equation=where))
        with pytest.raises(error):
            scores(replace(like, rule=rule), torch.zeros(len(like.rounds), 1, 3), step=0)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("equation", "icd_logits"),
        ("equation", "sci_core.logits.vcd_logits"),
        ("decides", "textually"),
        ("decides", "visual"),
        ("decides", ""),
        ("tc", "median"),
    ],
)
@pytest.mark.quick
def test_a_row_that_is_none_is_refused(field, value):
    with pytest.raises(ValueError, match=f"{field} must be '.* got '{value}'"):
        replace(RULES["vcd"], **{field: value})
