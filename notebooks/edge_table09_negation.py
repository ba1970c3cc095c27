# %% [markdown]
# # Edge Tables 3, 9, 10, 15 and Figure 5: negation
#
# **Claim.** Open negation is easier than a false premise: of the probes that ask what is *not* in
# the picture a model passes more than of those that deny what is there, for questions and captions
# of each model shown.
#
# The paper {cite:p}`erol2026edge` takes what both models answered rightly and asks again with a
# “not”, in four templates. Two are open: “What object or thing is NOT depicted in this image?”
# (`is_not`) and “Name something absent from this image.” (`absent`). One has a false premise, “Is
# it true that … is NOT shown in this image?” (`false_yn`); the paper's compact model says “yes” to
# it on every caption. The fourth, `counter`, calls a right answer wrong. Pocket models have never
# seen these sentences in training.
#
# Pocket numbers stand *beside* the paper's. Levels do not carry over.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.edge.chapters import models as edge
from sci_book.papers.edge.chapters import negation
from sci_book.papers.shared import figures, stamp
from sci_book.pipeline import findings as ledger

began = stamp.begin()
recorded = edge.read(models, records)
pair = recorded.pair

# %% tags=["hide-input"]
findings = ledger.of_page("edge_table09_negation", ledger.named(models, records))
Markdown(ledger.conclusion(findings))

# %% tags=["hide-input"]
ledger.show_parts(
    findings,
    "How much more often open negation is passed than a false premise.",
    xlabel="open negation less false premise, points",
)

# %% [markdown]
# ## Records

# %% tags=["hide-input"]
display(Markdown(f"{edge.missing_line(recorded)} {edge.pair_line(pair)}"))
display(Markdown(edge.ABOUT_RECORDS), edge.rows_table(recorded))

# %%
negation.printed_templates()

# %% tags=["hide-input"]
Markdown(negation.coverage(recorded))

# %% [markdown]
# ## Table 9
#
# Probes of pictures that both models answered rightly. Four probes share a picture, and both models
# share all pictures; the intervals by picture, and the paired ones, draw whole pictures. Wilson's
# and Wald's take every probe as independent, as the paper does.

# %%
display(negation.table09(pair) if pair else Markdown("*not comparable*: no pair"))

# %%
display(negation.tests(pair) if pair else Markdown("*not comparable*: no pair"))

# %% [markdown]
# ## Table 10

# %%
display(negation.table10(pair) if pair else Markdown("*not comparable*: no pair"))

# %% tags=["hide-input"]
if pair:
    figures.show(
        negation.draw(pair),
        "The share of probes passed, by probe, beside the paper’s.",
        alt="Two panels, questions and captions, bars in pairs for four probes: percent passed "
        "by the small and the standard model with intervals; diamonds for the paper’s two "
        "models.",
    )

# %%
display(negation.by_template(pair) if pair else Markdown("*not comparable*: no pair"))

# %% [markdown]
# ## Three readings of Table 3
#
# The paper's criteria to the letter, as the published code has them, and on whole words.

# %%
display(negation.readings(pair) if pair else Markdown("*not comparable*: no pair"))

# %% [markdown]
# ## Replies

# %%
negation.examples(recorded)

# %% [markdown]
# ## The claim

# %%
for table in ledger.tables(findings):
    display(table)

# %% [markdown]
# ## Reading and deviations
#
# - **A pass is not an understanding.** A reply “no” passes `is_not` because it lacks the answer,
#   and it passes `false_yn` as well.
# - An answer “no” turns the criteria round: “Is it true that ‘no’ is NOT shown” is no sentence
#   about a picture. The paper asks it of yes/no questions too, and so it is asked here.
# - `{answer}` is the model's own right answer, as the paper says; its code takes the ground truth.
# - Up to 80 rows of each kind are probed, and of those the rows that both models have right are
#   compared; the paper takes 100.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
edge.stamp_of(recorded)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)
