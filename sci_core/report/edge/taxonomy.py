"""Table 5, Figures 1 and 2: why wrong answers are wrong, by the tree of rules and by the scene."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from PIL import Image
from sklearn.metrics import cohen_kappa_score

from sci_core.evaluation import wilson
from sci_core.evaluation.rows import short_hash
from sci_core.probes.edge import scene
from sci_core.probes.edge.audit import Printed, label_counts
from sci_core.probes.edge.conditions import CAPTIONS, KINDS, QUESTIONS
from sci_core.probes.edge.taxonomy import (
    CATEGORIES,
    SHARED,
    Failure,
    Label,
    Tree,
    concordance,
)
from sci_core.report.chapters import row
from sci_core.report.edge.models import (
    PAPER_PAIR,
    PAPER_SETS,
    Found,
    Model,
    Pair,
    frame_of,
    paired,
    printed,
    side,
)
from sci_core.report.figures import WIDTH
from sci_core.report.tables import MISSING, Table, compare, interval, number, plain

MAJORITY = 0.5
CATEGORY_COLOURS = dict(zip("ABCDE", ("#b45309", "#0072b2", "#6b21a8", "#009e73", "#9ca3af"),
                            strict=True))  # fmt: skip


def failures(model: Model, kind: str, rule: str = "paper") -> pd.DataFrame:
    """Wrong answers of one kind, with `label`, the tree's, and `scene`, what the scene says.

    Args:
        rule: "paper", its coarse rules; or "scene", captions that do not say the whole scene.
    """
    found = model.answers(kind)
    if rule == "scene" and kind == CAPTIONS:
        said = [scene.exact(one.text, one.truth) for one in found.itertuples()]
        found = found[~np.array(said, dtype=bool)]
    else:
        found = found[found["right"] == 0]
    unseen = model.answers(kind, "black")["text"].reindex(found.index, fill_value="")
    listed = [Failure(kind, one.question, one.truth, one.text) for one in found.itertuples()]
    seen = [
        scene.label_question(one.category, one.truth, one.text, blind)
        if kind == QUESTIONS
        else scene.label_caption(one.truth, one.text, blind)
        for one, blind in zip(found.itertuples(), unseen, strict=True)
    ]
    return found.assign(
        label=[each.category for each in Tree().judge(listed)],
        scene=[each.category for each in seen],
    )


def shares(labels: pd.Series, category: str) -> tuple[int, int]:
    """How many labels are a category, of those of A to C (or of all, for D and E)."""
    among = labels.isin(SHARED) if category in SHARED else labels.notna()
    return int((labels == category).sum()), int(among.sum())


def table05(pair: Pair, column: str = "label", rule: str = "paper") -> Table:
    """Shares of A, B and C among these, with Wilson's interval; D and E as counts."""
    lines = {}
    for kind in KINDS:
        for model, name in zip(pair[:2], PAPER_PAIR, strict=True):
            labels = failures(model, kind, rule)[column]
            for category, title in CATEGORIES.items():
                paper = printed("edge_table05", dataset=PAPER_SETS[kind], model=name, item=category)
                what = f"{kind}, {model.shown}: {title} ({category})"
                count, among = shares(labels, category)
                if category in SHARED:
                    lines[what] = row(wilson(count, among), paper=paper)
                else:
                    nowhere = row(wilson(0, 0), paper=paper)
                    lines[what] = nowhere | {"reproduced": count, "n": len(labels)}
    judged = "the tree" if column == "label" else "the scene"
    caption = f"Table 5 by {judged}: A to C in % of these three, D and E as counts"
    if rule == "scene":
        caption += "; captions that do not say the whole scene"
    return compare(
        frame_of(lines).assign(verdict=None),
        name=f"table05-{column}-{rule}", caption=caption, ours=side(pair[:2]), decimals=1,
    )  # fmt: skip


def agreement(found: Found) -> Table:
    """The tree against the scene on the same failures: a proper kappa between two judges."""
    lines = {}
    for model in found.full:
        for kind in KINDS:
            rule = "paper" if kind == QUESTIONS else "scene"
            mine = failures(model, kind, rule)
            same = int((mine["label"] == mine["scene"]).sum())
            share = wilson(same, len(mine))
            used = {*mine["label"], *mine["scene"]}
            lines[f"{kind}, {model.shown}"] = {
                "failures": len(mine),
                "same label, %": 100 * share.estimate,
                "95 % interval": interval(100 * share.low, 100 * share.high, 0),
                "κ": number(cohen_kappa_score(mine["label"], mine["scene"]))
                if len(used) > 1
                else "undefined: one category"
                if used
                else MISSING,
            }
    frame = pd.DataFrame.from_dict(lines, orient="index")
    return plain(frame, name="agreement", caption="Tree and scene on the same failures", decimals=0)


def concordances(pair: Pair) -> Table:
    """The paper's kappa across different failures, what chance makes of it, and a distance."""
    lines = {}
    for kind in KINDS:
        rule = "paper" if kind == QUESTIONS else "scene"
        lists = [
            [Label(category, "") for category in failures(model, kind, rule)["label"]]
            for model in pair[:2]
        ]
        paper = number(printed("edge_table05", dataset=PAPER_SETS[kind], metric="kappa"), 3)
        if not all(lists):
            cells = {"κ": "no failures", "shuffled, 95 %": MISSING, "profiles apart, %": MISSING}
        else:
            made = concordance(*lists)
            cells = {
                "κ": "undefined: one category" if made.kappa is None else number(made.kappa, 3),
                "shuffled, 95 %": interval(made.low, made.high, 3),
                "profiles apart, %": number(100 * made.distance, 0),
            }
        lines[kind] = {
            "paper’s κ": paper,
            **cells,
            "failures": " / ".join(map(str, map(len, lists))),
        }
    frame = pd.DataFrame.from_dict(lines, orient="index")
    return Table("concordance", frame, "Failure-profile concordance of the pair, by the tree")


def claim_table(found: Found) -> pd.DataFrame:
    """The chapter's claim for every model: B is the majority of A, B and C on questions."""
    lines = {}
    for model in found.full:
        count, among = shares(failures(model, QUESTIONS)["label"], "B")
        lines[model.shown] = row(wilson(count, among), claim="greater", margin=MAJORITY)
    return frame_of(lines)


def draw(pair: Pair) -> Figure:
    """Figure 1: the categories of all failures of the pair, the paper's beside."""
    figure, panels = plt.subplots(1, 2, figsize=(WIDTH, 2.6), sharey=True)
    counts = label_counts(Printed())
    for ax, kind in zip(panels, KINDS, strict=True):
        rule = "paper" if kind == QUESTIONS else "scene"
        bars = {
            "paper, judge": pd.Series(
                {c: sum(counts[name, PAPER_SETS[kind]].get(c, 0) for name in PAPER_PAIR)
                 for c in CATEGORIES}
            )
        }  # fmt: skip
        for column, title in (("label", "here, tree"), ("scene", "here, scene")):
            labels = pd.concat([failures(model, kind, rule)[column] for model in pair[:2]])
            bars[title] = labels.value_counts().reindex(list(CATEGORIES), fill_value=0)
        for place, values in enumerate(bars.values()):
            left = 0.0
            for category, count in (100 * values / max(values.sum(), 1)).items():
                ax.barh(
                    place, count, left=left, color=CATEGORY_COLOURS[category],
                    label=f"{category} {CATEGORIES[category]}" if not place else None,
                )  # fmt: skip
                left += count
        ax.set_yticks(range(len(bars)), list(bars), fontsize=8)
        ax.set_title(f"{kind} ({PAPER_SETS[kind]})")
        ax.set_xlabel("failures, %")
        ax.grid(axis="y", visible=False)
    panels[0].invert_yaxis()
    figure.legend(*panels[0].get_legend_handles_labels(), fontsize=7, ncols=5,
                  loc="outside lower center")  # fmt: skip
    return figure


def grid_rows(pair: Pair | None) -> pd.DataFrame:
    """Figure 2's kind of rows: the first failures of both models, by the scene's category.

    Columns `kind`, `row`, `question`, `truth`, `compact`, `large`, `category` and `image_hash`: at
    most one question of each of two categories and one caption, the lowest row numbers.
    """
    found = []
    for kind in KINDS if pair else ():
        rule = "paper" if kind == QUESTIONS else "scene"
        one, two = (failures(model, kind, rule) for model in pair[:2])
        both = paired(one, two).sort_index()
        first = both.drop_duplicates("scene").head(2 if kind == QUESTIONS else 1)
        for place, line in first.iterrows():
            found.append(
                {
                    "kind": kind, "row": int(place), "truth": line["truth"],
                    "question": line["question"],
                    "compact": line["text"], "large": line["text two"], "category": line["scene"],
                    "image_hash": str(line["group"]).rpartition(" ")[2],
                }
            )  # fmt: skip
    columns = ["kind", "row", "question", "truth", "compact", "large", "category", "image_hash"]
    return pd.DataFrame(found, columns=columns)


def same_pictures(
    grid: pd.DataFrame, drawn: Sequence[bytes]
) -> tuple[list[Image.Image], list[str]]:
    """Of pictures drawn anew for the rows of `grid_rows`, those that were asked about; captions."""
    names = [f"{one.kind[:-1]} {one.row}: {one.category}" for one in grid.itertuples()]
    kept = [
        (Image.open(BytesIO(content)), name)
        for content, name, known in zip(drawn, names, grid["image_hash"], strict=True)
        if short_hash(content) == known
    ]
    return [image for image, _ in kept], [name for _, name in kept]


def grid_table(grid: pd.DataFrame) -> Table:
    """The failures of Figure 2 in words."""
    shown = grid.set_index(grid["kind"].str[:-1] + " " + grid["row"].astype(str))
    columns = ["question", "truth", "compact", "large", "category"]
    return Table("prose-grid", shown[columns].rename_axis(index=None), "Failures of both models")
