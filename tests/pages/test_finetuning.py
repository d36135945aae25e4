"""The lesson on fine-tuning, its first chapter: cards, prompts and areas are the real ones."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.course.lessons.finetuning.stages import chapter
from llmviz.course.lessons.finetuning.stages.chapter import group_of, in_words
from llmviz.course.ui import engine
from llmviz.finetuning.plan import WAYS
from llmviz.finetuning.tuned_models import tuned_card
from llmviz.models.arithmetic import count
from tests.pages.harness import boxes, charts, fine_part, prose_of, sent

pytestmark = pytest.mark.usefixtures("ready")


def areas(app) -> dict:
    (found,) = (
        data for chart in charts(app) for data in chart["data"] if data["type"] == "treemap"
    )
    return found


def test_the_stages_say_what_the_cards_say():
    app = fine_part("finetuning", "stages")
    told = prose_of(app)
    card, tuned = engine.card("tiny-world-gpt"), tuned_card("instructions")
    for number in (card["tokens"], tuned["trained_parameters"]):
        assert f"{number:,}" in told
    values = [row["value"] for row in sent(app, "case_rows")["rows"]]
    assert values == [0, *chapter.read_and_taught()] and values[1] == card["tokens"]
    assert f"read {values[1] / values[2]:,.0f} times" in told


def test_one_prompt_goes_through_three_models():
    app = fine_part("finetuning", "stages")
    rows = sent(app, "case_rows")["rows"]
    random, base, tuned = (row["label"][1][0] for row in rows)
    assert tuned == "Naomi." and base != tuned and random != base


@given(*[some.integers(1, 10**9)] * 3)
def test_the_tokens_are_asked_for_where_the_answers_are_far_apart(read, taught, parameters):
    asked = chapter.question(read, taught, parameters)
    values = sorted([read, taught, parameters])
    far = all(b >= chapter.APART * a for a, b in pairwise(values))
    assert (asked is not None) == far
    if asked is not None:
        assert asked.values[asked.right] == (taught,)


@pytest.mark.parametrize("way", WAYS)
def test_the_areas_add_up_and_have_the_state_of_the_module(way):
    app = fine_part("finetuning", "stages", way=way, outputs="4")
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


OTHER_WEIGHTS = ("for other weights", "another base", "which this model lacks")


def test_other_weights_are_refused_in_one_line(bundle):
    for part in ("stages", "instructions", "lora", "fewshot"):
        app = fine_part("finetuning", part)
        assert any(line in boxes(app) for line in OTHER_WEIGHTS), part
        if part == "stages":
            assert areas(app)["values"][0] > bundle.card["parameters"] // 2
    app = fine_part("finetuning", "preferences")
    assert "tokens; the model reads 40 at most" in boxes(app)


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
