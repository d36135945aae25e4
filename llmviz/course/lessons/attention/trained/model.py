"""One story, two questions: what the last token does in every head, and heads put from one pass
into the other.

L layers, H heads, T tokens, D head size, V vocabulary. Torch is imported on first use.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from llmviz.sampling.steps import softmax

if TYPE_CHECKING:
    from llmviz.corpus import Lookup
    from llmviz.models import GPT
    from llmviz.tokenizers import Tokenizer

MOVERS = 4  # heads that are looked at, and swapped

Head = tuple[int, int]  # layer, head


class Look(NamedTuple):
    """The last token of a text in every head, out of one forward pass."""

    ids: tuple[int, ...]  # (T,)
    queries: np.ndarray  # (L, H, D) of the last token
    keys: np.ndarray  # (L, H, T, D)
    scores: np.ndarray  # (L, H, T)
    scaled: np.ndarray  # (L, H, T)
    weights: np.ndarray  # (L, H, T)
    outputs: np.ndarray  # (L, H, D) the last token's context
    logits: np.ndarray  # (V,)

    def of_all_scores(self, head: Head) -> bool:
        """Whether a head's weights are the softmax of all scaled scores, none of them masked."""
        found = softmax(self.scaled[head].astype(np.float64))
        return np.allclose(found, self.weights[head], atol=1e-3)


class LookPair(NamedTuple):
    """A story asked for one thing and for the other."""

    story: Lookup
    looks: tuple[Look, Look]
    shared: int  # tokens with which both begin
    moved: np.ndarray  # (L, H) share of the weight that lies on other tokens in the second

    @property
    def movers(self) -> list[Head]:
        """The heads whose weights move most, the one that moves most first."""
        order = np.argsort(-self.moved, axis=None, kind="stable")[:MOVERS]
        return [divmod(int(at), self.moved.shape[1]) for at in order]


def fitting_stories(tokenizer: Tokenizer, context_length: int, count: int) -> list[Lookup]:
    """Return those of `count` stories that fit a context and whose answers are single tokens."""
    from llmviz.corpus import lookups

    encode = tokenizer.encode
    return [
        lookup
        for lookup in lookups(count)
        if all(len(encode(answer)) == 1 for answer in lookup.answers)
        and all(len(encode(prompt)) < context_length for prompt in lookup.prompts)
    ]


def look(model: GPT, ids: Sequence[int]) -> Look:
    """Return what the last token of a text asks and gets, in every head."""
    import torch

    from llmviz.nn.attention import share_heads
    from llmviz.trace import record

    parts = ("k", "q", "scores", "scaled", "weights", "output")
    with torch.inference_mode(), record([f"blocks.*.attn.{part}" for part in parts]) as trace:
        logits = model(torch.tensor([list(ids)]), last_only=True)[0][0, -1]
    layers = range(model.config.n_layer)
    keys, *rows = (
        torch.stack([trace[f"blocks.{i}.attn.{part}"][0] for i in layers]) for part in parts
    )
    query, scores, scaled, weights, outputs = (part[:, :, -1].numpy() for part in rows)
    shared = share_heads(keys, model.config.n_head).numpy()
    return Look(tuple(ids), query, shared, scores, scaled, weights, outputs, logits.numpy())


def pair_of(story: Lookup, first: Look, second: Look) -> LookPair:
    """Return the two looks with what they share and how far each head's weights move.

    first and second end with different questions, so they differ somewhere.
    """
    from llmviz.nn.attention.study import moved

    both = zip(first.ids, second.ids, strict=False)
    shared = next(i for i, (a, b) in enumerate(both) if a != b)
    return LookPair(story, (first, second), shared, moved(first.weights, second.weights, shared))


def logits_with_heads_of(
    model: GPT, ids: Sequence[int], other: Look, heads: Iterable[Head]
) -> np.ndarray:
    """Return the last logits (V,) on `ids` where heads give the last token what they give it in
    another text."""
    import torch

    from llmviz.nn.attention import heads_given

    given: dict[tuple[int | str, int], torch.Tensor]
    given = {head: torch.tensor(other.outputs[head]) for head in heads}
    with torch.inference_mode(), heads_given(given):
        return model(torch.tensor([list(ids)]), last_only=True)[0][0, -1].numpy()
