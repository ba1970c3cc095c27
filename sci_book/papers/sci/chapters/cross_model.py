"""Which models Table 3's claim is put to: each answers the rows that another stumbles over."""

from sci_book.papers.sci.chapters.shapes import Subjects


def asked(subjects: Subjects) -> Subjects:
    """The models that the claim is put to: those fit to be asked, or all if fewer than two are.

    One model that does not meet the conditions would else leave no pair to judge.
    """
    fit = [subject for subject in subjects if subject.fit]
    return fit if len(fit) > 1 else subjects
