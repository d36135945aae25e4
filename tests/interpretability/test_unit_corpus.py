"""The search of units on a corpus: which texts are read, and which units come first."""

import math
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from llmviz.corpus import load_corpus
from llmviz.course.lessons.transformer.units import model as growing_search
from llmviz.course.lessons.transformer.units.model import GrowingSearch
from llmviz.interpretability.unit_corpus import SAMPLE, CorpusSearch, corpus_of, pieces_of
from llmviz.interpretability.units import UnitSearch, search_units
from llmviz.tokenizers import ENDOFTEXT, get_tokenizer
from tests.interpretability.models import gpt


@pytest.fixture(scope="module")
def reader():
    tokenizer = get_tokenizer("bpe")
    return gpt(vocab_size=tokenizer.vocab_size), tokenizer


def test_texts_are_read_from_their_start(reader, monkeypatch):
    monkeypatch.setattr(growing_search, "AT_ONCE", 20)
    model, tokenizer = reader
    grown = GrowingSearch(model, tokenizer, SAMPLE, 60)
    stories = load_corpus(SAMPLE).documents
    assert grown.tokens == sum(map(len, grown.pieces)) == 60
    for story, ids in zip(stories, grown.pieces, strict=False):
        whole = [tokenizer.special_tokens[ENDOFTEXT], *tokenizer.encode(story)]
        assert list(ids) == whole[: len(ids)] and len(ids) <= model.context_length
    known = [grown.known]
    with pytest.raises(ValueError, match="of 60 tokens are read"):
        grown.whole()
    while not grown.grow(0.0):
        known.append(grown.known)
    assert known == sorted(set(known)) and known[-1] < grown.known == 60
    found, again = grown.whole(), search_units(model, grown.pieces)
    assert found is grown.whole() and found.search.tokens == 60
    torch.testing.assert_close(found.search.fired, again.fired)
    torch.testing.assert_close(found.search.highest, again.highest)


def test_several_threads_read_each_batch_once(reader, monkeypatch):
    monkeypatch.setattr(growing_search, "AT_ONCE", 20)
    grown = GrowingSearch(*reader, SAMPLE, 60)
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: grown.grow(0.0), range(30)))
    assert done.count(True) > 0 and grown.known == 60
    assert torch.equal(grown.whole().search.fired, search_units(reader[0], grown.pieces).fired)


def test_a_learners_own_text_is_read_to_its_end(reader, tmp_path):
    own = tmp_path / "corpus.txt"
    own.write_text("Anna saw a bird and Samir saw a fish. " * 9, encoding="utf-8")
    assert corpus_of("corpus.txt", own) == str(own)
    assert corpus_of("corpus.txt", tmp_path / "gone.txt") == SAMPLE
    model, tokenizer = reader
    grown = GrowingSearch(model, tokenizer, str(own))
    whole = tokenizer.encode_from_start(own.read_text(encoding="utf-8"))
    assert [i for piece in grown.pieces for i in piece] == whole
    assert max(map(len, grown.pieces)) == grown.longest == model.context_length
    assert grown.documents == 1 < len(grown.pieces)
    assert grown.grow(math.inf) and grown.whole().search.tokens == len(whole)


def test_pieces_go_on_where_the_beginnings_are_too_few():
    tokenizer = get_tokenizer("bpe")
    texts = ["one two three four five six seven", "a", ""]
    whole = [tokenizer.encode_from_start(text) for text in texts]
    for tokens in (1, 4, 9, 1000):
        pieces = pieces_of(texts, tokenizer, 3, tokens)
        assert sum(map(len, pieces)) == min(tokens, sum(map(len, whole)))
        assert all(0 < len(piece) <= 3 for piece in pieces)
    rest = [whole[0][at : at + 3] for at in range(3, len(whole[0]), 3)]
    assert pieces == [*(ids[:3] for ids in whole), *rest]


def test_a_corpus_that_is_gone_and_a_model_without_units_are_refused(reader, tmp_path):
    with pytest.raises(ValueError, match="no corpus and no file"):
        GrowingSearch(*reader, str(tmp_path / "gone.txt"))
    experts = gpt(vocab_size=reader[1].vocab_size, n_expert=2)
    with pytest.raises(ValueError, match="one feed-forward network a layer"):
        GrowingSearch(experts, reader[1], SAMPLE)


def made(fired, peaks):
    fired, peaks = torch.tensor(fired), torch.tensor(peaks)[..., None]
    none = torch.zeros_like(peaks, dtype=torch.long)
    return CorpusSearch("x", (), UnitSearch(fired, peaks, none, none, 100))


def test_units_that_fire_seldom_come_first_the_highest_before_the_others():
    shares = [[0.0, 0.0005, 0.001, 0.01, 0.02, 0.3, 0.5, 0.7, 1.0]]
    found = made(shares, [[0.0, 1, 2, 3, 4, 5, 6, 7, 8]])
    assert found.telling(0, 3) == [4, 3, 2] and sorted(found.telling(0, 99)) == list(range(9))


@pytest.mark.parametrize(
    ("name", "read"), [("tiny-world", SAMPLE), ("names", "names"), ("my text", SAMPLE)]
)
def test_the_corpus_is_the_models_own_if_it_comes_along(name, read):
    assert corpus_of(name) == read
