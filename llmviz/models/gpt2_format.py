"""The published GPT-2 format: config.json and model.safetensors, in and out.

Its matrices are stored as (in, out), the transpose of torch's Linear; the names may or may not
begin with `transformer.`; the head is left out when it is the token embedding.

V vocabulary, C = n_embd, F width inside the feed-forward.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from re import fullmatch
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import torch

from llmviz.files.weights import write_weights
from llmviz.files.whole import write_whole
from llmviz.models.published_files import (
    CONFIG,
    WEIGHTS,
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

PREFIX, EMBEDDING, HEAD = "transformer.", "wte.weight", "lm_head.weight"
# Their name of an activation -> ours. The approximations are one formula.
ACTIVATIONS = {
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_python_tanh": "gelu_tanh",
    "gelu_accurate": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu": "gelu",
    "gelu_python": "gelu",
    "relu": "relu",
}
ALIASES = {
    "hidden_size": "n_embd",
    "max_position_embeddings": "n_positions",
    "num_attention_heads": "n_head",
    "num_hidden_layers": "n_layer",
}
# What a config can ask for and this GPT does not have, with the values that ask for nothing.
ONLY: dict[str, tuple[Any, ...]] = {
    "scale_attn_by_inverse_layer_idx": (False,),
    "add_cross_attention": (False,),
    "is_encoder_decoder": (False,),
    "is_causal": (True,),
    "per_layer_config": (None, {}),
    "pruned_heads": (None, {}),
    "quantization_config": (None,),
}
# What changes no probability of a next token, and why. A name in none of these lists and not read
# below is no option of a GPT-2; transformers keeps such a value and computes nothing with it.
WITHOUT_EFFECT = {
    **ALWAYS_WITHOUT_EFFECT,
    "reorder_and_upcast_attn": "the same formula in float32, which all is computed in here",
    "summary_type": "of another head",
    "summary_use_proj": "of another head",
    "summary_activation": "of another head",
    "summary_proj_to_labels": "of another head",
    "summary_first_dropout": "of another head",
    "tie_last_hidden_states": "what is handed out besides",
}
# Settings of ours that the format has a word for; a bias that is not there is written as zeros, and
# `shift` says only how a model was trained. Any other setting must have its default.
WRITTEN = {
    *("vocab_size", "context_length", "n_layer", "n_head", "n_embd", "hidden_size", "activation"),
    *("dropout", "embedding_dropout", "attention_dropout", "norm_epsilon", "tied_head"),
    *("attention_scale", "bias", "qkv_bias", "shift"),
}


Built = TypeVar("Built", bound="GPT")


class Stored(NamedTuple):
    """A tensor of the format, and the parameter of a GPT that it is."""

    name: str  # without the prefix
    ours: str
    shape: tuple[int, ...]  # as stored
    transposed: bool = False


def load_gpt2(folder_or_repo_id: str | Path, build: Callable[[GPTConfig], Built]) -> Built:
    """Return the GPT of a folder in the published format, or of a repository on the hub.

    build: makes a GPT of its settings; `GPT.from_gpt2` calls this with its own class.
    A repository (`gpt2`, `owner/name`) is taken from the local cache if it is there and else
    downloaded, for which `huggingface_hub` must be installed. Weights of any floating type become
    float32. The model is in eval mode. A head of its own in the files is kept even where the
    config says that it is the embedding, as transformers does it.

    Raises: ValueError in one line when it is not there, cannot be reached, or is damaged or not
    a GPT-2. The sizes are checked before anything is built.
    """
    folder = find_folder(folder_or_repo_id)
    config = config_from_gpt2(read_json(folder / CONFIG))
    with StoredTensors(folder, PREFIX) as tensors:
        return gpt_of(config, tensors, build)


def gpt_of(config: GPTConfig, tensors: NamedTensors, build: Callable[[GPTConfig], Built]) -> Built:
    """Return the GPT of settings and of tensors without the prefix.

    Raises: ValueError as `load_gpt2`.
    """
    config = _checked(config, tensors)
    model = build(config)
    with torch.no_grad():
        for stored in stored_tensors(config):
            value = tensors.read(stored.name)  # one at a time: memory stays small
            target = model.get_parameter(stored.ours)
            target.copy_(value.t() if stored.transposed else value)
    return model.eval()


def describe_gpt2(folder: Path) -> GPTConfig:
    """Return the settings of a folder whose tensors have the names and shapes that they ask for.

    No tensor is read. Raises: ValueError as `load_gpt2`.
    """
    config = config_from_gpt2(read_json(folder / CONFIG))
    with StoredTensors(folder, PREFIX) as tensors:
        return _checked(config, tensors, compare=False)


def _checked(config: GPTConfig, tensors: NamedTensors, compare: bool = True) -> GPTConfig:
    """The settings with the head that the files have; ValueError for other tensors than theirs."""
    if config.tied_head and has_own_head(tensors, EMBEDDING, HEAD, compare=compare):
        config = replace(config, tied_head=False)
    shapes = ((stored.name, stored.shape) for stored in stored_tensors(config))
    # Older files keep the causal mask of every layer among the weights.
    ignored = {name for name in tensors if fullmatch(r"h\.\d+\.attn\.(masked_)?bias", name)}
    ignored |= {HEAD} if config.tied_head else set()
    require_tensors(tensors, shapes, f"the GPT-2 of its {CONFIG}", ignored)
    return config


def save_gpt2(model: GPT, folder: str | Path) -> None:
    """Write a GPT in the published format, which transformers reads as a GPT2LMHeadModel.

    A bias that the model does not have is written as zeros. Each file is written whole.

    Raises: ValueError for a GPT with an option that the format has no word for.
    """
    values = config_to_gpt2(model.config)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    parameters = dict(model.named_parameters(remove_duplicate=False))
    tensors = {}
    with torch.no_grad():
        for name, ours, shape, transposed in stored_tensors(model.config):
            value = parameters[ours].detach() if ours in parameters else torch.zeros(shape)
            value = (value.t() if transposed else value).to("cpu", copy=True).contiguous()
            tensors[name if name == HEAD else PREFIX + name] = value
    write_whole(folder / WEIGHTS, lambda path: write_weights(path, tensors))
    text = json.dumps(values, indent=2) + "\n"
    write_whole(folder / CONFIG, lambda path: path.write_text(text, encoding="utf-8"))


def config_from_gpt2(values: dict[str, Any]) -> GPTConfig:
    """Return our settings for the values of a GPT-2 config.json; absent ones have its defaults.

    Raises: ValueError for another kind of model, an option that this GPT does not have, a value of
    another type, and two names of one option that disagree.
    """
    if values.get("model_type", "gpt2") != "gpt2":
        raise ValueError(f'model_type must be "gpt2"; got {values["model_type"]!r}')
    options = Options(values, ALIASES)
    options.require(ONLY)
    dropout = options.number("resid_pdrop", 0.1)
    embedding, attention = options.number("embd_pdrop", 0.1), options.number("attn_pdrop", 0.1)
    no_hidden_size = values.get("n_inner") is None
    return GPTConfig(
        vocab_size=options.whole("vocab_size", 50257),
        context_length=options.whole("n_positions", 1024),
        n_layer=options.whole("n_layer", 12),
        n_head=options.whole("n_head", 12),
        n_embd=options.whole("n_embd", 768),
        hidden_size=None if no_hidden_size else options.whole("n_inner", 0),
        dropout=dropout,
        embedding_dropout=None if embedding == dropout else embedding,
        attention_dropout=None if attention == dropout else attention,
        activation=options.one_of("activation_function", "gelu_new", ACTIVATIONS),
        norm_epsilon=options.number("layer_norm_epsilon", 1e-5),
        tied_head=options.boolean("tie_word_embeddings", True),
        attention_scale="head" if options.boolean("scale_attn_weights", True) else "none",
    )


def config_to_gpt2(config: GPTConfig) -> dict[str, Any]:
    """Return the config.json of a GPT.

    Raises: ValueError for an option that GPT-2 does not have.
    """
    for field in fields(config):
        value = getattr(config, field.name)
        if field.name not in WRITTEN and value != field.default:
            raise ValueError(f"a GPT-2 has {field.name}={field.default!r}; got {value!r}")
    theirs = {ours: name for name, ours in reversed(ACTIVATIONS.items())}
    if config.activation not in theirs:
        raise ValueError(f"a GPT-2 has no activation {config.activation!r}")
    if config.attention_scale not in ("head", "none"):
        raise ValueError(f"a GPT-2 has no attention_scale {config.attention_scale!r}")
    return {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        "vocab_size": config.vocab_size,
        "n_positions": config.context_length,
        "n_ctx": config.context_length,
        "n_embd": config.n_embd,
        "n_layer": config.n_layer,
        "n_head": config.n_head,
        "n_inner": config.hidden_size,
        "activation_function": theirs[config.activation],
        "resid_pdrop": config.dropout,
        "embd_pdrop": config.embedding_dropout_rate,
        "attn_pdrop": config.attention_dropout_rate,
        "layer_norm_epsilon": config.norm_epsilon,
        "scale_attn_weights": config.attention_scale == "head",
        "tie_word_embeddings": config.tied_head,
    }


def stored_tensors(config: GPTConfig) -> Iterator[Stored]:
    """Yield the tensors of the format, which also has the biases that a GPT may do without."""
    v, c, f = config.vocab_size, config.n_embd, config.feed_forward_size
    yield Stored(EMBEDDING, "token.weight", (v, c))
    yield Stored("wpe.weight", "position.weight", (config.context_length, c))
    for i in range(config.n_layer):
        theirs, ours = f"h.{i}.", f"blocks.{i}."
        yield from _norm(theirs + "ln_1", ours + "norm1", c)
        yield from _linear(theirs + "attn.c_attn", ours + "attn.qkv", c, 3 * c)
        yield from _linear(theirs + "attn.c_proj", ours + "attn.projection", c, c)
        yield from _norm(theirs + "ln_2", ours + "norm2", c)
        yield from _linear(theirs + "mlp.c_fc", ours + "mlp.hidden", c, f)
        yield from _linear(theirs + "mlp.c_proj", ours + "mlp.output", f, c)
    yield from _norm("ln_f", "norm_final", c)
    if not config.tied_head:
        yield Stored(HEAD, "head.weight", (v, c))


def _norm(name: str, ours: str, size: int) -> Iterator[Stored]:
    yield Stored(f"{name}.weight", f"{ours}.weight", (size,))
    yield Stored(f"{name}.bias", f"{ours}.bias", (size,))


def _linear(name: str, ours: str, size_in: int, size_out: int) -> Iterator[Stored]:
    yield Stored(f"{name}.weight", f"{ours}.weight", (size_in, size_out), transposed=True)
    yield Stored(f"{name}.bias", f"{ours}.bias", (size_out,))
