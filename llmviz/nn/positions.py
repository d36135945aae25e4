"""Where a token stands: sinusoidal waves that are added, rotations of queries and keys.

T time, C width, D head size. (Learned positions are an ordinary embedding.)
"""

import math

import torch
from torch import Tensor, nn


def sinusoidal_positions(t: int, c: int, base: float = 10_000.0) -> Tensor:
    """A wave per pair of columns, from quick on the left to slow on the right: (T, C).

    Column 2i is sin(position / base^(2i/C)), column 2i+1 the cosine of the same angle.
    Raises ValueError for an odd width.

    Reference: Vaswani et al. 2017, section 3.5.

    >>> sinusoidal_positions(2, 2).round(decimals=4).tolist()[0]
    [0.0, 1.0]
    """
    if c % 2:
        raise ValueError(f"sinusoidal positions need an even width; got {c}")
    angles = _angles(t, c, base)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)


def sinusoidal_shift(steps: int, c: int, base: float = 10_000.0) -> Tensor:
    """The matrix (C, C) that moves any row of `sinusoidal_positions` on by `steps`.

    positions[t + steps] = positions[t] @ shift, the same for every t: each pair of columns turns
    by its own angle. Raises ValueError for an odd width.

    Reference: Vaswani et al. 2017, section 3.5 ("a linear function of PE_pos").
    """
    if c % 2:
        raise ValueError(f"sinusoidal positions need an even width; got {c}")
    angles = _frequencies(c, base) * steps
    turns = torch.stack((angles.cos(), -angles.sin(), angles.sin(), angles.cos()), dim=-1)
    return torch.block_diag(*turns.view(-1, 2, 2))


def rotary_angles(positions: Tensor, d: int, base: float = 10_000.0) -> Tensor:
    """The angle of each pair of numbers at each position, in radians: (T,) to (T, D/2)."""
    if d % 2:
        raise ValueError(f"rotary positions need an even head size; got {d}")
    return positions[:, None] * _frequencies(d, base)


def stretched(frequencies: Tensor, scaling: tuple[float, ...]) -> Tensor:
    """Frequencies (D/2,) of rotary positions that turn more slowly, for texts longer than before.

    scaling: () changes nothing. (factor,) turns every pair `factor` times slower, as if positions
      stood closer together. (factor, low, high, context) does so only with pairs that turn less
      than `low` times in the `context` the model was first trained on; those that turn more than
      `high` times stay, and between the two the slowing grows in a straight line.
    Raises ValueError for another number of values.

    Reference: Chen et al. 2023, "Extending Context Window of Large Language Models via Positional
    Interpolation", eq. 4 (one value); the configuration of Llama 3.1, 2024, "llama3" (four values).
    """
    if not scaling:
        return frequencies
    if len(scaling) == 1:
        return frequencies / scaling[0]
    if len(scaling) != 4:
        raise ValueError(f"rotary scaling has 0, 1 or 4 values; got {len(scaling)}")
    factor, low, high, context = scaling
    turns = context * frequencies / (2 * math.pi)
    kept = ((turns - low) / (high - low)).clamp(0, 1)  # the share that stays as it was
    return frequencies * (kept + (1 - kept) / factor)


def ntk_base(base: float, d: int, factor: float) -> float:
    """The base with which the slowest pair of a head of size D turns `factor` times slower.

    The quickest pair stays, and those between are slowed the more the slower they turn.
    Raises ValueError for a head of less than two pairs, or a factor below 1.

    Reference: Peng et al. 2023, "YaRN", eq. 16 (the "NTK-aware" way).

    >>> round(ntk_base(10_000.0, 64, 4.0))
    41829
    """
    if d < 4 or d % 2:
        raise ValueError(f"this stretch needs an even head size of 4 or more; got {d}")
    _check_factor(factor)
    return base * float(factor ** (d / (d - 2)))


def yarn_scaling(factor: float, context: int) -> tuple[float, ...]:
    """The scaling of `stretched` that slows what has not turned once in the trained context.

    Pairs that turned 32 times stay. Raises ValueError for a factor below 1.

    Reference: Peng et al. 2023, "YaRN", eq. 20 to 22, with α = 1 and β = 32.
    """
    _check_factor(factor)
    return (factor, 1.0, 32.0, float(context))


def yarn_sharpening(factor: float) -> float:
    """By how much queries and keys are lengthened each, so that far more tokens do not blur looks.

    Scores grow by its square. Raises ValueError for a factor below 1.

    Reference: Peng et al. 2023, "YaRN", eq. 24: √(1/t) = 0.1 ln s + 1.

    >>> yarn_sharpening(1.0)
    1.0
    """
    _check_factor(factor)
    return 0.1 * math.log(factor) + 1


def _check_factor(factor: float) -> None:
    if not 1 <= factor < math.inf:
        raise ValueError(f"a stretch's factor must be 1 or more, and finite; got {factor}")


def turned(x: Tensor, positions: Tensor, base: float = 10_000.0) -> Tensor:
    """x (T, D) or (1, D) as it is at each position (T,): what `Rotary` does, at any positions.

    Raises ValueError for an odd head size.
    """
    angles = rotary_angles(positions, x.shape[-1], base).repeat(1, 2).to(x.dtype)
    return rotate(x, angles.cos(), angles.sin())


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn each pair (column i, column i + D/2) of x (…, T, D) by its angle.

    cos, sin: (T, D), of the angles, repeated for both halves.

    Reference: Su et al. 2021, "RoFormer", eq. 34. Deviation: pairs are half a head apart instead
    of neighbours, which is the same up to the order of columns.
    """
    left, right = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-right, left), dim=-1) * sin


class Rotary(nn.Module):
    """Turns queries and keys by their position, so that scores depend on distance alone.

    base: how many positions the slowest pair needs for about a radian; scaling: see `stretched`.
    """

    cos: Tensor
    sin: Tensor

    def __init__(
        self,
        context_length: int,
        head_size: int,
        base: float = 10_000.0,
        scaling: tuple[float, ...] = (),
    ):
        super().__init__()
        if head_size % 2:
            raise ValueError(f"rotary positions need an even head size; got {head_size}")
        frequencies = stretched(_frequencies(head_size, base), scaling)
        angles = (torch.arange(context_length)[:, None] * frequencies).repeat(1, 2)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """x: (…, T, D), whose first token stands at position `start`."""
        end = start + x.shape[-2]
        return rotate(x, self.cos[start:end].to(x.dtype), self.sin[start:end].to(x.dtype))


def _angles(t: int, c: int, base: float) -> Tensor:
    """position / base^(2i/C), (T, C/2)."""
    return torch.arange(t)[:, None] * _frequencies(c, base)


def _frequencies(c: int, base: float) -> Tensor:
    """1 / base^(2i/C), (C/2,): how fast each pair turns."""
    return torch.exp(torch.arange(0, c, 2) * (-math.log(base) / c))
