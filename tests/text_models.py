"""A text model for tests."""

from itertools import cycle

from sci_book.papers.shared.text_model import Completion


class Scripted:
    """Says these texts, or gives these completions, in turn; `prompts` is what it was asked."""

    name = "scripted"

    def __init__(self, *replies):
        self.replies, self.prompts = cycle(replies), []

    def complete(self, prompts):
        self.prompts += prompts
        replies = [next(self.replies) for _ in prompts]
        return [Completion(reply) if isinstance(reply, str) else reply for reply in replies]
