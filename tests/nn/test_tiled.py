"""Attention tile by tile equals the whole, and moves as many numbers as the formulas say."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from llmviz.nn.attention import (
    attention,
    attention_tiled,
    causal_mask,
    padding_mask,
    sliding_window_mask,
    tile_steps,
)
from llmviz.nn.attention.traffic import (
    Traffic,
    matrix_traffic,
    square_tile,
    tile_numbers,
    tile_traffic,
)


def drawn(*shape: int, seed: int, size: float = 1.0, dtype=torch.float64) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return (size * torch.randn(*shape, generator=generator, dtype=torch.float64)).to(dtype)


@settings(max_examples=150)
@given(
    t=st.integers(1, 9),
    s=st.integers(1, 9),
    rows=st.integers(1, 10),
    columns=st.integers(1, 10),
    size=st.sampled_from([0.0, 1.0, 30.0, 300.0, 1e150]),
    dtype=st.sampled_from([torch.float64, torch.float32]),
    masked=st.booleans(),
    seed=st.integers(0, 10_000),
)
def test_tiles_of_any_size_give_what_the_whole_gives(
    t, s, rows, columns, size, dtype, masked, seed
):
    q, k = (drawn(2, n, 3, seed=seed + i, size=size) for i, n in enumerate((t, s)))
    if dtype == torch.float32 and size > 1:  # whole numbers: their products are exact in any order
        q, k = (part.clamp(-900, 900).round() for part in (q, k))
    q, k, v = (part.to(dtype) for part in (q, k, drawn(2, s, 3, seed=seed + 2)))
    mask = None
    if masked:
        mask = drawn(2, t, s, seed=seed + 3) > 0.3
        mask[..., seed % s] = True
    whole = attention(q, k, v, mask).output
    assert whole.isfinite().all()
    tiled = attention_tiled(q, k, v, rows, columns, mask)
    assert tiled.dtype == dtype
    close = 1e-10 if dtype == torch.float64 else 1e-6
    torch.testing.assert_close(tiled, whole, rtol=close, atol=close)


@pytest.mark.parametrize("columns", [1, 2, 3, 7])
def test_every_step_is_the_softmax_of_what_was_seen(columns):
    """After each tile the output is whole attention over the columns up to there."""
    q, k, v = (drawn(7, 4, seed=seed) for seed in range(3))
    for step in tile_steps(q, k, v, 3, columns):
        end = step.columns.stop
        scaled = q[step.rows] @ k[:end].T / 2
        torch.testing.assert_close(step.maximum, scaled.amax(-1))
        torch.testing.assert_close(step.total.log() + step.maximum, scaled.logsumexp(-1))
        torch.testing.assert_close(step.output, attention(q[step.rows], k[:end], v[:end]).output)
        torch.testing.assert_close(step.scores, scaled[:, step.columns])
        if step.columns.start:
            torch.testing.assert_close(
                step.rescale, (step.maximum_before - step.maximum).exp(), rtol=0, atol=0
            )
        else:
            assert (step.rescale == 0).all() and (step.total_before == 0).all()
        assert (step.rescale <= 1).all() and (step.exponentials <= 1).all()


@pytest.mark.parametrize(
    ("mask", "causal", "same"),
    [
        (None, True, causal_mask(6)),
        (sliding_window_mask(6, 2), False, sliding_window_mask(6, 2)),
        (padding_mask([2, 5], 6), True, padding_mask([2, 5], 6) & causal_mask(6)),
        (torch.tensor([True] * 5 + [False]), False, torch.tensor([True] * 5 + [False])),
    ],
    ids=["causal", "window", "padding and causal", "one row for all"],
)
def test_masks_and_gradients(mask, causal, same):
    """Rows that may look at nothing in their first tiles are among them."""
    ours, theirs = (
        [drawn(2, 3, 6, 4, seed=seed).requires_grad_() for seed in range(3)] for _ in range(2)
    )
    found = attention_tiled(*ours, 2, 2, mask, causal=causal)
    expected = attention(*theirs, same).output
    torch.testing.assert_close(found, expected)
    upstream = drawn(2, 3, 6, 4, seed=9)
    found.backward(upstream)
    expected.backward(upstream)
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a.grad, b.grad)


@settings(max_examples=60)
@given(t=st.integers(1, 12), rows=st.integers(1, 13), columns=st.integers(1, 13))
def test_causal_attention_computes_the_tiles_that_touch_the_diagonal_or_lie_below(t, rows, columns):
    q, k, v = (drawn(t, 2, seed=seed) for seed in range(3))
    tiles = {
        (step.rows.start, step.columns.start)
        for step in tile_steps(q, k, v, rows, columns, causal=True)
    }
    allowed = causal_mask(t)
    assert tiles == {
        (i, j)
        for i in range(0, t, rows)
        for j in range(0, t, columns)
        if allowed[i : i + rows, j : j + columns].any()
    }
    by_mask = tile_steps(q, k, v, rows, columns, allowed)
    assert tiles == {(step.rows.start, step.columns.start) for step in by_mask}


def test_sums_of_half_precision_are_kept_in_float32():
    q, k, v = (drawn(40, 8, seed=seed, dtype=torch.bfloat16) for seed in range(3))
    steps = list(tile_steps(q, k, v, 8, 8))
    assert {one.total.dtype for one in steps} == {torch.float32}
    found = attention_tiled(q, k, v, 8, 8)
    assert found.dtype == torch.bfloat16
    exact = attention(q.double(), k.double(), v.double()).output
    assert (found.double() - exact).abs().max() < 0.01


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        (dict(rows=0), "a tile needs a row .* rows=0, columns=2"),
        (dict(columns=-1), "a tile needs a row .* columns=-1"),
        (dict(mask=torch.tensor([[True], [False], [True], [True]])), "row 1 of the mask"),
        (dict(mask=torch.tensor([False, True, True, True]), causal=True), "row 0 of the mask"),
        (dict(causal=True, q=torch.ones(3, 2)), "as many queries as keys; got 3 and 4"),
    ],
)
def test_what_cannot_be_computed_is_refused(changes, rule):
    x = torch.ones(4, 2)
    with pytest.raises(ValueError, match=rule):
        attention_tiled(**dict(q=x, k=x, v=x, rows=2, columns=2) | changes)


class SlowMemory:
    """Arrays in a memory in which each number that is read or written is counted."""

    def __init__(self, **arrays: np.ndarray) -> None:
        self.arrays, self.read, self.written = arrays, 0, 0

    def load(self, name: str, where: slice = slice(None)) -> np.ndarray:
        part = self.arrays[name][where]
        self.read += part.size
        return part.copy()

    def store(self, name: str, part: np.ndarray, where: slice = slice(None)) -> None:
        if name not in self.arrays:
            self.arrays[name] = np.zeros_like(part)
        self.arrays[name][where] = part
        self.written += part.size

    @property
    def traffic(self) -> Traffic:
        return Traffic(self.read, self.written)


def by_whole_matrices(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> SlowMemory:
    memory = SlowMemory(q=q, k=k, v=v)
    memory.store("scores", memory.load("q") @ memory.load("k").T / math.sqrt(q.shape[1]))
    powers = np.exp(memory.load("scores"))
    memory.store("weights", powers / powers.sum(1, keepdims=True))
    memory.store("output", memory.load("weights") @ memory.load("v"))
    return memory


def by_tiles(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, rows: int, columns: int, causal: bool
) -> SlowMemory:
    memory = SlowMemory(q=q, k=k, v=v, output=np.zeros((len(q), v.shape[1])))
    for first in range(0, len(q), rows):
        own = memory.load("q", slice(first, first + rows))
        places = np.arange(first, first + len(own))[:, None]
        sums, weighted = np.zeros((len(own), 1)), np.zeros((len(own), v.shape[1]))
        for at in range(0, len(k), columns):
            if causal and at > places[-1, 0]:
                break
            keys, values = (memory.load(name, slice(at, at + columns)) for name in "kv")
            powers = np.exp(own @ keys.T / math.sqrt(q.shape[1]))
            if causal:
                powers = powers * (np.arange(at, at + len(keys)) <= places)
            sums, weighted = sums + powers.sum(1, keepdims=True), weighted + powers @ values
        memory.store("output", weighted / sums, slice(first, first + rows))
    return memory


@settings(max_examples=60)
@given(
    t=st.integers(1, 12),
    s=st.integers(1, 12),
    d=st.integers(1, 5),
    rows=st.integers(1, 13),
    columns=st.integers(1, 13),
    causal=st.booleans(),
)
def test_what_is_counted_is_what_a_counting_memory_sees(t, s, d, rows, columns, causal):
    s = t if causal else s
    q, k, v = (drawn(n, d, seed=seed).numpy() for seed, n in enumerate((t, s, s)))
    memory = by_tiles(q, k, v, rows, columns, causal)
    assert tile_traffic(t, d, rows, columns, s, causal=causal) == memory.traffic
    steps = list(tile_steps(*map(torch.tensor, (q, k, v)), rows, columns, causal=causal))
    assert Traffic(*(sum(one) for one in zip(*(x.traffic for x in steps), strict=True))) == (
        memory.traffic
    )
    found = torch.cat([step.output for step in steps if step.last])
    np.testing.assert_allclose(found, memory.arrays["output"], rtol=1e-9)
    if not causal:
        whole = by_whole_matrices(q, k, v)
        assert matrix_traffic(t, d, s) == whole.traffic
        np.testing.assert_allclose(found, whole.arrays["output"], rtol=1e-9)


@given(memory=st.integers(1, 200_000), d=st.integers(1, 300))
def test_the_square_tile_is_the_largest_that_fits(memory, d):
    if memory < tile_numbers(1, 1, d):
        with pytest.raises(ValueError, match=f"takes {4 * d + 3} numbers"):
            square_tile(memory, d)
        return
    side = square_tile(memory, d)
    assert tile_numbers(side, side, d) <= memory < tile_numbers(side + 1, side + 1, d)


@given(d=st.integers(1, 256), side=st.integers(1, 400), strips=st.integers(1, 50))
def test_the_leading_term_is_that_of_the_paper(d, side, strips):
    """2·T²·D/B and no more than the queries and the output once each."""
    t = side * strips
    assert tile_traffic(t, d, side, side).moved == 2 * t * t * d // side + 2 * t * d


@pytest.mark.parametrize("name", ["t", "head_size", "rows", "columns", "s"])
def test_sizes_below_one_are_refused(name):
    sizes = dict(t=4, head_size=2, rows=2, columns=2, s=4)
    with pytest.raises(ValueError, match=f"{name} must be at least 1; got 0"):
        tile_traffic(**sizes | {name: 0})
    if name not in ("rows", "columns"):
        with pytest.raises(ValueError, match=f"{name} must be at least 1; got 0"):
            matrix_traffic(**{key: sizes[key] for key in ("t", "head_size", "s")} | {name: 0})
