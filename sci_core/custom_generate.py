"""The same decoding as a `custom_generate` of transformers.

    inputs = processor(images=images, text=…, return_tensors="pt", padding=True)
    decode = custom_generate(processor, images, prompts, method=SCI5)
    model.generate(**inputs, custom_generate=decode, max_new_tokens=8)

Token ids hold no picture to add noise to and no prompt to rewrite; so the callable is made from the
pictures and prompts, and checks that the token ids are theirs.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from PIL import Image
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from sci_core.engine.decoding import Decoding
from sci_core.engine.questions import Noise, Question
from sci_core.families import settings
from sci_core.families.models import VisionLanguageModel, adapt
from sci_core.families.prefix_cache import PrefixCache
from sci_core.generate import Rewrites, answer_all, make_questions
from sci_core.methods import SCI5, Method
from sci_core.methods import method as named_method

STOPPING = ("MaxLengthCriteria", "EosTokenCriteria")


def custom_generate(
    processor: Any,
    images: Sequence[Image.Image],
    prompts: Sequence[str],
    method: Method | str = SCI5,
    rewrites: Rewrites = None,
    *,
    seed: int | None = None,
    noise: Noise = "wrap",
    batch_size: int = 16,
    prefixes: PrefixCache | None = None,
) -> Callable[..., Tensor]:
    """Make a callable for `model.generate(**inputs, custom_generate=…)` of an unmodified model.

    The tokens are those of `generate` with the same arguments. Number of new tokens, ends of
    sequence, sampling and what `settings` applies (penalties, bad words, …) come from the model's
    generation configuration and the arguments of its `generate`. A streamer gets nothing.

    Args:
        processor: what made the inputs, with a `tokenizer` and an `image_processor`; its
            `chat_template`, if it has one, goes before the tokenizer's. Where transformers cannot
            build its own (several need torchvision), `load_model(…).processor` serves.
        images, prompts, method, rewrites, noise, batch_size, prefixes: see `generate`.
        seed: see `generate`. None: each call that samples draws one from torch's generator.

    Returns:
        A callable that gives `[batch, length]` token ids, inputs included, padded on the right.

    Raises:
        ValueError: as `generate`; and, when called, for inputs that are not those of the pictures
            and prompts, or a setting that this decoding does not know (beams, …): by name, with
            whether the call or the checkpoint sets it.
        FloatingPointError: when called, if a question's logits are not finite.
    """
    method = named_method(method) if isinstance(method, str) else method
    questions = make_questions(images, prompts, method, rewrites)

    def decode(
        hf: Any,
        input_ids: Tensor,
        logits_processor: Sequence[Any] = (),
        stopping_criteria: Sequence[Any] = (),
        generation_config: Any = None,
        **inputs: Any,  # transformers would pass one that is named here twice
    ) -> Tensor:
        model = adapt(
            hf,
            processor.tokenizer,
            processor.image_processor,
            chat_template=getattr(processor, "chat_template", None),
        )
        _check_settings(hf, generation_config)
        mask = inputs.get("attention_mask")
        own = hf._get_logits_processor(
            generation_config,
            input_ids.shape[1],
            input_ids,
            device=input_ids.device,
            model_kwargs={"attention_mask": mask},
        )
        _check_passed(own, logits_processor, stopping_criteria)
        _check_inputs(model, questions, input_ids, mask)
        eos = generation_config._eos_token_tensor
        sampling = {"temperature": 0.0}
        if generation_config.do_sample:
            temperature = generation_config.temperature
            sampling = {
                "seed": int(torch.randint(2**63 - 1, ())) if seed is None else seed,
                "temperature": 1.0 if temperature is None else float(temperature),
                "top_k": generation_config.top_k or None,
                "top_p": generation_config.top_p,
            }
        how = Decoding(
            method=method,
            max_new_tokens=generation_config.max_length - input_ids.shape[1],
            eos=frozenset() if eos is None else frozenset(eos.tolist()),
            sampling=sampling,
            prefixes=PrefixCache(constants_only=True) if prefixes is None else prefixes,
            settings=settings.GenerationSettings(hf, generation_config),
        )
        answers = answer_all(model, questions, how, noise, batch_size)
        for error in [answer.error for answer in answers if answer.error]:
            raise FloatingPointError(error)
        written = [[*a.tokens, *([a.end] if a.stopped else [])] for a in answers]
        padding = generation_config._pad_token_tensor
        tail = pad_sequence(
            [torch.tensor(tokens, dtype=input_ids.dtype) for tokens in written],
            batch_first=True,
            padding_value=0 if padding is None else int(padding),
        )
        return torch.cat([input_ids, tail.to(input_ids.device)], dim=1)

    return decode


def _check_settings(hf: Any, config: Any) -> None:
    """Refuse what would silently not be done."""
    if config.return_dict_in_generate:
        raise ValueError(
            "return_dict_in_generate=True: this decoding returns token ids alone; leave it out, or "
            "call sci_core.generate with return_logits=True for every round's logits."
        )
    known = settings.SET_ASIDE | (settings.SAMPLERS if config.do_sample else {})
    for name, value in settings.which_are_set(config, known).items():
        own = getattr(hf.generation_config, name, None) == value
        raise ValueError(
            f"{name}={value!r} has no place in this decoding, which chooses one token at a time "
            "from the combined score and gives one answer a question. "
            + (
                f"The checkpoint's generation_config.json sets it: pass {name}={known[name]!r} to "
                "generate, or set it so in model.generation_config."
                if own
                else "This call of generate sets it: leave it out."
            )
        )


def _check_passed(own: Sequence[Any], processors: Sequence[Any], criteria: Sequence[Any]) -> None:
    """Refuse processors and criteria that are not the settings' own: they would be lost."""
    texts = [f"{type(part).__name__} {vars(part)}" for part in (*own, *processors)]
    pairs = zip(processors, texts[len(own) :], strict=True)
    more = [processor for processor, text in pairs if text not in texts[: len(own)]]
    more += [criterion for criterion in criteria if type(criterion).__name__ not in STOPPING]
    if more:
        raise ValueError(
            f"{type(more[0]).__name__} was passed to this call of generate as an object or a "
            "function, which this decoding does not take; leave it out. Applied are the settings "
            f"{', '.join(settings.APPLIED)}."
        )


def _check_inputs(
    model: VisionLanguageModel,
    questions: Sequence[Question],
    ids: Tensor,
    mask: Tensor | None,
) -> None:
    """Refuse inputs that are not each question's own ids, padding left out."""
    if len(ids) != len(questions):
        raise ValueError(
            f"The inputs have {len(ids)} rows, but custom_generate was given "
            f"{len(questions)} pictures and prompts; expected one each, in the same order."
        )
    real = torch.ones_like(ids) if mask is None else mask
    for number, question in enumerate(questions):
        row = ids[number, real[number].bool()].tolist()
        picture = model.processor.prepare(question.prepared)
        turn = model.processor.token_ids([question.prompt], [picture.ids])[0]
        if turn != row:
            raise ValueError(
                f"Row {number} of the inputs, {len(row)} tokens, is not the chat turn of prompt "
                f"{number} and its picture, which has {len(turn)}, {len(picture.ids)} of them for "
                "the picture. Make the inputs with the same processor, from apply_chat_template "
                "with add_generation_prompt=True, in the same order."
            )
