"""Which releases of transformers and torch serve: what is declared, refused, and noticed."""

import json
import random
import sys
import tomllib
from pathlib import Path

import pytest
import torch
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from sci_book.papers.shared.stamp import locked_versions
from sci_core import SCI5, generate, load_model
from sci_core.families import releases
from sci_core.families.adapters import FAMILIES
from sci_core.families.models import adapt
from tests import tiny

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))  # where the benchmark's files find one another

import versions  # noqa: E402
import versions_check  # noqa: E402

TRIED = json.loads(
    (ROOT / "benchmarks" / "results" / "versions" / "cpu.json").read_text(encoding="utf-8")
)
kinds = pytest.mark.parametrize("kind", tiny.KINDS)


def declared(package):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (one,) = [line for line in map(Requirement, project["dependencies"]) if line.name == package]
    return one.specifier


def tried(package, passed):
    return {Version(entry[package]) for entry in TRIED if entry["passed"] == passed}


@pytest.mark.parametrize("package", ["transformers", "torch"])
def test_the_declared_range_is_what_passed(package):
    good, bad = tried(package, True), tried(package, False)
    oldest, newest = min(good), max(good)
    ends = [f">={oldest.major}.{oldest.minor}", f"<{newest.major}.{newest.minor + 1}"]
    holes = [f"!={one.major}.{one.minor}.*" for one in bad - good if oldest < one < newest]
    assert declared(package) == SpecifierSet(",".join([*ends, *holes]))
    assert releases.OLDEST[package] == f"{oldest.major}.{oldest.minor}"
    assert [f"!={one}.*" for one in releases.FAILED.get(package, ())] == holes
    assert Version(locked_versions()[package]) in good


def test_every_minor_release_of_transformers_between_the_ends_was_tried():
    good, bad = tried("transformers", True), tried("transformers", False)
    oldest, newest = min(good), max(good)
    minors = {one.minor for one in good | bad if oldest <= one <= newest}
    assert minors == set(range(oldest.minor, newest.minor + 1))


def test_every_family_was_tried_in_every_release():
    families = {*FAMILIES, *versions.POCKET}
    for entry in TRIED:
        assert families <= set(entry["outcomes"])
        assert entry["passed"] == (set(entry["outcomes"].values()) == {"equal"})
    assert len(tried("transformers", True)) >= 5 and len(tried("torch", True)) >= 2
    assert tried("transformers", False)  # so that the oldest is a found one


def test_no_release_that_passed_warns_of_what_it_will_take_away():
    said = [line for entry in TRIED if entry["passed"] for line in entry["warnings"]]
    assert not [line for line in said if "deprecated" in line or "removed" in line]


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """A tiny checkpoint's questions, as the script asks them in every environment."""
    pictures, prompts = tiny.random_questions(random.Random(5), 4)
    clear, right = versions.clear_questions(tiny.load("llava_next"), (pictures, prompts))
    of = [pictures[place] for place in clear], [prompts[place] for place in clear]
    folder = tmp_path_factory.mktemp("asked") / "pictures"
    return versions.case("llava_next", tiny.checkpoint("llava_next"), of, right, folder)


def test_the_script_tells_right_answers_from_wrong_ones_and_from_errors(asked, tmp_path):
    assert asked["prompts"] and versions_check.outcome(asked) == "equal"
    first, *others = asked["right"]["SCI5"]
    wrong = {**asked["right"], "SCI5": [[*first, 1], *others]}
    said = versions_check.outcome({**asked, "right": wrong})
    assert said.startswith("two_phase, SCI5: 1 of ") and "sequential, SCI5: 1 of " in said
    (tmp_path / "config.json").write_text('{"model_type": "llava_next"}')
    said = versions_check.outcome({**asked, "checkpoint": str(tmp_path)})
    assert said.startswith("FileNotFoundError: ") and str(tmp_path.parent) not in said


def test_an_entry_takes_the_place_of_an_earlier_one_of_its_pair(tmp_path):
    file = tmp_path / "versions.json"
    for of_transformers, of_torch, passed in (
        ("5.20.0", "2.13.0", False), ("5.9.0", "2.13.0", True), ("5.20.0", "2.6.0", True),
        ("5.20.0", "2.13.0", True), ("5.100.0", "2.6.0", False),
    ):  # fmt: skip
        entry = {"transformers": of_transformers, "torch": of_torch, "passed": passed}
        versions.keep(entry, file)
    kept = [(e["torch"], e["transformers"], e["passed"]) for e in versions.kept_in(file)]
    assert kept == [
        ("2.6.0", "5.20.0", True), ("2.6.0", "5.100.0", False),
        ("2.13.0", "5.9.0", True), ("2.13.0", "5.20.0", True),
    ]  # fmt: skip
    assert versions.ends(versions.kept_in(file)) == ["5.9.0", "5.20.0"]


@pytest.fixture
def installed(monkeypatch):
    """Makes these releases be the ones that are installed."""
    real = releases.version

    def pretend(**others):
        monkeypatch.setattr(releases, "version", lambda name: others.get(name) or real(name))
        releases.check_releases.cache_clear()

    yield pretend
    releases.check_releases.cache_clear()


@pytest.mark.parametrize(
    "old",
    [
        {"transformers": "5.2.0"},
        {"transformers": "5.0.0rc1"},
        {"transformers": "4.57.6"},
        {"transformers": "5.9.9.dev0"},
        {"torch": "2.5.1+cu124"},
        {"torch": "1.13.1"},
    ],
    ids=str,
)
def test_a_release_older_than_any_that_passed_is_refused_in_a_sentence(old, installed):
    ((package, version),) = old.items()
    model = tiny.load("qwen2_vl")
    installed(**old)
    says = f"{package} {version} is installed, and {releases.OLDEST[package]} or later is needed"
    with pytest.raises(ImportError) as refused:
        load_model(tiny.checkpoint("llava"))
    assert str(refused.value).startswith(says) and "pip install" in str(refused.value)
    with pytest.raises(ImportError, match="is needed"):
        adapt(model.hf, model.tokenizer, None)


@pytest.mark.parametrize("release", ["5.20.0", "5.20.2", "5.20.7.dev0"])
def test_a_release_that_failed_between_others_is_refused_in_a_sentence(release, installed):
    installed(transformers=release)
    with pytest.raises(ImportError, match=rf"transformers {release} .* fails .* pip install"):
        load_model(tiny.checkpoint("llava"))


def test_the_release_that_runs_counts_and_not_one_whose_metadata_lie_about(monkeypatch):
    """As with a clone on PYTHONPATH before the installed package."""
    folder = tiny.checkpoint("llava")  # as it loads its parts, transformers may import itself anew
    monkeypatch.setattr(sys.modules["transformers"], "__version__", "5.2.0")
    releases.check_releases.cache_clear()
    with pytest.raises(ImportError, match=r"transformers 5\.2\.0 is installed"):
        load_model(folder)
    releases.check_releases.cache_clear()


@pytest.mark.parametrize(
    "new",
    [
        {"transformers": "5.23.1"},
        {"transformers": "6.0.0"},
        {"transformers": "5.100.0.dev0"},
        {"torch": "2.13.0+cpu"},
        {"torch": "2.20.0a0+git123"},
        {"torch": "3.0"},
    ],
    ids=str,
)
def test_a_release_that_serves_or_is_newer_is_not_refused(new, installed):
    installed(**new)
    releases.check_releases()


# --- positions -----------------------------------------------------------------------------------


def fresh(kind):
    """A model that nothing else shares, so that it may be changed."""
    return load_model(tiny.checkpoint(kind), device="cpu")


def answers(model, seed):
    asked = tiny.random_questions(random.Random(seed), 3)
    return [answer.tokens for answer in generate(model, *asked, SCI5, 3)]


COUNTS = {
    "counted from one": lambda right: right + 1,
    "backwards": lambda right: 1000 - right,
    "every third": lambda right: right * 3,
}


@kinds
@pytest.mark.parametrize("count", COUNTS)
def test_positions_are_those_that_the_installed_release_takes(kind, count):
    """However it counts them: where it does so otherwise, the engine follows a plain pass."""
    model = fresh(kind)
    decoder = model.hf.get_decoder()

    def hand_over(_, args, given):
        plain = torch.arange(given["inputs_embeds"].shape[1])[None]
        own = given.get("position_ids")
        return args, given | {"position_ids": COUNTS[count](plain if own is None else own)}

    decoder.register_forward_pre_hook(hand_over, with_kwargs=True)
    ids, picture = turn(model)
    behind = ids.index(model.image_token_id) + picture.tokens + 1
    found = model.positions(ids, picture)[:, :behind]
    assert torch.equal(found, COUNTS[count](tiny.load(kind).positions(ids, picture))[:, :behind])


@kinds
def test_positions_are_those_of_a_plain_pass_over_the_whole_turn(kind):
    model = fresh(kind)
    ids, picture = turn(model)
    taken = []

    def note(_, args, given):
        taken.append(given.get("position_ids"))

    model.hf.get_decoder().register_forward_pre_hook(note, with_kwargs=True)
    model.forward(ids, picture)
    positions = model.positions(ids, picture)
    plain = torch.arange(len(ids))[None] if taken[0] is None else taken[0]
    assert torch.equal(positions, plain.flatten(0, -2)[-len(positions) :])


def turn(model):
    images, prompts = tiny.random_questions(random.Random(0), 1)
    picture = model.processor.prepare(images[0].convert("RGB"))
    return model.processor.token_ids(prompts, [picture.ids])[0], picture


@pytest.mark.parametrize("kind", ["qwen2_vl", "qwen2_5_vl", "qwen3_vl"])
def test_a_release_that_needs_the_mark_of_a_picture_before_its_tokens_has_it(kind, monkeypatch):
    model = fresh(kind)
    own = model.hf.model.get_rope_index

    def needs_marks(ids, **given):
        if model.hf.config.vision_start_token_id in ids:
            return own(ids, **given)
        return torch.arange(ids.shape[1]).expand(3, 1, -1), torch.zeros(1, 1)

    monkeypatch.setattr(model.hf.model, "get_rope_index", needs_marks)
    assert answers(model, 0) == answers(tiny.load(kind), 0)


@kinds
def test_positions_are_asked_for_once_a_size_and_no_picture_is_read_for_it(kind, monkeypatch):
    model = fresh(kind)
    asked, read = [], []
    own, features = model._positions_in_a_pass, model.hf.model.get_image_features

    def counted(*given):
        before = len(read)
        asked.append((len(given[0]), str(given[1])))
        positions = own(*given)
        assert len(read) == before
        return positions

    monkeypatch.setattr(model, "_positions_in_a_pass", counted)
    monkeypatch.setattr(
        model.hf.model, "get_image_features", lambda **given: read.append(1) or features(**given)
    )
    for seed in (0, 1, 0, 1):
        assert answers(model, seed) == answers(tiny.load(kind), seed)
    assert len(asked) == len(set(asked)) and read
    assert not model.hf.get_decoder()._forward_pre_hooks


# --- the cache's name ----------------------------------------------------------------------------


@kinds
def test_the_cache_is_handed_over_by_the_name_that_the_decoder_gives_it(kind, monkeypatch):
    model, asked = fresh(kind), tiny.random_questions(random.Random(3), 3)
    decoder = model.hf.get_decoder()
    own = type(decoder).forward
    old, new = "past_key_values", "cache"
    if model._cache_argument == new:
        old, new = new, old
    del model._cache_argument

    def renamed(self, *args, **given):
        assert old not in given
        return own(self, *args, **{old: given.pop(new, None)}, **given)

    names = {
        "cache": lambda self, *args, cache=None, **given: renamed(
            self, *args, cache=cache, **given
        ),
        "past_key_values": lambda self, *args, past_key_values=None, **given: renamed(
            self, *args, past_key_values=past_key_values, **given
        ),
    }
    decoder.__class__ = type("Renamed", (type(decoder),), {"forward": names[new]})
    answers = [a.tokens for a in generate(model, *asked, SCI5, 3)]
    assert model._cache_argument == new
    assert answers == [a.tokens for a in generate(tiny.load(kind), *asked, SCI5, 3)]
