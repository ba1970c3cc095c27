# %% [markdown]
# # What checking costs
#
# **Claim.** Making the book of a small run takes less than an hour in each family that was tried,
# and putting 100,000 records together less than 1 GiB of memory.

# %% tags=["parameters", "hide-input"]
results: str = "benchmarks/results"  # what benchmarks wrote, each with its device

# %% tags=["hide-input"]
import json

import matplotlib.pyplot as plt
import pandas as pd

from sci_book.papers.shared import figures, frame, pages, stamp, tables
from sci_book.papers.shared.answer import Answer

began = stamp.begin()
folder = stamp.located(results)

# %% tags=["hide-input", "nbval-ignore-output"]
at_head = Answer()  # computed below, and written here

# %% [markdown]
# ## Minutes and memory, as measured
#
# Each line is of a committed file of results, and of the processor that it names, if it names one;
# of a training it is the one that judged it. What no file has measured has no line here, and most
# lines have no memory; how long a command takes, above, is noted by hand. The books are of
# checkpoints with random weights.


# %%
def read(name):
    """A committed file of results."""
    return json.loads((folder / name).read_text(encoding="utf-8"))


def line(what, seconds, file, device, memory=None):
    """A row of the table below."""
    return {"what": what, "minutes": seconds / 60, "GiB": memory, "on": device, "file": file}


runner, benchmark = read("runner/cpu.json"), read("cpu.json")
books = [book["minutes"] for book in read("books/families.json") if book["book"]]
paths = sorted(folder.glob("trainings/*.json"))
trainings = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
companions = {
    file: read(file) for file in ("companions/cvqa-edge.json", "companions/oric-metara.json")
}
pooled, finished = runner["records"], runner["finished"]

lines = [
    line(f"read a finished run of {finished['rows']:,} records", finished["seconds"],
         "runner/cpu.json", runner["device"]),
    line(f"put {pooled['rows']:,} records together and read them", pooled["seconds"],
         "runner/cpu.json", runner["device"], pooled["gib"]),
    *(line(f"{' and '.join(made['papers'])}: draw, evaluate, execute their pages",
           made["total_seconds"], file, made["device"])
      for file, made in companions.items()),
    line("time every method and strategy (Table 7)", benchmark["settings"]["seconds"],
         "cpu.json", benchmark["device"]),
    *(line(f"the book of a few rows a paper: {way} of {len(books)} families", 60 * minutes,
           "books/families.json", "not recorded")
      for way, minutes in (("the fastest", min(books)), ("the slowest", max(books)))),
    *(line(f"train {made['training']}, processor’s time", made["processor_s"],
           f"trainings/{path.name}", made["judged on"])
      for path, made in zip(paths, trainings, strict=True)),
]  # fmt: skip
measured = pd.DataFrame(lines)

# %%
figure, ax = plt.subplots(figsize=(figures.WIDTH, 0.8 + 0.32 * len(measured)))
ax.barh(range(len(measured)), measured["minutes"], color=frame.PLAIN)
ax.set_yticks(range(len(measured)), measured["what"])
ax.set(xscale="log", xlabel="minutes")
ax.invert_yaxis()
figures.show(
    figure,
    "How many minutes each part took, on an axis of equal ratios.",
    alt="A bar a measured part, in minutes on a logarithmic axis; the table below has the numbers.",
)
shown = measured.assign(
    minutes=[tables.number(value, 2) for value in measured["minutes"]],
    GiB=[tables.number(value, 2) for value in measured["GiB"]],
)
tables.plain(
    shown.set_index("what"), name="costs", caption="What was measured, where, and in which file"
)

# %% [markdown]
# ## Which command
#
# What `CONTRIBUTING.md` says of each, on two quiet cores; no benchmark measures these. What a
# difference may mean is in `REPRODUCING.md`. What a method costs when it decodes is another
# question: {doc}`table07_cost`.

# %%
commands = pd.DataFrame(pages.checks()).set_index("command")
tables.plain(commands, name="commands", caption="Commands that check the book")

# %% tags=["remove-output", "hide-input"]
holds = max(books) < 60 and pooled["gib"] < 1
at_head.write(
    "In a clone each command installs what it needs. On two quiet cores:\n\n"
    + "\n".join(f"- `{command}` takes {takes}." for command, takes in commands["takes"].items())
    + f"\n\n**Verdict: {'holds' if holds else 'fails'}.** The book of a few rows a paper took "
    f"{min(books):.0f} to {max(books):.0f} minutes in {len(books)} families; "
    f"{pooled['rows']:,} records {pooled['seconds']:.0f} seconds and "
    f"{tables.number(pooled['gib'])} GiB."
)

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
files = [folder / file for file in dict.fromkeys(measured["file"])]
stamp.provenance(models={}, data={"results": stamp.checksum(files)})

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)
