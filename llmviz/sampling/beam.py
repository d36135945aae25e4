"""Beam search of a model; `beam_tree` has the rules by which hypotheses go on.

Shapes: W beam width, T time, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import torch

from llmviz.models.base import LanguageModel
from llmviz.nn.cache import KVCache
from llmviz.sampling.beam_tree import BeamSearch, BeamTree
from llmviz.sampling.generation import as_ids, can_cache, check_cache, vocabulary_of

ROWS = 4096  # rows that go through the model at once


def beam_search(
    model: LanguageModel,
    idx: torch.Tensor | Iterable[int],
    beam_width: int = 3,
    max_new_tokens: int = 8,
    length_penalty: float = 0.0,
    stop_id: int | None = None,
    shown: int | None = None,
    cache: KVCache | None = None,
) -> BeamTree:
    """Search for the most probable continuation, keeping `beam_width` of them at each step.

    Every living beam is continued by all V tokens and the best `beam_width` of all that are
    taken; a stop token ends a beam and frees its place. The tree has a node for the `shown` most
    probable continuations of each beam (default: beam_width + 2) and for every one taken; how
    many others there were stands in `hidden`. Equal scores: the older beam, then the lower id.
    The search ends early only when no living beam can still beat the worst of `beam_width`
    finished ones. Of a model with a cache only what is new is computed; `cache` is what
    `NextLogits.read_before` gave after the prompt, which is then not read again. Past the context
    length the window slides.

    Raises: ValueError for an empty prompt, a width or number of tokens below 1, or a cache that
    holds more than the prompt.
    """
    steps = beam_steps(
        model, idx, beam_width, max_new_tokens, length_penalty, stop_id, shown, cache
    )
    *_, tree = steps
    return tree


def beam_steps(
    model: LanguageModel,
    idx: torch.Tensor | Iterable[int],
    beam_width: int = 3,
    max_new_tokens: int = 8,
    length_penalty: float = 0.0,
    stop_id: int | None = None,
    shown: int | None = None,
    cache: KVCache | None = None,
) -> Iterator[BeamTree]:
    """Search as `beam_search` does; yield the tree, which grows, after each of its steps.

    Raises: what `beam_search` raises, before the first step.
    """
    stop_ids = () if stop_id is None else (stop_id,)
    search = BeamSearch(beam_width, max_new_tokens, length_penalty, stop_ids, shown)
    prompt = as_ids(idx, vocabulary_of(model))
    check_cache(cache, prompt)
    return _steps(search, prompt, _Beginnings(model, cache))


def _steps(search: BeamSearch, prompt: list[int], beginnings: _Beginnings) -> Iterator[BeamTree]:
    tree = search.tree
    while not search.over:
        living = search.living
        rows = torch.tensor([prompt + tree.tokens(node) for node in living])
        log_probabilities = beginnings.next(rows, [tree.nodes[node].parent for node in living])
        beginnings.were(living)
        search.step(log_probabilities)
        yield tree


class _Beginnings:
    """What a model with a cache has read of the living beginnings, a row of the cache each."""

    def __init__(self, model: LanguageModel, cache: KVCache | None) -> None:
        self.model = model
        self.cache: KVCache | None = None
        if can_cache(model):
            self.cache = model.new_cache() if cache is None else cache.copy()
        self._row_of: dict[int | None, int] = {None: 0}  # of each node that was gone on from

    def were(self, nodes: list[int]) -> None:
        """Note which nodes the last rows stood for."""
        self._row_of = {node: row for row, node in enumerate(nodes)}

    def next(self, rows: torch.Tensor, parents: list[int | None]) -> np.ndarray:
        """Log-probabilities (W, V) after each row (W, T), which goes on from a node of before."""
        if rows.shape[1] > self.model.context_length or len(rows) > ROWS:
            self.cache = None  # every token has another position now; or more than is kept
        if self.cache is not None:
            self.cache.select(torch.tensor([self._row_of[parent] for parent in parents]))
        return next_log_probabilities(self.model, rows, self.cache)


def next_log_probabilities(
    model: LanguageModel, rows: torch.Tensor, cache: KVCache | None = None
) -> np.ndarray:
    """Return log-probabilities (W, V) in float64 for the token after each row of ids (W, T).

    cache: of W rows, with what the model has read of them; it then reads the rest alone, W is at
    most `ROWS` and T at most the context length. Without one the window slides past the context
    length. The model's mode is left as it was.
    """
    window = rows[:, -model.context_length :] if cache is None else rows[:, cache.length :]
    device = next((p.device for p in model.parameters()), torch.device("cpu"))
    # A model with a cache can also leave out the logits that are not needed.
    options: dict[str, object] = {"last_only": True} if hasattr(model, "new_cache") else {}
    if cache is not None:
        options["cache"] = cache
    training = model.training
    if training:  # each of the two walks through all modules
        model.eval()
    try:
        with torch.inference_mode():
            logits = [
                model(some.to(device), **options)[0][:, -1].double().cpu()
                for some in window.split(ROWS)
            ]
    finally:
        if training:
            model.train()
    return torch.log_softmax(torch.cat(logits), dim=-1).numpy()
