# %% [markdown]
# # Edge Table 7 and Figure 4: blur, and more corruptions
#
# **Claim.** The paper's blur costs accuracy on questions, for each model shown.
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

import matplotlib.pyplot as plt
from IPython.display import Markdown, display

from sci_book.papers.edge.chapters import blur
from sci_book.papers.edge.chapters import models as edge
from sci_book.papers.shared import chapters, figures, stamp

began = stamp.begin()
found = edge.read(models, records)
pair = found.pair
Markdown(f"{edge.missing_line(found)} {edge.pair_line(pair)}")

# %% [markdown]
# ## Records
#
# `sci probe edge --model … --out …` makes them: 240 questions and 80 captions of the pocket world,
# clean and blurred, with the logits of every step of the answers; the other experiments keep
# answers alone. A picture is a cluster of every interval; those of the verdict cover together with
# 95 % over its lines and models. A model without records makes it *not comparable*, unless another
# fails. Where all rows are alike a share has Wilson's interval and a difference none: a bootstrap
# would call either certain.

# %% tags=["hide-input"]
edge.rows_table(found)

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
    blur.draw(pair)
    plt.show()

# %% [markdown]
# ## All strata
#
# A selection by being right can only lose. In the other strata an answer may also come right under
# blur, and on all rows together the two cancel.

# %%
display(blur.strata(pair) if pair else Markdown("*not comparable*: no pair"))

# %% tags=["hide-input"]
headline = blur.claim_table(found)
verdict = chapters.overall(headline["verdict"])
told = [chapters.finding(name, line) for name, line in headline.iterrows()]
Markdown(f"**Verdict: {verdict}.** {'. '.join(told) or 'No model has records'}.")

# %% [markdown]
# ## More corruptions
#
# The nineteen of ImageNet-C at severities 1 to 5. Each corruption has sixteen questions, the same
# at all severities; severity 0 is these questions on clean pictures. Corruptions take the 240
# questions in turn: the last four of the nineteen ask what the first four asked.

# %%
blur.severity_table(found)

# %% tags=["hide-input"]
figures.compact(blur.draw_curves(found))

# %% tags=["hide-input"]
figures.compact(blur.draw_each(found))

# %% [markdown]
# ## Reading and deviations
#
# - **A blur in pixels is more to a small picture.** Pocket pictures are 96 pixels wide; the
#   constants of all corruptions are the published ones, made for pictures of 224.
# - McNemar's test is exact; Edwards' correction stands beside it because the paper prints it,
#   without the clamp at zero that would give 1 at equal counts.
# - The ratio ρ has no value where the second model does not drop, and the draws without one are
#   left out of its interval and counted.
# - The corruptions are written anew on SciPy and Pillow; `papers.shared.corruptions` lists what
#   differs from the published ones.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
edge.stamp_of(found)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)
