"""The headline claims on several training seeds: does a verdict depend on how training fell out?

Every seed is a model of its own with records of the same rows: those of the book, and a folder
`seed1`, `seed2`, … beside them for each further training.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from sci_book.methods import SCI
from sci_book.papers.sci.chapters import measures
from sci_book.papers.sci.chapters.shapes import Subjects, ends
from sci_book.papers.shared import chapters
from sci_book.papers.shared.chapters import Subject, model_names, row, subjects, unchanged
from sci_book.papers.shared.evidence import Evidence
from sci_book.papers.shared.figures import WIDTH, nothing
from sci_book.papers.shared.pages import address, named
from sci_book.papers.shared.parameters import Names
from sci_book.papers.shared.stamp import located
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import MISSING, VERDICTS, Table, number, plain
from sci_book.results.statistics import FEWEST, Sample, measure, ratio

ONE = "one seed at most"  # on which a claim can be judged
SEED_COLOURS = (INK, "#0072b2", "#dd6b20", "#009e73")


def seeds(models: Names, records: str | Path) -> dict[int, list[Subject]]:
    """The models of the book as seed 0, and of every further seed those that have records."""
    by_seed = {0: subjects(models, records)}
    for folder in sorted(located(records).glob("seed*")):
        names = [name for name in model_names(models) if (folder / f"{name}.parquet").is_file()]
        if names:
            by_seed[int(folder.name.removeprefix("seed"))] = subjects(names, folder)
    return by_seed


def trainings(by_seed: Mapping[int, Subjects]) -> list[tuple[int, Subject]]:
    """Every model of every seed, with the seed."""
    return [(seed, subject) for seed, models in by_seed.items() for subject in models]


def samples(subject: Subject, others: Subjects) -> dict[str, Sample]:
    """The headline claims of one model: SCI5 against base and VCD, more rounds, transfer."""
    evidence = Evidence(subject, [other for other in others if other is not subject], None)
    parts = [
        *measures.difference(evidence, ["SCI5"], ["base", "VCD"], ["B", "S", "BS"]),
        *measures.steps(evidence, SCI, ["BS"]),
        *measures.on_others(evidence, ["SCI5"], ["base"]),
    ]
    return {part.what: part for part in parts}


def results(by_seed: Mapping[int, Subjects]) -> pd.DataFrame:
    """Every headline claim of every model and seed; rows of `chapters.row`, shares in points.

    Indexed by (model, claim, seed). Every claim is that the difference is positive.
    """
    lines = {}
    for seed, subject in trainings(by_seed):
        parts = samples(subject, by_seed[seed])
        everyone = all(model.fit for model in by_seed[seed])  # transfer is claimed of others' rows
        for what, sample in parts.items():
            fit = everyone if ", BS of " in what else subject.fit
            line = row(sample.interval, claim="greater", fit=fit)
            lines[subject.name, what, seed] = {"shown": subject.shown, "sample": sample, **line}
    frame = pd.DataFrame.from_dict(lines, orient="index")
    frame.index = pd.MultiIndex.from_tuples(frame.index, names=["model", "claim", "seed"])
    return frame


def rows_table(by_seed: Mapping[int, Subjects]) -> Table:
    """Test rows, and the sizes of the subsets, of each model and seed."""
    lines = {}
    for seed, subject in trainings(by_seed):
        sets = subject.sets("any", "rows")[["all", "B", "S", "BS"]]
        lines[f"{subject.shown}, seed {seed}"] = sets.sum()
    frame = pd.DataFrame.from_dict(lines, orient="index")
    return plain(frame, name="rows", caption="Test rows, and those in each subset")


def agreement(frame: pd.DataFrame) -> pd.DataFrame:
    """By model and claim: how many seeds came to each verdict, and whether all came to one.

    Seeds on which the claim is not comparable do not count.
    """
    counts = frame.groupby(["model", "claim"], sort=False)["verdict"].value_counts().unstack()
    counts = counts.reindex(columns=list(VERDICTS)).fillna(0).astype(int)
    # A claim that holds on one seed and fails on another is contradicted; open verdicts are not.
    contradicted = (counts["holds"] > 0) & (counts["fails"] > 0)
    judged = counts[["holds", "fails", "inconclusive"]]
    seeds = judged.sum(axis=1)
    unanimous = judged.max(axis=1) == seeds
    word = unanimous.map({True: "the same on all", False: "differs"}).mask(seeds < 2, ONE)
    return counts.assign(together=word.mask(contradicted, "contradicted"))


def agreement_table(together: pd.DataFrame, titles: pd.Series) -> Table:
    """`agreement` as a table, a line a model, by its title, and claim."""
    frame = together.set_axis([f"{titles[model]}: {claim}" for model, claim in together.index])
    return plain(frame.rename_axis(columns=None), name="agreement", caption="Seeds by verdict")


def seed_table(frame: pd.DataFrame, model: str) -> Table:
    """One model: a line a claim; three columns a seed, and three for the mean over trainings."""
    part, columns = frame.loc[model], {}
    claims, seeds = part.index.unique("claim"), sorted(part.index.unique("seed"))
    frames = {f"seed {seed}": part.xs(seed, level="seed").reindex(claims) for seed in seeds}
    means = [_mean(part.loc[[claim]]) for claim in claims]
    frames["mean over trainings"] = pd.DataFrame(means, index=claims)
    for head, lines in frames.items():
        columns[head, "points"] = lines["reproduced"].map(number)
        columns[head, "interval"] = ends(lines)
        columns[head, "verdict"] = lines["verdict"].fillna(MISSING)
    table = pd.DataFrame(columns).rename_axis(index=None)
    caption = f"Headline claims of {part['shown'].iloc[0]}, differences in points, by training seed"
    return Table(f"seeds-{model}", table, caption)


def _mean(lines: pd.DataFrame) -> dict:
    """One claim over trainings (`statistics.measure`); a single training has no verdict here.

    Where they are too few for an interval, the verdict is the word that all have.
    """
    mean = measure([sample.columns for sample in lines["sample"]], ratio)
    words = set(lines["verdict"])
    line = row(mean, claim="greater", fit="not comparable" not in words)
    if len(lines) < 2:
        return {**line, "verdict": None}
    if len(lines) < FEWEST and line["verdict"] == "inconclusive":
        line["verdict"] = words.pop() if len(words) == 1 else "inconclusive"
    return line


def conclusion(together: pd.DataFrame) -> str:
    """The verdict of the page, and how many claims came out alike on all seeds, in Markdown."""
    count = together["together"].value_counts()
    verdict = unchanged(
        compared=bool(count.get(ONE, 0) < len(together)),
        changed="differs" in count,
        contradicted="contradicted" in count,
    )
    said = {
        "the same on all": "every seed has the same verdict",
        "differs": "some seeds are inconclusive where another holds or fails",
        ONE: f"at most one seed can be judged ([conditions]({address('conditions')}))",
    }
    counts = [f"on {count[word]} {text}" for word, text in said.items() if word in count]
    counts.append(f"{count.get('contradicted') or 'none'} held on one seed and failed on another")
    return (
        f"**Verdict, {named('headline_seeds')}: {verdict}.** Of {len(together)} headline claims "
        f"(each model's its own), {'; '.join(counts)}. Only a claim that holds on one seed and "
        "fails on another would refute this page's."
    )


def stamp_of(by_seed: Mapping[int, Subjects], beside: Iterable[Path] = ()) -> Table:
    """The provenance of all seeds, and of these files beside their records."""
    named = [replace(run, name=f"{run.name} seed {seed}") for seed, run in trainings(by_seed)]
    return chapters.stamp_of(named, beside)


def draw(frame: pd.DataFrame) -> Figure:
    """A panel a model: every claim's difference with its interval, a colour a seed."""
    names = frame.index.unique("model")
    most = max(len(frame.loc[name].index.unique("claim")) for name in names)
    figure, panels = plt.subplots(
        len(names), 1, figsize=(WIDTH, len(names) * (0.7 + 0.32 * most)), squeeze=False
    )
    for ax, name in zip(panels[:, 0], names, strict=True):
        part = frame.loc[name]
        claims = list(part.index.unique("claim"))
        numbers = sorted(part.index.unique("seed"))
        drawn = part[part["n"] > 0]
        unnamed = set(numbers)  # seeds that the legend lacks
        for (claim, seed), line in drawn.iterrows():
            order = numbers.index(seed)
            place = claims.index(claim) + 0.22 * (order - (len(numbers) - 1) / 2)
            shade = SEED_COLOURS[order % len(SEED_COLOURS)]
            ax.hlines(place, line["low"], line["high"], color=shade, linewidth=2)
            label = f"seed {seed}" if seed in unnamed else None
            unnamed.discard(seed)
            ax.plot(line["reproduced"], place, "o", color=shade, markersize=4, label=label)
        ax.axvline(0, color=INK, linewidth=0.8)
        ax.set_yticks(range(len(claims)), claims)
        ax.set_ylim(len(claims) - 0.5, -0.5)
        ax.grid(axis="y", visible=False)
        ax.set_title(part["shown"].iloc[0])
        if len(drawn):
            ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        else:
            nothing(ax, "No test row is in B, in S or in another model's BS.")
    panels[-1, 0].set_xlabel("difference in points")
    return figure
