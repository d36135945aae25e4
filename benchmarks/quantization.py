"""Products with quantized matrices at one token: int8 and int4 against float32, in one run.

    python -m benchmarks.quantization [--threads N]

Prints, for each width of a square matrix, the time of float32 and how many times as fast the codes
are read, where torch has a kernel; then whole GPT-2-sized steps in int8 against float32. For 3 and
2 bits torch has none.
"""

from __future__ import annotations

import argparse

import torch

from benchmarks.timing import median_ms
from llmviz.models import GPT, GPTConfig
from llmviz.models.catalogue import GPT_SIZES
from llmviz.models.decoder import Decoder
from llmviz.quantization.quantized_speed import FLOAT32, KINDS, product_speeds

ROUNDS = 20
INT8_AT_LEAST = 1.5  # times as fast as float32, a step of GPT-2's 124M shape


def products() -> None:
    """Print the product of one vector with square matrices."""
    found = list(product_speeds())
    for width in dict.fromkeys(one.width for one in found):
        seconds = {one.kind: one.seconds for one in found if one.width == width}
        line = [f"{width:5d}  float32 {1e3 * seconds[FLOAT32]:7.4f} ms"]
        for kind in KINDS[1:]:
            ratio = f"{seconds[FLOAT32] / seconds[kind]:.2f}×" if seconds[kind] else "no kernel"
            line.append(f"{kind} {ratio}")
        print("   ".join(line))


def steps() -> None:
    """Print the ratio of a whole step of the 124M shape, random weights."""
    model = GPT(GPTConfig.from_dict(GPT_SIZES["gpt2"])).eval()
    milliseconds = {}
    for name, packed in (("float32", None), ("int8", "int8")):
        decoder, cache = Decoder(model, packed), model.new_cache()

        def step(decoder: Decoder = decoder, cache: object = cache) -> None:
            cache.reset()
            decoder.step(0, cache)

        milliseconds[name] = median_ms(step, ROUNDS)
    ratio = milliseconds["float32"] / milliseconds["int8"]
    print(f"a step of 124M parameters: int8 {ratio:.2f}× float32   (at least {INT8_AT_LEAST})")


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description="Speed of quantized products.")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    torch.set_num_threads(parser.parse_args().threads)
    products()
    steps()


if __name__ == "__main__":
    main()
