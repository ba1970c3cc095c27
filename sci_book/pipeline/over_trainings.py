"""The second claims: judged for each family of models over the trainings of its recipe.

`data_manifests/paper/second/*.yaml` holds them, a file a page: as the papers' claims, with the
`section` of the page in the place of one of a paper. A measure is a generator in
`REGISTERED`: of a list of models and a claim's arguments, lines of the frame, each a part of the
claim. What a claim `rests_on` is a condition of `conditions.yaml`, or the id of another claim,
which then has to hold.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from sci_book.files import read_yaml
from sci_book.papers.sci import described, nulls, objections
from sci_book.papers.shared.chapters import Subject, alone, overall
from sci_book.papers.shared.evidence import Part, of_interval
from sci_book.papers.shared.pages import address
from sci_book.papers.shared.tables import INTERVAL, MISSING, Table, number, shown
from sci_book.pipeline import registration
from sci_book.pipeline.claims import Claim, claim_of, claimed, in_words
from sci_book.pipeline.ledger import Finding, gated, judged_by, of_few
from sci_book.resources import PAPER
from sci_book.results.stamps import NotRecorded
from sci_book.results.statistics import FEWEST

REGISTERED = (objections.MEASURES, nulls.MEASURES, described.MEASURES)
"""The measures of each module that has some, by name."""
FOLDER = PAPER / "second"
BOOK = "book"
"""The paper of a claim that the book makes."""
UNREGISTERED = (
    "Exploratory, not registered: these claims were written with results of earlier trainings at "
    "hand."
)


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


def of_page(page: str, models: Sequence[Subject]) -> list[Finding]:
    """A page's claims, judged for each model."""
    return judge([claim for claim in load_claims() if claim.page == page], models)


def judge(claims: Iterable[Claim], models: Sequence[Subject]) -> list[Finding]:
    """Every claim of the book for each model, over its trainings."""
    claims = list(claims)
    trainings = {model.name: alone(model) for model in models}
    states = {model.shown: model.unmet_by_trainings for model in models}
    judged = []
    for model in models:
        found = [_judged(claim, model, trainings[model.name]) for claim in claims]
        words = {each.claim.id: "" if each.word == "holds" else each.word for each in found}
        for each in found:
            needed, beside = each.claim.rests_on, each.claim.beside
            met = {name: words | of for name, of in states.items() if beside or name == model.shown}
            judged.append(gated(each, met) if needed else each)
    return judged


def verdict_of(findings: Iterable[Finding]) -> str:
    """The verdict on some claims together: that of one claim of which each is a part."""
    return overall(each.verdict for each in findings)


def conclusion(findings: Iterable[Finding], place: str = "") -> str:
    """The verdict on a page's claims in Markdown, then what each claim says and its word by model.

    Args:
        place: how the place of these claims on their page begins, such as "(a)".
    """
    findings = [each for each in findings if each.claim.place.startswith(place)]
    by_claim: dict[str, list[Finding]] = {}
    for each in findings:
        by_claim.setdefault(each.claim.id, []).append(each)
    head = f"**Verdict: {verdict_of(findings)}.**"
    lines = [
        f"*Claimed:* {in_words(of_claim[0].claim)} {'; '.join(map(_word, of_claim))}."
        for of_claim in by_claim.values()
    ]
    return f"{head} {lines[0]}" if len(lines) == 1 else "\n- ".join([f"{head}\n", *lines])


def _word(finding: Finding) -> str:
    count = finding.trainings
    of = f"{count} trainings" if count > 1 else "one training" if count else "not recorded"
    lacking = f"; [conditions]({address('conditions')}): {finding.unmet}"
    return f"{finding.title}: *{finding.said}* ({of}{lacking if finding.unmet else ''})"


def table(findings: Iterable[Finding], name: str) -> Table:
    """What decides each claim for each model: of fewer trainings than `FEWEST`, in the first."""
    lines = {}
    for each in findings:
        words = [of.word for of in each.each]
        interval = each.interval
        lines[f"{each.claim.id}: {each.title}"] = {
            "verdict": each.said,
            "trainings": f"{each.trainings}" + (f": {', '.join(words)}" if words else ""),
            "decided by": each.part or MISSING,
            "claimed": claimed(each.claim),
            f"found, {INTERVAL}": shown(interval, 1, 4),
            "n": number(interval.n, 0) if interval.n else MISSING,
            "conditions": each.unmet or MISSING,
        }
    caption = "What decides each claim, in shares of 1 (a length in words)"
    return Table(name, pd.DataFrame.from_dict(lines, orient="index", dtype=object), caption)


def _judged(claim: Claim, model: Subject, trainings: Sequence[Subject]) -> Finding:
    over = _parts(_lines(claim, model)) if len(trainings) >= FEWEST else []
    count = min((part.interval.trainings for part in over), default=0)
    if count >= FEWEST:
        return replace(judged_by(claim, over, model.name, model.shown), trainings=count)
    each = [parts for training in trainings if (parts := _parts(_lines(claim, training)))]
    return of_few(claim, each, model.name, model.shown)


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
