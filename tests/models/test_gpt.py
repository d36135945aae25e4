"""GPT against Hugging Face's GPT-2, its options, its mistakes, its cache."""

import math
from itertools import product

import pytest
import torch

from llmviz.models import GPT, GPTConfig
from llmviz.models.gpt import Block
from llmviz.nn.attention import causal_mask, heads_off
from llmviz.trace import record, tap_names

SMALL = dict(vocab_size=17, context_length=12, n_layer=2, n_head=2, n_embd=16)


def gpt(**options) -> GPT:
    torch.manual_seed(0)
    model = GPT(GPTConfig(**(SMALL | options)))
    with torch.no_grad():  # biases and norms away from 0 and 1, so that mixing them up would show
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(0.1 * torch.randn_like(parameter))
    return model


def ids(batch: int = 2, t: int = 12) -> torch.Tensor:
    return torch.randint(0, 17, (batch, t), generator=torch.Generator().manual_seed(0))


def test_logits_and_gradients_are_those_of_hugging_face():
    transformers = pytest.importorskip("transformers")
    ours = gpt(activation="gelu_tanh").eval()
    theirs = transformers.GPT2LMHeadModel(
        transformers.GPT2Config(
            vocab_size=17, n_positions=12, n_embd=16, n_layer=2, n_head=2, attn_pdrop=0.0
        )
    ).eval()
    body = theirs.transformer
    pairs = [(ours.token, body.wte), (ours.position, body.wpe), (ours.norm_final, body.ln_f)]
    crossed = []  # their Conv1D keeps (in, out)
    for a, b in zip(ours.blocks, body.h, strict=True):
        pairs += [(a.norm1, b.ln_1), (a.norm2, b.ln_2)]
        crossed += [(a.attn.qkv, b.attn.c_attn), (a.attn.projection, b.attn.c_proj)]
        crossed += [(a.mlp.hidden, b.mlp.c_fc), (a.mlp.output, b.mlp.c_proj)]
    with torch.no_grad():
        for a, b in pairs + crossed:
            turned = (a, b) in crossed
            b.weight.copy_(a.weight.T if turned else a.weight)
            if getattr(a, "bias", None) is not None:
                b.bias.copy_(a.bias)
    idx, targets = ids(), ids().roll(-1, 1)
    logits, loss = ours(idx, targets)
    expected = theirs(idx).logits
    assert torch.allclose(logits, expected, atol=1e-5)
    loss.backward()
    torch.nn.functional.cross_entropy(expected.flatten(0, 1), targets.flatten()).backward()
    for a, b in pairs + crossed:
        gradient = b.weight.grad.T if (a, b) in crossed else b.weight.grad
        assert torch.allclose(a.weight.grad, gradient, atol=1e-5)


OPTIONS = [
    dict(positions=positions, norm=norm, activation=activation)
    for positions, norm, activation in product(
        ("learned", "rotary"), ("pre", "post", "none"), ("gelu", "swiglu")
    )
] + [
    dict(positions="sinusoidal", activation="relu"),
    dict(positions="none", activation="gelu_tanh"),
    dict(tied_head=False, qkv_bias=False, bias=False),
    dict(dropout=0.2),
    dict(attention_scale="model"),
    dict(attention_scale="none"),
    dict(residual=False),
    dict(softmax_before_mask="leave"),
    dict(softmax_before_mask="renormalise"),
]


# What changed since 2017: `test_since_2017.py` holds each against transformers' layers.
SWITCHES = [
    dict(norm_kind="rms"),
    dict(norm_kind="rms", norm="post"),
    dict(n_kv_head=1),
    dict(n_kv_head=1, positions="rotary", rotary_base=100.0),
    dict(window=3),
    dict(window=1, positions="rotary"),
    dict(window=12),
    dict(n_expert=3),
    dict(n_expert=3, experts_per_token=1, activation="swiglu"),
    dict(n_expert=2, norm="post"),
    dict(activation="silu"),
    dict(positions="rotary", rotary_scaling=(2.0,)),
    dict(norm_kind="rms", positions="rotary", activation="swiglu")
    | dict(n_kv_head=1, n_expert=3, window=5, bias=False),
]


@pytest.mark.parametrize("options", [*OPTIONS, *SWITCHES], ids=str)
def test_options_are_causal_and_recorded_agree_with_their_cache_and_learn(options):
    model = gpt(**options).eval()
    whole, _ = model(ids())
    changed = ids()
    changed[:, 7] = (changed[:, 7] + 1) % 17
    if options.get("softmax_before_mask") != "leave":  # there, the future leaks
        assert torch.allclose(whole[:, :7], model(changed)[0][:, :7], atol=1e-6)
        assert not torch.equal(whole[:, 7], model(changed)[0][:, 7])
        cache = model.new_cache(2)
        parts = [model(ids()[:, a:b], cache=cache)[0] for a, b in ((0, 5), (5, 8))]
        parts += [model(ids()[:, t : t + 1], cache=cache)[0] for t in range(8, 12)]
        torch.testing.assert_close(torch.cat(parts, 1), whole, atol=1e-5, rtol=1e-5)
        assert cache.keys[0].shape[1] == options.get("n_kv_head", 2)
    with record() as trace:
        recorded, _ = model(ids())
    torch.testing.assert_close(recorded, whole, atol=1e-5, rtol=1e-5)
    inside = {name for name in tap_names(model) if ".experts." not in name}
    assert inside - {"embed.position"} <= trace.keys()
    model.train()
    model(ids(), ids())[1].backward()
    assert all(p.grad is not None for p in model.parameters())
    assert GPTConfig.from_dict(model.config.to_dict()) == model.config


PLACED = [
    dict(positions="rotary", activation="swiglu"),
    dict(norm="post"),
    dict(residual=False, norm="none"),
    dict(mask="none"),
    dict(mask="off_by_one"),
    dict(window=3),
    dict(n_kv_head=1, norm_kind="rms"),
    dict(n_expert=2, experts_per_token=1),
    dict(softmax_before_mask="softmax_again"),
]


@pytest.mark.parametrize("options", [{}, *PLACED], ids=str)
def test_one_place_of_each_text_has_the_logits_and_gradients_of_the_whole_pass(options):
    model, places = gpt(**options).double().eval(), torch.tensor([4, 11])
    whole = model(ids())[0][[0, 1], places]  # (B, V)
    placed = model(ids(), positions=places)[0]
    assert placed.shape == (2, 1, 17) and torch.allclose(placed[:, 0], whole)
    parameters = list(model.parameters())
    weights = torch.randn(2, 17, generator=torch.Generator().manual_seed(1)).double()
    for expected, found in zip(
        torch.autograd.grad((whole * weights).sum(), parameters, allow_unused=True),
        torch.autograd.grad((placed[:, 0] * weights).sum(), parameters, allow_unused=True),
        strict=True,
    ):
        zero = torch.zeros(())
        assert torch.allclose(
            zero if expected is None else expected, zero if found is None else found
        )


def test_places_work_on_while_activations_are_computed_again():
    model, places = gpt().train(), torch.tensor([0, 7])
    once = model(ids(), positions=places)[0]
    model.recompute_every = 1
    assert torch.allclose(model(ids(), positions=places)[0], once, atol=1e-6)
    with record("blocks.1.mlp.hidden") as trace, torch.no_grad():
        model(ids(), positions=places)
    assert trace["blocks.1.mlp.hidden"].shape == (2, 1, 64)  # of the other tokens it is not made


@pytest.mark.parametrize(
    "options", [*OPTIONS[:2], dict(residual=False), dict(norm="post")], ids=str
)
def test_explicit_attention_is_equal_forward_and_backward(options):
    """Recording takes the explicit path; without it, a fused or explicit one."""
    results = []
    for patterns in ("blocks.*.attn.weights", "nothing"):
        model = gpt(**options).double()
        with record(patterns):
            _, loss = model(ids(), ids().roll(-1, 1))
        loss.backward()
        results.append((loss, [p.grad for p in model.parameters()]))
    (a, grads_a), (b, grads_b) = results
    assert torch.allclose(a, b)
    for x, y in zip(grads_a, grads_b, strict=True):
        assert torch.allclose(x, y)


def test_residual_stream_adds_up():
    model = gpt().eval()
    with record() as trace:
        model(ids())
    stream = trace["embed"]
    assert torch.equal(stream, trace["embed.token"] + trace["embed.position"])
    for i in range(2):
        middle = stream + trace[f"blocks.{i}.attn"]
        assert torch.equal(trace[f"blocks.{i}.residual_mid"], middle)
        stream = trace[f"blocks.{i}.residual"]
        assert torch.equal(stream, middle + trace[f"blocks.{i}.mlp"])
        assert torch.allclose(
            trace[f"blocks.{i}.attn.weights"].sum(-1), torch.ones(2, 2, 12), atol=1e-6
        )


def test_initial_deviations():
    torch.manual_seed(0)
    model = GPT(GPTConfig(vocab_size=100, n_layer=8, n_head=2, n_embd=128))
    assert model.token.weight.std().item() == pytest.approx(0.02, rel=0.05)
    for block in model.blocks:
        assert block.mlp.hidden.weight.std().item() == pytest.approx(0.02, rel=0.05)
        assert block.mlp.output.weight.std().item() == pytest.approx(0.02 / math.sqrt(16), rel=0.05)
        assert not block.attn.qkv.bias.any()


def test_without_positions_the_last_token_sees_a_bag():
    model = gpt(positions="none", n_layer=1).eval()
    idx = ids()
    shuffled = torch.cat((idx[:, torch.randperm(11)], idx[:, 11:]), dim=1)
    assert torch.allclose(model(idx)[0][:, -1], model(shuffled)[0][:, -1], atol=1e-6)
    with_positions = gpt(n_layer=1).eval()
    assert not torch.allclose(
        with_positions(idx)[0][:, -1], with_positions(shuffled)[0][:, -1], atol=1e-6
    )


class TestMistakes:
    def test_masks_show_in_the_weights(self):
        for mask, sees in (("causal", 0), ("off_by_one", 1), ("none", 11)):
            with record("blocks.0.attn.weights") as trace:
                gpt(mask=mask).eval()(ids())
            seen = trace["blocks.0.attn.weights"] > 0
            assert torch.equal(seen[0, 0], torch.ones(12, 12, dtype=torch.bool).tril(sees))

    @pytest.mark.parametrize("mask", ["off_by_one", "none"])
    def test_who_sees_the_future_gets_no_cache(self, mask):
        with pytest.raises(ValueError, match='a cache needs mask="causal"'):
            gpt(mask=mask).new_cache()

    def test_without_shift_the_target_is_the_input(self):
        right, wrong = gpt().eval(), gpt(shift=False).eval()
        targets = ids().roll(-1, 1)
        targets[0, 3] = -1
        copied = ids()
        copied[0, 3] = -1
        assert torch.equal(wrong(ids(), targets)[1], right(ids(), copied)[1])

    def test_without_residual_a_block_replaces_its_input(self):
        model = gpt(residual=False).eval()
        with record() as trace:
            model(ids())
        assert torch.equal(trace["blocks.0.residual_mid"], trace["blocks.0.attn"])
        assert torch.equal(trace["blocks.0.residual"], trace["blocks.0.mlp"])


class TestCache:
    def test_it_can_go_back_and_start_again(self):
        model = gpt().eval()
        cache = model.new_cache()
        first, _ = model(ids(1), cache=cache)
        cache.truncate(5)
        again, _ = model(ids(1)[:, 5:], cache=cache)
        assert torch.allclose(again, first[:, 5:], atol=1e-5)
        cache.reset()
        assert torch.equal(model(ids(1), cache=cache)[0], first)

    def test_rows_can_be_chosen(self):
        model = gpt().eval()
        cache = model.new_cache(2)
        model(ids()[:, :6], cache=cache)
        cache.select(torch.tensor([1, 1]))
        step, _ = model(ids()[1:, 6:7].repeat(2, 1), cache=cache)
        assert torch.allclose(step[0, 0], model(ids())[0][1, 6], atol=1e-5)

    def test_it_does_not_overflow(self):
        model = gpt().eval()
        cache = model.new_cache(1)
        model(ids(1), cache=cache)
        with pytest.raises(ValueError, match="context is 12 tokens; got 13"):
            model(ids(1, 1), cache=cache)
        with pytest.raises(ValueError, match="cannot cut it to 13"):
            cache.truncate(13)
        with pytest.raises(ValueError, match="batch must be at least 1"):
            model.new_cache(0)

    def test_last_only(self):
        model = gpt().eval()
        assert torch.allclose(model(ids(), last_only=True)[0], model(ids())[0][:, -1:], atol=1e-6)


def test_switched_off_heads_reach_the_logits():
    model = gpt().eval()
    plain, _ = model(ids())
    with heads_off({(0, 0)}):
        changed, _ = model(ids())
    d = 8
    with torch.no_grad():
        model.blocks[0].attn.projection.weight[:, :d] = 0
    assert not torch.allclose(plain, changed)
    assert torch.allclose(model(ids())[0], changed, atol=1e-6)


def test_a_block_is_equivariant_without_mask():
    config = GPTConfig(**SMALL)
    torch.manual_seed(0)
    block, x, order = Block(config, 0, None), torch.randn(1, 12, 16), torch.randperm(12)
    shuffled = block(x[:, order], None, False, None)
    assert torch.allclose(shuffled, block(x, None, False, None)[:, order], atol=1e-5)
    causal = block(x, causal_mask(12), True, None)
    assert not torch.allclose(causal, block(x, None, False, None), atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"positions": "rotary", "n_kv_head": 1}])
def test_a_model_of_many_layers_is_compiled_once(options):
    """A layer that reads its own number would be compiled anew up to torch's limit, then not."""
    torch.compiler.reset()
    model = GPT(
        GPTConfig(vocab_size=17, context_length=8, n_layer=12, n_head=2, n_embd=8, **options)
    )
    graphs = []

    def uncompiled(graph, _inputs):
        graphs.append(graph)
        return graph.forward

    compiled = torch.compile(model, backend=uncompiled)
    idx = torch.arange(16).view(2, 8)
    _, loss = compiled(idx, idx)
    loss.backward()
    assert len(graphs) == 1
    torch.compiler.reset()
