"""What the explorer's page reads: scripts, since a page opened from disk may fetch nothing else.

`questions.js` has the chosen questions with their prompts, and the folder `pictures` what each
visual round sees. A script a model has the recorded logits of all rows: its arrays are those that
`Replay` computes on, in float32, so that the page finds what `Replay` finds.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from sci_book.data.catalogue import model_entry
from sci_book.data.datasets import Dataset, load_dataset
from sci_book.data.prompts import build_prompt
from sci_book.data.rewordings import reword
from sci_book.data.rows import Row
from sci_book.files import write_whole
from sci_book.papers.sci import paper
from sci_book.papers.sci.explorer.questions import choose
from sci_book.papers.sci.explorer.still import still
from sci_book.resources import FROZEN_RECORDS
from sci_book.results.drbench import subsets
from sci_book.results.records import Records, read_records
from sci_book.results.replay import Replay
from sci_core.counterfactuals import counterfactual_image, is_visual

MODELS = ("pocket-qwen2vl", "pocket-llavanext")
RIGHT, WRONG, UNSETTLED = -1, -2, -3  # where a kept token leads that leads to no further node


def write_committed(folder: Path) -> None:
    """Write the explorer of the pocket models' frozen records; pocket data are drawn if missing."""
    paper.draw()
    models = {}
    for name in MODELS:
        entry, records = model_entry(name), read_records(FROZEN_RECORDS / f"{name}.parquet")
        models[name] = (f"pocket {entry['title']}", entry["family"], records)
    write(folder, models, load_dataset(paper.SET))


def write(folder: Path, models: Mapping[str, tuple[str, str, Records]], dataset: Dataset) -> None:
    """Write all that the page reads into a folder.

    Args:
        folder: made where it is missing; the files of an earlier run are replaced.
        models: by name, a title, the family whose prompts it was asked with, and its records of
            the rows of `dataset`, with logits.
    """
    records = [each for _, _, each in models.values()]
    chosen = choose(records)
    rows = {(row.dataset, row.index): row for row in dataset}
    keys = records[0].keys
    asked = [rows[keys[each.row]] for each in chosen]
    rounds = records[0].rounds
    for number, row in enumerate(asked):
        _draw(folder / "pictures", number, row, rounds)
    questions = [
        {
            "row": each.row,
            "set": row.dataset.removeprefix("pocket_"),
            "family": row.category or "short answer",
            "language": each.language,
            "question": row.question,
            "options": dict(row.options),
            "truth": row.answer,
            "outcomes": dict(zip(models, each.outcomes, strict=True)),
            "prompts": {
                family: {"original": (asked_as := build_prompt(row, family)),
                         **reword(row, asked_as, rounds).texts}
                for _, family, _ in models.values()
            },
        }
        for each, row in zip(chosen, asked, strict=True)
    ]  # fmt: skip
    first = chosen[0].row, asked[0].question
    write_whole(folder / "still.svg", still(records[0], *first).encode())
    heads = [{"name": name, "title": title} for name, (title, _, _) in models.items()]
    _script(folder / "questions.js", "questions", {"models": heads, "questions": questions})
    for name, (title, family, found) in models.items():
        shown = [each.row for each in chosen]
        content = {"name": name, "title": title, "family": family, **_model(found, shown)}
        _script(folder / f"{name}.js", "model", content)


def _model(records: Records, shown: list[int]) -> dict:
    """Arrays in base64, little-endian, nodes in the records' order.

    root     [rows] int32, a row's first node or -1
    start    [nodes + 1] int32, where a node's kept tokens begin
    logits   [rounds, tokens] float32; others [rounds, nodes], the column of all other tokens
    lead     [tokens] int32, the node that a token leads to, or RIGHT, WRONG, UNSETTLED
    clock    [nodes] int32, M3ID's t; depth [nodes] uint8, tokens generated before the node
    sets     [rows] uint8, 1 for a row without an error, 2 for B, 4 for S
    pieces   of the nodes of the questions shown, the text of each kept token
    """
    replay, nodes = Replay(records), records.nodes
    distinct = np.array([len(set(each)) for each in nodes.tokens.tolist()])
    kept = np.arange(nodes.tokens.shape[1]) < distinct[:, None]
    lead = np.where(
        replay.child >= 0,
        replay.child,
        np.where(
            ~replay.known,
            UNSETTLED,
            np.where(replay.answer == replay.truth[nodes.row][:, None], RIGHT, WRONG),
        ),
    )
    sets = subsets(records)
    flags = sets["all"] + 2 * sets["B"] + 4 * sets["S"]
    of_shown = np.flatnonzero(np.isin(nodes.row, shown))
    arrays = {
        "root": replay.root.astype("<i4"),
        "start": np.concatenate([[0], np.cumsum(distinct)]).astype("<i4"),
        "logits": nodes.logits[:, kept].astype("<f4"),
        "others": replay.logits[:, :, -1].numpy().astype("<f4"),
        "lead": lead[kept].astype("<i4"),
        "clock": replay.clocks.numpy().astype("<i4"),
        "depth": replay.depths.astype("u1"),
        "sets": flags.to_numpy().astype("u1"),
    }
    return {
        "rounds": records.rounds,
        "visual": [is_visual(name) for name in records.rounds],
        **{key: base64.b64encode(array.tobytes()).decode() for key, array in arrays.items()},
        "pieces": {
            str(node): [records.pieces[t] for t in nodes.tokens[node][kept[node]].tolist()]
            for node in of_shown.tolist()
        },
    }


def _draw(folder: Path, number: int, row: Row, rounds: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    picture = row.image()
    picture.save(folder / f"{number}-original.webp", lossless=True)
    for name in filter(is_visual, rounds):
        dummy = counterfactual_image(picture, name)
        # Static does not compress: to show it a lossy picture serves as well as an exact one.
        dummy.save(folder / f"{number}-{name}.webp", quality=60)


def _script(path: Path, call: str, content: dict) -> None:
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    write_whole(path, f"SCI_EXPLORER.{call}({text})\n".encode())
