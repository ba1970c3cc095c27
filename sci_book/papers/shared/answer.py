"""The answer stands at the head of its page, before the cells in sight that compute it."""

from IPython.display import DisplayHandle, Markdown

WAITING = "Computed below."


class Answer(DisplayHandle):
    """The place of an answer at the head of a page, which a cell further down fills.

    Made in a cell tagged `nbval-ignore-output`, which is executed before there is an answer.
    """

    def __init__(self) -> None:
        super().__init__()
        self.display(Markdown(WAITING))

    def write(self, text: str) -> Markdown:
        """Put Markdown in the place; returned, too, as the output of the cell that knows it.

        There nbval compares it, which sees no update. The book shows it at the head alone if that
        cell is tagged `remove-output`.
        """
        answer = Markdown(text)
        self.update(answer)
        return answer
