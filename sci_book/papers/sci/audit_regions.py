"""What B, S and BS imply about the rows in both, and about those in one alone: S∖B above all.

The right answers on B∩S are those on B and S less those on BS; the right answers on S∖B are those
on BS less those on B. The sizes follow in the same way.
"""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sci_book.audit.findings import Finding, Findings, agreement
from sci_book.audit.printed import PrintedTables
from sci_book.methods import COMPARED
from sci_book.papers.sci.audit_counts import accuracy_rows, counts_of, sizes, title
from sci_book.papers.shared.figures import WIDTH, colour
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import Table, number, signed
from sci_book.results.metrics import KINDS

COMPLETE = "table09"  # the table that prints every method on B, S and BS
WITH_SUBSETS = (COMPLETE, "table06")
METHODS = ("base", *COMPARED)


def regions(printed: PrintedTables, name: str, tolerance: float) -> pd.DataFrame:
    """Right answers and rows on `B∩S`, `S∖B` and `B∖S` by model, method and question type.

    Columns `model, method, question_type, region, right, n, percent`; methods whose counts are not
    settled on all of B, S and BS are left out. A method without the constraint says so in its name.
    """
    known = sizes(printed)
    (split,) = {row.fields["split"] for row in accuracy_rows(printed, name)}
    lines = []
    for (model, method, constraint), counts in counts_of(printed, name, tolerance).items():
        if not {"B", "S", "BS"} <= set(counts):
            continue
        label = method + (", no constraint" if constraint == "no" else "")
        for kind in counts["BS"]:
            total = {part: known[(model, part, split), ("", kind)] for part in ("B", "S", "BS")}
            n = _regions(total)
            right = _regions({part: counts[part][kind] for part in ("B", "S", "BS")})
            for region in n:
                percent = 100 * right[region] / n[region] if n[region] else np.nan
                lines.append((model, label, kind, region, right[region], n[region], percent))
    columns = ["model", "method", "question_type", "region", "right", "n", "percent"]
    return pd.DataFrame(lines, columns=columns)


def region_findings(printed: PrintedTables, tolerance: float) -> Findings:
    """Whether the implied counts are possible: at least 0, and at most all rows of the region."""
    findings = {}
    for name in WITH_SUBSETS:
        for model, part in regions(printed, name, tolerance).groupby("model"):
            bad = part[(part["right"] < 0) | (part["right"] > part["n"])]
            text = "; ".join(
                f"{line.method}, {line.question_type}: {line.right} of {line.n} on {line.region}"
                for line in bad.itertuples()
            )
            findings[f"B∩S, S∖B and B∖S, {title(name)}, {model}"] = Finding(
                f"{title(name)}; Table 1",
                f"{part['method'].nunique()} methods on B, S and BS",
                text or f"all {len(part)} implied counts are possible",
                agreement(bad.empty),
            )
    return findings


def gain_findings(printed: PrintedTables, tolerance: float) -> Findings:
    """Whether gains on S, as printed, are gains on S∖B, in all and for both question types.

    S holds B∩S as well, where the base is (all but) never right and any other answer gains.
    """
    findings = {}
    for name in WITH_SUBSETS:
        wide = sensitive_only(printed, name, tolerance)
        frame = printed.rows(name, subset="S")
        frame = frame[frame["constraint"] != "no"] if "constraint" in frame else frame
        on_s = frame.set_index(["model", "method", "question_type"])["value"].astype(float)
        for model in dict.fromkeys(model for model, _ in wide.columns):
            part = wide[model].dropna()
            methods = [method for method in METHODS[1:] if method in part.index]
            change = part.loc[methods] - part.loc["base"]
            gains = on_s[model].unstack()["Overall"][methods] - on_s[model, "base", "Overall"]
            n = {kind: wide.attrs["rows"][model, kind] for kind in part.columns}
            after = ", ".join(f"{m} {number(part.loc[m, 'Overall'], 1)}" for m in methods)
            text = f"S∖B (n = {n['Overall']:,}): {number(part.loc['base', 'Overall'], 1)} → {after}"
            findings[f"gains on S, {title(name)}, {model}"] = Finding(
                f"{title(name)}; Table 1",
                "change on S: " + ", ".join(f"{m} {signed(gains[m], 1)}" for m in methods),
                text,
                agreement((np.sign(change["Overall"]) == np.sign(gains)).all()),
            )
            if not set(KINDS) <= set(part.columns):
                continue
            apart = [m for m in methods if change.loc[m, "MCQ"] * change.loc[m, "Others"] < 0]
            moves = "; ".join(
                f"{m} " + ", ".join(
                    f"{kind} {number(part.loc['base', kind], 1)} → {number(part.loc[m, kind], 1)}"
                    for kind in KINDS[:2]
                )
                for m in apart
            )  # fmt: skip
            rows = " and ".join(f"n = {n[kind]:,} {kind}" for kind in KINDS[:2])
            findings[f"question types on S∖B, {title(name)}, {model}"] = Finding(
                f"{title(name)}; Table 1; section 4.3",
                "“the improvements … were consistent across both categories”",
                f"S∖B ({rows}): {moves or 'both types move the same way under every method'}",
                agreement(not apart),
            )
    return findings


def sensitive_only(printed: PrintedTables, name: str, tolerance: float) -> pd.DataFrame:
    """Accuracy on S∖B in percent: a row a method, a column a model and question type.

    `attrs["rows"]` holds the rows behind each column.
    """
    frame = regions(printed, name, tolerance)
    frame = frame[frame["region"] == "S∖B"]
    heads = frame.drop_duplicates(["model", "question_type"])
    wide = frame.pivot(index="method", columns=["model", "question_type"], values="percent")
    wide = wide[[(line.model, line.question_type) for line in heads.itertuples()]]
    wide = wide.loc[list(dict.fromkeys(frame["method"]))]
    wide.attrs["rows"] = {(line.model, line.question_type): line.n for line in heads.itertuples()}
    return wide


def sensitive_table(wide: pd.DataFrame, *, name: str, caption: str) -> Table:
    """`sensitive_only` with the rows in its heads and the change from the base in brackets."""
    columns = {}
    for (model, kind), column in wide.items():
        columns[model, kind, f"n = {wide.attrs['rows'][model, kind]:,}"] = [
            number(value, 1)
            + ("" if method == "base" else f" ({signed(value - column['base'], 1)})")
            for method, value in column.items()
        ]
    return Table(name, pd.DataFrame(columns, index=wide.index.rename(None)), caption)


def draw_sensitive_only(printed: PrintedTables, tolerance: float) -> Figure:
    """Change from the base by method, on S as printed and on S∖B as implied, in points."""
    wide = sensitive_only(printed, COMPLETE, tolerance)
    frame = printed.tables[COMPLETE].set_index(["model", "method", "subset", "question_type"])
    value = frame["value"].astype(float)
    models = list(dict.fromkeys(model for model, _ in wide.columns))
    methods = [method for method in METHODS[1:] if method in wide.index]
    figure, axes = plt.subplots(
        len(models), 3, figsize=(WIDTH, 0.8 + 2.0 * len(models)), squeeze=False,
        sharex=True, sharey=True,
    )  # fmt: skip
    for line, model in zip(axes, models, strict=True):
        for ax, kind in zip(line, KINDS, strict=True):
            for place, method in enumerate(methods):
                on_s = value[model, method, "S", kind] - value[model, "base", "S", kind]
                alone = wide.loc[method, (model, kind)] - wide.loc["base", (model, kind)]
                shade = colour(method)
                ax.hlines(place, *sorted((on_s, alone)), color=shade, linewidth=1.2)
                ax.plot(on_s, place, "D", mfc="white", mec=shade, markersize=6)
                ax.plot(alone, place, "o", color=shade, markersize=7)
            ax.axvline(0, color=INK, linewidth=0.8)
            ax.set_title(f"{kind}, S∖B: n = {wide.attrs['rows'][model, kind]:,}", fontsize=9)
            ax.grid(axis="y", visible=False)
            ax.tick_params(labelsize=9)
        line[0].set_ylabel(model)
        line[0].set_yticks(range(len(methods)), methods)
        line[0].set_ylim(len(methods) - 0.5, -0.5)
    for ax in axes[-1]:
        ax.set_xlabel("change from the base, points", fontsize=9)
    marks = [
        Line2D([], [], marker="D", mfc="white", color="#374151", linestyle=""),
        Line2D([], [], marker="o", color="#374151", linestyle=""),
    ]
    figure.legend(marks, ["on S, printed", "on S∖B, implied"], loc="outside lower center", ncols=2)
    return figure


def _regions(counts: Mapping[str, int]) -> dict[str, int]:
    """B∩S, S∖B and B∖S from B, S and their union: the same for right answers as for rows."""
    return {
        "B∩S": counts["B"] + counts["S"] - counts["BS"],
        "S∖B": counts["BS"] - counts["B"],
        "B∖S": counts["BS"] - counts["S"],
    }
