"""Loss scaling in float16: the rule is that of torch's GradScaler, and the loop follows it."""

import dataclasses
import math

import pytest
import torch
from torch import nn

from llmviz.models import build
from llmviz.training import (
    CheckpointError,
    Diverged,
    TrainConfig,
    load_checkpoint,
    save_checkpoint,
    train,
)
from llmviz.training.loss_scale import LEAST, LossScale


def small_gpt(data):
    torch.manual_seed(1)
    sizes = {"vocab_size": data.vocab_size, "context_length": 16}
    return build("gpt", {**sizes, "n_layer": 1, "n_head": 2, "n_embd": 8, "dropout": 0.1})


def in_float16(config, **changes):
    return dataclasses.replace(config, dtype="float16", **changes)


@pytest.mark.parametrize("grow_every", [1, 3, 5])
def test_the_scale_and_the_weights_are_those_of_torchs_grad_scaler(grow_every):
    """On random gradients, of which some are infinite and some NaN."""
    ours, theirs = nn.Linear(3, 2), nn.Linear(3, 2)
    theirs.load_state_dict(ours.state_dict())
    make = lambda model: torch.optim.AdamW(model.parameters(), lr=0.1)  # noqa: E731
    optimizers = make(ours), make(theirs)
    start = 2.0**10
    scale = LossScale(start, grow_every)
    scaler = torch.amp.GradScaler("cpu", init_scale=start, growth_interval=grow_every)
    draw = torch.Generator().manual_seed(grow_every)
    for step in range(60):
        x = torch.randn(4, 3, generator=draw)
        if step % 7 == 3:
            x[0, 0] = math.inf if step % 2 else math.nan
        for optimizer in optimizers:
            optimizer.zero_grad()
        (ours(x).square().mean() * scale.scale).backward()
        scaler.scale(theirs(x).square().mean()).backward()
        gradients = [one.grad for one in ours.parameters()]
        scale.unscale(gradients)
        finite = all(bool(one.isfinite().all()) for one in gradients)
        if finite:
            optimizers[0].step()
        scale.update(finite=finite)
        scaler.step(optimizers[1])
        scaler.update()
        assert scale.scale == scaler.get_scale()
        for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
            assert torch.equal(a, b)
    assert scale.scale != start


def test_a_power_of_two_on_the_loss_is_the_same_power_on_each_gradient(data):
    model = small_gpt(data).eval()
    batch = data.batch(1, 4)

    def gradients(factor):
        model.zero_grad()
        (model(*batch)[1] * factor).backward()
        return [one.grad.clone() for one in model.parameters()]

    for power in (-8, 5, 16):
        for plain, scaled in zip(gradients(1.0), gradients(2.0**power), strict=True):
            assert torch.equal(plain * 2.0**power, scaled)


def test_a_run_in_float16_is_one_in_float32_but_for_rounding(data, config):
    plain = [one.train_loss for one in train(small_gpt(data), data, config)]
    half = [one.train_loss for one in train(small_gpt(data), data, in_float16(config))]
    assert half == pytest.approx(plain, rel=5e-3) and half != plain


class Rescaled(nn.Module):
    """A model whose loss, and so every gradient, is multiplied by a factor."""

    def __init__(self, body, factor):
        super().__init__()
        self.body, self.factor = body, factor

    def forward(self, idx, targets):
        logits, loss = self.body(idx, targets)
        return logits, loss * self.factor


def test_without_a_scale_tiny_gradients_are_lost_and_with_one_they_are_not(data, config):
    config = dataclasses.replace(config, steps=1, grad_clip=0.0)
    zeros = {}
    for name, scale in (("none", 1.0), ("fixed", 2.0**20), ("found", 0.0)):
        model = small_gpt(data).eval()
        list(train(Rescaled(model, 2.0**-20), data, in_float16(config, loss_scale=scale)))
        zeros[name] = sum(int((one.grad == 0).sum()) for one in model.parameters())
    assert zeros["fixed"] <= zeros["found"] < zeros["none"] / 2


def test_a_gradient_that_overflows_makes_no_update_and_halves_the_scale(data, config):
    """A loss so large that the first scales are too high for float16."""
    config = in_float16(config, steps=8, grad_clip=0.0)
    model = small_gpt(data)
    records, changed = [], []
    before = [one.detach().clone() for one in model.parameters()]
    for record in train(Rescaled(model, 2.0**6), data, config):
        now = [one.detach().clone() for one in model.parameters()]
        changed.append(not all(map(torch.equal, before, now)))
        records.append(record)
        before = now
    skipped = [bool(one.notes) for one in records]
    assert any(skipped) and not all(skipped)
    assert [not one for one in skipped] == changed
    assert [one.grad_norm == 0 for one in records] == skipped
    scales = [2.0**16 / 2 ** sum(skipped[: i + 1]) for i in range(len(records))]
    for record, scale in zip(records, scales, strict=True):
        if record.notes:
            assert record.notes[0].endswith(f"the loss scale is now {scale:g}")
        record.to_json()  # which refuses what is no finite number


def test_a_scale_that_is_set_stays_and_an_overflow_ends_the_run(data, config):
    config = in_float16(config, loss_scale=2.0**16, grad_clip=0.0)
    with pytest.raises(Diverged, match="nats per token at step 1"):
        list(train(Rescaled(small_gpt(data), 2.0**12), data, config))


def test_a_model_whose_gradient_is_never_a_number_ends_its_run(data, config):
    class Broken(Rescaled):
        def forward(self, idx, targets):
            logits, loss = super().forward(idx, targets)
            return logits, loss + (logits * 0).sum().sqrt()  # the slope of √ at 0 is infinite

    config = in_float16(config, steps=100)
    with pytest.raises(Diverged, match="not finite at step 31"):
        list(train(Broken(small_gpt(data), 1.0), data, config))
    assert LEAST == 2.0 ** (16 - 30)


def test_a_run_goes_on_with_its_scale_bit_for_bit(data, config, tmp_path):
    config = in_float16(config, steps=8, grad_clip=0.0, checkpoint_every=1)
    whole = [
        (one.step, one.train_loss, one.notes)
        for one in train(Rescaled(small_gpt(data), 2.0**6), data, config)
    ]
    keep = lambda state, _: save_checkpoint(tmp_path, state)  # noqa: E731
    first = train(Rescaled(small_gpt(data), 2.0**6), data, config, save=keep)
    begun = [next(first) for _ in range(3)]
    first.close()
    saved = load_checkpoint(tmp_path)
    assert saved.loss_scale["scale"] < 2.0**16
    rest = train(Rescaled(small_gpt(data), 2.0**6), data, config, resume=saved)
    assert [(one.step, one.train_loss, one.notes) for one in (*begun, *rest)] == whole


def test_other_precisions_have_no_scale(data, config):
    assert LossScale.of(config, torch.float32) is None
    assert LossScale.of(config, torch.bfloat16) is None
    saved = []
    list(train(small_gpt(data), data, config, save=lambda state, _: saved.append(state)))
    assert saved[-1].loss_scale == {}


@pytest.mark.parametrize("dtype", ["auto", "float32", "bfloat16"])
def test_a_scale_for_another_precision_is_refused(dtype):
    with pytest.raises(ValueError, match=f"loss_scale must be 0 .* got 8 with dtype={dtype}"):
        TrainConfig(dtype=dtype, loss_scale=8)
    with pytest.raises(ValueError, match="loss_scale"):
        TrainConfig(dtype="float16", loss_scale=-1.0)


def test_a_checkpoint_whose_scale_lacks_a_part_is_named(data, config, tmp_path, monkeypatch):
    monkeypatch.setattr(LossScale, "state", lambda self: {"scale": 8.0})
    keep = lambda state, _: save_checkpoint(tmp_path, state)  # noqa: E731
    list(train(small_gpt(data), data, in_float16(config, steps=1), save=keep))
    with pytest.raises(CheckpointError, match=r"state.json lacks 'good_steps'"):
        load_checkpoint(tmp_path)


def test_a_checkpoint_changes_no_scale_that_is_set():
    state = {"scale": 4.0, "good_steps": 7.0}
    free, fixed = LossScale(2.0), LossScale(2.0, grow_every=0)
    for one in (free, fixed):
        one.restore(state)
    assert free.state() == state and fixed.scale == 2.0


def test_a_scale_that_is_set_stays_and_one_that_is_not_follows_the_gradients():
    for wanted in (8.0, 0.0):
        scale = LossScale.of(TrainConfig(dtype="float16", loss_scale=wanted), torch.float16)
        begin = scale.scale
        for finite in (True, False, False):
            scale.update(finite=finite)
        assert (scale.scale == begin == 8.0) == bool(wanted) and scale.can_fall != bool(wanted)
