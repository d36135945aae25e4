"""One weight of a trained model: where its gradient comes from, and what moving it does.

T positions. The model is copied, in float64, so that nothing is changed for those who share it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from llmviz.models.base import LanguageModel


@dataclass(frozen=True)
class WeightGradient:
    """The gradient of one weight of a matrix as a sum over positions.

    upstream (T,): ∂loss/∂ what the matrix gave at each position, in the weight's row. local (T,):
    what the matrix was given there, in the weight's column. Their products add up to `by_hand`;
    `autograd` is torch's own number. A token table is a matrix whose input is 1 at the positions of
    its row's token and 0 elsewhere. Where a matrix is used twice (a tied head), `uses` holds one
    such pair for each use.
    """

    name: str
    row: int
    column: int
    value: float
    loss: float
    uses: tuple[Use, ...]
    autograd: float

    @property
    def by_hand(self) -> float:
        """The sum of all products."""
        return float(sum((use.upstream * use.local).sum() for use in self.uses))


@dataclass(frozen=True)
class Use:
    """One place where the model uses a matrix."""

    module: str
    upstream: Tensor  # (T,)
    local: Tensor  # (T,)


def matrices(model: LanguageModel) -> list[str]:
    """The weights that can be asked about: those of linear layers and of token tables.

    Position tables are left out: nothing is looked up in them by id.
    """
    names = []
    for name, parameter in model.named_parameters():
        owner = model.get_submodule(name.rpartition(".")[0])
        kind = nn.Linear | nn.Embedding
        if parameter.dim() == 2 and isinstance(owner, kind) and name != "position.weight":
            names.append(name)
    return names


class Copy:
    """A copy of a model in float64 with a text to read, ready to be nudged and put back."""

    def __init__(self, model: LanguageModel, ids: Sequence[int]) -> None:
        if len(ids) < 2:
            raise ValueError(f"a loss needs at least 2 tokens; got {len(ids)}")
        self.model = copy.deepcopy(model).double().eval().requires_grad_(False)
        self.idx = torch.tensor([ids[:-1]])
        self.targets = torch.tensor([ids[1:]])

    def loss(self) -> Tensor:
        """Mean nats per token of the text, in float64."""
        logits = self.model(self.idx)[0]
        return nn.functional.cross_entropy(logits.flatten(0, 1), self.targets.flatten())

    def parameter(self, name: str) -> nn.Parameter:
        """A matrix by its name. Raises ValueError: there is none of that name."""
        known = matrices(self.model)
        if name not in known:
            raise ValueError(f"the matrix must be one of {', '.join(known)}; got {name!r}")
        return self.model.get_parameter(name)

    def gradients(self, name: str) -> Tensor:
        """∂loss/∂ a whole matrix."""
        weight = self.parameter(name).requires_grad_()
        try:
            (gradient,) = torch.autograd.grad(self.loss(), weight)
        finally:
            weight.requires_grad_(False)
        return gradient

    @torch.no_grad()
    def losses_with(self, name: str, row: int, column: int, values: Sequence[float]) -> list[float]:
        """The loss with one weight set to each of some values; it is put back afterwards."""
        weight = self.parameter(name)
        kept = weight[row, column].clone()
        try:
            losses = []
            for value in values:
                weight[row, column] = value
                losses.append(float(self.loss()))
        finally:
            weight[row, column] = kept
        return losses

    def explain(self, name: str, row: int, column: int) -> WeightGradient:
        """Where the gradient of weight [row, column] of a matrix comes from.

        Raises ValueError for an unknown matrix, a cell outside it, or a matrix that is used in
        another way than by a layer (a recurrent one).
        """
        weight = self.parameter(name)
        rows, columns = weight.shape
        if not (0 <= row < rows and 0 <= column < columns):
            raise ValueError(f"{name} is {rows}×{columns}; got the cell [{row}, {column}]")
        weight.requires_grad_()
        try:
            with self._watched(weight) as seen:
                loss = self.loss()
            outputs = [output for _, _, output in seen]
            grad, *upstream = torch.autograd.grad(loss, [weight, *outputs])
        finally:
            weight.requires_grad_(False)
        if not seen:
            raise ValueError(f"{name} is not used by a layer that can be watched")
        uses = tuple(
            _use(at, given, gone, row, column)
            for (at, given, _), gone in zip(seen, upstream, strict=True)
        )
        value, nats = float(weight.detach()[row, column]), float(loss.detach())
        return WeightGradient(name, row, column, value, nats, uses, float(grad[row, column]))

    @contextmanager
    def _watched(self, weight: nn.Parameter) -> Iterator[list[tuple[str, Tensor, Tensor]]]:
        """Note each use of a matrix: where, what it was given, what came out."""
        seen: list[tuple[str, Tensor, Tensor]] = []
        hooks = [
            module.register_forward_hook(_keep(at, seen))
            for at, module in self.model.named_modules()
            if isinstance(module, nn.Linear | nn.Embedding) and module.weight is weight
        ]
        look_up = self.model.embed_ids

        def embed_ids(idx: Tensor, table: Tensor) -> Tensor:
            output = look_up(idx, table)
            if table is weight:
                seen.append(("token", idx, output))
            return output

        # Of the copy alone: the model's class keeps its own.
        self.model.embed_ids = embed_ids  # type: ignore[method-assign,assignment]  # a function
        try:
            yield seen
        finally:
            del self.model.embed_ids
            for hook in hooks:
                hook.remove()


def _keep(at: str, seen: list[tuple[str, Tensor, Tensor]]) -> Any:
    def hook(module: nn.Module, given: tuple[Tensor, ...], output: Tensor) -> None:
        seen.append((at, given[0].detach(), output))

    return hook


def _use(at: str, given: Tensor, upstream: Tensor, row: int, column: int) -> Use:
    """The factors of one use: (1, T, …) inputs or ids, (1, T, …) gradients of the outputs."""
    if given.is_floating_point():  # y = x Wᵀ: W[row, column] takes input `column` to output `row`
        return Use(at, upstream[0, ..., row].flatten(), given[0, ..., column].flatten())
    # a table: row `row` was taken where the id is `row`, and its column `column` is an output
    taken = (given[0] == row).to(upstream)
    return Use(at, upstream[0, ..., column].flatten(), taken.flatten())
