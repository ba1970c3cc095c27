"""The same decoding as a `custom_generate` of transformers.

    inputs = processor(images=images, text=…, return_tensors="pt", padding=True)
    decode = custom_generate(processor, images, prompts, method=SCI5)
    model.generate(**inputs, custom_generate=decode, max_new_tokens=8)

Token ids hold no picture to add noise to and no prompt to rewrite; so the callable is made from the
pictures and prompts, and checks that the token ids and the pixels are theirs.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain
from typing import Any

import torch
from PIL import Image
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import GenerationMixin

from sci_core.arguments import Whole, check
from sci_core.engine.decoding import Decoding
from sci_core.engine.questions import Noise, Question
from sci_core.families import settings
from sci_core.families.models import VisionLanguageModel, adapt
from sci_core.families.prefix_cache import PrefixCache
from sci_core.generate import (
    Rewrites,
    answer_all,
    check_settings,
    find_method,
    make_questions,
)
from sci_core.methods import SCI5, Method
from sci_core.sampling import check_sampling

FOLLOWED = (  # of the settings, beside those that `settings` knows
    "max_length", "max_new_tokens", "do_sample", "temperature", "top_k", "top_p", "eos_token_id",
    "pad_token_id", "bos_token_id", "renormalize_logits", "disable_compile", "transformers_version",
)  # fmt: skip
HEEDED = (  # of what `generate` and the model take, beside what tokenizer and processor make
    "self", "inputs", "input_ids", "attention_mask", "mm_token_type_ids", "generation_config",
    "streamer", "custom_generate", "kwargs",
)  # fmt: skip
OTHER_PIXELS = 0.1  # a mean difference of normalised values that no two image processors have


def custom_generate(
    processor: Any,
    images: Sequence[Image.Image],
    prompts: Sequence[str],
    method: Method | str = SCI5,
    rewrites: Rewrites = None,
    *,
    seed: Whole | None = None,
    noise: Noise = "wrap",
    batch_size: Whole = 16,
    prefixes: PrefixCache | None = None,
) -> Callable[..., Tensor]:
    """Make a callable for `model.generate(**inputs, custom_generate=…)` of an unmodified model.

    The tokens are those of `generate` with the same arguments. Number of new tokens, ends of
    sequence, sampling and what `settings` applies (penalties, bad words, …) come from the model's
    generation configuration and the arguments of its `generate`. A streamer is given each token as
    it is chosen, of one question, and is ended whatever happens.

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
            and prompts, or an argument or setting that this decoding does not follow (beams, a
            cache, …): by name, with whether the call or the checkpoint sets it.
        FloatingPointError: when called, if a question's logits are not finite.
    """
    for part in ("tokenizer", "image_processor"):
        expected = f"what made the inputs, with a {part}"
        check("processor", processor, expected, hasattr(processor, part))
    method = find_method(method)
    check_settings({"batch_size": batch_size}, prefixes, noise)
    check_sampling(0, None, None, 0 if seed is None else seed)
    questions = make_questions(images, prompts, method, rewrites)

    def decode(
        hf: Any,
        input_ids: Tensor,
        generation_config: Any = None,
        **inputs: Any,  # transformers would pass one that is named here twice
    ) -> Tensor:
        arguments = _arguments_of_generate() or inputs
        with ExitStack() as stack:
            if (streamer := arguments.get("streamer")) is not None:
                stack.callback(streamer.end)  # or whoever reads it would wait for ever
            model = adapt(
                hf,
                processor.tokenizer,
                processor.image_processor,
                chat_template=getattr(processor, "chat_template", None),
            )
            _check_arguments(arguments, processor, generation_config, len(input_ids))
            _check_settings(hf, generation_config)
            mask, pixels = inputs.get("attention_mask"), inputs.get("pixel_values")
            _check_inputs(model, questions, input_ids, mask, pixels)
            eos = generation_config._eos_token_tensor
            sampling: dict[str, Any] = {"temperature": 0.0}
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
                streamer=streamer,
            )
            answers = answer_all(model, questions, how, noise, int(batch_size))
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


def _arguments_of_generate() -> dict[str, Any]:
    """The arguments of transformers' `generate`, which hands few of them on to a callable."""
    frame = inspect.currentframe()
    while frame and frame.f_code is not inspect.unwrap(GenerationMixin.generate).__code__:
        frame = frame.f_back
    if frame is None:
        return {}
    named = inspect.signature(GenerationMixin.generate).parameters
    return {name: frame.f_locals.get(name) for name in named} | frame.f_locals["kwargs"]


def _check_arguments(
    arguments: Mapping[str, Any], processor: Any, config: Any, questions: int
) -> None:
    """Refuse arguments of `generate`, beside its settings, that would silently not be heeded."""
    parts = (processor.tokenizer, processor.image_processor)
    known = {*HEEDED, *chain(*(part.model_input_names for part in parts)), *vars(config)}
    for name, value in arguments.items():
        if name in known or value is None or value is False:
            continue
        if name not in ("logits_processor", "stopping_criteria"):
            raise _no_place(name)
        for part in value:
            raise ValueError(
                f"{type(part).__name__} was passed to this call of generate as an object or a "
                "function, which this decoding does not take; leave it out. Applied are the "
                f"settings {', '.join(settings.APPLIED)}."
            )
    if arguments.get("streamer") is not None and questions > 1:
        raise ValueError(
            f"A streamer takes the tokens of one question; this call of generate has {questions}. "
            "Ask them one by one, or leave the streamer out."
        )


def _check_settings(hf: Any, config: Any) -> None:
    """Refuse what would silently not be done."""
    if config.return_dict_in_generate:
        raise ValueError(
            "return_dict_in_generate=True: this decoding returns token ids alone; leave it out, or "
            "call sci_core.generate with return_logits=True for every round's logits."
        )
    others = settings.SET_ASIDE | (settings.SAMPLERS if config.do_sample else {})
    followed = {*FOLLOWED, *settings.APPLIED, *settings.SAMPLERS} - {*others}
    idle = config._get_default_generation_params() | others
    for name, value in vars(config).items():
        if name in followed or name[0] == "_" or value in (None, idle.get(name, False)):
            continue
        if getattr(hf.generation_config, name, None) != value:
            raise _no_place(f"{name}={value!r}")
        if name in others:  # the checkpoint's own others touch time and memory, or beams, alone
            raise _no_place(
                f"{name}={value!r}",
                f"The checkpoint's generation_config.json sets it: pass {name}={idle[name]!r} to "
                "generate, or set it so in model.generation_config.",
            )


def _no_place(
    what: str, advice: str = "This call of generate sets it: leave it out."
) -> ValueError:
    return ValueError(
        f"{what} has no place in this decoding, which chooses one token at a time from the "
        f"combined score and gives one answer a question. {advice}"
    )


def _check_inputs(
    model: VisionLanguageModel,
    questions: Sequence[Question],
    ids: Tensor,
    mask: Tensor | None,
    pixels: Tensor | None,
) -> None:
    """Refuse inputs that are not each question's own ids, padding left out, and own pixels."""
    if len(ids) != len(questions):
        raise ValueError(
            f"The inputs have {len(ids)} rows, but custom_generate was given "
            f"{len(questions)} pictures and prompts; expected one each, in the same order."
        )
    real = torch.ones_like(ids) if mask is None else mask
    begin = 0
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
        own = picture.inputs["pixel_values"]
        if pixels is not None:  # padded to others of the batch
            given = pixels[begin : (begin := begin + len(own))][tuple(map(slice, own.shape))]
            if given.shape != own.shape or (given.to(own) - own).abs().mean() > OTHER_PIXELS:
                raise ValueError(
                    f"The pixel_values of row {number} are not those of picture {number}. Make the "
                    "inputs of prepare_image(picture), with the same processor, in the same order."
                )
