# %% [markdown]
# # Why may a verdict be trusted?
#
# A claim of the paper says something about SCI only on a model of which two things hold that SCI
# assumes ({cite:p}`tang2026sci` has both): a rewording asks the same question as well as the
# original does, and a dummy picture shows nothing. And a verdict is worth more if what decides it
# was written down before. Both are less than they may seem: which models were judged, what was
# known when, and which of the book's claims stand in no registered file, is told below as the
# history of the repository tells it.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
extended: str = "data_manifests/records/extended"
data: str = "pocket"
results: str = "benchmarks/results"

# %% tags=["hide-input"]
import json

import pandas as pd
from IPython.display import Markdown, display

from sci_book.data.datasets import load_dataset
from sci_book.papers.sci.chapters import fitness, headline
from sci_book.papers.shared import figures, stamp, tables
from sci_book.papers.shared.pages import named
from sci_book.pipeline import registration
from sci_book.run import conditions
from sci_core.counterfactuals import counterfactual_image

began = stamp.begin()
spec = conditions.load_conditions()
by_seed = headline.seeds(models, records)
frame = fitness.judged(by_seed, spec)

# %% tags=["hide-input"]
told = fitness.noise_sentence(by_seed), fitness.readable_sentence(by_seed)
display(Markdown(f"{fitness.conclusion(frame)}\n\n" + "\n\n".join(filter(None, told))))
display(
    Markdown(
        f"**Verdict, {named('registration')}: {registration.verdict()}.** {registration.sentence()}"
    )
)

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
# (conditions)=
# ## Are these models fit to be asked?
#
# **Claim.** What SCI assumes of its counterfactual rounds holds for these models. In the paper a
# rewording alone costs at most 1.4 points, and each dummy alone scores as black does.
#
# They stand in `data_manifests/paper/conditions.yaml`: each rewording alone within 3 points of the
# original (of all rows, of multiple choice, of the others), each noise alone within 5 points of
# black, and the base above a guess. Two more are apart from the claim: the base of the pair that
# stands for the paper's is within 4 points of the paper's, and the *small sister*, a narrower model
# of the same design, is right on enough of the multiple-choice questions. The words in bold above
# are of all conditions together. A condition is *met* if its 95 % interval lies within the margin,
# *not met* if it lies outside, and otherwise *undecided*, as it is on fewer than 200 rows. No test
# row takes part in choosing a model. The book's models are judged on all rows of the world before
# theirs, which the {ref}`registration <registration>` names: the results of the first models are of
# that world, and the recipe was chosen on it by these conditions, but no verdict of today is. A
# model of yours is judged on its validation rows.

# %%
for (_, seed), part in frame.groupby(["name", "seed"], sort=False):
    table = fitness.conditions_table(part)
    display(table.fold() if seed else table)

# %% [markdown]
# ### Every input alone
#
# The accuracy of each round's own free-running answers, beside the paper's Table 10.

# %%
for name in frame["name"].unique():
    display(fitness.accuracy_table(by_seed, name).fold())

# %% [markdown]
# ### Three ways to make a noisy picture
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
fitness.noise_table(by_seed[0], extended).fold()

# %% [markdown]
# ### What follows from the rounds
#
# Sizes of the subsets are no condition. They are outcomes of the same rounds, and to accept models
# by them would make the claims on sizes near-tautologies.

# %%
fitness.shares_table(by_seed).fold()

# %% [markdown]
# (registration)=
# ## Registration and amendments
#
# **Claim.** Every registered file is as it was registered, or was amended since with a date, a
# commit and a reason that stand here.
#
# Five ledgers, one a paper, and the conditions above. The
# first models of this book were trained, asked and shown before their ledger was begun: this is a
# registration *after seeing earlier models*. What it had not seen is another test world, and the
# trainings from random weights with seeds 1 and 2.

# %%
registration.files_table()

# %% [markdown]
# `sha256sum` of a file in `data_manifests/paper` prints the same number, as long as the file was
# not amended; a test holds every file to the registration and its amendments.

# %% [markdown]
# ### The subjects as they came about
#
# The registration said:

# %% tags=["hide-input"]
Markdown(registration.planned())

# %% [markdown]
# The world was drawn so (`d2a3a19`). The subjects came about otherwise:
#
# - **Seed 0 of both families goes on from models whose results were known.** It is 1,600 more steps
#   on the models of 21 November (`c18b28d`). The predicates were mended (`6105ae7`) with the
#   results of these models at hand, and of seeds 1 and 2 of 22 November (`d0e46db`). The cards in
#   `checkpoints/` name the weights: `88e262877b77197c` and `839489421076b606`. So of seed 0 only
#   the last 1,600 steps, the test world and the noise were new. It is the model of nearly all
#   pages.
# - **Seed 0 was trained twice.** The first Qwen2-VL of seed 0, with 1,200 steps, “was meant to be
#   the model of the book” (`benchmarks/results/pilots/qwen2_vl-standard-seed0-onward.json`). It did
#   not meet a condition: the rewording V2 cost it 4.0 points on multiple choice. So the recipe was
#   changed once more, to 1,600 steps with other wordings in 97 % of turns, and fixed (`826adb5`).
#   Both families began seed 0 again from the same weights; LLaVA-NeXT's first had been stopped at
#   step 760. “None is replaced” is therefore not so of seed 0. By that file, no method had been
#   scored on the model that was given up.
# - **The length of the recipe was found on those same weights.** The recipe teaches a finished
#   checkpoint further (`ee02c3a`). Ten pilots, with seeds 100 and 103 to 110, tried 1,200, 1,600
#   and 2,000 steps. The files of the first two say that they went on from the shipped models; those
#   of the others name no start, and the repository held no other finished checkpoint of that size.
#   The number of steps followed, beside the rewordings, how near the base came to the paper's level
#   (`57c88de`, `27b3344`, `11e4301`).
# - **Only seeds 1 and 2 began from random weights of their own**: 6,180 steps of the recipe `late`,
#   then these 1,600. The first models had trainings with these seeds too, whose results were known.
#   Their weights were others, as the revisions in their records say; the first weights and the
#   pictures, which a seed draws, may be the same.
# - **The one LLaVA-NeXT near the paper's level is that seed 0**, 3.6 points above it. The two
#   independent trainings stand 10.4 and 10.5 points above it, where 4 are allowed.
# - **The small sister was given another shape** after the registration (`c429e0a`): the first, of
#   three layers, had learnt no letters. She was then trained from random weights by both recipes,
#   once. What her rewordings cost stands on the page of {doc}`Table 3 <table03_cross_model>`.

# %%
registration.subjects_table(results)

# %% [markdown]
# *Commit* is where the training lies, or what was found of it; *conditions*, whether it meets all
# of its own on the world before.
#
# Trainings whose seeds nobody chooses are under way (`20007ab`,
# `data_manifests/pocket/recipe-qwen2_vl.yaml` and `recipe-llava_next.yaml`). Those that have ended
# are judged by the same conditions, before any method is decoded on them; none is replaced:

# %%
ended = {}
for path in sorted((stamp.located(results) / "trainings").glob("*.json")):
    training = json.loads(path.read_text(encoding="utf-8"))
    ended[training["training"]] = {
        "seed": str(training["seed"]),
        "conditions": training["fit"],
        **training["accuracy of each input alone, %"],
    }
trainings = pd.DataFrame.from_dict(ended, orient="index")
tables.plain(trainings, name="trainings", caption="Accuracy of each input alone, %, by training")

# %% [markdown]
# ### The book's own claims
#
# Two pages wrote down what they claim before their results:

# %% tags=["hide-input"]
Markdown(registration.beside())

# %% [markdown]
# What these pages claim stands in no registered file under their name. It was written when results
# were known, of the first models or of these. (*Results at a glance* repeats a registered claim of
# Table 2, the scoreboard and the ablation judge registered claims, and the conditions are
# registered; how these pages sum up is not.)

# %% tags=["hide-input"]
Markdown(registration.unregistered())

# %% [markdown]
# ### Amendments
#
# Two of them were entered after the fact: the code that judges was changed in one commit with the
# results that it decides on.

# %% tags=["hide-input"]
Markdown(
    f"<details><summary>Every amendment</summary>\n\n{registration.amendments()}\n\n</details>"
)

# %% [markdown]
# ### What was mended before
#
# Each predicate that was changed on the day of registration, with its verdict before and after on
# the models of that day, conditions aside: so a reader sees which change moved a verdict.

# %%
registration.mended_table(results).fold()

# %% [markdown]
# ### The paper's own numbers, by the same tests
#
# A claim that the paper's own tables do not meet can hardly be held against another model. These
# are the ones, of all whose numbers are printed; the column stands in the ledger of every paper
# ({doc}`verdicts`). No interval is at hand there: a number is on the claimed side or not.

# %%
registration.own_numbers_table().fold()

# %% [markdown]
# ## Reading and deviations
#
# - The paper states no such condition; its Table 10 shows them met. Margins are ours. They were set
#   (commit `06f183e`) when the answers of the book's first models were known, and before a model
#   that was trained to meet them had been judged.
# - Seeds 1 and 2 are trainings of their own. Seed 0 goes on from the first models, and the length
#   of that recipe was found on their weights, by these conditions ({ref}`registration`).
#   {ref}`headline_seeds` puts the headline claims to each seed.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
headline.stamp_of(by_seed, registration.files(results))

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)
