"""Entropies: against counting by hand and against each other."""

import math
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmviz.corpus import bigram_entropy, entropy_floor, generate, unigram_entropy


class Characters:
    def encode(self, text):
        return [ord(letter) for letter in text]


def test_floor_counts_one_end_of_text_a_document():
    documents = list(generate(50, seed=4))
    floor = entropy_floor(documents, Characters())
    characters = sum(len(document.text) for document in documents)
    nats = -math.fsum(document.log_prob for document in documents)
    assert floor.tokens == characters + 50
    assert floor.per_token == pytest.approx(nats / (characters + 50))
    assert floor.per_character == pytest.approx(nats / characters)
    assert floor.per_document == pytest.approx(nats / 50)
    assert entropy_floor(documents).per_token is None


def test_floor_of_plain_texts_is_that_of_their_documents():
    documents = list(generate(50, seed=4))
    again = entropy_floor([document.text for document in documents])
    assert again.nats == pytest.approx(entropy_floor(documents).nats)
    with pytest.raises(ValueError, match="not tiny-world"):
        entropy_floor(["Once upon a time."])
    with pytest.raises(ValueError, match="at least one document"):
        entropy_floor([])


def test_entropies_of_known_streams():
    assert unigram_entropy([1, 2, 3, 4]) == pytest.approx(math.log(4))
    assert unigram_entropy([7, 7, 7]) == 0
    assert bigram_entropy([0, 1] * 50) == pytest.approx(0, abs=1e-12)
    chance = random.Random(0)
    coin = [chance.randrange(2) for _ in range(100_000)]
    assert bigram_entropy(coin) == pytest.approx(math.log(2), abs=1e-3)


@given(st.lists(st.integers(0, 5), min_size=2, max_size=60))
def test_bigram_entropy_is_the_loss_of_the_counted_bigram(ids):
    counts = np.zeros((6, 6))
    for left, right in pairwise(ids):
        counts[left, right] += 1
    p = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    loss = -np.sum(counts[counts > 0] * np.log(p[counts > 0])) / (len(ids) - 1)
    assert bigram_entropy(ids) == pytest.approx(loss, abs=1e-9)
    assert bigram_entropy(np.array(ids)) == pytest.approx(loss, abs=1e-9)


def test_too_few_tokens():
    with pytest.raises(ValueError, match="at least 1 token"):
        unigram_entropy([])
    with pytest.raises(ValueError, match="at least 2 tokens"):
        bigram_entropy([3])
