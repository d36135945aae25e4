"""One model trained in several precisions from the same start on the same batches, step by step.

A generator for a process of its own. The ways go on in turns, an update of each.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor, nn

    from llmviz.models.base import LanguageModel
    from llmviz.training.data import Batches

ROWS, CONTEXT = 32, 16  # names in a batch, tokens of a name
RATE = 3e-3
CHECKS = 8  # times that the held-out loss is measured
CHECKED = 4  # batches that it is measured on


@dataclass(frozen=True)
class Way:
    """How a training computes: its products, its weights, and the factor on its loss.

    products: the type that autocast uses. weights: that of the weights and of all that the
    optimizer keeps. scaled: whether the loss is multiplied by a scale that is found on the way.
    """

    products: str
    weights: str = "float32"
    scaled: bool = False


WAYS = {
    "float32": Way("float32"),
    "bfloat16": Way("bfloat16"),
    "float16-scaled": Way("float16", scaled=True),
    "float16": Way("float16"),
    "bfloat16-all": Way("bfloat16", "bfloat16"),
    "float16-all": Way("float16", "float16"),
}


@dataclass(frozen=True)
class PrecisionStep:
    """One update of one way; losses in nats per token, as without the smaller loss."""

    way: str
    step: int
    loss: float  # mean of the batch
    held_out: float | None  # where it was measured
    zero: float  # share of the gradients that are 0
    unchanged: float  # share of the weights that the update left as they were
    skipped: bool  # a gradient was too large, and there was no update
    seconds: float  # in updates so far


@dataclass(frozen=True)
class PrecisionEnd:
    """How a way ended: the problem that ended it before its last step, or nothing."""

    way: str
    step: int
    problem: str


def precision_race(
    ways: tuple[str, ...], steps: int, shrink: int = 0, seed: int = 0
) -> Iterator[PrecisionStep | PrecisionEnd]:
    """Train a small GPT on names in each way and yield every update of each, and each way's end.

    ways: keys of WAYS. shrink: the loss is multiplied by 2^−shrink, and with it all gradients;
    Adam's updates hardly depend on that, as long as the numbers can be held and the gradients are
    well above Adam's ε. Raises ValueError for an unknown way, no way, or fewer than one step.
    """
    from llmviz.corpus import load_corpus
    from llmviz.tokenizers import train_tokenizer
    from llmviz.training.data import TrainData

    if not ways or set(ways) - set(WAYS) or len(set(ways)) != len(ways):
        raise ValueError(f"the ways must be different ones of {', '.join(WAYS)}; got {ways}")
    corpus = load_corpus("names")
    tokenizer = train_tokenizer("char", corpus.documents)
    data = TrainData.from_corpus(corpus, tokenizer, CONTEXT, windows="padded", seed=seed)
    start = _start(data.vocab_size, seed)
    going = {way: _Training(way, start, data, steps, shrink, seed) for way in ways}
    while going:
        for way in list(going):
            result = going[way].update()
            yield result
            if isinstance(result, PrecisionEnd):
                del going[way]


def _start(vocab_size: int, seed: int) -> LanguageModel:
    import torch

    from llmviz.models import GPT, GPTConfig

    shape = GPTConfig(
        vocab_size=vocab_size, context_length=CONTEXT, n_layer=2, n_head=4, n_embd=32, dropout=0.0
    )
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return GPT(shape)


def with_smaller_loss(model: nn.Module, factor: float) -> nn.Module:
    """Return a model whose loss is that of `model` times a factor."""
    from torch import nn

    class Smaller(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = model

        def forward(self, idx: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
            logits, loss = self.body(idx, targets)
            return logits, loss * factor

    return Smaller()


class _Training:
    def __init__(
        self, way: str, start: nn.Module, data: Batches, steps: int, shrink: int, seed: int
    ) -> None:
        import torch

        from llmviz.training import TrainConfig, train

        self.way, self.steps, self.factor = way, steps, 2.0**-shrink
        self.step, self.seconds, self.tokens = 0, 0.0, 0
        kind = WAYS[way]
        self.model = copy.deepcopy(start).to(getattr(torch, kind.weights))
        config = TrainConfig(
            steps=steps,
            batch_size=ROWS,
            learning_rate=RATE,
            min_lr=RATE / 10,
            warmup_steps=max(1, steps // 10),
            grad_clip=0.0,  # a gradient's length depends on the factor, Adam's updates do not
            weight_decay=0.0,
            eval_every=max(1, steps // CHECKS),
            eval_batches=CHECKED,
            log_every=1,
            checkpoint_every=0,
            seed=seed,
            device="cpu",
            dtype=kind.products,
            loss_scale=0.0 if kind.scaled or kind.products != "float16" else 1.0,
            compile="off",
            threads=1,
        )
        self.records = train(with_smaller_loss(self.model, self.factor), data, config)

    def update(self) -> PrecisionStep | PrecisionEnd:
        """Make the next update; the end comes where there is none or it failed."""
        from llmviz.training import Diverged

        weights = list(self.model.parameters())
        before = [weight.detach().clone() for weight in weights]
        try:
            record = next(self.records, None)
        except Diverged as problem:
            return PrecisionEnd(self.way, problem.step, str(problem))
        if record is None:
            return PrecisionEnd(self.way, self.step, "")
        self.step = record.step
        self.seconds += (record.tokens - self.tokens) / record.tokens_per_second
        self.tokens = record.tokens
        held_out = record.validation_loss
        return PrecisionStep(
            self.way,
            record.step,
            record.train_loss / self.factor,
            None if held_out is None else held_out / self.factor,
            self._share(weight.grad == 0 for weight in weights if weight.grad is not None),
            self._share(a == b for a, b in zip(before, weights, strict=True)),
            bool(record.notes),
            self.seconds,
        )

    def _share(self, parts: Iterator[Tensor]) -> float:
        held = list(parts)
        return sum(int(part.sum()) for part in held) / math.fsum(part.numel() for part in held)
