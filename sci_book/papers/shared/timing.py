"""Measured overhead: committed results of `benchmarks/overhead.py` beside the paper's Table 7."""

import json
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from sci_book.papers.shared.stamp import located
from sci_book.papers.shared.tables import with_ends
from sci_book.results.statistics import key_of

STRATEGIES = {
    ("sequential", "none"): ("one by one", "#6b7280"),
    ("naive_batch", "none"): ("one batch", "#0072b2"),
    ("two_phase", "cold"): ("black not kept", "#f0b040"),
    ("two_phase", "warm"): ("two phases", "#dd6b20"),
    ("two_phase_gate", "warm"): ("with gate", "#009e73"),
}
SETTING = ["model", "image_tokens", "batch", "new_tokens"]
_NAMED = [*SETTING, "data", "prompts", "method", "strategy", "cache", "decided"]  # settle a row


class ResultsError(ValueError):
    """A file of results that the benchmark did not write."""


def load_results(folder: str | Path) -> dict[str, dict]:
    """Every committed result by the kind of its device, "CPU" or "GPU", `frame` holding its rows.

    A row's column `key` is that of its time in multiples of the base.

    Raises:
        ResultsError: no results, two of one kind, or a file without device, settings and rows.
    """
    results: dict[str, dict] = {}
    for file in sorted(located(folder).glob("*.json")):
        result = json.loads(file.read_text(encoding="utf-8"))
        needed = ("device", "preset", "dtype", "versions", "settings", "rows")
        missing = [name for name in needed if name not in result]
        if missing:
            raise ResultsError(
                f"{file.name} has no {', '.join(missing)}; write it with "
                "`python benchmarks/overhead.py --json`."
            )
        kind = result["preset"].upper()
        if kind in results:
            raise ResultsError(f"Two results for a {kind}, {file.name} the second; keep one.")
        frame = pd.DataFrame(result["rows"])
        if len(frame):  # every size here is a pocket size; the page says so once
            frame["model"] = frame["model"].str.removeprefix("pocket_")
            named = [field for field in _NAMED if field in frame]
            frame["key"] = [key_of(kind, *row) for row in frame[named].itertuples(index=False)]
        results[kind] = {**result, "frame": frame, "path": file}
    if not results:
        raise ResultsError(
            f"{folder} holds no results; write some with `python benchmarks/overhead.py --json …`."
        )
    return results


def grid(result: dict) -> pd.DataFrame:
    """The rows of made-up questions with prompts of their own, by setting, method and way.

    A gate that was made to find questions decided is a way of its own, with their share.
    """
    rows = result["frame"].query("data == 'made up' and prompts == 'own'")
    shares = rows["decided"].fillna(0.0) if "decided" in rows else [0.0] * len(rows)
    way = []
    for strategy, cache, share in zip(rows["strategy"], rows["cache"], shares, strict=True):
        label, _ = STRATEGIES.get((strategy, cache), (None, None))
        way.append(f"{label}, {100 * share:.0f} % decided" if share else label)
    rows = rows.assign(way=way)[rows["strategy"] != "base"]
    return rows.set_index([*SETTING, "method", "way"]).sort_index()


def way_names() -> dict[str, str]:
    """What the page calls each strategy of the benchmark; two phases with black kept."""
    return {strategy: label for (strategy, _), (label, _) in STRATEGIES.items()}


def setting(row: Mapping) -> str:
    """The method, batch and new tokens of a row of the benchmark's results."""
    return f"{row['method']}: batch {row['batch']}, {row['new_tokens']} new"


def shown(row: Mapping | pd.Series) -> str:
    """A row's median time in multiples of the base, with its quartiles and its key."""
    return with_ends(row["ratio_median"], row["ratio_q1"], row["ratio_q3"], key=row["key"])


def ungated(result: dict, image_tokens: int) -> pd.DataFrame:
    """The rows of two phases with black kept and every visual round read."""
    rows = grid(result).xs(image_tokens, level="image_tokens", drop_level=False)
    return rows.xs("two phases", level="way").reset_index()


def on_pocket_data(result: dict) -> pd.DataFrame:
    """The rows of `generate` on the pocket twins."""
    return result["frame"].query("data == 'pocket' and strategy != 'base'")
