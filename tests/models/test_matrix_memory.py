"""The model whose heads keep a matrix: against the states of the engine, token by token."""

from __future__ import annotations

import pytest
import torch

from llmviz.models import build
from llmviz.models.settings import RULES
from llmviz.nn.state_memory import delta_rule, linear_attention, state_space
from llmviz.trace import record

V, T = 13, 9


def small(rule: str) -> torch.nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(2)
        model = build(
            "matrix-memory",
            {"vocab_size": V, "context_length": T, "n_embd": 16, "n_head": 2, "rule": rule},
        ).eval()
        for parameter in model.parameters():
            if parameter.dim() == 2:
                torch.nn.init.normal_(parameter, std=0.3)
    return model


@pytest.mark.parametrize("rule", RULES)
def test_a_head_answers_what_its_state_holds_after_each_token(rule):
    model = small(rule)
    idx = torch.randint(0, V, (2, T), generator=torch.Generator().manual_seed(0))
    with record() as kept:
        model(idx)
    q, k, v, output = (kept[f"blocks.0.memory.{name}"] for name in ("q", "k", "v", "output"))
    layer = model.blocks[0].memory
    x = model.blocks[0].norm1(kept["embed"])
    before = torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], 1)
    mixed = (1 - layer.mix) * x + layer.mix * before
    if rule == "add":
        steps = linear_attention.recurrent(q, k, v, linear_attention.identity)
    elif rule == "delta":
        steps = delta_rule.recurrent(q, k, v, layer.gate(mixed).sigmoid().mT)
    else:
        decay = (layer.gate(mixed) + 4).sigmoid().view(2, T, 2, 8).transpose(1, 2)
        assert ((decay > 0) & (decay < 1)).all()
        output_again = state_space.parallel(q, k, v, decay)
        torch.testing.assert_close(output, output_again, rtol=1e-4, atol=1e-5)
        steps = state_space.recurrent(q, k, v, decay)
    torch.testing.assert_close(output, steps.output, rtol=1e-4, atol=1e-5)
    assert steps.states.shape == (2, 2, T, 8, 8), "the state does not grow"


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_learns_to_find_what_came_after_a_token_before(rule):
    """Pairs a b, then one of the a's again: its b can be known, and is found in the matrix."""
    chance = torch.Generator().manual_seed(0)
    model = small(rule).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(200):
        keys = torch.rand(32, 6, generator=chance).argsort(1)[:, :3]
        values = torch.randint(6, 12, (32, 3), generator=chance)
        told = torch.stack([keys, values], 2).flatten(1)
        at = torch.randint(3, (32, 1), generator=chance)
        idx = torch.cat([told, keys.gather(1, at)], 1)
        targets = torch.full_like(idx, -1)
        targets[:, -1:] = values.gather(1, at)
        _, loss = model(idx, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.7, "blind guessing has ln 6 = 1.79"


@pytest.mark.parametrize("rule", RULES)
def test_it_is_outlined_without_numbers_and_in_half_precision(rule):
    settings = {"vocab_size": V, "context_length": T, "n_embd": 16, "n_head": 2, "rule": rule}
    with torch.device("meta"):
        model = build("matrix-memory", settings)
        assert model(torch.zeros((2, T), dtype=torch.long))[0].shape == (2, T, V)
    real, idx = small(rule), torch.arange(T)[None]
    with torch.autocast("cpu", torch.bfloat16):
        rough = real(idx)[0].float()
    torch.testing.assert_close(rough, real(idx)[0], rtol=0.1, atol=0.1)


def test_another_rule_is_refused():
    with pytest.raises(ValueError, match="rule must be one of add, delta, gated; got 'mamba'"):
        build("matrix-memory", {"rule": "mamba"})
