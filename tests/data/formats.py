"""Small files in the six public formats, for tests."""

import base64
import csv
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from PIL import Image

MMBENCH = ["index", "image", "question", "hint", "A", "B", "C", "D", "answer", "category",
           "l2-category", "split"]  # fmt: skip
MME = ["index", "image", "image_path", "question", "answer", "category"]
COMMON = {name: name for name in ("index", "image", "question", "answer", "category")}
MMBENCH_COLUMNS = {**COMMON, "hint": "hint", "options": ["A", "B", "C", "D"]}
MME_COLUMNS = {**COMMON, "group": "image_path"}
VILP_COLUMNS = {"question": "question", "image": ["image1", "image2", "image3"],
                "answer": ["answer1", "answer2", "answer3"]}  # fmt: skip
CHOICE = {"format": "tsv", "pictures": "base64", "question_type": "mcq", "group": "circular",
          "group_prefix": "mmbench"}  # fmt: skip


def png(seed=0, size=(64, 48)):
    """A PNG of coarse random blocks."""
    blocks = np.random.default_rng(seed).integers(0, 256, (6, 6, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(blocks).resize(size).save(file, "PNG")
    return file.getvalue()


def encoded(content):
    return base64.b64encode(content).decode()


def write_tsv(path, columns, rows, delimiter="\t"):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(columns)
        writer.writerows(rows)
    return path


def mmbench_rows(questions=4, chinese=False):
    """Four rotations a question; rotation k points at rotation 0's picture."""
    texts = ["红色", "蓝色", "绿色", "白色"] if chinese else ["red", "blue", "green", "white"]
    rows = []
    for number in range(1, questions + 1):
        question = f"第{number}个球是什么颜色?" if chinese else f"What colour is ball {number}?"
        for turn in range(4):
            options = texts[turn:] + texts[:turn]
            image = encoded(png(number)) if turn == 0 else str(number)
            answer = "ABCD"[options.index(texts[number % 4])]
            hint = "Look at the table." if number == 1 and not chinese else ""
            shown = [number + turn * 1_000_000, image, question, hint, *options]
            rows.append([*shown, answer, "colour", "x", "dev"])
    return rows


def mme_rows(pictures=3):
    rows = []
    for number in range(pictures):
        for turn, answer in enumerate(["Yes", "No"]):
            question = f"Is there a {'cat' if answer == 'Yes' else 'dog'}? Please answer yes or no."
            shown = [2 * number + turn, encoded(png(100 + number)), f"existence/{number}.png"]
            rows.append([*shown, question, answer, "existence"])
    return rows


def write_vilp(path, questions=3):
    table = {"question": [f"What is thing {i}?" for i in range(questions)]}
    for picture in range(1, 4):
        table[f"image{picture}"] = [png(1000 * picture + i) for i in range(questions)]
        table[f"answer{picture}"] = [f"the Thing{picture}" for _ in range(questions)]
    pq.write_table(pa.table(table), path)
    return path


def naturalbench_records(count=4):
    """Two pictures and two questions a record, letters in every other; no picture is in two."""
    records = []
    for number in range(count):
        questions, answers = ["Is it red?", "Is it blue?"], ["Yes", "No", "No", "Yes"]
        if number % 2:
            questions = ["What is he holding?\nOption: A:A cup; B:A red glass;",
                         "Where is she?\nOption: A:In a park; B:By the street"]  # fmt: skip
            answers = ["A", "B", "B", "A"]
        pictures = [{"bytes": png(2 * number + each), "path": None} for each in range(2)]
        records.append(
            {
                "Index": number, "Image_0": pictures[0], "Image_1": pictures[1],
                "Question_0": questions[0], "Image_0_Question_0": answers[0],
                "Image_1_Question_0": answers[1], "Question_1": questions[1],
                "Image_0_Question_1": answers[2], "Image_1_Question_1": answers[3],
                "Question_Type": "multiple_choice" if number % 2 else "yes_no", "Source": "drawn",
            }
        )  # fmt: skip
    return records


def hallusionbench_records(sets=3):
    """Two questions on three figures a set; in every other set figure 0 is none at all."""
    return [
        {
            "category": "VS" if number % 2 else "VD", "subcategory": "chart",
            "visual_input": "0" if number % 2 and not figure else "1" if not figure else "2",
            "set_id": str(number), "figure_id": str(figure), "sample_note": "drawn",
            "question_id": str(question), "question": f"Is bar {question} higher than {figure}?",
            "gt_answer_details": "It is.", "gt_answer": str((figure + question) % 2),
            "filename": None if number % 2 and not figure
            else f"./{'VS' if number % 2 else 'VD'}/chart/{number}_{figure}.png",
        }
        for number in range(sets)
        for figure in range(3)
        for question in range(2)
    ]  # fmt: skip


def amber_records(pictures=3):
    """The queries, and their annotations: a caption and three yes/no questions a picture."""
    kinds = {"generative": "Describe this image.",
             "discriminative-hallucination": "Is there a cat in this image?",
             "discriminative-attribute-state": "Is the sky blue in this image?",
             "relation": "Is there direct contact between the cat and the wall?"}  # fmt: skip
    queries, annotations = [], []
    for number in range(pictures):
        for kind, query in kinds.items():
            place, drawn = len(queries) + 1, {"hallu": ["dog"]} if kind == "generative" else {}
            truth = ["sky", "wall"] if drawn else ["yes", "no"][place % 2]
            queries.append({"id": place, "image": f"AMBER_{number + 1}.jpg", "query": query})
            annotations.append({"id": place, "type": kind, "truth": truth, **drawn})
    return queries, annotations


def write_manifest(folder, name, file, rows, columns, **keys):
    """A manifest for a test file, beside which `load_dataset` finds it."""
    manifest = {"file": file, "rows": rows, "columns": columns, "folder": "data", **keys}
    (folder / f"{name}.yaml").write_text(yaml.safe_dump(manifest), encoding="utf-8")


def write_json_lines(path, records):
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    path.write_text("".join(lines), encoding="utf-8")
    return path


def write_own(path, data, /, **keys):
    """A YAML file as a user writes it, of yes/no questions in the columns of MME."""
    mine = {"file": data, "format": data.rpartition(".")[2], "columns": MME_COLUMNS,
            "pictures": "base64", "question_type": "yesno"}  # fmt: skip
    path.write_text(yaml.safe_dump({**mine, **keys}), encoding="utf-8")
    return str(path)


def write_world(manifests, data):
    """Four small sets and `world`, the collection of them: 16 + 8 + 6 + 9 = 39 rows."""
    manifests.mkdir(parents=True, exist_ok=True)
    data.mkdir(parents=True, exist_ok=True)
    write_tsv(data / "en.tsv", MMBENCH, mmbench_rows(4))
    write_tsv(data / "cn.tsv", MMBENCH, mmbench_rows(2, chinese=True))
    write_tsv(data / "mme.tsv", MME, mme_rows(3))
    write_vilp(data / "vilp.parquet", 3)
    write_manifest(manifests, "en", "en.tsv", 16, MMBENCH_COLUMNS, **CHOICE)
    write_manifest(manifests, "cn", "cn.tsv", 8, MMBENCH_COLUMNS, **CHOICE)
    write_manifest(manifests, "mme", "mme.tsv", 6, MME_COLUMNS, format="tsv", pictures="base64",
                   question_type="yesno")  # fmt: skip
    write_manifest(manifests, "vilp", "vilp.parquet", 9, VILP_COLUMNS, format="parquet",
                   pictures="bytes", question_type="short")  # fmt: skip
    (manifests / "world.yaml").write_text("parts: [en, cn, mme, vilp]\n")
