"""The lesson on fine-tuning, its first chapter: cards, prompts and areas are the real ones."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.corpus.rules import EXAMPLES, FEWEST, MOST, Question, draw_question, group_words
from llmviz.course.lessons.finetuning.classifier import source, training
from llmviz.course.lessons.finetuning.classifier.chapter import agreement
from llmviz.course.lessons.finetuning.classifier.class_training import Reading
from llmviz.course.lessons.finetuning.fewshot import chapter as fewshot
from llmviz.course.lessons.finetuning.stages import chapter
from llmviz.course.lessons.finetuning.stages import words as stages_words
from llmviz.course.lessons.finetuning.stages.chapter import group_of, in_words
from llmviz.course.lessons.finetuning.stages.model import NEW, TRAINED, parts_of
from llmviz.course.ui import engine
from llmviz.finetuning.labels import Labelled
from llmviz.finetuning.plan import WAYS
from llmviz.finetuning.tuned_models import tuned_card
from llmviz.models.costs import count
from llmviz.models.settings import GPTConfig
from tests.pages.harness import boxes, charts, fine_part, prose_of, sent

pytestmark = pytest.mark.usefixtures("ready")


def areas(app) -> dict:
    (found,) = (
        data for chart in charts(app) for data in chart["data"] if data["type"] == "treemap"
    )
    return found


def test_the_stages_say_what_the_cards_say_and_one_prompt_goes_through_three_models():
    app = fine_part("finetuning", "stages")
    told = prose_of(app)
    card, tuned = engine.card("tiny-world-gpt"), tuned_card("instructions")
    for number in (card["tokens"], tuned["trained_parameters"]):
        assert f"{number:,}" in told
    rows = sent(app, "case_rows")["rows"]
    values = [row["value"] for row in rows]
    assert values == [0, *chapter.read_and_taught()] and values[1] == card["tokens"]
    assert f"{values[1] / values[2]:,.0f} times as many" in told
    random, base, tuned = (row["label"][1][0] for row in rows)  # one prompt, three models
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


def test_only_what_begins_without_a_trained_value_is_called_new():
    """Of every way, the head is new, which the sentence of full fine-tuning leaves out."""
    from llmviz.models import GPT

    torch.manual_seed(0)
    base = GPT(GPTConfig(vocab_size=40, n_embd=8, n_head=2, n_layer=2, context_length=4))
    parts = parts_of(base, 3, "all")
    assert {part.path for part in parts if part.state == NEW} == {"head.linear"}
    assert "but those of the new head" in stages_words.what["all"]
    moved = {part.path for part in parts_of(base, 3, "last") if part.state == TRAINED}
    assert {path.partition(".")[0] for path in moved} == {"blocks", "norm_final"}
    assert "last norm" in stages_words.what["last"]
    beside = {part.path for part in parts_of(base, 3, "lora") if part.state == NEW}
    assert all(path.startswith(("blocks.", "head")) for path in beside)
    assert "matrix of the blocks" in stages_words.what["lora"]


@given(some.integers(1, 6), some.integers(0, 99))
def test_two_lists_of_two_tokens_are_not_compared(tokens, seed):
    """Any two lists of two numbers have a correlation of 1 or −1."""
    values = np.random.default_rng(seed).normal(size=(2, tokens))
    found = Reading(tuple(range(5, 5 + tokens)), np.array([0.5, 0.5]), 0, *values, 0)
    line = agreement(found, "tiny-world-gpt")
    assert bool(line) == (tokens > 2)
    if line:
        assert f"{np.corrcoef(*values)[0, 1]:z.2f}".replace("-", "−") in line


@pytest.mark.usefixtures("bundle")
def test_a_start_token_alone_is_not_compared():
    training.first_of.clear()
    app = fine_part("finetuning", "classifier", sentence="")
    text = prose_of(app)
    assert "The classifier says" in text and "their correlation" not in text


def best_shown(asked: Question) -> set[str]:
    """The colours that examples of the asked group show most often."""
    group = next(one for one in asked.rule.answers if asked.word in group_words(one))
    shown = Counter(colour for word, colour in asked.examples if word in group_words(group))
    return {colour for colour, number in shown.items() if number == max(shown.values())}


@settings(max_examples=150, deadline=None)
@given(some.integers(0, EXAMPLES), some.integers(FEWEST, MOST), some.data())
def test_a_prompt_that_does_not_tell_the_answer_says_so(examples, groups, data):
    wrong = data.draw(some.integers(0, examples))
    chance = random.Random(data.draw(some.integers(0, 999)))
    asked = draw_question(chance, examples, groups, wrong=wrong)
    line, best = fewshot.report(asked, own=False), best_shown(asked)
    assert ("No example here is of the group" in line) == (not best)
    assert ("the examples do not show that" in line) == (bool(best) and best != {asked.answer})
    assert (f"In {wrong} of the {examples} examples here the colour" in line) == (wrong > 0)
    if wrong == examples > 0:  # then every example of the group shows another colour
        assert asked.answer not in best


@pytest.mark.parametrize("texts", [source.COUNTED, source.COUNTED + 2])
def test_unknown_tokens_are_counted_in_the_texts_that_are_named(texts):
    """Of many texts only the first ones are looked at."""
    pairs = [("Zyx qwv" if n < 150 else "It rained.", "ab"[n % 2]) for n in range(texts)]
    line = source.unknown_line(Labelled.of(pairs), "words-gpt")
    assert (f"the first {source.COUNTED} texts" in line) == (texts > source.COUNTED)
    assert ("in these texts" in line) == (texts == source.COUNTED)


def test_what_is_scored_in_the_tuning_on_questions_is_not_the_answers_alone():
    """Plain stories are mixed in, and every token of them counts: most of what is scored."""
    from llmviz.files.paths import TUNED
    from llmviz.finetuning.recipes import TUNINGS
    from llmviz.training.reading import read_metrics

    plan, curve = TUNINGS["instructions"].plan, read_metrics(TUNED / "instructions")
    assert plan.mix > 0
    per_text = curve[-1].tokens / (plan.train.batch_size * curve[-1].step)
    assert per_text > 12  # an answer with its full stop and the end of the text is far shorter
    assert "Some plain stories were mixed in" in " ".join(str(stages_words.how_taught).split())
