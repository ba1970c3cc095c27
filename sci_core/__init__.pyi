from .counterfactuals import counterfactual_image, prefix_rewrite, reword, rewrite
from .custom_generate import custom_generate
from .engine.decoding import Answer
from .engine.engine import start
from .engine.questions import Question
from .engine.rounds import Rounds
from .families.models import load_model
from .families.prefix_cache import PrefixCache
from .generate import generate
from .images import prepare_image
from .methods import (
    BASE,
    M3ID,
    METHODS,
    SCI3,
    SCI5,
    SCI5_LITE,
    SCI7,
    TIE,
    VCD,
    Method,
    method,
    sci,
)
from .sampling import choose
from .scoring import scores, survivors

__all__ = [
    "BASE",
    "M3ID",
    "METHODS",
    "SCI3",
    "SCI5",
    "SCI5_LITE",
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
    "prepare_image",
    "reword",
    "rewrite",
    "sci",
    "scores",
    "start",
    "survivors",
]
