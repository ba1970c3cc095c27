"""Commands about files of data and of records."""

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer import Argument, Option

from sci_book.commands.options import as_folder
from sci_book.resources import need_checkout


def data(
    action: Annotated[
        Literal["make", "fetch", "check", "list"],
        Argument(
            help="Draw the pocket twins; download public sets; read every row and say what is "
            "wrong; or name all sets."
        ),
    ] = "make",
    names: Annotated[
        list[str] | None,
        Argument(
            help="Data sets, or YAML files that describe your own. By default `make` draws all "
            "pocket sets, and `check` reads all that are here."
        ),
    ] = None,
    source: Annotated[
        Path | None, Option("--from", help="`fetch`: the file, or a folder that holds it.")
    ] = None,
) -> None:
    """Make, fetch, check or list data sets; a check that found an unusable row has the status 1."""
    if source is not None and action != "fetch":
        raise ValueError(f"--from goes with `sci data fetch`, not with {action}; leave it out")
    if action == "make":
        from sci_book.pipeline.pocket_data import draw_sets

        print(*draw_sets(names or []), sep="\n")
    elif action == "list":
        for name, manifest in manifests():
            here = "here" if is_here(manifest) else "not here"
            rows = getattr(manifest, "rows", None) or ""
            print(f"{name:20} {rows!s:>6}  {here:9} {manifest.title}")
    elif action == "fetch":
        _fetch(names or [], source)
    else:
        _check(names or [name for name, manifest in manifests() if is_here(manifest)])


def _fetch(names: list[str], source: Path | None) -> None:
    from sci_book.data.fetch import FetchError, fetch

    single = _parts(names)
    if not single:
        raise ValueError("name what to fetch; `sci data list` names all, `paper` is all six")
    failed = False
    for name in single:
        try:
            fetched = fetch(name, source)
        except FetchError as error:
            print(f"sci: {error}", file=sys.stderr)
            failed = True
            continue
        verified = f"{fetched.verified} verified" if fetched.verified else "checksum not published"
        here = "was here" if fetched.was_here else "fetched"
        print(f"{name}: {fetched.path} {here}, {fetched.path.stat().st_size:,} bytes, {verified}")
    if failed:
        raise typer.Exit(2)


def _check(names: list[str]) -> None:
    from sci_book.data.check import check
    from sci_book.data.datasets import DatasetError, load_dataset

    if not names:
        raise ValueError("no data set is here yet; draw the pocket twins with `sci data make`")
    spoilt = False
    for name in _parts(names):
        try:
            findings = check(load_dataset(name))
        except DatasetError as error:
            print(f"{name}: {error}")
            spoilt = True
        else:
            print(findings)
            spoilt |= bool(findings.problems)
    if spoilt:
        raise typer.Exit(1)


def _parts(names: list[str]) -> list[str]:
    """The data sets behind names, collections taken apart, each once."""
    from sci_book.data.datasets import read_manifest

    parts = (getattr(read_manifest(name), "parts", [name]) for name in names)
    return list(dict.fromkeys(part for group in parts for part in group))


def manifests() -> list[tuple[str, Any]]:
    from sci_book.data.datasets import dataset_names, read_manifest

    return [(name, read_manifest(name)) for name in dataset_names()]


def is_here(manifest: Any) -> bool:
    from sci_book.data.datasets import file_of, read_manifest

    parts = [read_manifest(part) for part in getattr(manifest, "parts", [])] or [manifest]
    return all(file_of(part, part.name).exists() for part in parts)


def freeze(
    run: Annotated[Path, Argument(help="Folder of a finished `sci evaluate`.")],
    out: Annotated[Path, Argument(help="The one file of records to write.")],
    answers_alone: Annotated[
        bool, Option("--answers-alone", help="Without logits: a tenth of the bytes.")
    ] = False,
    rounded: Annotated[
        bool, Option("--rounded", help="Logits to 1 in 1,024: under two thirds of the bytes.")
    ] = False,
) -> None:
    """Put the shards of a finished run into one file of records, as chapters read them."""
    from sci_book.results.records import read_records, write_records

    records = read_records(run)
    if answers_alone:
        records = records.answers_alone()
    elif rounded:
        records = records.rounded()
    write_records(out, records)
    print(f"{out}: {len(records.table):,} rows, {out.stat().st_size / 1e6:.1f} MB")


export = typer.Typer(help="Write files for other tools.", no_args_is_help=True)


@export.command("drbench")
def export_rows(
    records: Annotated[
        Path, Option(help="Records of the model: a file, a run's folder, or a folder of one file.")
    ],
    out: Annotated[
        Path, Option(parser=as_folder, help="Folder for the TSV files, one a data set.")
    ],
    data: Annotated[str, Option(help="The data set that was evaluated.")] = "pocket",
    quantifier: Annotated[
        Literal["any", "all"],
        Option(help="One counterfactual answer is enough for a subset, or all are needed."),
    ] = "any",
) -> None:
    """Write the rows of a model's DRBench as TSV files for other evaluation tools."""
    from sci_book.data.datasets import load_dataset
    from sci_book.resources import located
    from sci_book.results import places
    from sci_book.results.export import export_drbench
    from sci_book.results.records import read_records

    recorded = read_records(places.only_one(located(records)))
    exported = export_drbench(recorded, load_dataset(data), out, quantifier)
    for file in exported:
        print(f"{file.path}: {file.rows:,} rows, {file.biased:,} in B, {file.sensitive:,} in S")
    print(f"{sum(file.rows for file in exported):,} rows of BS in {len(exported)} files")


@export.command("custom-generate")
def export_caller(
    out: Annotated[Path, Argument(parser=as_folder, help="A new or an empty folder.")],
) -> None:
    """Write the folder that `model.generate(custom_generate=…)` takes, by path or from a hub."""
    from sci_book.integrations.hub import write_folder

    need_checkout("sci export custom-generate")
    print(*write_folder(out), sep="\n")


def conformance(
    file: Annotated[Path, Argument(help="JSON: by the name of a method, its tokens in order.")],
) -> None:
    """Compare the tokens of another implementation with those of `reference/` (a page says how)."""
    import json

    from sci_book.run.conformance import check

    need_checkout("conformance")
    try:
        answers = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{file} cannot be read as JSON ({error}).") from error
    verdicts = check(answers)
    print(*verdicts, sep="\n")
    if any(verdict.wrong for verdict in verdicts):
        raise SystemExit(1)
