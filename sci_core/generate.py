"""Answer questions about pictures: lists in, one answer a question out.

At every step the method combines the logits of all rounds into one score, one token is chosen, and
every round reads it; a question's rounds stop together at the end of sequence (paper, section 3).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor

from sci_core.counterfactuals import rewrite
from sci_core.engine import Engine, Noise, Question, start
from sci_core.methods import SCI5, Method, scores
from sci_core.methods import method as named_method
from sci_core.models import VisionLanguageModel
from sci_core.sampling import choose


@dataclass(frozen=True)
class Answer:
    """What a model said to one question.

    text      the tokens as text, special tokens left out
    tokens    chosen token ids, without the end of sequence
    stopped   whether an end of sequence was chosen (otherwise `max_new_tokens` ended it)
    rounds    names of the rounds, in the order of `logits`
    logits    raw logits of every step, the one that chose the end of sequence included; None
              unless asked for
    """

    text: str
    tokens: tuple[int, ...]
    stopped: bool
    rounds: tuple[str, ...]
    logits: tuple[Float[Tensor, "rounds vocab"], ...] | None = None


def generate(
    model: VisionLanguageModel,
    images: Sequence[Image.Image],
    prompts: Sequence[str],
    method: Method | str = SCI5,
    max_new_tokens: int = 8,
    rewrites: Sequence[Sequence[str]] | None = None,
    temperature: float = 0.0,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int = 0,
    *,
    engine: Engine = "two_phase",
    noise: Noise = "clamp",
    return_logits: bool = False,
    batch_size: int = 16,
) -> list[Answer]:
    """Answer each prompt about the image at its place; pictures and lengths may differ.

    Args:
        images: one a prompt. The same picture given several times is encoded once a batch.
        prompts: text of the user's turn; the picture comes before it.
        method: a `Method`, or the name of a preset ("base", "TIE", "VCD", "M3ID", "SCI3", ...).
        rewrites: for each prompt the texts of `method.textual`, in order; by default the paper's
            (`counterfactuals.rewrite`), which need an instruction they know in the prompt.
        temperature: 0 is greedy. See `sampling.choose` for this, `top_k`, `top_p`, `seed`; a
            question's random numbers depend on the seed, its place in the lists and the step.
        engine: "two_phase", or "sequential", the slow reference.
        noise: how noise becomes a picture ("clamp", "wrap", "normalized"); see `engine.start`.
        return_logits: keep every round's logits of every step.
        batch_size: questions at a time. Answers do not depend on it (outside near-ties).

    Raises:
        ValueError: lists of unequal length, a number out of range, an unknown method, a prompt
            with no known instruction to rewrite (or two), a picture outside the limits.
        FloatingPointError: the model's logits are not finite.
    """
    method = named_method(method) if isinstance(method, str) else method
    for name, value in (("max_new_tokens", max_new_tokens), ("batch_size", batch_size)):
        if value < 1:
            raise ValueError(f"{name} must be 1 or more; got {value}.")
    questions = _questions(images, prompts, method, rewrites)
    answers: list[Answer] = []
    for first in range(0, len(questions), batch_size):
        batch = questions[first : first + batch_size]
        answers += _answer(
            model,
            batch,
            method,
            max_new_tokens,
            engine,
            noise,
            return_logits,
            samples=range(first, first + len(batch)),
            sampling={"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed},
        )
    return answers


def _questions(
    images: Sequence[Image.Image],
    prompts: Sequence[str],
    method: Method,
    rewrites: Sequence[Sequence[str]] | None,
) -> list[Question]:
    if isinstance(prompts, str) or isinstance(images, Image.Image):
        raise TypeError("images and prompts are lists; for one question pass [image] and [prompt].")
    if len(images) != len(prompts):
        raise ValueError(f"{len(images)} images but {len(prompts)} prompts; expected one each.")
    if rewrites is None:
        rewrites = [[rewrite(prompt, name) for name in method.textual] for prompt in prompts]
    if len(rewrites) != len(prompts):
        raise ValueError(
            f"{len(rewrites)} lists of rewrites but {len(prompts)} prompts; expected one each."
        )
    for number, texts in enumerate(rewrites):
        if isinstance(texts, str) or len(texts) != len(method.textual):
            raise ValueError(
                f"The rewrites of prompt {number} are {texts!r}; {method.name} takes a list of "
                f"{len(method.textual)} ({', '.join(method.textual) or 'none'})."
            )
    return [
        Question(image, prompt, tuple(texts))
        for image, prompt, texts in zip(images, prompts, rewrites, strict=True)
    ]


def _answer(
    model: VisionLanguageModel,
    questions: Sequence[Question],
    method: Method,
    max_new_tokens: int,
    engine: Engine,
    noise: Noise,
    return_logits: bool,
    *,
    samples: Sequence[int],
    sampling: dict,
) -> list[Answer]:
    tokens: list[list[int]] = [[] for _ in questions]
    logits: list[list[Tensor]] = [[] for _ in questions]
    stopped = [False] * len(questions)
    open_questions = list(range(len(questions)))
    rounds = start(model, questions, method.rounds, engine, noise)
    for step in range(max_new_tokens):
        score = scores(method, rounds.logits, step=step, prompt_tokens=rounds.prompt_tokens)
        identities = [samples[question] for question in open_questions]
        chosen = choose(score, samples=identities, step=step, **sampling)
        for node, (question, token) in enumerate(zip(open_questions, chosen.tolist(), strict=True)):
            if return_logits:
                logits[question].append(rounds.logits[:, node].cpu())
            if token in model.eos_token_ids:
                stopped[question] = True
            else:
                tokens[question].append(token)
        going = [n for n, question in enumerate(open_questions) if not stopped[question]]
        if not going or step + 1 == max_new_tokens:
            break
        parents = torch.tensor(going, device=chosen.device)
        rounds.advance(chosen[parents], parents)
        open_questions = [open_questions[node] for node in going]
    return [
        Answer(
            text=model.tokenizer.decode(ids, skip_special_tokens=True),
            tokens=tuple(ids),
            stopped=ended,
            rounds=method.rounds,
            logits=tuple(steps) if return_logits else None,
        )
        for ids, ended, steps in zip(tokens, stopped, logits, strict=True)
    ]
