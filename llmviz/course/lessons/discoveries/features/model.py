"""What a feature writes, what is on in a text, and features of any transformer's own kind of text.

T tokens, C = n_embd, N features, V vocabulary, S texts that are kept of a feature.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from llmviz.course.lessons.discoveries.features_record import (
    MAIN,
    ON_EACH,
    RunScore,
    bundle,
    scores,
)
from llmviz.interpretability.sparse_autoencoder import Dictionary, Recipe, learn

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT

TOKENS = 24_000  # that are read
HELD = 0.2  # of the pieces, on which the features are measured
LONGEST = 64  # tokens of a piece
STEPS = 300
AT_ONCE = 32  # pieces that are read between two reports
KEPT = 4  # texts
PART = 0.5  # of a part's tokens, at which the whole feature is on, too
SOURCES = ("feature", "unit", "axis", "reading")
ABSENT = -1.0  # in a strip, behind the end of its piece


class FeatureWrites(NamedTuple):
    """The tokens whose logits a value of 1 of a feature raises and lowers most, by the direct way.

    more, less: ids, the largest change first; raised, lowered: by how much.
    """

    more: np.ndarray
    raised: np.ndarray
    less: np.ndarray
    lowered: np.ndarray


def feature_writes(gpt: GPT, direction: np.ndarray, divisor: float, keep: int = 8) -> FeatureWrites:
    """Return what a direction (C,) of the stream adds to the logits through the last norm.

    divisor: by which that norm divides. What later layers make of the direction is left out.
    """
    import torch

    from llmviz.nn.layers import LayerNorm, RMSNorm

    with torch.inference_mode():
        column = torch.from_numpy(direction)
        norm = gpt.norm_final
        if isinstance(norm, LayerNorm | RMSNorm):
            centred = column - column.mean() if isinstance(norm, LayerNorm) else column
            column = centred / divisor * norm.weight
        logits = gpt.head.weight @ column  # (V,)
        keep = min(keep, len(logits))
        more, less = logits.topk(keep), logits.topk(keep, largest=False)
    parts = (more.indices, more.values, less.indices, less.values)
    return FeatureWrites(*(part.numpy() for part in parts))


def values_on(gpt: GPT, ids: Sequence[int], layer: int, dictionary: Dictionary) -> np.ndarray:
    """Return the value of each feature at each token of a text behind the start token (T, N)."""
    from llmviz.interpretability.stream_reading import read_taps, stream_tap

    return dictionary.read(read_taps(gpt, [ids], [stream_tap(layer)])[0][0])


@dataclass(frozen=True, eq=False)
class OwnFeatures:
    """What was learned, measured on pieces that it was not learned from.

    explained: share of the variance. loss: of the model as it is, replaced: with its stream
    replaced by what the features say, mean: by its mean; nats per token. share (N,): of the tokens
    at which a feature is on. pieces: ids, the start token first where the tokenizer has one. best
    (N, S): the pieces in which a feature's value is highest, falling. strips (N, S, T): its values
    there, without the first token; ABSENT behind the end of a piece.
    """

    dictionary: Dictionary
    tokens: int
    measured: int
    explained: float
    loss: float
    replaced: float
    mean: float
    share: np.ndarray
    pieces: tuple[tuple[int, ...], ...]
    best: np.ndarray
    strips: np.ndarray

    @property
    def recovered(self) -> float:
        """The share of the loss that comes back: 1 as it is, 0 with the mean in the stream's place.

        NaN where the mean does no harm.
        """
        harm = self.mean - self.loss
        return (self.mean - self.replaced) / harm if harm > 0 else float("nan")


@dataclass(frozen=True, eq=False)
class Going:
    """How far it is: done, from 0 to 1; the share of the variance that is missed, once it learns.

    found: at the end.
    """

    done: float
    missed: float | None = None
    found: OwnFeatures | None = None


def learn_own(
    name: str, corpus: str, layer: int, features: int, on: int, seed: int
) -> Iterator[Going]:
    """Read a text with a model, learn features of the stream at the end of a layer, measure them.

    name: for `find_model`. corpus: for `load_corpus`. Raises ValueError for a model that is no
    transformer, a layer that is not there, and a text that is too short.
    """
    from llmviz.corpus import load_corpus
    from llmviz.interpretability.stream_reading import read_taps, stream_tap
    from llmviz.interpretability.unit_corpus import pieces_of
    from llmviz.models.transformers import require_transformer
    from llmviz.pretrained import find_model

    yield Going(0.0)
    trained = find_model(name)
    gpt = require_transformer(trained.model)
    if not 0 <= layer < gpt.config.n_layer:
        raise ValueError(f"layer must be from 0 to {gpt.config.n_layer - 1}; got {layer}")
    longest = min(LONGEST, gpt.context_length)
    pieces = pieces_of(load_corpus(corpus), trained.tokenizer, longest, TOKENS)
    pieces = [piece for piece in pieces if len(piece) > 1]
    held = max(1, round(HELD * len(pieces)))
    if len(pieces) < 2:
        raise ValueError("features are learned from at least two pieces of text with two tokens")
    streams: list[np.ndarray] = []
    for first in range(0, len(pieces), AT_ONCE):
        streams += read_taps(gpt, pieces[first : first + AT_ONCE], [stream_tap(layer)])[0]
        yield Going(0.4 * min(1.0, (first + AT_ONCE) / len(pieces)))
    recipe = Recipe(features, on, STEPS, seed)
    for lesson in learn(np.concatenate(streams[held:]), recipe):
        last = lesson
        yield Going(0.4 + 0.5 * lesson.step / lesson.steps, lesson.missed)
    tokens = sum(map(len, streams[held:]))
    found = measure(gpt, layer, last.dictionary, pieces[:held], streams[:held], tokens)
    yield Going(1.0, last.missed, found)


def measure(
    gpt: GPT,
    layer: int,
    dictionary: Dictionary,
    pieces: Sequence[Sequence[int]],
    streams: Sequence[np.ndarray],
    tokens: int,
) -> OwnFeatures:
    """Return what features do on pieces of text, whose stream is given.

    tokens: from which they were learned.
    """
    import torch

    from llmviz.interpretability.stream_reading import losses_with, stream_tap

    values = [dictionary.read(stream) for stream in streams]
    whole, all_values = np.concatenate(streams), np.concatenate(values)
    mean = whole.mean(0)
    apart = ((whole - dictionary.write(all_values)) ** 2).sum()
    spread = ((whole - mean) ** 2).sum()
    middle = torch.from_numpy(mean)

    def change(x: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(dictionary.write(dictionary.read(x.numpy())))

    loss, replaced, without = (
        float(losses.mean())
        for losses in (
            losses_with(gpt, pieces),
            losses_with(gpt, pieces, stream_tap(layer), change),
            losses_with(gpt, pieces, stream_tap(layer), lambda x: middle.expand_as(x)),
        )
    )
    peaks = np.stack([piece.max(0) for piece in values])  # (pieces, N)
    best = np.argsort(-peaks, axis=0, kind="stable")[:KEPT].T  # (N, S)
    strips = np.full((*best.shape, max(map(len, streams))), ABSENT, np.float16)
    for feature, numbers in enumerate(best):
        for at, number in enumerate(numbers):
            strips[feature, at, : len(values[number])] = values[number][:, feature]
    return OwnFeatures(
        dictionary,
        tokens,
        len(whole),
        1 - float(apart / spread) if spread > 0 else 0.0,
        loss,
        replaced,
        without,
        (all_values > 0).mean(0),
        tuple(map(tuple, pieces)),
        best,
        strips,
    )


def score_of(layer: int, features: int) -> RunScore:
    """Return what was measured of a bundled dictionary."""
    return next(run for run in scores().of(layer, features) if run.seed == 0)


def told_best(layer: int, features: int, feature: int) -> list[tuple[str, float]]:
    """Return what a feature is the best feature for, with its F1, the highest first."""
    score = score_of(layer, features)
    labels = [
        (scores().labels[k], score.f1[k])
        for k, best in enumerate(score.best)
        if best == feature and score.f1[k] > 0
    ]
    return sorted(labels, key=lambda pair: -pair[1])


def rises(runs: Sequence[RunScore]) -> list[float]:
    """Return by how much the loss is higher with features than without, on the same stories."""
    plain = {(score.layer, score.seed): score.loss for score in scores().layers}
    return [run.loss - plain[run.layer, run.seed] for run in runs]


def lacks() -> float:
    """Return how far the model as it is lies above the grammar's own loss, on these stories."""
    return float(np.mean([score.loss - score.floor for score in scores().at(MAIN)]))


def table(layer: int, features: int, on: int = ON_EACH) -> dict[str, np.ndarray]:
    """Return F1 by source, (3 seeds, K labels) each."""
    runs = sorted(scores().of(layer, features, on), key=lambda run: run.seed)
    others = sorted(scores().at(layer), key=lambda score: score.seed)
    found = {"feature": np.array([run.f1 for run in runs])}
    return found | {name: np.array([getattr(x, name) for x in others]) for name in SOURCES[1:]}


def of_kind(kind: str) -> list[int]:
    """Return the places of a kind's labels."""
    return [k for k, label in enumerate(scores().labels) if label.startswith(f"{kind} ")]


def medians(layer: int, features: int, kind: str) -> dict[str, np.ndarray]:
    """Return the median F1 over a kind's labels by source, for each seed (3,)."""
    at = of_kind(kind)
    return {name: np.median(f1[:, at], 1) for name, f1 in table(layer, features).items()}


def verdict(feature: Sequence[float] | np.ndarray, unit: Sequence[float] | np.ndarray) -> str:
    """Return whether the first tells more, less, or neither: the three trainings must not mix.

    >>> verdict([0.5, 0.6], [0.3, 0.4]), verdict([0.5, 0.6], [0.55, 0.4])
    ('more', 'tie')
    """
    first, second = np.round(feature, 2), np.round(unit, 2)  # as the page shows them
    if first.min() > second.max():
        return "more"
    return "less" if first.max() < second.min() else "tie"


def parts(larger: int) -> np.ndarray:
    """Return of which feature of the next smaller dictionary each feature is a part; −1: none.

    Its direction is the nearest, and it is on at half of the part's tokens or more.
    """
    found = bundle(MAIN, larger)
    return np.where(found.shared >= PART, found.parent, -1)
