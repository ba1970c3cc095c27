"""Evaluation: data sets, prompts, answers, records, DRBench, metrics, statistics.

The path of a number: `load_dataset` → `evaluate` (records on disk) → `read_records` → `subsets` and
`Records.correct`, or `recompute` for a method that was not decoded → `accuracy_table`,
`cluster_bootstrap`, `verdict`.
"""

from sci_core.evaluation.catalogue import model_entry
from sci_core.evaluation.datasets import (
    Dataset,
    DatasetError,
    RowError,
    dataset_names,
    load_dataset,
)
from sci_core.evaluation.drbench import split, subsets
from sci_core.evaluation.metrics import accuracy, accuracy_table, flips, runner_up, uniform_other
from sci_core.evaluation.prompts import build_prompt
from sci_core.evaluation.records import Records, RecordsError, read_records, write_records
from sci_core.evaluation.replay import recompute
from sci_core.evaluation.runner import STANDARD_METHODS, evaluate
from sci_core.evaluation.statistics import (
    Interval,
    cluster_bootstrap,
    holm,
    mcnemar,
    sign_flip_test,
    simultaneous_level,
    verdict,
    wilson,
)
from sci_core.evaluation.verify import Verification, verify_subset

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
