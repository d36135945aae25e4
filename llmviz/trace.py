"""Named intermediates of any forward pass, watched without touching the model.

A model marks what can be looked at with a `Tap`, which returns its input. Inside
`with record() as trace:` every tap that runs in this thread (or task) keeps its tensor:

    with record("blocks.0.attn.*") as trace:
        model(idx)
    trace["blocks.0.attn.weights"]      # (B, H, T, T)

The recorder lives in a `ContextVar`, so two threads that share one model never see each
other's tensors. Nothing is kept, and nothing is paid, when nobody records.

Inside `with replaced({"blocks.0.mlp": change}):` a tap hands on `change(x)` in place of x.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from fnmatch import translate
from types import MappingProxyType

import torch
from torch import Tensor, nn


class Trace(dict[str, Tensor]):
    """The recorded tensors, by tap name, in the order in which they were first computed.

    If a tap runs more than once inside one recording, its last value stays; record each step
    of a loop on its own to keep all of them.
    """

    def __init__(self, names: str | Iterable[str] | None, dtype: torch.dtype | None):
        super().__init__()
        patterns = (names,) if isinstance(names, str) else names
        self._pattern = None  # of all that is kept, as one: it is asked for every tap
        if patterns is not None:
            self._pattern = re.compile("|".join(map(translate, patterns)) or "(?!)")
        self._dtype = dtype
        self._wanted: dict[str, bool] = {}

    def __missing__(self, name: str) -> Tensor:
        raise KeyError(
            f"nothing was recorded as {name!r}; recorded: {', '.join(self) or 'nothing'}"
        )

    def wants(self, name: str) -> bool:
        """Whether a tap of this name is kept."""
        if self._pattern is None:
            return True
        if name not in self._wanted:
            self._wanted[name] = self._pattern.match(name) is not None
        return self._wanted[name]

    def keep(self, name: str, x: Tensor) -> None:
        """Keep `x`, detached and in the recording's dtype, under `name`."""
        x = x.detach()
        if self._dtype is torch.uint8:
            low, high = torch.aminmax(x)
            if low < 0 or high > 1:
                raise ValueError(
                    f"recording as uint8 keeps values from 0 to 1 in steps of 1/255; "
                    f"{name} reaches from {low:.4g} to {high:.4g}"
                )
            x = (x * 255).round_().to(torch.uint8)
        elif self._dtype is not None and x.is_floating_point():
            x = x.to(self._dtype)
        self[name] = x


_trace: ContextVar[Trace | None] = ContextVar("llmviz_trace", default=None)


Change = Callable[[Tensor], Tensor]
_changes: ContextVar[Mapping[str, tuple[Change, ...]]] = ContextVar(
    "llmviz_changes", default=MappingProxyType({})
)


@contextmanager
def replaced(changes: Mapping[str, Change]) -> Iterator[None]:
    """Inside the block, the taps named hand on what their function makes of the tensor.

    Only this thread or task is affected. A recording keeps what is handed on. The steps inside
    attention, from scores to output, are taken one by one only while they are recorded; replace
    `concat` instead. Within another such block, both hold: the inner one changes what the outer one
    made of a tensor.
    """
    outer = _changes.get()
    added = {name: (*outer.get(name, ()), change) for name, change in changes.items()}
    token = _changes.set({**outer, **added})
    try:
        yield
    finally:
        _changes.reset(token)


def changed(name: str, x: Tensor) -> Tensor:
    """What `replaced` makes of x in the current thread or task."""
    for change in _changes.get().get(name, ()):
        x = change(x)
    return x


def replacing() -> bool:
    """Whether the current thread or task is inside `replaced()`."""
    return not torch.compiler.is_compiling() and bool(_changes.get())


def recording() -> bool:
    """Whether the current thread or task is inside `record()`."""
    return not torch.compiler.is_compiling() and _trace.get() is not None


def kept_dtype() -> torch.dtype | None:
    """Return the floating dtype that the open recording stores, None for each tensor's own."""
    trace = _trace.get()
    dtype = None if trace is None else trace._dtype
    return dtype if dtype is not None and dtype.is_floating_point else None


class Tap(nn.Module):
    """A parameter-free module that returns its input, for `record()` to keep.

    label: the tap's name inside the module that owns it. `name_taps` puts the owner's path in
    front, so `Tap("weights")` inside `model.blocks[0].attn` is `blocks.0.attn.weights`.

    The tensor is kept as it is, not copied: a module must not change it in place afterwards.
    """

    def __init__(self, label: str):
        super().__init__()
        self.label = self.name = label

    def __call__(self, x: Tensor) -> Tensor:  # past nn.Module's hooks: a tap costs nothing
        if not torch.compiler.is_compiling():
            if _changes.get():
                x = changed(self.name, x)
            trace = _trace.get()
            if trace is not None and trace.wants(self.name):
                trace.keep(self.name, x)
        return x

    forward = __call__

    def wanted(self) -> bool:
        """Whether somebody records this tap, for paths that compute it only then."""
        if torch.compiler.is_compiling():
            return False
        trace = _trace.get()
        return trace is not None and trace.wants(self.name)

    def extra_repr(self) -> str:
        return self.name


def name_taps(model: nn.Module) -> None:
    """Give every tap inside `model` its full name: the path of its owner, then its label.

    A tap in a ModuleList belongs to the module that holds the list.
    Raises ValueError when two taps would share a name.
    """
    modules = dict(model.named_modules())
    seen: set[str] = set()
    for path, tap in modules.items():
        if not isinstance(tap, Tap):
            continue
        owner = path.rpartition(".")[0]
        while isinstance(modules[owner], nn.ModuleList):
            owner = owner.rpartition(".")[0]
        tap.name = f"{owner}.{tap.label}" if owner else tap.label
        if tap.name in seen:
            raise ValueError(f"two taps are named {tap.name}")
        seen.add(tap.name)


def tap_names(model: nn.Module) -> list[str]:
    """The names that `record()` can keep for this model."""
    return [module.name for module in model.modules() if isinstance(module, Tap)]


@contextmanager
def record(
    names: str | Iterable[str] | None = None, dtype: torch.dtype | None = None
) -> Iterator[Trace]:
    """Keep the tensors of the taps that run inside the `with` block.

    names: one name or pattern, or several (`*` and `?` as in file names: `blocks.*.attn.weights`);
      None keeps every tap. Attention takes its explicit path only in layers whose steps are kept.
    dtype: what to store as; None keeps each tensor's own. float16 halves the memory; uint8 holds
      values from 0 to 1, such as attention weights, in steps of 1/255.
    Recordings nest: the inner one takes the tensors while it is open.
    Raises ValueError when uint8 is asked for a tensor with values outside 0 to 1.
    """
    trace = Trace(names, dtype)
    token = _trace.set(trace)
    try:
        yield trace
    finally:
        _trace.reset(token)
