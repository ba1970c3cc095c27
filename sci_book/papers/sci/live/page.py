"""What the page "Ask it yourself" reads: scripts, since a page opened from disk fetches nothing.

`setup.js` has methods, rounds and the source of the model's own thread; `scenes.js` the world;
`weights.js` the model, which a button loads.
"""

from pathlib import Path
from typing import Any

from sci_book import methods
from sci_book.data.prompts import build_prompt
from sci_book.data.rows import Row
from sci_book.files import script, write_whole
from sci_book.papers.sci.live import weights, world
from sci_book.papers.sci.live.still import still
from sci_book.pocket.dialogue import YES_NO
from sci_book.pocket.words import manifest
from sci_book.pocket.world import CELLS, COLOURS, KINDS, MOST_OF_A_KIND, PLACES, SYMBOLS
from sci_book.resources import CHECKPOINTS, ROOT
from sci_core.counterfactuals import (
    FRONTS,
    REWRITES,
    alpha_bar,
    find_dummy,
    is_visual,
    prefix_rewrite,
)
from sci_core.families.models import load_model
from sci_core.families.processors import Processor

PAGE = "SCI_LIVE"
MOST = 8  # tokens of an answer, as in the records
ASSETS = ROOT / "book" / "_assets"
THREAD = (
    "explorer/engine.js",
    "live/kernel.js",
    "live/tokenizer.js",
    "live/noise.js",
    "live/model.js",
    "live/rounds.js",
    "live/world.js",
    "live/worker.js",
)
"""Of these the model's thread is put together: a page from disk may load no script into one."""
_SCRIPTS = {"latin": "a", "chinese": "\u4e00"}  # a text of each


def write(folder: Path, model: str) -> None:
    """Write all that the page reads into a folder.

    Args:
        model: the name of a shipped pocket Qwen2-VL.
    """
    checkpoint = CHECKPOINTS / model
    loaded = load_model(str(checkpoint), device="cpu")
    weights_file = script(f"{PAGE}.weights", weights.exported(checkpoint))
    content = {
        "megabytes": round(len(weights_file) / 1e6, 1),
        "rounds": rounds(loaded.processor),
        "questions": questions(loaded.family),
        "methods": asked_methods(),
        "said": {name: row.sentence for name, row in methods.ROUNDS.items()},
        "thread": "\n".join((ASSETS / name).read_text(encoding="utf-8") for name in THREAD),
    }
    write_whole(folder / "setup.js", script(f"{PAGE}.setup", content))
    write_whole(folder / "weights.js", weights_file)
    write_whole(folder / "scenes.js", script(f"{PAGE}.world", world.exported()))
    ask = content["questions"]["forms"]["short answer"]["text"]
    write_whole(folder / "still.svg", still(loaded, world.scenes()[0], ask).encode())


def questions(family: str) -> dict[str, Any]:
    """Questions that a reader can put together, and how a prompt asks one.

    families  wordings in English and Chinese by kind of question, and the `values` of its answers
    words     Chinese words, and measure words of things; English plurals
    forms     prompts with {question} and {options}, in a language, or with a {claim}
    """
    values = {
        "colour": COLOURS,
        "count": [str(number) for number in range(1, MOST_OF_A_KIND + 1)],
        "position": CELLS,
        "place": PLACES,
        "existence": [*KINDS],
        "sign": SYMBOLS,
        "state": ["on", "off"],
    }
    wordings, words = manifest("questions.yaml"), manifest("words.yaml")

    def prompt(question: str, kind: str) -> str:
        options = {"X": "{options}"} if kind == "mcq" else {}
        row = Row("", 0, 0, "", kind, question, "", "", options=options)
        return build_prompt(row, family).replace("X. {options}\n", "{options}")

    mark = _SCRIPTS["chinese"]  # at which a prompt takes the Chinese instruction
    chinese = prompt(f"{{question}}{mark}", "mcq").replace(mark, "")
    return {
        "families": {
            name: {"values": [*of_family], **wordings[name]} for name, of_family in values.items()
        },
        "words": {"chinese": words["chinese"], "plural": words["plural"]},
        "forms": {
            "short answer": {"language": "en", "text": prompt("{question}", "short")},
            "yes or no": {"language": "en", "text": f"{{claim}} {YES_NO}"},
            "four options": {"language": "en", "text": prompt("{question}", "mcq")},
            "four options, in Chinese": {"language": "zh", "text": chinese},
        },
    }


def asked_methods() -> dict[str, dict[str, Any]]:
    """The presets whose rounds the page can make: none shows a picture made smaller."""
    return {
        name: row
        for name, row in methods.exported_methods().items()
        if all(find_dummy(round_)[0].factor == 1 for round_ in row["visual"])
    }


def rounds(processor: Processor) -> dict[str, Any]:
    """What the page needs to make the rounds of its methods: of prompts, pictures and chat turns.

    turn          token ids before the picture, between picture and prompt, after the prompt
    words         by round without a picture, the ids that stand in its place
    alphaBars     by noisy round, the share of the picture's variance that is left
    instructions  what the paper rewords, and `rewrites` by round how; `prefixes` by round and
                  script stand in front of a prompt without one, `fronts` in front of any
    """
    used = asked_methods().values()
    names = {name for row in used for name in (*row["textual"], *row["visual"])}
    visual = {name: find_dummy(name) for name in sorted(filter(is_visual, names))}
    textual = sorted(names - {*visual})
    picture = processor.config.image_token_id
    mark = "?"
    (ids,) = processor.token_ids([mark], [(picture,)])
    place = ids.index(picture)
    asked = processor.tokenizer(mark, add_special_tokens=False)["input_ids"]
    prompt = next(at for at in range(place, len(ids)) if ids[at : at + len(asked)] == asked)
    return {
        "most": MOST,
        "rules": methods.exported_rules(),
        "turn": {
            "before": ids[:place],
            "between": ids[place + 1 : prompt],
            "after": ids[prompt + len(asked) :],
        },
        "words": {
            name: processor.words_for_picture(dummy.words).ids
            for name, (dummy, _) in visual.items()
            if dummy.words is not None
        },
        "alphaBars": {
            name: alpha_bar(step) for name, (dummy, step) in visual.items() if dummy.number
        },
        "instructions": sorted(REWRITES["V1"], key=len, reverse=True),
        "rewrites": {name: REWRITES[name] for name in textual if name in REWRITES},
        "prefixes": {
            name: {
                key: prefix_rewrite(text, name).removesuffix(text) for key, text in _SCRIPTS.items()
            }
            for name in textual
            if name in REWRITES
        },
        "fronts": {name: FRONTS[name] for name in textual if name in FRONTS},
    }
