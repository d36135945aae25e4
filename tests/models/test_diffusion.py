"""The model of masked diffusion: its loss is the exact bound, a part of a text at a time."""

import math
from itertools import product

import pytest
import torch

from llmviz.models import build
from llmviz.models.masked_diffusion import exact_bound
from tests.random_weights import with_random_weights

SHAPE = dict(vocab_size=8, context_length=5, n_layer=1, n_head=2, n_embd=8)


def model():
    torch.manual_seed(0)
    return with_random_weights(build("diffusion", SHAPE).eval(), 0.5)


def test_over_all_numbers_of_hidden_tokens_the_loss_is_the_bound():
    """1 to T hidden, each number as likely, and each set of a number: T times the mean loss."""
    asked, ids = model(), torch.tensor([3, 0, 5, 5])
    mean = 0.0
    for bits in product([False, True], repeat=4):
        hidden = torch.tensor(bits)
        if hidden.any():
            read = torch.where(hidden, asked.config.mask_id, ids)[None]
            loss = asked(read, torch.where(hidden, ids, -1)[None])[1]
            mean += float(loss.detach()) / (4 * math.comb(4, int(hidden.sum())))
    bound = exact_bound(lambda rows: asked(rows)[0], ids, asked.config.mask_id)
    assert 4 * mean == pytest.approx(bound.bound, rel=1e-5)


def test_each_row_counts_alike_and_one_without_hidden_tokens_not_at_all():
    asked = model()
    ids = torch.randint(0, 6, (3, 5), generator=torch.Generator().manual_seed(1))
    targets = torch.full((3, 5), -1)
    targets[0], targets[1, 2] = ids[0], ids[1, 2]
    read = torch.where(targets >= 0, asked.config.mask_id, ids)
    each = [float(asked(read[row, None], targets[row, None])[1].detach()) for row in (0, 1)]
    assert float(asked(read, targets)[1].detach()) == pytest.approx(sum(each) / 2, rel=1e-5)
    assert math.isnan(asked(read[2:], targets[2:])[1].item())


def test_what_is_no_text_takes_no_share():
    asked = model()
    with torch.no_grad():
        asked.head.weight[-2:] += 5
    read, targets = torch.tensor([[6, 6, 1]]), torch.tensor([[2, 4, -1]])
    logits, loss = asked(read, targets)
    text = logits[0, :2, :6].log_softmax(-1)
    assert float(loss) == pytest.approx(-float(text[0, 2] + text[1, 4]) / 2, rel=1e-5)
