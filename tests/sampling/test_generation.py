"""Generation: the cache changes nothing, every number is the pipeline's, the window slides."""

import itertools
import math

import numpy as np
import pytest
import torch

from llmviz.models import build
from llmviz.sampling import generate, sampling_steps, text_measures
from tests.random_weights import random_gpt

V, CONTEXT = 13, 12
SMALL = {"vocab_size": V, "context_length": CONTEXT}


def gpt(**config):
    return random_gpt(0.3, **SMALL, n_layer=2, n_head=2, n_embd=16, **config)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("positions", ["learned", "sinusoidal", "rotary", "none"])
@pytest.mark.parametrize("settings", [{}, {"temperature": 0}, {"top_k": 3, "top_p": 0.8}])
def test_same_sequence_with_and_without_cache_past_the_context(positions, settings):
    model = gpt(positions=positions)
    runs = [
        list(generate(model, [1, 2, 3], 30, generator=seeded(), use_cache=cache, **settings))
        for cache in (True, False)
    ]
    assert [t.id for t in runs[0]] == [t.id for t in runs[1]]
    for a, b in zip(*runs, strict=True):
        assert a.probability == pytest.approx(b.probability, rel=1e-4)
        assert a.u == b.u
    assert [t.window_slid for t in runs[0]] == [i > CONTEXT for i in range(3, 33)]


def test_every_token_is_the_pipeline_on_the_models_logits():
    model = gpt()
    ids = [4]
    settings = dict(temperature=1.4, top_k=8, repetition_penalty=1.2)
    for token in generate(model, [4], 25, generator=seeded(3), keep_steps=True, **settings):
        with torch.no_grad():
            logits = model(torch.tensor([ids[-CONTEXT:]]))[0][0, -1]
        steps = sampling_steps(logits, **settings, previous=ids)
        own = torch.softmax(logits.double(), 0)
        np.testing.assert_allclose(token.steps.probabilities, steps.probabilities, atol=1e-5)
        assert token.steps.draw(token.u) == token.id
        assert token.chance == pytest.approx(steps.probabilities[token.id], abs=1e-5)
        assert token.probability == pytest.approx(own[token.id].item(), abs=1e-5)
        assert token.log_probability == pytest.approx(math.log(token.probability))
        assert token.entropy == pytest.approx(
            torch.distributions.Categorical(own).entropy().item(), abs=1e-4
        )
        order = torch.argsort(own, descending=True, stable=True).tolist()
        assert token.rank == order.index(token.id) + 1
        assert [i for i, _ in token.alternatives] == order[:5]
        ids.append(token.id)


@pytest.mark.parametrize("name", ["bigram", "mlp", "wavenet", "rnn", "gru", "lstm", "gpt"])
def test_every_language_model_generates(name):
    torch.manual_seed(0)
    more = {"wavenet": {"context_length": 8}, "bigram": {}}.get(name, SMALL)
    model = build(name, {"vocab_size": V} | more).train()
    tokens = list(generate(model, torch.tensor([[1, 2]]), 15, generator=seeded()))
    assert len(tokens) == 15
    assert all(0 <= t.id < V for t in tokens)
    assert model.training  # left as it was


def test_dropout_is_off_while_writing():
    model = gpt(dropout=0.5)
    expected = [t.id for t in generate(model, [1], 8, temperature=0)]
    model.train()
    assert [t.id for t in generate(model, [1], 8, temperature=0)] == expected


@pytest.mark.parametrize("mask", ["none", "off_by_one"])
def test_a_model_that_sees_the_future_goes_without_cache(mask):
    assert len(list(generate(gpt(mask=mask), [1], 4))) == 4


def test_it_can_be_stopped_at_any_token_and_by_the_stop_id():
    model = gpt()
    steps = generate(model, [1], 1000, generator=seeded())
    first = [next(steps).id for _ in range(5)]
    steps.close()
    assert [t.id for t in generate(model, [1], 5, generator=seeded())] == first
    stopped = [t.id for t in generate(model, [1], 500, generator=seeded(), stop_id=first[3])]
    assert stopped[-1] == first[3]
    assert stopped.count(first[3]) == 1


def test_two_generations_at_once_do_not_mix():
    model = gpt()
    alone = [[t.id for t in generate(model, [s], 10, generator=seeded(s))] for s in (1, 2)]
    pair = zip(*(generate(model, [s], 10, generator=seeded(s)) for s in (1, 2)), strict=True)
    assert [list(ids) for ids in zip(*((a.id, b.id) for a, b in pair), strict=True)] == alone


def test_greedy_equals_arg_max_and_uses_no_luck():
    model = gpt()
    runs = [
        [t.id for t in generate(model, [5], 9, temperature=0, generator=seeded(s))] for s in (0, 1)
    ]
    ids = [5]
    for _ in range(9):
        with torch.no_grad():
            ids.append(int(model(torch.tensor([ids]))[0][0, -1].argmax()))
    assert runs[0] == runs[1] == ids[1:]


def test_banned_tokens_never_come():
    ids = {t.id for t in generate(gpt(), [1], 100, generator=seeded(), banned=[0, 7])}
    assert not ids & {0, 7}


def test_text_measures():
    tokens = list(generate(gpt(), [1], 40, generator=seeded()))
    ids = [t.id for t in tokens]
    found = text_measures(tokens, n=2)
    assert found["distinct"] == len(set(ids)) / 40
    pairs = list(itertools.pairwise(ids))
    assert found["repetition"] == pytest.approx(1 - len(set(pairs)) / 39)
    assert found["mean_log_probability"] == pytest.approx(
        np.mean([math.log(t.probability) for t in tokens])
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(idx=[]), "the prompt is empty"),
        (dict(idx=torch.zeros(1, 0, dtype=torch.long)), "the prompt is empty"),
        (dict(idx=[1, 13]), "prompt ids must be from 0 to 12 .*got 13"),
        (dict(idx=[-1]), "got -1"),
        (dict(idx=torch.zeros(2, 3, dtype=torch.long)), "one prompt at a time"),
        (dict(max_new_tokens=-1), "0 or more; got -1"),
        (dict(temperature=-1), "temperature"),
        (dict(top_k=14), "vocabulary of 13"),
        (dict(top_p=0), "top_p"),
        (dict(min_p=2), "min_p"),
        (dict(repetition_penalty=-1), "repetition_penalty"),
        (dict(order=("top_k",)), "order"),
    ],
)
def test_bad_input_is_named_at_the_call(arguments, message):
    with pytest.raises(ValueError, match=message):
        generate(gpt(), **{"idx": [1], "max_new_tokens": 1} | arguments)
    with pytest.raises(ValueError, match="nothing to measure"):
        text_measures([])
