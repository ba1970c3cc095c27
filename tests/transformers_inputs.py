"""Questions as transformers' own processors make them, and answers as its `generate` does."""

from types import SimpleNamespace

import torch


def processor_of(model):
    return SimpleNamespace(
        tokenizer=model.tokenizer, image_processor=model.processor.image_processor
    )


def inputs_of(model, images, prompts, side="left"):
    """What a processor of transformers makes of a batch: padded ids and pixels."""
    pictures = [model.processor.prepare(image.convert("RGB")) for image in images]
    ids = model.processor.token_ids(prompts, [picture.ids for picture in pictures])
    padded = model.tokenizer.pad({"input_ids": ids}, return_tensors="pt", padding_side=side)
    inputs = {name: padded[name] for name in ("input_ids", "attention_mask")}
    if model.family == "qwen2_vl":
        inputs["mm_token_type_ids"] = (inputs["input_ids"] == model.image_token_id).int()
        for name in ("pixel_values", "image_grid_thw"):
            inputs[name] = torch.cat([picture.inputs[name] for picture in pictures])
    else:
        tiles = max(picture.inputs["pixel_values"].shape[1] for picture in pictures)
        inputs["pixel_values"] = torch.cat(
            [
                torch.nn.functional.pad(values, (0, 0) * 3 + (0, tiles - values.shape[1]))
                for values in (picture.inputs["pixel_values"] for picture in pictures)
            ]
        )
        inputs["image_sizes"] = torch.cat([picture.inputs["image_sizes"] for picture in pictures])
    return inputs


def written(model, inputs, **how):
    """The new tokens of each row, up to the end of sequence."""
    ids = model.hf.generate(**inputs, **how)
    start = inputs["input_ids"].shape[1]
    assert torch.equal(ids[:, :start], inputs["input_ids"])
    rows = []
    for row in ids[:, start:].tolist():
        ends = [place for place, token in enumerate(row) if token in model.eos_token_ids]
        rows.append(row[: ends[0] + 1] if ends else row)
        assert set(row[len(rows[-1]) :]) <= {model.tokenizer.pad_token_id}
    return rows


def expected(answers):
    return [[*answer.tokens, *([answer.end] if answer.stopped else [])] for answer in answers]
