"""What text models are told for C-VQA, by task: `direct`, `boolean`, `polish` and `program`."""

import yaml

from sci_book.resources import PAPER

PROMPTS: dict[str, str] = yaml.safe_load((PAPER / "cvqa_prompts.yaml").read_text(encoding="utf-8"))
