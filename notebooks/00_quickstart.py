# %% [markdown]
# # How does SCI answer a question? A quick start, round by round
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
records: str = "data_manifests/records"  # of the model, by which the questions are chosen
method_name: str = "SCI5"  # or SCI3, SCI7
beta: float = None  # a token has to be β times as likely as the best; None: the method's own β
tau2: float = None  # temperature of the visual half, whose weight falls with it; None: its own

# %% tags=["hide-input"]
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
import torch
from IPython.display import Markdown, display
from matplotlib.patches import Rectangle
from PIL import Image
from sklearn.datasets import load_sample_image

from sci_book import build_prompt, load_dataset
from sci_book.data.answers.rules import letter
from sci_book.data.catalogue import model_name
from sci_book.methods import with_constants
from sci_book.papers.shared import chapters, figures, stamp, tables
from sci_book.papers.shared.answer import Answer
from sci_book.papers.shared.figures import INK, READ_ON, over_ground
from sci_book.results.drbench import split, subsets
from sci_book.run.provenance import as_recorded, revision
from sci_core import BASE, counterfactual_image, generate, load_model, method, rewrite
from sci_core.counterfactuals import is_visual

began = stamp.begin()

# %% tags=["hide-input"]
rule = with_constants(method(method_name), beta=beta, tau2=tau2)
if rule.rule != "sci" or not rule.visual:
    raise ValueError(f"{method_name} is not SCI with dummies; expected SCI3, SCI5 or SCI7.")
(subject,) = chapters.subjects([model], records)
model_records = subject.records
loaded = load_model(stamp.located(model), **as_recorded(model_records.stamp))
noise = model_records.stamp.get("noise", "clamp")  # that of the recorded rounds
dataset = load_dataset(data)

# %% tags=["hide-input", "nbval-ignore-output"]
at_head = Answer()  # computed below, and written here

# %% [markdown]
# ## Three questions
#
# The questions are not picked by hand. They are the first multiple-choice test rows, in the data
# sets' own order, of three kinds. DRBench calls a row biased if the base answer is wrong and is
# also the answer to a dummy picture, and only sensitive if the answer changes with the wording: of
# these two kinds the page takes rows that SCI corrects, or else answers rightly, or else any. A
# spoiled row is one that the base answers rightly and SCI wrongly. A model need not have a row of
# each kind; the page then says so below. {doc}`../book/drbench` explains the kinds.

# %%
sets, test = subsets(model_records), split(model_records) == "test"
asked = sets["all"] & test & (model_records.frame["question_type"] == "mcq")
base_right = subject.right("base") == 1
ours_right = subject.right(rule) == 1 if subject.holds(rule) else base_right
kinds = {
    kind: [part & ours_right & ~base_right, part & ours_right, part]
    for kind, part in (("biased", sets["B"]), ("sensitive", sets["S∖B"]))
}
kinds["spoiled"] = [base_right & ~ours_right]
chosen, notes = {}, []
for kind, preferred in kinds.items():
    found = [rows for mask in preferred if len(rows := np.flatnonzero(asked & mask))]
    if found:
        chosen[kind] = int(found[0][0])
    else:
        notes.append(f"No test row is both {kind} and multiple choice with this model: no such "
                     "question is shown.")  # fmt: skip
if not chosen and asked.any():
    chosen["ordinary"] = int(np.flatnonzero(asked)[0])
    notes.append("The first multiple-choice test row stands in.")
by_key = {(row.dataset, row.index): row for row in dataset}
questions = {kind: by_key[model_records.keys[place]] for kind, place in chosen.items()}

# %% [markdown]
# ## The call
#
# Any checkpoint of a supported family loads the same way; only the name changes. One call answers
# all questions.

# %%
images = [row.image() for row in questions.values()]
prompts = [build_prompt(row, loaded.family) for row in questions.values()]
call = {"images": images, "prompts": prompts, "max_new_tokens": 8, "noise": noise}
answers = generate(loaded, **call, method=rule, return_logits=True)
slow_answers = generate(loaded, **call, method=rule, engine="sequential")
base_answers = generate(loaded, **call, method="base")
for answer in answers:
    print(answer.text)

# %% [markdown]
# ## The equations by hand
#
# TC is the best that any wording gives a token (equation 6), and VC is what the picture adds to it
# over the dummies (equation 7). A token whose TC/τ₁ lies under the best one's by more than ln(1/β)
# is implausible and is dropped (equation 11). Of the others, the one with the largest TC/τ₁ + VC/τ₂
# wins (equation 5).


# %%
def by_hand(Z):
    """TC/τ₁, VC/τ₂ and the score of every token at one step, from all rounds' raw logits."""
    wordings = 1 + len(rule.textual)  # rows of Z: the original, its rewordings, then the dummies
    tc = Z[:wordings].amax(dim=0) / rule.tau1
    vc = (Z[0] - Z[wordings:].mean(dim=0)) / rule.tau2
    plausible = tc >= tc.max() - rule.margin / rule.tau1  # the margin is τ₁ ln(1/β)
    return torch.stack([tc, vc, torch.where(plausible, tc + vc, -torch.inf)])


def token_of(option, logits):
    """The token by which the model says a letter, with or without a space before it."""
    spellings = (loaded.tokenizer.encode(text, add_special_tokens=False)[-1]
                 for text in (option, f" {option}"))  # fmt: skip
    return max(set(spellings), key=lambda token: logits[token])


logits, terms, hand_agrees = {}, {}, []
for (kind, row), answer in zip(questions.items(), answers, strict=True):
    Z = answer.logits[0]
    parts, options = by_hand(Z), list(row.options)
    tokens = [token_of(option, Z[0]) for option in options]
    logits[kind] = pd.DataFrame(Z[:, tokens].tolist(), list(rule.rounds), options)
    terms[kind] = pd.DataFrame(parts[:, tokens].tolist(), ["TC/τ₁", "VC/τ₂", rule.name], options)
    terms[kind] = terms[kind].replace(-np.inf, np.nan)
    # An answer without a token is one that ended at once.
    hand_agrees.append(int(parts[2].argmax()) in (answer.tokens[:1] or loaded.eos_token_ids))
both = zip(answers, slow_answers, strict=True)
engines_agree = [fast.tokens == slow.tokens for fast, slow in both]

# %% tags=["remove-output"]
said = {kind: {"the base": base.text, rule.name: answer.text}
        for kind, base, answer in zip(questions, base_answers, answers, strict=True)}  # fmt: skip


def outcome(kind, row):
    """What base and method answer to a question and what is right, as one line of Markdown."""
    parts = []
    for who, text in said[kind].items():
        read = letter(text, row.options)
        word = "no option" if read is None else "right" if read == row.answer else "wrong"
        parts.append(f"{who} says “{' '.join(text.split())}” ({word})")
    right = " ".join(f"{row.answer}. {row.options[row.answer]}".split())
    question = " ".join(row.question.split())
    said_by = ", ".join(parts)
    return f"**{kind.capitalize()}**, “{question}”: {said_by}; right is “{right}”, by its letter."


for kind, row in questions.items():
    for one, text in zip((BASE, rule), said[kind].values(), strict=True):
        if not subject.holds(one):
            continue
        here, there = letter(text, row.options), subject.answers(one)["answer"][chosen[kind]]
        if here != there:
            notes.append(f"On the {kind} question {one.name} answers {here or 'no option'} here "
                         f"and {there or 'no option'} in the records, by which the question was "
                         "chosen.")  # fmt: skip
verdicts = [
    f"**{statement}**: *{chapters.overall('holds' if same else 'fails' for same in agreed)}* "
    f"({sum(agreed)} of {len(agreed)} questions)."
    for statement, agreed in (
        ("The equations by hand give the first token that `generate` gives", hand_agrees),
        ("Both engines give the same answer", engines_agree),
    )
]
lines = [*verdicts, *(outcome(kind, row) for kind, row in questions.items()), *notes]
at_head.write("\n".join(f"- {line}" for line in lines))

# %% [markdown]
# Of an answer the letter alone is scored. A model may write the option's words after it or not, and
# two methods may differ in that.
#
# ## From the picture to the answer
#
# A row of a figure's upper block is a round: the original, the rewordings of its instruction, and
# the dummies that take the picture away. A column is an option, and a cell holds the logit of the
# option's letter. The lower block holds what the equations make of a column.

# %%
SHADES = over_ground("#0072b2", opaque=READ_ON)
AROUND_0 = over_ground("#dd6b20", "#6b21a8", READ_ON)


def draw_cells(ax, table, names, framed, **scale):
    """A coloured cell a number: the largest of a row bold, one framed, none as a dash."""
    sns.heatmap(table, ax=ax, annot=True, fmt=".2f", annot_kws={"size": 9, "color": INK},
                cbar=False, linewidths=1.5, linecolor="none", **scale)  # fmt: skip
    for text in ax.texts:
        column, line = (int(place) for place in text.get_position())
        value = table.iloc[line, column]
        text.set_text(tables.number(value))
        if value == table.iloc[line].max():
            text.set_fontweight("bold")
    for line, column in zip(*np.nonzero(table.isna()), strict=True):
        ax.text(column + 0.5, line + 0.5, tables.MISSING, ha="center", va="center", color=INK)
    if framed is not None:
        corner = table.columns.get_loc(framed[1]) + 0.02, framed[0] + 0.04
        ax.add_patch(Rectangle(corner, 0.96, 0.92, fill=False, edgecolor=INK, lw=2.4))
    ax.set_yticks(np.arange(len(names)) + 0.5, names, rotation=0, fontsize=9)
    ax.tick_params(length=0)
    ax.grid(visible=False)
    ax.set(xlabel="", ylabel="")


def head(option, text, right):
    """An option's letter, ticked if it is right, with its text where the font has its script."""
    short = text if len(text) <= 16 else f"{text[:15]}…"
    mark = f"✓ {option}" if right else option
    return mark if not short or max(map(ord, short)) >= 0x2E80 else f"{mark}\n{short}"


# %%
for kind, row in questions.items():
    upper, lower, heights = logits[kind], terms[kind], [len(logits[kind]), len(terms[kind])]
    figure, axes = plt.subplot_mosaic(
        [["picture", "rounds"], ["picture", "terms"]], figsize=(figures.WIDTH, 3.1),
        width_ratios=[1.5, 4.6], height_ratios=heights,
    )  # fmt: skip
    small = row.image().convert("RGB")
    small.thumbnail((160, 160))
    axes["picture"].imshow(small, interpolation="none")
    axes["picture"].set_axis_off()
    base, ours = (letter(text, row.options) for text in said[kind].values())
    names = [
        name if name == "original" else f"{'dummy' if is_visual(name) else 'reworded'}: {name}"
        for name in rule.rounds
    ]
    draw_cells(axes["rounds"], upper, names, base and (0, base), cmap=SHADES)
    sums, most = [*lower.index[:-1], f"{rule.name}: sum"], max(1.0, lower.abs().max().max())
    draw_cells(axes["terms"], lower, sums, ours and (2, ours), cmap=AROUND_0, vmin=-most, vmax=most)
    heads = [head(*option, option[0] == row.answer) for option in row.options.items()]
    axes["rounds"].xaxis.tick_top()
    axes["rounds"].set_xticks(np.arange(len(heads)) + 0.5, heads, fontsize=9)
    for tick, option in zip(axes["rounds"].get_xticklabels(), row.options, strict=True):
        tick.set_fontweight("bold" if option == row.answer else "normal")
    axes["terms"].set_xticks([])
    display(Markdown(f"**The {kind} question.** {' '.join(row.question.split())}"))
    figures.show(
        figure,
        f"The {kind} question. A tick marks the right answer, a frame above the base’s answer, a "
        f"frame below that of {rule.name}; the largest number of a row is bold, and a dash stands "
        "for the score of an implausible option.",
        alt="At the left the picture; at the right a grid with a row a round and a column an "
        "option, each cell with its logit, and below it the rows of the two terms and their sum. "
        "The download below has the numbers.",
    )

# %%
cells = [
    tables.plain(part[kind], name=f"{kind}, {what}", caption="")
    for kind in questions for what, part in (("logits", logits), ("terms", terms))
]  # fmt: skip
tables.download("quickstart", cells)

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
    alike = tables.number(np.corrcoef(noisy, pixels)[0, 1])
    print(f"{name}: correlation with the original {alike}")
print("black: largest pixel value", np.asarray(dummies["black"]).max())

# %% [markdown]
# ## Reading
#
# These questions show how the rule works, not how well. They were selected on what the base and SCI
# answer; {doc}`table02_drbench` counts all test rows, those that SCI spoils included. The logits
# are those of the model that is read: what carries over from a small one to a large one is the
# computation.
#
# ## If you change …
#
# - `beta=0.8`: fewer options are plausible: more scores may be dashes, fewer answers may change.
# - `tau2=2`: VC weighs a tenth as much, and the answers come near those of TC alone.
# - `method_name=SCI3` or `SCI7`: fewer or more rounds, by which other questions are chosen.

# %% [markdown]
# ## Stamp

# %%
stamp.provenance(
    models={model_name(model): revision(loaded)},
    data={name: value[:24] for name, value in dataset.checksums.items()},
    records={model_name(model): stamp.checksum([subject.path])},
    rows=chapters.rows_read(model_records),
)

# %% tags=["nbval-ignore-output"]
stamp.circumstances(began)
