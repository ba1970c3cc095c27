"""Judge a training by the conditions alone, and log it: a row for every training tried.

    sci train-pocket --arch qwen2_vl --seed 100 --recipe varied
    python benchmarks/pilots.py runs/checkpoints/qwen2_vl-standard-seed100-varied \\
        --recipe varied --note "what was tried with it"

Every row of the world that the conditions are judged on is read under each input alone
(`data_manifests/paper/conditions.yaml`); no method is decoded, so a recipe cannot be chosen by how
SCI scores. What was found is one file below `benchmarks/results/pilots`, and the same words again
give the same file.
"""

import argparse
import json
from pathlib import Path

from sci_book.data.catalogue import model_entry
from sci_book.data.datasets import load_dataset
from sci_book.files import json_text
from sci_book.papers.sci.paper import SET_BEFORE
from sci_book.papers.shared.chapters import paper_values
from sci_book.papers.shared.gate import SISTER
from sci_book.papers.shared.stamp import device_name
from sci_book.pipeline.pocket_data import draw_pocket
from sci_book.run import conditions
from sci_book.run.alone import read_alone
from sci_book.run.provenance import revision
from sci_core import load_model

RESULTS = Path(__file__).parent / "results" / "pilots"
RUNS = Path(__file__).parents[1] / "runs" / "pilots"
PAIR = ("pocket-qwen2vl", "pocket-llavanext")  # the models that stand for the paper's


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--recipe", required=True, help="a name in curriculum.RECIPES")
    parser.add_argument("--note", default="", help="what was tried, in words")
    parser.add_argument("--sister", action="store_true", help="judge it as a smaller sister")
    arguments = parser.parse_args()
    found = judge(**vars(arguments))
    RESULTS.mkdir(parents=True, exist_ok=True)
    text = json_text(found, indent=1, ensure_ascii=False) + "\n"
    (RESULTS / f"{found['training']}.json").write_text(text, encoding="utf-8")


def judge(checkpoint: Path, *, recipe: str, note: str = "", sister: bool = False) -> dict:
    """What a checkpoint answers to every input alone, and which conditions it meets."""
    name = checkpoint.name
    model = load_model(str(checkpoint))
    # That world serves nothing else for a retrained model: no verdict comes from it.
    spec = {**conditions.load_conditions(), "split": "all"}
    draw_pocket(SET_BEFORE)
    records = read_alone(model, load_dataset(SET_BEFORE), RUNS / name, spec)
    judged = {"of": SISTER} if sister else {"paper": paper_accuracy(model.family)}
    table = conditions.measure(records, spec, **judged)
    alone = {
        each: round(100 * records.correct(each)[records.ok].mean(), 2) for each in records.rounds
    }
    fit = conditions.overall(table)
    print(table.round(2).to_string())
    print(f"{name}: {fit}; alone {alone}")
    return {
        "training": name,
        "recipe": recipe,
        "steps": steps_of(checkpoint),
        "note": note,
        "revision": revision(model),
        "judged on": device_name(),
        "rows": len(records.frame),
        "accuracy of each input alone, %": alone,
        "fit": fit,
        "conditions": json.loads(table.drop(columns="key").round(2).to_json(orient="records")),
    }


def steps_of(checkpoint: Path) -> int:
    """The steps of its last recipe that a training took: a recipe may change between two pilots."""
    log = (checkpoint / "training_log.jsonl").read_text(encoding="utf-8").splitlines()
    return [line["step"] for line in map(json.loads, log) if line["stage"] == "held out"][-1]


def paper_accuracy(family: str) -> dict[str, float]:
    """The base's accuracy in the paper's Table 10, for the model that this family stands for."""
    labels = {entry["family"]: entry["label"] for entry in map(model_entry, PAIR)}
    return {"Overall": float(paper_values("table10")[labels[family], "base", "all", "Overall"])}


if __name__ == "__main__":
    main()
