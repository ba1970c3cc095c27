"""ORIC's chapters: halves and pairs, metrics, intervals, sizes, rounds, claims, and bad input."""

from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest

from sci_book.papers.oric import detectors, paper, scores
from sci_book.papers.oric.chapters import (
    answers,
    bench,
    context,
    effects,
    encoder,
    measures,
    other_sets,
    rft,
    sampling,
    sizes,
)
from sci_book.papers.oric.chapters.answers import ADVERSARIAL, BENCH, POPE, SAMPLINGS
from sci_book.papers.oric.detectors import NoisySceneGraph
from sci_book.papers.oric.printed import PRINTED, printed_row
from sci_book.papers.registry import PAPERS
from sci_book.papers.shared import chapters
from sci_book.pipeline import ledger
from sci_book.pipeline.claims import load_claims
from sci_book.pipeline.verdicts import completeness, load_index
from sci_book.resources import FROZEN_RECORDS, ROOT
from sci_book.results.records import Records, build_table, write_records
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
    paper.draw(say=lambda _: None)


def records_of(said, model="mine", sets=("bench", "random", "pope"), *, broken=()):
    """Records of the first pairs; `said` gives the text of (set, label, wording, policy)."""
    frame, rows = pd.read_csv(answers.QUESTIONS), []
    for name in sets:
        part = frame[frame["set"] == name].reset_index(drop=True)
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


def test_models_without_records_or_with_others_are_named(tmp_path):
    subject_of(tmp_path, truthful)
    write_records(tmp_path / "oric" / "stolen.parquet", records_of(truthful, "other"))
    found = answers.subjects(["mine", "absent", "stolen"], tmp_path)
    assert [each.name for each in found.subjects] == ["mine"]
    assert "absent has no records of ORIC (oric/absent.parquet)" in chapters.absences(found)
    assert "holds the records of other, not of stolen" in chapters.absences(found)
    assert chapters.absences(answers.subjects(["mine"], tmp_path)) == ""


def test_a_model_without_a_half_is_not_comparable(tmp_path):
    few = subject_of(tmp_path, truthful, sets=("bench",))
    assert len(answers.of(few, BENCH)) and not len(answers.of(few, POPE))
    found = answers.subjects(["mine"], tmp_path)
    assert found.subjects == []
    assert "mine: some set of ORIC’s has no question" in chapters.absences(found)
    book = chapters.Subject("mine", None, "mine", "mine", tmp_path / "mine.parquet", few.records)
    assert PAPERS["oric"].evidence([book], None) == [None]
    empty = answers.of(few, POPE)
    assert answers.value("f1", empty).n == answers.difference("f1", empty, empty).n == 0


def test_pages_stand_without_any_model():
    for page in (bench, context, sizes, sampling):
        assert page.paper_numbers([]) == {}
    assert effects.changes([]) == {}
    assert answers.unread([], answers.SETS) == effects.priors([]) == ""


def test_halves_are_balanced_and_whole(frozen):
    for subject in frozen:
        for halves in (POPE, ADVERSARIAL, *SAMPLINGS.values()):
            asked = answers.of(subject, halves)
            assert (asked.labels == "yes").sum() == (asked.labels == "no").sum() == 200
            assert asked.rows.shape == (4, 400) and len(np.unique(asked.rows)) == 1_600
            about = asked.about
            assert about["object"].tolist() == asked.column("category").tolist()
            shown = [group.partition(":")[2] for group in asked.images]
            assert about["image"].tolist() == shown


def test_pairs_share_picture_and_label_and_differ_in_the_object(frozen):
    usual, odd = context.matched(frozen[0])
    assert len(usual) == len(odd) > 150
    assert (usual.images == odd.images).all() and (usual.labels == odd.labels).all()
    assert (usual.about["object"].to_numpy() != odd.about["object"].to_numpy()).all()
    keys = list(zip(usual.images, usual.labels, strict=True))
    assert len(set(keys)) == len(keys)
    sets = [
        set(zip(each.images, each.column("category"), each.labels, strict=True))
        for each in (answers.of(frozen[0], POPE), answers.of(frozen[0], BENCH))
    ]
    for mine, part, other in ((usual, sets[0], sets[1]), (odd, sets[1], sets[0])):
        asked = set(zip(mine.images, mine.column("category"), mine.labels, strict=True))
        assert asked <= part and not asked & other


def test_metrics_are_those_of_the_instrument(frozen):
    asked = answers.of(frozen[0], BENCH)
    tables = [scores.counts(asked.labels, said) for said in asked.said()]
    for name in scores.METRICS:
        found = answers.value(name, asked)
        by_hand = np.mean([scores.metrics(table)[name] for table in tables])
        assert 100 * found.estimate == pytest.approx(by_hand)
        assert found.low < found.estimate < found.high
    assert answers.value("recall_yes", asked).n == 200 and answers.value("f1", asked).n == 400


def test_a_difference_is_that_of_the_values_and_paired(frozen):
    first, second = (answers.of(frozen[0], halves) for halves in (POPE, BENCH))
    found = answers.difference("f1", first, second)
    ends = answers.value("f1", first), answers.value("f1", second)
    assert found.estimate == pytest.approx(ends[0].estimate - ends[1].estimate)
    apart = np.hypot(*(end.high - end.low for end in ends))
    assert found.low < found.estimate < found.high and found.high - found.low < apart
    same = answers.difference("f1", first, first)
    assert same.estimate == 0 and np.isnan(same.low)  # all alike says nothing of how sure


def test_unknown_is_right_of_nothing_and_failed_is_left_out(tmp_path):
    def said(name, label, wording, policy):
        return "a zebra" if name == "bench" and wording == 3 else label

    subject = subject_of(tmp_path, said, broken=[("random", 4)])
    asked = answers.of(subject, BENCH)
    assert (asked.said() == "unknown").sum() == len(asked)
    assert answers.value("recall_yes", asked).estimate == pytest.approx(0.75)
    assert answers.value("recall_no", asked).estimate == pytest.approx(0.75)
    random = answers.of(subject, SAMPLINGS["random"])
    assert (random.said() == "failed").sum() == 1
    assert answers.value("f1", random).estimate == 1
    sets = {"by lot": SAMPLINGS["random"], "guided": BENCH, "other": ADVERSARIAL}
    assert answers.unread([subject], sets) == (
        f"mine, by lot: 0 unknown and 1 failed of {random.rows.size}. "
        f"mine, guided: {len(asked)} unknown and 0 failed of {asked.rows.size}. "
        "No other answer was unknown or failed, of 192 a model and set."
    )


def test_the_papers_relatives_stand_beside(frozen):
    assert answers.paper_row(frozen[0], "oric_table10")["overall f1"] == 79.55
    assert not any(printed_row("oric_table10", name) for name in ("nobody", ""))
    table = bench.table(frozen[0]).frame
    assert table.loc["macro F1", "paper"] == "79.55" and len(table) == len(scores.METRICS)
    assert "ours − paper" not in table
    asked = answers.of(frozen[0], BENCH)
    yes, no = (answers.value(f"recall_{label}", asked).estimate for label in ("yes", "no"))
    assert bench.caution(asked).estimate == pytest.approx(no - yes)
    assert "16 of 20 rows" in context.paper_drops()


def test_a_detector_answers_the_same_questions(frozen, drawn, monkeypatch):
    noisy = NoisySceneGraph.of_file(encoder.DATA / "scenes_val.jsonl")
    with monkeypatch.context() as patch:
        patch.setattr(detectors, "MISSED", 0)
        patch.setattr(detectors, "INVENTED", 0)
        for halves in SAMPLINGS.values():
            asked = answers.of(frozen[0], halves)
            assert (bench.detector_said(asked, noisy)[0] == asked.labels).all()
    frame = bench.detector_table(frozen, noisy).frame
    assert frame.columns.tolist()[:2] == ["OWLv2", "Grounding DINO 1.5 Pro"]
    assert len(sampling.table07(frozen, noisy).frame) == 2 * (len(frozen) + 1)


def test_losses_have_the_sign_of_a_loss(tmp_path):
    """Every guided present object is missed, every second wording invents guided absent ones."""

    def said(name, label, wording, policy):
        if name != "bench":
            return label
        return "no" if label == "yes" or wording % 2 else "yes"

    subject = subject_of(tmp_path, said)
    assert sampling.lost(subject, "yes").estimate == 1
    assert sampling.lost(subject, "no").estimate == pytest.approx(0.5)
    assert sampling.sharper(subject).estimate == pytest.approx(-0.5)
    assert context.dramatic(subject).estimate > 0.5
    frame = context.by_label([subject]).frame
    assert frame.iloc[0, 0] == "100.00" and frame.iloc[1, 0] == "50.00"
    assert context.fallen([subject]).frame["POPE’s alone"].astype(int).iloc[0] > 0
    examples = context.examples(subject)
    assert set(examples["label"]) == {"yes"}  # absent ones are never invented in every wording


def test_equal_sizes_take_the_sizes_effect_away(tmp_path):
    """A model that misses small objects and nothing else loses nothing at equal sizes."""
    frame = pd.read_csv(answers.QUESTIONS)
    small = {
        (one.image, one.object)
        for one in frame.itertuples()
        if one.label == "yes" and scores.size_of(one.area) == "small"
    }
    records = records_of(truthful)
    table = records.table.to_pylist()
    for row in table:
        if (row["group"].partition(":")[2], row["category"]) in small:
            row["text:original"] = row["parsed:original"] = "no"
    subject = subject_of(tmp_path, truthful)
    subject = replace(subject, records=Records(build_table(table, POLICIES), records.stamp, {}))
    drop = answers.difference("recall_yes", *(answers.of(subject, h) for h in (POPE, BENCH)))
    assert drop.estimate > 0.1
    assert sizes.same_sizes(subject, POPE).estimate == pytest.approx(0)
    assert sizes.main_source(subject, POPE).estimate == pytest.approx(-drop.estimate)
    asked = answers.of(subject, POPE)
    assert sizes.recall(asked, "small").estimate == 0 and sizes.gap(asked).estimate == 1


def test_sizes_of_the_sets(frozen):
    shares = sizes.shares()
    assert shares.sum(axis=1).between(99.8, 100.1).all()
    assert shares.loc["paper, ORIC"].tolist() == [44.8, 41.2, 14.0]
    asked = answers.of(frozen[0], BENCH)
    assert sum(sizes.mix_of(asked).values()) == pytest.approx(1)
    assert sizes.shared(frozen[0]) == ["small", "medium"] and sizes.largest(asked) == "medium"
    assert sizes.largest(asked.where(asked.labels == "no")) == ""
    assert sizes.gap(asked.where(asked.labels == "no")).n == 0


def test_replays_are_what_was_decoded(frozen):
    for subject in frozen:
        asked, found = answers.of(subject, BENCH), effects.replayed(subject).set_index(["M", "N"])
        assert (found["open"] == 0).all()
        for rounds, method in (((1, 1), "SCI3"), ((2, 2), "SCI5"), ((3, 3), "SCI7")):
            for name, metric in effects.METRICS.items():
                gain = 100 * effects.gain(asked, method, metric).estimate
                assert found.loc[rounds, name] == pytest.approx(gain)


def test_gains_and_turns(tmp_path):
    def said(name, label, wording, policy):
        return "yes" if policy == "SCI5" else "no"

    subject = subject_of(tmp_path, said)
    lines = effects.changes([subject])["mine"]
    assert lines.loc["SCI5: present found", "reproduced"] == 100
    assert lines.loc["SCI5: absent denied", "reproduced"] == -100
    assert lines.loc["VCD: present found", "reproduced"] == 0
    assert lines.loc["VCD: present found", "verdict"] == "inconclusive"
    p = lines["p"]
    assert np.isnan(p["SCI5: macro F1"]) and p["SCI5: present found"] < 0.05
    parts = measures.gain(measures.Evidence(subject), "SCI5", ["present found", "absent denied"])
    assert [part.what for part in parts] == ["SCI5: present found", "SCI5: absent denied"]
    assert [part.interval.estimate for part in parts] == [1, -1]
    turned = effects.turned([subject]).frame.loc["mine: SCI5"].astype(int)
    half = len(answers.of(subject, BENCH)) * 2
    assert turned["to yes, rightly"] == turned["to yes, wrongly"] == half
    assert effects.replayed(subject).empty or set(effects.replayed(subject)["M"]) == {0}


def test_contrasts_point_to_incongruity(drawn):
    assert encoder.contrast("pocket CLIP", "no").interval.low > 0  # chosen for it
    for name in encoder.encoders():
        found = encoder.scored(name)
        yes = found["POPE"].of("yes")[0].mean() - found["ORIC"].of("yes")[0].mean()
        assert encoder.contrast(name, "yes").interval.estimate == pytest.approx(yes / 100)
        assert encoder.closer(name).clusters <= 19
    assert "0.140" in str(encoder.distance_table())


def test_constants_are_known_answers():
    frame = other_sets.read()
    apart = other_sets.apart(frame)
    assert apart.loc["AMBER, always yes", "own figure"] == 0
    assert other_sets.flattered(apart, 10.0).startswith(f"{len(apart) - 1} of {len(apart)} const")
    assert other_sets.flattered(apart[1:], 10.0).startswith("3 of 3 constant")
    assert "39.87" in str(other_sets.apart_table(apart))
    assert len(other_sets.table(frame, "AMBER").frame) == 8


def test_a_printed_table_keeps_every_digit():
    for table in ("oric_table01", "oric_table04", "oric_table07", "oric_table10"):
        cells = PRINTED.tables[table]["value"].str.replace("-", "−")
        shown = answers.as_printed(table, "a caption").frame
        assert sorted(shown.to_numpy()[~shown.isin(["—", ""])]) == sorted(cells), table


def test_every_claim_can_be_tested_and_few_models_break_nothing(frozen, drawn, tmp_path):
    claims = [each for each in load_claims(own=True) if each.paper == "oric"]
    assert len(claims) >= 12
    books = chapters.subjects(MODELS, FROZEN_RECORDS)
    results = ROOT / "benchmarks" / "results"
    tuned = {path.stem for path in (results / "rft").glob("*.json")}
    for each in ledger.evaluate(claims, books, results):
        there = each.claim.measure != "fine_tuned" or each.model in tuned
        judged = bool(each.parts) and not each.unmet
        assert (each.verdict != "not comparable") == judged and bool(each.parts) == there
    lonely = replace(books[0], path=tmp_path / "lonely.parquet")
    found = ledger.evaluate(claims, [lonely], None)
    assert {each.verdict for each in found} == {"not comparable"}
    alone = replace(books[-1], path=tmp_path / "alone.parquet")  # fine-tuned, and no record
    parts = {each.claim.id for each in ledger.evaluate(claims, [alone], results) if each.parts}
    assert parts == {each.id for each in claims if each.measure == "fine_tuned"}


def test_measures_stand_beside_the_papers_numbers(frozen, drawn):
    of = measures.Evidence(frozen[0])
    (drop,), (fall,) = measures.drop(of, ["f1"], ["POPE"]), measures.pair_drop(of)
    printed = context.paper_numbers(frozen[:1])
    assert printed[of.subject.name, drop.what] == pytest.approx(8.48)
    assert printed[of.subject.name, fall.what] == pytest.approx(39.67)
    lost = sampling.paper_numbers(frozen[:1])
    (found,) = measures.guided_loss(of, ["yes"])
    assert lost[of.subject.name, found.what] == pytest.approx(8.67)
    shared = [part.what for part in measures.size_drop(of, ["small", "medium", "large"])]
    assert shared == ["POPE less ORIC, small", "POPE less ORIC, medium"]
    assert sizes.paper_numbers(frozen[:1])[of.subject.name, shared[0]] == pytest.approx(10)
    for encoders, label in ((["pocket CLIP"], "yes"), (["scene graph"], "no")):
        (part,) = measures.fit(of, encoders, label)
        assert (MODELS[0], part.what) in encoder.paper_numbers(MODELS)
    assert measures.pair_level(of)[0].interval.n == len(context.matched(frozen[0])[0])


def test_the_ledger_tests_what_the_chapter_of_visual_rft_claims(frozen):
    result = rft.read(MODELS[-1])
    of = measures.Evidence(frozen[-1], result)
    parts = measures.fine_tuned(of, "oric")
    others = ("the model as it is", "taught the form")
    assert [part.what for part in parts] == [f"Visual-RFT less {other}" for other in others]
    f1 = {name: rft.score(result, "oric", name, "f1").estimate for name in rft.SHOWN}
    assert [each.interval.estimate for each in parts] == pytest.approx(
        [f1["rft"] - f1[name] for name in rft.COMPARISONS]
    )
    rows, probed = result.rows("probe"), measures.fine_tuned(of, "probe")
    # No interval where a condition says yes or no to less than half of the questions.
    read = [rft.answered(result, "probe", name) >= 50 for name in rft.COMPARISONS]
    assert [each.interval.n for each in probed] == [len(rows["label"]) * it for it in read]
    assert measures.fine_tuned(measures.Evidence(frozen[0]), "oric") == []


def test_the_index_is_whole():
    places = [entry["place"] for entry in load_index("oric")]
    frame = pd.DataFrame({"place": places})
    assert completeness("oric", frame) == "holds"
    for gone in ("Table 7", "Table 10", "Figure 3"):
        assert completeness("oric", frame[frame["place"] != gone]) == "fails"


def test_figures_are_drawn(frozen, drawn):
    one = frozen[:1]  # nbval draws them with both
    lines = effects.changes(one)
    for figure in (
        bench.draw(one), context.draw(one), sizes.draw(sizes.shares()), encoder.draw(),
        sampling.draw(one), effects.draw(one, lines),
        other_sets.draw(other_sets.apart(other_sets.read())),
    ):  # fmt: skip
        assert all(ax.get_xlabel() or ax.get_ylabel() or ax.get_title() for ax in figure.axes)
