"""What the papers claim, as the ledger tests it: the words, the quantity, the side and the margin.

`data_manifests/paper/claims*.yaml` holds the claims, one file a paper.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from sci_book.files import read_yaml
from sci_book.papers.registry import PAPERS
from sci_book.resources import PAPER


@dataclass(frozen=True)
class Claim:
    """One sentence of a paper and what it is taken to say of records.

    id          its name in the ledger
    paper       "sci" or one of the companions
    place       section, table or figure
    quote       the paper's words
    page        the chapter that shows its numbers
    means       what is tested, in words
    measure     of its paper's measures (`papers.PAPERS`), and its `arguments`
    claim       the side of `margin` that is claimed, in the measure's own unit
    about       labels of the paper's models it is about; empty for any model
    needed      how many parts suffice; None: all of them
    rests_on    conditions of `conditions.yaml` that a model must meet for it to be judged there
    beside      whether it compares with all other models, which must meet them too
    printed     where a companion prints what it is about (`printed`); SCI's tables are known
    by_construction  whether our definitions, or the number of rows, leave it one end alone
    leads       "page" if it is the claim that its page states first, or the table on that page
                whose verdict it makes
    own         whether the book asks it, not the paper: its page shows it, the ledger does not
    scale       what its page multiplies numbers by: 100 for percent and points
    questions   whether it is about the questions, and so the same for every model
    """

    id: str
    paper: str
    place: str
    quote: str
    page: str
    means: str
    measure: str
    arguments: Mapping[str, Any]
    claim: Literal["greater", "less"] = "greater"
    margin: float = 0.0
    about: tuple[str, ...] = ()
    needed: int | None = None
    by_construction: bool = False
    leads: str = ""
    own: bool = False
    scale: float = 100.0
    questions: bool = False
    rests_on: tuple[str, ...] = ()
    beside: bool = False
    printed: Mapping[str, Any] = field(default_factory=dict)


_FIELDS = {attribute.name for attribute in fields(Claim)} - {"paper", "arguments"}


_GAP = re.compile(r" − | less |\b(drop|gain|distance|gap)s?\b")
_UNITS = {"tau": "", "fit": " points of CLIPScore", "nearer": " hundredths of a cosine distance"}


def load_claims(folder: Path = PAPER, *, own: bool = False) -> list[Claim]:
    """All claims of the papers, in their order; with what the book itself asks if `own`.

    Raises:
        ValueError: two claims of one id, or a measure that does not exist.
    """
    claims = []
    for paper, about in PAPERS.items():
        claims += [claim_of(entry, paper) for entry in read_yaml(folder / about.claims)]
    names = [claim.id for claim in claims]
    twice = sorted({name for name in names if names.count(name) > 1})
    unknown = sorted(
        {claim.measure for claim in claims if claim.measure not in PAPERS[claim.paper].measures}
    )
    if twice or unknown:
        raise ValueError(
            f"The ledger has ids twice: {twice}; and measures that do not exist: {unknown}."
        )
    return [claim for claim in claims if own or not claim.own]


def claim_of(entry: Mapping[str, Any], paper: str) -> Claim:
    """A claim as a file has it: what is no field of a claim is an argument of its measure."""
    known = {key: entry[key] for key in _FIELDS & set(entry)}
    known["quote"] = " ".join(known.get("quote", "").split())
    known |= {key: tuple(known.get(key, ())) for key in ("about", "rests_on")}
    arguments = {key: entry[key] for key in entry if key not in _FIELDS}
    return Claim(paper=paper, arguments=arguments, **known)


def claimed(claim: Claim, scale: float = 1.0) -> str:
    """The side of the margin that is claimed, such as "> 0.5"."""
    return f"{'>' if claim.claim == 'greater' else '<'} {margin_of(claim, scale)}"


def margin_of(claim: Claim, scale: float = 1.0) -> str:
    """The margin of a claim, with a minus sign where it is negative."""
    return f"{scale * claim.margin:g}".replace("-", "−")


def in_words(claim: Claim) -> str:
    """The paper's words, if it is the paper's, and what they are taken to mean."""
    means = " ".join(claim.means.split())
    return f"“{claim.quote}” *Tested:* {means}" if claim.quote else means


def unit_of(claim: Claim, part: str) -> str:
    """The unit of a part on its page, behind a space: percent for a share, points for a gap."""
    if claim.measure in _UNITS:
        return _UNITS[claim.measure]
    if claim.scale != 100:
        return " times"
    differs = claim.margin <= 0 or _GAP.search(f"{claim.measure} {part}".replace("_", " "))
    return " points" if differs else " %"
