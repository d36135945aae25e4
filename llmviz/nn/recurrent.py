"""Recurrent cells, one step written out, and the loop over time that runs them.

B batch, T time, C input width, H hidden width.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from llmviz.nn.layers import ListOf
from llmviz.trace import Tap, recording

State = tuple[Tensor, ...]


class RNNSteps(NamedTuple):
    """One step of the plain cell; all (B, H)."""

    hidden: Tensor


class GRUSteps(NamedTuple):
    """One step of the gated recurrent unit; all (B, H)."""

    reset: Tensor  # how much of the past the candidate may see, 0 to 1
    update: Tensor  # how much of the past stays, 0 to 1
    candidate: Tensor  # what the new state would be
    hidden: Tensor


class LSTMSteps(NamedTuple):
    """One step of the long short-term memory; all (B, H)."""

    input: Tensor  # how much of the candidate enters the cell, 0 to 1
    forget: Tensor  # how much of the cell stays, 0 to 1
    candidate: Tensor  # what would be written
    output: Tensor  # how much of the cell is shown, 0 to 1
    cell: Tensor  # the long memory
    hidden: Tensor


def rnn_step(a: Tensor, b: Tensor, state: State) -> tuple[RNNSteps, State]:
    """h' = tanh(a + b), with a = W·x + bias and b = U·h + bias.

    Reference: Elman 1990.
    """
    hidden = torch.tanh(a + b)
    return RNNSteps(hidden), (hidden,)


def gru_step(a: Tensor, b: Tensor, state: State) -> tuple[GRUSteps, State]:
    """h' = (1 − update)·candidate + update·h, with a, b (B, 3H) holding reset, update, candidate.

    Reference: Cho et al. 2014, eq. 5–8. Deviation, as in torch: the reset gate acts after the
    hidden state's matrix, and `update` weighs the past.
    """
    (h,) = state
    (ar, au, ac), (br, bu, bc) = a.chunk(3, dim=-1), b.chunk(3, dim=-1)
    reset, update = torch.sigmoid(ar + br), torch.sigmoid(au + bu)
    candidate = torch.tanh(ac + reset * bc)
    hidden = (1 - update) * candidate + update * h
    return GRUSteps(reset, update, candidate, hidden), (hidden,)


def lstm_step(a: Tensor, b: Tensor, state: State) -> tuple[LSTMSteps, State]:
    """cell' = forget·cell + input·candidate; h' = output·tanh(cell'), with a, b (B, 4H).

    Reference: Hochreiter, Schmidhuber 1997, with the forget gate of Gers et al. 2000.
    """
    _, cell = state
    i, f, g, o = (a + b).chunk(4, dim=-1)
    enter, forget, output = torch.sigmoid(i), torch.sigmoid(f), torch.sigmoid(o)
    candidate = torch.tanh(g)
    cell = forget * cell + enter * candidate
    hidden = output * torch.tanh(cell)
    return LSTMSteps(enter, forget, candidate, output, cell, hidden), (hidden, cell)


Steps = RNNSteps | GRUSteps | LSTMSteps
Step = Callable[[Tensor, Tensor, State], tuple[Steps, State]]
# name: the step, how many matrices it has, how many tensors its state has, its steps
CELLS: dict[str, tuple[Step, int, int, type[Steps]]] = {
    "rnn": (rnn_step, 1, 1, RNNSteps),
    "gru": (gru_step, 3, 1, GRUSteps),
    "lstm": (lstm_step, 4, 2, LSTMSteps),
}


class Recurrence(nn.Module):
    """A cell run over time: (B, T, C) to its hidden states (B, T, H), from zeros or a given state.

    cell: rnn, gru or lstm. Weights are laid out as in torch.nn's layers of the same names.
    Taps: one per part of the cell's step, (B, T, H).
    """

    def __init__(self, cell: str, input_size: int, hidden_size: int):
        super().__init__()
        if cell not in CELLS:
            raise ValueError(f"cell must be one of {', '.join(CELLS)}; got {cell!r}")
        self.step, n_matrix, self.n_state, steps = CELLS[cell]
        self.hidden_size = hidden_size
        self.input = nn.Linear(input_size, n_matrix * hidden_size)
        self.recurrent = nn.Linear(hidden_size, n_matrix * hidden_size)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -(hidden_size**-0.5), hidden_size**-0.5)
        self.taps = ListOf(Tap(name) for name in steps._fields)

    def forward(self, x: Tensor, start: Tensor | None = None) -> Tensor:
        """Hidden states (B, T, H); each needs the one before, so the loop cannot be split up.

        start: the hidden state before the first step, (B, H); None is zeros. A cell of more than
          one tensor (lstm) starts from zeros alone. Raises ValueError where it is given a start.
        """
        kept = self.steps(x, start)
        if recording():
            for tap, values in zip(self.taps, zip(*kept, strict=True), strict=True):
                tap(torch.stack(values, dim=1))
        return torch.stack([steps.hidden for steps in kept], dim=1)  # (B, T, H)

    def steps(self, x: Tensor, start: Tensor | None = None) -> list[Steps]:
        """The steps of `forward`, one for each time, as tensors that gradients flow through."""
        inputs = self.input(x)  # (B, T, kH), all times at once: only the state is sequential
        if start is not None and self.n_state > 1:
            raise ValueError("an lstm has two tensors in its state; it starts from zeros alone")
        if start is None:
            start = inputs.new_zeros(len(x), self.hidden_size)
        state: State = (start,) * self.n_state
        weight, bias = self.recurrent.weight, self.recurrent.bias
        kept = []
        for a in inputs.unbind(1):
            steps, state = self.step(a, F.linear(state[0], weight, bias), state)
            kept.append(steps)
        return kept
