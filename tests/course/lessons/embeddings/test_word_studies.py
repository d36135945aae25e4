"""Tables, maps, films and analogies as the lesson computes them, against plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from llmviz.course.lessons.embeddings import word_maps as maps
from llmviz.course.lessons.embeddings.word2vec import model as films
from llmviz.interpretability import vector_tables as tables
from llmviz.models import GPT, GPTConfig
from llmviz.similarity import VectorTable
from llmviz.tokenizers import WordTokenizer

TEXT = "the cat and a dog saw the red king . a blue queen had six books"


@pytest.fixture
def table():
    tokenizer = WordTokenizer.train(TEXT)
    matrix = np.random.default_rng(0).normal(size=(tokenizer.vocab_size, 6)).astype(np.float32)
    return VectorTable("t", matrix, tokenizer)


def test_an_untrained_table_is_that_of_a_fresh_model_and_leaves_chance_alone():
    tokenizer = WordTokenizer.train(TEXT)
    options = {"context_length": 4, "n_layer": 1, "n_head": 1, "n_embd": 4}
    config = GPTConfig(vocab_size=tokenizer.vocab_size, **options)
    trained = GPT(config).eval().requires_grad_(False)
    state = torch.random.get_rng_state()
    before = tables.untrained_table("m", trained, tokenizer, 7)
    assert torch.equal(state, torch.random.get_rng_state())
    torch.manual_seed(7)
    np.testing.assert_array_equal(before.matrix, GPT(config).token.weight.detach().numpy())
    now = tables.table_of("m", trained, tokenizer)
    np.testing.assert_array_equal(now.matrix, trained.token.weight.numpy())
    assert tables.table_of("m", trained, tokenizer) is now


def test_a_model_without_a_table_is_refused(table):
    with pytest.raises(ValueError, match="has no table of vectors"):
        tables.table_of("m", torch.nn.Linear(2, 2), table.tokenizer)


def test_neighbours_of_the_own_kind_are_counted(table):
    here = maps.mapped(table, 16, "cosine")
    share, chance = maps.of_own_kind(here, 3)
    hits, by_chance = [], []
    for i in range(here.size):
        if here.kinds[i] < 0:
            continue
        hits += [here.kinds[j] == here.kinds[i] for j in here.near[i, :3]]
        same = sum(here.kinds[j] == here.kinds[i] for j in range(here.size) if j != i)
        by_chance.append(same / (here.size - 1))
    assert share == pytest.approx(np.mean(hits)) and chance == pytest.approx(np.mean(by_chance))


def test_a_map_of_the_vectors_themselves_keeps_every_neighbour(table):
    here = maps.mapped(table, 16, "euclidean")
    judged = maps.judge(here, here.vectors, 4)
    assert (judged.kept == 4).all() and judged.trust == pytest.approx(1)
    assert maps.judge(here, here.vectors, 100).k == (here.size - 1) // 2


def test_what_a_pair_costs_is_the_logistic_loss():
    draw = np.random.default_rng(0)
    word, seconds = draw.normal(size=(1, 5)), draw.normal(size=(4, 5))
    cost = films.pair_cost(word, seconds)
    for k, second in enumerate(seconds):
        score = (1 if k == 0 else -1) * float(word[0] @ second)
        assert cost.costs[k, 0] == pytest.approx(math.log(1 + math.exp(-score)))
        assert cost.probability[k, 0] == pytest.approx(math.exp(-cost.costs[k, 0]))


def test_a_tie_has_no_companion():
    def text(written: str):
        tokenizer = WordTokenizer.train(written)
        documents = [tokenizer.encode(written)]
        return type("Text", (), {"tokenizer": tokenizer, "documents": documents})()

    assert films.companion(text("cat dog cat dog bird"), "cat") == "dog"
    assert films.companion(text("cat dog bird cat"), "dog") is None  # cat and bird, once each
    assert films.companion(text("cat dog"), "king") is None
