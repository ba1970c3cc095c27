"""A model's text without what sets it off: thoughts, tags, JSON, boxes, Markdown, blanks."""

from __future__ import annotations

import re

# Full-width Latin letters, digits and marks, and what else one sign stands for.
_HALF_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: " "}
_THOUGHT = r"think|thinking|thoughts?|reasoning|analysis|scratchpad"
_THOUGHTS_END = re.compile(rf"</(?:{_THOUGHT})>", re.IGNORECASE)
_THOUGHTS_BEGIN = re.compile(rf"<(?:{_THOUGHT})>", re.IGNORECASE)
_ANSWER_TAG = re.compile(
    r"<(final_answer|conclusion|answer|ans|final|solution)>(.*?)(?:</\1>|$)",
    re.IGNORECASE | re.DOTALL,
)
_FENCE = re.compile(r"^ *```\w*\s*$", re.MULTILINE)
# A field whose value is the answer; the value as a string, a number or a word.
_FIELD = re.compile(
    r"[\"']((?:final|correct|selected|predicted|my)?[ _]?(?:answer|choice|option|letter|label"
    r"|prediction|result|response|output|count|number|total)|答案|选项|回答)[\"']\s*:\s*"
    r"(?:\[?\"([^\"]*)\"(?!, ?\")|'([^']*)'|([^\s,}\]\"'\[]+))",
    re.IGNORECASE,
)
_TEXT_COMMAND = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf|mathit|bf)\s?\{([^{}]*)\}")
_BOX = re.compile(r"\${0,2}\\f?boxed\s?\{\s?([^{}]*?)\s?\}\${0,2}")
# Another turn of the conversation, which the model wrote on its own.
_NEXT_TURN = re.compile(r"\n[ \t#]*(?:user|human|question|q|问题|用户)\s?[:：]", re.IGNORECASE)
_PROMPT_COPIED = re.compile(
    r"\s*(?:#* ?(?:user|human|用户)\s?[:：].*?\n[ \t#]*(?:assistant|助手)\s?[:：]"
    r"|please answer (?:with )?yes or no\.?\s*\n)",
    re.IGNORECASE | re.DOTALL,
)
_SPEAKER = re.compile(r"\s*(?:assistant|助手)\s?[:：]", re.IGNORECASE)
_TAGS = re.compile(
    r"</?[a-z][a-z0-9_]{0,15}(?: [^<>]{0,100})?/?>|<\|[a-z_]{1,20}\|>", re.IGNORECASE
)
_TAG_ALONE = re.compile(r"\s*<([A-Z]|yes|no|\d+)>[\s.]*", re.IGNORECASE)
# What is left around a box, and a word set as a formula: "\( … \)", "$B$", "\text{B}".
_MATHS = re.compile(r"\\[()\[\]]|\$(?=[A-Z]\$)|(?<=\$[A-Z])\$")
_FORMULA = re.compile(r"(?<![\w$])\${1,2} ?([A-Za-z]{1,5}|\d{1,9}) ?\${1,2}(?!\w)")
_SYMBOLS = re.compile("[☀-➿️\U0001f300-\U0001faff]")
# Characters of answers as they are written in Taiwan and Hong Kong.
_TRADITIONAL = str.maketrans(
    "選應該為對沒錯這個張隻兩圖們覺認確項無終結論會據實擇題車條頭樹裡裏當還總數顯輛見開來時貓",
    "选应该为对没错这个张只两图们觉认确项无终结论会据实择题车条头树里里当还总数显辆见开来时猫",
)
# A list with boxes, one of them ticked: "- [x] B. red".
_EMPTY_BOX = re.compile(r"^[ \t]*[-*] \[ \].*$|^[ \t]*[-*] \[[xX]\]", re.MULTILINE)
# A tick or a cross behind an option: "B. red ✅".
_TICKED = re.compile(
    r"(?<=[^\s:：–—-])[ \t]*[:：–—-]?[ \t]*(?:([✅✔✓☑√])|[❌✖✗✘❎×](?! ?[0-9]))\ufe0f?"
)
# Marks around a stretch of one line. "5*3", "*.txt" and "M*A*S*H" hold none.
_EMPHASIS = re.compile(
    r"(?<![A-Za-z0-9_])(\*{1,3}|__|`{1,3})(?=[^\s*`_])([^\n*`]{0,200}?)(?<=\S)\1(?![A-Za-z0-9_])"
)
_LIST_OR_HEADING = re.compile(r"^(?:[#>]+|[-•*]) (?=\S)", re.MULTILINE)


def half_width(text: str) -> str:
    """`text` with full-width Latin letters, digits and marks at half width, and simple Chinese."""
    return text.translate(_HALF_WIDTH).translate(_TRADITIONAL)


def spoken(text: str) -> str:
    """What a text says in the end, without what leads to it and without its container.

    In this order: what follows the thoughts (`<think>…</think>`; of thoughts without an end
    nothing is left), the last `<answer>…</answer>`, the answer's field of JSON, the content of a
    `\\boxed{}`. What follows as another turn of the user's is left out.
    """
    text = half_width(text).replace("◁", "<").replace("▷", ">")
    text = _PROMPT_COPIED.sub("", text, count=1) if _PROMPT_COPIED.match(text) else text
    text = _THOUGHTS_END.split(text)[-1]
    text = _THOUGHTS_BEGIN.split(text)[0]
    if tagged := _ANSWER_TAG.findall(text):
        text = tagged[-1][1]
    text = _in_json(_FENCE.sub("", text))
    text = text[match.end() :] if (match := _SPEAKER.match(text)) else text
    text = text.strip()
    text = text[: match.start()] if (match := _NEXT_TURN.search(text)) else text
    text = _TEXT_COMMAND.sub(r"\1", _TEXT_COMMAND.sub(r"\1", text))
    boxes = set(_BOX.findall(text))
    return boxes.pop() if len(boxes) == 1 else text


def tidy(text: str) -> str:
    """`text` in lines without marks, one blank between words.

    A stretch in bold is closed by its marks: "**No** the dog left" becomes "No. the dog left".
    """
    text = _TICKED.sub(
        lambda tick: f" - {'correct' if tick[1] else 'wrong'}", _EMPTY_BOX.sub("", text)
    )
    return _LIST_OR_HEADING.sub("", _SYMBOLS.sub("", _set_off(text, closed=True))).strip()


def plain(text: str) -> str:
    """`text` in one line without marks, in lower case."""
    return " ".join(_set_off(text, closed=False).casefold().split())


def untagged(text: str) -> str:
    """`text` without tags: "<answer>3</answer>" becomes "3"."""
    alone = _TAG_ALONE.fullmatch(text)
    return alone[1] if alone else _TAGS.sub(" ", text)


def _in_json(text: str) -> str:
    """The answer's field, where the text is an object of JSON that has one."""
    if "{" not in text:
        return text
    values = {"".join(values) for _, *values in _FIELD.findall(text)}
    return "\n".join(sorted(values)) if values else text


def _set_off(text: str, *, closed: bool) -> str:
    lines = (" ".join(line.split()) for line in untagged(text).splitlines())
    text = "\n".join(line for line in lines if line.strip("`"))  # less the fences of code
    text = _BOX.sub(r"\1", text)
    if closed:
        text = _MATHS.sub("", _FORMULA.sub(r"\1", text))
    return _EMPHASIS.sub(_closed if closed else r"\2", text).strip()


def _closed(emphasis: re.Match[str]) -> str:
    """A stretch in bold, with a full stop where words follow that it does not end by itself."""
    inside, after = emphasis[2], emphasis.string[emphasis.end() : emphasis.end() + 2]
    return inside + ("." if re.match(r" \w", after) and inside[-1:].isalnum() else "")
