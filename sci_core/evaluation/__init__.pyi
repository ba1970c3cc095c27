from .catalogue import model_entry
from .datasets import (
    Dataset,
    DatasetError,
    RowError,
    dataset_names,
    load_dataset,
)
from .drbench import split, subsets
from .method_sets import STANDARD_METHODS
from .metrics import accuracy, accuracy_table, flips, runner_up, uniform_other
from .prompts import build_prompt
from .records import Records, RecordsError, read_records, write_records
from .replay import recompute
from .runner import evaluate
from .statistics import (
    Interval,
    cluster_bootstrap,
    holm,
    mcnemar,
    sign_flip_test,
    simultaneous_level,
    verdict,
    wilson,
)
from .verify import Verification, verify_subset

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
    "cluster_bootstrap",
    "dataset_names",
    "evaluate",
    "flips",
    "holm",
    "load_dataset",
    "mcnemar",
    "model_entry",
    "read_records",
    "recompute",
    "runner_up",
    "sign_flip_test",
    "simultaneous_level",
    "split",
    "subsets",
    "uniform_other",
    "verdict",
    "verify_subset",
    "wilson",
    "write_records",
]
