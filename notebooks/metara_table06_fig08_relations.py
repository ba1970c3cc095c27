# %% [markdown]
# # MetaRA Table VI and Figures 8, A, B: relation by relation
#
# **Claim.** On each task, the conditional failure rate is higher under MR2 and MR4 than under MR1
# and MR3, each pair, for each model shown.
#
# The paper finds models robust to benign changes (MR1) and to style (MR3), and not to local edits
# (MR2) and texts in the picture (MR4), above all where reading is asked {cite:p}`xu2026metara`. For
# questions about text its MR2 is the mirror.
#
# The pocket set *knowledge* stands for the paper's KBVQA, *text* for its OCR-VQA.
#
# Pocket numbers stand *beside* the paper's. Levels do not carry over.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.metara import paper
from sci_book.papers.metara.chapters import answers, relations
from sci_book.papers.shared import chapters, figures, stamp
from sci_book.pipeline import findings as ledger

began = stamp.begin()
paper.draw(say=lambda _: None)  # drawn in less than a minute, if not there yet

# %% tags=["hide-input"]
findings = ledger.of_page("metara_table06_fig08_relations", ledger.named(models, records))
Markdown(ledger.conclusion(findings))

# %% tags=["hide-input"]
recorded, made = answers.read(models, records)
if missing := answers.absences(recorded, made):
    display(Markdown(missing))

# %% tags=["hide-input"]
ledger.show_parts(
    findings,
    "How much more often a local edit (MR2; on text the mirror of the whole picture) or a text in "
    "the picture (MR4) fails than a benign change (MR1) or another style or background (MR3).",
    xlabel="difference of failure rates, points",
)

# %% [markdown]
# ## Table VI

# %%
for model in made:
    display(relations.table06(model))

# %% tags=["hide-input"]
if made:
    figures.show(
        relations.draw_heat(made),
        "Failure rate by relation and task: the darker, the more cases fail.",
        alt="Coloured cells in three blocks, the paper and each model: a line for each of the "
        "four relations, a column for each task, with the failure rate in percent.",
    )

# %% [markdown]
# Figures A and B: the same as bars; below, each relation's bar goes from the rate before it to its
# own.

# %% tags=["hide-input"]
if made:
    figures.show(
        relations.draw_bars(made),
        "The same rates as bars, and as steps from one relation to the next.",
        alt="Two rows of panels, the paper and each model: above, bars of the failure rate by "
        "relation, a colour a task; below, the same as steps up and down from relation to "
        "relation.",
    )

# %% [markdown]
# ## Every pair that the sentence asserts
#
# Below, the paper's other sentences about relations.

# %%
for table in ledger.tables(findings):
    display(table)

# %% [markdown]
# ## Operation by operation

# %%
for model in made:
    display(relations.operations_table(model))

# %% [markdown]
# ## The mirror
#
# A mirror leaves some letters as they are (H, T, X) and makes others into something else. If the
# mirror "disrupts text perception", it does so on the others.

# %%
relations.mirror_table(made) if made else Markdown("*not comparable*: no records")

# %% [markdown]
# ## All three rates

# %%
for model in made:
    display(relations.three_rates(model))

# %% [markdown]
# ## Reading and deviations
#
# - **Most mirrored signs no longer show the answer**: the expected answer is the original's. What
#   fails there is as much the relation as the model.
# - Local edits are slight (sections III-D2 and IV-C give no amounts): shades, textures and a disk
#   over at most a tenth of an object. Amounts settle levels, and so does the training: a pocket
#   model saw noise, and no rotated or scaled picture.
# - The text of MR4 never hides what is asked about; in scenes without a free place the case is
#   missing, and counted in {doc}`the gallery <metara_table01_fig09_gallery>`.
# - The paper's rates are means over its models and data sets.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(recorded.subjects) if recorded.subjects else Markdown("No records were read.")

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)
