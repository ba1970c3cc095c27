"""What a reader gives a page: names, however they came.

`papermill -p` passes text alone, and `sci notebook --set` what YAML makes of text, so a list of
names may arrive as one name or as text that is a list.
"""

from __future__ import annotations

from collections.abc import Sequence

import yaml

Names = str | Sequence[str]
"""Names as a page takes them: a list, one name, or text that is a list."""


def names(given: object, parameter: str = "models") -> list[str]:
    """The names that a page's parameter holds, in order.

    Args:
        given: a list of names; one name, which is a list of one; or text that is a list, as
            `["a", "b"]`, `[a, b]` or `a, b`.
        parameter: what the page calls it, for the message.

    Raises:
        ValueError: anything else, or an element that is no name.
    """
    if isinstance(given, str):
        listed = _read(given, parameter)
    elif isinstance(given, list | tuple):
        listed = list(given)
    else:
        raise ValueError(_refusal(parameter, given))
    for place, name in enumerate(listed):
        if not isinstance(name, str) or not name.strip():
            raise ValueError(_refusal(f"{parameter}[{place}]", name))
    return listed


def _read(text: str, parameter: str) -> list:
    if not text.strip().startswith("["):
        return [name.strip() for name in text.split(",") if name.strip()]
    try:
        listed = yaml.safe_load(text)
    except yaml.YAMLError:
        listed = None
    if not isinstance(listed, list):
        raise ValueError(_refusal(parameter, text))
    return listed


def _refusal(parameter: str, given: object) -> str:
    name = parameter.partition("[")[0]
    return (
        f"{parameter} is {given!r} ({type(given).__name__}); expected a name or a list of names. "
        f"papermill takes -p {name} mine, or -y '{name}: [mine, other]'; sci notebook takes "
        f"--set {name}=mine, or --set '{name}=[mine, other]'."
    )
