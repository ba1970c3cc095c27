"""Self-Critical Inference: counterfactual decoding for vision-language models.

    from sci_core import SCI5, generate, load_model

    model = load_model("checkpoints/pocket-qwen2vl")
    answers = generate(model, images, prompts, method=SCI5)

Importing it loads torch; transformers follows with the first model.
"""

from sci_core.counterfactuals import counterfactual_image, prefix_rewrite, rewrite
from sci_core.custom_generate import custom_generate
from sci_core.decoding import Answer
from sci_core.engine import start
from sci_core.generate import generate
from sci_core.methods import (
    BASE,
    M3ID,
    METHODS,
    SCI3,
    SCI5,
    SCI7,
    TIE,
    VCD,
    Method,
    method,
    sci,
    scores,
    survivors,
)
from sci_core.models import load_model
from sci_core.prefix_cache import PrefixCache
from sci_core.questions import Question
from sci_core.rounds import Rounds
from sci_core.sampling import choose

__all__ = [
    "BASE",
    "M3ID",
    "METHODS",
    "SCI3",
    "SCI5",
    "SCI7",
    "TIE",
    "VCD",
    "Answer",
    "Method",
    "PrefixCache",
    "Question",
    "Rounds",
    "choose",
    "counterfactual_image",
    "custom_generate",
    "generate",
    "load_model",
    "method",
    "prefix_rewrite",
    "rewrite",
    "sci",
    "scores",
    "start",
    "survivors",
]
