"""What small trainings share: held against torch's own steps by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from llmviz.training import small_models
from llmviz.training.tensors import save_tensors

SHAPE = {"vocab_size": 11, "context_length": 6, "n_layer": 1, "n_head": 2, "n_embd": 8}


def fresh():
    torch.manual_seed(0)
    return small_models.new_gpt(**SHAPE)


def batch(step):
    ids = np.random.default_rng(step).integers(0, 11, (3, 6))
    return ids[:, :-1], ids[:, 1:]


@pytest.mark.parametrize(("steps", "whole"), [(4, 4), (3, 9)])
def test_a_training_takes_the_steps_of_its_rule(steps, whole):
    model, twin = fresh(), fresh()
    losses = list(
        small_models.descend(
            model,
            lambda step: small_models.loss_on(model, batch(step)),
            steps,
            of=whole,
            rate=0.01,
            warmup=2,
            floor=0.2,
        )
    )
    optimizer = torch.optim.AdamW(twin.parameters(), 0.01, weight_decay=0.01)
    for step in range(steps):
        down = 0.2 + 0.8 * (1 + math.cos(math.pi * step / whole)) / 2
        optimizer.param_groups[0]["lr"] = 0.01 * min(1, (step + 1) / 2) * down
        loss = twin(*map(torch.from_numpy, batch(step)))[1]
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(twin.parameters(), 1.0)
        optimizer.step()
        assert losses[step] == pytest.approx(loss.item(), rel=1e-5)
    for one, other in zip(model.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(one, other)


def test_weights_come_again_and_what_is_no_such_file_names_the_command(tmp_path):
    path, model = tmp_path / "small.safetensors", fresh()

    def read():
        return small_models.read_weights(path, "make it", lambda _: fresh())

    with pytest.raises(ValueError, match=r"small\.safetensors is missing or damaged; `make it`"):
        read()
    save_tensors(path, dict(model.state_dict()), torch.float16)
    again = read()
    assert not again.training
    assert torch.equal(again.token.weight, model.token.weight.half().float())
    save_tensors(path, {"other": torch.zeros(2)})
    with pytest.raises(ValueError, match="is missing or damaged; `make it`"):
        read()
    path.write_bytes(b"no tensors")
    with pytest.raises(ValueError, match="is missing or damaged; `make it`"):
        read()
