"""The answer rules: what they read, what they refuse to guess, and what they promise."""

import hashlib
import itertools
import json
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from sci_book.data.answers import numerals
from sci_book.data.answers import rules as answers
from sci_book.data.answers.rules import FREE, RULES
from tests.soak import TIMES

CASES = yaml.safe_load(Path(__file__).with_name("answer_readings.yaml").read_text(encoding="utf-8"))
OPTIONS = {"A": "blue", "B": "red", "C": "vitamin C", "D": "None of the above"}


READINGS = [
    *(("letter", text, expected) for text, expected in CASES["letters"]),
    *(("letter", text, None) for text in CASES["no_letter"]),
    *(("yes_no", text, expected) for text, expected in CASES["yes_no"]),
    *(("short", text, expected) for text, expected in CASES["short"]),
    *(("number", text, expected) for text, expected in [*CASES["number"], ["9" * 5000] * 2]),
    *(("number", text, None) for text in CASES["no_number"]),
]


@pytest.mark.parametrize(("rule", "text", "expected"), READINGS)
def test_a_text_is_read_and_never_guessed(rule, text, expected):
    assert RULES[rule].read(text, OPTIONS) == expected


def test_an_options_own_text_denies_nothing():
    options = {"A": "not there", "B": "wrong"}
    assert answers.letter("A: not there", options) == "A"
    assert answers.letter("(B) wrong, I think", options) == "B"
    assert answers.letter("(A) wrong, I think", options) is None
    assert answers.letter("The correct answer is (A) Not there", options) == "A"
    assert answers.letter("选A 错误", {"A": "错误", "B": "正确"}) == "A"


def test_marks_inside_a_word_are_its_own():
    assert answers.letter("2*3", {"A": "23", "B": "2*3"}) == "B"
    assert answers.letter("23", {"A": "23", "B": "2*3"}) == "A"
    for text in ("5*3", "m*a*s*h", "*.txt", "f(*args"):
        assert answers.short(text) == text


# --- options whose texts are letters -------------------------------------------------------------

SWAPPED = {"A": "B", "B": "A", "C": "C"}
LETTER_FORMS = (
    "{}",
    "({})",
    "{}.",
    "The answer is {}",
    "Answer: {}",
    "Option {}",
    "选{}",
    "**{}**",
    "\\boxed{{{}}}",
    "{} because it is so",
    "I choose {}.",
    "[{}]",
)


@pytest.mark.parametrize("form", LETTER_FORMS)
@pytest.mark.parametrize(
    "options",
    [
        SWAPPED,
        {"A": "B", "B": "C"},
        {"A": "C", "B": "D", "C": "A", "D": "B"},
        {"A": "(B)", "B": "a", "C": "x"},
    ],
    ids=str,
)
def test_a_letter_decides_over_the_text_of_another_option(form, options):
    for name in options:
        assert answers.letter(form.format(name), options) == name


def test_a_letter_and_behind_it_its_own_text_which_is_a_letter_are_one_answer():
    for text in ("A. B", "(A) B", "A: B", "The answer is A. B", "Answer: (A) B", "A) b"):
        assert answers.letter(text, SWAPPED) == "A"
    assert answers.letter("A or B", SWAPPED) is None and answers.letter("not A", SWAPPED) is None
    # A letter of no option is the text of one.
    assert answers.letter("The answer is Y", {"A": "X", "B": "Y"}) == "B"


# --- an answer, and then its explanation ----------------------------------------------------------

THINGS = {"A": "a cat", "B": "a car", "C": "red", "D": "a dog"}


@pytest.mark.parametrize(
    "text",
    [
        "B\n\nExplanation: A is red",
        "B. A is a car, so it cannot be right.",
        "(B) A is a cat.",
        "B\n\nExplanation: A would be wrong because it is red.",
        "B. Neither A nor C fits.",
        "B\n\nReasoning:\nA: red\nC: a cat",
        "B\n\nOption A: it is red.",
        "选B。A是猫，C是红色。",
        "B\n\n解析：A是红色的，不符合。",
        "B. Unlike A, it has wheels.",
        "B, since A is red",
        "Answer: B\nExplanation: A is a cat, so it is red.",
        "B.\n\nThe car is red, while A shows a cat.",
        "B. Red is the colour of A.",
        "B! A and C are not visible.",
    ],
)
def test_an_explanation_that_names_another_option_leaves_the_letter(text):
    assert answers.letter(text, THINGS) == "B"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("B. Wait, A is right.", "A"),
        ("B. Sorry, the answer is A.", "A"),
        ("B. Or A.", None),
        ("B. A could also be right.", None),
        ("B. red C. a dog", None),
        ("B\nA\nC", None),
        ("B. It could be A", None),
        ("(A) (B)", None),
        ("B\n\nNote: A is also possible", None),
    ],
)
def test_a_correction_or_a_second_answer_is_no_explanation(text, expected):
    assert answers.letter(text, THINGS) == expected


@pytest.mark.parametrize(
    ("options", "yes", "no"),
    [
        ({"A": "Yes", "B": "No"}, "Yes, it is", "No, there is not."),
        ({"A": "No", "B": "Yes", "C": "Cannot tell"}, "Yes, I can see it.", "No, I see none"),
        ({"A": "True", "B": "False"}, "True, it is.", "False. There is a cat"),
        ({"A": "是", "B": "否"}, "是的，有一只猫", "不是"),
        ({"A": "Yes, there is", "B": "No, there isn't"}, "Yes it is", "No, there is none."),
    ],
)
def test_a_yes_or_no_with_a_reason_is_the_option_that_says_so(options, yes, no):
    names = {answers.yes_no(text): name for name, text in options.items()}
    assert answers.letter(yes, options) == names["yes"]
    assert answers.letter(no, options) == names["no"]
    for unclear in ("Yes or no", "A or B", "Is it yes?", "Not sure"):
        assert answers.letter(unclear, options) is None
    if "C" in options:
        assert answers.letter("Yes, or I cannot tell", options) is None


@pytest.mark.parametrize(
    "text",
    [
        "We find \\boxed{\\langle H\\rangle}.\n**Answer: D**",
        "\\boxed{x^2} = 4, so the answer is D",
        "$\\boxed{\\lambda}$\n\nFinal answer: D",
        "\\fbox{E = mc^2}\n\nD",
    ],
)
def test_a_formula_in_a_box_hides_no_answer_behind_it(text):
    assert answers.letter(text, THINGS) == "D"
    assert answers.yes_no(text.replace("D", "yes")) == "yes"


# --- characters that are decorated or cannot be seen ----------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "\u200bB",
        "\ufeffB",
        "B\0",
        "Ⓑ",
        "𝐁",
        "B\u200d.",
        "\u202aB\u202c",
        "ⓑ",
        "⒝",
        "🅱\ufe0f",
        "🄱",
        "🇧",
        "\x07B",
        "\x1b[1mB\x1b[0m",
        "𝓑",
        "ℬ",
        "Ｂ",
        "B\u20dd",
        "assistant\nB",
        "ASSISTANT: B",
        "<|start_header_id|>assistant<|end_header_id|>\n\nB",
        "user\nA or D?\nassistant\nB",
        "model\nB",
        "B\nuser\nIs it A?\nassistant\nA",
    ],
)
def test_what_cannot_be_seen_or_decorates_changes_no_answer(text):
    assert answers.letter(text, THINGS) == "B"
    bold_yes, bold_three = "𝐘𝐞𝐬", "𝟑"
    for plain, read, meant in (("Yes", answers.yes_no, "yes"), ("3", answers.number, "3")):
        dressed = re.sub(r"(?<![A-Za-z])B", plain, text)
        if dressed != text:
            assert read(dressed) == meant
    assert answers.yes_no(bold_yes) == "yes" and answers.number(bold_three) == "3"


def test_signs_that_mean_something_are_no_decoration():
    for text in ("3²", "½", "10³"):
        assert answers.number(text) is None
    assert answers.yes_no("№ 5") is None and answers.letter("25℃", THINGS) is None
    assert answers.letter("m²", {"A": "m2", "B": "m²"}) == "B"
    assert answers.short("assistant") == "assistant" and answers.short("Model") == "model"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("无", "no"),
        ("存在", "yes"),
        ("不存在", "no"),
        ("無", "no"),
        ("存在。", "yes"),
        ("答案：无", "no"),
        ("没", "no"),
        ("并不存在", "no"),
        ("假的。", "no"),
        ("真的", "yes"),
        ("无法判断", None),
        ("存在吗？", None),
        ("无论如何", None),
        ("真不知道", None),
        ("图中无猫", None),
    ],
)
def test_chinese_words_for_there_is_and_there_is_none_are_yes_and_no(text, expected):
    assert answers.yes_no(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "\\fbox{B}",
        "\\boxed B",
        "$\\boxed{\\mathbf{B}}$",
        "\\(\\boxed{\\mathrm{(B)}}\\)",
        "\\[\\boxed{B}\\]",
        "\\boxed{\\text{B}\\,}",
        "$\\mathbb{B}$",
        "{\\bf B}",
        "\\boxed{\\left(B\\right)}",
        "\\framebox{B}",
        "\\boxed{\\underline{\\textsf{B}}}",
        "\\boldsymbol{B}",
    ],
)
def test_a_letter_set_by_latex_is_the_letter(text):
    assert answers.letter(text, THINGS) == "B"


def test_two_options_with_one_text_and_a_letter_of_none_are_unknown():
    assert answers.letter("red", {"A": "red", "B": "Red"}) is None
    assert answers.letter("D", {"A": "x", "B": "y"}) is None


def test_an_unknown_equals_nothing():
    first, second = [None, None, "A", "A", "A"], [None, "A", None, "A", "B"]
    assert answers.same(first, second).tolist() == [False, False, False, True, False]


def test_raw_prefix_is_the_references_comparison():
    assert answers.raw_prefix("no", "yes") != answers.raw_prefix("no.", "yes")
    assert answers.raw_prefix("dog", "cat") == answers.raw_prefix("dogs", "cat")
    assert answers.raw_prefix("10", "1") == "1"
    assert answers.letter_is_delimited("B") and answers.letter_is_delimited("B. red")
    assert not answers.letter_is_delimited("Because") and not answers.letter_is_delimited("")


def test_an_unknown_question_type_is_named():
    with pytest.raises(
        ValueError, match=r"'essay'.*mcq, yesno, number, short, free or description"
    ):
        answers.parse("essay", "x")


# --- numbers ------------------------------------------------------------------------------------


@given(value=st.integers(0, numerals.SPELT - 1))
def test_a_number_is_read_however_it_is_written(value, spellings):
    assert len(spellings[str(value)]) >= 2
    for text in (str(value), f"{value:,}", f"{value}.", *spellings[str(value)]):
        assert answers.number(text) == str(value)
        assert answers.number(f"  {text.upper()}.\n") == str(value)


@pytest.fixture(scope="module")
def spellings():
    found = {}
    for text, value in [*numerals._english().items(), *numerals._chinese().items()]:
        found.setdefault(value, []).append(text)
    return found


def test_number_words_spell_what_they_should():
    """Against spellings written by hand, since the rule looks its own up."""
    by_hand = {
        "ninety": 90, "nine hundred": 900, "one hundred one": 101, "four thousand ten": 4010,
        "十": 10, "二十": 20, "二十三": 23, "一百": 100, "一百一十": 110, "一千零五": 1005,
        "一千零五十": 1050, "三千五百": 3500,
    }  # fmt: skip
    assert {text: answers.number(text) for text in by_hand} == {
        text: str(value) for text, value in by_hand.items()
    }


# --- the toolkit's letter rule --------------------------------------------------------------------

# Text, and what the toolkit's own `can_infer` said for OPTIONS in releases 0.0.18 and 0.0.20 of
# `ms-vlmeval`, and in June 2026: run there, not worked out. "Z" and False are unknown here.
TOOLKIT = CASES["toolkit"]


@pytest.mark.parametrize(("text", "expected"), CASES["toolkit_verbose"])
def test_the_toolkits_third_edition_reads_as_the_toolkit_does(text, expected):
    assert answers.vlmevalkit_letter_verbose(text, OPTIONS) == expected


def test_the_third_edition_differs_where_it_finds_its_phrase_alone():
    for text, _, from_19 in TOOLKIT:
        read = answers.vlmevalkit_letter_verbose(text, OPTIONS)
        assert read == from_19 or re.search("answer is", text)


@pytest.mark.parametrize(("text", "until_18", "from_19"), TOOLKIT)
def test_the_toolkits_rule_reads_as_the_toolkit_does(text, until_18, from_19):
    assert answers.vlmevalkit_letter_anywhere(text, OPTIONS) == until_18
    assert answers.vlmevalkit_letter(text, OPTIONS) == from_19


WORDS = st.sampled_from(
    ["A", "B", "C", "D", "E", "Z", "b", "(B)", "B.", "red", "Blue", "the", "answer", "is", "or",
     "vitamin C", "None of the above", "红色", "答案是B", "Cannot determine the answer", "no", "I"]
)  # fmt: skip
TEXTS = st.lists(WORDS, max_size=9).map(" ".join) | st.text(max_size=40)
CHOICES = st.lists(
    st.sampled_from(["red", "blue", "vitamin C", "None of the above", "12", "1", "a bus"]),
    min_size=1,
    max_size=5,
).map(lambda texts: dict(zip("ABCDE", texts, strict=False)))


def test_the_toolkits_rule_agrees_with_the_toolkit():
    """On random texts, where its package is installed; the table above stands in elsewhere."""
    matching = pytest.importorskip(
        "vlmeval.utils.matching_util",
        reason="the toolkit's package is not installed (`pip install ms-vlmeval`)",
        exc_type=ImportError,
    )

    @given(TEXTS, CHOICES)
    def agree(text, options):
        theirs = matching.can_infer(text, dict(options))  # it lower-cases what it is given
        assert answers.vlmevalkit_letter(text, options) == (theirs if theirs in options else None)

    agree()


# --- what every rule promises -------------------------------------------------------------------

LETTER_RULES = [rule for rule in RULES.values() if rule.question_type == "mcq"]
OTHER_RULES = [rule for rule in RULES.values() if rule.question_type != "mcq"]


@pytest.mark.parametrize("rule", LETTER_RULES, ids=str)
@given(text=TEXTS, options=CHOICES)
def test_no_rule_answers_with_an_option_that_is_not_there(rule, text, options):
    assert rule.read(text, options) in {None, *options}


@pytest.mark.parametrize("rule", LETTER_RULES, ids=str)
@given(options=CHOICES)
def test_letters_read_themselves(rule, options):
    for letter in options:
        assert rule.read(letter, options) == letter
        assert rule.read(f"({letter})", options) == letter


@pytest.mark.parametrize("rule", OTHER_RULES, ids=str)
@given(
    text=TEXTS
    | st.sampled_from(["Yes, it is", "no.", "Three dogs", "-2.50", "the  A dog", "1,000", "十二只"])
)
def test_reading_twice_changes_nothing(rule, text):
    once = rule.read(text, {})
    # `short` drops one article and then stops: of "the the dog" it leaves "the dog".
    assume(rule.name != "short" or once is None or re.match(r"(?!(a|an|the) )\w", once))
    assert once is None or rule.read(once, {}) == once
    assert rule.name != "yes_no" or once in {None, "yes", "no"}


@pytest.mark.parametrize("rule", RULES.values(), ids=str)
@given(
    text=TEXTS,
    options=CHOICES,
    before=st.text(" \t\n", max_size=3),
    after=st.text(" \t\n", max_size=3),
)
def test_blanks_around_an_answer_change_nothing(rule, text, options, before, after):
    if rule.name in ("vlmevalkit_letter", "vlmevalkit_letter_verbose"):
        # The toolkit compares the length of the answer with the options', blanks included.
        options = {**options, "E": "x" * 400}
    assert rule.read(before + text + after, options) == rule.read(text, options)


# A free text is its own answer, case and all.
@pytest.mark.parametrize("rule", [each for each in OTHER_RULES if each.name not in FREE], ids=str)
@given(text=st.lists(WORDS, max_size=6).map(" ".join))
def test_case_changes_nothing(rule, text):
    assert rule.read(text.upper(), {}) == rule.read(text.lower(), {})


@pytest.mark.parametrize("rule", RULES.values(), ids=str)
def test_an_answer_that_repeats_itself_without_end_is_read(rule):
    """Where time grows with the square of the length or worse, this does not come to its end."""
    parts = [" ", "\n", "a", "a ", "**", "*a ", "`", "__", "$", r"\boxed{", "<a", "no ", "not "]
    parts += ["the answer is ", "really ", "was really ", "A ", "A. ", "(", "n't ", "一", "几十"]
    parts += ["1", "1,", "-", "..", "a-", "one ", "over a ", "选", "不是", "think the ", "about "]
    parts += ["yes ", "not A but ", "A, ", "B\n", "is A. ", "answer: ", "</think>", '{"answer": ']
    openings = ("", "The answer", "option A is ", "I yes answer", "not ")
    # In `make test` one opening of each part, in turn, is long; in `make soak` each, and longer.
    most = 8_000 if TIMES > 1 else 4_000
    for number, (part, opening) in enumerate(itertools.product(parts, openings)):
        longest = TIMES > 1 or number % 5 == number // 5 % 5
        rule.read(opening + (most if longest else 200) * part + "!", OPTIONS)


@pytest.mark.parametrize("rule", RULES.values(), ids=str)
@given(
    text=st.text(max_size=60) | TEXTS,
    options=st.dictionaries(st.sampled_from("ABCDEFGHI"), st.text(max_size=12), max_size=5),
)
def test_no_text_and_no_option_breaks_a_rule(rule, text, options):
    rule.read(text, options)


@given(text=TEXTS, options=CHOICES, order=st.randoms())
def test_the_order_of_the_options_does_not_matter(text, options, order):
    names = list(options)
    order.shuffle(names)
    shuffled = {name: options[name] for name in names}
    assert answers.letter(text, shuffled) == answers.letter(text, options)


WRAPPERS = [
    "<answer>{}</answer>", "<think>Is it A? Yes or no, 3 or 4.</think>{}", '{{"answer": "{}"}}',
    "\\boxed{{{}}}", "```\n{}\n```", "**{}**", "Assistant: {}", "{}<|im_end|>",
]  # fmt: skip


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize(
    ("question_type", "answer"),
    [("mcq", "B"), ("mcq", "vitamin C"), ("mcq", "A or B"), ("yesno", "Yes"), ("yesno", "no dog"),
     ("number", "12"), ("number", "3 or 4"), ("short", "dog")],
)  # fmt: skip
def test_what_an_answer_is_wrapped_in_changes_nothing(wrapper, question_type, answer):
    wrapped = wrapper.format(answer)
    read = answers.parse(question_type, answer, OPTIONS)
    assert answers.parse(question_type, wrapped, OPTIONS) == read
    if "*" not in wrapper:  # blanks within the marks are no Markdown
        assert answers.parse(question_type, wrapper.format(f" {answer} "), OPTIONS) == read


# --- names and versions -------------------------------------------------------------------------

# What each version of a rule reads in the texts below. A rule that reads differently needs another
# version, and its line here.
DIGESTS = {
    "letter 4": "3e0a8e38636f",
    "yes_no 4": "b65bd66bdd8d",
    "number 4": "c53822951a50",
    "short 4": "0759f05071d5",
    "free 1": "b7a0c6afd873",
    "description 1": "b7a0c6afd873",
    "vlmevalkit_letter 0.0.20": "50523c228e8d",
    "vlmevalkit_letter_anywhere 0.0.18": "4d7c53091ca1",
    "vlmevalkit_letter_verbose 2026.06": "b9bdaacd8398",
}


def test_a_rule_that_reads_differently_has_another_version():
    openings = ["", "B", "b", "Yes", "no", "3", "three", "三只", "red"]
    openings += ["The answer is ", "答案是", "A ", "Not option B", "over 3", "选B", "**"]
    endings = ["", ".", " red", " or C", ", not 4", " dog", "。", " B"]
    endings += [" because it is so, I think", " is wrong", " isn't it", "**", "?", "+"]
    endings += ["-legged", "不对"]
    texts = [opening + ending for opening in openings for ending in endings]
    texts += [text for text, *_ in TOOLKIT]
    texts += ["\u200bB", "Ⓑ", "无", "assistant\nNo", "𝟑", "red\0", "B. A is wrong, for it is red"]
    found = {}
    for rule in RULES.values():
        read = [rule.read(text, OPTIONS) for text in texts]
        found[str(rule)] = hashlib.sha256(json.dumps(read).encode()).hexdigest()[:12]
    assert found == DIGESTS


def test_rules_are_found_by_name_and_by_question_type():
    assert all(RULES[name].name == name for name in RULES)
    for question_type in ("mcq", "yesno", "number", "short", *FREE):
        assert answers.rule_of(question_type).question_type == question_type
    assert answers.parse("number", "three") == "3"
    assert answers.parse("mcq", "B", OPTIONS) == "B" and answers.parse("mcq", "B") is None


@pytest.mark.parametrize(
    ("question_type", "answer", "truth"),
    [("mcq", " b", "B"), ("yesno", "Yes ", "yes"), ("number", "Twelve", "12"), ("number", "?", ""),
     ("short", "The Dog.", "dog"), ("short", "...", ""), ("free", " A dog. ", "A dog.")],
)  # fmt: skip
def test_the_truth_takes_the_form_of_the_answers(question_type, answer, truth):
    assert answers.canonical_truth(question_type, answer) == truth


def test_a_stamp_names_the_rules_that_records_are_read_by():
    assert answers.rules_stamp(["mcq", "short", "mcq"]) == {
        "rules": {"mcq": str(RULES["letter"]), "short": str(RULES["short"])}
    }
    assert answers.rules_stamp([]) == {"rules": {}}
