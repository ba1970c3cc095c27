"""Short answers drawn at temperature 1: how often each is right, where no expectation is exact.

An answer of one token has an exact expectation (`controls.sampled`). A short one may have several
tokens, so it is drawn, once a seed.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from sci_book.data.answers import rules
from sci_book.data.prompts import build_prompt
from sci_book.data.rows import Row
from sci_book.run.layout import NEW_TOKENS
from sci_book.run.provenance import revision
from sci_core import PrefixCache, generate
from sci_core.families.models import VisionLanguageModel
from sci_core.methods import Method

SEEDS = 20


def draws(
    model: VisionLanguageModel, rows: Iterable[Row], methods: Sequence[Method]
) -> pd.DataFrame:
    """The share of draws that is right, of every row with a short answer: a column a method.

    Columns `dataset` and `index` name the row as in records, `revision` the model. Of `SEEDS` draws
    each; what a row draws depends on its place among the rows, too.
    """
    asked = [row for row in rows if row.question_type == "short"]
    pictures = [row.image() for row in asked]
    prompts = [build_prompt(row, model.family) for row in asked]
    truths = np.array([row.answer for row in asked], dtype=object)
    columns = {"dataset": [row.dataset for row in asked], "index": [row.index for row in asked]}
    columns["revision"] = [revision(model)] * len(asked)
    for method in methods:
        how = {"temperature": 1.0, "prefixes": PrefixCache(), "batch_size": 64}
        right = []
        for seed in range(SEEDS):
            drawn = generate(model, pictures, prompts, method, NEW_TOKENS, seed=seed, **how)
            said = np.array([rules.short(answer.text) for answer in drawn], dtype=object)
            right.append(said == truths)
        columns[method.name] = np.mean(right, axis=0)
    return pd.DataFrame(columns)
