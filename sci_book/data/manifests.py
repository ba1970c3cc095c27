"""The one YAML file that describes a data set: where its file lies, and what its columns mean.

The same keys serve the six data sets, their pocket twins, and a data set of your own
(`book/your_own_data.md` explains each with an example). A mistake is one sentence that names the
key, what came, and what was expected.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PositiveInt,
    ValidationError,
    model_validator,
)

from sci_book.data.answers.rules import FREE
from sci_book.data.rows import DatasetError

MOST_BYTES = 65_536
"""A manifest is a page of text; a longer file is something else."""

MOST_LEVELS = 8

QuestionType = Literal["mcq", "yesno", "short", "number", "free", "description"]
CHECKSUM_LENGTHS = {"md5": 32, "sha256": 64, "content": 64}


def _as_tuple(value: Any) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value
    listed = isinstance(names, list | tuple) and names
    if not listed or not all(isinstance(name, str) and name for name in names):
        raise ValueError("expected the name of a column, or a list of names")
    return tuple(names)


def _inside(value: str) -> str:
    if climbs_out(value):
        raise ValueError("expected a relative path without .., below the folder")
    return value


def _anywhere(value: str) -> str:
    if "\0" in value:
        raise ValueError("expected the path of a file or folder")
    return value


def climbs_out(name: str) -> bool:
    """Whether a relative file name is none: absolute, with a drive, or with a step upwards."""
    posix, windows = PurePosixPath(name), PureWindowsPath(name)
    return (
        "\0" in name
        or posix.is_absolute()
        or bool(windows.anchor)
        or ".." in posix.parts
        or ".." in windows.parts
    )


def _checksum(value: Any) -> Any:
    if value is None:
        return value
    ((kind, digits),) = value.items() if isinstance(value, dict) and len(value) == 1 else [("", "")]
    full_length = isinstance(digits, str) and len(digits) == CHECKSUM_LENGTHS.get(kind)
    hexadecimal = full_length and set(digits) <= set("0123456789abcdef")
    if not (kind in CHECKSUM_LENGTHS and (digits is None or hexadecimal)):
        raise ValueError("expected {md5: 32 digits} or {sha256: 64 digits}, lower case")
    return value


def _template(value: str | dict[str, str]) -> str | dict[str, str]:
    for text in value.values() if isinstance(value, dict) else [value]:
        if text.count("{question}") != 1:
            raise ValueError("expected a text that holds {question} once")
    return value


def _words(value: Any) -> Any:
    """A mapping of texts, also where YAML reads an unquoted one as a number or as true or false."""
    if not isinstance(value, dict):
        return value
    if any(isinstance(key, bool) for key in value):
        raise ValueError("expected quoted names, for YAML reads yes and no as true and false")
    meant = {True: "yes", False: "no"}
    return {
        str(key): meant[text] if isinstance(text, bool) else str(text)
        for key, text in value.items()
    }


def _address(value: str) -> str:
    if value and not value.startswith(("https://", "http://", "hf://datasets/")):
        raise ValueError("expected https://… or hf://datasets/OWNER/NAME/FILE")
    return value


Name = Annotated[str, Field(min_length=1)]
Names = Annotated[tuple[str, ...], BeforeValidator(_as_tuple)]
AnyPath = Annotated[str, Field(min_length=1), AfterValidator(_anywhere)]
RelativePath = Annotated[str, Field(min_length=1), AfterValidator(_inside)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Columns(_Strict):
    """Which column holds what. Several names for one thing make as many rows of each record.

    index        the row's id, a whole number; its place in the file if left out
    question     a column, or several; a cell that holds a list of texts makes a row of each
    answer       the ground truth, one column or as many as there are questions
    image        the picture, one column or as many
    options      one column an option, or one column that holds a list of them
    translation  the whole prompt of a free question in the other language, V2's text; as many
                 columns, and lists in cells, as there are of questions
    hint         a line in front of a multiple-choice question
    rewrites     rewordings of one's own, of the whole prompt: V1's, V2's, V3's text, as a list or
                 between "|"; a row with an empty cell has those of the rules
    group        what belongs together, in splits and in intervals: one column, or several
                 that name it together; see also `Manifest.group`
    category     any label to count by
    """

    index: Name | None = None
    question: Names
    answer: Names
    image: Names
    options: Names | None = None
    translation: Names | None = None
    hint: Name | None = None
    rewrites: Name | None = None
    group: Names | None = None
    category: Name | None = None

    @model_validator(mode="after")
    def _of_one_length(self) -> Columns:
        lengths = {len(x) for x in (self.question, self.answer, self.image)} - {1}
        if len(lengths) > 1:
            raise ValueError(
                "question, answer and image name different numbers of columns; expected one each, "
                "or the same number"
            )
        if self.translation and len(self.translation) != len(self.question):
            raise ValueError("translation needs as many columns as question; expected one for each")
        return self

    @property
    def rows_a_record(self) -> int:
        """How many rows a record becomes (before lists in cells)."""
        return max(len(self.question), len(self.answer), len(self.image))


class TypeColumn(_Strict):
    """A question type for each row: what each value of a column stands for."""

    column: Name
    values: dict[str, QuestionType]


class Join(_Strict):
    """A second table of the same format: which of its columns belong to which rows, by a column
    that both have.
    """

    file: AnyPath
    by: Name
    columns: Names


class Manifest(_Strict):
    """A data set of one file, with the paths that its owner names.

    Relative paths start at `folder`; `~` is the home folder. What *rows* name stays below
    `picture_folder`, wherever that is.

    folder          where the file lies, below this repository; of a user's own data set, always
                    the folder of the YAML file, but for a file with a path of its own
    file, format    the file's name and what it is; of Parquet also a folder of files, whose names
                    give their order
    join            `Join`: where the answers, say, stand in a file of their own
    columns         `Columns`
    answers         what the cells of the answer's column stand for: {"0": no, "1": yes}
    question_type   mcq, yesno, short, number, free (captions) or description (by what it names);
                    or `question_types` by a column
    objects         what descriptions may name: a YAML file of objects, each with the list of its
                    other names (`objects.Objects`), or a list of this project, `coco` or `pocket`;
                    by default what the answers list
    pictures        what the image column holds: base64 text, a file's name, or a file's bytes
    picture_folder  where `files` lie
    options_inside  the options stand in the question itself, as "A:16  B:17  C:12"
    group           which rows belong together where `columns.group` names none: those of one
                    record, of one picture, or circular rotations (index mod 1,000,000)
    group_prefix    data sets with the same prefix share groups; by default the name
    prompt          the text that takes the question's place; the model family's own template
                    (`data_manifests/prompts.yaml`) goes around it. Of mixed kinds one for each: by
                    the value in the column of `question_types`, or by the type
    rows            how many rows the file becomes; null: not checked
    checksum        {md5: …} or {sha256: …} of the file, {content: …} of a twin; null: not known
    packed          of a twin with its pictures in the file: the file's sha256 as the locked
                    packages write it, by which its content is known and no picture is looked at
    size            bytes of the file; null: not known
    address         https://…, or hf://datasets/OWNER/NAME[@REVISION]/FILE on the hub
    """

    name: str
    title: str = ""
    source: str = ""
    licence: str = ""
    twin_of: str | None = None
    address: Annotated[str, AfterValidator(_address)] = ""
    folder: RelativePath = "."
    file: AnyPath
    size: PositiveInt | None = None
    checksum: Annotated[
        dict[Literal["md5", "sha256", "content"], str | None] | None, BeforeValidator(_checksum)
    ] = None
    packed: str | None = None
    rows: PositiveInt | None = None
    format: Literal["tsv", "csv", "json", "jsonl", "parquet"]
    join: Join | None = None
    columns: Columns
    answers: Annotated[dict[str, str] | None, BeforeValidator(_words)] = None
    question_type: QuestionType | None = None
    question_types: TypeColumn | None = None
    pictures: Literal["base64", "files", "bytes"]
    picture_folder: AnyPath = "."
    options_inside: bool = False
    objects: AnyPath | None = None
    group: Literal["record", "picture", "circular"] = "record"
    group_prefix: str = ""
    prompt: Annotated[str | dict[str, str], AfterValidator(_template)] = "{question}"

    @model_validator(mode="after")
    def _fits_together(self) -> Manifest:
        if (self.question_type is None) == (self.question_types is None):
            raise ValueError(
                "expected question_type for the whole file, or question_types by a column: one of "
                "the two"
            )
        types = self.question_types.values.values() if self.question_types else ()
        if self.options_inside and self.columns.options:
            raise ValueError("options_inside and columns.options exclude each other; keep one")
        has_options = self.options_inside or self.columns.options is not None
        if has_options != ("mcq" in (self.question_type, *types)):
            raise ValueError(
                "columns.options (or options_inside) goes with the question type mcq, and mcq "
                "with them"
            )
        if self.columns.translation and not {*FREE} & {self.question_type, *types}:
            raise ValueError(
                "columns.translation goes with the question types free and description; the other "
                "types' prompts are translated by their instruction"
            )
        if self.objects and "description" not in (self.question_type, *types):
            raise ValueError("objects goes with the question type description")
        if self.pictures == "bytes" and self.format != "parquet":
            raise ValueError(
                f"pictures: bytes needs format: parquet, and this is {self.format}; expected "
                "base64 or files"
            )
        if self.join and (unused := set(self.join.columns) - set(self.needed)):
            raise ValueError(
                f"join.columns names {', '.join(sorted(unused))}, of which no other key speaks"
            )
        if self.packed and not ("content" in (self.checksum or {}) and self.pictures != "files"):
            raise ValueError("packed goes with a checksum of the content, of pictures in the file")
        known = {*types, *(self.question_types.values if self.question_types else ())}
        if isinstance(self.prompt, dict) and (unknown := set(self.prompt) - known):
            raise ValueError(
                f"prompt names {', '.join(sorted(unknown))}; expected values of question_types, or "
                f"the types they stand for: {', '.join(sorted(known))}"
            )
        if self.group == "circular" and self.columns.index is None:
            raise ValueError("group: circular counts by columns.index, which is not given")
        return self

    def prompt_of(self, value: str, question_type: str) -> str:
        """The prompt of a row, by its value in the column of types, or its type."""
        if isinstance(self.prompt, str):
            return self.prompt
        return self.prompt.get(value, self.prompt.get(question_type, "{question}"))

    @property
    def needed(self) -> list[str]:
        """Every column the loader reads, once."""
        of = self.columns
        named = [of.index, *of.image, *of.question, of.hint, *(of.options or ()), *of.answer]
        named += [of.category, *(of.group or ()), *(of.translation or ()), of.rewrites]
        named += [self.question_types.column] if self.question_types else []
        return list(dict.fromkeys(name for name in named if name is not None))

    @property
    def known_checksum(self) -> tuple[str, str] | None:
        """Kind and digits of the checksum, or None where it is not known."""
        ((kind, digits),) = (self.checksum or {"": None}).items()
        return (kind, digits) if digits else None

    def remedy(self, name: str, *, there: bool) -> str:
        """What to do where the file is not `there`, or not right; `name` is what was asked for."""
        if self.twin_of or "content" in (self.checksum or {}):
            return f"Draw it with `sci data make {name}`."
        if self.address:
            return f"Get it with `sci data fetch {name}`."
        return f"{'Mend it' if there else 'Put it there'}, or correct the manifest."


class Collection(_Strict):
    """Several data sets under one name."""

    name: str
    title: str = ""
    parts: tuple[str, ...] = Field(min_length=1, strict=False)


def read_yaml(path: Path) -> dict:
    """A YAML mapping of plain values, of bounded size and without aliases.

    Raises:
        DatasetError: for anything else; one sentence.
    """
    expected = "expected a YAML file with one `key: value` a line"
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise DatasetError(f"{path} has more than {MOST_BYTES:,} bytes; {expected}.")
        text = content.decode("utf-8-sig")
        depth = 0
        for event in yaml.parse(text, yaml.SafeLoader):
            # Aliases let a few lines stand for gigabytes, and depth lets them take hours.
            if isinstance(event, yaml.AliasEvent):
                raise DatasetError(f"{path} holds a YAML alias (*name); write the value out.")
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > MOST_LEVELS:
                raise DatasetError(
                    f"{path} is nested deeper than {MOST_LEVELS} levels; {expected}."
                )
        value = yaml.safe_load(text)
    except OSError as error:
        raise DatasetError(f"{path} cannot be read ({error.strerror}); {expected}.") from error
    except DatasetError:
        raise
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, KeyError) as error:
        # PyYAML lets errors of the values it constructs (dates, numbers) through as they are.
        said = " ".join(str(error).split())
        raise DatasetError(f"{path} is no readable YAML ({said}); {expected}.") from error
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise DatasetError(f"{path} holds no mapping of names to values; {expected}.")
    return value


def as_manifest(values: dict, where: str | Path) -> Manifest | Collection:
    """The manifest in a mapping.

    Raises:
        DatasetError: with one sentence for every mistake.
    """
    model = Collection if "parts" in values else Manifest
    try:
        return model(**values)
    except ValidationError as error:
        sentences = [_sentence(model, mistake) for mistake in error.errors(include_url=False)]
        raise DatasetError(f"{where}: " + " ".join(sentences)) from error


def _sentence(model: type[BaseModel], error: Any) -> str:
    key = ".".join(str(part) for part in error["loc"])
    if error["type"] == "missing":
        return f"{key} is missing."
    if error["type"] == "extra_forbidden":
        inner = Columns if key.startswith("columns.") else model
        inner = Join if key.startswith("join.") else inner
        known = TypeColumn if key.startswith("question_types.") else inner
        return f"{key} is no key; expected one of {', '.join(known.model_fields)}."
    said = error["msg"].removeprefix("Value error, ")
    said = said[:1].lower() + said[1:]
    plain = isinstance(error["input"], str | int | float | bool | list | None)
    if not key or (error["type"] == "value_error" and not plain):
        return f"{key}: {said}." if key else f"{said}."
    came = repr(error["input"])
    return f"{key} is {came if len(came) <= 80 else came[:80] + '…'}; {said}."
