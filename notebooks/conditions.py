# %% [markdown]
# # Are these models fit to be asked?
#
# **Claim.** What SCI assumes of its counterfactual rounds holds for these models: a rewording asks
# the same question as well as the original does, and a dummy picture shows nothing.
#
# In the paper {cite:p}`tang2026sci` both hold: there a rewording alone costs at most 1.4 points,
# and each dummy alone scores as black does. A claim that rests on them says something about SCI
# only on a model for which they hold too.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
extended: str = "data_manifests/records/extended"
data: str = "pocket"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.data.datasets import load_dataset
from sci_book.papers.sci.chapters import fitness, headline
from sci_book.papers.shared import figures, stamp
from sci_book.run import conditions
from sci_core.counterfactuals import counterfactual_image

began = stamp.begin()
spec = conditions.load_conditions()
by_seed = headline.seeds(models, records)
frame = fitness.judged(by_seed, spec)

# %% tags=["hide-input"]
told = fitness.noise_sentence(by_seed), fitness.readable_sentence(by_seed)
Markdown(f"{fitness.conclusion(frame)}\n\n" + "\n\n".join(filter(None, told)))

# %% tags=["hide-input"]
figures.show(
    fitness.draw(by_seed, spec),
    "Every input read alone on test rows, by training, beside the paper’s. Where a training’s "
    "mark lies in its green band, the input is as good as the original (rewordings) or shows as "
    "little as black (dummies). The paper’s diamonds have bands of their own, which are not drawn.",
    alt="A panel a model, a line an input: original, three rewordings, black and two noises; "
    "dots with intervals for each training’s accuracy, a diamond for the paper’s, and a "
    "green band for the margin.",
)

# %% [markdown]
# Green is what the conditions allow: rewordings within 3 points of the original, noise within 5 of
# black. Diamonds are the paper's model of the same family.

# %% [markdown]
# ## The conditions
#
# They stand in `data_manifests/paper/conditions.yaml`: each rewording alone within 3 points of the
# original (of all rows, of multiple choice, of the others), each noise alone within 5 points of
# black, and the base above a guess. Two more are apart from the claim: the base of the pair that
# stands for the paper's is within 4 points of the paper's, and the *small sister*, a narrower model
# of the same design, is right on enough of the multiple-choice questions. The words in bold above
# are of all conditions together. A condition is *met* if its 95 % interval lies within the margin,
# *not met* if it lies outside, and otherwise *undecided*, as it is on fewer than 200 rows. No test
# row takes part in choosing a model. The book's models are judged on all rows of the world before
# theirs, which the {doc}`registration <registration>` names: the results of the first models are of
# that world, and the recipe was chosen on it by these conditions, but no verdict of today is. A
# model of yours is judged on its validation rows.

# %%
for (_, seed), part in frame.groupby(["name", "seed"], sort=False):
    table = fitness.conditions_table(part)
    display(table.fold() if seed else table)

# %% [markdown]
# ## Every input alone
#
# The accuracy of each round's own free-running answers, beside the paper's Table 10.

# %%
for name in frame["name"].unique():
    display(fitness.accuracy_table(by_seed, name))

# %% [markdown]
# ## Three ways to make a noisy picture
#
# Noise leaves the range of a picture, and three conversions are in use: the published code wraps
# (`wrap`, the default), it can be cut to the range (`clamp`), or the tensor behind the image
# processor takes it as it is (`normalized`), as in VCD. What a model still reads of a picture
# under each is its accuracy beside black's. Wrapping became this book's default when its effect was
# known: {doc}`ablation_variants` has the verdicts under each. A line is missing where a model has
# no records under that noise; those of the others are of a fixed fifth of the rows.

# %%
row = load_dataset(data, limit=1).rows[0]
pictures = {"original": row.image(), "black": counterfactual_image(row.image(), "black")}
pictures |= {
    f"noise500, {noise}": counterfactual_image(row.image(), "noise500", noise)
    for noise in ("wrap", "clamp")
}
figures.show(
    figures.pictures(pictures.values(), pictures),
    "One picture, and what two of the three ways make of it. The third changes the tensor that "
    "the model reads, of which there is no picture.",
    alt="Pictures in a row: the drawn scene, black, noise that wraps, and noise cut to the range.",
)

# %%
fitness.noise_table(by_seed[0], extended)

# %% [markdown]
# ## What follows from the rounds
#
# Sizes of the subsets are no condition. They are outcomes of the same rounds, and to accept models
# by them would make the claims on sizes near-tautologies.

# %%
fitness.shares_table(by_seed)

# %% [markdown]
# ## Reading and deviations
#
# - The paper states no such condition; its Table 10 shows them met. Margins are ours. They were set
#   (commit `06f183e`) when the answers of the book's first models were known, and before a model
#   that was trained to meet them had been judged.
# - Seeds 1 and 2 are trainings of their own. Seed 0 goes on from the first models, and the length
#   of that recipe was found on their weights, by these conditions ({doc}`registration`).
#   {doc}`headline_seeds` puts the headline claims to each seed.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
headline.stamp_of(by_seed)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)
