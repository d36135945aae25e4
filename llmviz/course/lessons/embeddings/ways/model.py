"""Tables of positions, how alike their rows are, and what a model makes of them.

T positions, C numbers in a vector, D numbers in a query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from llmviz.similarity import pairwise
from llmviz.tokenizers import Tokenizer

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT


@dataclass(frozen=True, eq=False)
class PositionTable:
    """A table (T, C) of positions and how alike they are to each other, `similarity` (T, T).

    `spread` is by how much positions at the same distance differ in that, at most.
    """

    table: np.ndarray
    similarity: np.ndarray

    @property
    def spread(self) -> float:
        """The largest difference in similarity between pairs at one distance."""
        distances = range(1, len(self.table) // 2)
        values = (float(np.ptp(np.diagonal(self.similarity, d))) for d in distances)
        return max(values, default=0.0)


def learned_positions(model: GPT) -> PositionTable:
    """Return the table that a model has learned, with cosines."""
    table = model.get_parameter("position.weight").numpy()
    return PositionTable(table, pairwise(table, "cosine"))


def computed_positions(way: str, t: int, c: int, base: float) -> PositionTable:
    """Return the table of "sinusoidal" positions with cosines, or of "rotary" ones with scores.

    Rotary: cosines of the angles in the left half, sines in the right one; the scores are those of
    a query and a key whose numbers are all equal, of length 1.

    Raises ValueError for an odd width.
    """
    import torch

    from llmviz.nn.positions import rotary_angles, sinusoidal_positions, turned

    if way == "sinusoidal":
        table = sinusoidal_positions(t, c, base).double().numpy()
        return PositionTable(table, pairwise(table, "cosine"))
    angles = rotary_angles(torch.arange(t, dtype=torch.float64), c, base)
    table = torch.cat((angles.cos(), angles.sin()), dim=1).numpy()
    equal = torch.full((1, c), c**-0.5, dtype=torch.float64)
    rows = turned(equal, torch.arange(t), base)
    return PositionTable(table, (rows @ rows.T).numpy())


class InputTables(NamedTuple):
    """What a model reads: ids (T,), and the token, position and input tables, each (T, C)."""

    ids: list[int]
    token: np.ndarray
    position: np.ndarray
    total: np.ndarray


def input_tables(model: GPT, tokenizer: Tokenizer, text: str, most: int) -> InputTables | None:
    """Return the first `most` tokens of a text as a model with a table of positions reads them.

    None for fewer than two tokens.
    """
    import torch

    from llmviz.trace import record

    ids = tokenizer.encode_from_start(text)[: min(most, model.context_length)]
    if len(ids) < 2:
        return None
    with torch.inference_mode(), record(["embed.token", "embed.position", "embed"]) as trace:
        model(torch.tensor([ids]))
    tables = (
        trace[name].reshape(-1, trace[name].shape[-1])[: len(ids)].double().numpy()
        for name in ("embed.token", "embed.position", "embed")
    )
    return InputTables(ids, *tables)


class Rotation(NamedTuple):
    """The steps of turning a vector x (1, D): turned = x × cos + swapped × sin, each (1, D).

    `swapped` is x with its halves exchanged and the new first half negated.
    """

    cos: np.ndarray
    sin: np.ndarray
    swapped: np.ndarray
    turned: np.ndarray


def rotation(x: np.ndarray, position: int, base: float) -> Rotation:
    """Return the steps of turning a vector (1, D) by the angles of a position.

    Reference: Su et al. 2021, "RoFormer", eq. 34; pairs are half a vector apart.
    """
    import torch

    from llmviz.nn.positions import rotary_angles

    d = x.shape[1]
    angles = rotary_angles(torch.tensor([float(position)], dtype=torch.float64), d, base)
    cos, sin = (part.repeat(1, 2).numpy() for part in (angles.cos(), angles.sin()))
    swapped = np.concatenate((-x[:, d // 2 :], x[:, : d // 2]), axis=1)
    return Rotation(cos, sin, swapped, x * cos + swapped * sin)


def rotary_score(q: np.ndarray, k: np.ndarray, m: int, n: int, base: float) -> float:
    """Return the dot product of a query (1, D) at position m and a key (1, D) at position n."""
    return float(rotation(q, m, base).turned[0] @ rotation(k, n, base).turned[0])


def position_identities(model: GPT, tokenizer: Tokenizer, c: int, d: int, base: float) -> str:
    """Return, as the chapter's snippet prints it, that distances alone count.

    First a rotary score at two places and at places 100 further, of the first d numbers of two
    tokens' vectors; then whether one matrix moves sinusoidal positions of width c on by 5.
    """
    import torch

    from llmviz.nn.positions import sinusoidal_positions, sinusoidal_shift, turned

    ids = tokenizer.encode("cat mat")
    q, k = model.token.weight[[ids[0], ids[-1]], None, :d].double()

    def score(m: int, n: int) -> float:
        at = torch.tensor([m, n], dtype=torch.float64)
        return float(turned(q, at[:1], base) @ turned(k, at[1:], base).T)

    waves = sinusoidal_positions(20, c, base)
    moved = waves[:-5] @ sinusoidal_shift(5, c, base)
    return f"{score(9, 4):.4f} {score(109, 104):.4f}\n{torch.allclose(moved, waves[5:], atol=1e-4)}"
