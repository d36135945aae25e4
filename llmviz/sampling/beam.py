"""Beam search with its whole tree: every branch that was scored, and why it was left.

Shapes: W beam width, T time, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import torch

from llmviz.nn.cache import KVCache
from llmviz.sampling.generation import as_ids, can_cache, check_cache, vocabulary_of
from llmviz.sampling.pipeline import top_ids

ROWS = 4096  # rows that go through the model at once


@dataclass
class BeamNode:
    """One token in the tree. Node 0 is the prompt and has no token.

    `log_probability` is the model's for this token (nats), `total` the sum from the prompt to
    here, `score` = total / length^length_penalty. `status`: "kept" while it lives on (or the
    search ended with it alive), "finished" when its token is the stop id, "pruned" when it was
    scored and not taken, "abandoned" when it was taken and everything after it was pruned.
    """

    index: int
    parent: int | None
    token: int | None
    depth: int
    log_probability: float
    total: float
    score: float
    status: str = "pruned"


@dataclass
class BeamTree:
    """All nodes of a search, by index; `finals` are the kept ends of it, the best score first.

    `hidden` maps a node to (number, probability) of its continuations that have no node.
    """

    nodes: list[BeamNode]
    finals: list[int] = field(default_factory=list)
    hidden: dict[int, tuple[int, float]] = field(default_factory=dict)

    @property
    def best(self) -> BeamNode:
        """The end with the highest score."""
        return self.nodes[self.finals[0]]

    def path(self, node: BeamNode | int) -> list[BeamNode]:
        """Return the nodes from the first token to this node, without the prompt's."""
        current = self.nodes[node] if isinstance(node, int) else node
        ids = []
        while current.parent is not None:
            ids.append(current)
            current = self.nodes[current.parent]
        return ids[::-1]

    def tokens(self, node: BeamNode | int | None = None) -> list[int]:
        """Return the token ids that lead to a node, by default to the best."""
        return [n.token for n in self.path(self.best if node is None else node)]


def length_normalised(total: float, length: int, length_penalty: float) -> float:
    """Return the score of a continuation: total log-probability / length^length_penalty.

    0 leaves the sum as it is, which favours short texts; 1 is the mean per token.

    Reference: Wu et al. 2016, equation 14, in the simpler form (no constant 5).
    """
    return total / length**length_penalty if length else total


def beam_search(
    model: torch.nn.Module,
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
    for what, value in (("beam_width", beam_width), ("max_new_tokens", max_new_tokens)):
        if value < 1:
            raise ValueError(f"{what} must be 1 or more; got {value}")
    if not math.isfinite(length_penalty):
        raise ValueError(f"length_penalty must be a finite number; got {length_penalty}")
    prompt = as_ids(idx, vocabulary_of(model))
    check_cache(cache, prompt)
    shown = beam_width + 2 if shown is None else shown
    tree = BeamTree([BeamNode(0, None, None, 0, 0.0, 0.0, 0.0, "kept")])
    living, finished, beginnings = [0], [], _Beginnings(model, cache)
    for depth in range(1, max_new_tokens + 1):
        rows = torch.tensor([prompt + tree.tokens(node) for node in living])
        log_probabilities = beginnings.next(rows, [tree.nodes[node].parent for node in living])
        totals = np.array([tree.nodes[node].total for node in living])[:, None] + log_probabilities
        taken = _best(totals, beam_width)
        chosen = _grow(tree, living, log_probabilities, totals, taken, shown, depth, length_penalty)
        beginnings.were(living)
        living = []
        for node in chosen:
            tree.nodes[node].status = "finished" if tree.nodes[node].token == stop_id else "kept"
            (finished if tree.nodes[node].token == stop_id else living).append(node)
        if not living or _settled(
            tree, living, finished, beam_width, max_new_tokens, length_penalty
        ):
            break
    tree.finals = sorted(finished + living, key=lambda node: (-tree.nodes[node].score, node))
    _mark_abandoned(tree)
    return tree


class _Beginnings:
    """What a model with a cache has read of the living beginnings, a row of the cache each."""

    def __init__(self, model: torch.nn.Module, cache: KVCache | None) -> None:
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


def _mark_abandoned(tree: BeamTree) -> None:
    alive = {node.index for final in tree.finals for node in tree.path(final)}
    for node in tree.nodes[1:]:
        if node.status == "kept" and node.index not in alive:
            node.status = "abandoned"


def next_log_probabilities(
    model: torch.nn.Module, rows: torch.Tensor, cache: KVCache | None = None
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


def _best(totals: np.ndarray, width: int) -> list[tuple[int, int]]:
    """Return (beam, token) of the `width` highest totals (W, V), the highest first."""
    flat = totals.ravel()
    return [divmod(int(i), totals.shape[1]) for i in top_ids(flat, width) if flat[i] > -math.inf]


def _grow(
    tree: BeamTree,
    living: list[int],
    log_probabilities: np.ndarray,
    totals: np.ndarray,
    taken: list[tuple[int, int]],
    shown: int,
    depth: int,
    length_penalty: float,
) -> list[int]:
    """Add this step's nodes to the tree and return those of `taken`, in its order."""
    node_of: dict[tuple[int, int], int] = {}
    for beam, parent in enumerate(living):
        order = top_ids(log_probabilities[beam], shown)
        tokens = {int(t): None for t in order} | {t: None for b, t in taken if b == beam}
        for token in tokens:
            total = float(totals[beam, token])
            node_of[beam, token] = len(tree.nodes)
            tree.nodes.append(
                BeamNode(
                    index=len(tree.nodes),
                    parent=parent,
                    token=token,
                    depth=depth,
                    log_probability=float(log_probabilities[beam, token]),
                    total=total,
                    score=length_normalised(total, depth, length_penalty),
                )
            )
        mass = float(np.exp(log_probabilities[beam, list(tokens)]).sum())
        rest = log_probabilities.shape[1] - len(tokens)
        tree.hidden[parent] = (rest, max(0.0, 1.0 - mass) if rest else 0.0)
    return [node_of[pair] for pair in taken]


def _settled(
    tree: BeamTree,
    living: list[int],
    finished: list[int],
    beam_width: int,
    max_new_tokens: int,
    length_penalty: float,
) -> bool:
    """Return whether no living beam can reach the `beam_width` best finished ones any more."""
    if len(finished) < beam_width:
        return False
    worst = sorted((tree.nodes[node].score for node in finished), reverse=True)[beam_width - 1]
    # Totals only fall, so the best a beam can do is to stay as it is at the kindest length.
    ahead = range(tree.nodes[living[0]].depth + 1, max_new_tokens + 1)
    highest = max(tree.nodes[node].total for node in living)
    return all(length_normalised(highest, n, length_penalty) <= worst for n in ahead)
