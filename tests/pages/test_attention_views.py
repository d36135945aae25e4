"""The lesson on attention, what stands on its page: masks, windows, code, models of every kind."""

from __future__ import annotations

import ast

import numpy as np
import pytest
import torch

from llmviz.course.document.marks import unmarked
from llmviz.course.figures.attention import Axes, against_size
from llmviz.course.figures.theme import INK
from llmviz.course.lessons.attention import params
from llmviz.course.lessons.attention.heads import query_heads
from llmviz.course.lessons.attention.heads import words as heads_words
from llmviz.course.lessons.attention.masks import chapter as mask_chapter
from llmviz.course.lessons.attention.masks import words as masks_words
from llmviz.course.ui.furniture import words as furniture
from llmviz.nn.attention import attention, causal_mask
from llmviz.trace import record
from tests.nn.reference import W_K, W_Q, X
from tests.pages.attention_models import MODELS, TEXT, matrices_of, views_of
from tests.pages.attention_models import models as models
from tests.pages.harness import (
    fine,
    fine_part,
    press,
    prose_of,
    run_snippet,
    snippets,
    unpack_all,
)


def test_masks_and_their_mistakes_are_prose_of():
    app = fine_part("attention", "masks", mask="off_by_one")
    assert "The weights differ from the right ones" in prose_of(app)
    fine(app)
    assert unmarked(masks_words.mask_tight)[:30] in prose_of(app).replace("<strong>", "").replace(
        "</strong>", ""
    )
    again = fine_part("attention", "masks", when="softmax_again")
    leaks = unmarked(masks_words.mask_leak).partition("{")[0]
    assert leaks in prose_of(again).replace("<strong>", "").replace("</strong>", "")
    same = fine_part("attention", "masks", when="renormalise")
    assert masks_words.mask_equal in prose_of(same)
    low = fine_part("attention", "masks", source="cat", when="leave")
    assert "Row sums now: 0.34, 0.68, 1.00" in prose_of(low)


@pytest.mark.parametrize("change", [0.4987, 0.0069212, 2.4e-5, 3.3e-9])
def test_a_change_has_its_first_digits(change):
    assert float(mask_chapter.digits(change)) == pytest.approx(change, rel=0.005)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_line_of_the_highest_entropy_is_seen_in_both_themes(mode):
    one = {"x": np.ones(2)}
    figure = against_size([1, 2], one, Axes("d", "nats"), level=(2.8, "most"), mode=mode)
    assert figure.layout.shapes[0].line.color == INK[mode]["muted"]


def test_the_leak_is_zero_for_the_right_order_only():
    mask = causal_mask(3)
    x = X @ W_Q
    for before, leaks in ((None, False), ("softmax_again", True), ("leave", True)):
        steps = attention(x, x, x, mask, softmax_before_mask=before)
        assert (mask_chapter.leak(steps, mask, before) > 1e-5) == leaks, before
    steps = attention(x, x, x, mask, softmax_before_mask="renormalise")
    assert mask_chapter.leak(steps, mask, "renormalise") < 1e-12


def test_a_wide_matrix_is_sent_whole_and_seen_through_a_window_that_the_link_moves(models):
    link = {"source": "model", "model": "wide", "text": TEXT}
    app = fine_part("attention", "steps", rung="causal", seen="C.90,N.7,D.3,x", **link)
    view = views_of(app)[0]
    assert view["windows"] == {"C": {"size": 96, "show": 4}, "N": {"size": 24, "show": 4}}
    assert view["window"] == [["C", 90], ["N", 7]]
    made = {matrix["name"]: matrix for matrix in view["matrices"]}
    x, w, q, bias = (made[name]["values"] for name in ("X", "W_Q", "Q", "b_Q"))
    np.testing.assert_allclose(x @ w + bias, q, atol=1e-4)
    assert made["W_Q"]["windows"] == ["C", "N"] and made["scores"]["windows"] == ["", ""]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("part", ["steps", "masks", "heads"])
def test_models_of_every_kind_are_drawn(models, name, part):
    app = fine_part("attention", part, source="model", model=name, rung="heads", text=TEXT)
    for snippet, prints in snippets(app):
        assert run_snippet(snippet).strip() == prints
    assert len(snippets(app)) == (2 if part == "heads" else 1)
    if part == "heads":
        drawn = {m["name"]: m["values"] for view in views_of(app) for m in view["matrices"]}
        bundled, layer = models[name], snippets(app)[0][0].partition("blocks.")[2][0]
        ids = [bundled.tokenizer.special_tokens["<|endoftext|>"], *bundled.tokenizer.encode(TEXT)]
        with torch.inference_mode(), record(f"blocks.{layer}.attn.weights") as trace:
            bundled.model(torch.tensor([ids[: params.DRAWN]]))
        expected = trace[f"blocks.{layer}.attn.weights"][0]
        for h, weights in enumerate(expected):
            np.testing.assert_allclose(drawn[f"weights{h}"], weights, atol=2e-5)
    if part == "steps":
        assert furniture.positions[models[name].model.config.positions] in prose_of(app)


@pytest.mark.parametrize(
    ("source", "variant"),
    [
        *(("cat", variant) for variant in ("simple", "qkv", "dropout", "heads")),
        *(("model", variant) for variant in ("simple", "qkv", "dropout")),
    ],
)
def test_the_code_of_a_rung_prints_the_last_row_of_every_step_drawn(source, variant):
    link = {"model": "rotary", "text": TEXT, "seed": "3", "p": "0.3"}
    app = fine_part("attention", "steps", source=source, rung=variant, **link)
    ((snippet, prints),) = snippets(app)
    assert run_snippet(snippet).strip() == prints
    drawn = {matrix["name"]: matrix["values"][-1] for matrix in matrices_of(app)}
    seen = {"scores", "weights", "context", *({"dropped"} if variant == "dropout" else ())}
    for line in prints.splitlines():
        name, row = line.split(" ", 1)
        name = "context" if name == "output" else name
        values = [float(x) for x in ast.literal_eval(row)]
        matrix = drawn[f"{name}₀" if variant == "heads" else name]
        np.testing.assert_allclose(values, matrix[: len(values)], atol=6e-3)
        seen.discard(name)
    assert not seen


def test_what_dropout_keeps_is_told_and_drawn():
    app = fine_part("attention", "steps", rung="dropout", seed="0")
    made = {matrix["name"]: matrix for matrix in matrices_of(app)}
    kept, weights, dropped = (made[name]["values"] for name in ("kept", "weights", "dropped"))
    drawn = torch.rand(3, 3, generator=torch.Generator().manual_seed(0)) >= 0.5
    np.testing.assert_array_equal(kept, drawn)
    np.testing.assert_allclose(dropped, weights * kept / 0.5)
    left, there = int((kept * (weights > 0)).sum()), int((weights > 0).sum())
    assert f"Dropout has kept {left} of the {there} weights" in prose_of(app)
    for name, total in zip(("The", "cat", "sat"), dropped.sum(-1), strict=True):
        told = prose_of(app).partition("Rows in which no weight is left")[2].partition("</p>")[0]
        assert (total == 0) == (f"<code>{name}</code>" in told)


def test_the_heads_of_an_example_are_projected():
    link = {"source": "cat", "rung": "heads"}
    app = fine_part("attention", "steps", wo="1,0,0,0;0,1,0,0;0,0,1,0;0,0,0,1", **link)
    views = {m["name"]: m["values"] for m in matrices_of(app)}
    np.testing.assert_array_equal(views["output"], views["concat"])
    halves = {m["name"]: m["values"] for m in matrices_of(fine_part("attention", "steps", **link))}
    concat = halves["concat"]
    np.testing.assert_allclose(halves["output"][:, 0], (concat[:, 0] + concat[:, 2]) / 2, atol=1e-6)
    np.testing.assert_allclose(halves["output"][:, 2], (concat[:, 0] - concat[:, 2]) / 2, atol=1e-6)


@pytest.mark.parametrize("name", ["", "narrow", "rotary"])
def test_heads_that_compare_all_columns_are_all_the_same(models, name):
    link = {"source": "model", "model": name, "text": TEXT} if name else {"source": "cat"}
    drawn = {}
    for columns in ("own", "all"):
        app = fine_part("attention", "heads", columns=columns, **link)
        made = {m["name"]: m["values"] for view in views_of(app) for m in view["matrices"]}
        drawn[columns] = made
        bias = made.get("b_O", 0)
        np.testing.assert_allclose(made["concat"] @ made["W_O"] + bias, made["output"], atol=1e-4)
        mistake = heads_words.all.partition("mistake:")[2][2:].partition("{")[0]
        assert (mistake in prose_of(app).replace("\n", " ")) == (columns == "all")
        shown = [block.value for block in app.code]
        assert any("part.expand(n_head, " in code for code in shown) == (columns == "all")
    right, wrong = drawn["own"], drawn["all"]
    np.testing.assert_array_equal(wrong["weights0"], wrong["weights1"])
    assert not np.array_equal(right["weights0"], right["weights1"])
    if not name:  # the sum over the heads' columns is the sum over all
        q, k = right["Q"], (X @ W_K).numpy()
        np.testing.assert_allclose(
            wrong["masked0"][2], (q @ k.T)[2] / np.sqrt(q.shape[1] / 2), atol=1e-6
        )
        assert "weights1" in right and "weights2" not in right  # two heads


def hidden_cells(app) -> dict[str, list]:
    return {m["name"]: m["hidden"] for m in matrices_of(app) if m["hidden"]}


@pytest.mark.parametrize("variant", ["simple", "causal", "dropout", "heads"])
@pytest.mark.parametrize("source", ["roles", "journey", "model"])
def test_the_shares_in_question_are_covered_until_one_is_guessed(variant, source, covers):
    link = {"source": source, "rung": variant, "model": "narrow", "text": "the cat and the dog"}
    app = fine_part("attention", "steps", **link)
    found, rows = hidden_cells(app), unpack_all(app, "case_rows")[0]["rows"]
    if not found:  # one word has all, say
        assert all(row["value"] is not None for row in rows)
        return
    assert all(row["value"] is None for row in rows)
    weights = next(name for name in found if name.startswith("weights"))
    size = len(rows)
    assert found[weights] == [[size - 1, column] for column in range(size)]
    assert all({row for row, _ in cells} == {size - 1} for cells in found.values())
    values = next(m["values"] for m in matrices_of(app) if m["name"] == weights)
    press(app, "Show me without an answer")
    assert hidden_cells(app) == {}
    told = [row["value"] for row in unpack_all(app, "case_rows")[0]["rows"]]
    np.testing.assert_allclose(told, values[-1], atol=1e-6)


def test_too_few_tokens_or_equal_weights_ask_nothing():
    for words_typed in ("step", "step one"):
        app = fine_part("attention", "steps", source="journey", words=words_typed)
        assert hidden_cells(app) == {} and not app.radio


@pytest.mark.parametrize("size", ["1", "64", "512"])
def test_no_share_of_a_larger_head_travels_until_one_is_guessed(covers, size):
    app = fine_part("attention", "steps", size=size)
    rows = {row["label"][0][0]: row["value"] for row in unpack_all(app, "case_rows")[-1]["rows"]}
    assert {name for name, value in rows.items() if value is not None} == {
        "d = 1",
        "d = 4",
        "d = 16",
    }
    [*_, last] = (one for one in app.button if one.label == "Show me without an answer")
    last.click().run()
    fine(app)
    assert all(row["value"] for row in unpack_all(app, "case_rows")[-1]["rows"])


def test_only_the_heads_that_tell_do_not_travel_until_it_is_answered(covers, monkeypatch):
    monkeypatch.setattr(query_heads, "puzzle", lambda weights, tokens, thing: [1])
    app = fine_part("attention", "heads")
    (drawn,) = matrices_of(app)
    assert list(drawn["values"].any(1)) == [head != 1 for head in range(len(drawn["values"]))]
    press(app, "Show me without an answer")
    values = matrices_of(app)[0]["values"]
    assert values.any(1).all() and np.allclose(values.sum(1), 1, atol=0.1)
