"""How fast the lesson "Inside the transformer" opens a model of GPT-2's shape.

    python -m benchmarks.gpt2_shape [--threads N] [--rounds N] [--unit-tokens N]

The 124M shape with random weights. After the forward pass over 12 tokens: a block with all its
matrices as the page is sent them (aim: under a second). The logit lens over 64 tokens (aim: under
3 seconds on two cores). The search of units over the tokens that the page reads. Each is also
given as a multiple of a plain forward pass over the same tokens, in the same run.
"""

from __future__ import annotations

import argparse

import torch

from benchmarks.attention import medians
from llmviz.course.components._shared.transport import pack
from llmviz.course.lessons.transformer.block.chapter import head_weights, layer_weights, staged
from llmviz.course.lessons.transformer.block.drawing import Drawing
from llmviz.interpretability.attribution import logit_ledger
from llmviz.interpretability.block import all_blocks
from llmviz.interpretability.lens import logit_lens
from llmviz.interpretability.unit_corpus import LONGEST, TOKENS
from llmviz.interpretability.units import search_units
from llmviz.models import GPT, GPTConfig
from llmviz.models.costs import PRESETS
from llmviz.training.memory import keep_freed_memory

BLOCK, LENS = 12, 64  # tokens that have a row in either picture


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--unit-tokens", type=int, default=2048, help=f"the page reads {TOKENS:,}")
    arguments = parser.parse_args()
    keep_freed_memory()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    model = GPT(GPTConfig.from_dict(PRESETS["GPT-2"])).eval().requires_grad_(False)
    few, many = (torch.randint(0, 50257, (n,)).tolist() for n in (BLOCK, LENS))
    texts = torch.randint(0, 50257, (arguments.unit_tokens // LONGEST, LONGEST)).tolist()
    steps = all_blocks(model, few)
    tokens = tuple(str(one) for one in few)

    def open_block() -> None:
        block = model.blocks[5]
        drawn = Drawing(model, steps[5], tuple(few), tokens, 5, 0, "pre")
        picture = staged(drawn, [layer_weights(block), head_weights(block, 0)])
        pack(picture.payload, *picture.parts)

    def forward(ids: list[list[int]]) -> None:
        with torch.inference_mode():
            model(torch.tensor(ids))

    found = medians(
        {
            "forward, few": lambda: forward([few]),
            "trace of all blocks": lambda: all_blocks(model, few),
            "block": open_block,
            "forward, many": lambda: forward([many]),
            "lens": lambda: logit_lens(model, many),
            "ledger": lambda: logit_ledger(model, many, 5),
            "forward, texts": lambda: [forward([text]) for text in texts],
            "units": lambda: search_units(model, texts),
        },
        arguments.rounds,
    )
    print(f"GPT-2's shape, {arguments.threads} threads, medians of {arguments.rounds} rounds")
    for name, plain, of in (
        ("trace of all blocks", "forward, few", f"{BLOCK} tokens"),
        ("block", "forward, few", f"{BLOCK} tokens, after the forward pass (aim 1 s)"),
        ("lens", "forward, many", f"{LENS} tokens (aim 3 s)"),
        ("ledger", "forward, many", f"{LENS} tokens"),
        ("units", "forward, texts", f"{arguments.unit_tokens:,} tokens"),
    ):
        times = found[name] / found[plain]
        print(f"{name}: {found[name]:.3f} s, {times:.2f} of a forward pass, {of}")


if __name__ == "__main__":
    main()
