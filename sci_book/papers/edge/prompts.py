"""What models are told here: the text `judge`, and the `probes` of answers, also `translated`."""

import yaml

from sci_book.resources import PAPER

PROMPTS = yaml.safe_load((PAPER / "edge_prompts.yaml").read_text(encoding="utf-8"))
