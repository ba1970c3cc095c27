# %% [markdown]
# # Three questions, round by round: a quick start
#
# A vision-language model can answer from habit (it says of a red banana what it says of any banana)
# and it can be thrown off by wording (ask it to look closely, and it changes its mind).
# Self-Critical Inference asks the same question in several rounds and compares the logits. This
# page takes one question of each kind, as Figure 1(a, b) of the paper does, and a third that the
# method spoils. It shows every number between the picture and the answer.
#
# **Claim.** What `generate` answers is what the paper's equations give, computed here by hand from
# the rounds' logits, for each question and with both engines.

# %% tags=["parameters", "hide-input"]
model: str = "checkpoints/pocket-qwen2vl"
data: str = "pocket"
records: str = "data_manifests/records"
method_name: str = "SCI5"

# %% tags=["hide-input"]

import numpy as np
import pandas as pd
from IPython.display import Markdown, display
from PIL import Image
from sklearn.datasets import load_sample_image

from sci_book import build_prompt, load_dataset, read_records
from sci_book.data.answers.rules import letter
from sci_book.data.catalogue import model_name
from sci_book.papers.sci.chapters import examples, worked
from sci_book.papers.shared import chapters, figures, stamp, tables
from sci_book.run.provenance import as_recorded, revision
from sci_core import counterfactual_image, generate, load_model, method, rewrite

began = stamp.begin()

# %% tags=["hide-input"]
rule = method(method_name)
recorded = stamp.located(records) / f"{model_name(model)}.parquet"
model_records = read_records(recorded)
loaded = load_model(stamp.located(model), **as_recorded(model_records.stamp))
noise = model_records.stamp.get("noise", "clamp")  # that of the recorded rounds
dataset = load_dataset(data)

chosen, missing = examples.multiple_choice(model_records, rule.name)
by_key = {(row.dataset, row.index): row for row in dataset}
questions = {kind: by_key[key] for kind, key in chosen.items()}

# %% tags=["hide-input"]
images = [row.image() for row in questions.values()]
prompts = [build_prompt(row, loaded.family) for row in questions.values()]
asked = {"images": images, "prompts": prompts, "max_new_tokens": 8, "noise": noise}
answers = generate(loaded, **asked, method=rule, return_logits=True)
slow_answers = generate(loaded, **asked, method=rule, engine="sequential")
base_answers = generate(loaded, **asked, method="base")

steps, replies, hand_agrees = {}, {}, []
for (kind, row), answer, base in zip(questions.items(), answers, base_answers, strict=True):
    Z = answer.logits[0]
    tokens = worked.letter_tokens(loaded.tokenizer, list(row.options), Z[0])
    steps[kind] = worked.work_out(Z, rule, tokens)
    replies[kind] = examples.Replies(base.text, answer.text)
    # An answer without a token is one that ended at once.
    hand_agrees.append(steps[kind].token in (answer.tokens[:1] or loaded.eos_token_ids))
engines_agree = [
    fast.tokens == slow.tokens for fast, slow in zip(answers, slow_answers, strict=True)
]

outcomes = [
    examples.outcome(kind, row, replies[kind], rule.name) for kind, row in questions.items()
]
notes = [*missing, *examples.departures(model_records, chosen, questions, replies, rule.name)]
verdicts = [
    f"**{statement}**: *{chapters.overall('holds' if same else 'fails' for same in agreed)}* "
    f"({sum(agreed)} of {len(agreed)} questions)."
    for statement, agreed in (
        ("The equations by hand give the first token that `generate` gives", hand_agrees),
        ("Both engines give the same answer", engines_agree),
    )
]
Markdown("\n".join(f"- {line}" for line in [*verdicts, *outcomes, *notes]))

# %% [markdown]
# ## From the picture to the answer
#
# A row of a figure's upper block is a round: the original, the rewordings of its instruction, and
# the dummies that take the picture away. A column is an option, and a cell holds the logit of the
# option's letter. The lower block holds what the equations make of a column. TC is the best that
# any wording gives a token (equation 6), and VC is what the picture adds to it over the dummies
# (equation 7). A token whose TC/τ₁ lies under the best one's by more than ln(1/β) is implausible
# and is dropped (equation 11). Of the others, the one with the largest TC/τ₁ + VC/τ₂ wins (equation
# 5).

# %% tags=["hide-input"]
for kind, row in questions.items():
    figure = worked.draw(
        row.image(),
        steps[kind],
        row.options,
        right=row.answer,
        base=letter(replies[kind].base, row.options),
        answer=letter(replies[kind].method, row.options),
    )
    display(Markdown(f"**The {kind} question.** {' '.join(row.question.split())}"))
    figures.show(
        figure,
        f"The {kind} question. A tick marks the right answer, a frame above the base’s answer, a "
        f"frame below that of {rule.name}; the largest number of a row is bold, and a dash stands "
        "for the score of an implausible option.",
        alt="At the left the picture; at the right a grid with a row a round and a column an "
        "option, each cell with its logit, and below it the rows of the two terms and their sum. "
        "The numbers stand in the folded tables below.",
    )

# %% [markdown]
# Of an answer the letter alone is scored. A model may write the option's words after it or not, and
# two methods may differ in that. The questions are not picked by hand. They are the first test
# rows, in the data sets' own order, of three kinds. DRBench calls a row biased if the base answer
# is wrong and is also the answer to a dummy picture, and only sensitive if the answer changes with
# the wording: of these two kinds the page takes rows that SCI corrects, or else answers rightly, or
# else any. A spoiled row is one that the base answers rightly and SCI wrongly. A model need not
# have a row of each kind; the page then says so above. {doc}`../book/drbench` explains the kinds.

# %% [markdown]
# ## The call
#
# Any checkpoint of a supported family loads the same way; only the name changes. One call answers
# all questions.

# %%
for answer in generate(loaded, images, prompts, method=rule, noise=noise):
    print(answer.text)

# %% [markdown]
# ## What each round reads
#
# The textual rounds keep the picture and reword the instruction (the tables of Figures 3 to 5);
# the visual rounds keep the prompt and take the picture away: all black, or drowned in the noise
# of a diffusion process. The noise is added as in the recorded rounds, by which the questions were
# chosen.

# %%
variant = noise if noise in ("clamp", "wrap") else "wrap"
for (kind, row), prompt in zip(questions.items(), prompts, strict=True):
    pictures = {"original": row.image()}
    as_read = loaded.processor.as_read  # at the size that the model reads
    pictures |= {
        name: counterfactual_image(row.image(), name, variant, as_read) for name in rule.visual
    }
    figures.show(
        figures.pictures(pictures.values(), pictures),
        f"The {kind} question: the picture, and the dummies that stand in for it.",
        alt="Pictures in a row: the picture that is asked about, then each dummy picture.",
    )
    texts = {"original": prompt, **{name: rewrite(prompt, name) for name in rule.textual}}
    lines = {name: text.replace("\n", " ⏎ ") for name, text in texts.items()}
    caption = f"The {kind} question: what each textual round reads"
    frame = pd.DataFrame({"text of the user's turn": lines})
    display(tables.plain(frame, name=f"prompts-{kind}", caption=caption).fold())

# %% [markdown]
# ## The numbers as tables

# %%
for kind, row in questions.items():
    heads = [f"{option}. {text}" for option, text in row.options.items()]
    for name, frame, caption in (
        ("logits", steps[kind].logits, "logits of the option letters at the first step"),
        ("score", steps[kind].terms, f"the terms of {rule.name} at the first step"),
    ):
        caption = f"The {kind} question (answer: {row.answer}): {caption}"
        table = tables.plain(frame.set_axis(heads, axis=1), name=f"{name}-{kind}", caption=caption)
        display(table.fold())

# %% [markdown]
# ## The same dummies on a photograph
#
# The correlations below are pixel by pixel: 1 would be the photograph itself, 0 no likeness. Black
# leaves nothing. The photograph ships with scikit-learn; no model is asked about it here.

# %%
photograph = Image.fromarray(load_sample_image("china.jpg")).resize((240, 160))
dummies = {
    name: counterfactual_image(photograph, name, variant)
    for name in ("black", "noise400", "noise500")
}
figures.show(
    figures.pictures([photograph, *dummies.values()], ["original", *dummies]),
    "A photograph, and what each dummy picture leaves of it.",
    alt="Four pictures in a row: a photograph of a Chinese pavilion, a black picture, and two "
    "pictures of coloured noise.",
)
pixels = np.asarray(photograph, dtype=float).ravel()
for name in ("noise400", "noise500"):
    noisy = np.asarray(dummies[name], dtype=float).ravel()
    print(f"{name}: correlation with the original {np.corrcoef(noisy, pixels)[0, 1]:.2f}")
print("black: largest pixel value", np.asarray(dummies["black"]).max())

# %% [markdown]
# ## Reading
#
# These questions show how the rule works, not how well. They were selected on what the base and SCI
# answer; {doc}`table02_drbench` counts all rows, those that SCI spoils included. The logits are
# those of the model that is read: what carries over from a small one to a large one is the
# computation.

# %% [markdown]
# ## Stamp

# %%
stamp.provenance(
    models={model_name(model): revision(loaded)},
    data={name: value[:24] for name, value in dataset.checksums.items()},
    records={model_name(model): stamp.checksum([recorded])},
    rows=chapters.rows_read(model_records),
)

# %% tags=["nbval-ignore-output"]
stamp.circumstances(began)
