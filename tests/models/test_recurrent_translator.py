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


def test_one_vector_a_sentence_is_all_that_the_decoder_gets():
    model = make()
    with record("encoder.last") as trace:
        logits, _ = model(SOURCE, TARGET)
    assert trace["encoder.last"].shape == (2, 8)
    other = SOURCE.flip(0)  # another sentence, but the same vector
    again, _ = model.decode(trace["encoder.last"], model.source_mask(other), TARGET)
    assert torch.equal(again, logits)


@pytest.mark.parametrize("cell", LAYERS)
def test_every_tap_runs(cell):
    model = make(cell=cell)
    with record() as trace:
        model(SOURCE, TARGET)
    assert set(trace) == set(tap_names(model))


def test_bad_settings_and_starts_are_named():
    with pytest.raises(ValueError, match="cell must be one of rnn, gru; got 'lstm'"):
        RecurrentTranslatorConfig(cell="lstm")
    with pytest.raises(ValueError, match="two tensors in its state"):
        Recurrence("lstm", 4, 4)(torch.zeros(1, 2, 4), torch.zeros(1, 4))
