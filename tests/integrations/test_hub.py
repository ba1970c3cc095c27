"""The folder for a model hub: transformers runs it by its path; it decodes as `generate` does."""

import json
import random
import subprocess
import sys
import threading

import pytest
from transformers import TextIteratorStreamer, dynamic_module_utils

from sci_book import cli
from sci_book.integrations import hub
from sci_core import generate
from sci_core.families.releases import OLDEST
from tests import tiny
from tests.test_custom_generate import expected, inputs_of, processor_of, written


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("hub") / "sci"
    hub.write_folder(out)
    return out


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Where transformers copies the code that it runs."""
    monkeypatch.setattr(dynamic_module_utils, "HF_MODULES_CACHE", str(tmp_path / "modules"))
    monkeypatch.setattr(sys, "path", [*sys.path])


def called(folder, model, images, prompts, **more):
    return {
        "custom_generate": str(folder), "trust_remote_code": True, "max_new_tokens": 5,
        "do_sample": False, "processor": processor_of(model), "images": images,
        "prompts": prompts, **more,
    }  # fmt: skip


METHODS = ("base", "VCD", "M3ID", "SCI3", "SCI5")


@pytest.mark.parametrize("family", tiny.FAMILIES)
@pytest.mark.parametrize("method", METHODS)
def test_by_its_path_it_gives_the_tokens_of_generate(family, method, folder):
    model = tiny.load(family, "float64")
    images, prompts = tiny.random_questions(random.Random(f"{family} {method}"), 5)
    asked = called(folder, model, images, prompts, method=method)
    found = written(model, inputs_of(model, images, prompts), **asked)
    assert found == expected(generate(model, images, prompts, method, 5))


@pytest.mark.parametrize("family", tiny.FAMILIES)
@pytest.mark.parametrize("method", METHODS)
def test_a_streamer_is_fed_and_ended(family, method, folder):
    model = tiny.load(family, "float64")
    images, prompts = tiny.random_questions(random.Random(family), 1)
    streamer = TextIteratorStreamer(model.tokenizer, skip_prompt=True, timeout=60)
    asked = called(folder, model, images, prompts, streamer=streamer, method=method)
    inputs = inputs_of(model, images, prompts)
    thread = threading.Thread(target=model.hf.generate, kwargs=inputs | asked)
    thread.start()
    text = "".join(streamer)
    thread.join()
    (answer,) = generate(model, images, prompts, method, 5)
    assert text == model.tokenizer.decode(expected([answer])[0])


@pytest.mark.parametrize(
    ("setting", "named"),
    [({"num_beams": 2}, "num_beams"), ({"method": "SCI99"}, "SCI99"), ({"seed": "x"}, "seed")],
    ids=str,
)
def test_what_it_does_not_follow_is_refused_by_name(setting, named, folder):
    model = tiny.load("qwen2_vl", "float64")
    images, prompts = tiny.random_questions(random.Random(1), 2)
    asked = called(folder, model, images, prompts, **setting)
    with pytest.raises((ValueError, TypeError), match=named):
        model.hf.generate(**inputs_of(model, images, prompts), **asked)


def test_without_the_package_it_says_how_to_install_it_and_names_no_registry(folder):
    program = (
        "import sys; sys.modules['sci_core'] = None; "
        "import runpy; runpy.run_path(sys.argv[1])"
    )  # fmt: skip
    file = folder / "custom_generate" / "generate.py"
    done = subprocess.run(
        [sys.executable, "-c", program, file], capture_output=True, text=True, timeout=60
    )
    said = done.stderr.splitlines()[-1]
    assert done.returncode and said.startswith("ImportError: This folder decodes with sci-core")
    assert "pip install -e ." in said and "pip install sci" not in said
    # transformers itself sends people to a registry for a package that the file imports plainly
    assert "sci_core" not in dynamic_module_utils.get_imports(file)


def test_the_requirements_are_what_was_tried_and_no_package_that_nobody_published(folder):
    text = (folder / "custom_generate" / "requirements.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert lines == [f"{package}>={oldest}" for package, oldest in OLDEST.items()]


def test_the_card_tells_what_was_measured(folder):
    found = json.loads(hub.MEASURED.read_text(encoding="utf-8"))
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert found["answers"] == found["equal"] >= 1000
    assert f"{found['equal']:,} of {found['answers']:,} answers" in card
    assert {*found["methods"]} >= {*METHODS}
    assert card.startswith("---\n") and "- custom_generate\n---" in card


def test_the_command_writes_it_and_overwrites_nothing(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["export", "custom-generate", str(tmp_path / "new")])
    assert not ended.value.code
    said = capsys.readouterr().out.split()
    assert sorted(said) == sorted(
        str(file) for file in (tmp_path / "new").rglob("*") if file.is_file()
    )
    with pytest.raises(SystemExit, match="2"):
        cli.main(["export", "custom-generate", str(tmp_path / "new")])
    assert "holds something already" in capsys.readouterr().err


def test_the_cards_program_runs(tmp_path, folder, capsys):
    """In this process: an import that it lacked of a package's part could go unseen."""
    card = (folder / "README.md").read_text(encoding="utf-8")
    program = card.split("```python\n")[1].split("```")[0]
    tiny.random_questions(random.Random(2), 1)[0][0].convert("RGB").save(tmp_path / "one.png")
    for name, value in (
        ("CHECKPOINT", tiny.checkpoint("llava_next")), ("PICTURE", tmp_path / "one.png"),
        ("FOLDER", folder),
    ):  # fmt: skip
        program = program.replace(f'"{name}"', repr(str(value)))
    exec(program, {"__name__": "__main__"})
    assert capsys.readouterr().out.startswith("[")
