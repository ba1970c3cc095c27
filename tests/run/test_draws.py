"""Short answers drawn: each share is that of the draws of `generate`, and reaches the control."""

from pathlib import Path

import numpy as np
import pytest

from sci_book.data.prompts import build_prompt
from sci_book.papers.shared import chapters
from sci_book.results import controls
from sci_book.results.records import RecordsError
from sci_book.run.draws import draws
from sci_core import generate, load_model
from sci_core.methods import BASE
from tests.papers.shared.drawn_records import drawn_subjects
from tests.pocket_data import pocket

CHECKPOINT = Path("checkpoints/pocket-qwen2vl-small")


@pytest.fixture(scope="module")
def rows():
    """Two rows with short answers, and one that has none."""
    every = list(pocket())
    short = [row for row in every if row.question_type == "short"]
    return [short[1], next(row for row in every if row.question_type == "yesno"), short[2]]


def test_a_share_is_that_of_the_draws(rows, monkeypatch):
    monkeypatch.setattr("sci_book.run.draws.SEEDS", 3)
    model = load_model(CHECKPOINT)
    table = draws(model, rows, (BASE, controls.PLAUSIBLE))
    asked = [rows[0], rows[2]]
    assert table["index"].tolist() == [row.index for row in asked]
    for method in (BASE, controls.PLAUSIBLE):
        drawn = [
            [answer.text for answer in generate(
                model, [row.image() for row in asked],
                [build_prompt(row, model.family) for row in asked],
                method, 8, temperature=1.0, seed=seed,
            )]
            for seed in range(3)
        ]  # fmt: skip
        for place, row in enumerate(asked):
            said = [texts[place].strip(". ").lower() for texts in drawn]
            assert table[method.name][place] == np.mean([word == row.answer for word in said])


def test_draws_beside_the_records_are_read_by_row_and_only_of_their_model(tmp_path):
    (model,) = drawn_subjects(tmp_path, ["mine"])
    assert np.isnan(controls.drawn(model)[-1]) and "base" not in model.draws
    frame = model.records.frame.iloc[::-1]
    table = frame.loc[frame["question_type"] == "short", ["dataset", "index"]]
    table = table.assign(revision="r", base=np.arange(len(table)) / len(table))
    (tmp_path / "draws").mkdir()
    table.to_csv(tmp_path / "draws" / "mine.csv", index=False)
    (again,) = chapters.subjects(["mine"], tmp_path)
    short = (again.records.frame["question_type"] == "short").to_numpy()
    assert np.array_equal(again.right("sampled")[short], table["base"][::-1])
    assert np.array_equal(again.right("sampled")[~short], model.right("sampled")[~short], True)
    assert np.isnan(again.right("sampled, plausible")[short]).all()
    table.assign(revision="other").to_csv(tmp_path / "draws" / "mine.csv", index=False)
    (again,) = chapters.subjects(["mine"], tmp_path)
    with pytest.raises(RecordsError, match="of another revision"):
        again.right("sampled")
