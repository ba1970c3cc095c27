"""The second registration: which trainings enter it, what it fixes, and when it is refused."""

import datetime
import json
import shutil
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from sci_book.pipeline import over_trainings, registration
from sci_book.pocket.curriculum import seed_of
from sci_book.resources import MANIFESTS, PAPER, ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
import second_registration as second

DAY = datetime.date(2026, 11, 28)


@pytest.fixture
def results(tmp_path):
    """Writes what was found of made-up trainings: the base of each, by name."""

    def write(bases):
        for name, base in bases.items():
            found = {"seed": 7, "revision": f"of {name}", "accuracy of each input alone, %":
                     {"original": base, "V1": 1.0}}  # fmt: skip
            (tmp_path / f"{name}.json").write_text(json.dumps(found), encoding="utf-8")
        return tmp_path

    return write


def bases(**numbers):
    return {f"{family}-{each}": 80.0 for family, many in numbers.items() for each in many}


def test_it_is_refused_while_fewer_than_four_trainings_of_a_family_have_ended(results):
    with pytest.raises(ValueError, match="3 trainings of llava_next have ended, one after another"):
        second.chosen(results(bases(qwen2_vl=range(5), llava_next=range(3))))
    with pytest.raises(ValueError, match="--plan"):  # the fourth has not ended, the fifth has
        second.chosen(results(bases(llava_next=[4])))


def test_a_training_that_has_not_learned_the_task_is_named_and_the_next_takes_its_place(results):
    ended = bases(qwen2_vl=range(7), llava_next=range(5)) | {"llava_next-1": 64.9}
    fixed, unlearned = second.chosen(results(ended))
    qwen, llava = ([int(name[-1]) for name in fixed if name.startswith(family)]
                   for family in second.FAMILIES)  # fmt: skip
    assert qwen == [0, 1, 2, 3, 4] and llava == [0, 2, 3, 4]
    assert unlearned == {"llava_next-1": 64.9}
    assert second.entering({0: 60.0, 1: 80.0, 2: 64.0, 3: 65.0, 5: 80.0}) == ([1, 3], [0, 2])


def test_the_sister_is_named_with_her_one_seed_whether_she_has_ended_or_not(results):
    folder = results(bases(qwen2_vl=range(4), llava_next=range(4)))
    for ended in ({}, {"qwen2_vl-sister-0": 50.0}):
        made = second.registered("1" * 40, DAY, results(ended) and folder)
        assert made["sisters"] == {"qwen2_vl-sister-0": seed_of("qwen2_vl", "sister-0")}
        assert len(made["trainings"]) == 8


@pytest.fixture
def made(results):
    return second.registered("1" * 40, DAY, results(bases(qwen2_vl=range(4), llava_next=range(4))))


def test_it_fixes_every_file_that_decides_and_the_seed_of_the_world(made, tmp_path):
    shutil.copytree(PAPER, tmp_path / "paper")
    shutil.copytree(MANIFESTS / "pocket", tmp_path / "pocket")
    folder = tmp_path / "paper"
    file = folder / registration.SECOND
    file.write_text(second.text_of(made), encoding="utf-8")
    assert yaml.safe_load(file.read_text("utf-8")) == made
    assert registration.all_departures(folder) == []
    assert over_trainings.standing(folder) == (
        f"Registered on 2026-11-28, commit `{'1' * 12}`: {len(made['files'])} files that decide a "
        f"verdict. Amended since: 0 times. {registration.UNTOUCHED}"
    )
    claims = {path.name for path in PAPER.glob("claims_*.yaml")}
    claims |= {f"second/{path.name}" for path in over_trainings.FOLDER.glob("*.yaml")}
    assert claims | {"conditions.yaml", "golden/values.csv"} < {*made["files"]}
    assert made["world seed"] == seed_of("qwen2_vl", "world")
    assert "0 to 4" in made["subjects"] and f"under {second.LEARNED:.0f} %" in made["subjects"]
    for name in ("golden/values.csv", "golden/records.sha256", "../pocket/recipe-qwen2_vl.yaml"):
        with (folder / name).open("a", encoding="utf-8") as changed:
            changed.write("\n")
        assert name in registration.all_departures(folder)[-1]
        shutil.copy(PAPER / name, folder / name)


def test_it_is_not_written_over_changed_files_or_after_records_of_its_trainings(
    made, tmp_path, monkeypatch
):
    monkeypatch.setattr(second.registration, "all_departures", list)
    monkeypatch.setattr(second.registration, "of_claims", lambda: [registration.REGISTRATION])
    monkeypatch.setattr(second, "git", lambda *words: "")
    monkeypatch.setattr(second.world, "WORLD", made["world seed"], raising=False)

    def frozen(place, revision):
        file = tmp_path / place / "one.parquet"
        file.parent.mkdir(parents=True, exist_ok=True)
        stamp = {"sci_stamp": json.dumps({"revision": revision})}
        pq.write_table(pa.table({"index": [1]}).replace_schema_metadata(stamp), file)
        return file

    frozen("training1", "of another")
    for name in [*made["trainings"]][1:]:
        frozen(f"{name}/conditions", f"of {name}")
    (told,) = second.obstacles(made, tmp_path)
    assert "missing of qwen2_vl-0. Make it with" in told
    frozen("conditions", "of qwen2_vl-0")
    assert second.obstacles(made, tmp_path) == []
    main = frozen("training2", "of qwen2_vl-1")
    assert second.obstacles(made, tmp_path) == [
        f"{main} has answers of methods on a training that would enter."
    ]
    main.unlink()
    monkeypatch.setattr(second.world, "WORLD", 8_000_000)
    assert f"Let WORLD = {made['world seed']} in" in second.obstacles(made, tmp_path)[0]
    monkeypatch.setattr(second, "git", lambda *words: " M claims_sci.yaml")
    assert "commit them first:\n M claims_sci.yaml" in second.obstacles(made, tmp_path)[0]
    monkeypatch.setattr(second.registration, "all_departures", lambda: ["One is other."])
    monkeypatch.setattr(second.registration, "of_claims", lambda: ["", registration.SECOND])
    assert [told.split()[0] for told in second.obstacles(made, tmp_path)[:2]] == [
        "One", registration.SECOND,
    ]  # fmt: skip


def test_the_command_says_in_a_sentence_why_it_refuses(results, monkeypatch):
    monkeypatch.setattr(second, "RESULTS", results({}).parent / "nothing")
    monkeypatch.setattr(sys, "argv", ["second_registration.py"])
    with pytest.raises(SystemExit, match=r"^0 trainings of qwen2_vl have ended"):
        second.main()


@pytest.mark.skipif(
    registration.SECOND not in registration.of_claims(),
    reason="the second registration is not written: it waits for four trainings of each family",
)
def test_the_trainings_that_enter_are_those_that_the_rule_names():
    known = registration.load_registration(registered=registration.SECOND)
    fixed, _ = second.chosen(second.RESULTS / "trainings")
    entered = known["trainings"]
    assert entered == {name: fixed[name] for name in entered}
    assert second.world.WORLD == known["world seed"] == seed_of(second.FAMILIES[0], "world")
