"""The whole method on one page: plain passes of an unmodified transformers model, greedy.

Read this first. `sci_core.generate` chooses the same tokens, and a test compares them; it reads
what rounds share once, answers batches, samples, and applies a checkpoint's own penalties. Here
every round of every step is a pass of its own::

    model = sci_core.load_model("checkpoints/pocket-qwen2vl")
    tokens = decode(model.hf, model.processor, image, "Is there a boat? Please answer yes or no.")
    print(model.tokenizer.decode(tokens))

The notation is the paper's: ``v0`` the picture and ``q0`` the prompt; ``q1 .. qN`` the prompt in
other words, ``v1 .. vM`` dummy pictures; ``Z(v, q)`` the raw logits of the next token.
"""

import math
from inspect import signature
from typing import Any, Literal

import torch
from PIL import Image
from torch import Tensor

from sci_core.counterfactuals import counterfactual_image, find_dummy, reword, shrinks
from sci_core.images import prepare_image


@torch.no_grad()
def decode(
    model: Any,
    processor: Any,
    image: Image.Image,
    prompt: str,
    equation: Literal["sci", "vcd", "tie", "m3id", "icd", "vdd", "mean", "base"] = "sci",
    textual: tuple[str, ...] = ("V1", "V2"),
    visual: tuple[str, ...] = ("black", "noise500"),
    tau1: float = 2.0,
    tau2: float = 0.2,
    beta: float = 0.3,
    alpha: float = 1.0,
    max_new_tokens: int = 8,
) -> list[int]:
    """Answer a prompt about an image: the chosen token ids, without the end of sequence.

    By default SCI5. The baselines have no textual round, one visual round and ``tau1 = 1``.

    Args:
        model: as `AutoModelForImageTextToText` loads it.
        processor: of `load_model`, which makes token ids and pixels as `AutoProcessor` does.
        textual: rounds with the prompt in other words, ``q1 .. qN``.
        visual: rounds with a dummy picture, ``v1 .. vM``.
        tau1: temperature of TC.
        tau2: temperature of VC.
        beta: ratio of the plausibility constraint; 0 switches it off.
        alpha: weight of VCD's contrast.
    """
    N = len(textual)

    # The rounds, a prompt and a picture each: the original, the rewordings, the dummies.
    v0 = prepare_image(image)
    picture = processor.prepare(v0)
    rounds = [(prompt, picture)]
    for name in textual:
        rounds.append((reword(prompt, name), picture))
    for name in visual:
        if (words := find_dummy(name)[0].words) is not None:  # in the picture's place
            rounds.append((prompt, processor.words_for_picture(words)))
            continue
        # Noise is added to the picture at the size at which the model reads it.
        dummy = counterfactual_image(v0, name, as_read=processor.as_read)
        rounds.append((prompt, processor.prepare(dummy, read_before=not shrinks(name))))
    prompts = processor.token_ids([text for text, _ in rounds], [seen.ids for _, seen in rounds])
    text_tokens = len(prompts[0]) - len(picture.ids)

    ends = model.generation_config.eos_token_id
    ends = processor.tokenizer.eos_token_id if ends is None else ends
    ends = ends if isinstance(ends, list) else [ends]

    tokens: list[int] = []
    for step in range(max_new_tokens):
        # The tokens chosen so far follow the prompt of every round.
        Z = torch.stack(
            [
                next_logits(model, [*ids, *tokens], seen)
                for ids, (_, seen) in zip(prompts, rounds, strict=True)
            ]
        )
        Z0 = Z[0]
        said = Z[: 1 + N]
        TC = said.mean(dim=0) if equation == "mean" else said.amax(dim=0)  # equation 6
        VC = Z0 - Z[1 + N :].mean(dim=0) if visual else torch.zeros_like(Z0)  # equation 7

        if equation == "base":
            score = Z0
        elif equation == "tie":
            score = VC  # equation 1
        elif equation in ("vcd", "icd", "vdd"):
            score = (1 + alpha) * Z0 - alpha * Z[1:].mean(dim=0)  # equation 3
        elif equation == "m3id":
            t = text_tokens + step
            score = Z0 + (math.exp(0.02 * t) - 1) * VC  # section 4.2: (1 - g) / g, g = exp(-0.02 t)
        elif equation in ("sci", "mean"):
            score = TC / tau1 + VC / tau2  # equation 5
        else:
            raise ValueError(
                f"equation {equation!r}; expected sci, vcd, tie, m3id, icd, vdd, mean or base"
            )

        # What is implausible beside the best token is dropped: equations 9 and 11.
        if equation != "base" and beta > 0:
            deciding = Z0 if equation == "icd" else TC / tau1  # not by a disturbed prompt
            implausible = deciding < deciding.max() + math.log(beta)
            score = score.masked_fill(implausible, -math.inf)

        token = int(score.argmax())  # the first maximum: the lowest id among ties
        if token in ends:  # all rounds stop together
            break
        tokens.append(token)
    return tokens


def next_logits(model: Any, ids: list[int], picture: Any) -> Tensor:
    """Raw logits ``[vocab]`` of the token that follows `ids`, which hold the picture's own."""
    inputs = {name: value.to(model.device) for name, value in picture.inputs.items()}
    inputs["input_ids"] = torch.tensor([ids], device=model.device)
    inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
    if "mm_token_type_ids" in signature(model.forward).parameters:  # 1 at image tokens
        inputs["mm_token_type_ids"] = (inputs["input_ids"] == model.config.image_token_id).int()
    return model(**inputs, use_cache=False).logits[0, -1].to(torch.float64)
