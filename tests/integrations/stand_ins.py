"""The parts of other tools that the integrations touch, written down: names and signatures.

Where a tool is not installed its stand-in takes its place, so that the integration is run in any
case. Where it is installed, `same_interface` compares the two, so that the stand-in cannot go stale
without a test that fails.
"""

import abc
import dataclasses
import enum
import importlib.util
import inspect
import runpy
import sys
import types
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from unittest.mock import patch

import yaml


class Lmms(abc.ABC):
    """`lmms_eval.api.model.lmms` of lmms-eval 0.7.3."""

    is_simple = True

    def __init__(self):
        self._rank = 0
        self._world_size = 1
        self.task_dict = {}

    @abc.abstractmethod
    def loglikelihood(self, requests): ...

    @abc.abstractmethod
    def generate_until(self, requests): ...

    @abc.abstractmethod
    def generate_until_multi_round(self, requests): ...

    @classmethod
    def create_from_arg_string(cls, arg_string, additional_config=None):
        given = dict(each.split("=", 1) for each in arg_string.split(","))
        return cls(**given, **{k: v for k, v in (additional_config or {}).items() if v is not None})

    @property
    def rank(self):
        return self._rank

    @property
    def world_size(self):
        return self._world_size


@dataclasses.dataclass
class Instance:
    """`lmms_eval.api.instance.Instance`: the first fields, which a request is made of."""

    request_type: str
    arguments: tuple
    idx: int
    metadata: dict

    @property
    def args(self):
        return self.arguments


@dataclasses.dataclass(frozen=True)
class ModelManifest:
    """`lmms_eval.models.registry_v2.ModelManifest`."""

    model_id: str
    simple_class_path: str | None = None
    chat_class_path: str | None = None
    aliases: tuple[str, ...] = ()


def load_yaml_config(yaml_path):
    """`lmms_eval.utils.load_yaml_config`: a task, whose functions stand in files beside it."""

    class Loader(yaml.FullLoader): ...

    def function(loader, node):
        file, _, name = loader.construct_scalar(node).rpartition(".")
        return runpy.run_path(str(Path(yaml_path).with_name(f"{file}.py")))[name]

    Loader.add_constructor("!function", function)
    return yaml.load(Path(yaml_path).read_text(encoding="utf-8"), Loader)


class Accelerator:
    """`accelerate.Accelerator` of one process."""

    process_index, num_processes, device = 0, 1, "cpu"


class BaseModel:
    """`vlmeval.vlm.base.BaseModel` of `ms-vlmeval` 0.0.20."""

    INTERLEAVE = False

    def __init__(self):
        self.dump_image_func = None

    def use_custom_prompt(self, dataset): ...

    def build_prompt(self, line, dataset): ...

    def set_dump_image(self, dump_image_func):
        self.dump_image_func = dump_image_func

    def dump_image(self, line, dataset):
        return self.dump_image_func(line)

    def generate_inner(self, message, dataset=None): ...

    def generate(self, message, dataset=None):
        return self.generate_inner(message, dataset)


def dataset_type(dataset, *, default="MCQ"):
    """`vlmeval.dataset.DATASET_TYPE`, for the names that the tests use."""
    known = {"MMBench_DEV_EN_V11": "MCQ", "MME": "Y/N", "OCRVQA_TEST": "VQA", "COCO_VAL": "Caption"}
    return known.get(dataset, "VQA" if "openended" in dataset.lower() else default)


class LLM:
    """`vllm.LLM` of vLLM 0.32, which `vllm_engine.Engine` stands in for where it must answer."""

    def __init__(self, model): ...


class SamplingParams(types.SimpleNamespace):
    """`vllm.SamplingParams`: what a request is asked with, by name."""

    temperature, max_tokens, stop_token_ids = 1.0, 16, None
    ignore_eos, detokenize, extra_args = False, True, None


class MoveDirectionality(enum.Enum):
    """`vllm.v1.sample.logits_processor.MoveDirectionality`."""

    UNIDIRECTIONAL = enum.auto()
    SWAP = enum.auto()


@dataclasses.dataclass(frozen=True)
class BatchUpdate:
    """`vllm.v1.sample.logits_processor.BatchUpdate`: what changed in the rows of a batch."""

    batch_size: int
    removed: list
    added: list
    moved: list


class LogitsProcessor(abc.ABC):
    """`vllm.v1.sample.logits_processor.LogitsProcessor`."""

    @abc.abstractmethod
    def __init__(self, vllm_config, device, is_pin_memory): ...

    @abc.abstractmethod
    def apply(self, logits): ...

    @abc.abstractmethod
    def is_argmax_invariant(self): ...

    @abc.abstractmethod
    def update_state(self, batch_update): ...


LMMS_EVAL = {
    "accelerate": {"Accelerator": Accelerator},
    "lmms_eval.api.model": {"lmms": Lmms},
    "lmms_eval.api.instance": {"Instance": Instance},
    "lmms_eval.models.registry_v2": {"ModelManifest": ModelManifest},
    "lmms_eval.utils": {"load_yaml_config": load_yaml_config},
}
VLMEVALKIT = {
    "vlmeval.dataset": {"DATASET_TYPE": dataset_type},
    "vlmeval.vlm.base": {"BaseModel": BaseModel},
}
VLLM = {
    "vllm": {"LLM": LLM, "SamplingParams": SamplingParams},
    "vllm.v1.sample.logits_processor": {
        "BatchUpdate": BatchUpdate,
        "LogitsProcessor": LogitsProcessor,
        "MoveDirectionality": MoveDirectionality,
    },
}


@cache  # asked before a stand-in takes the tool's place
def installed(package):
    """Whether a tool is here; one that is here and broken shall fail, not be stood in for."""
    return importlib.util.find_spec(package) is not None


@contextmanager
def in_place(parts, module):
    """The integration `module`, imported from the tool itself or else from its stand-in."""
    if module not in _IN_PLACE:
        made = _made(parts)
        with patch.dict(sys.modules, made):
            sys.modules.pop(module, None)
            _IN_PLACE[module] = made | {module: importlib.import_module(module)}
    with patch.dict(sys.modules, _IN_PLACE[module]):
        yield _IN_PLACE[module][module]


_IN_PLACE = {}
"""By integration the modules that stand for it, the same for every file of tests: a class that is
made anew is another to whoever knows the first."""


def _made(parts):
    """The modules of a tool that is not installed."""
    made = {}
    for name, content in parts.items():
        package, *rest = name.split(".")
        if installed(package):
            continue
        for length in range(len(rest) + 1):
            part = ".".join([package, *rest[:length]])
            made.setdefault(part, types.ModuleType(part))
        vars(made[name]).update(content)
    return made


def differences(parts):
    """What an installed tool does not have as its stand-in has it: names, then parameters."""
    found = []
    for name, content in parts.items():
        for each, ours in content.items():
            theirs = getattr(importlib.import_module(name), each)
            where = f"{name}.{each}"
            if inspect.isfunction(ours):
                found += _parameters(where, ours, theirs)
                continue
            for member, value in vars(ours).items():
                if member.startswith("__") and member != "__init__":
                    continue
                if not hasattr(theirs, member):
                    found.append(f"{where}.{member} is gone")
                elif inspect.isfunction(value):
                    found += _parameters(f"{where}.{member}", value, getattr(theirs, member))
    return found


def _parameters(where, ours, theirs):
    expected, found = (inspect.signature(each).parameters for each in (ours, theirs))
    changed = [name for name in expected if name not in found]
    changed += [
        name
        for name, parameter in found.items()
        if name not in expected
        and parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    return [f"{where} takes {list(found)}, expected {list(expected)}"] if changed else []
