"""The same decoding as a `custom_generate` of transformers.

    inputs = processor(images=images, text=…, return_tensors="pt", padding=True)
    decode = custom_generate(processor, images, prompts, method=SCI5)
    model.generate(**inputs, custom_generate=decode, max_new_tokens=8)

Token ids and pixel values hold no picture to add noise to and no prompt to rewrite; so the callable
is made from the pictures and prompts, and checks that the token ids are theirs.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from PIL import Image
from torch import Tensor

from sci_core.decoding import Decoding
from sci_core.generate import answer_all, make_questions
from sci_core.methods import SCI5, Method
from sci_core.methods import method as named_method
from sci_core.models import VisionLanguageModel, adapt
from sci_core.prefix_cache import PrefixCache
from sci_core.questions import Noise, Question

FORBIDDING = (
    "MinLengthLogitsProcessor",
    "MinNewTokensLengthLogitsProcessor",
    "NoBadWordsLogitsProcessor",
    "NoRepeatNGramLogitsProcessor",
    "SuppressTokensAtBeginLogitsProcessor",
    "SuppressTokensLogitsProcessor",
)
"""Processors that only forbid tokens: those leave before the constraint's maximum is taken."""

SAMPLING = ("TemperatureLogitsWarper", "TopKLogitsWarper", "TopPLogitsWarper")
"""Warpers that `sampling.choose` does itself, on the final score."""

STOPPING = ("MaxLengthCriteria", "EosTokenCriteria")

ARGUMENTS = {
    "EncoderNoRepeatNGramLogitsProcessor": "encoder_no_repeat_ngram_size",
    "EncoderRepetitionPenaltyLogitsProcessor": "encoder_repetition_penalty",
    "EpsilonLogitsWarper": "epsilon_cutoff",
    "EtaLogitsWarper": "eta_cutoff",
    "ExponentialDecayLengthPenalty": "exponential_decay_length_penalty",
    "ForcedBOSTokenLogitsProcessor": "forced_bos_token_id",
    "ForcedEOSTokenLogitsProcessor": "forced_eos_token_id",
    "InfNanRemoveLogitsProcessor": "remove_invalid_values",
    "LogitNormalization": "renormalize_logits",
    "MaxTimeCriteria": "max_time",
    "MinPLogitsWarper": "min_p",
    "PrefixConstrainedLogitsProcessor": "prefix_allowed_tokens_fn",
    "RepetitionPenaltyLogitsProcessor": "repetition_penalty",
    "SequenceBiasLogitsProcessor": "sequence_bias",
    "StopStringCriteria": "stop_strings",
    "SynthIDTextWatermarkLogitsProcessor": "watermarking_config",
    "TopHLogitsWarper": "top_h",
    "TypicalLogitsWarper": "typical_p",
    "UnbatchedClassifierFreeGuidanceLogitsProcessor": "guidance_scale",
    "WatermarkLogitsProcessor": "watermarking_config",
}
"""The argument of transformers' `generate` that asks for each processor or criterion refused."""


def custom_generate(
    processor: Any,
    images: Sequence[Image.Image],
    prompts: Sequence[str],
    method: Method | str = SCI5,
    rewrites: Sequence[Sequence[str]] | None = None,
    *,
    seed: int | None = None,
    noise: Noise = "clamp",
    batch_size: int = 16,
    prefixes: PrefixCache | None = None,
) -> Callable[..., Tensor]:
    """A callable for `model.generate(**inputs, custom_generate=…)` of an unmodified model.

    The tokens are those of `generate` with the same arguments. Number of new tokens, ends of
    sequence, `do_sample`, temperature, top-k and top-p come from the model's generation
    configuration and the arguments of its `generate`, as do processors that forbid tokens (minimum
    length, bad words, …). A streamer gets nothing: transformers does not hand it on.

    Args:
        processor: what made the inputs, with a `tokenizer` and an `image_processor`; its
            `chat_template`, if it has one, goes before the tokenizer's. Where transformers cannot
            build its own (several need torchvision), `load_model(…).processor` serves.
        images, prompts, method, rewrites, noise, batch_size, prefixes: see `generate`.
        seed: see `generate`. None: each call that samples draws one from torch's generator, as
            sampling in transformers does, so that `torch.manual_seed` sets what it says.

    The callable returns `[batch, length]` token ids, the inputs included, padded on the right.

    Raises:
        ValueError: as `generate`; and, when called, for inputs that are not those of the pictures
            and prompts, or a setting this decoding does not know (beams, penalties, …), by name.
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
        _check_settings(generation_config, logits_processor, stopping_criteria)
        _check_inputs(model, questions, input_ids, inputs.get("attention_mask"))
        eos = generation_config._eos_token_tensor
        how = Decoding(
            method=method,
            max_new_tokens=generation_config.max_length - input_ids.shape[1],
            eos=frozenset() if eos is None else frozenset(eos.tolist()),
            sampling=_sampling(generation_config, seed),
            prefixes=PrefixCache(constants_only=True) if prefixes is None else prefixes,
            forbid=_forbidding(model, input_ids, logits_processor),
        )
        answers = answer_all(model, questions, how, noise, batch_size)
        for error in [each.error for each in answers if each.error]:
            raise FloatingPointError(error)
        written = [[*each.tokens, *([each.end] if each.stopped else [])] for each in answers]
        padding = generation_config._pad_token_tensor
        tail = torch.full(
            (len(written), max(map(len, written))),
            0 if padding is None else int(padding),
            dtype=input_ids.dtype,
        )
        for row, tokens in enumerate(written):
            tail[row, : len(tokens)] = torch.tensor(tokens)
        return torch.cat([input_ids, tail.to(input_ids.device)], dim=1)

    return decode


def _check_settings(config: Any, processors: Sequence[Any], criteria: Sequence[Any]) -> None:
    """Refuse what would silently not be done."""
    mode = config.get_generation_mode().value
    if mode not in ("greedy_search", "sample") or config.num_return_sequences > 1:
        raise ValueError(
            f"The settings ask for {mode} with num_return_sequences="
            f"{config.num_return_sequences}; Self-Critical Inference chooses one token at a time, "
            "greedily or sampled, and gives one answer a question."
        )
    if config.return_dict_in_generate:
        raise ValueError(
            "return_dict_in_generate=True: this decoding returns token ids alone; leave it out, or "
            "call sci_core.generate with return_logits=True for every round's logits."
        )
    known = (*FORBIDDING, *SAMPLING, *STOPPING)
    for argument, given in (("logits_processor", processors), ("stopping_criteria", criteria)):
        for each in given:
            name = type(each).__name__
            if name not in known:
                raise ValueError(
                    f"{ARGUMENTS.get(name, f'{name} in {argument}')} has no place in this "
                    "decoding, which chooses from the score of all rounds; leave it out. It heeds "
                    "the number of new tokens, do_sample, temperature, top_k, top_p, and what "
                    "forbids tokens (min_new_tokens, bad_words_ids, …)."
                )


def _check_inputs(
    model: VisionLanguageModel,
    questions: Sequence[Question],
    input_ids: Tensor,
    attention_mask: Tensor | None,
) -> None:
    """The inputs must be each question's own ids, padding left out (no mask: none is padded)."""
    if len(input_ids) != len(questions):
        raise ValueError(
            f"The inputs have {len(input_ids)} rows, but custom_generate was given "
            f"{len(questions)} pictures and prompts; expected one each, in the same order."
        )
    real = torch.ones_like(input_ids) if attention_mask is None else attention_mask
    for number, question in enumerate(questions):
        row = input_ids[number, real[number].bool()].tolist()
        picture = model.processor.prepare(question.image.convert("RGB"))
        ids = model.processor.token_ids([question.prompt], [picture.ids])[0]
        if ids != row:
            raise ValueError(
                f"Row {number} of the inputs, {len(row)} tokens, is not the chat turn of prompt "
                f"{number} and its picture, which has {len(ids)}, {len(picture.ids)} of them for "
                "the picture. Make the inputs with the same processor, from apply_chat_template "
                "with add_generation_prompt=True, in the same order."
            )


def _sampling(config: Any, seed: int | None) -> dict[str, Any]:
    if not config.do_sample:
        return {"temperature": 0.0}
    return {
        "seed": int(torch.randint(2**63 - 1, ())) if seed is None else seed,
        "temperature": 1.0 if config.temperature is None else float(config.temperature),
        "top_k": config.top_k or None,
        "top_p": config.top_p,
    }


def _forbidding(
    model: VisionLanguageModel, input_ids: Tensor, processors: Sequence[Any]
) -> Callable[[Sequence[int], Sequence[list[int]]], Tensor] | None:
    """Which tokens the processors forbid, found by letting them act on equal scores."""
    forbidding = [each for each in processors if type(each).__name__ in FORBIDDING]
    if not forbidding:
        return None

    def forbid(samples: Sequence[int], tokens: Sequence[list[int]]) -> Tensor:
        written = torch.tensor(tokens, dtype=input_ids.dtype, device=input_ids.device)
        ids = torch.cat([input_ids[list(samples)], written.view(len(samples), -1)], dim=1)
        scores = torch.zeros(len(samples), model.vocab_size, device=input_ids.device)
        for each in forbidding:
            scores = each(ids, scores)
        return (scores == -torch.inf).to(model.device)

    return forbid
