"""Searches side by side, and draws again and again: what the chapters show is what was computed."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from llmviz.course.lessons.sampling import draws
from llmviz.course.lessons.sampling.beam import model as searches
from llmviz.sampling import beam_search, exhaustive_search


class Table(nn.Module):
    """A model of the contract whose logits (V, V) depend on the last token alone."""

    context_length = 16

    def __init__(self, logits):
        super().__init__()
        self.logits = logits

    def forward(self, idx, targets=None):
        return self.logits[idx], None


def table(v: int, seed: int, stop_bias: float = 0.0) -> Table:
    logits = torch.randn((v, v), generator=torch.Generator().manual_seed(seed))
    logits[:, 0] += stop_bias  # token 0 ends a text
    return Table(logits)


@pytest.mark.parametrize("v", [1, 2, 3, 5])
@pytest.mark.parametrize("length", [1, 2, 3, 4])
@pytest.mark.parametrize("stop_id", [0, None])
def test_every_continuation_is_counted(v, length, stop_id):
    every = exhaustive_search(table(v, 0), [0], length, stop_id=stop_id)
    assert searches.continuation_count(v, length, can_end=stop_id is not None) == len(every.ids)


def test_counts_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="got 0"):
        searches.continuation_count(0, 3)
    with pytest.raises(ValueError, match="got 3 and -1"):
        searches.continuation_count(3, -1)


@pytest.mark.parametrize("v", [2, 3, 7])
@pytest.mark.parametrize("width", [1, 2, 3, 6])
@pytest.mark.parametrize("stop_bias", [-9.0, 0.0, 9.0])
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_what_a_search_scored_is_what_the_model_was_asked(v, width, stop_bias, depth):
    asked = []

    class Counting(Table):
        def forward(self, idx, targets=None):
            asked.append(len(idx) * v)
            return super().forward(idx)

    tree = beam_search(Counting(table(v, 3, stop_bias).logits), [0], width, depth, stop_id=0)
    assert len(tree.hidden) * v == sum(asked)
    for step in range(1, depth + 1):
        taken, ended = searches.taken_at(tree, step)
        assert taken <= width and ended <= taken
        if step < len(asked):
            assert asked[step] == (taken - ended) * v


def test_a_tie_for_the_best_text_is_found_wherever_it_stands():
    even = Table(torch.tensor([[-20.0, 0.0, 0.0]] * 3))  # texts of 1 and 2 are equally probable
    every = exhaustive_search(even, [0], 2, stop_id=0)
    compared = searches.compare(
        every, lambda width: beam_search(even, [0], width, 2, stop_id=0), [1, 2, 3]
    )
    assert compared.best == (1, 2, 3)
    odd = table(4, 5)
    every = exhaustive_search(odd, [0], 3, stop_id=0)
    compared = searches.compare(
        every, lambda width: beam_search(odd, [0], width, 3, stop_id=0), range(1, 9)
    )
    assert compared.best == tuple(w for w, place in compared.places.items() if place == 1)


def test_numbers_are_those_of_the_seed_one_by_one():
    generator = torch.Generator().manual_seed(7)
    one_by_one = [torch.rand((), generator=generator, dtype=torch.float64).item() for _ in range(9)]
    assert draws.seed_numbers(7, 9).tolist() == one_by_one


def test_distance_runs_from_0_to_1():
    assert draws.distance(np.array([0.5, 0.5]), np.array([0, 1])) == 0
    assert draws.distance(np.array([1.0, 0.0]), np.array([1, 1])) == 1
    with pytest.raises(ValueError, match="no draws"):
        draws.distance(np.array([1.0]), np.array([], dtype=int))


def test_distances_end_with_that_of_all_draws():
    drawn = np.random.default_rng(0).integers(0, 5, 1000)
    numbers, far = draws.distances(np.full(5, 0.2), drawn)
    assert numbers[0] == 1 and numbers[-1] == 1000 and len(numbers) == len(far) <= 25
    assert far[-1] == draws.distance(np.full(5, 0.2), drawn)
