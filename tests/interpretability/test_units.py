"""Units of the feed-forward layers against a loop, and the search of them on a corpus."""

import math
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from llmviz.corpus import load_corpus
from llmviz.course.lessons.transformer.units import model as growing_search
from llmviz.course.lessons.transformer.units.model import GrowingSearch
from llmviz.interpretability import units
from llmviz.interpretability.unit_corpus import SAMPLE, CorpusSearch, corpus_of, pieces_of
from llmviz.interpretability.units import (
    UnitSearch,
    search_units,
    texts_within,
    unit_values,
    unit_writes,
)
from llmviz.nn.layers import LayerNorm, RMSNorm
from llmviz.tokenizers import ENDOFTEXT, get_tokenizer
from llmviz.trace import record
from tests.interpretability.models import gpt

TEXTS = [[3, 7, 1], [4], [9, 9, 2, 5, 6], [1, 2, 3], [], [8, 4, 4, 1, 0]]


@pytest.mark.parametrize("activation", ["relu", "gelu", "swiglu"])
@pytest.mark.parametrize("at_once", [1, 7, 2048])
def test_a_search_is_a_loop(activation, at_once, monkeypatch):
    monkeypatch.setattr(units, "TOKENS_AT_ONCE", at_once)
    model = gpt(activation=activation)
    found = search_units(model, TEXTS, keep=2)
    fired, best, tokens = torch.zeros(found.fired.shape), {}, 0
    for number, text in enumerate(TEXTS):
        if not text:
            continue
        with torch.inference_mode(), record("*.mlp.*") as trace:
            model(torch.tensor([text]))
        tokens += len(text)
        for layer in range(3):
            fired[layer] += (trace[f"blocks.{layer}.mlp.hidden"][0] > 0).sum(0)
            act = trace[f"blocks.{layer}.mlp.act"][0]
            for unit in range(act.shape[1]):
                value, place = act[:, unit].max(0)
                best.setdefault((layer, unit), []).append((value.item(), number, int(place)))
    assert found.tokens == tokens
    torch.testing.assert_close(found.fired, fired / tokens)
    assert torch.equal(found.dead, fired == 0)
    for (layer, unit), values in best.items():
        values = sorted(values, reverse=True)[:2]
        expected = torch.tensor([value for value, _, _ in values])
        torch.testing.assert_close(found.highest[layer, unit], expected, atol=1e-5, rtol=1e-4)
        if activation != "relu":  # there, values of 0 tie
            for k, (_, number, place) in enumerate(values):
                assert found.texts[layer, unit, k] == number
                assert found.places[layer, unit, k] == place


def test_dead_units_are_found():
    model = gpt(activation="relu")
    with torch.no_grad():
        model.blocks[1].mlp.hidden.weight[5] = 0
        model.blocks[1].mlp.hidden.bias[5] = -1
    found = search_units(model, TEXTS)
    assert found.dead[1, 5] and found.highest[1, 5].max() == 0
    assert found.highest.shape == (3, 64, 5)  # five texts have a token


def test_values_are_those_of_the_tap_and_the_best_place_is_their_largest():
    model = gpt()
    found = search_units(model, TEXTS)
    values = unit_values(model, TEXTS[2], 1)
    assert values.shape == (5, 64)
    for unit in range(64):
        (at,) = (found.texts[1, unit] == 2).nonzero()
        assert values[:, unit].argmax() == found.places[1, unit, at]


class Frozen(torch.nn.Module):
    """A norm that divides by what it divided by when it was first asked."""

    def __init__(self, norm):
        super().__init__()
        self.norm, self.divisor = norm, None

    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True) if isinstance(self.norm, LayerNorm) else x
        if self.divisor is None:
            self.divisor = (centred.square().mean(-1, keepdim=True) + self.norm.eps).sqrt()
        y = centred / self.divisor * self.norm.weight
        return y if getattr(self.norm, "bias", None) is None else y + self.norm.bias


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize(
    "options",
    [dict(norm="none"), dict(norm_kind="rms"), dict(), dict(norm="post")],
    ids=str,
)
def test_what_a_unit_writes_is_what_one_more_of_it_adds_to_the_logits(options, layer):
    """Against a model whose norms' divisors are held, and whose later layer writes nothing."""
    model = gpt(n_layer=2, **options).double().requires_grad_(False)
    if layer == 0:
        for part in (model.blocks[1].attn.projection, model.blocks[1].mlp.output):
            part.weight.zero_(), part.bias.zero_()
    text, place = [3, 7, 1, 4], 2
    found = unit_writes(model, layer, 7, text, place, keep=19)
    if options.get("norm") != "none":
        for parent in (*model.blocks, model):
            for name in ("norm1", "norm2", "norm_final"):
                norm = getattr(parent, name, None)
                if isinstance(norm, (LayerNorm, RMSNorm)):
                    setattr(parent, name, Frozen(norm))
    before = model(torch.tensor([text]))[0][0, place]
    output = model.blocks[layer].mlp.output
    output.bias += output.weight[:, 7]
    expected = model(torch.tensor([text]))[0][0, place] - before
    for ids, values in ((found.more, found.raised), (found.less, found.lowered)):
        torch.testing.assert_close(expected[ids], values)
    assert torch.equal(found.raised, found.lowered.flip(0))
    final = model.norm_final
    held = final.divisor[0, place].item() if isinstance(final, Frozen) else 1.0
    assert found.divisor == pytest.approx(held)


def test_texts_are_cut_to_what_is_wanted():
    assert texts_within([[1, 2, 3], [], [4, 5], [6]], 4, 2) == [[1, 2], [4, 5]]
    assert texts_within([[1, 2, 3]], 2, 9) == [[1, 2]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: search_units(gpt(), [[]]), "at least one text"),
        (lambda: search_units(gpt(n_expert=2), TEXTS), "the model has 2 experts a layer"),
        (lambda: unit_values(gpt(), [1], 3), "layer must be from 0 to 2; got 3"),
        (lambda: unit_writes(gpt(), 0, 64, [1]), "unit must be from 0 to 63; got 64"),
        (lambda: unit_writes(gpt(), 0, 1, [1], 1), "place must be from -1 to 0; got 1"),
        (lambda: unit_writes(gpt(residual=False), 0, 1, [1]), "residual=False"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


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
