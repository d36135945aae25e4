"""The book of tensors of one step against counts made in other ways."""

from itertools import accumulate

import pytest
import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

from llmviz.models.gpt import GPT
from llmviz.models.settings import GPTConfig
from llmviz.models.training_bytes import saved_numbers
from llmviz.training.config import TrainConfig
from llmviz.training.memory_profiler import gpt_parts, watch_step
from llmviz.training.preparation import make_optimizer, set_recompute
from llmviz.training.step_memory import AGAIN, BACKWARD, FORWARD, KINDS

ROWS, TOKENS = 4, 8


def gpt(recompute=0, **options):
    sizes = dict(n_layer=3, n_head=2, n_embd=16, vocab_size=31, context_length=8)
    torch.manual_seed(0)
    model = GPT(GPTConfig(**sizes | options)).train()
    set_recompute(model, recompute)
    return model


def watched(model, rows=ROWS, pieces=1, steps=2):
    """The memory of the last of some steps on the same batch, and its gradients."""
    optimizer = make_optimizer(model, TrainConfig())
    ids = torch.arange(rows * TOKENS).view(rows, TOKENS) % 31
    parts = [(part, part) for part in ids.tensor_split(pieces)]
    for _ in range(steps):
        optimizer.zero_grad(set_to_none=True)
        torch.manual_seed(1)
        memory = watch_step(model, optimizer, parts, gpt_parts(model))
    return memory, [parameter.grad for parameter in model.parameters()]


def of_kind(memory, kind, moment):
    return int(memory.live()[KINDS.index(kind), moment])


class Net(nn.Module):
    """Two matrices and a ReLU between them, whose every tensor can be counted by hand."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(3, 5), nn.Linear(5, 1)

    def forward(self, x, y):
        out = self.two(torch.relu(self.one(x)))
        return out, ((out - y) ** 2).mean()


def test_a_small_network_counted_by_hand():
    net = Net()
    optimizer = make_optimizer(net, TrainConfig())
    x, y = torch.ones(7, 3), torch.zeros(7, 1)
    memory = watch_step(net, optimizer, [(x, y)], ["one", "two"])
    parameters = 3 * 5 + 5 + 5 * 1 + 1
    last = memory.after_forward()
    assert of_kind(memory, "weights", last) == 4 * parameters
    assert of_kind(memory, "batch", last) == 4 * (7 * 3 + 7)
    # ReLU's output, which the second matrix needs too, and the differences, which the square needs.
    assert of_kind(memory, "activations", last) == 4 * (7 * 5 + 7)
    assert of_kind(memory, "gradients", last) == of_kind(memory, "averages", last) == 0
    end = len(memory.moments) - 1
    assert of_kind(memory, "gradients", end) == 4 * parameters
    assert of_kind(memory, "averages", end) == 2 * 4 * parameters + 4 * 4  # with four counters
    assert of_kind(memory, "activations", end) == 0


def test_what_lives_at_the_end_is_what_model_and_optimizer_hold():
    model = gpt()
    memory, gradients = watched(model)
    end = len(memory.moments) - 1
    weights = sum(one.nbytes for one in model.parameters())
    assert of_kind(memory, "weights", end) == weights
    assert of_kind(memory, "gradients", end) == sum(one.nbytes for one in gradients) == weights
    names = {name for name, _ in model.named_parameters()}
    assert {one.name for one in memory.held if one.kind == "gradients"} == names
    assert of_kind(memory, "activations", end) == 0


def test_activations_are_what_autograd_saves():
    model = gpt()
    own = {p.untyped_storage()._cdata for p in model.parameters()}
    saved = {}

    def note(tensor):
        storage = tensor.untyped_storage()
        if storage._cdata not in own:
            saved[storage._cdata] = storage.nbytes(), tensor
        return tensor

    ids = torch.arange(ROWS * TOKENS).view(ROWS, TOKENS) % 31
    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        model(ids, ids)
    memory, _ = watched(model)
    counted = of_kind(memory, "activations", memory.after_forward())
    assert counted == sum(size for size, _ in saved.values()) - ids.nbytes  # of the batch


@pytest.mark.parametrize(
    "options",
    [
        dict(positions="none"),
        dict(activation="silu", tied_head=False, positions="sinusoidal"),
        dict(bias=False, hidden_size=20, n_layer=1),
    ],
    ids=str,
)
def test_the_list_of_kept_tensors_is_exact(options):
    model = gpt(**options)
    memory, _ = watched(model)
    counted = of_kind(memory, "activations", memory.after_forward())
    # The loss keeps one number for all tokens: the sum of their weights.
    assert counted == 4 * (ROWS * TOKENS * saved_numbers(model.config) + 1)
    for every in (1, 2, 5):
        memory, _ = watched(gpt(every, **options))
        counted = of_kind(memory, "activations", memory.after_forward())
        assert counted == 4 * (ROWS * TOKENS * saved_numbers(model.config, every) + 1)


@pytest.mark.parametrize(
    "options",
    [
        {},
        dict(dropout=0.2),
        dict(n_expert=3, experts_per_token=2),
        dict(n_kv_head=1, norm_kind="rms", positions="rotary", activation="swiglu", norm="post"),
    ],
    ids=str,
)
def test_recomputing_keeps_every_gradient_bit_for_bit_and_less_memory(options):
    plain, expected = watched(gpt(**options), steps=1)
    for every in (1, 2, 3, 7):
        memory, gradients = watched(gpt(every, **options), steps=1)
        for one, two in zip(expected, gradients, strict=True):
            assert torch.equal(one, two), every
        after = [of_kind(m, "activations", m.after_forward()) for m in (memory, plain)]
        assert after[0] < after[1]
        phases = [moment.phase for moment in memory.moments]
        assert AGAIN in phases and AGAIN not in [m.phase for m in plain.moments]
    memory, _ = watched(gpt(1, **options), steps=1)
    row = KINDS.index("activations")
    assert memory.live()[row].max() < plain.live()[row].max()


def test_recomputed_blocks_keep_what_the_plain_ones_kept():
    """A block that is computed again leaves as many bytes as it did the first time."""
    plain, _ = watched(gpt())
    again, _ = watched(gpt(1))
    first = [one for one in plain.held if one.part == "blocks.2" and one.kind == "activations"]
    second = [
        one
        for one in again.held
        if one.part == "blocks.2"
        and one.kind == "activations"
        and again.moments[one.born].phase == AGAIN
    ]
    kept = sum(one.bytes for one in first if plain.moments[one.born].phase == FORWARD)
    end = 4 * ROWS * TOKENS * 16  # the block's output, which the norm behind it keeps anyway
    assert sum(one.bytes for one in second) == kept - end


@pytest.mark.parametrize("every", [0, 1, 2])
def test_the_peak_is_that_of_torchs_own_allocations(every):
    model = gpt(every)
    optimizer = make_optimizer(model, TrainConfig())
    ids = torch.arange(ROWS * TOKENS).view(ROWS, TOKENS) % 31
    model(ids, ids)[1].backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        model(ids, ids)[1].backward()
        optimizer.step()
    events = profiled.profiler.kineto_results.events()
    changes = sorted((e.start_ns(), e.nbytes()) for e in events if e.name() == "[memory]")
    peak = max(accumulate(size for _, size in changes))
    optimizer.zero_grad(set_to_none=True)
    memory = watch_step(model, optimizer, [(ids, ids)], gpt_parts(model))
    live = memory.live().sum(axis=0)
    assert live.max() - live[0] == peak


@pytest.mark.parametrize("pieces", [2, 4])
def test_pieces_have_the_same_gradient_and_keep_less(pieces):
    whole, expected = watched(gpt(), steps=1)
    split, gradients = watched(gpt(), pieces=pieces, steps=1)
    for one, two in zip(expected, gradients, strict=True):
        torch.testing.assert_close(two, one, rtol=1e-4, atol=1e-7)
    row = KINDS.index("activations")
    assert split.live()[row].max() < whole.live()[row].max() / pieces * 1.02


def test_moments_name_the_parts_in_their_order():
    memory, _ = watched(gpt())
    order = list(dict.fromkeys((one.phase, one.part) for one in memory.moments))
    blocks = [f"blocks.{i}" for i in range(3)]
    forward = ["inputs", *blocks, "norm_final", "head", "loss"]
    assert [part for phase, part in order if phase == FORWARD] == forward
    assert [part for phase, part in order if phase == BACKWARD] == forward[::-1]
    peak = memory.peak()
    assert sum(one.bytes for one in memory.alive(peak)) == memory.live().sum(axis=0).max()


def test_what_cannot_be_watched_is_refused():
    model = gpt()
    optimizer = make_optimizer(model, TrainConfig())
    ids = torch.zeros(1, 4, dtype=torch.long)
    with pytest.raises(ValueError, match="at least one batch"):
        watch_step(model, optimizer, [], [])
    with pytest.raises(ValueError, match="no part 'nowhere'"):
        watch_step(model, optimizer, [(ids, ids)], ["nowhere"])


def test_a_watch_leaves_no_hooks_behind():
    model = gpt()
    watched(model)
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())
    assert not any(p._post_accumulate_grad_hooks for p in model.parameters())
