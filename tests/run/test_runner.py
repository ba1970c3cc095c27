"""The runner: answers as decoded alone, shards that never change the bytes, runs that resume."""

import dataclasses
import json
import random
import shutil

import numpy as np
import pytest
import torch

from sci_book import files
from sci_book.data.prompts import build_prompt
from sci_book.data.rewordings import reword
from sci_book.results.records import RecordsError, read_records, write_records
from sci_book.results.replay import Replay
from sci_book.run import layout, runner, verify
from sci_book.run.engines import RunEngine
from sci_book.run.log import first_message
from sci_book.run.method_sets import EXTENDED_METHODS, STANDARD_METHODS
from sci_book.run.shards import run_shard
from sci_book.run.trajectories import TRANSFORMERS
from sci_core.counterfactuals import counterfactual_image, prefix_rewrite, rewrite
from sci_core.families.models import load_model
from sci_core.generate import generate
from sci_core.methods import BASE, M3ID, SCI5, SCI7, TIE, VCD, Method
from tests import tiny
from tests.soak import mostly
from tests.world import EDIT_ONCE, METHODS, SETTINGS, log_of, with_row


def shard_bytes(folder):
    return {file.name: file.read_bytes() for file in sorted(folder.glob("shard-*"))}


def merged_bytes(folder, path):
    write_records(path, read_records(folder))
    return path.read_bytes()


def assert_as_generate(model, records, rows, dummy):
    """Every method, V2 and a dummy picture alone answered as `generate` does."""
    images = [row.image() for row in rows]
    prompts = [build_prompt(row, model.family) for row in rows]
    for method in (*METHODS, Method("V2", "base"), Method(dummy, "base")):
        words = [rewrite(each, "V2") for each in prompts] if method.name == "V2" else prompts
        shown = images
        if method.name == dummy:
            shown = [counterfactual_image(image, dummy) for image in images]
        answers = generate(model, shown, words, method, SETTINGS["max_new_tokens"], batch_size=4)
        recorded = records.frame[f"tokens:{'original' if method is BASE else method.name}"]
        assert [a.tokens for a in answers] == [tuple(t) for t in recorded], method.name
        assert [a.text for a in answers] == records.text(method.name).tolist()


def test_every_row_has_one_record_in_order(world, run):
    frame = run[1].frame
    assert list(zip(frame["dataset"], frame["index"], strict=True)) == [
        (row.dataset, row.index) for row in world
    ]
    assert frame["error"].isna().all()
    assert run[1].rounds == [
        "original", "V1", "V2", "V3", "black", "noise500", "noise400",
    ]  # fmt: skip
    assert run[1].policies[7:] == ["TIE", "M3ID", "SCI5", "SCI7"]


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_answers_are_those_of_generate(family, model, world, run, tmp_path):
    """Shared prefixes, forks and sorted batches change no answer of any method or round."""
    if family == "qwen2_vl":
        records, rows = run[1], world.rows
    else:
        model = load_model(tiny.write_checkpoint(tmp_path / "m", family, stops=30))
        part = dataclasses.replace(world, rows=world.rows[14:20] + world.rows[-3:])
        records = runner.evaluate(model, part, METHODS, tmp_path / "out", **SETTINGS)
        rows = part.rows
    assert_as_generate(model, records, rows, "noise500")


DECODED = (
    M3ID,
    VCD,
    SCI7,
    dataclasses.replace(SCI5, name="even", tau1=1.0, tau2=0.4, beta=0.05),
    dataclasses.replace(SCI5, name="free", tau1=3.0, tau2=1.5, beta=0.0),
    dataclasses.replace(SCI5, name="wide", log_probs=True, raw_margin=9.0),
)


@pytest.mark.parametrize("top", [1, 2])
@pytest.mark.parametrize("settings", [{}, {"repetition_penalty": 3.0, "no_repeat_ngram_size": 1}])
def test_a_record_keeps_every_token_that_was_decoded(settings, top, world, tmp_path):
    """However few of each round it keeps; so every decoded method is replayed as it was decoded."""
    folder = tiny.write_checkpoint(tmp_path / "m", "qwen2_vl", stops=30)
    model = load_model(folder)
    model.generation.config.update(**settings)
    records = runner.evaluate(
        model, world, DECODED, tmp_path / "out", top=top, max_new_tokens=3, workers=1
    )
    places = np.flatnonzero(records.ok)
    nodes = records.nodes
    kept = {
        (row, prefix): set(tokens.tolist())
        for row, prefix, tokens in zip(nodes.row.tolist(), nodes.prefix, nodes.tokens, strict=True)
    }
    for policy in records.policies:
        for row in places:
            answer = tuple(records.frame[f"tokens:{policy}"][row].tolist())
            for step in range(len(answer) + 1):
                tokens = kept.get((row, answer[:step]))
                if tokens is not None:
                    following = {answer[step]} if step < len(answer) else model.eos_token_ids
                    assert tokens & following, (policy, row, step)
    replayed = Replay(records)
    short = (records.frame["question_type"] == "short").to_numpy()
    for method in () if settings else DECODED:  # a replay knows no checkpoint's settings
        answers = replayed.answers(method)
        written = records.frame[f"tokens:{method.name}"]
        for token, tokens in zip(answers["token"], written, strict=True):
            assert token in (tokens[:1] if len(tokens) else model.eos_token_ids)
        assert answers["known"][short].all()
        said = records.parsed(method.name)
        assert answers["answer"][short].tolist() == said[short].tolist()


@pytest.mark.parametrize("family", mostly(tiny.FAMILIES[::-1]))
def test_tokens_do_not_depend_on_the_batch_size(family, world, tmp_path):
    model = load_model(tiny.write_checkpoint(tmp_path / "m", family, stops=30), dtype="float64")
    settings = {"max_new_tokens": 3, "workers": 1, "progress": False}
    one, *others = (
        runner.evaluate(model, world, METHODS, tmp_path / f"{size}", batch_size=size, **settings)
        for size in (1, 3, 64)
    )
    for other in others:
        assert one.keys == other.keys
        for policy in one.policies:
            column = f"tokens:{policy}"
            assert one.table[column].to_pylist() == other.table[column].to_pylist(), policy


@pytest.mark.parametrize("shards", [1, 2, 100])
def test_bytes_do_not_depend_on_number_or_order_of_shards(shards, model, world, run, tmp_path):
    plan = runner.make_plan(model, world, METHODS, batch_size=8, max_new_tokens=3, shards=shards)
    order = list(range(len(plan.shards)))
    random.Random(0).shuffle(order)
    for shard in order:
        run_shard(plan, shard, tmp_path / "out")
    assert merged_bytes(tmp_path / "out", tmp_path / "a.parquet") == merged_bytes(
        run[0], tmp_path / "b.parquet"
    )


def test_workers_change_no_byte(model, world, run, tmp_path):
    settings = SETTINGS | {"workers": 2}
    runner.evaluate(model, world, METHODS, tmp_path, shards=2, **settings)
    assert len(shard_bytes(tmp_path)) == 2
    assert merged_bytes(tmp_path, tmp_path / "a") == merged_bytes(run[0], tmp_path / "b")
    assert sorted(entry["shard"] for entry in log_of(tmp_path)) == [0, 1]


def test_an_interrupted_run_goes_on_and_ends_byte_identical(
    model, world, run, tmp_path, monkeypatch
):
    written = []

    def cut_off(path, content):
        if len(written) == 2:
            path.with_name(f"{path.name}.1.tmp").write_bytes(content[:99])
            with (path.parent / "log.jsonl").open("a") as log:
                log.write('{"shard": 2, "sec')
            raise KeyboardInterrupt
        written.append(path.name)
        files.write_whole(path, content)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(runner, "write_whole", cut_off)
        runner.evaluate(model, world, METHODS, tmp_path, **SETTINGS)
    assert [each for each in shard_bytes(tmp_path) if not each.endswith(".tmp")] == written
    (half,) = tmp_path.glob("*.tmp")
    with pytest.raises(RecordsError, match=r"holds 2 of \d+ shards: the run is not finished"):
        read_records(tmp_path)
    kept = {name: (tmp_path / name).stat().st_mtime_ns for name in written}
    runner.evaluate(model, world, METHODS, tmp_path, **SETTINGS)
    assert shard_bytes(tmp_path) == shard_bytes(run[0]) and not half.exists()
    assert kept == {name: (tmp_path / name).stat().st_mtime_ns for name in written}
    assert [entry["shard"] for entry in log_of(tmp_path)] == [*range(len(shard_bytes(tmp_path)))]


def test_a_finished_run_is_only_read(model, world, run):
    before = {file: file.stat().st_mtime_ns for file in run[0].iterdir()}
    again = runner.evaluate(model, world, METHODS, run[0], **SETTINGS)
    assert again.table.equals(run[1].table)
    assert before == {file: file.stat().st_mtime_ns for file in run[0].iterdir()}


@pytest.mark.parametrize(
    ("methods", "settings", "field"),
    [
        (
            (VCD,),
            {},
            r'methods is \["TIE", "M3ID", "SCI5", "SCI7"\], expected \["VCD"\]; rounds diff',
        ),
        (
            (dataclasses.replace(SCI5, beta=0.8),),
            {},
            "methods is SCI5 with beta=0.3, expected beta=0.8",
        ),
        (METHODS, {"max_new_tokens": 2}, "max_new_tokens is 3"),
        (METHODS, {"rounds": ["V5"]}, "rounds is .*, expected"),
    ],
)
def test_a_folder_of_another_run_is_refused(methods, settings, field, model, world, run):
    with pytest.raises(RecordsError, match=f"records of another run: {field}.*another folder"):
        runner.evaluate(model, world, methods, run[0], **(SETTINGS | settings))


def test_a_folder_of_other_data_is_refused_by_its_data(model, world, run):
    part = dataclasses.replace(world, rows=world.rows[:9])
    with pytest.raises(RecordsError, match=r"rows is .*which rows: --limit.*\); max_new_tokens, "):
        runner.evaluate(model, part, METHODS, run[0], **SETTINGS | {"max_new_tokens": 2})


def test_a_finished_run_of_more_methods_and_rounds_is_read(model, world, run, monkeypatch):
    monkeypatch.setattr(runner, "_run", None)  # nothing may be decoded
    for methods, rounds in (([SCI5], ()), (["base"], ["V3", "noise400"]), ([TIE, SCI7], ())):
        found = runner.evaluate(model, world, methods, run[0], **SETTINGS, rounds=rounds)
        assert found.table.equals(run[1].table)


def test_an_unfinished_run_of_more_methods_is_not_gone_on_with(model, world, run, tmp_path):
    for file in run[0].iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    next(tmp_path.glob("shard-*")).unlink()
    with pytest.raises(RecordsError, match="methods is"):
        runner.evaluate(model, world, [SCI5], tmp_path, **SETTINGS)


@pytest.mark.parametrize(
    ("methods", "rounds", "read"),
    [
        (["base"], (), ["original"]),
        (["TIE"], (), ["original", "noise500"]),
        (["sci3"], ("V2",), ["original", "V2", "V1", "black"]),
        ([SCI7, SCI5, TIE], (), list(SCI7.rounds)),
        (STANDARD_METHODS, (), list(SCI7.rounds)),
    ],
)
def test_a_run_reads_the_rounds_that_its_methods_need(methods, rounds, read, model, world):
    assert runner.make_plan(model, world, methods, rounds=rounds).stamp["rounds"] == read


@pytest.mark.parametrize("name", ["V8", "noise1000", "noise", "white"])
def test_a_round_that_is_none_is_refused(name, model, world):
    with pytest.raises(ValueError, match=r"[Uu]nknown (round|dummy image)"):
        runner.make_plan(model, world, ["base"], rounds=[name])


def test_a_row_that_cannot_be_reworded_is_left_out_of_what_needs_it(model, world, run, tmp_path):
    rows = world.rows[20:]
    place = next(place for place, row in enumerate(rows) if row.question_type == "yesno")
    twice = "Is it red? Please answer yes or no. Please answer yes or no."
    part = with_row(dataclasses.replace(world, rows=rows), place, question=twice)
    records = runner.evaluate(model, part, (TIE, SCI5), tmp_path / "both", **SETTINGS)
    assert records.frame["error"].isna().all() and not records.ok[place]
    assert records.ok.sum() == len(rows) - 1 and not len(records.table["nodes"][place])
    for policy in records.policies:
        needs = policy in ("V1", "V2", "SCI5")
        assert records.answered(policy)[place] != needs == records.left_out(policy)[place]
    alone = runner.evaluate(model, part, [TIE], tmp_path / "alone", **SETTINGS)
    assert alone.ok.all()
    for policy in ("original", "noise500", "TIE"):
        column = f"tokens:{policy}"
        assert records.table[column].to_pylist() == alone.table[column].to_pylist()
    (entry,) = (entry for entry in log_of(tmp_path / "both") if "left out" in entry)
    assert "mme" in entry["left out"][0] and "V1, V2: " in entry["left out"][0]
    assert "holds 2 known instructions" in entry["left out"][0] and not entry["errors"]
    found = verify.verify_subset(model, records, part, share=1)
    assert found.passed and found.answers == len(rows) * len(records.policies) - 3


def free_rows(world):
    """Two captions, one of them without a translation, and a question in a word."""
    first, second, third = world.rows[-3:]
    free = {"question_type": "free", "question": "Describe it."}
    rows = (
        dataclasses.replace(first, **free, translation="描述它。"),
        dataclasses.replace(second, **free),
        third,
    )
    return dataclasses.replace(world, rows=rows)


@pytest.mark.filterwarnings("ignore:1 of 3 rows hold no instruction")
def test_captions_take_more_tokens_and_without_a_translation_v2_stands_in_front(world, tmp_path):
    model = tiny.load("qwen2_vl")  # which never ends an answer
    settings = {"batch_size": 8, "executor": "inline", "progress": False}
    part = free_rows(world)
    records = runner.evaluate(model, part, ["SCI3", "SCI5"], tmp_path / "a", **settings)
    lengths = [len(each) for each in records.table["tokens:original"].to_pylist()]
    assert lengths == [64, 64, 8] == records.limits.tolist() and records.cut("base").all()
    assert records.stamp["max_new_tokens"] == 8 and records.stamp["max_new_tokens_free"] == 64
    assert records.ok.all() and records.stamp["reworded by prefix"] == 1
    untranslated = part.rows[1]
    texts = reword(untranslated, build_prompt(untranslated, model.family), ["V1", "V2"]).texts
    assert texts == {name: prefix_rewrite(untranslated.question, name) for name in ("V1", "V2")}
    assert verify.verify_subset(model, records, part, share=1).passed
    fixed = runner.evaluate(model, part, ["base"], tmp_path / "b", max_new_tokens=3, **settings)
    assert [len(each) for each in fixed.table["tokens:original"].to_pylist()] == [3, 3, 3]
    assert "max_new_tokens_free" not in fixed.stamp
    with pytest.raises(RecordsError, match="max_new_tokens_free is 64, expected null"):
        runner.evaluate(model, part, ["SCI3", "SCI5"], tmp_path / "a", max_new_tokens=8, **settings)
    with pytest.raises(ValueError, match="max_new_tokens=0; expected 1 or more"):
        runner.make_plan(model, part, ["base"], max_new_tokens=0)
    stamp = runner.make_plan(model, world, ["base"]).stamp  # no captions: the stamp it had
    assert stamp["max_new_tokens"] == 8 and "max_new_tokens_free" not in stamp


def test_a_bad_sample_is_recorded_and_the_rest_is_unharmed(model, world, run, tmp_path):
    bad = with_row(world, 5, image_bytes=b"no picture")
    twice = "Is it red? Please answer yes or no. Please answer yes or no."
    bad = with_row(bad, 30, question=twice, question_type="yesno")
    records = runner.evaluate(model, bad, METHODS, tmp_path, **SETTINGS)
    assert records.frame["error"].iloc[5] == "RowError"
    assert records.frame["error"].iloc[30] is None  # two instructions, of which none is rewritten
    assert records.ok.sum() == 37
    assert records.parsed("SCI5")[5] is None and not records.correct("SCI5")[5]
    for policy in records.policies:
        assert records.text(policy)[records.ok].tolist() == run[1].text(policy)[records.ok].tolist()
    log = (tmp_path / "log.jsonl").read_text()
    assert "is no picture that can be used" in log and "known instructions" in log


def test_a_question_too_long_for_the_model_or_its_memory_spoils_no_other(
    model, world, run, tmp_path
):
    bad = with_row(world, 5, question="Is it red? " * 900)
    hungry = world.rows[30].question

    def decode_or_run_out(model, questions, *given, **settings):
        if any(hungry in question.prompt for question in questions):
            raise torch.OutOfMemoryError("CUDA out of memory.\nTried to allocate 9 GiB.")
        return TRANSFORMERS.decode(model, questions, *given, **settings)

    engine = RunEngine(None, decode_or_run_out)
    with pytest.warns(RuntimeWarning, match="Out of memory"):
        records = runner.evaluate(
            model, bad, METHODS, tmp_path, executor="inline", engine=engine, **SETTINGS
        )
    errors = records.frame["error"]
    assert errors.iloc[5] == "ValueError"
    hit = [hungry in row.question for row in bad]
    assert (errors[hit] == "MemoryError").all() and records.ok.sum() == 39 - 1 - sum(hit)
    for policy in records.policies:
        assert records.text(policy)[records.ok].tolist() == run[1].text(policy)[records.ok].tolist()
    log = (tmp_path / "log.jsonl").read_text()
    assert "context is 2,048. Shorten" in log and "no room for this question by itself" in log


def test_a_checkpoints_settings_are_those_of_generate_and_stand_in_the_stamp(world, run, tmp_path):
    """Every round and method answers as `generate` does with them; no other run is taken for it."""
    folder = tiny.write_checkpoint(tmp_path / "m", "qwen2_vl", stops=30)
    plain = load_model(folder)
    asked = {"repetition_penalty": 1.4, "no_repeat_ngram_size": 1, "min_new_tokens": 2}
    plain.hf.generation_config.update(**asked)
    plain.hf.generation_config.save_pretrained(folder)
    model = load_model(folder)
    part = dataclasses.replace(world, rows=world.rows[:6] + world.rows[-6:])
    records = runner.evaluate(model, part, METHODS, tmp_path / "out", **SETTINGS)
    assert records.stamp["settings"] == asked and "settings" not in run[1].stamp
    assert_as_generate(model, records, part.rows, "black")
    before = run[1].table["tokens:original"].to_pylist()[:6]
    assert records.table["tokens:original"].to_pylist()[:6] != before
    assert verify.verify_subset(model, records, part, share=1).passed
    assert not Replay(records).answers(SCI5)["proven"].any()
    model.generation.config.repetition_penalty = 1.0
    with pytest.raises(RecordsError, match="settings is"):
        runner.evaluate(model, part, METHODS, tmp_path / "out", **SETTINGS)


def test_another_edition_of_the_rules_of_pictures_is_another_run(model, world, run, monkeypatch):
    assert "pictures" not in run[1].stamp
    monkeypatch.setattr(layout, "PICTURE_RULES", 2)
    with pytest.raises(RecordsError, match="pictures is"):
        runner.evaluate(model, world, METHODS, run[0], **SETTINGS)


def test_what_a_run_does_not_apply_is_said_when_it_is_laid_out(world, tmp_path):
    model = load_model(tiny.checkpoint("qwen2_vl"))
    model.hf.generation_config.num_beams = 3
    with pytest.warns(UserWarning, match="sets num_beams=3, which is not applied"):
        plan = runner.make_plan(model, world, METHODS)
    assert "settings" not in plan.stamp


def test_editing_the_first_token_alone_ends_as_the_base_would_from_there(model, world, tmp_path):
    part = dataclasses.replace(world, rows=world.rows[-6:])
    records = runner.evaluate(model, part, (SCI5, EDIT_ONCE), tmp_path, **SETTINGS)
    images = [row.image() for row in part]
    prompts = [build_prompt(row, "qwen2_vl") for row in part]
    alone = generate(model, images, prompts, EDIT_ONCE, SETTINGS["max_new_tokens"], batch_size=2)
    assert [a.text for a in alone] == records.text(EDIT_ONCE.name).tolist()


def test_the_extended_methods_go_on_from_the_papers_sizes():
    names = [each.name for each in EXTENDED_METHODS]
    assert names[:6] == ["TIE", "VCD", "M3ID", "SCI3", "SCI5", "SCI7"] and "SCI15" in names
    largest = EXTENDED_METHODS[names.index("SCI15")]
    assert largest.tau1 == 4.5 and len(largest.rounds) == 15
    assert layout._all_rounds(SCI5.rounds, EXTENDED_METHODS) == list(largest.rounds)


def test_methods_of_one_name_are_refused(model, world):
    twice = (SCI5, dataclasses.replace(SCI5, beta=0.8))
    with pytest.raises(ValueError, match="distinct names, got SCI5, SCI5"):
        runner.make_plan(model, world, twice)


def test_progress_is_a_plain_line_where_there_is_no_terminal(model, world, tmp_path, capfd):
    part = dataclasses.replace(world, rows=world.rows[:8])
    runner.evaluate(model, part, ["base"], tmp_path, batch_size=8, max_new_tokens=1)
    assert "8 of 8 rows" in capfd.readouterr().err


@pytest.mark.parametrize("name", ["shard-00009-of-00099.parquet", "shard-00000-of-00001.parquet"])
def test_shards_of_another_run_in_the_folder_are_named_before_any_work(
    name, run, model, world, tmp_path
):
    """The same command again would say the same for ever."""
    out = shutil.copytree(run[0], tmp_path / "run")
    shutil.copy(next(out.glob("shard-*.parquet")), out / name)
    says = rf"holds shards of several runs, .* take those of all but one away, such as {name}\.$"
    for read in (lambda: read_records(out),
                 lambda: runner.evaluate(model, world, METHODS, out, **SETTINGS)):  # fmt: skip
        with pytest.raises(RecordsError, match=says):
            read()
    (out / name).unlink()
    assert shard_bytes(out) == shard_bytes(run[0])


@pytest.mark.parametrize("line", ["[]", "null", "3", '"x"', "{", '{"errors": []}'])
def test_a_line_of_the_log_that_says_nothing_is_passed_over(line, tmp_path):
    text = f"{line}\n" + json.dumps({"errors": ["first", "second"]}) + "\n"
    (tmp_path / "log.jsonl").write_text(text, encoding="utf-8")
    assert first_message(tmp_path, "errors") == "first"
    assert first_message(tmp_path, "left out") == ""
