"""A checkpoint's own generation settings, done to the scores by transformers' own processors.

What forbids tokens does so before the constraint takes its maximum; what changes scores acts on the
combined score of all rounds, before the temperature. So the base decodes as
`model.generate(do_sample=False)` does. The processors read the original round: its whole prompt,
image placeholders included, and the tokens written since.
"""

import warnings
from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

APPLIED = {
    "repetition_penalty": 1, "encoder_repetition_penalty": 1, "sequence_bias": None,
    "no_repeat_ngram_size": 0, "encoder_no_repeat_ngram_size": 0, "bad_words_ids": None,
    "min_length": 0, "min_new_tokens": 0, "forced_eos_token_id": None,
    "exponential_decay_length_penalty": None, "suppress_tokens": None,
    "begin_suppress_tokens": None,
}  # fmt: skip
"""Settings that are applied, each with the value that does nothing (beside None)."""

SET_ASIDE = {
    "num_beams": 1, "num_return_sequences": 1, "penalty_alpha": 0, "dola_layers": None,
    "guidance_scale": 1, "watermarking_config": None, "constraints": None,
    "force_words_ids": None, "remove_invalid_values": False, "token_healing": False,
    "stop_strings": None, "max_time": None,
}  # fmt: skip
"""Settings for which one token at a time, chosen from one score, has no place."""

SAMPLERS = {"min_p": 0, "top_h": None, "typical_p": 1, "epsilon_cutoff": 0, "eta_cutoff": 0}
"""Settings of sampling that `sampling.choose` does not know; greedy decoding takes no notice."""

_PENALTIES = (
    "RepetitionPenaltyLogitsProcessor",
    "EncoderRepetitionPenaltyLogitsProcessor",
    "ExponentialDecayLengthPenalty",
)
_CHANGING = (*_PENALTIES, "SequenceBiasLogitsProcessor")  # which forbids, too, by a bias of -inf


class Rules(NamedTuple):
    """The ids of a prompt, and what transformers' processors do to the tokens that follow it."""

    prompt: Sequence[int]
    forbidding: Sequence[Any] = ()
    changing: Sequence[Any] = ()


class GenerationSettings:
    """The generation settings of a transformers model; `config` takes the place of its own."""

    def __init__(self, hf: Any, config: Any = None):
        self._hf, self._config = hf, config

    @property
    def config(self) -> Any:
        """What is set now; a setting is overridden by assigning to it here."""
        return self._hf.generation_config if self._config is None else self._config

    @property
    def applied(self) -> dict[str, Any]:
        """The settings that change an answer and are applied; empty for most checkpoints."""
        return which_are_set(self.config, APPLIED)

    def check(self, name: str) -> None:
        """Raise ValueError if the checkpoint `name` sets what transformers cannot apply."""
        file = f"generation_config.json of {name} (or config.json, in its place)"
        for setting, value in sorted(vars(self.config).items()):
            if setting == "pad_token_id" and value == -1:  # as some say that there is none
                continue
            if setting.endswith(("_token_id", "suppress_tokens")):
                token_ids(value, f"{file} has {setting}")
        try:
            self.rules([0], 1, frozenset([0]), torch.device("cpu"))
        except Exception as error:  # each processor raises its own
            raise ValueError(f"{file} sets what cannot be applied: {error}") from error

    def rules(
        self, prompt: Sequence[int], new_tokens: int, eos: frozenset[int], device: torch.device
    ) -> Rules:
        """Return what the settings ask of the `new_tokens`, at most, that follow a prompt."""
        if not self.applied:
            return Rules(prompt)
        config = copy(self.config)
        for name in ("do_sample", *SET_ASIDE):
            setattr(config, name, None)
        config.renormalize_logits = None  # which changes no choice
        if config.min_new_tokens is not None:  # takes precedence, as in transformers
            config.min_length = None
        config.max_length = len(prompt) + new_tokens
        config._eos_token_tensor = torch.tensor(sorted(eos), device=device) if eos else None
        processors = self._hf._get_logits_processor(
            config, len(prompt), torch.tensor([list(prompt)], device=device), device=device
        )
        changing = [p for p in processors if type(p).__name__ in _CHANGING]
        forbidding = [p for p in processors if type(p).__name__ not in _PENALTIES]
        return Rules(prompt, forbidding, changing)

    def warn_of_others(self, name: str, temperature: Any = 0.0, **sampling: Any) -> None:
        """Warn of settings of the checkpoint `name` that are not applied.

        Those of sampling count only where the caller samples and leaves them out.
        """
        others = which_are_set(self.config, SET_ASIDE)
        if temperature > 0:
            idle = {"top_k": 0, "top_p": 1}
            left_out = {name: idle[name] for name in idle if sampling.get(name) is None}
            others |= which_are_set(self.config, SAMPLERS | left_out)
        if others:
            values = ", ".join(f"{setting}={value!r}" for setting, value in others.items())
            warnings.warn(
                f"generation_config.json of {name} sets {values}, which is not applied: one token "
                "at a time is chosen from the combined score, and sampling is as this call says.",
                UserWarning,
                stacklevel=3,
            )


def token_ids(value: Any, what: str) -> list[int]:
    """Return the ids in a setting that holds one, several or none; ValueError for other values."""
    ids = value if isinstance(value, list | tuple) else [] if value is None else [value]
    if not all(type(each) is int and each >= 0 for each in ids):
        raise ValueError(
            f"{what} {value!r}; expected a token's id, a whole number from 0, or a list of such."
        )
    return list(ids)


def which_are_set(config: Any, names: dict[str, Any]) -> dict[str, Any]:
    """Return the named settings with another value than None and the one named with them."""
    values = {name: getattr(config, name, None) for name in names}
    return {name: value for name, value in values.items() if value not in (None, names[name])}


def forbidden(
    rules: Sequence[Rules], written: Sequence[Sequence[int]], like: Float[Tensor, "n vocab"]
) -> Bool[Tensor, "n vocab"] | None:
    """Mask the tokens that may not follow what each question has written; None if all may.

    The processors act on equal scores, `like` those in shape and place.
    """
    if not any(question.forbidding for question in rules):
        return None
    return _through("forbidding", rules, written, torch.zeros_like(like)) == -torch.inf


def adjusted(
    scores: Float[Tensor, "n vocab"], rules: Sequence[Rules], written: Sequence[Sequence[int]]
) -> Float[Tensor, "n vocab"]:
    """Apply penalties and biases to the combined scores; a dropped token stays dropped."""
    if not any(question.changing for question in rules):
        return scores
    changed = _through("changing", rules, written, scores)
    return changed.masked_fill(scores == -torch.inf, -torch.inf)


def _through(
    kind: str, rules: Sequence[Rules], written: Sequence[Sequence[int]], scores: Tensor
) -> Tensor:
    rows = list(scores.split(1))
    for place, tokens in enumerate(written):
        ids = torch.tensor([[*rules[place].prompt, *tokens]], device=scores.device)
        for process in getattr(rules[place], kind):
            rows[place] = process(ids, rows[place])
    return torch.cat(rows)
