"""The bigram of letters: counting and gradient descent meet."""

import pytest
import torch

from llmviz.corpus import letter_pair_counts
from llmviz.models import Bigram, BigramConfig, CountBigram


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
