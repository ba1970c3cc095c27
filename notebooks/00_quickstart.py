# %% [markdown]
# # Two questions, seven rounds: a quick start
#
# A vision-language model can answer from habit (it says of a red banana what it says of any
# banana) and it can be thrown off by wording (ask it to look closely, and it changes its mind).
# Self-Critical Inference asks the same question in several rounds and compares the logits.
# This page takes one question of each kind, as Figure 1(a, b) of the paper does, and shows every
# number between the picture and the answer.
#
# **Claim.** What `generate` answers is what the paper's equations give, computed here by hand from
# the rounds' logits, for each question and with both engines.

# %% tags=["parameters", "hide-input"]
model: str = "checkpoints/pocket-qwen2vl"
data: str = "pocket"
records: str = "data_manifests/records"
method_name: str = "SCI5"

# %% tags=["hide-input"]
import time
from math import log
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from IPython.display import Markdown, display
from PIL import Image
from sklearn.datasets import load_sample_image

from sci_book import build_prompt, load_dataset, read_records
from sci_book.papers.sci.chapters import examples
from sci_book.papers.shared import chapters, figures, stamp, tables
from sci_book.run.provenance import revision
from sci_core import counterfactual_image, generate, load_model, method, rewrite
from sci_core.logits import tc_logits, vc_logits

began = time.time()
figures.use_style()

# %% [markdown]
# ## A model, a method, and two questions
#
# Any checkpoint of a supported family loads the same way; only the name changes. The two questions
# are not picked by hand: they are the first test rows, in the data sets' own order, that
# [DRBench](../book/drbench.md) calls biased (the base answer is wrong, and is also the answer to a
# dummy picture) or only sensitive (it changes with the wording), and that SCI answers rightly; or
# simply the first such rows where there is none that it answers rightly. A model need not have a
# row of either kind: the page then says so.

# %%
loaded = load_model(stamp.located(model))
rule = method(method_name)
recorded = stamp.located(records) / f"{Path(model).name}.parquet"
found = read_records(recorded)
dataset = load_dataset(data)
rows = {(row.dataset, row.index): row for row in dataset}

chosen, missing = examples.multiple_choice(found, method_name)
questions = {name: rows[key] for name, key in chosen.items()}
Markdown(" ".join(missing) or "There is a question of either kind.")

# %% [markdown]
# ## The rounds
#
# The textual rounds keep the picture and reword the instruction (the tables of Figures 3 to 5);
# the visual rounds keep the prompt and take the picture away: all black, or drowned in the noise
# of a diffusion process at step 500.

# %%
for name, row in questions.items():
    prompt = build_prompt(row, loaded.family)
    shown = {"original": row.image()}
    shown |= {each: counterfactual_image(row.image(), each) for each in rule.visual}
    display(Markdown(f"**The {name} question** (answer: {row.answer})"))
    figures.show(
        figures.pictures(shown.values(), shown),
        "What the three visual rounds are shown: the picture, black, and noise.",
        alt="Three pictures in a row: the drawn scene, a black square, and coloured noise.",
    )
    texts = {"original": prompt, **{each: rewrite(prompt, each) for each in rule.textual}}
    lines = {each: text.replace("\n", " ⏎ ") for each, text in texts.items()}
    display(
        tables.plain(
            pd.DataFrame({"text of the user's turn": lines}),
            name=f"prompts-{name}",
            caption=f"The {name} question: what each textual round reads",
        )
    )

# %% [markdown]
# ## Logits of every round
#
# One call answers both questions, and on request returns the logits. The picture of a round's
# logits shows what a single answer hides: how strongly each round leans to each option.

# %%
images = [row.image() for row in questions.values()]
prompts = [build_prompt(row, loaded.family) for row in questions.values()]
answers = generate(loaded, images, prompts, method=rule, max_new_tokens=8, return_logits=True)
alone = generate(loaded, images, prompts, method="base", max_new_tokens=8)

letters = {}
for (name, row), answer in zip(questions.items(), answers, strict=True):
    first = answer.logits[0]
    ids = {letter: loaded.tokenizer.convert_tokens_to_ids(letter) for letter in row.options}
    letters[name] = ids
    values = {each: first[k, list(ids.values())].tolist() for k, each in enumerate(answer.rounds)}
    figure, ax = plt.subplots(figsize=(figures.WIDTH, 2.8))
    labels = [f"{letter}. {text}" for letter, text in row.options.items()]
    figures.rounds_by_token(ax, values, labels, ylabel="logit of the letter")
    ax.set_title(f"The {name} question: first token, every round (answer: {row.answer})")
    figures.show(
        figure,
        "The logits of the option letters in every round. What a letter gets under black or noise"
        " owes nothing to the picture; VC subtracts it.",
        alt="Bars in groups: for each of the four options, one bar a round, original, "
        "rewordings, black and noise; the height is the logit of the option’s letter.",
    )
    display(
        tables.plain(
            pd.DataFrame(values, index=labels).T,
            name=f"logits-{name}",
            caption=f"The {name} question: logits of the option letters at the first step",
        )
    )

# %% [markdown]
# ## From logits to the answer
#
# TC is the best that any wording gives a token (equation 6), VC what the picture adds to it over
# the dummies (equation 7). A token whose TC/τ₁ lies under the best one's by more than ln(1/β) is
# implausible and is dropped (equation 11); of the others, the one with the largest
# TC/τ₁ + VC/τ₂ wins (equation 5).

# %%
agreed = []
for (name, row), answer in zip(questions.items(), answers, strict=True):
    Z = answer.logits[0][:, None]
    tc, vc = tc_logits(Z, len(rule.textual))[0], vc_logits(Z, len(rule.textual))[0]
    cutoff = (tc / rule.tau1).max() + log(rule.beta)
    score = torch.where(tc / rule.tau1 >= cutoff, tc / rule.tau1 + vc / rule.tau2, -torch.inf)
    # An answer without a token is one that ended at once.
    agreed.append(int(score.argmax()) in (answer.tokens[:1] or loaded.eos_token_ids))
    ids = list(letters[name].values())
    frame = pd.DataFrame({"TC/τ₁": tc[ids] / rule.tau1, "VC/τ₂": vc[ids] / rule.tau2})
    frame["survives"] = np.where(score[ids] > -torch.inf, "yes", "no")
    frame["score"] = [value if value > -np.inf else np.nan for value in score[ids].tolist()]
    frame.index = [f"{letter}. {text}" for letter, text in row.options.items()]
    caption = f"The {name} question: {rule.name} at the first step (answer: {row.answer})"
    display(
        tables.plain(
            frame.astype({"TC/τ₁": float, "VC/τ₂": float}), name=f"score-{name}", caption=caption
        )
    )

# %%
for (name, row), answer, base in zip(questions.items(), answers, alone, strict=True):
    display(
        Markdown(
            f"The {name} question, whose answer is **{row.answer}**: by itself the model says "
            f"“{base.text}”, {rule.name} says “**{answer.text}**”."
        )
    )

# %% [markdown]
# ## The claim's verdict

# %%
slow = generate(loaded, images, prompts, method=rule, max_new_tokens=8, engine="sequential")
same = [a.tokens == b.tokens for a, b in zip(answers, slow, strict=True)]
for how, each in (("by hand", agreed), ("both engines", same)):
    word = chapters.overall("holds" if one else "fails" for one in each)
    print(f"{how}: {word} ({sum(each)} of {len(each)})")

# %% [markdown]
# ## The same dummies on a photograph
#
# On a photograph, noise at step 500 leaves shapes that a person still guesses; black leaves
# nothing. The photograph ships with scikit-learn; no model is asked about it here.

# %%
photograph = Image.fromarray(load_sample_image("china.jpg")).resize((240, 160))
dummies = {
    each: counterfactual_image(photograph, each) for each in ("black", "noise400", "noise500")
}
figures.show(
    figures.pictures([photograph, *dummies.values()], ["original", *dummies]),
    "A photograph, and what each dummy picture leaves of it.",
    alt="Four pictures in a row: a photograph of a Chinese pavilion, a black picture, and two "
    "pictures of coloured noise.",
)
pixels = np.asarray(photograph, dtype=float).ravel()
for each in ("noise400", "noise500"):
    noisy = np.asarray(dummies[each], dtype=float).ravel()
    print(f"{each}: correlation with the original {np.corrcoef(noisy, pixels)[0, 1]:.2f}")
print("black: largest pixel value", np.asarray(dummies["black"]).max())

# %% [markdown]
# ## Reading
#
# Two questions show how the rule works, not how well. They were selected on the model's failures
# and, where possible, on SCI's success; the [tables](table02_drbench.ipynb) count all rows, those
# that SCI spoils included. The logits are those of the model that is read: what carries over from
# a small one to a large one is the computation.

# %% [markdown]
# ## Stamp

# %%
stamp.provenance(
    models={Path(model).name: revision(loaded)},
    data={name: value[:24] for name, value in dataset.checksums.items()},
    records={Path(model).name: stamp.checksum([recorded])},
    rows=chapters.rows_read(found),
)

# %% tags=["nbval-ignore-output"]
stamp.circumstances(time.time() - began)
