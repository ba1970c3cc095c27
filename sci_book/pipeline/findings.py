"""What the ledger says of one page: its findings as tables, and the verdict they come to.

A chapter decides nothing itself. It shows the findings on the claims whose `page` it is, with the
ledger's intervals; those that `lead` are the claim in its first lines, and make its verdict.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import fill
from typing import NamedTuple

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from sci_book.papers.registry import PAPERS
from sci_book.papers.shared import figures
from sci_book.papers.shared.chapters import (
    Named,
    model_names,
    overall,
    row,
    training_folders,
    training_in,
)
from sci_book.papers.shared.pages import address
from sci_book.papers.shared.pages import named as named_section
from sci_book.papers.shared.parameters import Names
from sci_book.papers.shared.stamp import located
from sci_book.papers.shared.tables import INTERVAL, MISSING, Table, compare, interval, number
from sci_book.pipeline.claims import Claim, claimed, in_words, load_claims, margin_of, unit_of
from sci_book.pipeline.ledger import Finding, evaluate, page_of
from sci_book.results.statistics import NO_DATA

PAGE = "page"
"""What a claim leads that makes its page's verdict, not that of one table on it."""
PaperNumbers = Mapping[tuple[str, str], float | None]


class OfCompanion(NamedTuple):
    """A model of a companion's chapter, whether or not it has records."""

    name: str
    path: Path

    @property
    def number(self) -> int:
        """Which training of its recipe this is, as `Subject.number` has it."""
        return training_in(self.path.parent)

    @property
    def trainings(self) -> list["OfCompanion"]:
        """This model, then those of the folders `training1`, … that have some records of it."""
        folders = training_folders(self.path.parent)
        others = [folder for folder in folders if any(folder.glob(f"**/{self.path.name}"))]
        return [self, *(self._replace(path=folder / self.path.name) for folder in others)]


def named(models: Names, records: str | Path) -> list[OfCompanion]:
    """The models of a companion's chapter, whether or not they have records."""
    names = dict.fromkeys(model_names(models))
    return [OfCompanion(name, located(records) / f"{name}.parquet") for name in names]


def of_page(
    page: str, subjects: Sequence[Named], results: str | Path | None = None
) -> list[Finding]:
    """The ledger's findings on one page's claims, for each of its models.

    Args:
        subjects: of `chapters.subjects`, or of `named` for a companion's page.
        results: the folder of committed results, if claims about time or fine-tuning are tested.

    Raises:
        ValueError: no claim belongs to the page.
    """
    claims = [claim for claim in load_claims(own=True) if claim.page == page]
    if not claims:
        raise ValueError(f"No claim in data_manifests/paper/claims*.yaml has the page {page!r}.")
    return _once(evaluate(claims, subjects, results))


def of_sections(sections: Sequence[str], subjects: Sequence[Named]) -> list[Finding]:
    """`of_page` of each section of a page that has claims of its own."""
    return [finding for name in sections for finding in of_page(name, subjects)]


def leading(findings: Sequence[Finding], place: str = PAGE) -> list[Finding]:
    """The findings that make the verdict of a page, or of one table on it.

    Models that a claim is not about are left out, unless there is no other.
    """
    leads: list[Finding] = []
    for claim in _claims(findings):
        of_claim = [finding for finding in findings if finding.claim == claim]
        if claim.leads == place:
            comparable = [finding for finding in of_claim if finding.verdict != "not comparable"]
            measured = [finding for finding in of_claim if finding.parts]
            leads += (comparable or measured or of_claim[:1]) if claim.about else of_claim
    return leads


def verdict_of(findings: Sequence[Finding], place: str = PAGE) -> str:
    """The verdict that a page prints, of itself or of one of its tables."""
    return overall(finding.verdict for finding in leading(findings, place))


def tables(findings: Sequence[Finding], paper: PaperNumbers | None = None) -> list[Table]:
    """A model's leading claims part by part, then its other claims by the part that decides.

    `paper` holds the paper's numbers in the unit of the table, by model and part.
    """
    claim_tables = []
    for model in dict.fromkeys(finding.model for finding in findings):
        of_model = [finding for finding in findings if finding.model == model]
        if leads := [finding for finding in of_model if finding.claim.leads]:
            claim_tables.append(claim_table(leads, paper))
        if others := [finding for finding in of_model if not finding.claim.leads]:
            table = page_of(others, others[0].claim.paper, model)
            table = replace(table, name=f"{table.name}{_of_section(others)}")
            claim_tables.append(table.fold())
    return claim_tables


def claim_table(findings: Sequence[Finding], paper: PaperNumbers | None = None) -> Table:
    """Every part of one model's claims, beside the paper's numbers where there are some."""
    model, title = findings[0].model, findings[0].title
    lines, claims = {}, []
    for finding in findings:
        claim, title_of_claim = finding.claim, finding.claim.id.replace("-", " ")
        for what, measured, word in finding.parts or ((title_of_claim, NO_DATA, "not comparable"),):
            claims.append(claimed(claim, claim.scale))
            numbers = row(measured, paper=(paper or {}).get((model, what)), scale=claim.scale)
            label = what if what not in lines else f"{title_of_claim}: {what}"
            lines[label] = {**numbers, "verdict": finding.said_of(word)}
    table = compare(
        pd.DataFrame.from_dict(lines, orient="index"),
        name=f"claims-{model}{_of_section(findings)}",
        caption=f"The claim, part by part: {title}{_unit(findings)}{_counted(lines, findings)}"
        f"{_over(findings)}",
        ours=title,
        paper=bool(paper),
    )
    table.frame.insert(table.frame.columns.get_loc("verdict"), "claimed", claims)
    if all(finding.quartiles for finding in findings):
        return replace(table, frame=table.frame.rename(columns={INTERVAL: "quartiles"}))
    return table


def conclusion(findings: Sequence[Finding]) -> str:
    """Each verdict in Markdown, a section's own first, with a line for each that decides it."""
    sections = dict.fromkeys(finding.claim.page for finding in findings)
    return "\n\n".join(
        _conclusion([finding for finding in findings if finding.claim.page == section])
        for section in sections
    )


def _conclusion(findings: Sequence[Finding]) -> str:
    places = dict.fromkeys(claim.leads for claim in _claims(findings) if claim.leads)
    texts = []
    for place in sorted(places, key=lambda place: place != PAGE):
        about = named_section(findings[0].claim.page) if place == PAGE else place
        head = f"Verdict, {about}" if about else "Verdict"
        leads = leading(findings, place)
        claims = _claims(leads)
        alone = len(claims) == 1
        asked = "" if place == PAGE or not alone else f" {in_words(claims[0])}"
        texts.append(f"**{head}: {verdict_of(findings, place)}.**{asked}")
        lines = []
        for claim in claims:
            mine = [finding for finding in leads if finding.claim == claim]
            word = overall(finding.verdict for finding in mine)
            lines += [] if alone else [f"- {in_words(claim)} **{word.capitalize()}:**"]
            lines += [f"{'' if alone else '  '}- {_reason(finding)}" for finding in mine]
        texts.append("\n".join(lines) or "No model was named.")
    return "\n\n".join(texts)


def _reason(finding: Finding) -> str:
    """A model's verdict, the number that decides it, and the conditions that are not met."""
    said = f"{finding.title}: *{finding.said}*"
    said += f" ({finding.of_trainings})." if finding.of_trainings else "."
    if not finding.interval.n:
        return f"{said} There is nothing to test it on."
    estimate, low, high, *_ = finding.interval.times(finding.claim.scale)
    ends = interval(low, high)
    numbers = number(estimate) + unit_of(finding.claim, finding.part)
    numbers += "" if ends == MISSING else f" {ends}"
    needs = "more" if finding.claim.claim == "greater" else "less"
    said += (
        f" “{finding.part}” is {numbers}, n = {finding.interval.n:,}; "
        f"the claim needs {needs} than {margin_of(finding.claim, finding.claim.scale)}."
    )
    return (
        f"{said} [Conditions]({address('conditions')}): {finding.unmet}." if finding.unmet else said
    )


def show_parts(
    findings: Sequence[Finding],
    caption: str,
    *,
    xlabel: str,
) -> None:
    """Display a verdict as a picture: a line a part of the claim, a dot with its interval a model.

    The side that is claimed is shaded; a dot is hollow where no verdict is given.

    Args:
        caption: what is compared, in a sentence; how to read the marks is added.
        xlabel: what a dot's place means, with its unit, such as "points lost".
    """
    lead = [finding for finding in leading(findings) if finding.interval.n]
    lines = {(f.claim.id, what): f.claim for f in lead for what, *_ in f.parts}
    heights = {line: height for height, line in enumerate(lines)}
    models = {finding.title: finding.model for finding in reversed(lead)}
    titles = list(dict.fromkeys(finding.title for finding in lead))
    colours = figures.model_colours([models[title] for title in titles])
    step = 0.6 / max(1, len(titles))
    figure, ax = plt.subplots(figsize=(figures.WIDTH, 1.1 + (0.16 + 0.62 * step) * len(lines)))
    if not lines:
        figures.nothing(ax, "No model has an answer that this claim could be tested on.")
    for finding in lead:
        place_of_title = step * (titles.index(finding.title) - (len(titles) - 1) / 2)
        colour = colours[models[finding.title]]
        for what, measured, _ in finding.parts:
            height = heights[finding.claim.id, what] + place_of_title
            middle, low, high, *_ = measured.times(finding.claim.scale)
            ax.hlines(height, low, high, color=colour, linewidth=2)
            face = "white" if finding.unmet else colour
            ax.plot(middle, height, "o", markersize=6, mfc=face, mec=colour)
    read = ""
    if lines:
        shades = {title: colours[models[title]] for title in titles}
        _finish_parts(ax, lines, shades)
        ax.set_xlabel(xlabel)
        read = f"The shaded side is claimed; lines are {INTERVAL}s, each part's own."
    if any(finding.unmet for finding in lead):
        read += " Hollow: the model does not meet the claim's conditions, so no verdict is given."
    alt = (
        f"A line each for {'; '.join(what for _, what in lines) or 'no part'}: dots with intervals "
        f"for {' and '.join(titles) or 'no model'}, along {xlabel}; the claimed side is shaded."
    )
    figures.show(figure, f"{caption} {read}".strip(), alt)


def _finish_parts(
    ax: Axes, lines: Mapping[tuple[str, str], Claim], shades: Mapping[str, str]
) -> None:
    """The claimed sides, the lines' names, and the legend."""
    left, right = ax.get_xlim()
    margins = [claim.scale * claim.margin for claim in lines.values()]
    room = 0.04 * (right - left)
    left, right = min(left, min(margins) - room), max(right, max(margins) + room)
    for height, (claim, margin) in enumerate(zip(lines.values(), margins, strict=True)):
        ends = (margin, right) if claim.claim == "greater" else (left, margin)
        ax.fill_betweenx([height - 0.5, height + 0.5], *ends, color="#15803d", alpha=0.12, lw=0)
        ax.vlines(margin, height - 0.5, height + 0.5, color=figures.INK, linewidth=1)
    ax.set_xlim(left, right)
    ax.set_ylim(len(lines) - 0.5, -0.5)
    ax.set_yticks(range(len(lines)), [fill(what, 30) for _, what in lines])
    ax.grid(axis="y", visible=False)
    for title, colour in shades.items():
        ax.plot([], [], "o", color=colour, label=title)
    columns = 4 if len(shades) < 4 else 2  # a wider legend squeezes the picture
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, borderaxespad=0)


def led_by(findings: Sequence[Finding], claim: str, place: str) -> list[Finding]:
    """The findings, those on one more claim leading `place`: a sentence that the page quotes.

    Raises:
        ValueError: if none of the findings is on that claim.
    """
    if findings and claim not in {finding.claim.id for finding in findings}:
        raise ValueError(f"No finding here is on the claim {claim!r}; name one of this page's.")
    return [
        replace(f, claim=replace(f.claim, leads=place)) if f.claim.id == claim else f
        for f in findings
    ]


def _once(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, a claim about the questions with the first model that has rows alone."""
    first: dict[str, Finding] = {}
    for finding in findings:
        earlier = first.setdefault(finding.claim.id, finding)
        if earlier.verdict == "not comparable":
            first[finding.claim.id] = finding
    return [f for f in findings if not f.claim.questions or f is first[f.claim.id]]


def _counted(lines: Iterable[str], findings: Sequence[Finding]) -> str:
    """What n counts, where a paper's claims compare two sets and only one of them is counted."""
    counts = PAPERS[findings[0].claim.paper].counts
    return f"; {counts}" if counts and any(" less " in what for what in lines) else ""


def _over(findings: Sequence[Finding]) -> str:
    """Whose numbers a table of claims shows, where there is more than one training."""
    counts = sorted({finding.trainings for finding in findings} - {0})
    if not counts or counts[-1] < 2:
        return ""
    if any(finding.each for finding in findings):
        return "; numbers of the first training, the words that all have"
    return f"; over {' or '.join(map(str, counts))} trainings"


def _of_section(findings: Sequence[Finding]) -> str:
    """What the name of a section's table ends with, since its page may have others of a kind."""
    page = findings[0].claim.page
    return f"-{page}" if named_section(page) else ""


def _unit(findings: Sequence[Finding]) -> str:
    claims = _claims(findings)
    percent = all(claim.scale == 100 and not claim.questions for claim in claims)
    return ", percent and points" if percent else ""


def _claims(findings: Sequence[Finding]) -> list[Claim]:
    return list({finding.claim.id: finding.claim for finding in findings}.values())
