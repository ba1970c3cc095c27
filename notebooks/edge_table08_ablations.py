# %% [markdown]
# # Edge Table 8: precision, scale, architecture
#
# **Claim.** The 4-bit precision NF4 makes a model more sensitive to blur, for each model shown.
#
# The paper {cite:p}`erol2026edge` compares two models that differ in scale, precision and
# architecture at once, and separates the three with two more models on the same hundred pictures.
# The book has records of each pocket model in float32, in int8 and in NF4, which bitsandbytes
# really computes, and of a smaller Qwen2-VL in the first two: it is too narrow for NF4 there.
# A page says which records a model lacks, and compares only what is there.
#
# Pocket numbers stand *beside* the paper's. Levels do not carry over.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.edge.chapters import ablations
from sci_book.papers.edge.chapters import models as edge
from sci_book.papers.shared import figures, stamp
from sci_book.pipeline import findings as ledger

began = stamp.begin()
recorded = edge.read(models, records)
pair = recorded.pair

# %% tags=["hide-input"]
findings = ledger.of_page("edge_table08_ablations", ledger.named(models, records))
Markdown(ledger.conclusion(findings))

# %% tags=["hide-input"]
ledger.show_parts(
    findings,
    "How much more accuracy blur costs in NF4 than in full precision, on the same rows.",
    xlabel="cost of blur in NF4 less that in full precision, points",
)

# %% [markdown]
# ## Records

# %% tags=["hide-input"]
display(Markdown(f"{edge.missing_line(recorded)} {edge.pair_line(pair)}"))
display(Markdown(edge.ABOUT_RECORDS), edge.rows_table(recorded))

# %% [markdown]
# ## Table 8
#
# The pool: rows that both named models have right when clean, in full precision. The smaller sister
# and the models in reduced precision were no part of the selection, and may start below 100 %.

# %%
ablations.printed_rows()

# %%
display(ablations.table08(recorded) if recorded.full else Markdown("*not comparable*: no records"))

# %% [markdown]
# ## One factor at a time
#
# The drop of one variant less that of the other, on all rows, so that no selection favours either;
# each line has its own 95 % interval.

# %%
ablations.contrast_table(recorded)

# %% tags=["hide-input"]
figures.show(
    ablations.draw(recorded),
    "How much more the first of each pair drops under blur: intervals that cross the line tell "
    "no difference.",
    alt="A line a pair of models, by precision, scale and architecture: a dot with an interval "
    "for the difference of their drops in points.",
)

# %% [markdown]
# ## Ratios
#
# Equation 1. A ratio whose denominator does not drop is degenerate and has no number, infinity
# included. Only the paper's ratio of scale changes one thing alone, and stands beside ours. What it
# calls ρ of precision sets SmolVLM2 over Qwen2.5-VL-7B, both in FP16: scale and architecture
# differ, precision does not. Its ρ of architecture changes scale as well. The audit chapter reports
# both.

# %%
ablations.ratios(recorded)

# %% [markdown]
# ## What precision does to clean answers

# %%
ablations.answers_changed(recorded)

# %% [markdown]
# ## The claim

# %%
for table in ledger.tables(findings):
    display(table)

# %% [markdown]
# ## Reading and deviations
#
# - **Scale** sets the smaller sister of the first model against it: one family and recipe, layers
#   as many and narrower. Without records of such a sister its line is empty.
# - The paper's own drops, 0 to 4 of 100 pictures, cannot differ significantly in any pairing (the
#   audit chapter); an interval that reaches zero here says no more than that.
# - In int8 bitsandbytes chooses outlier columns over a whole batch, so that an answer may depend on
#   its neighbours. The batch size is part of the stamp.
# - In reduced precision the base alone is asked, without any counterfactual round.
# - NF4's arithmetic is bitsandbytes' fallback on the processor; its results are those of its
#   blocks, its speed is not that of a GPU.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
edge.stamp_of(recorded)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)
