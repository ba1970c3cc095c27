# %% [markdown]
# # Edge Table 5 and Figures 1, 2: why an answer is wrong
#
# **Claim.** Semantic drift is the majority of the errors A to C on questions, by the paper's tree
# of rules, for each model shown.
#
# The paper {cite:p}`erol2026edge` sorts failures into object blindness (A), semantic drift (B),
# prior bias (C), spatial error (D) and others (E), by a tree of rules on the words and by a text
# model that sees no picture either. In the pocket world the cause can be read off: the family of a
# question says what was asked, a true caption is the whole scene, and the records hold what the
# model says to a *black* picture. So the tree itself can be judged.
#
# Pocket numbers stand *beside* the paper's. Levels do not carry over.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
judge: str = ""  # a text model that sorts failures: a folder, a hub id, or an endpoint's name
url: str = ""  # an OpenAI-compatible endpoint; its key comes from the environment

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.edge.chapters import models as edge
from sci_book.papers.edge.chapters import taxonomy
from sci_book.papers.shared import figures, stamp
from sci_book.pipeline import findings as ledger
from sci_book.pocket import edge as pocket

began = stamp.begin()
recorded = edge.read(models, records)
pair = recorded.pair

# %% tags=["hide-input"]
findings = ledger.of_page("edge_table05_taxonomy", ledger.named(models, records))
Markdown(ledger.conclusion(findings))

# %% tags=["hide-input"]
ledger.show_parts(
    findings,
    "How many of the errors A to C on questions are semantic drift (B), by the paper's tree.",
    xlabel="% of errors A to C",
)

# %% [markdown]
# ## Records

# %% tags=["hide-input"]
display(Markdown(f"{edge.missing_line(recorded)} {edge.pair_line(pair)}"))
display(Markdown(edge.ABOUT_RECORDS), edge.rows_table(recorded))

# %% [markdown]
# ## Table 5 by the tree
#
# Failures by the paper's rules of correctness. By those a pocket caption is hardly ever wrong, and
# where there is no failure there is nothing to sort. The paper's numbers are its judge's. D and E
# are counts of different totals, ours of all failures and the paper's of 100, so that they have no
# difference.

# %%
display(taxonomy.table05(pair) if pair else Markdown("*not comparable*: no pair"))

# %% [markdown]
# ## Table 5 by the scene
#
# The same wrong answers to questions, and the captions that do not say the whole scene, sorted by
# what is there.

# %%
display(taxonomy.table05(pair, "scene", "scene") if pair else Markdown("*not comparable*"))

# %% tags=["hide-input"]
if pair:
    figures.show(
        taxonomy.draw(pair),
        "Figure 1: failures by kind, as the paper’s judge sorts them, and as the tree and the scene"
        f" do here. {pair.compact.shown} and {pair.large.shown} are counted together. A caption "
        "fails here where it does not say the whole scene, a stricter rule than the first table’s.",
        alt="Two panels, questions and captions: stacked bars of the shares of five kinds of "
        "failure, one bar for the paper, one for the tree and one for the scene.",
    )

# %% [markdown]
# ## Table 5 by a text model
#
# The paper's labels are GPT-4o's. A text model named in the parameters is asked the same, with the
# prompt of Appendix D, one request a failure. It sees no picture either, and what it does not label
# is counted as unjudged.

# %%
asked = taxonomy.judge_of(judge, url)
labelled = taxonomy.judged(pair, asked) if pair and asked else None
if pair and asked and labelled:
    display(taxonomy.judged_table(pair, labelled, asked.name))
    display(taxonomy.judge_agreement(pair, labelled))
else:
    display(Markdown("*Not run*: it needs a text model in `judge`, and a pair of models."))

# %% [markdown]
# ## The tree against the scene
#
# Two judges of the same failures, which is what Cohen's κ is made for, and what the paper leaves
# open.

# %%
taxonomy.agreement(recorded)

# %% [markdown]
# ## Concordance
#
# The paper's κ pairs the n-th failure of one model with the n-th of the other, though they are of
# different pictures. Shuffled orders say what such a κ is worth.

# %%
display(taxonomy.concordances(pair) if pair else Markdown("*not comparable*: no pair"))

# %% [markdown]
# ## Figure 2
#
# Failures of both models at once that are of one category in either, by the scene: the first of
# each of two categories among the questions, the first among the captions, so that nobody picked
# them. Pictures are drawn again from their numbers.

# %% tags=["hide-input"]
grid = taxonomy.grid_rows(pair)
drawn = [pocket.MAKERS[one.kind](one.row).picture for one in grid.itertuples()]
pictures = taxonomy.same_pictures(grid, drawn)
if pictures[0]:
    figures.show(
        figures.pictures(*pictures),
        "Figure 2: failures of both models, by question and kind.",
        alt="Small drawn pictures, each under the number of its question and the letter of its kind"
        " of failure.",
    )
else:
    display(Markdown("No failure of both models can be drawn."))

# %%
taxonomy.grid_table(grid)

# %% [markdown]
# ## The claim

# %%
for table in ledger.tables(findings):
    display(table)

# %% [markdown]
# ## Reading and deviations
#
# - **The tree sees one word where there is one.** A short wrong answer shares no word with the
#   truth, so the tree says A wherever a person would say “wrong colour”. Answers yes, no and single
#   letters have no content word at all, and become E.
# - A wrong caption always shares some word with the true one, so the tree calls all of them B,
#   whatever they get wrong.
# - As printed, the tree cannot reach C at all (the audit chapter counts it); this is the published
#   code's order, in which C needs a truth without a content word. Every true caption has some, so
#   the ledger counts “no prior bias in captions” as a claim by construction.
# - “The scene” calls C only what the model says without the picture as well. Yes or no can be wrong
#   in one way only, so there C may be chance.
# - The paper's labels are GPT-4o's. The parameters `judge` and `url` put its prompt to any local or
#   OpenAI-compatible text model; none is named here, and none is called.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
edge.stamp_of(recorded)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)
