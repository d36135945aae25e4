"""Many requests at once, against everything else on the same weights.

    python -m benchmarks.serving [--model tiny-world-gpt] [--requests 384] [--batch 64]
                                 [--threads 2] [--rounds 3] [--quick]

The requests come all at once; prompts are parts of a text the model knows, and the numbers of new
tokens are exponentially distributed. Each way serves the same requests in every round, in turn;
ratios are medians over the rounds. One after the other is `generate`, and, below it, the bare
decoder with no sampling pipeline. Static batches have the same size limit. transformers'
continuous batching runs on the same weights, if it is installed. Last, a step of single tokens
with paged memory against the same step with a contiguous cache, for sequences of equal length,
where the contiguous one has no padding. Run nothing beside it.
"""

from __future__ import annotations

import argparse
import logging
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from llmviz.files.paths import DATA
from llmviz.pretrained import load_bundled
from llmviz.sampling import generate
from llmviz.serving import (
    POLICIES,
    PagedModel,
    Plan,
    Recording,
    Request,
    RunClock,
    Sequence,
    ServingConfig,
    Workload,
    make_requests,
    record,
)

BLOCK = 16


def clock() -> float:
    """On one thread the processor's time, which other programs disturb less than the clock's."""
    return time.process_time() if torch.get_num_threads() == 1 else time.perf_counter()


def one_after_the_other(model: torch.nn.Module, requests: list[Request]) -> float:
    """Tokens per second of `generate`, greedy."""
    begun, count = clock(), 0
    for request in requests:
        count += sum(1 for _ in generate(model, request.prompt, request.max_new_tokens, 0.0))
    return count / (clock() - begun)


def bare_decoder(model: torch.nn.Module, requests: list[Request]) -> float:
    """Tokens per second of the model's fastest step, with the largest logit taken."""
    begun, count = clock(), 0
    decoder = model.new_decoder()
    with torch.inference_mode():
        for request in requests:
            cache = model.new_cache()
            logits = model(torch.tensor([request.prompt]), cache=cache, last_only=True)[0][0, -1]
            for _ in range(request.max_new_tokens - 1):
                logits = decoder.step(int(logits.argmax()), cache)
            count += request.max_new_tokens
    return count / (clock() - begun)


def served(
    model: torch.nn.Module, requests: list[Request], policy: str, batch: int, blocks: int
) -> Recording:
    config = ServingConfig(
        policy=policy,
        max_batch=batch,
        block_size=BLOCK,
        n_blocks=blocks,
        token_budget=2 * batch,
    )
    steps = tuple(record(model, requests, config, RunClock(clock)))
    return Recording(config, tuple(requests), steps)


def theirs(model: torch.nn.Module, requests: list[Request]) -> Callable[[], float] | None:
    """transformers' continuous batching on the same weights; None where it is not installed."""
    try:
        import transformers
        from transformers import ContinuousBatchingConfig, GenerationConfig, GPT2LMHeadModel
    except ImportError:
        return None
    transformers.logging.set_verbosity_error()
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        model.to_gpt2(Path(folder))
        other = GPT2LMHeadModel.from_pretrained(folder, attn_implementation="sdpa").eval()
    new = max(request.max_new_tokens for request in requests)
    generation = GenerationConfig(
        max_new_tokens=new, do_sample=False, eos_token_id=-1, pad_token_id=0
    )
    batching = ContinuousBatchingConfig(page_size=BLOCK, num_blocks=1024, max_batch_tokens=256)
    prompts = [list(request.prompt) for request in requests]

    def run() -> float:
        begun = clock()
        results = other.generate_batch(prompts, generation, batching)
        count = sum(len(result.generated_tokens) for result in results.values())
        if count != new * len(prompts):
            raise ValueError(f"{count} tokens came instead of {new * len(prompts)}")
        return count / (clock() - begun)

    return run


class Contiguous(PagedModel):
    """The same model with a cache of one row for each sequence, all of them of one length."""

    def __init__(self, model: torch.nn.Module, rows: int):
        super().__init__(model, 1, 1, rows=rows)
        config = self.config
        shape = (2, rows, config.kv_heads, config.context_length, config.head_size)
        self.caches = [torch.randn(shape) for _ in range(config.n_layer)]

    def _attend(self, number, layer, x: Tensor, batch, angles) -> Tensor:
        config, end = self.config, int(batch.positions[0]) + 1
        qkv = layer.qkv(x).view(len(x), 3, config.n_head, config.head_size)
        keys, values = self.caches[number]
        keys[:, :, end - 1], values[:, :, end - 1] = qkv[:, 1], qkv[:, 2]
        output = F.scaled_dot_product_attention(
            qkv[:, 0, :, None], keys[:, :, :end], values[:, :, :end], scale=self._scale
        )
        return layer.projection(output.reshape(len(x), -1))


def tick_times(model: torch.nn.Module, rows: int, length: int, rounds: int) -> tuple[float, float]:
    """Median seconds of a step of `rows` single tokens at a length: paged, contiguous."""
    each = -(-length // BLOCK)
    paged, contiguous = PagedModel(model, rows * each, BLOCK, rows=rows), Contiguous(model, rows)
    order = torch.randperm(rows * each).tolist()
    sequences, flat = [], []
    for i in range(rows):
        for group, table in ((sequences, order[i * each : (i + 1) * each]), (flat, [0] * length)):
            one = Sequence(Request(f"s{i}", tuple([i] * length)), 0, i)
            one.computed, one.table = length - 1, table
            group.append(one)
    draws = list(enumerate(sequences))
    plans = [Plan(decode=sequences, draws=draws), Plan(decode=flat, draws=draws)]
    # The contiguous one reads no blocks, so none are prepared for it.
    seconds: list[list[float]] = [[], []]
    for number in range(10 * rounds + 2):
        for place, (runner, plan) in enumerate(zip((paged, contiguous), plans, strict=True)):
            begun = clock()
            runner.compute(plan)
            if number > 1:
                seconds[place].append(clock() - begun)
    return statistics.median(seconds[0]), statistics.median(seconds[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="tiny-world-gpt")
    parser.add_argument("--requests", type=int, default=384)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="one round of few requests")
    options = parser.parse_args()
    if options.quick:
        options.requests, options.rounds = 64, 1
    torch.set_num_threads(options.threads)
    model, tokenizer, _ = load_bundled(options.model)
    text = tokenizer.encode((DATA / "tiny-world.txt").read_text(encoding="utf-8")[:20_000])
    workload = Workload(requests=options.requests, arrival_rate=0, prompt_tokens=12, new_tokens=40)
    requests = make_requests(workload, text, model.context_length)
    some = requests[:: max(1, len(requests) // 24)]
    blocks = options.batch * -(-model.context_length // BLOCK)
    same = [  # generate_batch takes one length for all
        Request(request.id, request.prompt, 32)
        for request in requests[: 2 * options.batch]
        if len(request.prompt) + 31 <= model.context_length
    ]
    other = theirs(model, same)
    speeds: dict[str, list[float]] = {}
    runs: dict[str, Recording] = {}
    for _ in range(options.rounds):
        for policy in POLICIES:
            runs[policy] = served(model, requests, policy, options.batch, blocks)
            speeds.setdefault(policy, []).append(runs[policy].tokens_per_second)
        speeds.setdefault("generate", []).append(one_after_the_other(model, some))
        speeds.setdefault("decoder", []).append(bare_decoder(model, some))
        if other is not None:
            run = served(model, same, "split-fuse", options.batch, blocks)
            speeds.setdefault("equal", []).append(run.tokens_per_second)
            speeds.setdefault("transformers", []).append(other())

    def ratio(one: str, two: str) -> float:
        return statistics.median(a / b for a, b in zip(speeds[one], speeds[two], strict=True))

    print(f"{options.model}, {len(requests)} requests, batches of at most {options.batch}")
    for name, values in speeds.items():
        print(f"  {name:13} {statistics.median(values):9,.0f} tokens per second")
    for policy in ("continuous", "split-fuse"):
        print(
            f"{policy}: {ratio(policy, 'static'):.2f} times static (aim 3 at least), "
            f"{ratio(policy, 'generate'):.2f} times one after the other (aim 6 at least), "
            f"{ratio(policy, 'decoder'):.2f} times the bare decoder"
        )
        print(
            f"  scheduling {runs[policy].scheduling_share:.2%} of a step (aim under 2 %); waste "
            f"{runs[policy].waste_share:.1%} of the slots held; seconds to the first token "
            f"{ {p: round(s, 3) for p, s in runs[policy].to_first.items()} }"
        )
    if other is None:
        print("transformers is not installed: no comparison with generate_batch")
    else:
        print(
            f"equal lengths: {ratio('equal', 'transformers'):.2f} times transformers' "
            "generate_batch (aim 1.5 at least)"
        )
    for length in (32, 128, 240):
        paged, contiguous = tick_times(model, options.batch, length, 5 * options.rounds)
        print(
            f"a tick at {length:3} tokens: paged {1e3 * paged:.2f} ms, "
            f"{paged / contiguous:.2f} of contiguous (aim 1.1 at most)"
        )
    most = max(
        len(table) * BLOCK - step.room[name]
        for policy in ("continuous", "split-fuse")
        for step in runs[policy].steps
        for name, table in step.blocks.items()
    )
    print(f"most slots that a sequence held in vain: {most} (aim under {BLOCK})")


if __name__ == "__main__":
    main()
