"""Open-vocabulary detectors as answerers (section 4.1): a score of 0.25 or more is a yes.

A detector sees one picture and all objects asked about on it, present and absent together. It has
one prompt, so nothing is averaged. The paper's second detector, Grounding DINO 1.5 Pro, is a
service; what runs here are the open checkpoints of Grounding DINO's class.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import torch

from sci_book.data.catalogue import model_name
from sci_book.data.pictures import PictureError, decode_picture
from sci_book.data.rows import DatasetError
from sci_book.files import json_lines
from sci_book.papers.oric.questions import Question, Said
from sci_core.families.files import hub_settings

THRESHOLD = 0.25
MISSED, INVENTED = 0.2, 0.1
"""Shares of present and of absent objects that the pocket world's detector is wrong about."""


@runtime_checkable
class Detector(Protocol):
    """Whatever finds named objects. `name` stands in tables beside the results."""

    name: str

    def scores(self, picture: Path, objects: Sequence[str]) -> list[float]:
        """The best score of each object on one picture, 0 where there is none, in order.

        Raises:
            PictureError, OSError: if the picture cannot be read.
        """
        ...


def answers(detector: Detector, questions: Sequence[Question], images: str | Path) -> list[Said]:
    """Yes or no to every question, in order; "failed" where the picture cannot be read."""
    targets: dict[str, dict[str, None]] = {}
    for question in questions:
        targets.setdefault(question.image, {})[question.target] = None
    said: dict[tuple[str, str], Said] = {}
    for image, objects in targets.items():
        try:
            scores = detector.scores(Path(images) / image, list(objects))
        except (PictureError, OSError):
            said |= {(image, target): "failed" for target in objects}
            continue
        for target, score in zip(objects, scores, strict=True):
            said[image, target] = "yes" if score >= THRESHOLD else "no"
    return [said[question.image, question.target] for question in questions]


class _Checkpoint:
    """Name, model, image processor and tokenizer: safetensors, float32, no remote code."""

    def __init__(self, path: str):
        from transformers import (
            AutoImageProcessor,
            AutoModelForZeroShotObjectDetection,
            AutoTokenizer,
        )

        self.name = model_name(path)
        self._model = AutoModelForZeroShotObjectDetection.from_pretrained(
            path, dtype=torch.float32, use_safetensors=True, **hub_settings(path)
        ).eval()
        self._images = AutoImageProcessor.from_pretrained(path, **hub_settings(path))
        self._tokenizer = AutoTokenizer.from_pretrained(path, **hub_settings(path))


class Owl(_Checkpoint):
    """A checkpoint of OWLv2's class, asked for "an image of …" as in Figure 9.

    Every box belongs to the one object that fits it best, as in the class's own post-processing.
    """

    def __init__(self, path: str):
        from transformers.models.owlv2.processing_owlv2 import Owlv2Processor

        super().__init__(path)
        self._processor = Owlv2Processor(self._images, self._tokenizer)

    @torch.inference_mode()
    def scores(self, picture: Path, objects: Sequence[str]) -> list[float]:
        """See `Detector.scores`."""
        image = decode_picture(picture.read_bytes())
        prompts = [[f"an image of {target}" for target in objects]]
        inputs = self._processor(images=image, text=prompts, return_tensors="pt", truncation=True)
        outputs = self._model(**inputs)
        (boxes,) = self._processor.post_process_grounded_object_detection(outputs, threshold=0.0)
        best = [0.0] * len(objects)
        for label, score in zip(boxes["labels"].tolist(), boxes["scores"].tolist(), strict=True):
            best[label] = max(best[label], score)
        return best


class GroundingDino(_Checkpoint):
    """A checkpoint of Grounding DINO's class, asked for all objects in one text (Figure 8).

    An object's score is the best over boxes and over the tokens of its own name. The class's own
    post-processing gives phrases of whatever tokens are high, which may join two names or cut one;
    those could not be told apart here.

    Raises:
        ValueError: from `scores`, if the objects' names do not fit into the text model.
    """

    @torch.inference_mode()
    def scores(self, picture: Path, objects: Sequence[str]) -> list[float]:
        """See `Detector.scores`."""
        image = decode_picture(picture.read_bytes())
        # Lower case and a full stop behind every name, as this class was trained.
        names = [re.sub(r"\s*\.\s*", " ", target.lower()).strip() for target in objects]
        text = "".join(f"{name}. " for name in names).strip()
        encoded = self._tokenizer(text, return_offsets_mapping=True, return_tensors="pt")
        offsets = encoded.pop("offset_mapping")[0].tolist()
        longest = self._model.config.max_text_len
        if len(offsets) > longest:
            raise ValueError(
                f"{len(objects)} objects make {len(offsets)} tokens; this detector reads "
                f"{longest}. Ask about fewer at once."
            )
        outputs = self._model(**self._images(image, return_tensors="pt"), **encoded)
        by_token = outputs.logits[0].sigmoid().amax(dim=0)
        best, start = [], 0
        for name in names:
            mine = [
                index for index, (a, b) in enumerate(offsets)
                if a < b and a >= start and b <= start + len(name)
            ]  # fmt: skip
            best.append(float(by_token[mine].max()) if mine else 0.0)
            start += len(name) + 2
        return best


class NoisySceneGraph:
    """The pocket world's detector: a scene graph that misses some objects and invents others.

    Chance belongs to the picture and the object: an answer does not depend on what else is asked.
    """

    def __init__(self, objects: Mapping[str, Sequence[str]]):
        self.name = f"scene graph, {MISSED:.0%} missed, {INVENTED:.0%} invented"
        self._objects = {name: frozenset(kinds) for name, kinds in objects.items()}

    @classmethod
    def of_file(cls, path: str | Path) -> NoisySceneGraph:
        """The detector of the scenes in a file: a JSON line a picture, `file_name` and `things`."""
        objects = {}
        for number, line in enumerate(json_lines(Path(path).read_text(encoding="utf-8")), 1):
            try:
                scene = json.loads(line)
                objects[scene["file_name"]] = [thing["kind"] for thing in scene["things"]]
            except (ValueError, KeyError, TypeError) as error:
                raise DatasetError(
                    f"{path}, line {number}, is no scene; expected a JSON object with file_name "
                    "and things, each with its kind."
                ) from error
        return cls(objects)

    def scores(self, picture: Path, objects: Sequence[str]) -> list[float]:
        """See `Detector.scores`."""
        if picture.name not in self._objects:
            raise FileNotFoundError(f"There is no scene of {picture.name!r}.")
        kinds = self._objects[picture.name]
        scores = []
        for target in objects:
            present = target in kinds
            errs, height = _chance(picture.name, target)
            seen = present != (errs < (MISSED if present else INVENTED))
            low, high = (THRESHOLD, 1.0) if seen else (0.0, THRESHOLD)
            scores.append(low + height * (high - low))
        return scores


def load_detector(path: str) -> Detector:
    """The detector in a folder or behind a hub id: of OWLv2's class or Grounding DINO's."""
    from transformers import AutoConfig

    kind = AutoConfig.from_pretrained(path, **hub_settings(path)).model_type
    classes = {"owlv2": Owl, "grounding-dino": GroundingDino}
    if kind not in classes:
        raise ValueError(
            f"{path} holds a model of the type {kind!r}; expected {' or '.join(classes)}."
        )
    return classes[kind](path)


def _chance(picture: str, target: str) -> tuple[float, float]:
    """Two numbers of [0, 1)."""
    digest = hashlib.sha256(f"0\0{picture}\0{target}".encode()).digest()
    first, second = np.frombuffer(digest[:16], "<u8") >> np.uint64(11)
    return float(first) / 2**53, float(second) / 2**53
