"""What changed in models since 2017, each switch against transformers' layers or an identity."""

from importlib.util import find_spec

import pytest
import torch

from llmviz.models import GPT, GPTConfig
from llmviz.nn.attention import MultiHeadAttention, causal_mask, share_heads
from llmviz.nn.layers import FeedForward, RMSNorm, rms_norm_steps
from llmviz.nn.positions import Rotary, rotary_angles, stretched
from llmviz.trace import record
from tests.models.test_gpt import SMALL, gpt, ids

pytestmark = pytest.mark.skipif(find_spec("transformers") is None, reason="not installed")


def llama_config(**options):
    from transformers import LlamaConfig

    values = dict(
        hidden_size=32,
        intermediate_size=40,
        num_attention_heads=4,
        num_key_value_heads=2,
        num_hidden_layers=2,
        vocab_size=17,
        max_position_embeddings=64,
        attn_implementation="eager",
    )
    return LlamaConfig(**values | options)


def test_rms_norm_is_that_of_llama():
    from transformers.models.llama.modeling_llama import LlamaRMSNorm

    ours, theirs, x = RMSNorm(8, eps=1e-5), LlamaRMSNorm(8, eps=1e-5), torch.randn(3, 8) * 4
    torch.nn.init.normal_(ours.weight)
    theirs.weight = ours.weight
    torch.testing.assert_close(ours(x), theirs(x))
    steps = rms_norm_steps(x, ours.weight)
    torch.testing.assert_close(steps.output, theirs(x))
    torch.testing.assert_close(steps.normalized.square().mean(-1), torch.ones(3), atol=1e-4, rtol=0)


def test_swiglu_is_llamas_feed_forward():
    from transformers.models.llama.modeling_llama import LlamaMLP

    theirs, ours = LlamaMLP(llama_config()), FeedForward(32, 40, "swiglu", bias=False)
    ours.hidden.weight, ours.up.weight = theirs.gate_proj.weight, theirs.up_proj.weight
    ours.output.weight, x = theirs.down_proj.weight, torch.randn(2, 3, 32)
    torch.testing.assert_close(ours(x), theirs(x))


@pytest.mark.parametrize(
    ("base", "scaling", "theirs"),
    [
        (10_000.0, (), {"rope_type": "default"}),
        (500_000.0, (), {"rope_type": "default"}),
        (10_000.0, (4.0,), {"rope_type": "linear", "factor": 4.0}),
        (
            500_000.0,
            (8.0, 1.0, 4.0, 16.0),
            {
                "rope_type": "llama3",
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 16,
            },
        ),
    ],
)
def test_rotary_is_that_of_llama(base, scaling, theirs):
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

    config = llama_config(
        hidden_size=64, rope_parameters={**theirs, "rope_theta": base}, num_attention_heads=4
    )
    ours, q = Rotary(64, 16, base, scaling), torch.randn(2, 4, 64, 16)
    cos, sin = LlamaRotaryEmbedding(config)(q, torch.arange(64)[None])
    torch.testing.assert_close(
        ours(q), apply_rotary_pos_emb(q, q, cos, sin)[0], atol=2e-5, rtol=1e-5
    )


def test_scaling_by_one_changes_nothing_and_by_many_slows_the_slow_pairs():
    own = rotary_angles(torch.tensor([1.0]), 32)[0]
    assert torch.equal(stretched(own, ()), own)
    torch.testing.assert_close(stretched(own, (1.0, 1.0, 4.0, 64.0)), own)
    slowed = stretched(own, (8.0, 1.0, 4.0, 64.0))
    assert slowed[0] == own[0] and slowed[-1] == pytest.approx(own[-1].item() / 8)
    with pytest.raises(ValueError, match="0, 1 or 4 values; got 2"):
        stretched(own, (1.0, 2.0))


def shared_attention(groups, heads=4, width=32, **options):
    torch.manual_seed(0)
    return MultiHeadAttention(width, heads, n_kv_head=groups, **options).eval()


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("qkv_bias", [False, True])
def test_grouped_queries_are_those_of_llama(groups, qkv_bias):
    from transformers.models.llama.modeling_llama import LlamaAttention, LlamaRotaryEmbedding

    config = llama_config(num_key_value_heads=groups, attention_bias=qkv_bias)
    theirs, t = LlamaAttention(config, 0).eval(), 6
    ours = shared_attention(groups, bias=qkv_bias, qkv_bias=qkv_bias, rotary=Rotary(64, 8))
    parts = (theirs.q_proj, theirs.k_proj, theirs.v_proj)
    with torch.no_grad():
        theirs.o_proj.weight.copy_(ours.projection.weight)
        sizes = [part.weight.shape[0] for part in parts]
        for part, weight in zip(parts, ours.qkv.weight.split(sizes), strict=True):
            part.weight.copy_(weight)
        if qkv_bias:
            theirs.o_proj.bias.copy_(ours.projection.bias)
            for part, bias in zip(parts, ours.qkv.bias.split(sizes), strict=True):
                part.bias.copy_(bias)
    x, mask = torch.randn(2, t, 32), causal_mask(t)
    angles = LlamaRotaryEmbedding(config)(x, torch.arange(t)[None])
    added = torch.where(mask, 0.0, -torch.inf)[None, None]
    expected = theirs(x, position_embeddings=angles, attention_mask=added)[0]
    torch.testing.assert_close(ours(x, mask, causal=True), expected, atol=1e-5, rtol=1e-5)


def test_sharing_keys_is_ordinary_attention_with_equal_heads():
    """Keys and values of a group, copied for each of its heads, are ordinary attention."""
    shared, plain = shared_attention(2), shared_attention(None)
    assert plain.n_kv_head == 4 and plain.qkv.weight.shape == (96, 32)
    with torch.no_grad():
        for name in ("weight", "bias"):
            q, k, v = getattr(shared.qkv, name).split((32, 16, 16))
            copied = [
                part.unflatten(0, (2, 8)).repeat_interleave(2, 0).flatten(0, 1) for part in (k, v)
            ]
            getattr(plain.qkv, name).copy_(torch.cat((q, *copied)))
        plain.projection.load_state_dict(shared.projection.state_dict())
    x = torch.randn(2, 5, 32)
    torch.testing.assert_close(shared(x), plain(x))
    for head in range(4):
        for a, b in zip(shared.projections(head), plain.projections(head), strict=True):
            assert torch.equal(a, b)
    all_heads = shared_attention(4)
    all_heads.load_state_dict(plain.state_dict())
    assert torch.equal(all_heads(x), plain(x))


def test_heads_are_shared_in_order():
    x = torch.arange(2.0)[:, None, None]
    assert share_heads(x, 6).flatten().tolist() == [0, 0, 0, 1, 1, 1]
    assert share_heads(x, 2) is x


def test_a_token_outside_the_window_of_all_layers_is_not_seen():
    model = gpt(window=3).eval()  # two layers see 2 · (3 − 1) tokens back
    changed = ids()
    changed[:, 2] = (changed[:, 2] + 1) % 17
    same = (model(ids())[0] == model(changed)[0]).all(-1).all(0)
    assert same.tolist() == [True] * 2 + [False] * 5 + [True] * 5
    with record("blocks.0.attn.weights") as trace:
        model(ids())
    assert ((trace["blocks.0.attn.weights"] > 0).sum(-1)[0, 0]).tolist() == [1, 2, *[3] * 10]


def test_a_window_as_wide_as_the_text_is_the_model_without():
    wide, plain = gpt(window=12).eval(), gpt().eval()
    assert torch.equal(wide(ids())[0], plain(ids())[0])


def test_a_mask_too_large_to_keep_is_made_when_needed(monkeypatch):
    from llmviz.models import gpt as module

    for options in (dict(), dict(window=3), dict(mask="off_by_one"), dict(mask="none")):
        kept = gpt(**options).eval()
        monkeypatch.setattr(module, "KEPT_MASK", 5)
        made = gpt(**options).eval()
        assert made.mask is None
        assert torch.equal(made(ids())[0], kept(ids())[0])
        monkeypatch.undo()


def test_balance_changes_the_gradient_and_not_the_loss():
    losses, grads = [], []
    for balance in (0.0, 0.5):
        model = gpt(n_expert=4, balance=balance).train()
        loss = model(ids(), ids().roll(-1, 1))[1]
        loss.backward()
        losses.append(loss.item())
        grads.append(model.blocks[0].mlp.router.weight.grad)
    assert losses[0] == losses[1]
    assert not torch.allclose(*grads)
    model.eval()
    assert model(ids(), ids().roll(-1, 1))[1].item() == pytest.approx(losses[0], rel=1e-5)


def test_balance_evens_out_what_experts_get():
    def busiest(balance):
        torch.manual_seed(0)
        more = dict(n_expert=4, experts_per_token=1, balance=balance)
        model = GPT(GPTConfig(**SMALL | dict(n_layer=1) | more))
        with torch.no_grad():
            model.blocks[0].mlp.router.weight[0] += 0.2 * torch.ones(16)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        for _ in range(40):
            optimizer.zero_grad()
            model(ids(8), ids(8).roll(-1, 1))[1].backward()
            optimizer.step()
        with record("*.routing") as trace:
            model.eval()(ids(8))
        return trace["blocks.0.mlp.routing"].flatten(0, -2).mean(0).max().item()

    assert busiest(0.5) < 0.5
    assert busiest(0.5) <= busiest(0.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(n_kv_head=3), "n_kv_head must divide n_head; got n_head=2, n_kv_head=3"),
        (dict(n_kv_head=0), "n_kv_head must be a whole number of at least 1; got 0"),
        (dict(window=0), "window must be a whole number of at least 1; got 0"),
        (dict(window=3, mask="none"), 'a window needs mask="causal"; got mask="none"'),
        (dict(n_expert=2, experts_per_token=3), "must not exceed n_expert; got 3 > 2"),
        (dict(norm_kind="batch"), "norm_kind must be one of layer, rms; got 'batch'"),
        (dict(rotary_scaling=(1.0, 2.0)), "rotary_scaling must have 0, 1 or 4 values"),
        (dict(rotary_base=0), "rotary_base must be a number above 0"),
        (dict(balance=1.5), "balance must be at least 0 and below 1; got 1.5"),
    ],
)
def test_bad_settings_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        gpt(**options)
