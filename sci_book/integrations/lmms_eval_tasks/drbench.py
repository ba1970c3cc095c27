"""What `drbench.yaml` asks of its yes/no questions; lmms-eval imports this file by its path."""

import base64
import io

from PIL import Image

from sci_book.data.answers.rules import canonical_truth, parse


def with_pictures(rows):
    """Every row with its picture itself, where the file has the index of the row that holds it."""
    held = dict(zip(map(str, rows["index"]), rows["image"], strict=True))
    return rows.map(lambda row: {"image": held.get(row["image"], row["image"])})


def picture(row):
    """The picture of a row, in a list as lmms-eval expects it."""
    return [Image.open(io.BytesIO(base64.b64decode(row["image"])))]


def score(row, answers):
    """Whether the answer is right, as this book reads it; an unknown one is not."""
    return {"right": parse("yesno", answers[0]) == canonical_truth("yesno", row["answer"])}
