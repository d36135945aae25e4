"""The lesson on fine-tuning, its first chapter: cards, prompts and areas are the real ones."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.course.lessons.finetuning.stages.figures_of_stages import in_words
from llmviz.course.lessons.finetuning.stages.model import FROZEN, Part
from llmviz.course.lessons.finetuning.stages.moving import group_of, head_question
from llmviz.course.ui import engine
from llmviz.finetuning.plan import WAYS
from llmviz.finetuning.tuned_models import tuned_card
from llmviz.models.arithmetic import count
from llmviz.models.settings import GPTConfig
from tests.pages.harness import boxes, charts, fine, open_part, prose_of

pytestmark = pytest.mark.usefixtures("ready")


def areas(app) -> dict:
    (found,) = (
        data for chart in charts(app) for data in chart["data"] if data["type"] == "treemap"
    )
    return found


def test_the_stages_say_what_the_cards_say():
    app = open_part("finetuning", "stages")
    fine(app)
    told = " ".join(one.value for one in app.markdown)
    card, tuned = engine.card("tiny-world-gpt"), tuned_card("instructions")
    for number in (card["tokens"], card["steps"], tuned["trained_parameters"], tuned["steps"]):
        assert f"{number:,}" in told
    assert f"{card['score']['nats_per_token']:.3f}" in told
    bars = charts(app)[0]["data"][0]
    assert bars["x"][0] == card["tokens"] > bars["x"][1] > 0


def test_one_prompt_goes_through_three_models():
    app = open_part("finetuning", "stages")
    random, base, tuned = (block.value for block in app.code[:3])
    assert tuned.strip() == "Naomi." and base != tuned and random != base
    three = charts(app)[1]["data"]
    assert [len(one["y"]) for one in three] == [6, 6, 6]
    assert all(0 <= value <= 1 for one in three for value in one["y"])
    assert max(three[0]["y"]) < 0.1 < max(three[2]["y"])  # random weights prefer nothing


@pytest.mark.parametrize("way", WAYS)
def test_the_areas_add_up_and_have_the_state_of_the_module(way):
    app = open_part("finetuning", "stages", way=way, outputs="4")
    fine(app)
    found = areas(app)
    parts = [
        (value, state)
        for value, state in zip(found["values"], found["customdata"], strict=True)
        if state
    ]
    config = engine.load("tiny-world-gpt").model.config
    whole = count(config) + 4 * (config.n_embd + 1)
    assert found["values"][0] == sum(value for value, _ in parts)
    frozen = sum(value for value, state in parts if state.startswith("frozen"))
    if way == "lora":
        assert found["values"][0] > whole and frozen == count(config)
    else:
        assert found["values"][0] == whole
        assert (frozen == 0) == (way in ("all", "nothing"))
    assert f"{frozen:,} are frozen" in prose_of(app)


@pytest.mark.parametrize("prompt", ["", "\ud800x"[1:], "so " * 4000, "<b>![x](http://a)</b>"])
def test_odd_prompts(prompt):
    app = open_part("finetuning", "stages")
    app.session_state["finetuning.prompt"] = prompt
    app.run()
    fine(app)
    assert ("the last" in boxes(app) or "its last" in boxes(app)) == (len(prompt) > 1000)


def test_other_weights_are_refused_in_one_line(bundle):
    app = open_part("finetuning", "stages")
    fine(app)
    assert "for other weights" in boxes(app) or "another base" in boxes(app)
    assert areas(app)["values"][0] > bundle.card["parameters"] // 2


@settings(max_examples=60, deadline=None)
@given(some.integers(2, 10), some.integers(1, 300), some.integers(1, 4000))
def test_the_question_about_the_head_has_one_right_answer(classes, width, vocab):
    config = GPTConfig(vocab_size=vocab, n_embd=2 * width, n_head=1, n_layer=1, context_length=4)
    question = head_question(config, classes, (Part("token", vocab * 2 * width, FROZEN),))
    if question is None:
        return
    assert question.answers[question.right] == f"{classes * (2 * width + 1):,}"
    assert len(set(question.answers)) == 4 and all("{" not in one for one in question.reasons)


@settings(max_examples=60, deadline=None)
@given(some.floats(0, 1e6))
def test_a_time_in_words_is_near_the_time(seconds):
    units = {"h": 3600, "min": 60, "s": 1}
    parts = in_words(seconds).split()
    back = sum(float(n) * units[unit] for n, unit in zip(parts[::2], parts[1::2], strict=True))
    assert abs(back - seconds) <= 30.5


def test_each_layer_belongs_to_a_part_of_the_picture():
    assert [group_of(path) for path in ("position", "blocks.11.mlp.up", "head.linear")] == [
        "embeddings",
        "block 11",
        "new head",
    ]
