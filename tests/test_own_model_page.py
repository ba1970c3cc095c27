"""The page on one's own model, followed to the letter: its hub id is in a cache, filled here.

What is cached under the page's hub id is a pocket model: loading by name from the hub's own folders
is the same for any size. Commands that need the network, or minutes, are not run here: they are
tested where they belong, and here that every option of theirs exists.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap

import pytest
import torch
import typer.main
from PIL import Image

from sci_book import cli
from sci_book.papers.sci.plan_million import Assumptions
from sci_book.pipeline.notebooks import parameter_names, read_source
from sci_book.resources import ROOT
from sci_book.run import shards
from tests import tiny

PAGE = (ROOT / "book" / "your_own_model.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(python|bash)\n(.*?)```", PAGE, re.DOTALL)
NAME = "Qwen/Qwen2-VL-7B-Instruct"
OWN = """\
from PIL import Image

image = Image.open("photo.jpg")
images = [image, image.rotate(90), image]
prompts = [f"{what} Answer the question using a single word or phrase."
           for what in ("What colour is it?", "How many are there?", "What is it?")]
"""  # what the page's blocks take from the reader's own program
SAME = """\
written = processor.tokenizer.batch_decode(
    ids[:, inputs["input_ids"].shape[1]:], skip_special_tokens=True
)
print(*(text == answer.text for text, answer in
        zip(written, generate(model, images, prompts), strict=True)))
"""  # ids and inputs are those of the page's block on transformers' own generate


ALLOWED = "HF_HUB_OFFLINE=0"  # before a command: may download (here nothing is: the cache has it)
REAL = (ROOT / "book" / "real_checkpoints.md").read_text(encoding="utf-8")
COMMANDS = [
    shlex.split(line.removeprefix(ALLOWED), comments=True)
    for language, text in [*BLOCKS, *re.findall(r"```(bash)\n(.*?)```", REAL, re.DOTALL)]
    if language == "bash"
    for line in text.replace("\\\n", " ").splitlines()
]


def test_weights_are_as_large_as_where_the_papers_own_job_is_planned():
    given = Assumptions()
    parameters = given.parameters + given.vision_parameters
    said = re.search(r"\((\d+) GB for\nQwen2-VL-7B, whose .* have ([\d.]+) billion\)", PAGE)
    assert said.groups() == (f"{given.weights / 1e9:.0f}", f"{parameters / 1e9:.1f}")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Runs a command in a folder with a photograph, where the hub's cache holds the model."""
    folder = tmp_path_factory.mktemp("reader")
    cached = folder / "hub" / f"models--{NAME.replace('/', '--')}"
    commit = "0123456789" * 4
    shutil.copytree(ROOT / "checkpoints" / "pocket-qwen2vl", cached / "snapshots" / commit)
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text(commit, encoding="utf-8")
    Image.effect_noise((96, 64), 40).convert("RGB").save(folder / "photo.jpg")
    cache = {"HF_HUB_CACHE": str(folder / "hub"), "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT)}

    def run(*words, **files):
        for name, text in files.items():
            (folder / f"{name}.py").write_text(text, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, *words],
            cwd=folder,
            env=os.environ | cache,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_one_question_prints_every_rounds_answer(run):
    asked = next(words for words in COMMANDS if words[:2] == ["sci", "ask"])
    assert NAME in asked
    said = run("-m", "sci_book", *asked[1:])
    assert said.startswith("SCI5: ")
    for each in ("original", "V1", "V2", "black", "noise500"):
        assert re.search(rf"^  {each} +alone: ", said, re.MULTILINE)


def test_the_programs_of_the_page_run(run):
    blocks = [text for language, text in BLOCKS if language == "python"]
    described, many, inside, smaller = blocks
    assert "custom_generate" in inside
    program = OWN + described + many + inside + SAME + smaller + "print(model.name)\n"
    body = textwrap.indent(program, "    ")
    said = run("program.py", program=f'if __name__ == "__main__":\n{body}')
    _, store, skipped, same, last = said.rsplit("\n", 5)[:5]
    assert re.search(r"\d+ hits?, \d+ misse?s?", store)
    assert re.fullmatch(r"visual rounds skipped at \d+ % of all steps", skipped)
    assert same == "True True True"
    assert last == NAME


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_and_option_exists(words):
    if words[0] == "make":
        known = (ROOT / "Makefile").read_text(encoding="utf-8")
        assert re.search(rf"^{words[1]}:", known, re.MULTILINE)
        assert all(f"$({each.partition('=')[0]})" in known for each in words[2:])
        return
    program, *rest = words
    if program == "papermill":
        notebook, _, *options = rest
        known = set(parameter_names(read_source((ROOT / notebook).with_suffix(".py"))))
        asked = {options[place + 1] for place, word in enumerate(options) if word == "-p"}
        asked |= {word.partition(":")[0] for word in options if ":" in word}
        assert asked and asked <= known
        return
    assert program == "sci"
    command = typer.main.get_command(cli.app)
    while rest and rest[0] in getattr(command, "commands", ()):
        command = command.commands[rest.pop(0)]
    options = {name for each in command.params for name in each.opts}
    assert {word for word in rest if word.startswith("--")} <= options


@pytest.mark.parametrize(("more", "threads"), [(0, 1), (1, 2)])
def test_the_page_says_up_to_which_size_records_are_the_same_to_the_byte(
    more, threads, monkeypatch
):
    millions = shards.SMALL_MODEL // 10**6
    said = " ".join(PAGE.split())
    assert f"for models of up to {millions} million parameters, which compute on one" in said
    model, before = tiny.load("qwen2_vl"), torch.get_num_threads()
    monkeypatch.setattr(shards, "SMALL_MODEL", model.parameters - more)
    torch.set_num_threads(2)
    try:
        with shards.one_thread(model):
            assert torch.get_num_threads() == threads
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
