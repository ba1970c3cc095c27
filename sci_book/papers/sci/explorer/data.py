"""What the explorer's page reads: scripts, since a page opened from disk may fetch nothing else.

`questions.js` has the chosen questions with their prompts, and the folder `pictures` what each
visual round sees. A script a model has the recorded logits of all rows: its arrays are those that
`Replay` computes on, in float32, so that the page finds what `Replay` finds.
"""

import base64
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from sci_book import methods
from sci_book.data.datasets import load_dataset
from sci_book.data.prompts import build_prompt
from sci_book.data.rewordings import reword
from sci_book.data.rows import Row
from sci_book.files import script, write_whole
from sci_book.papers.sci import paper
from sci_book.papers.sci.explorer.questions import choose
from sci_book.papers.sci.explorer.still import still
from sci_book.papers.sci.overhead import ratio
from sci_book.papers.shared.chapters import subjects
from sci_book.results.controls import CONTROLS, first_token_reader
from sci_book.results.drbench import subsets
from sci_book.results.records import Records
from sci_book.results.replay import Replay
from sci_book.results.stamps import RecordsError
from sci_core.counterfactuals import counterfactual_image, is_visual
from sci_core.methods import BASE

PAGE = "SCI_EXPLORER"
SIDE = 256  # pixels of a picture shown, at most
IMAGE_TOKENS = 320  # of the picture that a setting is priced by
RIGHT, WRONG, UNSETTLED = -1, -2, -3  # where a kept token leads that leads to no further node
_CHINESE = re.compile("[\u4e00-\u9fff]")


def write(folder: Path, models: Sequence[str], records: Path, data: str) -> None:
    """Write all that the page reads into a folder, or why there is nothing to show.

    Args:
        models: names of models; their records are `<name>.parquet` in the folder `records`.
        data: the data set that the records are of; the pocket twins are drawn if missing.
    """
    if data == paper.SET:
        paper.draw_missing()
    try:
        loaded = subjects(models, records)
        replays = {subject.name: subject.replay for subject in loaded}
        chosen = choose(loaded)
    except RecordsError as error:
        write_whole(folder / "questions.js", script(f"{PAGE}.absent", str(error)))
        return
    rows = {(row.dataset, row.index): row for row in load_dataset(data)}
    first = loaded[0].records
    chosen_rows = [rows[first.keys[choice.row]] for choice in chosen]
    questions = []
    for number, (choice, row) in enumerate(zip(chosen, chosen_rows, strict=True)):
        _draw(folder / "pictures", number, row, first.rounds)
        outcomes = zip(loaded, choice.outcomes, strict=True)
        prompts = {}
        for subject in loaded:
            original = build_prompt(row, subject.records.stamp["family"])
            texts = reword(row, original, subject.records.rounds).texts
            prompts[subject.name] = {"original": original, **texts}
        questions.append(
            {
                "row": choice.row,
                "set": row.dataset.removeprefix("pocket_"),
                "family": row.category or "short answer",
                "language": "Chinese" if _CHINESE.search(row.question) else "English",
                "question": row.question,
                "options": dict(row.options),
                "truth": row.answer,
                "outcomes": {subject.name: outcome for subject, outcome in outcomes},
                "prompts": prompts,
            }
        )
    write_whole(folder / "still.svg", still(first, chosen[0].row, chosen_rows[0].question).encode())
    heads = [{"name": subject.name, "title": subject.shown} for subject in loaded]
    rounds = {True: [], False: []}
    for name in first.rounds[1:]:
        rounds[is_visual(name)].append(name)
    recorded = {
        name: row
        for name, row in methods.exported_methods().items()
        if {*row["textual"], *row["visual"]} <= {*first.rounds}
    }
    content = {
        "models": heads,
        "questions": questions,
        "textual": rounds[False],
        "visual": rounds[True],
        "said": {name: row.sentence for name, row in methods.ROUNDS.items()},
        "costs": {name: added_tokens(name) for name in first.rounds[1:]},
        "imageTokens": IMAGE_TOKENS,
        "methods": recorded,
        "rules": methods.exported_rules(),
        "controls": {
            name: {"rule": control.rule, "textual": control.reads.textual}
            | {key: getattr(methods.CONTROLS[name], key) for key in ("label", "sentence")}
            for name, control in CONTROLS.items()
            if control.rule and {*control.reads.rounds} <= {*first.rounds}
        },
    }
    write_whole(folder / "questions.js", script(f"{PAGE}.questions", content))
    numbers = [choice.row for choice in chosen]
    for subject in loaded:
        content = {"name": subject.name, **_model(subject.records, replays[subject.name], numbers)}
        write_whole(folder / f"{subject.name}.js", script(f"{PAGE}.model", content))


def added_tokens(name: str) -> float:
    """What a round adds to the tokens that the base reads, in multiples of these; rounds add up."""
    kind = "visual" if is_visual(name) else "textual"
    return ratio(replace(BASE, rule="sci", **{kind: (name,)}), IMAGE_TOKENS) - 1


def _model(records: Records, replay: Replay, rows: list[int]) -> dict:
    """Arrays in base64, little-endian, nodes in the records' order.

    root     [rows] int32, a row's first node or -1
    start    [nodes + 1] int32, where a node's kept tokens begin
    logits   [rounds, tokens] float32; others [rounds, nodes], the column of all other tokens
    lead     [tokens] int32, the node that a token leads to, or RIGHT, WRONG, UNSETTLED
    clock    [nodes] int32, M3ID's t; depth [nodes] uint8, tokens generated before the node
    sets     [rows] uint8, 1 for a row without an error, 2 for B, 4 for S
    step     logits were rounded to its multiples; 0: to none
    pieces   of the nodes of the questions shown, the text of each kept token
    said     [rounds, rows] int32, each round's own answer, as its place in the list `answers`; so
             `truth` [rows], and `reads` [tokens], a first token as an answer by itself; 0: unknown
    """
    nodes = records.nodes
    kept = ~nodes.padding
    right = replay.answer == replay.truth[nodes.row][:, None]
    ends = [replay.child, UNSETTLED, RIGHT]
    lead = np.select([replay.child >= 0, ~replay.known, right], ends, WRONG)
    sets = subsets(records)
    flags = sets["all"] + 2 * sets["B"] + 4 * sets["S"]
    chosen_nodes = np.flatnonzero(np.isin(nodes.row, rows))
    first_node, read = replay.depths == 0, first_token_reader(records)
    answers: dict[str | None, int] = {None: 0}

    def places(texts: Iterable[str | None]) -> np.ndarray:
        return np.array([answers.setdefault(text, len(answers)) for text in texts], dtype="<i4")

    reads = np.zeros(nodes.tokens.shape, dtype="<i4")
    reads[first_node] = [
        places(map(partial(read, row), tokens))
        for row, tokens in zip(nodes.row[first_node], nodes.tokens[first_node], strict=True)
    ]
    arrays = {
        "root": replay.root.astype("<i4"),
        "start": np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype("<i4"),
        "logits": nodes.logits[:, kept].astype("<f4"),
        "others": replay.logits[:, :, -1].numpy().astype("<f4"),
        "lead": lead[kept].astype("<i4"),
        "clock": replay.clocks.numpy().astype("<i4"),
        "depth": replay.depths.astype("u1"),
        "sets": flags.to_numpy().astype("u1"),
        "reads": reads[kept],
        "truth": places(records.frame["truth"]),
        "said": np.stack([places(records.parsed(name)) for name in records.rounds]),
    }
    return {
        "rounds": records.rounds,
        "step": records.stamp.get("logit_step", 0.0),
        "visual": [is_visual(name) for name in records.rounds],
        **{key: base64.b64encode(array.tobytes()).decode() for key, array in arrays.items()},
        "pieces": {
            str(node): [records.pieces[t] for t in nodes.tokens[node][kept[node]].tolist()]
            for node in chosen_nodes.tolist()
        },
        "answers": [text or "" for text in answers],
    }


def _draw(folder: Path, number: int, row: Row, rounds: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    picture = row.image()
    dummies = {name: counterfactual_image(picture, name) for name in rounds if is_visual(name)}
    for name, image in {"original": picture, **dummies}.items():
        image.thumbnail((SIDE, SIDE))
        # Static does not compress: to show it a lossy picture serves as well as an exact one.
        image.save(folder / f"{number}-{name}.webp", lossless=name == "original", quality=60)
