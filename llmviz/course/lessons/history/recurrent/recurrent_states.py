"""A recurrent model on a few letters: its gates and states, and how one of them came about.

T letters, C = n_embd, H hidden width, k matrices of the cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models.base import LanguageModel
    from llmviz.models.rnn import RNN

# The parts of a cell that have weights of their own, in the order of the rows of its matrices.
GATES = {
    "rnn": ("hidden",),
    "gru": ("reset", "update", "candidate"),
    "lstm": ("input", "forget", "candidate", "output"),
}


@dataclass(frozen=True)
class StatesRead:
    """What a recurrent model of one layer computed on a text.

    parts: by the names of the cell's taps, each (T, H), the last of them `hidden`.
    """

    embed: Tensor  # (T, C)
    parts: dict[str, Tensor]
    logits: Tensor  # (T, V)


@dataclass(frozen=True)
class GateSteps:
    """How one gate, or the RNN's state, was made at all times.

    value = function(from_input + from_state); where `reset` is there (the GRU's candidate),
    value = function(from_input + reset · from_state). All (T, H) but the matrices.
    """

    x: Tensor  # (T, C)
    before: Tensor  # the state that each letter finds; zeros at the first
    input_weight: Tensor  # (C, H)
    input_bias: Tensor  # (1, H)
    state_weight: Tensor  # (H, H)
    state_bias: Tensor  # (1, H)
    from_input: Tensor
    from_state: Tensor
    reset: Tensor | None
    total: Tensor
    value: Tensor


def require_one_layer(model: LanguageModel) -> RNN:
    """Return the model. Raises ValueError unless it has one recurrent layer."""
    from llmviz.models.rnn import RNN

    if not isinstance(model, RNN) or len(model.layers) != 1:
        raise ValueError("a recurrent model of one layer is needed")
    return model


def read_states(model: LanguageModel, ids: Sequence[int]) -> StatesRead:
    """Return what a model computes on token ids.

    Raises ValueError where the model has no single recurrent layer, or the ids do not fit it.
    """
    import torch

    from llmviz.trace import record

    require_one_layer(model)
    with torch.inference_mode(), record(("embed", "layers.0.*", "logits")) as trace:
        model(torch.tensor([list(ids)]))
    parts = {
        name.removeprefix("layers.0."): values[0].clone()
        for name, values in trace.items()
        if name.startswith("layers.0.")
    }
    return StatesRead(trace["embed"][0].clone(), parts, trace["logits"][0].clone())


def before(values: Tensor) -> Tensor:
    """Return what was there one letter earlier: (T, H) moved by one row, zeros first.

    >>> import torch
    >>> before(torch.tensor([[1.0], [2.0]])).tolist()
    [[0.0], [1.0]]
    """
    import torch

    return torch.cat((torch.zeros_like(values[:1]), values[:-1]))


def gate_steps(model: LanguageModel, read: StatesRead, gate: str) -> GateSteps:
    """Return how one gate came about at every letter.

    Raises ValueError where the cell has no such gate.
    """
    import torch
    import torch.nn.functional as F

    rnn = require_one_layer(model)
    names = GATES[rnn.cell]
    if gate not in names:
        raise ValueError(f"the gate of {rnn.cell} must be one of {', '.join(names)}; got {gate}")
    layer, at = rnn.layers[0], names.index(gate)
    rows = slice(at * layer.hidden_size, (at + 1) * layer.hidden_size)
    state = before(read.parts["hidden"])
    with torch.inference_mode():
        a = F.linear(read.embed, layer.input.weight[rows], layer.input.bias[rows])
        b = F.linear(state, layer.recurrent.weight[rows], layer.recurrent.bias[rows])
        gated = "reset" in names and gate == "candidate"
        reset = read.parts["reset"] if gated else None
        total = a + (b if reset is None else reset * b)
        value = total.tanh() if gate in ("hidden", "candidate") else total.sigmoid()
    return GateSteps(
        read.embed,
        state,
        layer.input.weight[rows].T,
        layer.input.bias[rows][None],
        layer.recurrent.weight[rows].T,
        layer.recurrent.bias[rows][None],
        a,
        b,
        reset,
        total,
        value,
    )
