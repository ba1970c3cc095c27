"""The sets of methods that `sci evaluate --methods` names."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from sci_book.methods import BASELINES, COMPARED
from sci_core.methods import (
    BASE,
    EXAMPLE,
    M3ID,
    METHODS,
    SCI5,
    SCI5_LITE,
    Method,
    method,
    sci,
)

EDITED = tuple(METHODS[name] for name in COMPARED)
"""The methods that tables compare with the base."""

# The presets; again at the constraint the paper uses on the original data sets (appendix B); and
# M3ID as its own paper counts, by generated tokens.
STANDARD_METHODS = (
    BASE,
    *EDITED,
    *(replace(preset, name=f"{preset.name} beta=0.8", beta=0.8) for preset in EDITED),
    replace(M3ID, name="M3ID generated clock", clock="generated"),
)
# On from the paper's three sizes to fifteen rounds; and the published code's way of editing one
# token only, which leads to prefixes that no other policy passes through.
EXTENDED_METHODS = (
    *(METHODS[name] for name in BASELINES),
    *(sci(pairs, pairs) for pairs in range(1, 8)),
    *(replace(preset, name=f"{preset.name} first token", edit="first_token") for preset in EDITED),
)
# Tables 6 and 8: SCI5 without its constraint and at the other temperatures. Loose as they are, they
# may go on where no other policy does, so that nothing short of decoding tells their answers.
ABLATIONS = (
    replace(SCI5, name="SCI5 beta=0", beta=0.0),
    *(
        replace(SCI5, name=f"SCI5 tau1={tau1:g} tau2={tau2:g}", tau1=tau1, tau2=tau2)
        for tau1, tau2 in (
            (2.0, 2.0), (2.0, 1.0), (2.0, 0.5), (20.0, 0.2), (10.0, 0.2), (1.0, 0.2), (0.2, 0.2),
        )
    ),
)  # fmt: skip
# SCI5 with its noise on smaller pictures, none of it the paper's.
CHEAPER = (
    SCI5,
    replace(SCI5, name="SCI5 small noise", visual=("black", "smallnoise500")),
    SCI5_LITE,
)
ASKING_NOTHING = tuple(f"N{place}" for place in range(1, 6))
"""Wordings of V1's length that ask for nothing: data_manifests/neutral.yaml."""


def asking_nothing(whole: Method) -> tuple[Method, ...]:
    """A method with these in its rewordings' place, in turn: each stands in each place once."""
    turns = [
        np.roll(ASKING_NOTHING, -first)[: whole.N].tolist() for first in range(len(ASKING_NOTHING))
    ]
    return tuple(
        replace(whole, name=f"{whole.name} {' '.join(names)}", textual=tuple(names))
        for names in turns
    )


ALL_METHODS = tuple(dict.fromkeys((*STANDARD_METHODS, *EXTENDED_METHODS, *ABLATIONS, *CHEAPER)))
SETS = {
    "standard": STANDARD_METHODS,
    "extended": EXTENDED_METHODS,
    "ablations": (*STANDARD_METHODS, *ABLATIONS),
    "cheaper": CHEAPER,
    "nothing": asking_nothing(SCI5),
    "all": ALL_METHODS,
}


def named(names: str) -> tuple[Method, ...]:
    """The methods whose names, or those of sets, stand between commas, in any case.

    A name is one that `sci_core.method` reads, constants of one's own included, or that of a
    variant in some set, such as "SCI5 beta=0.8".

    Raises:
        ValueError: for a name that is none; lists what is known.
    """
    known = {each.name.casefold(): each for each in (*METHODS.values(), *ALL_METHODS)}
    sets = {name.casefold(): members for name, members in SETS.items()}
    # A comma inside parentheses stands between constants.
    chosen = [name.strip() for name in re.split(r",(?![^(]*\))", names)]
    chosen = [name for name in chosen if name]
    if not chosen:
        raise ValueError(
            f"no method is named; name one or several of {', '.join(METHODS)}, or one of the sets "
            f"{', '.join(SETS)}"
        )
    methods: list[Method] = []
    for name in chosen:
        if name.casefold() in sets:
            methods += sets[name.casefold()]
            continue
        if "(" not in name and name.casefold() not in known:
            raise ValueError(
                f"unknown method {name!r}; name one or several of {', '.join(METHODS)}, one with "
                f"constants of your own, as in {EXAMPLE!r}, or one of the sets {', '.join(SETS)}"
            )
        methods.append(known.get(name.casefold()) or method(name))
    return tuple(dict.fromkeys(methods))


def rounds_named(names: str) -> list[str]:
    """The rounds whose names stand between commas, in any case; what is unknown is said later."""
    asked = [name.strip().lower() for name in names.split(",") if name.strip()]
    textual = re.compile("[vn][0-9]+")
    return list(dict.fromkeys(n.upper() if textual.fullmatch(n) else n for n in asked))
