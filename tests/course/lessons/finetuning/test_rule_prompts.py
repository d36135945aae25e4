"""Prompts of examples: read back as they were drawn, refused by name, looked at by every head."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from llmviz.corpus.rules import draw_question
from llmviz.course.lessons.finetuning.fewshot.model import group_of, look, read_prompt
from llmviz.models import GPT, GPTConfig
from llmviz.tokenizers import get_tokenizer


@given(some.integers(0, 10_000), some.integers(2, 4), some.integers(0, 12))
def test_a_drawn_prompt_is_read_back_as_it_was(seed, groups, more):
    asked = draw_question(random.Random(seed), groups + more, groups)
    found = read_prompt(asked.prompt)
    assert found.prompt == asked.prompt and found.word == asked.word
    assert found.examples == asked.examples
    assert dict(found.rule.answers) == dict(asked.rule.answers)
    assert found.answer == asked.answer


def test_most_examples_of_a_group_make_its_answer_and_at_a_tie_the_later():
    assert read_prompt("apples red, pears blue, plums blue, cherries").answer == "blue"
    assert read_prompt("apples red, pears blue, plums").answer == "blue"


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        ("apples red, ", "must end with the word"),
        ("apples, pears", "example 1 must be a word and its answer; got 'apples'"),
        ("apples red blue, pears", "example 1 must be a word and its answer"),
        ("apples loud, pears", "answer of example 1 must be one of red, .*; got 'loud'"),
        ("xylograph red, pears", "word of example 1 .* not 'xylograph'"),
        ("apples red, <b>pears</b>", "word at the end .* not '<b>pears</b>'"),
        ("apples red, two words", "word at the end must be one word"),
        ("apples red, hammer", "'hammer' is of the group tools, of which there is no example"),
        ("apples", "no example; shown: none"),
        (", ".join(["apples red"] * 17) + ", pears", "16 examples at most; got 17"),
    ],
)
def test_what_is_no_prompt_is_refused_by_name(written, rule):
    with pytest.raises(ValueError, match=rule):
        read_prompt(written)


def test_the_heads_of_the_last_word_add_up_over_the_answers():
    tokenizer = get_tokenizer("bpe")
    sizes = {"context_length": 64, "n_layer": 2, "n_head": 2, "n_embd": 16}
    model = GPT(GPTConfig(vocab_size=tokenizer.vocab_size, **sizes)).eval()
    asked = read_prompt("apples turquoise, hammer blue, pears red, plums")
    found = look(model, tokenizer, asked)
    assert found.weights.shape == (2, 2, len(found.tokens), len(found.tokens))
    np.testing.assert_allclose(found.weights.sum(-1), 1, atol=1e-5)
    texts = [tokenizer.decode([token]) for token in found.tokens]
    # By hand: which tokens spell the colours, found by walking through the words of the prompt.
    words, at, own, other = [], 1, [], []
    for word, answer in asked.examples:
        words += [(word if not words else f" {word}", None), (f" {answer}", word), (",", None)]
    for piece, word in words:
        size = len(tokenizer.encode(piece))
        assert "".join(texts[at : at + size]) == piece
        if word is not None:
            (own if group_of()[word] == "fruits" else other).extend(range(at, at + size))
        at += size
    last = found.weights[:, :, -1]
    np.testing.assert_allclose(found.same, last[..., own].sum(-1), atol=1e-6)
    np.testing.assert_allclose(found.other, last[..., other].sum(-1), atol=1e-6)
    assert found.even == pytest.approx(len(own) / len(found.tokens))
    short = GPT(GPTConfig(vocab_size=tokenizer.vocab_size, **sizes | {"context_length": 4}))
    with pytest.raises(ValueError, match="the model reads 4 at most"):
        look(short, tokenizer, asked)
