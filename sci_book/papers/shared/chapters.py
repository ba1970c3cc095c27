"""What the chapters share: the models they read, the paper's numbers beside, words for results.

A chapter names its models; `subjects` reads their records and says what the paper calls them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from sci_book.data.catalogue import is_training_of, model_entry, model_name
from sci_book.data.datasets import dataset_names, read_manifest
from sci_book.papers.shared import gate, parameters
from sci_book.papers.shared.parameters import Names
from sci_book.papers.shared.stamp import checksum, located, provenance
from sci_book.papers.shared.tables import Table, interval, number, plain
from sci_book.resources import PAPER
from sci_book.results import places
from sci_book.results.controls import CONTROLS
from sci_book.results.drbench import Quantifier, split, subsets
from sci_book.results.records import Records, RecordsError, read_records
from sci_book.results.replay import Replay, replay_of
from sci_book.results.stamps import NotRecorded
from sci_book.results.statistics import Interval, beyond_chance, difference, share
from sci_core.methods import ICD, METHODS, VDD, Method

SplitBy = Literal["rows", "groups"]
_RUN = ("revision", "prompts", "dtype", "noise", "max_new_tokens", "datasets")
READINGS: tuple[tuple[Quantifier, SplitBy], ...] = (
    ("any", "rows"),
    ("all", "rows"),
    ("any", "groups"),
    ("all", "groups"),
)


@runtime_checkable
class Named(Protocol):
    """Anything with a model name and the path of its records."""

    @property
    def name(self) -> str: ...

    @property
    def path(self) -> Path: ...


@dataclass(frozen=True, eq=False)
class Subject:
    """One model of a chapter.

    Attributes:
        name: its records are `<name>.parquet`, at `path`.
        label: the model's name in the paper's tables; None for one the paper does not have.
        brief: its name in rows that hold the paper's numbers too, unlike that of any other model.
        shown: the head of our columns, such as "pocket Qwen2-VL", unlike that of any other model.
        ordinary: the same model with the records its conditions are judged on (`with_records`).
        single: whether it is one training by itself, without the others (`by_training`).
        companion: whose folder, within that of all records, its records lie in; "" for none.
    """

    name: str
    label: str | None
    brief: str
    shown: str
    path: Path
    records: Records
    ordinary: Subject | None = None
    single: bool = False
    companion: str = ""

    def with_records(self, records: Records, path: Path | None = None) -> Subject:
        """This model with other records, whose conditions stay judged on its ordinary ones."""
        source = self.ordinary or self
        return replace(self, records=records, path=path or self.path, ordinary=source)

    def beside(self, folder: str) -> Subject:
        """This training with its answers to other questions, in a folder as a companion's.

        Raises:
            NotRecorded: it has none.
        """
        if folder not in self._beside:
            path = self._folder / folder / self.path.name
            if not path.is_file():
                raise NotRecorded(
                    f"{path} does not exist: training {self.number} of {self.name} was not asked "
                    f"the questions of {folder}. REPRODUCING.md has the command that makes it."
                )
            other = self.with_records(read_records(path), path)
            self._beside[folder] = replace(other, companion=folder)
        return self._beside[folder]

    @cached_property
    def _beside(self) -> dict[str, Subject]:
        return {}

    @cached_property
    def trainings(self) -> list[Subject]:
        """This model, then those of the same recipe and name in the folders `training1`, …

        Each of these stands in the folder of all records and is laid out as that is, a companion's
        records in its folder. Each training is a model of its own: its conditions are judged on
        its own records.
        """
        within = self.path.relative_to(self._folder)
        others = [
            replace(self, records=read_records(folder / within), path=folder / within)
            for folder in training_folders(self._folder)
            if (folder / within).is_file() and not self.single
        ]
        return [self, *others]

    @property
    def _folder(self) -> Path:
        """The folder of all records of this training."""
        return self.path.parent.parent if self.companion else self.path.parent

    @property
    def number(self) -> int:
        """Which training of its recipe this is, by its folder: 1 in `training1`, else 0."""
        return training_in(self._folder)

    @cached_property
    def groups(self) -> np.ndarray:
        """The question group of every row."""
        return self.records.frame["group"].to_numpy(dtype=object)

    @cached_property
    def clusters(self) -> np.ndarray:
        """The group of every row as a number, which is compared sooner than its name.

        The same in all records of the same group.
        """
        return pd.util.hash_array(self.groups)

    @cached_property
    def kinds(self) -> np.ndarray:
        """ "MCQ" or "Others" for every row."""
        return self.records.frame["kind"].to_numpy(dtype=object)

    @cached_property
    def tuned(self) -> Subject:
        """This model on the validation rows of the paper's split.

        With the records `validation/<name>.parquet` beside its own, where there are some of the
        same model: they hold the ablations of Tables 6 and 8, which no replay settles.

        Raises:
            RecordsError: those records are of another revision, or of other rows.
        """
        rows = split(self.records, "rows") == "validation"
        own = self.with_records(self.records.take(rows))
        path = self.path.parent / "validation" / self.path.name
        if not path.is_file():
            return own
        validation = read_records(path)
        _check_same_run(own, validation, path, "--methods ablations --validation")
        return self.with_records(validation, path)

    @cached_property
    def unmet(self) -> dict[str, str]:
        """By condition, what this model does not meet of what claims rest on (`gate.unmet`)."""
        if self.ordinary is not None:
            return self.ordinary.unmet
        return gate.unmet(self.records, self.path, self.printed)

    @property
    def printed(self) -> dict[str, float] | None:
        """Percent right of the paper's model it stands for (Table 10), by question type."""
        found = paper_values("table10").get((self.label, "base", "all", "Overall"))
        return None if found is None else {"Overall": float(found.max())}

    @cached_property
    def unmet_by_trainings(self) -> dict[str, str]:
        """`unmet` over the trainings of this model (`gate.over_trainings`)."""
        return gate.over_trainings((self.ordinary or self).trainings)

    @property
    def fit(self) -> bool:
        """Whether claims about SCI can be judged on this model, over its trainings."""
        return not gate.of_claim(gate.OF_SCI, {self.name: self.unmet_by_trainings})

    @cached_property
    def replay(self) -> Replay:
        """The records made ready for methods that were not decoded."""
        return replay_of(self.records)

    @cached_property
    def _further(self) -> Records | None:
        """Answers to the same rows by other methods, `further/<name>.parquet` beside the records.

        None where there are none. Of these methods they hold what was decoded, and no logits.

        Raises:
            RecordsError: they are of another revision, or lack some of the rows.
        """
        path = self.path.parent / "further" / self.path.name
        if not path.is_file():
            return None
        records = read_records(path)
        places = {key: place for place, key in enumerate(records.keys)}
        rows = [places[key] for key in self.records.keys if key in places]
        records = records.take(np.array(rows, dtype=np.int64))
        how = f"--methods {ICD.name},{VDD.name} --record answers"
        _check_same_run(self, records, path, how)
        return records

    @cached_property
    def draws(self) -> pd.DataFrame:
        """By method, a column each, the share of 20 answers drawn at temperature 1 that is right.

        From `draws/<name>.csv` beside the records (`run.draws`); NaN for a row without draws.

        Raises:
            RecordsError: the draws are of another revision of the model.
        """
        path = self.path.parent / "draws" / f"{self.path.stem}.csv"
        if not path.is_file():
            return pd.DataFrame(index=range(len(self.records.table)))
        drawn = pd.read_csv(path)
        if set(drawn.pop("revision")) != {self.records.stamp["revision"]}:
            raise RecordsError(
                f"{path} does not go with {self.path.name}: it is of another revision. Draw anew "
                "with `python benchmarks/draws.py`, or delete it."
            )
        return drawn.set_index(["dataset", "index"]).reindex(self.records.keys)

    def answers(self, method: Method | str) -> pd.DataFrame:
        """The `answer` of every row, None where unknown, and whether it is `known`.

        A method is looked up by its fields, whatever its name: as decoded, if the records hold it
        or those in the folder `further` beside them do; otherwise replayed, what they leave open
        read off the first token and not `known` (`sweeps.outcome` bounds it). A string names a
        preset, or one round, asked alone.

        Raises:
            NotRecorded: the records hold neither the method nor the rounds or logits of a replay.
        """
        method = METHODS.get(method, method)
        if method not in self._answers:
            holding, policy = self.held(method)
            if policy is None:
                found = self.replay.answers(method, prove=False)[["answer", "known"]]
            else:
                parsed = holding.parsed(policy)
                found = pd.DataFrame({"answer": pd.Series(parsed, dtype=object), "known": True})
            self._answers[method] = found
        return self._answers[method]

    def held(self, method: Method | str) -> tuple[Records, str | None]:
        """The records that hold a method as decoded, with its policy there: row by row its own.

        Of a method that neither its own nor `further` records hold, its own and None; of a name
        that is no policy, its own and the name.
        """
        policy = self._policy(method, self.records)
        if policy not in ("base", *self.records.policies) and self._further is not None:
            other = self._policy(method, self._further)
            if other in self._further.policies:
                return self._further, other
        return self.records, policy

    @staticmethod
    def _policy(method: Method | str, records: Records) -> str | None:
        return method if isinstance(method, str) else records.policy_of(method)

    def decoded(self, method: Method | str) -> str:
        """The records' name of a method that they hold as decoded, with the text of its answers.

        The method as in `answers`.

        Raises:
            NotRecorded: they do not hold it by its fields.
        """
        policy = self._policy(METHODS.get(method, method), self.records)
        if policy not in self.records.policies:
            raise NotRecorded(
                f"The records of {self.shown} hold no answers of {getattr(method, 'name', method)} "
                f"with these constants; they hold {', '.join(self.records.policies)}. Evaluate "
                "again with it."
            )
        return policy

    def holds(self, method: Method | str) -> bool:
        """Whether `right` has answers: the records hold the method, or what it follows from."""
        try:
            return len(self.right(method)) > 0
        except NotRecorded:
            return False

    def right(self, method: Method | str) -> np.ndarray:
        """1 or 0 for a right or wrong answer of every row, NaN for a row with an error.

        The method as in `answers`, or one of `controls.CONTROLS` by its name.
        """
        method = METHODS.get(method, method)
        if method in CONTROLS and method not in self._right:
            self._right[method] = CONTROLS[method].right(self)
        if method not in self._right:
            said = self.answers(method)["answer"].to_numpy(dtype=object)
            hits = said == self.records.frame["truth"].to_numpy(dtype=object)
            ok = self.records.ok & self.held(method)[0].ok
            self._right[method] = np.where(ok, hits, np.nan)
        return self._right[method]

    @cached_property
    def _answers(self) -> dict[Method | str, pd.DataFrame]:
        return {}

    @cached_property
    def _right(self) -> dict[Method | str, np.ndarray]:
        return {}

    def share(self, outcomes: np.ndarray, rows: np.ndarray) -> Interval:
        """The mean of some rows' outcomes (a mask), with its interval over question groups."""
        return share(outcomes[rows], self.clusters[rows])

    def difference(self, gaps: np.ndarray, rows: np.ndarray) -> Interval:
        """The mean of some rows' differences of two outcomes, with its interval."""
        return difference(gaps[rows], self.clusters[rows])

    def sets(self, quantifier: Quantifier, split_by: SplitBy, part: str = "test") -> pd.DataFrame:
        """Membership in DRBench's subsets within one part of a split, and in `overlap`, B ∩ S.

        The same frame each time, for who asks to read and not to change.
        """
        known = quantifier, split_by, part
        if known not in self._sets:
            sets = subsets(self.records, quantifier)
            sets["overlap"] = sets["B"] & sets["S"]
            self._sets[known] = sets & (split(self.records, split_by) == part)[:, None]
        return self._sets[known]

    @cached_property
    def _sets(self) -> dict[tuple[str, str, str], pd.DataFrame]:
        return {}


class Found(NamedTuple):
    """The models that have records of a companion, a sentence on each that has none, its title."""

    subjects: list[Subject]
    absent: list[str]
    title: str


def model_names(models: Names) -> list[str]:
    """The names of a chapter's models: see `catalogue.model_name`.

    Raises:
        ValueError: no model is named, or what came is no list of names.
    """
    given = parameters.names(models)
    if not given:
        raise ValueError("No model is named; expected the name of one, or a list of names.")
    return [model_name(model) for model in given]


def subjects(models: Names, folder: str | Path) -> list[Subject]:
    """The models of a chapter, from the records `<model>.parquet` in a folder.

    Args:
        models: names, paths or hub ids; `catalogue.model_name` names the records of each.
        folder: of the records, or the file or run of one model (`places`); a relative one is looked
            for here, then in the repository.

    Raises:
        ValueError: no model is named, or the records are of different rows.
        RecordsError: a model has no records there.
    """
    names, folder = model_names(models), located(folder)
    if len(names) > 1 and places.is_one_run(folder):
        raise RecordsError(
            f"{folder} is one run, of one model, and {', '.join(names)} are named; name a folder "
            "that holds a file of records of each."
        )
    chapter_subjects = []
    for name in names:
        path = places.path_of(name, folder)
        records = read_records(path)
        label, brief, head = titles(name, records.stamp["model"])
        if any(brief == subject.brief for subject in chapter_subjects):
            brief = name
        if any(head == subject.shown for subject in chapter_subjects):
            head = f"{head} ({name})"
        chapter_subjects.append(Subject(name, label, brief, head, path, records))
    if len({subject.records.stamp["rows"] for subject in chapter_subjects}) > 1:
        names = ", ".join(subject.name for subject in chapter_subjects)
        raise ValueError(
            f"The records of {names} are of different rows, so they cannot be paired; "
            "evaluate all models on the same data set and limit."
        )
    return chapter_subjects


def companions(
    models: Names,
    folder: str | Path,
    paper: str,
    title: str,
    lacking: Callable[[Subject], str] = lambda subject: "",
) -> Found:
    """The models of a companion's chapter that have records of it; the others are named.

    Args:
        models: names, paths or hub ids.
        folder: of the book's records; the companion's lie in the folder `paper` below it.
        lacking: a sentence on what a model's records lack, which leaves it out; "" for nothing.
    """
    present, absent = [], []
    for name in dict.fromkeys(model_names(models)):
        path = located(folder) / paper / f"{name}.parquet"
        if not path.is_file():
            absent.append(f"{name} has no records of {title} ({paper}/{path.name}).")
            continue
        try:
            (subject,) = subjects([name], path.parent)
        except RecordsError as error:
            absent.append(f"{name}: {str(error).replace(str(path.parent.parent), '').lstrip('/')}")
            continue
        made_by = subject.records.stamp["model"]
        if not is_training_of(made_by, name):
            other = model_name(made_by)
            absent.append(f"{paper}/{path.name} holds the records of {other}, not of {name}.")
            continue
        if subject.shown in [other.shown for other in present]:
            subject = replace(subject, shown=f"{subject.shown} ({name})")
        subject = replace(subject, companion=paper)
        if said := lacking(subject):
            absent.append(said)
        else:
            present.append(subject)
    return Found(present, absent, title)


def absences(companion: Found) -> str:
    """What to say above a chapter's first table of models that have nothing to show, if any."""
    if not companion.absent:
        return ""
    return " ".join(companion.absent) + " Of these models nothing can be compared."


def training_in(folder: Path) -> int:
    """Which training of its recipe the records of a folder are of."""
    before, word, digits = folder.name.partition("training")
    return int(digits) if word and not before and digits.isdigit() else 0


def training_folders(folder: Path) -> list[Path]:
    """The folders of further trainings in a folder of all records, by number."""
    return sorted(filter(training_in, folder.glob("training*")), key=training_in)


def alone(model: Named) -> list[Any]:
    """Every training of a model by itself; of what has none, itself."""
    trainings = getattr(model, "trainings", [model])
    return [replace(of, single=True) if isinstance(of, Subject) else of for of in trainings]


def by_training(models: Iterable[Subject]) -> dict[int, list[Subject]]:
    """Every training of some models by itself, those of one number together."""
    trainings = [training for model in models for training in alone(model)]
    numbers = sorted({training.number for training in trainings})
    return {number: [each for each in trainings if each.number == number] for number in numbers}


def labelled(models: Iterable[Subject], label: str) -> Subject | None:
    """The subject that stands beside the paper's model `label`; None if there is none."""
    return next((model for model in models if model.label == label), None)


def side(models: Iterable) -> str:
    """The head of a column that holds numbers of several subjects."""
    return "pocket" if all(model.shown.startswith("pocket ") for model in models) else "run here"


def rows_table(models: Sequence[Subject], quantifier: Quantifier, split_by: SplitBy) -> Table:
    """How many rows were read, how many of them failed and are left out, and how they are split."""
    lines = {}
    for model in models:
        ok = model.records.ok
        lines[model.shown] = {"rows": len(ok), "with an error": int((~ok).sum())}
        for part in ("test", "validation"):
            lines[model.shown][part] = int(model.sets(quantifier, split_by, part)["all"].sum())
    frame = pd.DataFrame.from_dict(lines, orient="index")
    return plain(frame, name="rows", caption=f"Rows read, split by {split_by}").fold()


def stamp_of(
    models: Sequence[Subject],
    beside: Iterable[Path] = (),
    sizes: Mapping[str, int | None] | None = None,
) -> Table:
    """The provenance of a chapter that reads the records of these models' trainings, and these
    files beside them.

    Rows that differ by model are named with it. `sizes` is that of `rows_read`.
    """
    read = {
        f"{model.name} training {one.number}" if place else model.name: one
        for model in models
        for place, one in enumerate(model.trainings)
    }
    stamps = {name: one.records.stamp for name, one in read.items()}
    data: dict[str, str] = {}
    for name in dict.fromkeys(name for stamp in stamps.values() for name in stamp["datasets"]):
        sums = {
            model: stamp["datasets"][name][:16]
            for model, stamp in stamps.items()
            if name in stamp["datasets"]
        }
        alike = len({*sums.values()}) == 1
        data |= {name if alike else f"{name}, {model}": text for model, text in sums.items()}
    records = {name: checksum([one.path]) for name, one in read.items()}
    records |= {_within(path): checksum([path]) for path in beside}
    return provenance(
        models={name: stamp["revision"][:16] for name, stamp in stamps.items()},
        data=data,
        records=records,
        rows=rows_read(models[0].records, sizes) if models else "",
    )


def _within(path: Path) -> str:
    """How a file beside the records is named: by its folder, a further training's by both."""
    folders = path.parts[-3:-1] if training_in(path.parent.parent) else path.parts[-2:-1]
    return "/".join([*folders, path.stem])


def rows_read(records: Records, sizes: Mapping[str, int | None] | None = None) -> str:
    """How many rows of each data set were read, where a limit left some out.

    Args:
        sizes: all rows by data set, None where that is not known; by default the manifests'.
    """
    counts = records.frame["dataset"].value_counts(sort=False)
    if sizes is None:  # of a reader's own set the manifests say nothing
        known = set(counts.index) & set(dataset_names())
        sizes = {name: read_manifest(name).rows if name in known else None for name in counts.index}
    return ", ".join(
        f"{name}: {counts[name]:,}" + (f" of {size:,}" if size else "")
        for name, size in sizes.items()
        if name in counts and counts[name] != size
    )


def _check_same_run(own: Subject, records: Records, path: Path, how: str) -> None:
    """Refuse records beside a model's own that are not of the same revision, decoding and rows."""
    stamps = {"noise": "clamp", **own.records.stamp}, {"noise": "clamp", **records.stamp}
    differing = [key for key in _RUN if stamps[0].get(key) != stamps[1].get(key)]
    for key in [*differing, *(["rows"] if own.records.keys != records.keys else [])]:
        raise RecordsError(
            f"{path} does not go with {own.path.name}: it has other {key}. Make it anew with "
            f"`sci evaluate --model {own.name} {how}` and `sci freeze`, or delete it."
        )


def validation_files(models: Iterable[Subject]) -> list[Path]:
    """The files of the validation rows' own records, of those models that have some."""
    return [model.tuned.path for model in models if model.tuned.path != model.path]


def paper_values(table: str) -> pd.Series:
    """The test-split numbers of one of the paper's tables, such as "table01".

    Indexed by (model, method, subset, question_type); an empty field is "".
    """
    frame = pd.read_csv(PAPER / f"{table}.csv", keep_default_na=False)
    test = frame[frame["split"] == "test"]
    keys = ["model", "method", "subset", "question_type"]
    return test.set_index(keys)["value"].astype(float).sort_index()


def row(statistic: Interval, *, paper: float | None = None, scale: float = 100.0) -> dict:
    """An interval as a row of `tables.compare`, without a verdict.

    Args:
        statistic: the estimate as a share; `scale` takes it, not `paper`, to the table's unit.
        paper: the paper's number, if it has one.
        scale: 100 for percent and points, 1 for a ratio.
    """
    shown = statistic.times(scale)
    return {
        "paper": np.nan if paper is None else paper,
        "reproduced": shown.estimate,
        "n": shown.n,
        "low": shown.low,
        "high": shown.high,
        "verdict": None,
        "p alone": statistic.p(),
        "key": statistic.key,
    }


def overall(verdicts: Iterable[str], p: Iterable[float] = ()) -> str:
    """The verdict of a claim of several parts: fails if any part fails; holds only if all hold.

    Args:
        p: of each part, the two-sided p-value of lying at its margin (`Interval.p`). Of k parts one
            fails only where that is under 0.05 / k, since one among many lies beyond a margin by
            chance; a part without a p-value keeps its word.
    """
    words, p = list(verdicts), list(p)
    for place, value in enumerate(p):
        if words[place] == "fails" and not beyond_chance(value, len(words)):
            words[place] = "inconclusive"
    distinct = set(words)
    for decisive in ("fails", "not comparable", "inconclusive"):
        if decisive in distinct:
            return decisive
    return "holds" if distinct else "not comparable"


def unchanged(*, compared: bool, changed: bool, contradicted: bool) -> str:
    """The verdict of a claim that no conclusion depends on some choice, such as a seed.

    It fails where one conclusion holds under one choice and fails under another; where one is open
    under some choices alone, it is inconclusive.
    """
    if not compared:
        return "not comparable"
    if contradicted:
        return "fails"
    return "inconclusive" if changed else "holds"


def gain(points: float) -> str:
    """A difference in points as a verb, whichever way it points."""
    if pd.isna(points):
        return "has no row"
    text = number(abs(points))
    if text == number(0.0):
        return "neither gains nor loses"
    return f"{'gains' if points > 0 else 'loses'} {text} points"


def finding(what: str, line: Mapping | pd.Series) -> str:
    """A row of a `compare` table as a clause: estimate, interval, rows and verdict."""
    if not line["n"]:
        return f"{what}: there is no such row, so the claim is *not comparable*"
    ends = interval(line["low"], line["high"])
    return (
        f"{what}: {number(line['reproduced'])} points, interval {ends}, {line['n']:,.0f} rows: "
        f"*{line['verdict']}*"
    )


def titles(name: str, model: str) -> tuple[str | None, str, str]:
    """The model's name in the paper, that in rows beside the paper's, the head of our columns.

    Args:
        name: of its records, which stands for all of them where this book does not know it.
        model: its name, path or hub id.
    """
    try:
        entry = model_entry(model)
    except ValueError:  # a model this book does not know: there is nothing to set beside it
        return None, name, name
    title = entry["title"]
    return entry["label"], title, f"pocket {title}" if entry["pocket"] else f"{title}, run here"
