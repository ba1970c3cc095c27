# %% [markdown]
# # Edge Table 7 and Figure 4: blur, and more corruptions
#
# **Claim.** The paper's blur costs accuracy, over all questions and captions of each model shown.
#
# The paper {cite:p}`erol2026edge` blurs a hundred pictures that both of its models answer rightly
# and finds a drop of 3 points for both. A kernel of five taps cuts a Gaussian of sigma 2 off at one
# sigma: what is applied has a sigma of 1.29 pixels. Here every row is blurred, so that the rows
# that one model or none has right are seen too, and eighteen other corruptions are added.
#
# Pocket numbers stand *beside* the paper's. Levels do not carry over.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.edge.chapters import blur
from sci_book.papers.edge.chapters import models as edge
from sci_book.papers.shared import figures, stamp
from sci_book.pipeline import findings as ledger

began = stamp.begin()
recorded = edge.read(models, records)
pair = recorded.pair

# %% tags=["hide-input"]
findings = ledger.of_page("edge_table07_blur", ledger.named(models, records))
Markdown(ledger.conclusion(findings))

# %% tags=["hide-input"]
ledger.show_parts(
    findings,
    "What the paper's blur costs in accuracy, over all questions and captions.",
    xlabel="clean less blurred, points",
)

# %% [markdown]
# ## Records

# %% tags=["hide-input"]
display(Markdown(f"{edge.missing_line(recorded)} {edge.pair_line(pair)}"))
display(Markdown(edge.ABOUT_RECORDS), edge.rows_table(recorded))

# %% [markdown]
# ## Table 7
#
# Rows that both models have right when clean; there a drop cannot be negative.

# %%
display(blur.table07(pair) if pair else Markdown("*not comparable*: no pair"))

# %%
display(blur.tests(pair) if pair else Markdown("*not comparable*: no pair"))

# %% tags=["hide-input"]
if pair:
    figures.show(
        blur.draw(pair),
        "What was right without blur, and how much of it stays right under blur.",
        alt="Lines from clean to blurred: percent right of the answers that were right on clean"
        " pictures, for the pocket models with intervals and for the paper’s two models as "
        "open marks.",
    )

# %% [markdown]
# ## All strata
#
# A selection by being right can only lose. In the other strata an answer may also come right under
# blur, so on all rows together the two partly cancel.

# %%
display(blur.strata(pair) if pair else Markdown("*not comparable*: no pair"))

# %% [markdown]
# ## The claim

# %%
for table in ledger.tables(findings):
    display(table)

# %% [markdown]
# ## More corruptions
#
# The nineteen of ImageNet-C at severities 1 to 5. Each corruption has sixteen questions, the same
# at all severities; severity 0 is these questions on clean pictures. Corruptions take the 240
# questions in turn: the last four of the nineteen ask what the first four asked.

# %%
blur.severity_table(recorded)

# %% tags=["hide-input"]
figures.show(
    blur.draw_curves(recorded),
    "Accuracy as the picture gets worse, by group of corruptions; bands are intervals.",
    alt="Four panels, noise, blur, weather and digital: percent of questions right against "
    "severity from 0 to 5, a line a model with a band for its interval.",
)

# %% tags=["hide-input"]
figures.show(
    blur.draw_each(recorded),
    "The same for each of the nineteen corruptions.",
    alt="Nineteen small panels, one a corruption: percent of questions right against severity "
    "from 0 to 5, a line a model.",
)

# %% [markdown]
# ## Reading and deviations
#
# - **A blur in pixels is more to a small picture.** Pocket pictures are 96 pixels wide; the
#   constants of all corruptions are the published ones, made for pictures of 224.
# - McNemar's test is exact; Edwards' correction stands beside it because the paper prints it,
#   without the clamp at zero that would give 1 at equal counts.
# - The ratio ρ has no value where the second model does not drop, and no bounds where by its own
#   interval it may not.
# - The corruptions are written anew on SciPy and Pillow; `papers.shared.corruptions` lists what
#   differs from the published ones.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
edge.stamp_of(recorded)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)
