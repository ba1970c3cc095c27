"""What claims about the objections measure, against plain counting on drawn records."""

from dataclasses import replace

import numpy as np
import pytest

from sci_book.papers.sci import objections
from sci_book.papers.sci.chapters import measures
from sci_book.papers.shared import chapters
from sci_book.papers.shared.evidence import Evidence, title
from sci_book.results import controls
from sci_book.results.records import write_records
from sci_book.results.stamps import NotRecorded
from sci_core.methods import SCI5
from tests.papers.shared.drawn_records import drawn_records

NAME = "pocket-qwen2vl"
NAMES = ("SCI5", "base")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of two trainings, the first of which has answers to a companion's questions."""
    folder = tmp_path_factory.mktemp("records")
    own = drawn_records(NAME, rows=60, spoilt=(5,))
    write_records(folder / f"{NAME}.parquet", own)
    write_records(folder / "training1" / f"{NAME}.parquet", drawn_records(NAME, seed=1, rows=60))
    asked = drawn_records(NAME, seed=2, rows=60, datasets=("tiny_mme",))
    write_records(folder / "oric" / f"{NAME}.parquet", asked)
    return chapters.subjects([NAME], folder)[0]


@pytest.fixture(scope="module")
def tested(model):
    frame = model.records.frame
    return ((frame["position"] % 5 != 0) & frame["error"].isna()).to_numpy()


def numbers(lines):
    """By the keys of a line: estimate and n of the first training, and how many there are."""
    found = {}
    for line in lines:
        keys = tuple(v for k, v in line.items() if k != "model" and isinstance(v, str))
        interval = line["interval"](line["trainings"][:1])
        found[keys] = (interval.estimate, interval.n, len(line["trainings"]))
    return found


def test_a_difference_is_of_methods_and_of_controls(model, tested):
    lines = objections.difference([model], ["SCI5"], ["base", "vote(3)"], ["BS", "all"])
    found, records = numbers(lines), model.records
    mine = records.correct("SCI5").astype(float)
    bs = model.sets("any", "rows")["BS"].to_numpy() & tested
    vote = controls.vote(records, 3)
    assert found["SCI5 − base", "all"] == (
        pytest.approx((mine - records.correct("original"))[tested].mean()), tested.sum(), 2
    )  # fmt: skip
    assert found["SCI5 − vote(3)", "BS"] == (pytest.approx((mine - vote)[bs].mean()), bs.sum(), 2)


def test_a_claims_measure_takes_controls_by_their_names(model):
    asked = Evidence(model, [], None)
    for name in ("vote(3)", "runner-up", "sampled"):
        (sample,) = measures.difference(asked, ["SCI5"], [name], ["BS"])
        ((number, n, _),) = numbers(
            objections.difference([model], ["SCI5"], [name], ["BS"])
        ).values()
        assert (sample.what, len(sample.values)) == (f"SCI5 − {name}, BS", n)
        assert sample.interval.estimate == pytest.approx(number)


def test_drawn_is_what_the_methods_own_scores_give(model, tested):
    lines = objections.difference([model], ["SCI5"], ["sampled, plausible"], drawn=True)
    (found,) = numbers(lines).values()
    one, other = (controls.drawn(model, each) for each in (SCI5, controls.PLAUSIBLE))
    rows = tested & (model.records.frame["question_type"] != "short").to_numpy()
    assert found[:2] == (pytest.approx((one - other)[rows].mean()), rows.sum())
    (gain,) = numbers(objections.drawn_gain([model], ["SCI5"], ["base"])).values()
    greedy = model.right(SCI5) - model.right("base")
    expected = one - controls.drawn(model) - greedy
    assert gain[:2] == (pytest.approx(expected[rows].mean()), rows.sum())


def test_of_what_is_turned_a_share_is_mended(model, tested):
    (found,) = numbers(objections.mended([model], ["SCI5"], ["base"], ["all"])).values()
    base, mine = (model.records.correct(name)[tested] for name in ("original", "SCI5"))
    mended, broken = (mine & ~base).sum(), (base & ~mine).sum()
    assert mended and broken
    assert found[0] == pytest.approx(mended / (mended + broken))


@pytest.mark.parametrize("method", ["SCI5", "shift", "base", {"M": 2, "N": 2, "beta": 0.8}])
@pytest.mark.parametrize("where", ["", "oric"])
def test_rates_are_of_yes_and_of_hits_by_the_right_answer(method, where, model):
    asked = model.beside(where) if where else model
    records, kinds = asked.records, ["yes", "present", "absent"]
    found = numbers(objections.rates([model], [method], kinds, where=where))
    frame = records.frame
    rows = ((frame["position"] % 5 != 0) & (frame["dataset"] == "tiny_mme")).to_numpy()
    yes = (frame["truth"] == "yes").to_numpy()
    if method == "shift":
        added = controls.shift(records, asked.replay)[0]["tiny_mme"]
        nodes = records.nodes
        first = np.flatnonzero([not prefix for prefix in nodes.prefix])
        logits = dict(zip(nodes.row[first].tolist(), first.tolist(), strict=True))
        above = np.zeros(len(frame))
        for row in np.flatnonzero(rows):
            tokens = nodes.tokens[logits[row]].tolist()
            said = {word: nodes.logits[0, logits[row], tokens.index(token)]
                    for word, token in (("yes", 4), ("no", 5))}  # fmt: skip
            above[row] = said["yes"] - said["no"] + added
        says = above > 0
    else:
        says = records.parsed(method if method in NAMES else "SCI5 beta=0.8") == "yes"
    expected = {"yes": (says, rows), "present": (says, rows & yes), "absent": (~says, rows & ~yes)}
    for kind, (values, some) in expected.items():
        number = found[title(method), kind, "tiny_mme"]
        assert number == (pytest.approx(values[some].mean()), some.sum(), 1 if where else 2)


def test_the_fitted_shift_is_shown_by_data_set(model):
    (line,) = objections.fitted([model])
    assert line["trainings"][0] == controls.shift(model.records, model.replay)[0]["tiny_mme"]
    assert line["interval"]([1.0, 2.0]).estimate == 1.5 and line["scale"] == 1


def test_a_brier_score_and_reliability_are_of_the_methods_own_score(model, tested):
    (brier,) = numbers(objections.brier([model], ["SCI5"], ["base"])).values()
    (reliable,) = numbers(objections.reliability([model], ["SCI5"], ["base"])).values()
    rows = tested & (model.records.frame["question_type"] != "short").to_numpy()
    scores = []
    for name in ("SCI5", "base"):
        sure = controls.confidence(model.records, model.replay, objections.method_of(name))[rows]
        right = model.right(objections.method_of(name))[rows]
        bins = np.minimum((10 * sure).astype(int), 9)
        far = [(bins == at).sum() * (sure - right)[bins == at].mean() ** 2 for at in {*bins}]
        scores.append((np.mean((sure - right) ** 2), sum(far) / rows.sum()))
    (mine, mine_far), (base, base_far) = scores
    assert brier[:2] == (pytest.approx(mine - base), rows.sum())
    assert reliable[:2] == (pytest.approx(mine_far - base_far), rows.sum())


def test_by_data_set_every_set_has_a_line(model):
    sets = dict.fromkeys(model.records.frame["dataset"])
    found = numbers(objections.by_dataset([model], ["SCI5"], ["base"]))
    assert [dataset for _, dataset in found] == list(sets)
    lines = objections.by_dataset([model], ["SCI5"], ["shift"], where="oric")
    assert [dataset for _, dataset in numbers(lines)] == ["tiny_mme"]


def test_a_training_without_a_companions_answers_says_so(model):
    later = replace(model.trainings[1], single=True)
    with pytest.raises(NotRecorded, match=r"training 1 of .* was not asked the questions of oric"):
        list(objections.rates([later], ["base"], ["yes"], where="oric"))


def test_a_training_finds_what_lies_beside_it(model, tmp_path):
    for seed in ("", "training1"):
        write_records(tmp_path / seed / f"{NAME}.parquet", model.records)
        write_records(tmp_path / seed / "oric" / f"{NAME}.parquet", model.records)
    first = chapters.subjects([NAME], tmp_path)[0]
    asked = first.beside("oric")
    paths = [each.path.relative_to(tmp_path).as_posix() for each in asked.trainings]
    assert paths == [f"oric/{NAME}.parquet", f"training1/oric/{NAME}.parquet"]
    alone = replace(first.trainings[1], single=True)
    assert alone.beside("oric").path == asked.trainings[1].path
