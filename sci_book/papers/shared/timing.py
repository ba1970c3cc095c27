"""Measured overhead: committed results of `benchmarks/overhead.py` beside the paper's Table 7."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from sci_book.methods import SCI
from sci_book.papers.shared.chapters import PAPER
from sci_book.papers.shared.stamp import located
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import Table, interval, number, plain

STRATEGIES = {
    ("sequential", "none"): ("one by one", "#6b7280"),
    ("naive_batch", "none"): ("one batch", "#0072b2"),
    ("two_phase", "cold"): ("black not kept", "#f0b040"),
    ("two_phase", "warm"): ("two phases", "#dd6b20"),
    ("two_phase_gate", "warm"): ("with gate", "#009e73"),
}
NOT_MEASURED = "not measured"
SETTING = ["model", "image_tokens", "batch", "new_tokens"]


class ResultsError(ValueError):
    """A file of results that the benchmark did not write."""


def load_results(folder: str | Path) -> dict[str, dict]:
    """Every committed result by the kind of its device, "CPU" or "GPU", `frame` holding its rows.

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
        results[kind] = {**result, "frame": frame, "path": file}
    if not results:
        raise ResultsError(
            f"{folder} holds no results; write some with `python benchmarks/overhead.py --json …`."
        )
    return results


def devices(results: Mapping[str, dict]) -> Table:
    """On what the results were taken, and with what."""
    lines = {
        kind: {
            "device": result["device"],
            "type": result["dtype"],
            "torch": result["versions"]["torch"],
            "transformers": result["versions"]["transformers"],
        }
        for kind, result in results.items()
    }
    frame = pd.DataFrame.from_dict(lines, orient="index").sort_index()
    return plain(frame, name="devices", caption="Devices and versions of the measurements")


def paper_protocol(results: Mapping[str, dict]) -> Table:
    """The paper's ratios beside ours under its protocol: one question, five tokens.

    In one batch all rounds have the same prompt; one after another each has its own.
    """
    printed = _printed_ratios()
    lines = {}
    for batched, way in (("no", "one by one"), ("yes", "one batch")):
        for method in SCI:
            line = {"paper, A800": number(printed[batched, method])}
            for kind in sorted(results):
                line |= _protocol_cells(results[kind], method, batched)
            lines[f"{method}, {way}"] = line
    frame = pd.DataFrame.from_dict(lines, orient="index").fillna(NOT_MEASURED)
    caption = "Time in multiples of the base, medians; one question, five tokens; by image tokens"
    return plain(frame, name="protocol", caption=caption)


def joined(results: Mapping[str, dict], tokens: float, image_tokens: int) -> str:
    """In one line, in Markdown: SCI7's cost in the paper, counted in tokens, and measured.

    Measured are one question and five tokens, as in the paper, if pictures of that size were.
    Beside it stands one batch on the same device: the paper's is on another.
    """
    printed = _printed_ratios()
    line = (
        f"In the paper SCI₇ takes {number(printed['no', 'SCI7'])} times as long as the base one "
        f"round after another, and {number(printed['yes', 'SCI7'])} times in one batch (A800). "
        f"With shared prefixes it computes **{number(tokens)}** times the tokens at "
        f"{image_tokens:,} image tokens."
    )
    for kind, result in results.items():
        rows = grid(result).query(
            f"image_tokens == {image_tokens} and method == 'SCI7' and new_tokens == 5 "
            "and batch == 1"
        )
        batched = rows.query("way == 'one batch'").droplevel("way")
        for at, row in rows.query("way == 'two phases'").droplevel("way").iterrows():
            line += (
                f" On a {kind} it then takes **{number(row['ratio_median'])}** times as long "
                f"{interval(row['ratio_q1'], row['ratio_q3'])}"
            )
            if at in batched.index:
                other = batched.loc[at]
                ends = interval(other["ratio_q1"], other["ratio_q3"])
                line += f", where one batch takes {number(other['ratio_median'])} {ends}"
            line += f" (sizes of {at[0]})."
    return line


def _printed_ratios() -> pd.Series:
    """The ratios of the paper's Table 7 by (batched, method)."""
    printed = pd.read_csv(PAPER / "table07.csv", keep_default_na=False)
    ratios = printed[printed["metric"] == "ratio"]
    return ratios.set_index(["batched", "method"])["value"].astype(float)


def _protocol_cells(result: dict, method: str, batched: str) -> dict[str, str]:
    strategy, prompts = ("naive_batch", "identical") if batched == "yes" else ("sequential", "own")
    rows = result["frame"].query(
        f"method == {method!r} and strategy == {strategy!r} and prompts == {prompts!r} "
        "and new_tokens == 5 and batch == 1"
    )
    return {
        f"{row.model}, {row.image_tokens}": number(row.ratio_median) for row in rows.itertuples()
    }


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


def ratio_table(result: dict, image_tokens: int, name: str) -> Table:
    """Median ratio to the base of every way, one line a setting and method."""
    rows = grid(result).xs(image_tokens, level="image_tokens", drop_level=False)
    ways = [label for label, _ in reversed(STRATEGIES.values())]
    frame = rows["ratio_median"].unstack("way")[ways].droplevel("image_tokens")
    frame = frame.reset_index(["model", "batch", "new_tokens"])
    frame = frame.rename(columns={"new_tokens": "new"})
    caption = f"Time in multiples of the base, medians, {image_tokens} image tokens"
    return plain(frame, name=name, caption=caption)


def draw_ratios(ax: Axes, result: dict, setting: tuple, claimed: Mapping[str, float]) -> None:
    """One `SETTING`: the ways of decoding, a point a method, with quartiles.

    `claimed` is, by method, the most that is claimed of two phases with black kept.
    """
    rows = grid(result).loc[setting]
    places = np.arange(len(SCI))
    for offset, (label, shade) in enumerate(STRATEGIES.values()):
        ratios = rows.xs(label, level="way").loc[list(SCI)]
        x = places + 0.14 * (offset - 2)
        ax.vlines(x, ratios["ratio_q1"], ratios["ratio_q3"], color=shade, linewidth=3)
        ax.plot(x, ratios["ratio_median"], "o", color=shade, markersize=5, label=label)
    values = _printed_ratios()["yes"][list(SCI)]
    ax.plot(places, values, "D", mfc="white", mec=INK, label="paper, one batch, on a GPU")
    levels = [claimed[method] for method in SCI]
    ax.hlines(levels, places - 0.4, places + 0.4, color=INK, linestyle=":", label="claimed")
    ax.set_xticks(places, list(SCI))
    ax.grid(axis="x", visible=False)
    ax.set_ylim(bottom=0)


def way_names() -> dict[str, str]:
    """What the page calls each strategy of the benchmark; two phases with black kept."""
    return {strategy: label for (strategy, _), (label, _) in STRATEGIES.items()}


def setting(row: Mapping) -> str:
    """The method, batch and new tokens of a row of the benchmark's results."""
    return f"{row['method']}: batch {row['batch']}, {row['new_tokens']} new"


def counted(rows: pd.DataFrame, caption: str) -> Table:
    """Tokens and time of rows of the results, in multiples of the base; skipped visual rounds."""
    lines = {
        f"{row['model']}, {setting(row)}": {
            "tokens": number(row["token_rows_ratio"]),
            "median": number(row["ratio_median"]),
            "quartiles": interval(row["ratio_q1"], row["ratio_q3"]),
            "skipped, %": number(100 * row["skip_rate"], 0),
        }
        for row in rows.to_dict("records")
    }
    return Table("counted", pd.DataFrame.from_dict(lines, orient="index"), caption)


def ungated(result: dict, image_tokens: int) -> pd.DataFrame:
    """The rows of two phases with black kept and every visual round read."""
    rows = grid(result).xs(image_tokens, level="image_tokens").xs("two phases", level="way")
    return rows.reset_index()


def on_pocket_data(result: dict) -> pd.DataFrame:
    """The rows of `generate` on the pocket twins."""
    return result["frame"].query("data == 'pocket' and strategy != 'base'")


def roofline(result: dict, image_tokens: int) -> Table:
    """How fast the arithmetic runs, beside the fastest this device does: a large matrix product."""
    peak = result["settings"]["matmul_gflops"]
    rows = result["frame"].query(
        "data == 'made up' and prompts == 'own' and cache != 'cold' "
        f"and image_tokens == {image_tokens} and method in ['base', 'SCI7']"
    )
    rate = rows["gflop"] / rows["seconds_median"]
    frame = pd.DataFrame(
        {
            "model": rows["model"],
            "batch": rows["batch"],
            "new": rows["new_tokens"],
            "computed": rows["strategy"].replace(way_names()),
            "GFLOP": rows["gflop"],
            "ms": 1000 * rows["seconds_median"],
            "GFLOP/s": rate,
            "of product, %": 100 * rate / peak,
        }
    ).set_axis(rows["method"])
    caption = (
        f"Arithmetic and its rate, {image_tokens} image tokens; "
        f"a large matrix product runs at {peak:.0f} GFLOP/s"
    )
    return plain(frame, name="roofline", caption=caption, decimals=[0, 0, 0, 0, 1, 0, 0, 0])


def terms(result: dict, image_tokens: int) -> Table:
    """Of what the time of each method beyond the base consists, sharing, every round read.

    Arithmetic is at the base's own rate; a further call costs what a call with one token takes.
    What is left is arithmetic at another rate (masked attention, small products), and copies.
    """
    plain_rows = result["frame"].query("strategy == 'base'").set_index(SETTING)
    lines = {}
    for row in ungated(result, image_tokens).to_dict("records"):
        base = plain_rows.loc[row["model"], image_tokens, row["batch"], row["new_tokens"]]
        arithmetic = row["gflop"] / base["gflop"] - 1
        calls = row["calls"] - base["calls"]
        waiting = calls * row["call_seconds"] / base["seconds_median"]
        lines[f"{row['method']}: {row['model']}, batch {row['batch']}, {row['new_tokens']} new"] = {
            "arithmetic": arithmetic,
            "further calls": calls,
            "their time": waiting,
            "the rest": row["ratio_median"] - 1 - arithmetic - waiting,
            "together": row["ratio_median"] - 1,
        }
    frame = pd.DataFrame.from_dict(lines, orient="index")
    caption = f"Time beyond the base, in multiples of the base, {image_tokens} image tokens"
    return plain(frame, name="terms", caption=caption, decimals=[2, 0, 2, 2, 2])


def exactness(result: dict) -> dict[str, float]:
    """How the ways agree with rounds one after another: the worst logit, the worst agreement."""
    rows = grid(result)
    return {
        "largest difference of a logit": float(rows["largest_logit_difference"].max()),
        "least token agreement": float(rows["token_agreement"].min()),
    }
