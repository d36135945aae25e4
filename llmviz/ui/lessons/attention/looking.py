"""What the last token of a story asks, head by head, and what it does when heads say otherwise.

L layers, H heads, T tokens, D head size, V vocabulary.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from llmviz.corpus import Lookup, lookups
from llmviz.nn.attention import heads_given
from llmviz.nn.attention.study import moved
from llmviz.sampling.steps import softmax
from llmviz.trace import record
from llmviz.ui import engine
from llmviz.ui.kept import kept
from llmviz.ui.lessons.attention.real import stamp

STORIES = 16
SHOWN = 4  # heads that are shown, and swapped

Head = tuple[int, int]  # layer, head


class Look(NamedTuple):
    """The last token of a text in every head, out of one forward pass."""

    ids: tuple[int, ...]  # (T,)
    queries: np.ndarray  # (L, H, D) what it asks with
    keys: np.ndarray  # (L, H, T, D) what it asks
    scores: np.ndarray  # (L, H, T)
    scaled: np.ndarray  # (L, H, T)
    weights: np.ndarray  # (L, H, T)
    outputs: np.ndarray  # (L, H, D) what it is given
    logits: np.ndarray  # (V,)


class Pair(NamedTuple):
    """A story asked for one thing and for the other."""

    story: Lookup
    looks: tuple[Look, Look]
    shared: int  # tokens with which both begin
    moved: np.ndarray  # (L, H) share of the weight that lies elsewhere in them

    @property
    def movers(self) -> list[Head]:
        """The heads whose weights move most, first the most."""
        order = np.argsort(-self.moved, axis=None, kind="stable")[:SHOWN]
        return [divmod(int(at), self.moved.shape[1]) for at in order]


@kept(8)
def stories(name: str, stamp: str) -> list[Lookup]:
    """Return stories that fit a model's context and whose answers are single tokens of it."""
    bundled = engine.load(name)
    encode, context = bundled.tokenizer.encode, bundled.model.context_length
    return [
        one
        for one in lookups(STORIES)
        if all(len(encode(answer)) == 1 for answer in one.answers)
        and all(len(encode(prompt)) < context for prompt in one.prompts)
    ]


def pair(bundled: engine.Bundled, story: Lookup) -> Pair:
    """Return a story as the model reads it, with either question."""
    mark = stamp(bundled)
    ids = [tuple(bundled.tokenizer.encode_from_start(prompt)) for prompt in story.prompts]
    first, second = (look(bundled.name, mark, one) for one in ids)
    shared = next(i for i, (a, b) in enumerate(zip(*ids, strict=False)) if a != b)
    return Pair(story, (first, second), shared, moved(first.weights, second.weights, shared))


@kept(32)
def look(name: str, stamp: str, ids: tuple[int, ...]) -> Look:
    """Return what the last token of a text asks and gets."""
    model = engine.load(name).model
    parts = ("k", "q", "scores", "scaled", "weights", "output")
    with torch.inference_mode(), record([f"blocks.*.attn.{part}" for part in parts]) as trace:
        logits = model(torch.tensor([ids]), last_only=True)[0][0, -1]
    layers = range(model.config.n_layer)
    keys, *rows = (
        torch.stack([trace[f"blocks.{i}.attn.{part}"][0] for i in layers]) for part in parts
    )
    query, *rest = (part[:, :, -1].numpy() for part in rows)
    return Look(ids, query, keys.numpy(), *rest, logits.numpy())


def chances(bundled: engine.Bundled, found: Pair) -> np.ndarray:
    """Return the probability of each answer (columns) after each question (rows), (2, 2)."""
    names = answer_ids(bundled, found.story)
    return np.stack([softmax(one.logits.astype(np.float64))[names] for one in found.looks])


def answer_ids(bundled: engine.Bundled, story: Lookup) -> list[int]:
    """Return the token of each answer."""
    return [bundled.tokenizer.encode(answer)[0] for answer in story.answers]


def after_swap(bundled: engine.Bundled, found: Pair) -> np.ndarray:
    """Return the probabilities (V,) of what follows the first question.

    The heads that move give its last token what they give that of the second question.
    """
    first, second = found.looks
    logits = _swapped(bundled.name, stamp(bundled), first.ids, second.ids, tuple(found.movers))
    return softmax(logits.astype(np.float64))


@kept(32)
def _swapped(
    name: str, stamp: str, ids: tuple[int, ...], other: tuple[int, ...], heads: tuple[Head, ...]
) -> np.ndarray:
    """Return the last logits (V,) on `ids` where heads give what they give on `other`."""
    model, outputs = engine.load(name).model, look(name, stamp, other).outputs
    given = {head: torch.tensor(outputs[head]) for head in heads}
    with torch.inference_mode(), heads_given(given):
        return model(torch.tensor([ids]), last_only=True)[0][0, -1].numpy()
