"""The two-phase engine gives the numbers of the sequential reference, whatever the batch."""

import random
from copy import copy

import pytest
import torch
from PIL import Image

from sci_core import SCI7, PrefixCache, Question, Rounds, rewrite, start
from tests import tiny
from tests.soak import rarely

families = pytest.mark.parametrize("family", tiny.FAMILIES)
# The last three have fewer image tokens than the others, or none.
ROUNDS = (*SCI7.rounds, "tinynoise500", "none", "unk")


def make_questions(generator, count, textual=SCI7.textual):
    images, prompts = tiny.random_questions(generator, count)
    return [
        Question(image, prompt, tuple(rewrite(prompt, name) for name in textual))
        for image, prompt in zip(images, prompts, strict=True)
    ]


def random_tokens(generator, model, count):
    allowed = sorted(set(range(model.vocab_size)) - {model.image_token_id})
    return torch.tensor([generator.choice(allowed) for _ in range(count)])


def assert_same(one, other, tolerance):
    assert torch.equal(one.prompt_tokens, other.prompt_tokens)
    assert one.logits.shape == other.logits.shape
    torch.testing.assert_close(one.logits, other.logits, atol=tolerance, rtol=0, equal_nan=True)


@families
@pytest.mark.parametrize(
    ("dtype", "attention", "tolerance"),
    [("float32", "sdpa", 1e-5), rarely("float32", "eager", 1e-5), ("float64", "sdpa", 1e-10)],
)
def test_two_phase_equals_sequential_along_random_trees(family, dtype, attention, tolerance):
    """Random tokens, not the model's own; nodes are dropped, forked and reordered on the way, and
    rounds left out."""
    model = tiny.load(family, dtype, attention)
    generator = random.Random(f"{family} {attention}")
    for count in (1, 5):
        questions = make_questions(generator, count)
        pair = [start(model, questions, ROUNDS, engine) for engine in ("two_phase", "sequential")]
        assert all(isinstance(each, Rounds) for each in pair)
        assert_same(*pair, tolerance)
        needed = torch.ones(len(ROUNDS), count, dtype=torch.bool)
        for share in (1.0, 0.6, 0.6, 0.3):
            parents = torch.tensor(
                [generator.randrange(count) for _ in range(generator.randint(1, 6))]
            )
            tokens, count = random_tokens(generator, model, len(parents)), len(parents)
            dice = [[generator.random() for _ in parents] for _ in ROUNDS]
            needed = needed[:, parents] & (torch.tensor(dice) < share)
            needed[0] = True
            for each in pair:
                each.advance(tokens, parents, needed)
            assert_same(*pair, tolerance)
            assert torch.equal(pair[0].logits.isfinite().all(dim=-1), needed)


@families
def test_deferred_rounds_equal_the_reference_wherever_they_are_looked_at(family):
    """Random steps and looks: late, again, of some nodes, of some tokens, after a placeholder."""
    model = tiny.load(family, "float64")
    generator = random.Random(f"{family} looks")
    visual = len(ROUNDS) - 1 - len(SCI7.textual)
    for trial in range(6):
        count = generator.randint(1, 4)
        questions = make_questions(generator, count)
        whole, late = (
            start(model, questions, ROUNDS, deferred=deferred, prefixes=PrefixCache())
            for deferred in (False, True)
        )
        for step in range(4):
            torch.testing.assert_close(late.logits, whole.logits[:-visual], atol=1e-10, rtol=0)
            for _ in range(generator.randint(0, 2)):
                nodes = torch.tensor(generator.sample(range(count), generator.randint(1, count)))
                some = torch.tensor(sorted(generator.sample(range(model.vocab_size), 5)))
                tokens = generator.choice((None, some))
                expected = whole.logits[-visual:, nodes]
                expected = expected if tokens is None else expected[..., tokens]
                torch.testing.assert_close(
                    late.read_visual_rounds(nodes, tokens), expected, atol=1e-10, rtol=0
                )
            parents = torch.tensor(generator.sample(range(count), generator.randint(1, count)))
            tokens, count = random_tokens(generator, model, len(parents)), len(parents)
            if trial % 2 and step == 0:
                tokens[0] = model.image_token_id  # written, it is a token like any other
            for each in (whole, late):
                each.advance(tokens, parents)


@families
def test_the_reference_says_why_it_cannot_read_on_after_a_written_placeholder(family):
    model = tiny.load(family)
    rounds = start(model, make_questions(random.Random(7), 2), SCI7.rounds, "sequential")
    says = rf"image placeholder \(token {model.image_token_id}\).*engine='two_phase'"
    with pytest.raises(ValueError, match=says):
        rounds.advance(torch.tensor([5, model.image_token_id]))


@families
def test_logits_keep_the_precision_of_the_model(family):
    questions = make_questions(random.Random(5), 2)
    for dtype, expected in (("bfloat16", torch.float32), ("float64", torch.float64)):
        rounds = start(tiny.load(family, dtype), questions, SCI7.rounds)
        assert rounds.logits.shape == (7, 2, tiny.load(family).vocab_size)
        assert rounds.logits.dtype == expected
        assert rounds.logits.isfinite().all()


@families
def test_a_fork_equals_a_separate_run(family):
    model = tiny.load(family, "float64")
    generator = random.Random(2)
    questions = make_questions(generator, 2)
    first, second = random_tokens(generator, model, 2), random_tokens(generator, model, 3)

    forked = start(model, questions, SCI7.rounds)
    forked.advance(first)
    forked.advance(second, torch.tensor([1, 0, 1]))
    for node, parent in enumerate((1, 0, 1)):
        alone = start(model, [questions[parent]], SCI7.rounds)
        alone.advance(first[parent : parent + 1])
        alone.advance(second[node : node + 1])
        assert forked.prompt_tokens[node] == alone.prompt_tokens[0]
        torch.testing.assert_close(forked.logits[:, node], alone.logits[:, 0], atol=1e-10, rtol=0)


@families
def test_pictures_are_never_mixed_up(family):
    """Any order of the batch gives each question the logits it has alone."""
    model = tiny.load(family, "float64")
    generator = random.Random(3)
    questions = make_questions(generator, 5)
    alone = [start(model, [question], SCI7.rounds).logits[:, 0] for question in questions]
    assert min((a - b).abs().max() for a in alone for b in alone if a is not b) > 1e-3
    for _ in range(4):
        order = generator.sample(range(5), 5)
        together = start(model, [questions[place] for place in order], SCI7.rounds).logits
        for node, place in enumerate(order):
            torch.testing.assert_close(together[:, node], alone[place], atol=1e-10, rtol=0)


def counting(model):
    """A copy of a model and its processor that counts the pictures it prepares and encodes."""
    counted = copy(model)
    counted.prepared, counted.encoded = 0, []
    counted.processor = copy(model.processor)

    def prepare(image, read_before=False):
        counted.prepared += 1
        return model.processor.prepare(image, read_before)

    def encode(pictures):
        counted.encoded.append(len(pictures))
        return model.encode(pictures)

    counted.processor.prepare, counted.encode = prepare, encode
    return counted


def test_each_distinct_picture_is_prepared_and_encoded_once():
    """Equal pixels count as one picture, equal sizes share black, one vision call does the batch;
    black, which other batches will take from the store, is read by itself."""
    generator = random.Random(4)
    image = tiny.random_image(generator)
    other = Image.new("RGB", image.size, "red")
    questions = [
        Question(picture, tiny.random_prompt(generator))
        for picture in (image, image, image.copy(), other)
    ]
    model, store = counting(tiny.load("qwen2_vl")), PrefixCache()
    names = ("original", "black", "noise500")
    rounds = start(model, questions, names, prefixes=store)
    assert (model.prepared, model.encoded) == (5, [1, 4])  # two originals, two noises, one black
    assert rounds.logits.shape[:2] == (3, 4)
    again = start(model, questions, names, prefixes=store)
    assert model.encoded == [1, 4]
    torch.testing.assert_close(again.logits, rounds.logits, atol=1e-5, rtol=0)


@families
@pytest.mark.parametrize("noise", ["clamp", "wrap", "normalized"])
def test_noise_variants_agree_between_engines(family, noise):
    model = tiny.load(family, "float64")
    questions = make_questions(random.Random(6), 2, ())
    names = ("original", "black", "noise500")
    two, one = (start(model, questions, names, each, noise) for each in ("two_phase", "sequential"))
    assert_same(two, one, 1e-10)
    default = start(model, questions, names).logits
    assert torch.equal(default[:2], two.logits[:2])
    assert torch.equal(default[2], two.logits[2]) == (noise == "wrap")


@pytest.mark.parametrize("kind", [*tiny.FAMILIES, "smolvlm"])
def test_an_instruction_before_the_picture_shares_less_and_changes_nothing(kind):
    """A template that puts the text first: the picture belongs to every suffix. Marks before a
    first tile may be shared; the tiles are not divided."""
    model = tiny.load(kind, "float64")
    template = model.tokenizer.chat_template
    try:
        model.tokenizer.chat_template = template.replace("message.content", "message.content[::-1]")
        questions = make_questions(random.Random(7), 3)
        pair = [
            start(model, questions, SCI7.rounds, prefixes=PrefixCache()),
            start(model, questions, SCI7.rounds, "sequential"),
        ]
        assert_same(*pair, 1e-10)
        for each in pair:
            each.advance(torch.tensor([7, 8, 9]))
        assert_same(*pair, 1e-10)
    finally:
        model.tokenizer.chat_template = template


def test_state_left_on_the_model_by_others_does_not_matter():
    """Qwen2-VL keeps `rope_deltas` from the last call of anyone; the engine never reads them."""
    model = tiny.load("qwen2_vl", "float64")
    questions = make_questions(random.Random(8), 2)
    tokens = torch.tensor([20, 21])
    results = []
    for left_behind in (None, torch.full((1, 1), -77)):
        rounds = start(model, questions, SCI7.rounds)
        model.hf.model.rope_deltas = left_behind
        rounds.advance(tokens)
        results.append(rounds.logits)
    model.hf.model.rope_deltas = None
    assert torch.equal(*results)


QUESTION = Question(Image.new("RGB", (40, 40)), "What? Please answer yes or no.")


@pytest.mark.parametrize(
    ("questions", "rounds", "says"),
    [
        ([], ("original",), "at least one"),
        ([QUESTION], (), "'original' first"),
        ([QUESTION], ("V1", "original"), "'original' first"),
        ([QUESTION], ("original", "black", "V1"), "then the visual"),
        ([QUESTION], ("original", "V1"), r"question 0 are \(\); expected one text .* round \(V1\)"),
        ([QUESTION], ("original", "noise5000"), "noise5000"),
        (
            [QUESTION, Question(Image.new("RGB", (1, 1)), "What?")],
            ("original",),
            "Question 1: The picture has 1 x 1",
        ),
    ],
)
def test_wrong_questions_are_refused(questions, rounds, says):
    with pytest.raises(ValueError, match=says):
        start(tiny.load("qwen2_vl"), questions, rounds)


@pytest.mark.parametrize("engine", ["two_phase", "sequential"])
@pytest.mark.parametrize(
    ("tokens", "parents", "says"),
    [
        ([], [], "at least one"),
        ([3], None, r"shape \(1,\) and parents of shape \(2,\)"),
        ([3, 4], [0, 2], "nodes 0 to 1"),
        ([3, 4], [0, -1], "nodes 0 to 1"),
    ],
)
def test_wrong_steps_are_refused(engine, tokens, parents, says):
    rounds = start(tiny.load("qwen2_vl"), [QUESTION, QUESTION], ("original",), engine)
    before = rounds.logits
    parents = None if parents is None else torch.tensor(parents, dtype=torch.long)
    with pytest.raises(ValueError, match=says):
        rounds.advance(torch.tensor(tokens, dtype=torch.long), parents)
    assert rounds.logits is before


@pytest.mark.parametrize("engine", ["two_phase", "sequential"])
def test_a_round_left_out_cannot_be_needed_again(engine):
    rounds = start(tiny.load("qwen2_vl"), [QUESTION], ("original", "black"), engine)
    one = torch.tensor([20])
    with pytest.raises(ValueError, match=r"shape \(1, 1\), 1 of it true; expected .* \(2, 1\)"):
        rounds.advance(one, needed=torch.ones(1, 1, dtype=torch.bool))
    with pytest.raises(ValueError, match="0 of it true"):
        rounds.advance(one, needed=torch.zeros(2, 1, dtype=torch.bool))
    rounds.advance(one, needed=torch.tensor([[True], [False]]))
    with pytest.raises(ValueError, match="Round 1 of new node 0 was left out at an earlier step"):
        rounds.advance(one, needed=torch.ones(2, 1, dtype=torch.bool))
    rounds.advance(one)
    assert rounds.logits.isnan().all(dim=-1).tolist() == [[False], [True]]
