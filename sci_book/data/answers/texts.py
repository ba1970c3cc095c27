"""A model's text without what sets it off: thoughts, tags, JSON, boxes, Markdown, blanks."""

from __future__ import annotations

import re
import unicodedata

# What NFKC would set beside its neighbours ("3²" is not 32, "№" is not no), or take for three
# full stops.
_KEPT = "…" + "".join(
    sign
    for sign in map(chr, range(0xA0, 0x3400))
    if unicodedata.decomposition(sign).startswith(("<super>", "<sub>", "<fraction>"))
    or (unicodedata.decomposition(sign).startswith("<compat>") and "\u2100" <= sign <= "\u214f")
)
_BETWEEN_KEPT = re.compile(f"[^\0-\x7f{_KEPT}][^{_KEPT}]*")
# White letters on black, and the letters of flags, which NFKC leaves as they are.
_ON_BLACK = {
    first + place: ord("A") + place for first in (0x1F150, 0x1F170, 0x1F1E6) for place in range(26)
} | {0x2776 + place: ord("1") + place for place in range(9)}
_TERMINAL_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_UNSEEN = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")  # of the sign before it
_BLANKS = "".join(map(chr, (*range(0x21), *range(0x7F, 0xA1))))  # and control characters
_PERHAPS_INVISIBLE = re.compile(r"[^ -~\n一-鿿]")
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
_TEXT_COMMAND = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|tt|sc|normal)?|math(?:rm|bf|it|sf|tt|bb|cal|normal)|[mh]box|emph|bf"
    r"|underline|boldsymbol|bm|operatorname\*?|[Ll]arge|LARGE|[Hh]uge)\s?\{([^{}]*)\}"
    r"|\{\\(?:bf|it|rm|sf|tt|em)(?:series|shape|family)?\s([^{}]*)\}"
)
_MOST_NESTED = 3
_SPACING = re.compile(
    r"\\[,;:!>]|\\(?:q?quad|displaystyle|textstyle)(?![A-Za-z])"
    r"|\\(?:left|right|[Bb]igg?[lr]?)(?=\\?[(\[)\]{}|.])"
)
_BOX = re.compile(
    r"\${0,2}\\(?:f?boxed|fbox|framebox|bbox(?:\[[^\[\]]*\])?|colorbox\{\w*\})"
    r"\s?(?:\{\s?([^{}]*?)\s?\}|([A-Za-z0-9])(?![A-Za-z0-9]))\${0,2}"
)
# Another turn of the conversation, which the model wrote on its own.
_NEXT_TURN = re.compile(
    r"\n[ \t#]*(?:(?:user|human|question|q|问题|用户)\s?[:：]"
    r"|(?:user|human|用户|assistant)[ \t]*\n)",
    re.IGNORECASE,
)
# Who speaks, as a chat's template writes it: "Assistant:", or "assistant" in a line of its own.
_TAG = r"(?:<\|?[a-z_]{1,20}\|?>)?"
_ALONE = rf"{_TAG}[ \t]*\n(?=\s*\S)"
_SPEAKER = (
    rf"[ \t#]*{_TAG}(?:(?:assistant|助手|助理|gpt|bot|ai){_TAG}\s?[:：]"
    rf"|(?:assistant|助手|助理|model){_ALONE})"
)
_SPEAKER_FIRST = re.compile(rf"\s*{_SPEAKER}", re.IGNORECASE)
_SPEAKER_LINE = re.compile(rf"\n{_SPEAKER}", re.IGNORECASE)
_PROMPT_FIRST = re.compile(
    rf"\s*#* ?{_TAG}(?:system|user|human|用户)(?:{_TAG}\s?[:：]|{_ALONE})", re.IGNORECASE
)
_INSTRUCTION_COPIED = re.compile(r"\s*please answer (?:with )?yes or no\.?\s*\n", re.IGNORECASE)
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


def undecorated(text: str) -> str:
    """`text` in plain signs: of one width, without a circle or a style, in simple Chinese.

    What cannot be seen is dropped: zero-width signs, marks of direction, and NUL at either end.
    Other control characters stay, for a model of bytes may write them as any other sign; `tidy`
    drops those at either end.
    """
    text = _PERHAPS_INVISIBLE.sub(_visible, _TERMINAL_COLOUR.sub("", text.strip("\0")))
    if text.isascii():
        return text
    text = _BETWEEN_KEPT.sub(
        lambda part: unicodedata.normalize("NFKC", part[0]), text.translate(_ON_BLACK)
    )
    return text.translate(_TRADITIONAL)


def _visible(sign: re.Match[str]) -> str:
    unseen = unicodedata.category(sign[0]) in ("Cf", "Me") or _UNSEEN.match(sign[0])
    return "" if unseen else sign[0]


def spoken(text: str) -> str:
    """What a text says in the end, without what leads to it and without its container.

    In this order: what follows the thoughts (`<think>…</think>`; of thoughts without an end
    nothing is left), the last `<answer>…</answer>`, the answer's field of JSON, the content of a
    `\\boxed{}`. What follows as another turn of the user's is left out.
    """
    text = _unwrapped(text)
    boxes = {"".join(box) for box in _BOX.findall(text)}
    return boxes.pop() if len(boxes) == 1 else text


def behind_boxes(text: str) -> str:
    """What a text says behind its last `\\boxed{}`, which may hold a formula and no answer."""
    text = _unwrapped(text)
    ends = [box.end() for box in _BOX.finditer(text)]
    return text[ends[-1] :] if ends else ""


def tidy(text: str) -> str:
    """`text` in lines without marks, one blank between words.

    A stretch in bold is closed by its marks: "**No** the dog left" becomes "No. the dog left".
    """
    text = _TICKED.sub(
        lambda tick: f" - {'correct' if tick[1] else 'wrong'}", _EMPTY_BOX.sub("", text)
    )
    text = _LIST_OR_HEADING.sub("", _SYMBOLS.sub("", _set_off(text, closed=True)))
    return text.strip().strip(_BLANKS)


def plain(text: str) -> str:
    """`text` in one line without marks, in lower case."""
    return " ".join(_set_off(text, closed=False).casefold().split())


def untagged(text: str) -> str:
    """`text` without tags: "<answer>3</answer>" becomes "3"."""
    alone = _TAG_ALONE.fullmatch(text)
    return alone[1] if alone else _TAGS.sub(" ", text)


def _unwrapped(text: str) -> str:
    """`text` after its thoughts, its tags, its JSON and the signs of a chat, with its boxes."""
    text = undecorated(text).replace("◁", "<").replace("▷", ">")
    text = _INSTRUCTION_COPIED.sub("", text, count=1) if _INSTRUCTION_COPIED.match(text) else text
    if _PROMPT_FIRST.match(text) and (turn := _SPEAKER_LINE.search(text)):
        text = text[turn.end() :]
    text = _THOUGHTS_END.split(text)[-1]
    text = _THOUGHTS_BEGIN.split(text)[0]
    if tagged := _ANSWER_TAG.findall(text):
        text = tagged[-1][1]
    text = _in_json(_FENCE.sub("", text))
    text = text[match.end() :] if (match := _SPEAKER_FIRST.match(text)) else text
    text = text.strip()
    text = text[: match.start()] if (match := _NEXT_TURN.search(text)) else text
    for _ in range(_MOST_NESTED):
        text = _TEXT_COMMAND.sub(r"\1\2", text)
    return _SPACING.sub("", text)


def _in_json(text: str) -> str:
    """The answer's field, where the text is an object of JSON that has one."""
    if "{" not in text:
        return text
    values = {"".join(values) for _, *values in _FIELD.findall(text)}
    return "\n".join(sorted(values)) if values else text


def _set_off(text: str, *, closed: bool) -> str:
    lines = (" ".join(line.split()) for line in untagged(text).splitlines())
    text = "\n".join(line for line in lines if line.strip("`"))  # less the fences of code
    text = _BOX.sub(r"\1\2", text)
    if closed:
        text = _MATHS.sub("", _FORMULA.sub(r"\1", text))
    return _EMPHASIS.sub(_closed if closed else r"\2", text).strip()


def _closed(emphasis: re.Match[str]) -> str:
    """A stretch in bold, with a full stop where words follow that it does not end by itself."""
    inside, after = emphasis[2], emphasis.string[emphasis.end() : emphasis.end() + 2]
    return inside + ("." if re.match(r" \w", after) and inside[-1:].isalnum() else "")
