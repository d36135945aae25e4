"""Small models of whole words that read a short text in seconds, while somebody watches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor, no_grad, tensor
from torch import manual_seed as seed_torch
from torch.nn.functional import cross_entropy

from llmviz.models import build
from llmviz.models.base import LanguageModel
from llmviz.nn.loss import IGNORED
from llmviz.tokenizers import train_tokenizer
from llmviz.training.config import QUICK, TrainConfig
from llmviz.training.data import TrainData, end_id
from llmviz.training.loop import train

BATCH = 32  # documents of a step
POINTS = 40  # of a training that are told
SIZES = {"n_layer": 2, "n_head": 4, "n_embd": 64, "dropout": 0.0}


@dataclass(frozen=True)
class Reader:
    """A model after some steps of its training, with its tokenizer and how far it is."""

    model: LanguageModel
    tokenizer: Any
    step: int
    steps: int
    loss: float  # nats per token, mean of the steps since the last point

    @property
    def done(self) -> bool:
        """Whether this was the last step."""
        return self.step == self.steps


def read_text(
    documents: Sequence[str], *, words: str = "", passes: int = 4, seed: int = 0, context: int = 16
) -> Iterator[Reader]:
    """Train a small GPT on documents and yield it some POINTS times; it is the same one each time.

    words: further words that its tokenizer knows. passes: how often the text is read. context: in
    tokens; a longer document is read in pieces.
    """
    tokenizer = train_tokenizer("word", [*documents, words], None)
    data = TrainData.from_documents(
        documents, documents[:BATCH], tokenizer, context, windows="padded", seed=seed
    )
    steps = max(1, len(documents) * passes // BATCH)
    config = TrainConfig(
        steps=steps,
        batch_size=BATCH,
        warmup_steps=min(50, steps),
        log_every=max(1, steps // POINTS),
        seed=seed,
        **QUICK,
    )
    seed_torch(seed)
    model = build("gpt", {"vocab_size": tokenizer.vocab_size, "context_length": context, **SIZES})
    for record in train(model, data, config):
        yield Reader(model, tokenizer, record.step, steps, record.train_loss)


def losses(reader: Reader, texts: Sequence[str]) -> list[Tensor]:
    """Return the loss of each token of each text, end included, in nats; a text must fit.

    Raises ValueError naming the text that is longer than the context.
    """
    rows = rows_of(reader, texts)
    width = max(map(len, rows))
    if width - 1 > reader.model.context_length:
        longest = max(texts, key=len)
        raise ValueError(f"{longest[:40]!r} is longer than the context")
    end = rows[0][0]
    ids = tensor([[*row, *[end] * (width - len(row))] for row in rows])
    targets = ids[:, 1:].clone()
    for at, row in enumerate(rows):
        targets[at, len(row) - 1 :] = IGNORED
    reader.model.eval()
    with no_grad():
        logits = reader.model(ids[:, :-1])[0]
    reader.model.train()
    each = cross_entropy(
        logits.flatten(0, 1), targets.flatten(), reduction="none", ignore_index=IGNORED
    ).view_as(targets)
    return [each[at, : len(row) - 1] for at, row in enumerate(rows)]


def rows_of(reader: Reader, texts: Sequence[str]) -> list[list[int]]:
    """Return the ids of each text between the marks of its beginning and its end."""
    end = end_id(reader.tokenizer)
    return [[end, *reader.tokenizer.encode(text), end] for text in texts]
