"""Training speed against transformers' GPT-2 of the same shape, in turns within one run.

    python -m benchmarks.training [--quick] [--steps N] [--rounds N]

Both train the same configuration on the same batches with the same optimizer settings: 4 layers,
4 heads, width 128, context 64, batch 12, vocabulary 65. Ours runs through `llmviz.training.train`,
records, clipping, checks and all. Rounds alternate between the contestants; medians are printed,
and ratios to transformers in float32. Absolute figures belong to the machine and its load. The
last ratio is a bound: what bfloat16 would reach if torch took no time to call its kernels.
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import time
from collections.abc import Callable, Iterator

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks.their_gpt2 import their_gpt2
from llmviz.models import GPTConfig, build
from llmviz.training import Stream, TrainConfig, TrainData, learning_rate_at, train
from llmviz.training.device import has_fast_bfloat16, settle
from llmviz.training.memory import keep_freed_memory

SHAPE = {"vocab_size": 65, "context_length": 64, "n_layer": 4, "n_head": 4, "n_embd": 128}
BATCH = 12
TOKENS = BATCH * SHAPE["context_length"]


def data() -> TrainData:
    """Characters of tiny-world, folded into 65 ids."""
    from llmviz.corpus import load_corpus

    text = load_corpus("tiny-world", characters=600_000).text
    ids = [1 + ord(character) % 64 for character in text]
    cut = len(ids) * 9 // 10
    streams = Stream.join([ids[:cut]], 0), Stream.join([ids[cut:]], 0)
    return TrainData(*streams, SHAPE["context_length"], SHAPE["vocab_size"])


def ours(shape: dict, batches: TrainData, config: TrainConfig) -> Iterator[None]:
    """One step of our trainer each time it is pulled."""
    torch.manual_seed(0)
    for _ in train(build("gpt", shape), batches, config):
        yield


def transformers(
    shape: dict, batches: TrainData, config: TrainConfig, compiled: bool = False
) -> Iterator[None]:
    """One step of transformers' GPT-2 in a plain loop each time it is pulled."""
    torch.manual_seed(0)
    off = dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0.0)
    model = their_gpt2(GPTConfig(**shape), bos_token_id=0, eos_token_id=0, **off)
    model = model.train().to(config.device)
    called = torch.compile(model) if compiled else model
    torch.set_num_threads(config.threads or torch.get_num_threads())
    betas = (config.beta1, config.beta2)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=config.learning_rate, betas=betas, fused=True
    )
    for step in range(1, config.steps + 1):
        batch = batches.batch(step, config.batch_size)
        idx, targets = (part.to(config.device) for part in batch)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate_at(step, config)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(config.device, torch.bfloat16, config.dtype == "bfloat16"):
            logits = called(input_ids=idx, use_cache=False).logits
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), config.grad_clip)
        optimizer.step()
        float(loss.detach())  # as ours looks at each loss
        yield


def matrix_rate(dtype: torch.dtype, seconds: float = 0.3) -> float:
    """GFLOP/s of this machine's matrix product at the model's largest layer."""
    a = torch.randn(TOKENS, SHAPE["n_embd"], dtype=dtype)
    b = torch.randn(SHAPE["n_embd"], 4 * SHAPE["n_embd"], dtype=dtype)
    times, start = [], time.perf_counter()
    while time.perf_counter() - start < seconds:
        begun = time.perf_counter()
        for _ in range(20):
            a @ b
        times.append((time.perf_counter() - begun) / 20)
    return 2 * a.shape[0] * a.shape[1] * b.shape[1] / statistics.median(times) / 1e9


class KernelTime(TorchDispatchMode):
    """Adds up what the operations inside the block take, without autograd or what casts for it."""

    seconds = 0.0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        begun = time.perf_counter()
        result = func(*args, **(kwargs or {}))
        if not func.is_view:
            self.seconds += time.perf_counter() - begun
        return result


def kernels_alone(batch: tuple[torch.Tensor, ...], rounds: int = 30) -> float:
    """Tokens per second if a bfloat16 step were its kernels and nothing else, none of them a cast.

    The weights themselves are in bfloat16, which no run does: it is a bound, not a way to train.
    """
    model = build("gpt", SHAPE).bfloat16().train()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    taken = []
    for _ in range(rounds + 5):
        optimizer.zero_grad(set_to_none=True)
        with KernelTime() as time_of:
            model(*batch)[1].backward()
            torch.nn.utils.get_total_norm([p.grad for p in model.parameters()])
            optimizer.step()
        taken.append(time_of.seconds)
    return TOKENS / statistics.median(taken[5:])


def flops_per_token(shape: dict) -> float:
    """Of a forward and backward pass: 6 per weight of a matrix, and attention's two products."""
    with torch.device("meta"):
        model = build("gpt", shape)
    weights = sum(p.numel() for p in model.parameters() if p.dim() == 2)
    weights -= shape["context_length"] * shape["n_embd"]  # the table of positions is looked up
    return 6 * weights + 12 * shape["n_layer"] * shape["n_embd"] * shape["context_length"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few steps: a smoke test, no figures")
    parser.add_argument("--steps", type=int, default=40, help="steps in a round")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--quality-steps", type=int, default=300, help="for the bf16 comparison")
    given = parser.parse_args()
    if given.quick:
        given.steps, given.rounds, given.quality_steps = 3, 2, 5
    keep_freed_memory()
    batches = data()
    base = TrainConfig(
        steps=given.steps * (given.rounds + 1),
        batch_size=BATCH,
        eval_every=0,
        eval_batches=1,
        checkpoint_every=0,
        dtype="float32",
        device="cpu",
    )
    torch.manual_seed(0)
    chosen = settle(build("gpt", SHAPE), batches.batch(1, BATCH), base)
    base = dataclasses.replace(base, threads=chosen.threads)
    torch.set_num_threads(chosen.threads)
    print(f"{chosen.threads} thread(s), chosen by measuring")

    half = dataclasses.replace(base, dtype="bfloat16")
    contestants: dict[str, Callable[[], Iterator[None]]] = {
        "transformers float32": lambda: transformers(SHAPE, batches, base),
        "ours float32": lambda: ours(SHAPE, batches, base),
    }
    if has_fast_bfloat16(torch.device("cpu")):
        contestants["ours bfloat16"] = lambda: ours(SHAPE, batches, half)
    running = {name: make() for name, make in contestants.items()}
    rates: dict[str, list[float]] = {name: [] for name in running}
    for round_number in range(given.rounds + 1):
        for name, steps in running.items():
            begun = time.perf_counter()
            for _ in range(given.steps):
                next(steps)
            if round_number:  # the first round warms up
                rates[name].append(given.steps * TOKENS / (time.perf_counter() - begun))
    reference = rates["transformers float32"]
    for name, found in rates.items():
        ratio = statistics.median(a / b for a, b in zip(found, reference, strict=True))
        rate = statistics.median(found)
        gflops = rate * flops_per_token(SHAPE) / 1e9
        kind = torch.bfloat16 if "bfloat16" in name else torch.float32
        print(
            f"{name:21}  {rate:9,.0f} tokens/s  {ratio:5.2f} × transformers  "
            f"{gflops:6.1f} GFLOP/s (matrix product alone {matrix_rate(kind):6.1f})"
        )
    if "ours bfloat16" in rates:
        rate = kernels_alone(batches.batch(1, BATCH))
        ratio = rate / statistics.median(reference)
        print(f"the kernels of a bfloat16 step alone  {rate:9,.0f} tokens/s  {ratio:5.2f} ×")
    losses = {}
    for config in (base, half) if len(contestants) == 3 else (base,):
        long = dataclasses.replace(config, steps=given.quality_steps, eval_batches=0)
        torch.manual_seed(0)
        losses[config.dtype] = list(train(build("gpt", SHAPE), batches, long))[-1].validation_loss
    shown = ", ".join(f"{name} {loss:.4f}" for name, loss in losses.items())
    print(f"validation loss after {given.quality_steps} steps: {shown} nats")


if __name__ == "__main__":
    main()
