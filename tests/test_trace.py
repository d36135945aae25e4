"""Recording watches without touching: names, choice of what is kept, and nobody else's tensors."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn

from llmviz.models import GPT, MODELS, GPTConfig, build
from llmviz.trace import Tap, name_taps, record, recording, tap_names

SMALL = dict(vocab_size=11, context_length=8, n_layer=2, n_head=2, n_embd=8)


@pytest.fixture
def model() -> GPT:
    torch.manual_seed(0)
    return GPT(GPTConfig(**SMALL)).eval()


IDX = torch.tensor([[1, 2, 3, 4, 5]])


def test_documented_names_are_recorded(model):
    with record() as trace:
        model(IDX)
    steps = ["q", "k", "v", "scores", "scaled", "masked", "weights", "dropped"]
    steps += ["output", "concat", "projection"]
    block = ["norm1", *(f"attn.{step}" for step in steps), "attn", "residual_mid"]
    block += ["norm2", "mlp.hidden", "mlp.act", "mlp", "residual"]
    assert list(trace) == [
        *("embed.token", "embed.position", "embed"),
        *(f"blocks.{i}.{name}" for i in range(2) for name in block),
        *("norm_final", "logits"),
    ]


@pytest.mark.parametrize("name", [name for name, entry in MODELS.items() if entry.next_token])
def test_every_tap_of_every_model_runs_and_recording_changes_nothing(name):
    torch.manual_seed(0)
    model = build(name, {"vocab_size": 11, "context_length": 8}).eval()
    plain, _ = model(IDX)
    with record() as trace:
        watched, _ = model(IDX)
    assert set(trace) == set(tap_names(model))
    assert torch.allclose(plain, watched, atol=1e-6)
    assert torch.equal(trace["logits"], watched)
    assert not any(tensor.requires_grad for tensor in trace.values())


def test_recording_leaves_the_gradients_alone(model):
    def gradients() -> list[torch.Tensor]:
        model.zero_grad()
        model(IDX, IDX)[1].backward()
        return [p.grad.clone() for p in model.parameters()]

    plain = gradients()
    with record():
        watched = gradients()
    for a, b in zip(plain, watched, strict=True):
        assert torch.allclose(a, b, atol=1e-6)


def test_only_what_is_asked_for_is_kept(model):
    with record("blocks.*.attn.weights", dtype=torch.float16) as trace:
        model(IDX)
    assert list(trace) == ["blocks.0.attn.weights", "blocks.1.attn.weights"]
    assert trace["blocks.1.attn.weights"].dtype == torch.float16
    with record(["logits", "embed"]) as trace:
        model(IDX)
    assert set(trace) == {"logits", "embed"}


def test_uint8_is_within_half_a_step(model):
    with record("blocks.0.attn.weights") as exact:
        model(IDX)
    with record("blocks.0.attn.weights", dtype=torch.uint8) as small:
        model(IDX)
    a, b = exact["blocks.0.attn.weights"], small["blocks.0.attn.weights"]
    assert b.dtype == torch.uint8
    assert (a - b / 255).abs().max() <= 0.5 / 255 + 1e-6


def test_uint8_refuses_what_it_cannot_hold(model):
    with pytest.raises(ValueError, match="from 0 to 1"), record("embed", dtype=torch.uint8):
        model(IDX)
    assert not recording()


def test_an_unknown_name_says_what_there_is(model):
    with record("logits") as trace:
        model(IDX)
    with pytest.raises(KeyError, match="'embed'; recorded: logits"):
        trace["embed"]


def test_recordings_nest_and_end(model):
    with record("logits") as outer:
        with record("embed") as inner:
            model(IDX)
        assert list(inner) == ["embed"]
        assert not outer
        model(IDX)
    model(IDX[:, :2])
    assert outer["logits"].shape[1] == IDX.shape[1]


def test_threads_that_share_a_model_do_not_mix(model):
    texts = [torch.randint(0, 11, (1, 1 + i % 8)) for i in range(60)]
    expected = []
    for text in texts:
        with record() as trace:
            model(text)
        expected.append(trace)

    def watch(i: int) -> bool:
        if i % 3 == 2:
            model(texts[i])  # this one does not record
            return not recording()
        with record() as trace:
            model(texts[i])
        return list(trace) == list(expected[i]) and all(
            torch.equal(trace[name], expected[i][name]) for name in trace
        )

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(watch, range(60)))


def test_two_taps_of_one_name_are_refused():
    model = nn.Module()
    model.a, model.b = Tap("x"), Tap("x")
    with pytest.raises(ValueError, match="two taps are named x"):
        name_taps(model)
