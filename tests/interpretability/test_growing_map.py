"""A map that grows a place at a time holds what patching each site alone gives."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from llmviz.interpretability.growing_map import GrowingMap
from llmviz.interpretability.patching import all_sites, patch, read_prompt
from llmviz.models import build
from tests.random_weights import with_random_weights

PAIR = (3, 7)


@pytest.fixture(scope="module")
def read():
    torch.manual_seed(1)
    config = dict(vocab_size=11, context_length=8, n_layer=2, n_head=2, n_embd=8)
    model = build("gpt", config).eval()
    with_random_weights(model, 0.5)
    return model, read_prompt(model, [1, 2, 3, 4, 5]), read_prompt(model, [1, 2, 6, 4])


def preference(logits: torch.Tensor) -> float:
    return float(logits[PAIR[1]] - logits[PAIR[0]])


def test_it_grows_to_what_each_site_alone_gives(read):
    model, own, donor = read
    grown, steps = GrowingMap(model, own, donor, PAIR, 24), 0
    while not grown.grow(0.0):
        steps += 1
        assert grown.known == steps
        assert {site.back for site in grown.shares} == set(range(steps))
    assert grown.known == grown.places == 4
    assert set(grown.shares) == set(all_sites(model, 4))
    start, goal = preference(own.logits), preference(donor.logits)
    for site, share in grown.shares.items():
        alone = preference(patch(model, own, donor, [site]))
        assert share == pytest.approx((alone - start) / (goal - start), abs=1e-4)
    assert grown.grow(0.0)  # nothing more happens


def test_at_most_some_places_and_none_twice_by_several_threads(read):
    grown = GrowingMap(*read, PAIR, 2)
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: grown.grow(0.0), range(12)))
    assert done.count(False) == 1
    assert {site.back for site in grown.shares} == {0, 1}


def test_no_way_to_go_is_refused(read):
    model, own, _ = read
    with pytest.raises(ValueError, match="equally"):
        GrowingMap(model, own, own, PAIR, 24)
