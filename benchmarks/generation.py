"""Writing text at batch 1: ours against transformers' `generate`, in one run.

    python -m benchmarks.generation [--small] [--rounds N] [--threads N]

Prints tokens per second and ratios (medians of interleaved rounds) for a small GPT and for the
124M shape (random weights: what they say costs nothing), what its matrix products alone would
reach, the share of the memory's reading rate, and the cost of a token along the context. Lower
the noise: run nothing beside it.
"""

from __future__ import annotations

import argparse
import logging
import statistics
import time
from collections.abc import Callable

import torch

from benchmarks.their_gpt2 import their_gpt2
from llmviz.models import GPT, GPTConfig
from llmviz.models.catalogue import GPT_SIZES
from llmviz.models.decoder import Decoder, optimize_for_inference
from llmviz.sampling import generate
from llmviz.training.memory import keep_freed_memory

logging.getLogger("transformers").setLevel(logging.ERROR)
PROMPT = [1, 2, 3, 4]
TARGETS = {"small": 3.3, "float32": 2.0, "bfloat16": 2.8}


def theirs(config: GPTConfig, dtype: torch.dtype = torch.float32) -> torch.nn.Module:
    """transformers' GPT-2 of the same shape."""
    names = dict(gelu="gelu", gelu_tanh="gelu_new")
    options = {"bos_token_id": 0, "eos_token_id": None, "pad_token_id": 0}
    model = their_gpt2(config, activation_function=names[config.activation], **options)
    return model.to(dtype).eval()


def write_theirs(model: torch.nn.Module, tokens: int) -> Callable[[], None]:
    """One run of transformers' `generate`, drawing from the whole vocabulary."""
    idx = torch.tensor([PROMPT])
    mask = torch.ones_like(idx)

    def run() -> None:
        model.generate(idx, attention_mask=mask, max_new_tokens=tokens, do_sample=True, top_k=0)

    return run


def write_ours(model: torch.nn.Module, tokens: int, **options: object) -> Callable[[], None]:
    """One run of our `generate`, with the numbers of every token."""

    def run() -> None:
        for _ in generate(model, PROMPT, tokens, **options):
            pass

    return run


def seconds(run: Callable[[], None]) -> float:
    """Wall-clock seconds of one run."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def race(runs: dict[str, Callable[[], None]], rounds: int) -> dict[str, float]:
    """Median seconds of each, after one round that does not count; interleaved."""
    for run in runs.values():
        run()
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(seconds(run))
    return {name: statistics.median(values) for name, values in times.items()}


def show(times: dict[str, float], tokens: int, base: str, targets: dict[str, float]) -> None:
    """Print tokens per second and the ratio to the base."""
    for name, value in times.items():
        target = f"   (at least {targets[name]})" if name in targets else ""
        print(f"  {name:24s} {tokens / value:8.1f} tokens/s   {times[base] / value:5.2f}×{target}")


def reading_rate() -> float:
    """Bytes per second at which the machine reads memory with torch's threads."""
    block = torch.ones(64 * 1024 * 1024)
    return block.numel() * 4 / min(seconds(lambda: block.sum().item() and None) for _ in range(5))


def products_alone(decoder: Decoder, config: GPTConfig) -> Callable[[], None]:
    """The matrix products of one token in their order, with nothing between them."""
    x, act = torch.randn(1, config.n_embd), torch.randn(1, config.feed_forward_size)

    def run() -> None:
        with torch.inference_mode():
            for layer in decoder.layers:
                layer.qkv(x), layer.projection(x), layer.hidden(x), layer.output(act)
            decoder.head(x)

    return run


def small(rounds: int) -> None:
    """4 layers, 4 heads, width 128, context 64, vocabulary 65."""
    config = GPTConfig.from_dict(GPT_SIZES["small"])
    model, tokens = GPT(config).eval(), config.context_length - len(PROMPT)
    runs = {
        "transformers": write_theirs(theirs(config), tokens),
        "ours": write_ours(model, tokens),
        "ours without cache": write_ours(model, tokens, use_cache=False),
    }
    print(f"small GPT, {tokens} tokens, batch 1")
    show(race(runs, rounds), tokens, "transformers", {"ours": TARGETS["small"]})


def large(rounds: int, tokens: int = 24) -> None:
    """GPT-2's 124M shape, in float32, bfloat16 and int8."""
    config = GPTConfig.from_dict(GPT_SIZES["gpt2"])
    model = GPT(config).eval()
    bytes_float32 = 4 * sum(p.numel() for p in model.parameters())
    fast = {p: optimize_for_inference(model, p) for p in ("float32", "bfloat16", "int8")}
    runs = {
        "transformers float32": write_theirs(theirs(config), tokens),
        "transformers bfloat16": write_theirs(theirs(config, torch.bfloat16), tokens),
        "ours, not packed": write_ours(model, tokens),
        **{f"ours {p}": write_ours(m, tokens) for p, m in fast.items()},
    }
    times = race(runs, rounds)
    print(f"124M shape, {tokens} tokens, batch 1; ratios to transformers float32")
    targets = {f"ours {p}": TARGETS[p] for p in ("float32", "bfloat16")}
    show(times, tokens, "transformers float32", targets)
    alone = race({p: products_alone(m.new_decoder(), config) for p, m in fast.items()}, 3 * rounds)
    for name, value in alone.items():
        ratio = times["transformers float32"] / tokens / value
        print(f"  the products alone, {name:9s} {1 / value:8.1f} tokens/s   {ratio:5.2f}×")
    rate = reading_rate()
    print(f"  the machine reads {rate / 1e9:.1f} GB/s; of it reached by")
    shares = {"float32": 1.0, "bfloat16": 0.5, "int8": 0.25}
    for name, value in times.items():
        reached = bytes_float32 * shares.get(name.split()[-1], 1.0) * tokens / value
        print(f"    {name:24s} {reached / 1e9:6.1f} GB/s = {reached / rate:.0%}")


def along_the_context(context: int = 1024) -> None:
    """Seconds of a token by its place, on a model of width 256 with a context of 1,024."""
    config = GPTConfig(vocab_size=1000, context_length=context, n_layer=4, n_head=8, n_embd=256)
    model = GPT(config).eval()
    best = [float("inf")] * (context - 1)
    for _ in range(3):
        start = time.perf_counter()
        for i, _ in enumerate(generate(model, [1], context - 1)):
            now = time.perf_counter()
            best[i], start = min(best[i], now - start), now
    print("cost of a token along a context of 1,024 (4 layers, width 256), best of 3")
    for low in (0, 128, 256, 512, 768, 960):
        part = statistics.median(best[low : low + 63])
        print(f"  tokens {low:4d} to {low + 62:4d}: {part * 1e3:6.2f} ms")


def calibrate(config: GPTConfig) -> int:
    """The number of threads with which the small model's transformers run is fastest."""
    run = write_theirs(theirs(config), 30)
    best: dict[int, float] = {}
    for threads in range(1, (torch.get_num_threads() or 1) + 1):
        torch.set_num_threads(threads)
        run()
        best[threads] = min(seconds(run) for _ in range(3))
    return min(best, key=best.get)


def main() -> None:
    """Run all parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="leave out the 124M shape")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, help="default: calibrated")
    arguments = parser.parse_args()
    threads = arguments.threads or calibrate(GPTConfig.from_dict(GPT_SIZES["small"]))
    keep_freed_memory()
    torch.set_num_threads(threads)
    print(f"{threads} thread(s), torch {torch.__version__}")
    small(2 * arguments.rounds)
    along_the_context()
    if not arguments.small:
        large(arguments.rounds)


if __name__ == "__main__":
    main()
