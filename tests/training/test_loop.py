"""The loop: what it computes, that pauses and splits change nothing, and where it stops."""

import dataclasses
import math
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from llmviz.models import MODELS, build
from llmviz.training import (
    CheckpointError,
    Diverged,
    Stream,
    TrainConfig,
    TrainData,
    loop,
    train,
)
from llmviz.training.config import OPTIMIZERS
from llmviz.training.loop import EXPLODED, _randomness
from llmviz.training.optimizers import Hyper, adamw
from llmviz.training.pairs import PairData

SMALL = {
    "bigram": {},
    "mlp": {"window": 4, "n_embd": 8, "hidden_size": 16},
    "wavenet": {"n_embd": 8, "hidden_size": 8},
    "rnn": {"n_embd": 8},
    "gru": {"n_embd": 8},
    "lstm": {"n_embd": 8, "dropout": 0.2},
    "gpt": {"n_layer": 2, "n_head": 2, "n_embd": 8, "dropout": 0.2},
}


def new(name, data, **options):
    torch.manual_seed(1)
    sizes = {"vocab_size": data.vocab_size, "context_length": 16}
    return build(name, {**sizes, **SMALL.get(name, {}), **options})


def losses(records):
    return [(r.step, r.tokens, r.train_loss, r.validation_loss, r.grad_norm, r.lr) for r in records]


def test_an_update_is_the_one_written_out_by_hand(data, config):
    model = new("rnn", data)
    twin = new("rnn", data)
    config = dataclasses.replace(config, steps=3, grad_clip=0.0, weight_decay=0.1, beta2=0.95)
    records = list(train(model, data, config))
    states = {name: {} for name, _ in twin.named_parameters()}
    for record in records:
        loss = twin(*data.batch(record.step, config.batch_size))[1]
        assert record.train_loss == pytest.approx(loss.item(), rel=1e-5)
        grads = torch.autograd.grad(loss, list(twin.parameters()))
        total = math.sqrt(sum(float((g.double() ** 2).sum()) for g in grads))
        assert record.grad_norm == pytest.approx(total, rel=1e-5)
        with torch.no_grad():
            for (name, parameter), grad in zip(twin.named_parameters(), grads, strict=True):
                decay = 0.1 if parameter.dim() >= 2 else 0.0
                hyper = Hyper(lr=record.lr, beta2=0.95, weight_decay=decay)
                update = adamw(parameter, grad, states[name], hyper)
                parameter.copy_(update.param)
                states[name] = update.state
    for a, b in zip(model.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("limit", [0.0, 0.05, 1000.0])
def test_a_gradient_is_cut_as_torch_cuts_it(data, config, limit):
    model, twin = new("rnn", data), new("rnn", data)
    plain = {"optimizer": "sgd", "weight_decay": 0.0, "learning_rate": 0.5}
    config = dataclasses.replace(config, steps=4, grad_clip=limit, **plain)
    for record in train(model, data, config):
        twin.zero_grad()
        twin(*data.batch(record.step, config.batch_size))[1].backward()
        length = torch.nn.utils.clip_grad_norm_(twin.parameters(), limit or math.inf)
        assert record.grad_norm == pytest.approx(float(length), rel=1e-6)
        assert 0.05 < length < 1000
        with torch.no_grad():
            for parameter in twin.parameters():
                parameter -= record.lr * parameter.grad
    for a, b in zip(model.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-8)


def test_it_learns_and_validates_on_the_same_data_each_time(data, config):
    config = dataclasses.replace(config, steps=60, eval_every=20)
    records = list(train(new("gru", data), data, config))
    assert records[0].train_loss == pytest.approx(math.log(data.vocab_size), abs=0.5)
    assert records[-1].train_loss < 0.7 * records[0].train_loss
    assert [r.step for r in records if r.validation_loss is not None] == [20, 40, 60]
    assert [r.tokens for r in records] == sorted(r.tokens for r in records)


def test_each_token_counts_alike_in_the_validation_loss():
    """The batches have as many rows and not as many tokens."""
    stream = Stream.join([[1 + i % 5] * (1 + 3 * (i % 4)) for i in range(23)], 0)
    data = TrainData(stream, stream, 16, 7, "padded")
    model = new("gru", data)
    config = TrainConfig(steps=1, batch_size=4, device="cpu", dtype="float32", threads=1)
    (record,) = train(model, data, config)
    nats, batches = [], list(data.validation_batches(4, config.eval_batches))
    with torch.no_grad():
        for inputs, targets in batches:
            logits = model(inputs)[0]
            each = F.cross_entropy(logits.mT, targets, ignore_index=-1, reduction="none")
            nats.append(each[targets != -1])
    assert len({len(one) / len(batch[0]) for one, batch in zip(nats, batches, strict=True)}) > 2
    assert record.validation_loss == pytest.approx(float(torch.cat(nats).mean()), rel=1e-5)


def test_the_pace_is_that_of_the_steps_since_the_last_record(data, config, monkeypatch):
    """Validation and samples take time that is no step's."""
    now, stream = [0.0], iter(range(1, 100))
    monkeypatch.setattr(loop, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    model = new("gru", data)
    model.register_forward_hook(lambda module, *_: take(next(stream) if module.training else 50))

    def take(seconds):
        now[0] += seconds

    def sample(model):
        take(1000)
        return "text"

    config = dataclasses.replace(config, eval_every=2, sample_every=3, log_every=2)
    first, sampled, third, last = train(model, data, config, sample=sample)
    assert [one.step for one in (first, sampled, third, last)] == [2, 3, 4, 6]
    pace = [one.tokens_per_second for one in (first, sampled, third, last)]
    tokens = [0, *(data.count(data.batch(step, config.batch_size)) for step in range(1, 7))]
    expected = [sum(tokens[1:3]) / 3, tokens[3] / 3, tokens[4] / 4, sum(tokens[5:]) / 11]
    assert pace == pytest.approx(expected)
    validating = 50 * len(list(data.validation_batches(config.batch_size, config.eval_batches)))
    seconds = [one.seconds for one in (first, sampled, third, last)]
    assert seconds == pytest.approx(
        [3 + validating, 1006 + validating, 1010 + 2 * validating, 2021 + 3 * validating]
    )


@pytest.mark.parametrize("name", ["bigram", "gpt"])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.4])
def test_label_smoothing_is_torchs_in_training_and_not_in_what_is_measured(
    name, share, data, config
):
    model, twin = (new(name, data, **({"dropout": 0.0} if name == "gpt" else {})) for _ in "ab")
    config = dataclasses.replace(config, steps=1, eval_every=1, label_smoothing=share)
    (record,) = train(model, data, config)
    idx, targets = data.batch(1, config.batch_size)
    logits = twin.train()(idx)[0].transpose(1, 2)
    oracle = F.cross_entropy(logits, targets, ignore_index=-1, label_smoothing=share)
    assert record.train_loss == pytest.approx(oracle.item(), rel=1e-5)
    plain = [
        F.cross_entropy(model(idx)[0].transpose(1, 2), targets, ignore_index=-1)
        for idx, targets in data.validation_batches(100, 0)
    ]
    assert record.validation_loss == pytest.approx(plain[0].item(), rel=1e-5) and len(plain) == 1


def test_label_smoothing_needs_a_model_of_tokens_and_ends_with_its_run(data, config):
    config = dataclasses.replace(config, steps=1, label_smoothing=0.2)
    model = new("rnn", data)
    list(train(model, data, config))
    list(train(model, data, dataclasses.replace(config, label_smoothing=0.0)))
    assert model.label_smoothing == 0
    with pytest.raises(ValueError, match=r"=0\.2 for a Linear"):
        train(nn.Linear(2, 2), data, config)


@pytest.mark.parametrize("parts", [2, 3, 4])
def test_accumulation_changes_nothing_but_rounding(data, config, parts):
    whole = list(train(new("gru", data), data, config))
    split = dataclasses.replace(config, accumulate=parts)
    for a, b in zip(whole, train(new("gru", data), data, split), strict=True):
        assert b.train_loss == pytest.approx(a.train_loss, rel=1e-5)
        assert b.grad_norm == pytest.approx(a.grad_norm, rel=1e-4)


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("every", [1, 2, 9])
def test_recomputing_changes_nothing_bit_for_bit(data, config, every, parts):
    def run(recompute):
        changed = dataclasses.replace(config, recompute=recompute, accumulate=parts)
        return losses(train(new("gpt", data), data, changed))

    assert run(every) == run(0)


def test_recomputing_needs_blocks_and_ends_with_its_run(data, config):
    with pytest.raises(
        ValueError, match=r"unless the model is a gpt or bert; got recompute=1 for a GRU"
    ):
        train(new("gru", data), data, dataclasses.replace(config, recompute=1))
    model = new("gpt", data)
    list(train(model, data, dataclasses.replace(config, recompute=1, steps=1)))
    list(train(model, data, dataclasses.replace(config, steps=1)))
    assert model.recompute_every == 0


def test_a_pause_changes_nothing_whatever_happens_in_it(data, config):
    straight = losses(train(new("gpt", data), data, config))
    paused = []
    for record in train(new("gpt", data), data, config):
        paused.append(record)
        torch.manual_seed(99)
        torch.rand(7)
    assert losses(paused) == straight


def test_the_callers_random_state_is_left_alone(data, config):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    list(train(build("gpt", {"vocab_size": data.vocab_size, **SMALL["gpt"]}), data, config))
    model_made = torch.get_rng_state()
    torch.set_rng_state(before)
    build("gpt", {"vocab_size": data.vocab_size, **SMALL["gpt"]})
    assert torch.equal(torch.get_rng_state(), model_made)


@pytest.mark.parametrize("name", sorted(set(MODELS) - {"word2vec"}))
def test_resuming_is_bit_for_bit_for_every_model(name, data, config):
    if MODELS[name].translates:
        sizes = {"vocab_size": 12, "n_embd": 8}
        if MODELS[name].attention:
            sizes |= {"n_layer": 1, "n_head": 2, "dropout": 0.1}
        pairs = [([3 + i % 9, 4], [5, 3 + i % 7, 6]) for i in range(11)]
        data = PairData(pairs, pairs[:3], 16, 12, end=2, pad=0)
    else:
        sizes = {}
    make = lambda: new(name, data, **sizes)  # noqa: E731
    straight, kept = make(), {}
    whole = losses(train(straight, data, config))
    first = train(make(), data, config, save=lambda c, keep: kept.update({c.step: c}))
    begun = [next(first) for _ in range(4)]  # mid-epoch: 4 batches of 4 from 11 documents
    first.close()
    resumed = make()
    with torch.no_grad():
        for parameter in resumed.parameters():
            parameter.add_(1.0)  # whatever the model held before is replaced
    rest = train(resumed, data, config, resume=kept[4])
    assert losses(begun) + losses(rest) == whole
    ends = straight.state_dict(), resumed.state_dict()
    assert all(torch.equal(tensor, ends[1][name]) for name, tensor in ends[0].items())


def test_a_fork_with_another_setting_is_its_parent_until_the_fork(data, config):
    kept = {}
    parent = dataclasses.replace(config, snapshot_every=3)
    list(train(new("gru", data), data, parent, save=lambda c, keep: kept.update({c.step: c})))
    child = new("gru", data)
    other = dataclasses.replace(config, learning_rate=5e-2)
    record = next(train(child, data, other, resume=kept[3]))
    assert record.step == 4 and record.lr > parent.learning_rate


def test_a_record_now_and_then_holds_the_mean_of_its_steps(data, config):
    every = list(train(new("gru", data), data, config))
    seldom = list(train(new("gru", data), data, dataclasses.replace(config, log_every=3)))
    assert [r.step for r in seldom] == [3, 6]
    for record in seldom:
        part = [r.train_loss for r in every[record.step - 3 : record.step]]
        assert record.train_loss == pytest.approx(sum(part) / 3)


def test_samples_come_when_due_and_leave_the_run_alone(data, config):
    plain = losses(train(new("gpt", data), data, config))

    def sample(model):
        torch.rand(3)
        return "text"

    config = dataclasses.replace(config, sample_every=2)
    sampled = list(train(new("gpt", data), data, config, sample=sample))
    assert [r.step for r in sampled if r.sample] == [2, 4, 6]
    assert losses(sampled) == plain


def test_stop_is_asked_after_each_step_and_saves(data, config):
    kept, answers = [], iter([False, False, True])
    asked = {"save": lambda c, keep: kept.append(c.step), "stop": lambda: next(answers)}
    *_, last = train(new("gru", data), data, config, **asked)
    assert last.step == 3 and kept == [3] and last.validation_loss is not None


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_optimizer_trains(optimizer, data, config):
    rate = 0.05 if optimizer in ("sgd", "momentum", "nesterov", "adagrad") else 0.005
    config = dataclasses.replace(
        config, optimizer=optimizer, learning_rate=rate, steps=40, weight_decay=0.0
    )
    records = list(train(new("gru", data), data, config))
    assert records[-1].train_loss < records[0].train_loss


def test_bfloat16_stays_near_float32(data, config):
    config = dataclasses.replace(config, steps=30, eval_every=0)
    *_, exact = train(new("gru", data), data, config)
    *_, rough = train(new("gru", data), data, dataclasses.replace(config, dtype="bfloat16"))
    assert rough.validation_loss == pytest.approx(exact.validation_loss, abs=0.05)


class Fragile(nn.Module):
    """A model whose loss can be told what to be."""

    context_length = 16

    def __init__(self, losses):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(2, 2))
        self.losses = iter(losses)

    def forward(self, idx, targets=None):
        value = next(self.losses)
        return self.weight, (self.weight * 0).sum() + value


@pytest.mark.parametrize("bad", [math.nan, math.inf, 2 * EXPLODED])
def test_a_loss_that_is_no_number_stops_the_run_and_keeps_the_last_good_state(data, config, bad):
    kept = []
    run = train(
        Fragile([3.0, 2.0, bad, 1.0]),
        data,
        dataclasses.replace(config, eval_every=0, checkpoint_every=1),
        save=lambda c, keep: kept.append(c),
    )
    with pytest.raises(
        Diverged, match=r"step 3 .*2\.0000 at step 2.*smaller learning rate"
    ) as error:
        list(run)
    assert error.value.step == 3 and error.value.last_loss == 2.0
    assert [c.step for c in kept] == [1, 2]
    assert all(torch.isfinite(t).all() for c in kept for t in c.model.values())


def test_a_run_that_goes_wrong_names_the_step_and_the_tensor(data, config):
    config = dataclasses.replace(config, eval_every=0)
    with pytest.raises(Diverged, match=r"at step 2 \(learning rate [^)]*\); the last finite"):
        list(train(Fragile([3.0, math.nan]), data, config))  # its weights and gradients are sound
    steep = Fragile([])
    steep.forward = lambda idx, targets=None: (steep.weight, steep.weight.sum().sqrt())
    told = (
        r"the gradient is not finite at step 1 \(.*\): the gradient of weight holds infinity: 4 of"
    )
    with pytest.raises(Diverged, match=told):
        list(train(steep, data, config))
    model = new("gru", data)
    run = train(model, data, config)
    next(run)
    name, weight = list(model.named_parameters())[1]
    with torch.no_grad():
        weight.view(-1)[0] = math.inf
    with pytest.raises(Diverged, match=rf"at step 2 \(.*\): {name} holds infinity: 1 of"):
        list(run)


def test_weights_that_are_no_numbers_are_never_saved(data, config):
    """The loss of a step was finite, its update was not: no checkpoint may hold it."""
    kept = []
    config = dataclasses.replace(
        config, eval_every=0, checkpoint_every=1, learning_rate=1e30, optimizer="sgd", grad_clip=0.0
    )
    told = r"a weight is not finite or too large at step 1 \(learning rate 5e\+29\).* holds"
    with pytest.raises(Diverged, match=told):
        list(train(new("gru", data), data, config, save=lambda c, keep: kept.append(c)))
    assert kept == []


def test_what_does_not_fit_is_refused_before_the_first_step(data, config):
    with pytest.raises(ValueError, match=r"context_length must not exceed the model's; got 16 > 8"):
        next(train(new("gru", data, context_length=8), data, config))
    with pytest.raises(ValueError, match="vocabulary must not exceed the model's"):
        next(train(new("gru", data, vocab_size=3), data, config))
    kept = []
    list(train(new("gru", data), data, config, save=lambda c, keep: kept.append(c)))
    with pytest.raises(CheckpointError, match="another model"):
        next(train(new("lstm", data), data, config, resume=kept[-1]))
    with pytest.raises(CheckpointError, match=r"another model.*is \("):
        next(train(new("gru", data, n_embd=9), data, config, resume=kept[-1]))
    with pytest.raises(ValueError, match="no parameter to train"):
        next(train(nn.Identity(), data, config))


def test_what_differs_from_the_checkpoint_is_said(data, config):
    kept = []
    list(train(new("gru", data), data, config, save=lambda c, keep: kept.append(c)))
    older = dataclasses.replace(
        kept[-1], environment={**kept[-1].environment, "torch": "1.0", "threads": 64}
    )
    longer = dataclasses.replace(config, steps=8)
    notes = next(train(new("gru", data), data, longer, resume=older)).notes
    assert len(notes) == 2 and "was 1.0" in " ".join(notes) and "was 64" in " ".join(notes)


def test_auto_is_settled_by_measuring_and_kept_by_a_resumed_run(data):
    config = TrainConfig(steps=2, batch_size=4, device="cpu")
    kept = []
    list(train(new("gpt", data), data, config, save=lambda c, keep: kept.append(c)))
    settings = kept[-1].settings
    assert settings["threads"] >= 1 and settings["dtype"] in ("float32", "bfloat16")
    longer = dataclasses.replace(config, steps=3)
    assert next(train(new("gpt", data), data, longer, resume=kept[-1])).notes == ()


def test_a_step_draws_what_torchs_own_seed_gives_and_puts_the_generator_back():
    before = torch.get_rng_state()
    with _randomness(torch.device("cpu"), 3, 5, 0):
        seed, drawn = torch.initial_seed(), torch.rand(4)
    assert torch.equal(torch.get_rng_state(), before)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        assert torch.equal(torch.rand(4), drawn)
    with _randomness(torch.device("cpu"), 3, 6, 0):
        assert not torch.equal(torch.rand(4), drawn)


def test_a_device_beside_the_cpu_is_seeded_too(monkeypatch):
    seeds = []
    monkeypatch.setattr(torch, "manual_seed", seeds.append)
    with _randomness(torch.device("mps"), 3, 5, 0):
        pass
    with _randomness(torch.device("mps"), 3, 6, 0):
        pass
    assert len(set(seeds)) == 2


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize(
    ("dtype", "compiled"), [("float32", "off"), ("bfloat16", "on"), ("float16", "off")]
)
def test_the_curve_of_the_gpu_is_that_of_the_cpu(data, config, dtype, compiled):
    def losses(config):
        model = new("gpt", data, n_embd=32, dropout=0.0)
        return [r.train_loss for r in train(model, data, config)]

    there = dataclasses.replace(config, device="cuda", dtype=dtype, compile=compiled)
    tolerance = 1e-4 if dtype == "float32" else 3e-2
    assert losses(there) == pytest.approx(losses(config), rel=tolerance)
