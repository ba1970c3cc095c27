"""The command `sci`. Each command imports only what it needs, for `torch` is slow to load.

A mistake is one sentence on standard error and exit status 2; `sci --debug …` shows the traceback.
An evaluation that did not come to its end leaves status 3 and says which command goes on.
"""

import os
import shlex
import sys
from typing import Annotated

import typer

from sci_book.commands import book, data, evaluate, papers
from sci_book.resources import installing

app = typer.Typer(
    help="Self-Critical Inference for vision-language models: decode, evaluate, reproduce.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

EXTRAS = {
    "accelerate": "gpu",
    **dict.fromkeys(
        ("IPython", "jupytext", "jupyter_client", "matplotlib", "nbclient", "nbformat", "papermill",
         "seaborn", "traitlets"), "book",
    ),
    **dict.fromkeys(("datasets", "trl"), "rft"),
    **dict.fromkeys(
        ("cv2", "fontTools", "inflect", "joblib", "psutil", "requests", "scipy", "sklearn",
         "statsmodels", "urllib3"), "eval",
    ),
    "diffusers": "style",
    "ray": "ray",
}  # fmt: skip
"""The extra that brings a package which some command alone needs."""

UNFINISHED = 3
"""The exit status of an evaluation that the same command goes on with."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; `arguments` stands for `sys.argv[1:]`."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        app(args=arguments)
    except Exception as error:
        if "--debug" in arguments:
            raise
        sentence = str(error).strip() or type(error).__name__
        if isinstance(error, OSError) and error.strerror and error.filename:
            sentence = f"{error.filename}: {error.strerror}"
        package = str(getattr(error, "name", "")).partition(".")[0]
        if isinstance(error, ModuleNotFoundError) and (extra := EXTRAS.get(package)):
            sentence += f"; it comes with the extra {extra!r}: {installing(extra)}"
        status = getattr(error, "exit_status", 2)
        if status == UNFINISHED:
            sentence += f" Go on with: {shlex.join(['sci', *arguments])}"
        print(f"sci: {sentence}", file=sys.stderr)
        sys.exit(status)


def _version(asked: bool) -> bool:
    if asked:
        from importlib.metadata import version

        print(f"sci {version('sci-core')}")
        raise typer.Exit
    return asked


@app.callback()
def _settings(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print it, and no more."),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")] = False,
) -> None:
    # Offline unless asked otherwise: a name that is no folder then fails at once.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    if not sys.stderr.isatty():  # a log needs no bars of loading weights
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")


for _command in (
    book.reproduce,
    evaluate.evaluate,
    evaluate.ask,
    data.data,
    data.freeze,
    data.conformance,
    papers.probe,
    papers.claims,
    papers.matrix,
    papers.advise,
    papers.train_pocket,
    papers.build_oric,
    papers.build_metara,
    papers.rft,
    book.notebook,
    book.doctor,
):
    app.command()(_command)
app.add_typer(data.export, name="export")
