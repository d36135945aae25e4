"""What holds for every encoder-decoder."""

import pytest
import torch

from llmviz.models import MODELS, build

NAMES = [name for name, entry in MODELS.items() if entry.translates]
SMALL = dict(vocab_size=12, context_length=10, n_embd=8)
# Small ones that learn in seconds, and the rate that suits each.
LEARNERS = {
    "seq2seq": (dict(n_layer=1, n_head=2, n_embd=32), 3e-3),
    "seq2seq-rnn": (dict(n_embd=16, hidden_size=48), 5e-3),
}
SOURCE = torch.tensor([[3, 4, 5, 6, 2], [7, 8, 2, 0, 0]])
TARGET = torch.tensor([[1, 5, 4, 3], [1, 9, 8, 2]])


def make(name, **options):
    torch.manual_seed(0)
    return build(name, SMALL | options).eval()


@pytest.mark.parametrize("name", NAMES)
def test_padding_is_as_if_it_were_not_there(name):
    model = make(name)
    together, _ = model(SOURCE, TARGET)
    alone, _ = model(SOURCE[1:, :3], TARGET[1:])
    assert torch.allclose(together[1], alone[0], atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_a_later_target_changes_nothing_before_it(name):
    model = make(name)
    changed = TARGET.clone()
    changed[:, 2] = 11
    before, after = model(SOURCE, TARGET)[0], model(SOURCE, changed)[0]
    assert torch.allclose(before[:, :2], after[:, :2], atol=1e-6)
    assert not torch.allclose(before[:, 2:], after[:, 2:])


@pytest.mark.parametrize("name", NAMES)
def test_pads_carry_no_loss(name):
    model = make(name)
    targets = torch.tensor([[5, 4, 3, 2], [9, 2, 0, 0]])
    ignored = targets.masked_fill(targets == 0, -1)
    assert torch.equal(model(SOURCE, TARGET, targets)[1], model(SOURCE, TARGET, ignored)[1])


@pytest.mark.parametrize("name", NAMES)
def test_it_learns_to_turn_a_row_round(name):
    options, rate = LEARNERS[name]
    model = make(name, **options).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    rows = torch.randint(3, 12, (512, 2))
    end, start = torch.full((512, 1), 2), torch.full((512, 1), 1)
    reversed_rows = rows.flip(1)
    for step in range(160):
        part = slice(64 * step % 512, 64 * step % 512 + 64)
        target_in = torch.cat((start, reversed_rows), 1)[part]
        _, loss = model(rows[part], target_in, torch.cat((reversed_rows, end), 1)[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    translated = model.eval().translate(rows[:50])
    right = sum(a == b for a, b in zip(translated, reversed_rows[:50].tolist(), strict=True))
    assert right >= 40


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (torch.zeros(1, 3, dtype=torch.long), TARGET[:1], "source 0 is all padding"),
        (torch.full((1, 3), 12), TARGET[:1], "token ids must be from 0 to 11; got 12 to 12"),
        (SOURCE, torch.full((2, 3), 12), "token ids must be from 0 to 11"),
        (torch.ones(1, 11, dtype=torch.long), TARGET[:1], "context is 10 tokens; got 11"),
    ],
)
def test_bad_input_is_named(name, source, target, message):
    with pytest.raises(ValueError, match=message):
        make(name)(source, target)


@pytest.mark.parametrize("name", NAMES)
def test_a_translation_has_at_least_one_token_to_make(name):
    with pytest.raises(ValueError, match="max_tokens must be at least 1; got 0"):
        make(name).translate(SOURCE, 0)
    assert all(len(row) <= 3 for row in make(name).translate(SOURCE, 3))
