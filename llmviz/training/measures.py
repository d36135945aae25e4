"""What a loss means: perplexity, bits per byte, how far above the floor."""

from __future__ import annotations

import math

LN2 = math.log(2)


def perplexity(nats_per_token: float) -> float:
    """How many equally likely tokens the model hesitates between: e^loss.

    >>> round(perplexity(math.log(27)), 6)
    27.0

    Infinite where e^loss is beyond a float. It cannot be compared between tokenizers.
    """
    try:
        return math.exp(nats_per_token)
    except OverflowError:
        return math.inf


def bits_per_byte(nats: float, text_bytes: int) -> float:
    """The whole text's loss in bits for each byte of it, comparable between tokenizers.

    nats: the sum over all tokens. Raises ValueError if there are no bytes.
    """
    if text_bytes < 1:
        raise ValueError(f"bits per byte need at least one byte of text; got {text_bytes}")
    return nats / LN2 / text_bytes


def distance_to_floor(loss: float, floor: float) -> float:
    """How far a loss is above the entropy of its text, as a share of it: 0.05 is 5 % above.

    Both in the same unit. Raises ValueError for a floor that is not positive.
    """
    if not floor > 0:
        raise ValueError(f"the floor must be above 0; got {floor}")
    return loss / floor - 1
