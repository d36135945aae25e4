"""A language model whose head is exchanged for classes, and the ways to train it.

B texts, T tokens, C = n_embd, K classes, V vocabulary.

The class is read from the hidden state of the last real token: under a causal mask it is the only
one that has seen the whole text. Reference: Radford et al. 2018, "Improving Language Understanding
by Generative Pre-Training", section 3.2.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from llmviz.finetuning.labels import Labelled
from llmviz.finetuning.plan import WAYS
from llmviz.models import GPT
from llmviz.nn.fast_linear import packed_for_rows
from llmviz.nn.lora import LoraLinear, add_adapter
from llmviz.nn.lora_config import LoraConfig
from llmviz.training.data import Epochs, end_id

ROWS = 16  # texts in one forward pass: more of them, when long, leave the processor's cache


class Texts(NamedTuple):
    """Encoded texts, each behind what stands in front of a text, filled up at the right."""

    idx: Tensor  # (N, T) int64
    lengths: Tensor  # (N,) int64, real tokens of each


def encode(tokenizer: Any, texts: Sequence[str], context_length: int) -> Texts:
    """Encode texts for a classifier; of one that is longer than the context its end is kept.

    What stands behind a text's last token is never seen from there, so any id may fill up.
    Raises ValueError for no text.
    """
    if not texts:
        raise ValueError("there must be at least one text; got none")
    end = end_id(tokenizer)
    rows = [tokenizer.encode_from_start(text)[-context_length:] for text in texts]
    idx = torch.full((len(rows), max(map(len, rows))), end)
    for row, ids in enumerate(rows):
        idx[row, : len(ids)] = torch.tensor(ids)
    return Texts(idx, torch.tensor([len(ids) for ids in rows]))


def body_of(model: GPT) -> GPT:
    """Return a copy of a GPT without its head: its "logits" are the hidden states (B, T, C)."""
    body = copy.deepcopy(model)
    body.add_module("head", nn.Identity())
    return body


def last_token(body: GPT, idx: Tensor, lengths: Tensor) -> Tensor:
    """Return the hidden state of each text's last real token: idx (B, T), lengths (B,) to (B, C).

    The last column would be a filler's for every text but the longest. What the last block makes
    of the other tokens is never read, so it is not computed.
    """
    return body(idx, positions=lengths - 1)[0][:, 0]


class Head(nn.Module):
    """Scores of K classes from a hidden state: logits (B, K), and the loss.

    class_weights (K,): how often an example of each class counts, None = once.
    """

    class_weights: Tensor | None

    def __init__(self, n_embd: int, classes: int, class_weights: Tensor | None = None):
        super().__init__()
        self.linear = nn.Linear(n_embd, classes)
        nn.init.normal_(self.linear.weight, std=0.02)
        nn.init.zeros_(self.linear.bias)
        self.register_buffer("class_weights", class_weights, persistent=False)

    def forward(self, hidden: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Any]:
        """hidden (B, C), targets (B,) class numbers; the loss is in nats per example."""
        logits = self.linear(hidden)  # (B, K)
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits, targets, weight=self.class_weights)


class Classifier(nn.Module):
    """A GPT's body and a `Head` on the last token of each text."""

    def __init__(self, body: GPT, head: Head):
        super().__init__()
        self.body, self.head = body, head

    @property
    def context_length(self) -> int:
        """The most tokens of a text that are read."""
        return self.body.context_length

    def forward(
        self, idx: Tensor, lengths: Tensor, targets: Tensor | None = None
    ) -> tuple[Tensor, Any]:
        """idx (B, T), lengths (B,) to logits (B, K), and the loss in nats per example."""
        return self.head(last_token(self.body, idx, lengths), targets)


def classifier(
    model: nn.Module,
    classes: int,
    way: str,
    seed: int = 0,
    lora: LoraConfig | None = None,
    class_weights: Tensor | None = None,
) -> Classifier:
    """Return a new classifier on a copy of a trained model, frozen as `way` says.

    Raises ValueError for an unknown way, or a model without the parts that it names.
    """
    if way not in WAYS:
        raise ValueError(f"way must be one of {', '.join(WAYS)}; got {way!r}")
    if not isinstance(model, GPT):
        raise ValueError(f"a class head needs a gpt; got {type(model).__name__}")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        head = Head(model.config.n_embd, classes, class_weights)
        body = body_of(GPT(model.config) if way == "nothing" else model)
    body.requires_grad_(way in ("all", "nothing"))
    if way == "last":
        body.blocks[-1].requires_grad_(True)
        body.norm_final.requires_grad_(True)
    if way == "lora":
        add_adapter(body, lora or LoraConfig(), seed=seed)
    return Classifier(body, head)


def balanced_weights(labels: Sequence[int], classes: int) -> Tensor:
    """Return for each class N / (K · its count), so that all classes count the same in sum.

    Reference: King and Zeng 2001, in scikit-learn's form ("balanced"). ValueError for a class
    without an example.
    """
    counts = torch.bincount(torch.tensor(labels), minlength=classes)
    if not (counts > 0).all():
        raise ValueError("every class needs an example to be weighted by; one has none")
    return len(labels) / (classes * counts)


@torch.no_grad()
def features(body: GPT, texts: Texts) -> Tensor:
    """Return each text's hidden state at its last token, (N, C): all that a head ever sees.

    The body is frozen while a head is trained, so they are computed once, not once an epoch.
    """
    order = texts.lengths.argsort()
    kept = torch.empty(len(order), body.config.n_embd)
    usual = ROWS * int(texts.lengths.median())
    body = packed_for_rows(body.eval(), usual, LoraLinear)
    for some in order.split(ROWS):
        width = int(texts.lengths[some].max())
        kept[some] = last_token(body, texts.idx[some, :width], texts.lengths[some])
    return kept


@torch.no_grad()
def predict(model: Classifier, texts: Texts) -> Tensor:
    """Return the probability of each class for each text, (N, K)."""
    return model.head(features(model.body, texts))[0].softmax(-1)


@dataclass(frozen=True)
class ClassData:
    """Batches of labelled texts for `llmviz.training.train`; their inputs lie in memory.

    inputs: tensors whose rows are texts: (idx, lengths), or (features,) for a head alone.
    """

    inputs: tuple[Tensor, ...]
    labels: Tensor  # (N,) int64
    held_out: tuple[Tensor, ...]
    held_out_labels: Tensor
    seed: int = 0
    vocab_size: int = 0
    context_length: int = 0

    @cached_property
    def _epochs(self) -> Epochs:
        return Epochs(len(self.labels), self.seed)

    def batch(self, step: int, rows: int) -> tuple[Tensor, ...]:
        """The texts of update `step` (from 1), with their labels; each text once an epoch."""
        chosen = torch.from_numpy(np.asarray(self._epochs.rows(step, rows)))
        return *_rows(self.inputs, chosen), self.labels[chosen]

    def validation_batches(self, rows: int, count: int) -> Iterator[tuple[Tensor, ...]]:
        """The first `count` batches (0 = all) of the held-out texts."""
        parts = torch.arange(len(self.held_out_labels)).split(rows)
        for chosen in parts[: count or None]:
            yield *_rows(self.held_out, chosen), self.held_out_labels[chosen]

    def count(self, batch: tuple[Tensor, ...]) -> int:
        """How many texts."""
        return len(batch[-1])


def _rows(inputs: tuple[Tensor, ...], chosen: Tensor) -> tuple[Tensor, ...]:
    """Some rows; token ids without the columns that are filler in all of them."""
    if len(inputs) == 1:
        return (inputs[0][chosen],)
    idx, lengths = inputs
    return idx[chosen, : int(lengths[chosen].max())], lengths[chosen]


def prepare_classes(
    model: Classifier, tokenizer: Any, train: Labelled, test: Labelled, way: str, seed: int = 0
) -> tuple[nn.Module, ClassData]:
    """Return what `train` takes: the module to train and its batches.

    For the head alone that is the head, on features computed here once.
    """
    both = [encode(tokenizer, part.texts, model.context_length) for part in (train, test)]
    labels = [torch.tensor(part.labels) for part in (train, test)]
    if way == "head":
        kept = [(features(model.body, texts),) for texts in both]
        return model.head, ClassData(kept[0], labels[0], kept[1], labels[1], seed)
    train_texts, test_texts = both
    sizes = (model.body.vocab_size, model.context_length)
    return model, ClassData(train_texts, labels[0], test_texts, labels[1], seed, *sizes)


def confusion(labels: Sequence[int], chosen: Sequence[int] | Tensor, classes: int) -> Tensor:
    """Count how often each class (rows) was called each class (columns): int64 (K, K)."""
    pairs = torch.as_tensor(labels) * classes + torch.as_tensor(chosen)
    return torch.bincount(pairs, minlength=classes * classes).view(classes, classes)


def accuracy(table: Tensor) -> float:
    """Return the share on the diagonal of a confusion table (K, K)."""
    return float(table.diagonal().sum() / table.sum())


def balanced_accuracy(table: Tensor) -> float:
    """Return the mean over the classes of the share that was recognised; empty classes left out."""
    sums = table.sum(1)
    return float((table.diagonal()[sums > 0] / sums[sums > 0]).mean())
