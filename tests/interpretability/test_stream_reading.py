"""The stream read in batches and replaced, against plain passes over one text at a time."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from llmviz.interpretability.stream_reading import losses_with, read_taps, stream_tap
from llmviz.models.gpt import GPT
from llmviz.models.settings import GPTConfig
from llmviz.trace import record


@pytest.fixture(scope="module")
def gpt() -> GPT:
    torch.manual_seed(0)
    return GPT(GPTConfig(vocab_size=31, context_length=24, n_layer=2, n_head=2, n_embd=8)).eval()


TEXTS = [
    np.random.default_rng(k).integers(0, 31, n).tolist() for k, n in enumerate([5, 24, 2, 9, 9])
]


@pytest.mark.parametrize("layer", [0, 1])
def test_texts_of_any_length_are_read_as_each_by_itself(gpt, layer):
    (found,) = read_taps(gpt, TEXTS, [stream_tap(layer)])
    for text, part in zip(TEXTS, found, strict=True):
        with torch.inference_mode(), record(stream_tap(layer)) as trace:
            gpt(torch.tensor([text]))
        assert part == pytest.approx(trace[stream_tap(layer)][0, 1:].numpy(), abs=1e-5)


def test_the_losses_are_those_of_the_model(gpt):
    found = losses_with(gpt, TEXTS)
    known = []
    for text in TEXTS:
        logits, _ = gpt(torch.tensor([text[:-1]]))
        known += torch.nn.functional.cross_entropy(
            logits[0], torch.tensor(text[1:]), reduction="none"
        ).tolist()
    assert found == pytest.approx(np.array(known), abs=1e-5)


@pytest.mark.parametrize("layer", [0, 1])
def test_a_stream_replaced_by_itself_changes_nothing(gpt, layer):
    assert np.array_equal(
        losses_with(gpt, TEXTS, stream_tap(layer), lambda x: x), losses_with(gpt, TEXTS)
    )


def test_a_replaced_stream_is_what_the_later_layers_read(gpt):
    """At the last layer all that is left is the last norm and the head."""
    vector = torch.randn(8)
    found = losses_with(gpt, TEXTS, stream_tap(1), lambda x: vector.expand_as(x))
    log_p = gpt.head(gpt.norm_final(vector)).log_softmax(-1).detach().numpy()
    at = 0
    for text in TEXTS:
        own = found[at : at + len(text) - 1]
        assert own[1:] == pytest.approx([-log_p[token] for token in text[2:]], abs=1e-5)
        at += len(text) - 1
