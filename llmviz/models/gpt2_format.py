"""The published GPT-2 format: config.json and model.safetensors, in and out.

Its matrices are stored as (in, out), the transpose of torch's Linear; the names may or may not
begin with `transformer.`; the head is left out when it is the token embedding.
"""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT, GPTConfig

CONFIG, WEIGHTS = "config.json", "model.safetensors"
PROBE_SECONDS = 4  # how long to wait for the hub before saying that it cannot be reached
# Their name of an activation -> ours. The three approximations are one formula.
ACTIVATIONS = {
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu": "gelu",
    "relu": "relu",
}
# What GPT-2's config can ask for and this GPT does not have, with the only value it takes.
UNSUPPORTED = {"scale_attn_by_inverse_layer_idx": False, "add_cross_attention": False}
# What every GPT in this format has.
REQUIRED = {
    "positions": "learned",
    "norm": "pre",
    "mask": "causal",
    "softmax_before_mask": None,
    "residual": True,
}


def load_gpt2(folder_or_repo_id: str | Path) -> GPT:
    """Return the GPT of a folder in the published format, or of a repository on the hub.

    A repository (`gpt2`, `owner/name`) is taken from the local cache if it is there and else
    downloaded, for which `huggingface_hub` must be installed. Weights of any floating type become
    float32. The model is in eval mode; its dropout is the residual one of the config.

    Raises: ValueError in one line when it is not there, cannot be reached, or is damaged or not
    a GPT-2.
    """
    from llmviz.models.gpt import GPT

    folder = find_folder(folder_or_repo_id)
    config = config_from_gpt2(_read_config(folder / CONFIG))
    model = GPT(config)
    _load_weights(model, folder / WEIGHTS)
    return model.eval()


def is_gpt2(folder: Path) -> bool:
    """Whether a folder's config.json says that it holds a GPT-2 in the published format."""
    try:
        return _read_config(folder / CONFIG).get("model_type") == "gpt2"
    except ValueError:
        return False


def save_gpt2(model: GPT, folder: str | Path) -> None:
    """Write a GPT in the published format, which transformers reads as a GPT2LMHeadModel.

    A bias that the model does not have is written as zeros. Each file is written whole.

    Raises: ValueError for a GPT with an option that the format has no word for.
    """
    values = config_to_gpt2(model.config)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {}
    with torch.no_grad():
        for name, source, transposed, size in _tensors(model):
            value = torch.zeros(size) if source is None else source.detach()
            tensors[name] = (value.t() if transposed else value).to("cpu", copy=True).contiguous()
    _write(folder / WEIGHTS, lambda path: save_file(tensors, path, metadata={"format": "pt"}))
    text = json.dumps(values, indent=2) + "\n"
    _write(folder / CONFIG, lambda path: path.write_text(text, encoding="utf-8"))


def config_from_gpt2(values: dict[str, Any]) -> GPTConfig:
    """Return our settings for the values of a GPT-2 config.json; absent ones have its defaults.

    Raises: ValueError for another kind of model or an option that this GPT does not have.
    """
    from llmviz.models.gpt import GPTConfig

    if values.get("model_type", "gpt2") != "gpt2":
        raise ValueError(f'model_type must be "gpt2"; got {values["model_type"]!r}')
    for name, only in UNSUPPORTED.items():
        if values.get(name, only) != only:
            raise ValueError(f"{name} must be {only}; got {values[name]!r}")
    activation = values.get("activation_function", "gelu_new")
    if activation not in ACTIVATIONS:
        listed = ", ".join(ACTIVATIONS)
        raise ValueError(f"activation_function must be one of {listed}; got {activation!r}")
    return GPTConfig(
        vocab_size=values.get("vocab_size", 50257),
        context_length=values.get("n_positions", values.get("n_ctx", 1024)),
        n_layer=values.get("n_layer", 12),
        n_head=values.get("n_head", 12),
        n_embd=values.get("n_embd", 768),
        hidden_size=values.get("n_inner"),
        dropout=values.get("resid_pdrop", 0.1),
        activation=ACTIVATIONS[activation],
        norm_epsilon=values.get("layer_norm_epsilon", 1e-5),
        tied_head=values.get("tie_word_embeddings", True),
        attention_scale="head" if values.get("scale_attn_weights", True) else "none",
    )


def config_to_gpt2(config: GPTConfig) -> dict[str, Any]:
    """Return the config.json of a GPT.

    Raises: ValueError for an option that GPT-2 does not have.
    """
    for name, only in REQUIRED.items():
        if getattr(config, name) != only:
            raise ValueError(f"a GPT-2 has {name}={only!r}; got {getattr(config, name)!r}")
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
        "embd_pdrop": config.dropout,
        "attn_pdrop": config.dropout,
        "layer_norm_epsilon": config.norm_epsilon,
        "scale_attn_weights": config.attention_scale == "head",
        "tie_word_embeddings": config.tied_head,
    }


def _tensors(model: GPT) -> Iterator[tuple[str, Tensor | None, bool, int]]:
    """Yield (their name, our tensor, whether theirs is its transpose, its first size).

    The tensor is None for a bias that our model does without.
    """
    c = model.config.n_embd
    yield "transformer.wte.weight", model.token.weight, False, 0
    yield "transformer.wpe.weight", model.position.weight, False, 0
    for i, block in enumerate(model.blocks):
        for name, module, transposed in (
            ("ln_1", block.norm1, False),
            ("attn.c_attn", block.attn.qkv, True),
            ("attn.c_proj", block.attn.projection, True),
            ("ln_2", block.norm2, False),
            ("mlp.c_fc", block.mlp.hidden, True),
            ("mlp.c_proj", block.mlp.output, True),
        ):
            yield f"transformer.h.{i}.{name}.weight", module.weight, transposed, 0
            yield f"transformer.h.{i}.{name}.bias", module.bias, False, module.weight.shape[0]
    yield "transformer.ln_f.weight", model.norm_final.weight, False, 0
    yield "transformer.ln_f.bias", model.norm_final.bias, False, c
    if not model.config.tied_head:
        yield "lm_head.weight", model.head.weight, False, 0


def _load_weights(model: GPT, path: Path) -> None:
    if not path.is_file():
        raise ValueError(f"{path} is missing; a GPT-2 needs its weights as {WEIGHTS}")
    try:
        with safe_open(path, framework="pt") as file:
            stored = {name.removeprefix("transformer."): name for name in file.keys()}  # noqa: SIM118
            for name, target, transposed, _ in _tensors(model):
                short = name.removeprefix("transformer.")
                if short not in stored:
                    raise ValueError(f"{path} is not the GPT-2 of its {CONFIG}: it lacks {short}")
                value = file.get_tensor(stored.pop(short))  # one at a time: memory stays small
                _copy(target, value.t() if transposed else value, f"{path}: {short}")
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path} is not a readable safetensors file: {error}") from error
    if model.config.tied_head:
        stored.pop("lm_head.weight", None)
    # Older files keep the causal mask of every layer among the weights.
    extra = [n for n in stored if not n.endswith((".attn.bias", ".attn.masked_bias"))]
    if extra:
        raise ValueError(f"{path} is not the GPT-2 of its {CONFIG}: it has {extra[0]} besides")


def _copy(target: nn.Parameter, value: Tensor, what: str) -> None:
    if target.shape != value.shape:
        raise ValueError(f"{what} must be {tuple(target.shape)}; got {tuple(value.shape)}")
    with torch.no_grad():
        target.copy_(value)


def find_folder(folder_or_repo_id: str | Path) -> Path:
    """Return the local folder of a folder or of a repository id, downloading what is missing.

    Raises: ValueError in one line when it cannot be had.
    """
    name = str(folder_or_repo_id)
    folder = Path(name).expanduser()
    if name and folder.is_dir():
        return folder
    looks_like_a_path = isinstance(folder_or_repo_id, Path) or folder.is_absolute()
    if looks_like_a_path or name.startswith((".", "~")) or name.count("/") > 1 or not name:
        raise ValueError(f"there is no folder {name!r} with a GPT-2 in it")
    try:
        import huggingface_hub
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError
    except ModuleNotFoundError as error:
        raise ValueError(
            f"{name!r} is no folder here, and to download it needs the package huggingface_hub, "
            "which is not installed"
        ) from error
    try:
        cached = [huggingface_hub.try_to_load_from_cache(name, f) for f in (CONFIG, WEIGHTS)]
        if all(isinstance(path, str) for path in cached):
            return Path(cached[0]).parent
        _probe(huggingface_hub.constants.ENDPOINT, name)
        for file in (WEIGHTS, CONFIG):
            path = huggingface_hub.hf_hub_download(name, file, etag_timeout=PROBE_SECONDS)
    except HFValidationError as error:
        raise ValueError(f"{name!r} is neither a folder here nor a repository id") from error
    except HfHubHTTPError as error:
        raise ValueError(f"the hub does not give {name!r}: {_first_line(error)}") from error
    except OSError as error:
        raise ValueError(f"{name!r} could not be downloaded: {_first_line(error)}") from error
    return Path(path).parent


def _probe(endpoint: str, name: str) -> None:
    """Raise ValueError at once when the hub is out of reach; its own client tries for long."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        raise ValueError(f"{name!r} is not in the local cache and HF_HUB_OFFLINE is set")
    try:
        request = urllib.request.Request(endpoint, method="HEAD")
        urllib.request.urlopen(request, timeout=PROBE_SECONDS).close()
    except urllib.error.HTTPError:
        return  # it answered
    except OSError as error:
        raise ValueError(
            f"{name!r} is no folder here nor in the local cache, and {endpoint} cannot be "
            "reached; without the network give a folder with config.json and model.safetensors"
        ) from error


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _read_config(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ValueError(f"{path} is missing") from error
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(values, dict):
        raise ValueError(f"{path} does not hold a JSON object")
    return values


def _write(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file, then give it its name: it is there whole or not."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        write(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
