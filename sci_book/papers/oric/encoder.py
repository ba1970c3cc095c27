"""Image–text encoders: pictures and texts as vectors of length one, so that products are cosines.

`ClipEncoder` reads any checkpoint of CLIP's or SigLIP's classes; `Stored` holds what an encoder
once said, in one safetensors file, so that a large model runs once for each picture.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from PIL import Image
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from torch import Tensor

from sci_book.data.pictures import PictureError, decode_picture
from sci_book.data.rows import DatasetError
from sci_book.files import json_text
from sci_core.families.files import hub_settings
from sci_core.families.models import without_bars

BATCH = 32  # pictures or texts in one pass
_LONGEST_TEXT = 64  # tokens, SigLIP's; texts here are a few words


@runtime_checkable
class Encoder(Protocol):
    """Pictures and texts as unit vectors of one space, float32 `[items, width]`."""

    def images(self, files: Sequence[Path]) -> np.ndarray:
        """One row a picture's file, in order; NaN for a file that is no picture."""
        ...

    def texts(self, texts: Sequence[str]) -> np.ndarray:
        """One row a text, in order."""
        ...


class ClipEncoder:
    """A checkpoint (folder or hub id) of CLIP's or SigLIP's classes: float32, no remote code.

    Every picture and every text is encoded as if alone: batches change the last digits at most.
    """

    def __init__(self, path: str | Path):
        from transformers import AutoImageProcessor, AutoModel, AutoTokenizer

        path = str(path)
        with without_bars() if Path(path).is_dir() else nullcontext():
            self._model = AutoModel.from_pretrained(
                path, dtype=torch.float32, use_safetensors=True, **hub_settings(path)
            )
        self._model = self._model.eval()
        for needed in ("get_image_features", "get_text_features"):
            if not hasattr(self._model, needed):
                raise ValueError(
                    f"{path} holds a {type(self._model).__name__}, which encodes no pictures "
                    "beside texts; expected a checkpoint of CLIP's or SigLIP's classes."
                )
        self._processor = AutoImageProcessor.from_pretrained(path, **hub_settings(path))
        self._tokenizer = AutoTokenizer.from_pretrained(path, **hub_settings(path))
        # SigLIP reads a text from its last place and was trained with texts of one length.
        self._padding = "max_length" if self._model.config.model_type.startswith("siglip") else True
        self._longest = min(self._model.config.text_config.max_position_embeddings, _LONGEST_TEXT)

    def images(self, files: Sequence[Path]) -> np.ndarray:
        """See `Encoder.images`."""
        rows = []
        for start in range(0, len(files), BATCH):
            pictures = [_picture(file) for file in files[start : start + BATCH]]
            filled = [picture or Image.new("RGB", (32, 32)) for picture in pictures]
            inputs = self._processor(filled, return_tensors="pt").to(self._model.device)
            with torch.inference_mode():
                vectors = _unit(self._model.get_image_features(**inputs))
            vectors[[picture is None for picture in pictures]] = np.nan
            rows.append(vectors)
        return np.concatenate(rows) if rows else np.empty((0, 0), np.float32)

    def texts(self, texts: Sequence[str]) -> np.ndarray:
        """See `Encoder.texts`."""
        rows = []
        for start in range(0, len(texts), BATCH):
            inputs = self._tokenizer(
                list(texts[start : start + BATCH]), return_tensors="pt",
                padding=self._padding, truncation=True, max_length=self._longest,
            ).to(self._model.device)  # fmt: skip
            known = {key: inputs[key] for key in ("input_ids", "attention_mask") if key in inputs}
            with torch.inference_mode():
                rows.append(_unit(self._model.get_text_features(**known)))
        return np.concatenate(rows) if rows else np.empty((0, 0), np.float32)


class Stored:
    """Vectors that were computed before, by the name of a picture's file and by text.

    Raises:
        ValueError: if the vectors are not finite, all of one width, and none of length zero.
    """

    def __init__(self, pictures: dict[str, np.ndarray], texts: dict[str, np.ndarray]):
        widths = {vector.shape for part in (pictures, texts) for vector in part.values()}
        if len(widths) > 1 or any(len(shape) != 1 for shape in widths):
            raise ValueError(f"Vectors of one width are expected; got the shapes {sorted(widths)}.")
        self._parts = {
            "pictures": {key: _normed(vector, key) for key, vector in pictures.items()},
            "texts": {key: _normed(vector, key) for key, vector in texts.items()},
        }

    def images(self, files: Sequence[Path]) -> np.ndarray:
        """See `Encoder.images`; a `LookupError` names a picture without a vector."""
        return self._look_up("pictures", [Path(file).name for file in files])

    def texts(self, texts: Sequence[str]) -> np.ndarray:
        """See `Encoder.texts`; a `LookupError` names a text without a vector."""
        return self._look_up("texts", texts)

    def save(self, path: str | Path) -> None:
        """Write the vectors as safetensors; the header has all names as JSON under `names`."""
        tensors = {
            p: np.stack(list(vectors.values())) for p, vectors in self._parts.items() if vectors
        }
        names = {p: list(vectors) for p, vectors in self._parts.items()}
        # One entry, because the order of several differs from run to run.
        save_file(tensors, path, metadata={"names": json_text(names, ensure_ascii=False)})

    @classmethod
    def load(cls, path: str | Path) -> Stored:
        """Read what `save` wrote; a `DatasetError` where there is no such file."""
        try:
            with safe_open(path, "np") as file:
                names = json.loads((file.metadata() or {})["names"])
                parts = []
                for part in ("pictures", "texts"):
                    vectors = file.get_tensor(part) if names[part] else []
                    parts.append(dict(zip(names[part], vectors, strict=True)))
            return cls(*parts)
        except (OSError, KeyError, ValueError, TypeError, SafetensorError) as error:
            raise DatasetError(
                f"{path} holds no vectors of pictures and texts ({error}); expected a file that "
                "Stored.save wrote."
            ) from error

    def _look_up(self, part: str, names: Sequence[str]) -> np.ndarray:
        known = self._parts[part]
        missing = [name for name in names if name not in known]
        if missing:
            raise LookupError(
                f"{len(missing)} of {len(names)} {part} have no vector here, {missing[0]!r} among "
                "them; encode them too."
            )
        return np.stack([known[name] for name in names]) if names else np.empty((0, 0), np.float32)


def clip_score(image: np.ndarray, text: np.ndarray) -> np.ndarray | np.floating:
    """Equation (1): 100 times the cosine, of unit vectors `[..., width]` in pairs."""
    return 100 * (image * text).sum(axis=-1)


def _picture(file: Path) -> Image.Image | None:
    try:
        return decode_picture(Path(file).read_bytes())
    except (OSError, PictureError):
        return None


def _unit(output: Tensor | tuple | object) -> np.ndarray:
    features = output if isinstance(output, Tensor) else output.pooler_output
    return torch.nn.functional.normalize(features.float(), dim=-1).cpu().numpy()


def _normed(vector: np.ndarray, key: str) -> np.ndarray:
    vector = np.asarray(vector, dtype=np.float32)
    length = float(np.linalg.norm(vector))
    if not np.isfinite(length) or length == 0:
        raise ValueError(f"The vector of {key!r} has the length {length}; it points nowhere.")
    return vector if abs(length - 1) < 1e-6 else vector / length  # what was stored stays as it is
