"""What holds for every model of the registry."""

import math

import pytest
import torch

from llmviz.models import MODELS, CountBigram, build, count_parameters

NAMES = [name for name, entry in MODELS.items() if entry.next_token]
V, T = 13, 8


def make(name: str) -> torch.nn.Module:
    torch.manual_seed(1)
    return build(name, {"vocab_size": V, "context_length": T})


def ids(batch: int = 3, t: int = T) -> torch.Tensor:
    return torch.randint(0, V, (batch, t), generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("name", NAMES)
def test_shapes_and_loss(name):
    model = make(name).eval()
    logits, loss = model(ids())
    assert logits.shape == (3, T, V)
    assert loss is None
    targets = ids().roll(-1, 1)
    logits, loss = model(ids(), targets)
    chosen = logits.log_softmax(-1).gather(-1, targets[..., None])
    assert loss.item() == pytest.approx(-chosen.mean().item(), rel=1e-5)
    assert model.context_length == T
    assert model.config.to_dict()["vocab_size"] == V


@pytest.mark.parametrize("name", NAMES)
def test_forward_needs_only_shapes(name):
    """Memory is estimated on the meta device, where tensors have no numbers."""
    with torch.device("meta"):
        model = build(name, {"vocab_size": V, "context_length": T}).train()
        idx = torch.zeros((3, T), dtype=torch.long)
    logits, loss = model(idx, idx)
    assert logits.is_meta and logits.shape == (3, T, V) and loss.shape == ()


@pytest.mark.parametrize("name", NAMES)
def test_a_later_token_changes_nothing_before_it(name):
    model = make(name).eval()
    before, _ = model(ids())
    for t in range(1, T):
        changed = ids()
        changed[:, t] = (changed[:, t] + 1) % V
        after, _ = model(changed)
        assert torch.allclose(before[:, :t], after[:, :t], atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_untrained_loss_is_near_ln_v(name):
    torch.manual_seed(0)
    model = build(name, {"vocab_size": 65, "context_length": 16}).eval()
    idx = torch.randint(0, 65, (16, 17))
    _, loss = model(idx[:, :-1], idx[:, 1:])
    assert loss.item() == pytest.approx(math.log(65), abs=0.15)


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_learns(name):
    model = make(name).train()
    model(ids(4), ids(4).roll(-1, 1))[1].backward()
    for parameter_name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.any(), parameter_name


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_is_learned_by_heart(name):
    """Each model can lower the loss of one fixed text well below where it starts."""
    model = make(name).train()
    idx = torch.arange(T)[None].repeat(2, 1)
    targets = idx + 1
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    for _ in range(60):
        _, loss = model(idx, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    # Without a table of tokens, a model may see one token or none.
    most = 0.5 * math.log(V) if MODELS[name].token_table else math.log(V) - 0.3
    assert loss.item() < most


@pytest.mark.parametrize("name", NAMES)
def test_targets_of_minus_one_carry_no_loss(name):
    model = make(name).eval()
    targets = ids()
    masked = targets.clone()
    masked[:, 3:] = -1
    assert torch.allclose(
        model(ids(), masked)[1], model(ids()[:, :3], targets[:, :3])[1], atol=1e-5
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("idx", "targets", "message"),
    [
        (torch.full((1, 3), V), None, rf"token ids must be from 0 to {V - 1}; got {V} to {V}"),
        (torch.full((1, 3), -1), None, "token ids must be from 0"),
        (torch.ones(1, 3), None, "token ids must be int32 or int64; got float32"),
        (torch.ones(1, 3, dtype=torch.bool), None, "token ids must be int32 or int64; got bool"),
        (torch.zeros(1, T + 1, dtype=torch.long), None, rf"context is {T} tokens; got {T + 1}"),
        (torch.zeros(1, 0, dtype=torch.long), None, "at least one token"),
        (torch.zeros(3, dtype=torch.long), None, r"shape \(batch, time\)"),
        (torch.zeros(1, 3, dtype=torch.long), torch.full((1, 3), V), "target ids must be from 0"),
        (
            torch.zeros(1, 3, dtype=torch.long),
            torch.zeros(1, 2).long(),
            "targets must have the shape",
        ),
    ],
)
def test_bad_input_is_named(name, idx, targets, message):
    with pytest.raises(ValueError, match=message):
        make(name).eval()(idx, targets)


@pytest.mark.parametrize("name", NAMES)
def test_bfloat16_autocast_stays_close(name):
    model = make(name).train()
    _, exact = model(ids(), ids().roll(-1, 1))
    with torch.autocast("cpu", torch.bfloat16):
        _, rough = model(ids(), ids().roll(-1, 1))
    rough.backward()
    assert rough.item() == pytest.approx(exact.item(), abs=0.03)


def test_build_refuses_what_it_does_not_know():
    with pytest.raises(ValueError, match=f"model must be one of {', '.join(MODELS)}; got 'gtp'"):
        build("gtp")
    with pytest.raises(ValueError, match="model rnn needs a RNNConfig; got a GPTConfig"):
        build("rnn", MODELS["gpt"].config())


def test_registry_describes_and_counts():
    for name, entry in MODELS.items():
        assert entry.description
        model = build(name)
        total = sum(p.numel() for p in model.parameters())
        assert count_parameters(model) == total
        tables = [part for part in model.modules() if isinstance(part, torch.nn.Embedding)]
        assert (count_parameters(model, embeddings=False) < total) == bool(tables)


class TestCountedBigram:
    stream = torch.tensor([0, 1, 2, 0, 1, 0, 2, 2, 1, 0, 1])

    def test_counts_and_probabilities(self):
        model = CountBigram.fit(self.stream)
        assert model.counts[0, 1] == 3
        assert model.counts.sum() == len(self.stream) - 1
        assert torch.allclose(model.probabilities().sum(1), torch.ones(3, dtype=torch.float64))

    def test_loss_is_that_of_the_contract(self):
        model = CountBigram.fit(self.stream)
        _, loss = model(self.stream[None, :-1], self.stream[None, 1:])
        assert loss.item() == pytest.approx(model.average_loss(), rel=1e-5)

    def test_a_token_without_successor_is_uniform(self):
        model = CountBigram.fit(torch.tensor([0, 1]), vocab_size=3)
        assert model.probabilities()[1].tolist() == pytest.approx([1 / 3] * 3)

    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda: CountBigram.fit([1]), "at least 2 tokens"),
            (lambda: CountBigram.fit([0, 5], vocab_size=3), "from 0 to 2"),
            (lambda: CountBigram.fit_counts(torch.ones(2, 3)), "square table"),
            (lambda: CountBigram.fit_counts(-torch.ones(2, 2)), "not be negative"),
            (lambda: CountBigram.fit([0, 1], smoothing=-1.0), "smoothing"),
        ],
    )
    def test_bad_counts_are_named(self, make, message):
        with pytest.raises(ValueError, match=message):
            make()
