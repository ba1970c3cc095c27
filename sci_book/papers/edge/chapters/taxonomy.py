"""Table 5, Figures 1 and 2: why wrong answers are wrong, by the tree of rules and by the scene.

A text model is a third judge where one is named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from itertools import product

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from PIL import Image
from sklearn.metrics import cohen_kappa_score

from sci_book.data.rows import short_hash
from sci_book.papers.edge import scene
from sci_book.papers.edge.chapters.accuracy import exact
from sci_book.papers.edge.chapters.models import Found, Model, Pair, paired
from sci_book.papers.edge.conditions import CAPTIONS, KINDS, QUESTIONS
from sci_book.papers.edge.judge import TextJudge
from sci_book.papers.edge.printed import PAPER_PAIR, PAPER_SETS, PRINTED, label_counts, printed
from sci_book.papers.edge.taxonomy import (
    CATEGORIES,
    SHARED,
    Concordance,
    Failure,
    concordance,
    tree,
)
from sci_book.papers.shared.chapters import row
from sci_book.papers.shared.figures import WIDTH
from sci_book.papers.shared.lines import compared, points, table_of
from sci_book.papers.shared.tables import LESS_PAPER, MISSING, Table, interval, number
from sci_book.papers.shared.text_model import text_model
from sci_book.results.statistics import LEVEL, NO_DATA, wilson

CATEGORY_COLOURS = dict(zip("ABCDE", ("#b45309", "#0072b2", "#6b21a8", "#009e73", "#9ca3af"),
                            strict=True))  # fmt: skip
_WHOLE = "; captions that do not say the whole scene"


def failures(model: Model, kind: str, rule: str = "paper") -> pd.DataFrame:
    """Wrong answers of one kind, with `label`, the tree's, and `scene`, what the scene says.

    By the rule "paper" hardly a caption fails; by "scene" all that do not say the whole scene.
    """
    answers = model.answers(kind)
    right = exact(answers) if rule == "scene" and kind == CAPTIONS else answers["right"]
    wrong = answers[right == 0]
    unseen = model.answers(kind, "black")["text"].reindex(wrong.index, fill_value="")
    seen = [
        scene.label_question(answer.category, answer.truth, answer.text, blind)
        if kind == QUESTIONS
        else scene.label_caption(answer.truth, answer.text, blind)
        for answer, blind in zip(wrong.itertuples(), unseen, strict=True)
    ]
    return wrong.assign(label=[tree(failure) for failure in _listed(wrong, kind)], scene=seen)


def shares(labels: pd.Series, category: str) -> tuple[int, int]:
    """How many labels are a category, of those of A to C (or of all, for D and E)."""
    among = labels.isin(SHARED) if category in SHARED else labels.notna()
    return int((labels == category).sum()), int(among.sum())


def table05(pair: Pair, column: str = "label", rule: str = "paper") -> Table:
    """Shares of A, B and C among these, with Wilson's interval; D and E as counts."""
    labels = {
        (kind, model.name): failures(model, kind, rule)[column]
        for kind, model in product(KINDS, pair[:2])
    }
    judged_by = "the tree" if column == "label" else "the scene"
    more = _WHOLE if rule == "scene" else ""
    return _table05(pair, labels, f"table05-{column}-{rule}", judged_by, more)


def judge_of(name: str, url: str = "") -> TextJudge | None:
    """The `text_model` that judges failures with the paper's prompt; None where none is named."""
    model = text_model(name, url)
    return None if model is None else TextJudge(model)


def judged(pair: Pair, judge: TextJudge) -> dict[tuple[str, str], pd.DataFrame]:
    """The pair's failures by kind and model, with `judge`, a judge's label (None: unjudged)."""
    wrong = {}
    for kind, model in product(KINDS, pair[:2]):
        rows = failures(model, kind, "scene")
        labels = [label.category for label in judge.judge(_listed(rows, kind))]
        wrong[kind, model.name] = rows.assign(judge=pd.Series(labels, rows.index, dtype=object))
    return wrong


def judged_table(pair: Pair, rows: Mapping[tuple[str, str], pd.DataFrame], judge: str) -> Table:
    """Table 5 by a text model, which is named: `judged`, with how many failures are unjudged."""
    labels = {key: frame["judge"] for key, frame in rows.items()}
    unjudged = sum(int(column.isna().sum()) for column in labels.values())
    more = f"{_WHOLE}; {unjudged} of {sum(map(len, labels.values()))} failures unjudged"
    return _table05(pair, labels, "table05-judge", judge, more)


def judge_agreement(pair: Pair, rows: Mapping[tuple[str, str], pd.DataFrame]) -> Table:
    """A text model against the scene on the failures that it judged."""
    names = {model.name: model.shown for model in pair[:2]}
    titled = {f"{kind}, {names[name]}": frame for (kind, name), frame in rows.items()}
    caption = "Text model and scene on the same failures"
    return _agreement(titled, "judge", name="judge-agreement", caption=caption)


def _table05(
    pair: Pair, labels: Mapping[tuple[str, str], pd.Series], name_: str, judge: str, more: str
) -> Table:
    lines, counted = {}, []
    for kind, (model, name, _), category in product(KINDS, pair.sides, CATEGORIES):
        paper = printed("edge_table05", dataset=PAPER_SETS[kind], model=name, item=category)
        what = f"{kind}, {model.shown}: {CATEGORIES[category]} ({category})"
        count, among = shares(labels[kind, model.name], category)
        if category in SHARED:
            lines[what] = row(wilson(count, among), paper=paper)
        else:
            known = {"reproduced": count if among else np.nan, "n": among}
            lines[what] = row(NO_DATA, paper=paper) | known
            counted.append(what)
    caption = f"Table 5 by {judge}: A to C in % of these three, D and E as counts{more}"
    table = compared(lines, pair[:2], name=name_, caption=caption, decimals=1)
    table.frame.loc[counted, LESS_PAPER] = MISSING  # counts of different totals have no difference
    numbers = table.frame.columns[table.frame.columns != LESS_PAPER]
    table.frame.loc[counted, numbers] = table.frame.loc[counted, numbers].replace(
        r"\.0$", "", regex=True
    )
    return table


def agreement(recorded: Found) -> Table:
    """The tree against the scene on the same failures: a proper kappa between two judges."""
    titled = {
        f"{kind}, {model.shown}": failures(model, kind, "scene")
        for model in recorded.full
        for kind in KINDS
    }
    caption = "Tree and scene on the same failures"
    return _agreement(titled, "label", name="agreement", caption=caption)


def _agreement(rows: Mapping[str, pd.DataFrame], column: str, *, name: str, caption: str) -> Table:
    """How often a judge gives the scene's label to the failures it judged, and Cohen's kappa."""
    lines = {}
    for title, frame in rows.items():
        mine = frame[frame[column].notna()]
        one, two = mine[column], mine["scene"]
        used = {*one, *two}
        kappa = "undefined: one category" if used else MISSING
        lines[title] = {
            "failures": len(mine),
            **points("same label, %", wilson(int((one == two).sum()), len(mine)), 0),
            "κ": number(cohen_kappa_score(one, two)) if len(used) > 1 else kappa,
        }
    return table_of(lines, name=name, caption=caption, decimals=0)


def concordances(pair: Pair) -> Table:
    """The paper's kappa across different failures, what chance makes of it, and a distance."""
    lines = {}
    for kind in KINDS:
        lists = [failures(model, kind, "scene")["label"].tolist() for model in pair[:2]]
        paper = number(printed("edge_table05", dataset=PAPER_SETS[kind], metric="kappa"), 3)
        made = concordance(*lists) if all(lists) else Concordance(None, None, None, 0, np.nan)
        kappa = "undefined: one category" if made.n else "no failures"
        lines[kind] = {
            "paper’s κ": paper,
            "κ": kappa if made.kappa is None else number(made.kappa, 3),
            f"shuffled, {100 * LEVEL:g} %": interval(made.low, made.high, 3),
            "profiles apart, %": number(100 * made.distance, 0),
            "failures": " / ".join(map(str, map(len, lists))),
        }
    caption = "Failure-profile concordance of the pair, by the tree"
    return table_of(lines, name="concordance", caption=caption)


def draw(pair: Pair) -> Figure:
    """Figure 1: the categories of all failures of the pair, the paper's beside."""
    figure, panels = plt.subplots(1, 2, figsize=(WIDTH, 2.6), sharey=True)
    counts = label_counts(PRINTED)
    for ax, kind in zip(panels, KINDS, strict=True):
        bars = {
            "paper, judge": pd.Series(
                {c: sum(counts[name, PAPER_SETS[kind]].get(c, 0) for name in PAPER_PAIR)
                 for c in CATEGORIES}
            )
        }  # fmt: skip
        for column, title in (("label", "here, tree"), ("scene", "here, scene")):
            labels = pd.concat([failures(model, kind, "scene")[column] for model in pair[:2]])
            bars[title] = labels.value_counts().reindex(list(CATEGORIES), fill_value=0)
        for y, values in enumerate(bars.values()):
            left = 0.0
            for category, count in (100 * values / max(values.sum(), 1)).items():
                ax.barh(
                    y, count, left=left, color=CATEGORY_COLOURS[category],
                    label=f"{category} {CATEGORIES[category]}" if not y else None,
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
    """Figure 2's kind of rows: the first failures that the scene says are alike in both models.

    Columns `kind`, `row`, `question`, `truth`, `compact`, `large`, `category` and `image_hash`: at
    most one question of each of two categories and one caption, the lowest row numbers.
    """
    columns = ["kind", "row", "question", "truth", "compact", "large", "category", "image_hash"]
    parts = [pd.DataFrame(columns=columns)]
    names = {"text": "compact", "text two": "large", "scene": "category"}
    for kind in KINDS if pair else ():
        compact, large = (failures(model, kind, "scene") for model in pair[:2])
        both = paired(compact, large).sort_index()
        both = both[both["scene"] == both["scene two"]]
        first = both.drop_duplicates("scene").head(2 if kind == QUESTIONS else 1)
        hashes = [group.rpartition(" ")[2] for group in first["group"]]
        first = first.assign(kind=kind, row=first.index, image_hash=hashes)
        parts.append(first.drop(columns="category").rename(columns=names)[columns])
    return pd.concat(parts, ignore_index=True)


def _listed(rows: pd.DataFrame, kind: str) -> list[Failure]:
    return [Failure(kind, wrong.question, wrong.truth, wrong.text) for wrong in rows.itertuples()]


def same_pictures(
    grid: pd.DataFrame, drawn: Sequence[bytes]
) -> tuple[list[Image.Image], list[str]]:
    """Of pictures drawn anew for the rows of `grid_rows`, those that were asked about; captions."""
    pictures = [
        (Image.open(BytesIO(content)), f"{failure.kind[:-1]} {failure.row}: {failure.category}")
        for content, failure in zip(drawn, grid.itertuples(), strict=True)
        if short_hash(content) == failure.image_hash
    ]
    return [image for image, _ in pictures], [name for _, name in pictures]


def grid_table(grid: pd.DataFrame) -> Table:
    """The failures of Figure 2 in words."""
    rows = grid.set_index(grid["kind"].str[:-1] + " " + grid["row"].astype(str))
    columns = ["question", "truth", "compact", "large", "category"]
    return Table("prose-grid", rows[columns].rename_axis(index=None), "Failures of both models")
