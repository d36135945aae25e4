"""Every continuation, against a plain enumeration, and beam search against every continuation."""

import numpy as np
import pytest

from llmviz.sampling import beam_search, exhaustive_search
from tests.sampling.test_beam import V, exhaustive, gpt


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("length_penalty", [0.0, 1.0, -0.5])
@pytest.mark.parametrize("stop_id", [None, 2])
def test_it_scores_what_a_plain_enumeration_scores(seed, length_penalty, stop_id):
    model, prompt, length = gpt(seed), [1, 3], 3
    expected = exhaustive(model, prompt, length, length_penalty, stop_id)
    found = exhaustive_search(model, prompt, length, length_penalty, stop_id)
    everything = {tuple(found.tokens(n)): found.scores[n - 1] for n in range(1, len(found.ids) + 1)}
    assert everything.keys() == expected.keys()
    for ids, score in everything.items():
        assert score == pytest.approx(expected[ids], abs=1e-4)
        assert found.tokens(found.place(ids)) == list(ids)
    assert (np.diff(found.scores) <= 0).all()
    assert np.exp(found.totals).sum() == pytest.approx(1)


@pytest.mark.parametrize("stop_id", [None, 5])
def test_a_wider_beam_comes_to_the_best_of_all(stop_id):
    missed = 0
    for seed in range(8):
        model = gpt(seed, vocab_size=12)
        best = exhaustive_search(model, [0], 3, stop_id=stop_id)
        places = [
            best.place(beam_search(model, [0], width, 3, stop_id=stop_id).tokens())
            for width in (1, 2, 4, 12**2)
        ]
        missed += places[0] > 1
        assert places[-1] == 1, "a beam as wide as the tree misses nothing"
    assert missed, "some greedy text is not the best, or the test shows nothing"


def test_the_window_slides_and_the_mode_is_left_alone():
    model = gpt().train()
    long, short = (exhaustive_search(model, [1] * n, 2) for n in (20, 8))
    assert np.allclose(long.totals, short.totals, atol=1e-5)
    assert model.training


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(max_new_tokens=0), "max_new_tokens must be 1 or more; got 0"),
        (dict(max_new_tokens=20), "4 tokens to the power of 20 are more continuations"),
        (dict(length_penalty=float("inf")), "finite"),
        (dict(idx=[]), "prompt is empty"),
        (dict(idx=[V]), "from 0 to 3"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        exhaustive_search(gpt(), **{"idx": [0]} | arguments)


def test_what_is_no_continuation_has_no_place():
    found = exhaustive_search(gpt(), [0], 2, stop_id=3)
    assert found.place([3]) >= 1
    for tokens in ([0], [3, 0], [0, 0, 0]):
        with pytest.raises(ValueError, match="not among"):
            found.place(tokens)
