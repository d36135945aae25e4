"""Numbers as the chapter writes them: enough decimals, a true minus sign, no sign for 0."""

import math

import numpy as np

MOST_PLACES = 12


def decimals(scale: np.ndarray) -> int:
    """Return how many decimals show three digits of the smallest step (N,), at least four.

    >>> decimals(np.array([0.07])), decimals(np.array([0.07, 0.000236]))
    (4, 6)
    """
    return max(4, 2 - math.floor(math.log10(scale.min())))


def fixed(value: float, places: int) -> str:
    """Return a number with so many decimals and a true minus sign; 0 has no sign.

    >>> fixed(-0.25, 4), fixed(-0.00001, 4), fixed(-3, 0)
    ('−0.2500', '0.0000', '−3')
    """
    text = f"{value:.{places}f}"
    return (text if float(text) else text.replace("-", "")).replace("-", "−")


def difference(value: float, places: int) -> str:
    """Return a number with its sign, + for what is rounded to 0.

    >>> difference(0.25, 3), difference(-0.25, 3), difference(-0.00001, 3)
    ('+0.250', '−0.250', '+0.000')
    """
    text = fixed(value, places)
    return text if text.startswith("−") else f"+{text}"


def quotient(value: float) -> str:
    """Return w ÷ s with two decimals, or as many as show which whole number is nearest.

    >>> quotient(-1.254), quotient(2.4996), quotient(2.5)
    ('−1.25', '2.4996', '2.50')
    """
    places = 2
    while places < MOST_PLACES and value % 1 != 0.5 and round(value, places) % 1 == 0.5:
        places += 1
    return fixed(value, places)
