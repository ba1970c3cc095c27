# %% [markdown]
# # ORIC: does Self-Critical Inference help, on misses and hallucinations?
#
# **Claim.** SCI5 (Self-Critical Inference of five rounds) finds more of the present objects of the
# pocket ORIC-Bench than the base, and denies more of the absent ones, for each model shown.
#
# ORIC {cite:p}`oric` explains both errors by priors that win over weak evidence. Self-Critical
# Inference {cite:p}`tang2026sci` is made against such priors: it subtracts what dummy pictures say
# and takes each token's largest logit over reworded prompts. So it should help here, and on either
# side.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.oric.chapters import answers, effects
from sci_book.papers.shared import chapters, figures, stamp
from sci_book.pipeline import findings as ledger

began = stamp.begin()
recorded = answers.subjects(models, records)
subjects = recorded.subjects
if recorded.absent:
    display(Markdown(chapters.absences(recorded)))

# %% tags=["hide-input"]
findings = ledger.of_page("oric_sci", ledger.named(models, records))
Markdown(f"{ledger.conclusion(findings)}\n\n{effects.priors(subjects)}")

# %% tags=["hide-input"]
ledger.show_parts(
    findings,
    "What SCI5 changes in finding what is there and in denying what is not.",
    xlabel="SCI5 less base, points",
)

# %% [markdown]
# ## Records
#
# A hundred pairs of pictures, two present and two absent objects each, in the paper's four
# wordings; a fifth of ORIC-Bench. The construction is the paper's; the judge of what is expected is
# co-occurrence in other scenes, the encoder a pocket CLIP, and the questions it chose are frozen in
# `data_manifests/pocket_oric.csv`. Every metric is averaged over the wordings; a picture is a
# cluster of every interval. An answer that is neither yes nor no is *unknown*: it counts as wrong.

# %% [markdown]
# ## Each method less the base
#
# On the same questions. *Present found* is recall of yes, whose loss is misses; *absent denied* is
# recall of no, whose loss is hallucinations. p-values are the sign-flip test's over pictures, with
# Holm's correction over the lines of all models.

# %%
lines = effects.changes(subjects)
for subject in subjects:
    display(effects.table(subject, lines[subject.name]))

# %% tags=["hide-input"]
if subjects:
    figures.show(
        effects.draw(subjects, lines),
        "What each method changes: present objects found, and absent objects denied.",
        alt="A row of panels a model, one for present objects and one for absent ones: dots "
        "with intervals for each method, in points against the base.",
    )

# %%
effects.turned(subjects) if subjects else Markdown("No answers.")

# %% [markdown]
# ## With which rounds?
#
# SCI with M dummy pictures and N rewritten prompts, replayed from the recorded logits; *open*
# counts the answers that these do not settle. What each round says alone follows. On a black
# picture that is the prior, which SCI subtracts.

# %%
for subject in subjects:
    display(effects.replay_table(subject, effects.replayed(subject)).fold())

# %%
effects.alone(subjects).fold() if subjects else Markdown("No rounds.")

# %% [markdown]
# ## The claim
#
# SCI5's gains again, with the intervals of these claims alone.

# %%
for table in ledger.tables(findings):
    display(table)

# %% [markdown]
# ## Reading and deviations
#
# - **The paper makes no claim about SCI**; this page's is what SCI's own paper would expect.
# - A method that moves answers to one side trades one error for the other. Macro F1 sees the sum;
#   the two recalls say which.
# - Presets are SCI's for yes/no questions, chosen on other data; nothing was tuned on ORIC.
# - Replays are descriptive: no interval, no claim, and none was used to choose a method.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects) if subjects else Markdown("No records were read.")

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)
