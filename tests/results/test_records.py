"""Records on disk, and methods recomputed from them against decoding with all logits."""

import dataclasses
import json
import os
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from sci_book.results import controls
from sci_book.results.records import (
    SCHEMA_VERSION,
    Records,
    RecordsError,
    build_table,
    read_records,
    write_records,
)
from sci_book.results.replay import Replay, recompute
from sci_book.run.trajectories import summarise
from sci_core.counterfactuals import is_visual
from sci_core.methods import BASE, M3ID, SCI3, SCI5, SCI7, TIE, VCD, sci
from sci_core.scoring import scores
from tests.rows import sample

ROUNDS = list(SCI7.rounds)
VOCABULARY = 60
PROMPT_TOKENS = 40
END = 59


def records_of(logits, top, question_type="yesno", pieces=None):
    """One-step records of `logits [rounds, samples, vocab]`."""
    nodes = summarise(logits, ROUNDS, top, [()] * logits.shape[1], [()] * logits.shape[1])
    rows = []
    for place, node in enumerate(nodes):
        row = sample(place, question_type=question_type, prompt_tokens=PROMPT_TOKENS)
        row["options"] = "AB" if question_type == "mcq" else ""
        row["nodes"] = [vars(node) | {"logits": node.logits.ravel()}]
        pieces = pieces or {token: f"t{token}" for token in range(VOCABULARY)}
        for name, round_logits in zip(ROUNDS, logits, strict=True):
            token = int(round_logits[place].argmax())
            row[f"tokens:{name}"], row[f"text:{name}"] = [token], pieces[token]
            row[f"parsed:{name}"] = pieces[token] if pieces[token] in ("yes", "no") else None
        rows.append(row)
    stamp = {"schema": SCHEMA_VERSION, "model": "m", "rounds": ROUNDS, "methods": [],
             "datasets": {"x": "md5:0"}, "eos": [END], "max_new_tokens": 1}  # fmt: skip
    return Records(build_table(rows, ROUNDS), stamp, pieces)


def random_logits(samples=150, seed=0, spread=4.0):
    """Rounds that resemble each other, as real ones do, with clear leaders."""
    generator = torch.Generator().manual_seed(seed)
    common = torch.randn(1, samples, VOCABULARY, generator=generator) * spread
    return common + torch.randn(7, samples, VOCABULARY, generator=generator)


VARIANTS = [
    BASE, TIE, VCD, M3ID, SCI3, SCI5, SCI7, sci(3, 1), sci(0, 3), sci(2, 0),
    dataclasses.replace(M3ID, clock="generated"), dataclasses.replace(SCI5, beta=0.8),
    dataclasses.replace(SCI5, beta=0.0), dataclasses.replace(SCI7, log_probs=True),
    dataclasses.replace(SCI5, raw_margin=1.0), dataclasses.replace(SCI5, tau1=0.2, tau2=5.0),
    dataclasses.replace(VCD, log_probs=True, beta=0.0),
    dataclasses.replace(SCI5, name="by mean", rule="mean"),
]  # fmt: skip


@pytest.mark.parametrize("method", VARIANTS, ids=lambda m: f"{m.name}-{m.beta}-{m.log_probs}")
@pytest.mark.parametrize("top", [2, 8])
def test_a_proven_winner_is_the_winner_over_the_whole_vocabulary(method, top):
    logits = random_logits()
    found = recompute(records_of(logits, top), method)
    own = logits[[ROUNDS.index(name) for name in method.rounds]]
    truth = scores(method, own, step=0, prompt_tokens=torch.full((150,), PROMPT_TOKENS))
    right = found["token"].to_numpy() == truth.argmax(dim=-1).numpy()
    assert right[found["proven"]].all()
    if top == 8 and method.beta > 0:
        assert found["proven"].mean() > 0.95
    if method.beta > 0:
        assert found["proven"].mean() > 0.3


def test_bounds_hold_for_every_token_left_out():
    logits = random_logits(samples=20)
    decoded = [{k, 7} for k in range(20)]
    nodes = summarise(logits, ROUNDS, 3, [()] * 20, decoded)
    for node, full, tokens in zip(nodes, logits.transpose(0, 1), decoded, strict=True):
        assert tokens <= {*node.tokens.tolist()}
        left_out = np.setdiff1d(np.arange(VOCABULARY), node.tokens)
        for place, name in enumerate(ROUNDS):
            value = full[0] - full[place] if is_visual(name) else full[place]
            assert node.outside[place] == value[left_out].max()
        np.testing.assert_array_equal(node.logits, full[:, node.tokens])


@pytest.mark.parametrize("edit", ["every_step", "first_token"])
@pytest.mark.parametrize("method", VARIANTS, ids=lambda m: f"{m.name}-{m.beta}-{m.log_probs}")
def test_nodes_that_are_scored_at_once_are_scored_as_each_at_its_own_step(
    method, edit, monkeypatch
):
    method = dataclasses.replace(method, edit=edit)
    replay = Replay(records_of(random_logits(80), 8).rounded())
    replay.depths = np.arange(80) % 4
    at_once = replay.choose(method)
    apart = [(depth, replay.depths == depth) for depth in range(4)]
    monkeypatch.setattr(replay, "_scored_alike", lambda _: apart)
    for found, expected in zip(at_once, replay.choose(method), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_record_of_the_whole_vocabulary_proves_everything():
    found = recompute(records_of(random_logits(20), VOCABULARY), TIE)
    assert found["proven"].all()


def test_written_and_read_back_unchanged(tmp_path):
    records = records_of(random_logits(30), 8)
    write_records(tmp_path / "a.parquet", records)
    again = read_records(tmp_path / "a.parquet")
    write_records(tmp_path / "b.parquet", again)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert again.stamp == records.stamp and again.pieces == records.pieces
    np.testing.assert_array_equal(again.nodes.logits, records.nodes.logits)
    np.testing.assert_array_equal(again.take(np.arange(30) > 9).nodes.row, np.arange(20))


def test_a_file_is_read_once_while_it_is_held_and_again_when_it_has_changed(tmp_path):
    path = tmp_path / "a.parquet"
    write_records(path, records_of(random_logits(samples=2), top=5))
    held = read_records(path)
    assert read_records(path) is held and read_records(os.path.relpath(path)) is held
    write_records(path, records_of(random_logits(samples=3), top=5))
    assert len(read_records(path).keys) == 3 and len(held.keys) == 2


def test_shards_however_many_are_read_as_the_one_file_they_come_from(tmp_path):
    records = records_of(random_logits(40), 8)
    write_records(tmp_path / "whole.parquet", records)
    order = np.random.default_rng(0).permutation(40)
    for number in range(40):  # more than are read together, their rows in no order
        write_records(
            tmp_path / f"shard-{number:05}-of-00040.parquet",
            records.take(order[number : number + 1]),
        )
    read = read_records(tmp_path)
    assert read.table.equals(read_records(tmp_path / "whole.parquet").table)
    assert read.stamp == records.stamp and read.pieces == records.pieces
    last = tmp_path / "shard-00039-of-00040.parquet"
    write_records(last, dataclasses.replace(records, stamp={**records.stamp, "model": "other"}))
    with pytest.raises(RecordsError, match="mixes shards of several runs"):
        read_records(tmp_path)


def two_answers(first, second, third, samples=1):
    """Logits whose original round prefers token 1, then 2, then 3."""
    logits = torch.zeros(7, samples, VOCABULARY)
    logits[:, :, 1], logits[:, :, 2], logits[:, :, 3] = first, second, third
    return logits


def outcome(control, records):
    return controls.CONTROLS[control].right(SimpleNamespace(records=records))


def test_runner_up_is_the_next_answer_that_differs():
    pieces = {token: "x" for token in range(VOCABULARY)} | {1: "yes", 2: "Yes", 3: "no"}
    records = records_of(two_answers(9, 8, 7), 8, pieces=pieces)
    assert controls.runner_up(records).tolist() == ["no"]
    assert controls.uniform_other(records).tolist() == [0.0]
    right = [float(truth == "no") for truth in records.frame["truth"]]
    assert outcome("runner-up", records).tolist() == right


def test_records_without_logits_have_no_runner_up():
    pieces = {token: "x" for token in range(VOCABULARY)} | {1: "yes", 2: "Yes", 3: "no"}
    alone = records_of(two_answers(9, 8, 7), 8, pieces=pieces).answers_alone()
    assert np.isnan(outcome("runner-up", alone)).all()  # not measured, and no zero
    assert outcome("uniform other", alone).tolist() == [0.0]


def test_uniform_other_is_the_expected_outcome():
    pieces = {token: "x" for token in range(VOCABULARY)} | {1: "no", 3: "yes"}
    assert controls.uniform_other(records_of(two_answers(9, 8, 7), 8, pieces=pieces)) == [1.0]
    unknown = records_of(two_answers(8, 9, 7), 8, "mcq", pieces)
    assert controls.uniform_other(unknown) == [0.5]
    short = records_of(two_answers(9, 8, 7), 8, "short", pieces)
    assert np.isnan(controls.uniform_other(short)).all()


def test_answers_follow_recorded_trajectories_or_are_marked():
    pieces = {token: "x" for token in range(VOCABULARY)} | {1: "no", 3: "yes", END: ""}
    logits = two_answers(9, 0, 8.5)
    logits[4:, :, 1] = 12  # dummies say "no": the contrast turns to token 3, which no round chose
    found = recompute(records_of(logits, 8, pieces=pieces), SCI5)
    assert found.iloc[0].tolist() == [3, "yes", True, False]
    found = recompute(records_of(logits, 8, pieces=pieces), BASE)
    assert found.iloc[0].tolist() == [1, "no", True, True]
    logits[:, :, END] = 20
    found = recompute(records_of(logits, 8, pieces=pieces), BASE)
    assert found.iloc[0].tolist() == [END, None, True, True]


def test_a_loose_method_does_not_tell_how_others_end():
    """It opens as the base does and goes astray; the base's answer stays known."""
    pieces = {token: "x" for token in range(VOCABULARY)} | {1: "no", 3: "yes", END: ""}
    plain = records_of(two_answers(9, 0, 8.5), 8, pieces=pieces)
    for loose, known in ((dataclasses.replace(SCI5, beta=0.0), True), (SCI5, False)):
        rows = [
            row | {"tokens:m": [1, 7], "text:m": "no x", "parsed:m": None}
            for row in plain.table.to_pylist()
        ]
        fields = json.loads(json.dumps(dataclasses.asdict(loose))) | {"name": "m"}
        stamp = {**plain.stamp, "methods": [fields]}
        both = Records(build_table(rows, [*ROUNDS, "m"]), stamp, plain.pieces)
        assert recompute(both, BASE).iloc[0].tolist() == [1, "no", True, known]


def test_unrecorded_rounds_and_policies_are_named():
    records = records_of(random_logits(3), 8)
    with pytest.raises(RecordsError, match=r"SCI9 needs the round\(s\) V4, noise600"):
        recompute(records, sci(4, 4))
    with pytest.raises(RecordsError, match="no answers of 'SCI5'; they hold original, V1"):
        records.parsed("SCI5")


def test_a_decoded_method_is_known_by_all_its_fields():
    stamp = {"methods": [json.loads(json.dumps(dataclasses.asdict(SCI5)))], "rounds": ROUNDS}
    records = dataclasses.replace(records_of(random_logits(2), 8), stamp=stamp)
    assert records.policy_of(BASE) == "original" and records.policy_of(SCI5) == "SCI5"
    assert records.policy_of(dataclasses.replace(SCI5, name="any other name")) == "SCI5"
    assert records.policy_of(dataclasses.replace(SCI5, beta=0.8)) is None
    assert records.policy_of(SCI7) is None


def test_answers_alone_keep_everything_but_the_nodes(tmp_path):
    whole = records_of(random_logits(5), 8)
    write_records(tmp_path / "bare.parquet", whole.answers_alone())
    bare = read_records(tmp_path / "bare.parquet")
    assert bare.frame.equals(whole.frame) and bare.stamp == whole.stamp
    assert not len(bare.nodes.row) and not bare.pieces
    with pytest.raises(RecordsError, match="records of m hold answers alone"):
        recompute(bare, SCI5)


def test_bad_files_are_refused(tmp_path):
    with pytest.raises(RecordsError, match="holds no records"):
        read_records(tmp_path)
    (tmp_path / "x.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(RecordsError, match="is no file of records"):
        read_records(tmp_path / "x.parquet")
    records = records_of(random_logits(2), 8)
    old = dataclasses.replace(records, stamp={**records.stamp, "schema": 0})
    write_records(tmp_path / "old.parquet", old)
    with pytest.raises(RecordsError, match="records of schema 0, this version reads schema 1"):
        read_records(tmp_path / "old.parquet")
    del old.stamp["schema"]
    write_records(tmp_path / "none.parquet", old)
    with pytest.raises(RecordsError, match=r"none\.parquet is no file of records \('schema'\)"):
        read_records(tmp_path / "none.parquet")
