"""The file that other implementations test themselves with, and what it says of a wrong one."""

import json
import re

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

from sci_book.run import conformance
from sci_core.methods import METHODS, RULES
from tests.conftest import sci


@pytest.fixture(scope="module")
def known():
    return json.loads((conformance.FOLDER / conformance.TOKENS).read_text("utf-8"))


def by_an_outsider():
    """Tokens from the file alone, in numpy and by its own words: no function of this project."""
    path = conformance.FOLDER / conformance.LOGITS
    arrays = load_file(path)
    words = safe_open(path, "np").metadata()
    rounds, methods = json.loads(words["rounds"]), json.loads(words["methods"])
    Z = dict(zip(rounds, arrays["logits"].astype(np.float64), strict=True))
    t = arrays["prompt_tokens"] + arrays["step"]
    chosen = {}
    for name, each in methods.items():
        base = Z["original"]
        textual, visual = ([Z[n] for n in each[kind]] for kind in ("textual", "visual"))
        tc = np.max([base, *textual], axis=0) / each["tau1"]
        vc = base - np.mean(visual, axis=0) if visual else 0 * base
        score = {
            "base": lambda b=base: b,
            "tie": lambda v=vc: v,
            "vcd": lambda b=base, v=vc, a=each["alpha"]: b + a * v,
            "vdd": lambda b=base, v=vc, a=each["alpha"]: b + a * v,
            "icd": lambda b=base, q=textual, a=each["alpha"]: b + a * (b - q[0]),
            "m3id": lambda b=base, v=vc: b + np.expm1(0.02 * t)[:, None] * v,
            "mean": lambda b=base, q=textual: np.mean([b, *q], axis=0),
            "sci": lambda c=tc, v=vc, two=each["tau2"]: c + v / two,
        }[each["rule"]]()
        if each["rule"] != "base" and each["beta"]:
            deciding = tc if each["decides"] == "textual" else base / each["tau1"]
            low = deciding < deciding.max(axis=1, keepdims=True) + np.log(each["beta"])
            score = np.where(low, -np.inf, score)
        chosen[name] = score.argmax(axis=1).tolist()
    return chosen


def test_an_outsider_who_has_the_file_alone_chooses_every_token(known, tmp_path, capsys):
    mine = by_an_outsider()
    assert mine == known["tokens"] and list(mine) == list(METHODS)
    assert len({tuple(tokens) for tokens in mine.values()}) == len(METHODS)  # no two methods agree
    (tmp_path / "mine.json").write_text(json.dumps(mine))
    assert sci("conformance", tmp_path / "mine.json") == 0
    assert capsys.readouterr().out.count(f"{len(mine['base'])} equal") == len(METHODS)


@pytest.mark.parametrize("place", [0, 7, -1])
def test_one_wrong_token_is_named(place, known, tmp_path, capsys):
    tokens = list(known["tokens"]["SCI5"])
    place %= len(tokens)
    tokens[place] += 1
    (tmp_path / "mine.json").write_text(json.dumps({"SCI5": tokens}))
    assert sci("conformance", tmp_path / "mine.json") == 1
    said = f"{len(tokens) - 1} equal, 1 wrong, first in question {place}"
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ("{}", "got none"), ("[1]", "got list"), ('{"SCI6": []}', "got SCI6"), ("{", "as JSON"),
        ('{"SCI5": [1, 2]}', r"\d+ whole numbers.*got 2"), ('{"SCI5": 3}', "got int"),
        ('{"SCI5": ["a"]}', "got 1"), ('{"SCI5": [1.5]}', "got 1"),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_said_in_a_sentence(answers, says, tmp_path, capsys):
    (tmp_path / "mine.json").write_text(answers)
    assert sci("conformance", tmp_path / "mine.json") == 2
    assert re.search(says, capsys.readouterr().err.replace("\n", " "))


def test_the_file_names_every_rule_and_its_own_version(known):
    words = safe_open(conformance.FOLDER / conformance.LOGITS, "np").metadata()
    rules = {each["rule"] for each in json.loads(words["methods"]).values()}
    assert rules == set(RULES) and words["schema"] == str(known["schema"]) == "1"
