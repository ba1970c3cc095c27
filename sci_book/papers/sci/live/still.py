"""One question of the live page as a still picture, for a reader whose browser runs no scripts."""

import base64
import io
from html import escape

from PIL import Image

from sci_book.pocket.draw import draw
from sci_book.pocket.words import plural
from sci_book.pocket.world import Scene
from sci_core.counterfactuals import counterfactual_image, is_visual, reword
from sci_core.families.base import VisionLanguageModel
from sci_core.generate import generate
from sci_core.methods import SCI5

_SIDE, _GAP, _LINE, _GREY = 96, 12, 20, "#767676"  # grey to be read on white and on black


def still(model: VisionLanguageModel, scene: Scene, ask: str) -> str:
    """SVG of SCI5's rounds on a scene, each with what it says by itself, and what SCI5 says.

    Args:
        ask: a prompt's form, with {question} in it.
    """
    question = f"How many {plural(scene.kinds[0])} are there?"
    prompt, picture = ask.format(question=question), Image.fromarray(draw(scene))
    images = [
        counterfactual_image(picture, name) if is_visual(name) else picture for name in SCI5.rounds
    ]
    prompts = [reword(prompt, name) if name in SCI5.textual else prompt for name in SCI5.rounds]
    alone = generate(model, images, prompts, "base")
    (chosen,) = generate(model, [picture], [prompt], SCI5)
    width = len(images) * (_SIDE + _GAP)
    parts = [_text(0, 16, question)]
    for place, (name, image, answer) in enumerate(zip(SCI5.rounds, images, alone, strict=True)):
        left = place * (_SIDE + _GAP)
        file = io.BytesIO()
        image.save(file, "PNG")
        coded = base64.b64encode(file.getvalue()).decode()
        parts += [
            f'<image x="{left}" y="28" width="{_SIDE}" height="{_SIDE}" '
            f'href="data:image/png;base64,{coded}"/>',
            _text(left, 32 + _SIDE + _LINE, name),
            _text(left, 32 + _SIDE + 2 * _LINE, f"says {answer.text.strip()}"),
        ]
    last = 32 + _SIDE + 3 * _LINE + 8
    parts.append(_text(0, last, f"SCI5 says {chosen.text.strip()}"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {last + 8}" '
        f'font-family="sans-serif" font-size="13" fill="{_GREY}">{"".join(parts)}</svg>\n'
    )


def _text(x: int, y: int, text: str) -> str:
    return f'<text x="{x}" y="{y}">{escape(text)}</text>'
