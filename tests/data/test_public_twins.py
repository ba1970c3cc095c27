"""The manifests of NaturalBench, HallusionBench and AMBER read files in these sets' own formats,
drawn here, and the sets' own figures are counted as their published code counts them.

HallusionBench's are counted over its published questions too, where they are at hand
(SCI_REAL_DATA); `test_real_data.py` reads those of the others.
"""

import json
import random
from collections import Counter, defaultdict

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from sci_book.data.datasets import MANIFESTS, DatasetError, load_dataset
from sci_book.data.prompts import build_prompt
from sci_book.papers.oric.other_sets import recorded
from sci_book.results.records import read_records
from sci_book.results.summary import Share, summarise_run
from tests.conftest import sci
from tests.data import formats
from tests.results.test_export import records_of

TOKENS = ["--max-new-tokens", "2", "--executor", "inline"]


def as_own(name, folder):
    """The project's manifest of a public set, for a file that is not the published one."""
    values = yaml.safe_load((MANIFESTS / f"{name}.yaml").read_text(encoding="utf-8"))
    for key in ("folder", "rows", "size", "checksum"):
        values.pop(key, None)
    (folder / f"{name}-twin.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    return str(folder / f"{name}-twin.yaml")


def write_json(path, records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(records), encoding="utf-8")


# --- NaturalBench --------------------------------------------------------------------------------


def write_naturalbench(folder, records, parts=2):
    """The records in several Parquet files, as the hub has them; the manifest over them."""
    (folder / "naturalbench").mkdir()
    for part in range(parts):
        file = folder / "naturalbench" / f"train-{part:05}-of-{parts:05}.parquet"
        count = -(-len(records) // parts)
        pq.write_table(pa.Table.from_pylist(records[part * count : (part + 1) * count]), file)
    return as_own("naturalbench", folder)


def test_naturalbench_is_four_rows_a_record(tmp_path):
    records = formats.naturalbench_records(5)
    rows = load_dataset(write_naturalbench(tmp_path, records)).rows
    assert [row.index for row in rows] == list(range(20)) and not any(row.problem for row in rows)
    assert Counter(row.group for row in rows) == {
        f"naturalbench-twin:{number}": 4 for number in range(5)
    }
    for row in rows:
        record, question, picture = records[row.index // 4], row.index % 4 // 2, row.index % 2
        assert row.image_bytes == record[f"Image_{picture}"]["bytes"]
        assert row.answer.lower() == record[f"Image_{picture}_Question_{question}"].lower()
    yes_no, letters = rows[0], rows[4]
    assert yes_no.question == "Is it red? Please answer yes or no."
    assert letters.question == "What is he holding?"
    assert letters.options == {"A": "A cup", "B": "A red glass"}
    assert rows[6].options == {"A": "In a park", "B": "By the street"}
    assert "\nOptions:\nA. A cup\nB. A red glass\nPlease" in build_prompt(letters, "qwen2_vl")


def test_question_picture_and_group_accuracy_are_the_authors(tmp_path):
    """q0 on i0 and q1 on i1 have one answer, the two others the other one."""
    records = formats.naturalbench_records(60)
    dataset = load_dataset(write_naturalbench(tmp_path, records))
    answers = records_of(dataset, seed=1)
    count = Counter()
    for start in range(0, len(dataset), 4):
        q0i0, q0i1, q1i0, q1i1 = answers.correct("original")[start : start + 4]
        count["questions"] += int(q0i0 and q0i1) + int(q1i0 and q1i1)
        count["pictures"] += int(q0i0 and q1i0) + int(q0i1 and q1i1)
        count["groups"] += int(q0i0 and q0i1 and q1i0 and q1i1)
    (score,) = summarise_run(answers, ["base"]).scores
    assert score.paired.questions == Share(count["questions"], 120)
    assert score.paired.pictures == Share(count["pictures"], 120)
    assert score.paired.groups == Share(count["groups"], 60)
    assert 0 < count["groups"] < min(count["questions"], count["pictures"])
    assert count["questions"] != count["pictures"]
    assert f"; Q-Acc {count['questions'] / 120:.2%}, I-Acc " in str(score)
    assert f", G-Acc {count['groups'] / 60:.2%} of 60 groups" in str(score)


def test_a_picture_in_two_groups_counts_in_each_and_a_spoilt_group_in_none(tmp_path):
    records = formats.naturalbench_records(6)
    records[2]["Image_0"] = records[0]["Image_0"]
    records[5]["Question_1"] = "Where is she?\nOption: A:In a park. Bhe street"  # as one of its own
    dataset = load_dataset(write_naturalbench(tmp_path, records))
    assert Counter(row.problem.kind for row in dataset if row.problem) == {"options": 2}
    (score,) = summarise_run(records_of(dataset), ["base"]).scores
    paired = score.paired
    assert (paired.questions.rows, paired.pictures.rows, paired.groups.rows) == (10, 10, 5)


def test_the_command_prints_the_paired_accuracies(checkpoint, tmp_path, capsys):
    data = write_naturalbench(tmp_path, formats.naturalbench_records(2))
    asked = ["evaluate", "--model", checkpoint, "--data", data, "--methods", "VCD", *TOKENS]
    asked += ["--out", tmp_path / "run"]
    assert sci(*asked) == 0
    said = capsys.readouterr().out
    assert said.count("; Q-Acc ") == 2 and said.count(" of 2 groups") == 2
    assert sci(*asked, "--json") == 0
    paired = json.loads(capsys.readouterr().out)["methods"]["VCD"]["paired"]
    right = read_records(tmp_path / "run").correct("VCD")
    whole = int(right[:4].all()) + int(right[4:].all())
    assert paired["groups"] == {"right": whole, "rows": 2} and paired["questions"]["rows"] == 4


def test_groups_that_are_not_crossed_have_no_paired_accuracies(run):
    for score in summarise_run(run[1], ["base", "SCI5"]).scores:
        assert score.paired is None and "Acc" not in str(score)


def test_a_folder_of_parquet_is_read_whole_or_refused(tmp_path):
    own = write_naturalbench(tmp_path, formats.naturalbench_records(4), parts=4)
    for name in ("naturalbench", "parts"):
        path = tmp_path / f"{name}-twin.yaml"
        values = yaml.safe_load((tmp_path / own).read_text(encoding="utf-8"))
        (tmp_path / "parts").mkdir(exist_ok=True)
        path.write_text(yaml.safe_dump({**values, "file": name}), encoding="utf-8")
    assert len(load_dataset(own)) == 16
    with pytest.raises(DatasetError, match=r"is a folder without a \.parquet file"):
        load_dataset(str(tmp_path / "parts-twin.yaml"))
    values = {**values, "file": "naturalbench", "checksum": {"md5": "0" * 32}}
    path.write_text(yaml.safe_dump(values), encoding="utf-8")
    with pytest.raises(DatasetError, match="is a folder, which has no md5; leave the checksum out"):
        load_dataset(str(path))


# --- HallusionBench ------------------------------------------------------------------------------


@pytest.fixture(params=["drawn", "published"])
def hallusionbench(request, tmp_path):
    """The records of HallusionBench, drawn or published, and the data set of them, whose figures
    are drawn.
    """
    records = formats.hallusionbench_records(40)
    if request.param == "published":
        real = request.getfixturevalue("real") / "hallusionbench" / "HallusionBench.json"
        records = json.loads(real.read_text(encoding="utf-8"))
    write_json(tmp_path / "hallusionbench" / "HallusionBench.json", records)
    for number, name in enumerate(sorted({each["filename"] for each in records} - {None})):
        figure = tmp_path / "hallusion_bench" / name
        figure.parent.mkdir(parents=True, exist_ok=True)
        figure.write_bytes(formats.png(number, (8, 6)))
    return records, load_dataset(as_own("hallusionbench", tmp_path))


def test_hallusionbench_s_own_figures_are_counted_by_its_keys(hallusionbench):
    """aAcc, qAcc and fAcc of the questions that show a figure, as the toolkits count them."""
    records, dataset = hallusionbench
    assert [row.answer == "yes" for row in dataset] == [
        each["gt_answer"] == "1" for each in records
    ]
    shown = [each["filename"] is not None for each in records]
    assert [row.problem is None for row in dataset] == shown
    answers = records_of(dataset, seed=2)
    pairs, figures, right = defaultdict(list), defaultdict(list), answers.correct("original")
    for record, is_right, counts in zip(records, right, shown, strict=True):
        assert counts == (record["category"] == "VD" or record["figure_id"] != "0")
        if counts:
            subset = record["category"], record["subcategory"], record["set_id"]
            pairs[(*subset, record["question_id"])].append(is_right)
            figures[(*subset, record["figure_id"])].append(is_right)
    found = recorded(answers, "original")
    assert found["n"] == sum(shown) and 0 < found["groups"] < found["accuracy"] < 100
    assert found["accuracy"] == pytest.approx(100 * right[shown].mean())
    assert found["groups"] == pytest.approx(100 * sum(map(all, pairs.values())) / len(pairs))
    assert found["pictures"] == pytest.approx(100 * sum(map(all, figures.values())) / len(figures))


# --- AMBER ---------------------------------------------------------------------------------------


def test_amber_s_kinds_are_asked_and_scored_each_in_its_way(checkpoint, tmp_path, capsys):
    queries, annotations = formats.amber_records()
    random.Random(0).shuffle(annotations)  # they are found by their id
    write_json(tmp_path / "amber" / "query_all.json", queries)
    write_json(tmp_path / "amber" / "annotations.json", annotations)
    truths = {each["id"]: each for each in annotations}
    (tmp_path / "amber" / "image").mkdir()
    for number, name in enumerate(sorted({each["image"] for each in queries})):
        (tmp_path / "amber" / "image" / name).write_bytes(formats.png(number))
    data = as_own("amber", tmp_path)
    rows = load_dataset(data).rows
    assert len(rows) == 12 and not any(row.problem for row in rows)
    assert Counter(row.group for row in rows) == {f"amber-twin:AMBER_{i}.jpg": 4 for i in (1, 2, 3)}
    for row in rows:
        truth = truths[row.index]
        described = truth["type"] == "generative"
        assert row.question_type == ("description" if described else "yesno")
        assert row.answer == ("sky, wall" if described else truth["truth"])
        assert row.category == truth["type"]
        assert row.question.endswith(" Please answer yes or no.") != described
    where = ["--out", tmp_path / "run", "--methods", "base"]
    assert sci("evaluate", "--model", checkpoint, "--data", data, *where, *TOKENS) == 0
    said = capsys.readouterr().out
    assert "right of 9; CHAIR_i" in said and "of 3 descriptions" in said
