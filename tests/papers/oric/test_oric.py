"""ORIC's measures: halves and pairs, metrics, intervals, sizes, claims, and bad input."""

from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest

from sci_book.papers.oric import detectors, pocket_questions, scores
from sci_book.papers.oric.chapters import answers, measures
from sci_book.papers.oric.chapters.answers import ADVERSARIAL, BENCH, POPE, SAMPLINGS, asked
from sci_book.papers.oric.printed import PRINTED, printed_row, printed_table
from sci_book.papers.registry import PAPERS
from sci_book.papers.shared import chapters
from sci_book.pipeline import ledger
from sci_book.pipeline.claims import load_claims
from sci_book.resources import FROZEN_RECORDS, ROOT
from sci_book.results.records import Records, build_table, write_records
from sci_book.results.statistics import NO_DATA
from sci_core.methods import M3ID, SCI3, SCI5, SCI7, TIE, VCD
from tests.rows import answers as texts
from tests.rows import sample

MODELS = ["pocket-qwen2vl", "pocket-llavanext"]
METHODS = (TIE, VCD, M3ID, SCI3, SCI5, SCI7)
POLICIES = ["original", *(each.name for each in METHODS)]
PAIRS = 12  # of made-up records


@pytest.fixture(scope="module")
def frozen():
    return answers.subjects(MODELS, FROZEN_RECORDS).subjects


@pytest.fixture(scope="module")
def drawn():
    pocket_questions.draw(say=lambda _: None)


def records_of(said, model="mine", sets=("bench", "random", "pope"), *, broken=()):
    """Records of the first pairs; `said` gives the text of (set, label, wording, policy)."""
    known, rows = pd.read_csv(pocket_questions.QUESTIONS), []
    for name in sets:
        part = known[known["set"] == name].reset_index(drop=True)
        for place, one in part[part["pair"] < PAIRS].iterrows():
            for wording in range(4):
                row = sample(
                    4 * (place + 1) + wording, dataset=f"pocket_oric_{name}", truth=one["label"],
                    group=f"pocket_oric:{one['image']}", category=one["object"],
                    question_type="yesno",
                )  # fmt: skip
                if (name, row["index"]) in broken:
                    row["error"] = "RowError"
                else:
                    label = one["label"]
                    words = {each: said(name, label, wording, each) for each in POLICIES}
                    row |= texts(words, unread={*words.values()} - {"yes", "no"})
                rows.append(row)
    stamp = {
        "schema": 1, "model": model, "revision": "r", "rounds": ["original"], "rows": "some",
        "methods": [asdict(each) for each in METHODS], "eos": [9], "max_new_tokens": 8,
        "datasets": {f"pocket_oric_{name}": "content:x" for name in sets},
    }  # fmt: skip
    return Records(build_table(rows, POLICIES), stamp, {})


def subject_of(folder, said, **options):
    (folder / "oric").mkdir(exist_ok=True)
    write_records(folder / "oric" / "mine.parquet", records_of(said, **options))
    (subject,) = chapters.companions(["mine"], folder, "oric", "ORIC").subjects
    return subject


def truthful(name, label, wording, policy):
    return label


def test_a_model_without_a_half_is_not_comparable(tmp_path):
    few = subject_of(tmp_path, truthful, sets=("bench",))
    assert answers.unread([few]) == ""
    none = subject_of(tmp_path, truthful, sets=("pope",))
    assert not len(asked(none, BENCH)) and answers.unread([none]) == ""
    assert len(asked(few, BENCH)) and not len(asked(few, POPE))
    found = answers.subjects(["mine"], tmp_path)
    assert found.subjects == []
    assert "mine: some set of ORIC’s has no question" in chapters.absences(found)
    book = chapters.Subject("mine", None, "mine", "mine", tmp_path / "mine.parquet", few.records)
    assert PAPERS["oric"].evidence([book], None) == [None]
    empty = asked(few, POPE)
    assert answers.value("f1", few, empty).n == difference("f1", few, empty, empty).n == 0


def test_halves_are_balanced_and_whole(frozen):
    for subject in frozen:
        for halves in (POPE, ADVERSARIAL, *SAMPLINGS.values()):
            mine = asked(subject, halves)
            assert mine["label"].value_counts().to_dict() == {"yes": 200, "no": 200}
            rows = mine[answers.ROWS].to_numpy()
            assert rows.shape == (400, 4) and len(np.unique(rows)) == 1_600
            for wording in answers.ROWS:
                read = subject.records.frame.iloc[mine[wording]]
                assert read["category"].tolist() == mine["object"].tolist()
                assert read["truth"].tolist() == mine["label"].tolist()
            assert [g.partition(":")[2] for g in mine["group"]] == mine["image"].tolist()


def test_pairs_share_picture_and_label_and_differ_in_the_object(frozen):
    usual, odd = measures.matched(frozen[0])
    keys = ["image", "label", "object"]
    assert usual[keys[:2]].equals(odd[keys[:2]]) and not usual.duplicated(keys[:2]).any()
    sets = [set(zip(*asked(frozen[0], h)[keys].T.to_numpy(), strict=True)) for h in (POPE, BENCH)]
    first, second = sets
    alone = [{key[:2] for key in part} for part in (first - second, second - first)]
    assert len(usual) == len(odd) == len(alone[0] & alone[1]) > 0
    for mine, part, other in ((usual, *sets), (odd, *reversed(sets))):
        pairs = set(zip(*mine[keys].T.to_numpy(), strict=True))
        assert pairs <= part and not pairs & other


def test_metrics_are_those_of_the_instrument(frozen):
    bench = asked(frozen[0], BENCH)
    tables = [scores.counts(bench["label"], said) for said in answers.said(frozen[0], bench)]
    for name in scores.METRICS:
        found = answers.value(name, frozen[0], bench)
        by_hand = np.mean([scores.metrics(table)[name] for table in tables])
        assert 100 * found.estimate == pytest.approx(by_hand)
        assert found.low < found.estimate < found.high
    assert answers.value("recall_yes", frozen[0], bench).n == 200
    assert answers.value("f1", frozen[0], bench).n == 400
    keys = {answers.value(name, frozen[0], bench).key for name in scores.METRICS}
    assert len(keys) == len(scores.METRICS)  # of the same sums


def difference(name, model, first, second):
    return answers.combine([answers.less(name, model, first, second)])


def test_a_difference_is_that_of_the_values_and_paired(frozen):
    first, second = (asked(frozen[0], halves) for halves in (POPE, BENCH))
    found = difference("f1", frozen[0], first, second)
    ends = [answers.value("f1", frozen[0], side) for side in (first, second)]
    assert found.estimate == pytest.approx(ends[0].estimate - ends[1].estimate)
    assert found.low < found.estimate < found.high
    terms = answers.less("f1", frozen[0], first, second)

    def without(image):  # what is on one picture is left out of both sides
        sums = [each.counts[:, each.images != image].sum(axis=1) for each in terms]
        return sum(each.sign * each.value(part) for each, part in zip(terms, sums, strict=True))

    gaps = np.array([without(image) for image in {*terms[0].images, *terms[1].images}])
    spread = ((gaps - gaps.mean()) ** 2).sum()  # the jackknife
    assert found.error == pytest.approx(np.sqrt((1 - 1 / len(gaps)) * spread), rel=0.1)
    same = difference("f1", frozen[0], first, first)
    assert same.estimate == 0 and np.isnan(same.low)  # all alike says nothing of how sure


def test_over_trainings_a_score_is_the_mean_of_each_ones_own(frozen):
    terms = [answers.less("f1", m, asked(m, POPE), asked(m, BENCH)) for m in frozen]
    each = [answers.combine([mine]) for mine in terms]
    found = answers.combine([*terms, *terms, []])
    assert found.estimate == pytest.approx(np.mean([one.estimate for one in each]))
    assert found.n == 400 and found.clusters == each[0].clusters and found.low < found.high
    assert np.isnan(answers.combine(terms).low)  # of two there is no interval
    assert answers.combine([[]]) is answers.combine([]) is NO_DATA


def test_unknown_is_right_of_nothing_and_failed_is_left_out(tmp_path):
    def said(name, label, wording, policy):
        return "a zebra" if name == "bench" and wording == 3 else label

    subject = subject_of(tmp_path, said, broken=[("random", 4)])
    bench = asked(subject, BENCH)
    assert (answers.said(subject, bench) == "unknown").sum() == len(bench)
    assert f"by training, of 25 % ({subject.shown}):" in answers.unread([subject])
    for name in ("recall_yes", "recall_no"):
        assert answers.value(name, subject, bench).estimate == pytest.approx(0.75)
    random = asked(subject, SAMPLINGS["random"])
    assert (answers.said(subject, random) == "failed").sum() == 1
    assert answers.value("f1", subject, random).estimate == 1


def test_what_a_replay_leaves_open_is_no_answer_of_the_models(tmp_path):
    subject = subject_of(tmp_path, truthful)
    bench, every = asked(subject, BENCH), np.arange(len(subject.records.frame)) % 3
    found = pd.DataFrame({"answer": ["yes", None, None], "known": [False, True, False]})
    subject._answers[SCI5] = found.iloc[every].reset_index(drop=True)
    words = np.array(["yes", "unknown", "failed"], dtype=object)
    rows = bench[answers.ROWS].to_numpy().T
    assert (answers.said(subject, bench, SCI5) == words[every[rows]]).all()


def test_the_papers_relatives_stand_beside(frozen):
    assert answers.paper_row(frozen[0], "oric_table10")["f1"] == 79.55
    assert answers.paper_row(frozen[0], "oric_table07", "random")["recall_no"] == 97.15
    assert not any(printed_row("oric_table10", name) for name in ("nobody", ""))
    stranger = replace(frozen[0], label=None)
    assert answers.relative(stranger) == "" and answers.paper_row(stranger, "oric_table10") == {}
    bench = asked(frozen[0], BENCH)
    yes, no = (answers.value(f"recall_{x}", frozen[0], bench).estimate for x in ("yes", "no"))
    caution = answers.combine([measures.caution(frozen[0], bench)])
    assert caution.estimate == pytest.approx(no - yes)


def test_a_detector_answers_the_same_questions(frozen, drawn, monkeypatch):
    monkeypatch.setattr(detectors, "INVENTED", 0)
    for halves in SAMPLINGS.values():
        about = asked(frozen[0], halves)
        frozen_ones = [(q.image, q.target) for q in measures.questions(halves)]
        assert frozen_ones == list(zip(about["image"], about["object"], strict=True))
        assert measures.detected("recall_no", halves).estimate == 1
    assert 0.7 < measures.detected("recall_yes", BENCH).estimate < 0.9
    assert measures.detected("f1", BENCH).n == 400


def test_losses_have_the_sign_of_a_loss(tmp_path):
    """Every guided present object is missed, every second wording invents guided absent ones."""

    def said(name, label, wording, policy):
        if name != "bench":
            return label
        return "no" if label == "yes" or wording % 2 else "yes"

    subject = subject_of(tmp_path, said)
    lost = [part.interval for part in measures.guided_loss(subject, ["yes", "no"])]
    assert [each.estimate for each in lost] == pytest.approx([1, 0.5])
    (more,) = measures.sharper(subject)
    assert more.interval.estimate == pytest.approx(-0.5) and more.interval.n == lost[1].n
    assert measures.pair_drop(subject)[0].interval.estimate > 0.5
    assert measures.pair_level(subject)[0].interval.estimate == 1


def test_equal_sizes_take_the_sizes_effect_away(tmp_path):
    """A model that misses small objects and nothing else loses nothing at equal sizes."""
    known = pd.read_csv(pocket_questions.QUESTIONS)
    small = {
        (one.image, one.object)
        for one in known.itertuples()
        if one.label == "yes" and scores.size_of(one.area) == "small"
    }
    records = records_of(truthful)
    table = records.table.to_pylist()
    for row in table:
        if (row["group"].partition(":")[2], row["category"]) in small:
            row["text:original"] = row["parsed:original"] = "no"
    subject = subject_of(tmp_path, truthful)
    subject = replace(subject, records=Records(build_table(table, POLICIES), records.stamp, {}))
    drop = difference("recall_yes", subject, *(asked(subject, h) for h in (POPE, BENCH)))
    assert drop.estimate > 0.1
    assert measures.at_equal_sizes(subject)[0].interval.estimate == pytest.approx(0)
    parts = measures.main_source(subject)
    whole, left = (part.interval.estimate for part in parts)
    assert whole == drop.estimate and left == pytest.approx(-drop.estimate)
    small = measures.of_size(subject, POPE, "small")
    assert answers.value("recall_yes", subject, small).estimate == 0
    assert measures.size_gap(subject, ["POPE"])[0].interval.estimate == 1


def test_sizes_of_the_sets(frozen):
    model = frozen[0]
    assert sum(len(measures.of_size(model, BENCH, size)) for size in scores.SIZES) == 200
    of_pope, of_oric = ({*asked(model, halves)["size"]} for halves in (POPE, BENCH))
    parts = measures.size_drop(model, scores.SIZES)
    assert [part.what for part in parts] == [
        f"POPE less ORIC, {size}" for size in scores.SIZES if size in of_pope & of_oric
    ]
    held = [size for size in scores.SIZES if size in of_oric]
    assert len(held) > 1  # so that some can be taken away
    sizes = asked(model, BENCH)[["size", *answers.ROWS]].set_index("size")
    for count in range(len(held) + 1):
        gone = np.isin(np.arange(len(model.records.frame)), sizes.loc[held[count:]].to_numpy())
        fewer = replace(model, records=model.records.take(~gone))
        (step,) = measures.size_gap(fewer, ["ORIC"])
        assert measures.largest(fewer, BENCH) == (held[count - 1] if count else "")
        assert bool(step.interval.n) == (count > 1)


def test_a_gain_is_of_the_method(tmp_path):
    def said(name, label, wording, policy):
        return "yes" if policy == "SCI5" else "no"

    subject = subject_of(tmp_path, said)
    parts = measures.gain(subject, "SCI5", ["present found", "absent denied"])
    assert [part.what for part in parts] == ["SCI5: present found", "SCI5: absent denied"]
    assert [part.interval.estimate for part in parts] == [1, -1]
    for part in measures.gain(subject, "VCD", ["present found", "absent denied"]):
        assert part.interval.estimate == 0


def test_contrasts_point_to_incongruity(frozen, drawn):
    model = frozen[0]  # of which nothing is asked
    (chosen,) = measures.fit(model, ["pocket CLIP"], "no")
    assert chosen.interval.low > 0  # chosen for it
    means = measures.clip_scores().groupby(["encoder", "set", "label"])["score"].mean()
    for name in measures.encoders():
        (present,) = measures.fit(model, [name], "yes")
        gap = means[name, "POPE", "yes"] - means[name, "ORIC", "yes"]
        assert present.interval.estimate == pytest.approx(gap)
        (near,) = measures.nearer(model, [name])
        assert near.interval.clusters <= 19


def test_a_printed_table_keeps_every_digit():
    for name in ("oric_table01", "oric_table04", "oric_table07", "oric_table10"):
        cells = PRINTED.tables[name]["value"].str.replace("-", "−")
        shown = printed_table(name).frame
        assert sorted(shown.to_numpy()[~shown.isin(["—"])]) == sorted(cells), name


def test_every_claim_can_be_tested(frozen, drawn, tmp_path):
    claims = [each for each in load_claims(own=True) if each.paper == "oric"]
    assert len(claims) >= 12
    books = chapters.subjects(MODELS, FROZEN_RECORDS)
    results = ROOT / "benchmarks" / "results"
    tuned = {path.stem for path in (results / "rft").glob("*.json")}
    for each in ledger.evaluate(claims, books, results):
        there = each.claim.measure != "fine_tuned" or each.model in tuned
        judged = bool(each.parts) and not each.unmet
        assert (each.verdict != "not comparable") == judged and bool(each.parts) == there
    alone = replace(books[-1], path=tmp_path / "alone.parquet")  # fine-tuned, and no record
    parts = {each.claim.id for each in ledger.evaluate(claims, [alone], results) if each.parts}
    of_tuning = {each.id for each in claims if each.measure == "fine_tuned"}
    assert parts == (of_tuning if alone.name in tuned else set()) and of_tuning
