"""Small models of eight sizes that read five amounts of text once, and their loss on new stories.

`python -m experiments make scaling` trains all of them again, about half an hour on one thread,
and writes `data/experiments/scaling.json` after each; it goes on where it was stopped. Reading it
needs no torch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llmviz.files.paths import EXPERIMENT_FOLDER, TOKENIZER_FOLDER
from llmviz.records import Recorded, typed
from llmviz.training.held_out_texts import stories

if TYPE_CHECKING:
    from llmviz.corpus.next_tokens import TrueTokens
    from llmviz.tokenizers import Tokenizer

FILE = "scaling.json"
COMMAND = "python -m experiments make scaling"
HELD_OUT = 200  # stories that the loss is measured on
CONTEXT = 320  # tokens: more than a story has
BATCH = 4  # stories of a step
HIGHEST_RATE, RATE_BY_WIDTH = 0.03, 0.6  # the learning rate is the second over the width, or less
WARM_UP = 0.1  # of all steps
POINTS = 20  # of a training that are told


@dataclass(frozen=True)
class Size:
    """Width C, layers and heads of a model."""

    width: int
    layers: int
    heads: int


SIZES = (
    Size(2, 1, 1),
    Size(4, 1, 1),
    Size(8, 1, 2),
    Size(16, 1, 2),
    Size(24, 2, 2),
    Size(32, 2, 2),
    Size(48, 3, 4),
    Size(64, 3, 4),
)
AMOUNTS = (384, 768, 1536, 3072, 6144)  # stories of the text, each read once


@dataclass(frozen=True)
class ScalingRun:
    """One training: a size, an amount of text, and how it ended.

    parameters: all of them. in_blocks: without the table of tokens and positions, as Kaplan and
    others 2020 count. tokens: those that were learned from, the end of each story included. loss:
    of the held-out tokens that came, nats per token. expected: what this loss is on average, by the
    true probabilities; None where that was not computed. curve: tokens read so far and the loss in
    training.
    """

    width: int
    layers: int
    heads: int
    stories: int
    seed: int
    parameters: int
    in_blocks: int
    tokens: int
    loss: float
    expected: float | None
    rate: float
    seconds: float
    curve: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Floor:
    """What no model can beat on the held-out stories, nats per token.

    entropy: the mean entropy before each token. came: of the tokens that came. tokens: how many.
    """

    entropy: float
    came: float
    tokens: int


@dataclass(frozen=True)
class Going:
    """How far a training is: its loss since the last point, and the run when it is over."""

    step: int
    steps: int
    tokens: int
    loss: float
    run: ScalingRun | None = None


@cache
def tokenizer() -> Tokenizer:
    """Return the tokenizer of all these models: byte-pair encoding with 1,024 tokens."""
    from llmviz.tokenizers import BPETokenizer

    return BPETokenizer.load(TOKENIZER_FOLDER / "bpe-1024.json")


@cache
def truths() -> list[TrueTokens]:
    """Return the true probabilities of each token of the held-out stories; some seconds."""
    from llmviz.corpus.next_tokens import true_tokens

    return [true_tokens(text, tokenizer()) for text in stories(HELD_OUT)]


def train_one(size: Size, amount: int, seed: int = 0, *, exact: bool = False) -> Iterator[Going]:
    """Train a model on `amount` stories, each read once, and yield how far it is.

    The last one has the whole run, with the loss on held-out stories. exact: also with what this
    loss is on average, for which the grammar has to be followed: some twenty seconds.
    """
    from torch import manual_seed

    from llmviz.corpus.tiny_world import generate
    from llmviz.models import build
    from llmviz.training.config import ON_ONE_CORE, TrainConfig
    from llmviz.training.data import TrainData
    from llmviz.training.loop import train

    texts = [document.text for document in generate(amount, seed)]
    data = TrainData.from_documents(
        texts, texts[:BATCH], tokenizer(), CONTEXT, windows="sorted", seed=seed
    )
    steps = max(1, amount // BATCH)
    rate = min(HIGHEST_RATE, RATE_BY_WIDTH / size.width)
    config = TrainConfig(
        steps=steps,
        batch_size=BATCH,
        learning_rate=rate,
        min_lr=0.0,
        warmup_steps=round(WARM_UP * steps),
        weight_decay=0.01,
        eval_every=0,
        checkpoint_every=0,
        log_every=max(1, steps // POINTS),
        seed=seed,
        **ON_ONE_CORE,
    )
    manual_seed(seed)
    options = {"positions": "rotary", "norm_kind": "rms", "bias": False, "qkv_bias": False}
    shape = {"n_layer": size.layers, "n_head": size.heads, "n_embd": size.width}
    vocabulary = {"vocab_size": tokenizer().vocab_size, "context_length": CONTEXT}
    model = build("gpt", {**vocabulary, **shape, **options})
    curve = []
    for record in train(model, data, config):
        curve.append((record.tokens, round(record.train_loss, 4)))
        yield Going(record.step, steps, record.tokens, record.train_loss)
    loss, expected = measured(model) if exact else (came_loss(model), None)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    run = ScalingRun(
        size.width,
        size.layers,
        size.heads,
        amount,
        seed,
        parameters,
        parameters - model.get_parameter("token.weight").numel(),
        record.tokens,
        loss,
        expected,
        rate,
        round(record.seconds, 1),
        tuple(curve),
    )
    yield Going(steps, steps, record.tokens, record.train_loss, run)


def came_loss(model: Any) -> float:
    """Return a model's loss on the held-out stories, nats per token."""
    from llmviz.evaluation.exact_loss import log_softmax
    from llmviz.evaluation.text_loss import target_logits

    model.eval()
    loss, tokens = 0.0, 0
    for text in stories(HELD_OUT):
        ids = [*tokenizer().encode(text), tokenizer().end]
        logits = target_logits(model, tokenizer().behind_start(ids))
        loss -= float(log_softmax(logits)[range(len(ids)), ids].sum())
        tokens += len(ids)
    return loss / tokens


def measured(model: Any) -> tuple[float, float]:
    """Return a model's loss on the held-out stories, and what it is on average, nats per token."""
    from llmviz.evaluation.exact_loss import divide_logits, story_logits

    model.eval()
    loss, expected, tokens = 0.0, 0.0, 0
    for truth in truths():
        parts = divide_logits(story_logits(model, tokenizer(), truth), truth)
        loss += float(parts.loss.sum())
        expected += float(parts.entropy.sum() + parts.divergence.sum())
        tokens += len(parts)
    return loss / tokens, expected / tokens


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> tuple[Floor, tuple[ScalingRun, ...]]:
    """Return the floor and all bundled runs.

    Raises ValueError where the file is missing or damaged.
    """
    with Recorded(folder / FILE, COMMAND) as content:
        return typed(content["floor"], Floor), typed(content["runs"], tuple[ScalingRun, ...])
