"""The chapter on examples in the prompt: two models asked, heads that look, curves, own prompts."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as some

from llmviz.course.lessons.finetuning.fewshot import chapter
from llmviz.course.lessons.finetuning.fewshot.model import Look
from llmviz.course.lessons.finetuning.tuned_model import base, tuned
from llmviz.finetuning.fewshot import best_possible
from llmviz.finetuning.tuned_models import tuned_card
from tests.pages.harness import boxes, fine_part, prose_of, sent

OWN = "apples red, hammer blue, pears red, plums"


@pytest.fixture(scope="module")
def opened():
    return fine_part("finetuning", "fewshot", ownrule=OWN)


def test_both_models_are_asked_for_the_next_token(opened):
    rows = sent(opened, "case_rows")["rows"]
    tokenizer = base().tokenizer
    idx = torch.tensor([tokenizer.encode_from_start(OWN)])
    told = 0
    for model, name in ((tuned("few-shot").model, "taught"), (base().model, "story")):
        with torch.inference_mode():
            p = model(idx)[0][0, -1].softmax(-1)
        for row in rows:
            (who, _), (colour, _) = row["label"]
            if who.startswith(name):
                told += 1
                assert row["value"] == pytest.approx(
                    float(p[tokenizer.encode(f" {colour}")[0]]), abs=1e-5
                )
    assert told == len(rows) >= 2 and "red" in str(rows)
    assert "red for fruits, blue for tools" in prose_of(opened)


def test_the_heads_are_the_taught_models_on_the_prompt(opened):
    from llmviz.trace import record

    grid = sent(opened, "heads_grid")
    idx = torch.tensor([base().tokenizer.encode_from_start(OWN)])
    with torch.inference_mode(), record("blocks.*.attn.weights") as trace:
        tuned("few-shot").model(idx)
    weights = np.stack([one[0].numpy() for one in trace.values()])
    rows, columns = np.tril_indices(idx.shape[1])
    np.testing.assert_allclose(grid["cells"], 255 * weights[:, :, rows, columns], atol=0.51)


@pytest.mark.parametrize(
    ("own", "rule"),
    [
        ("xylograph red, plums", "not 'xylograph'"),
        ("apples loud, plums", "must be one of red"),
        ("<b>x</b> red, plums", "not '<b>x</b>'"),
        ("apples red, \x00", "must"),
        ("apples red,", "ends with nothing"),
    ],
)
def test_own_examples_that_cannot_be_used_are_refused_and_stay_in_the_box(own, rule):
    app = fine_part("finetuning", "fewshot", ownrule=own)
    assert rule in boxes(app)
    assert own in [one.value for one in app.text_input]
    assert sent(app, "draw_on")["lines"]  # the curve does not depend on it


def test_a_prompt_without_examples_has_no_colour_to_look_at():
    app = fine_part("finetuning", "fewshot", shots="0", wrong="5")
    assert "no examples in this prompt" in boxes(app)
    assert "With no example before the word" in prose_of(app)


@given(some.text(max_size=6))
def test_any_link_names_a_head_that_is_there(written):
    found = Look((1, 2), np.zeros((3, 2, 2, 2)), np.eye(3, 2), np.zeros((3, 2)), 0.5)
    layer, head = chapter.chosen(written, found)
    assert 0 <= layer < 3 and 0 <= head < 2


def test_the_last_word_of_a_drawn_prompt_looks_at_its_own_groups_colours():
    """What the chapter shows: over prompts, the strongest head looks there more than evenly."""
    more = []
    for seed in range(1, 7):
        asked = chapter.drawn(seed, 8, 2, 0)
        found = chapter.looks(tuned(chapter.TUNED), asked)
        layer, head = chapter.chosen("", found)
        more.append(float(found.same[layer, head]) / found.even)
    assert np.median(more) > 2


def test_the_cards_numbers_are_drawn_and_asked_for(opened):
    card = tuned_card("few-shot")["accuracy_by_examples"]
    best, taught = sent(opened, "draw_on")["lines"]
    assert list(taught["x"]) == [float(key) for key in card]
    np.testing.assert_allclose(taught["y"], list(card.values()), atol=1e-6)
    np.testing.assert_allclose(best["y"], [best_possible(int(k), 2) for k in card], atol=1e-6)
    asked = chapter.question(tuple((int(key), share) for key, share in card.items()))
    assert list(asked.values[asked.right]) == list(card.values())[1:]


@given(some.lists(some.floats(0, 1), min_size=3, max_size=6))
@example([0.02431899270234595, 0.0, 1.0, 0.0])  # a line to 0, which rounding took below it
def test_the_lines_that_are_asked_for_lie_apart(shares):
    asked = chapter.question(tuple(enumerate(shares)))
    if asked is None:
        return
    right = np.array(asked.values[asked.right])
    for at, line in enumerate(asked.values):
        assert at == asked.right or np.abs(right - line).sum() >= chapter.APART
        assert len(line) == len(shares) - 1 and min(line) >= 0 and max(line) <= 1 + 1e-9


def test_examples_that_contradict_each_other_have_no_right_answer():
    app = fine_part("finetuning", "fewshot", ownrule="coat red, hat blue, cap")
    said = prose_of(app)
    assert "contradict each other: they show red and blue equally often" in said
    assert "should be" not in said
    more = prose_of(fine_part("finetuning", "fewshot", ownrule="coat red, hat blue, gown red, cap"))
    assert "contradict" not in more and "should be <strong>red" in more


def test_large_models_are_said_to_read_rules_without_such_a_training(opened):
    assert "Large models pick this up from their texts alone" in " ".join(prose_of(opened).split())
