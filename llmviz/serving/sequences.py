"""A sequence on its way through an engine: what is written, what is computed, where it lies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmviz.serving.requests import FAILED, LENGTH, STOP, Outcome, Request

if TYPE_CHECKING:
    from llmviz.serving.beams import Beams


class Sequence:
    """One sample of a request, or one hypothesis of its beam search.

    tokens: prompt and what was written so far. computed: of how many the keys and values are in
    memory. decodes: whether only the last token written is still to be computed. table: its
    blocks. own_room: how many tokens fit into them, so that it need not ask for a place before; 0
    where others may hold its last block. host: its blocks in the second memory while it is swapped
    out. order: its age; the lower is the older. reason: why it ended, or None; problem: where it
    failed, what was wrong. beams: the search that a hypothesis belongs to; idle: whether its row is
    computed for nobody, since no hypothesis has it now; score: of a beam, at the end of the search.
    """

    __slots__ = (
        *("request", "sample", "name", "order", "tokens", "prompt_length", "computed", "decodes"),
        *("table", "host", "reason", "problem", "stop_ids", "most", "will_fork"),
        *("remembered", "own_room", "beams", "idle", "score"),
    )

    def __init__(self, request: Request, sample: int, number: int):
        self.request, self.sample = request, sample
        self.name = request.name(sample)
        self.order = number, sample
        self.tokens = list(request.prompt)
        self.prompt_length = len(self.tokens)
        self.computed = self.own_room = 0
        self.decodes = False
        self.table: list[int] = []
        self.host: list[int] = []
        self.reason: str | None = None
        self.problem = ""
        self.stop_ids = request.stop_ids
        self.most = self.prompt_length + request.max_new_tokens
        self.will_fork = False  # its first tick with a token makes the other samples
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
        """How many rows of a batch it takes: those of the samples still to be made count."""
        if self.beams is not None:
            return self.beams.rows_of(self)
        return self.request.n if self.will_fork else 1

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
