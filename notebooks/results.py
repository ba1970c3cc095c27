# %% [markdown]
# # Results at a glance
#
# **Claim.** SCI5 is right more often than VCD on BS, for each model read.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
gentle: float = 0.8  # a second β over all rows: the paper's where little is biased (Table 4)

# %% tags=["hide-input"]
from functools import cache
from itertools import product

import numpy as np
from IPython.display import Markdown

from sci_book.methods import CONTROLS, with_constants
from sci_book.papers.sci.chapters import drbench_tables, turned
from sci_book.papers.sci.chapters.shapes import less as printed_gap
from sci_book.papers.shared import chapters, figures, frame, stamp, tables
from sci_book.papers.shared.answer import Answer
from sci_book.papers.shared.evidence import method_of
from sci_book.papers.shared.pages import address
from sci_book.pipeline import over_trainings as second
from sci_core.methods import METHODS

began = stamp.begin()
subjects = chapters.subjects(models, records)

# %% tags=["hide-input", "nbval-ignore-output"]
at_head = Answer()  # computed below, and written here

# %% [markdown]
# ## What each method mends and breaks
#
# A method *mends* an answer if it alone is right, *breaks* it if the model alone is right, and
# *leaves* it as right or as wrong as it was. This is on test rows, for each β and each choice of
# rows: all; B, where the model is wrong and says the same of a dummy picture; S, where a
# rewording changes its answer; and the rows outside both. Methods with a ring have nothing of SCI:
# the model's *second choice*, and what most of four wordings answer.

# %%
SHOWN = ("runner-up", "vote(3)", "TIE", "VCD", "SCI3", "SCI5", "SCI7")
ROWS = {"all": "all", "B": "B", "S": "S", "outside": "outside BS"}
SWITCHED = (SHIPPED := METHODS["SCI5"].beta, 0.5, gentle)


@cache
def test_rows(training):
    """The test rows of the paper's split, by subset."""
    return training.sets("any", "rows")


def answers(model, name, way, beta, rows):
    """The share of some rows that a method mends or breaks at one β, which no control has."""
    method = name if name in CONTROLS else with_constants(METHODS[name], beta=beta)
    label = CONTROLS[name].label if name in CONTROLS else name
    of = ROWS[rows]
    return turned.turned(
        model,
        method,
        way,
        lambda training: test_rows(training)[of],
        method=label,
        beta=beta,
        questions=rows,
    )


cases = product(subjects, SHOWN, turned.WAYS, dict.fromkeys(SWITCHED), ROWS)
moved = frame.measured(answers(*case) for case in cases)

# %%
figures.show(
    turned.switched(moved, (SHIPPED, "all"), [CONTROLS[name].label for name in CONTROLS]),
    "The model’s answers that a method breaks (left) and mends (right); a ring marks what has "
    "nothing of SCI; a faint dot is a single training; longer bars end with the axis.",
    alt="Two switches, for β and for rows; a panel a model and a line a method: a bar to the left "
    "for answers broken, one to the right for answers mended, in percent of the rows.",
)

# %% [markdown]
# ## What SCI5 gains, and over what
#
# B: the base is wrong, and says the same of a dummy picture. S: a rewording changes the base's
# answer. BS: rows in B, in S, or in both. S∖B: rows in S that are not in B, so with fewer of the
# base's errors. S∩L and S∖L part S without a look at what is right: L holds the rows whose base
# answer is that to a dummy picture, right or wrong ({doc}`../book/drbench`). On a subset each
# method has its own β. *VCD*, visual contrastive decoding, is SCI's predecessor; *TIE* subtracts
# what the model says of a noisy picture.

# %%
SUBSETS = ("B", "S", "BS", "S∖B", "S∩L", "S∖L")
BETAS = {"all rows": None, f"all rows, β = {gentle:g}": gentle}
LINES = {subset: (subset, None) for subset in SUBSETS}
LINES |= {name: ("all", beta) for name, beta in BETAS.items()}
OPPONENTS = ("VCD", "TIE", "base")


def less(model, other, part):
    """SCI5 less another method, on the test rows that a line of the picture is of."""
    subset, beta = LINES[part]
    one, two = (with_constants(METHODS[name], beta=beta) for name in ("SCI5", other))
    return frame.line(
        model,
        lambda training: training.right(one) - training.right(two),
        lambda training: training.sets("any", "rows")[subset],
        part=part,
        contrast=f"SCI5 − {other}",
        paper=printed(model, other, subset, beta),
        claim="greater",
    )


def printed(model, other, subset, beta):
    """The paper's difference in points; over all rows that of Table 10, whose β is 0.8."""
    if subset != "all":
        return drbench_tables.paper_gap(model, "SCI5", other, subset)
    if beta != 0.8:
        return np.nan
    of = [(model.label, name, "all", "Overall") for name in ("SCI5", other)]
    return printed_gap(chapters.paper_values("table10"), *of)


gains = frame.measured(less(*case) for case in product(subjects, OPPONENTS, LINES))

# %%
figures.show(
    frame.side_by_side(subjects, gains, "contrast", "part", xlabel="points"),
    "What SCI5 gains over VCD, over TIE and over the base, here (full; grey: single trainings) and "
    "in the paper (open): to the right of the line SCI5 is better.",
    alt="Three panels, SCI5 less VCD, less TIE and less base, a line a subset and one each for all "
    "rows at two β: dots with intervals for the pocket models, diamonds for the paper’s, in "
    "points.",
)

# %%
frame.table(
    gains, ("model", "part"), ("contrast",), name="glance", show=("paper", "here", "n"),
    caption=f"SCI5 less other methods on test rows, points, {tables.INTERVAL}s",
).fold()  # fmt: skip


# %%
def of_all(line):
    """The estimates of single trainings, the shipped one's among them."""
    return line["others"] if line["trainings"] > 1 else (line["estimate"], *line["others"])


def line_of(model, contrast, part):
    """A line of `gains`."""
    at = gains[(gains["model"] == model.shown) & (gains["contrast"] == f"SCI5 − {contrast}")]
    (line,) = at[at["part"] == part].to_dict("records")
    return line


def gain_of(model, contrast, part):
    """A difference as a verb, and whether its sign is open."""
    line = line_of(model, contrast, part)
    unsure = ", undecided" if line["low"] <= 0 <= line["high"] else ""
    return f"{chapters.gain(line['estimate'])}{unsure} ({model.shown})"


def how_sure(model, contrast, part):
    """A difference with its interval, in how many trainings it has this sign, and the paper's."""
    line = line_of(model, contrast, part)
    here = tables.with_ends(line["estimate"], line["low"], line["high"], key=line["key"])
    alike = [np.sign(one) == np.sign(line["estimate"]) for one in of_all(line) if np.isfinite(one)]
    paper = "" if np.isnan(line["paper"]) else f", paper: {tables.signed(line['paper'])}"
    beside = f", same sign in {sum(alike)} of {len(alike)} trainings" if len(alike) > 1 else ""
    return f"{model.shown} {here}{beside}{paper}"


def turned_by(model, beta):
    """What SCI5 breaks and mends of all answers, a line each."""
    at = moved[(moved["model"] == model.shown) & (moved["method"] == "SCI5")]
    return (
        at[(at["questions"] == "all") & (at["beta"] == beta)].set_index("way").loc[[*turned.WAYS]]
    )


def turns_of(model, beta):
    """What SCI5 mends and breaks of all answers, in words."""
    at = turned_by(model, beta)
    if not at["n"].all():
        return f"is not recorded ({model.shown})"
    broken, mended = (tables.number(share) for share in at["estimate"])
    return f"mends {mended} % and breaks {broken} % ({model.shown})"


def more_mended(model, beta):
    """In how many trainings SCI5 mends more than it breaks."""
    at = turned_by(model, beta)
    if not at["n"].all():
        return f"not recorded ({model.shown})"
    pairs = zip(*map(of_all, at.to_dict("records")), strict=True)
    each = [broken < mended for broken, mended in pairs]
    return f"{sum(each)} of {len(each)} ({model.shown})"


def by_model(said):
    """One word for all models, or each model's."""
    if len(set(said.values())) == 1:
        return next(iter(said.values()))
    return ", ".join(f"{word} for {model}" for model, word in said.items())


def advised(claim):
    """Whether a registered claim would have SCI5 used for every question, and what is kept back."""
    mine = [each for each in judged if each.claim.id == claim]
    said = by_model({each.title: WORDS[each.verdict] for each in mine})
    kept = {each.title: WORDS[each.word] for each in mine if each.verdict != each.word}
    return f"**{said}**" + (f" (by the numbers alone: {by_model(kept)})" if kept else "")


def meeting(model):
    """In how many trainings the two conditions of SCI are met."""
    each = (model.ordinary or model).trainings
    asking_the_same, showing_nothing = (
        sum(not training.unmet[condition] for training in each)
        for condition in ("rewording", "dummy")
    )
    met = f"{asking_the_same} of {len(each)} meet the first and {showing_nothing} the second"
    return f"{met} ({model.shown})"


# %% tags=["hide-input"]
ADVICE = ("use-it", "use-it-with-care")  # over all rows, against base and vote, each at its own β
WORDS = {
    "holds": "yes",
    "fails": "no",
    "inconclusive": "undecided",
    "not comparable": "no verdict",
}
claims = {each.id: each for each in second.load_claims() if each.id in ADVICE}
judged = second.judge(list(claims.values()), subjects)
plain, careful = (
    f"with β = {method_of(claims[name].arguments['methods'][0]).beta:g}: {advised(name)}"
    for name in ADVICE
)
helps = any(each.word == "holds" for each in judged)
shown_to_help = "" if helps else "It is not shown to gain over all of them. "
known = gains[(gains["contrast"] == "SCI5 − VCD") & (gains["part"] == "BS")]["verdict"]
words = [
    word if model.fit else "not comparable" for model, word in zip(subjects, known, strict=True)
]
unfit = " and ".join(model.shown for model in subjects if not model.fit)
caution = unfit and (
    "\n\nSCI assumes that a rewording asks the same question, and that a dummy picture shows "
    f"nothing. [Of the trainings]({address('conditions')}) {'; '.join(map(meeting, subjects))}. So "
    f"no verdict is given on {unfit}, and these numbers say little about the paper’s claims."
)


def list_of(say, *arguments):
    """What is said of each model, in one clause."""
    return "; ".join(say(model, *arguments) for model in subjects)


def item(sentence, *notes):
    """A sentence, and in the margin what says how sure it is."""
    beside = "\n\n  ".join(['<div class="beside">', *notes, "</div>"])
    return f"- {sentence}\n\n  {beside}\n"


# %% tags=["remove-output", "hide-input"]
items = [
    item(
        "**Where bias or wording sways the answer** (BS), SCI5 against VCD (visual contrastive "
        f"decoding, on which SCI builds) {list_of(gain_of, 'VCD', 'BS')}. Over all questions it "
        f"{list_of(gain_of, 'VCD', 'all rows')}.",
        *(f"BS: {how_sure(model, 'VCD', 'BS')}" for model in subjects),
        *(f"All: {how_sure(model, 'VCD', 'all rows')}" for model in subjects),
    ),
    item(
        f"**Over all questions** SCI5 {list_of(turns_of, SHIPPED)}. With β = {gentle:g} in the "
        f"place of {SHIPPED:g} it {list_of(turns_of, gentle)}.",
        "Trainings in which more is mended than broken:",
        f"β = {SHIPPED:g}: {list_of(more_mended, SHIPPED)}",
        f"β = {gentle:g}: {list_of(more_mended, gentle)}",
    ),
    item(
        f"**Use it or not,** for every question? {shown_to_help}As shipped, {plain}; {careful}.",
        "To be used for every question, it has to be right more often than the model alone and "
        f"than [a vote of four wordings]({address('objections')}), which costs fewer tokens.",
    ),
]
at_head.write("\n".join(items) + caution)

# %% tags=["hide-input"]
Markdown(
    f"**Verdict: {chapters.overall(words)}.** *Use it or not* is judged by claims of its own. "
    f"{second.standing()}"
)

# %% [markdown]
# With four trainings or more an interval is over trainings and questions; with fewer it is that of
# the shipped training, over questions. *Not comparable* means that a model does not meet what the
# claim rests on ({ref}`conditions`). {doc}`why_gains` says where the gain comes from,
# {doc}`objections` what else could explain it; {doc}`verdicts` has every other sentence of the
# paper.
#
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)
