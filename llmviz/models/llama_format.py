"""The published format of Llama and its relatives: config.json and safetensors, read and written.

Three model_types have the same tensors: llama, mistral and qwen2; they differ in their options
alone. A phi3 joins two pairs of matrices to one each, a mixtral has experts. Names may or may not
begin with `model.`; the head is left out when it is the token embedding. Queries, keys and values
are three matrices there, but for a phi3, and one here.

A GPT is written as the plainest kind that has its options: a Llama; with a window a Mistral, or a
Qwen2 where queries, keys and values have biases; with experts a Mixtral.

V vocabulary, C = n_embd, F width inside the feed-forward, D head size, G heads of keys and values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from re import fullmatch
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from llmviz.models.published_files import (
    CONFIG,
    NamedTensors,
    StoredTensors,
    find_folder,
    has_own_head,
    read_json,
    require_tensors,
)
from llmviz.models.published_options import WITHOUT_EFFECT as ALWAYS_WITHOUT_EFFECT
from llmviz.models.published_options import Options
from llmviz.models.settings import GPTConfig

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT


def _no_window(values: Mapping[str, Any], n_layer: int) -> None:
    """Llama has no window."""
    _require_layers(values, n_layer, "full_attention")


def _mistrals_window(values: Mapping[str, Any], n_layer: int) -> int | None:
    """Mistral's is that of every layer; null is none."""
    if values.get("sliding_window", 0) is None:
        _require_layers(values, n_layer, "full_attention")
        return None
    _require_layers(values, n_layer, "sliding_attention")
    return Options(values).whole("sliding_window", 4096)


def _qwens_window(values: Mapping[str, Any], n_layer: int) -> int | None:
    """Qwen2's is that of the layers from `max_window_layers` on; here of all or of none."""
    options = Options(values)
    if not options.boolean("use_sliding_window", False):
        _require_layers(values, n_layer, "full_attention")
        return None
    first = options.whole("max_window_layers", 28)
    if first >= n_layer:
        _require_layers(values, n_layer, "full_attention")
        return None
    if first > 0:
        raise ValueError(
            f"max_window_layers must be 0 or at least the number of layers, {n_layer}, so that "
            f"all layers see the same number of tokens; got {first}"
        )
    _require_layers(values, n_layer, "sliding_attention")
    return options.whole("sliding_window", 4096)


def _mixtrals_window(values: Mapping[str, Any], n_layer: int) -> int | None:
    """Mixtral's is that of every layer; it has none by itself."""
    if values.get("sliding_window") is None:
        _require_layers(values, n_layer, "full_attention")
        return None
    _require_layers(values, n_layer, "sliding_attention")
    return Options(values).whole("sliding_window", 4096)


_phis_window = _mixtrals_window


def _require_layers(values: Mapping[str, Any], n_layer: int, kind: str) -> None:
    """Refuse a list of layers that are not all of one kind."""
    listed = values.get("layer_types")
    if listed is not None and listed != [kind] * n_layer:
        raise ValueError(f'layer_types must be "{kind}" for all {n_layer} layers; got {listed!r}')


class Kind(NamedTuple):
    """What a model_type has where its config.json is silent, and how its window is read."""

    vocab_size: int
    context_length: int
    hidden_size: int
    n_kv_head: int | None  # None: as many as heads
    window: Callable[[Mapping[str, Any], int], int | None]
    norm_epsilon: float = 1e-6
    rotary_base: float = 10_000.0


KINDS = {
    "llama": Kind(32_000, 2048, 11_008, None, _no_window),
    "mistral": Kind(32_000, 131_072, 14_336, 8, _mistrals_window),
    "qwen2": Kind(151_936, 32_768, 22_016, 32, _qwens_window),
    "mixtral": Kind(32_000, 131_072, 14_336, 8, _mixtrals_window, 1e-5, 1e6),
    "phi3": Kind(32_064, 4096, 8192, None, _phis_window, 1e-5),
}


PREFIX, EMBEDDING, HEAD = "model.", "embed_tokens.weight", "lm_head.weight"
# Their name of the gate's activation -> ours.
OF_THE_MLP = {"hidden": "gate_proj", "up": "up_proj", "output": "down_proj"}  # ours -> theirs
OF_EXPERTS = {"hidden": "w1", "up": "w3", "output": "w2"}
ACTIVATIONS = {"silu": "swiglu", "swish": "swiglu"}
# What a config can ask for and this GPT does not have, with the values that ask for nothing.
ONLY: dict[str, tuple[Any, ...]] = {
    "is_encoder_decoder": (False,),
    "add_cross_attention": (False,),
    "is_causal": (True,),
    "pruned_heads": (None, {}),
    "quantization_config": (None,),
    "rope_interleaved": (False,),
    "per_layer_config": (None, {}),
}
# The same for what `rope_parameters` or `rope_scaling` ask for.
ONLY_ROTARY: dict[str, tuple[Any, ...]] = {"partial_rotary_factor": (1.0, 1, None)}
# What changes no probability of a next token, and why. A name in none of these lists and not read
# below is no option of these models; transformers keeps such a value and computes nothing with it.
WITHOUT_EFFECT = {
    **ALWAYS_WITHOUT_EFFECT,
    "pretraining_tp": "the same formula, a part of a matrix at a time",
    "router_jitter_noise": "of training",
    "output_router_logits": "what is handed out besides",
    "resid_pdrop": "of training",
    "embd_pdrop": "of training",
}


class Stored(NamedTuple):
    """A tensor of the format, and the rows of a parameter of a GPT that it is."""

    name: str  # without the prefix
    ours: str
    shape: tuple[int, ...]
    rows: slice = slice(None)
    part: slice = slice(None)  # which rows of the stored tensor they are


def load_llama(folder_or_repo_id: str | Path, build: Callable[[GPTConfig], GPT]) -> GPT:
    """Return the GPT of a folder in the format of Llama, Mistral or Qwen2.

    build: makes a GPT of its settings.
    Weights of any floating type become float32. The model is in eval mode. A head of its own in the
    files is kept even where the config says that it is the embedding. A bias that only some of the
    matrices have is zero in the others.

    Raises: ValueError in one line when it is not there, is damaged, has an option that this GPT
    does not have, or other tensors than those of its config. Sizes are checked before anything is
    built.
    """
    folder = find_folder(folder_or_repo_id)
    values = read_json(folder / CONFIG)
    config = config_from_llama(values)
    with StoredTensors(folder, PREFIX) as tensors:
        return gpt_of(config, values, tensors, build)


def gpt_of(
    config: GPTConfig,
    values: Mapping[str, Any],
    tensors: NamedTensors,
    build: Callable[[GPTConfig], GPT],
) -> GPT:
    """Return the GPT of settings, the config.json they are from, and tensors without the prefix.

    Raises: ValueError as `load_llama`.
    """
    config = _checked(config, values, tensors)
    model = build(config)
    with torch.no_grad():
        for stored in _stored(config, values):
            target = model.get_parameter(stored.ours)
            target[stored.rows].copy_(tensors.read(stored.name)[stored.part])  # one at a time
    return model.eval()


def describe_llama(folder: Path) -> GPTConfig:
    """Return the settings of a folder whose tensors have the names and shapes that they ask for.

    No tensor is read. Raises: ValueError as `load_llama`.
    """
    values = read_json(folder / CONFIG)
    config = config_from_llama(values)
    with StoredTensors(folder, PREFIX) as tensors:
        return _checked(config, values, tensors, compare=False)


def _checked(
    config: GPTConfig, values: Mapping[str, Any], tensors: NamedTensors, compare: bool = True
) -> GPTConfig:
    """The settings with the head that the files have; ValueError for other tensors than theirs."""
    if config.tied_head and has_own_head(tensors, EMBEDDING, HEAD, compare=compare):
        config = replace(config, tied_head=False)
    ignored = {HEAD} if config.tied_head else set()
    for name in tensors:  # older files keep the frequencies of the rotary positions
        if fullmatch(r"layers\.\d+\.self_attn\.rotary_emb\.inv_freq", name):
            ignored.add(name)
    shapes = ((stored.name, stored.shape) for stored in _stored(config, values))
    require_tensors(tensors, shapes, f"the {values['model_type']} of its {CONFIG}", ignored)
    return config


def config_from_llama(values: Mapping[str, Any]) -> GPTConfig:
    """Return our settings for the values of a config.json; absent ones have the format's defaults.

    Raises: ValueError for another kind of model, an option that this GPT does not have, and a value
    of another type.
    """
    kind = values.get("model_type")
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"model_type must be one of {', '.join(KINDS)}; got {kind!r}")
    options = Options({name: value for name, value in values.items() if value is not None})
    options.require(ONLY)
    n_head, n_embd = options.whole("num_attention_heads", 32), options.whole("hidden_size", 4096)
    n_layer = options.whole("num_hidden_layers", 32)
    if n_head < 1 or options.whole("head_dim", n_embd // n_head) * n_head != n_embd:
        raise ValueError(
            f"head_dim times num_attention_heads must be hidden_size; "
            f"got {values.get('head_dim')!r} × {n_head}, {n_embd}"
        )
    attention_bias, mlp_bias = _biases(values)
    base, scaling = _rotary(values)
    return GPTConfig(
        vocab_size=options.whole("vocab_size", KINDS[kind].vocab_size),
        context_length=options.whole("max_position_embeddings", KINDS[kind].context_length),
        n_layer=n_layer,
        n_head=n_head,
        n_kv_head=options.whole("num_key_value_heads", KINDS[kind].n_kv_head or n_head),
        n_embd=n_embd,
        hidden_size=options.whole("intermediate_size", KINDS[kind].hidden_size),
        activation=options.one_of("hidden_act", "silu", ACTIVATIONS),
        positions="rotary",
        rotary_base=base,
        rotary_scaling=scaling,
        norm_kind="rms",
        norm_epsilon=options.number("rms_norm_eps", KINDS[kind].norm_epsilon),
        tied_head=options.boolean("tie_word_embeddings", False),
        attention_dropout=options.number("attention_dropout", 0.0) or None,
        qkv_bias=attention_bias[0],
        bias=attention_bias[1] or mlp_bias,
        window=KINDS[kind].window(values, n_layer),
        **(_experts(options) if kind == "mixtral" else {}),
    )


def _experts(options: Options) -> dict[str, Any]:
    """How many experts there are, and how many a token goes to."""
    count = options.whole("num_local_experts", 8)
    if count < 2:
        raise ValueError(f"num_local_experts must be at least 2; got {count}")
    return {
        "n_expert": count,
        "experts_per_token": options.whole("num_experts_per_tok", 2),
        "balance": options.number("router_aux_loss_coef", 0.001),
    }


def stored_tensors(
    config: GPTConfig, attention_bias: tuple[bool, bool], *, mlp_bias: bool
) -> Iterator[Stored]:
    """Yield the tensors of the format.

    attention_bias: of queries, keys and values, and of the output projection; mlp_bias: of the
    feed-forward.
    """
    v, c, f = config.vocab_size, config.n_embd, config.feed_forward_size
    kv = config.kv_heads * config.head_size
    parts = {"q": slice(0, c), "k": slice(c, c + kv), "v": slice(c + kv, c + 2 * kv)}
    yield Stored(EMBEDDING, "token.weight", (v, c))
    for i in range(config.n_layer):
        theirs, ours = f"layers.{i}.", f"blocks.{i}."
        yield Stored(theirs + "input_layernorm.weight", ours + "norm1.weight", (c,))
        at = theirs + "self_attn."
        for part, rows in parts.items():
            size = (rows.stop - rows.start, c)
            yield from _linear(f"{at}{part}_proj", ours + "attn.qkv", size, attention_bias[0], rows)
        yield from _linear(f"{at}o_proj", ours + "attn.projection", (c, c), attention_bias[1])
        yield Stored(theirs + "post_attention_layernorm.weight", ours + "norm2.weight", (c,))
        sizes = {"hidden": (f, c), "up": (f, c), "output": (c, f)}
        if config.n_expert > 1:
            at = theirs + "block_sparse_moe."
            yield Stored(f"{at}gate.weight", f"{ours}mlp.router.weight", (config.n_expert, c))
            for expert, (mine, name) in product(range(config.n_expert), OF_EXPERTS.items()):
                inner = f"{ours}mlp.experts.{expert}.{mine}"
                yield from _linear(f"{at}experts.{expert}.{name}", inner, sizes[mine], mlp_bias)
            continue
        for mine, name in OF_THE_MLP.items():
            yield from _linear(f"{theirs}mlp.{name}", f"{ours}mlp.{mine}", sizes[mine], mlp_bias)
    yield Stored("norm.weight", "norm_final.weight", (c,))
    if not config.tied_head:
        yield Stored(HEAD, "head.weight", (v, c))


def _linear(
    name: str, ours: str, size: tuple[int, int], bias: bool, rows: slice = slice(None)
) -> Iterator[Stored]:
    yield Stored(f"{name}.weight", f"{ours}.weight", size, rows)
    if bias:
        yield Stored(f"{name}.bias", f"{ours}.bias", size[:1], rows)


def _stored(config: GPTConfig, values: Mapping[str, Any]) -> Iterator[Stored]:
    attention, mlp = _biases(values)
    stored = stored_tensors(config, attention, mlp_bias=mlp)
    return _joined(stored, config) if values["model_type"] == "phi3" else stored


def _joined(stored: Iterator[Stored], config: GPTConfig) -> Iterator[Stored]:
    """The tensors of a Phi-3: queries, keys and values in one matrix, the gate above `up`."""
    c, f = config.n_embd, config.feed_forward_size
    rows = c + 2 * config.kv_heads * config.head_size
    for tensor in stored:
        if tensor.name.endswith("self_attn.q_proj.weight"):
            yield tensor._replace(
                name=tensor.name.replace("q_proj", "qkv_proj"), shape=(rows, c), rows=slice(None)
            )
        elif tensor.name.endswith("mlp.gate_proj.weight"):
            name = tensor.name.replace("gate_proj", "gate_up_proj")
            yield Stored(name, tensor.ours, (2 * f, c), part=slice(0, f))
        elif tensor.name.endswith("mlp.up_proj.weight"):
            name = tensor.name.replace("up_proj", "gate_up_proj")
            yield Stored(name, tensor.ours, (2 * f, c), part=slice(f, 2 * f))
        elif not tensor.name.endswith(("k_proj.weight", "v_proj.weight")):
            yield tensor


def _biases(values: Mapping[str, Any]) -> tuple[tuple[bool, bool], bool]:
    """Whether there are biases of queries, keys and values; of the projection; of the MLP."""
    kind, options = values["model_type"], Options(values)
    if kind != "llama":
        return (kind == "qwen2", False), False
    attention = options.boolean("attention_bias", False)
    return (attention, attention), options.boolean("mlp_bias", False)


def _rotary(values: Mapping[str, Any]) -> tuple[float, tuple[float, ...]]:
    """The base and the scaling of the rotary positions.

    They are in `rope_parameters`, in older files in `rope_theta` and `rope_scaling`. The length
    that a model was first trained on may stand beside them, and then counts; without one it is
    the longest of today, as in transformers.
    """
    given: dict[str, Any] = {
        name: values[name] for name in ("rope_parameters", "rope_scaling") if values.get(name)
    }
    if len(given) == 2 and given["rope_parameters"] != given["rope_scaling"]:
        raise ValueError("rope_parameters and rope_scaling are two names of one option")
    for name, option in given.items():
        if not isinstance(option, Mapping):
            raise ValueError(f"{name} must be an object; got {option!r}")
    parameters: Mapping[str, Any] = next(iter(given.values()), {})
    kind = parameters.get("rope_type", parameters.get("type", "default"))
    if not isinstance(kind, str) or kind not in ROTARY:
        raise ValueError(f"rope_type must be one of {', '.join(ROTARY)}; got {kind!r}")
    Options(parameters).require(ONLY_ROTARY)
    Options(values).require(ONLY_ROTARY)
    usual = KINDS[values["model_type"]].rotary_base
    base = Options({**values, **parameters}).number("rope_theta", usual)
    first = Options(values).whole(
        "max_position_embeddings", KINDS[values["model_type"]].context_length
    )
    parameters = {FIRST_LENGTH: first, **parameters}
    if FIRST_LENGTH in values:
        parameters[FIRST_LENGTH] = values[FIRST_LENGTH]
    options = Options(parameters)
    missing = [name for name in ROTARY[kind] if name not in parameters]
    if missing:
        raise ValueError(f'rope_type "{kind}" needs {", ".join(missing)}')
    return base, tuple(options.number(name, 0.0) for name in ROTARY[kind])


FIRST_LENGTH = "original_max_position_embeddings"
# What each kind of scaling reads, in the order of `llmviz.nn.positions.stretched`.
ROTARY: dict[str, tuple[str, ...]] = {
    "default": (),
    "linear": ("factor",),
    "llama3": (
        "factor",
        "low_freq_factor",
        "high_freq_factor",
        FIRST_LENGTH,
    ),
}


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
