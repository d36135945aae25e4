"""Parts of speech and names read off a language model's hidden states by one linear layer.

N words, C width, K classes, L layers. The language model is frozen and was never told of tags.
A word's state is that of its last token: in a causal model the only one that has read all of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from llmviz.corpus import generate
from llmviz.corpus.roles import ENTITY_TAGS, TAGS, RoleWord, roles, sentences, split_words
from llmviz.models.base import LanguageModel
from llmviz.trace import record
from llmviz.training.data import end_id
from llmviz.training.tensors import load_tensors, save_tensors

KINDS: dict[str, tuple[str, ...]] = {"tag": TAGS, "entity": ENTITY_TAGS}
"""What can be read off: the classes of each kind."""

ROWS = 16  # texts in one forward pass
_SEED_OFFSET = 5_000_011  # so that the stories are not those that the models have read


def layers(model: LanguageModel) -> tuple[str, ...]:
    """Return the names of the places that can be read: the embeddings and each block's output."""
    return ("embed", *(f"blocks.{i}.residual" for i in range(model.config.n_layer)))


def tagged_stories(count: int, seed: int = 0) -> list[list[RoleWord]]:
    """Return the words of `count` stories with their roles; the same ones for the same seed."""
    return [roles(document.text) for document in generate(count, seed + _SEED_OFFSET)]


@torch.no_grad()
def word_states(
    model: LanguageModel, tokenizer: Any, texts: Sequence[str], names: Sequence[str]
) -> tuple[list[list[str]], dict[str, Tensor]]:
    """Return the words of each text, and for each named layer the states of all words, (N, C).

    Each state is brought to mean 0 and variance 1, as the model's own norms do with what they read.
    A word that stands behind the model's context is read in a second piece, which begins half a
    context earlier. Raises ValueError for no text, or a text without a word.
    """
    if not texts:
        raise ValueError("there must be at least one text; got none")
    words = [split_words(text) for text in texts]
    for text, own in zip(texts, words, strict=True):
        if not own:
            raise ValueError(f"a text must hold at least one word; got {text[:40]!r}")
    pieces = [
        piece
        for text, own in zip(texts, words, strict=True)
        for piece in _pieces(tokenizer, text, own, model.context_length)
    ]
    states: dict[str, list[Tensor]] = {name: [] for name in names}
    for first in range(0, len(pieces), ROWS):
        some = pieces[first : first + ROWS]
        idx = torch.full((len(some), max(len(piece.ids) for piece in some)), end_id(tokenizer))
        for row, piece in enumerate(some):
            idx[row, : len(piece.ids)] = torch.tensor(piece.ids)
        with record(names) as trace:
            model(idx)
        for name in names:
            values = trace[name]  # (B, T, C)
            values = F.layer_norm(values, values.shape[-1:])
            states[name] += [values[row, piece.last] for row, piece in enumerate(some)]
    texts_words = [[word for word, _ in own] for own in words]
    return texts_words, {name: torch.cat(parts) for name, parts in states.items()}


class _Piece(NamedTuple):
    """Token ids that fit the context, and where in them the words to be read end."""

    ids: list[int]
    last: list[int]


def _pieces(
    tokenizer: Any, text: str, words: Sequence[tuple[str, int]], context: int
) -> Iterator[_Piece]:
    tokens = tokenizer.tokens(text)
    ends, at = [], 0
    for word, start in words:  # the token that covers the word's last character
        while tokens[at].char_end < start + len(word):
            at += 1
        ends.append(at)
    opens = len(tokenizer.start)
    room, begun = context - opens, 0
    while begun < len(ends):
        whole = not begun and ends[0] < room  # a first word may be longer than the context
        first = 0 if whole else max(0, ends[begun] - context // 2)
        inside = [end for end in ends[begun:] if end < first + room]
        ids = [token.id for token in tokens[first : inside[-1] + 1]]
        yield _Piece([*tokenizer.start, *ids], [end - first + opens for end in inside])
        begun += len(inside)


class FitStep(NamedTuple):
    """The state of a fit after a step of the solver."""

    step: int
    loss: float  # nats per word, the penalty included
    weight: Tensor  # (K, C)
    bias: Tensor  # (K,)


def fit_steps(
    states: Tensor,
    labels: Tensor,
    classes: int,
    penalty: float = 1.0,
    tolerance: float = 1e-4,
    steps: int = 100,
) -> Iterator[FitStep]:
    """Fit a linear layer by maximum likelihood, a few steps of L-BFGS at a time.

    Minimises Σ −ln p(label) + penalty/2 · Σ weight², which is scikit-learn's LogisticRegression
    with C = 1/penalty. states (N, C), labels (N,). Ends where a step gains less than the share
    `tolerance` of the loss.
    Raises ValueError for shapes that do not match or labels outside the classes.
    """
    if states.dim() != 2 or labels.shape != states.shape[:1] or not len(labels):
        raise ValueError(
            "states must have the shape (words, width) and labels one number a word; "
            f"got {tuple(states.shape)} and {tuple(labels.shape)}"
        )
    if not 0 <= labels.min() <= labels.max() < classes:
        raise ValueError(f"labels must be from 0 to {classes - 1}; got {labels.max()}")
    x = states
    weight = torch.zeros(classes, x.shape[1], dtype=x.dtype, requires_grad=True)
    bias = torch.zeros(classes, dtype=x.dtype, requires_grad=True)
    solver = torch.optim.LBFGS(
        [weight, bias], max_iter=10, tolerance_grad=1e-9, line_search_fn="strong_wolfe"
    )

    def loss() -> Tensor:
        solver.zero_grad()
        nats = F.cross_entropy(x @ weight.T + bias, labels, reduction="sum")
        total = (nats + penalty / 2 * weight.square().sum()) / len(labels)
        total.backward()
        return total

    before = float("inf")
    for step in range(1, steps + 1):
        now = float(solver.step(loss).detach())
        yield FitStep(step, now, weight.detach().clone(), bias.detach().clone())
        if before - now < tolerance * now:
            return
        before = now


def fit(states: Tensor, labels: Tensor, classes: int, penalty: float = 1.0) -> FitStep:
    """Return the last of `fit_steps`."""
    *_, last = fit_steps(states, labels, classes, penalty)
    return last


def numbers_of(stories: Sequence[Sequence[RoleWord]], kind: str) -> Tensor:
    """Return the classes of all words of some stories as numbers, int64 (N,)."""
    number = {name: k for k, name in enumerate(KINDS[kind])}
    return torch.tensor([number[getattr(word, kind)] for story in stories for word in story])


@dataclass(frozen=True)
class Tagger:
    """A linear layer for each kind of role, on the states of some layers side by side.

    heads: kind -> (weight (K, layers · C), bias (K,)).
    """

    layers: tuple[str, ...]
    heads: dict[str, tuple[Tensor, Tensor]]

    def read(
        self, model: LanguageModel, tokenizer: Any, texts: Sequence[str]
    ) -> list[list[tuple[str, str, str]]]:
        """Return (word, part of speech, BIO tag) for each word of each text."""
        words, states = word_states(model, tokenizer, texts, self.layers)
        joined = torch.cat([states[name] for name in self.layers], 1)
        classes = {
            kind: (joined @ weight.T + bias).argmax(1).tolist()
            for kind, (weight, bias) in self.heads.items()
        }
        triples, at = [], 0
        for own in words:
            rows = range(at, at + len(own))
            triples.append(
                [
                    (word, TAGS[classes["tag"][i]], ENTITY_TAGS[classes["entity"][i]])
                    for word, i in zip(own, rows, strict=True)
                ]
            )
            at += len(own)
        return triples

    def save(self, path: Path, dtype: torch.dtype | None = None) -> None:
        """Write the layers to a safetensors file."""
        tensors: dict[str, Tensor] = {}
        for kind, (weight, bias) in self.heads.items():
            place = f"{'+'.join(self.layers)}/{kind}"
            tensors |= {f"{place}.weight": weight, f"{place}.bias": bias}
        save_tensors(path, tensors, dtype)

    @classmethod
    def load(cls, path: Path) -> Tagger:
        """Read what `save` wrote; ValueError for a file that is absent, damaged or another."""
        tensors = load_tensors(path)
        place = next(iter(tensors), "").partition("/")[0]
        try:
            heads = {
                kind: (
                    tensors[f"{place}/{kind}.weight"].float(),
                    tensors[f"{place}/{kind}.bias"].float(),
                )
                for kind in KINDS
            }
        except KeyError as error:
            raise ValueError(f"{path} is no tagger: it lacks {error}") from error
        if any(len(heads[kind][1]) != len(names) for kind, names in KINDS.items()):
            raise ValueError(f"{path} is a tagger for other classes than these")
        return cls(tuple(place.split("+")), heads)


def single_sentences(stories: Sequence[Sequence[RoleWord]]) -> list[list[RoleWord]]:
    """Return every sentence of some stories as a text of its own, which begins with it."""
    return [
        [dataclasses.replace(word, start=word.start - sentence[0].start) for word in sentence]
        for story in stories
        for sentence in sentences(list(story))
    ]


def train_tagger(
    model: LanguageModel,
    tokenizer: Any,
    stories: int,
    names: Sequence[str],
    penalty: float = 1.0,
    seed: int = 0,
) -> Tagger:
    """Fit both layers on stories from the grammar, and on the sentences of half of them alone.

    A sentence that somebody types has no story before it, and its first words look different to
    the model than in the middle of one.
    """
    tagged = tagged_stories(stories, seed)
    tagged += single_sentences(tagged[: stories // 2])
    _, states = word_states(model, tokenizer, [text_of(story) for story in tagged], names)
    joined = torch.cat([states[name] for name in names], 1)
    heads = {}
    for kind, classes in KINDS.items():
        last = fit(joined, numbers_of(tagged, kind), len(classes), penalty)
        heads[kind] = (last.weight, last.bias)
    return Tagger(tuple(names), heads)


def text_of(story: Sequence[RoleWord]) -> str:
    """Return the text that the words of a story are of, each at its place."""
    text = ""
    for word in story:
        text += " " * (word.start - len(text)) + word.text
    return text
