# %% [markdown]
# # What users of such code ask, answered
#
# **Claim.** Each answer below is computed on this page, or leads to the page that has it.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
results: str = "benchmarks/results"  # times, as `benchmarks/overhead.py` writes them
image_tokens: int = 320  # of the pictures at which tokens and times are compared

# %% tags=["hide-input"]
from functools import partial

import pandas as pd

from sci_book.audit import engine, pages
from sci_book.methods import with_constants
from sci_book.papers.edge.chapters import measures
from sci_book.papers.edge.chapters import models as edge
from sci_book.papers.oric.chapters import answers
from sci_book.papers.sci import described
from sci_book.papers.sci.audit import own
from sci_book.papers.sci.overhead import ratio
from sci_book.papers.shared import chapters, figures, frame, gate, stamp, tables, timing
from sci_book.papers.shared.answer import Answer
from sci_book.papers.shared.pages import address, checks
from sci_book.papers.shared.tables import number, signed
from sci_book.pocket.draw import SIZE
from sci_book.results.statistics import ratio as quotient
from sci_core.methods import METHODS, SCI5, sci

began = stamp.begin()
subjects = chapters.subjects(models, records)

# %% tags=["hide-input", "nbval-ignore-output"]
at_head = Answer()  # computed below, and written here

# %% [markdown]
# ## The differences behind the answers
#
# A row of the picture is a question. Dots are the pocket models', with intervals; grey dots are
# single trainings. All differences are of answers to the same test rows, in points.

# %%
GENTLE = with_constants(SCI5, beta=0.8)  # the paper's β where little is biased (Table 4)
ASKED = {
    "beats VCD on BS": (SCI5, "VCD", "BS"),
    "beats VCD over all questions": (SCI5, "VCD", "all"),
    "beats the model alone": (SCI5, "base", "all"),
    "so with β = 0.8": (GENTLE, "base", "all"),
    "beats the model alone on S∖B": (SCI5, "base", "S∖B"),
    "beats the model alone outside BS": (SCI5, "base", "outside BS"),
    "beats a vote of four wordings": (SCI5, "vote(3)", "all"),
    "beats the second choice on B": (SCI5, "runner-up", "B"),
    "five rounds beat three on BS": (SCI5, "SCI3", "BS"),
    "seven rounds beat five on BS": (METHODS["SCI7"], "SCI5", "BS"),
}


def gap(training, one, other):
    """By row, what one method has right above another."""
    return training.right(one) - training.right(other)


def in_subset(training, subset):
    """The test rows of the paper's split that are in a subset."""
    return training.sets("any", "rows")[subset]


differences = [
    frame.line(model, partial(gap, one=one, other=other), partial(in_subset, subset=subset),
               asked=asked, what="first less second", claim="greater")
    for model in subjects
    for asked, (one, other, subset) in ASKED.items()
]  # fmt: skip
tidy = frame.measured(differences)

# %%
figures.show(
    frame.side_by_side(subjects, tidy, "what", "asked", xlabel="points"),
    "Each question as a difference: to the right of the line the answer is yes.",
    alt="A line a question and a dot with its interval a model: to the right of zero the first of "
    "the two methods compared is right more often, in points.",
)
frame.table(
    tidy, ("model", "asked"), (), name="asked", show=("here", "n"),
    caption=f"The same in numbers, points, {tables.INTERVAL}s",
).fold()  # fmt: skip

# %% [markdown]
# (seen_and_said)=
# ## What is seen, and said to be seen
#
# On the twin of ORIC-Bench: how often SCI5 is right where the thing asked for is in the picture,
# and where it is not, less the base; macro F1 on POPE's questions about the same pictures. Of the
# things that a description names, the share that is not there (CHAIR), and of those that are there
# the share that it names. Of Edge's captions the share that is right.

# %%
SEEN = {
    "present, ORIC": ("recall_yes", answers.BENCH),
    "absent, ORIC": ("recall_no", answers.BENCH),
    "macro F1, POPE": ("f1", answers.SETS["POPE"]),
}


def captions(training):
    """What SCI5 changes of Edge's captions that are right, on the same rows."""
    changes = measures.changed_by(training, "SCI5")
    (change,) = (each for each in changes if each.what == "accuracy, captions")
    return change.columns


both = [
    frame.score(model, partial(answers.gain, metric, method=SCI5, halves=halves), answers.combine,
                share=share, claim="greater")
    for model in answers.subjects(models, records).subjects
    for share, (metric, halves) in SEEN.items()
]  # fmt: skip
for quantity, share, side in (("chair_i", "invented", "less"), ("recall", "named", "greater")):
    told = described.shares(subjects, quantity, methods=["SCI5"], against=["base"])
    both += [{**line, "share": share, "claim": side} for line in told]
for model in edge.read(models, records).full:
    both.append(frame.of_sums(model, captions, quotient, span=(-1.0, 1.0), share="captions",
                              claim="greater"))  # fmt: skip
seen = frame.measured(both, "share")
frame.table(
    seen, ("model",), ("share",), name="seen", show=("here", "n"),
    caption=f"SCI5 less base on what is seen and said to be seen, points, {tables.INTERVAL}s",
).fold()  # fmt: skip

# %% [markdown]
# (its_cost)=
# ## What it costs, and what is in question
#
# What SCI5 costs, in the tokens that it reads and in time on one thread of a processor, times the
# base's; and how many printed numbers of the paper are in question.

# %%
tokens = ratio(SCI5, image_tokens)
measured = timing.load_results(results)
timed = measured["CPU"]
no_gpu = "" if "GPU" in measured else "No GPU was within reach here. "
times = timing.grid(timed).reset_index()
times = times.query(f"image_tokens == {image_tokens} and method == 'SCI5' and way == 'two phases'")
least, most = times["ratio_median"].min(), times["ratio_median"].max()
theirs = pd.read_csv(chapters.PAPER / "table07.csv").query("metric == 'ratio' and method == 'SCI5'")
in_batch, by_one = (theirs.query(f"batched == '{word}'")["value"].item() for word in ("yes", "no"))
in_question = pages.summary(engine.audit("sci", own(0.01))).partition(":")[0]
temperatures = ", ".join(f"{METHODS[name].tau1:g} ({name})" for name in ("SCI3", "SCI5", "SCI7"))


# %%
def further_token():
    """The time of a token after the first, times the base's: the least and the most measured."""
    base = timed["frame"].query("strategy == 'base' and data == 'made up'")
    base = base.query(f"image_tokens == {image_tokens}").assign(method="base")
    both = pd.concat([base, times])
    at = both.pivot_table("seconds_median", ["model", "batch"], ["method", "new_tokens"])
    first, last = min(times["new_tokens"]), max(times["new_tokens"])
    ratios = (at["SCI5", last] - at["SCI5", first]) / (at["base", last] - at["base", first])
    return " to ".join(number(one, 1) for one in (ratios.min(), ratios.max()))


print(f"A further token of SCI5, times the base's: {further_token()}")


def unlike():
    """How far from the paper's the base is, by training, and what a rewording costs there."""
    trainings = [each for model in subjects for each in model.trainings]
    asked = [gate.measured(each.records, each.path, each.printed) for each in trainings]
    known = pd.concat(asked).query("group == 'Overall'").set_index("id")["estimate"].dropna()
    level, costs = (known[known.index == name] for name in ("as-the-paper", "rewording"))
    said = []
    if len(level):
        ends = " to ".join(signed(end, 1) for end in (level.min(), level.max()))
        said.append(f"the base is {ends} points from the paper’s")
    if len(costs):
        said.append(f"a rewording costs up to {number(max(0.0, -costs.min()), 1)}")
    return f"By training, {'; '.join(said)}. " if said else ""


def reply(lines, key, value):
    """Yes, no or undecided, then the difference by model."""
    at = lines[(lines[key] == value) & (lines["n"] > 0)] if len(lines) else lines
    if not len(at):
        return "Not recorded."
    words = {"holds": "yes", "fails": "no", "inconclusive": "undecided"}
    said = [words[word] for word in at["verdict"]]
    alike = len({*said}) == 1
    points = "; ".join(
        ("" if alike else f"{word}, ")
        + f"{tables.signed(line['estimate'])} "
        + tables.interval(line["low"], line["high"], key=line["key"])
        + f" ({line['model']})"
        for word, line in zip(said, at.to_dict("records"), strict=True)
    )
    whole = f"{said[0]}: {points}" if alike else points
    return f"{whole[0].upper()}{whole[1:]}."


answer = partial(reply, tidy, "asked")
takes = "; ".join(f"`{each['command']}` {each['takes']}" for each in checks())

# %% [markdown]
# (one_number)=
# ## Where is the code of one number?
#
# A number of Table 5 takes a few lines, and `subjects = chapters.subjects(models, records)` from
# the top of this page: what the original, V1 and black together have right on BS.


# %%
def one_number(model):
    """The share of the test rows in BS that SCI with two further rounds answers rightly."""
    BS = model.sets("any", "rows")["BS"].to_numpy()
    return model.share(model.right(sci(M=1, N=1)), BS).estimate


shown = f"{subjects[0].shown}, training {subjects[0].number}"
print(f"{number(100 * frame.if_recorded(one_number, subjects[0]))} % ({shown})")

# %% [markdown]
# {doc}`rounds` has the whole table, and {doc}`../book/api_book` what `subjects`, `sets` and `right`
# are.

# %% tags=["hide-input"]
DOORS = {
    ("Does SCI5 beat VCD where bias or wording sways the answer?", "results"):
        f"{answer('beats VCD on BS')} Over all questions? {answer('beats VCD over all questions')}",
    ("Does it beat the model alone over all questions?", "why_gains"):
        f"{answer('beats the model alone')} With β = 0.8? {answer('so with β = 0.8')}",
    ("What do I lose?", "matrix"):
        "Where only a rewording turned an answer (S∖B), is it right more often than the model "
        f"alone? {answer('beats the model alone on S∖B')} Outside BS? "
        f"{answer('beats the model alone outside BS')} What descriptions name and what all of "
        "this costs stand below; on that page every method is set against every probe.",
    ("Is it right more often than a vote of four wordings, which costs less?", "objections"):
        answer("beats a vote of four wordings"),
    ("Is it better on biased rows than simply the model’s second choice?", "objections"):
        answer("beats the second choice on B"),
    ("Do more rounds help?", "rounds"):
        f"On BS, from three to five? {answer('five rounds beat three on BS')} From five to seven? "
        f"{answer('seven rounds beat five on BS')}",
    ("What does it cost?", "table07_cost"):
        f"With a picture of {image_tokens} tokens, a question is read as {number(tokens)} times "
        f"the base’s tokens, and each new token goes through {len(SCI5.rounds)} rounds, not one. "
        f"On one thread of a processor that takes {number(least)} to {number(most)} times as long, "
        f"with the black picture kept and no round left out; [a further token]"
        f"({address('its_cost')}) takes {further_token()} times the base’s, the most in a batch. "
        f"{no_gpu}The paper times whole questions alone, on a GPU (A800): "
        f"{number(in_batch)} times the base’s in one batch, {number(by_one)} one by one.",
    ("What are τ1 and β, and what should they be?", "beta_and_tau"):
        f"τ1 divides TC, the maximum over the wordings: {temperatures}. A larger one lets the "
        "dummy pictures weigh more. β bounds how much less likely than the best a token may be: "
        f"{SCI5.beta:g} where bias is expected; where little is, {GENTLE.beta:g}, which stays "
        "nearer to the model alone. What other values change is on that page.",
    ("Does it help on hallucination: ORIC, captions, CHAIR, POPE?", "oric_sci"):
        f"Are things that are there found more often? {reply(seen, 'share', 'present, ORIC')} Are "
        f"things that are not there denied more often? {reply(seen, 'share', 'absent, ORIC')} Is "
        f"macro F1 higher on [POPE]({address('seen_and_said')})? "
        f"{reply(seen, 'share', 'macro F1, POPE')} Does a [description]"
        f"({address('descriptions')}) invent less (CHAIR)? {reply(seen, 'share', 'invented')} And "
        f"name more of what is there? {reply(seen, 'share', 'named')} Is a [caption]"
        f"({address('edge_sci')}) right more often? {reply(seen, 'share', 'captions')}",
    ("Which claims failed, and why believe that?", "verdicts"):
        "They stand first on the scoreboard. This book put the papers’ claims into tests with "
        "results of earlier models at hand. When they were registered, little was known of "
        "today’s models but each input’s accuracy on an earlier test world. Claims on time and on "
        "Visual-RFT were registered after what they are judged on was measured; those on time are "
        "judged on a processor, where the paper had a GPU. "
        f"[Registration]({address('registration')}) tells what was known when, and lists every "
        "amendment since.",
    ("Are the paper’s printed numbers sound?", "audit_paper_numbers"): f"{in_question}.",
    ("How do I use it on Qwen2-VL-7B with my pictures?", "book/your_own_model"):
        "`load_model` takes a hub id or a path, `generate` your pictures and prompts.",
    ("How do I add my own data, such as 500 questions?", "book/your_own_data"):
        "A table of questions and one YAML file that says what its columns hold.",
    ("Why pocket models?", "01_pocket_world"):
        "So that all of this runs on a laptop, on models whose training, with its bias, is ours to "
        "set: one to two million parameters, where the paper’s have seven billion and more, and "
        f"drawn pictures of {SIZE} pixels. {unlike()}How well the shipped ones know their world is "
        "measured there. Directions may carry over to a large model, accuracies do not.",
    ("How do I check the book, and how long does it take?", "checking"):
        f"In a clone; each command installs what it needs. On two quiet cores: {takes}.",
    ("Where is the code of one number?", "one_number"):
        "A number of Table 5 in a few lines; and each page computes its own in sight.",
    ("How do I cite it?", "book/bibliography"): "BibTeX of the paper and of this book.",
}  # fmt: skip

# %% tags=["remove-output", "hide-input"]
unfit = " and ".join(model.shown for model in subjects if not model.fit)
caution = unfit and (
    "*Yes*, *no* and *undecided* are what the numbers say by themselves. The scoreboard’s verdicts "
    f"about SCI rest on [what it assumes]({address('conditions')}) too, which is not shown of "
    f"{unfit}.\n\n"
)
doors = (f"- **[{asks}]({address(page)})** {said}" for (asks, page), said in DOORS.items())
at_head.write(caution + "\n".join(doors))

# %% [markdown]
# An interval is over trainings and questions where there are four trainings or more, and of fewer
# that of the shipped one over questions.
#
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)
