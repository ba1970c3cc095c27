"""The second claims: judged for each family of models over the trainings of its recipe.

`data_manifests/paper/second/*.yaml` holds them, a file a page: as the papers' claims, with the
`section` of the page in the place of one of a paper. A measure is a generator in
`REGISTERED`: of a list of models and a claim's arguments, lines of the frame, each a part of the
claim. What a claim `rests_on` is a condition of `conditions.yaml`, or the id of another claim,
which then has to hold.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, product
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from sci_book.files import read_yaml
from sci_book.papers.registry import PAPERS
from sci_book.papers.sci import described, nulls, objections
from sci_book.papers.shared import gate
from sci_book.papers.shared.chapters import Subject, by_seed, overall
from sci_book.papers.shared.evidence import Part, of_interval
from sci_book.papers.shared.pages import address
from sci_book.papers.shared.tables import INTERVAL, MISSING, Table, number, shown
from sci_book.pipeline import registration
from sci_book.pipeline.claims import Claim, claim_of, claimed, in_words
from sci_book.pipeline.ledger import Finding, judged_by, parts_of
from sci_book.resources import PAPER
from sci_book.results.stamps import NotRecorded
from sci_book.results.statistics import FEWEST, NO_DATA

REGISTERED = (objections.MEASURES, nulls.MEASURES, described.MEASURES)
"""The measures of each module that has some, by name."""
FOLDER = PAPER / "second"
BOOK = "book"
"""The paper of a claim that the book makes."""
Asked = tuple[int, Sequence[Sequence[Any]]]
"""How many trainings have a claim's parts, and these: once over all, or of each of too few."""
UNREGISTERED = (
    "For working out, not registered: these claims were written with results of trainings 0, 1 and "
    "2 at hand, so their verdicts on these trainings are no evidence."
)


class Judgement(NamedTuple):
    """What became of a claim with a family of trainings.

    model     the family's name in tables
    word      what the trainings say; "inconclusive" where fewer than `FEWEST` do not all say it
    findings  the one over trainings; of fewer than `FEWEST`, one of each that has what is measured
    count     how many trainings those are
    unmet     what the family does not meet of what the claim rests on
    """

    claim: Claim
    model: str
    word: str
    findings: Sequence[Finding]
    count: int
    unmet: str = ""

    @property
    def verdict(self) -> str:
        """The word, or *not comparable* where a condition is not met."""
        return "not comparable" if self.unmet else self.word


def standing(folder: Path = PAPER) -> str:
    """Whether the claims were registered before the records that they judge, in a sentence."""
    if registration.SECOND in registration.of_claims(folder):
        return registration.sentence(folder, registration.SECOND)
    return UNREGISTERED


def measures() -> dict[str, Callable[..., Iterable[Mapping[str, Any]]]]:
    """The measures of all modules by name."""
    return {name: measure for those in REGISTERED for name, measure in those.items()}


def load_claims(folder: Path = FOLDER) -> list[Claim]:
    """All claims of the folder, file by file.

    Raises:
        ValueError: two claims of one id, two measures of one name, or one that does not exist.
    """
    claims = [
        claim_of({"page": path.stem, "place": entry.pop("section"), **entry}, BOOK)
        for path in sorted(folder.glob("*.yaml"))
        for entry in read_yaml(path)
    ]
    names, known = [claim.id for claim in claims], measures()
    names += [f"measure {name}" for those in REGISTERED for name in those]
    twice = sorted({name for name in names if names.count(name) > 1})
    unknown = sorted({claim.measure for claim in claims} - {*known})
    if twice or unknown:
        raise ValueError(
            f"{folder} has names twice: {twice}; and measures that do not exist: {unknown}. Known "
            f"are {', '.join(known)}."
        )
    return claims


def of_page(page: str, models: Sequence[Subject]) -> list[Judgement]:
    """A page's claims, judged for each model."""
    return judge([claim for claim in load_claims() if claim.page == page], models)


def judge(
    claims: Iterable[Claim], models: Sequence[Subject], results: str | Path | None = None
) -> list[Judgement]:
    """Every claim for each model, over its trainings; those of the papers, too.

    What a paper's claim compares of two models is compared between their trainings of one seed.

    Args:
        results: the folder of committed results, if claims about time or fine-tuning are tested.
    """
    claims, seeds = list(claims), by_seed(models)
    papers = dict.fromkeys(claim.paper for claim in claims if claim.paper != BOOK)
    evidence: dict[tuple[str, str], list[Any]] = {}
    for paper, alone in product(papers, seeds.values()):
        for training, found in zip(alone, PAPERS[paper].evidence(alone, results), strict=True):
            evidence.setdefault((training.name, paper), []).append(found)
    trainings = {
        model.name: [each for alone in seeds.values() for each in alone if each.name == model.name]
        for model in models
    }
    states = {model.shown: gate.over_trainings(trainings[model.name]) for model in models}
    judgements = []
    for model in models:
        judged = [
            _judged(
                claim,
                model,
                _of_lines(claim, model, trainings[model.name])
                if claim.paper == BOOK
                else _of_evidence(claim, evidence[model.name, claim.paper]),
            )
            for claim in claims
        ]
        words = {each.claim.id: "" if each.word == "holds" else each.word for each in judged}
        for each in judged:
            needed, beside = each.claim.rests_on, each.claim.beside
            met = {name: words | of for name, of in states.items() if beside or name == model.shown}
            unmet = gate.of_claim(needed, met) if needed else ""
            judgements.append(each._replace(unmet=unmet))
    return judgements


def as_rows(judgements: Iterable[Judgement]) -> list[dict[str, Any]]:
    """The judgements as plain values, for JSON: a missing number is None."""
    return [
        {
            **{name: getattr(each.claim, name) for name in ("id", "paper", "place")},
            "model": each.model,
            "verdict": each.verdict,
            "word": each.word,
            "conditions": each.unmet,
            "trainings": each.count,
            "found": [
                {
                    "verdict": found.verdict,
                    "part": found.part,
                    **found.interval.as_json(),
                    "n": found.interval.n,
                }
                for found in each.findings
            ],
        }
        for each in judgements
    ]


def verdict_of(judgements: Iterable[Judgement]) -> str:
    """The verdict on some claims together: that of one claim of which each is a part."""
    return overall(each.verdict for each in judgements)


def conclusion(judgements: Iterable[Judgement], place: str = "") -> str:
    """The verdict on a page's claims in Markdown, then what each claim says and its word by model.

    Args:
        place: how the place of these claims on their page begins, such as "(a)".
    """
    judgements = [each for each in judgements if each.claim.place.startswith(place)]
    by_claim: dict[str, list[Judgement]] = {}
    for each in judgements:
        by_claim.setdefault(each.claim.id, []).append(each)
    head = f"**Verdict: {verdict_of(judgements)}.**"
    lines = [
        f"{in_words(of_claim[0].claim)} {'; '.join(map(_word, of_claim))}."
        for of_claim in by_claim.values()
    ]
    return f"{head} {lines[0]}" if len(lines) == 1 else "\n- ".join([f"{head}\n", *lines])


def _word(judgement: Judgement) -> str:
    count = judgement.count
    of = f"{count} trainings" if count > 1 else "one training" if count else "not recorded"
    lacking = f"; [conditions]({address('conditions')}): {judgement.unmet}"
    return f"{judgement.model}: *{judgement.verdict}* ({of}{lacking if judgement.unmet else ''})"


def table(judgements: Iterable[Judgement], name: str) -> Table:
    """What decides each claim for each model: of fewer trainings than `FEWEST`, in the first."""
    lines = {}
    for each in judgements:
        first = each.findings[0] if each.findings else None
        words = [finding.verdict for finding in each.findings]
        interval = first.interval if first else NO_DATA
        lines[f"{each.claim.id}: {each.model}"] = {
            "verdict": each.verdict,
            "trainings": f"{each.count}" + (f": {', '.join(words)}" if len(words) > 1 else ""),
            "decided by": first.part if first else MISSING,
            "claimed": claimed(each.claim),
            f"found, {INTERVAL}": shown(interval, 1, 4),
            "n": number(interval.n, 0) if interval.n else MISSING,
            "conditions": each.unmet or MISSING,
        }
    caption = "What decides each claim, in shares of 1 (a length in words)"
    return Table(name, pd.DataFrame.from_dict(lines, orient="index", dtype=object), caption)


def _judged(claim: Claim, model: Subject, asked: Asked) -> Judgement:
    count, found = asked
    findings = [judged_by(claim, parts, model.name, model.shown) for parts in found]
    if count < FEWEST:
        findings = [finding for finding in findings if finding.verdict != "not comparable"]
        count = len(findings)
    words = {finding.verdict for finding in findings}
    word = "inconclusive" if len(words) > 1 else min(words, default="not comparable")
    return Judgement(claim, model.shown, word, findings, count)


def _of_evidence(claim: Claim, evidence: Iterable[Any]) -> Asked:
    """A paper's claim; a part that a training lacks is of the others."""
    each = [parts for training in evidence if (parts := parts_of(claim, training))]
    if len(each) < FEWEST:
        return len(each), each
    alike: dict[str, list[Any]] = {}
    for part in chain.from_iterable(each):
        alike.setdefault(part.what, []).append(part)
    over = [
        of_interval(
            what, parts[0].over([part.data for part in parts]), quartiles=parts[0].quartiles
        )
        for what, parts in alike.items()
    ]
    return len(each), [over]


def _of_lines(claim: Claim, model: Subject, alone: Sequence[Subject]) -> Asked:
    lines = _lines(claim, model) if len(alone) >= FEWEST else []
    count = min((len(line["trainings"]) for line in lines), default=0)
    if count >= FEWEST:
        return count, [_parts(lines)]
    return count, [_parts(_lines(claim, training)) for training in alone]


def _lines(claim: Claim, model: Subject) -> list[dict[str, Any]]:
    """The parts of a claim; none where the records do not hold what is measured."""
    try:
        lines = list(measures()[claim.measure]([model], **claim.arguments))
    except NotRecorded:
        return []
    return lines if all(line["trainings"] for line in lines) else []


def _parts(lines: Iterable[Mapping[str, Any]]) -> list[Part]:
    parts = []
    for line in lines:
        keys = [value for key, value in line.items() if key != "model" and isinstance(value, str)]
        parts.append(of_interval(", ".join(keys), line["interval"](line["trainings"])))
    return parts
