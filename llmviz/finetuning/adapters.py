"""Adapters as files, in the layout that the library peft publishes and reads.

    FOLDER/adapter_config.json        rank, α, targets, the name of the base
          /adapter_model.safetensors  base_model.model.PATH.lora_A.weight (r, in), …lora_B… (out, r)
          /manifest.json              sha256 of the two, and of the base's weights; ours alone

Reference: peft's documentation, "PEFT checkpoint format".
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from llmviz.nn import lora
from llmviz.nn.finite import wrong_type
from llmviz.nn.lora_config import LoraConfig
from llmviz.training import files
from llmviz.training.errors import CheckpointError
from llmviz.training.tensors import load_tensors, save_tensors

CONFIG, WEIGHTS, BASE = "adapter_config.json", "adapter_model.safetensors", "llmviz_base.json"
HEAD = "head."  # of a model's weights: what turns hidden states into logits
PREFIX, A, B = "base_model.model.", ".lora_A.weight", ".lora_B.weight"


def base_digest(model: nn.Module) -> str:
    """Return the sha256 of a model's own weights, without adapters and head, in hexadecimal digits.

    It is the same before and after adapters were added, and where the head was exchanged.
    Raises ValueError while an adapter is merged.
    """
    if merged := lora.merged_adapter(model):
        raise ValueError(f"adapter {merged!r} is merged into the weights; unmerge it first")
    digest = hashlib.sha256()
    for name, tensor in sorted(_base_tensors(model).items()):
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}\n".encode())
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def _base_tensors(model: nn.Module) -> dict[str, Tensor]:
    layers = lora.lora_layers(model)
    adapters = tuple(f"{path}.adapters." for path in layers)
    bases = {f"{path}.base.": f"{path}." for path in layers}
    plain = {}
    for name, tensor in model.state_dict().items():
        if name.startswith((*adapters, HEAD)):
            continue
        for long, short in bases.items():
            if name.startswith(long):
                name = short + name.removeprefix(long)
        plain[name] = tensor
    return plain


def save_adapter(
    model: nn.Module, folder: Path | str, base: str, name: str = lora.DEFAULT, dtype: Any = None
) -> None:
    """Write one adapter of a model.

    base: the name of the model that it changes. dtype: what the numbers are stored as, None = as
    they are. Raises ValueError for an adapter that is not there, OSError as the disk does.
    """
    layers = {
        path: layer for path, layer in lora.lora_layers(model).items() if name in layer.adapters
    }
    if not layers:
        listed = ", ".join(lora.adapter_names(model)) or "none"
        raise ValueError(f"there is no adapter {name!r}; there is {listed}")
    tensors: dict[str, Tensor] = {}
    for path, layer in layers.items():
        tensors[f"{PREFIX}{path}{A}"] = layer.adapters[name].A
        tensors[f"{PREFIX}{path}{B}"] = layer.adapters[name].B
    first = next(iter(layers.values())).adapters[name]
    rank, out = first.A.shape[0], Path(folder)
    made = LoraConfig(rank, round(first.scale * rank, 9), tuple(sorted(layers)))
    write_adapter(out, tensors, base, made, dtype=dtype)
    files.write_json(out / BASE, {"base": base, "sha256": base_digest(model)})
    files.write_manifest(out, [CONFIG, WEIGHTS, BASE])


def write_adapter(
    out: Path,
    tensors: dict[str, Tensor],
    base: str,
    made: LoraConfig,
    *,
    dtype: Any = None,
    task_type: str | None = None,
    fan_in_fan_out: bool = False,
) -> None:
    """Write the two files that peft reads.

    made: its rank and α, and the paths of the layers that it changes.
    fan_in_fan_out: whether their matrices are (in, out).
    """
    out.mkdir(parents=True, exist_ok=True)
    save_tensors(out / WEIGHTS, tensors, dtype)
    config = {
        "peft_type": "LORA",
        "task_type": task_type,
        "base_model_name_or_path": base,
        "r": made.rank,
        "lora_alpha": made.alpha,
        "lora_dropout": 0.0,
        "target_modules": list(made.targets),
        "bias": "none",
        "fan_in_fan_out": fan_in_fan_out,
        "use_rslora": False,
        "use_dora": False,
        "modules_to_save": None,
        "inference_mode": True,
    }
    files.write_json(out / CONFIG, config)


def load_adapter(
    model: nn.Module, folder: Path | str, base: str | None = None, name: str = lora.DEFAULT
) -> LoraConfig:
    """Put an adapter from a folder beside the model's matrices, ready for use, and return its make.

    base: the name of `model`; an adapter that was made for another one is refused. An adapter of
      peft's own, which has no manifest, is checked by name and shapes alone.

    Raises CheckpointError (a ValueError) naming what is absent, damaged, of a kind that this does
    not read, or made for another base. The model is then unchanged.
    """
    path = Path(folder)
    if (path / files.MANIFEST).exists():
        files.check_manifest(path)
    about = files.read_json(path / CONFIG)
    config = config_of(about, path / CONFIG)
    made_for = about.get("base_model_name_or_path")
    if base is not None and made_for not in (None, base):
        raise CheckpointError(f"{path} is an adapter for {made_for}, not for {base}")
    tensors = load_tensors(path / WEIGHTS)
    for stored in sorted(tensors):
        if wrong := wrong_type(stored, tensors[stored]):
            raise CheckpointError(f"{path / WEIGHTS} cannot be computed with: {wrong}")
    pairs = pairs_of(tensors, path / WEIGHTS)
    _check_fit(model, pairs, config, path / WEIGHTS)
    if (path / BASE).exists() and files.read_json(path / BASE).get("sha256") != base_digest(model):
        raise CheckpointError(f"{path} is an adapter for other weights than those of this model")
    lora.add_adapter(model, LoraConfig(config.rank, config.alpha, tuple(pairs)), name)
    layers = lora.lora_layers(model)
    with torch.no_grad():
        for layer, (a, b) in pairs.items():
            adapter = layers[layer].adapters[name]
            adapter.A.copy_(a)
            adapter.B.copy_(b)
    return config


def config_of(about: dict[str, Any], source: Path, also: tuple[str, ...] = ()) -> LoraConfig:
    """Our settings from peft's; CheckpointError for adapters that are computed otherwise.

    also: options of those refused here that the caller takes account of.
    """
    if about.get("peft_type") != "LORA":
        raise CheckpointError(
            f"{source} must have the peft_type LORA; got {about.get('peft_type')}"
        )
    for key in ("use_rslora", "use_dora", "fan_in_fan_out", "modules_to_save", "rank_pattern"):
        if about.get(key) and key not in also:
            raise CheckpointError(f"{source} has {key}, which is not read here")
    if about.get("alpha_pattern") or about.get("bias", "none") != "none":
        raise CheckpointError(f"{source} trains biases or has an α of each layer, not read here")
    targets = about.get("target_modules") or ()
    try:
        targets = (targets,) if isinstance(targets, str) else tuple(targets)
        return LoraConfig(about["r"], about["lora_alpha"], targets)
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{source} does not describe an adapter: {error}") from error


def pairs_of(tensors: dict[str, Tensor], source: Path) -> dict[str, tuple[Tensor, Tensor]]:
    """Path of each layer -> (A, B)."""
    paths = dict.fromkeys(
        name.removeprefix(PREFIX).removesuffix(A).removesuffix(B) for name in tensors
    )
    pairs = {}
    for path in paths:
        names = [f"{PREFIX}{path}{end}" for end in (A, B)]
        if any(name not in tensors for name in names):
            raise CheckpointError(f"{source} must hold an A and a B for each layer; not for {path}")
        pairs[path] = tensors[names[0]], tensors[names[1]]
    for path, both in pairs.items():
        if not all(torch.isfinite(matrix).all() for matrix in both):
            raise CheckpointError(f"{source} holds numbers for {path} that are not finite")
    if not pairs:
        raise CheckpointError(f"{source} holds no matrix")
    return pairs


def _check_fit(
    model: nn.Module, pairs: dict[str, tuple[Tensor, Tensor]], config: LoraConfig, source: Path
) -> None:
    modules = dict(model.named_modules())
    for path, (a, b) in pairs.items():
        module = modules.get(path)
        weight = getattr(module, "weight", None)
        if not isinstance(weight, Tensor) or weight.dim() != 2:
            raise CheckpointError(f"{source} changes a layer {path}, which this model lacks")
        outputs, inputs = weight.shape
        if a.shape != (config.rank, inputs) or b.shape != (outputs, config.rank):
            raise CheckpointError(
                f"{source} belongs to another base: {path} is {outputs} × {inputs} here, its "
                f"A is {tuple(a.shape)} and its B {tuple(b.shape)} for rank {config.rank}"
            )
