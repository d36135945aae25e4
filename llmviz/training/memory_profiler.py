"""Makes one training step and reads from torch which tensors are alive when: see `step_memory`."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.hooks import RemovableHandle

from llmviz.models.base import LanguageModel
from llmviz.models.gpt import GPT
from llmviz.training import step_memory


def watch_step(
    model: LanguageModel,
    optimizer: torch.optim.Optimizer,
    pieces: Sequence[tuple[Tensor, ...]],
    parts: Sequence[str],
) -> step_memory.StepMemory:
    """Make one step, with its gradients and its update, and return which tensors were alive when.

    model: called with each of `pieces` (the micro-batches, targets last), gives (logits, loss); the
      loss of a piece counts by its share of the rows. It is in training mode, and changed.
    parts: paths of the modules that moments are named after, such as blocks.0; they run one after
      the other.

    Counted are the storages of tensors: parameters, buffers, the batch, and what each operation
    made. What an operation takes for itself while it runs is not a tensor and is not seen; neither
    is what Python takes. Activations are what autograd saves for the backward pass
    (`saved_tensors_hooks`); of what is computed again for it, all that is kept until it is used.

    Raises ValueError for no piece, or parts that are not modules of the model.
    """
    if not pieces:
        raise ValueError("a step needs at least one batch; got none")
    known = dict(model.named_modules())
    unknown = [part for part in parts if part not in known]
    if unknown:
        raise ValueError(f"the model has no part {unknown[0]!r}")
    watch = _Watch(parts[-1] if parts else "")
    names: dict[Tensor, str] = {parameter: name for name, parameter in model.named_parameters()}
    for parameter, name in names.items():
        watch.add(parameter, "weights", name)
        if parameter.grad is not None:
            watch.add(parameter.grad, "gradients", name)
    for tensor, name in _averages(optimizer, names):
        watch.add(tensor, "averages", name)
    for name, buffer in model.named_buffers():
        watch.add(buffer, "batch", name)
    for tensor in tree_leaves(pieces):
        watch.add(tensor, "batch", "batch")
    rows = sum(len(piece[-1]) for piece in pieces)
    with contextlib.ExitStack() as stack:
        for part in parts:
            stack.enter_context(watch.follow(known[part], part))
        for parameter, name in names.items():
            stack.enter_context(_hooked(watch.on_gradient(parameter, name)))
        stack.enter_context(watch)
        for piece in pieces:
            with saved_tensors_hooks(watch.pack, lambda tensor: tensor):
                watch.go_on(step_memory.FORWARD, step_memory.INPUTS)
                loss = model(*piece)[1] * (len(piece[-1]) / rows)
            watch.go_on(step_memory.BACKWARD, step_memory.LOSS)
            loss.backward()
            del loss
        watch.go_on(step_memory.UPDATE, "")
        optimizer.step()
        watch.note(step_memory.UPDATE, "", "update")
    for tensor, name in _averages(optimizer, names):
        watch.name(tensor, "averages", name)
    return watch.memory()


def gpt_parts(model: GPT) -> list[str]:
    """Return the parts that a GPT's step is shown by: its blocks, its last norm and its head."""
    return [*(f"blocks.{layer}" for layer in range(len(model.blocks))), "norm_final", "head"]


def _averages(
    optimizer: torch.optim.Optimizer, names: dict[Tensor, str]
) -> Iterator[tuple[Tensor, str]]:
    """What an optimizer holds of each parameter, with a name."""
    for parameter, state in optimizer.state.items():
        for key, value in state.items():
            if isinstance(value, Tensor):
                yield value, f"{names[parameter]} {key}"


@contextlib.contextmanager
def _hooked(handle: RemovableHandle) -> Iterator[None]:
    try:
        yield
    finally:
        handle.remove()


@dataclass(eq=False)
class _Record:
    """What is known of a storage so far; `died` is −1 while it is alive."""

    kind: str
    name: str
    part: str
    shape: tuple[int, ...]
    dtype: str
    bytes: int
    born: int
    died: int = -1


class _Watch(TorchDispatchMode):
    """Sees every operation, and is told by torch when a storage is freed."""

    def __init__(self, last: str) -> None:
        super().__init__()
        self.last = last  # of the parts
        self.moments = [step_memory.Moment(step_memory.FORWARD, step_memory.INPUTS, "")]
        self.records: list[_Record] = []
        self.alive: dict[int, _Record] = {}  # by the storage's address, while it is alive
        self.refs: dict[int, weakref.ref] = {}
        self.phase, self.at = step_memory.FORWARD, step_memory.INPUTS
        self.inside: list[str] = []  # parts whose forward pass runs
        self.again: list[_Record] = []  # made by a forward pass that ran for the backward pass

    # What torch tells.

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if self.again and not self.inside:
            self._settle()
        result = func(*args, **(kwargs or {}))
        tensors = [
            leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor) and self._is_new(leaf)
        ]
        if tensors:
            again = bool(self.inside) and self.phase == step_memory.BACKWARD
            part = self.inside[-1] if self.inside else self.at
            operation = func.overloadpacket.__name__
            self.note(step_memory.AGAIN if again else self.phase, part, operation)
            for tensor in tensors:
                record = self.add(tensor, "temporary", operation, part)
                if record is not None and again:
                    self.again.append(record)
        return result

    def pack(self, tensor: Tensor) -> Tensor:
        """Autograd saves a tensor; it gets another of the same storage, so that none is held."""
        record = self.alive.get(_address(tensor))
        if record is not None and record.kind == "temporary":
            record.kind = "activations"
        return tensor.detach()

    def on_gradient(self, parameter: Tensor, name: str) -> RemovableHandle:
        """Know a parameter's gradient once it is there."""
        return parameter.register_post_accumulate_grad_hook(
            lambda leaf: self.name(leaf.grad, "gradients", name)
        )

    @contextlib.contextmanager
    def follow(self, module: nn.Module, path: str) -> Iterator[None]:
        """Know when the forward and the backward pass of a part begin and end."""

        def enters(_module: Any, inputs: tuple[Any, ...]) -> None:
            first = inputs[0]
            if (
                self.phase == step_memory.FORWARD and first.requires_grad
            ):  # its gradient ends the way back
                first.register_hook(lambda _: self._back_out_of(path))
            self.inside.append(path)

        def leaves(_module: Any, _inputs: Any, output: Any) -> None:
            self.inside.pop()
            if self.phase == step_memory.FORWARD:
                self.at = step_memory.LOSS if path == self.last else step_memory.INPUTS
                output.register_hook(lambda _: self._back_into(path))

        with (
            _hooked(module.register_forward_pre_hook(enters)),
            # A pass that runs again stops, by an exception, once it has what is needed.
            _hooked(module.register_forward_hook(leaves, always_call=True)),
        ):
            yield

    def go_on(self, phase: str, part: str) -> None:
        """Say what comes now."""
        self.phase, self.at = phase, part

    def _back_into(self, path: str) -> None:
        self.at = path

    def _back_out_of(self, path: str) -> None:
        if self.at == path:
            self.at = step_memory.INPUTS

    def _settle(self) -> None:
        """What a forward pass that ran again has left is there for the backward pass."""
        for record in self.again:
            if record.died < 0:
                record.kind = "activations"
        self.again = []

    # The book of storages.

    def note(self, phase: str, part: str, operation: str) -> None:
        """Begin another moment."""
        self.moments.append(step_memory.Moment(phase, part, operation))

    def add(self, tensor: Tensor, kind: str, name: str, part: str = "") -> _Record | None:
        """Note a storage, from this moment on; None where it is known or holds nothing."""
        if not self._is_new(tensor):
            return None
        storage, address = tensor.untyped_storage(), _address(tensor)
        shape, dtype = tuple(tensor.shape), str(tensor.dtype).removeprefix("torch.")
        now = len(self.moments) - 1
        record = _Record(kind, name, part, shape, dtype, storage.nbytes(), now)
        self.records.append(record)
        self.alive[address] = record
        self.refs[address] = weakref.ref(storage, lambda _: self._freed(address))
        return record

    def name(self, tensor: Tensor, kind: str, name: str) -> None:
        """Say what a storage is."""
        record = self.alive.get(_address(tensor))
        if record is not None:
            record.kind, record.name, record.part = kind, name, ""

    def _is_new(self, tensor: Tensor) -> bool:
        return bool(tensor.untyped_storage().nbytes()) and _address(tensor) not in self.alive

    def _freed(self, address: int) -> None:
        self.refs.pop(address)
        self.alive.pop(address).died = len(self.moments)

    def memory(self) -> step_memory.StepMemory:
        """Return the step, which is over."""
        end = len(self.moments)
        held = [
            step_memory.Held(
                record.kind,
                record.name,
                record.part,
                record.shape,
                record.dtype,
                record.bytes,
                record.born,
                record.died if record.died >= 0 else end,
            )
            for record in self.records
        ]
        return step_memory.StepMemory(tuple(self.moments), tuple(held))


def _address(tensor: Tensor) -> int:
    return tensor.untyped_storage()._cdata
