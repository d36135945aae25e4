"""The recurrent translator against torch's own layers, and that one vector is all it hands on."""

import pytest
import torch
from torch import nn

from llmviz.models import RecurrentTranslator, RecurrentTranslatorConfig
from llmviz.nn.recurrent import Recurrence
from llmviz.trace import record, tap_names

SMALL = dict(vocab_size=12, context_length=10, n_embd=6, hidden_size=8)
SOURCE = torch.tensor([[3, 4, 5, 6, 2], [7, 8, 2, 0, 0]])
TARGET = torch.tensor([[1, 5, 4, 3], [1, 9, 8, 2]])
LAYERS = {"rnn": nn.RNN, "gru": nn.GRU}


def make(**options) -> RecurrentTranslator:
    torch.manual_seed(0)
    return RecurrentTranslator(RecurrentTranslatorConfig(**(SMALL | options))).eval()


@pytest.mark.parametrize("cell", LAYERS)
def test_values_and_gradients_are_those_of_torch(cell):
    ours = make(cell=cell)
    pairs = []
    theirs = []
    for part in (ours.encoder.layer, ours.decoder.layer):
        layer = LAYERS[cell](6, 8, batch_first=True)
        pairs += [
            (part.input.weight, layer.weight_ih_l0),
            (part.input.bias, layer.bias_ih_l0),
            (part.recurrent.weight, layer.weight_hh_l0),
            (part.recurrent.bias, layer.bias_hh_l0),
        ]
        theirs.append(layer)
    with torch.no_grad():
        for a, b in pairs:
            b.copy_(a)
    packed = nn.utils.rnn.pack_padded_sequence(ours.encoder.token(SOURCE), [5, 3], batch_first=True)
    _, last = theirs[0](packed)  # torch stops at the end of each row by itself
    states, _ = theirs[1](ours.decoder.token(TARGET), last)
    expected = ours.head(states)
    logits, _ = ours(SOURCE, TARGET)
    assert torch.allclose(logits, expected, atol=1e-6)
    upstream = torch.randn_like(logits)
    got = torch.autograd.grad((logits * upstream).sum(), [a for a, _ in pairs])
    wanted = torch.autograd.grad((expected * upstream).sum(), [b for _, b in pairs])
    for a, b in zip(got, wanted, strict=True):
        assert torch.allclose(a, b, atol=1e-5)


def test_padding_is_as_if_it_were_not_there():
    model = make()
    together, _ = model(SOURCE, TARGET)
    alone, _ = model(SOURCE[1:, :3], TARGET[1:])
    assert torch.allclose(together[1], alone[0], atol=1e-6)


def test_one_vector_a_sentence_is_all_that_the_decoder_gets():
    model = make()
    with record("encoder.last") as trace:
        logits, _ = model(SOURCE, TARGET)
    assert trace["encoder.last"].shape == (2, 8)
    other = SOURCE.flip(0)  # another sentence, but the same vector
    again, _ = model.decode(trace["encoder.last"], model.source_mask(other), TARGET)
    assert torch.equal(again, logits)


def test_a_later_target_changes_nothing_before_it():
    model = make()
    changed = TARGET.clone()
    changed[:, 2] = 11
    before, after = model(SOURCE, TARGET)[0], model(SOURCE, changed)[0]
    assert torch.allclose(before[:, :2], after[:, :2], atol=1e-6)
    assert not torch.allclose(before[:, 2:], after[:, 2:])


def test_pads_carry_no_loss():
    model = make()
    targets = torch.tensor([[5, 4, 3, 2], [9, 2, 0, 0]])
    ignored = targets.masked_fill(targets == 0, -1)
    assert torch.equal(model(SOURCE, TARGET, targets)[1], model(SOURCE, TARGET, ignored)[1])


@pytest.mark.parametrize("cell", LAYERS)
def test_every_tap_runs(cell):
    model = make(cell=cell)
    with record() as trace:
        model(SOURCE, TARGET)
    assert set(trace) == set(tap_names(model))


def test_it_learns_to_turn_a_row_round():
    torch.manual_seed(0)
    config = RecurrentTranslatorConfig(**(SMALL | dict(n_embd=16, hidden_size=48)))
    model = RecurrentTranslator(config).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
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


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (torch.zeros(1, 3, dtype=torch.long), TARGET[:1], "source 0 is all padding"),
        (torch.full((1, 3), 12), TARGET[:1], "token ids must be from 0 to 11; got 12 to 12"),
        (SOURCE, torch.full((2, 3), 12), "token ids must be from 0 to 11"),
        (torch.ones(1, 11, dtype=torch.long), TARGET[:1], "context is 10 tokens; got 11"),
    ],
)
def test_bad_input_is_named(source, target, message):
    with pytest.raises(ValueError, match=message):
        make()(source, target)


def test_bad_settings_and_starts_are_named():
    with pytest.raises(ValueError, match="cell must be one of rnn, gru; got 'lstm'"):
        RecurrentTranslatorConfig(cell="lstm")
    with pytest.raises(ValueError, match="two tensors in its state"):
        Recurrence("lstm", 4, 4)(torch.zeros(1, 2, 4), torch.zeros(1, 4))
