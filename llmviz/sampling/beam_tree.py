"""Beam search without a model: which hypotheses go on, and the whole tree. No torch.

Shapes: W living hypotheses, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from llmviz.sampling.pipeline import top_ids


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
        path = self.path(self.best if node is None else node)
        return [step.token for step in path if step.token is not None]


def length_normalised(total: float, length: int, length_penalty: float) -> float:
    """Return the score of a continuation: total log-probability / length^length_penalty.

    0 leaves the sum as it is, which favours short texts; 1 is the mean per token.

    Reference: Wu et al. 2016, equation 14, in the simpler form (no constant 5).
    """
    return total / length**length_penalty if length else total


class BeamSearch:
    """A search that is given the log-probabilities of its hypotheses, one step after the other.

    Every living hypothesis is continued by all V tokens, and the best `beam_width` of all that are
    taken; a stop token ends a hypothesis and frees its place. Equal totals: the older hypothesis,
    then the lower id. The search ends early only when no living one can still beat the worst of
    `beam_width` finished ones.

    tree: what was scored so far; it has a node for the `shown` most probable continuations of each
    hypothesis (default: beam_width + 2) and for every one taken. living: the nodes that go on, the
    best first. over: whether the search has ended, and `tree.finals` stand.

    Raises: ValueError for a width or number of tokens below 1, or a penalty that is not finite.
    """

    def __init__(
        self,
        beam_width: int = 3,
        max_new_tokens: int = 8,
        length_penalty: float = 0.0,
        stop_ids: Collection[int] = (),
        shown: int | None = None,
    ) -> None:
        for what, value in (("beam_width", beam_width), ("max_new_tokens", max_new_tokens)):
            if value < 1:
                raise ValueError(f"{what} must be 1 or more; got {value}")
        if not math.isfinite(length_penalty):
            raise ValueError(f"length_penalty must be a finite number; got {length_penalty}")
        self.tree = BeamTree([BeamNode(0, None, None, 0, 0.0, 0.0, 0.0, "kept")])
        self.living = [0]
        self.over = False
        self._width, self._most = beam_width, max_new_tokens
        self._penalty, self._stop_ids = length_penalty, stop_ids
        self._shown = beam_width + 2 if shown is None else shown
        self._finished: list[int] = []
        self._depth = 0

    def step(self, log_probabilities: np.ndarray) -> list[int]:
        """Go on from all living hypotheses; log_probabilities: (W, V), in their order.

        Returns for each one that lives after it the place of its parent among those before.
        """
        before, nodes = self.living, self.tree.nodes
        self._depth += 1
        totals = np.array([nodes[node].total for node in before])[:, None] + log_probabilities
        taken = _best(totals, self._width)
        chosen = self._grow(log_probabilities, totals, taken)
        self.living, parents = [], []
        for node, (beam, token) in zip(chosen, taken, strict=True):
            if token in self._stop_ids:
                nodes[node].status = "finished"
                self._finished.append(node)
            else:
                nodes[node].status = "kept"
                self.living.append(node)
                parents.append(beam)
        if not self.living or self._depth == self._most or self._settled():
            self._end()
        return parents

    def _grow(
        self, log_probabilities: np.ndarray, totals: np.ndarray, taken: list[tuple[int, int]]
    ) -> list[int]:
        """Add this step's nodes to the tree and return those of `taken`, in its order."""
        tree, node_of = self.tree, {}
        for beam, parent in enumerate(self.living):
            order = top_ids(log_probabilities[beam], self._shown) if self._shown else ()
            tokens = {int(t): None for t in order} | {t: None for b, t in taken if b == beam}
            for token in tokens:
                total = float(totals[beam, token])
                node_of[beam, token] = len(tree.nodes)
                tree.nodes.append(
                    BeamNode(
                        index=len(tree.nodes),
                        parent=parent,
                        token=token,
                        depth=self._depth,
                        log_probability=float(log_probabilities[beam, token]),
                        total=total,
                        score=length_normalised(total, self._depth, self._penalty),
                    )
                )
            mass = float(np.exp(log_probabilities[beam, list(tokens)]).sum())
            rest = log_probabilities.shape[1] - len(tokens)
            tree.hidden[parent] = (rest, max(0.0, 1.0 - mass) if rest else 0.0)
        return [node_of[pair] for pair in taken]

    def _settled(self) -> bool:
        """Whether no living hypothesis can reach the best `beam_width` finished ones any more."""
        nodes = self.tree.nodes
        if len(self._finished) < self._width:
            return False
        scores = sorted((nodes[node].score for node in self._finished), reverse=True)
        worst = scores[self._width - 1]
        # Totals only fall, so the best one can do is to stay as it is at the kindest length.
        ahead = range(self._depth + 1, self._most + 1)
        highest = max(nodes[node].total for node in self.living)
        return all(length_normalised(highest, n, self._penalty) <= worst for n in ahead)

    def _end(self) -> None:
        """Order what is left, and mark what was taken in vain."""
        tree, self.over = self.tree, True
        ends = self._finished + self.living
        tree.finals = sorted(ends, key=lambda node: (-tree.nodes[node].score, node))
        alive = {node.index for final in tree.finals for node in tree.path(final)}
        for node in tree.nodes[1:]:
            if node.status == "kept" and node.index not in alive:
                node.status = "abandoned"


def _best(totals: np.ndarray, width: int) -> list[tuple[int, int]]:
    """Return (beam, token) of the `width` highest totals (W, V), the highest first."""
    flat = totals.ravel()
    return [divmod(int(i), totals.shape[1]) for i in top_ids(flat, width) if flat[i] > -math.inf]
