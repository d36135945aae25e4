"""The chapter on examples in the prompt: two models asked, heads that look, curves, own prompts."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

from llmviz.corpus.rules import ANSWERS
from llmviz.course.lessons.finetuning.fewshot import accuracy, heads, prompt
from llmviz.course.lessons.finetuning.fewshot.model import SHOTS, WRONG, Look, Share
from llmviz.course.lessons.finetuning.tuned_model import base, tuned
from llmviz.course.ui.common import percent
from llmviz.finetuning.fewshot import best_possible
from tests.pages.finished_job import FakeJob
from tests.pages.harness import boxes, charts, fine, open_part, prose_of, sent

OWN = "apples red, hammer blue, pears red, plums"


@pytest.fixture(scope="module")
def opened():
    return open_part("finetuning", "fewshot", ownrule=OWN)


def test_both_models_are_asked_for_the_next_token(opened):
    fine(opened)
    board = sent(opened, "paired_bars")
    tokenizer = base().tokenizer
    idx = torch.tensor([tokenizer.encode_from_start(OWN)])
    for model, shown in (
        (tuned("few-shot").model, board["before"]),
        (base().model, board["after"]),
    ):
        with torch.inference_mode():
            p = model(idx)[0][0, -1].softmax(-1)
        for label, value in zip(board["labels"], shown, strict=True):
            (token, *_) = tokenizer.encode(f" {label}")
            assert value == pytest.approx(float(p[token]), abs=1e-5)
    assert "red" in board["labels"]
    assert "fruits are red, tools are blue" in prose_of(opened)


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
    app = open_part("finetuning", "fewshot", ownrule=own)
    fine(app)
    assert rule in boxes(app)
    assert own in [one.value for one in app.text_input]
    assert app.get("plotly_chart")  # the curves do not depend on it


def test_a_prompt_without_examples_has_no_colour_to_look_at():
    app = open_part("finetuning", "fewshot", shots="0", wrong="5")
    fine(app)
    assert "no examples in this prompt" in boxes(app)


@given(some.text(max_size=6))
def test_any_link_names_a_head_that_is_there(written):
    found = Look((1, 2), np.zeros((3, 2, 2, 2)), np.eye(3, 2), np.zeros((3, 2)), 0.5, np.eye(3, 2))
    layer, head = heads.chosen(written, found)
    assert 0 <= layer < 3 and 0 <= head < 2


@given(some.lists(some.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=6, max_size=6))
def test_what_is_told_of_the_induction_head_is_so(shares):
    induction = np.array(shares).reshape(3, 2)
    found = Look((1, 2), np.zeros((3, 2, 2, 2)), np.eye(3, 2), np.zeros((3, 2)), 0.5, induction)
    for layer in range(3):
        for head in range(2):
            line = heads.induction_told(found, found, layer, head)
            best = induction[layer, head] == induction.max()
            assert ("no head does that more" in line) == best
            assert percent(induction[layer, head]) in line and percent(induction.max()) in line
    none = found._replace(induction=np.full((3, 2), np.nan))
    assert heads.induction_told(none, none, 0, 0) == ""


def test_the_last_word_of_a_drawn_prompt_looks_at_its_own_groups_colours():
    """What the chapter shows: over prompts, the strongest head looks there more than evenly."""
    more = []
    for seed in range(1, 7):
        asked = prompt.drawn(seed, 8, 2, 0)
        found = heads.looks(tuned(prompt.TUNED), asked)
        layer, head = heads.chosen("", found)
        more.append(float(found.same[layer, head]) / found.even)
    assert np.median(more) > 2


def measured() -> list[Share]:
    plain = [
        Share(name, examples, 0, share, 150)
        for examples in SHOTS
        for name, share in (("few-shot", examples / 15), ("tiny-world-gpt", 0.01))
    ]
    return plain + [Share("few-shot", 8, wrong, 0.5 - wrong / 20, 150) for wrong in WRONG[1:]]


def test_what_was_measured_is_drawn_and_told(monkeypatch):
    job = FakeJob(measured())
    monkeypatch.setattr(accuracy, "curves_of", lambda: job)
    app = open_part("finetuning", "fewshot", curves="1")
    fine(app)
    text = prose_of(app)
    assert (
        "1.00\u00a0% to 1.00\u00a0% of the prompts" in text and "53.3\u00a0% of the prompts" in text
    )
    assert "With 4 of 8 examples wrong, the taught model is right in 30.0\u00a0%" in text
    by_examples, by_wrong = charts(app)
    names = [one["name"] for one in by_examples["data"]]
    assert len(names) == 3
    np.testing.assert_allclose(
        by_examples["data"][2]["y"], [best_possible(k, 2) for k in SHOTS], atol=1e-9
    )
    assert by_wrong["data"][0]["x"] == list(WRONG)
    assert "<strong>cannot</strong>" in text
    better = [Share(one.model, one.examples, 0, 0.5, 150) for one in measured() if not one.wrong]
    assert "cannot" not in accuracy.report(tuple(better), 10)  # which a random choice reaches


def test_before_it_is_measured_the_cards_numbers_are_drawn(opened):
    (chart,) = charts(opened)
    from llmviz.finetuning.tuned_models import tuned_card

    card = tuned_card("few-shot")["accuracy_by_examples"]
    assert dict(zip(chart["data"][0]["x"], chart["data"][0]["y"], strict=True)) == {
        float(key): value for key, value in card.items()
    }
    assert len(ANSWERS) == 20


def test_examples_that_contradict_each_other_have_no_right_answer():
    app = open_part("finetuning", "fewshot", ownrule="coat red, hat blue, cap")
    fine(app)
    said = prose_of(app)
    assert "contradict each other: they show red and blue equally often" in said
    assert "should be" not in said and "right colour" not in said
    more = prose_of(open_part("finetuning", "fewshot", ownrule="coat red, hat blue, gown red, cap"))
    assert "contradict" not in more and "should be <strong>red" in more and "right colour" in more


def test_no_colour_is_said_with_a_probability_of_0():
    assert prompt.share(0.00004) == "less than 0.01 %" and prompt.share(0.0001) == percent(0.0001)
    for seed in ("1", "2", "3"):
        assert " 0.00\u00a0%" not in prose_of(open_part("finetuning", "fewshot", drawing=seed))


def test_large_models_are_said_to_read_rules_without_such_a_training(opened):
    assert "Large models learn it from their texts alone" in prose_of(opened)
