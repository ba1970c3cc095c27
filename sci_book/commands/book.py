"""Commands that make the book, and see whether all is here that it needs."""

import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from sci_book import resources
from sci_book.commands.data import is_here, manifests
from sci_book.commands.options import LimitOption, MaxPixelsOption, MinPixelsOption, as_folder
from sci_book.resources import need_checkout


def reproduce(
    model: Annotated[str | None, Option(help="Another model; results go to runs/.")] = None,
    data: Annotated[str | None, Option(help="Another data set.")] = None,
    limit: LimitOption = None,
    dtype: Annotated[
        str | None, Option(help="Of that model's weights; by default its manifest's.")
    ] = None,
    min_pixels: MinPixelsOption = None,
    max_pixels: MaxPixelsOption = None,
    full: Annotated[bool, Option("--full", help="Recompute every record.")] = False,
    only: Annotated[
        str | None, Option(help="Papers by the names of their folders, such as sci,oric.")
    ] = None,
    companions: Annotated[
        bool, Option("--companions/--no-companions", help="Leave the companions out.")
    ] = True,
    max_new_tokens: Annotated[
        int | None, Option(min=1, help="Of every answer; by default each paper's own.")
    ] = None,
    batch_size: Annotated[int | None, Option(min=1, help="Questions at a time; 64.")] = None,
    workers: Annotated[
        int | None, Option(min=1, help="Processes; by default a core each for a small model, or 1.")
    ] = None,
) -> None:
    """Make the data, evaluate, execute every notebook, build the book; print its first page.

    Without options the pocket models' records are recomputed (a hash-fixed tenth; all with --full)
    and compared with the frozen ones. With any other option everything goes to runs/<name>/ and
    the committed notebooks stay as they are. What fails stops nothing else: it is named at the end,
    and the exit status is 1.
    """
    loading = {"dtype": dtype, "min_pixels": min_pixels, "max_pixels": max_pixels}
    given = (model, data, limit, only, max_new_tokens, batch_size, workers, *loading.values())
    own = any(given) or not companions
    if own and full:
        raise ValueError(
            "--full recomputes the committed records; with any other option everything is computed "
            "anyway: leave --full out"
        )
    need_checkout("sci reproduce")
    from sci_book.papers.shared.paper import Reading
    from sci_book.pipeline.elsewhere import reproduce_elsewhere
    from sci_book.pipeline.own_book import chosen_papers
    from sci_book.pipeline.reproduce import Stopped, reproduce_book

    papers = chosen_papers(only, companions)
    reading = Reading(max_new_tokens, batch_size, workers)
    try:
        if own:
            book = reproduce_elsewhere(model, data, limit, loading, papers, reading)
        else:
            book = reproduce_book(full)
    except KeyboardInterrupt:
        raise Stopped("Stopped; what is finished is kept.") from None
    if book.page:
        print(book.page)
    book.check()


def notebook(
    name: Annotated[str, Argument(help="A chapter's file name, such as 00_quickstart.")],
    out: Annotated[Path, Option(parser=as_folder, help="Folder for the executed notebook.")],
    params: Annotated[
        Path | None, Option(help="YAML file of parameters, each a line `name: value`.")
    ] = None,
    set_: Annotated[list[str] | None, Option("--set", help="One parameter, as name=value.")] = None,
) -> None:
    """Execute one chapter into a folder, with parameters of your own if there are any."""
    import yaml

    from sci_book.pipeline.notebooks import execute, load_parameters

    need_checkout("sci notebook")
    values = load_parameters(params) if params else {}
    for item in set_ or []:
        key, sign, value = item.partition("=")
        if not sign:
            raise ValueError(f"--set {item} has no value; expected name=value")
        values[key] = yaml.safe_load(value)
    values = {key: _from_here(value) for key, value in values.items()}
    source = resources.NOTEBOOKS / f"{Path(name).stem}.py"  # also by its path here
    if not source.is_file():
        known = sorted(path.stem for path in resources.NOTEBOOKS.glob("*.py"))
        known.sort(key=lambda each: not each.startswith(source.stem))
        like = [each for each in known if source.stem.lower() in each.lower()]
        like += [each for each in get_close_matches(source.stem, known) if each not in like]
        raise ValueError(
            f"there is no chapter {name!r}; expected a file name in notebooks/, such as "
            f"{', '.join(like[:3] or known[:3])}"
        )
    target = out / f"{source.stem}.ipynb"
    execute(source, target, cwd=resources.NOTEBOOKS, parameters=values)
    print(target)


def _from_here(value: object) -> object:
    """A path of a parameter as it is read in this folder: the chapter is executed in another one.

    A path is a text with a slash that leads to something here; what leads to the same in the clone
    stays as it was written.
    """
    if isinstance(value, list):
        return [_from_here(each) for each in value]
    if not isinstance(value, str) or "/" not in value or not Path(value).exists():
        return value
    here = Path(value).resolve()
    return value if here == (resources.SHIPPED / value).resolve() else str(here)


def doctor() -> None:
    """Say what is installed and what is here, and what to do about what is not."""
    import platform
    from importlib.metadata import version

    from sci_book.data.catalogue import MODELS
    from sci_book.papers.shared.stamp import SHOWN_PACKAGES, device_name, locked_versions

    faults = 0

    def say(good: bool, what: str, remedy: str = "") -> None:
        nonlocal faults
        faults += not good
        print(f"{'ok' if good else 'no':3} {what}{'' if good else f' ({remedy})'}")

    say(sys.version_info[:2] == (3, 11), f"Python {platform.python_version()}", "use 3.11")
    pinned = locked_versions() if resources.IS_CHECKOUT else {}
    for name in SHOWN_PACKAGES:
        installed = version(name).partition("+")[0]
        locked = pinned.get(name, installed)
        say(installed == locked, f"{name} {installed}", f"the lock has {locked}; `make env`")
    print(f"    device: {device_name()}")
    folders = [path.parent.name for path in resources.CHECKPOINTS.glob("*/config.json")]
    models = [name for name in folders if (MODELS / f"{name}.yaml").is_file()]
    say(bool(models), f"pocket models: {', '.join(sorted(models)) or 'none'}", "`sci train-pocket`")
    drawn = dict(manifests())["pocket"]
    say(is_here(drawn), "pocket data", "draw it with `sci data make`")
    if resources.IS_CHECKOUT:
        frozen = sorted(path.stem for path in resources.FROZEN_RECORDS.glob("*.parquet"))
        remedy = "`sci evaluate`, all rows"
        say(bool(frozen), f"frozen records: {', '.join(frozen) or 'none'}", remedy)
    else:
        print("    an installed package: chapters and frozen records are in the repository alone")
    if faults:
        raise typer.Exit(2)
