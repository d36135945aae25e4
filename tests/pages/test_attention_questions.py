"""The questions of the lesson on attention: what they ask for is covered until it is answered."""

from __future__ import annotations

import numpy as np
import pytest

from llmviz.course.lessons.attention.heads import switching
from llmviz.course.lessons.attention.inputs import model_on_text as real
from llmviz.course.lessons.attention.inputs import opening
from llmviz.course.lessons.attention.masks import words as masks_words
from llmviz.course.lessons.attention.trained import words as trained_words
from tests.pages.attention_models import TEXT, matrices_of, views_of
from tests.pages.attention_models import models as models
from tests.pages.harness import choose_answer, fine, open_part, prose_of, sent


def hidden_cells(app) -> dict[str, list]:
    return {m["name"]: m["hidden"] for m in matrices_of(app) if m["hidden"]}


@pytest.mark.parametrize("rung", ["simple", "causal", "dropout", "heads"])
@pytest.mark.parametrize("source", ["journey", "model"])
def test_the_cell_in_question_is_covered_until_it_is_answered(rung, source, covers):
    link = {"source": source, "rung": rung, "model": "narrow", "text": "the cat and the dog"}
    app = open_part("attention", "steps", **link)
    fine(app)
    found = hidden_cells(app)
    if (source, rung) == ("model", "simple"):  # long vectors leave nothing to others
        last = next(m["values"] for m in matrices_of(app) if m["name"] == "weights")[-1]
        assert not found and not app.radio and last[-1] > 0.99
        return
    weights = next(name for name in found if name.startswith("weights"))
    ((row, column),) = found[weights]
    values = next(m["values"] for m in matrices_of(app) if m["name"] == weights)
    assert row == len(values) - 1 and column != values[row].argmax()  # the largest is said in words
    assert all(cells == [[row, column]] for cells in found.values())
    if rung == "dropout":
        assert set(found) == {"weights", "dropped"}
    (asked,) = app.radio
    right = [answer for answer in asked.options if f"{values[row, column]:.3f}" == answer]
    offered = sorted(float(answer.replace("−", "-")) for answer in asked.options)
    apart = np.abs(np.delete(offered, offered.index(float(right[0]))) - values[row, column])
    assert apart.min() > 0.0035  # no two that differ by rounding alone
    choose_answer(app.radio[0], right[0])
    app.run()
    fine(app)
    assert hidden_cells(app) == {}
    assert [box.value for box in app.success] == ["Right."]


def test_too_few_tokens_or_equal_weights_ask_nothing():
    for words_typed in ("step", "step one"):
        app = open_part("attention", "steps", source="journey", words=words_typed)
        fine(app)
        assert hidden_cells(app) == {} and not app.radio


def test_the_head_in_question_does_not_travel_until_it_is_answered(models, covers):
    app = open_part("attention", "trained", model="narrow", text=TEXT)
    grid = sent(app, "heads_grid")
    layer, head = grid["covered"]
    assert [layer, head] != grid["chosen"]
    assert not grid["cells"][layer, head].any() and grid["cells"].any(-1).sum() == 7
    assert grid["notes"][layer][head] == trained_words.covered
    app.radio[0].set_value(0).run()
    fine(app)
    grid = sent(app, "heads_grid")
    bundled = models["narrow"]
    ids = (bundled.tokenizer.special_tokens["<|endoftext|>"], *bundled.tokenizer.encode(TEXT))[:24]
    maps = real.all_maps(bundled, ids).maps
    assert grid["covered"] is None
    inside = np.tril_indices(len(ids))
    np.testing.assert_array_equal(grid["cells"][layer, head], maps[layer, head][inside])


@pytest.mark.parametrize("mask", list(masks_words.masks))
def test_the_mask_in_question_is_not_the_one_above(mask):
    app = open_part("attention", "masks", mask=mask, own="111.111.111")
    fine(app)
    right = {"causal": np.tril(np.ones((4, 4))), "none": np.ones((4, 4))}
    right["off_by_one"] = np.tril(np.ones((4, 4)), 1)
    right["padding"] = np.broadcast_to(np.arange(4) < 2, (4, 4))
    right["sliding"] = np.triu(right["causal"], -1)
    (asked,) = views_of(app)[-1]["matrices"]
    if mask in right:
        assert not np.array_equal(asked["values"] > 0, right[mask] > 0)


def test_the_spread_is_asked_for_at_every_size_with_answers_of_its_own():
    asked = set()
    for size in ("1", "64", "256", "512"):
        app = open_part("attention", "scale", size=size)
        fine(app)
        assert len(app.radio) == 1, size
        asked.add(tuple(app.radio[0].options))
    assert len(asked) == 4


def test_the_head_that_matters_most_is_told_after_the_question(covers, models):
    app = open_part("attention", "heads", model="narrow", text=TEXT)
    fine(app)
    assert "Each head was switched off alone" not in prose_of(app)
    bundled = models["narrow"]
    ids = (bundled.tokenizer.special_tokens["<|endoftext|>"], *bundled.tokenizer.encode(TEXT))[:24]
    worth = opening.worth_of_heads(bundled, ids)
    best = "layer {}, head {}".format(*np.unravel_index(worth.argmax(), worth.shape))
    asked = next(radio for radio in app.radio if best in radio.options)
    choose_answer(asked, best)
    app.run()
    assert [box.value for box in app.success] == ["Right."]
    assert "Each head was switched off alone" in prose_of(app)
    made = switching.question(worth, "x")
    assert len(made.answers) in (3, 4) and made.answers[made.right] == best
    assert switching.question(worth[:, :1], "x") is None
