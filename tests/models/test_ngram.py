"""Counted letters, with one before and more: gradient descent, rows that sum to 1, Kneser–Ney."""

from collections import Counter, defaultdict

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.corpus import letter_pair_counts
from llmviz.corpus.counts import LETTERS, count_letter_pairs
from llmviz.models import Bigram, BigramConfig, CountBigram
from llmviz.models.ngram import METHODS, GramTable, NGrams, V, positions

NAMES = ["anna", "hannah", "nan", "ana", "mo", "momo", "a"]
names = some.lists(some.text("abcn", max_size=6), min_size=1, max_size=8)


def context(text: str) -> np.ndarray:
    """A context as a number in base 27, of a text of dots and letters."""
    return np.array([sum(LETTERS.index(s) * V**k for k, s in enumerate(reversed(text)))])


@settings(max_examples=60)
@given(names, some.integers(1, 4), some.sampled_from(METHODS), some.text("abcdn", max_size=4))
def test_every_row_is_a_distribution_over_27_symbols(learned, n, method, before):
    rows = NGrams(learned, 4).rows(context(before), n, method)
    assert rows.shape == (1, 27)
    assert rows.min() >= 0
    assert rows.sum() == pytest.approx(1, abs=1e-12)


@given(names, some.integers(1, 4))
def test_positions_are_those_of_a_padded_name(learned, n):
    contexts, symbols = positions(learned, n)
    wanted = []
    for name in learned:
        padded = "." * n + name + "."
        wanted += [(padded[at - n : at], padded[at]) for at in range(n, len(padded))]
    assert [int(context(text)[0]) for text, _ in wanted] == contexts.tolist()
    assert [LETTERS.index(symbol) for _, symbol in wanted] == symbols.tolist()


def test_one_letter_back_is_the_counted_bigram():
    grams = NGrams(NAMES, 1)
    table = count_letter_pairs(NAMES)
    seen = np.flatnonzero(table.sum(1))
    rows = grams.rows(seen, 1, "add-one")
    own = CountBigram.fit_counts(table, smoothing=1.0).probabilities().numpy()
    np.testing.assert_allclose(rows, own[seen], atol=1e-12)


def kneser_ney(learned, before: str, symbol: str, n: int) -> float:
    """Interpolated Kneser–Ney from dictionaries of strings, one symbol at a time."""
    grams: dict[int, Counter] = {k: Counter() for k in range(n + 2)}
    for name in learned:
        padded = "." * (n + 1) + name + "."
        for at in range(n + 1, len(padded)):
            for k in range(n + 1):
                grams[k][padded[at - k : at + 1]] += 1

    def table(k: int) -> Counter:
        if k == n:
            return grams[k]
        left = defaultdict(set)
        for gram in grams[k + 1]:
            left[gram[1:]].add(gram[0])
        return Counter(
            {
                gram: times if k and gram[0] == "." else len(left[gram])
                for gram, times in grams[k].items()
            }
        )

    def chance(k: int) -> float:
        if k < 0:
            return 1 / 27
        counts = table(k)
        once = sum(times == 1 for times in counts.values())
        twice = sum(times == 2 for times in counts.values())
        discount = once / (once + 2 * twice) if once else 0.75
        ending = before[len(before) - k :]
        after = {gram: times for gram, times in counts.items() if gram[:-1] == ending}
        total = sum(after.values())
        if not total:
            return chance(k - 1)
        own = max(after.get(ending + symbol, 0) - discount, 0) / total
        return own + discount * len(after) / total * chance(k - 1)

    return chance(n)


# Of the others no gram was seen twice, and none once.
@pytest.mark.parametrize("learned", [NAMES, ["abc"], ["abc"] * 3, ["abc"] * 2])
@pytest.mark.parametrize("before", ["..a", ".an", "ann", "mom", "zzz", "...", ".ab"])
def test_kneser_ney_is_what_a_second_program_computes(learned, before):
    row = NGrams(learned, 3).rows(context(before), 3, "kneser-ney")[0]
    own = [kneser_ney(learned, before, symbol, 3) for symbol in LETTERS]
    np.testing.assert_allclose(row, own, atol=1e-12)


@pytest.mark.parametrize(
    ("counts", "discount"),
    [
        ([1, 1, 2, 5], 2 / 4),
        ([1, 2, 2], 1 / 5),
        ([1, 1, 3], 1.0),  # nothing was seen twice: 2 / (2 + 0)
        ([2, 2, 3], 0.75),  # nothing was seen once
        ([3, 4], 0.75),
    ],
)
def test_a_discount_is_that_of_what_was_seen_once_and_twice(counts, discount):
    table = GramTable(np.arange(len(counts)), np.array(counts))
    assert table.discount() == pytest.approx(discount)


def test_back_off_keeps_what_was_seen_less_a_discount_and_shares_out_the_rest():
    grams = NGrams(NAMES, 2)
    at = context("an")
    row, counts = grams.rows(at, 2, "back-off")[0], grams.raw[2].rows(at)[0]
    below = grams.rows(at, 1, "back-off")[0]
    discount, seen = grams.raw[2].discount(), counts > 0
    np.testing.assert_allclose(row[seen], (counts[seen] - discount) / counts.sum())
    ratio = row[~seen] / below[~seen]
    np.testing.assert_allclose(ratio, ratio[0])


def test_the_loss_is_the_mean_over_letters_and_ends():
    grams = NGrams(NAMES, 2)
    chances = [
        grams.rows(context(text), 2, "kneser-ney")[0, LETTERS.index(symbol)]
        for text, symbol in (("..", "m"), (".m", "o"), ("mo", "."))
    ]
    assert grams.loss(["mo"], 2, "kneser-ney") == pytest.approx(-np.log(chances).mean())


def test_seen_and_known_count_contexts():
    grams = NGrams(["ab", "ac"], 2)
    assert grams.seen(1) == 4  # . a b c
    assert grams.seen(2) == 4  # .. .a ab ac
    assert grams.known(["ab"], 2) == 1.0
    assert grams.known(["zb"], 2) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        (lambda: NGrams([], 2), "at least one name"),
        (lambda: NGrams(["anna"], 0), "1 to 12 letters; got 0"),
        (lambda: NGrams(["anna"], 13), "1 to 12 letters; got 13"),
        (lambda: NGrams(["an na"], 2), "letters a to z only; got 'an na'"),
        (lambda: NGrams(["Anna"], 2), "letters a to z only; got 'Anna'"),
        (lambda: NGrams(["a.b"], 2), "letters a to z only; got 'a.b'"),
        (
            lambda: NGrams(NAMES, 2).rows(context("a"), 1, "good"),
            "add-one, back-off, kneser-ney; got 'good'",
        ),
        (lambda: NGrams(NAMES, 2).rows(context("a"), 3, "back-off"), "0 to 2; got 3"),
    ],
)
def test_what_cannot_be_counted_or_asked_is_refused(call, rule):
    with pytest.raises(ValueError, match=rule):
        call()


@pytest.fixture(scope="module")
def counts() -> torch.Tensor:
    return torch.from_numpy(letter_pair_counts())


@pytest.mark.parametrize(("smoothing", "expected"), [(0.0, 2.4540), (1.0, 2.4546)])
def test_loss_of_the_counted_letters(counts, smoothing, expected):
    loss = CountBigram.fit_counts(counts, smoothing).average_loss()
    assert loss == pytest.approx(expected, abs=0.00005)


def test_gradient_descent_reaches_what_counting_found(counts):
    model = Bigram(BigramConfig(vocab_size=27))
    frequency = counts / counts.sum()
    optimizer = torch.optim.LBFGS(model.parameters(), lr=1, max_iter=100)

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        logits, _ = model(torch.arange(27)[:, None])
        value = -(frequency * logits[:, 0].log_softmax(-1)).sum()
        value.backward()
        return value

    optimizer.step(loss)
    counted = CountBigram.fit_counts(counts)
    assert loss().item() == pytest.approx(counted.average_loss(), abs=0.0005)
    learned = model.table.weight.softmax(-1)
    common = counts > 1000
    assert torch.allclose(learned[common].double(), counted.probabilities()[common], atol=0.01)
