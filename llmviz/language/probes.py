"""At which layer does the language model know a word's part of speech?

A linear probe per layer, and a control task beside it: every word is given a random tag,
the same each time it occurs. A probe that learns the control as well has memorized words; what
counts is the difference of the two, the selectivity.

Reference: Alain and Bengio 2016 (linear probes); Hewitt and Liang 2019, "Designing and Interpreting
Probes with Control Tasks", section 2.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from llmviz.corpus.roles import RoleWord
from llmviz.language.tagger import KINDS, fit, layers, numbers_of, text_of, word_states
from llmviz.models.base import LanguageModel


class Probe(NamedTuple):
    """What a probe of one layer reached on held-out stories, each a share of the words."""

    layer: str
    accuracy: float
    control: float  # of the probe that was trained on tags by lot


def control_labels(words: Sequence[str], truth: Tensor, seed: int = 0) -> Tensor:
    """Return for each word a class by lot, the same for the same word, (N,) int64.

    Classes come as often as in `truth` (N,). They depend on the word and the seed alone, so that
    words of a held-out text have theirs too.
    """
    pool = sorted(truth.tolist())
    lots = {word: random.Random(f"{seed} {word}").choice(pool) for word in set(words)}
    return torch.tensor([lots[word] for word in words])


def probe_layers(
    model: LanguageModel,
    tokenizer: Any,
    train: Sequence[Sequence[RoleWord]],
    test: Sequence[Sequence[RoleWord]],
    kind: str = "tag",
    penalty: float = 1.0,
    seed: int = 0,
) -> Iterator[Probe]:
    """Yield the probe of each layer, from the embeddings up.

    kind: "tag" or "entity". All hidden states are computed once.
    Raises ValueError for an unknown kind.
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}")
    names, classes = layers(model), len(KINDS[kind])
    read = [
        word_states(model, tokenizer, [text_of(story) for story in part], names)
        for part in (train, test)
    ]
    words = [[word for own in texts for word in own] for texts, _ in read]
    truth = [numbers_of(part, kind) for part in (train, test)]
    control = [control_labels(own, truth[0], seed) for own in words]
    for name in names:
        states = [own[name] for _, own in read]
        yield Probe(
            name,
            _accuracy(states, truth, classes, penalty),
            _accuracy(states, control, classes, penalty),
        )


def _accuracy(
    states: Sequence[Tensor], labels: Sequence[Tensor], classes: int, penalty: float
) -> float:
    last = fit(states[0], labels[0], classes, penalty)
    given = (states[1] @ last.weight.T + last.bias).argmax(1)
    return (given == labels[1]).double().mean().item()
