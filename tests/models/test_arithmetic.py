"""Counts from the settings alone against models that are built without memory."""

import random

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from llmviz.models import BERT, GPT, BERTConfig, GPTConfig, Seq2Seq, Seq2SeqConfig, arithmetic
from llmviz.models.arithmetic import (
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
from llmviz.models.base import count_parameters
from llmviz.models.settings import ACTIVATIONS, NORM_KINDS, NORMS, POSITIONS
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

    different = list(arithmetic.different_tensors(config(7)))
    assert len(different) == len(list(arithmetic.different_tensors(config(1))))
    names = [
        one.name.replace(".N.", f".{layer}.") for one, times in different for layer in range(times)
    ]
    assert sorted(names) == sorted(one.name for one in arithmetic.tensors(config(7)))
    total = sum(times * one.count for one, times in different)
    assert total == sum(one.count for one in arithmetic.tensors(config(7)))


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
