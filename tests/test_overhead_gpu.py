"""The benchmark of overhead at full size, tried on a processor at a hundredth of it."""

import importlib.metadata
import json
import os
import re
import subprocess
import sys
from dataclasses import replace

import pandas as pd
import pytest
import torch
from PIL import Image

from sci_book.papers.sci.overhead import CountingModel, MadeUpQuestions, counted
from sci_book.papers.shared import timing
from sci_book.resources import LOCKS, ROOT
from sci_core import SCI3, PrefixCache, generate
from sci_core.families.precision import computes_bfloat16
from sci_core.families.processors import Picture

sys.path.insert(0, str(ROOT / "benchmarks"))  # where the benchmark's files find one another

import overhead_gpu
import overhead_lines
import overhead_measure
import overhead_models
import overhead_work
from overhead_lines import DRY_RUN, ENGINES, GPU, SPEED, Line

QWEN, LLAVA = (subject.name for subject in DRY_RUN.subjects)
SMALL = "56x56"


def few_lines(preset):
    """Every way once for SCI3, and both engines, on small pictures of Qwen2-VL; one of LLaVA's."""
    lines = [
        line
        for line in overhead_lines.lines(preset)
        if (line.method in ("base", "SCI3") or line.data == ENGINES)
        and ((line.model, line.pixels) == (QWEN, SMALL) or line.data == overhead_lines.ATTENTION)
    ]
    llava = Line(SPEED, LLAVA, "84x28", 2, "SCI7", "two_phase", "warm")
    return [*lines, llava.base, llava]


@pytest.mark.parametrize(
    ("place", "millions", "tokens"), [(0, 8291, (300, 1280)), (1, 8355, (722, 1306))]
)
def test_models_and_pictures_are_of_the_size_they_say(place, millions, tokens):
    subject, small = GPU.subjects[place], DRY_RUN.subjects[place]
    model = overhead_models.random_model(subject.build, "meta", torch.bfloat16)
    assert round(model.parameters / 1e6) == millions
    shown = [model.processor.prepare(Image.new("RGB", size)).tokens for size in subject.pictures]
    assert tuple(shown) == tokens
    size = overhead_models.weights(model)
    embeddings = model.hf.get_input_embeddings().weight.numel()
    assert size.language + size.head + size.vision + embeddings == model.parameters
    tried = overhead_models.random_model(small.build, "meta", torch.bfloat16)
    assert tried.parameters <= model.parameters / 100


def test_random_models_answer_in_words_with_the_pocket_tokenizers():
    model = overhead_models.random_model(DRY_RUN.subjects[0].build, "cpu", torch.float32)
    picture = Image.new("RGB", (56, 56), "red")
    prompt = "What colour is the ball? Answer the question using a single word or phrase."
    answer = generate(model, [picture], [prompt], SCI3, 2)[0]
    assert len(answer.tokens) in (1, 2) and isinstance(answer.text, str)


def test_lines_cover_every_setting_and_open_it_with_its_base():
    lines = overhead_lines.lines(GPU)
    assert len(set(lines)) == len(lines)
    for place, line in enumerate(lines):
        assert line.data != SPEED or line.base in lines[: place + 1]
    for subject in GPU.subjects:
        pixels = ["{}x{}".format(*size) for size in subject.pictures]
        for method in ("SCI3", "SCI5", "SCI7"):
            ways = {
                (line.pixels, line.batch, line.strategy, line.cache)
                for line in lines
                if (line.model, line.method, line.data) == (subject.name, method, SPEED)
            }
            shared = {("two_phase", "warm"), ("two_phase", "cold"), ("two_phase_gate", "warm")}
            apart = {("sequential", "none"), ("naive_batch", "none")}
            assert ways == {
                (size, batch, *way)
                for size in pixels
                for batch in (1, 8, 32)
                for way in shared | (apart if batch == 1 else set())
            }
    kinds = {(line.data, line.model) for line in lines}
    assert {(kind, each.name) for kind in ("engines", "attention") for each in GPU.subjects} < kinds


def test_the_most_valuable_lines_fit_into_one_command_of_nine_minutes():
    """The paper's own protocol, all single questions, the largest batch, and both engines."""
    seconds = 0.0
    for line in overhead_lines.lines(GPU):
        seconds += overhead_work.expected(GPU, line).seconds
        if (line.data, line.model) == (ENGINES, GPU.subjects[1].name):
            break
    assert 300 < seconds < overhead_gpu.SECONDS <= 510


@pytest.mark.parametrize("batch", [1, 2])
def test_expected_tokens_are_those_that_the_engine_counts(batch):
    picture = Picture({"image_grid_thw": torch.tensor([[1, 4, 300]])}, 300)
    line = Line(SPEED, "none", SMALL, batch, "SCI7", "two_phase", "warm")
    ways = [
        replace(line, cache="cold"),
        replace(line, strategy="sequential", cache="none"),
        replace(line, strategy="naive_batch", cache="none"),
        replace(line, strategy="naive_batch", cache="none", prompts="identical"),
        *(replace(line, strategy="two_phase_gate", decided=share) for share in (0.0, 0.5, 1.0)),
    ]
    for each in (line.base, line, *ways, *(replace(way, method="SCI3") for way in ways)):
        model = CountingModel()
        questions, warm = MadeUpQuestions(model, picture), PrefixCache(constants_only=True)
        overhead_lines.run_line(model, line, questions, warm)
        marks = []
        with counted(model) as counts:
            overhead_lines.run_line(
                model, each, questions, warm, lambda c=counts, m=marks: m.append(dict(c))
            )
        phase = overhead_work.prompt(each, 300)
        assert (phase.rows, phase.pictures) == (marks[0]["token_rows"], marks[0]["pictures"]), each
        assert phase.heads == marks[0]["head_rows"]
        assert marks[0]["calls"] / 2 <= phase.calls <= 2 * marks[0]["calls"]
        steps = overhead_work.steps(each, 300)
        assert steps.rows == marks[-1]["head_rows"] - marks[0]["head_rows"], each


@pytest.fixture(scope="module")
def dry_run(tmp_path_factory):
    """A dry run that is stopped after two lines, and goes on; its file, and what each part did."""
    path = tmp_path_factory.mktemp("dry") / "results.json"
    measured, kept = [], []

    def stopping(subject, line, *rest):
        if len(measured) == 2 and not kept:
            kept.append(json.loads(path.read_text()))
            raise KeyboardInterrupt
        measured.append(line)
        return overhead_measure.measure(subject, line, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(overhead_gpu, "lines", few_lines)
        patch.setattr(overhead_gpu, "measure", stopping)
        with pytest.raises(KeyboardInterrupt):
            overhead_gpu.measure_all(path, 600, dry_run=True)
        overhead_gpu.measure_all(path, 600, dry_run=True)
    return path, measured, kept[0]


def test_a_run_keeps_what_it_has_and_measures_nothing_twice(dry_run):
    path, measured, kept = dry_run
    results = json.loads(path.read_text())
    assert results["failed"] == []
    assert measured == few_lines(DRY_RUN)
    assert [row["new_tokens"] for row in kept["rows"]] == [1, 5, 1, 5]
    assert results["rows"][:4] == kept["rows"]
    assert list(dict.fromkeys(map(overhead_lines.line_of, results["rows"]))) == measured
    assert results["settings"]["seconds"] > kept["settings"]["seconds"] > 0


def test_rows_hold_ratios_parts_bounds_and_memory(dry_run):
    results = json.loads(dry_run[0].read_text())
    for row in results["rows"]:
        if row["data"] != SPEED:
            continue
        assert row["ratio_q1"] <= row["ratio_median"] <= row["ratio_q3"]
        parts = (row["vision_seconds"], row["language_seconds"])
        assert min(parts) > 0 and sum(parts) < 2 * row["seconds_median"]
        assert row["bound"] == {1: "arithmetic", 5: "memory"}[row["new_tokens"]]
        assert row["bound_seconds"] > 0 and row["bound_share"] > 0
        # Of a processor that emulates bfloat16, large products are slower than the small ones here.
        if row["bound"] == "memory" or computes_bfloat16("cpu"):
            assert row["bound_share"] < 1
        if row["strategy"] == "base":
            assert row["ratio_median"] == row["token_rows_ratio"] == 1
            continue
        assert row["token_rows_ratio"] > 1
        assert row["skip_rate"] == (row["decided"] or 0.0)
        assert row["rounds"] == 2
        if row["new_tokens"] == 5 and row["peak_bytes"]:
            assert row["peak_ratio"] is None or row["peak_ratio"] > 0
    engines = next(row for row in results["rows"] if row["data"] == ENGINES)
    assert engines["same"] + engines["near_ties"] == engines["steps"] == 10
    assert engines["largest_logit_difference"] < 2 * engines["logit_noise"]
    tower = next(row for row in results["rows"] if row["data"] == "attention")
    assert tower["strategy"] == "eager" and min(tower["sdpa_seconds"], tower["ratio_q1"]) > 0


def test_results_of_a_gpu_are_read_beside_a_processors(dry_run, tmp_path):
    results = json.loads(dry_run[0].read_text())
    for kind in ("gpu", "cpu"):
        (tmp_path / f"{kind}.json").write_text(json.dumps({**results, "preset": kind}))
    loaded = timing.load_results(tmp_path)
    keys = pd.concat([result["frame"]["key"] for result in loaded.values()])
    assert len(loaded) == 2 and keys.is_unique  # each time is a number of its own
    rows = timing.grid(loaded["GPU"]).xs("with gate, 100 % decided", level="way")
    assert (rows["skip_rate"] == 1).all() and len(rows) == 2


def test_results_of_another_device_or_version_are_refused(dry_run, tmp_path):
    results = json.loads(dry_run[0].read_text())
    path = tmp_path / "other.json"
    results["device"], results["versions"]["torch"] = "NVIDIA H300", "9.9"
    path.write_text(json.dumps(results))
    before = path.read_bytes()
    with pytest.raises(
        overhead_gpu.OtherResults,
        match=r"other\.json was measured with other values of device, versions: "
        r"device NVIDIA H300, here .*'torch': '9\.9'.*Give another --json, or move the file away",
    ):
        overhead_gpu.measure_all(path, 600, dry_run=True)
    assert path.read_bytes() == before


def test_what_does_not_run_is_recorded_and_costs_only_itself(tmp_path, monkeypatch):
    first, second, third = few_lines(DRY_RUN)[:2] + few_lines(DRY_RUN)[-2:-1]
    monkeypatch.setattr(overhead_gpu, "lines", lambda preset: [first, second, third])
    monkeypatch.setattr(overhead_gpu, "Subject", Broken)
    monkeypatch.setattr(overhead_gpu, "measure", Broken.measure)
    path = tmp_path / "results.json"
    overhead_gpu.measure_all(path, 600, dry_run=True)
    results = json.loads(path.read_text())
    assert [row["method"] for row in results["rows"]] == ["base", "base"]
    assert [each["method"] for each in results["failed"]] == ["SCI3"]
    assert results["failed"][0]["error"] == "RuntimeError: no kernel image is available"


class Broken:
    """A device on which no method but the base runs."""

    def __init__(self, *_):
        pass

    def questions(self, pixels):
        return None

    @staticmethod
    def measure(subject, line, rounds, base):
        if line.method != "base":
            raise RuntimeError("no kernel image is available")
        row = {name: getattr(line, name) for name in Line.__dataclass_fields__}
        row |= {"new_tokens": 1, "seconds_median": 1.0, "ratio_median": 1.0, "bound": "arithmetic"}
        return [{**row, "bound_share": 0.5}]


def test_no_line_is_begun_that_would_not_end_in_time():
    lines = overhead_lines.lines(GPU)
    costs = [overhead_work.expected(GPU, line).seconds for line in lines]
    assert overhead_gpu._next(GPU, lines, 1e6, 0.0, 0.0) == lines[0]
    cheapest = min(costs)
    assert overhead_gpu._next(GPU, lines, 1.4 * cheapest, 0.0, 0.0) is not None
    assert overhead_gpu._next(GPU, lines, 1.4 * cheapest, 1.0, 2.0) is None  # twice as slow
    largest = lines[costs.index(max(costs))]
    assert overhead_gpu._next(GPU, [largest, lines[0]], max(costs), 0.0, 0.0) == lines[0]


def closure(name, found):
    """A distribution and all that it requires, by their names, of what is installed."""
    try:
        distribution = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return found
    key = distribution.metadata["Name"].lower()
    if key not in found:
        found[key] = distribution
        for each in distribution.requires or ():
            if "extra ==" not in each:
                closure(re.match(r"[\w.-]+", each).group(), found)
    return found


@pytest.mark.slow
def test_the_listed_packages_are_enough_and_no_network_is_asked(tmp_path):
    """A dry run that begins no line, in a process that sees torch, what it brings, and the list."""
    listed = [
        line.split("  # ")
        for line in (ROOT / "benchmarks" / "gpu-packages.txt").read_text().splitlines()
        if not line.startswith("#")
    ]
    locked = [line for lock in LOCKS for line in lock.read_text().splitlines()]
    assert [name for name, _ in listed if name not in locked] == []
    megabytes = sum(float(size.removesuffix(" MB")) for _, size in listed)
    heading = (ROOT / "benchmarks" / "gpu-packages.txt").read_text()
    assert f"{megabytes:.0f} MB as wheels" in heading

    site = tmp_path / "site"
    site.mkdir()
    names = [name.split("==")[0] for name, _ in listed]
    bare = [importlib.metadata.distribution(name) for name in names]
    for distribution in [*closure("torch", {}).values(), *bare]:
        for top in {file.parts[0] for file in distribution.files if file.parts[0] != ".."}:
            if not (site / top).exists():
                (site / top).symlink_to(distribution.locate_file(top))
    path = tmp_path / "results.json"
    alone = (
        "import os, runpy, socket, sys; socket.socket.connect = lambda *_: os._exit(99); "
        "runpy.run_path(sys.argv.pop(1), run_name='__main__')"
    )
    paths = (site, ROOT, ROOT / "benchmarks")
    done = subprocess.run(
        [sys.executable, "-S", "-c", alone, "benchmarks/overhead.py", "--preset", "gpu",
         "--dry-run", "--json", path, "--seconds", "0"],
        cwd=ROOT,
        env={**os.environ, "HF_HUB_OFFLINE": "0", "PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "132 lines are left; the same command measures them." in done.stdout
    assert not path.exists()


def test_frames_of_results_need_no_gate(dry_run):
    """A file of the CPU's preset has no column of stated shares."""
    frame = pd.DataFrame(json.loads(dry_run[0].read_text())["rows"])
    frame = frame[frame["decided"].isna()].drop(columns="decided")
    assert len(timing.grid({"frame": frame})) > 0


@pytest.mark.slow
def test_a_checkout_for_a_small_machine_has_what_the_benchmark_reads(tmp_path):
    tree = tmp_path / "tree"
    subprocess.run(["git", "clone", "--quiet", "--shared", str(ROOT), str(tree)], check=True)
    make = ["make", "--file", str(ROOT / "Makefile"), "device-tree"]
    subprocess.run(make, cwd=tree, check=True)
    left = [path for path in tree.rglob("*") if path.is_file() and ".git" not in path.parts]
    assert sum(path.stat().st_size for path in left) < 40 * 2**20  # 64 MiB travel, with wheels
    assert len(list(tree.rglob("*.safetensors"))) == 2  # one model, and reference logits
    made = (
        "import torch, overhead, overhead_lines as lines; from overhead_models import random_model;"
        "[random_model(subject.build, 'meta', torch.bfloat16)"
        " for preset in (lines.GPU, lines.DRY_RUN) for subject in preset.subjects]"
    )
    path = {"PYTHONPATH": f"{tree}:{tree / 'benchmarks'}"}
    subprocess.run([sys.executable, "-c", made], env={**os.environ, **path}, check=True)
    (tree / "README.md").write_text("changed")
    refused = subprocess.run(make, cwd=tree, capture_output=True, text=True)
    assert refused.returncode == 2 and "commit or stash" in refused.stderr
