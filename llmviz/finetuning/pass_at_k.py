"""How often one of k samples is right, from more samples than k. No torch."""

import math


def pass_at_k(samples: int, right: int, k: int) -> float:
    """Return the chance that one of k samples is right, estimated without bias from more samples.

    It is 1 − C(samples − right, k) / C(samples, k). Raises ValueError for k that is not between 1
    and samples, or right not between 0 and samples.
    Reference: Chen et al. 2021, "Evaluating Large Language Models Trained on Code", equation 1.

    >>> pass_at_k(4, 1, 2)
    0.5
    """
    if not 1 <= k <= samples or not 0 <= right <= samples:
        raise ValueError(
            f"1 ≤ k ≤ samples and 0 ≤ right ≤ samples; got k={k}, samples={samples}, right={right}"
        )
    return 1 - math.comb(samples - right, k) / math.comb(samples, k)
