"""Answer questions about pictures: lists in, one answer out for each (see `decoding`)."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import closing
from typing import Any, Literal, get_args

import numpy as np
from PIL import Image

from sci_core.arguments import Number, Whole, check, is_whole
from sci_core.counterfactuals import holds_instruction, reword, rewrite
from sci_core.engine.ahead import asked_batches
from sci_core.engine.batching import FittingBatches, by_length, by_size
from sci_core.engine.decoding import Answer, Decoding, decode
from sci_core.engine.engine import Engine
from sci_core.engine.questions import Noise, Question, check_questions, split_rounds
from sci_core.families.models import VisionLanguageModel
from sci_core.families.named import check_choice
from sci_core.families.prefix_cache import PrefixCache
from sci_core.methods import SCI5, Method
from sci_core.methods import method as named_method
from sci_core.sampling import check_sampling

Rewrites = Sequence[Sequence[str]] | Literal["strict"] | None


def generate(
    model: VisionLanguageModel,
    images: Sequence[Image.Image],
    prompts: Sequence[str],
    method: Method | str = SCI5,
    max_new_tokens: Whole = 8,
    rewrites: Rewrites = None,
    temperature: Number = 0.0,
    top_k: Whole | None = None,
    top_p: Number | None = None,
    seed: Whole = 0,
    *,
    engine: Engine = "two_phase",
    noise: Noise = "wrap",
    return_logits: bool = False,
    batch_size: Whole = 16,
    gate: bool = True,
    prefixes: PrefixCache | None = None,
    workers: Whole = 0,
) -> list[Answer]:
    """Answer each prompt about the image at its place; pictures and lengths may differ.

    Answers depend on neither `batch_size` nor `gate`, except where two scores differ by less than
    floating-point error.

    Args:
        images: one a prompt, shown as `prepare_image` makes them.
        prompts: text of the user's turn; the picture comes before it.
        method: a `Method`, or the name of a preset ("base", "TIE", "VCD", "M3ID", "SCI3", ...).
        rewrites: for each prompt the texts of `method.textual`, in order. By default the paper's
            (`counterfactuals.rewrite`); a prompt without an instruction that they know is reworded
            by the rule `prefix` (`prefix_rewrite`), with a UserWarning, or refused by "strict".
        temperature: 0 is greedy. See `sampling.choose` for this, `top_k`, `top_p`, `seed`; a
            question's random numbers depend on the seed, its place in the lists and the step. The
            checkpoint's other generation settings are applied (see `settings`).
        engine: "two_phase", or "sequential", the slow reference.
        noise: how noise becomes a picture ("wrap", "clamp", "unresized", "normalized"); see
            `engine.start`.
        return_logits: keep every round's logits of every step; switches the gate off.
        batch_size: questions at a time, those of like length together; halved if memory runs out.
        gate: read the visual rounds only where the textual ones leave two tokens or more.
        prefixes: a store of pictures already read, for calls that show them again; by default of
            black ones, for this call.
        workers: threads that prepare pictures ahead of the model; 0 prepares them as they are
            looked at.

    Returns:
        An answer for each prompt, in order. One whose logits are not finite has an `error`, and a
        RuntimeWarning counts them. A UserWarning names settings of the checkpoint not applied.

    Raises:
        TypeError: an argument of another type, such as a picture or a prompt that is none.
        ValueError: lists of unequal length, a number out of range, an unknown method, a prompt
            with several known instructions (or, strictly, with none), a picture that
            `prepare_image` refuses, more tokens than the model's context.
        FloatingPointError: the method's scores overflow.
    """
    check("model", model, "what load_model returns", isinstance(model, VisionLanguageModel))
    method = find_method(method)
    counts = {"max_new_tokens": max_new_tokens, "batch_size": batch_size, "workers": workers}
    check_settings(counts, prefixes, noise)
    check_choice("engine", engine, get_args(Engine))
    sampling = check_sampling(temperature, top_k, top_p, seed)
    for name, flag in (("gate", gate), ("return_logits", return_logits)):
        check(name, flag, "True or False", isinstance(flag, bool | np.bool_))
    questions = make_questions(images, prompts, method, rewrites)
    model.generation.warn_of_others(model.name, **sampling)
    how = Decoding(
        method=method,
        max_new_tokens=int(max_new_tokens),
        eos=model.eos_token_ids,
        sampling=sampling,
        prefixes=PrefixCache(constants_only=True) if prefixes is None else prefixes,
        settings=model.generation,
        engine=engine,
        gate=gate,
        return_logits=return_logits,
    )
    return answer_all(model, questions, how, noise, int(batch_size), int(workers))


def find_method(method: Any) -> Method:
    """Return a method that is given itself or by name; TypeError for anything else."""
    known = isinstance(method, Method | str)
    check("method", method, "a Method or the name of one, such as 'SCI5'", known)
    return named_method(method) if isinstance(method, str) else method


def check_settings(counts: Mapping[str, Any], prefixes: Any, noise: Any) -> None:
    """Refuse counts below 1 (workers: 0), a store that is none, and noise of no known kind."""
    for name, value in counts.items():
        least = int(name != "workers")
        enough = is_whole(value) and bool(value >= least)
        check(name, value, f"a whole number of {least} or more", enough)
    check("prefixes", prefixes, "a PrefixCache or None", isinstance(prefixes, PrefixCache | None))
    check_choice("noise", noise, get_args(Noise))


def answer_all(
    model: VisionLanguageModel,
    questions: Sequence[Question],
    how: Decoding,
    noise: Noise,
    batch_size: int,
    workers: int = 0,
) -> list[Answer]:
    """Answer questions in batches of like length; the answers are in the order of the questions."""
    batches = by_length(
        [question.content for question in questions],
        # Pixels and letters are near enough to tokens to sort by; the store need not keep black of
        # a size for long.
        [(*by_size(*q.content[0]), len(q.prompt) + sum(map(len, q.rewrites))) for q in questions],
        batch_size,
    )
    asked = asked_batches(
        model.processor,
        [[questions[place] for place in places] for places in batches],
        how.method.visual,
        noise,
        workers,
    )
    fitting = FittingBatches()
    answers: dict[int, Answer] = {}
    with closing(asked):  # ends the threads, whatever happens
        for places, batch in zip(batches, asked, strict=True):
            pairs = list(zip(places, batch, strict=True))
            batch_answers = fitting(
                lambda part: decode(model, how, *zip(*part, strict=True)), pairs
            )
            answers |= dict(zip(places, batch_answers, strict=True))
    return in_order(answers)


def in_order(answers: Mapping[int, Answer]) -> list[Answer]:
    """Put the answers in the order of their questions; warn of those that end with an error."""
    errors = [a.error for a in answers.values() if a.error]
    if errors:
        warnings.warn(
            f"{len(errors)} of {len(answers)} answers end early, with an error: {errors[0]}",
            RuntimeWarning,
            stacklevel=4,
        )
    return [answers[place] for place in range(len(answers))]


def make_questions(
    images: Sequence[Image.Image],
    prompts: Sequence[str],
    method: Method,
    rewrites: Rewrites,
) -> list[Question]:
    """Make questions of these lists, and check them; by default with the paper's rewrites."""
    split_rounds(method.rounds)
    for given in (images, prompts):
        if not _is_list(given):
            raise TypeError(
                "images and prompts are lists; for one question pass [image] and [prompt]; got "
                f"{type(given).__name__}."
            )
    images, prompts = list(images), list(prompts)
    for number, prompt in enumerate(prompts):
        check(f"The prompt of question {number}", prompt, "a text", isinstance(prompt, str))
    if rewrites is None or (isinstance(rewrites, str) and rewrites == "strict"):
        rewrites = _rewritten(prompts, method.textual, rewrite if rewrites else reword)
    if not _is_list(rewrites):
        kind = ValueError if isinstance(rewrites, str) else TypeError
        raise kind(
            f"rewrites={rewrites!r}; expected a list of texts for each prompt, 'strict' or None."
        )
    # What is no list among them is named below, by `check_questions`.
    each: list[Any] = [tuple(texts) if _is_list(texts) else texts for texts in rewrites]
    for what, count in (("images", len(images)), ("lists of rewrites", len(each))):
        if count != len(prompts):
            raise ValueError(f"{count} {what} but {len(prompts)} prompts; expected one each.")
    questions = list(map(Question, images, prompts, each))
    check_questions(questions, method.textual)
    return questions


def _rewritten(
    prompts: Sequence[str], textual: Sequence[str], rule: Callable[[str, str], str]
) -> list[list[str]]:
    """Rewrite each prompt for each textual round; warn of those without a known instruction."""
    rewrites = []
    for number, prompt in enumerate(prompts):
        try:
            rewrites.append([rule(prompt, name) for name in textual])
        except ValueError as error:
            raise ValueError(f"Question {number}: {error}") from error
    unknown = [prompt for prompt in prompts if textual and not holds_instruction(prompt)]
    if unknown:
        warnings.warn(
            f"{len(unknown)} of {len(prompts)} prompts hold no instruction that the paper's "
            f"rewordings know, the first {unknown[0][:80]!r}; the rule `prefix` puts a request in "
            "front of them. Pass rewrites=… for rewordings of your own, or rewrites='strict' to "
            "refuse such prompts.",
            UserWarning,
            stacklevel=4,
        )
    return rewrites


def _is_list(value: Any) -> bool:
    # Of a mapping the keys would be taken, and a set has no order.
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping | Set)
