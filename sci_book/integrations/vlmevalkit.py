"""Self-critical inference as a model class of VLMEvalKit.

The toolkit finds models in a table of its own; add one line before it runs:

    from vlmeval.config import supported_VLM
    supported_VLM["SCI5"] = partial(SelfCritical, model_path=CHECKPOINT, method="SCI5")

Written for the toolkit's interface of 2025 and 2026 (package `ms-vlmeval` 0.0.20).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

try:
    from vlmeval.dataset import DATASET_TYPE
    from vlmeval.vlm.base import BaseModel
except ImportError as error:
    raise ImportError(
        f"VLMEvalKit cannot be imported ({error}); install it from its repository, or with "
        "`pip install ms-vlmeval`."
    ) from error

from sci_book.data.datasets import Row
from sci_book.data.pictures import decode_picture
from sci_book.data.prompts import build_prompt
from sci_book.integrations.rewording import Rewording, Unknown
from sci_core.families.models import load_model
from sci_core.families.prefix_cache import PrefixCache
from sci_core.generate import generate
from sci_core.methods import method as named_method

_LETTERS = "ABCDEFGHIJ"
_YES_NO = "Please answer yes or no."


class SelfCritical(BaseModel):
    """Any supported checkpoint under any method of this library.

    Args:
        model_path: a checkpoint folder or hub id.
        method: a name that `sci_core.method` reads, such as "SCI5" or "base".
        rewrites: a YAML table of the user's own rewrites; see `rewording.Rewording`.
        unknown: what becomes of a prompt without a known instruction: "prefix", "refuse" or
            "unchanged".
        noise, dtype, min_pixels, max_pixels: as in `generate` and `load_model`. The paper's
            Qwen2-VL had min_pixels=1003520 and max_pixels=12845056.
        use_vllm: passed by the toolkit for names with certain models in them; must be False.
    """

    INTERLEAVE = False

    def __init__(
        self,
        model_path: str,
        method: str = "SCI5",
        rewrites: str | Path | None = None,
        unknown: Unknown = "prefix",
        noise: Literal["clamp", "wrap", "normalized"] = "wrap",
        dtype: str = "float32",
        max_new_tokens: int = 128,
        use_vllm: bool = False,
        min_pixels: int | None = None,
        max_pixels: int | None = None,
    ):
        super().__init__()
        if use_vllm:
            raise ValueError("This model decodes several rounds itself; leave use_vllm out.")
        self.method, self.noise, self.max_new_tokens = named_method(method), noise, max_new_tokens
        self.reworded = Rewording(self.method, rewrites, unknown)
        limits = {"min_pixels": min_pixels, "max_pixels": max_pixels}
        self.model = load_model(model_path, dtype=dtype, **limits)
        # The toolkit asks one question at a time: what pictures give is kept between them.
        self.prefixes = PrefixCache()

    def use_custom_prompt(self, dataset: str) -> bool:
        """Whether the prompts are the paper's: for letters, yes or no, and short answers."""
        return DATASET_TYPE(dataset) in {"MCQ", "Y/N", "VQA"}

    def build_prompt(self, line: Any, dataset: str) -> list[dict[str, str]]:
        """The picture and the paper's prompt for a line of the toolkit's table (a pandas Series).

        A question with options takes the paper's multiple-choice prompt. One without is asked as
        it stands if it holds a known instruction, and otherwise as a yes/no or a short question.
        """
        paths = self.dump_image(line, dataset)
        paths = [paths] if isinstance(paths, str) else paths
        pictures = [{"type": "image", "value": path} for path in paths]
        return [*pictures, {"type": "text", "value": self._prompt(line, dataset)}]

    def generate_inner(
        self, message: Sequence[Mapping[str, str]], dataset: str | None = None
    ) -> str:
        """The answer to one question about one picture.

        Raises ValueError for another number of pictures, RuntimeError for logits that are not
        finite: the toolkit then counts the question as failed, not as wrong.
        """
        paths = [part["value"] for part in message if part["type"] == "image"]
        prompt = "\n".join(part["value"] for part in message if part["type"] == "text")
        if len(paths) != 1:
            raise ValueError(
                f"{len(paths)} pictures came with {prompt[:80]!r}; this model answers questions "
                "about one picture each. Use data sets with one picture a question."
            )
        answer = generate(
            self.model,
            [decode_picture(Path(paths[0]).read_bytes())],
            [prompt],
            self.method,
            self.max_new_tokens,
            self.reworded([prompt]),
            noise=self.noise,
            prefixes=self.prefixes,
        )[0]
        if answer.error:
            raise RuntimeError(answer.error)
        return answer.text

    def _prompt(self, line: Any, dataset: str) -> str:
        options = {letter: str(line[letter]) for letter in _LETTERS if _is_there(line, letter)}
        question = str(line["question"])
        if not options and self.reworded.knows(question):
            return question  # as in the paper's yes/no sets, whose questions say how to answer
        if not options and DATASET_TYPE(dataset) == "Y/N":
            return f"{question} {_YES_NO}"
        row = Row(
            dataset=dataset,
            index=0,
            position=0,
            group="",
            question_type="mcq" if options else "short",
            question=question,
            answer="",
            image_hash="",
            hint=str(line["hint"]) if _is_there(line, "hint") else "",
            options=options,
        )
        return build_prompt(row, self.model.family)


def _is_there(line: Any, name: str) -> bool:
    """Whether the cell is there and full; the toolkit's empty cells are not equal to themselves."""
    value = line.get(name)
    return value is not None and value == value and str(value).strip() != ""
