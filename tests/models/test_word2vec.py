"""Skip-gram: pairs by brute force, the hand-written gradient against autograd, and learning."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from llmviz.models import word2vec_training as training
from llmviz.models.word2vec import (
    SkipGram,
    SkipGramConfig,
    keep_probabilities,
    negative_probabilities,
    skip_gram_pairs,
)
from llmviz.models.word2vec_training import Batch, SkipGramTraining, gradient, train_skip_gram


def two_topics(documents: int = 300, length: int = 20) -> list[list[int]]:
    """Texts about words 0–9, and texts about words 10–19."""
    rng = np.random.default_rng(0)
    return [(rng.integers(0, 10, length) + 10 * (i % 2)).tolist() for i in range(documents)]


@given(st.integers(0, 12), st.integers(1, 6))
@settings(max_examples=40)
def test_pairs_are_all_neighbours_within_the_window(t, window):
    expected = [[i, j] for i in range(t) for j in range(t) if i != j and abs(i - j) <= window]
    assert skip_gram_pairs(list(range(t)), window).tolist() == expected


def test_each_center_may_reach_differently():
    assert skip_gram_pairs([5, 6, 7], [1, 2, 1]).tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]
    wide = [[0, 1], [0, 2], [1, 0], [1, 2], [2, 1]]
    assert skip_gram_pairs([5, 6, 7], [2, 1, 1]).tolist() == wide


def test_vectors_begin_as_in_the_papers_own_program():
    """Words between −0.5/C and 0.5/C, evenly; neighbours at zero."""
    model = SkipGram(SkipGramConfig(vocab_size=3000, n_embd=10))
    words = model.word.weight.detach() * 10
    assert -0.5 <= words.min() < -0.49 and 0.49 < words.max() <= 0.5
    assert abs(words.mean()) < 0.01 and not model.neighbour.weight.any()


def test_loss_is_that_of_the_paper():
    torch.manual_seed(0)
    model = SkipGram(SkipGramConfig(vocab_size=9, n_embd=4))
    torch.nn.init.normal_(model.neighbour.weight)
    centers, neighbours = torch.tensor([1, 2]), torch.tensor([3, 4])
    negatives = torch.tensor([[5, 6, 7], [0, 8, 8]])
    scores, loss = model(centers, neighbours, negatives)
    w, table = model.word.weight[centers], model.neighbour.weight
    expected = -F.logsigmoid((w * table[neighbours]).sum(-1))
    expected -= F.logsigmoid(-(w[:, None] * table[negatives]).sum(-1)).sum(-1)
    assert loss.item() == pytest.approx(expected.mean().item(), rel=1e-5)
    assert scores.positive.shape == (2,)
    assert scores.negative.shape == (2, 3)


def a_batch(rng: np.random.Generator) -> tuple[Batch, np.ndarray, np.ndarray]:
    lengths = [40, 1, 30, 25]
    text = rng.integers(0, 12, sum(lengths))
    document = np.repeat(np.arange(4), lengths)
    variants = np.cumsum(negative_probabilities(np.bincount(text, minlength=12)))
    places = np.arange(len(text))
    return training.batch_at(text, document, places, 0, 128, 3, variants, rng), text, document


def test_the_band_holds_exactly_the_pairs():
    batch, text, document = a_batch(np.random.default_rng(0))
    window, found = 3, set()
    reach = np.zeros(len(text), dtype=int)
    for b, m, s in batch.pairs.nonzero().tolist():
        i = b * training.STRETCH + m
        j = b * training.STRETCH + s - window
        assert batch.centers[b, m] == text[i]
        assert batch.around[b, s] == text[j]
        reach[i] = max(reach[i], abs(i - j))
        found.add((i, j))
    for d in range(4):
        places = np.flatnonzero(document == d)
        inside = {(i, j) for i, j in found if document[i] == d}
        pairs = skip_gram_pairs(places, np.maximum(reach[places], 1)) + places[0]
        assert inside == {tuple(p) for p in pairs.tolist()}
    assert all(document[i] == document[j] for i, j in found)
    assert {1, 2, 3} <= set(reach.tolist())


@pytest.mark.parametrize("subsample", [0.0, 0.02])
def test_the_first_reading_is_what_training_reads_first(subsample, monkeypatch):
    documents = two_topics(4)
    config = SkipGramConfig(vocab_size=20, n_embd=4, window=3)
    options = SkipGramTraining(subsample=subsample, seed=5)
    first = training.first_reading(config, documents, options)
    seen = []
    monkeypatch.setattr(
        training, "gradient", lambda w, n, batch, k: seen.append(batch) or gradient(w, n, batch, k)
    )
    next(train_skip_gram(SkipGram(config), documents, options))
    run = train_skip_gram(SkipGram(config), documents, options)
    next(run), next(run)
    text = np.concatenate(documents)
    m = len(first.centers)
    assert np.array_equal(text[first.centers], seen[0].centers[0, :m].numpy())
    assert np.array_equal(first.negatives, seen[0].negatives[0].numpy())
    assert len(first.pairs) == seen[0].pairs[0].sum()
    assert first.kept.all() == (subsample == 0)
    kept = np.flatnonzero(first.kept)
    assert np.array_equal(first.centers, kept[:m])
    order = {place: i for i, place in enumerate(kept)}
    for center, near in first.pairs:  # the window counts the words that were kept
        assert 1 <= abs(order[center] - order[near]) <= 3
        assert center // 20 == near // 20
    for center in first.centers:  # and reaches equally far to both sides
        reach = max(abs(order[center] - order[n]) for c, n in first.pairs if c == center)
        inside = [k for k in kept if 0 < abs(order[k] - order[center]) <= reach]
        mine = sorted(k for k in inside if k // 20 == center // 20)
        assert mine == [n for c, n in first.pairs if c == center]


def test_gradient_is_that_of_autograd():
    batch, _, _ = a_batch(np.random.default_rng(1))
    torch.manual_seed(0)
    word = torch.randn(12, 6, requires_grad=True)
    neighbour = torch.randn(12, 6, requires_grad=True)
    w = word[batch.centers]
    positive = torch.einsum("bmc,bsc->bms", w, neighbour[batch.around])
    negative = torch.einsum("bmc,bnc->bmn", w, neighbour[batch.negatives])
    share = batch.pairs.sum(-1, keepdim=True) * 5 / batch.negatives.shape[1]
    loss = -(F.logsigmoid(positive) * batch.pairs).sum()
    loss = loss - (F.logsigmoid(-negative) * share).sum()
    loss.backward()
    step = gradient(word.detach(), neighbour.detach(), batch, 5)
    assert step.loss.item() == pytest.approx(loss.item(), rel=1e-5)
    assert step.pairs.item() == batch.pairs.sum().item()
    for table, ids, parts in (
        (word, step.center_ids, step.centers),
        (neighbour, step.output_ids, step.outputs),
    ):
        summed = torch.zeros(12, 6).index_add_(0, ids, parts)
        assert torch.allclose(summed, table.grad, atol=1e-4)


def test_draws_follow_the_counts():
    counts = np.array([1, 16, 0])
    assert negative_probabilities(counts).tolist() == pytest.approx([1 / 9, 8 / 9, 0])
    assert keep_probabilities(counts, 0).tolist() == [1, 1, 1]
    kept = keep_probabilities(np.array([1, 999]), 0.01)
    assert kept[0] == 1
    assert kept[1] == pytest.approx((0.01 / 0.999) ** 0.5 + 0.01 / 0.999)


@pytest.mark.parametrize("threads", [1, 2])
def test_words_of_one_topic_come_together(threads):
    torch.manual_seed(0)
    model = SkipGram(SkipGramConfig(vocab_size=20, n_embd=16, window=4))
    options = SkipGramTraining(epochs=8, snapshots=5, subsample=0, threads=threads)
    records = list(train_skip_gram(model, two_topics(), options))
    vectors = F.normalize(model.word.weight.detach(), dim=1)
    cosine = vectors @ vectors.T
    assert cosine[:10, :10].mean() > cosine[:10, 10:].mean() + 0.5
    assert records[-1].loss < records[1].loss
    assert np.array_equal(records[-1].vectors, model.word.weight.detach().numpy())
    assert records[-1].words == records[-1].total_words == 300 * 20 * 8
    assert len(records) == 6
    assert np.isnan(records[0].loss)


def test_one_thread_and_one_seed_give_one_result():
    results = []
    for _ in range(2):
        torch.manual_seed(3)
        model = SkipGram(SkipGramConfig(vocab_size=20, n_embd=4))
        *_, last = train_skip_gram(model, two_topics(30), SkipGramTraining(epochs=2))
        results.append(last.vectors)
    assert np.array_equal(*results)


def test_it_can_be_stopped_at_any_record():
    model = SkipGram(SkipGramConfig(vocab_size=20, n_embd=1))
    run = train_skip_gram(model, two_topics(), SkipGramTraining(batch_words=32))
    next(run), next(run)
    run.close()
    assert list(run) == []


@pytest.mark.parametrize("rate", [1.0, 1e6])
def test_a_learning_rate_that_is_too_high_diverges_and_is_stopped(rate):
    torch.manual_seed(0)
    model = SkipGram(SkipGramConfig(vocab_size=20, n_embd=4))
    records = []
    with pytest.raises(training.Diverged, match="try a learning rate below 1"):
        for record in train_skip_gram(model, two_topics(), SkipGramTraining(learning_rate=rate)):
            records.append(record)
    untrained = 6 * np.log(2)
    assert not records[-1].loss < training.DIVERGED * untrained
    assert all(record.loss < training.DIVERGED * untrained for record in records[1:-1])
    assert records[-1].words < records[-1].total_words


def test_rates_up_to_the_gentle_one_stay_in_check():
    torch.manual_seed(0)
    model = SkipGram(SkipGramConfig(vocab_size=20, n_embd=4))
    options = SkipGramTraining(learning_rate=training.GENTLE_RATE)
    *_, last = train_skip_gram(model, two_topics(), options)
    assert last.loss < 6 * np.log(2)


def test_records_can_crowd_at_the_beginning():
    model = SkipGram(SkipGramConfig(vocab_size=20, n_embd=2))
    options = SkipGramTraining(epochs=4, snapshots=8, crowding=2.0, batch_words=32, subsample=0)
    records = list(train_skip_gram(model, two_topics(), options))
    assert len(records) == 9
    for number, record in enumerate(records):
        due = record.total_words * (number / 8) ** 2
        assert due <= record.words < due + 2 * 32
    assert records[-1].words == records[-1].total_words


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([], "more words than the window of 5"),
        ([[1, 2, 3]], "words in all: 3"),
        ([[1]] * 20, "in the longest document: 1"),
        ([[1, 2, 3, 4, 5, 99]], "word ids must be from 0 to 19; got 1 to 99"),
    ],
)
def test_texts_that_cannot_be_learned_from_are_named(documents, message):
    with pytest.raises(ValueError, match=message):
        train_skip_gram(SkipGram(SkipGramConfig(vocab_size=20)), documents)


def test_a_loss_that_is_no_number_stops_the_run():
    model = SkipGram(SkipGramConfig(vocab_size=20))
    torch.nn.init.constant_(model.neighbour.weight, torch.inf)
    with pytest.raises(training.Diverged, match="no longer a number"):
        list(train_skip_gram(model, two_topics()))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (dict(learning_rate=0.0), "learning_rate must be a number above 0; got 0.0"),
        (dict(subsample=2.0), "subsample must be at least 0 and below 1"),
        (dict(crowding=0.5), "crowding must be from 1 to 8"),
        (dict(threads=0), "threads must be a whole number of at least 1"),
    ],
)
def test_bad_settings_are_named(values, message):
    with pytest.raises(ValueError, match=message):
        SkipGramTraining(**values)
