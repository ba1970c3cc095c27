"""Commands of the papers: their experiments, data and claims, and training."""

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Argument, Option

from sci_book import resources
from sci_book.commands.options import (
    DEFAULT_MODEL,
    DEFAULT_PAIR,
    DEFAULT_TUNED,
    ArchitectureOption,
    DeviceMapOption,
    DtypeOption,
    ModelOption,
    QuantizationOption,
    TextModelUrlOption,
    as_folder,
)
from sci_book.files import json_text
from sci_book.resources import need_checkout


def probe(
    what: Annotated[Literal["edge"], Argument(help="The Edge Reliability Gap.")],
    out: Annotated[
        Path, Option(parser=as_folder, help="Folder for the runs and their joined records.")
    ],
    model: ModelOption = DEFAULT_MODEL,
    data: Annotated[
        str, Option(help="`pocket`, or a data set of questions in words and of captions.")
    ] = "pocket",
    parts: Annotated[
        str, Option(help="Names separated by commas; the first is always run.")
    ] = "pictures,corruptions,negation",
    batch_size: Annotated[int, Option(min=1, help="Questions at a time.")] = 64,
    dtype: DtypeOption = None,
    quantization: QuantizationOption = None,
    device_map: DeviceMapOption = None,
    workers: Annotated[int | None, Option(min=1, help="Processes; by default a core each.")] = None,
) -> None:
    """Run a companion paper's experiments on a model: one file of records, as its chapters read.

    A run that was cut off goes on where it stopped.
    """
    from sci_book.data.catalogue import how_to_load, settled
    from sci_book.data.datasets import load_dataset
    from sci_book.papers.edge import run as edge
    from sci_book.papers.edge.paper import rows as edge_rows
    from sci_core.families.models import load_model
    from sci_core.families.named import check_choice

    chosen = [name.strip() for name in parts.split(",")]
    for name in chosen:
        check_choice("part", name, edge.PARTS)
    rows = edge_rows() if data == "pocket" else list(load_dataset(data))
    how = settled(how_to_load(model, data, dtype=dtype))
    loaded = load_model(model, **how, quantization=quantization, device_map=device_map)
    settings = {"parts": chosen, "batch_size": batch_size, "workers": workers}
    # In reduced precision the chapters compare the base with the base, and no method.
    methods = () if quantization else edge.METHODS
    records = edge.run(loaded, rows, out, methods=methods, **settings)
    failed = int((~records.ok).sum())
    print(f"{out / edge.FILE}: {len(records.table):,} rows, {failed} with an error")


ModelsOption = Annotated[
    str | None,
    Option(
        "--models",
        "--model",
        help="Names separated by commas; by default those that have records there (of the "
        f"committed ones {DEFAULT_PAIR}).",
    ),
]
RecordsOption = Annotated[
    Path,
    Option(
        help="A folder of records, a file `<name>.parquet` a model; or the records of one model: a "
        "file, or the folder of a finished `sci evaluate`."
    ),
]


def _models(named: str | None, records: Path) -> list[str]:
    """The models that are named, or that have records at a place."""
    from sci_book.papers.shared import parameters
    from sci_book.results import places

    if named is not None:
        return parameters.names(named, "--models")
    return places.models_at(resources.located(records), DEFAULT_PAIR.split(","))


def claims(
    as_json: Annotated[bool, Option("--json", help="A JSON object, for programs.")] = False,
    models: ModelsOption = None,
    records: RecordsOption = Path("data_manifests/records"),
    second: Annotated[bool, Option(help="The book's second claims alone.")] = False,
) -> None:
    """Evaluate every checkable claim of the papers, then the book's own: the ledger."""
    need_checkout("sci claims")
    from sci_book.papers.registry import PAPERS
    from sci_book.papers.shared import chapters
    from sci_book.pipeline import ledger, over_trainings, own_claims, registration, verdicts
    from sci_book.pipeline.claims import load_claims
    from sci_book.pipeline.pocket_data import draw_companions

    subjects = chapters.subjects(_models(models, records), records)
    draw_companions(say=lambda line: print(line, file=sys.stderr))  # some claims read it
    if second:
        judged = over_trainings.judge(over_trainings.load_claims(), subjects)
        if as_json:
            print(json_text(ledger.as_rows(judged), ensure_ascii=False, indent=1))
        else:
            print(f"{over_trainings.standing()}\n{_listing(judged)}")
        return
    findings = ledger.evaluate(load_claims(), subjects, resources.RESULTS)
    own = own_claims.claim_lines(subjects, records / "extended", resources.FROZEN_RECORDS / "dial")
    own = own.drop(columns="ends")
    if as_json:
        rows = {"claims": ledger.as_rows(findings), "own": own.to_dict("records")}
        known = {**registration.as_values(), **rows}
        print(json_text(known, ensure_ascii=False, indent=1))
        return
    print(f"{registration.sentence()}\n\n{ledger.summary(findings)}")
    for paper in PAPERS:
        for subject in subjects:
            print(f"\n{ledger.page_of(findings, paper, subject.name)}")
    print(f"\n{verdicts.title_in_index(verdicts.OURS)}")
    for line in own.itertuples():
        print(f"{line.verdict:13} {line.id}: {line.what} {line.claims}")


def _listing(findings: Iterable[Any]) -> str:
    """Of each claim and model the word, from how many trainings, and what decides in each."""
    from sci_book.pipeline.claims import claimed

    lines = []
    for each in findings:
        named = f"{each.claim.paper}: {each.claim.id} ({each.claim.place})"
        lines.append(f"{named}, {claimed(each.claim)}")
        lacking = f" ({each.unmet}; {each.word})" if each.unmet else ""
        lines.append(f"  {each.title}, trainings: {each.trainings}: {each.verdict}{lacking}")
        for found in each.each or ([each] if each.trainings else []):
            estimate, low, high, n, *_ = found.interval
            ends = f"{estimate:.4f} [{low:.4f}, {high:.4f}], n = {n:,}"
            lines.append(f"    {found.word}: {found.part} {ends}")
    return "\n".join(lines)


def matrix(
    models: ModelsOption = None,
    records: RecordsOption = Path("data_manifests/records"),
    as_json: Annotated[bool, Option("--json", help="A JSON list of cells, for programs.")] = False,
) -> None:
    """Set every method against the base on every probe of the papers, with what it costs.

    The records must hold such methods, or logits from which they are recomputed.
    """
    need_checkout("sci matrix")
    from sci_book.papers.shared import chapters
    from sci_book.pipeline import matrix
    from sci_book.pipeline.pocket_data import draw_companions
    from sci_book.run.conditions import unreadable

    names = _models(models, records)
    subjects = chapters.subjects(names, records)
    draw_companions(say=lambda line: print(line, file=sys.stderr))  # some probes read it
    cells = matrix.cells(names, records)
    without = [subject for subject in subjects if all(c.model != subject.name for c in cells)]
    said = [f"{subject.path}: {matrix.why_empty(subject.records)}" for subject in without]
    if not cells:
        raise ValueError(" ".join(said))
    unread = ((subject.path, unreadable(subject.records)) for subject in subjects)
    said += [f"{path}: {sentence}" for path, sentence in unread if sentence]
    print(*said, sep="\n", end="\n" if said else "", file=sys.stderr)
    if as_json:
        print(json_text(matrix.as_rows(cells), ensure_ascii=False, indent=1))
        return
    for model, training in dict.fromkeys((cell.model, cell.training) for cell in cells):
        print(f"{matrix.table(cells, model, training)}\n")


def advise(
    run: Annotated[
        Path,
        Argument(
            help="Folder of a finished `sci evaluate`, a file of records, or a folder of one, with "
            "the rounds V1, V2, black and noise500 (`--rounds`); the conditions ask for V3 and "
            "noise400 too."
        ),
    ],
) -> None:
    """Say what to expect of SCI on a model from its own rounds: conditions, gain, what to use."""
    from sci_book.papers.sci import advice
    from sci_book.papers.shared import chapters
    from sci_book.results import places
    from sci_book.results.records import read_records

    run = places.only_one(resources.located(run))
    records, folder = read_records(run), resources.FROZEN_RECORDS
    here = [name for name in DEFAULT_PAIR.split(",") if (folder / f"{name}.parquet").is_file()]
    book = chapters.subjects(here, folder) if here else []
    learned = advice.learned(
        (each.name, each.records) for model in book for each in chapters.alone(model)
    )
    print(f"{run}: {records.stamp['model']}, {int(records.ok.sum()):,} rows without an error")
    print(*advice.advise(records, learned), sep="\n")


def train_pocket(
    arch: ArchitectureOption,
    seed: Annotated[int, Option(min=0)] = 0,
    size: Annotated[str, Option(help="standard or small.")] = "standard",
    recipe: Annotated[
        str, Option(help="What is shown when: a name in `curriculum.RECIPES`.")
    ] = "late",
    start: Annotated[
        Path | None,
        Option(
            help="A finished checkpoint that the recipe goes on from, if it is `onward` or one of "
            "the dial; by default `onward` goes on from what `late` makes with this seed, which is "
            "trained first."
        ),
    ] = None,
    training: Annotated[
        str | None,
        Option(
            help="0, 1, … or sister-0: a registered training of the family, whole, whose seed "
            "nobody chose. It settles seed, size and recipe."
        ),
    ] = None,
    out: Annotated[
        Path | None, Option(parser=as_folder, help="Checkpoint folder; by default under runs/.")
    ] = None,
) -> None:
    """Train a pocket model; an interrupted training resumes when called again."""
    from sci_book.pocket.train import train

    name = f"{arch}-{size}-seed{seed}" + ("" if recipe == "late" else f"-{recipe}")
    if training is not None:
        from sci_book.pocket.curriculum import seed_of

        name = f"{arch}-{training}"
        seed, recipe = seed_of(arch, training), arch
        size = "small" if training.startswith("sister") else size
    folder = out or resources.RUNS / "checkpoints" / name
    if arch == "clip":
        from sci_book.pocket import clip

        print(clip.train(seed, folder, resources.RUNS / "training" / name))
        return
    runs, checkpoints = resources.RUNS / "training", resources.RUNS / "checkpoints"
    if recipe == "onward" and start is None:
        first = f"{arch}-{size}-seed{seed}"
        start = checkpoints / first
        if not (start / "README.md").is_file():  # a checkpoint's card is written last
            train(arch, seed, start, runs / first, size=size, recipe="late")
    print(train(arch, seed, folder, runs / name, size=size, recipe=recipe, start=start))


def build_oric(
    annotations: Annotated[
        str, Argument(help="Instances in COCO's format, or pocket: drawn here first.")
    ],
    out: Annotated[
        Path, Option(parser=as_folder, help="Folder of the questions, above that of the pictures.")
    ],
    images: Annotated[Path | None, Option(help="Folder of the pictures.")] = None,
    encoder: Annotated[
        str | None, Option(help="A CLIP or SigLIP checkpoint, or stored .safetensors.")
    ] = None,
    train: Annotated[
        Path | None, Option(help="Annotations that teach what goes with what.")
    ] = None,
    pairs: Annotated[int | None, Option(min=1, help="Pairs of pictures; all.")] = None,
    seed: Annotated[int, Option(min=0)] = 0,
    prompt: Annotated[
        Literal["instructed", "paper"],
        Option(help="The question and “Please answer yes or no.”, or Figure 7's words too."),
    ] = "instructed",
    judge: Annotated[
        str,
        Option(
            help="A text model that says which objects are expected (Figure 6); by default the "
            "co-occurrence of objects in --train says so."
        ),
    ] = "",
    judge_url: TextModelUrlOption = "",
    detector: Annotated[
        str, Option(help="An OWLv2 or Grounding DINO checkpoint that answers the questions.")
    ] = "",
) -> None:
    """Make ORIC questions from annotated pictures, for `sci evaluate --data`."""
    from sci_book.papers.oric import construct, detectors, questions, scores
    from sci_book.papers.oric.annotations import load
    from sci_book.papers.oric.encoder import ClipEncoder, Stored
    from sci_book.papers.oric.judge import CooccurrenceJudge, text_judge
    from sci_book.papers.shared.text_model import text_model
    from sci_book.pocket import oric as pocket
    from sci_book.results.statistics import of_sums

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
    annotated = load(annotations, images)
    known = annotated if train is None else load(train)
    built = construct.build(
        annotated,
        text_judge(model)
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
    for reason, count in sorted((annotated.reasons() | built.reasons()).items()):
        print(f"left out: {count:,} x {reason}")
    if detector:
        found_objects = detectors.load_detector(detector)
        said = detectors.answers(found_objects, asked, images)
        counted = scores.columns([item.label for item in asked], [said])
        value, low, high, *_ = of_sums(
            counted, [item.image for item in asked], lambda sums: 100 * scores.metric("f1")(sums)
        )
        print(f"{found_objects.name}: macro F1 {value:.1f} [{low:.1f}, {high:.1f}]")


def build_metara(
    originals: Annotated[
        Path,
        Argument(
            help="Folder of originals.jsonl and its pictures, as in data/metara/originals/text."
        ),
    ],
    out: Annotated[Path, Option(parser=as_folder, help="Folder of the cases.")],
    question_type: Annotated[
        Literal["short", "mcq", "yesno", "number"], Option(help="Of all questions.")
    ] = "short",
    cases: Annotated[
        int | None,
        Option(min=1, help="Of each relation; by default as many as the difficulty asks."),
    ] = None,
    style: Annotated[
        str, Option(help="An image-to-image diffusion checkpoint that paints MR3.")
    ] = "",
    style_strength: Annotated[
        float, Option(help="How far --style noises a picture before it paints it anew.")
    ] = 0.4,
    paraphraser: Annotated[
        str, Option(help="A text model that rewords the questions; by default rules do.")
    ] = "",
    paraphraser_url: TextModelUrlOption = "",
    seed: Annotated[int, Option(min=0)] = 0,
) -> None:
    """Make MetaRA's cases of originals by its four relations, for `sci evaluate --data`."""
    from sci_book.papers.metara import files, relations
    from sci_book.papers.metara.originals import read_originals
    from sci_book.papers.metara.paraphrase import by_rules, by_text_model
    from sci_book.papers.metara.style import DiffusionStyle
    from sci_book.papers.shared.text_model import text_model

    read = read_originals(originals)
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
        paraphraser=by_text_model(model) if model else by_rules,
    )
    print(manifest)
    left_out = (*read.problems, *files.read_refusals(manifest))
    reasons = Counter(problem.reason for problem in left_out)
    for reason, count in sorted(reasons.items()):
        print(f"left out: {count:,} x {reason}")


def rft(
    out: Annotated[
        Path, Option(parser=as_folder, help="Folder of the run; the same one goes on with it.")
    ],
    model: ModelOption = DEFAULT_TUNED,
    preset: Annotated[
        Literal["pocket", "paper"], Option(help="Hyper-parameters; `paper` is ORIC's Table 9.")
    ] = "pocket",
    questions: Annotated[
        Path | None, Option(help="ORIC's training file; by default pocket samples.")
    ] = None,
    images: Annotated[Path | None, Option(help="Folder of that file's pictures.")] = None,
    steps: Annotated[int | None, Option(min=1, help="Updates; the preset's epochs.")] = None,
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

    loaded = load(questions)
    for reason, count in sorted(loaded.reasons().items()):
        print(f"left out: {count:,} x {reason}")
    asked = (Sample(images / item.image, item.wordings[0], item.label) for item in loaded.items)
    samples, missing = with_pictures(asked)
    if missing:
        print(f"left out: {len(missing):,} x missing image, such as {missing[0].picture}")
    print(train(model, samples, out, PRESETS[preset], steps=steps, say=say).folder)
