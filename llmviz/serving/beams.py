"""A beam search in an engine: each hypothesis is a sequence, and they share blocks. No torch.

After every step some hypotheses are dropped and others go on in several ways. One that goes on
twice gives its block table to both, and nothing is copied before one of them writes into the last,
partly filled block. In a batch that goes on as a whole each row has memory of its own; there, what
differs is copied at once.

Reference: Kwon et al. 2023, "Efficient Memory Management for Large Language Model Serving with
PagedAttention", section 4.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from llmviz.sampling import BeamSearch
from llmviz.serving.blocks import common_length
from llmviz.serving.plan import Draw, Plan
from llmviz.serving.requests import LENGTH, STOP, Request
from llmviz.serving.sequences import Sequence

if TYPE_CHECKING:
    from llmviz.serving.scheduler import Scheduler


class Beams:
    """The beam search of a request.

    number: of the request, by age. whole_batch: whether every place of the search is a row of its
    own from the start.

    sequences: those in the engine, the lower sample first; they are scheduled together. living:
    those that stand for a hypothesis, the best first.
    """

    def __init__(self, request: Request, number: int, *, whole_batch: bool):
        self.request, self.number = request, number
        self.search = BeamSearch(
            request.texts, request.max_new_tokens, request.length_penalty, request.stop_ids, shown=0
        )
        count = request.texts if whole_batch else 1
        self.sequences = [Sequence(request, sample, number) for sample in range(count)]
        for sequence in self.sequences:
            sequence.beams, sequence.idle = self, sequence.sample > 0
        self.living = self.sequences[:1]
        self.drawn: dict[Sequence, np.ndarray] = {}  # log-probabilities of those computed already
        self.problem = ""

    def rows_of(self, sequence: Sequence) -> int:
        """How many rows a sequence takes: the first one's are also those of places still empty."""
        empty = self.request.texts - len(self.sequences)
        return 1 + empty if sequence is self.sequences[0] else 1

    def note(self, sequence: Sequence, draw: Draw) -> None:
        """Keep what was drawn for a hypothesis."""
        if isinstance(draw, ValueError):
            self.problem = self.problem or str(draw)
        elif not isinstance(draw, int):
            self.drawn[sequence] = draw

    def step(self) -> list[tuple[Sequence, int]]:
        """Go on, once all that live are computed.

        Returns for each hypothesis from now on the sequence that it goes on from, and its token.
        """
        before, nodes = self.living, self.search.tree.nodes
        parents = self.search.step(np.stack([self.drawn[sequence] for sequence in before]))
        self.drawn.clear()
        tokens = [nodes[node].token for node in self.search.living]
        pairs = zip(parents, tokens, strict=True)
        return [(before[place], token) for place, token in pairs if token is not None]

    def texts(self) -> list[Sequence]:
        """What came of it, the best score first; each has failed where the search has."""
        tree = self.search.tree
        ended = [
            Sequence(self.request, sample, self.number) for sample in range(self.request.texts)
        ]
        finals = [] if self.problem else tree.finals
        for text, final in zip(ended, finals, strict=False):
            node = tree.nodes[final]
            text.tokens += tree.tokens(final)
            text.reason = STOP if node.status == "finished" else LENGTH
            text.score = node.score
        for text in ended[len(finals) :]:
            text.fail(self.problem or "no further text has a probability above 0")
        return ended


def most_blocks(request: Request, block_size: int, *, whole_batch: bool) -> int:
    """How many blocks the texts of a beam search hold at once, at most.

    Full blocks of the prompt are shared by all, unless each row has memory of its own.
    """
    each = -(-request.most_tokens // block_size)
    shared = 0 if whole_batch else len(request.prompt) // block_size
    return shared + request.texts * (each - shared)


def advance_search(scheduler: Scheduler, beams: Beams, plan: Plan) -> list[Sequence]:
    """Make a step of the search, if all that live are computed; return its texts at the end."""
    if beams.problem:
        for sequence in beams.sequences:
            scheduler.blocks.forget(sequence.table)
    else:
        if len(beams.drawn) < len(beams.living):
            return []
        wanted = beams.step()
        if not beams.search.over:
            _go_on(scheduler, beams, wanted, plan)
            return []
    for sequence in beams.sequences:
        if scheduler.policy.whole_batches:  # its row stays as padding
            sequence.reason = LENGTH
        else:
            scheduler.end(sequence)
    return beams.texts()


def _go_on(
    scheduler: Scheduler, beams: Beams, wanted: list[tuple[Sequence, int]], plan: Plan
) -> None:
    """Give each hypothesis a sequence: its parent's own, or, where that is taken, another."""
    parents = {parent for parent, _ in wanted}
    dropped = [sequence for sequence in beams.sequences if sequence not in parents]
    if not scheduler.policy.whole_batches:
        for sequence in dropped:
            scheduler.drop(sequence)
        kept = {parent.sample for parent in parents}
        places = iter([sample for sample in range(beams.request.texts) if sample not in kept])
    beams.living = []
    for parent, _ in wanted:
        sequence = parent
        if parent not in parents:  # taken by a better hypothesis
            if scheduler.policy.whole_batches:
                sequence = dropped.pop(0)
                _copy(scheduler, parent, sequence)
            else:
                sequence = _fork(scheduler, parent, next(places))
        parents.discard(parent)
        beams.living.append(sequence)
    for sequence, (parent, token) in zip(beams.living, wanted, strict=True):
        sequence.write(token)
        plan.hypotheses.append((sequence.name, parent.name, token))
    if scheduler.policy.whole_batches:
        for sequence in beams.sequences:
            sequence.idle = sequence not in beams.living
    else:
        beams.sequences = sorted(beams.living, key=lambda sequence: sequence.sample)


def _fork(scheduler: Scheduler, parent: Sequence, sample: int) -> Sequence:
    """A further sequence that goes on from a hypothesis, on the same blocks."""
    sequence = Sequence(parent.request, sample, parent.order[0])
    sequence.beams, sequence.tokens = parent.beams, list(parent.tokens)
    scheduler.join(sequence, parent)
    return sequence


def _copy(scheduler: Scheduler, parent: Sequence, sequence: Sequence) -> None:
    """Let a row that no hypothesis has go on from one: its blocks become like those."""
    size, end = scheduler.config.block_size, parent.computed
    equal = common_length(parent.tokens[:end], sequence.tokens[: sequence.computed])
    differ = slice(equal // size, -(-end // size)) if equal < end else slice(0)
    scheduler.copy_later(parent.table[differ], sequence.table[differ])
    sequence.tokens = list(parent.tokens)
    sequence.computed = parent.computed
