"""Commands that ask a model: many questions, or one."""

import math
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Argument, Option

from sci_book.commands.options import (
    DEFAULT_MODEL,
    DeviceMapOption,
    DtypeOption,
    LimitOption,
    MaxPixelsOption,
    MinPixelsOption,
    ModelOption,
    QuantizationOption,
    as_folder,
)
from sci_book.files import json_text, named_from
from sci_core.methods import METHODS


def evaluate(
    out: Annotated[Path, Option(parser=as_folder, help="Folder for the Parquet records.")],
    model: ModelOption = DEFAULT_MODEL,
    data: Annotated[str, Option(help="A data set; `sci data list` names them.")] = "pocket",
    methods: Annotated[
        str,
        Option(
            help="Names separated by commas, in any case, also with constants of your own, as in "
            '"SCI(M=2, N=2, tau1=1.5, beta=0.5)"; `standard` = those of the '
            "paper; `extended` = on to 15 rounds, and edits of the first token alone; `ablations` "
            "= `standard` and SCI5 as in Tables 6 and 8; `cheaper` = SCI5, and with smaller noise; "
            "`all` = all of these."
        ),
    ] = "standard",
    rounds: Annotated[
        str,
        Option(
            help="Rounds to read besides those of the methods, separated by commas: V1 to V7, "
            "black, noise500 and other steps, tinynoise500. DRBench needs V1,V2,black,noise500."
        ),
    ] = "",
    limit: LimitOption = None,
    share: Annotated[
        int, Option(min=1, help="4 = a quarter of the question groups, by a fixed hash.")
    ] = 1,
    validation: Annotated[
        bool, Option("--validation", help="The validation rows of the paper's split alone.")
    ] = False,
    noise: Annotated[
        Literal["clamp", "wrap", "normalized", "unresized"],
        Option(
            help="Noise on the picture as it is read, wrapping or cut to its range; wrapping on "
            "the picture as it came; or on its normalised values."
        ),
    ] = "wrap",
    record: Annotated[
        Literal["logits", "answers"] | None,
        Option(help="Keep logits for sweeps (small models' default), or answers alone."),
    ] = None,
    max_new_tokens: Annotated[
        int | None,
        Option(min=1, help="Of every answer; by default 64 for a caption, 8 for any other."),
    ] = None,
    batch_size: Annotated[int, Option(min=1, help="Questions at a time.")] = 64,
    dtype: DtypeOption = None,
    min_pixels: MinPixelsOption = None,
    max_pixels: MaxPixelsOption = None,
    attention: Annotated[
        str, Option(help="sdpa, eager, or flash_attention_2 for the vision tower.")
    ] = "sdpa",
    quantization: QuantizationOption = None,
    device: Annotated[
        str | None, Option(help="cpu, cuda or cuda:1; by default a GPU if there is one.")
    ] = None,
    device_map: DeviceMapOption = None,
    revision: Annotated[str | None, Option(help="Branch, tag or commit of a hub id.")] = None,
    trust_remote_code: Annotated[
        bool, Option("--trust-remote-code", help="Run code that ships with the checkpoint.")
    ] = False,
    executor: Annotated[
        Literal["inline", "processes", "ray"] | None,
        Option(help="Where: in this process, in several, or by Ray on many machines."),
    ] = None,
    workers: Annotated[
        int | None,
        Option(min=1, help="Processes or Ray actors; by default what there is room for."),
    ] = None,
    engine: Annotated[
        Literal["transformers", "vllm"],
        Option(help="What decodes. vLLM, in an environment of its own, records answers alone."),
    ] = "transformers",
    vllm: Annotated[
        str,
        Option(
            help="vLLM's own settings as JSON, such as "
            '\'{"max_model_len": 4096, "max_num_seqs": 64}\'; part of what the run is.'
        ),
    ] = "",
    shard: Annotated[
        str,
        Option(
            help="I/N: only every N-th shard, beginning with the I-th. So N jobs of an array, or N "
            "machines with a folder in common, share one run."
        ),
    ] = "1/1",
    as_json: Annotated[
        bool, Option("--json", help="Print the scores as JSON, for programs.")
    ] = False,
) -> None:
    """Answer every row of a data set under each method and its rounds, into Parquet records.

    A run that was cut off goes on where it stopped; a finished one is only read, also for fewer
    methods; a folder where another process is at work is refused at once. A row that cannot be
    reworded is left out of the methods that need it.
    """
    from dataclasses import asdict

    from sci_book.data.catalogue import how_to_load, said_of_loading, settled
    from sci_book.run import engines, finished, lock, method_sets
    from sci_book.run.parts import RunPart

    # Much to load (torch), for devices alone.
    if device is not None or device_map not in (None, "auto"):
        from sci_core.families.precision import placement

        placement(device, device_map, quantized=False)
    part_of_run = RunPart.named(shard)
    settings_of_vllm = engines.vllm_settings(engine, vllm)
    if engine != "transformers":
        engines.check_can(engine, record, executor, workers)
    lock.check_free(part_of_run.folder(out))
    chosen = method_sets.named(methods)
    added = method_sets.rounds_named(rounds)
    part = {"limit": limit, "share": share, "validation": validation}
    decoding = {"noise": noise, "batch_size": batch_size, "max_new_tokens": max_new_tokens}
    asked_for = {"dtype": dtype, "min_pixels": min_pixels, "max_pixels": max_pixels}
    loading = {
        **how_to_load(model, data, **asked_for),
        "attn_implementation": attention,
        "quantization": quantization,
        "device_map": device_map,
    }
    settings = {
        "record": record,
        "methods": [asdict(method) for method in chosen if method.rule != "base"],
        "rounds": added,
        **loading,
        **part,
        **decoding,
        **({"engine": engine, "vllm": settings_of_vllm} if engine != "transformers" else {}),
    }
    asked = finished.what_is_asked(model, data, settings, revision)
    records = finished.finished_records(out, asked)
    if records is None:
        # Much to load (torch above all), for a run that goes on.
        from sci_book.data.datasets import load_dataset
        from sci_book.data.rewordings import check_rounds
        from sci_book.pipeline.pocket_data import draw_pocket
        from sci_book.run import layout, runner
        from sci_core.families.models import load_model

        check_rounds(added)
        draw_pocket(data)
        dataset = layout.hashed_part(load_dataset(data, limit=limit), share)
        dataset = layout.validation_part(dataset) if validation else dataset
        source = {"revision": revision, "trust_remote_code": trust_remote_code}
        loading = settled(loading)
        if not as_json:
            print(said_of_loading(model, loading), flush=True)
        source |= {"device": device}
        if engine == "vllm":
            from sci_book.integrations.vllm_runs import serve

            served = {"noise": noise, **loading, **source}
            loaded, decoding["engine"] = serve(model, settings_of_vllm, **served)
        else:
            loaded = load_model(model, **loading, **source)
        small = engine == "transformers" and loaded.parameters <= layout.SMALL_MODEL
        decoding["record"] = record or ("logits" if small else "answers")
        place = {"executor": executor, "workers": workers}
        try:
            records = runner.evaluate(
                loaded, dataset, chosen, out, rounds=added, part=part_of_run, **decoding, **place
            )
        except KeyboardInterrupt:
            sentence = f"Stopped; every finished shard is kept in {out}."
            raise runner.Unfinished(sentence) from None
        if records is None:
            print(
                f"{part_of_run.folder(out)}: this part is done; the records are read together "
                f"when all {part_of_run.count} parts are."
            )
            return
        with runner.space(out):
            finished.note_finished(out, asked, records.stamp)
    _say_scores(records, ["base", *(method.name for method in chosen)], out, as_json)


def _say_scores(records: Any, methods: list[str], out: Path, as_json: bool) -> None:
    """Print what a run came to; the first message of what failed, and the log that has them all."""

    from sci_book.papers.oric import other_sets
    from sci_book.results.summary import summarise_run
    from sci_book.run.conditions import unreadable
    from sci_book.run.log import first_message, logs

    methods = list(dict.fromkeys(methods))
    summary = summarise_run(records, methods)
    asked = {name: (name, records.answered(name)) for name in methods}
    for score in summary.scores:
        if score.base:  # it is scored on fewer rows than the base
            asked[f"base on {score.method}'s rows"] = "base", records.answered(score.method)
    read = {head: other_sets.recorded(records, *of) for head, of in asked.items()}
    yes_no = {head: line for head, line in read.items() if line}
    messages = ", ".join(map(str, logs(out)))
    first, left_out = (first_message(out, kind) for kind in ("errors", "left out"))
    if as_json:
        said = {"records": str(out), **summary.as_json(), "unreadable": unreadable(records)}
        said |= {"yes/no": yes_no} if yes_no else {}
        print(json_text(said, indent=1, ensure_ascii=False))
    else:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in summary.errors.items())
        print(
            f"{summary.rows:,} rows in {out}, {summary.failed:,} with an error "
            f"(recorded, never scored){f': {kinds}' if kinds else ''}"
        )
        if first:
            print(f"  first error: {first}")
        if left_out:
            print(f"  first row left out: {left_out}")
        if first or left_out:
            print(f"  all of them: {messages}")
    if summary.failed == summary.rows:
        said = f"the first: {first} All are in {messages}" if first else f"see {messages}"
        raise ValueError(f"no row could be answered; {said}")
    if not as_json:
        print(*summary.lines(), sep="\n")
        if unread := unreadable(records):
            print(f"  {unread}")
        for name, line in yes_no.items():
            score = {
                key: f"{value:.1f}" if math.isfinite(value) else "—"
                for key, value in line.items()
                if isinstance(value, float)
            }
            print(
                f"  {name:14} macro F1 {score['macro_f1']}, F1 of no {score['f1_no']}; right "
                f"throughout: {score['pictures']}% of pictures, {score['groups']}% of groups"
            )


def ask(
    image: Annotated[str, Argument(help="A picture's file.")],
    question: Annotated[
        str, Argument(help="The prompt, best with an instruction that the paper rewords.")
    ],
    method: Annotated[
        str,
        Option(help=f"{', '.join(METHODS)}; also with constants of your own."),
    ] = "SCI5",
    model: ModelOption = DEFAULT_MODEL,
    max_new_tokens: Annotated[int, Option(min=1)] = 16,
    rewrite: Annotated[
        list[str] | None, Option(help="A rewording of your own, once for each textual round.")
    ] = None,
    dtype: DtypeOption = None,
    min_pixels: MinPixelsOption = None,
    max_pixels: MaxPixelsOption = None,
    quantization: QuantizationOption = None,
    device_map: DeviceMapOption = None,
) -> None:
    """Answer one question: the answer, what each round alone would say, and what changed."""
    from sci_book.data.catalogue import how_to_load, settled
    from sci_book.data.pictures import PictureError, decode_picture
    from sci_core import BASE, counterfactual_image, generate, load_model, reword
    from sci_core import method as named_method
    from sci_core.counterfactuals import holds_instruction

    chosen = named_method(method)
    if not image.strip():
        raise ValueError("the picture has no name; expected a picture's file")
    if re.match(r"([a-z][a-z0-9+.-]+://|data:)", image, re.IGNORECASE):
        raise ValueError(f"{image[:80]} is an address; save the picture and give its file")
    try:
        picture = decode_picture(named_from(Path(), image).read_bytes())
    except OSError as error:
        raise ValueError(f"{image} cannot be read: {error.strerror}") from error
    except PictureError as error:
        raise ValueError(f"{image}: {error}") from error
    texts = rewrite or [reword(question, name) for name in chosen.textual]
    by_prefix = bool(texts) and not rewrite and not holds_instruction(question)
    how = how_to_load(model, "", dtype=dtype, min_pixels=min_pixels, max_pixels=max_pixels)
    loaded = load_model(model, **settled(how), quantization=quantization, device_map=device_map)
    settings = {"max_new_tokens": max_new_tokens}
    answer = generate(loaded, [picture], [question], chosen, rewrites=[texts], **settings)[0]
    pictures = [picture] * (1 + len(texts))
    as_read = loaded.processor.as_read
    pictures += [counterfactual_image(picture, name, as_read=as_read) for name in chosen.visual]
    prompts = [question, *texts, *[question] * len(chosen.visual)]
    alone = generate(loaded, pictures, prompts, BASE, **settings)

    if by_prefix:
        print(
            "The question holds no instruction that the paper's rewordings know, so the rule "
            "`prefix` puts a request in front of it; --rewrite takes rewordings of your own."
        )
    print(f"{chosen.name}: {answer.text}")
    for name, said in zip(chosen.rounds, alone, strict=True):
        print(f"  {name:9} alone: {said.text}")
    if answer.text == alone[0].text:
        print(f"{chosen.name} says what the model says by itself.")
    else:
        print(f"By itself the model says {alone[0].text!r}; {chosen.name} changed the answer.")
