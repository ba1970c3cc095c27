"""The pocket twin of ORIC's source: annotated scenes in COCO's format, their boxes as drawn.

Two splits, as ORIC has them: pictures to ask about, and pictures that teach what goes with what.
Beside the annotations lie the pictures, each scene as a perfect detector would report it, and an
encoder's vectors, read off the scene: an absent kind scores the higher the more the picture looks
like its home.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save

from sci_book.files import write_whole
from sci_book.pocket.draw import SIZE, boxes, png
from sci_book.pocket.lock import is_drawn
from sci_book.pocket.what_if import detections
from sci_book.pocket.world import KINDS, LIGHTS, PLACES, WORLD, Lot, Scene, sample_scene

SPLITS = {"val": 3_000, "train": 3_000}
"""Pictures of each split."""
PICTURES = "images"  # the folder of both splits' pictures

_SEEDS = {"val": WORLD + 7, "train": WORLD + 8}  # next to those of the other twins
_LOT = Lot(skew=0.75, kinds=5, dim=0.2, sign=0.0)
_NAMES = {"annotations": "instances_{}.json", "scenes": "scenes_{}.jsonl",
          "vectors": "vectors_{}.safetensors", "stamp": "made_{}.json"}  # fmt: skip


def scene(split: str, seed: int, number: int) -> Scene:
    """Scene number `number` of a split; it depends on these three alone."""
    return sample_scene(np.random.default_rng([_SEEDS[split], seed, number]), _LOT)


def picture_name(split: str, number: int) -> str:
    """The file's name of a picture."""
    return f"pocket_{split}_{number:06d}.png"


def annotations(split: str, scenes: Sequence[Scene]) -> dict[str, Any]:
    """Scenes as COCO annotates instances.

    A box is what the thing covers, outline included, shadow and halo left out: left, top, width
    and height in pixels; its area is the box's, because no segment is given.
    """
    ids = {kind: number for number, kind in enumerate(KINDS, start=1)}
    entries: list[dict[str, Any]] = []
    for number, view in enumerate(scenes):
        for thing, (left, top, right, bottom) in zip(view.things, boxes(view), strict=True):
            width, height = right - left, bottom - top
            entries.append(
                {
                    "id": len(entries) + 1,
                    "image_id": number,
                    "category_id": ids[thing.kind],
                    "bbox": [left, top, width, height],
                    "area": width * height,
                    "iscrowd": 0,
                }
            )
    return {
        "info": {"description": f"the pocket world, {split}"},
        "images": [
            {"id": number, "file_name": picture_name(split, number), "width": SIZE, "height": SIZE}
            for number in range(len(scenes))
        ],
        "annotations": entries,
        "categories": [{"id": number, "name": kind} for kind, number in ids.items()],
    }


def picture_vector(scene: Scene) -> np.ndarray:
    """Where a scene is, in what light, and what is there, float32 of length one."""
    kinds = [float(kind in scene.kinds) for kind in KINDS]
    places = [2.0 * (place == scene.place) for place in PLACES]
    lights = [0.5 * (light == scene.light) for light in LIGHTS]
    return _unit([*places, *kinds, *lights])


def kind_vector(kind: str) -> np.ndarray:
    """What a kind is and where it is at home, float32 of length one."""
    homes = [1.0 * (place in KINDS[kind].places) for place in PLACES]
    return _unit([*homes, *(1.5 * (kind == other) for other in KINDS), *(0.0 for _ in LIGHTS)])


def write(
    folder: str | Path,
    *,
    seed: int = 0,
    sizes: dict[str, int] = SPLITS,
    say: Callable[[str], None] = print,
) -> dict[str, Path]:
    """Draw and write the splits that are not there; the paths of their annotations.

    Args:
        sizes: how many pictures of each split.

    Raises:
        ValueError: if the folder holds a split of another seed or size.
    """
    folder = Path(folder)
    written = {}
    for split, size in sizes.items():
        paths = {part: folder / name.format(split) for part, name in _NAMES.items()}
        written[split] = paths["annotations"]
        stamp = json.dumps({"seed": seed, "size": size})
        what = f"split {split}"
        if is_drawn(paths["annotations"], paths["stamp"], stamp, what, "that split"):
            continue
        say(f"drawing {size:,} scenes of the split {split}")
        scenes = write_pictures(folder, split, range(size), seed=seed)
        write_whole(paths["stamp"], stamp.encode())
        write_whole(paths["annotations"], json.dumps(annotations(split, scenes)).encode())
    return written


def write_pictures(
    folder: str | Path, split: str, numbers: Sequence[int], *, seed: int = 0
) -> list[Scene]:
    """Draw some scenes of a split; what lies beside the annotations, and the scenes.

    Args:
        numbers: of the scenes; a picture's name has its number.
    """
    folder = Path(folder)
    (folder / PICTURES).mkdir(parents=True, exist_ok=True)
    scenes = [scene(split, seed, number) for number in numbers]
    names = [picture_name(split, number) for number in numbers]
    for name, view in zip(names, scenes, strict=True):
        (folder / PICTURES / name).write_bytes(png(view))
    reports = [
        json.dumps({"file_name": name, **detections(view)})
        for name, view in zip(names, scenes, strict=True)
    ]
    texts = [f"an image contains {kind}" for kind in KINDS]
    vectors = {
        "pictures": np.stack([picture_vector(view) for view in scenes]),
        "texts": np.stack([kind_vector(kind) for kind in KINDS]),
    }
    # One entry, because the order of several differs from run to run.
    header = {"names": json.dumps({"encoder": "scene graph", "pictures": names, "texts": texts})}
    write_whole(folder / _NAMES["vectors"].format(split), save(vectors, metadata=header))
    write_whole(folder / _NAMES["scenes"].format(split), ("\n".join(reports) + "\n").encode())
    return scenes


def vectors_path(annotations: Path) -> Path:
    """Where the vectors of a split lie, beside its annotations."""
    return annotations.with_name(
        annotations.name.replace("instances_", "vectors_").replace(".json", ".safetensors")
    )


def _unit(values: Sequence[float]) -> np.ndarray:
    vector = np.array(values, dtype=np.float64)
    return (vector / np.linalg.norm(vector)).astype(np.float32)
