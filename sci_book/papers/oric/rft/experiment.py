"""Before and after: a model taught the form, fine-tuned, and asked in four ways (Table 5, part a).

The form is taught with the model's *own* words: its description of the picture as the reasoning,
its own yes or no as the solution. So no label is seen before the rewards, and what the labels
change is the difference of "taught" and "rft", which are asked alike. "plain" is the model as it
is, "cot" the same with Figure 12's prompt.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from transformers import AutoConfig

from sci_book.data.catalogue import model_name
from sci_book.data.pictures import decode_picture
from sci_book.files import json_text, write_whole
from sci_book.papers.oric.questions import CHAIN_OF_THOUGHT, INSTRUCTED, Question, explicit
from sci_book.papers.oric.rft.material import FORMED, Material, Sample, digest
from sci_book.papers.oric.rft.rewards import has_form
from sci_book.papers.oric.rft.settings import Settings
from sci_book.papers.oric.rft.training import TEACHING, claim, processor_of, teach, train, trl_here
from sci_book.run.provenance import revision
from sci_core.families.models import VisionLanguageModel, load_model
from sci_core.generate import generate

ASKED = {"plain": INSTRUCTED, "cot": CHAIN_OF_THOUGHT, "taught": FORMED, "rft": FORMED}
"""The conditions of Table 5(a) and the taught form between them, with what each is asked."""
RESULT = "result.json"
SHOWN = 6  # answers kept in full for either set

_TEACHING_STEPS = 400  # every lesson twice
_DESCRIBE = "Describe the picture."
_BATCH = 64


def run(
    checkpoint: str | Path,
    material: Material,
    out: str | Path,
    settings: Settings,
    *,
    steps: int | None = None,
    teaching_steps: int = _TEACHING_STEPS,
    say: Callable[[str], None] = print,
) -> Path:
    """Teach, fine-tune and compare; the result's file, with every answer before and after.

    A run that was cut off goes on: finished phases and conditions are kept.

    Args:
        steps: updates of the fine-tuning; by default its settings' epochs.
        teaching_steps: of the supervised phase.

    Raises:
        ImportError: without TRL, or what the model's processor needs.
        ValueError: if the folder holds a run of another model, other settings or samples.
    """
    out, began = Path(out), time.monotonic()
    trl_here()  # before minutes of work
    processor_of(checkpoint, AutoConfig.from_pretrained(checkpoint))
    model = load_model(checkpoint)
    about = {"revision": revision(model), "samples": digest(material.samples), "steps": steps}
    about |= {name: len(getattr(material, name)) for name in ("lessons", "oric", "probe")}
    claim(out, {**about, "teaching_steps": teaching_steps, **asdict(settings)})
    texts = _kept(out / "lessons.json", lambda: own_answers(model, material))
    say(f"teaching the form with {len(texts)} of the model's own answers")
    lessons = [
        Sample(material.pictures / lesson.image, _asked(FORMED, lesson, index), text)
        for index, (lesson, text) in enumerate(zip(material.lessons, texts, strict=True))
        if text is not None
    ]
    taught = teach(
        checkpoint, lessons, out / "taught", steps=teaching_steps, seed=settings.seed, say=say
    )
    trained = train(taught, material.samples, out / "rft", settings, steps=steps, say=say)
    trained_in = time.monotonic() - began
    folders = {"plain": checkpoint, "cot": checkpoint, "taught": taught, "rft": trained.folder}
    sets = {"oric": material.oric, "probe": material.probe}
    answers: dict[str, dict[str, list[list[str]]]] = {name: {} for name in sets}
    for condition, folder in folders.items():
        for name, questions in sets.items():
            say(f"asking {name}, {condition}")
            answers[name][condition] = _kept(
                out / "answers" / f"{name}-{condition}.json",
                lambda folder=folder, questions=questions, condition=condition: ask(
                    load_model(folder), questions, material.pictures, ASKED[condition],
                    settings.longest,
                ),
            )  # fmt: skip
    result = {
        "model": model_name(str(checkpoint)),
        "revision": revision(model),
        "settings": asdict(settings),
        "teaching": {"steps": teaching_steps, **TEACHING, "lessons": len(lessons)},
        "samples": len(material.samples),
        "idle": dict(trained.idle),
        "curve": list(trained.curve),
        "sets": {name: _rows(questions, answers[name]) for name, questions in sets.items()},
        "stamp": {
            "versions": {name: version(name) for name in ("torch", "transformers", "trl")},
            "device": f"{model.device.type}, {torch.get_num_threads()} threads",
            "seconds, this call's": round(trained_in),
        },
    }
    write_whole(out / RESULT, json_text(result, separators=(",", ":")).encode())
    return out / RESULT


def own_answers(model: VisionLanguageModel, material: Material) -> list[str | None]:
    """What the model itself says about each lesson, in Figure 11's form.

    None where what it says is neither yes nor no, or its description is empty.
    """
    pictures = [_picture(material.pictures / lesson.image) for lesson in material.lessons]
    asked = [_asked(INSTRUCTED, lesson, index) for index, lesson in enumerate(material.lessons)]
    described = _texts(model, pictures, [_DESCRIBE] * len(pictures), 48)
    answered = [explicit(text) for text in _texts(model, pictures, asked, 8)]
    return [
        f"<REASONING> {text.strip()} </REASONING><SOLUTION> {said} </SOLUTION>"
        if said in ("yes", "no") and text.strip()
        else None
        for text, said in zip(described, answered, strict=True)
    ]


def ask(
    model: VisionLanguageModel,
    questions: Sequence[Question],
    folder: Path,
    prompt: str,
    longest: int,
) -> list[list[str]]:
    """What a model writes, greedily, to every wording of every question."""
    asked = [(question.image, words) for question in questions for words in question.wordings]
    texts = iter(
        _texts(
            model,
            [_picture(folder / image) for image, _ in asked],
            [prompt.format(question=words) for _, words in asked],
            longest,
        )
    )
    return [[next(texts) for _ in question.wordings] for question in questions]


def _texts(
    model: VisionLanguageModel,
    pictures: Sequence[Image.Image],
    prompts: Sequence[str],
    longest: int,
) -> list[str]:
    answers = generate(model, pictures, prompts, "base", longest, batch_size=_BATCH)
    return [answer.text for answer in answers]


def _asked(prompt: str, question: Question, index: int) -> str:
    """The prompt with one of the question's wordings, in turn.

    A lesson and the one behind it are about an object that is there and one that is not: they have
    the same wording, or the wording alone would tell the answer.
    """
    return prompt.format(question=question.wordings[index // 2 % len(question.wordings)])


def _rows(
    questions: Sequence[Question], answers: dict[str, list[list[str]]]
) -> dict[str, list[Any]]:
    """The questions and, by condition, what was said and whether in the form; some texts whole."""
    return {
        "image": [question.image for question in questions],
        "target": [question.target for question in questions],
        "label": [question.label for question in questions],
        "said": {
            name: [[explicit(text) for text in texts] for texts in rows]
            for name, rows in answers.items()
        },
        "form": {
            name: [[int(has_form(text)) for text in texts] for texts in rows]
            for name, rows in answers.items()
        },
        "texts": {name: [texts[0] for texts in rows[:SHOWN]] for name, rows in answers.items()},
        "wording": [question.wordings[0] for question in questions[:SHOWN]],
    }


def _picture(file: Path) -> Image.Image:
    return decode_picture(file.read_bytes())


def _kept(file: Path, make: Callable[[], Any]) -> Any:
    """What is in a file of JSON, made and written first if it is not there."""
    if not file.exists():
        write_whole(file, json_text(make()).encode())
    return json.loads(file.read_text(encoding="utf-8"))
