"""The ledger: every checkable claim of the papers, evaluated for each model over its trainings.

`evaluate` tests the claims of `claims.load_claims`, and calls no verdict on a model that does not
meet what a claim rests on (`gate`); `sci claims` and the book's page show what it returns. Over
`FEWEST` trainings and more a part is one number with an interval over them; of fewer each training
has its own, and the verdict is the word that all have.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from textwrap import shorten
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sci_book.papers.registry import PAPERS
from sci_book.papers.shared import gate
from sci_book.papers.shared.chapters import Named, Subject, alone, overall, validation_files
from sci_book.papers.shared.chapters import subjects as subjects_of
from sci_book.papers.shared.evidence import of_interval
from sci_book.papers.shared.figures import WIDTH, nothing
from sci_book.papers.shared.pages import link
from sci_book.papers.shared.stamp import located
from sci_book.papers.shared.tables import INTERVAL, MISSING, VERDICTS, Ends, Table, interval, number
from sci_book.pipeline import printed
from sci_book.pipeline.claims import Claim, claimed, in_words
from sci_book.results.records import RecordsError
from sci_book.results.stamps import NotRecorded
from sci_book.results.statistics import FEWEST, LEVEL, NO_DATA, Interval, verdict

CERTAIN = "by construction"
VERDICT_COLOURS = {
    "holds": "#15803d", "fails": "#b91c1c", "inconclusive": "#6b7280", "not comparable": "#c4b5fd",
}  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """What became of a claim with one model (or a pair that the claim is about).

    word        of the claim, from its parts' own intervals (`chapters.overall`)
    part        the part that decides: of those with the claim's word, the least favourable
    interval    of that part: its estimate and interval, in the measure's own unit
    parts       all parts with their words
    title       what the model is called in tables
    unmet       what the model does not meet of what the claim rests on; if not empty, no verdict
    quartiles   whether the interval's ends are quartiles of what was measured
    trainings   how many trainings of the model have what is measured
    each        of a few trainings, the finding on each; part, interval and parts are of the first
    """

    claim: Claim
    model: str
    word: str
    part: str
    interval: Interval
    parts: tuple[tuple[str, Interval, str], ...]
    title: str
    unmet: str = ""
    quartiles: bool = False
    trainings: int = 1
    each: tuple["Finding", ...] = ()

    @property
    def verdict(self) -> str:
        """The word, or *not comparable* where what the claim rests on is not met."""
        return "not comparable" if self.unmet else self.word

    @property
    def said(self) -> str:
        """The verdict, and the word that it keeps back, if it keeps back one."""
        kept = self.verdict != self.word
        return f"{self.verdict} ({self.word})" if kept else self.verdict

    def said_of(self, word: str) -> str:
        """What is said of a part with this word, as `said` of the whole."""
        return replace(self, word=word).said

    @property
    def of_trainings(self) -> str:
        """How many trainings it is of, "4 trainings", and what each says where few differ."""
        if self.trainings < 2:
            return ""
        words = [of.word for of in self.each]
        differ = f": {', '.join(words)}" if len({*words}) > 1 else ""
        return f"{self.trainings} trainings{differ}"


def evaluate(
    claims: Iterable[Claim], subjects: Sequence[Named], results: str | Path | None
) -> list[Finding]:
    """Every claim for each model; one that it is not about, has no rows for, or that rests on what
    the model does not meet, is not comparable.

    What a claim compares of two models is compared between trainings of one number. A sentence
    about questions, and what was measured apart (time, fine-tuning), is of the first training.

    Args:
        results: the folder of committed results, if claims about time or fine-tuning are tested.
    """
    claims = list(claims)
    resting = any(claim.rests_on for claim in claims)
    states = {subject.name: _unmet(subject) for subject in subjects} if resting else {}
    labels = {subject.name: getattr(subject, "label", None) for subject in subjects}
    titles = {subject.name: getattr(subject, "shown", subject.name) for subject in subjects}
    known = {
        paper: _evidence(paper, subjects, results)
        for paper in dict.fromkeys(claim.paper for claim in claims)
    }
    findings = []
    for claim in claims:
        named = [name for name in states if not claim.about or labels[name] in claim.about]
        for subject, evidence in zip(subjects, known[claim.paper], strict=True):
            together = named if claim.beside else [subject.name]
            finding = _finding(claim, subject.name, evidence)
            if claim.rests_on:
                finding = gated(finding, {titles[name]: states[name] for name in together})
            findings.append(finding)
    return findings


def _evidence(paper: str, models: Sequence[Named], results: str | Path | None) -> list[list[Any]]:
    """By model what is known of each of its trainings, beside those of the same number."""
    numbered: dict[int, dict[int, Named]] = {}
    for place, model in enumerate(models):
        for training in alone(model):
            numbered.setdefault(getattr(training, "number", 0), {})[place] = training
    known: list[list[Any]] = [[] for _ in models]
    for which in sorted(numbered):
        apart = results if which == min(numbered) else None
        found = PAPERS[paper].evidence([*numbered[which].values()], apart)
        for place, each in zip(numbered[which], found, strict=True):
            known[place].append(each)
    return known


def gated(finding: Finding, states: Mapping[str, Mapping[str, str]]) -> Finding:
    """The finding; not comparable where a model does not meet what the claim rests on.

    `states` are `gate.unmet` by the title of each model that must meet it.
    """
    if not finding.parts:
        return finding
    return replace(finding, unmet=gate.of_claim(finding.claim.rests_on, states))


def _unmet(model: Named) -> Mapping[str, str]:
    """What a model does not meet over its trainings; a companion's, by its records of DRBench."""
    if isinstance(model, Subject):
        return model.unmet_by_trainings
    try:
        return subjects_of([model.name], model.path.parent)[0].unmet_by_trainings
    except RecordsError:
        return gate.unmet(None, model.path, None)


def sources(subjects: Sequence[Named], results: str | Path) -> list[Path]:
    """The files the ledger reads beside the models' own records."""
    return [
        *companion_files([training for subject in subjects for training in alone(subject)]),
        *validation_files(subjects),
        *sorted(located(results).glob("*.json")),
        *sorted(located(results).glob("rft/*.json")),
    ]


def companion_files(subjects: Sequence[Named]) -> list[Path]:
    """The models' records of every companion, in every precision and size."""
    files = [
        path
        for paper in PAPERS
        for subject in subjects
        for path in sorted((subject.path.parent / paper).glob(f"{subject.name}*.parquet"))
    ]
    return list(dict.fromkeys(files))


def of_paper(findings: Iterable[Finding], paper: str) -> list[Finding]:
    """The findings on one paper's claims."""
    return [finding for finding in findings if finding.claim.paper == paper]


def as_rows(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """The ledger as plain values, for JSON: a missing number is None."""
    rows = []
    for finding in findings:
        claim = finding.claim
        rows.append(
            {
                **{name: getattr(claim, name) for name in ("id", "paper", "place", "quote")},
                "model": finding.model,
                "verdict": finding.verdict,
                "word": finding.word,
                "trainings": finding.trainings,
                "of each": [
                    {"word": of.word, "part": of.part, **of.interval.as_json(), "n": of.interval.n}
                    for of in finding.each
                ],
                "part": finding.part,
                **finding.interval.as_json(),
                "n": finding.interval.n,
                "interval": "quartiles" if finding.quartiles else f"{100 * LEVEL:g} %",
                "conditions": finding.unmet,
                "on the paper's numbers": printed.verdicts(claim) if claim.paper in PAPERS else {},
            }
        )
    return rows


def summary(findings: Sequence[Finding]) -> Table:
    """How many claims came to which verdict, by paper and model; those by construction apart."""
    titles = titles_of(findings)
    frame = pd.DataFrame(
        {
            "model": f"{PAPERS[finding.claim.paper].title}: {titles[finding.model]}",
            "verdict": CERTAIN if finding.claim.by_construction else finding.verdict,
        }
        for finding in findings
    )
    counts = frame.groupby(["model", "verdict"], sort=False).size().unstack(fill_value=0)
    order = [name for name in (*VERDICTS, CERTAIN) if name in counts]
    cells = counts[order].map(str).rename_axis(index=None, columns=None)
    return Table("summary", cells, "Claims by verdict")


def titles_of(findings: Iterable[Finding]) -> dict[str, str]:
    """What each model is called: what its findings on other claims than the questions' say."""
    return {f.model: f.title for f in sorted(findings, key=lambda f: not f.claim.questions)}


def page_of(findings: Sequence[Finding], paper: str, model: str) -> Table:
    """One model's ledger of one paper: verdict, deciding number and what was tested."""
    lines, title = {}, titles_of(findings).get(model, model)
    for finding in of_paper(findings, paper):
        if finding.model != model:
            continue
        claim, measured = finding.claim, finding.interval
        ends = interval(measured.low, measured.high, 4).replace(" ", "\u00a0")
        found = f"{number(measured.estimate, 4)} {ends}"
        found = Ends(found + (" (quartiles)" if finding.quartiles else ""), measured.key)
        words = _words(claim, 140)
        rests = finding.unmet or ("met" if claim.rests_on and finding.parts else MISSING)
        lines[f"“{words}” ({claim.id})" if claim.quote else f"{words} ({claim.id})"] = {
            "verdict": finding.said + (f" ({finding.of_trainings})" if finding.each else ""),
            "decided by": finding.part + (f" ({CERTAIN})" if claim.by_construction else ""),
            "claimed": claimed(claim),
            f"found, {INTERVAL}": found if measured.n else MISSING,
            "n": number(measured.n, 0),
            "what it rests on": rests,
            "on the paper’s numbers": printed.in_words(claim),
        }
    frame = pd.DataFrame.from_dict(lines, orient="index", dtype=object)
    # The name lets its words wrap (book.css).
    caption = (
        f"What decides each sentence of {PAPERS[paper].title} that is tested here, {title} "
        f"(in {PAPERS[paper].units})"
    )
    return Table(f"prose-ledger-{paper}-{model}", frame, caption)


def wording(findings: Sequence[Finding]) -> str:
    """The claims in Markdown: the paper's words, what they are taken to mean, and their page."""
    claims = {finding.claim.id: finding.claim for finding in findings}
    lines = [
        f'- <span id="{claim.id}"></span>**{claim.id}** ({claim.place}; '
        f"{link(claim.page)}): {in_words(claim)}"
        for claim in claims.values()
    ]
    head = '<details class="off-paper"><summary>The claims in words</summary>\n'
    return "\n".join([head, *lines, "\n</details>"])


def _words(claim: Claim, most: int) -> str:
    """The paper's words, or what is claimed, in so many characters at most."""
    return _shortened(claim.quote or claim.means, most)


def _shortened(text: str, most: int) -> str:
    return shorten(text, most, placeholder=" …")


def overall_verdict(findings: Sequence[Finding]) -> str:
    """Of the claim that every claim holds: those that cannot be compared, or cannot fail, aside."""
    return overall(
        finding.verdict
        for finding in findings
        if finding.verdict != "not comparable" and not finding.claim.by_construction
    )


def draw(findings: Sequence[Finding], titles: Mapping[str, str]) -> Figure:
    """A panel a model, a line a claim by its first words: every part, how far on the claimed side.

    `titles` are headings by model.
    """
    asked = {f.claim.id: f.claim for f in findings if f.interval.n}
    words = Counter(_words(claim, 44) for claim in asked.values())
    judged = {
        # What begins alike is told apart by what is tested.
        name: own if words[own := _words(claim, 44)] == 1 else _shortened(claim.means, 44)
        for name, claim in asked.items()
    }
    if not judged:
        figure, ax = plt.subplots(figsize=(WIDTH, 1))
        nothing(ax, "No claim can be compared: there is no row that speaks to one.")
        return figure
    figure, panels = plt.subplots(
        1, len(titles), figsize=(WIDTH, 1 + 0.19 * len(judged)), sharey=True, squeeze=False
    )
    for ax, (model, title) in zip(panels[0], titles.items(), strict=True):
        for finding in findings:
            if finding.model == model and finding.interval.n:
                _draw_parts(ax, list(judged).index(finding.claim.id), finding)
        ax.axvline(0, color="#111827", linewidth=0.8)
        ax.set_xscale("symlog", linthresh=10)
        ax.tick_params(axis="x", labelsize=7, labeltop=True)  # a phone shows one end of so many
        ax.set_title(title)
    panels[0, 0].set_yticks(range(len(judged)), list(judged.values()), fontsize=8)
    panels[0, 0].set_ylim(len(judged) - 0.5, -0.5)
    figure.supxlabel(
        "on the claimed side of the margin, in hundredths; logarithmic beyond ±10", fontsize=8
    )
    return figure


def _draw_parts(ax: Axes, place: int, finding: Finding) -> None:
    side = 100 if finding.claim.claim == "greater" else -100
    for _, measured, word in finding.parts:
        word = "not comparable" if finding.unmet else word
        if measured.n:
            middle, *ends = (side * (value - finding.claim.margin) for value in measured[:3])
            ax.hlines(place, min(ends), max(ends), color=VERDICT_COLOURS[word], alpha=0.7)
            ax.plot(middle, place, "o", markersize=3, color=VERDICT_COLOURS[word])


def _finding(claim: Claim, model: str, evidence: Sequence[Any]) -> Finding:
    """The finding on a claim from what is known of each training; a part one lacks is of others."""
    subjects = [known.subject for known in evidence if known and known.subject]
    title = "the questions" if claim.questions else subjects[0].shown if subjects else model
    each = [parts_of(claim, known) for known in (evidence[:1] if claim.questions else evidence)]
    found = [parts for parts in each if parts]
    if len(found) < FEWEST:
        return of_few(claim, found, model, title)
    alike: dict[str, list[Any]] = {}
    for part in chain.from_iterable(found):
        alike.setdefault(part.what, []).append(part)
    over = [
        of_interval(
            what, parts[0].over([part.data for part in parts]), quartiles=parts[0].quartiles
        )
        for what, parts in alike.items()
    ]
    held = max(part.interval.trainings for part in over)
    if 0 < held < FEWEST:  # the others have no row that speaks to it
        of = [parts for parts in found if any(part.interval.n for part in parts)]
        return of_few(claim, of, model, title)
    return replace(judged_by(claim, over, model, title), trainings=held)


def of_few(claim: Claim, each: Sequence[Sequence[Any]], model: str, title: str) -> Finding:
    """The finding from each training's own parts: the word that all have, else *inconclusive*.

    So for each part, too; the numbers are those of the first training that can be compared.
    """
    findings = [judged_by(claim, parts, model, title) for parts in each]
    findings = [finding for finding in findings if finding.word != "not comparable"]
    if len(findings) < 2:
        return findings[0] if findings else judged_by(claim, each[0] if each else (), model, title)
    first, words = findings[0], {}
    for what, _, word in chain.from_iterable(finding.parts for finding in findings):
        words.setdefault(what, set()).add(word)
    parts = tuple((what, made, _common(words[what])) for what, made, _ in first.parts)
    return replace(
        first,
        word=_common({finding.word for finding in findings}),
        parts=parts,
        trainings=len(findings),
        each=tuple(findings),
    )


def _common(words: Collection[str]) -> str:
    return min(words) if len(words) == 1 else "inconclusive"


def judged_by(claim: Claim, parts: Sequence[Any], model: str, title: str) -> Finding:
    """The finding on a claim from its parts (`evidence.Part`), each by its own interval."""
    judged = []
    for part in parts:
        estimate = part.interval
        if claim.by_construction and estimate.error == 0:  # no sample: it can be no other
            estimate = estimate._replace(low=estimate.estimate, high=estimate.estimate)
        word = verdict(estimate, claim=claim.claim, margin=claim.margin)
        judged.append((part.what, estimate, word))
    if not judged:
        return Finding(claim, model, "not comparable", "", NO_DATA, (), title, trainings=0)
    together = _together(claim, judged)
    side = 1 if claim.claim == "greater" else -1
    # Of the parts that have the claim's verdict, the one whose interval reaches furthest to the
    # wrong side; where some parts suffice, the last of those that are needed.
    alike = sorted(
        [entry for entry in judged if entry[2] == together] or judged,
        key=lambda entry: side * (entry[1].low if side > 0 else entry[1].high),
        reverse=claim.needed is not None,
    )
    deciding = alike[min(claim.needed or 1, len(alike)) - 1]
    quartiles = any(part.quartiles for part in parts)
    return Finding(
        claim, model, together, deciding[0], deciding[1], tuple(judged), title, quartiles=quartiles
    )


def _together(claim: Claim, judged: Sequence[tuple[str, Interval, str]]) -> str:
    words = [word for _, _, word in judged]
    if claim.needed is None:
        return overall(words, [estimate.p(claim.margin) for _, estimate, _ in judged])
    if words.count("holds") >= claim.needed:
        return "holds"
    open_ = sum(word in ("holds", "inconclusive") for word in words)
    if len(words) - words.count("not comparable") < claim.needed:
        return "not comparable"
    return "inconclusive" if open_ >= claim.needed else "fails"


def parts_of(claim: Claim, evidence: Any) -> Sequence[Any]:
    """The claim's parts with this model; none if it is not about it, or nothing is known of it.

    So it is where the records hold answers alone, or not the methods and rounds that it asks for.
    """
    if evidence is None:
        return ()
    if claim.about:
        if evidence.subject is None or evidence.subject.label != claim.about[0]:
            return ()
        others = [evidence.named(label) for label in claim.about[1:]]
        if None in others:
            return ()
        if others:
            evidence = evidence.beside(others)
    try:
        return PAPERS[claim.paper].measures[claim.measure](evidence, **claim.arguments)
    except NotRecorded:
        return ()
