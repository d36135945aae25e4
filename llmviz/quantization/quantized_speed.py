"""How long a product with a quantized matrix takes here, beside float32.

A generator for a process of its own: see `llmviz.processes.background`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from llmviz.quantization.scheme import CHANNEL, GROUP, Scheme

WIDTHS = (256, 512, 1024, 2048)  # of a square matrix
REPEATS, ROUNDS = 20, 5  # products in a round, and rounds of which the quickest counts
FLOAT32, INT8, INT4 = "float32", "int8", "int4"
KINDS = (FLOAT32, INT8, INT4)


@dataclass(frozen=True)
class Speed:
    """Seconds of one product of one token's vector and a square matrix; None without a kernel."""

    kind: str
    width: int
    seconds: float | None


def product_speeds(widths: Sequence[int] = WIDTHS) -> Iterator[Speed]:
    """Measure each kind at each width, in turns, so that a busy machine slows all alike."""
    import torch

    from llmviz.nn.fast_linear import plain_linear
    from llmviz.quantization.grids import quantize
    from llmviz.quantization.kernels import has_int4, int4_product, int8_product

    per_row, per_group = Scheme(8, per=CHANNEL), Scheme(4, per=GROUP, group=32)
    with torch.inference_mode():
        for width in widths:
            linear = torch.nn.Linear(width, width, bias=False)
            x = torch.sin(torch.arange(width) ** 1.3)[None]
            products = {FLOAT32: plain_linear(linear)}
            products[INT8] = int8_product(quantize(linear.weight, per_row), per_row)
            if has_int4():
                products[INT4] = int4_product(quantize(linear.weight, per_group), per_group)
            best = dict.fromkeys(products, float("inf"))
            for _ in range(ROUNDS):
                for kind, product in products.items():
                    begun = time.perf_counter()
                    for _ in range(REPEATS):
                        product(x)
                    best[kind] = min(best[kind], (time.perf_counter() - begun) / REPEATS)
            for kind in KINDS:
                yield Speed(kind, width, best.get(kind))
