"""What of the package no user reaches: definitions that only tests name, defaults never replaced.

Users are the command line, the other entry points, notebooks, benchmarks, the documentation, the
packages' stubs, and whatever these reach in turn. `python tests/reachability.py` prints the rest.
A name is looked up where its import says; a method, whose object is not known here, counts as
reached once any reached code names an attribute like it.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = [name for name in ("sci_core", "sci_book") if (ROOT / name).is_dir()]

KEPT = {
    "(seed=)": "chance belongs to a seed; the book draws one, tests others",
    "(say=)": "progress is printed, and tests read what is said",
    "(folder=)": "tests read tables and claims of their own",
    "(replicates=)": "tests draw fewer, or more, than a page does",
    "(printed=)": "tests audit tables with one digit changed",
    "pocket.clip.train(": "tests train for a few steps",
    "pocket.oric.write(": "tests draw a few pictures",
    "papers.oric.rft.experiment.run(": "tests teach for a few steps",
    "sci_book.cli.main(arguments=)": "tests give the words of a command",
    "integrations.hub_generate.generate": "transformers calls it, from a copy of its file",
}
"""What may stay unreached, by a part of its name, and why; at most ten."""

DOCUMENT = ast.Module([], [])
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Bases that call none of their subclass's methods by themselves.
PLAIN_BASES = {
    "abc.ABC",
    "enum.StrEnum",
    "pydantic.BaseModel",
    "typing.Generic",
    "typing.NamedTuple",
    "typing.Protocol",
}


class Module:
    """A file: the names that it imports, and its definitions."""

    def __init__(self, path: Path, name: str):
        self.name, self.is_package = name, path.name == "__init__.py"
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.imports = dict(self.imported(self.tree))

    def imported(self, tree: ast.AST) -> Iterator[tuple[str, str]]:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    short = alias.name if alias.asname else alias.name.partition(".")[0]
                    yield alias.asname or short, short
            elif isinstance(node, ast.ImportFrom):
                parts = self.name.split(".") if node.level else []
                up = len(parts) - node.level + self.is_package
                base = ".".join([*parts[:up], *([node.module] if node.module else [])])
                for alias in node.names:
                    yield alias.asname or alias.name, f"{base}.{alias.name}"


class Definition:
    """A function, class, method or constant, and what it names.

    `calls` holds, for each callee, the keywords and the number of positional arguments; a star
    among them is a keyword "*".
    """

    def __init__(self, name: str, node: ast.AST, owner: str | None = None):
        self.name, self.node, self.owner = name, node, owner
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.values: set[str] = set()
        self.calls: list[tuple[str, set[str], int]] = []

    @property
    def short(self) -> str:
        return self.name.rpartition(".")[2]


class Code:
    """Every file of the packages, and what reaches what."""

    def __init__(self, root: Path = ROOT):
        self.modules: dict[str, Module] = {}
        self.definitions: dict[str, Definition] = {}
        self.roots: list[Definition] = []
        for package in PACKAGES:
            for path in sorted((root / package).rglob("*.py")):
                parts = path.relative_to(root).with_suffix("").parts
                name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
                self.modules[name] = Module(path, name)
        self.stubs = []
        for package in PACKAGES:
            for path in sorted((root / package).rglob("*.pyi")):
                name = ".".join(path.relative_to(root).parts[:-1])
                stub = Module(path.with_name("__init__.py"), name)
                stub.imports = dict(stub.imported(ast.parse(path.read_text(encoding="utf-8"))))
                self.modules[name].imports |= stub.imports
                self.stubs.append(stub)
        for module in self.modules.values():
            self._define(module)
        for definition in (*self.definitions.values(), *self.roots):
            self._read(definition, self._module(definition.name))
        self._read_users(root)

    def _module(self, name: str) -> Module:
        while name not in self.modules:
            name = name.rpartition(".")[0]
        return self.modules[name]

    def _define(self, module: Module) -> None:
        rest = []
        for node in module.tree.body:
            if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                name = f"{module.name}.{node.name}"
                self.definitions[name] = Definition(name, node)
                if isinstance(node, ast.ClassDef):
                    for item in node.body:
                        if isinstance(item, FUNCTIONS):
                            method = f"{name}.{item.name}"
                            self.definitions[method] = Definition(method, item, owner=name)
                if _registered(node):
                    rest.append(ast.Expr(ast.Name(node.name, ast.Load())))
            elif (targets := _constants(node)) is not None:
                for target in targets:
                    name = f"{module.name}.{target}"
                    self.definitions[name] = Definition(name, node)
            else:
                rest.append(node)
        self.roots.append(Definition(f"{module.name}.<module>", ast.Module(rest, [])))

    def _resolve(self, dotted: str) -> str:
        """The dotted name of a definition or module, through what modules only hand on."""
        for _ in range(5):
            if dotted in self.definitions or dotted in self.modules:
                return dotted
            base, _, last = dotted.rpartition(".")
            if base in self.modules and last in self.modules[base].imports:
                dotted = self.modules[base].imports[last]
            else:
                break
        return dotted

    def _target(
        self, node: ast.AST, module: Module, imports: dict[str, str], local: set[str]
    ) -> str | None:
        """What a name or a chain of attributes stands for, if it is of these packages."""
        if isinstance(node, ast.Name):
            if node.id in local:
                return None
            dotted = imports.get(node.id, f"{module.name}.{node.id}")
        elif isinstance(node, ast.Attribute):
            base = self._target(node.value, module, imports, local)
            if base is None:
                return None
            dotted = f"{base}.{node.attr}"
        else:
            return None
        dotted = self._resolve(dotted)
        return dotted if dotted in self.definitions or dotted in self.modules else None

    def _read(self, definition: Definition, module: Module) -> None:
        node = definition.node
        parts: list[ast.AST] = [node]
        imports = module.imports | dict(module.imported(node))
        local: set[str] = set()
        if isinstance(node, ast.ClassDef):
            parts = [*node.decorator_list, *node.bases, *node.keywords]
            parts += [item for item in node.body if not isinstance(item, FUNCTIONS)]
        elif isinstance(node, FUNCTIONS):
            local = {
                item.arg if isinstance(item, ast.arg) else item.id
                for item in ast.walk(node)
                if isinstance(item, ast.arg)
                or (isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store))
            }
        called = set()
        for item in (item for part in parts for item in ast.walk(part)):
            if isinstance(item, ast.Call):
                called.add(id(item.func))
                keywords = {keyword.arg or "*" for keyword in item.keywords}
                if any(isinstance(argument, ast.Starred) for argument in item.args):
                    keywords.add("*")
                callee = self._target(item.func, module, imports, local)
                if callee is None and isinstance(item.func, ast.Attribute):
                    callee = "." + item.func.attr
                if ast.unparse(item.func) == "replace":
                    callee = "replace"
                if isinstance(item.func, ast.Name) and item.func.id == "cls":
                    callee = definition.owner
                if callee:
                    definition.calls.append((callee, keywords, len(item.args)))
                if isinstance(item.func, ast.Name) and item.func.id == "getattr":
                    definition.attributes |= _texts(item.args[1])
            if isinstance(item, (ast.Name, ast.Attribute)):
                target = self._target(item, module, imports, local)
                if target is None and isinstance(item, ast.Attribute):
                    definition.attributes.add(item.attr)
                    if id(item) not in called:
                        definition.values.add("." + item.attr)
                elif target is not None:
                    definition.names.add(target)
                    if id(item) not in called:
                        definition.values.add(target)
            elif isinstance(item, ast.Constant) and isinstance(item.value, str):
                for dotted in re.findall(r"sci_(?:core|book)[.:\w]+", item.value):
                    definition.names.add(self._resolve(dotted.replace(":", ".")))

    def _read_users(self, root: Path) -> None:
        for folder in ("notebooks", "benchmarks", "book"):
            for path in sorted((root / folder).rglob("*.py")):
                module = Module(path, f"user.{path.stem}")
                user = Definition(module.name, module.tree)
                self._read(user, module)
                self.roots.append(user)
        for stub in self.stubs:
            self.roots.append(Definition("stub", DOCUMENT))
            self.roots[-1].names = {self._resolve(name) for name in stub.imports.values()}
        texts = [*(root / "book").rglob("*.md"), *root.glob("*.md"), root / "Makefile"]
        for path in [*texts, root / "pyproject.toml", *(root / "data_manifests").rglob("*.yaml")]:
            names = self._documented(path.read_text(encoding="utf-8"))
            self.roots.append(Definition("document", DOCUMENT))
            self.roots[-1].names = {self._resolve(name) for name in names}
        for path in sorted((root / "sci_book").rglob("*.yaml")):  # tasks for other tools
            folder = ".".join(path.parent.relative_to(root).parts)
            named = re.findall(r"!function (\S+)", path.read_text(encoding="utf-8"))
            self.roots.append(Definition("task", DOCUMENT))
            self.roots[-1].names = {f"{folder}.{name}" for name in named}

    def _documented(self, text: str) -> Iterator[str]:
        for dotted in re.findall(r"sci_(?:core|book)(?:[.:]\w+)+", text):
            yield dotted.replace(":", ".")
        for module, members in re.findall(r"automodule:: (\S+)\n +:members:(.*)", text):
            public = [name for name in self.definitions if name.rpartition(".")[0] == module]
            yield from (f"{module}.{name.strip()}" for name in members.split(",") if name.strip())
            if not members.strip():
                yield from (name for name in public if "._" not in name)
        for module, names in re.findall(r"from (sci_[\w.]+) import ([\w, ]+)", text):
            yield from (f"{module}.{name.strip()}" for name in names.split(","))

    def reached(self) -> list[Definition]:
        """Roots and definitions that users reach, in turn."""
        reached: dict[str, Definition] = {}
        names = set().union(*(root.names for root in self.roots))
        attributes = set().union(*(root.attributes for root in self.roots))
        grown = True
        while grown:
            grown = False
            for name, definition in self.definitions.items():
                if name in reached:
                    continue
                if name in names or (
                    definition.owner in reached and self._lives(definition, attributes)
                ):
                    reached[name] = definition
                    names |= definition.names
                    attributes |= definition.attributes
                    if definition.owner:
                        names.add(definition.owner)
                    grown = True
        return [*self.roots, *reached.values()]

    def _lives(self, method: Definition, attributes: set[str]) -> bool:
        """Whether a method of a reached class is called by somebody, perhaps not from here."""
        short = method.short
        if short.startswith("__") or short in attributes:
            return True
        if any(text.endswith("*") and short.startswith(text[:-1]) for text in attributes):
            return True
        plain = {"property", "staticmethod", "classmethod", "cached_property", "abstractmethod"}
        decorators = {ast.unparse(item).rpartition(".")[2] for item in method.node.decorator_list}
        return bool(decorators - plain) or self._foreign(method.owner)

    def _foreign(self, owner: str) -> bool:
        """Whether a class stands on one of another package, which may call any of its methods."""
        return not self._bases(owner) <= PLAIN_BASES

    def _bases(self, name: str) -> set[str]:
        """The classes of other packages that a class stands on, by their dotted names."""
        module, found = self._module(name), set()
        for base in self.definitions[name].node.bases:
            base = base.value if isinstance(base, ast.Subscript) else base
            target = self._target(base, module, module.imports, set())
            written = ast.unparse(base)
            own = target in self.definitions
            found |= self._bases(target) if own else {module.imports.get(written, written)}
        return found

    def unreached(self) -> list[str]:
        reached = {definition.name for definition in self.reached()}
        return [
            name
            for name, definition in self.definitions.items()
            if name not in reached
            and (definition.owner is None or definition.owner in reached)
            and not definition.short.startswith(("__", "_repr_"))
        ]

    def unpassed(self) -> list[str]:
        """Parameters of reached code whose default no call replaces, as `function(parameter=)`."""
        reached = self.reached()
        calls: dict[str, list[tuple[set[str], int]]] = defaultdict(list)
        for definition in reached:
            for callee, keywords, count in definition.calls:
                calls[callee].append((keywords, count))
        # Whoever takes a function as a value may pass anything, and so may a documented import.
        values = set().union(*(definition.values for definition in reached))
        documented = set().union(*(root.names for root in self.roots if root.node is DOCUMENT))
        lines = []
        for definition in reached:
            name, owner, short = definition.name, definition.owner, definition.short
            made = short == "__init__" or isinstance(definition.node, ast.ClassDef)
            taken = not made and (f".{short}" if owner else name) in values
            if taken or {name, owner} & documented or self._called(name):
                continue
            if short == "__init__":
                known = calls[owner]
            else:
                known = calls[name] + (calls[f".{short}"] if owner else [])
            if isinstance(definition.node, ast.ClassDef):
                known = known + calls["replace"]
            for parameter, place in _optional(definition.node, bool(owner)):
                if not any(
                    parameter in keywords
                    or "*" in keywords
                    or (place is not None and count > place)
                    for keywords, count in known
                ):
                    lines.append(f"{name}({parameter}=)")
        return lines

    def _called(self, name: str) -> bool:
        """Whether somebody outside may call this: a command, a protocol, a class of theirs."""
        definition = self.definitions.get(name)
        if definition is None:  # a user
            return True
        owner, short = definition.owner, definition.short
        special = short.startswith("__") and short != "__init__"
        if isinstance(definition.node, ast.ClassDef):
            # A pydantic model is made from a file's keys.
            return self._foreign(name) or "pydantic.BaseModel" in self._bases(name)
        return _registered(definition.node) or bool(owner and (special or self._foreign(owner)))


def _optional(node: ast.AST, is_method: bool) -> Iterator[tuple[str, int | None]]:
    """Parameters with a default, or such fields of a class, and their places among arguments."""
    if isinstance(node, ast.ClassDef):
        fields = [item for item in node.body if isinstance(item, ast.AnnAssign)]
        yield from ((f.target.id, place) for place, f in enumerate(fields) if f.value is not None)
    if not isinstance(node, FUNCTIONS):
        return
    static = any(ast.unparse(item) == "staticmethod" for item in node.decorator_list)
    places = [*node.args.posonlyargs, *node.args.args][int(is_method and not static) :]
    first = len(places) - len(node.args.defaults)
    yield from ((argument.arg, first + i) for i, argument in enumerate(places[first:]))
    for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        if default is not None:
            yield argument.arg, None


def _constants(node: ast.AST) -> list[str] | None:
    """The names that an assignment at the top of a file binds; None where it does more."""
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    if isinstance(node, ast.Assign):
        kinds = (ast.Name, ast.Attribute, ast.Subscript)
        parts = (item for target in node.targets for item in ast.walk(target))
        names = [item for item in parts if isinstance(item, kinds)]
        if all(isinstance(item, ast.Name) for item in names):
            return [item.id for item in names]
    return None


def _registered(node: ast.AST) -> bool:
    """Whether a decorator with arguments hands a function to somebody: a command, an option."""
    return any(
        isinstance(item, ast.Call) and ast.unparse(item.func).endswith((".command", ".callback"))
        for item in node.decorator_list
    )


def _texts(node: ast.AST) -> set[str]:
    """Attribute names that the second argument of getattr can stand for; "do_*" for a prefix."""
    if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
        return {f"{node.values[0].value}*"}
    return {node.value} if isinstance(node, ast.Constant) else set()


def left(root: Path = ROOT) -> list[str]:
    """What no user reaches and `KEPT` does not name."""
    code = Code(root)
    names = [*code.unreached(), *code.unpassed()]
    return [name for name in names if not any(part in name for part in KEPT)]


if __name__ == "__main__":
    print("\n".join(left()))
