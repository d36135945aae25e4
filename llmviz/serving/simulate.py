"""The same engine with a stand-in for the model, so that a run of any size needs no model.

The stand-in keeps a memory of blocks as the model does, but of token ids instead of keys and
values. The next token follows from what it reads there: a block that was lost, or given to two,
gives another text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from llmviz.config import Config, setting
from llmviz.serving.plan import Draw, Plan
from llmviz.serving.record import RunClock, record
from llmviz.serving.recording import EngineStep, Recording
from llmviz.serving.requests import Request, check_request
from llmviz.serving.sequences import Sequence
from llmviz.serving.settings import ServingConfig

NOTHING = -1  # in a slot that was never written
_MIX, _MASK = 0x9E3779B97F4A7C15, 2**64 - 1


@dataclass(frozen=True)
class CostModel(Config):
    """How long a step takes, as a sum of what is computed in it; all in seconds.

    Reference: Agrawal et al. 2024, "Vidur", which predicts the time of each operation by random
    forests; here one sum stands for the whole step.
    """

    step: float = setting(1e-3, "of every step", "seconds", 0)
    token: float = setting(5e-5, "of each token computed", "seconds", 0)
    stored: float = setting(1e-7, "of each stored token that is read", "seconds", 0)

    def __post_init__(self) -> None:
        self.require_not_negative("step", "token", "stored")

    def seconds(self, tokens: int, stored: int) -> float:
        """Of a step that computes so many tokens and reads so many stored ones."""
        return self.step + self.token * tokens + self.stored * stored

    @classmethod
    def fitted(cls, steps: Iterable[EngineStep]) -> CostModel:
        """The costs with which the sum is nearest to the measured steps (least squares, none < 0).

        Raises ValueError for fewer than three steps that computed something.
        """
        used = [step for step in steps if step.tokens]
        if len(used) < 3:
            raise ValueError(f"three steps at least are needed to fit three costs; got {len(used)}")
        terms = np.array([[1.0, step.tokens, stored_tokens(step)] for step in used])
        measured = np.array([step.end - step.begin for step in used])
        kept = [0, 1, 2]
        while True:
            costs, *_ = np.linalg.lstsq(terms[:, kept], measured, rcond=None)
            if (costs >= 0).all() or len(kept) == 1:
                break
            kept.pop(int(costs.argmin()))
        values = np.zeros(3)
        values[kept] = np.maximum(costs, 0)
        return cls(*map(float, values))


def stored_tokens(step: EngineStep) -> int:
    """How many stored tokens the rows of a step read, each row those in front of its own."""
    return sum(row.start for row in step.rows)


class SimulatedModel:
    """A `Runner` whose next token is a number computed from all tokens in the sequence's blocks.

    vocab_size: tokens are from 0 to vocab_size − 1. context_length: None for no limit. clock: is
    moved on by the costs, where there are any.
    """

    def __init__(
        self,
        config: ServingConfig,
        vocab_size: int = 100,
        context_length: int | None = None,
        costs: CostModel | None = None,
        clock: RunClock | None = None,
    ):
        self.vocab_size, self.context_length = vocab_size, context_length
        self.size = config.block_size
        self.memory = [[NOTHING] * config.block_size for _ in range(config.n_blocks)]
        self.host = [[NOTHING] * config.block_size for _ in range(config.host_blocks)]
        self._costs, self._clock = costs, clock

    def check(self, request: Request) -> None:
        """Raise ValueError for an unknown token or a request longer than the context."""
        check_request(request, self.vocab_size, self.context_length)

    def compute(self, plan: Plan) -> list[int]:
        """Move the blocks, store the tokens; return for each row the sum that tells its next."""
        for block, host in plan.swap_out:
            self.host[host] = list(self.memory[block])
        for source, target in plan.copies:
            self.memory[target] = list(self.memory[source])
        for host, block in plan.swap_in:
            self.memory[block] = list(self.host[host])
        sums = [self._read(sequence, sequence.computed, 1) for sequence in plan.decode]
        sums += [self._read(sequence, start, count) for sequence, start, count in plan.prefill]
        if self._costs is not None and self._clock is not None:
            stored = sum(sequence.computed for sequence in (*plan.decode, *plan.padding))
            stored += sum(start for _, start, _ in plan.prefill)
            self._clock.skip_to(self._clock() + self._costs.seconds(plan.tokens, stored))
        return sums

    def draw(self, plan: Plan, computed: list[int]) -> list[Draw]:
        """A token for each draw, from its row's sum and the seed of its sample."""
        return [
            next_token(computed[row], sequence.request.seed + sequence.sample, self.vocab_size)
            if sequence.beams is None
            else log_probabilities(computed[row], self.vocab_size)
            for row, sequence in plan.draws
        ]

    def clear(self, blocks: Iterable[int]) -> None:
        """Empty some blocks."""
        for block in blocks:
            self.memory[block] = [NOTHING] * self.size

    def forget(self, sequence: Sequence) -> None:
        """Nothing is kept of a sequence."""

    def _read(self, sequence: Sequence, start: int, count: int) -> int:
        size, table = self.size, sequence.table
        for place in range(start, start + count):
            self.memory[table[place // size]][place % size] = sequence.tokens[place]
        return mixed(self.memory[table[place // size]][place % size] for place in range(place + 1))


def mixed(tokens: Iterable[int]) -> int:
    """One number from token ids and their order."""
    total = 1
    for token in tokens:
        total = ((total ^ (token + 2)) * _MIX) & _MASK
        total ^= total >> 29
    return total


def next_token(total: int, seed: int, vocab_size: int) -> int:
    """The token that the stand-in draws after tokens whose `mixed` is `total`."""
    return mixed((total & 0xFFFFFFFF, total >> 32, seed)) % vocab_size


def log_probabilities(total: int, vocab_size: int) -> np.ndarray:
    """The log-probabilities (V,) that the stand-in gives beam search after such tokens."""
    logits = 2 * np.random.default_rng(total).standard_normal(vocab_size)
    logits -= logits.max()
    return logits - np.log(np.exp(logits).sum())


def simulate(
    requests: Iterable[Request], config: ServingConfig, costs: CostModel | None = None
) -> Recording:
    """A whole run with the stand-in: real scheduling, made-up tokens, seconds as `costs` says.

    A sequence always runs to its most tokens unless a stop id comes up.
    """
    requests = tuple(requests)
    costs = CostModel() if costs is None else costs
    clock = RunClock(lambda: 0.0)
    vocab = 1 + max((max(request.prompt) for request in requests), default=0)
    model = SimulatedModel(config, max(vocab, 100), None, costs, clock)
    return Recording(config, requests, tuple(record(model, requests, config, clock)))


def replay(
    recording: Recording, config: ServingConfig | None = None, costs: CostModel | None = None
) -> Recording:
    """The requests of a recorded run once more, simulated with other settings.

    costs: those that fit the recording, if left out. A sequence that had stopped early stops
    after as many tokens here.
    """
    ended = recording.outcomes
    requests = []
    for request in recording.requests:
        lengths = [
            len(ended[name].tokens)
            for name in map(request.name, range(request.texts))
            if name in ended and ended[name].tokens
        ]
        values = request.to_dict() | {"stop_ids": []}
        if lengths:
            values["max_new_tokens"] = max(lengths)
        requests.append(Request.from_dict(values))
    costs = CostModel.fitted(recording.steps) if costs is None else costs
    return simulate(requests, recording.config if config is None else config, costs)
