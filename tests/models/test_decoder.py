"""The decoders against the modules they shortcut, option by option."""

import time

import pytest
import torch

from llmviz.models import GPT, GPTConfig
from llmviz.models import decoder as decoder_module
from llmviz.models.decoder import Decoder, can_decode, optimize_for_inference
from llmviz.models.numpy_decoder import NumpyDecoder
from llmviz.nn import fast_linear
from llmviz.nn.attention.heads import heads_given, heads_off
from llmviz.sampling import generate
from llmviz.trace import record
from tests.random_weights import random_gpt

OPTIONS = {
    "default": {},
    "sinusoidal": dict(positions="sinusoidal"),
    "no positions": dict(positions="none"),
    "tanh": dict(activation="gelu_tanh"),
    "relu": dict(activation="relu"),
    "swiglu": dict(activation="swiglu"),
    "untied": dict(tied_head=False),
    "no biases": dict(bias=False, qkv_bias=False),
    "dropout": dict(dropout=0.3),
    "one head": dict(n_head=1),
}
LLAMA = dict(positions="rotary", norm_kind="rms", activation="swiglu", bias=False, qkv_bias=False)
OF_TORCH = {  # what the one of NumPy does not compute
    "llama": LLAMA,
    "shared heads": dict(LLAMA, n_head=4, n_kv_head=2),
    "one head of keys": dict(LLAMA, n_head=4, n_kv_head=1, rotary_scaling=(2.0,)),
    "biases": dict(LLAMA, bias=True, qkv_bias=True, rotary_base=50.0),
    "window": dict(LLAMA, window=3),
    "window of one": dict(window=1),
    "rms": dict(norm_kind="rms"),
}


def gpt(**options):
    shape = dict(vocab_size=19, context_length=10, n_layer=2, n_head=2, n_embd=16)
    return random_gpt(0.4, **shape | options)


def wide(**options):
    """A model with layers that are large enough to be packed."""
    torch.manual_seed(0)
    shape = dict(vocab_size=900, context_length=16, n_layer=1, n_head=4, n_embd=256)
    return GPT(GPTConfig(**shape | options)).eval()


@pytest.mark.parametrize(
    ("options", "make"),
    [
        *((one, make) for one in OPTIONS.values() for make in (Decoder, NumpyDecoder)),
        *((one, Decoder) for one in OF_TORCH.values()),
    ],
    ids=lambda one: getattr(one, "__name__", None),
)
def test_steps_equal_the_modules(options, make):
    model = gpt(**options)
    decoder, cache = make(model), model.new_cache()
    ids = torch.randint(0, 19, (10,), generator=torch.Generator().manual_seed(2)).tolist()
    with torch.inference_mode():
        expected = model(torch.tensor([ids]))[0][0]
        model(torch.tensor([ids[:3]]), cache=cache)  # the cache may be begun by the modules
        found = torch.stack([decoder.step(i, cache) for i in ids[3:]])
    torch.testing.assert_close(found, expected[3:], atol=2e-5, rtol=2e-5)
    assert cache.length == 10
    with pytest.raises(ValueError, match="the model's context is 10 tokens; got 11"):
        decoder.step(0, cache)
    cache.truncate(4)
    torch.testing.assert_close(decoder.step(ids[4], cache), expected[4], atol=2e-5, rtol=2e-5)


@pytest.mark.parametrize("options", [*OPTIONS.values(), *OF_TORCH.values()])
def test_several_tokens_at_once_equal_the_modules(options):
    model = gpt(**options)
    decoder, cache = Decoder(model), model.new_cache()
    ids = torch.randint(0, 19, (10,), generator=torch.Generator().manual_seed(2)).tolist()
    with torch.inference_mode():
        expected = model(torch.tensor([ids]))[0][0]
    for start, end in ((0, 4), (4, 5), (5, 8)):
        found = decoder.read(ids[start:end], cache)
        assert cache.length == end
        torch.testing.assert_close(found, expected[end - 1], atol=2e-5, rtol=2e-5)
    with pytest.raises(ValueError, match="the model's context is 10 tokens; got 11"):
        decoder.read([0, 0, 0], cache)
    with pytest.raises(ValueError, match="no token to read"):
        decoder.read([], cache)
    assert cache.length == 8


@pytest.mark.parametrize("make", [Decoder, NumpyDecoder])
def test_what_lies_in_a_new_cache_is_never_read(make):
    model = gpt()
    ids = torch.randint(0, 19, (1, 6), generator=torch.Generator().manual_seed(2))
    with torch.inference_mode():
        expected = model(ids)[0][0, -1]
        for step in ("modules", "decoder"):
            cache = model.new_cache()
            for tensor in (*cache.keys, *cache.values):
                tensor.fill_(torch.nan)
            model(ids[:, :5], cache=cache)
            if step == "modules":
                found = model(ids[:, 5:], cache=cache)[0][0, -1]
            else:
                found = make(model).step(int(ids[0, 5]), cache)
            torch.testing.assert_close(found, expected, atol=2e-5, rtol=2e-5)


@pytest.mark.parametrize(
    "options",
    [
        dict(n_expert=2),
        dict(norm="post"),
        dict(norm="none"),
        dict(residual=False),
        dict(mask="none"),
        dict(softmax_before_mask="leave"),
        dict(attention_scale="none"),
    ],
)
def test_other_options_go_by_the_modules(options):
    model = gpt(**options)
    assert not can_decode(model)
    assert model.new_decoder() is None
    with pytest.raises(ValueError, match="without mistakes, with norms before"):
        optimize_for_inference(model)
    assert len(list(generate(model, [1], 14))) == 14


def test_training_shows_in_the_next_step():
    model = gpt()
    for make in (Decoder, NumpyDecoder):
        decoder = make(model)
        with torch.no_grad():
            model.blocks[0].mlp.output.weight.mul_(1.5)
            expected = model(torch.tensor([[3]]))[0][0, 0]
        torch.testing.assert_close(
            decoder.step(3, model.new_cache()), expected, atol=2e-5, rtol=2e-5
        )


def test_a_trace_and_heads_off_are_honoured_while_generating():
    model = gpt()
    plain = [t.id for t in generate(model, [1], 6, temperature=0)]
    with record("blocks.0.attn.weights") as trace:
        recorded = [t.id for t in generate(model, [1], 6, temperature=0)]
    assert recorded == plain
    assert trace["blocks.0.attn.weights"].shape[-1] == 6
    with heads_off({(0, 0), (0, 1), (1, 0), (1, 1)}):
        off = list(generate(model, [1], 1, keep_steps=True))
        with torch.no_grad():
            expected = model(torch.tensor([[1]]))[0][0, -1]
    torch.testing.assert_close(torch.tensor(off[0].steps.logits).float(), expected)
    value = torch.ones(model.config.head_size)
    with heads_given({(1, 0): value}):
        told = list(generate(model, [1], 1, keep_steps=True))
        with torch.no_grad():
            expected = model(torch.tensor([[1]]))[0][0, -1]
    torch.testing.assert_close(torch.tensor(told[0].steps.logits).float(), expected)


def test_changing_to_and_from_the_modules_in_mid_text_changes_nothing():
    model = gpt()
    expected = [t.id for t in generate(model, [1], 8, temperature=0)]
    steps, found = generate(model, [1], 8, temperature=0), []
    for i in range(8):
        if i % 3 == 1:
            with record():
                found.append(next(steps).id)
        else:
            found.append(next(steps).id)
    assert found == expected


@pytest.mark.parametrize("kind", [{}, dict(LLAMA, n_kv_head=2)], ids=["gpt2", "llama"])
@pytest.mark.parametrize("precision", ["float32", "bfloat16", "int8", "int4"])
def test_packed_models_write_almost_the_same(precision, kind):
    model = wide(**kind)
    fast = optimize_for_inference(model, precision)
    assert not fast.training
    idx = [5, 7, 11]
    with torch.inference_mode():
        cache = model.new_cache()
        fast(torch.tensor([idx]), cache=cache)
        found = fast.new_decoder().step(2, cache)
        expected = model(torch.tensor([[*idx, 2]]))[0][0, -1]
    largest = {"float32": 1e-4, "bfloat16": 0.05, "int8": 0.1, "int4": 0.4}[
        precision
    ] * expected.abs().max()
    assert (found - expected).abs().max() <= largest
    assert len(list(generate(fast, idx, 20, generator=torch.Generator().manual_seed(0)))) == 20


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_packed_model_reads_its_prompt_as_it_writes(precision):
    fast = optimize_for_inference(wide(), precision)
    first = next(generate(fast, [5, 7, 11], 1, keep_steps=True))
    expected = fast.new_decoder().read([5, 7, 11], fast.new_cache())
    assert torch.equal(torch.tensor(first.steps.logits).float(), expected)


def test_a_packed_decoder_reads_a_few_tokens_as_it_reads_each():
    model = wide()
    decoder, one, few = Decoder(model, "float32"), model.new_cache(), model.new_cache()
    alone = torch.stack([decoder.step(token, one) for token in (5, 7, 11, 2)])
    decoder.step(5, few)
    found = decoder.read_each([7, 11, 2], few)
    torch.testing.assert_close(found, alone[1:], atol=2e-5, rtol=2e-5)


@pytest.mark.parametrize("slow", ["_packed", "plain_linear"])
def test_in_float32_the_faster_product_is_taken(slow, monkeypatch):
    make, calls = getattr(fast_linear, slow), []

    def slowly(*args):
        product = make(*args)

        def late(x):
            time.sleep(0.02)
            calls.append(1)
            return product(x)

        return late

    def late_calls(decoder):
        calls.clear()
        decoder.step(3, model.new_cache())
        return len(calls)

    model = wide()
    for module in (fast_linear, decoder_module):
        monkeypatch.setattr(module, slow, slowly, raising=False)
    packed, plain = late_calls(Decoder(model, "float32")), late_calls(Decoder(model))
    if packed == plain:
        pytest.skip("this processor or this torch has no packed product")
    taken = optimize_for_inference(model, "float32").new_decoder()
    assert late_calls(taken) == min(packed, plain)


def test_an_unknown_precision_is_refused():
    with pytest.raises(ValueError, match="precision must be one of float32, bfloat16, int8, int4"):
        optimize_for_inference(gpt(), "int3")
