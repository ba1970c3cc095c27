"""The command `sci`. Each command imports only what it needs, for `torch` is slow to load.

A mistake is one sentence on standard error and exit status 2; `sci --debug …` shows the traceback.
An evaluation that did not come to its end leaves status 3 and says which command goes on.
"""

import os
import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sci_book import resources
from sci_book.resources import need_checkout

app = typer.Typer(
    help="Self-Critical Inference for vision-language models: decode, evaluate, reproduce.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

EXTRAS = {
    **dict.fromkeys(("jupytext", "nbformat", "papermill"), "book"),
    **dict.fromkeys(("datasets", "trl"), "rft"),
    "diffusers": "style",
    "ray": "ray",
}
"""What a package that some command alone needs comes with."""

UNFINISHED = 3
"""The exit status of an evaluation that the same command goes on with."""

# A wheel holds the smallest checkpoint alone.
DEFAULT_MODEL = f"checkpoints/pocket-qwen2vl{'' if resources.IS_CHECKOUT else '-small'}"
DEFAULT_PAIR = "pocket-qwen2vl,pocket-llavanext"


def _located(model: str) -> str:
    """A model's name as it is given, or the path of a checkpoint that is shipped under it."""
    path = resources.located(model)
    return model if path == Path(model) else str(path)


ModelOption = Annotated[
    str, typer.Option("--model", callback=_located, help="Checkpoint folder or hub id.")
]
LimitOption = Annotated[
    int | None, typer.Option("--limit", min=1, help="Rows; question groups stay whole.")
]
DtypeOption = Annotated[str, typer.Option(help="float32, float64, bfloat16 or float16.")]
QuantizationOption = Annotated[str | None, typer.Option(help="nf4 or int8, through bitsandbytes.")]
DeviceMapOption = Annotated[
    str | None, typer.Option(help="auto: spread the model over the devices, through accelerate.")
]
TextModelUrlOption = Annotated[
    str, typer.Option(help="Of an OpenAI-compatible endpoint that knows the text model's name.")
]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; `arguments` stands for `sys.argv[1:]`."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        app(args=arguments)
    except Exception as error:
        if "--debug" in arguments:
            raise
        sentence = str(error).strip() or type(error).__name__
        if isinstance(error, ModuleNotFoundError) and (extra := EXTRAS.get(str(error.name))):
            sentence += f"; it comes with the extra {extra!r}: pip install 'sci-core[{extra}]'"
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


@app.command()
def reproduce(
    model: Annotated[str | None, typer.Option(help="Another model; results go to runs/.")] = None,
    data: Annotated[str | None, typer.Option(help="Another data set.")] = None,
    limit: LimitOption = None,
    dtype: Annotated[
        str | None, typer.Option(help="Of that model's weights; by default its manifest's.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Recompute every record.")] = False,
    only: Annotated[
        str | None,
        typer.Option(help="Papers, separated by commas: sci, cvqa, edge, oric, metara."),
    ] = None,
    companions: Annotated[
        bool, typer.Option("--companions/--no-companions", help="Leave the companions out.")
    ] = True,
) -> None:
    """Make the data, evaluate, execute every notebook, build the book; print its first page.

    Without options the pocket models' records are recomputed (a hash-fixed tenth; all with --full)
    and compared with the frozen ones. With any other option everything goes to runs/<name>/ and
    the committed notebooks stay as they are. What fails stops nothing else: it is named at the end,
    and the exit status is 1.
    """
    own = bool(model or data or limit or dtype or only or not companions)
    if own and full:
        raise ValueError(
            "--full recomputes the committed records; with any other option everything is computed "
            "anyway: leave --full out"
        )
    need_checkout("sci reproduce")
    from sci_book.pipeline.elsewhere import reproduce_elsewhere
    from sci_book.pipeline.own_book import chosen_papers
    from sci_book.pipeline.reproduce import Stopped, reproduce_book

    papers = chosen_papers(only, companions)
    try:
        book = (
            reproduce_elsewhere(model, data, limit, dtype, papers) if own else reproduce_book(full)
        )
    except KeyboardInterrupt:
        raise Stopped("Stopped; what is finished is kept.") from None
    if book.page:
        print(book.page)
    book.check()


@app.command()
def evaluate(
    out: Annotated[Path, typer.Option(help="Folder for the Parquet records.")],
    model: ModelOption = DEFAULT_MODEL,
    data: Annotated[str, typer.Option(help="A data set; `sci data list` names them.")] = "pocket",
    methods: Annotated[
        str,
        typer.Option(
            help="Names separated by commas, in any case, also with constants of your own, as in "
            '"SCI(M=2, N=2, tau1=1.5, beta=0.5)"; `standard` = all presets; `extended` = on to 15 '
            "rounds, and edits of the first token alone; `ablations` = `standard` and SCI5 as in "
            "Tables 6 and 8; `all` = all of these."
        ),
    ] = "standard",
    rounds: Annotated[
        str,
        typer.Option(
            help="Rounds to read besides those of the methods, separated by commas: V1 to V7, "
            "black, noise500 and other steps. DRBench needs V1,V2,black,noise500."
        ),
    ] = "",
    limit: LimitOption = None,
    share: Annotated[
        int, typer.Option(min=1, help="4 = a quarter of the question groups, by a fixed hash.")
    ] = 1,
    validation: Annotated[
        bool, typer.Option("--validation", help="The validation rows of the paper's split alone.")
    ] = False,
    noise: Annotated[
        Literal["clamp", "wrap", "normalized"],
        typer.Option(help="Noise on the picture, cut to its range or wrapping; or normalised."),
    ] = "clamp",
    record: Annotated[
        Literal["logits", "answers"] | None,
        typer.Option(help="Keep logits for sweeps (small models' default), or answers alone."),
    ] = None,
    max_new_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="Of every answer; by default 64 for a caption, 8 for any other."),
    ] = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Questions at a time.")] = 64,
    dtype: DtypeOption = "float32",
    attention: Annotated[
        str, typer.Option(help="sdpa, eager, or flash_attention_2 for the vision tower.")
    ] = "sdpa",
    quantization: QuantizationOption = None,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda or cuda:1; by default a GPU if there is one.")
    ] = None,
    device_map: DeviceMapOption = None,
    revision: Annotated[str | None, typer.Option(help="Branch, tag or commit of a hub id.")] = None,
    trust_remote_code: Annotated[
        bool,
        typer.Option("--trust-remote-code", help="Run code that ships with the checkpoint."),
    ] = False,
    executor: Annotated[
        Literal["inline", "processes", "ray"] | None,
        typer.Option(help="Where: in this process, in several, or by Ray on many machines."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Processes or Ray actors; by default what there is room for."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the scores as JSON, for programs.")
    ] = False,
) -> None:
    """Answer every row of a data set under each method and its rounds, into Parquet records.

    A run that was cut off goes on where it stopped; a finished one is only read, also for fewer
    methods. A row that cannot be reworded is left out of the methods that need it.
    """
    from dataclasses import asdict

    from sci_book.run import finished, method_sets

    chosen = method_sets.named(methods)
    added = [name.strip() for name in rounds.split(",") if name.strip()]
    part = {"limit": limit, "share": share, "validation": validation}
    decoding = {"noise": noise, "batch_size": batch_size, "max_new_tokens": max_new_tokens}
    loading = {
        "dtype": dtype,
        "attn_implementation": attention,
        "quantization": quantization,
        "device_map": device_map,
    }
    settings = {
        "record": record,
        "methods": [asdict(each) for each in chosen if each.rule != "base"],
        "rounds": added,
        **loading,
        **part,
        **decoding,
    }
    asked = finished.what_is_asked(model, data, settings, revision)
    records = finished.finished_records(out, asked)
    if records is None:
        # Much to load (torch above all), for a run that goes on.
        from sci_book.data.datasets import load_dataset
        from sci_book.data.rewordings import check_rounds
        from sci_book.pipeline.pocket_data import draw_pocket
        from sci_book.run import runner
        from sci_core.families.models import load_model

        check_rounds(added)
        draw_pocket(data)
        dataset = runner.hashed_part(load_dataset(data, limit=limit), share)
        dataset = runner.validation_part(dataset) if validation else dataset
        source = {"revision": revision, "trust_remote_code": trust_remote_code}
        loaded = load_model(model, **loading, **source, device=device)
        small = loaded.parameters <= runner.SMALL_MODEL
        decoding["record"] = record or ("logits" if small else "answers")
        place = {"executor": executor, "workers": workers}
        try:
            records = runner.evaluate(
                loaded, dataset, chosen, out, rounds=added, **decoding, **place
            )
        except KeyboardInterrupt:
            sentence = f"Stopped; every finished shard is kept in {out}."
            raise runner.Unfinished(sentence) from None
        with runner.space(out):
            finished.note_finished(out, asked, records.stamp)
    _say_scores(records, ["base", *(each.name for each in chosen)], out, as_json)


def _say_scores(records: Any, methods: list[str], out: Path, as_json: bool) -> None:
    """Print what a run came to; the first message of what failed, and the log that has them all."""
    import json

    from sci_book.papers.oric import other_sets
    from sci_book.results.summary import summarise_run
    from sci_book.run.log import LOG, first_message

    methods = list(dict.fromkeys(methods))
    found = summarise_run(records, methods)
    yes_no = {name: line for name in methods if (line := other_sets.recorded(records, name))}
    first, left_out = (first_message(out, kind) for kind in ("errors", "left out"))
    if as_json:
        said = {"records": str(out), **found.as_json(), **({"yes/no": yes_no} if yes_no else {})}
        print(json.dumps(said, indent=1, ensure_ascii=False))
    else:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in found.errors.items())
        print(
            f"{found.rows:,} rows in {out}, {found.failed:,} with an error (recorded, never scored)"
            + (f": {kinds}" if kinds else "")
        )
        if first:
            print(f"  first error: {first}")
        if left_out:
            print(f"  first row left out: {left_out}")
        if first or left_out:
            print(f"  all of them: {out / LOG}")
    if found.failed == found.rows:
        said = f"the first: {first} All are in {out / LOG}" if first else f"see {out / LOG}"
        raise ValueError(f"no row could be answered; {said}")
    if not as_json:
        print(*found.lines(), sep="\n")
        for name, line in yes_no.items():
            print(
                f"  {name:14} macro F1 {line['macro_f1']:.1f}, F1 of no {line['f1_no']:.1f}; right "
                f"throughout: {line['pictures']:.1f}% of pictures, {line['groups']:.1f}% of groups"
            )


@app.command()
def ask(
    image: Annotated[Path, typer.Argument(help="A picture.")],
    question: Annotated[str, typer.Argument(help="The prompt, with its instruction.")],
    method: Annotated[
        str,
        typer.Option(
            help="base, TIE, VCD, M3ID, SCI3, SCI5 or SCI7, also with constants of your own."
        ),
    ] = "SCI5",
    model: ModelOption = DEFAULT_MODEL,
    max_new_tokens: Annotated[int, typer.Option(min=1)] = 16,
    rewrite: Annotated[
        list[str] | None,
        typer.Option(help="A rewording of your own, once for each textual round."),
    ] = None,
    dtype: DtypeOption = "float32",
    quantization: QuantizationOption = None,
    device_map: DeviceMapOption = None,
) -> None:
    """Answer one question: the answer, what each round alone would say, and what changed."""
    from sci_book.data.pictures import PictureError, decode_picture
    from sci_core import BASE, counterfactual_image, generate, load_model
    from sci_core import method as named_method
    from sci_core import rewrite as reworded

    chosen = named_method(method)
    try:
        picture = decode_picture(image.read_bytes())
    except OSError as error:
        raise ValueError(f"{image} cannot be read: {error.strerror}") from error
    except PictureError as error:
        raise ValueError(f"{image}: {error}") from error
    texts = rewrite or [reworded(question, name) for name in chosen.textual]
    loaded = load_model(model, dtype=dtype, quantization=quantization, device_map=device_map)
    settings = {"max_new_tokens": max_new_tokens}
    answer = generate(loaded, [picture], [question], chosen, rewrites=[texts], **settings)[0]
    pictures = [picture] * (1 + len(texts))
    pictures += [counterfactual_image(picture, name) for name in chosen.visual]
    prompts = [question, *texts, *[question] * len(chosen.visual)]
    alone = generate(loaded, pictures, prompts, BASE, **settings)

    print(f"{chosen.name}: {answer.text}")
    for name, said in zip(chosen.rounds, alone, strict=True):
        print(f"  {name:9} alone: {said.text}")
    if answer.text == alone[0].text:
        print(f"{chosen.name} says what the model says by itself.")
    else:
        print(f"By itself the model says {alone[0].text!r}; {chosen.name} changed the answer.")


@app.command()
def data(
    action: Annotated[
        Literal["make", "fetch", "check", "list"],
        typer.Argument(
            help="Draw the pocket twins; download public sets; read every row and say what is "
            "wrong; or name all sets."
        ),
    ] = "make",
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Data sets, or YAML files that describe your own. By default `make` draws all "
            "pocket sets, and `check` reads all that are here."
        ),
    ] = None,
    source: Annotated[
        Path | None, typer.Option("--from", help="`fetch`: the file, or a folder that holds it.")
    ] = None,
) -> None:
    """Make, fetch, check or list data sets; the status of a check that found something is 1."""
    if source is not None and action != "fetch":
        raise ValueError(f"--from goes with `sci data fetch`, not with {action}; leave it out")
    if action == "make":
        from sci_book.pipeline.pocket_data import draw_sets

        print(*draw_sets(names or []), sep="\n")
    elif action == "list":
        for name, manifest in _manifests():
            here = "here" if _is_here(manifest) else "not here"
            rows = getattr(manifest, "rows", None) or ""
            print(f"{name:20} {rows!s:>6}  {here:9} {manifest.title}")
    elif action == "fetch":
        _fetch(names or [], source)
    else:
        _check(names or [name for name, manifest in _manifests() if _is_here(manifest)])


def _fetch(names: list[str], source: Path | None) -> None:
    from sci_book.data.fetch import FetchError, fetch

    single = _parts(names)
    if not single:
        raise ValueError("name what to fetch; `sci data list` names all, `paper` is all six")
    failed = False
    for name in single:
        try:
            found = fetch(name, source)
        except FetchError as error:
            print(f"sci: {error}", file=sys.stderr)
            failed = True
            continue
        verified = f"{found.verified} verified" if found.verified else "checksum not published"
        here = "was here" if found.was_here else "fetched"
        print(f"{name}: {found.path} {here}, {found.path.stat().st_size:,} bytes, {verified}")
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
            spoilt |= bool(findings.problems or findings.left_out)
    if spoilt:
        raise typer.Exit(1)


def _parts(names: list[str]) -> list[str]:
    """The data sets behind names, collections taken apart, each once."""
    from sci_book.data.datasets import read_manifest

    parts = (getattr(read_manifest(name), "parts", [name]) for name in names)
    return list(dict.fromkeys(part for each in parts for part in each))


def _manifests() -> list[tuple[str, Any]]:
    from sci_book.data.datasets import dataset_names, read_manifest

    return [(name, read_manifest(name)) for name in dataset_names()]


def _is_here(manifest: Any) -> bool:
    from sci_book.data.datasets import file_of, read_manifest

    parts = [read_manifest(part) for part in getattr(manifest, "parts", [])] or [manifest]
    return all(file_of(part, part.name).is_file() for part in parts)


@app.command()
def freeze(
    run: Annotated[Path, typer.Argument(help="Folder of a finished `sci evaluate`.")],
    out: Annotated[Path, typer.Argument(help="The one file of records to write.")],
    answers_alone: Annotated[
        bool, typer.Option("--answers-alone", help="Without logits: a fifth of the bytes.")
    ] = False,
) -> None:
    """Put the shards of a finished run into one file of records, as chapters read them."""
    from sci_book.results.records import read_records, write_records

    records = read_records(run)
    write_records(out, records.answers_alone() if answers_alone else records)
    print(f"{out}: {len(records.table):,} rows, {out.stat().st_size / 1e6:.1f} MB")


@app.command()
def export(
    what: Annotated[Literal["drbench"], typer.Argument(help="The rows of a model's DRBench.")],
    records: Annotated[Path, typer.Option(help="Records of the model: a file or a run's folder.")],
    out: Annotated[Path, typer.Option(help="Folder for the TSV files, one a data set.")],
    data: Annotated[str, typer.Option(help="The data set that was evaluated.")] = "pocket",
    quantifier: Annotated[
        Literal["any", "all"],
        typer.Option(help="One counterfactual answer is enough for a subset, or all are needed."),
    ] = "any",
) -> None:
    """Write the rows of a model's DRBench as TSV files for other evaluation tools."""
    from sci_book.data.datasets import load_dataset
    from sci_book.results.export import export_drbench
    from sci_book.results.records import read_records

    found = export_drbench(read_records(records), load_dataset(data), out, quantifier)
    for each in found:
        print(f"{each.path}: {each.rows:,} rows, {each.biased:,} in B, {each.sensitive:,} in S")
    print(f"{sum(each.rows for each in found):,} rows of BS in {len(found)} files")


@app.command()
def probe(
    what: Annotated[Literal["edge"], typer.Argument(help="The Edge Reliability Gap.")],
    out: Annotated[Path, typer.Option(help="Folder for the runs and their joined records.")],
    model: ModelOption = DEFAULT_MODEL,
    data: Annotated[
        str, typer.Option(help="`pocket`, or a data set of questions in words and of captions.")
    ] = "pocket",
    parts: Annotated[
        str, typer.Option(help="Names separated by commas; the first is always run.")
    ] = "pictures,corruptions,negation",
    batch_size: Annotated[int, typer.Option(min=1, help="Questions at a time.")] = 64,
    dtype: DtypeOption = "float32",
    quantization: QuantizationOption = None,
    device_map: DeviceMapOption = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes; by default a core each.")
    ] = None,
) -> None:
    """Run a companion paper's experiments on a model: one file of records, as its chapters read.

    A run that was cut off goes on where it stopped.
    """
    from sci_book.data.datasets import load_dataset
    from sci_book.papers.edge import run as edge
    from sci_book.papers.edge.paper import rows as edge_rows
    from sci_core.families.models import load_model
    from sci_core.families.named import check_choice

    chosen = [name.strip() for name in parts.split(",")]
    for name in chosen:
        check_choice("part", name, edge.PARTS)
    rows = edge_rows() if data == "pocket" else list(load_dataset(data))
    loaded = load_model(model, dtype=dtype, quantization=quantization, device_map=device_map)
    settings = {"parts": chosen, "batch_size": batch_size, "workers": workers}
    # In reduced precision the chapters compare the base with the base, and no method.
    methods = () if quantization else edge.METHODS
    records = edge.run(loaded, rows, out, methods=methods, **settings)
    failed = int((~records.ok).sum())
    print(f"{out / edge.FILE}: {len(records.table):,} rows, {failed} with an error")


@app.command()
def claims(
    as_json: Annotated[bool, typer.Option("--json", help="A JSON list, for programs.")] = False,
    models: Annotated[
        str, typer.Option(help="Names separated by commas; their records are `<name>.parquet`.")
    ] = DEFAULT_PAIR,
    records: Annotated[Path, typer.Option(help="Folder of records.")] = Path(
        "data_manifests/records"
    ),
) -> None:
    """Evaluate every checkable claim of the papers for each model: the ledger of the book."""
    need_checkout("sci claims")
    from sci_book.papers.registry import PAPERS
    from sci_book.papers.shared import chapters
    from sci_book.pipeline import ledger
    from sci_book.pipeline.pocket_data import draw_companions

    draw_companions(say=lambda line: print(line, file=sys.stderr))  # some claims read it
    subjects = chapters.subjects([name.strip() for name in models.split(",")], records)
    findings = ledger.evaluate(ledger.load_claims(), subjects, resources.RESULTS)
    if as_json:
        print(ledger.as_json(findings))
        return
    print(ledger.summary(findings))
    for paper in PAPERS:
        for each in subjects:
            print(f"\n{ledger.page_of(findings, paper, each.name)}")


@app.command("train-pocket")
def train_pocket(
    arch: Annotated[str, typer.Option(help="The architecture, such as qwen2_vl; or clip.")],
    seed: Annotated[int, typer.Option(min=0)] = 0,
    size: Annotated[str, typer.Option(help="standard or small.")] = "standard",
    recipe: Annotated[
        str, typer.Option(help="What is shown when: a name in `curriculum.RECIPES`.")
    ] = "late",
    out: Annotated[
        Path | None, typer.Option(help="Checkpoint folder; by default under runs/.")
    ] = None,
) -> None:
    """Train a pocket model; an interrupted training resumes when called again."""
    from sci_book.pocket.train import train

    name = f"{arch}-{size}-seed{seed}" + ("" if recipe == "late" else f"-{recipe}")
    folder = out or resources.RUNS / "checkpoints" / name
    if arch == "clip":
        from sci_book.pocket import clip

        print(clip.train(seed, folder, resources.RUNS / "training" / name))
        return
    print(train(arch, seed, folder, resources.RUNS / "training" / name, size=size, recipe=recipe))


@app.command("build-oric")
def build_oric(
    annotations: Annotated[
        str, typer.Argument(help="Instances in COCO's format, or pocket: drawn here first.")
    ],
    out: Annotated[Path, typer.Option(help="Folder of the questions, above that of the pictures.")],
    images: Annotated[Path | None, typer.Option(help="Folder of the pictures.")] = None,
    encoder: Annotated[
        str | None, typer.Option(help="A CLIP or SigLIP checkpoint, or stored .safetensors.")
    ] = None,
    train: Annotated[
        Path | None, typer.Option(help="Annotations that teach what goes with what.")
    ] = None,
    pairs: Annotated[int | None, typer.Option(min=1, help="Pairs of pictures; all.")] = None,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    prompt: Annotated[
        Literal["instructed", "paper"],
        typer.Option(help="The question and “Please answer yes or no.”, or Figure 7's words too."),
    ] = "instructed",
    judge: Annotated[
        str,
        typer.Option(
            help="A text model that says which objects are expected (Figure 6); by default the "
            "co-occurrence of objects in --train says so."
        ),
    ] = "",
    judge_url: TextModelUrlOption = "",
    detector: Annotated[
        str,
        typer.Option(help="An OWLv2 or Grounding DINO checkpoint that answers the questions."),
    ] = "",
) -> None:
    """Make ORIC questions from annotated pictures, for `sci evaluate --data`."""
    from sci_book.papers.oric import construct, detectors, questions, scores
    from sci_book.papers.oric.annotations import load
    from sci_book.papers.oric.encoder import ClipEncoder, Stored
    from sci_book.papers.oric.judge import CooccurrenceJudge, TextJudge
    from sci_book.papers.shared.text_model import text_model
    from sci_book.pocket import oric as pocket

    name = "oric_pocket"
    if annotations == "pocket":
        paths = pocket.write(out)
        annotations, train, images = str(paths["val"]), paths["train"], out / pocket.PICTURES
        encoder = encoder or str(pocket.vectors_path(paths["val"]))
    else:
        name = f"oric_{Path(annotations).stem}"
    if images is None or encoder is None or not images.resolve().is_relative_to(out.resolve()):
        raise ValueError(
            f"--images is {images}, --encoder {encoder} and --out {out}; expected an encoder and a "
            "folder of pictures below --out, so that `sci evaluate` finds them."
        )
    found = load(annotations, images)
    known = found if train is None else load(train)
    built = construct.build(
        found,
        TextJudge(model)
        if (model := text_model(judge, judge_url))
        else CooccurrenceJudge((picture.present for picture in known.pictures), own=train is None),
        Stored.load(encoder) if encoder.endswith(".safetensors") else ClipEncoder(encoder),
        images,
        pairs=pairs,
        seed=seed,
        say=print,
    )
    asked = built.questions()
    pictures = images.resolve().relative_to(out.resolve()).as_posix()
    words = questions.PROMPT_INSTRUCTED if prompt == "paper" else questions.INSTRUCTED
    print(questions.write_dataset(asked, out, pictures, name=name, prompt=words))
    print(f"{len(asked):,} questions, yes and no {questions.label_counts(asked)}")
    for reason, count in sorted((found.reasons() | built.reasons()).items()):
        print(f"left out: {count:,} x {reason}")
    if detector:
        found_objects = detectors.load_detector(detector)
        said = detectors.answers(found_objects, asked, images)
        table = scores.score_table(
            [each.label for each in asked], [said], [each.image for each in asked]
        )
        _, value, low, high = table[table["metric"] == "f1"].iloc[0]
        print(f"{found_objects.name}: macro F1 {value:.1f} [{low:.1f}, {high:.1f}]")


@app.command("build-metara")
def build_metara(
    originals: Annotated[
        Path,
        typer.Argument(
            help="Folder of originals.jsonl and its pictures, as in data/metara/originals/text."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder of the cases.")],
    question_type: Annotated[
        Literal["short", "mcq", "yesno", "number"], typer.Option(help="Of all questions.")
    ] = "short",
    cases: Annotated[
        int | None,
        typer.Option(min=1, help="Of each relation; by default as many as the difficulty asks."),
    ] = None,
    style: Annotated[
        str, typer.Option(help="An image-to-image diffusion checkpoint that paints MR3.")
    ] = "",
    style_strength: Annotated[
        float, typer.Option(help="How far --style noises a picture before it paints it anew.")
    ] = 0.4,
    paraphraser: Annotated[
        str, typer.Option(help="A text model that rewords the questions; by default rules do.")
    ] = "",
    paraphraser_url: TextModelUrlOption = "",
    seed: Annotated[int, typer.Option(min=0)] = 0,
) -> None:
    """Make MetaRA's cases of originals by its four relations, for `sci evaluate --data`."""
    from sci_book.papers.metara import files, relations
    from sci_book.papers.metara.paraphrase import RuleParaphraser, TextParaphraser
    from sci_book.papers.metara.style import DiffusionStyle
    from sci_book.papers.shared.text_model import text_model

    read = files.read_originals(originals)
    model = text_model(paraphraser, paraphraser_url)
    manifest = files.write_cases(
        out,
        f"metara_{originals.resolve().name}",
        read.originals,
        cases,
        question_type=question_type,
        seed=seed,
        operations=relations.painted(DiffusionStyle(style, style_strength))
        if style
        else relations.OPERATIONS,
        paraphraser=TextParaphraser(model) if model else RuleParaphraser(),
    )
    print(manifest)
    left_out = (*read.problems, *files.read_refusals(manifest))
    reasons = Counter(problem.reason for problem in left_out)
    for reason, count in sorted(reasons.items()):
        print(f"left out: {count:,} x {reason}")


@app.command()
def rft(
    out: Annotated[Path, typer.Option(help="Folder of the run; the same one goes on with it.")],
    model: ModelOption = "checkpoints/pocket-llavanext",
    preset: Annotated[
        Literal["pocket", "paper"],
        typer.Option(help="Hyper-parameters; `paper` is ORIC's Table 9."),
    ] = "pocket",
    questions: Annotated[
        Path | None, typer.Option(help="ORIC's training file; by default pocket samples.")
    ] = None,
    images: Annotated[Path | None, typer.Option(help="Folder of that file's pictures.")] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="Updates; the preset's epochs.")] = None,
) -> None:
    """Fine-tune a model on ORIC questions by GRPO (Visual-RFT); a run cut off goes on.

    Without --questions it is the pocket experiment: the form is taught first, and held-out
    questions are asked before and after.
    """
    from functools import partial

    from sci_book.papers.oric.rft.settings import PRESETS

    say = partial(print, flush=True)  # a long run is read from its log
    if (questions is None) != (images is None):
        raise ValueError("--questions and --images go together: a file and its pictures' folder.")
    if questions is None or images is None:
        from sci_book.papers.oric.rft.experiment import run
        from sci_book.papers.oric.rft.pocket import pocket_material

        material = pocket_material(out / "pictures")
        print(run(model, material, out, PRESETS[preset], steps=steps, say=say))
        return
    from sci_book.papers.oric.questions import load
    from sci_book.papers.oric.rft.material import Sample, with_pictures
    from sci_book.papers.oric.rft.training import train

    found = load(questions)
    for reason, count in sorted(found.reasons().items()):
        print(f"left out: {count:,} x {reason}")
    asked = (Sample(images / each.image, each.wordings[0], each.label) for each in found.items)
    samples, missing = with_pictures(asked)
    if missing:
        print(f"left out: {len(missing):,} x missing image, such as {missing[0].picture}")
    print(train(model, samples, out, PRESETS[preset], steps=steps, say=say).folder)


@app.command()
def notebook(
    name: Annotated[str, typer.Argument(help="A chapter's file name, such as 00_quickstart.")],
    out: Annotated[Path, typer.Option(help="Folder for the executed notebook.")],
    params: Annotated[
        Path | None, typer.Option(help="YAML file of parameters, as in notebooks/params/.")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="One parameter, as name=value.")
    ] = None,
) -> None:
    """Execute one chapter with parameters of your own; the committed one stays as it is."""
    import yaml

    from sci_book.pipeline.notebooks import execute, load_parameters

    need_checkout("sci notebook")
    values = load_parameters(params) if params else {}
    for item in set_ or []:
        key, sign, value = item.partition("=")
        if not sign:
            raise ValueError(f"--set {item} has no value; expected name=value")
        values[key] = yaml.safe_load(value)
    source = resources.NOTEBOOKS / f"{name.removesuffix('.py').removesuffix('.ipynb')}.py"
    target = out / f"{source.stem}.ipynb"
    execute(source, target, cwd=resources.NOTEBOOKS, parameters=values)
    print(target)


@app.command()
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
    drawn = dict(_manifests())["pocket"]
    say(_is_here(drawn), "pocket data", "draw it with `sci data make`")
    if resources.IS_CHECKOUT:
        frozen = sorted(path.stem for path in resources.FROZEN_RECORDS.glob("*.parquet"))
        remedy = "`sci evaluate`, all rows"
        say(bool(frozen), f"frozen records: {', '.join(frozen) or 'none'}", remedy)
    else:
        print("    an installed package: chapters and frozen records are in the repository alone")
    if faults:
        raise typer.Exit(2)
