"""Rewrites of prompts that another tool wrote: the paper's, the user's own, or a counted fallback.

The paper's rewrites replace an instruction that they know (`counterfactuals.rewrite`). A tool's
prompts may end in instructions of its own; a table in YAML says what becomes of those:

    "Answer with the option letter only.":
      V1: "Look closely. Answer with the option letter only."
      V2: "请仔细观察图像，只回答选项字母。"
"""

import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

from sci_book.files import read_yaml
from sci_core.counterfactuals import REWRITES, prefix_rewrite, rewrite
from sci_core.families.named import check_choice
from sci_core.methods import Method

Unknown = Literal["prefix", "refuse", "unchanged"]


class Rewording:
    """The rewrites that a method needs, for any prompt.

    Args:
        table: a YAML file as above: for each instruction the text of every textual round of the
            method. An instruction that the paper knows too is rewritten by the table.
        unknown: what becomes of a prompt without exactly one known instruction. "prefix" puts a
            request in front of it (`counterfactuals.prefix_rewrite`), "refuse" raises ValueError.
            "unchanged" asks it as it stands in every textual round: TC is then the original
            round's logits, and of SCI the visual part alone has a say.

    Attributes:
        asked, fell_back: how many prompts came so far, and how many of them were such ones.

    Raises ValueError for a table that is none, or lacks a round of the method.
    """

    def __init__(self, method: Method, table: str | Path | None, unknown: Unknown = "prefix"):
        check_choice("unknown", unknown, get_args(Unknown))
        self.textual, self.unknown = method.textual, unknown
        self.table = _read_table(Path(table), method) if table is not None else {}
        self.asked = self.fell_back = 0
        # Longest first, so that an instruction inside another counts once, as the longer one.
        known = sorted({*self.table, *REWRITES["V1"]}, key=len, reverse=True)
        self._instruction = re.compile("|".join(map(re.escape, known)))

    def knows(self, prompt: str) -> bool:
        """Whether the prompt holds exactly one known instruction."""
        return len(self._instruction.findall(prompt)) == 1

    def __call__(self, prompts: Sequence[str]) -> list[list[str]]:
        """The rewrites of each prompt; a RuntimeWarning counts those without an instruction."""
        before = self.fell_back
        rewrites = [self._rewrites(prompt) for prompt in prompts]
        if self.fell_back > before:
            how = (
                "have a request put in front (the rule `prefix`)"
                if self.unknown == "prefix"
                else "ask the prompt as it stands"
            )
            warnings.warn(
                f"{self.fell_back:,} of {self.asked:,} prompts hold no known instruction, or "
                f"several; their rounds {', '.join(self.textual)} {how}. Give a table of rewrites "
                "to have them reworded.",
                RuntimeWarning,
                stacklevel=3,
            )
        return rewrites

    def _rewrites(self, prompt: str) -> list[str]:
        self.asked += 1
        if not self.textual:
            return []
        known = self._instruction.findall(prompt)
        if len(known) != 1:
            if self.unknown == "refuse":
                raise ValueError(
                    f"Prompt {self.asked}, {prompt!r}, holds {len(known)} known instructions; "
                    "exactly one was expected. Give a table of rewrites with the prompt's own "
                    "instruction, unknown=prefix to put a request in front of such prompts, or "
                    "unknown=unchanged to ask them unchanged in the textual rounds."
                )
            self.fell_back += 1
            if self.unknown == "unchanged":
                return [prompt] * len(self.textual)
            return [prefix_rewrite(prompt, name) for name in self.textual]
        if known[0] in self.table:
            return [prompt.replace(known[0], self.table[known[0]][name]) for name in self.textual]
        return [rewrite(prompt, name) for name in self.textual]


def _read_table(path: Path, method: Method) -> dict[str, dict[str, str]]:
    table = read_yaml(path)
    for instruction, texts in table.items() if isinstance(table, dict) else [(None, None)]:
        missing = [
            name
            for name in method.textual
            if not isinstance(texts, dict) or not isinstance(texts.get(name), str)
        ]
        if not isinstance(instruction, str) or not instruction or missing:
            raise ValueError(
                f"{path}: {instruction!r} has no text for {', '.join(missing) or 'it'}; expected a "
                f"mapping from each instruction to its texts {', '.join(method.textual)}."
            )
    return table
