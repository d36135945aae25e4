"""Texts beyond the context: losses token by token, from models that read no more than they say."""

from __future__ import annotations

import pytest
import torch

from llmviz.corpus import generate
from llmviz.evaluation.longer_texts import (
    EVERY,
    STRETCHES,
    TEXTS,
    TIMES,
    long_texts,
    longer_copy,
    loss_beyond,
    losses_by_position,
    stretched_copy,
)
from llmviz.models import GPT
from llmviz.nn.positions import (
    ntk_base,
    rotary_angles,
    stretched,
    yarn_scaling,
    yarn_sharpening,
)
from llmviz.tokenizers import train_tokenizer
from tests.random_weights import random_gpt

T = 32


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer("char", [story.text for story in generate(20)])


def gpt(tokenizer, positions: str) -> GPT:
    sizes = dict(n_layer=2, n_head=2, n_embd=8, context_length=T, positions=positions)
    return random_gpt(0.4, vocab_size=tokenizer.vocab_size, **sizes)


def nats(model: GPT, ids: torch.Tensor, at: int, first: int) -> float:
    """The loss of the tokens at a place, each from those from `first` on; mean over texts."""
    with torch.inference_mode():
        rows = model(ids[:, first:at])[0][:, -1].double().log_softmax(-1)
    return float(-rows.gather(1, ids[:, at : at + 1]).mean())


@pytest.mark.parametrize("positions", ["rotary", "sinusoidal", "learned"])
def test_each_loss_is_that_of_its_places(tokenizer, positions):
    model = gpt(tokenizer, positions)
    longer = longer_copy(model)
    ids = long_texts(tokenizer, TIMES * T)
    assert ids.shape == (TEXTS, 3 * T + 1)
    found = loss_beyond(model, tokenizer)

    def mean(places: range) -> float:
        return sum(nats(longer, ids, at + 1, 0) for at in places) / len(places)

    assert found.context == T
    assert found.inside == pytest.approx(mean(range(16, 32)), rel=1e-5)
    assert found.beyond == pytest.approx(mean(range(32, 48)), rel=1e-5)
    assert found.far == pytest.approx(mean(range(64, 96)), rel=1e-5)
    again = range(32, 48, EVERY)
    own = sum(nats(model, ids, at + 1, at + 1 - T) for at in again) / len(again)
    assert found.from_last == pytest.approx(own, rel=1e-5)
    assert len({round(one, 6) for one in (found.inside, found.beyond, found.far, own)}) == 4


@pytest.mark.parametrize("positions", ["rotary", "sinusoidal", "learned"])
def test_a_longer_copy_reads_the_context_as_the_model_does(tokenizer, positions):
    model = gpt(tokenizer, positions)
    longer = longer_copy(model)
    ids = long_texts(tokenizer, T, texts=4)[:, :-1]
    with torch.inference_mode():
        assert torch.allclose(longer(ids)[0], model(ids)[0], atol=1e-5)
    assert longer.context_length == 3 * T


@pytest.mark.parametrize("way", STRETCHES)
def test_a_stretched_copy_turns_as_its_way_says(tokenizer, way):
    model = gpt(tokenizer, "rotary")
    size, rotary = model.config.head_size, stretched_copy(model, 4, way).blocks[0].attn.rotary
    cos, sin = rotary.cos[:, : size // 2].double(), rotary.sin[:, : size // 2].double()
    plain = rotary_angles(torch.arange(4 * T, dtype=torch.float64), size)
    turns = {
        "plain": plain,
        "linear": plain / 4,
        "ntk": rotary_angles(torch.arange(4.0 * T).double(), size, ntk_base(10_000, size, 4)),
        "yarn": torch.arange(4.0 * T).double()[:, None] * stretched(plain[1], yarn_scaling(4, T)),
    }[way]
    longer = yarn_sharpening(4) if way == "yarn" else 1.0  # of queries and keys
    torch.testing.assert_close(cos, longer * turns.cos(), atol=1e-4, rtol=0)
    torch.testing.assert_close(sin, longer * turns.sin(), atol=1e-4, rtol=0)


def test_a_plain_copy_reads_as_a_longer_one_and_what_cannot_be_stretched_is_refused(tokenizer):
    model, ids = gpt(tokenizer, "rotary"), long_texts(tokenizer, 4 * T, texts=3)
    with torch.inference_mode():
        logits = longer_copy(model, 4)(ids[:, :-1])[0]
        assert torch.equal(stretched_copy(model, 4, "plain")(ids[:, :-1])[0], logits)
    losses = losses_by_position(longer_copy(model, 4), ids, 16)
    at = torch.nn.functional.cross_entropy(logits[:, 16:32].flatten(0, 1), ids[:, 17:33].flatten())
    assert len(losses) == 4 * T // 16 and losses[1] == pytest.approx(at.item(), rel=1e-5)
    with pytest.raises(ValueError, match="only rotary"):
        stretched_copy(gpt(tokenizer, "learned"), 4, "linear")
    with pytest.raises(ValueError, match="the way must be one of"):
        stretched_copy(model, 4, "rubber")
