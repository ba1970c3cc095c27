"""The plan on paper: its arithmetic by hand, and that the page is what the code writes."""

from dataclasses import replace

import pytest

from sci_book.papers.sci import plan_million
from sci_book.papers.sci.plan_million import FROZEN, Assumptions
from sci_book.resources import ROOT
from sci_core.methods import SCI7


def test_the_committed_page_is_what_the_code_writes():
    """Written anew by `python -m sci_book.papers.sci.plan_million > book/million_questions.md`."""
    page = (ROOT / "book" / "million_questions.md").read_text(encoding="utf-8")
    assert page == plan_million.page(Assumptions())


def test_work_is_the_engines_count_times_the_parameters():
    given = Assumptions(
        questions=3600, gpus=1, parameters=1e9, vision_parameters=0.0, vision_width=0,
        image_tokens=320, new_tokens=0, peak_flops=1e12, prefill_use=0.5,
    )  # fmt: skip
    base, seven = plan_million.work_table(SCI7, given).to_dict("records")
    assert base["tokens a question"] == 415 and seven["tokens a question"] == 1430
    assert base["pictures a question"] == 1 and seven["pictures a question"] == 3
    # 2 x 1e9 x 415 operations at 5e11 a second: 1.66 s a question.
    assert base["hours"] == base["GPU hours"] == pytest.approx(1.66)
    assert seven["hours"] == pytest.approx(1.66 * 1430 / 415)
    # Four patches a token: 4 x 1280^2 x 10 x 100 operations of attention a picture.
    seeing = replace(given, vision_width=10, vision_layers=100)
    (looking, _) = plan_million.work_table(SCI7, seeing).to_dict("records")
    assert looking["hours"] - base["hours"] == pytest.approx(4 * 1280**2 * 1000 / 5e11)
    decoding = replace(given, new_tokens=64, memory_bandwidth=1e9, batch_size=64)
    (slower, _) = plan_million.work_table(SCI7, decoding).to_dict("records")
    assert slower["hours"] - base["hours"] == pytest.approx(2.0)


def test_limits_grow_with_the_questions_and_not_with_what_they_do_not_depend_on():
    size = plan_million.record_bytes(FROZEN)
    assert size["answers alone"] < size["with logits"] / 4 < size["in memory"]
    given = Assumptions()
    one = plan_million.limits_table(given, size, 1.0)["asked"]
    twice = replace(given, questions=2 * given.questions)
    two = plan_million.limits_table(twice, size, 1.0)["asked"]
    same = ["shards in the object store"]
    assert (two[same] == one[same]).all()
    files = ["files in one folder", "files written"]  # the last shard is begun too
    rest = [*same, *files]
    assert two.drop(rest).to_numpy() == pytest.approx(2 * one.drop(rest).to_numpy())
    assert (one[files[0]], two[files[0]]) == (1954, 3907)  # 1953.1 and 3906.2
    assert one[files[1]] == pytest.approx(1954 / 3600)


def test_tokens_that_two_engines_read_are_a_questions_average():
    def outcome(answers, ours, theirs):
        return {"answers": answers, "tokens_read_by_generate": ours, "tokens_read": theirs}

    methods = [{"SCI5": outcome(2, 20, 40)}, {"SCI5": outcome(3, 30, 35)}]
    found = {"models": {str(k): {"methods": each} for k, each in enumerate(methods)}}
    table = plan_million.served_table(found)
    assert table.loc["SCI5"].to_dict() == {"generate": "10", "vLLM": "15"}
