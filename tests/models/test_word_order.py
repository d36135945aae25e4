"""Without positions one layer cannot see the order of earlier tokens; with them it can."""

import numpy as np
import pytest

from llmviz.files.paths import BUNDLED_CHECKPOINTS as BUNDLED
from llmviz.models.word_order import next_probabilities, shuffled, total_variation
from llmviz.training.run_folder import load_trained
from tests.random_weights import random_gpt

IDS = [3, 1, 4, 1, 5, 9, 2, 6]


def test_an_order_keeps_the_tokens_the_first_and_the_last():
    for seed in range(1, 6):
        order = shuffled(IDS, seed, first=1)
        assert sorted(order) == sorted(IDS)
        assert (order[0], order[-1]) == (3, 6)
        assert order == shuffled(IDS, seed, first=1)
    assert shuffled(IDS, 0) == IDS
    assert len({tuple(shuffled(IDS, seed)) for seed in range(1, 9)}) > 5
    assert shuffled([7, 8], 3) == [7, 8] and shuffled([7], 3) == [7]


@pytest.mark.parametrize("positions", ["none", "learned", "sinusoidal", "rotary"])
@pytest.mark.parametrize("layers", [1, 2])
def test_only_one_layer_without_positions_is_blind_to_order(positions, layers):
    shape = dict(vocab_size=10, context_length=12, n_head=2, n_embd=16, tied_head=False)
    model = random_gpt(0.5, **shape, n_layer=layers, positions=positions)
    rows = [IDS, *(shuffled(IDS, seed) for seed in (1, 2, 3))]
    moved = apart(model, rows)
    blind = positions == "none" and layers == 1
    assert (moved < 1e-6).all() == blind
    assert blind or (moved > 1e-3).all()


def apart(model, rows):
    """How far the probabilities after each row are from those after the first one."""
    probabilities = next_probabilities(model, rows)
    return total_variation(*np.broadcast_arrays(probabilities[:1], probabilities[1:]))


def test_the_bundled_pair_is_alike_but_for_positions():
    with_, without = (load_trained(BUNDLED / f"words-gpt{end}") for end in ("", "-no-positions"))
    a, b = with_.model.config.to_dict(), without.model.config.to_dict()
    assert {key for key in a if a[key] != b[key]} == {"positions"}
    assert with_.description["train"] == without.description["train"]
    assert with_.tokenizer.vocabulary == without.tokenizer.vocabulary
    ids = with_.tokenizer.encode("She thought the window was dirty, but it was")
    rows = [ids, *(shuffled(ids, seed) for seed in range(1, 20))]
    assert apart(with_.model, rows).mean() > 0.2
    assert (apart(without.model, rows) < 1e-5).all()


def test_total_variation_by_hand():
    assert total_variation(np.array([0.5, 0.5, 0]), np.array([0.2, 0.4, 0.4])) == pytest.approx(0.4)
