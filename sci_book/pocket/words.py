"""Words of the pocket world's questions, in English and Chinese."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Text:
    """The same words in English and in Chinese."""

    en: str
    zh: str

    def __getitem__(self, language: str) -> str:
        return self.en if language == "en" else self.zh


CHINESE = {
    "boat": ("船", "艘"), "fish": ("鱼", "条"), "crab": ("螃蟹", "只"), "bird": ("鸟", "只"),
    "cow": ("牛", "头"), "sheep": ("羊", "只"), "tree": ("树", "棵"), "house": ("房子", "座"),
    "car": ("汽车", "辆"), "bus": ("公交车", "辆"), "apple": ("苹果", "个"),
    "banana": ("香蕉", "根"),
    "cup": ("杯子", "个"), "pot": ("锅", "口"), "lamp": ("灯", "盏"), "cat": ("猫", "只"),
    "book": ("书", "本"), "ball": ("球", "个"), "flower": ("花", "朵"),
    "red": "红色", "orange": "橙色", "yellow": "黄色", "green": "绿色", "blue": "蓝色",
    "purple": "紫色", "brown": "棕色", "white": "白色", "black": "黑色",
    "sea": "大海", "field": "田野", "kitchen": "厨房", "street": "街道", "bedroom": "卧室",
    "garden": "花园",
    "top left": "左上", "top": "上面", "top right": "右上", "left": "左边", "center": "中间",
    "right": "右边", "bottom left": "左下", "bottom": "下面", "bottom right": "右下",
    "on": "开着", "off": "关着",
}  # fmt: skip
_PLURAL = {"fish": "fish", "sheep": "sheep", "bus": "buses"}
PLACE_PHRASE = {
    "sea": "at the sea", "field": "in a field", "kitchen": "in a kitchen",
    "street": "in a street", "bedroom": "in a bedroom", "garden": "in a garden",
}  # fmt: skip


def word(name: str) -> Text:
    zh = CHINESE.get(name, name)
    return Text(name, zh if isinstance(zh, str) else zh[0])


def plural(kind: str) -> str:
    """The English plural of a kind of things."""
    return _PLURAL.get(kind, kind + "s")


def with_article(noun: str) -> str:
    """The noun behind "a" or "an"."""
    return ("an " if noun[0] in "aeiou" else "a ") + noun


def phrase(kind: str, number: int, c: str) -> Text:
    """A number of things of one kind and colour."""
    zh, measure = CHINESE[kind]
    noun = kind if number == 1 else plural(kind)
    return Text(f"{number} {c} {noun}", f"{number}{measure}{word(c).zh}的{zh}")
