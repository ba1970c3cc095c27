# %% [markdown]
# # MetaRA: does SCI lower a failure rate?
#
# **Claim.** SCI5 (Self-Critical Inference of five rounds) fails less than the base in each of the
# three rates (absolute, conditional, consistency), on each task, for each model shown.
#
# The question that neither paper asks {cite:p}`xu2026metara,tang2026sci`. Self-Critical Inference
# compares what a model says under rewordings and without the picture; MetaRA rewords the question
# and changes the picture. An answer that turns on the wording can be noticed by the rewordings; SCI
# never compares the edited picture with the original.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.metara import paper
from sci_book.papers.metara.chapters import answers, effects
from sci_book.papers.shared import chapters, figures, stamp
from sci_book.pipeline import findings as ledger

began = stamp.begin()
paper.draw(say=lambda _: None)  # drawn in less than a minute, if not there yet

# %% tags=["hide-input"]
findings = ledger.of_page("metara_sci", ledger.named(models, records))
recorded, made = answers.read(models, records)
if missing := answers.absences(recorded, made):
    display(Markdown(missing))
family = effects.family(made)
Markdown(f"{ledger.conclusion(findings)}\n\n{effects.tested(findings, family)}")

# %% [markdown]
# The verdict comes from each line's own interval. A *fails* without p < 0.05 is weak evidence that
# SCI5 fails more. The two can differ for three reasons. Holm corrects over the lines of all methods
# and models. An interval is too sure of its end near zero where a method changes few originals,
# nearly all one way. In conditional lines the interval compares means of different originals, those
# that each method answers right; p is of the originals that both answer right.

# %% tags=["hide-input"]
ledger.show_parts(
    findings,
    "What SCI5 changes in the three failure rates: to the left it fails less.",
    xlabel="SCI5 less base, points",
)

# %% [markdown]
# ## Every method
#
# The absolute and the consistency rate are of the same originals for all methods; the conditional
# one is of those that a method itself answers right, so that a method which answers more of them
# takes on harder ones.

# %%
for model in made:
    display(effects.levels_table(model))

# %% [markdown]
# ## Against the base
#
# An original with all its cases is a cluster of every interval, for both methods at once; p-values
# of the sign-flip test are Holm's over the lines of all models.

# %%
for model in made:
    display(effects.table(model, family[model.subject.name]).fold())

# %% tags=["hide-input"]
if made:
    figures.show(
        effects.draw(made, family),
        "What each method changes in the failure rates: to the left of the line it fails less.",
        alt="A row of panels a model, a panel a rate, absolute, conditional and consistency: "
        "dots with intervals for each method and task, in points against the base.",
    )

# %%
Markdown(" ".join([effects.beyond(made, family), *map(effects.moved, made)]))

# %% [markdown]
# The claim is about SCI5 alone.

# %%
for table in ledger.tables(findings):
    display(table)

# %% [markdown]
# ## With which rounds?
#
# SCI3 hears one rewording and one dummy picture; SCI5 and SCI7 add one more of each.

# %%
effects.rounds_table(made) if made else Markdown("*not comparable*: no records")

# %% [markdown]
# And each round alone, which a method combines: the picture under the instruction as it is and as
# rewritten (V1 to V3), and the dummy pictures. On the black one that is the prior, which hears a
# case's paraphrase and sees nothing of what MetaRA changes in the picture: a low rate there is no
# robustness. Nothing is claimed of these lines.

# %%
effects.alone_table(made).fold() if made else Markdown("*not comparable*: no records")

# %% [markdown]
# ## Reading and deviations
#
# - An interval that reaches zero is no proof of nothing: it says how large an effect these
#   originals could have hidden.
# - The constants are the methods' own; nothing was tuned here.
# - **Its rewordings are of the instruction, MetaRA's of the question**: a critic that heard the
#   question in other words is another method than the paper's.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(recorded.subjects) if recorded.subjects else Markdown("No records were read.")

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)
