"""What it costs to see attention.

    python -m benchmarks.attention [--threads N] [--rounds N] [--quick]

First, the explicit steps against torch's fused kernel, forward and backward, by context length:
this is where `explicit_is_faster` comes from. Then, at the 124M shape (random weights), one
layer's maps with the last logits against a fused forward pass for the last logits, and the maps of
all layers against transformers with `output_attentions=True`, in time and in peak memory. Ratios
are medians of interleaved rounds. Run nothing beside it.
"""

import argparse
import multiprocessing
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F

from benchmarks.their_gpt2 import their_gpt2
from llmviz.models import GPT, GPTConfig
from llmviz.models.catalogue import GPT_SIZES
from llmviz.nn.attention import attention, causal_mask, steps
from llmviz.trace import record


def medians(tasks: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Median seconds of each task, all of them once in every round, after one to warm up.

    On one thread the processor's time counts, which other programs disturb less than the clock's.
    """
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    seconds = {name: [] for name in tasks}
    for i in range(rounds + 1):
        for name, task in tasks.items():
            started = clock()
            task()
            if i:
                seconds[name].append(clock() - started)
    return {name: statistics.median(times) for name, times in seconds.items()}


def paths_by_context(rounds: int) -> None:
    """Forward and backward of 4 heads of 32, about 800 tokens in all."""
    print("forward + backward, milliseconds: steps, one operation, fused")
    for dtype in (torch.float32, torch.bfloat16):
        for t in (16, 64, 128, 256, 512):
            batch = max(1, 768 // t)
            qkv = [torch.randn(batch, 4, t, 32, dtype=dtype, requires_grad=True) for _ in range(3)]
            mask = causal_mask(t)

            def run(path: Callable[..., torch.Tensor], qkv=qkv, mask=mask) -> None:
                path(*qkv, mask).sum().backward()

            def fused(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, _: object) -> torch.Tensor:
                return F.scaled_dot_product_attention(q, k, v, is_causal=True)

            paths = {
                "steps": lambda *a: attention(*a).output,
                "one": lambda *a: steps.weights_and_output(*a)[1],
                "fused": fused,
            }
            tasks = {name: (lambda path=path, run=run: run(path)) for name, path in paths.items()}
            ms = {name: 1e3 * s for name, s in medians(tasks, 5 * rounds).items()}
            listed = "  ".join(f"{name} {value:6.2f}" for name, value in ms.items())
            print(
                f"  {str(dtype)[6:]:9} T={t:4}  {listed}  fused/one {ms['fused'] / ms['one']:.2f}"
            )


def theirs(config: GPTConfig) -> torch.nn.Module:
    """transformers' GPT-2 of the same shape, with the attention that can give its weights."""
    return their_gpt2(config, attn_implementation="eager").eval()


def maps(model: GPT, idx: torch.Tensor, names: str) -> object:
    """Record attention weights in float16, and compute the last logits only."""
    with torch.no_grad(), record(names, dtype=torch.float16) as trace:
        model(idx, last_only=True)
    return trace


def plain(model: GPT, idx: torch.Tensor) -> object:
    with torch.no_grad():
        return model(idx, last_only=True)


def their_maps(model: torch.nn.Module, idx: torch.Tensor) -> object:
    with torch.no_grad():
        return model(idx, output_attentions=True, use_cache=False, logits_to_keep=1).attentions


def status_bytes(field: str) -> int:
    """One field of what Linux says about this process's memory."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(field)).split()[1])


def peak_memory(which: str, t: int, threads: int, answer: multiprocessing.Queue) -> None:
    """In a process of its own: how far one pass raises the memory in use, in bytes (Linux)."""
    torch.set_num_threads(threads)
    config = GPTConfig.from_dict(GPT_SIZES["gpt2"])
    model = theirs(config) if which == "theirs" else GPT(config).eval()
    run = their_maps if which == "theirs" else lambda m, i: maps(m, i, "blocks.*.attn.weights")
    run(model, torch.zeros(1, 8, dtype=torch.long))
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # forget the peak so far
    before = status_bytes("VmRSS")
    kept = run(model, torch.randint(0, 50257, (1, t)))
    answer.put(status_bytes("VmHWM") - before)
    del kept


def published_shape(rounds: int, threads: int) -> None:
    config = GPTConfig.from_dict(GPT_SIZES["gpt2"])
    ours, other = GPT(config).eval(), theirs(config)
    for t in (64, 256, 1024):
        idx = torch.randint(0, 50257, (1, t))
        seconds = medians(
            {
                "plain": lambda idx=idx: plain(ours, idx),
                "one": lambda idx=idx: maps(ours, idx, "blocks.5.attn.weights"),
                "all": lambda idx=idx: maps(ours, idx, "blocks.*.attn.weights"),
                "theirs": lambda idx=idx: their_maps(other, idx),
            },
            rounds,
        )
        one, every = seconds["one"] / seconds["plain"], seconds["all"] / seconds["theirs"]
        print(
            f"124M, {t} tokens: last logits {seconds['plain']:.3f} s; one layer's maps "
            f"{one:.2f} of it (aim 1.2 at most); all maps {every:.2f} of transformers' "
            f"{seconds['theirs']:.3f} s" + (" (aim 0.75 at most)" if t == 1024 else "")
        )
    peaks = {}
    context = multiprocessing.get_context("spawn")
    for which in ("ours", "theirs"):
        answer = context.Queue()
        process = context.Process(target=peak_memory, args=(which, 1024, threads, answer))
        process.start()
        peaks[which] = answer.get()
        process.join()
    ratio = peaks["ours"] / peaks["theirs"]
    print(
        f"memory of all maps at 1,024 tokens: {peaks['ours'] / 2**20:.0f} MiB, transformers "
        f"{peaks['theirs'] / 2**20:.0f} MiB, ratio {ratio:.2f} (aim 0.6 at most)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="the kernels only")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    paths_by_context(arguments.rounds)
    if not arguments.quick:
        published_shape(arguments.rounds, arguments.threads)


if __name__ == "__main__":
    main()
