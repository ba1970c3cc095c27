# %% [markdown]
# # MetaRA Table I and Figure 9: the relations as pictures
#
# **Claim.** In every case looked at, each relation leaves unchanged what it promises to leave: the
# pixels outside the edited object, the things on a new background, what is asked about under a
# text, the content words of the question.
#
# MetaRA {cite:p}`xu2026metara` changes a picture and its question in four ways that are meant to
# leave the answer as it is: benign adjustments (MR1), local edits (MR2; the mirror where reading is
# asked), style or background (MR3), a text written into the picture (MR4); each time the question
# is put in other words. What a relation promises can be checked case by case, without any model.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.metara import paper
from sci_book.papers.metara.chapters import answers, gallery
from sci_book.papers.metara.relations import make_cases
from sci_book.papers.shared import chapters, figures, stamp

began = stamp.begin()
paper.draw(say=lambda _: None)  # drawn in less than a minute, if not there yet

# %% tags=["hide-input"]
knowledge, text = (gallery.originals(task, 24) for task in answers.TASKS.values())
cases = make_cases([*knowledge, *text], 3).cases
promises = gallery.promises(cases)
broken = gallery.identities(12)
words = [*promises["verdict"], *("holds" if not rate else "fails" for rate in broken.values())]
kept = f"{promises['cases'].sum():,} checks of {len(cases):,} cases"
Markdown(f"**Verdict: {chapters.overall(words)}.** {kept}, line by line in the tables below.")

# %% tags=["hide-input"]
recorded, made = answers.read(models, records)
if missing := answers.absences(recorded, made):
    display(Markdown(missing))

# %% [markdown]
# ## A knowledge question
#
# The original and one case of each operation that can be made of it. Where an operation would
# change the answer (a new background, where the place is asked for), it is left out.

# %% tags=["hide-input"]
original = gallery.fullest(knowledge[:6])
figures.show(
    gallery.show(original),
    "An original of the knowledge task and one case of each operation.",
    alt="Small drawn pictures: an original scene, and the same scene brighter, rotated, scaled,"
    " shaded, textured, covered in part, stylised, recoloured, on another background, and "
    "with a text.",
)
display(gallery.questions_table(original))

# %% [markdown]
# ## Text on a sign

# %% tags=["hide-input"]
figures.show(
    gallery.show(text[0]),
    "An original of the text task and one case of each operation.",
    alt="Small drawn pictures: a scene with a sign, and the same scene brighter, rotated, "
    "scaled, mirrored, stylised, recoloured, on another background, and with a text.",
)
display(gallery.questions_table(text[0]))

# %% [markdown]
# ## Any script
#
# The font that ships with the book has the Chinese glyphs too; a text with a glyph that it lacks is
# refused by name, as is one that does not fit.

# %% tags=["hide-input"]
figures.show(
    gallery.chinese(original),
    "A Chinese text laid on a picture: every glyph is there.",
    alt="Two pictures: a scene, and the same scene with a line of Chinese characters on its "
    "upper third.",
)

# %% [markdown]
# ## What the relations promise
#
# Three cases of each relation for 24 originals of either task.

# %%
gallery.promises_table(promises)

# %% [markdown]
# And transforms that change nothing: a model that answers with a digest of what it is shown
# contradicts itself in no case.

# %%
gallery.identities_table(broken)

# %% [markdown]
# ## What was drawn
#
# How many cases of each kind the pocket sets hold, and those that could not be made. A case that
# cannot be made is missing and counted; no other takes its place.

# %%
gallery.counts_table()

# %% [markdown]
# ## Figure 9
#
# The paper shows a case that is changed much and answered right, and one that is changed little and
# answered wrong. Here a rule chooses them: of each task the most changed case that is right and the
# least changed that is wrong, among originals that are answered right, by the mean absolute
# difference of pixels.

# %% tags=["hide-input"]
for model in made[:1]:
    pictures, table = gallery.figure09(model)
    figures.show(
        pictures,
        "Of each task, the most changed case that is answered right and the least changed that is "
        "answered wrong.",
        alt="Pictures in pairs, original and case, for each task: first a case that is much "
        "changed and right, then one that is little changed and wrong.",
    )
    display(table)

# %% [markdown]
# ## Reading and deviations
#
# - **Styles are classical.** The paper paints with Stable Diffusion; offline, OpenCV's stylisation,
#   a transfer of colour statistics and a new background behind the things stand in.
#   `style.DiffusionStyle` takes a diffusion model where one is given.
# - **Paraphrases are by rule**: another order of the same words, or a sentence before them. A text
#   model is taken where one is given.
# - **Masks are the scene's own.** Where data have none, GrabCut finds a region.
# - **The mirror does not keep the answer of most signs**: all that is checked of it is that it
#   mirrors. It is the paper's own relation for text (section IV-C). {doc}`The relations' chapter
#   <metara_table06_fig08_relations>` tells signs apart that a mirror leaves as they are.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(recorded.subjects) if recorded.subjects else Markdown("No records were read.")

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)
