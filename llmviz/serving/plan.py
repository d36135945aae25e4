"""What an engine is going to compute in a step. No torch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from llmviz.serving.sequences import Sequence

# A token; for a hypothesis of a beam search the log-probabilities (V,) of all tokens; or a problem.
Draw = int | np.ndarray | ValueError


@dataclass(slots=True)
class Plan:
    """One step: which tokens of which sequences are computed, after which blocks were moved.

    decode: sequences whose last token is computed. prefill: (sequence, start, count), tokens
    start to start + count − 1 of each. padding: ended sequences whose last token is computed once
    more. padding_tokens: further tokens for nobody, that pad the prompts of a whole batch.
    draws: the sequences that get a token, each with the row whose logits it is drawn from; rows
    are numbered through decode, then prefill.

    Blocks are moved in this order: swap_out (block, host block), copies (from, to), swap_in (host
    block, block).

    hypotheses: noted once the step is computed, of each beam search that made a step: (sequence,
    the one whose text it goes on with, token) of each hypothesis that lives.
    """

    decode: list[Sequence] = field(default_factory=list)
    prefill: list[tuple[Sequence, int, int]] = field(default_factory=list)
    padding: list[Sequence] = field(default_factory=list)
    padding_tokens: int = 0
    draws: list[tuple[int, Sequence]] = field(default_factory=list)
    swap_out: list[tuple[int, int]] = field(default_factory=list)
    copies: list[tuple[int, int]] = field(default_factory=list)
    swap_in: list[tuple[int, int]] = field(default_factory=list)
    admitted: list[str] = field(default_factory=list)
    preempted: list[str] = field(default_factory=list)
    swapped_out: list[str] = field(default_factory=list)
    swapped_in: list[str] = field(default_factory=list)
    hypotheses: list[tuple[str, str, int]] = field(default_factory=list)
    shared: int = 0

    @property
    def empty(self) -> bool:
        """Whether there is nothing to compute."""
        return not (self.decode or self.prefill)

    @property
    def tokens(self) -> int:
        """How many tokens are computed, padding included."""
        return (
            len(self.decode)
            + sum(count for _, _, count in self.prefill)
            + len(self.padding)
            + self.padding_tokens
        )


@runtime_checkable
class Runner(Protocol):
    """What computes a plan: the model, or a stand-in for it.

    `compute` moves the blocks and computes all tokens; `draw` then gives a token for each of
    plan.draws, in that order (for a hypothesis of a beam search the log-probabilities), or a
    ValueError where none can be drawn: that sequence alone fails, or its beam search.
    `check` raises ValueError for a request that it cannot compute, `clear` empties blocks of a
    sequence that failed, and `forget` is told of a sequence that has ended.
    """

    def check(self, request: Any) -> None: ...

    def compute(self, plan: Plan) -> Any: ...  # what `draw` is given

    def draw(self, plan: Plan, computed: Any) -> list[Draw]: ...

    def clear(self, blocks: Iterable[int]) -> None: ...

    def forget(self, sequence: Sequence) -> None: ...
