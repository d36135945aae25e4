"""The second script: one to one, so that nothing but the bytes of a text changes."""

from __future__ import annotations

import unicodedata
from itertools import pairwise
from string import ascii_letters

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from llmviz.corpus.second_script import FIRST, respelled, spelled_back
from llmviz.tokenizers import WordTokenizer
from llmviz.training.held_out_texts import stories

BYTES = {"devanagari": 3, "cyrillic": 2}


@pytest.mark.parametrize("script", FIRST)
def test_the_letters_are_52_others_of_the_same_size(script):
    others = respelled(ascii_letters, script)
    assert len(set(others)) == 52 and not set(others) & set(ascii_letters)
    assert {len(letter.encode()) for letter in others} == {BYTES[script]}
    assert {unicodedata.category(letter)[0] for letter in others} == {"L"}
    assert all(script.upper() in unicodedata.name(letter) for letter in others)
    assert unicodedata.normalize("NFC", others) == others


@given(some.text(), some.sampled_from([*FIRST]))
def test_it_can_be_undone_and_touches_nothing_else(text, script):
    plain = spelled_back(text, script)  # without letters of the second script
    again = respelled(plain, script)
    assert spelled_back(again, script) == plain
    assert len(again) == len(plain)
    for before, after in zip(plain, again, strict=True):
        assert (before == after) == (before not in ascii_letters)


def test_a_third_script_stays_as_it_is():
    text = "Γειά σου, 你好 שלום 🙂 12"
    assert respelled(text) == text == spelled_back(text)


def test_an_unknown_script_is_refused():
    with pytest.raises(ValueError, match="devanagari, cyrillic; got 'klingon'"):
        respelled("a", "klingon")


def test_a_model_of_words_has_the_same_loss_in_both():
    learned, held = stories(200, 1), stories(10)
    losses = []
    for write in (str, respelled):
        tokenizer = WordTokenizer.train([write(text) for text in learned])
        counts = np.ones((tokenizer.vocab_size, tokenizer.vocab_size))
        for text in learned:
            for pair in pairwise(tokenizer.encode_from_start(write(text))):
                counts[pair] += 1
        nats = -np.log(counts / counts.sum(1, keepdims=True))
        rows = [tokenizer.encode_from_start(write(text)) for text in held]
        losses.append([float(sum(nats[pair] for pair in pairwise(row))) for row in rows])
    assert losses[0] == pytest.approx(losses[1], rel=1e-12)
