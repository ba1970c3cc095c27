# %% [markdown]
# # MetaRA Table IV and Figure 5: two rankings
#
# **Claim.** On each task, the rankings of seven ways of decoding by MetaRA's failure rate and by
# MetaVQA's agree more than they disagree (Kendall's τ above zero), for each model shown.
#
# The paper ranks four models by MetaRA and by the relations of MetaVQA, finds the same order and
# concludes that MetaRA is right {cite:p}`xu2026metara`. MetaVQA needs no ground truth: the number
# of things in a picture must be the sum over its two halves, what is in a picture must be in a
# half, and a thing keeps its colour in a crop.
#
# Two models give no ranking. So the seven methods, from the base to SCI7, stand for models: they
# answer the same questions, each in its own way.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.metara import paper
from sci_book.papers.metara.chapters import answers, ranking
from sci_book.papers.shared import chapters, figures, stamp
from sci_book.pipeline import findings as ledger

began = stamp.begin()
paper.draw(say=lambda _: None)  # drawn in less than a minute, if not there yet

# %% tags=["hide-input"]
findings = ledger.of_page("metara_table04_fig05_ranking", ledger.named(models, records))
Markdown(ledger.conclusion(findings))

# %% tags=["hide-input"]
recorded, made = answers.read(models, records)
if missing := answers.absences(recorded, made):
    display(Markdown(missing))

# %% tags=["hide-input"]
ledger.show_parts(
    findings,
    "How well the rankings of seven ways of decoding by MetaRA and by MetaVQA agree: 1 is "
    "the same order, −1 the reverse.",
    xlabel="Kendall's tau",
)

# %% [markdown]
# ## The paper's own numbers
#
# Table IV prints ranks of four of its models, and failure rates on TextVQA of a fifth one too.
# Its two columns of ranks are the same; the failure rates that it prints beside them
# order the models almost the other way round. Its columns for MetaRA are equal,
# number by number, to columns of Tables II and III, where they are accuracies; they stand beside no
# failure rate here.

# %%
ranking.paper_table()

# %% [markdown]
# ## Failure rates of the base

# %%
ranking.beside_paper(made) if made else Markdown("*not comparable*: no records")

# %% [markdown]
# ## Ranks of the methods
#
# Rank 1 has the lowest rate; methods that tie share the mean of their ranks.

# %%
for model in made:
    display(ranking.ranks_table(model))

# %% tags=["hide-input"]
if made:
    figures.show(
        ranking.draw(made),
        "Methods ranked by MetaRA and by MetaVQA: on the dashed line both agree.",
        alt="A panel for each model and task: a dot a method, its rank by MetaVQA along the "
        "axis and its rank by MetaRA up.",
    )

# %% [markdown]
# ## Do they agree?
#
# The interval draws originals again, for all methods and both rates at once, and ranks anew each
# time: a rank moves by jumps, so the interval is Student's with the variance of 10,000 draws. The
# p-value takes the ranks as given, and is asymptotic where methods tie.

# %%
ranking.tau_table(made).fold()

# %%
for table in ledger.tables(findings):
    display(table)

# %% [markdown]
# ## Reading and deviations
#
# - **A ranking of near-equals is mostly chance.** Where methods differ by less than their
#   intervals, another draw of originals ranks them otherwise; that is what the width of τ's
#   interval says, and why a p-value that takes ranks as given says too much.
# - The claim asks for less than the paper's sentence: no interval shows that two rankings are the
#   same.
# - **Halves of a picture are not what a pocket model was trained on**: no training picture was cut,
#   and none had nothing of what was counted. So MetaVQA's rate of *count* says little here.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(recorded.subjects) if recorded.subjects else Markdown("No records were read.")

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)
