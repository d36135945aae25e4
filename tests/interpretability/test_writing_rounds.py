"""The loop that writes, against the plain loop; and its cache, against the cache's tensors."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from llmviz.evaluation.cache_costs import bytes_held, cache_costs
from llmviz.interpretability.writing_rounds import vectors_computed, write_slowly
from llmviz.models import build
from llmviz.models.costs import cache_bytes
from tests.interpretability.models import IDS, NO_SUM, OPTIONS, gpt

MASKS = {"sees the future": dict(mask="none"), "off by one": dict(mask="off_by_one")}
ALL = OPTIONS | NO_SUM | MASKS


@pytest.mark.parametrize("options", ALL.values(), ids=ALL.keys())
def test_each_round_is_the_model_on_the_whole_text(options):
    model, text = gpt(**options), list(IDS)
    rounds = write_slowly(model, IDS, 99, listed=5)
    for one in rounds:
        with torch.inference_mode():
            logits = model(torch.tensor([text]))[0][0, -1]
            torch.testing.assert_close(model.head(one.row), logits)
        torch.testing.assert_close(one.scores, logits.topk(5).values)
        torch.testing.assert_close(one.probabilities, logits.softmax(-1).topk(5).values)
        assert one.pick == int(logits.argmax())
        text.append(one.pick)
    # The text has one token more than fits: the last one was written but not read.
    assert len(text) == model.context_length + 1


def test_the_loop_ends_behind_the_token_that_ends_a_text_and_after_so_many():
    picks = [one.pick for one in write_slowly(gpt(), IDS, 4)]
    first = picks.index(picks[1])
    assert [one.pick for one in write_slowly(gpt(), IDS, 4, picks[1])] == picks[: first + 1]
    assert write_slowly(gpt(), IDS, 0) == []
    assert len(write_slowly(gpt(), IDS, 4, listed=99)[0].tokens) == 19


def test_models_without_layers_are_refused():
    model = build("gru", {"vocab_size": 9, "context_length": 4})
    with pytest.raises(ValueError, match="got a GRU"):
        write_slowly(model, [1], 1)
    with pytest.raises(ValueError, match="got a GRU"):
        cache_costs(model)
    with pytest.raises(ValueError, match='mask="causal"'):
        cache_costs(gpt(mask="none"))


@given(st.integers(1, 50), st.integers(0, 20))
def test_with_a_cache_each_token_is_computed_once(tokens, rounds):
    cached = vectors_computed(tokens, rounds, cached=True)
    plain = vectors_computed(tokens, rounds, cached=False)
    assert len(cached) == len(plain) == rounds
    # Behind the last round its own token was not read yet.
    assert sum(cached) == (tokens + rounds - 1 if rounds else 0)
    assert plain == list(range(tokens, tokens + rounds))


@pytest.mark.parametrize("seconds", [0.0, 9.0])
@pytest.mark.parametrize("options", [{}, dict(n_kv_head=1), dict(n_expert=3)])
def test_the_bytes_are_those_of_the_tensors(options, seconds):
    model = gpt(**options)
    found = cache_costs(model, seconds)
    assert found.lengths == ((1,) if not seconds else (1, 2, 4, 8))
    assert found.held == tuple(cache_bytes(model.config, n) for n in found.lengths)
    assert len(found.without) == len(found.with_cache) == len(found.lengths)
    assert all(time > 0 for time in found.without + found.with_cache)
    cache = model.new_cache()
    whole = sum(part.untyped_storage().nbytes() for part in (*cache.keys, *cache.values))
    assert bytes_held(cache, cache.context_length) == whole


def test_what_is_timed_with_a_cache_is_the_last_token_behind_all_others():
    model, passes = gpt(), []
    model.register_forward_pre_hook(
        lambda module, given, named: passes.append(
            (given[0].shape[1], named["cache"].length if "cache" in named else None)
        ),
        with_kwargs=True,
    )
    found = cache_costs(model, 9.0)
    expected = [one for n in found.lengths for one in ((n, None), (1, n - 1))]
    assert passes == [(model.context_length, 0), *expected * 4]
