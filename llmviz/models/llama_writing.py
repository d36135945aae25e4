"""The published format of Llama and its relatives, written: see `llama_format`, which reads it.

A GPT is written as the plainest kind that has its options: a Llama; with a window a Mistral, or a
Qwen2 where queries, keys and values have biases; with experts a Mixtral.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llmviz.models.llama_format import FIRST_LENGTH, HEAD, PREFIX, ROTARY, Stored, stored_tensors
from llmviz.models.settings import GPTConfig

# What all of them have.
NEEDED: dict[str, Any] = {
    "positions": "rotary",
    "norm": "pre",
    "norm_kind": "rms",
    "activation": "swiglu",
    "attention_scale": "head",
    "mask": "causal",
    "softmax_before_mask": None,
    "residual": True,
}
CLASSES = {
    "llama": "LlamaForCausalLM",
    "mistral": "MistralForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
    "mixtral": "MixtralForCausalLM",
}


def config_to_llama(config: GPTConfig) -> dict[str, Any]:
    """Return the config.json of a GPT. Raises ValueError for an option that no kind has."""
    for name, needed in NEEDED.items():
        if getattr(config, name) != needed:
            raise ValueError(f"a Llama has {name}={needed!r}; got {getattr(config, name)!r}")
    kind = _kind(config)
    values: dict[str, Any] = {
        "architectures": [CLASSES[kind]],
        "model_type": kind,
        "vocab_size": config.vocab_size,
        "max_position_embeddings": config.context_length,
        "num_hidden_layers": config.n_layer,
        "num_attention_heads": config.n_head,
        "num_key_value_heads": config.kv_heads,
        "hidden_size": config.n_embd,
        "intermediate_size": config.feed_forward_size,
        "hidden_act": "silu",
        "rms_norm_eps": config.norm_epsilon,
        "rope_theta": config.rotary_base,
        "attention_dropout": config.attention_dropout_rate,
        "tie_word_embeddings": config.tied_head,
    }
    if config.rotary_scaling:
        kind_of = {len(names): name for name, names in ROTARY.items()}[len(config.rotary_scaling)]
        named = dict(zip(ROTARY[kind_of], config.rotary_scaling, strict=True))
        if FIRST_LENGTH in named:
            named[FIRST_LENGTH] = int(named[FIRST_LENGTH])
        values["rope_scaling"] = {"rope_type": kind_of, **named}
    if kind == "llama":
        attention, mlp = biases(config)
        values |= {"attention_bias": attention[1], "mlp_bias": mlp}
    elif kind == "qwen2" and config.window is not None:
        values |= {"use_sliding_window": True, "max_window_layers": 0}
    if kind == "mixtral":
        values["num_local_experts"] = config.n_expert
        values["num_experts_per_tok"] = config.experts_per_token
    if kind != "llama":
        values["sliding_window"] = config.window
    return values


def _kind(config: GPTConfig) -> str:
    if config.n_expert > 1:
        if config.bias or config.qkv_bias:
            raise ValueError("a Mixtral has no biases; got experts with bias or qkv_bias")
        return "mixtral"
    if config.qkv_bias and not config.bias:
        return "qwen2"
    if config.window is None:
        return "llama"
    if config.bias:
        raise ValueError(
            "a Mistral and a Qwen2 have no biases behind the attention; got bias=True with "
            f"window={config.window}"
        )
    return "mistral"


def biases(config: GPTConfig) -> tuple[tuple[bool, bool], bool]:
    """Which biases are written, as `stored_tensors` takes them; one that is not there is zeros."""
    if _kind(config) == "qwen2":
        return (True, False), False
    return (config.qkv_bias or config.bias,) * 2, config.bias


def tensors_to_write(config: GPTConfig) -> Iterator[Stored]:
    """Yield the tensors of a GPT under their whole names."""
    attention, mlp = biases(config)
    for tensor in stored_tensors(config, attention, mlp_bias=mlp):
        yield tensor if tensor.name == HEAD else tensor._replace(name=PREFIX + tensor.name)
