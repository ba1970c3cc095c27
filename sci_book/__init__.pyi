from .data.catalogue import model_entry
from .data.datasets import (
    Dataset,
    DatasetError,
    RowError,
    dataset_names,
    load_dataset,
)
from .data.prompts import build_prompt
from .results.controls import runner_up, uniform_other
from .results.drbench import split, subsets
from .results.metrics import accuracy, accuracy_table, flips
from .results.records import Records, RecordsError, read_records, write_records
from .results.replay import recompute
from .results.statistics import (
    Interval,
    difference,
    holm,
    mcnemar,
    measure,
    share,
    sign_flip_test,
    verdict,
    wilson,
)
from .run.method_sets import STANDARD_METHODS
from .run.runner import evaluate
from .run.verify import Verification, verify_subset

__all__ = [
    "STANDARD_METHODS",
    "Dataset",
    "DatasetError",
    "Interval",
    "Records",
    "RecordsError",
    "RowError",
    "Verification",
    "accuracy",
    "accuracy_table",
    "build_prompt",
    "dataset_names",
    "difference",
    "evaluate",
    "flips",
    "holm",
    "load_dataset",
    "mcnemar",
    "measure",
    "model_entry",
    "read_records",
    "recompute",
    "runner_up",
    "share",
    "sign_flip_test",
    "split",
    "subsets",
    "uniform_other",
    "verdict",
    "verify_subset",
    "wilson",
    "write_records",
]
