"""Make `reference/`: logits of pocket questions in every round, and the tokens of every method.

    python benchmarks/conformance_file.py

Two hundred questions of the six pocket sets, each at a step of its own answer, by the pocket model
whose checkpoint is shipped. Any logits would do; these are such as a model gives.
"""

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

QUESTIONS, STEPS, MODEL = 200, 3, "checkpoints/pocket-qwen2vl"


def main() -> None:
    draw_pocket("pocket")
    rows = load_dataset("pocket").rows
    rows = rows[:: len(rows) // QUESTIONS][:QUESTIONS]
    model = load_model(conformance.ROOT / MODEL)
    every = dict.fromkeys(name for method in METHODS.values() for name in method.rounds)
    rounds = sorted(every, key=is_visual)
    parts, clocks, steps = [], [], []
    for number, row in enumerate(rows):
        prompt = build_prompt(row, model.family)
        texts = [reword(prompt, name) for name in rounds[1:] if not is_visual(name)]
        state = start(model, [Question(row.image(), prompt, tuple(texts))], rounds)
        for _ in range(number % STEPS):
            state.advance(state.logits[0].argmax(dim=-1))
        parts.append(state.logits[:, 0])
        clocks.append(int(state.prompt_tokens[0]))
        steps.append(number % STEPS)
    conformance.write(
        torch.stack(parts, dim=1),
        rounds,
        torch.tensor(clocks),
        torch.tensor(steps),
        f"{len(rows)} questions of the pocket world, asked of {MODEL}",
    )


if __name__ == "__main__":
    main()
