"""Self-critical inference in vLLM, offline: the rounds of a question are requests in one step.

    llm = load_llm("CHECKPOINT")
    answers = generate(llm, images, prompts, "SCI5")

Written for vLLM 0.32. The requests of a question enter the engine together, where seats, tokens and
cache suffice for all, so that each scheduler step reads every round. The logits processor scores
them as one (`sci_core.scoring`), chooses a token (`sci_core.sampling`) and puts it on top in each
request. A step that reads some of a question's rounds alone would choose wrongly: it is counted,
and no answer with such a step is returned.
"""

import math
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count
from typing import Any
from unittest.mock import patch

import torch
from PIL import Image

try:
    from vllm import LLM, SamplingParams
    from vllm.v1.sample.logits_processor import LogitsProcessor, MoveDirectionality
except ImportError as error:
    raise ImportError(
        f"vLLM cannot be imported ({error}); install it in an environment of its own, as "
        "`make integrations` does on a CPU."
    ) from error

from sci_core.arguments import Number, Whole, check
from sci_core.counterfactuals import find_dummy
from sci_core.engine.decoding import Answer, not_finite
from sci_core.engine.questions import Noise, Question, draw_dummy
from sci_core.families.base import VisionLanguageModel
from sci_core.families.files import hub_settings
from sci_core.families.models import adapt, without_weights
from sci_core.families.parts import load_image_processor, load_tokenizer
from sci_core.families.settings import Rules, adjusted, forbidden
from sci_core.generate import Rewrites, check_settings, find_method, in_order, make_questions
from sci_core.methods import SCI5, Method
from sci_core.plausibility import finite
from sci_core.sampling import check_sampling, choose
from sci_core.scoring import scores

KEY = "sci"  # of a request's extra arguments
GREEDY = {"temperature": 0.0}


@dataclass(eq=False)
class Group:
    """A question being decoded: one object for all its rounds, here and in the engine.

    Attributes:
        sample: its place among the questions, which its random numbers follow from.
        prompt_tokens: text tokens of the original prompt, M3ID's clock.
        chosen: the tokens so far, each chosen from all rounds.
        incomplete: steps that read some of the rounds alone, or not all at the same place.
        error: which rounds were not finite.
    """

    method: Method
    sampling: Mapping[str, Any]
    sample: int
    prompt_tokens: int
    rules: Rules
    chosen: list[int] = field(default_factory=list)
    incomplete: int = 0
    error: str | None = None

    def __deepcopy__(self, _: dict) -> "Group":
        return self  # vLLM copies the settings of a request, and copies would not be one group


@dataclass
class Counts:
    """What the engine did: steps, tokens of prompts, and how many the prefix cache gave.

    `incomplete` counts steps that read some rounds of a question alone, and `asked_again` the
    questions that were therefore asked once more.
    """

    steps: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    incomplete: int = 0
    asked_again: int = 0


class RoundsProcessor(LogitsProcessor):
    """Chooses the token of each group whose rounds are all in the step; counts the others."""

    def __init__(self, vllm_config: Any, device: Any, is_pin_memory: bool):
        self._rows: dict[int, tuple[Group, int, Sequence[int]]] = {}

    def is_argmax_invariant(self) -> bool:
        return False

    def update_state(self, batch_update: Any) -> None:
        """Follow which request, with what it has written, is in which row."""
        if batch_update is None:
            return
        for row in batch_update.removed:
            self._rows.pop(row, None)
        for row, params, _, written in batch_update.added:
            self._put(row, (*params.extra_args[KEY], written) if _is_round(params) else None)
        for one, other, direction in batch_update.moved:
            moved, displaced = self._rows.pop(one, None), self._rows.pop(other, None)
            self._put(other, moved)
            if direction == MoveDirectionality.SWAP:
                self._put(one, displaced)

    def _put(self, row: int, entry: tuple | None) -> None:
        self._rows.pop(row, None)
        if entry is not None:
            self._rows[row] = entry

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        """Put the token that the method chooses on top, in each round of a complete group."""
        for (step, _), groups in self._complete().items():
            rows = torch.tensor(list(groups.values()), device=logits.device).T
            Z = logits[rows].float()
            try:
                chosen = _choose([*groups], Z, step)
            except FloatingPointError:
                fine = _sound([*groups], Z, step)
                if len(fine) == len(groups):  # the scores overflow, of finite logits
                    raise
                if not fine:
                    continue
                rows = rows[:, fine]
                chosen = _choose([[*groups][place] for place in fine], Z[:, fine], step)
            logits[rows, chosen] = torch.inf  # a request is greedy: the highest is its token
        return logits

    def _complete(self) -> dict[tuple[int, Method], dict[Group, list[int]]]:
        """The rows of each group that the step reads whole, by its tokens so far and its method."""
        members: dict[Group, list] = defaultdict(list)
        for row, (group, number, written) in self._rows.items():
            members[group].append((number, len(written), row))
        complete: dict[tuple[int, Method], dict[Group, list[int]]] = defaultdict(dict)
        for group, rounds in members.items():
            numbers, lengths, rows = zip(*sorted(rounds), strict=True)
            whole = numbers == tuple(range(len(group.method.rounds)))
            if not whole or {*lengths} != {len(group.chosen)}:
                group.incomplete += 1
            elif group.error is None:
                complete[lengths[0], group.method][group] = list(rows)
        return complete


def _is_round(params: Any) -> bool:
    return KEY in (getattr(params, "extra_args", None) or {})


def _sound(groups: Sequence[Group], Z: torch.Tensor, step: int) -> list[int]:
    """Which groups have finite logits; the others are told which of their rounds have not."""
    for group, rounds in zip(groups, finite(Z).T.tolist(), strict=True):
        if not all(rounds):
            faulty = [not sound for sound in rounds]
            group.error = not_finite(group.method, group.sample, faulty, step)
    return [place for place, group in enumerate(groups) if group.error is None]


def _choose(groups: Sequence[Group], Z: torch.Tensor, step: int) -> torch.Tensor:
    """Choose the next token of some groups, as `sci_core.generate` does."""
    written = [group.chosen for group in groups]
    rules = [group.rules for group in groups]
    score = scores(
        groups[0].method,
        Z,
        step=step,
        prompt_tokens=torch.tensor([group.prompt_tokens for group in groups]),
        forbidden=forbidden(rules, written, Z[0]),
    )
    score = adjusted(score, rules, written)
    samples = [group.sample for group in groups]
    chosen = choose(score, samples=samples, step=step, **groups[0].sampling)
    for group, token in zip(groups, chosen.tolist(), strict=True):
        group.chosen.append(token)
    return chosen


def load_llm(
    checkpoint: str,
    *,
    min_pixels: int | None = None,
    max_pixels: int | None = None,
    **settings: Any,
) -> LLM:
    """Make vLLM's engine for a checkpoint, in this process, with the processor of this file.

    Args:
        min_pixels, max_pixels: as in `load_model`.
        settings: vLLM's own, such as dtype, max_model_len, max_num_seqs (requests in a step) and
            max_num_batched_tokens (tokens in a step). A question takes as many requests as its
            method has rounds.

    Raises ValueError for a setting under which rounds cannot step together (see `generate`).
    """
    limits = {"min_pixels": min_pixels, "max_pixels": max_pixels}
    limits = {name: value for name, value in limits.items() if value is not None}
    if settings.get("speculative_config") is not None:
        raise _refusal("speculative_config", settings["speculative_config"], None)
    own = {
        "limit_mm_per_prompt": {"image": 1},
        "mm_processor_kwargs": limits or None,
        # What it leaves out as sent before would be missing of a question that was then refused.
        "mm_processor_cache_gb": 0,
        "enable_prefix_caching": True,
        "async_scheduling": False,
        "logits_processors": [RoundsProcessor],
    }
    # In another process the engine would begin a step as soon as the first round has come.
    with patch.dict(os.environ, VLLM_ENABLE_V1_MULTIPROCESSING="0"):
        llm = LLM(model=str(checkpoint), **{**own, **settings})
    _check_engine(llm)
    return llm


def generate(
    llm: LLM,
    images: Sequence[Image.Image],
    prompts: Sequence[str],
    method: Method | str = SCI5,
    max_new_tokens: Whole = 8,
    rewrites: Rewrites = None,
    temperature: Number = 0.0,
    top_k: Whole | None = None,
    top_p: Number | None = None,
    seed: Whole = 0,
    *,
    noise: Noise = "wrap",
    counts: Counts | None = None,
) -> list[Answer]:
    """Answer as `sci_core.generate` does, with its arguments and its random numbers, in vLLM.

    Every round is read at every step. Textual rounds, and questions about one picture, share it
    through vLLM's prefix cache.

    Args:
        llm: what `load_llm` makes.
        counts: what the engine does is added to it.

    Raises:
        ValueError: as `sci_core.generate`; noise on normalised values, for vLLM is handed pictures;
            an engine that decodes speculatively, on several devices, in another process or ahead of
            its results; one whose requests, tokens or cache do not suffice for a question's rounds.
        RuntimeError: the rounds of a question were read in different steps, twice.
    """
    method = find_method(method)
    check_settings({"max_new_tokens": max_new_tokens}, None, noise)
    check_noise(noise)
    sampling = check_sampling(temperature, top_k, top_p, seed)
    questions = make_questions(images, prompts, method, rewrites)
    _check_engine(llm)
    model = asker(llm)
    model.generation.warn_of_others(model.name, **sampling)
    counts = Counts() if counts is None else counts
    call = _Call(llm, model, sampling, int(max_new_tokens), noise, counts)
    return call.answers(questions, method)


Policy = tuple[Method, Sequence[str]]
"""A method, and the rounds of a question that it reads: its own, or one for the model alone."""


def answer_policies(
    llm: LLM,
    questions: Sequence[Question],
    rounds: Sequence[str],
    policies: Sequence[Policy],
    max_new_tokens: int,
    noise: Noise,
    counts: Counts,
) -> list[tuple[int, list[Answer]]]:
    """Answer each question under each policy, greedily: for callers that have checked all this.

    Args:
        rounds: of every question, "original" first and the textual ones, which it brings, next.

    Returns:
        for each question the text tokens of its prompt, and an answer for each policy.
    """
    call = _Call(llm, asker(llm), GREEDY, max_new_tokens, noise, counts)
    groups = call.groups(questions, rounds, policies)
    by_question = [groups[k : k + len(policies)] for k in range(0, len(groups), len(policies))]
    return [(own[0].prompt_tokens, [call.answer(group) for group in own]) for own in by_question]


def check_noise(noise: Noise) -> None:
    """Raise ValueError for noise that no picture can show."""
    if noise == "normalized":
        raise ValueError(
            "noise='normalized' changes what the image processor made, but vLLM is handed "
            "pictures; expected 'wrap', 'clamp' or 'unresized'. Use sci_core.generate for it."
        )


def _check_engine(llm: Any) -> None:
    """Refuse an engine in which the rounds of a question may fall into different steps."""
    check("llm", llm, "what load_llm returns", isinstance(llm, LLM))
    config = llm.llm_engine.vllm_config
    parallel, scheduler = config.parallel_config, config.scheduler_config
    pictures = config.model_config.multimodal_config
    processors = config.model_config.logits_processors or []
    for name, found, expected in (
        ("speculative_config", config.speculative_config, None),
        ("world_size", parallel.world_size, 1),
        ("data_parallel_size", parallel.data_parallel_size, 1),
        ("async_scheduling", scheduler.async_scheduling, False),
        ("long_prefill_token_threshold", scheduler.long_prefill_token_threshold, 0),
        ("use_v2_model_runner", config.use_v2_model_runner, False),
        ("mm_processor_cache_gb", pictures.mm_processor_cache_gb, 0),
        ("engine_core", type(llm.llm_engine.engine_core).__name__, "InprocClient"),
        ("logits_processors", list(processors), [RoundsProcessor]),
    ):
        if found != expected:
            raise _refusal(name, found, expected)


def _refusal(name: str, found: Any, expected: Any) -> ValueError:
    return ValueError(
        f"{name} of the engine is {found!r}; expected {expected!r}, so that one step on one device "
        "reads one token of every round of a question. Make the engine with load_llm, without it."
    )


@cache
def _read(
    name: str,
    revision: str | None,
    trust_remote_code: bool,
    dtype: torch.dtype,
    limits: tuple[tuple[str, int], ...],
) -> VisionLanguageModel:
    source = {
        "revision": revision,
        "trust_remote_code": trust_remote_code,
        **hub_settings(name),
    }
    hf = without_weights(name, source).to(dtype)
    image_processor = load_image_processor(name, **dict(limits), **source)
    model = adapt(hf, load_tokenizer(name, **source), image_processor, name=name)
    model.pixel_limits = dict(limits)
    return model


def asker(llm: LLM) -> VisionLanguageModel:
    """All of an engine's checkpoint but its weights, which asks questions as the kernel does."""
    config = llm.llm_engine.vllm_config.model_config
    limits = config.multimodal_config.mm_processor_kwargs or {}
    return _read(
        config.model,
        config.revision,
        config.trust_remote_code,
        config.dtype,
        tuple(sorted(limits.items())),
    )


@dataclass(frozen=True)
class _Asked:
    """A question under a policy as the engine takes it.

    Attributes:
        place: among all that are asked.
        inputs: what a request of each round reads.
        written: the tokens of each round that is over.
    """

    place: int
    group: Group
    inputs: Sequence[Any]
    written: list[Sequence[int]] = field(default_factory=list)

    @property
    def ids(self) -> list[str]:
        return [f"{self.place}-{number}" for number in range(len(self.inputs))]

    @property
    def lengths(self) -> list[int]:
        return [len(each["prompt_token_ids"]) for each in self.inputs]

    @property
    def apart(self) -> bool:
        """Whether a round has a token that was not chosen from all rounds."""
        chosen = self.group.chosen
        return bool(self.group.incomplete) or any(list(ids) != chosen for ids in self.written)

    @property
    def over(self) -> bool:
        """Whether nothing more is to come, or nothing that would be returned."""
        return len(self.written) == len(self.inputs) or bool(self.group.error) or self.apart

    def anew(self) -> "_Asked":
        """The same, of which nothing is written yet."""
        fresh = replace(self.group, chosen=[], incomplete=0, error=None)
        return _Asked(self.place, fresh, self.inputs)


@dataclass
class _Call:
    """A call of `generate`: whole groups go into the engine and come out as answers."""

    llm: LLM
    model: VisionLanguageModel
    sampling: Mapping[str, Any]
    max_new_tokens: int
    noise: Noise
    counts: Counts
    running: list[_Asked] = field(default_factory=list)

    def answers(self, questions: Sequence[Question], method: Method) -> list[Answer]:
        groups = self.groups(questions, method.rounds, [(method, method.rounds)])
        return in_order(dict(enumerate(map(self.answer, groups))))

    def groups(
        self, questions: Sequence[Question], rounds: Sequence[str], policies: Sequence[Policy]
    ) -> list[Group]:
        """Ask each question under every policy; what fell apart is asked again, alone."""
        over: dict[int, Group] = {}
        apart: list[_Asked] = []
        for asked in self._asked_of(self._all(questions, rounds, policies)):
            if asked.apart:
                apart.append(asked)
            else:
                over[asked.place] = asked.group
        self.counts.asked_again += len(apart)
        for asked in self._asked_of((asked.anew() for asked in apart), at_once=1):
            if asked.apart:
                raise RuntimeError(
                    f"The {len(asked.inputs)} rounds of question {asked.group.sample} were read in "
                    "different steps, again when it was alone in the engine; expected one step for "
                    "all. Give the engine more cache (kv_cache_memory_bytes), or ask a method of "
                    "fewer rounds."
                )
            over[asked.place] = asked.group
        return [over[place] for place in range(len(over))]

    def _all(
        self, questions: Sequence[Question], rounds: Sequence[str], policies: Sequence[Policy]
    ) -> Iterator[_Asked]:
        """Make what is asked, a question's pictures once for all policies."""
        places = count()
        for sample, question in enumerate(questions):
            inputs, prompt_tokens = self._inputs(question, rounds)
            for method, read in policies:
                own = [inputs[name] for name in read]
                rules = self.model.generation.rules(
                    own[0]["prompt_token_ids"],
                    self.max_new_tokens,
                    self.model.eos_token_ids,
                    torch.device(self.llm.llm_engine.vllm_config.device_config.device),
                )
                group = Group(method, self.sampling, sample, prompt_tokens, rules)
                yield _Asked(next(places), group, own)

    def _asked_of(self, waiting: Iterator[_Asked], at_once: Number = math.inf) -> Iterator[_Asked]:
        """Ask questions, at most so many at once, and yield each when it is over."""
        try:
            head = next(waiting, None)
            while head or self.running:
                entering: list[_Asked] = []
                while head and len(self.running) + len(entering) < at_once:
                    if not self._fits([*entering, head]):
                        break
                    entering.append(head)
                    head = next(waiting, None)
                self._enter(entering)
                yield from self._step()
        finally:
            self._leave(self.running)

    def _inputs(self, question: Question, rounds: Sequence[str]) -> tuple[dict[str, Any], int]:
        """What vLLM reads of each round of a question, and the text tokens of its prompt."""
        processor, marker = self.model.processor, (self.model.image_token_id,)
        texts = [question.prompt, *question.rewrites]
        ids = processor.token_ids(texts, [marker] * len(texts))
        shown = question.prepared
        shown = shown if self.noise == "unresized" else processor.as_read(shown)
        prompts = [_prompt(each, shown) for each in ids]
        for name in rounds[len(texts) :]:
            words = find_dummy(name)[0].words
            if words is None:
                dummy = draw_dummy(processor, question.prepared, name, self.noise)
                prompts.append(_prompt(ids[0], dummy))
            else:
                picture = processor.words_for_picture(words)
                prompts.append(_prompt(*processor.token_ids([question.prompt], [picture.ids])))
        inputs = self.llm.llm_engine.renderer.render_cmpl(prompts)
        return dict(zip(rounds, inputs, strict=True)), len(ids[0]) - 1

    def _fits(self, entering: Sequence[_Asked]) -> bool:
        """Whether the last of these can go into the next step beside the others and who runs.

        Raises ValueError if it could not, were it alone.
        """
        config = self.llm.llm_engine.vllm_config
        scheduler, cache = config.scheduler_config, config.cache_config
        limits = {
            "max_num_seqs": scheduler.max_num_seqs,
            "max_num_batched_tokens": scheduler.max_num_batched_tokens,
            "num_gpu_blocks": cache.num_gpu_blocks - 1,  # one is nobody's
        }

        def needed(entering: Sequence[_Asked], running: Sequence[_Asked]) -> dict[str, int]:
            requests = sum(len(asked.inputs) for asked in running)
            lengths = [length for asked in entering for length in asked.lengths]
            kept = [*lengths, *(length for asked in running for length in asked.lengths)]
            return {
                "max_num_seqs": requests + len(lengths),
                "max_num_batched_tokens": requests + sum(lengths),
                "num_gpu_blocks": sum(
                    -(-(length + self.max_new_tokens) // cache.block_size) for length in kept
                ),
            }

        *_, last = entering
        alone = needed([last], []) | {"max_model_len": max(last.lengths) + self.max_new_tokens}
        for name, need in alone.items():
            most = limits.get(name, config.model_config.max_model_len)
            if need > most:
                raise ValueError(
                    f"Question {last.group.sample} with {len(last.inputs)} rounds of up to "
                    f"{max(last.lengths)} tokens needs {name}={need} or more to be read in one "
                    f"step; the engine has {most}. Make it with load_llm(…, {SETTING[name]}), or "
                    "ask a method of fewer rounds."
                )
        together = needed(entering, self.running)
        return all(together[name] <= most for name, most in limits.items())

    def _enter(self, entering: Sequence[_Asked]) -> None:
        """Put the requests of groups into the engine, between two of its steps."""
        for asked in entering:
            self.running.append(asked)
            for number, (name, each) in enumerate(zip(asked.ids, asked.inputs, strict=True)):
                params = SamplingParams(
                    temperature=0.0,
                    max_tokens=self.max_new_tokens,
                    stop_token_ids=sorted(self.model.eos_token_ids),
                    ignore_eos=True,  # the kernel's own ends of sequence stop, and no other
                    detokenize=False,
                    extra_args={KEY: (asked.group, number)},
                )
                self.llm.llm_engine.add_request(name, each, params)

    def _step(self) -> Iterator[_Asked]:
        """Let the engine make a step; yield the questions that are then over."""
        by_name = {name: asked for asked in self.running for name in asked.ids}
        for output in self.llm.llm_engine.step():
            if output.finished:
                by_name[output.request_id].written.append(output.outputs[0].token_ids)
                self.counts.prompt_tokens += len(output.prompt_token_ids)
                self.counts.cached_tokens += output.num_cached_tokens or 0
        self.counts.steps += 1
        over = [asked for asked in self.running if asked.over]
        self._leave([asked for asked in over if len(asked.written) < len(asked.inputs)])
        self.running = [asked for asked in self.running if not asked.over]
        self.counts.incomplete += sum(asked.group.incomplete for asked in over)
        yield from over

    def _leave(self, leaving: Sequence[_Asked]) -> None:
        """Take out of the engine what is left of some questions."""
        self.llm.llm_engine.abort_request([name for asked in leaving for name in asked.ids])

    def answer(self, group: Group) -> Answer:
        end = next((token for token in group.chosen if token in self.model.eos_token_ids), None)
        tokens = tuple(group.chosen if end is None else group.chosen[:-1])
        return Answer(
            text=self.model.tokenizer.decode(tokens, skip_special_tokens=True),
            tokens=tokens,
            end=end,
            rounds=group.method.rounds,
            looked=(bool(group.method.visual),) * len(group.chosen),
            error=group.error,
        )


SETTING = {
    "max_num_seqs": "max_num_seqs=…",
    "max_num_batched_tokens": "max_num_batched_tokens=…",
    "num_gpu_blocks": "kv_cache_memory_bytes=…",
    "max_model_len": "max_model_len=…",
}
"""Which setting of vLLM's gives more of what is needed."""


def _prompt(ids: Sequence[int], image: Image.Image | None = None) -> dict[str, Any]:
    shown = {} if image is None else {"multi_modal_data": {"image": image}}
    return {"prompt_token_ids": list(ids), **shown}
