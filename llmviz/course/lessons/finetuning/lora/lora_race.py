"""One class head trained twice from the same base: with LoRA and with every weight, step by step.

A generator for a process of its own: both trainings go on in turns, so that a busy machine slows
both alike. How many numbers LoRA trains is counted from a model's settings alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llmviz.finetuning.adapted import spectrum
from llmviz.models.settings import GPTConfig

BYTES = 3 * 4  # of a trained number: its gradient, and two numbers that AdamW keeps, of 32 bits


def weight_shapes(config: GPTConfig) -> dict[str, tuple[int, int]]:
    """Return outputs and inputs of each matrix of a layer that an adapter can stand beside.

    By the end of its path, as `llmviz.finetuning.plan.TARGETS` has it. For models without experts.
    """
    c, hidden = config.n_embd, config.feed_forward_size
    shapes = {
        "attn.qkv": (c + 2 * config.kv_heads * config.head_size, c),
        "attn.projection": (c, c),
        "mlp.hidden": (hidden, c),
        "mlp.output": (c, hidden),
    }
    return shapes | ({"mlp.up": (hidden, c)} if config.activation == "swiglu" else {})


def lora_parameters(config: GPTConfig, rank: int, targets: Sequence[str]) -> int:
    """Return how many numbers LoRA of a rank trains: r·(inputs + outputs) for each matrix.

    Raises ValueError for a target that the model does not have.
    """
    known = weight_shapes(config)
    if unknown := [name for name in targets if name not in known]:
        raise ValueError(f"targets must be of {', '.join(known)}; got {', '.join(unknown)}")
    return config.n_layer * rank * sum(sum(known[name]) for name in targets)


def optimizer_bytes(trained: int) -> int:
    """Return the bytes that a training keeps for so many numbers, besides the numbers."""
    return BYTES * trained


WAYS = ("lora", "all")  # as `llmviz.finetuning.plan.WAYS` names them
TESTED = 100  # stories that accuracy is on, or one more or less: a share of each class
CHECKED = 40  # of them, that the loss is measured on while it goes on
BATCH = 8  # stories an update
CHECKS = 6  # times that the loss is measured


@dataclass(frozen=True)
class RaceStep:
    """One update: mean loss of its batch and, where measured, of held-out stories, in nats."""

    way: str
    step: int
    loss: float
    held_out: float | None
    seconds: float  # in updates so far; what is measured between them is not counted


@dataclass(frozen=True)
class RaceEnd:
    """What a way came to, on stories that it was not trained on."""

    way: str
    accuracy: float
    tested: int  # stories
    trained: int  # numbers that were trained, the head's among them
    seconds: float  # in updates
    values: dict[str, np.ndarray]  # path of each matrix -> singular values of what was added (N,)


def lora_race(
    task: str, steps: int, rank: int, alpha: float, base: str = "", seed: int = 0
) -> Iterator[RaceStep | RaceEnd]:
    """Train both ways on stories with exact labels and yield each update, then both ends.

    task: of `llmviz.finetuning.labels.TASKS`. base: a bundled gpt, empty: the usual one.
    Raises ValueError for an unknown task, a rank that does not fit, a base that is not there.
    """
    from llmviz.finetuning.classifier import accuracy, confusion, encode, predict
    from llmviz.finetuning.labels import stories
    from llmviz.finetuning.plan import BASE
    from llmviz.nn.lora import trained_parameters
    from llmviz.nn.lora_config import LoraConfig
    from llmviz.pretrained import load_bundled

    model, tokenizer, _ = load_bundled(base or BASE)
    labelled = stories(task, BATCH * steps + TESTED)
    train, test = labelled.split(TESTED / len(labelled.texts), seed)
    config = LoraConfig(rank, alpha)
    ways = {way: _Way(way, model, tokenizer, train, test, config, steps, seed) for way in WAYS}
    for _ in range(steps):
        for run in ways.values():
            yield run.update()
    test_ids = encode(tokenizer, test.texts, model.context_length)
    for way, run in ways.items():
        table = confusion(test.labels, predict(run.classifier, test_ids).argmax(1), len(test.names))
        trained = trained_parameters(run.classifier)
        tested = len(test.texts)
        yield RaceEnd(way, accuracy(table), tested, trained, run.seconds, run.values(model))


class _Way:
    def __init__(
        self,
        way: str,
        base: Any,
        tokenizer: Any,
        train_on: Any,
        test: Any,
        lora: Any,
        steps: int,
        seed: int,
    ) -> None:
        from llmviz.finetuning.classifier import classifier, prepare_classes
        from llmviz.finetuning.plan import TuningPlan, suited_training
        from llmviz.training import train

        self.way, self.seconds = way, 0.0
        self.classifier = classifier(base, len(train_on.names), way, seed, lora)
        module, data = prepare_classes(self.classifier, tokenizer, train_on, test, way, seed)
        plan = TuningPlan(way=way)
        settings = suited_training(plan.kind, way) | {
            "steps": steps,
            "batch_size": BATCH,
            "warmup_steps": max(1, steps // 10),
            "log_every": 1,
            "eval_every": max(1, steps // CHECKS),
            "eval_batches": CHECKED // BATCH,
            "device": "cpu",
            "threads": 1,
            "seed": seed,
        }
        self.records = train(module, data, dataclasses.replace(plan.train, **settings))

    def update(self) -> RaceStep:
        record = next(self.records)
        self.seconds += BATCH / record.tokens_per_second  # a "token" is a story here
        held_out = record.validation_loss
        return RaceStep(self.way, record.step, record.train_loss, held_out, self.seconds)

    def values(self, base: Any) -> dict[str, np.ndarray]:
        """Return the singular values of what was added to each matrix that LoRA stands beside."""
        return {path: spectrum(change).s for path, change in self._added(base)}

    def _added(self, base: Any) -> Iterator[tuple[str, np.ndarray]]:
        import torch

        from llmviz.nn.lora import lora_layers
        from llmviz.nn.lora_config import TARGETS

        body = self.classifier.body
        with torch.no_grad():
            if self.way == "lora":
                for path, layer in lora_layers(body).items():
                    if layer.active is not None:
                        yield path, layer.adapters[layer.active].change().numpy()
                return
            now = dict(body.named_modules())
            for path, module in base.named_modules():
                if path.endswith(TARGETS) and hasattr(module, "weight"):
                    yield path, (now[path].weight - module.weight).numpy()
