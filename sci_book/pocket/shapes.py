"""How each thing of the pocket world is drawn, on a sheet of 100 x 100 units."""

from __future__ import annotations

from collections.abc import Callable

from sci_book.pocket.pen import CREAM, GLASS, INK, LEAF, STEEL, WOOD, Pen, Tint, mix


def _boat(p: Pen, t: Tint) -> None:
    p.line(WOOD, 5, 50, 4, 50, 72)
    p.poly(t.light, 54, 6, 54, 62, 92, 62)
    p.poly(t.base, 46, 14, 46, 62, 14, 62)
    p.line(t.dark, 2, 54, 34, 72, 34)
    p.line(t.dark, 2, 54, 48, 82, 48)
    p.poly(t.base, 2, 68, 98, 68, 82, 94, 20, 94)
    p.poly(t.dark, 10, 80, 92, 80, 82, 94, 20, 94)
    p.line(CREAM, 3, 6, 71, 94, 71)


def _fish(p: Pen, t: Tint) -> None:
    p.poly(t.dark, 66, 50, 98, 22, 90, 50, 98, 80)
    p.poly(t.dark, 34, 30, 52, 10, 66, 34)
    p.poly(t.dark, 40, 70, 54, 90, 62, 68)
    p.oval(t.base, 2, 24, 78, 78)
    p.pie(t.light, 8, 30, 72, 74, 10, 165)
    for x in (36, 48, 60):
        p.ring(t.dark, 3, (x - 12, 34, x + 6, 66), 290, 70)
    p.oval(CREAM, 12, 38, 24, 50)
    p.oval(INK, 15, 41, 21, 48)


def _crab(p: Pen, t: Tint) -> None:
    for side in (-1, 1):
        for dy in (0, 12, 24):
            p.line(
                t.dark, 5, 50 + side * 24, 54 + dy // 2, 50 + side * 40, 58 + dy,
                50 + side * 46, 70 + dy,
            )  # fmt: skip
        p.line(t.base, 8, 50 + side * 26, 50, 50 + side * 38, 34)
        p.oval(t.base, 50 + side * 36 - 14, 6, 50 + side * 36 + 14, 36)
        p.line(t.dark, 5, 50 + side * 34, 6, 50 + side * 36, 20)
        p.line(t.dark, 4, 50 + side * 9, 46, 50 + side * 10, 30)
        p.oval(CREAM, 50 + side * 10 - 6, 22, 50 + side * 10 + 6, 34)
        p.oval(INK, 50 + side * 10 - 3, 25, 50 + side * 10 + 3, 31)
    p.oval(t.base, 18, 38, 82, 86)
    p.pie(t.light, 26, 42, 74, 76, 190, 350)
    p.ring(t.dark, 4, (38, 58, 62, 76), 20, 160)


def _bird(p: Pen, t: Tint) -> None:
    p.line(WOOD, 4, 44, 76, 42, 96, 34, 97)
    p.line(WOOD, 4, 56, 76, 56, 96, 48, 97)
    p.poly(t.dark, 66, 52, 99, 40, 94, 60, 70, 70)
    p.oval(t.base, 18, 32, 82, 82)
    p.oval(t.base, 8, 10, 50, 52)
    p.pie(t.light, 20, 40, 66, 82, 30, 190)
    p.poly(t.dark, 38, 46, 78, 44, 88, 62, 60, 70, 42, 62)
    p.line(t.light, 2, 50, 56, 78, 56)
    p.poly((206, 158, 70), 10, 24, 0, 34, 12, 38)
    p.oval(CREAM, 18, 20, 30, 32)
    p.oval(INK, 20, 22, 28, 30)


def _cow(p: Pen, t: Tint) -> None:
    for x in (32, 44, 74, 86):
        p.box(t.dark, x - 4, 60, x + 5, 94)
        p.box(INK, x - 4, 88, x + 5, 95)
    p.line(t.dark, 3, 92, 40, 97, 66)
    p.box(t.base, 24, 30, 94, 72, 14)
    p.oval(t.light, 48, 32, 72, 54)
    p.oval(t.dark, 74, 44, 92, 66)
    p.oval((206, 160, 150), 62, 66, 76, 78)
    p.poly(t.dark, 2, 22, 14, 26, 12, 34)
    p.poly(t.dark, 44, 22, 34, 24, 36, 34)
    p.line(CREAM, 5, 14, 22, 10, 10)
    p.line(CREAM, 5, 32, 22, 36, 10)
    p.box(t.base, 9, 18, 38, 58, 10)
    p.oval((210, 172, 158), 8, 44, 39, 64)
    p.oval(INK, 14, 30, 20, 36)
    p.oval(INK, 28, 30, 34, 36)
    p.oval(INK, 15, 51, 20, 56)
    p.oval(INK, 27, 51, 32, 56)


def _sheep(p: Pen, t: Tint) -> None:
    for x in (34, 46, 66, 78):
        p.box(INK, x - 3, 66, x + 4, 94)
    p.oval(t.base, 22, 34, 90, 80)
    for x, y in ((22, 44), (34, 28), (50, 22), (66, 26), (78, 38), (82, 54), (74, 64), (56, 70),
                 (38, 66), (24, 58)):  # fmt: skip
        p.oval(t.base, x - 10, y - 6, x + 16, y + 18)
    for x, y in ((40, 38), (58, 34), (70, 46), (52, 52), (64, 62)):
        p.ring(t.dark, 3, (x - 7, y - 6, x + 7, y + 6), 20, 200)
    face = (92, 82, 76)
    p.poly(face, 2, 36, 16, 36, 14, 46)
    p.oval(face, 6, 32, 34, 70)
    p.oval(t.light, 10, 24, 36, 44)
    p.oval(CREAM, 12, 44, 20, 52)
    p.oval(INK, 14, 46, 19, 51)


def _tree(p: Pen, t: Tint) -> None:
    p.poly(WOOD, 43, 56, 57, 56, 62, 97, 38, 97)
    p.line(mix(WOOD, INK, 40), 2, 50, 66, 49, 94)
    for box in ((8, 30, 52, 72), (48, 30, 94, 74), (22, 2, 78, 52), (28, 36, 74, 76)):
        p.oval(t.base, *box)
    for x, y in ((30, 14), (48, 8), (18, 40), (42, 34), (62, 38)):
        p.oval(t.light, x, y, x + 12, y + 9)
    for x, y in ((24, 58), (46, 60), (66, 58), (76, 46), (60, 24), (34, 48)):
        p.oval(t.dark, x, y, x + 13, y + 9)


def _house(p: Pen, t: Tint) -> None:
    p.box((120, 100, 94), 66, 10, 78, 40)
    p.box(t.base, 12, 44, 88, 95)
    for y in (56, 68, 80):
        p.line(t.dark, 1, 14, y, 86, y)
    p.poly(t.dark, 0, 48, 50, 6, 100, 48)
    p.poly(mix(t.dark, INK, 30), 0, 48, 100, 48, 96, 53, 4, 53)
    p.line(t.base, 2, 20, 40, 80, 40)
    p.line(t.base, 2, 32, 29, 68, 29)
    p.box(mix(WOOD, INK, 20), 42, 64, 60, 95)
    p.oval(CREAM, 54, 78, 58, 82)
    for x in (19, 67):
        p.box(CREAM, x, 60, x + 16, 78)
        p.box(GLASS, x + 2, 62, x + 14, 76)
        p.line(CREAM, 2, x + 8, 62, x + 8, 76)


def _wheels(p: Pen, y: int, radius: int, *xs: int) -> None:
    for x in xs:
        p.oval(INK, x - radius, y - radius, x + radius, y + radius)
        p.oval(STEEL, x - radius // 2, y - radius // 2, x + radius // 2, y + radius // 2)


def _car(p: Pen, t: Tint) -> None:
    p.poly(t.base, 20, 52, 34, 24, 70, 24, 86, 52)
    p.poly(GLASS, 27, 50, 38, 30, 50, 30, 50, 50)
    p.poly(GLASS, 54, 50, 54, 30, 67, 30, 78, 50)
    p.box(t.base, 1, 48, 99, 78, 10)
    p.box(t.dark, 3, 66, 97, 78, 5)
    p.line(t.light, 3, 8, 55, 92, 55)
    p.line(t.dark, 2, 52, 50, 52, 74)
    p.oval(CREAM, 2, 54, 10, 64)
    p.oval((150, 60, 52), 91, 54, 98, 64)
    _wheels(p, 78, 13, 24, 76)


def _bus(p: Pen, t: Tint) -> None:
    p.box(t.base, 1, 10, 99, 84, 8)
    p.box(t.light, 3, 11, 97, 20, 5)
    for x in (6, 25, 44, 63):
        p.box(GLASS, x, 25, x + 15, 45, 2)
    p.box(mix(GLASS, INK, 30), 82, 25, 95, 76, 2)
    p.box(t.dark, 1, 66, 80, 84, 4)
    p.line(CREAM, 3, 5, 56, 78, 56)
    p.oval(CREAM, 2, 62, 9, 70)
    _wheels(p, 85, 11, 24, 72)


def _apple(p: Pen, t: Tint) -> None:
    p.line(WOOD, 6, 50, 28, 54, 6)
    p.poly(LEAF, 54, 18, 70, 4, 88, 8, 72, 22)
    p.oval(t.base, 6, 22, 60, 94)
    p.oval(t.base, 40, 22, 94, 94)
    p.oval(t.base, 22, 60, 78, 97)
    p.oval(t.dark, 40, 24, 62, 34)
    p.oval(t.light, 16, 34, 34, 56)
    p.oval(mix(t.light, CREAM, 50), 20, 38, 28, 48)


def _banana(p: Pen, t: Tint) -> None:
    p.poly(
        t.base, 6, 22, 12, 46, 26, 66, 48, 80, 72, 84, 96, 74, 97, 66, 78, 66, 58, 58, 42, 46, 30,
        30, 20, 14,
    )  # fmt: skip
    p.poly(t.dark, 6, 22, 12, 46, 26, 66, 48, 80, 72, 84, 96, 74, 74, 76, 50, 70, 30, 58, 18, 42)
    p.line(t.light, 4, 24, 26, 38, 46, 56, 60, 76, 69)
    p.poly(WOOD, 5, 24, 7, 8, 18, 6, 21, 17)
    p.poly(INK, 92, 66, 98, 64, 99, 74, 94, 76)


def _cup(p: Pen, t: Tint) -> None:
    p.ring(t.base, 9, (62, 32, 98, 74))
    p.poly(t.base, 6, 20, 76, 20, 68, 94, 14, 94)
    p.oval(t.base, 14, 86, 68, 99)
    p.poly(t.light, 14, 28, 24, 28, 28, 88, 20, 90)
    p.poly(t.dark, 60, 26, 74, 26, 67, 92, 56, 92)
    p.oval(t.light, 6, 10, 76, 32)
    p.oval(mix(t.dark, (70, 46, 34), 60), 12, 14, 70, 29)


def _pot(p: Pen, t: Tint) -> None:
    p.ring(t.dark, 7, (0, 44, 24, 66))
    p.ring(t.dark, 7, (76, 44, 100, 66))
    p.box(t.base, 12, 38, 88, 94, 14)
    p.box(t.dark, 66, 44, 84, 92, 8)
    p.line(t.light, 5, 22, 52, 22, 80)
    p.pie(t.base, 10, 18, 90, 66, 180, 360)
    p.pie(t.light, 18, 22, 60, 60, 190, 270)
    p.line(t.dark, 5, 9, 42, 91, 42)
    p.oval(t.dark, 42, 8, 58, 24)


def _lamp(p: Pen, t: Tint) -> None:
    p.line(STEEL, 6, 50, 46, 50, 90)
    p.oval(mix(STEEL, INK, 45), 26, 84, 74, 98)
    p.oval(STEEL, 30, 83, 70, 93)
    p.poly(t.base, 30, 4, 70, 4, 92, 54, 8, 54)
    p.poly(t.light, 38, 6, 48, 6, 44, 52, 24, 52)
    p.line(t.dark, 4, 9, 53, 91, 53)
    p.line(t.dark, 3, 31, 6, 69, 6)


def draw_lit_lamp(p: Pen, t: Tint) -> None:
    glow = (255, 246, 206)
    p.line(STEEL, 6, 50, 46, 50, 90)
    p.oval(mix(STEEL, INK, 45), 26, 84, 74, 98)
    p.oval(mix(STEEL, glow, 45), 30, 83, 70, 93)
    p.poly(mix(t.base, glow, 12), 30, 4, 70, 4, 92, 54, 8, 54)
    p.poly(mix(t.base, glow, 55), 38, 8, 62, 8, 76, 52, 24, 52)
    p.oval(glow, 36, 24, 64, 52)
    p.oval(glow, 30, 48, 70, 60)


def _cat(p: Pen, t: Tint) -> None:
    p.line(t.base, 9, 76, 88, 92, 80, 94, 58, 86, 48)
    p.oval(t.base, 24, 40, 82, 97)
    p.poly(t.base, 12, 36, 14, 2, 36, 18)
    p.poly(t.base, 62, 36, 62, 2, 40, 18)
    p.poly(mix(t.light, (206, 150, 140), 60), 17, 22, 18, 10, 27, 18)
    p.poly(mix(t.light, (206, 150, 140), 60), 57, 22, 58, 10, 48, 18)
    p.oval(t.base, 8, 12, 66, 58)
    p.oval(t.light, 32, 58, 56, 88)
    p.oval((196, 194, 110), 19, 28, 31, 40)
    p.oval((196, 194, 110), 43, 28, 55, 40)
    p.oval(INK, 23, 29, 28, 40)
    p.oval(INK, 47, 29, 52, 40)
    p.poly((206, 140, 134), 33, 42, 41, 42, 37, 48)
    p.oval(t.light, 28, 86, 42, 97)
    p.oval(t.light, 48, 86, 62, 97)
    for y in (26, 32):
        p.line(t.dark, 2, 34, y - 12, 40, y - 12)


def _book(p: Pen, t: Tint) -> None:
    p.poly(t.dark, 8, 84, 84, 84, 96, 72, 96, 96, 12, 97)
    p.poly(CREAM, 12, 86, 84, 86, 94, 76, 94, 88, 86, 94, 12, 94)
    p.poly(t.base, 6, 8, 76, 4, 92, 74, 84, 86, 10, 88)
    p.poly(t.dark, 6, 8, 16, 7, 22, 87, 10, 88)
    p.poly(CREAM, 28, 22, 68, 20, 71, 34, 29, 37)
    p.line(t.dark, 3, 34, 29, 63, 27)
    p.line(t.light, 3, 32, 54, 76, 50)
    p.line(t.light, 3, 33, 64, 78, 60)


def _ball(p: Pen, t: Tint) -> None:
    p.oval(t.base, 3, 3, 97, 97)
    p.pie(t.dark, 3, 3, 97, 97, 15, 135)
    p.oval(t.base, 4, 4, 88, 88)
    spot = mix(t.light, CREAM, 25)
    for x, y, r in ((46, 46, 13), (74, 28, 8), (76, 66, 9), (44, 80, 8), (17, 60, 7)):
        p.oval(spot, x - r, y - r, x + r, y + r)
    p.oval(mix(t.light, CREAM, 70), 22, 16, 38, 28)


def _flower(p: Pen, t: Tint) -> None:
    p.line(LEAF, 6, 50, 50, 48, 96)
    p.poly(LEAF, 48, 82, 26, 62, 16, 68, 28, 82)
    p.poly(LEAF, 50, 78, 72, 60, 82, 66, 70, 80)
    for x, y in ((50, 14), (72, 28), (64, 52), (36, 52), (28, 28)):
        p.oval(t.base, x - 17, y - 14, x + 17, y + 16)
    for x, y in ((50, 18), (66, 30), (60, 46), (40, 46), (34, 30)):
        p.line(t.dark, 3, 50, 34, x, y)
    p.oval((206, 172, 88), 38, 24, 62, 46)
    p.oval((150, 112, 62), 44, 30, 57, 41)


SHAPES: dict[str, Callable[[Pen, Tint], None]] = {
    "boat": _boat, "fish": _fish, "crab": _crab, "bird": _bird, "cow": _cow, "sheep": _sheep,
    "tree": _tree, "house": _house, "car": _car, "bus": _bus, "apple": _apple, "banana": _banana,
    "cup": _cup, "pot": _pot, "lamp": _lamp, "cat": _cat, "book": _book, "ball": _ball,
    "flower": _flower,
}  # fmt: skip

# The strokes of a symbol on a grid 4 wide and 6 high: lines as x, y, x, y, …
STROKES: dict[str, tuple[tuple[int, ...], ...]] = {
    "E": ((4, 0, 0, 0, 0, 6, 4, 6), (0, 3, 3, 3)),
    "H": ((0, 0, 0, 6), (4, 0, 4, 6), (0, 3, 4, 3)),
    "K": ((0, 0, 0, 6), (4, 0, 0, 3, 4, 6)),
    "S": ((4, 1, 3, 0, 1, 0, 0, 1, 0, 2, 1, 3, 3, 3, 4, 4, 4, 5, 3, 6, 1, 6, 0, 5),),
    "T": ((0, 0, 4, 0), (2, 0, 2, 6)),
    "X": ((0, 0, 4, 6), (4, 0, 0, 6)),
    "3": ((0, 0, 4, 0, 2, 2, 4, 4, 4, 5, 3, 6, 1, 6, 0, 5),),
    "5": ((4, 0, 0, 0, 0, 3, 3, 3, 4, 4, 4, 5, 3, 6, 0, 6),),
    "7": ((0, 0, 4, 0, 1, 6),),
    "9": ((4, 2, 3, 3, 1, 3, 0, 2, 0, 1, 1, 0, 3, 0, 4, 1, 4, 4, 2, 6, 1, 6),),
}


def draw_sign(p: Pen, t: Tint, text: str) -> None:
    p.box(WOOD, 44, 60, 56, 99)
    p.box(t.dark, 6, 0, 94, 80, 6)
    p.box(t.base, 10, 4, 90, 76, 4)
    ink = CREAM if sum(t.base) < 390 else INK
    for stroke in STROKES[text]:
        xs = (30 + 10 * x for x in stroke[::2])
        ys = (13 + 9 * y for y in stroke[1::2])
        p.line(ink, 11, *(n for point in zip(xs, ys, strict=True) for n in point))
