"""The lines on the chart equal their own computation, whichever way they were come by."""

import math
from collections import Counter
from itertools import pairwise

import pytest

from llmviz.corpus import entropy_floor, load_corpus, parse
from llmviz.tokenizers import train_tokenizer
from llmviz.training.config import Plan, TrainConfig
from llmviz.training.data import TrainData
from llmviz.training.plan import prepare
from llmviz.training.references import FLOOR_DOCUMENTS, References, references_again


def entropy(counts):
    total = sum(counts)
    return -sum(n / total * math.log(n / total) for n in counts)


@pytest.fixture(scope="module")
def world():
    """A run on tiny-world's megabyte, cut into words, and the pieces it is made of."""
    plan = Plan(model="bigram", corpus="tiny-world-sample", tokenizer="word", context_length=8)
    run = prepare(plan)
    train, held_out = load_corpus("tiny-world-sample").split(0.1, 0)
    return run, list(train), list(held_out)


def test_each_line_is_its_own_computation(world):
    run, train, _held_out = world
    found = References.from_dict(run.description["data"]["references"])
    end = run.tokenizer.special_tokens["<|endoftext|>"]
    ids = [end]
    for text in train:
        ids += [*run.tokenizer.encode(text), end]
    assert found.tokens == len(ids) == len(run.data.train.ids)
    assert found.uniform == pytest.approx(math.log(run.tokenizer.vocab_size))
    assert found.unigram == pytest.approx(entropy(Counter(ids).values()))
    pairs = entropy(Counter(pairwise(ids)).values()) - entropy(Counter(ids[:-1]).values())
    assert found.bigram == pytest.approx(pairs)
    assert found.uniform > found.unigram > found.bigram > found.floor > 0
    assert found.tokens_per_byte == pytest.approx(len(ids) / len("".join(train).encode()))


def test_the_floor_is_the_grammars_own_probability_of_held_out_texts(world):
    run, _, held_out = world
    found = References.from_dict(run.description["data"]["references"])
    scored = held_out[:FLOOR_DOCUMENTS]
    nats = -sum(parse(text).log_prob for text in scored)
    tokens = sum(len(run.tokenizer.encode(text)) + 1 for text in scored)
    assert found.floor == pytest.approx(nats / tokens)
    assert found.floor_documents == len(scored)
    assert found.floor == pytest.approx(entropy_floor(scored, run.tokenizer).per_token)


def test_a_run_without_notes_gets_the_same_lines_from_its_plan(world):
    run, _, _ = world
    again, name = references_again(run.description["plan"], run.tokenizer)
    assert again.to_dict() == run.description["data"]["references"]
    assert name == "tiny-world-sample"


def test_other_corpora_have_no_floor():
    found = References.from_dict(
        prepare(Plan(model="bigram", corpus="names")).description["data"]["references"]
    )
    assert found.floor is None and found.floor_documents == 0
    train, held_out = load_corpus("names").split(0.1, 0)
    tokenizer = train_tokenizer("char", list(train))
    data = TrainData.from_documents(list(train), list(held_out), tokenizer, 8)
    assert found.tokens == len(data.train.ids)


def test_translation_has_none_and_foreign_values_are_refused():
    plan = Plan(
        model="seq2seq",
        model_options={"n_embd": 8, "n_head": 2, "n_layer": 1},
        corpus="pairs",
        tokenizer="word",
        context_length=16,
        train=TrainConfig(steps=1),
    )
    assert "references" not in prepare(plan).description["data"]
    with pytest.raises(ValueError, match="no references"):
        References.from_dict({"uniform": 1.0})
