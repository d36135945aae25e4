"""Two halves of a translator, and a hidden word: held against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from llmviz.corpus.language import translate
from llmviz.course.lessons.transformer.halves.model import forced, forced_loss, free, looks, parting
from llmviz.course.lessons.transformer.masked.model import (
    all_weights,
    from_both_sides,
    from_the_left,
    hidden_at,
)
from llmviz.pretrained import load_bundled

SENTENCE = "rarely the friendly king chases two poets in the train"


@pytest.fixture(scope="module", params=["pairs-seq2seq", "pairs-rnn"])
def translator(request):
    model, tokenizer, _ = load_bundled(request.param)
    return model, tokenizer.encode(SENTENCE), tokenizer.encode(translate(SENTENCE).target)


def test_a_free_decoder_reads_what_it_wrote(translator):
    model, source, _ = translator
    found, read = free(model, source), [model.config.start_id]
    for step in range(len(found.read)):
        with torch.inference_mode():
            logits = model(torch.tensor([source]), torch.tensor([read]))[0][0, -1]
        best = logits.softmax(-1).sort(descending=True)
        assert found.read[step] == read[-1]
        np.testing.assert_array_equal(found.best[step], best.indices[:5])
        np.testing.assert_allclose(found.chances[step], best.values[:5], atol=1e-5)
        read.append(int(found.best[step, 0]))
    assert read[-1] == model.config.end_id


def test_a_forced_decoder_reads_the_right_words_and_both_agree_until_they_part(translator):
    model, source, target = translator
    taught, own = forced(model, source, target), free(model, source)
    right = [*target, model.config.end_id]
    assert taught.read == (model.config.start_id, *target)
    at = parting(right, own.written)
    assert at == parting(right, taught.written)
    with torch.inference_mode():
        logits = model(torch.tensor([source]), torch.tensor([taught.read]))[0][0].double()
    p = logits.softmax(-1)[range(len(right)), right]
    assert forced_loss(model, source, target) == pytest.approx(float(-p.log().mean()), abs=1e-5)
    same = len(right) if at is None else at + 1
    assert taught.read[:same] == own.read[:same]
    assert taught.written[:same] == own.written[:same]


@given(st.lists(st.integers(0, 2), max_size=5), st.lists(st.integers(0, 2), max_size=5))
def test_the_parting_is_the_first_difference(right, written):
    at = parting(right, written)
    if at is None:
        assert right == written
    else:
        assert right[:at] == written[:at]
        assert right[at : at + 1] != written[at : at + 1]


def test_heads_look_back_in_the_decoder_and_everywhere_in_the_encoder():
    model, tokenizer, _ = load_bundled("pairs-seq2seq")
    source = tokenizer.encode(SENTENCE)
    found = looks(model, source, free(model, source).read)
    for weights in found:
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
    assert not np.triu(found.own, 1).any()
    assert np.triu(found.encoder, 1).any()


def test_each_hidden_word_is_a_pass_of_its_own():
    both, tokenizer, _ = load_bundled("masked-words")
    left = load_bundled("words-gpt")[0]
    ids = tokenizer.encode_from_start("Once Anna met Samir at the market.")
    p, q = from_both_sides(both, ids), from_the_left(left, ids)
    assert p.shape == q.shape == (len(ids) - 1, tokenizer.vocab_size)
    for word in range(len(ids) - 1):
        alone = both.fill_in(ids, word + 1)[: tokenizer.vocab_size]
        np.testing.assert_allclose(p[word], alone, atol=1e-6)
        with torch.inference_mode():
            logits = left(torch.tensor([ids[: word + 1]]))[0][0, -1]
        np.testing.assert_allclose(q[word], logits.softmax(-1), atol=1e-6)
        changed = [
            i
            for i, (a, b) in enumerate(zip(ids, hidden_at(both, ids, word), strict=True))
            if a != b
        ]
        assert changed == [word + 1]
    with pytest.raises(ValueError, match="no word"):
        from_both_sides(both, ids[:1])
    with pytest.raises(ValueError, match="no word"):
        from_the_left(left, ids[:1])
    for model, triangle in ((both, False), (left, True)):
        weights = all_weights(model, ids)
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
        assert triangle == (not np.triu(weights, 1).any())
