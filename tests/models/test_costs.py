"""Counts from the settings alone against models, caches and passes that are built, and papers."""

import random
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from llmviz.models import BERT, GPT, BERTConfig, GPTConfig, Seq2Seq, Seq2SeqConfig, costs
from llmviz.models.base import count_parameters
from llmviz.models.costs import (
    BYTES,
    PRESETS,
    activations_per_token,
    cache_bytes,
    cache_per_token,
    count,
    count_by_part,
    count_used,
    flops_per_token,
    tensors,
    training_memory,
    translator_tensors,
    weight_bytes,
)
from llmviz.models.pass_work import KNOWN, CacheShape, pass_work, shape_bytes, typed_shape
from llmviz.models.settings import ACTIVATIONS, NORM_KINDS, NORMS, POSITIONS
from llmviz.models.training_bytes import paper_memory, saved_numbers, saved_tensors
from llmviz.trace import record


def random_config(number: int) -> dict:
    chance = random.Random(number)
    n_head = chance.choice([1, 2, 4, 6])
    n_expert = chance.choice([1, 1, 2, 5])
    return dict(
        vocab_size=chance.randint(3, 40),
        context_length=chance.randint(1, 30),
        n_layer=chance.randint(1, 4),
        n_head=n_head,
        n_kv_head=chance.choice([None, *(g for g in range(1, n_head + 1) if n_head % g == 0)]),
        n_embd=n_head * chance.choice([2, 4, 8]),
        hidden_size=chance.choice([None, chance.randint(1, 50)]),
        positions=chance.choice(POSITIONS),
        norm=chance.choice(NORMS),
        norm_kind=chance.choice(NORM_KINDS),
        activation=chance.choice(list(ACTIVATIONS)),
        tied_head=chance.random() < 0.5,
        qkv_bias=chance.random() < 0.5,
        bias=chance.random() < 0.5,
        window=chance.choice([None, 3]),
        n_expert=n_expert,
        experts_per_token=chance.randint(1, n_expert),
    )


@pytest.mark.parametrize("number", range(100))
def test_every_tensor_is_that_of_the_model(number):
    config = GPTConfig(**random_config(number))
    with torch.device("meta"):
        model = GPT(config)
    found = [(tensor.name, tensor.shape) for tensor in tensors(config)]
    assert found == [(name, tuple(p.shape)) for name, p in model.named_parameters()]
    assert count(config) == count_parameters(model) == sum(count_by_part(config).values())


def test_a_bert_is_counted_alike():
    config = BERTConfig(vocab_size=20, n_layer=2, n_head=2, n_embd=8)
    with torch.device("meta"):
        assert count(config) == count_parameters(BERT(config))


@pytest.mark.parametrize(
    "options",
    [
        dict(),
        dict(norm="pre", attention_bias=True),
        dict(source_vocab_size=31, activation="swiglu", hidden_size=11),
    ],
    ids=str,
)
def test_an_encoder_decoder_is_counted(options):
    config = Seq2SeqConfig(vocab_size=12, n_embd=8, n_head=2, **options)
    with torch.device("meta"):
        model = Seq2Seq(config)
    found = [(tensor.name, tensor.shape) for tensor in translator_tensors(config)]
    assert found == [(name, tuple(p.shape)) for name, p in model.named_parameters()]


def test_published_counts_come_out():
    shape = dict(vocab_size=50257, context_length=1024, n_layer=12, n_head=12, n_embd=768)
    assert count(GPTConfig(**shape)) == 124_439_808
    assert count(GPTConfig(**shape, qkv_bias=False)) == 124_412_160
    assert count(GPTConfig(**shape, qkv_bias=False, tied_head=False)) == 163_009_536
    small = Seq2SeqConfig(vocab_size=12, n_embd=32, n_head=8, hidden_size=128, n_layer=1)
    halves = [t for t in translator_tensors(small) if not t.name.startswith("encoder.")]
    assert sum(t.count for t in halves) == 17_516
    known = {  # Radford et al. 2019 with the exact counts of the released files; Brown et al. 2020
        "GPT-2": 124_439_808,
        "GPT-2 medium": 354_823_168,
        "GPT-2 large": 774_030_080,
        "GPT-2 XL": 1_557_611_200,
    }
    for name, expected in known.items():
        assert count(GPTConfig.from_dict(PRESETS[name])) == expected
    assert count(GPTConfig.from_dict(PRESETS["GPT-3"])) == pytest.approx(175e9, rel=0.005)
    assert count(GPTConfig.from_dict(PRESETS["modern 7B"])) == 7_241_732_096  # Mistral 7B
    assert count(GPTConfig.from_dict(PRESETS["ours"])) == 2_418_816  # its card


@pytest.mark.parametrize("number", range(0, 100, 4))
def test_operations_are_those_that_torch_counts(number):
    options = random_config(number) | dict(norm="none", mask="none", window=None)
    config = GPTConfig(**options)
    t = config.context_length
    model = GPT(config)
    if config.n_expert > 1:  # a router without a preference sends all to the first experts
        with torch.no_grad():
            for block in model.blocks:
                block.mlp.router.weight.zero_()
    # recorded scores are products that the counter sees; the fused kernel's it does not on a CPU
    explicit = record("blocks.*.attn.scores")
    with explicit, FlopCounterMode(display=False) as counter, torch.no_grad():
        model(torch.zeros(1, t, dtype=torch.long))
    assert t * flops_per_token(config, t) == counter.get_total_flops()


@pytest.mark.parametrize("experts", [1, 3])
def test_the_layers_are_counted_once_and_come_to_all_tensors(experts):
    def config(layers):
        return GPTConfig(n_layer=layers, n_head=2, n_embd=8, n_expert=experts, tied_head=False)

    different = list(costs.different_tensors(config(7)))
    assert len(different) == len(list(costs.different_tensors(config(1))))
    names = [
        one.name.replace(".N.", f".{layer}.") for one, times in different for layer in range(times)
    ]
    assert sorted(names) == sorted(one.name for one in costs.tensors(config(7)))
    total = sum(times * one.count for one, times in different)
    assert total == sum(one.count for one in costs.tensors(config(7)))


def test_what_a_token_meets():
    dense = GPTConfig(n_layer=2)
    assert count_used(dense) == count(dense)
    mixed = GPTConfig(n_layer=2, n_expert=4, experts_per_token=1)
    router = 2 * 4 * 128
    assert count_used(mixed) == count(dense) + router
    assert flops_per_token(mixed, 9) == flops_per_token(dense, 9) + 2 * router
    assert count_used(GPTConfig(n_expert=4, experts_per_token=4)) == count(
        GPTConfig(n_expert=4, experts_per_token=4)
    )


def test_a_window_limits_what_is_seen_and_kept():
    free, narrow = GPTConfig(), GPTConfig(window=8)
    assert flops_per_token(narrow, 5) == flops_per_token(free, 5)
    assert flops_per_token(narrow, 60) == flops_per_token(free, 8)
    assert cache_bytes(narrow, 60) == cache_bytes(free, 8)


@pytest.mark.parametrize("n_kv_head", [None, 1, 2])
def test_the_cache_is_the_caches_own_memory(n_kv_head):
    config = GPTConfig(n_kv_head=n_kv_head, context_length=10)
    cache = GPT(config).new_cache()
    kept = sum(x.numel() for x in (*cache.keys, *cache.values))
    assert cache_per_token(config) * 10 == kept
    assert cache_bytes(config, 10) == 4 * kept and cache_bytes(config, 10, "bfloat16") == 2 * kept


@pytest.mark.parametrize("number", range(0, 100, 5))
def test_activations_are_about_what_autograd_keeps(number):
    """Counted with torch's own hooks; what it keeps besides depends on its operations."""
    from llmviz.training.estimate import saved_bytes

    shape = dict(vocab_size=40, context_length=16, n_layer=3, n_head=4, n_embd=32)
    chosen = {
        k: v for k, v in random_config(number).items() if k in ("positions", "norm", "activation")
    }
    config = GPTConfig(**shape, **chosen)
    with torch.device("meta"):
        model = GPT(config).train()
        idx = torch.zeros(4, 16, dtype=torch.long)
    kept = saved_bytes(model, (idx, idx)) / 4 / (4 * 16)
    assert 0.6 < activations_per_token(config) / kept < 1.6
    assert activations_per_token(config, explicit=True) - activations_per_token(config) == 192


def test_activations_besides_the_layers_are_what_the_end_of_the_model_reads():
    """Inputs of the last norm and of the head, the logits and their softmax."""
    one, two = (activations_per_token(GPTConfig(n_layer=n)) for n in (1, 2))
    config = GPTConfig()
    assert one - (two - one) == 2 * config.n_embd + 2 * config.vocab_size


def test_all_options_at_once_come_to_what_is_written_out_by_hand():
    """C 8, 3 layers, 4 heads of 2, 2 of them for keys and values, F 6, V 11, 2 of 4 experts."""
    every = GPTConfig(
        vocab_size=11,
        context_length=5,
        n_layer=3,
        n_head=4,
        n_kv_head=2,
        n_embd=8,
        hidden_size=6,
        activation="swiglu",
        tied_head=False,
        window=3,
        n_expert=4,
        experts_per_token=2,
    )
    expert = (8 * 6 + 6) + (8 * 6 + 6) + (6 * 8 + 8)  # before the activation, up, output
    attention = (8 * 16 + 16) + (8 * 8 + 8)  # qkv: 8 of queries, 4 of keys, 4 of values; projection
    layer = 2 * (8 + 8) + attention + 8 * 4 + 4 * expert  # norms, attention, router, experts
    tables = 11 * 8 + 5 * 8 + (8 + 8) + 11 * 8  # tokens, positions, last norm, head
    assert count(every) == tables + 3 * layer == 3040
    assert count_used(every) == 3040 - 3 * 2 * expert == 2056
    plain = replace(every, norm_kind="rms", bias=False, qkv_bias=False, positions="rotary")
    thin = 2 * 8 + (8 * 16 + 8 * 8) + 8 * 4 + 4 * 3 * 48
    assert count(plain) == 11 * 8 + 3 * thin + 8 + 11 * 8
    assert count_used(plain) == count(plain) - 3 * 2 * 3 * 48
    matrices = 3 * (8 * 16 + 8 * 8 + 8 * 4 + 2 * 3 * 48) + 8 * 11
    for config in (every, plain):
        assert flops_per_token(config, 5) == 2 * (matrices + 3 * 2 * 3 * 8)  # three are seen
        # Inputs of two norms, of qkv and of the projection; q, k, v; the input of the experts; for
        # each of the two that a token meets what stands before the activation, behind it, and up;
        # the router's four numbers. At the end the last norm and the head, logits and softmax.
        kept = 2 * 8 + 8 + (8 + 4 + 4) + 8 + 8 + 2 * 3 * 6 + 4
        assert activations_per_token(config) == 3 * kept + 2 * 8 + 2 * 11
        explicit = activations_per_token(config, explicit=True)
        assert explicit == 3 * (kept + 4 * 5) + 2 * 8 + 2 * 11
        assert cache_per_token(config) == 3 * 2 * 2 * 2  # layers, keys and values, heads, D
        assert cache_bytes(config, 9, "int8") == 3 * 24  # of the three tokens in the window
    gelu = replace(every, activation="gelu")
    assert activations_per_token(every) - activations_per_token(gelu) == 3 * 2 * 6


def test_an_encoder_decoder_of_all_options_comes_to_what_is_written_out_by_hand():
    config = Seq2SeqConfig(
        vocab_size=12,
        source_vocab_size=7,
        n_embd=4,
        n_head=2,
        n_layer=2,
        hidden_size=3,
        activation="swiglu",
        norm="pre",
        attention_bias=True,
    )
    attention = (4 * 12 + 12) + (4 * 4 + 4) + (4 + 4)  # qkv, projection, its norm
    network = 2 * (4 * 3 + 3) + (3 * 4 + 4) + (4 + 4)
    encoder = 7 * 4 + 2 * (attention + network) + (4 + 4)
    decoder = 12 * 4 + 2 * (2 * attention + network) + (4 + 4)
    total = sum(tensor.count for tensor in translator_tensors(config))
    assert total == encoder + decoder + (4 * 12 + 12)


def test_memory_adds_up():
    config = GPTConfig()
    n = count(config)
    sizes = [weight_bytes(config, dtype) / n for dtype in BYTES]
    assert dict(zip(BYTES, sizes, strict=True)) == dict(float32=4, bfloat16=2, int8=1, int4=0.5)
    whole, half = training_memory(config, 64), training_memory(config, 64, "bfloat16")
    assert (whole.weights, whole.gradients, whole.averages, whole.master) == (
        4 * n,
        4 * n,
        8 * n,
        0,
    )
    assert (half.weights, half.gradients, half.averages, half.master) == (
        2 * n,
        2 * n,
        8 * n,
        4 * n,
    )
    assert whole.activations == 2 * half.activations == 4 * 64 * activations_per_token(config)
    assert whole.total == sum(whole)
    for call in (
        weight_bytes,
        lambda c, d: cache_bytes(c, 1, d),
        lambda c, d: training_memory(c, 1, d),
    ):
        with pytest.raises(ValueError, match=r"dtype must be .*; got 'int3'"):
            call(config, "int3")


SHAPES = [
    {},
    dict(n_kv_head=1, positions="rotary"),
    dict(n_kv_head=2, activation="swiglu", norm_kind="rms", bias=False, tied_head=False),
]


def small(**options):
    sizes = dict(n_layer=2, n_head=4, n_embd=16, vocab_size=31, context_length=12)
    return GPTConfig(**sizes | options)


@pytest.mark.parametrize("options", SHAPES, ids=str)
@pytest.mark.parametrize(("batch", "new", "seen"), [(1, 7, 0), (3, 1, 7), (2, 4, 5)])
def test_operations_of_a_pass_are_those_that_torch_counts(options, batch, new, seen):
    model = GPT(small(**options)).eval()
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
    model = GPT(small(**options)).eval()
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
    shapes = [pass_work(small(), batch, 1, 8) for batch in (1, 2, 4, 8)]
    intensities = [one.intensity for one in shapes]
    assert intensities == sorted(intensities)
    assert {one.weights for one in shapes} == {shapes[0].weights}
    assert pass_work(small(), 1, 8, 0).intensity > intensities[0]


@given(
    some.integers(1, 5),
    some.sampled_from([1, 2, 4]),
    some.integers(1, 64),
    some.integers(1, 1000),
    some.integers(0, 10_000),
    some.integers(1, 1000),
)
def test_twice_the_texts_never_double_the_intensity(layers, kv_heads, width, vocab, seen, batch):
    shape = small(n_layer=layers, n_embd=4 * width, n_kv_head=kv_heads, vocab_size=vocab)
    one, two = (pass_work(shape, n, 1, seen).intensity for n in (batch, 2 * batch))
    assert one < two < 2 * one


def test_published_shapes_take_what_is_known_of_them():
    """Half a megabyte a token for Llama 2 7B in two bytes (Kwon et al. 2023 give 800 kB for a
    13B model: 2 · 40 layers · 5120 numbers · 2 bytes)."""
    assert shape_bytes(CacheShape(40, 40, 40, 128), 1, 1, "bfloat16") == 819_200
    assert KNOWN["Llama 2 7B"].numbers() == 2 * 32 * 4096
    for shape in KNOWN.values():
        assert shape == typed_shape(*shape[:4])._replace(source=shape.source)
        assert shape.source


GPT2 = GPTConfig.from_dict(PRESETS["GPT-2"])
XL = GPTConfig.from_dict(PRESETS["GPT-2 XL"])


def test_adam_in_two_formats_takes_sixteen_bytes_a_parameter():
    """Rajbhandari et al. 2020, section 3.1: 24 GB for the 1.5 billion parameters of GPT-2."""
    found = paper_memory(XL, 1, 1, dtype="bfloat16")
    state = found.total - found.activations
    assert state == 16 * count(XL) and state == pytest.approx(24e9, rel=0.05)
    assert paper_memory(XL, 1, 1).total - paper_memory(XL, 1, 1).activations == 16 * count(XL)
    assert paper_memory(XL, 1, 1, optimizer="sgd").averages == 0
    assert paper_memory(XL, 1, 1, optimizer="momentum").averages == 4 * count(XL)


def test_a_layer_keeps_what_the_paper_counts():
    """Korthikanti et al. 2022, equation 1: s·b·h·(34 + 5·a·s/h) bytes, dropout masks among them."""
    s, h, a = GPT2.context_length, GPT2.n_embd, GPT2.n_head
    deeper = replace(GPT2, n_layer=GPT2.n_layer + 1)
    layer = 2 * (activations_per_token(deeper) - activations_per_token(GPT2))  # two bytes each
    assert layer == 34 * h - 2 * h  # less two masks of dropout, a byte for each of h numbers
    explicit = activations_per_token(deeper, explicit=True) - activations_per_token(
        GPT2, explicit=True
    )
    assert 2 * explicit - layer == 2 * a * s  # of 5·a·s, one matrix of weights in two bytes


def test_without_savings_it_is_the_known_sum():
    assert paper_memory(GPT2, 8, 1024) == training_memory(GPT2, 8 * 1024)
    with_small = saved_numbers(GPT2) - (activations_per_token(GPT2) - GPT2.vocab_size)
    assert with_small == GPT2.n_layer * (4 + GPT2.n_head) + 2


def test_groups_and_pieces_that_do_not_divide_come_to_what_is_written_out_by_hand():
    """Five layers in groups of two are three groups; seven rows in three pieces are three each."""
    config = small(n_layer=5, n_embd=8, hidden_size=12)  # 4 heads, V 31
    ends = 2 * 8 + 2 + 31  # the last norm with its two statistics, the logarithms of the softmax
    assert saved_numbers(config, 2) == 3 * 8 + ends
    assert saved_numbers(config, 5) == 1 * 8 + ends and saved_numbers(config, 9) == 1 * 8 + ends
    layer = 2 * 8 + 2 * 8 + 4 + 3 * 8 + 8 + 4 + 12 + 12
    assert saved_numbers(config) == 5 * layer + ends
    inner = 2 * 8 + 8 + 3 * 8 + 8 + 8 + 2 * 12 + 4 * 10  # explicit: ten weights for each head
    each = 3 * 8 + 2 * inner + 2 * 8 + 2 * 31  # the inputs of three groups, one group whole
    n = count(config)
    assert paper_memory(
        config,
        7,
        10,
        dtype="bfloat16",
        optimizer="rmsprop",
        recompute=2,
        pieces=3,
        explicit=True,
    ) == (2 * n, 2 * n, 4 * n, 4 * n, 2 * 3 * 10 * each)


def test_a_pass_of_all_options_comes_to_what_is_written_out_by_hand():
    """Three texts, two new tokens of each behind five; C 8, 2 layers, F 6, V 11."""
    config = GPTConfig(
        vocab_size=11,
        context_length=9,
        n_layer=2,
        n_head=4,
        n_kv_head=2,
        n_embd=8,
        hidden_size=6,
        activation="swiglu",
        tied_head=False,
    )
    matrices = 2 * (8 * 16 + 8 * 8 + 3 * 8 * 6)
    vectors = 2 * (2 * 16 + 16 + 8 + 6 + 6 + 8) + 16
    work = pass_work(config, 3, 2, 5, size=2)
    # Each new token: its matrices, and q·k and weights·v with seven keys in each layer. The head
    # reads the last token of each text alone.
    assert work.operations == 2 * 3 * (2 * (matrices + 2 * 2 * 7 * 8) + 8 * 11)
    assert work.weights == 2 * (matrices + vectors + 8 * 11)
    each = 2 * 2 * 2 * 2 * 2  # bytes, layers, keys and values, heads, D
    assert (work.cache_read, work.cache_written) == (3 * 5 * each, 3 * 2 * each)


@given(
    some.integers(1, 40),
    some.integers(1, 64),
    some.integers(0, 50),
    some.integers(1, 12),
    some.booleans(),
)
def test_savings_never_cost_memory(layers, rows, recompute, pieces, explicit):
    config = replace(GPT2, n_layer=layers)
    plain = paper_memory(config, rows, 128, explicit=explicit)
    found = paper_memory(
        config, rows, 128, recompute=recompute, pieces=min(pieces, rows), explicit=explicit
    )
    assert 0 < found.activations <= plain.activations
    assert found.weights == plain.weights and found.averages == plain.averages


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        (lambda: pass_work(small(), 0, 1, 0), "batch must be at least 1; got 0"),
        (lambda: pass_work(small(), 1, 0, 0), "new must be at least 1"),
        (lambda: pass_work(small(), 1, 1, -1), "seen must be at least 0"),
        (lambda: pass_work(small(window=4), 1, 1, 0), "without experts and without a window"),
        (lambda: typed_shape(0, 4, 4, 8), "layers must be from 1"),
        (lambda: typed_shape(2, 0, 1, 8), "heads must be from 1"),
        (lambda: typed_shape(2, 4, 0, 8), "kv_heads must be from 1"),
        (lambda: typed_shape(2, 4, 3, 8), "kv_heads must divide heads; got heads=4, kv_heads=3"),
        (lambda: typed_shape(2, 4, 8, 8), "kv_heads must divide heads"),
        (lambda: typed_shape(2, 4, 4, 10**13), "head_size must be from 1 to 1,000,000,000,000"),
        (lambda: shape_bytes(KNOWN["GPT-2"], 0, 1, "float32"), "texts must be at least 1"),
        (lambda: shape_bytes(KNOWN["GPT-2"], 1, 0, "float32"), "tokens must be at least 1"),
        (lambda: shape_bytes(KNOWN["GPT-2"], 10**7, 10**7, "float32"), "all texts have at most"),
        (lambda: shape_bytes(KNOWN["GPT-2"], 1, 1, "int3"), r"dtype must be one of .* got 'int3'"),
        (lambda: paper_memory(GPT2, 0, 16), "rows must be at least 1; got 0"),
        (lambda: paper_memory(GPT2, 8, 0), "tokens must be at least 1"),
        (lambda: paper_memory(GPT2, 8, 10**12), "at most 1,000,000,000,000 tokens"),
        (lambda: paper_memory(GPT2, 8, 16, pieces=0), "pieces must be at least 1"),
        (lambda: paper_memory(GPT2, 8, 16, pieces=9), "pieces must not exceed rows; got 9 > 8"),
        (lambda: paper_memory(GPT2, 8, 16, recompute=-1), "recompute must be at least 0"),
        (lambda: paper_memory(XL, 1, 1, optimizer="x"), "optimizer must be one of adamw.*'x'"),
        (lambda: paper_memory(GPT2, 8, 16, dtype="int8"), "dtype must be float32 or bfloat16"),
        (lambda: saved_tensors(replace(GPT2, n_kv_head=2)), "GPT-2's form"),
        (lambda: saved_tensors(replace(GPT2, norm="post")), "GPT-2's form"),
        (lambda: saved_tensors(replace(GPT2, dropout=0.1)), "GPT-2's form"),
        (lambda: saved_tensors(replace(GPT2, activation="swiglu")), "GPT-2's form"),
        (lambda: saved_tensors(replace(GPT2, positions="rotary")), "GPT-2's form"),
    ],
)
def test_what_cannot_be_counted_is_refused(call, rule):
    with pytest.raises(ValueError, match=rule):
        call()
