"""One query of the study of the scale: its softmax row with and without dividing by √d.

d head size. Torch is imported on first use. The study itself: `llmviz.nn.attention.study`.
"""

from __future__ import annotations

import math

import numpy as np


def scale_row(d: int, keys: int, queries: int, seed: int) -> list[np.ndarray]:
    """Return the weights (keys,) of the study's first query, with the scale and without.

    The random numbers are those of `scale_study` for the same settings.
    """
    import torch

    generator = torch.Generator().manual_seed(seed * 10_007 + d)
    q, k = (torch.randn(n, d, generator=generator, dtype=torch.float64) for n in (queries, keys))
    scores = q[0] @ k.T
    return [(scores / math.sqrt(d)).softmax(-1).numpy(), scores.softmax(-1).numpy()]
