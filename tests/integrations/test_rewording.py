"""Rewrites of prompts that other tools wrote."""

import pytest

from sci_book.integrations.rewording import Rewording
from sci_core import BASE, SCI5, SCI7, rewrite
from sci_core.counterfactuals import prefix_rewrite

PAPERS = "Is it red? Please answer yes or no."
OWN = "Answer yes or no, nothing else."


@pytest.fixture
def table(tmp_path):
    def write(text):
        (tmp_path / "table.yaml").write_text(text, encoding="utf-8")
        return tmp_path / "table.yaml"

    return write


def test_the_papers_instructions_are_rewritten_as_the_paper_does():
    (found,) = Rewording(SCI7, None)([PAPERS])
    assert found == [rewrite(PAPERS, name) for name in ("V1", "V2", "V3")]


def test_a_method_without_textual_rounds_needs_no_instruction():
    assert Rewording(BASE, None)(["Describe it."]) == [[]]


def test_the_users_instructions_come_first(table):
    reworded = Rewording(
        SCI5,
        table(f'"{OWN}": {{V1: one, V2: two}}\n"Please answer yes or no.": {{V1: 1!, V2: 2!}}'),
    )
    assert reworded([f"Red? {OWN}", PAPERS]) == [
        ["Red? one", "Red? two"],
        ["Is it red? 1!", "Is it red? 2!"],
    ]
    assert (reworded.asked, reworded.fell_back) == (2, 0)


def test_an_instruction_inside_another_counts_once(table):
    reworded = Rewording(SCI5, table(f'"{OWN}": {{V1: a, V2: b}}\n"yes or no": {{V1: c, V2: d}}'))
    assert reworded([f"Red? {OWN}"]) == [["Red? a", "Red? b"]]


@pytest.mark.parametrize("prompt", ["Describe it.", f"{PAPERS} {PAPERS}"])
def test_a_prompt_with_none_or_two_instructions(prompt):
    assert not Rewording(SCI5, None).knows(prompt) and Rewording(SCI5, None).knows(PAPERS)
    with pytest.raises(
        ValueError, match=r"^Prompt 1, .*known instructions; exactly one.*table of rewrites"
    ):
        Rewording(SCI5, None, "refuse")([prompt])
    with pytest.warns(RuntimeWarning, match="^1 of 1 prompts .* in front .the rule `prefix`"):
        assert Rewording(SCI5, None)([prompt]) == [
            [prefix_rewrite(prompt, n) for n in ("V1", "V2")]
        ]
    kept = Rewording(SCI5, None, "unchanged")
    with pytest.warns(RuntimeWarning, match="^1 of 2 prompts"):
        assert kept([PAPERS, prompt])[1] == [prompt, prompt]
    with pytest.warns(RuntimeWarning, match="^2 of 3 prompts"):
        kept([prompt])


@pytest.mark.parametrize(
    "text",
    ["", "- V1", f'"{OWN}": V1', f'"{OWN}": {{V1: one}}', f'"{OWN}": {{V1: one, V2: 2}}',
     '"": {V1: one, V2: two}', "1: {V1: one, V2: two}"],
)  # fmt: skip
def test_a_table_that_is_none_is_refused(table, text):
    with pytest.raises(ValueError, match=r"table.yaml: .*expected a mapping.*V1, V2"):
        Rewording(SCI5, table(text))
