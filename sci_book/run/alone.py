"""A model's answers under each input that the conditions name, and under no method.

Apart from `conditions`, which measures records without loading what reads a model.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sci_book.data.datasets import Dataset
from sci_book.results.records import Records
from sci_book.run import conditions
from sci_book.run.runner import evaluate
from sci_core.families.models import VisionLanguageModel


def read_alone(
    model: VisionLanguageModel, dataset: Dataset, out: Path, spec: Mapping, **settings: Any
) -> Records:
    """Records of a data set under every input the conditions name, and under no method.

    Dummies are the published code's: noise that wraps (`counterfactuals.counterfactual_image`).
    `settings` go to `evaluate`. A run that was cut off goes on where it stopped.
    """
    fixed = {"rounds": conditions.inputs(spec), "noise": "wrap", "record": "answers"}
    return evaluate(model, dataset, [], out, **fixed, **settings)
