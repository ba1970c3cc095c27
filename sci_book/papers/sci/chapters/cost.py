"""What a round costs: the plan of a question, its tokens counted, and what the gate leaves out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pandas as pd
import torch
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from sci_book.data.datasets import Dataset, Row
from sci_book.data.prompts import build_prompt
from sci_book.papers.sci.chapters.shapes import name_lines
from sci_book.papers.sci.overhead import CountingModel, MadeUpQuestions, counted, strategies
from sci_book.papers.shared.figures import colour
from sci_book.papers.shared.svg import INK, ON_INK, ON_PALE
from sci_book.papers.shared.tables import number, with_ends
from sci_core.counterfactuals import is_constant, rewrite
from sci_core.engine.decoding import Answer
from sci_core.engine.engine import begin_rounds
from sci_core.engine.reading import read
from sci_core.families.models import VisionLanguageModel
from sci_core.families.prefix_cache import PrefixCache
from sci_core.families.processors import Picture
from sci_core.generate import generate
from sci_core.methods import BASE, SCI7, Method, sci

COMPUTED, SHARED, STORED = "computed", "shared", "stored"
STRATEGY_LINES = {
    "one by one": ("sequential", "none", "#6b7280", ":"),
    "one batch": ("naive_batch", "none", "#0072b2", "--"),
    "two phases": ("two_phase", "warm", "#dd6b20", "-"),
    "decided by the gate": ("two_phase_gate", "warm", "#009e73", "-"),
}


class Piece(NamedTuple):
    """A run of tokens of one round: its name, its length, and whether it is computed for it."""

    name: str
    tokens: int
    state: str


def made_up(image_tokens: int) -> tuple[CountingModel, MadeUpQuestions]:
    """A model that counts, and questions of the fixed layout with pictures of so many tokens."""
    model = CountingModel()

    def of(tokens: int) -> Picture:
        # Four patches a token, as where two by two of them are merged.
        return Picture({"image_grid_thw": torch.tensor([[1, 4, tokens]])}, tokens)

    smaller = {"smallnoise": of(image_tokens // 4), "tinynoise": of(image_tokens // 16)}
    return model, MadeUpQuestions(model, of(image_tokens), smaller)


def plan_of(method: Method, image_tokens: int) -> dict[str, list[Piece]]:
    """By round, its pieces in order, from the plan that the engine makes of such a question.

    The original round computes what the textual rounds share; black is taken from the store.
    """
    model, questions = made_up(image_tokens)
    question = questions.batch(method, 1)[0]
    textual = len(question.texts)
    plan = read(model, question, slice(0, textual)).plan
    rounds = {}
    for place, name in enumerate(method.rounds[:textual]):
        state = SHARED if place else COMPUTED
        rounds[name] = [
            *_prefix(model, plan.prefix, state),
            Piece("question", len(plan.shared), state),
            Piece("instruction", len(plan.suffixes[place]), COMPUTED),
        ]
    for place, name in enumerate(method.visual, start=textual):
        plan = read(model, question, slice(place, place + 1)).plan
        state = STORED if is_constant(name) else COMPUTED
        rounds[name] = [
            *_prefix(model, plan.prefix, state),
            Piece("question and instruction", len(plan.packed), COMPUTED),
        ]
    return rounds


def _prefix(model: CountingModel, prefix: Sequence[int], state: str) -> list[Piece]:
    image = prefix.count(model.image_token_id)
    return [Piece("template", len(prefix) - image, state), Piece("picture", image, state)]


def draw_plan(ax: Axes, rounds: Mapping[str, Sequence[Piece]]) -> None:
    """A line a round: filled where its tokens are computed, open where they are taken over."""
    hatches = {COMPUTED: None, SHARED: "///", STORED: "..."}
    for line, (name, pieces) in enumerate(rounds.items()):
        left = 0
        for piece in pieces:
            own = piece.state == COMPUTED
            ax.barh(
                line, piece.tokens, left=left, height=0.72,
                color=colour(name) if own else "white", edgecolor="white" if own else "#9ca3af",
                hatch=hatches[piece.state], linewidth=0.8,
            )  # fmt: skip
            if piece.tokens > 30 and own:
                pale = name.startswith("noise") or name == "V1"
                ink = ON_INK if name == "original" else ON_PALE if pale else "white"
                ax.text(left + piece.tokens / 2, line, str(piece.tokens), ha="center", va="center",
                        fontsize=8, color=ink)  # fmt: skip
            left += piece.tokens
    left = rounds["original"][0].tokens
    *inner, last = rounds["original"][1:]  # the template is too narrow for its name
    for piece in inner:
        ax.text(left + piece.tokens / 2, -0.55, piece.name, ha="center", fontsize=8)
        left += piece.tokens
    ax.text(left + 2, -0.55, last.name, fontsize=8)  # it is narrower than its name
    name_lines(ax, rounds)
    ax.set_xlabel("position in the round, tokens")
    taken = {"shared": SHARED, "from the store": STORED}
    handles = [Patch(facecolor=INK, label="computed")] + [
        Patch(facecolor="white", edgecolor="#9ca3af", hatch=hatches[state], label=label)
        for label, state in taken.items()
    ]
    ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.28), ncols=3)


def work(method: Method, image_tokens: int, strategy: str, cache: str) -> dict:
    """Tokens, pictures, calls and head rows of one batch, the store filled by one before it."""
    model, questions = made_up(image_tokens)
    store = PrefixCache(constants_only=True)
    for _ in range(2):
        batch = questions.batch(method, 1)
        with counted(model) as counts:
            strategies(model, batch, store)[strategy, cache]()
    return dict(counts)


def ratio(
    method: Method, image_tokens: int, strategy: str = "two_phase", cache: str = "warm"
) -> float:
    """Tokens through the language model, in multiples of the base."""
    base = work(BASE, image_tokens, "two_phase", "warm")["token_rows"]
    return work(method, image_tokens, strategy, cache)["token_rows"] / base


def again(method: Method, image_tokens: int) -> float:
    """Tokens of a further question about a kept picture, to the base's first on it."""
    model, questions = made_up(image_tokens)
    store = PrefixCache()
    first, second = questions.batch(method, 2)
    begin_rounds(model, [first], prefixes=store)
    with counted(model) as counts:
        second = replace(second, original=first.original, dummies=first.dummies)
        begin_rounds(model, [second], prefixes=store)
    return counts["token_rows"] / work(BASE, image_tokens, "two_phase", "warm")["token_rows"]


def first_and_later(methods: Sequence[Method], image_tokens: int) -> pd.DataFrame:
    """Tokens to the base of the first question about a picture of some shape, and of later ones."""
    lines = {
        method.name: {
            "first of its shape": ratio(method, image_tokens, cache="cold"),
            "later": ratio(method, image_tokens),
        }
        for method in methods
    }
    return pd.DataFrame.from_dict(lines, orient="index")


def multiples(largest: Method, image_tokens: int) -> pd.DataFrame:
    """What each round of a method adds, one after another: tokens, pictures, the ratio so far."""
    lines, before, base = {}, {"token_rows": 0, "pictures": 0}, None
    for place, name in enumerate(largest.rounds):
        textual = largest.textual[:place]
        visual = largest.visual[: place - len(textual)]
        method = Method("so far", "sci", textual, visual) if place else BASE
        so_far = work(method, image_tokens, "two_phase", "warm")
        base = base or so_far
        lines[name] = {
            "tokens computed": so_far["token_rows"] - before["token_rows"],
            "pictures encoded": so_far["pictures"] - before["pictures"],
            "× base so far": so_far["token_rows"] / base["token_rows"],
        }
        before = so_far
    return pd.DataFrame.from_dict(lines, orient="index")


def curves(image_tokens: int) -> pd.DataFrame:
    """Token ratio to the base by number of rounds (M = N = 0 to 4) and way of decoding."""
    lines = {
        1 + 2 * pairs: {
            label: ratio(sci(pairs, pairs), image_tokens, strategy, cache)
            for label, (strategy, cache, *_) in STRATEGY_LINES.items()
        }
        for pairs in range(5)
    }
    return pd.DataFrame.from_dict(lines, orient="index").rename_axis("rounds")


def draw_curves(ax: Axes, frame: pd.DataFrame, title: str) -> None:
    """A line a way of decoding, over the number of rounds."""
    for label, (_, _, shade, style) in STRATEGY_LINES.items():
        values = frame[label]
        ax.plot(frame.index, values, style, color=shade, marker="o", markersize=4, label=label)
        if style != ":":  # it lies on the line of the batch
            below = (3, 5 if label == "decided by the gate" else -11)  # the axis lies below it
            ax.annotate(number(values.loc[7]), (7, values.loc[7]), fontsize=8,
                        textcoords="offset points", xytext=below, color=INK)  # fmt: skip
    ax.set_xticks(list(frame.index))
    ax.set_title(title)
    ax.set_xlabel("rounds")


def pocket_sentence(findings: Sequence[Any]) -> str:
    """How many levels on pocket data fail, and what each method takes; nothing if none is timed."""
    asked = [f for f in findings if f.claim.measure == "time_on_pocket" and f.interval.n]
    if not asked:
        return ""
    failed = sum(finding.verdict == "fails" for finding in asked)
    lines = [f"**{failed} of {len(asked)} levels on pocket data fail.**"]
    for title in dict.fromkeys(finding.title for finding in asked):
        times = [
            f"{finding.claim.arguments['method']} {with_ends(*finding.interval[:3])} where "
            f"{finding.claim.margin:g} is the level"
            for finding in asked
            if finding.title == title
        ]
        lines.append(f"In multiples of the base, with {title}: {', '.join(times)}.")
    return " ".join(lines)


class Decoded(NamedTuple):
    """One method's answers to some rows, what they cost, and the store they left."""

    answers: list[Answer]
    counts: dict[str, int]
    store: PrefixCache


def first_rows(dataset: Dataset, per_dataset: int) -> list[Row]:
    """The first rows of every data set: whole questions, in the data's own order."""
    taken: dict[str, list[Row]] = {}
    for row in dataset:
        rows = taken.setdefault(row.dataset, [])
        if len(rows) < per_dataset or rows[-1].group == row.group:
            rows.append(row)
    return [row for rows in taken.values() for row in rows]


def decode_rows(
    model: VisionLanguageModel, rows: Sequence[Row], methods: Sequence[Method]
) -> dict[str, Decoded]:
    """Answers of every method to the rows, with the gate; each begins with an empty store."""
    inputs = [row.image() for row in rows], [build_prompt(row, model.family) for row in rows]
    decoded = {}
    for method in methods:
        store = PrefixCache()
        with counted(model) as counts:
            answers = generate(model, *inputs, method, 8, batch_size=16, prefixes=store)
        decoded[method.name] = Decoded(answers, dict(counts), store)
    return decoded


def prompt_lengths(models: Mapping[str, VisionLanguageModel], rows: Sequence[Row]) -> pd.DataFrame:
    """Average tokens of the picture, of the text of the original prompt, and of its rewordings."""
    lines = {}
    for name, model in models.items():
        processor = model.processor
        prompts = [build_prompt(row, model.family) for row in rows]
        lines[name] = {"picture": processor.prepare(rows[0].image().convert("RGB")).tokens}
        for round_ in ("original", *SCI7.textual):
            texts = [text if round_ == "original" else rewrite(text, round_) for text in prompts]
            ids = processor.token_ids(texts, [()] * len(texts))
            lines[name][f"text, {round_}"] = sum(map(len, ids)) / len(ids)
    return pd.DataFrame.from_dict(lines, orient="index")


def skip_rates(rows: Sequence[Row], answers: Sequence[Answer]) -> pd.DataFrame:
    """Percent of decided questions by data set and step; step 3 stands for all from there."""
    looks = [
        (row.dataset, min(step, 3), 100.0 * (not looked))
        for row, answer in zip(rows, answers, strict=True)
        for step, looked in enumerate(answer.looked, start=1)
    ]
    frame = pd.DataFrame(looks, columns=["data set", "step", "skipped"]).pivot_table(
        index="data set", columns="step", values="skipped", margins=True, margins_name="all",
        sort=False,
    )  # fmt: skip
    return frame.rename(columns={1: "step 1", 2: "step 2", 3: "step 3 on", "all": "every step"})


def counted_ratios(decoded: Mapping[str, Decoded]) -> pd.DataFrame:
    """What each method computed, in multiples of "base"; and what its store did."""
    plain = decoded["base"].counts
    lines = {
        name: {
            "tokens, × base": result.counts["token_rows"] / plain["token_rows"],
            "pictures, × base": result.counts["pictures"] / plain["pictures"],
            "hits": result.store.hits,
            "misses": result.store.misses,
            "MB kept": result.store.bytes / 1e6,
        }
        for name, result in decoded.items()
        if name != "base"
    }
    return pd.DataFrame.from_dict(lines, orient="index")
