"""Our losses beside published figures for models of the same size or larger.

    python -m benchmarks.quality [--quick] [--only WORD]

Needs the folder `shared/data` beside the repository (names.txt, tinyshakespeare.txt). Minutes per
line on a laptop; `--quick` trains a twentieth of the steps, to see that everything runs.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from llmviz.models.bigram import CountBigram
from llmviz.training import TrainConfig, train
from llmviz.training.data import Stream, end_id
from llmviz.training.evaluate import evaluate_documents
from llmviz.training.plan import Plan, documents_of, prepare

DATA = Path(__file__).resolve().parents[1] / ".." / "shared" / "data"


@dataclass(frozen=True)
class Line:
    """One comparison: what we train, and the figure to hold it against."""

    what: str
    published: float  # validation nats per token
    where: str
    model: str
    options: dict[str, Any]
    train: TrainConfig
    text: str = "names.txt"
    context: int = 16
    extra: dict[str, Any] = field(default_factory=dict)


NAMES = TrainConfig(
    steps=12_000,
    batch_size=64,
    learning_rate=3e-3,
    min_lr=1e-5,
    warmup_steps=100,
    weight_decay=0.1,
    eval_every=0,
    log_every=100,
    dtype="float32",
)
LECTURES = "makemore lectures"
LINES = (
    Line("names, MLP + batch norm", 2.105, LECTURES, "mlp",
         {"window": 8, "n_embd": 16, "hidden_size": 128}, NAMES),
    Line("names, WaveNet tree", 1.993, LECTURES, "wavenet",
         {"n_embd": 24, "hidden_size": 96}, NAMES),
    Line("names, transformer", 1.92, "makemore README", "gpt",
         {"n_layer": 4, "n_head": 4, "n_embd": 64, "dropout": 0.1},
         replace(NAMES, steps=30_000, learning_rate=4e-3)),
    Line("tinyshakespeare, 4 layers", 1.88, "nanoGPT README", "gpt",
         {"n_layer": 4, "n_head": 4, "n_embd": 128},
         TrainConfig(steps=2000, batch_size=12, learning_rate=3e-3, warmup_steps=100,
                     eval_every=0, eval_batches=0, log_every=100),
         "tinyshakespeare.txt", 64),
)  # fmt: skip


def counted_bigram() -> float:
    """Nats per letter of the bigram counted on all names, scored on the same names."""
    plan = Plan(model="bigram", corpus=str(DATA / "names.txt"), context_length=16)
    run, (kept, held_out) = prepare(plan), documents_of(plan)
    encoded = [run.tokenizer.encode(name) for name in kept + held_out]
    stream = Stream.join(encoded, end_id(run.tokenizer))
    return CountBigram.fit(stream.ids, run.tokenizer.vocab_size).average_loss()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a twentieth of the steps")
    parser.add_argument("--only", default="", help="lines whose name holds this word")
    given = parser.parse_args()
    if not DATA.is_dir():
        sys.exit(f"skipped: the texts are not here ({DATA.name} folder beside the repository)")
    if given.only in "names, bigram by counting":
        print(f"{'names, bigram by counting':28} ours {counted_bigram():.4f}  exact 2.4540")
    for line in LINES:
        if given.only not in line.what:
            continue
        config = line.train
        if given.quick:
            config = replace(config, steps=config.steps // 20, warmup_steps=10)
        plan = Plan(
            model=line.model,
            model_options=line.options,
            corpus=str(DATA / line.text),
            context_length=line.context,
            train=config,
            **line.extra,
        )
        run, begun = prepare(plan), time.perf_counter()
        last = list(train(run.model, run.data, config))[-1]
        seconds = time.perf_counter() - begun
        loss = last.validation_loss
        if run.data.windows == "padded":  # every held-out name, from its start to its end
            loss = evaluate_documents(run.model, run.tokenizer, documents_of(plan)[1]).per_token
        print(
            f"{line.what:28} ours {loss:.4f}  published {line.published:.4f} ({line.where})  "
            f"{run.description['parameters']:,} parameters, {config.steps} steps, {seconds:.0f} s"
            + ("  [quick: not comparable]" if given.quick else ""),
            flush=True,
        )


if __name__ == "__main__":
    main()
