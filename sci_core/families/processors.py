"""From prompts and pictures to what a model takes: token ids, and preprocessed pixels.

A processor has no weights, so that it can work in other threads ahead of the model. It is never
built through `AutoProcessor`, which for some families needs torchvision for videos.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from PIL import Image
from torch import Tensor

from sci_core.families.files import first_line
from sci_core.families.templates import default_template

_TAKES_PICTURES = (
    "It may be the language model's own, which takes text alone: use a checkpoint whose template "
    "takes pictures, or set tokenizer.chat_template to one that does."
)


@dataclass(frozen=True)
class Picture:
    """A preprocessed picture.

    Attributes:
        inputs: tensors by name, as a plain pass of the model takes them for this picture alone
            (Qwen2-VL: `pixel_values [patches, values]`, `image_grid_thw [1, 3]`).
        tokens: how many image tokens it has.
        ids: what stands for it in a prompt: the image tokens, and in some families marks.
        layout: by name, what counts of an input where not all of it does (see `content`).
    """

    inputs: Mapping[str, Tensor]
    tokens: int
    ids: tuple[int, ...] = ()
    layout: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @cached_property
    def content(self) -> bytes:
        """A hash of all that its features and its tokens follow from."""
        digest = hashlib.sha256(repr((self.ids, sorted(self.layout.items()))).encode())
        for name in sorted({*self.inputs} - {*self.layout}):
            values = self.inputs[name].contiguous()
            digest.update(f"{name} {values.dtype} {tuple(values.shape)}".encode())
            digest.update(values.numpy().data)
        return digest.digest()


@dataclass(eq=False)
class Processor:
    """Tokenizer, image processor and configuration of a checkpoint, and how its family uses them.

    `family` is a class of `adapters`; `chat_template` takes the place of the tokenizer's own.
    `contents` is `Picture.content` of constant pictures by the image processor's settings, then by
    name and size.
    """

    tokenizer: Any
    image_processor: Any
    config: Any
    family: Any
    chat_template: str | Mapping[str, str] | None = None
    contents: dict[str, dict[tuple, bytes]] = field(default_factory=dict, init=False, repr=False)

    @property
    def settings(self) -> str:
        """The image processor's settings as they are now, for they may be changed in place."""
        return repr(getattr(self.image_processor, "__dict__", None))

    def as_read(self, image: Image.Image) -> Image.Image:
        """Return the RGB picture at the size at which the model reads it.

        In families that cut pictures into tiles or squares, the picture as it is.
        """
        size = self.family.size_as_read(self.image_processor, image.size)
        return image if size == image.size else image.resize(size, self.image_processor.resample)

    def prepare(self, image: Image.Image, read_before: bool = False) -> Picture:
        """Run the image processor on one RGB picture that `check_image` accepts.

        `read_before`: the picture is one of `as_read`, which is not resized again.
        """
        family = self.family
        settings = dict(family.image_settings)
        if read_before and family.resizes_once:
            settings["do_resize"] = False
        output = self.image_processor(images=[image], return_tensors="pt", **settings)
        tokens = family.image_tokens(self.config, output)
        ids = family.picture_ids(self.tokenizer, self.config, output, tokens)
        known = self.image_processor.model_input_names
        inputs = {name: output[name] for name in known if name in output}
        return Picture(inputs, tokens, tuple(ids), family.layout(self.config, output))

    def words_for_picture(self, words: str) -> Picture:
        """Return what stands in a picture's place where none is shown: words, and no image tokens.

        "<unk>" is the tokenizer's unknown token, if it has one.
        """
        unknown = self.tokenizer.unk_token_id if words == "<unk>" else None
        ids = self.tokenizer(words, add_special_tokens=False)["input_ids"]
        return Picture({}, 0, tuple(ids if unknown is None else [unknown]))

    def token_ids(
        self, prompts: Sequence[str], pictures: Sequence[Sequence[int]]
    ) -> list[list[int]]:
        """Encode each chat turn "picture, then prompt", with the `ids` of the picture in its place.

        Raises ValueError for a prompt that holds a placeholder of its own.
        """
        turns = [self._chat_turn(prompt) for prompt in prompts]
        bos = self.tokenizer.bos_token
        encoded = self.tokenizer(
            turns,
            add_special_tokens=not (bos and turns[0].startswith(bos)),
            return_attention_mask=False,
        )["input_ids"]
        return [
            self._with_picture(ids, picture, prompt)
            for ids, picture, prompt in zip(encoded, pictures, prompts, strict=True)
        ]

    def _chat_turn(self, prompt: str) -> str:
        template = self.chat_template
        template = self.tokenizer.chat_template if template is None else template
        if template is None:
            raise ValueError(
                "The tokenizer has no chat template, so that no prompt can be put into the form "
                "the model was trained on; set tokenizer.chat_template."
            )
        template = default_template(template, "The processor")
        content = [{"type": "image"}, {"type": "text", "text": prompt}]
        try:
            return self.tokenizer.apply_chat_template(
                [{"role": "user", "content": content}],
                chat_template=template,
                add_generation_prompt=True,
                tokenize=False,
            )
        except ImportError:
            raise
        except Exception as error:  # a template is a program
            raise ValueError(
                "The chat template of the checkpoint cannot write a turn of a picture and a text "
                f"({first_line(error)}). {_TAKES_PICTURES}"
            ) from error

    def _with_picture(self, ids: list[int], picture: Sequence[int], prompt: str) -> list[int]:
        image_token = self.config.image_token_id
        places = [place for place, token in enumerate(ids) if token == image_token]
        if len(places) != 1:
            placeholder = self.tokenizer.convert_ids_to_tokens(image_token)
            if str(placeholder) not in prompt:
                raise ValueError(
                    f"The chat template of the checkpoint writes {len(places)} image placeholders "
                    f"{placeholder!r} for one picture, expected exactly 1. {_TAKES_PICTURES}"
                )
            raise ValueError(
                f"The chat turn holds {len(places)} image placeholders {placeholder!r}, expected "
                f"exactly 1. Remove the placeholder from the prompt {prompt!r}: the chat template "
                "of the checkpoint puts it there."
            )
        place = places[0]
        whole = [*ids[:place], *picture, *ids[place + 1 :]]
        last, embedded = max(whole), self.config.get_text_config().vocab_size
        if last >= embedded:
            raise ValueError(
                f"The tokenizer writes {self.tokenizer.convert_ids_to_tokens(last)!r} as token "
                f"{last}, but the model has embeddings for {embedded} tokens alone "
                "(vocab_size in its config.json). Use the tokenizer that belongs to the weights, "
                "or resize the embeddings and save the model again."
            )
        return whole
