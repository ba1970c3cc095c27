"""Records of the book's trainings with what most chapters make of them, held from the import on.

A kernel that is forked afterwards (`tests.forked_kernels`) shares what most chapters read: by the
same code, once for all kernels and not by each.
"""

import gc

from sci_book.papers.shared import chapters, gate
from sci_book.resources import FROZEN_RECORDS
from sci_book.results.replay import replay_of

SUBJECTS = chapters.subjects(["pocket-qwen2vl", "pocket-llavanext"], FROZEN_RECORDS)
TRAININGS = [training for model in SUBJECTS for training in model.trainings]
for training in TRAININGS:
    replay_of(training.records)
CONDITIONS = [gate.judged_on(training.path, training.records) for training in TRAININGS]
STATES = [model.unmet_by_trainings for model in SUBJECTS]
gc.collect()
gc.freeze()  # or a collection in a kernel would look through all of this
