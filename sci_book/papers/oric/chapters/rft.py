"""Table 5: a pocket model before and after Visual-RFT, from a committed result.

The result holds every answer (`sci_book.papers.oric.rft.experiment`), so that intervals are made
here. A picture is a cluster; a macro F1 is computed anew in every draw, for both conditions of a
difference from the same pictures.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import product
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sci_book.data.catalogue import model_entry, model_name
from sci_book.files import json_text
from sci_book.papers.oric import onlooker, scores
from sci_book.papers.oric.chapters import answers
from sci_book.papers.oric.printed import printed_row
from sci_book.papers.oric.rft.rewards import REWARDS
from sci_book.papers.oric.rft.settings import PRESETS, PRINTED_AS
from sci_book.papers.shared.chapters import PAPER, levels, row
from sci_book.papers.shared.figures import WIDTH
from sci_book.papers.shared.lines import table_of
from sci_book.papers.shared.stamp import checksum, located, provenance
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import Table, frame_of, plain
from sci_book.results.records import RecordsError
from sci_book.results.statistics import NO_DATA, Interval, of_sums

RESULTS = "benchmarks/results/rft"
PRINTED = {"cot": "w 0-shot CoT", "plain": "w/o 0-shot CoT", "rft": "Visual-RFT"}
"""The rows of Table 5(a), by condition; "taught" has none."""
SHOWN = {
    "cot": "0-shot CoT", "plain": "as it is", "taught": "taught the form", "rft": "Visual-RFT",
}  # fmt: skip
TABLE_METRICS = (
    "f1", "precision", "recall", "yes_proportion", "f1_yes", "recall_yes", "f1_no", "recall_no",
)  # fmt: skip
COMPARISONS = ("plain", "taught")
"""What the claims of Table 5 and of Figure 5 compare Visual-RFT with."""
TITLES = {"oric": "ORIC", "probe": "probe"}
"""The sets: Table 5 is of the first, Figure 5's pocket counterpart of the second."""
LEAST_READ = 50.0  # percent of answers that say yes or no, for a condition to be compared with
_WINDOW = 20  # updates
_COLOURS = {"accuracy": "#0072b2", "form": "#009e73", "constant": "#6b7280"}


@dataclass(frozen=True, eq=False)
class Result:
    """A committed run: its file, and what is in it."""

    path: Path
    content: dict

    @property
    def heading(self) -> str:
        """The head of columns with its numbers."""
        try:
            entry = model_entry(self.content["model"])
        except ValueError:  # a model this book does not know
            return self.content["model"]
        return f"pocket {entry['title']}" if entry["pocket"] else entry["title"]

    @property
    def curve(self) -> pd.DataFrame:
        """One line an update."""
        return pd.DataFrame(self.content["curve"])

    def rows(self, name: str) -> dict:
        """The questions and answers of the set "oric" or "probe"."""
        return self.content["sets"][name]

    def said(self, name: str, condition: str) -> np.ndarray:
        """The answers, `[wordings, questions]`."""
        return np.array(self.rows(name)["said"][condition], dtype=object).T

    def counts(self, name: str, condition: str) -> np.ndarray:
        """`scores.columns` of the answers, `[counts · wordings, questions]`."""
        labels = np.array(self.rows(name)["label"], dtype=object)
        return scores.columns(labels, self.said(name, condition))


def file_of(model: str, folder: str | Path = RESULTS) -> Path:
    """Where the result of a model lies."""
    return located(folder) / f"{model_name(model)}.json"


def read(model: str, folder: str | Path = RESULTS) -> Result:
    """The result of a model; a `RecordsError` where there is none."""
    path = file_of(model, folder)
    if not path.is_file():
        raise RecordsError(
            f"No result of Visual-RFT for {path.stem} ({path.name}); make it with "
            "`sci rft --model … --out …` and copy its result.json there under this name."
        )
    return Result(path, json.loads(path.read_text(encoding="utf-8")))


def score(result: Result, name: str, condition: str, metric: str) -> Interval:
    """A metric of equations (8) to (17) as a share, averaged over wordings; by pictures."""
    images = result.rows(name)["image"]
    return of_sums(result.counts(name, condition), images, scores.metric(metric))


def difference(result: Result, name: str, first: str, second: str) -> Interval:
    """Macro F1 of one condition less that of another, as a share, on the same questions.

    No interval where either condition says yes or no to less than half of them.
    """
    if min(answered(result, name, first), answered(result, name, second)) < LEAST_READ:
        return NO_DATA
    both = [result.counts(name, condition) for condition in (first, second)]
    half, value = len(both[0]), scores.metric("f1")
    return of_sums(
        np.concatenate(both),
        result.rows(name)["image"],
        lambda sums: value(sums[:half]) - value(sums[half:]),
    )


def answered(result: Result, name: str, condition: str) -> float:
    """The percent of answers that say yes or no."""
    return float(100 * (result.said(name, condition) != "unknown").mean())


def table05(result: Result) -> Table:
    """Table 5(a): a row a metric and condition, the paper's model beside ours."""
    caption = (
        "Table 5(a), in percent: the paper’s model on its benchmark, and a pocket "
        "model on held-out questions of the pocket world"
    )
    return _metrics_table(result, "oric", "a", tuple(SHOWN), name="table05", caption=caption)


def table05b(result: Result) -> Table:
    """Table 5(b): by people's labels in the paper, by the onlooker's here (`onlooker`)."""
    caption = "Table 5(b), in percent: by people’s labels, and by the onlooker’s"
    conditions, seen = ("plain", "rft"), onlooked(result)
    return _metrics_table(seen, "onlooker", "b", conditions, name="table05b", caption=caption)


def gain_by_label(result: Result) -> Table:
    """What Visual-RFT gains over the model as it is, by the annotations and by who looks."""
    rows, seen = {}, onlooked(result)
    for part, name, title in (("a", "oric", "annotations"), ("b", "onlooker", "onlooker, people")):
        change = difference(seen, name, "rft", "plain")
        rows[title] = row(change, paper=_gained("plain", part))
    caption = "Visual-RFT less the model as it is, macro F1 in points, by whose labels"
    return levels(frame_of(rows), name="gain-by-label", caption=caption, ours=result.heading)


def onlooked(result: Result) -> Result:
    """The run with one more set, "onlooker": ORIC's questions, relabelled by what can be seen."""
    rows = result.rows("oric")
    labels = onlooker.relabel(rows["image"], rows["target"], rows["label"])
    sets = {**result.content["sets"], "onlooker": {**rows, "label": labels}}
    return replace(result, content={**result.content, "sets": sets})


def onlooker_line(result: Result) -> str:
    """How many labels the onlooker changes, in a sentence."""
    there = result.rows("oric")["label"].count("yes")
    seen = onlooked(result).rows("onlooker")["label"].count("yes")
    return (
        f"The onlooker makes out {seen} of the {there} things that the annotations name; the other "
        f"{there - seen} questions get the label no."
    )


def _metrics_table(
    result: Result, asked: str, part: str, conditions: Sequence[str], **options: str
) -> Table:
    paper, rows = _printed(part), {}
    for condition, metric in product(conditions, TABLE_METRICS):
        rows[f"{answers.title(metric)}: {SHOWN[condition]}"] = row(
            score(result, asked, condition, metric),
            paper=paper.get(condition, {}).get(answers.paper_key(metric)),
        )
    return levels(frame_of(rows), ours=result.heading, subtract=False, **options)


def read_table(result: Result) -> Table:
    """What could be read: answers that say yes or no, and answers in Figure 11's form."""
    lines = {}
    for name, title in TITLES.items():
        form = result.rows(name)["form"]
        for condition, setting in SHOWN.items():
            lines[f"{title}: {setting}"] = {
                "answers": int(np.size(form[condition])),
                "yes or no, %": answered(result, name, condition),
                "in the form, %": float(100 * np.mean(form[condition])),
            }
    caption = "What could be read of the answers"
    return table_of(lines, name="read", caption=caption, decimals=1)


def paper_numbers(result: Result) -> dict[tuple[str, str], float]:
    """What Visual-RFT gains in the paper, by model and part of the claim."""
    return {(result.path.stem, gain_part("plain")): _gained("plain")}


def gain_part(other: str) -> str:
    """The name of the part of a claim that Visual-RFT is better than another condition."""
    return f"Visual-RFT less {'the model ' if other == 'plain' else ''}{SHOWN[other]}"


def beside(result: Result) -> Table:
    """What else may be compared on ORIC's questions; nothing is claimed of it."""
    rows = {}
    for first, second, printed in (("rft", "cot", _gained("cot")), ("taught", "plain", None)):
        change = difference(result, "oric", first, second)
        rows[f"{SHOWN[first]} − {SHOWN[second]}"] = row(change, paper=printed)
    caption = "Change of macro F1 in points, on the same questions; positive is better"
    return levels(frame_of(rows), name="contrasts", caption=caption, ours=result.heading)


def groups_table(result: Result) -> Table:
    """The first and the last updates: rewards, and groups in which they were equal."""
    curve = result.curve
    window = min(_WINDOW, max(1, len(curve) // 2))
    parts = {f"first {window}": curve.head(window), f"last {window}": curve.tail(window)}
    parts[f"all {len(curve)}"] = curve
    shares = {f"constant_{name}": f"constant {name}, % of groups" for name in REWARDS}
    shares |= {"constant": "constant sum, % of groups", "cut": "cut off, %"}
    order = [*REWARDS, *list(shares)[:-1], "tokens", "cut"]
    means = {f"updates: {name}": part[order].mean() for name, part in parts.items()}
    frame = pd.DataFrame(means).T
    frame[list(shares)] *= 100
    frame = frame.rename(columns=shares)
    caption = "Rewards and groups that teach nothing"
    return plain(frame, name="groups", caption=caption)


def idle_line(result: Result) -> str:
    """Which reward was constant in every group, and in how many groups each differed."""
    named = [
        f"The reward for {name} was constant in every group ({value:.2f} on average) and taught "
        "nothing."
        for name, value in result.content["idle"].items()
    ]
    taught = " and ".join(
        f"{100 * (1 - result.curve[f'constant_{name}'].mean()):.2f} % of groups for {name}"
        for name in REWARDS
    )
    named.append(f"A reward teaches only where it differs: over the whole run in {taught}.")
    return " ".join(named)


def settings_table(result: Result) -> Table:
    """Table 9 as printed, what the preset makes of it, and the pocket run's own."""
    preset, ours = PRESETS["paper"].__dict__, result.content["settings"]
    printed = pd.read_csv(PAPER / "oric_training.csv", dtype=str).set_index("name")["printed"]
    lines = {
        name: {
            "paper": text.replace("^{-6}", "⁻⁶"),
            "preset “paper”": f"{preset.get(PRINTED_AS.get(name), '')}",
            "pocket run": f"{ours.get(PRINTED_AS.get(name), '')}",
        }
        for name, text in {**printed, "answers an update": ""}.items()
    }
    frame = pd.DataFrame.from_dict(lines, orient="index")
    return Table("table09", frame, "Table 9: hyper-parameters")


def examples(result: Result) -> Table:
    """Some answers in full, before and after."""
    rows, conditions = result.rows("oric"), ("plain", "taught", "rft")
    lines = {
        rows["wording"][place]: {
            "label": rows["label"][place],
            **{SHOWN[condition]: rows["texts"][condition][place] for condition in conditions},
        }
        for place in range(3)
    }
    frame = pd.DataFrame.from_dict(lines, orient="index")
    # The name lets its words wrap (book.css).
    return Table("prose-rft-answers", frame, "The first questions, asked in the first wording")


def draw_curves(result: Result) -> Figure:
    """Either reward by update, and the share of groups that teach nothing; means of a window."""
    curve = result.curve
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 3.2), sharex=True)
    lines = [(axes[0], name, name, name) for name in REWARDS]
    lines += [(axes[1], f"constant_{name}", name, name) for name in REWARDS]
    for ax, column, colour, label in (*lines, (axes[1], "constant", "constant", "their sum")):
        means = curve[column].rolling(_WINDOW).mean()
        style = (0, (4, 3)) if column == "constant" else "-"  # the line below shows through
        ax.plot(curve["step"], means, color=_COLOURS[colour], linestyle=style, label=label)
    axes[0].set_ylabel("mean reward")
    axes[1].set_ylabel("groups of equal rewards, share")
    for ax in axes:
        ax.set_xlabel(f"update (means of the last {_WINDOW})")
        ax.set_ylim(-0.03, 1.03)
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def draw_scores(result: Result) -> Figure:
    """Macro F1 by condition on both sets with intervals, and the paper's on its benchmark."""
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 2.8), sharey=True)
    paper = {condition: printed["overall f1"] for condition, printed in _printed().items()}
    draw_settings(axes[0], paper, result, "oric")
    draw_settings(axes[1], {}, result, "probe")
    axes[0].set_title("ORIC, held out")
    axes[1].set_title("other claims, held out")
    axes[0].invert_yaxis()
    handles, labels = axes[0].get_legend_handles_labels()
    legend = dict(zip(labels, handles, strict=True))
    figure.legend(legend.values(), legend.keys(), loc="outside lower center", ncols=2)
    return figure


def draw_settings(
    ax: Axes,
    paper: Mapping[str, float],
    result: Result | None = None,
    asked: str = "",
) -> None:
    """Macro F1, a line a setting: the paper's by condition, and ours of a set if there is any."""
    for place, condition in enumerate(SHOWN):
        if result is not None:
            f1 = score(result, asked, condition, "f1").times(100)
            ax.hlines(place, f1.low, f1.high, color="#dd6b20", linewidth=2.5)
            ax.plot(f1.estimate, place, "o", color="#dd6b20", label=result.heading)
        if condition in paper:
            ax.plot(paper[condition], place, "D", mfc="white", mec=INK, label="paper, Table 5(a)")
    ax.set_yticks(range(len(SHOWN)), list(SHOWN.values()))
    ax.set_xlabel("macro F1, %")
    ax.set_xlim(-3, 103)


def stamp_of(result: Result, beside: Mapping[str, str] | None = None) -> Table:
    """Where the numbers come from; `beside` are checksums of other files, by name."""
    content = result.content
    versions = ", ".join(f"{n} {v}" for n, v in content["stamp"]["versions"].items())
    return provenance(
        models={content["model"]: content["revision"][:16]},
        data={"pocket questions": _digest(result), **(beside or {})},
        records={f"{result.path.name} ({versions})": checksum([result.path])},
    )


def _printed(part: str = "a") -> dict[str, dict[str, float]]:
    """The rows of a part of Table 5 by condition; that of part b with 0-shot CoT is empty."""
    return {
        condition: printed_row("oric_table05", name, part) for condition, name in PRINTED.items()
    }


def _gained(other: str, part: str = "a") -> float:
    """What macro F1 gains from another condition to Visual-RFT in the paper."""
    paper = _printed(part)
    return paper["rft"]["overall f1"] - paper[other]["overall f1"]


def _digest(result: Result) -> str:
    asked = {
        name: [result.rows(name)[key] for key in ("image", "target", "label")]
        for name in ("oric", "probe")
    }
    return sha256(json_text(asked).encode()).hexdigest()[:16]
