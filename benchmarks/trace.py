"""What recording costs: a full trace against the same pass through the explicit steps.

    python -m benchmarks.trace [--threads N] [--rounds N]

Prints ratios (medians of interleaved rounds). Run nothing beside it.
"""

import argparse

import torch

from benchmarks.attention import medians
from llmviz.models import GPT, GPTConfig
from llmviz.models.catalogue import GPT_SIZES
from llmviz.trace import record
from llmviz.training.memory import keep_freed_memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    keep_freed_memory()
    torch.set_num_threads(arguments.threads)
    for name in ("tiny", "small"):
        config = GPTConfig.from_dict(GPT_SIZES[name])
        model = GPT(config).eval()
        for batch in (1, 12):
            idx = torch.randint(0, config.vocab_size, (batch, config.context_length))

            def run(names: str | None, model: GPT = model, idx: torch.Tensor = idx) -> None:
                with torch.no_grad():
                    if names == "":
                        model(idx)
                        return
                    with record(names):
                        model(idx)

            seconds = medians(
                {
                    "silent": lambda run=run: run(""),
                    "explicit": lambda run=run: run("blocks.*.attn.dropped"),
                    "full": lambda run=run: run(None),
                },
                arguments.rounds,
            )
            explicit, silent = (seconds["full"] / seconds[k] for k in ("explicit", "silent"))
            print(
                f"{name}, batch {batch}: full trace {explicit:.2f} of the explicit pass (aim 1.3 "
                f"at most), {silent:.2f} of the silent one ({1e3 * seconds['silent']:.2f} ms)"
            )


if __name__ == "__main__":
    main()
