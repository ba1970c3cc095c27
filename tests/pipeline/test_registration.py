"""The registered ledger: its checksums, its amendments, the paper's own numbers by its tests."""

import hashlib
import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from sci_book.papers.registry import PAPERS
from sci_book.papers.sci import dial_predictions
from sci_book.papers.sci.chapters import cross_model
from sci_book.papers.shared import chapters, gate, pages
from sci_book.papers.shared.extended import extended
from sci_book.papers.shared.intervals import ordered_pairs
from sci_book.pipeline import findings, ledger, over_trainings, printed, registration
from sci_book.pipeline.claims import load_claims
from sci_book.resources import PAPER, RESULTS, ROOT
from sci_book.results.statistics import Interval
from sci_book.run import conditions
from tests.papers.shared.committed import shown
from tests.papers.shared.drawn_records import drawn_subjects

ALL = [*registration.of_claims(), *registration.BESIDE]
CLAIMS = {claim.id: claim for claim in load_claims(own=True)}


def test_the_ledger_is_the_registered_one():
    known = registration.load_registration()
    listed = {*known["files"]}
    for file in registration.BESIDE:  # a later paper has a registration of its own
        listed |= registration.load_registration(registered=file)["files"].keys()
    claims = {name for name in listed if name.startswith("claims_")}
    assert claims == {paper.claims for paper in PAPERS.values()}
    assert known["files"].keys() - claims == {"conditions.yaml"}
    assert re.fullmatch(r"[0-9a-f]{40}", known["commit"])
    assert registration.UNTOUCHED in registration.sentence()


def git(*words):
    """What git says of this repository, as bytes; None if it refuses."""
    asked = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, check=False)
    return None if asked.returncode else asked.stdout


@pytest.fixture(scope="module")
def history():
    """The text of a file at a commit, by "commit:path"; None where there was no such file."""
    if git("cat-file", "-e", registration.load_registration()["commit"]) is None:
        pytest.skip("without its history a copy can only check the checksums")
    return lambda name: git("show", name)


@pytest.mark.parametrize("file", ALL)
def test_the_registered_commit_holds_the_registered_files(file, history):
    known = registration.load_registration(registered=file)
    for name, digest in known["files"].items():
        path = (PAPER / name).resolve().relative_to(ROOT).as_posix()
        assert hashlib.sha256(history(f"{known['commit']}:{path}")).hexdigest() == digest, name


def cited():
    """Every commit that a page, the changelog, the registration or a training names, by its file.

    A paragraph that names another repository cites that one's.
    """
    pages = [*(ROOT / "notebooks").glob("*.py"), *(ROOT / "book").glob("*.md")]
    texts = [*pages, ROOT / "CHANGELOG.md", *PAPER.glob("registration*.yaml")]
    texts += [PAPER / name for name in (registration.AMENDMENTS, registration.SUBJECTS)]
    named = r"`([0-9a-f]{7}|[0-9a-f]{40})`|^ *commit: ([0-9a-f]+)$"
    for path in texts:
        paragraphs = re.split(r"\n#?\n", path.read_text(encoding="utf-8"))
        for paragraph in (text for text in paragraphs if "github.com/" not in text):
            for found in re.finditer(named, paragraph, re.MULTILINE):
                yield path.name, found[1] or found[2]
    for path in (RESULTS / "trainings").glob("*.json"):
        yield path.name, json.loads(path.read_text(encoding="utf-8"))["commit"]


def test_every_commit_that_is_cited_is_in_the_history(history):
    commits = list(cited())
    assert len({commit for _, commit in commits}) > 15
    names = {name for name, _ in commits}
    assert {registration.REGISTRATION, registration.AMENDMENTS, registration.SUBJECTS} <= names
    assert {".py", ".json"} <= {Path(name).suffix for name in names}  # pages, and trainings
    for name, commit in commits:
        kind = git("cat-file", "-t", commit)
        assert kind == b"commit\n", f"{name} cites {commit}"
        assert git("merge-base", "--is-ancestor", commit, "HEAD") is not None, (name, commit)


@pytest.mark.parametrize("entry", registration.load_amendments(), ids=lambda entry: entry["file"])
def test_an_amendment_is_what_its_commit_made_on_its_day(entry, history):
    path = (PAPER / entry["file"]).resolve().relative_to(ROOT).as_posix()
    text = history(f"{entry['commit']}:{path}")
    assert hashlib.sha256(text).hexdigest() == entry["after"]
    day = git("show", "-s", "--format=%ad", "--date=format:%Y-%m-%d", entry["commit"])
    assert day.decode().strip() == str(entry["date"])
    touched = git("show", "--format=", "--name-only", entry["commit"]).decode().split()
    if entry["before"] == entry["after"]:  # what was changed is the code, or weights that it names
        (code,) = re.findall(r"\((\w+\.(?:py|safetensors))\)", entry["reason"])
        assert path not in touched and code in {name.rpartition("/")[2] for name in touched}
        assert "afterwards" in " ".join(entry["reason"].split())
    else:
        assert path in touched


def test_the_amendments_of_code_decide_what_they_say(tmp_path, beside, monkeypatch):
    """An unfit model leaves the others their verdict; longer records have no conditions of theirs.

    By the longer ones' own few rows nothing would be decided.
    """
    met = dict.fromkeys(gate.OF_SCI, "")
    states = {"mine": met | {"rewording": "not met"}}
    over = property(lambda model: states.get(model.name, met))
    monkeypatch.setattr(chapters.Subject, "unmet_by_trainings", over)
    three = drawn_subjects(tmp_path, ["pocket-qwen2vl", "pocket-llavanext", "mine"])
    with_all, with_fit = (
        {finding.verdict for finding in findings.of_page("table03_cross_model", models)}
        for models in (three, cross_model.asked(three))
    )
    assert with_all == {"not comparable"} and "not comparable" not in with_fit
    (ordinary,) = chapters.subjects(["pocket-qwen2vl"], beside)
    monkeypatch.setitem(vars(ordinary), "unmet", met)
    longer = extended(ordinary, beside / "extended")
    assert longer.unmet == met
    assert replace(longer, ordinary=None).unmet["rewording"] == "undecided"


def pilot(name):
    return json.loads((RESULTS / "pilots" / f"{name}.json").read_text(encoding="utf-8"))


SUBJECTS = yaml.safe_load((PAPER / registration.SUBJECTS).read_text(encoding="utf-8"))


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject["training"])
def test_a_subject_began_from_what_is_said(subject, history):
    family, _, seed = subject["training"].rpartition("-seed")
    assert subject["training"] in pilot(subject["training"])["training"]
    model = {"qwen2_vl": "pocket-qwen2vl", "llava_next": "pocket-llavanext"}[family]
    weights = history(f"c18b28d:checkpoints/{model}/model.safetensors")
    first = hashlib.sha256(weights).hexdigest()[:16]
    card = history(f"{subject['commit']}:checkpoints/retrained/{subject['training']}/README.md")
    if seed == "0":
        assert subject["began"] == f"the weights {first} of 21 November"
        assert f"after those that made the weights `{first}`" in card.decode()
        assert "--seed 0 --recipe onward" in card.decode()
    else:
        assert subject["began"] == "random weights"
        kept = card is not None  # of two trainings the commit holds what was found of them alone
        assert kept == (subject["training"] in ("qwen2_vl-seed1", "llava_next-seed2"))
        assert not kept or (f"--seed {seed}" in card.decode() and first not in card.decode())


def test_the_page_tells_of_the_subjects_what_the_files_say():
    page = " ".join((ROOT / "notebooks/trust.py").read_text("utf-8").replace("\n#", "").split())
    (table,) = (
        text for text in shown("trust", "text/plain") if text.startswith("Trainings by the")
    )
    level = {}
    for subject in SUBJECTS:
        (line,) = (x for x in pilot(subject["training"])["conditions"] if x["id"] == "as-the-paper")
        level[subject["training"]] = f"{line['estimate']:.1f}"
        assert f" {pilot(subject['training'])['fit']} " in table.partition(subject["title"])[2]
        assert line["margin"] == 4
    assert f"**, {level['llava_next-seed0']} points above it" in page
    others = (level[f"llava_next-seed{seed}"] for seed in (1, 2))
    assert f"independent trainings stand {' and '.join(others)} points above it" in page
    given_up = pilot("qwen2_vl-standard-seed0-onward")
    (v2,) = (
        line
        for line in given_up["conditions"]
        if (line["input"], line["group"]) == ("V2", "MCQ") and line["state"] == "not met"
    )
    assert f"V2 cost it {-v2['estimate']:.1f} points on multiple choice" in page
    assert given_up["steps"] == 1200 and pilot("qwen2_vl-seed0")["steps"] == 1600
    for words in ("was meant to be the model of the book", "stopped at step 760",
                  "before any method was scored on this model"):  # fmt: skip
        assert words in given_up["note"]
    pilots = [pilot(path.stem) for path in (RESULTS / "pilots").glob("*-seed1??-onward.json")]
    assert len(pilots) == 10 and {found["steps"] for found in pilots} == {1200, 1600, 2000}
    told = {found["training"] for found in pilots if found["note"].startswith("From the shipped")}
    assert told == {f"{family}-standard-seed100-onward" for family in ("qwen2_vl", "llava_next")}
    assert "Ten pilots, with seeds 100 and 103 to 110, tried 1,200, 1,600 and 2,000 steps" in page


def test_pages_whose_claims_no_registered_file_holds_are_named():
    *_, said = (text for text in shown("trust", "text/markdown") if text.startswith("- ["))
    named = {name for name in pages.places() if f"- {pages.link(name)}" in said.splitlines()}
    leading = {claim.page for claim in CLAIMS.values() if claim.leads}
    assert named and not named & leading and not named & set(registration.BESIDE.values())
    claiming = {name for name, place in pages.places().items() if "**Claim.**" in place.text}
    registered = {*leading, *registration.BESIDE.values(), "registration"}
    if registration.SECOND in registration.of_claims():
        registered |= {claim.page for claim in over_trainings.load_claims()}
    assert named <= claiming and claiming - named <= registered


def test_the_predictions_about_the_dial_are_the_registered_ones():
    known = registration.load_registration(registered=dial_predictions.REGISTRATION)
    assert dial_predictions.REGISTRATION in registration.BESIDE
    assert set(known["files"]) == {dial_predictions.PREDICTIONS, "../pocket/dial.yaml"}


@pytest.mark.parametrize("file", ALL)
def test_registered_files_are_as_registered_or_amended(file):
    assert registration.departures(registered=file) == []


def test_every_amendment_is_of_a_registered_file():
    files = {
        file for name in ALL for file in registration.load_registration(registered=name)["files"]
    }
    assert {entry["file"] for entry in registration.load_amendments()} <= files
    told = " ".join(registration.sentence(registered=name) for name in registration.BESIDE)
    assert told.count(registration.UNTOUCHED) == len(registration.BESIDE)
    assert "“Counted before any answer" in told
    first = registration.load_registration()["files"]
    times = sum(entry["file"] in first for entry in registration.load_amendments())
    assert times >= 11  # so many there were before the second registration
    assert f"Amended since: {times} times. The checksum" in registration.sentence()


@pytest.fixture
def folder(tmp_path):
    """A registration of one file, not amended."""
    (tmp_path / "claims_sci.yaml").write_text("[]", encoding="utf-8")
    known = {"registered": "2026-11-23", "commit": "0" * 40,
             "files": {"claims_sci.yaml": hashlib.sha256(b"[]").hexdigest()}}  # fmt: skip
    (tmp_path / "registration.yaml").write_text(yaml.safe_dump(known), encoding="utf-8")
    (tmp_path / "amendments.yaml").write_text("[]", encoding="utf-8")
    return tmp_path


def amend(folder, before, after, file="claims_sci.yaml"):
    path = folder / "amendments.yaml"
    entry = {"date": "2026-11-24", "commit": "0" * 40, "file": file, "reason": "because"}
    digests = {key: hashlib.sha256(text.encode()).hexdigest()
               for key, text in (("before", before), ("after", after))}  # fmt: skip
    path.write_text(yaml.safe_dump([*yaml.safe_load(path.read_text()), entry | digests]))


def test_a_change_needs_an_amendment_that_continues_the_chain(folder):
    assert registration.departures(folder) == []
    (folder / "claims_sci.yaml").write_text("[1]", encoding="utf-8")
    (told,) = registration.departures(folder)
    assert "claims_sci.yaml has the SHA-256" in told and "amendments.yaml" in told
    amend(folder, "[]", "[1]")
    assert registration.departures(folder) == []
    amend(folder, "[]", "[1]")  # starts from a file that had gone
    assert "starts from another file" in registration.departures(folder)[0]
    assert json.dumps(registration.as_values(folder))


def test_values_that_change_after_the_second_registration_need_an_amendment(folder):
    """The second begins from files as they are then; what was amended before is the first's."""
    assert registration.as_values(folder)["second registration"] is None
    (folder / "claims_sci.yaml").write_text("[1]", encoding="utf-8")
    amend(folder, "[]", "[1]")
    values = folder / "golden" / "values.csv"
    values.parent.mkdir()
    values.write_text("0.1", encoding="utf-8")
    held = {"claims_sci.yaml": b"[1]", "golden/values.csv": b"0.1"}
    files = {name: hashlib.sha256(text).hexdigest() for name, text in held.items()}
    known = {"registered": "2026-11-28", "commit": "1" * 40, "amendments": 1, "files": files}
    (folder / registration.SECOND).write_text(yaml.safe_dump(known), encoding="utf-8")
    assert registration.all_departures(folder) == []
    assert "Amended since: 0 times" in registration.sentence(folder, registration.SECOND)
    assert registration.as_values(folder)["second registration"] == known
    values.write_text("0.2", encoding="utf-8")
    (told,) = registration.all_departures(folder)
    assert "golden/values.csv has the SHA-256" in told
    assert registration.as_values(folder)["departures"] == [told]
    amend(folder, "0.1", "0.2", "golden/values.csv")
    assert registration.all_departures(folder) == []
    assert "Amended since: once" in registration.sentence(folder, registration.SECOND)
    assert len(registration.amendments_of(folder)) == 1


def test_every_changed_predicate_has_its_reason_and_both_verdicts():
    changed = json.loads((RESULTS / "ledger" / "mended.json").read_text(encoding="utf-8"))["rows"]
    reasons = yaml.safe_load((PAPER / registration.MENDED).read_text("utf-8"))
    assert {row["id"] for row in changed} == {each["id"] for each in reasons} <= set(CLAIMS)
    assert all(row["after"]["verdict"] and {"before"} <= set(row) for row in changed)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("superior-everywhere", {"LLaVA-NeXT": "holds", "Qwen2-VL": "fails"}),
        ("more-rounds-method", {"LLaVA-NeXT": "fails", "Qwen2-VL": "holds"}),
        ("baselines-lose", {"LLaVA-NeXT": "fails", "Qwen2-VL": "holds"}),
        ("failures-differ", {"LLaVA-NeXT": "holds", "Qwen2-VL": "fails"}),
        ("zero-on-bias", {"LLaVA-NeXT": "holds", "Qwen2-VL": "fails"}),
        ("beats-vcd", {"LLaVA-NeXT": "holds", "Qwen2-VL": "holds"}),
        ("batch-is-faster", {"Qwen2-VL": "holds"}),
        ("more-robust", {"Qwen2-VL": "holds"}),
        ("sensitive-to-details", {}),
        ("beta-towards-zero", {}),
        ("metara-complexity", {"KBVQA": "fails", "OCR-VQA": "holds"}),
        ("yes-to-false-premises", {"SmolVLM2-500M": "holds", "Qwen2.5-VL-7B": "fails"}),
    ],
)
def test_predicates_on_the_papers_own_numbers(name, expected):
    assert printed.verdicts(CLAIMS[name]) == expected


def test_a_printed_number_is_on_the_claimed_side_or_not():
    claim = replace(CLAIMS["coarse-captions"], margin=0.5)
    where = {"table": "edge_table05", "where": "dataset == 'COCO' and item == 'B'"}
    for value, word in (("value / 100", "holds"), ("-value / 100", "fails")):
        made = replace(claim, printed={**where, "value": value})
        assert set(printed.verdicts(made).values()) == {word}
    both = replace(claim, printed={**where, "value": ["value / 100", "-value"]})
    assert set(printed.verdicts(both).values()) == {"fails"}
    assert set(printed.verdicts(replace(both, needed=1)).values()) == {"holds"}
    assert printed.in_words(CLAIMS["no-declines-more"]) == "holds in 4 of 5"
    assert printed.in_words(CLAIMS["metara-hidden"]) == "—"


def test_claims_rest_on_conditions_that_exist():
    known = {condition["id"] for condition in conditions.load_conditions()["conditions"]}
    for claim in CLAIMS.values():
        assert set(claim.rests_on) <= known, claim.id
    of_sci = [claim for claim in CLAIMS.values() if "SCI5" in str(claim.arguments)]
    timed = {"time_shared", "time_on_pocket", "agreement"}
    assert all(claim.rests_on for claim in of_sci if claim.measure not in timed)


def test_no_verdict_is_called_on_a_model_that_does_not_meet_its_conditions():
    found = Interval(0.1, 0.05, 0.2, 9, 9)
    finding = ledger.Finding(
        CLAIMS["beats-vcd"], "one", "holds", "a", found, (("a", found, "holds"),), "One"
    )
    met = dict.fromkeys(("rewording", "dummy", "above-chance"), "")
    assert ledger.gated(finding, {"one": met}) == finding
    lacking = met | {"dummy": "not met", "rewording": "undecided"}
    gated = ledger.gated(finding, {"one": lacking})
    assert gated.verdict == "not comparable" and gated.word == "holds"
    assert gated.interval == found and gated.unmet == "rewording undecided, dummy not met"
    both = ledger.gated(finding, {"one": met, "other": lacking})
    assert both.unmet == "rewording undecided, dummy not met for other"
    nothing = replace(finding, parts=(), word="not comparable")
    assert ledger.gated(nothing, {"one": lacking}) == nothing


def test_a_model_without_records_meets_nothing(tmp_path):
    states = gate.unmet(None, tmp_path / "absent.parquet", None)
    assert all("no records" in state for state in states.values())


def test_ordered_pairs_are_counted_one_by_one():
    rng = np.random.default_rng(0)
    scores, right = rng.integers(0, 4, 60) / 4, rng.integers(0, 2, 60)
    above, below = scores[right == 1][:, None], scores[right == 0][None]
    expected = ((above > below) + (above == below) / 2).mean()
    groups = [f"g{number // 2}" for number in range(60)]
    found = ordered_pairs([(scores, right, groups)])
    assert found.estimate == pytest.approx(expected) and (found.n, found.clusters) == (60, 30)
    assert found.low < expected < found.high
    rows = [np.flatnonzero(np.array(groups) == name) for name in dict.fromkeys(groups)]

    def area(kept):
        one, other = scores[kept][right[kept] == 1][:, None], scores[kept][right[kept] == 0][None]
        return ((one > other) + (one == other) / 2).mean()

    every = np.arange(60)
    without = np.array([area(np.setdiff1d(every, mine)) for mine in rows])  # the jackknife
    error = np.sqrt(29 / 30 * ((without - without.mean()) ** 2).sum())
    assert found.error == pytest.approx(error, rel=0.1)
    same = ordered_pairs([(np.ones(60), right, groups)])
    assert same.estimate == 0.5 and np.isnan(same.low)  # nothing to tell apart
