# %% [markdown]
# # ORIC, Figure 3 and Table 6: the questions in an encoder's eyes
#
# **Claim.** ORIC's present objects fit their picture less well than POPE's on the same pictures, by
# both encoders, and its absent objects better, by the encoder that did not choose them. *Table 6:*
# ORIC's pictures with and without an object lie closer than POPE's, by both encoders.
#
# The paper {cite:p}`oric` measures how well an object goes with a picture by CLIPScore, and how
# much pictures with and without an object look alike by the least distance between them. No model
# answers anything on this page: it is about the questions.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]  # the ledger's; any has the same questions
records: str = "data_manifests/records"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.oric import paper
from sci_book.papers.oric.chapters import answers, encoder
from sci_book.papers.shared import figures, stamp
from sci_book.pipeline import findings as ledger

began = stamp.begin()
paper.draw(say=lambda _: None)  # drawn in seconds, where it is not there yet

# %% tags=["hide-input"]
printed = encoder.paper_numbers(models)
findings = ledger.of_page("oric_fig03_table06_encoder", ledger.named(models, records))
Markdown(ledger.conclusion(findings))

# %% tags=["hide-input"]
ledger.show_parts(
    findings,
    "How much less present objects of ORIC fit their picture than POPE's on the same "
    "pictures, and how much more its absent ones do.",
    xlabel="difference of CLIPScores, on the claimed side",
    paper=printed,
)

# %% [markdown]
# ## Figure 3
#
# The *pocket CLIP* was trained on other scenes, and chose ORIC's absent objects for their score.
# The *scene graph* is no network: its vectors say where a scene is and what is there, and of an
# object where it is at home. A picture is a cluster of every interval.

# %%
encoder.score_table()

# %% tags=["hide-input"]
figures.show(
    encoder.draw(),
    "How well present and absent objects fit their pictures, by who chose them.",
    alt="A panel an encoder: the mean score of present and of absent objects with intervals, "
    "for POPE, adversarial POPE, objects by lot and ORIC.",
)

# %% [markdown]
# ## Table 6
#
# The least distance between a picture with an object and one without it, a mean over objects. The
# interval is over objects: there are few, and a least value has none over pictures.

# %%
encoder.distance_table()

# %% [markdown]
# ## The claims
#
# CLIPScore on the same pictures, POPE less ORIC for present objects and ORIC less POPE for absent
# ones; and a hundred times the least distance, POPE less ORIC, a mean over objects. What holds by
# construction, that the pocket CLIP finds ORIC's absent objects more fitting, stands apart.

# %%
for table in ledger.tables(findings, printed):
    display(table)

# %% [markdown]
# ## Reading and deviations
#
# - **The absent objects' score is the construction.** They are those with the highest CLIPScore
#   among all absent ones, so with the same encoder the paper's "the reverse holds" cannot fail.
#   With another encoder it can.
# - CLIPScores of different encoders lie on different scales; only directions compare. The scale of
#   the paper's numbers is its CLIP's.
# - A present object's score also says how well it is seen: ORIC's are smaller. The scene graph does
#   not know sizes.
# - A least value falls with the number of pairs of pictures it is taken over, which differs between
#   the sets; the table's last column tells it.
# - The paper gives ORIC's 20.77 for present objects in its text, and in Figure 3 to the questions
#   made by hand.
# - In the paper POPE has other pictures than ORIC; here both are on the same ones, in pairs that
#   look alike for both, so that Table 6's distance has less room to differ.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
stamp.provenance(
    models={"pocket-clip": stamp.checksum([encoder.CHECKPOINT / "model.safetensors"])[:16]},
    data={"pocket_oric": stamp.checksum([answers.QUESTIONS])},
)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)
