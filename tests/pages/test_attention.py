"""The lesson on attention without a browser: every matrix is what the library computes.

Models here are small and untrained: what a page draws of them must still be their trace.
What the in-page components draw is tested in the browser.
"""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
import torch

from llmviz.nn.attention import attention, causal_mask, heads_off
from llmviz.nn.attention import ladder as rungs
from llmviz.trace import record
from llmviz.ui.components import unpack
from llmviz.ui.lessons.attention import (
    build,
    heads,
    mask_effects,
    params,
    real,
    sources,
    words,
)
from llmviz.ui.lessons.attention.picture import Picture, scale_of
from llmviz.ui.lessons.attention.real import Read
from llmviz.ui.lessons.attention.sources import Inputs
from tests.nn.reference import JOURNEY, W_K, W_Q, W_V, X, agrees
from tests.pages.attention_models import TEXT
from tests.pages.attention_models import models as models
from tests.pages.harness import fine, open_part, prose_of


def head(x=X, w=(W_Q, W_K, W_V), tokens=("The", "cat", "sat")) -> Inputs:
    return Inputs(tuple(tokens), x, w)


def shown(picture: Picture, name: str) -> np.ndarray:
    return picture.matrix(name).values


# ---- what is drawn is what is computed


def evaluate(picture: Picture, matrix, i: int, j: int) -> tuple[float, float]:
    """Work a cell out from its operands rounded to the digits shown; also how far off that may be.

    An own reading of each operation, as the page writes it out.
    """
    op, digits = matrix.op, matrix.digits
    half = 0.5 * 10.0**-digits
    of = [np.round(np.asarray(picture.matrix(name).values, float), digits) for name in op.operands]
    if op.kind == "matmul":
        left = of[0][i]
        right = of[1][j] if op.params["transpose_b"] else of[1][:, j]
        bias = of[2][0, j] if len(of) > 2 else 0.0
        slack = half * (np.abs(left).sum() + np.abs(right).sum() + 1 + len(left) * half)
        return float(left @ right + bias), slack
    if op.kind == "scaled":
        by = op.params["by"]
        return of[0][i, j] * by, half * abs(by)
    if op.kind == "masked":
        return of[0][i, j], half
    if op.kind == "softmax_rows":
        raised = np.exp(of[0][i])
        return raised[j] / raised.sum(), 2 * half
    if op.kind == "dropout":
        kept = of[1][i, j]
        return of[0][i, j] / (1 - op.params["p"]) * kept, half / (1 - op.params["p"])
    if op.kind == "columns":
        return of[0][i, op.params["start"] + j], half
    if op.kind == "concat":
        return np.concatenate(of, axis=1)[i, j], half
    if op.kind == "multiply":
        return of[0][i, j] * of[1][i, j], 2 * half
    assert op.kind == "rows_normalised"
    return of[0][i, j] / of[0][i].sum(), 40 * half


def random_pictures() -> list[Picture]:
    chance = torch.Generator().manual_seed(4)
    made = []
    for t, c in ((3, 4), (5, 8), (1, 4), (6, 4)):
        x, *w = (
            torch.randn(*shape, generator=chance, dtype=torch.float64) * 0.6
            for shape in ((t, c), (c, c), (c, c), (c, c))
        )
        inputs = head(x, tuple(w), [f"t{i}" for i in range(t)])
        mask = causal_mask(t)
        made.append(build.simplified(inputs, rungs.simplified(x)))
        one = rungs.single_head(x, *w, mask, dropout=0.3, generator=chance).attention
        made.append(build.one_head(inputs, one, scale_of(c), "later", 0.3))
        many = rungs.multi_head(x, *w, 2, mask=mask)
        made.append(build.many_heads(inputs, many, 2, scale_of(c // 2)))
        for before in ("softmax_again", "leave", "renormalise"):
            wrong = attention(x, x, x, mask, softmax_before_mask=before)
            inputs = Inputs(inputs.tokens, x, tuple(w), given=(x, x, x))
            made.append(build.one_head(inputs, wrong, scale_of(c), "later", before=before))
            made[-1].matrices = [
                m for m in made[-1].matrices if m.name not in "XQKV" and "W_" not in m.name
            ] + [m for m in made[-1].matrices if m.name in "QKV" or "W_" in m.name]
    return made


def test_the_expression_of_200_random_cells_evaluates_to_the_value():
    chance = random.Random(0)
    pictures = random_pictures()
    done = 0
    while done < 200:
        picture = chance.choice(pictures)
        matrix = chance.choice([m for m in picture.matrices if m.op is not None])
        if matrix.name in ("Q", "K", "V") and picture.matrix("Q").values.shape == (0, 0):
            continue
        rows, columns = matrix.values.shape
        i, j = chance.randrange(rows), chance.randrange(columns)
        value = float(matrix.values[i, j])
        if given_directly(picture, matrix):
            continue
        done += 1
        if value == -math.inf:
            assert matrix.op.kind == "masked"
            continue
        found, slack = evaluate(picture, matrix, i, j)
        assert found == pytest.approx(value, abs=slack + 10.0**-matrix.digits), (matrix.name, i, j)


def given_directly(picture: Picture, matrix) -> bool:
    """Whether a test made Q, K and V without the matrices that stand before them."""
    return matrix.name in ("Q", "K", "V") and "softmax" in {m.name for m in picture.matrices}


def test_the_example_with_three_words_has_its_known_numbers():
    picture = build.one_head(
        head(),
        rungs.causal_head(X, W_Q, W_K, W_V).attention,
        scale_of(4),
        words.matrices.MASK_REASON,
    )
    known = {
        "Q": ([[0.5, 0.31, 0.54, 0.46], [0.53, 0.31, 0.49, 0.45], [0.365, 0.235, 0.275, 0.275]], 6),
        "scores": (
            [[0.5172, 0.5130, 0.37155], [0.5093, 0.5053, 0.36495], [0.33355, 0.33185, 0.236325]],
            6,
        ),
        "weights": ([[1, 0, 0], [0.5005, 0.4995, 0], [0.3388, 0.3385, 0.3227]], 4),
        "context": (
            [[0.07, 0.32, 0.32, 0.27], [0.08, 0.315, 0.315, 0.265], [0.08, 0.2714, 0.2763, 0.2505]],
            4,
        ),
    }
    for name, (expected, digits) in known.items():
        assert agrees(torch.from_numpy(shown(picture, name)), expected, digits), name


def test_the_bundled_examples_are_the_worked_ones():
    for key, expected in zip(params.MATRICES[:-1], (X, W_Q, W_K, W_V), strict=True):
        assert torch.equal(sources.tensor(sources.CAT[key]), expected)
    rows = torch.tensor(list(sources.JOURNEY.values()), dtype=torch.float64)
    assert torch.equal(rows, JOURNEY)
    steps = rungs.simplified(rows)
    row = [[0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581]]
    assert agrees(steps.weights[1:2], row, 4)
    assert agrees(steps.output[1:2], [[0.4419, 0.6515, 0.5683]], 4)


@pytest.mark.parametrize("name", ["narrow", "wide"])
@pytest.mark.parametrize("number", [0, 3])
def test_every_matrix_of_a_model_is_the_trace_entry_that_it_names(models, name, number):
    bundled = models[name]
    ids = (0, *bundled.tokenizer.encode(TEXT))[:9]
    read = Read(tuple(ids), tuple(real.names_of(ids, bundled.tokenizer)))
    inputs = real.model_head(bundled, read, 1, number)
    steps = attention(*inputs.qkv(), causal_mask(len(ids)))
    picture = build.one_head(inputs, steps, scale_of(inputs.qkv()[0].shape[1]), "later")
    with torch.inference_mode(), record("blocks.1.*") as trace:
        bundled.model(torch.tensor([ids]))
    entries = {
        "Q": "q", "K": "k", "V": "v", "scores": "scores", "scaled": "scaled",
        "masked": "masked", "weights": "weights", "context": "output",
    }  # fmt: skip
    for matrix, tap in entries.items():
        expected = trace[f"blocks.1.attn.{tap}"][0, number].numpy()
        np.testing.assert_allclose(shown(picture, matrix), expected, atol=2e-5, err_msg=matrix)
    names = {m.name for m in picture.matrices}
    assert ("X" in names) == (name == "narrow")
    if name == "narrow":
        np.testing.assert_array_equal(shown(picture, "X"), trace["blocks.1.norm1"][0].numpy())
        again = shown(picture, "X") @ shown(picture, "W_Q") + shown(picture, "b_Q")
        np.testing.assert_allclose(again, shown(picture, "Q"), atol=1e-5)


def test_all_maps_are_the_trace_in_steps_of_1_255(models):
    bundled = models["narrow"]
    ids = (0, *bundled.tokenizer.encode(TEXT))
    maps, logits = real.all_maps("narrow", "test", ids)
    with torch.inference_mode(), record("blocks.*.attn.weights") as trace:
        full = bundled.model(torch.tensor([ids]))[0]
    exact = torch.cat(list(trace.values())).numpy()
    assert np.abs(maps / 255 - exact).max() <= 0.5 / 255 + 1e-6
    np.testing.assert_allclose(logits, full[0, -1].numpy(), atol=1e-5)


def test_shuffling_tokens_shuffles_the_output():
    order = torch.randperm(6, generator=torch.Generator().manual_seed(1))
    assert torch.allclose(
        rungs.simplified(JOURNEY[order]).output, rungs.simplified(JOURNEY).output[order]
    )
    w = [torch.eye(3, dtype=torch.float64)] * 3
    assert torch.allclose(
        rungs.single_head(JOURNEY[order], *w).output, rungs.single_head(JOURNEY, *w).output[order]
    )


def test_heads_off_are_zeroed_columns(models):
    bundled = models["narrow"]
    ids = (0, *bundled.tokenizer.encode(TEXT))
    with torch.inference_mode(), record("blocks.0.attn.concat") as on:
        bundled.model(torch.tensor([ids]))
    with torch.inference_mode(), heads_off([(0, 1), (0, 3)]), record("blocks.0.attn.*") as off:
        bundled.model(torch.tensor([ids]))
    expected = on["blocks.0.attn.concat"].clone()
    expected[..., 4:8] = 0
    expected[..., 12:] = 0
    torch.testing.assert_close(off["blocks.0.attn.concat"], expected)
    by_page = heads.last_logits("narrow", "test", ids, ((0, 1), (0, 3)))
    with torch.inference_mode(), heads_off([(0, 1), (0, 3)]):
        logits = bundled.model(torch.tensor([ids]))[0]
    np.testing.assert_allclose(by_page, logits[0, -1].numpy(), atol=1e-5)


# ---- masks


def test_masks_and_their_mistakes_are_prose_of():
    app = open_part("attention", "masks", mask="off_by_one")
    assert "“The” now sees “cat”" in " ".join(m.value for m in app.markdown)
    fine(app)
    assert words.masks.MASK_TIGHT.replace("**", "")[:30] in prose_of(app).replace(
        "<strong>", ""
    ).replace("</strong>", "")
    again = open_part("attention", "masks", when="softmax_again")
    assert "they move by up to" in prose_of(again)
    same = open_part("attention", "masks", when="renormalise")
    assert words.masks.MASK_EQUAL in prose_of(same)
    low = open_part("attention", "masks", when="leave")
    assert "Row sums now: 0.34, 0.68, 1.00" in prose_of(low)


def test_the_leak_is_zero_for_the_right_order_only():
    mask = causal_mask(3)
    x = X @ W_Q
    for before, leaks in ((None, False), ("softmax_again", True), ("leave", True)):
        steps = attention(x, x, x, mask, softmax_before_mask=before)
        assert (mask_effects.leak(steps, mask, before) > 1e-5) == leaks, before
    steps = attention(x, x, x, mask, softmax_before_mask="renormalise")
    assert mask_effects.leak(steps, mask, "renormalise") < 1e-12


def test_a_wide_model_folds_x_and_w_away_until_asked(models):
    folded, unfolded = (
        matrices_of(
            open_part("attention", "steps", source="model", model="wide", text=TEXT, all=flag)
        )
        for flag in ("0", "1")
    )
    names = [{matrix["name"] for matrix in view} for view in (folded, unfolded)]
    assert {"X", "W_Q", "W_K", "W_V"} <= names[1] - names[0]
    assert {"Q", "K", "V", "scores", "weights", "context"} <= names[0]
    x, w, q = (
        next(m["values"] for m in unfolded if m["name"] == name) for name in ("X", "W_Q", "Q")
    )
    bias = next(m["values"] for m in unfolded if m["name"] == "b_Q")
    np.testing.assert_allclose(x @ w + bias, q, atol=1e-4)


def test_the_heads_of_an_example_are_projected():
    app = open_part("attention", "steps", rung="heads", wo="1,0,0,0;0,1,0,0;0,0,1,0;0,0,0,1")
    fine(app)
    views = {m["name"]: m["values"] for m in matrices_of(app)}
    np.testing.assert_array_equal(views["output"], views["concat"])
    halves = {
        m["name"]: m["values"] for m in matrices_of(open_part("attention", "steps", rung="heads"))
    }
    concat = halves["concat"]
    np.testing.assert_allclose(halves["output"][:, 0], (concat[:, 0] + concat[:, 2]) / 2, atol=1e-6)
    np.testing.assert_allclose(halves["output"][:, 2], (concat[:, 0] - concat[:, 2]) / 2, atol=1e-6)


def matrices_of(app) -> list[dict]:
    """The matrices of the first view on the page."""
    part = next(
        part.proto
        for part in app.get("bidi_component")
        if part.proto.component_name == "llmviz_matrix_view"
    )
    return unpack(part.bytes)["matrices"]


def test_the_mask_in_question_cannot_be_opened():
    app = open_part("attention", "masks")
    views = [
        unpack(part.proto.bytes)
        for part in app.get("bidi_component")
        if part.proto.component_name == "llmviz_matrix_view"
    ]
    (asked,) = views[-1]["matrices"]
    assert asked["name"] == "weights" and asked["op"] is None
    assert np.isfinite(asked["values"]).all()
