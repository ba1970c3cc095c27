"""A small interpreter for programs that a text model wrote about a scene.

Models that answer by code (paper, Tables 3 and 6) need that code run, and it comes from a text
model: it is untrusted. Nothing here is compiled or executed by Python. The text is parsed, and the
tree is walked by an interpreter that knows the nodes in `_do` and `_of` and no other: no attribute,
no import, no definition, no lambda, no dictionary, no format, no power, no name but the program's
own variables and the functions of `scene_functions`. Steps, time, depth and the size of every value
are bounded; whatever goes beyond is an error of the program, and an error is no answer.
"""

from __future__ import annotations

import ast
import operator
import time
import warnings
from collections.abc import Callable, Mapping
from typing import NamedTuple

LONGEST_SOURCE = 4_000  # characters
MOST_STEPS = 5_000  # nodes visited; what a program is stopped by, on any machine
MOST_SECONDS = 5.0  # should a step ever take long
DEEPEST = 40  # nodes inside one another
LARGEST_NUMBER = 10**9
LONGEST_VALUE = 1_000  # characters of a string, entries of a list

_ARITHMETIC = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Div: operator.truediv,
}  # fmt: skip
_COMPARISONS = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b, ast.Is: operator.eq, ast.IsNot: operator.ne,
}  # fmt: skip
FIELDS = ("kind", "colour", "cell", "row", "column", "on", "text")  # of a thing


class ProgramError(Exception):
    """A program that cannot be run, or went beyond a bound; the message says which."""


class Outcome(NamedTuple):
    """What a program answered ("3", "yes", "red"), or why it has no answer; steps taken."""

    answer: str | None
    error: str | None
    steps: int


class _Return(Exception):
    """Ends a program; its one argument is the program's value."""


class _Break(Exception): ...


class _Continue(Exception): ...


def run(source: str, scene: Mapping) -> Outcome:
    """Run a program about a scene: `place`, `light`, and `things` with `FIELDS`.

    A program is statements that end in `return`, bare or inside one `def answer():`. It returns a
    whole number, a string, or a Boolean, which reads "yes" or "no".
    """
    interpreter = _Interpreter(scene_functions(scene))
    try:
        value = interpreter.program(_parsed(source))
        return Outcome(_spoken(value), None, interpreter.steps)
    except ProgramError as error:
        return Outcome(None, str(error), interpreter.steps)
    except RecursionError:
        return Outcome(None, "the program is nested too deeply", interpreter.steps)


def scene_functions(scene: Mapping) -> dict[str, Callable]:
    """What a program may call, over one scene.

    find(kind)      the things of a kind, or all things without one
    colour(thing)   its colour; likewise kind, cell, row, column, on, text
    place(), light()
    len, sum, min, max, abs, sorted, any, all, int, str, range
    """
    things = [_Thing(fields) for fields in scene["things"]]

    def find(kind: str | None = None) -> list:
        return [thing for thing in things if kind is None or thing.fields["kind"] == kind]

    def attribute(name: str) -> Callable:
        def of(thing: object) -> object:
            if not isinstance(thing, _Thing):
                raise TypeError(f"{name} takes a thing")
            return thing.fields[name]

        return of

    return {
        "find": find,
        **{name: attribute(name) for name in FIELDS},
        "place": lambda: scene["place"],
        "light": lambda: scene["light"],
        "len": len, "sum": sum, "min": min, "max": max, "abs": abs, "sorted": sorted,
        "any": any, "all": all, "int": int, "str": _text, "range": _range,
    }  # fmt: skip


class _Thing:
    """One detected thing; a program can hold it and hand it to a function, no more."""

    __slots__ = ("fields",)

    def __init__(self, fields: Mapping):
        self.fields = fields


class _Interpreter:
    def __init__(self, functions: Mapping[str, Callable]):
        self.functions = functions
        self.variables: dict[str, object] = {}
        self.steps, self.depth = 0, 0
        self.end = time.monotonic() + MOST_SECONDS

    def program(self, tree: ast.Module) -> object:
        body = tree.body
        if len(body) == 1 and isinstance(body[0], ast.FunctionDef):
            (function,) = body
            plain = not any(vars(function.args).values()) and not function.decorator_list
            if function.name != "answer" or not plain or function.returns:
                raise ProgramError("the only definition allowed is `def answer():`")
            body = function.body
        try:
            self._block(body)
        except _Return as end:
            return end.args[0]
        except (_Break, _Continue):
            raise ProgramError("break or continue outside a loop") from None
        raise ProgramError("the program returns nothing")

    def _block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self._enter(statement)
            self._do(statement)
            self.depth -= 1

    def _do(self, node: ast.stmt) -> None:
        match node:
            case ast.Return():
                raise _Return(None if node.value is None else self._value(node.value))
            case ast.Break():
                raise _Break
            case ast.Continue():
                raise _Continue
            case ast.Pass():
                pass
            case ast.Expr():
                self._value(node.value)
            case ast.Assign():
                value = self._value(node.value)
                for target in node.targets:
                    self._set(target, value)
            case ast.AugAssign():
                if not isinstance(node.target, ast.Name):
                    raise ProgramError("only a variable can be assigned to")
                old = ast.Name(node.target.id, ast.Load())
                self._set(node.target, self._value(ast.BinOp(old, node.op, node.value)))
            case ast.If():
                self._block(node.body if self._value(node.test) else node.orelse)
            case ast.While():
                self._loop(node, iter(lambda: bool(self._value(node.test)), False))
            case ast.For():
                self._loop(node, self._entries(node.iter), node.target)
            case _:
                raise ProgramError(f"{type(node).__name__} is not allowed")

    def _loop(self, node: ast.While | ast.For, rounds, target: ast.expr | None = None) -> None:
        depth = self.depth
        for value in rounds:
            if target is not None:
                self._set(target, value)
            try:
                self._block(node.body)
            except _Break:
                self.depth = depth
                return
            except _Continue:
                self.depth = depth
        self._block(node.orelse)

    def _set(self, target: ast.expr, value: object) -> None:
        if not isinstance(target, ast.Name) or target.id in self.functions:
            raise ProgramError("only a variable of the program's own can be assigned to")
        if target.id.startswith("_"):
            raise ProgramError(f"the name {target.id[:40]!r} is not allowed")
        self.variables[target.id] = value

    def _value(self, node: ast.expr) -> object:
        self._enter(node)
        try:
            value = self._of(node)
        except (TypeError, ValueError, ArithmeticError, LookupError) as error:
            raise ProgramError(f"{type(error).__name__} in the program") from None
        self.depth -= 1
        return _bounded(value)

    def _of(self, node: ast.expr) -> object:
        match node:
            case ast.Constant(value=None | int() | float() | str()):
                return node.value
            case ast.Constant():
                raise ProgramError(f"a {type(node.value).__name__} is not allowed")
            case ast.Name():
                if node.id not in self.variables:
                    raise ProgramError(f"there is no variable {node.id[:40]!r}")
                return self.variables[node.id]
            case ast.List() | ast.Tuple():
                return [self._entry(entry) for entry in node.elts]
            case ast.UnaryOp(op=ast.Not()):
                return not self._value(node.operand)
            case ast.UnaryOp(op=ast.USub()):
                return -_number(self._value(node.operand))
            case ast.UnaryOp():
                raise ProgramError(f"{type(node.op).__name__} is not allowed")
            case ast.BinOp():
                return self._arithmetic(node.op, self._value(node.left), self._value(node.right))
            case ast.BoolOp():
                decisive = isinstance(node.op, ast.Or)
                for operand in node.values:
                    value = self._value(operand)
                    if bool(value) == decisive:
                        break
                return value
            case ast.Compare():
                left = self._value(node.left)
                for op, operand in zip(node.ops, node.comparators, strict=True):
                    right = self._value(operand)
                    if not _COMPARISONS[type(op)](left, right):
                        return False
                    left = right
                return True
            case ast.IfExp():
                return self._value(node.body if self._value(node.test) else node.orelse)
            case ast.Subscript():
                return self._value(node.value)[self._value(node.slice)]
            case ast.ListComp() | ast.GeneratorExp():
                entries: list[object] = []
                self._comprehend(node.generators, node.elt, entries)
                return entries
            case ast.Call():
                return self._call(node)
            case _:
                raise ProgramError(f"{type(node).__name__} is not allowed")

    def _arithmetic(self, op: ast.operator, left: object, right: object) -> object:
        if type(op) not in _ARITHMETIC:
            raise ProgramError(f"{type(op).__name__} is not allowed")
        joins = isinstance(op, ast.Add) and any(
            isinstance(left, kind) and isinstance(right, kind) for kind in (str, list)
        )
        if not joins:  # so that no string is formatted and no list repeated
            left, right = _number(left), _number(right)
        return _ARITHMETIC[type(op)](left, right)

    def _comprehend(self, generators: list, entry: ast.expr, entries: list) -> None:
        if not generators:
            entries.append(self._entry(entry))
            _bounded(entries)
            return
        first, *rest = generators
        if first.is_async:
            raise ProgramError("async is not allowed")
        for value in self._entries(first.iter):
            self._set(first.target, value)
            if all(self._value(condition) for condition in first.ifs):
                self._comprehend(rest, entry, entries)

    def _call(self, node: ast.Call) -> object:
        name = node.func.id if isinstance(node.func, ast.Name) else None
        if name not in self.functions or node.keywords:
            raise ProgramError("only the functions of the scene can be called, by position")
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            raise ProgramError("Starred is not allowed")
        return self.functions[name](*(self._value(argument) for argument in node.args))

    def _entry(self, node: ast.expr) -> object:
        value = self._value(node)
        if isinstance(value, list):
            # Two lists nested n deep take 2 ** n comparisons in a single step.
            raise ProgramError("a list inside a list is not allowed")
        return value

    def _entries(self, node: ast.expr) -> list:
        value = self._value(node)
        if not isinstance(value, list):
            raise ProgramError("a loop goes over a list")
        return list(value)

    def _enter(self, node: ast.AST) -> None:
        """Count a node, and stop a program that has gone on for too long or too deep."""
        self.steps += 1
        self.depth += 1
        if self.steps > MOST_STEPS:
            raise ProgramError(f"the program took more than {MOST_STEPS:,} steps")
        if self.depth > DEEPEST:
            raise ProgramError("the program is nested too deeply")
        if self.steps % 64 == 0 and time.monotonic() > self.end:
            raise ProgramError(f"the program took more than {MOST_SECONDS:g} s")


def _parsed(source: str) -> ast.Module:
    if len(source) > LONGEST_SOURCE:
        raise ProgramError(f"the program is longer than {LONGEST_SOURCE:,} characters")
    lines = source.strip().splitlines()
    if lines and lines[0].startswith("```") and lines[-1].strip() == "```":
        lines = lines[1:-1]
    source = "\n".join(lines)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the program's own escapes and comparisons
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ProgramError("the text is no program") from None


def _bounded(value: object) -> object:
    """The value, unless it is too large or of a kind that no program may hold."""
    if isinstance(value, bool | _Thing) or value is None:
        return value
    if isinstance(value, int | float):
        if not -LARGEST_NUMBER <= value <= LARGEST_NUMBER:  # NaN included
            raise ProgramError(f"a number is beyond {LARGEST_NUMBER:,}")
        return value
    if isinstance(value, str | list):
        if len(value) > LONGEST_VALUE:
            raise ProgramError(f"a string or list is longer than {LONGEST_VALUE:,}")
        return value
    raise ProgramError(f"a {type(value).__name__} is not allowed")


def _number(value: object) -> int | float:
    if not isinstance(value, int | float):
        raise TypeError("a number was expected")
    return value


def _range(*bounds: int) -> list[int]:
    numbers = range(*bounds)
    if len(numbers) > LONGEST_VALUE:
        raise ProgramError(f"a string or list is longer than {LONGEST_VALUE:,}")
    return list(numbers)


def _text(value: object) -> str:
    if not isinstance(value, int | float | str):
        raise TypeError("only a number or a string has a text")
    return str(value)


def _spoken(value: object) -> str:
    """A program's value as an answer."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int | str):
        return str(value)
    raise ProgramError("the program returns neither a number nor a string nor a Boolean")
