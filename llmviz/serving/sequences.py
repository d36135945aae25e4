"""A sequence on its way through an engine: what is written, what is computed, where it lies.

In a beam search each hypothesis is a sequence, and they share blocks. After every step some are
dropped and others go on in several ways. One that goes on twice gives its block table to both, and
nothing is copied before one of them writes into the last, partly filled block. In a batch that goes
on as a whole each row has memory of its own; there, what differs is copied at once. No torch.

Reference: Kwon et al. 2023, "Efficient Memory Management for Large Language Model Serving with
PagedAttention", section 4.4.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from llmviz.sampling import BeamSearch
from llmviz.serving.blocks import BlockManager, common_length
from llmviz.serving.requests import FAILED, LENGTH, STOP, Outcome, Request


class Sequence:
    """One sample of a request, or one hypothesis of its beam search.

    tokens: prompt and what was written so far. computed: of how many the keys and values are in
    memory. decodes: whether only the last token written is still to be computed. table: its
    blocks. allocated_slots: how many tokens fit into them, so that it need not ask before; 0
    where others may hold its last block. host: its blocks in the second memory while it is swapped
    out. order: its age; the lower is the older. turn: of those of its client that wait the lower
    goes first. forks: other samples that go on from its prompt once it has read it. reason: why it
    ended, or None; problem: where it failed, what was wrong. beams: the search that a hypothesis
    belongs to; idle: whether its row is computed for nobody, since no hypothesis has it now; score:
    of a beam, at the end of the search.
    """

    __slots__ = (
        *("request", "sample", "name", "order", "tokens", "prompt_length", "computed", "decodes"),
        *("table", "host", "reason", "problem", "stop_ids", "most", "turn", "forks"),
        *("remembered", "allocated_slots", "beams", "idle", "score"),
    )

    def __init__(self, request: Request, sample: int, number: int):
        self.request, self.sample = request, sample
        self.name = request.name(sample)
        self.order = number, sample
        self.tokens = list(request.prompt)
        self.prompt_length = len(self.tokens)
        self.computed = self.allocated_slots = 0
        self.decodes = False
        self.table: list[int] = []
        self.host: list[int] = []
        self.reason: str | None = None
        self.problem = ""
        self.stop_ids = request.stop_ids
        self.most = self.prompt_length + request.max_new_tokens
        self.turn = 0
        self.forks: list[Sequence] = []
        self.remembered = 0  # how many of its blocks were offered to later prompts
        self.beams: Beams | None = None
        self.idle = False
        self.score: float | None = None

    @property
    def room(self) -> int:
        """For how many tokens places were given, once it was planned: not for what ends it."""
        return len(self.tokens) if self.reason is None else self.computed

    @property
    def rows(self) -> int:
        """How many rows of a batch it takes: those of the samples that it reads for count."""
        return 1 + len(self.forks) if self.beams is None else self.beams.rows_of(self)

    @property
    def written(self) -> bool:
        """Whether it has a token of its own already."""
        return len(self.tokens) > self.prompt_length

    @property
    def unit(self) -> list[Sequence]:
        """What joins the batch and leaves it together, the lower sample first."""
        return [self] if self.beams is None else self.beams.sequences

    def append(self, token: int) -> bool:
        """Write a token; return whether that ends it."""
        tokens = self.tokens
        tokens.append(token)
        self.decodes = True
        if token in self.stop_ids:
            self.reason = STOP
            return True
        if len(tokens) >= self.most:
            self.reason = LENGTH
            return True
        return False

    def write(self, token: int) -> None:
        """Write a token that does not end it: a beam search says itself when it ends."""
        self.tokens.append(token)
        self.decodes = True

    def fail(self, problem: str) -> None:
        """End it, since no token can be drawn for it."""
        self.reason, self.problem = FAILED, problem

    def outcome(self) -> Outcome:
        """What came of it. Raises ValueError while it goes on."""
        if self.reason is None:
            raise ValueError(f"sequence {self.name!r} has not ended")
        written = tuple(self.tokens[self.prompt_length :]) if self.beams is None else ()
        return Outcome(self.request.id, self.sample, written, self.reason, self.problem, self.score)


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

    def note(self, sequence: Sequence, draw: int | np.ndarray | ValueError) -> None:
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


class Beginning(NamedTuple):
    """How the table of a sequence begins that is going to join: with so many `blocks` of others.

    known: those that are there already; or sibling: one that joins with it and begins alike.
    """

    known: list[int]
    sibling: Sequence | None
    blocks: int


def beginnings(blocks: BlockManager, unit: list[Sequence]) -> list[Beginning]:
    """For each sequence the blocks that it finds, and those that it shares with one before it.

    Beams that were pushed out begin alike. The first of them computes what they share, in the same
    step at the latest: it comes first in every plan.
    """
    begin = []
    for number, sequence in enumerate(unit):
        known = blocks.find(sequence.tokens)
        beginning = Beginning(known, None, len(known))
        for other in unit[:number]:
            equal = common_length(other.tokens, sequence.tokens) // blocks.block_size
            if equal > beginning.blocks:
                beginning = Beginning([], other, equal)
        begin.append(beginning)
    return begin


def blocks_needed(blocks: BlockManager, unit: list[Sequence], begin: list[Beginning]) -> int:
    """How many free blocks it takes to let a unit join; those that are known may be free, too."""
    needed, unused = 0, set()
    for sequence, beginning in zip(unit, begin, strict=True):
        needed += -(-len(sequence.tokens) // blocks.block_size) - beginning.blocks
        for block in beginning.known:
            if not blocks.owners[block]:
                unused.add(block)
    return needed + len(unused)


def new_blocks(blocks: BlockManager, unit: list[Sequence]) -> int:
    """How many blocks these need for their last tokens; the last owner of one need not copy it."""
    size = blocks.block_size
    roomy = [member for member in unit if len(member.tokens) <= len(member.table) * size]
    written = Counter(member.table[-1] for member in roomy)
    grow = len(unit) - len(roomy)
    return grow + sum(count - (blocks.owners[block] == count) for block, count in written.items())
