# %% [markdown]
# # Table 5: what each round adds
#
# **Claim.** Every counterfactual round has a positive marginal value on BS, for each model shown.
#
# Self-Critical Inference combines the original input with rewritten prompts (V1, V2, V3) and dummy
# pictures (black, noise at steps 500 and 400). Table 5 of the paper {cite:p}`tang2026sci` tries
# fourteen combinations of one model's rounds and concludes that robustness "can be improved with
# more incorporated counterfactual rounds". Here *every* subset of the six rounds is a method, so
# that the value of a round can be averaged over all that may stand before it.
#
# Pocket numbers stand *beside* the paper's. Levels do not carry over.

# %% tags=["parameters", "hide-input"]
model: str = "checkpoints/pocket-qwen2vl"
also: list = ["pocket-llavanext"]
records: str = "data_manifests/records"
split_by: str = "rows"
quantifier: str = "any"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.sci.chapters import component_table, components
from sci_book.papers.shared import chapters, figures, stamp, sweeps, tables
from sci_book.pipeline import findings as ledger

began = stamp.begin()

# %% tags=["hide-input"]
subjects = sweeps.subjects(model, also, records)
findings = ledger.of_page("table05_components", subjects)
Markdown(ledger.conclusion(findings))

# %% tags=["hide-input"]
ledger.show_parts(
    findings,
    "What each round adds on BS, on average over the rounds before it (its Shapley value).",
    xlabel="points added",
)

# %% [markdown]
# ## Records
#
# Nothing is decoded here: a method's answers follow from the recorded logits of the original input
# and of each round. A combination of N textual rounds takes τ1 = 1 + 0.5 N, as the paper's rows do,
# with τ2 = 0.2 and β = 0.3.

# %%
sets = {subject.name: subject.sets(quantifier, split_by) for subject in subjects}
right = {subject.name: components.outcomes(subject) for subject in subjects}
chapters.rows_table(subjects, quantifier, split_by)

# %% [markdown]
# ## Table 5
#
# First each input alone, then the original input with one round or more: the paper's rows, in its
# order. Two trivial answers follow, the base's second choice (*runner-up*) and another option by
# lot ({doc}`table02_drbench`). A dagger marks a printed row that cannot be: no numbers of right
# answers, over the sizes in the paper's Table 1, give its three percentages.

# %%
for subject in subjects:
    display(component_table.table05(subject, sets[subject.name], right[subject.name]))

# %% [markdown]
# ## Every combination
#
# All subsets of the recorded rounds on the test rows of BS. The first row holds textual rounds
# alone, the first column visual rounds alone, the corner the base.

# %%
for subject in subjects:
    rows = sets[subject.name]["BS"].to_numpy()
    grid = components.accuracy_grid(right[subject.name], rows)
    caption = f"Every combination on BS of {subject.shown}, accuracy in %; textual rounds across"
    display(tables.plain(grid, name=f"{subject.name}-grid", caption=caption, decimals=1).fold())

# %% tags=["hide-input"]
figures.show(
    components.draw_grids(subjects, sets, right),
    "The gain on BS of every combination of rounds: a line adds dummies, a column adds rewordings.",
    alt="Coloured cells in a panel a model: a line a combination of dummies, a column a "
    "combination of rewordings; orange gains on the base, blue loses.",
)

# %% [markdown]
# How many of them differ from the base? Each gain has its own 95 % interval, so of combinations
# that change nothing one in twenty would be counted as well.

# %%
counts = components.against_base(subjects, sets, right)
tables.plain(counts, name="against", caption="Combinations against the base, test rows")

# %% [markdown]
# ## What each round adds
#
# The *Shapley value* of a round is what it adds on average, if the rounds arrive one after another
# in an order drawn at random. The values of all rounds sum to the gain of the full combination. It
# is taken on every row from the table of all combinations, and a question group is a cluster of
# every interval. The last line is the interaction: what all textual and all visual rounds do
# together beyond the sum of what each side does alone.

# %%
values = {name: components.contributions(outcomes) for name, outcomes in right.items()}
added = components.marginals(subjects, sets, values)
for subject in subjects:
    for subsets in (components.SHOWN[:3], components.SHOWN[3:]):
        display(components.marginal_table(added[subject.name], subject, subsets))

# %% tags=["hide-input"]
figures.show(
    components.draw_marginals(subjects, added),
    "What a round adds to a combination without it, on average, by subset.",
    alt="A row of panels a model, a panel a subset, a line a round: dots with intervals for the"
    " points that it adds.",
)

# %% [markdown]
# The claim, by the ledger.

# %%
for table in ledger.tables(findings):
    display(table)

# %% [markdown]
# ## Reading and deviations

# %% tags=["hide-input"]
for subject in subjects:
    display(Markdown(components.reading(added[subject.name], subject)))

# %% [markdown]
# - **On B nothing can be worse than the base.** The base is wrong there on every row by
#   construction, so the first round that changes its answers gains. BS holds B, so its values lean
#   upwards too. S∖B leans the other way: it has lost the rows on which the base was wrong in a
#   blind way. The column of all rows leans neither way.
# - **A textual round does two things**: it adds its logits to TC, and it raises τ1, which loosens
#   the constraint. {ref}`table06_plausibility` takes the two apart.
# - The paper shows one model, Qwen2-VL; its rows "VC-N" are noise at step 500. Its Table 5 is on
#   the test rows, as here.

# %% tags=["hide-input"]
Markdown(components.open_rows(subjects, sets))

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)
