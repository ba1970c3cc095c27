"""Self-critical inference as a model of lmms-eval, found by it through its entry point.

    lmms-eval --model sci --model_args pretrained=CHECKPOINT,method=SCI5 --batch_size 16 --tasks …

Written for lmms-eval 0.7: a "simple" model, which is asked a text and its pictures.
"""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn

from PIL import Image

try:
    from accelerate import Accelerator
    from lmms_eval.api.instance import Instance
    from lmms_eval.api.model import lmms
    from lmms_eval.models.registry_v2 import ModelManifest
except ImportError as error:
    raise ImportError(
        f"lmms-eval cannot be imported ({error}); install it with `pip install lmms-eval`."
    ) from error

from sci_book.integrations.rewording import Rewording, Unknown
from sci_core.families.models import load_model
from sci_core.generate import generate
from sci_core.methods import method as named_method

MANIFEST = ModelManifest(
    model_id="sci", simple_class_path="sci_book.integrations.lmms_eval.SelfCritical"
)

MAX_NEW_TOKENS = 128
"""Where a task sets none: what lmms-eval's own models take."""

_READ = {"max_new_tokens", "temperature", "top_k", "top_p", "do_sample", "num_beams", "until"}


class SelfCritical(lmms):
    """Any supported checkpoint under any method of this library.

    Args:
        pretrained: a checkpoint folder or hub id.
        method: a name that `sci_core.method` reads, such as "SCI5" or "base".
        rewrites: a YAML table of the user's own rewrites; see `rewording.Rewording`.
        unknown: what becomes of a prompt without a known instruction: "prefix", "refuse" or
            "unchanged".
        noise: as in `generate`.
        dtype, attn_implementation, quantization, device_map, min_pixels, max_pixels: as in
            `load_model`; by default the checkpoint's own dtype. The paper's Qwen2-VL had
            min_pixels=1003520 and max_pixels=12845056.
        batch_size: questions at a time. lmms-eval says 1 unless told; with more, questions on one
            picture share what it gives.
        device: by default the process's own, under `accelerate launch`. Not used with a
            `device_map`, for lmms-eval names a device whether asked for one or not.
    """

    is_simple = True

    def __init__(
        self,
        pretrained: str,
        method: str = "SCI5",
        rewrites: str | Path | None = None,
        unknown: Unknown = "prefix",
        noise: Literal["clamp", "wrap", "normalized"] = "wrap",
        dtype: str = "auto",
        batch_size: int | str = 16,
        device: str | None = None,
        attn_implementation: str = "sdpa",
        quantization: str | None = None,
        device_map: str | None = None,
        min_pixels: int | str | None = None,
        max_pixels: int | str | None = None,
    ):
        super().__init__()
        if not str(batch_size).isdecimal():
            raise ValueError(f"batch_size is {batch_size!r}; expected a number of questions.")
        self.batch_size = int(batch_size)
        self.accelerator = Accelerator()
        self._rank = self.accelerator.process_index
        self._world_size = self.accelerator.num_processes
        self.method, self.noise = named_method(method), noise
        self.reworded = Rewording(self.method, rewrites, unknown)
        self.model = load_model(
            pretrained,
            dtype=dtype,
            device=None if device_map else device or self.accelerator.device,
            attn_implementation=attn_implementation,
            quantization=quantization,
            device_map=device_map,
            min_pixels=None if min_pixels is None else int(min_pixels),
            max_pixels=None if max_pixels is None else int(max_pixels),
        )

    def generate_until(self, requests: list[Instance]) -> list[str]:
        """The answers, in order. Requests of like settings are one call, and so share pictures.

        Raises RuntimeError for logits that are not finite, naming the question: the tool scores
        every text it gets, so that a failed question would count as a wrong one.
        """
        asked = [self._question(*request.args) for request in requests]
        settings = [_settings(request.args[1]) for request in requests]
        unread = sorted({name for request in requests for name in request.args[1]} - _READ)
        if unread:
            warnings.warn(
                f"The model `sci` does not read these settings of the task: {', '.join(unread)}.",
                RuntimeWarning,
                stacklevel=2,
            )
        answers = [""] * len(requests)
        for shared in {repr(setting): setting for setting in settings}.values():
            places = [place for place, setting in enumerate(settings) if setting == shared]
            images, prompts = zip(*(asked[place] for place in places), strict=True)
            generated = generate(
                self.model,
                images,
                prompts,
                self.method,
                rewrites=self.reworded(prompts),
                noise=self.noise,
                batch_size=self.batch_size,
                **{name: value for name, value in shared.items() if name != "until"},
            )
            for place, answer in zip(places, generated, strict=True):
                if answer.error:
                    task, document = requests[place].args[4], requests[place].args[3]
                    raise RuntimeError(
                        f"Task {task}, document {document} ({asked[place][1][:80]!r}) has no "
                        f"answer: {answer.error}."
                    )
                answers[place] = _cut(answer.text, shared["until"])
        return answers

    def loglikelihood(self, requests: list[Instance]) -> NoReturn:
        """Refused: a contrast of rounds chooses tokens and gives no text a probability."""
        raise NotImplementedError(
            "The model `sci` chooses tokens and gives no log-likelihoods; use tasks whose "
            "output_type is generate_until."
        )

    def generate_until_multi_round(self, requests: list[Instance]) -> NoReturn:
        """Refused: the rounds of a method ask one turn about one picture."""
        raise NotImplementedError(
            "The model `sci` answers one turn about one picture, not several turns; use tasks "
            "whose output_type is generate_until."
        )

    def _question(
        self, context: str, _: Mapping, doc_to_visual: Any, doc_id: int, task: str, split: str
    ) -> tuple[Image.Image, str]:
        pictures = doc_to_visual(self.task_dict[task][split][doc_id]) or []
        pictures = pictures[0] if len(pictures) == 1 and isinstance(pictures[0], list) else pictures
        if len(pictures) != 1 or not isinstance(pictures[0], Image.Image):
            kinds = ", ".join(type(picture).__name__ for picture in pictures) or "nothing"
            raise ValueError(
                f"Task {task}, document {doc_id} shows {kinds}; the model `sci` answers questions "
                "about one picture each. Use tasks with one picture a question."
            )
        # The picture comes first, wherever the task marks it, as in lmms-eval's own models.
        return pictures[0], context.replace("<image>", "")


def _settings(task_settings: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of `generate`, and the texts that end an answer, from a task's settings."""
    beams = task_settings.get("num_beams") or 1
    if beams != 1:
        raise ValueError(
            f"num_beams is {beams}; the model `sci` follows one beam. Set --gen_kwargs num_beams=1."
        )
    until = task_settings.get("until") or []
    settings: dict[str, Any] = {
        "max_new_tokens": task_settings.get("max_new_tokens") or MAX_NEW_TOKENS,
        "until": [until] if isinstance(until, str) else list(until),
    }
    # Without a temperature, or with sampling switched off, lmms-eval means greedy decoding.
    temperature = float(task_settings.get("temperature") or 0.0)
    if temperature > 0 and task_settings.get("do_sample", True):
        settings |= {
            "temperature": temperature,
            "top_k": task_settings.get("top_k"),
            "top_p": task_settings.get("top_p"),
        }
    return settings


def _cut(text: str, until: Sequence[str]) -> str:
    """The text before the first of the texts that end an answer."""
    return text[: min((text.find(end) for end in until if end and end in text), default=None)]
