"""C-VQA's printed numbers against each other: its tables, its counts, and its sentences on them.

What only the public file can tell (the words of the questions, the answers' shares) is not here;
the tests of the file have it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import product
from math import sqrt
from operator import add, mul, sub

import pandas as pd
import yaml

from sci_book.papers.cvqa.chapters import letters
from sci_book.papers.cvqa.chapters.dataset import printed
from sci_book.papers.cvqa.chapters.drops import read_table
from sci_book.papers.cvqa.questions import SIDES
from sci_book.papers.shared.audit import (
    CONSISTENT,
    INCONSISTENT,
    UNTOLD,
    Finding,
    Mark,
    agreement,
    counts_behind,
    table_title,
)
from sci_book.papers.shared.chapters import PAPER
from sci_book.papers.shared.tables import signed
from sci_book.pocket.what_if import SIZES

AT_RANDOM = "InstructBLIP (Vicuna-7B)"
LARGEST = 200  # rows of a type that are tried for Table 5
ROW_LABELS = ("model", "example")
"""Fields that label the rows of a redrawn table; the others head its columns."""
PROMPT = "cvqa_prompt"
NO_CHANGE = "The counterfactual number less the original one gives another change."
NO_ANSWER = "The sum of this example gives another number than its new answer."
_HALF = 0.05 + 1e-9  # points between a share and the one decimal that it rounds to
_OPERATIONS = {"+": add, "-": sub, "*": mul}


def findings() -> dict[str, Finding]:
    """Every check, by what it is about."""
    return {
        **difference_findings(),
        **count_findings(),
        **sample_findings(),
        **chance_findings(),
        **sentence_findings(),
        **prompt_findings(),
        **word_findings(),
    }


def printed_tables() -> dict[str, pd.DataFrame]:
    """Tables 3 to 7 and the examples of the prompt by name, one row a number, fields as text."""
    read = partial(pd.read_csv, dtype=str, keep_default_na=False)
    tables = {path.stem: read(path) for path in sorted(PAPER.glob("cvqa_table*.csv"))}
    examples = read(PAPER / f"{PROMPT}.csv").drop(columns="place")
    examples.columns = examples.columns.str.replace("_", " ")
    names = [f"example {number}" for number in range(1, len(examples) + 1)]
    tables[PROMPT] = examples.assign(example=names)
    fields = ("table", "model_type", "model", "type", "example")
    long = {
        name: frame.melt([field for field in fields if field in frame], var_name="metric")
        for name, frame in tables.items()
    }
    return {name: frame[frame["value"] != ""] for name, frame in long.items()}


def table_name(name: str) -> str:
    """ "Table 3" for "cvqa_table03", "The prompt of Appendix B.1" for its examples."""
    return "The prompt of Appendix B.1" if name == PROMPT else table_title(name)


def difference_findings() -> dict[str, Finding]:
    """Does counterfactual less original give the printed difference, and Table 6 repeat Table 3?"""
    checks = {}
    for number in (3, 4, 5, 6):
        table = read_table(number)
        name = f"cvqa_table{number:02d}"
        off = (table["counterfactual"] - table["original"] - table["change"]).abs() > 1e-6
        wrong = [f"{line.model}, {line.type}" for line in table[off].itertuples()]
        checks[f"differences of Table {number}"] = Finding(
            f"Table {number}", f"{len(table)} differences",
            f"{len(table) - len(wrong)} recompute" + (f"; not {', '.join(wrong)}" if wrong else ""),
            agreement(not wrong),
            [
                Mark(name, {"model": line.model, "type": line.type, "metric": "change"}, NO_CHANGE)
                for line in table[off].itertuples()
            ],
        )  # fmt: skip
    columns = ["type", "original", "counterfactual", "change"]
    three, six = read_table(3), read_table(6)
    mine = three[three["model"] == "ViperGPT"][columns].reset_index(drop=True)
    again = six[six["model"] == "GPT-3.5-turbo"][columns].reset_index(drop=True)
    checks["ViperGPT twice"] = Finding(
        "Tables 3 and 6", "ViperGPT, and ViperGPT with GPT-3.5-turbo",
        f"{int((mine == again).to_numpy().sum())} of {mine.size} cells agree",
        agreement(mine.equals(again)),
    )  # fmt: skip
    return checks


def count_findings() -> dict[str, Finding]:
    """Do the printed counts add up, and are the printed shares counts of them?"""
    known = printed().astype(float)
    checks = {
        "types of questions": _sum("Section 3.4", known, ("direct", "indirect"), "numerical"),
        "all questions": _sum("Section 3.4", known, ("numerical", "boolean"), "questions"),
        "kept images": _sum("Section 4.3", known, ("male images", "female images"), "kept images"),
    }
    n = int(known["boolean"])
    counts = {
        name: counts_behind(known[f"share {name}"], n, 0.005 + 1e-9) for name in ("no", "yes")
    }
    both = [(a, b) for a in counts["no"] for b in counts["yes"] if a + b == n]
    checks["shares of no and yes"] = Finding(
        "Section 3.4", f"{known['share no']:.2f} and {known['share yes']:.2f} % of {n}",
        "; ".join(f"{a} no and {b} yes" for a, b in both) or "no counts add up", agreement(both),
    )  # fmt: skip
    shares = {name: 100 * known[name] / known["questions"] for name in SIZES}
    rounded = {name: round(share) for name, share in shares.items()}
    stated = {name: int(known[f"share {name}"]) for name in SIZES}
    checks["shares of the types"] = Finding(
        "Figure 8", "/".join(map(str, stated.values())),
        "/".join(f"{share:.2f}" for share in shares.values()) + " from the counts",
        agreement(rounded == stated),
    )  # fmt: skip
    return checks


def sample_findings() -> dict[str, Finding]:
    """Table 5: how many rows can stand behind its shares, and are these a tenth of the set?

    A tenth drawn at random holds about a tenth of each type, and not just that many; so sizes that
    are no tenth of their type tell nothing by themselves. All together are to be 10 % of the set.
    """
    table = read_table(5).set_index("type")
    percent = int(printed()["gpt-4v share of the set"])
    fitting = {
        name: [
            n
            for n in range(1, LARGEST + 1)
            if all(counts_behind(line[side], n, _HALF) for side in SIDES)
        ]
        for name, line in table.iterrows()
    }
    checks, exact = {}, []
    for name, sizes in fitting.items():
        tenth = SIZES[name] * percent / 100
        near = any(abs(n - tenth) < 1 for n in sizes)
        exact += [name] * near
        checks[f"Table 5, {name}"] = Finding(
            "Table 5", f"a tenth of {SIZES[name]:,} is {tenth:g}",
            f"of 1 to {LARGEST} rows, only {', '.join(map(str, sizes))} give both shares",
            CONSISTENT if near else UNTOLD if sizes else INCONSISTENT,
        )  # fmt: skip
    total = sum(SIZES.values())
    sums = sorted({sum(sizes) for sizes in product(*fitting.values())})
    drawn = total * percent / 100
    closest = min(sums, key=lambda n: abs(n - drawn))
    checks["Table 5, all rows"] = Finding(
        "Section 4.1", f"{percent} % of {total:,}, {drawn:.0f} rows",
        f"the sizes that fit add up to {closest} at the nearest, {100 * closest / total:.1f} %; "
        f"a tenth of its type is among them for {', '.join(exact) or 'no type'}",
        agreement(round(100 * closest / total) == percent),
    )  # fmt: skip
    return checks


def chance_findings() -> dict[str, Finding]:
    """Table 7: is the one model at a random level, as is said, and are the others under it?"""
    verdicts = letters.random_level()["against 25 %"]
    other = {
        name: word
        for name, word in verdicts.items()
        if word != ("not told apart" if str(name).startswith(AT_RANDOM) else "below")
    }
    return {
        "the random level": Finding(
            "Section 4.2",
            f"{AT_RANDOM} “is at a random level {printed()['random level']}%”, the others are "
            "“worse” than that",
            "; ".join(f"{name}: {word}" for name, word in other.items())
            or f"the intervals of all {len(verdicts)} numbers bear it out",
            agreement(not other),
        )
    }  # fmt: skip


def sentence_findings() -> dict[str, Finding]:
    """The paper's sentences on its tables, whose places and words are transcribed."""
    three, four, five, six = (read_table(number) for number in (3, 4, 5, 6))
    end = three[three["model_type"] == "end-to-end"]
    neuro = three[three["model_type"] == "neuro-symbolic"]
    both_sides, share_no = (float(printed()[name]) for name in ("right on both sides", "share no"))
    results: dict[str, tuple[str, object]] = {}

    largest = [_named(table.loc[table["change"].idxmin()]) for table in (end, four, three)]
    results["up to 40 %"] = (
        f"end-to-end {largest[0]}; step by step {largest[1]}; of all {largest[2]}",
        three["change"].min() >= -40.5 and four["change"].min() >= -40.5,
    )

    flat = _listed(three[three["change"] >= -1.0])
    results["all of them suffer"] = f"under a point: {flat}", not flat

    wide = end.pivot(index="model", columns="type", values="change")
    less = wide["direct"] > wide[["indirect", "boolean"]].max(axis=1)
    results["direct drops are smaller"] = (
        f"so for {int(less.sum())} of {len(less)} end-to-end models",
        less.all(),
    )

    gaps = []
    for line in neuro[neuro["type"] != "direct"].itertuples():
        worse = end[(end["type"] == line.type) & (end["change"] <= line.change)]
        if len(worse):
            mine = f"{line.model}’s {signed(line.change, 1)}, {line.type}"
            gaps.append(f"{mine}, against {len(worse)} that lose more")
    results["neuro-symbolic gaps"] = "; ".join(gaps) or "none is smaller", not gaps

    both = four.merge(
        three.assign(model=three["model"].map(_short)), on=["model", "type"], suffixes=("", " 3")
    )
    both["gain"] = both["counterfactual"] - both["counterfactual 3"]
    best = both.loc[both["gain"].idxmax()]
    # A paired difference is −1, 0 or 1 on every row, so its standard error is at most 1/√n.
    noise = 196 / sqrt(SIZES[best["type"]])
    results["step by step gains nothing"] = (
        f"the most gained is {signed(best['gain'], 1)} ({best['model']}, {best['type']}), within "
        f"{noise:.1f} points of noise",
        len(both) == len(four) and best["gain"] < noise,
    )

    drops = ", ".join(signed(value, 1) for value in five["change"])
    results["GPT-4V’s drop"] = drops, five["change"].max() < -10

    rising = _listed(six[six["change"] > 0])
    results["consistent drops of code models"] = rising or "all drop", not rising

    above = []
    for kind, part in six.groupby("type", sort=False):
        of_wizard = part["model"].str.startswith("Wizard")
        wizard, others = part[of_wizard], part[~of_wizard]
        for side in SIDES:
            top, low = wizard[side].max(), others.loc[others[side].idxmin()]
            if top > low[side]:
                above.append(f"{kind}, {side}: {top:.1f} over {low['model']}’s {low[side]:.1f}")
    results["WizardCoder is least effective"] = (
        "; ".join(above) or "no cell is above another family’s",
        not above,
    )

    same = three[(three["type"] == "direct") & (three[[*SIDES]] == both_sides).all(axis=1)]
    results["the same on both sides"] = (
        ", ".join(same["model"].map(_short)) or "no model has these",
        len(same) == 1,
    )

    booleans = three[three["type"] == "boolean"]
    under = booleans[booleans["counterfactual"] < share_no]
    results["always answering no"] = (
        f"so who always says no is right more often than {len(under)} of the {len(booleans)} "
        f"models: {', '.join(under['model'].map(_short)) or 'none'}; how often these say no is not "
        "printed",
        None,
    )
    sentences = yaml.safe_load((PAPER / "cvqa_sentences.yaml").read_text(encoding="utf-8"))
    return {
        name: Finding(
            sentences[name]["place"],
            sentences[name]["printed"].format(both_sides=both_sides, share=share_no),
            follows,
            UNTOLD if fits is None else agreement(fits),
        )
        for name, (follows, fits) in results.items()
    }


def prompt_findings() -> dict[str, Finding]:
    """Appendix B.1: does each example that the annotator is shown do its own sum?"""
    examples = pd.read_csv(PAPER / "cvqa_prompt.csv", dtype=str)
    wrong, marks = [], []
    for example, line in enumerate(examples.itertuples(), 1):
        total, stated = line.sum.split("=")
        if not str(calculate(total)) == stated == line.new_answer:
            wrong.append(f"{line.sum} with the new answer {line.new_answer}")
            fields = {"example": f"example {example}", "metric": "new answer"}
            marks.append(Mark(PROMPT, fields, NO_ANSWER))
    return {
        "sums of the prompt": Finding(
            "Appendix B.1", f"{len(examples)} examples",
            f"wrong: {'; '.join(wrong)}" if wrong else "all are right", agreement(not wrong),
            marks,
        )
    }  # fmt: skip


def word_findings() -> dict[str, Finding]:
    """Figure 8's ratios: how many words, verbs and nouns they imply.

    Each kind of word has two ratios, its types over its own tokens and its types over what is
    called "total # types". A ratio of types to *types* would make verbs and nouns together a small
    part of the vocabulary, so that the second is read as types over all tokens, as the type-token
    ratio is. Then dividing them tells the kind's share of types and of tokens, and no kind can have
    more than all.
    """
    known = printed().astype(float)
    words = known["questions"] * known["words counterfactual"]
    ratio = known["type-token ratio"]
    shares = {
        kind: (
            100 * known[f"{kind}-token ratio by types"] / ratio,
            100 * known[f"{kind}-token ratio by types"]
            / known[f"{kind}-token ratio by {kind} types"],
        )
        for kind in ("verb", "noun")
    }  # fmt: skip
    types, tokens = (sum(values) for values in zip(*shares.values(), strict=True))
    return {
        "type-token ratio": Finding(
            "Figure 8", f"{ratio:.4f} of the questions’ words are different ones",
            f"{ratio * words:,.0f} different words among {words:,.0f} of the counterfactual "
            "questions; whether there are so many, only the public file tells",
            UNTOLD,
        ),
        "verbs and nouns": Finding(
            "Figure 8",
            "; ".join(
                f"{kind}s {known[f'{kind}-token ratio by {kind} types']:.4f} and "
                f"{known[f'{kind}-token ratio by types']:.4f}"
                for kind in shares
            ),
            "read as types over all tokens, "
            + " and ".join(
                f"{kind}s are {of_types:.1f} % of the types and {of_tokens:.1f} % of the tokens"
                for kind, (of_types, of_tokens) in shares.items()
            ),
            agreement(types <= 100 and tokens <= 100),
        ),
    }  # fmt: skip


def calculate(text: str) -> int:
    """A sum such as "2-1+2", from left to right."""
    parts = text.replace("+", " + ").replace("-", " - ").replace("*", " * ").split()
    value = int(parts[0])
    for operation, operand in zip(parts[1::2], parts[2::2], strict=True):
        value = _OPERATIONS[operation](value, int(operand))
    return value


def _sum(place: str, known: pd.Series, parts: Iterable[str], whole: str) -> Finding:
    numbers = [int(known[name]) for name in parts]
    follows = f"{' + '.join(f'{n:,}' for n in numbers)} = {sum(numbers):,}"
    return Finding(
        place, f"{int(known[whole]):,} {whole}", follows, agreement(sum(numbers) == known[whole])
    )


def _named(line: pd.Series) -> str:
    return f"{_short(line['model'])} {signed(line['change'], 1)} ({line['type']})"


def _listed(table: pd.DataFrame) -> str:
    return "; ".join(_named(line) for _, line in table.iterrows())


def _short(model: str) -> str:
    """A model's name in Table 3 as Table 4 writes it."""
    size = {"InstructBLIP (Vicuna-13B)": "InstructBLIP-13B",
            "MiniGPT-v2 (Llama2-Chat-7B)": "MiniGPT-v2-7B"}  # fmt: skip
    return size.get(model, model if "BLIP" in model else model.partition(" (")[0])
