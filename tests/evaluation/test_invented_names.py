"""Invented names: as many as asked for, the same again from the same seed, none too long."""

from __future__ import annotations

import torch

from llmviz.corpus import load_corpus
from llmviz.evaluation.invented_names import invented_names, names_learned_from
from llmviz.models import GPT, GPTConfig
from llmviz.tokenizers import train_tokenizer


def test_names_are_drawn_from_the_seed():
    tokenizer = train_tokenizer("char", ["abc"])
    torch.manual_seed(0)
    shape = GPTConfig(tokenizer.vocab_size, context_length=8, n_layer=1, n_head=1, n_embd=4)
    model = GPT(shape).eval()
    names = invented_names(model, tokenizer, 3, 5, 6)
    assert len(names) == 5 and all(len(name) <= 6 * len("<|unk|>") for name in names)
    assert names == invented_names(model, tokenizer, 3, 5, 6)
    assert names != invented_names(model, tokenizer, 4, 5, 6)


def test_the_list_that_was_learned_from_leaves_out_the_held_out_names():
    every, learned = load_corpus("names"), names_learned_from()
    held_out = every.split(0.1, 0)[1]
    assert sorted([*learned, *held_out]) == sorted(every.documents)
    assert len(names_learned_from(fraction=0.5)) < len(learned)
