"""How a matrix of weights is put on a grid: bits, symmetry, and which weights share a step.

No torch. R rows (outputs) and C columns (inputs) of a matrix, G groups in a row.
"""

from __future__ import annotations

from dataclasses import dataclass

from llmviz.config import Config, setting

FEWEST_BITS, MOST_BITS = 2, 8
TENSOR, CHANNEL, GROUP = "tensor", "channel", "group"
PER = (TENSOR, CHANNEL, GROUP)


@dataclass(frozen=True)
class Scheme(Config):
    """A grid of evenly spaced values, each named by a whole number, its code.

    A symmetric grid has 0 in its middle and codes from −(2^(bits − 1) − 1) to 2^(bits − 1) − 1:
    the one code that two's complement has besides is left out. An asymmetric grid reaches from the
    smallest weight to the largest, 0 always in between, and has codes from 0 to 2^bits − 1; the
    code of the weight 0 is its zero point.

    Raises ValueError for a setting out of its range.

    Reference: Jacob et al. 2018, "Quantization and training of neural networks for efficient
    integer-arithmetic-only inference", section 2.1; Nagel et al. 2021, "A white paper on neural
    network quantization", sections 2.2 and 2.4.
    """

    bits: int = setting(4, f"of a code, {FEWEST_BITS} to {MOST_BITS}", "", FEWEST_BITS, MOST_BITS)
    symmetric: bool = setting(True, "0 in the middle of the grid, and no zero point")
    per: str = setting(GROUP, "what shares a step: the matrix, a row, a group", choices=PER)
    group: int = setting(32, "weights of a row that share a step", "", 1, 4096)
    clip: float = setting(1.0, "share of the largest weight that the grid reaches", "", 0.05, 1.0)

    def __post_init__(self) -> None:
        self.require_positive("bits", "group")
        if not FEWEST_BITS <= self.bits <= MOST_BITS:
            raise ValueError(f"bits must be from {FEWEST_BITS} to {MOST_BITS}; got {self.bits}")
        if not isinstance(self.symmetric, bool):
            raise ValueError(f"symmetric must be true or false; got {self.symmetric!r}")
        self.require_one_of("per", PER)
        if not isinstance(self.clip, int | float) or not 0 < self.clip <= 1:
            raise ValueError(f"clip must be above 0 and at most 1; got {self.clip!r}")

    @property
    def lowest(self) -> int:
        """The smallest code."""
        return -self.highest if self.symmetric else 0

    @property
    def highest(self) -> int:
        """The largest code."""
        return 2 ** (self.bits - 1) - 1 if self.symmetric else 2**self.bits - 1

    @property
    def codes(self) -> int:
        """How many codes there are.

        >>> Scheme(2).codes, Scheme(2, symmetric=False).codes
        (3, 4)
        """
        return self.highest - self.lowest + 1

    def group_size(self, columns: int) -> int:
        """How many weights of a row of so many share a step.

        Raises ValueError for a group that is larger than the row, or does not divide it.
        """
        if self.per != GROUP:
            return columns
        if self.group > columns:
            raise ValueError(
                f"group must be at most {columns}, the weights of a row; got {self.group}"
            )
        if columns % self.group:
            raise ValueError(f"group must divide {columns}, the weights of a row; got {self.group}")
        return self.group

    def steps(self, rows: int, columns: int) -> tuple[int, int]:
        """The shape of the steps of a matrix (rows, columns): (1, 1), (R, 1) or (R, G)."""
        return (1 if self.per == TENSOR else rows), columns // self.group_size(columns)

    def bits_per_weight(self, rows: int, columns: int) -> float:
        """Bits that a weight takes in all, its share of the steps and zero points included."""
        steps = self.steps(rows, columns)
        each = STEP_BITS + (0 if self.symmetric else self.bits)
        return self.bits + each * steps[0] * steps[1] / (rows * columns)


STEP_BITS = 16  # a step is kept as float16
