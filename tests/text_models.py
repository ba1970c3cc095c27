"""A text model for tests."""

from itertools import repeat

from sci_book.papers.shared.text_model import Completion


class ScriptedTextModel:
    """Says these texts, or gives these completions, in turn; one alone, to every prompt.

    `prompts` is what it was asked.
    """

    name = "scripted"

    def __init__(self, *replies):
        self.replies = repeat(*replies) if len(replies) == 1 else iter(replies)
        self.prompts = []

    def complete(self, prompts):
        self.prompts += prompts
        replies = [next(self.replies) for _ in prompts]
        return [Completion(reply) if isinstance(reply, str) else reply for reply in replies]
