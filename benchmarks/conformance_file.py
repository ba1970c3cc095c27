"""Make `reference/`: logits of pocket questions in every round, and the tokens of every method.

    python benchmarks/conformance_file.py

Questions of the six pocket sets, each at a step of its own answer, by the pocket model whose
checkpoint is shipped: such as the methods do not all answer with one token, among them one at least
for every two methods that differ anywhere.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import torch

from sci_book.data.datasets import load_dataset
from sci_book.data.prompts import build_prompt
from sci_book.pipeline.pocket_data import draw_pocket
from sci_book.run import conformance
from sci_core.counterfactuals import is_visual, reword
from sci_core.engine.engine import start
from sci_core.engine.questions import Question
from sci_core.families.models import load_model
from sci_core.methods import METHODS

QUESTIONS, READ, STEPS, MODEL = 66, 1200, 3, "checkpoints/pocket-qwen2vl"


def telling(chosen: Sequence[Mapping[str, int]]) -> list[int]:
    """Places of `QUESTIONS` questions: what tells every two methods apart, the rest evenly spread.

    Args:
        chosen: the token of each method, by question.
    """
    apart = (
        next((at for at, tokens in enumerate(chosen) if tokens[one] != tokens[other]), None)
        for one, other in combinations(METHODS, 2)
    )
    kept = {at for at in apart if at is not None}
    others = [at for at in range(len(chosen)) if at not in kept]
    more = max(0, QUESTIONS - len(kept))
    return sorted([*kept, *others[:: max(1, len(others) // max(1, more))][:more]])


def main() -> None:
    draw_pocket("pocket")
    rows = load_dataset("pocket").rows
    rows = rows[:: len(rows) // READ][:READ]
    model = load_model(conformance.ROOT / MODEL)
    every = dict.fromkeys(name for method in METHODS.values() for name in method.rounds)
    rounds = sorted(every, key=is_visual)
    found = []
    for number, row in enumerate(rows):
        prompt = build_prompt(row, model.family)
        texts = [reword(prompt, name) for name in rounds[1:] if not is_visual(name)]
        state = start(model, [Question(row.image(), prompt, tuple(texts))], rounds)
        for _ in range(number % STEPS):
            state.advance(state.logits[0].argmax(dim=-1))
        logits = state.logits.to(torch.float16)
        clock, step = state.prompt_tokens[:1], torch.tensor([number % STEPS])
        asked = (logits.double(), rounds, clock, step)
        tokens = {name: conformance.choose(name, *asked)[0][0] for name in METHODS}
        if len({*tokens.values()}) > 1:
            found.append((tokens, (logits[:, 0], int(clock[0]), int(step[0]))))
    kept = [found[place][1] for place in telling([tokens for tokens, _ in found])]
    parts, clocks, steps = zip(*kept, strict=True)
    conformance.write(
        torch.stack(parts, dim=1),
        rounds,
        torch.tensor(clocks),
        torch.tensor(steps),
        f"{len(kept)} questions of the pocket world, asked of {MODEL}",
    )


if __name__ == "__main__":
    main()
