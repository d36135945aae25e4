"""Operations of a pass against torch's own counter; bytes of the cache against real tensors."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from llmviz.models.arithmetic import cache_per_token, count
from llmviz.models.gpt import GPT
from llmviz.models.pass_work import KNOWN, CacheShape, pass_work, shape_bytes, typed_shape
from llmviz.models.settings import GPTConfig

SHAPES = [
    {},
    dict(n_kv_head=1, positions="rotary"),
    dict(n_kv_head=2, activation="swiglu", norm_kind="rms", bias=False, tied_head=False),
]


def config(**options):
    sizes = dict(n_layer=2, n_head=4, n_embd=16, vocab_size=31, context_length=12)
    return GPTConfig(**sizes | options)


@pytest.mark.parametrize("options", SHAPES, ids=str)
@pytest.mark.parametrize(("batch", "new", "seen"), [(1, 7, 0), (3, 1, 7), (2, 4, 5)])
def test_operations_are_those_that_torch_counts(options, batch, new, seen):
    model = GPT(config(**options)).eval()
    cache = model.new_cache(batch)
    ids = torch.arange(batch * (seen + new)).view(batch, -1) % 31
    with torch.no_grad(), sdpa_kernel(SDPBackend.MATH):  # the counter knows no fused kernel's here
        if seen:
            model(ids[:, :seen], cache=cache)
        with FlopCounterMode(display=False) as counter:
            model(ids[:, seen:], cache=cache, last_only=True)
    work = pass_work(model.config, batch, new, seen)
    assert work.operations == counter.get_total_flops()


@pytest.mark.parametrize("options", SHAPES, ids=str)
def test_bytes_are_those_of_the_tensors(options):
    model = GPT(config(**options)).eval()
    cache = model.new_cache(3)
    with torch.no_grad():
        model(torch.zeros(3, 5, dtype=torch.long), cache=cache)
    held = sum(part[:, :, : cache.length].nbytes for part in (*cache.keys, *cache.values))
    work = pass_work(model.config, 3, 1, 5)
    assert work.cache_read == held == 4 * 3 * 5 * cache_per_token(model.config)
    assert work.cache_written == held // 5
    settings = model.config
    shape = typed_shape(settings.n_layer, 4, settings.kv_heads, settings.head_size)
    assert shape_bytes(shape, 3, 5, "float32") == held
    tables = model.token.weight.nbytes * (not settings.tied_head)
    tables += 0 if model.position is None else model.position.weight.nbytes
    assert work.weights == 4 * count(settings) - tables


def test_more_texts_share_the_weights_and_the_prefill_shares_most():
    shapes = [pass_work(config(), batch, 1, 8) for batch in (1, 2, 4, 8)]
    intensities = [one.intensity for one in shapes]
    assert intensities == sorted(intensities)
    assert {one.weights for one in shapes} == {shapes[0].weights}
    assert pass_work(config(), 1, 8, 0).intensity > intensities[0]


@given(
    some.integers(1, 5),
    some.sampled_from([1, 2, 4]),
    some.integers(1, 64),
    some.integers(1, 1000),
    some.integers(0, 10_000),
    some.integers(1, 1000),
)
def test_twice_the_texts_never_double_the_intensity(layers, kv_heads, width, vocab, seen, batch):
    shape = config(n_layer=layers, n_embd=4 * width, n_kv_head=kv_heads, vocab_size=vocab)
    one, two = (pass_work(shape, n, 1, seen).intensity for n in (batch, 2 * batch))
    assert one < two < 2 * one


@pytest.mark.parametrize(
    ("sizes", "rule"),
    [
        (dict(batch=0), "batch must be at least 1; got 0"),
        (dict(new=0), "new must be at least 1"),
        (dict(seen=-1), "seen must be at least 0"),
    ],
    ids=str,
)
def test_passes_that_cannot_be_are_refused(sizes, rule):
    with pytest.raises(ValueError, match=rule):
        pass_work(config(), **{"batch": 1, "new": 1, "seen": 0, **sizes})
    with pytest.raises(ValueError, match="without experts and without a window"):
        pass_work(config(window=4), 1, 1, 0)


def test_published_shapes_take_what_is_known_of_them():
    """Half a megabyte a token for Llama 2 7B in two bytes (Kwon et al. 2023 give 800 kB for a
    13B model: 2 · 40 layers · 5120 numbers · 2 bytes)."""
    assert shape_bytes(CacheShape(40, 40, 40, 128), 1, 1, "bfloat16") == 819_200
    assert KNOWN["Llama 2 7B"].numbers() == 2 * 32 * 4096
    for shape in KNOWN.values():
        assert shape == typed_shape(*shape[:4])._replace(source=shape.source)
        assert shape.source


@pytest.mark.parametrize(
    ("sizes", "rule"),
    [
        ((0, 4, 4, 8), "layers must be from 1"),
        ((2, 0, 1, 8), "heads must be from 1"),
        ((2, 4, 0, 8), "kv_heads must be from 1"),
        ((2, 4, 3, 8), "kv_heads must divide heads; got heads=4, kv_heads=3"),
        ((2, 4, 8, 8), "kv_heads must divide heads"),
        ((2, 4, 4, 10**13), "head_size must be from 1 to 1,000,000,000,000"),
    ],
    ids=str,
)
def test_shapes_that_cannot_be_are_refused(sizes, rule):
    with pytest.raises(ValueError, match=rule):
        typed_shape(*sizes)


def test_texts_tokens_and_formats_are_checked():
    shape = KNOWN["GPT-2"]
    with pytest.raises(ValueError, match="texts must be at least 1"):
        shape_bytes(shape, 0, 1, "float32")
    with pytest.raises(ValueError, match="tokens must be at least 1"):
        shape_bytes(shape, 1, 0, "float32")
    with pytest.raises(ValueError, match="all texts have at most"):
        shape_bytes(shape, 10**7, 10**7, "float32")
    with pytest.raises(ValueError, match=r"dtype must be one of .* got 'int3'"):
        shape_bytes(shape, 1, 1, "int3")
