"""LoRA: a frozen matrix W, and beside it a small change that is learned, W + (α/r)·B·A.

A (r, in), B (out, r), r the rank. B begins at zero, so that a new adapter changes nothing.

Reference: Hu et al. 2021, "LoRA: Low-Rank Adaptation of Large Language Models", section 4.1; names
and scale as in the library peft.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from llmviz.nn.fast_linear import product
from llmviz.nn.layers import DictOf, LowRank
from llmviz.nn.lora_config import LoraConfig

Model = TypeVar("Model", bound=nn.Module)

DEFAULT = "default"  # the name of an adapter that was given none


class Adapter(nn.Module):
    """The change of one matrix: A (r, in), B (out, r) and the scale α/r."""

    def __init__(self, inputs: int, outputs: int, config: LoraConfig):
        super().__init__()
        if config.rank > min(inputs, outputs):
            raise ValueError(
                f"rank must be at most {min(inputs, outputs)}, the smaller side of a matrix of "
                f"{outputs} × {inputs}; got {config.rank}"
            )
        self.scale = config.scale
        self.A = nn.Parameter(torch.empty(config.rank, inputs))
        self.B = nn.Parameter(torch.zeros(outputs, config.rank))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))

    def change(self) -> Tensor:
        """Return (α/r)·B·A, shape (out, in)."""
        return self.scale * (self.B @ self.A)


class AdaptedLinear(torch.autograd.Function):
    """y = x·Mᵀ + b with M = W + s·B·A, where only A and B learn. N rows, s = α/r.

    Left to itself, autograd follows the formula as it is written, and both ways of writing it
    take longer: x·Wᵀ + s·x·Aᵀ·Bᵀ has two more products over all rows forward and two more
    backward, and x·Mᵀ would compute the gradient of all of M, of which W needs nothing. Here both
    directions take one large product, as in a frozen layer, and A and B get their gradients from
    products that are r wide:

        dX = dY·M        dB = s·dYᵀ·(X·Aᵀ)        dA = s·(dY·B)ᵀ·X
    """

    @staticmethod
    def forward(
        ctx, x: Tensor, weight: Tensor, bias: Tensor | None, a: Tensor, b: Tensor, s: float
    ):
        """x (…, in), W (out, in), b (out,), A (r, in), B (out, r) to (…, out)."""
        merged = torch.addmm(weight, b, a, alpha=s)
        y = product(x, merged, bias)  # under autocast in fewer bits than x may have
        ctx.save_for_backward(x.to(y.dtype), merged, a, b)
        ctx.scale = s
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, dy: Tensor):
        """dY (…, out) to the gradients of x, A and B; W and b get none."""
        x, merged, a, b = (tensor.to(dy.dtype) for tensor in ctx.saved_tensors)
        dx = product(dy, merged.t()) if ctx.needs_input_grad[0] else None
        x, dy = x.flatten(0, -2), dy.flatten(0, -2)  # (N, in), (N, out)
        # Written with r rows, not r columns: a product of few rows is up to four times as fast.
        da = (b.t() @ dy.t()) @ x  # (r, N)·(N, in)
        db = (a @ x.t()) @ dy  # (r, N)·(N, out)
        return dx, None, None, ctx.scale * da, ctx.scale * db.t(), None


class LoraLinear(nn.Module):
    """y = x·Wᵀ + b + (α/r)·x·Aᵀ·Bᵀ with W and b frozen.

    Several adapters may lie beside one W; `active` names the one in use, None uses W alone.
    `merged` names the adapter that is added into W, None while W is as it was.
    """

    def __init__(self, base: nn.Linear):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.adapters: DictOf[Adapter] = DictOf()
        self.active: str | None = None
        self.merged: str | None = None
        self._kept: Tensor | None = None  # W before it was merged

    def forward(self, x: Tensor) -> Tensor:
        """(…, in) to (…, out)."""
        adapter = self.beside
        if adapter is None:
            return self.base(x)
        base, learns = self.base, torch.is_grad_enabled() and adapter.A.requires_grad
        if learns and not any(parameter.requires_grad for parameter in base.parameters()):
            a, b = adapter.A, adapter.B
            return AdaptedLinear.apply(x, base.weight, base.bias, a, b, adapter.scale)
        y = base(x)
        h = F.linear(x, adapter.A)  # (…, r)
        # One kernel for the product and the sum; B is small, so it carries the scale.
        small = (adapter.scale * adapter.B).t().to(h.dtype)  # (r, out)
        return torch.addmm(y.flatten(0, -2), h.flatten(0, -2), small).view(y.shape)

    def parts(self) -> tuple[nn.Linear, LowRank | None]:
        """The layer with W, and the change beside it; None where W is used alone or has it."""
        adapter = self.beside
        change = None if adapter is None else LowRank(adapter.A, adapter.B, adapter.scale)
        return self.base, change

    @property
    def beside(self) -> Adapter | None:
        """The adapter that is computed beside W; None where W is used alone or has it."""
        if self.active is None or self.merged is not None:
            return None
        return self.adapters[self.active]

    @property
    def weight(self) -> Tensor:
        """The matrix that is in effect, (out, in)."""
        adapter = self.beside
        return self.base.weight if adapter is None else self.base.weight + adapter.change()

    @property
    def bias(self) -> Tensor | None:
        """b, (out,), which LoRA leaves as it is."""
        return self.base.bias


def lora_layers(model: nn.Module) -> dict[str, LoraLinear]:
    """Return the layers that can hold adapters, by path; none before `add_adapter`."""
    return {path: layer for path, layer in model.named_modules() if isinstance(layer, LoraLinear)}


def add_adapter(
    model: nn.Module, config: LoraConfig, name: str = DEFAULT, seed: int = 0
) -> list[LoraLinear]:
    """Freeze the whole model and put a new adapter beside every target; it is then in use.

    Returns the layers that got one. Raises ValueError for a name that is taken or is no plain
    word, a rank that is larger than a matrix, or targets that name no layer; the model is then
    unchanged.
    """
    if not re.fullmatch(r"[\w-]+", name) or hasattr(nn.ModuleDict(), name):
        raise ValueError(f"an adapter's name must be of letters, digits, - and _; got {name!r}")
    targets = list(_targets(model, config.targets))
    if not targets:
        raise ValueError(
            "targets must be ends of layers' paths, such as attn.qkv; "
            f"got {', '.join(config.targets)}"
        )
    linears = [layer.base if isinstance(layer, LoraLinear) else layer for _, layer in targets]
    if any(isinstance(layer, LoraLinear) and name in layer.adapters for _, layer in targets):
        raise ValueError(f"there is an adapter {name!r} already; choose another name")
    if merged := merged_adapter(model):
        raise ValueError(f"adapter {merged!r} is merged into the weights; unmerge it first")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        adapters = [Adapter(linear.in_features, linear.out_features, config) for linear in linears]
    model.requires_grad_(False)
    layers = []
    for (path, old), adapter in zip(targets, adapters, strict=True):
        layer = old if isinstance(old, LoraLinear) else LoraLinear(old)
        layer.adapters[name] = adapter.to(layer.base.weight.device)
        parent, _, last = path.rpartition(".")
        setattr(model.get_submodule(parent), last, layer)
        layers.append(layer)
    use_adapter(model, name)
    return layers


def _targets(model: nn.Module, ends: Sequence[str]) -> Iterator[tuple[str, nn.Linear | LoraLinear]]:
    """Layers whose path ends with one of `ends`, with what stands there now."""
    inside = tuple(f"{path}." for path in lora_layers(model))
    for path, module in model.named_modules():
        fits = any(path == end or path.endswith(f".{end}") for end in ends)
        if fits and isinstance(module, nn.Linear | LoraLinear) and not path.startswith(inside):
            yield path, module


def adapter_names(model: nn.Module) -> list[str]:
    """Return the names of a model's adapters, in the order in which they came."""
    layers = lora_layers(model).values()
    return list(dict.fromkeys(name for layer in layers for name in layer.adapters))


def use_adapter(model: nn.Module, name: str | None) -> None:
    """Switch to an adapter, or with None to the base; only the one in use is trained.

    Raises ValueError for an adapter that is not there, or while one is merged.
    """
    if name is not None and name not in adapter_names(model):
        listed = ", ".join(adapter_names(model)) or "none"
        raise ValueError(f"there is no adapter {name!r}; there is {listed}")
    if merged := merged_adapter(model):
        raise ValueError(f"adapter {merged!r} is merged into the weights; unmerge it first")
    for layer in lora_layers(model).values():
        layer.active = name if name is not None and name in layer.adapters else None
        for other, adapter in layer.adapters.items():
            adapter.requires_grad_(other == name)


def merged_adapter(model: nn.Module) -> str | None:
    """Return the name of the adapter that is merged into the weights, or None."""
    return next((layer.merged for layer in lora_layers(model).values() if layer.merged), None)


@torch.no_grad()
def merge(model: nn.Module) -> None:
    """Add the adapter in use into the matrices: the model is then as fast as the base.

    Raises ValueError where no adapter is in use, or one is merged already.
    """
    layers = [layer for layer in lora_layers(model).values() if layer.active]
    if not layers:
        raise ValueError("there is no adapter in use to merge")
    if merged := merged_adapter(model):
        raise ValueError(f"adapter {merged!r} is merged already")
    for layer in layers:
        layer._kept, adapter = layer.base.weight.clone(), layer.beside
        assert adapter is not None
        layer.base.weight.add_(adapter.change())
        layer.merged = layer.active


@torch.no_grad()
def unmerge(model: nn.Module) -> None:
    """Put the matrices back as they were before `merge`, to the bit.

    Subtracting the change would leave rounding behind; a copy of W is kept instead.
    Raises ValueError where nothing is merged.
    """
    layers = [layer for layer in lora_layers(model).values() if layer.merged]
    if not layers:
        raise ValueError("there is no merged adapter to take out")
    for layer in layers:
        assert layer._kept is not None
        layer.base.weight.copy_(layer._kept)
        layer.merged = layer._kept = None


@torch.no_grad()
def without_adapters(model: Model) -> Model:
    """Return the model with plain layers again, the adapter in use merged in for good.

    The model that is given is changed and returned; its other adapters are gone.
    """
    for path, layer in lora_layers(model).items():
        if (adapter := layer.beside) is not None:
            layer.base.weight.add_(adapter.change())
        parent, _, last = path.rpartition(".")
        setattr(model.get_submodule(parent), last, layer.base)
    return model


def trained_parameters(model: nn.Module) -> int:
    """How many numbers training changes."""
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)


def share_kept(values: Tensor) -> Tensor:
    """Return for each rank the share of a change's squared length that this rank can hold.

    values: singular values, the largest first (N,); returns (N,), the last is 1. Reference: Eckart
    and Young 1936: no matrix of rank r comes nearer than the first r singular values.
    """
    squares = values.square()
    return squares.cumsum(0) / squares.sum()
