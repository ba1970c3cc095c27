"""What the variants of `variants` change: verdicts against the default's, tables, matrix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from sci_book.papers.sci.chapters.shapes import Subjects
from sci_book.papers.sci.chapters.variants import SHARES, Evaluated
from sci_book.papers.shared.chapters import Subject, unchanged
from sci_book.papers.shared.figures import WIDTH
from sci_book.papers.shared.svg import INK, ON_PALE
from sci_book.papers.shared.tables import MISSING, VERDICTS, Table, number, plain, with_ends

MARKS = {"holds": "✓", "fails": "✗", "inconclusive": "?", "not comparable": MISSING}
COLOURS = dict(zip(VERDICTS, ("#9ecae1", "#f4a582", "#e5e7eb", "white"), strict=True))
PART = "default, rows below"


def changes(cases: Iterable[Evaluated]) -> pd.DataFrame:
    """Every conclusion whose verdict a variant changes, with both differences.

    Columns `variant, conclusion, turns, before, after` (the two lines as mappings); `turns` is
    True from holds to fails or back, False to or from inconclusive. A conclusion without a row on
    either side changes nothing.
    """
    lines = []
    for case in cases:
        for name, after in case.lines.iterrows():
            before = case.reference.loc[name]
            verdicts = {before["verdict"], after["verdict"]}
            if len(verdicts) == 2 and "not comparable" not in verdicts:
                turns = "inconclusive" not in verdicts
                lines.append((case.variant.name, name, turns, dict(before), dict(after)))
    return pd.DataFrame(lines, columns=["variant", "conclusion", "turns", "before", "after"])


def opposed(cases: Sequence[Evaluated]) -> pd.DataFrame:
    """Conclusions that hold under one reading, default or variant, and fail under another.

    Columns `conclusion, holds, fails`, the last two lists of readings by name.
    """
    verdicts = {case.variant.name: case.lines["verdict"] for case in cases}
    lines = []
    for name in cases[0].lines.index:
        under = [
            [variant for variant, words in verdicts.items() if words[name] == word]
            for word in ("holds", "fails")
        ]
        if all(under):
            lines.append((name, *under))
    return pd.DataFrame(lines, columns=["conclusion", "holds", "fails"])


def is_judged(case: Evaluated) -> bool:
    """Whether any conclusion has a verdict: the model is fit for it, and there are rows."""
    return bool((case.lines["n"] > 0).any() and (case.lines["verdict"] != "not comparable").any())


def verdict_of(cases: Mapping[str, Sequence[Evaluated]]) -> str:
    """The verdict of "no conclusion turns on a variant", over all models."""
    return unchanged(
        compared=any(is_judged(case) for lines in cases.values() for case in lines[1:]),
        changed=any(len(changes(lines)) for lines in cases.values()),
        contradicted=any(len(opposed(lines)) for lines in cases.values()),
    )


def named_lines(cases: Sequence[Evaluated]) -> list[tuple[str, pd.DataFrame]]:
    """The lines to show, by name: every variant, and the default anew where the rows are others."""
    lines, reference = [], cases[0].lines
    for case in cases:
        if case.lines["n"].any() and not case.reference.equals(reference):
            reference = case.reference
            lines.append((PART, reference))
        lines.append((case.variant.name, case.lines))
    return lines


def matrix_table(subject: Subject, cases: Sequence[Evaluated]) -> Table:
    """Variants against conclusions: the difference in points and the mark of its verdict."""
    cells = {
        name: [
            f"{number(line['reproduced'], 1)} {MARKS[line['verdict']]}" if line["n"] else MISSING
            for line in (lines.loc[name] for _, lines in named_lines(cases))
        ]
        for name in cases[0].lines.index
    }
    frame = pd.DataFrame(cells, index=[name for name, _ in named_lines(cases)])
    frame.columns = frame.columns.str.rsplit(", ", n=1, expand=True).swaplevel()
    caption = (
        f"Differences of {subject.shown} in points; ✓ holds, ✗ fails, ? inconclusive, "
        f"{MISSING} not judged"
    )
    return Table(f"{subject.name}-matrix", frame, caption)


def changes_table(subjects: Subjects, cases: Mapping[str, Sequence[Evaluated]]) -> Table:
    """What changes, line by line: the default on the same rows, and the variant."""
    lines = {}
    for subject in subjects:
        changed = changes(cases[subject.name])
        for _, variant, conclusion, turns, before, after in changed.itertuples():
            old, new = (
                with_ends(line["reproduced"], line["low"], line["high"]) for line in (before, after)
            )
            lines[f"{subject.brief}: {variant}: {conclusion}"] = (
                old, before["verdict"], new, after["verdict"],
                f"{after['n']:,.0f}", "yes" if turns else "no",
            )  # fmt: skip
    columns = ["default", "its verdict", "variant", "its verdict ", "n", "turns"]
    frame = pd.DataFrame.from_dict(lines, orient="index", columns=columns)
    caption = "Conclusions whose verdict changes; differences in points with their intervals"
    return Table("changes", frame, caption).fold()


def replay_table(subjects: Subjects, cases: Mapping[str, Sequence[Evaluated]]) -> Table:
    """Of the variants computed from recorded logits, how much of it is certain, in percent."""
    columns = {}
    for subject, what in product(subjects, SHARES):
        replayed = [case for case in cases[subject.name] if case.known is not None]
        shares = {case.variant.name: getattr(case, what) for case in replayed}
        columns[subject.shown, what] = shares
    caption = (
        "Replayed answers, the least share over the methods, %; proven: no token left out could "
        "have won; known: the answer follows from recorded tokens"
    )
    return plain(pd.DataFrame(columns), name="replayed", caption=caption)


def draw_matrix(subject: Subject, cases: Sequence[Evaluated]) -> Figure:
    """Variants against conclusions, coloured by verdict; a frame marks what is not the default's.

    A solid frame: from holds to fails or back. A dashed one: to or from inconclusive.
    """
    rows, names = named_lines(cases), list(cases[0].lines.index)
    turned = {(line.variant, line.conclusion): line.turns for line in changes(cases).itertuples()}
    figure, ax = plt.subplots(figsize=(WIDTH, 1.5 + 0.27 * len(rows)))
    for down, (variant, lines) in enumerate(rows):
        for across, conclusion in enumerate(names):
            line, corner = lines.loc[conclusion], (across, down)
            shade = COLOURS[line["verdict"]]
            ink = ON_PALE if line["verdict"] in ("holds", "fails") else INK
            ax.add_patch(Rectangle(corner, 1, 1, facecolor=shade, edgecolor="white"))
            text = number(line["reproduced"], 1) if line["n"] else MISSING
            ax.text(across + 0.5, down + 0.53, text, ha="center", va="center", fontsize=8,
                    color=ink)  # fmt: skip
            if (variant, conclusion) in turned:
                style = "-" if turned[variant, conclusion] else (0, (3, 1.5))
                inner = (across + 0.04, down + 0.06), 0.92, 0.88
                frame = {"fill": False, "edgecolor": ink, "linewidth": 1.6, "linestyle": style}
                ax.add_patch(Rectangle(*inner, **frame))
    ax.set_xlim(0, len(names))
    ax.set_ylim(len(rows), 0)
    ax.grid(visible=False)
    heads = [name.replace(" − ", " −\n").replace(", ", "\n") for name in names]
    ax.set_xticks([place + 0.5 for place in range(len(names))], heads, fontsize=8)
    ax.xaxis.tick_top()
    places = [place + 0.5 for place in range(len(rows))]
    ax.set_yticks(places, [name for name, _ in rows], fontsize=9)
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    words = {word for _, lines in rows for word in lines["verdict"]}
    handles = [
        Patch(facecolor=COLOURS[word], edgecolor="#9ca3af", label=word)
        for word in VERDICTS
        if word in words
    ]
    styles = {"-": "turns over", "--": "to or from inconclusive"} if turned else {}
    handles += [
        Patch(facecolor="white", edgecolor=INK, linestyle=style, linewidth=1.6, label=text)
        for style, text in styles.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=5, fontsize=8)
    figure.suptitle(f"{subject.shown}: differences in points", fontsize=10, x=0.01, ha="left")
    return figure


def opposed_table(subjects: Subjects, cases: Mapping[str, Sequence[Evaluated]]) -> Table:
    """Conclusions that hold under one reading and fail under another, and under which."""
    lines = {
        f"{subject.brief}: {conclusion}": ("; ".join(holds), "; ".join(fails))
        for subject in subjects
        for _, conclusion, holds, fails in opposed(cases[subject.name]).itertuples()
    }
    frame = pd.DataFrame.from_dict(lines, orient="index", columns=["holds under", "fails under"])
    return Table(
        "prose-opposed", frame, "Conclusions that hold under one reading and fail under another"
    )


def sentence(subjects: Subjects, cases: Mapping[str, Sequence[Evaluated]]) -> str:
    """A line of Markdown a model: how many verdicts change, and what hangs on a reading."""
    lines = []
    for subject in subjects:
        mine = cases[subject.name]
        compared = [case for case in mine[1:] if case.lines["n"].any()]
        changed, against = changes(mine), opposed(mine)
        text = (
            f"- **{subject.shown}.** {len(mine[0].lines)} conclusions were compared under "
            f"{len(compared)} variants."
        )
        if any(map(is_judged, mine)):
            turned = int(changed["turns"].sum())
            text += (
                f" {len(against)} of them {'turns' if len(against) == 1 else 'turn'} on a reading"
                f"{': ' if len(against) else ''}{'; '.join(map(_opposite, against.itertuples()))}. "
                f"Of {len(compared) * len(mine[0].lines)} verdicts {turned} go from the default’s "
                f"*holds* to *fails* or back; {len(changed) - turned} go to or from *inconclusive*."
            )
        else:
            text += " No conclusion is judged, since the model does not meet the conditions."
        if missing := [case.variant.name for case in mine[1:] if not case.lines["n"].any()]:
            text += f" Without records, *not comparable*: {', '.join(missing)}."
        lines.append(text)
    return "\n".join(lines)


def _opposite(line: tuple) -> str:
    """A line of `opposed` in words; the table has the readings that are only counted here."""
    sides = [
        f"{word} under *{names[0]}*" + (f" and {len(names) - 1} more" if names[1:] else "")
        for word, names in (("holds", line.holds), ("fails", line.fails))
    ]
    return f"“{line.conclusion}” {', and '.join(sides)}"
