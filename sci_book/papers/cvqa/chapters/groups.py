"""Figure 5: is the drop the same for pictures of either group?

The pocket world has nobody in it. Its groups are attributes of a scene that no question is about:
whether it lies indoors, and whether it is well lit. What matters is the difference of the groups'
differences, with its interval; two intervals that overlap do not decide it.
"""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from sci_book.papers.cvqa.chapters import pairs
from sci_book.papers.cvqa.chapters.dataset import printed
from sci_book.papers.cvqa.scores import group_drops
from sci_book.papers.shared import figures
from sci_book.papers.shared.chapters import Subject
from sci_book.papers.shared.lines import table_of
from sci_book.papers.shared.tables import INTERVAL, Table, interval, number

FILE = "C-VQA-Pocket_groups.csv"
SHOWN = ("base", "VCD", "SCI5")
# Attribute → the smaller group, the larger one, and what puts scenes into the smaller.
ATTRIBUTES = {
    "place": ("indoors", "outdoors", lambda rows: rows["indoors"] == "yes"),
    "light": ("dim", "clear", lambda rows: rows["light"] != "clear"),
}
MOST = 1_000_000  # lines of a file of groups that are read


def of_pictures(subject: Subject, attribute: str) -> np.ndarray | None:
    """The group of every item of `pairs.understood`; None where nothing tells any."""
    name, questions = pairs.name_of(subject, "real"), pairs.items_of(subject, "real")
    if name is None or questions is None:
        return None
    path = pairs.questions_file(name).with_name(FILE)
    if not path.is_file():
        return None
    small, large, belongs = ATTRIBUTES[attribute]
    rows = pd.read_csv(path, dtype=str, keep_default_na=False, nrows=MOST)
    by_picture = dict(zip(rows["img_path"], np.where(belongs(rows), small, large), strict=True))
    real = pairs.of(subject, "real")
    known = dict(zip(real.keys, real.numbers, strict=True))
    numbers = [known.get(key) for key in pairs.understood(subject).keys]
    label = [None if n is None else by_picture.get(questions[n].image) for n in numbers]
    return np.array(label, dtype=object) if any(label) else None


def lines(subject: Subject, attribute: str, policy: str) -> pd.DataFrame:
    """`scores.group_drops`, its contrast the smaller group's difference less the larger's.

    Empty where the groups are not known.
    """
    label = of_pictures(subject, attribute)
    if label is None:
        return pd.DataFrame()
    items, pair = pairs.understood(subject), ATTRIBUTES[attribute][:2]
    drops = group_drops(label, pair, items.groups, items.right(policy))
    return drops.set_index("group")


def family(subjects: Sequence[Subject], attribute: str) -> dict[tuple[str, str], pd.DataFrame]:
    """`lines` by model and method."""
    known = [subject for subject in subjects if of_pictures(subject, attribute) is not None]
    return {
        (subject.name, policy): lines(subject, attribute, policy)
        for subject in known
        for policy in SHOWN
    }


def table(subject: Subject, attribute: str, tables: dict[tuple[str, str], pd.DataFrame]) -> Table:
    """A model's groups under each method: accuracies, the difference, and the contrast."""
    rows = {}
    for policy in SHOWN:
        for name, line in tables[subject.name, policy].iterrows():
            rows[f"{policy}: {str(name).replace(' - ', ' less ')}"] = {
                "n": number(line["n"], 0),
                "original": number(line["original"]),
                "counterfactual": number(line["counterfactual"]),
                "difference": number(line["drop"]),
                INTERVAL: interval(line["drop_low"], line["drop_high"]),
            }
    caption = f"{subject.shown} by {attribute}: percent right, and differences in points"
    return table_of(rows, name=f"groups-{attribute}-{subject.name}", caption=caption)


def draw(
    subjects: Sequence[Subject], tables: dict[str, dict[tuple[str, str], pd.DataFrame]]
) -> Figure:
    """Figure 5: the difference of either group, a panel a model and attribute."""
    known = [model for model in subjects if all((model.name, "base") in t for t in tables.values())]
    figure, axes = plt.subplots(
        len(tables), len(known), figsize=(figures.WIDTH, 1 + 1.9 * len(tables)),
        sharex=True, squeeze=False,
    )  # fmt: skip
    for row, (attribute, frames) in zip(axes, tables.items(), strict=True):
        small, large, _ = ATTRIBUTES[attribute]
        for ax, model in zip(row, known, strict=True):
            for place, policy in enumerate(SHOWN):
                mine = frames[model.name, policy]
                for shift, name, fill in ((-0.15, small, True), (0.15, large, False)):
                    if name not in mine.index:
                        continue
                    line, tint = mine.loc[name], figures.colour(policy)
                    ax.hlines(place + shift, line["drop_low"], line["drop_high"], color=tint)
                    inside = tint if fill else "white"
                    ax.plot(line["drop"], place + shift, "o", color=tint, mfc=inside)
            ax.set_yticks(range(len(SHOWN)), SHOWN)
            ax.invert_yaxis()
            ax.grid(axis="y", visible=False)
            ax.set_title(f"{model.shown}\n{small} full, {large} open", fontsize=9)
    for ax in axes[-1]:
        ax.set_xlabel("original − counterfactual, points")
    return figure


def resolution(subjects: Sequence[Subject]) -> str:
    """How wide the interval of the paper's own contrast is, if its items vary as ours do."""
    sizes = printed()[["male images", "female images"]].astype(float)
    words = []
    for subject in subjects:
        lost = pairs.understood(subject).drop("base")
        if not np.isfinite(lost).any():
            continue
        spread = 100 * float(np.nanstd(lost))
        width = 2 * 1.96 * spread * float(np.sqrt((1 / sizes).sum()))
        words.append(f"{number(width, 0)} points if its items vary as those of {subject.shown} do")
    clause = f"is about {', '.join(words)}" if words else "is of a width that nothing here tells"
    return (
        f"With {sizes.iloc[0]:.0f} and {sizes.iloc[1]:.0f} pictures, the {INTERVAL} of the "
        f"paper's contrast {clause}."
    )
