"""Figure 3 and Table 6: what image–text encoders say of the questions, before any model answers.

Two encoders, as Table 6 has three: the pocket CLIP that chose the guided absent objects, and the
scene graph's vectors, which chose nothing and know nothing but the world's rules.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from sci_book import resources
from sci_book.files import json_lines
from sci_book.papers.oric.analysis import minimum_distances, question_scores
from sci_book.papers.oric.chapters import answers
from sci_book.papers.oric.chapters.answers import ADVERSARIAL, BENCH, POPE, SAMPLINGS, Halves
from sci_book.papers.oric.chapters.context import SET_COLOURS
from sci_book.papers.oric.construct import DESCRIPTION
from sci_book.papers.oric.encoder import ClipEncoder, Encoder, Stored
from sci_book.papers.oric.paper import DATA
from sci_book.papers.oric.printed import PRINTED
from sci_book.papers.oric.questions import LABELS, Question, wordings
from sci_book.papers.shared import chapters
from sci_book.papers.shared.evidence import Sample
from sci_book.papers.shared.figures import WIDTH
from sci_book.papers.shared.parameters import Names
from sci_book.papers.shared.tables import Table, frame_of, number, plain
from sci_book.results.statistics import NO_DATA, Interval

CHECKPOINT = resources.CHECKPOINTS / "pocket-clip"
SETS = {"POPE": POPE, "POPE, adversarial": ADVERSARIAL, "by lot": SAMPLINGS["random"],
        "ORIC": BENCH}  # fmt: skip
NEUTRAL = "scene graph"  # the encoder that chose nothing


class Scored(NamedTuple):
    """Questions with equation (1) of each, in the eyes of one encoder."""

    questions: tuple[Question, ...]
    scores: np.ndarray

    def of(self, label: str) -> tuple[np.ndarray, np.ndarray]:
        """Scores and pictures of one label."""
        mine = np.array([question.label == label for question in self.questions])
        images = np.array([question.image for question in self.questions], dtype=object)
        return self.scores[mine], images[mine]


@cache
def questions(halves: Halves) -> tuple[Question, ...]:
    """The frozen questions of a set."""
    frame = pd.read_csv(answers.QUESTIONS)
    return tuple(
        Question(row.image, row.object, label, wordings(row.object))
        for label, name in zip(LABELS, halves, strict=True)
        for row in frame[(frame["set"] == name) & (frame["label"] == label)].itertuples()
    )


def things() -> dict[str, list[str]]:
    """The kind of every thing in the scenes asked about, by the picture's name."""
    lines = json_lines((DATA / "scenes_val.jsonl").read_text(encoding="utf-8"))
    scenes = map(json.loads, lines)
    return {scene["file_name"]: [thing["kind"] for thing in scene["things"]] for scene in scenes}


def shared_questions() -> str:
    """How many of the benchmark's questions each of POPE's sets asks too, in a sentence."""
    sets = {
        name: {(question.image, question.target) for question in questions(halves)}
        for name, halves in answers.SETS.items()
    }
    bench = sets.pop("ORIC")
    overlaps = " and ".join(f"{name} asks {len(asked & bench)}" for name, asked in sets.items())
    return f"Of the pocket benchmark’s {len(bench)} questions, {overlaps} too."


@cache
def encoders() -> dict[str, Encoder]:
    """The encoders by name; the pictures of `oric.paper.draw` have to be there.

    The sets share pictures and objects, so the pocket CLIP reads each of them once.
    """
    asked = [question for halves in SETS.values() for question in questions(halves)]
    names = sorted({question.image for question in asked})
    texts = sorted({DESCRIPTION.format(object=question.target) for question in asked})
    clip = ClipEncoder(CHECKPOINT)
    seen = clip.images([DATA / "images" / name for name in names])
    pictures = dict(zip(names, seen, strict=True))
    described = dict(zip(texts, clip.texts(texts), strict=True))
    return {
        "pocket CLIP": Stored(pictures, described),
        NEUTRAL: Stored.load(DATA / "vectors_val.safetensors"),
    }


@cache
def scored(name: str) -> dict[str, Scored]:
    """Every set's questions with their scores, by the encoder of this name."""
    encoder, by_set = encoders()[name], {}
    for set_name, halves in SETS.items():
        asked = questions(halves)
        by_set[set_name] = Scored(asked, question_scores(asked, encoder, DATA / "images"))
    return by_set


def contrast(name: str, label: str) -> Sample:
    """POPE's cosines less ORIC's for "yes", ORIC's less POPE's for "no", on the same pictures.

    Either way positive where ORIC's objects go less well with what is to be answered.
    """
    sets = scored(name)
    both = (sets[set_name].of(label) for set_name in ("POPE", "ORIC"))
    first, second = ((scores / 100, images) for scores, images in both)
    if label == "no":
        first, second = second, first
    return Sample(f"{name}, {label}", *first, minus=second)


def paper_numbers(models: Names) -> dict[tuple[str, str], float]:
    """Figure 3's differences in the paper, by model (whichever is shown) and part of a claim."""
    quote = PRINTED.quote
    paper = {
        "yes": quote("figure 3 POPE yes") - quote("section 3.2 ORIC yes"),
        "no": quote("figure 3 ORIC no") - quote("figure 3 POPE no"),
    }
    return {
        (model, f"{name}, {label}"): value
        for model in chapters.model_names(models)
        for name in encoders() for label, value in paper.items()
    }  # fmt: skip


@cache
def means() -> dict[tuple[str, str, str], Interval]:
    """Mean scores by encoder, set and label."""
    return {
        (name, set_name, label): Sample("", *scores.of(label)).interval
        for name in encoders()
        for set_name, scores in scored(name).items()
        for label in LABELS
    }


def score_table() -> Table:
    """Figure 3: mean scores by set and label, the paper's beside the pocket CLIP's."""
    quote = PRINTED.quote
    paper = {
        ("POPE", "yes"): quote("figure 3 POPE yes"), ("POPE", "no"): quote("figure 3 POPE no"),
        ("ORIC", "yes"): quote("section 3.2 ORIC yes"), ("ORIC", "no"): quote("figure 3 ORIC no"),
    }  # fmt: skip
    rows = {}
    for (name, set_name, label), mean in means().items():
        printed = paper.get((set_name, label)) if name != NEUTRAL else None
        rows[f"{name}: {set_name}, {label}"] = chapters.row(mean, scale=1.0, paper=printed)
    return chapters.levels(
        frame_of(rows), name="scores", ours="pocket", subtract=False,
        caption="Mean CLIPScore (100 cosines) of the objects asked about",
    )  # fmt: skip


@cache
def distances(name: str) -> dict[str, pd.DataFrame]:
    """Equation (7) by object and set."""
    return {
        set_name: minimum_distances(questions(halves), encoders()[name], Path(DATA / "images"))
        for set_name, halves in SETS.items()
    }


def closer(name: str) -> Interval:
    """Table 6: POPE's least distance less ORIC's, object by object; each object is a cluster."""
    by_set = distances(name)
    both = by_set["POPE"].merge(by_set["ORIC"], on="object", suffixes=("", " two"))
    if both.empty:
        return NO_DATA
    values = (both["distance"] - both["distance two"]).to_numpy()
    return Sample(name, values, both["object"].to_numpy(dtype=object)).interval


def distance_table() -> Table:
    """Mean least distances by encoder and set, the paper's three encoders first."""
    rows = {}
    for (model,) in PRINTED.distinct("oric_table06", "model"):
        rows[f"paper, {model}"] = {
            part: PRINTED.number("oric_table06", part=part, model=model)
            for part in ("POPE", "ORIC")
        }
    for name in encoders():
        frames = distances(name)
        pairs = [(frame["positive"] * frame["negative"]).mean() for frame in frames.values()]
        rows[name] = {
            **{set_name: float(frame["distance"].mean()) for set_name, frame in frames.items()},
            "objects": " / ".join(str(len(frame)) for frame in frames.values()),
            "pairs per object": " / ".join(number(mean, 0) for mean in pairs),
        }
    counts = ["objects", "pairs per object"]
    frame = pd.DataFrame.from_dict(rows, orient="index")[[*SETS, *counts]]
    frame = frame.fillna(dict.fromkeys(counts, "—"))
    caption = "Least cosine distance of a picture with an object and one without"
    return plain(frame, name="distances", caption=caption, decimals=3)


def draw() -> Figure:
    """Figure 3: mean scores with intervals, a panel an encoder."""
    figure, axes = plt.subplots(1, len(encoders()), figsize=(WIDTH, 2.9))
    for ax, name in zip(axes, encoders(), strict=True):
        for place, set_name in enumerate(SETS):
            colour = SET_COLOURS.get(set_name, "#6b7280")
            for tick, label in enumerate(LABELS):
                mean, x = means()[name, set_name, label], tick + 0.18 * (place - 1.5)
                ax.vlines(x, mean.low, mean.high, color=colour, linewidth=2.5)
                ax.plot(x, mean.estimate, "o", color=colour, label=None if tick else set_name)
        ax.set_xticks(range(len(LABELS)), ["present\nobjects", "absent\nobjects"])
        ax.set_xlim(-0.6, len(LABELS) - 0.4)
        ax.grid(axis="x", visible=False)
        ax.set_title(name)
    axes[0].set_ylabel("mean CLIPScore")
    axes[-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure
