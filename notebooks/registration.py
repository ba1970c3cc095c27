# %% [markdown]
# # Registration and amendments
#
# **Claim.** Every registered file is as it was registered, or was amended since with a date, a
# commit and a reason that stand here.
#
# That is less than it may seem: which models were then judged, and which of the book's claims stand
# in no registered file, is told below as the history of the repository tells it.

# %% tags=["parameters", "hide-input"]
results: str = "benchmarks/results"

# %% tags=["hide-input"]

from IPython.display import Markdown

from sci_book.papers.shared import stamp
from sci_book.pipeline import registration

began = stamp.begin()

# %% tags=["hide-input"]
Markdown(f"**Verdict: {registration.verdict()}.** {registration.sentence()}")

# %% [markdown]
# ## What is registered
#
# Five ledgers, one a paper, and the conditions that a model must meet ({doc}`conditions`). The
# first models of this book were trained, asked and shown before their ledger was begun: this is a
# registration *after seeing earlier models*. What it had not seen is another test world, and the
# trainings from random weights with seeds 1 and 2.

# %%
registration.files_table()

# %% [markdown]
# `sha256sum` of a file in `data_manifests/paper` prints the same number, as long as the file was
# not amended; a test holds every file to the registration and its amendments.

# %% [markdown]
# ## The subjects as they came about
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
# of its own on the world before. Trainings whose seeds nobody chooses are under way (`20007ab`,
# `data_manifests/pocket/recipe-qwen2_vl.yaml` and `recipe-llava_next.yaml`); they are not judged
# yet.
#
# ## The book's own claims
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
# ## Amendments
#
# Two of them were entered after the fact: the code that judges was changed in one commit with the
# results that it decides on.

# %%
registration.amendments_table().fold()

# %% [markdown]
# ## What was mended before
#
# Each predicate that was changed on the day of registration, with its verdict before and after on
# the models of that day, conditions aside: so a reader sees which change moved a verdict.

# %%
registration.mended_table(results)

# %% [markdown]
# ## The paper's own numbers, by the same tests
#
# A claim that the paper's own tables do not meet can hardly be held against another model. These
# are the ones, of all whose numbers are printed; the column stands in the ledger of every paper
# ({doc}`verdicts`). No interval is at hand there: a number is on the claimed side or not.

# %%
registration.own_numbers_table()

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
registration.stamp_of(results)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)
