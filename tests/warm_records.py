"""Records of the book's trainings with their replays, held from the import on.

A kernel that is forked afterwards (`tests.forked_kernels`) shares what most chapters read: by the
same code, once for all kernels and not by each.
"""

from sci_book.papers.shared import chapters
from sci_book.resources import FROZEN_RECORDS
from sci_book.results.replay import replay_of

SUBJECTS = chapters.subjects(["pocket-qwen2vl", "pocket-llavanext"], FROZEN_RECORDS)
TRAININGS = [training for model in SUBJECTS for training in model.trainings]
for training in TRAININGS:
    replay_of(training.records)
