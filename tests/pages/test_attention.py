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

from llmviz.course.lessons.attention import params
from llmviz.course.lessons.attention.inputs import model_on_text as real
from llmviz.course.lessons.attention.inputs import opening, sources
from llmviz.course.lessons.attention.inputs.sources import Inputs
from llmviz.course.lessons.attention.matrices import build
from llmviz.course.lessons.attention.steps import drawn_variant
from llmviz.course.ui import matrix_picture, model_on_text
from llmviz.course.ui.matrix_picture import Picture, scale_of
from llmviz.nn.attention import attention, causal_mask, dropout_mask, heads_off, variants
from llmviz.nn.attention.study import summarise_heads
from llmviz.trace import record
from tests.nn.reference import JOURNEY, W_K, W_Q, W_V, X, agrees
from tests.pages.attention_models import MODELS, TEXT
from tests.pages.attention_models import models as models


def head(x=X, w=(W_Q, W_K, W_V), tokens=("The", "cat", "sat")) -> Inputs:
    return Inputs(tuple(tokens), x, w)


def shown(picture: Picture, name: str) -> np.ndarray:
    return picture.matrix(name).values


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
        left, right = (np.broadcast_to(part, matrix.values.shape)[i, j] for part in of)
        return left * right, half * (abs(left) + abs(right))
    if op.kind == "turned":
        d = of[1].shape[1]
        pair, sign = (j + d, -1) if j < d else (j - d, 1)
        x, y, angle = of[0][i, j], of[0][i, pair], of[1][i, j % d]
        slack = half * (2 + abs(x) + abs(y))
        return x * np.cos(angle) + sign * y * np.sin(angle), slack
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
        made.append(build.simplified(inputs, variants.simplified(x)))
        again = torch.Generator().set_state(chance.get_state())
        one = variants.single_head(x, *w, mask, dropout=0.3, generator=chance).attention
        kept = dropout_mask(one.weights.shape, 0.3, again)
        made.append(build.one_head(inputs, one, scale_of(c), "later", 0.3, kept=kept))
        many = variants.multi_head(x, *w, 2, mask=mask)
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
        variants.causal_head(X, W_Q, W_K, W_V).attention,
        scale_of(4),
        matrix_picture.MASK_REASON,
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
    steps = variants.simplified(rows)
    row = [[0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581]]
    assert agrees(steps.weights[1:2], row, 4)
    assert agrees(steps.output[1:2], [[0.4419, 0.6515, 0.5683]], 4)


def rung_of_model(models, name: str, variant: str, layer: int = 1, number: int = 3):
    """The variant as the page draws it, and the trace of the layer that it is of."""
    bundled = models[name]
    ids = (0, *bundled.tokenizer.encode(TEXT))[:9]
    read = model_on_text.read_ids(ids, bundled)
    state = {"rung": variant, "p": 0.0, "seed": 0}
    with torch.inference_mode(), record() as trace:
        bundled.model(torch.tensor([ids]))
    return drawn_variant.of_model(state, bundled, read, (layer, number)), trace


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("layer", [0, 1])
def test_every_matrix_of_a_model_is_the_trace_entry_that_it_names(models, name, layer):
    made, trace = rung_of_model(models, name, "causal", layer)
    turned = " turned" if name == "rotary" else ""
    entries = {
        f"Q{turned}": "q", f"K{turned}": "k", "V": "v", "scores": "scores", "scaled": "scaled",
        "masked": "masked", "weights": "weights", "context": "output",
    }  # fmt: skip
    for matrix, tap in entries.items():
        expected = trace[f"blocks.{layer}.attn.{tap}"][0, 3].numpy()
        np.testing.assert_allclose(shown(made.picture, matrix), expected, atol=1e-4, err_msg=matrix)
    entry = f"blocks.{layer}.norm1"
    if name == "odd":  # its norm stands behind
        entry = f"blocks.{layer - 1}.residual" if layer else "embed"
    np.testing.assert_allclose(shown(made.picture, "X"), trace[entry][0], atol=1e-4)
    attn = models[name].model.blocks[layer].attn
    for letter, w in zip("QKV", attn.projections(3), strict=True):
        np.testing.assert_array_equal(shown(made.picture, f"W_{letter}"), w)


@pytest.mark.parametrize("name", MODELS)
def test_all_heads_of_a_model_are_the_trace_with_w_o_and_its_output(models, name):
    made, trace = rung_of_model(models, name, "heads")
    for matrix, tap in (("concat", "concat"), ("output", "projection")):
        expected = trace[f"blocks.1.attn.{tap}"][0].numpy()
        np.testing.assert_allclose(shown(made.picture, matrix), expected, atol=1e-4)
    for h, digit in enumerate("₀₁₂₃"):
        weights = shown(made.picture, f"weights{digit}")
        np.testing.assert_allclose(weights, trace["blocks.1.attn.weights"][0, h], atol=2e-5)
    drawn = {cell for row in made.picture.layout for cell in row}
    kinds = ["scores", "scaled", "masked", "weights", "context", "Q", "K", "V"]
    assert drawn >= {"X", "W_Q", "W_K", "W_V", "Q", "K", "V", "concat", "W_O", "output"}
    assert drawn >= {f"{kind}{digit}" for kind in kinds for digit in "₀₁₂₃"}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("variant", ["simple", "qkv", "causal", "heads"])
def test_the_expression_of_a_model_s_cells_evaluates_to_their_value(models, name, variant):
    chance = random.Random(0)
    picture = rung_of_model(models, name, variant)[0].picture
    for matrix in (m for m in picture.matrices if m.op is not None):
        for _ in range(4):
            i, j = (chance.randrange(size) for size in matrix.values.shape)
            value = float(matrix.values[i, j])
            if value == -math.inf:
                continue
            found, slack = evaluate(picture, matrix, i, j)
            assert found == pytest.approx(value, abs=slack + 1.1e-4), (matrix.name, i, j)


def test_queries_and_keys_turn_as_complex_numbers_do(models):
    picture = rung_of_model(models, "rotary", "causal")[0].picture
    angle = shown(picture, "angle")
    half = angle.shape[1]
    speeds = 10_000.0 ** (-np.arange(half) / half)
    np.testing.assert_allclose(angle, np.arange(len(angle))[:, None] * speeds, rtol=1e-5)
    for letter in "QK":
        before, after = shown(picture, letter), shown(picture, f"{letter} turned")
        numbers = (before[:, :half] + 1j * before[:, half:]) * np.exp(1j * angle)
        np.testing.assert_allclose(after, np.hstack([numbers.real, numbers.imag]), atol=1e-4)


def test_all_maps_are_the_trace_in_steps_of_1_255(models):
    bundled = models["narrow"]
    ids = (0, *bundled.tokenizer.encode(TEXT))
    maps, summary, logits, _ = real.all_maps(bundled, ids)
    with torch.inference_mode(), record("blocks.*.attn.weights") as trace:
        full = bundled.model(torch.tensor([ids]))[0]
    exact = torch.cat(list(trace.values())).numpy()
    assert np.abs(maps / 255 - exact).max() <= 0.5 / 255 + 2**-11  # half precision on the way
    again = summarise_heads(torch.from_numpy(exact), ids)
    for name, part in again._asdict().items():
        np.testing.assert_allclose(getattr(summary, name), part, atol=2e-3, err_msg=name)
    np.testing.assert_allclose(logits, full[0, -1].numpy(), atol=1e-5)


def test_shuffling_tokens_shuffles_the_output():
    order = torch.randperm(6, generator=torch.Generator().manual_seed(1))
    assert torch.allclose(
        variants.simplified(JOURNEY[order]).output, variants.simplified(JOURNEY).output[order]
    )
    w = [torch.eye(3, dtype=torch.float64)] * 3
    assert torch.allclose(
        variants.single_head(JOURNEY[order], *w).output,
        variants.single_head(JOURNEY, *w).output[order],
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
    by_page = opening.last_logits(bundled, ids, ((0, 1), (0, 3)))
    with torch.inference_mode(), heads_off([(0, 1), (0, 3)]):
        logits = bundled.model(torch.tensor([ids]))[0]
    np.testing.assert_allclose(by_page, logits[0, -1].numpy(), atol=1e-5)
