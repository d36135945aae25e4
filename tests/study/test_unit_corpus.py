"""The search of units on a corpus: which texts are read, and how units are grouped."""

import numpy as np
import pytest
import torch

from llmviz.corpus import load_corpus
from llmviz.study import unit_corpus
from llmviz.study.unit_corpus import ENDS, SAMPLE, CorpusSearch, corpus_of, search_corpus
from llmviz.study.units import UnitSearch, search_units
from llmviz.tokenizers import ENDOFTEXT, get_tokenizer
from tests.study.models import gpt


def test_texts_are_read_from_their_start(monkeypatch):
    monkeypatch.setattr(unit_corpus, "TOKENS", 60)
    tokenizer = get_tokenizer("bpe")
    model = gpt(vocab_size=tokenizer.vocab_size)
    found = search_corpus(model, tokenizer, SAMPLE)
    stories = load_corpus(SAMPLE).documents
    assert found.search.tokens == sum(map(len, found.texts)) == 60
    for story, ids in zip(stories, found.texts, strict=False):
        whole = [tokenizer.special_tokens[ENDOFTEXT], *tokenizer.encode(story)]
        assert list(ids) == whole[: len(ids)] and len(ids) <= model.context_length
    again = search_units(model, found.texts)
    assert torch.equal(again.fired, found.search.fired)


def made(fired, peaks):
    fired, peaks = torch.tensor(fired), torch.tensor(peaks)[..., None]
    none = torch.zeros_like(peaks, dtype=torch.long)
    return CorpusSearch("x", (), UnitSearch(fired, peaks, none, none, 100))


def test_units_are_grouped_by_how_often_they_fire():
    shares = [[0.0, 0.0005, 0.001, 0.01, 0.02, 0.3, 0.5, 0.7, 1.0]]
    found = made(shares, [[0.0, 1, 2, 3, 4, 5, 6, 7, 8]])
    assert found.group_of().tolist() == [[0, 1, 1, 2, 3, 4, 4, 5, 5]]
    assert found.groups().tolist() == [[1, 2, 1, 1, 2, 2]]
    assert [found.strongest(0, group) for group in range(len(ENDS))] == [0, 2, 3, 4, 6, 8]
    assert found.telling(0, 3) == [4, 3, 2] and sorted(found.telling(0, 99)) == list(range(9))
    assert made([[1.0]], [[2.0]]).strongest(0, 0) is None


def test_every_unit_is_in_one_group():
    model = gpt()
    search = search_units(model, [[1, 2, 3], [4, 5]])
    found = CorpusSearch("x", (), search)
    assert (found.groups().sum(-1) == search.fired.shape[1]).all()
    assert (found.groups()[:, 0] == search.dead.sum(-1).numpy()).all()
    np.testing.assert_array_equal(found.group_of() == 0, search.dead.numpy())


@pytest.mark.parametrize(
    ("name", "read"), [("tiny-world", SAMPLE), ("names", "names"), ("my text", SAMPLE)]
)
def test_the_corpus_is_the_models_own_if_it_comes_along(name, read):
    assert corpus_of(name) == read
