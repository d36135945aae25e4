"""Run by two processes at once (test_distributed): train in copies, in shards, and resumed.

Both also with blocks that are computed again, and in float16.
"""

import dataclasses
import json
import os
import sys
from pathlib import Path

import torch

from llmviz.models import build
from llmviz.tokenizers import train_tokenizer
from llmviz.training import TrainConfig, TrainData, load_checkpoint, save_checkpoint, train
from llmviz.training.distributed import joined

DOCUMENTS = [f"{a} {b}" for a in ("ann", "bob", "cyril") for b in ("saw dan", "met", "is")]
CONFIG = TrainConfig(
    steps=6,
    batch_size=5,  # odd, and rows of unequal length: the processes' parts differ
    accumulate=2,
    learning_rate=1e-2,
    min_lr=1e-3,
    warmup_steps=2,
    eval_every=3,
    device="cpu",
    dtype="float32",
    threads=1,
    checkpoint_every=3,
)
# float16: a scale that no gradient here is too large for, in one process or in two.
WAYS = {"recomputed": {"recompute": 1}, "float16": {"dtype": "float16", "loss_scale": 256.0}}


def model():
    """The same small GPT each time."""
    tokenizer, context = model.tokenizer_and_context()
    torch.manual_seed(3)
    sizes = {"n_layer": 2, "n_head": 2, "n_embd": 16, "context_length": context}
    return build("gpt", {**sizes, "vocab_size": tokenizer.vocab_size})


model.tokenizer_and_context = lambda: (train_tokenizer("char", DOCUMENTS), 16)


def run(out: Path, name: str, config: TrainConfig, resume=None) -> None:
    data = TrainData.from_documents(DOCUMENTS, DOCUMENTS[:4], *model.tokenizer_and_context())
    (out / name).mkdir(exist_ok=True)
    saved = lambda state, keep: save_checkpoint(out / name, state, keep=True)  # noqa: E731
    records = list(train(model(), data, config, save=saved, resume=resume))
    found = [
        [r.step, r.tokens, r.train_loss, r.validation_loss or 0.0, r.grad_norm] for r in records
    ]
    (out / f"{name}.json").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    sharded = dataclasses.replace(CONFIG, shard=True)
    # As `torchrun` would start them, but that torch is imported once for both.
    second = os.fork()
    os.environ["RANK"] = os.environ["LOCAL_RANK"] = "0" if second else "1"
    with joined("cpu") as world:
        # the second process writes its records where nobody reads them
        target = folder if world.leads else folder / "other"
        target.mkdir(exist_ok=True)
        run(target, "copies", CONFIG)
        run(target, "shards", sharded)
        for way, changes in WAYS.items():
            run(target, f"copies-{way}", dataclasses.replace(CONFIG, **changes))
            run(target, f"shards-{way}", dataclasses.replace(sharded, **changes))
        world.wait()
        run(target, "shards-resumed", sharded, load_checkpoint(folder / "shards", 3))
    if not second:
        os._exit(0)
    if os.waitpid(second, 0)[1]:
        sys.exit("the second process failed")
