"""The model plugin of lmms-eval: what it hands to `generate`, and what it refuses."""

import random
import tomllib
from importlib.metadata import EntryPoint
from itertools import islice

import numpy as np
import pytest
from datasets import load_dataset as load_as_the_tool_does
from PIL import Image

from sci_book.data.datasets import load_dataset
from sci_book.pipeline.pocket_data import draw_pocket
from sci_book.resources import FROZEN_RECORDS, ROOT
from sci_book.results.export import export_drbench
from sci_book.results.records import Records, read_records
from sci_core import generate, prepare_image
from sci_core.counterfactuals import prefix_rewrite
from tests import tiny
from tests.integrations import stand_ins

MODULE = "sci_book.integrations.lmms_eval"
LETTER = "Answer with the option letter only."
TASKS = ROOT / "sci_book" / "integrations" / "lmms_eval_tasks"


@pytest.fixture(scope="module")
def plugin():
    with stand_ins.in_place(stand_ins.LMMS_EVAL, MODULE) as module:
        yield module


@pytest.fixture(scope="module")
def model(plugin):
    return made(plugin)


def made(plugin, method="SCI5", **settings):
    folder = str(tiny.checkpoint("qwen2_vl"))
    return plugin.SelfCritical(pretrained=folder, method=method, device="cpu", **settings)


def requests(plugin, model, images, prompts, settings=None, *, shown=None):
    """Requests as lmms-eval makes them of one task's documents, which are put into the model."""
    model.task_dict = {"task": {"test": [{"picture": image} for image in images]}}
    show = shown or (lambda document: [document["picture"]])
    greedy = {"max_new_tokens": 4, "temperature": 0, "do_sample": False}
    settings = settings or [greedy] * len(images)
    return [
        plugin.Instance(
            request_type="generate_until",
            arguments=(prompt, each, show, place, "task", "test"),
            idx=0,
            metadata={"task": "task", "doc_id": place, "repeats": 1},
        )
        for place, (prompt, each) in enumerate(zip(prompts, settings, strict=True))
    ]


def texts(images, prompts, max_new_tokens=4, **settings):
    """What `generate` itself answers under SCI5."""
    tokens = {"max_new_tokens": max_new_tokens}
    model = tiny.load("qwen2_vl")
    return [each.text for each in generate(model, images, prompts, "SCI5", **tokens, **settings)]


def test_the_tool_has_the_interface_that_is_written_down():
    for package in ("lmms_eval", "accelerate"):
        if not stand_ins.installed(package):
            pytest.skip(f"{package} is not installed (`pip install lmms-eval`)")
    assert stand_ins.differences(stand_ins.LMMS_EVAL) == []


def test_the_tools_registry_takes_the_manifest(plugin):
    if not stand_ins.installed("lmms_eval"):
        pytest.skip("lmms_eval is not installed (`pip install lmms-eval`)")
    from lmms_eval.models.registry_v2 import ModelRegistryV2

    registry = ModelRegistryV2()
    registry.register_manifest(plugin.MANIFEST)
    assert registry.get_model_class("sci") is plugin.SelfCritical


def test_the_entry_point_leads_to_a_manifest_of_the_class(plugin):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ((name, target),) = project["entry-points"]["lmms_eval.models"].items()
    manifest = EntryPoint(name, target, "lmms_eval.models").load()
    assert manifest.model_id == name == "sci"
    module, _, attribute = manifest.simple_class_path.rpartition(".")
    assert (module, getattr(plugin, attribute)) == (MODULE, plugin.SelfCritical)
    assert plugin.SelfCritical.is_simple


def test_it_can_be_made_from_the_tools_arguments(plugin):
    arguments = f"pretrained={tiny.checkpoint('qwen2_vl')},method=VCD"
    given = {"batch_size": "3", "device": "cpu", "max_batch_size": None}
    made_by_tool = plugin.SelfCritical.create_from_arg_string(arguments, given)
    assert (made_by_tool.method.name, made_by_tool.batch_size) == ("VCD", 3)
    assert (made_by_tool.rank, made_by_tool.world_size) == (0, 1)


def test_precision_attention_and_places_are_handed_on(plugin, monkeypatch):
    folder = tiny.checkpoint("qwen2_vl")
    asked = []
    monkeypatch.setattr(plugin, "load_model", lambda name, **how: asked.append(how))
    limits = {"min_pixels": 4, "max_pixels": 9}
    as_given = "dtype=float16,attn_implementation=eager,quantization=nf4,device_map=auto"
    for more in ("", f",{as_given},min_pixels=4,max_pixels=9"):
        # The tool names a device of its own beside whatever was asked for.
        plugin.SelfCritical.create_from_arg_string(f"pretrained={folder}{more}", {"device": "cpu"})
    plain = {"dtype": "auto", "attn_implementation": "sdpa", "quantization": None}
    assert asked[0] == {**plain, "device_map": None, "device": "cpu", **dict.fromkeys(limits)}
    given = dict(each.split("=") for each in as_given.split(","))
    assert asked[1] == given | {"device": None} | limits


def test_all_requests_are_one_call_and_answer_as_generate_does(plugin, model, monkeypatch):
    images, prompts = tiny.random_questions(random.Random(5), 6)
    calls = []

    def counting(*given, **settings):
        calls.append(len(given[1]))
        return generate(*given, **settings)

    monkeypatch.setattr(plugin, "generate", counting)
    asked = ["<image>" + prompts[0], *prompts[1:]]
    found = model.generate_until(requests(plugin, model, images, asked))
    assert found == texts(images, prompts)
    assert calls == [6]


def test_a_picture_is_prepared_as_everywhere(plugin, model, monkeypatch):
    _, prompts = tiny.random_questions(random.Random(5), 1)
    image = Image.new("RGBA", (60, 40), (200, 30, 10, 0))
    seen = []
    monkeypatch.setattr(
        plugin, "generate", lambda *call, **how: seen.append(call) or generate(*call, **how)
    )
    model.generate_until(requests(plugin, model, [image], prompts))
    assert np.asarray(prepare_image(seen[0][1][0])).min() == 255  # white: nothing was dropped


def test_a_failed_question_is_named_and_never_scored(plugin, model, monkeypatch):
    images, prompts = tiny.random_questions(random.Random(5), 3)
    found = generate(tiny.load("qwen2_vl"), images, prompts, "SCI5", max_new_tokens=1)
    found[1] = type(found[1])(**{**vars(found[1]), "error": "V1 is not finite at step 0"})
    monkeypatch.setattr(plugin, "generate", lambda *given, **settings: found)
    says = r"Task task, document 1 \(.*\) has no answer: V1 is not finite at step 0"
    with pytest.raises(RuntimeError, match=says):
        model.generate_until(requests(plugin, model, images, prompts))


def test_settings_of_a_task_are_kept_apart_and_named_where_unread(plugin, model):
    images, prompts = tiny.random_questions(random.Random(6), 4)
    settings = [
        {"max_new_tokens": 1},
        {"max_new_tokens": 6, "temperature": 0.9, "top_p": 0.9, "image_aspect_ratio": "pad"},
        {"max_new_tokens": 6, "temperature": 0.9, "do_sample": False},
        {"max_new_tokens": 6, "until": ["e", "\n\n"], "top_p": None, "num_beams": 1},
    ]
    with pytest.warns(RuntimeWarning, match="does not read these settings.*: image_aspect_ratio"):
        found = model.generate_until(requests(plugin, model, images, prompts, settings))
    plain = texts(images, prompts, 6)
    first = texts(images[:1], prompts[:1], 1)
    sampled = texts(images[1:2], prompts[1:2], 6, temperature=0.9, top_p=0.9)
    assert found == [*first, *sampled, plain[2], plain[3].split("e")[0]]


def test_answers_end_before_the_first_stop(plugin):
    assert plugin._cut("a b c", ["c", "b", "", "x"]) == "a "
    assert plugin._cut("a b c", []) == "a b c"
    assert plugin._cut("a b c", ["a"]) == ""


def test_beams_are_refused(plugin, model):
    images, prompts = tiny.random_questions(random.Random(7), 1)
    with pytest.raises(ValueError, match=r"num_beams is 3.*one beam"):
        model.generate_until(requests(plugin, model, images, prompts, [{"num_beams": 3}]))


@pytest.mark.parametrize(
    ("shown", "kinds"),
    [
        (lambda document: [document["picture"]] * 2, "Image, Image"),
        (lambda document: [], "nothing"),
        (lambda document: None, "nothing"),
        (lambda document: ["film.mp4"], "str"),
    ],
)
def test_anything_but_one_picture_is_refused(plugin, model, shown, kinds):
    images, prompts = tiny.random_questions(random.Random(8), 1)
    with pytest.raises(ValueError, match=f"document 0 shows {kinds}; .*one picture"):
        model.generate_until(requests(plugin, model, images, prompts, shown=shown))


def test_a_picture_in_a_list_of_lists_is_one_picture(plugin, model):
    images, prompts = tiny.random_questions(random.Random(9), 1)
    asked = requests(plugin, model, images, prompts)
    nested = requests(plugin, model, images, prompts, shown=lambda each: [[each["picture"]]])
    assert model.generate_until(nested) == model.generate_until(asked)


def test_what_gives_no_text_is_refused(model):
    with pytest.raises(NotImplementedError, match="no log-likelihoods; use tasks"):
        model.loglikelihood([])
    with pytest.raises(NotImplementedError, match="not several turns; use tasks"):
        model.generate_until_multi_round([])


def test_a_batch_size_that_is_no_number_is_refused(plugin):
    with pytest.raises(ValueError, match="batch_size is 'auto'"):
        made(plugin, batch_size="auto")


def test_prompts_without_a_known_instruction(plugin, model, tmp_path):
    images, _ = tiny.random_questions(random.Random(10), 2)
    prompts = [f"What is {thing}? {LETTER}" for thing in ("this", "that")]
    strict = made(plugin, unknown="refuse")
    with pytest.raises(ValueError, match=r"holds 0 known instructions.*unknown=unchanged"):
        strict.generate_until(requests(plugin, strict, images, prompts))
    with pytest.warns(RuntimeWarning, match="^2 of .* prompts .*the rule `prefix`"):
        found = model.generate_until(requests(plugin, model, images, prompts))
    rewrites = [[prefix_rewrite(prompt, name) for name in ("V1", "V2")] for prompt in prompts]
    assert found == texts(images, prompts, rewrites=rewrites)

    unchanged = made(plugin, unknown="unchanged")
    asked = requests(plugin, unchanged, images, prompts)
    with pytest.warns(RuntimeWarning, match="^2 of 2 prompts .* V1, V2 ask the prompt"):
        found = unchanged.generate_until(asked)
    assert found == texts(images, prompts, rewrites=[[prompt] * 2 for prompt in prompts])

    table = tmp_path / "table.yaml"
    table.write_text(f'"{LETTER}":\n  V1: Look.\n  V2: 看。\n', encoding="utf-8")
    with_table = made(plugin, rewrites=str(table))
    found = with_table.generate_until(requests(plugin, with_table, images, prompts))
    rewrites = [[p.replace(LETTER, word) for word in ("Look.", "看。")] for p in prompts]
    assert found == texts(images, prompts, rewrites=rewrites)
    assert (with_table.reworded.asked, with_table.reworded.fell_back) == (2, 0)


# --- the shipped task ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recorded():
    """The committed records of MME's twin, and its rows by their index."""
    draw_pocket("pocket_mme")
    records = read_records(FROZEN_RECORDS / "pocket-qwen2vl.parquet")
    mine = records.take((records.frame["dataset"] == "pocket_mme").to_numpy())
    stamp = {**mine.stamp, "datasets": {"pocket_mme": mine.stamp["datasets"]["pocket_mme"]}}
    return Records(mine.table, stamp, mine.pieces), load_dataset("pocket_mme")


@pytest.fixture
def task(plugin, recorded, tmp_path, monkeypatch):
    """The task as the tool reads it, and the documents of the exported file that it names."""
    from lmms_eval.utils import load_yaml_config

    monkeypatch.chdir(tmp_path)
    export_drbench(*recorded, "runs/drbench")
    task = load_yaml_config(str(TASKS / "drbench.yaml"))
    where = {"cache_dir": str(tmp_path / "cache"), **task["dataset_kwargs"]}
    documents = load_as_the_tool_does(task["dataset_path"], **where)[task["test_split"]]
    assert any(len(cell) < 64 for cell in documents["image"])  # held by another row
    return task, task["process_docs"](documents)


def test_the_shipped_task_shows_and_scores_what_the_records_hold(task, recorded):
    task, documents = task
    records, dataset = recorded
    rows = {row.index: row for row in dataset}
    right = dict(zip(records.frame["index"], records.correct("SCI5"), strict=True))
    said = dict(zip(records.frame["index"], records.text("SCI5"), strict=True))
    scored = []
    for document in documents:
        row = rows[document["index"]]
        (picture,) = task["doc_to_visual"](document)
        assert np.array_equal(prepare_image(picture), row.image())
        assert document[task["doc_to_text"]] == row.question
        assert document[task["doc_to_target"]].lower() == row.answer
        scored.append(task["process_results"](document, [said[row.index]]))
        assert scored[-1] == {"right": right[row.index]}
    assert {each["right"] for each in scored} == {True, False}
    assert [each["metric"] for each in task["metric_list"]] == list(scored[0])


def test_the_shipped_task_is_answered_as_generate_answers(plugin, model, task):
    task, documents = task
    some = list(islice(documents, 3))
    model.task_dict = {task["task"]: {task["test_split"]: some}}
    asked = [
        plugin.Instance(
            request_type=task["output_type"],
            arguments=(document[task["doc_to_text"]], task["generation_kwargs"],
                       task["doc_to_visual"], place, task["task"], task["test_split"]),
            idx=0,
            metadata={"task": task["task"], "doc_id": place, "repeats": 1},
        )
        for place, document in enumerate(some)
    ]  # fmt: skip
    images = [task["doc_to_visual"](document)[0] for document in some]
    prompts = [document["question"] for document in some]
    assert model.generate_until(asked) == texts(images, prompts, 8)


def test_the_tool_finds_the_shipped_task():
    if not stand_ins.installed("lmms_eval"):
        pytest.skip("lmms_eval is not installed (`pip install lmms-eval`)")
    from lmms_eval.tasks import TaskManager

    manager = TaskManager(include_path=str(TASKS), include_defaults=False)
    assert manager.all_tasks == ["drbench_mme"]
