"""Worked examples with exact inputs; the values that follow from them are rounded as given."""

import torch


def matrix(rows: list[list[float]]) -> torch.Tensor:
    return torch.tensor(rows, dtype=torch.float64)


# "The cat sat"
X = matrix([[0.1, 0.4, 0.5, 0.7], [0.2, 0.4, 0.5, 0.6], [0.15, 0.25, 0.5, 0.2]])
W_Q = matrix([[0.5, 0.1, 0, 0.3], [0.4, 0.2, 0.1, 0], [0.3, 0.3, 0.3, 0.3], [0.2, 0.1, 0.5, 0.4]])
W_K = matrix([[0.1, 0.4, 0, 0], [0, 0.5, 0.2, 0.1], [0.3, 0, 0.3, 0.3], [0.2, 0.2, 0.1, 0]])
W_V = matrix([[0.2, 0.1, 0, 0], [0, 0.3, 0.5, 0], [0.1, 0.1, 0.1, 0.4], [0, 0.2, 0.1, 0.1]])

# "Your journey starts with one step"
JOURNEY = matrix(
    [
        [0.43, 0.15, 0.89],
        [0.55, 0.87, 0.66],
        [0.57, 0.85, 0.64],
        [0.22, 0.58, 0.33],
        [0.77, 0.25, 0.10],
        [0.05, 0.80, 0.55],
    ]
)


def agrees(actual: torch.Tensor, expected: list, digits: int) -> bool:
    """Whether every value rounds to the expected one at the given number of digits."""
    expected = torch.tensor(expected, dtype=actual.dtype)
    return bool(((actual - expected).abs() <= 0.5 * 10.0**-digits + 1e-9).all())
