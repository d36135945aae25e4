"""The model of an engine: computes a plan's tokens and draws the next one of each sequence."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from llmviz.sampling import SamplingSettings, SamplingSteps
from llmviz.sampling.steps import check_ids, check_top_k
from llmviz.serving.paged_model import PagedModel, drawing_rows
from llmviz.serving.plan import Draw, Plan
from llmviz.serving.requests import Request, check_request
from llmviz.serving.sequences import Sequence
from llmviz.serving.settings import ServingConfig

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT

GREEDY, PLAIN, STEPS = "greedy", "plain", "steps"


class _Drawing(NamedTuple):
    """How a sequence draws: its kind, and its random numbers, one for each new token."""

    kind: str
    numbers: list[float]


class ModelRunner:
    """A GPT as an engine needs it. Raises ValueError for a model that `PagedModel` refuses."""

    def __init__(self, model: GPT, config: ServingConfig):
        swaps = config.preemption == "swap"
        self.paged = PagedModel(
            model,
            config.n_blocks,
            config.block_size,
            config.host_blocks if swaps else 0,
            rows=config.max_batch,
        )
        self._drawings: dict[str, _Drawing] = {}

    def check(self, request: Request) -> None:
        """Raise ValueError for unknown tokens or a request longer than the context."""
        config = self.paged.config
        check_request(request, config.vocab_size, config.context_length)
        if request.sampling.top_k is not None:
            check_top_k(request.sampling.top_k, config.vocab_size)
        banned = check_ids(request.sampling.banned, config.vocab_size, "banned")
        if len(banned) == config.vocab_size:
            raise ValueError(f"all {config.vocab_size} tokens are banned; allow one of them")

    def compute(self, plan: Plan) -> np.ndarray:
        """Logits (rows, V) of the rows that draw."""
        return self.paged.compute(plan).cpu().numpy()

    def clear(self, blocks: Iterable[int]) -> None:
        """Fill some blocks with zeros."""
        self.paged.memory.clear(blocks)

    def draw(self, plan: Plan, computed: np.ndarray) -> list[Draw]:
        """A token for each draw: the same that `generate` gives with the sample's own seed.

        A ValueError where a draw's logits are no numbers.
        """
        if not plan.draws:
            return []
        number_of = drawing_rows(plan)
        tokens: list[Draw] = [0] * len(plan.draws)
        greedy: list[int] = []
        plain: dict[float, list[int]] = {}
        drawings, rows = [], []
        for place, (row, sequence) in enumerate(plan.draws):
            drawing = self._drawings.get(sequence.name)
            if drawing is None:
                drawing = self._drawings[sequence.name] = _drawing(sequence)
            drawings.append(drawing)
            rows.append(number_of[row])
            if drawing.kind == GREEDY:
                greedy.append(place)
            elif drawing.kind == PLAIN:
                plain.setdefault(sequence.request.sampling.temperature, []).append(place)
            else:
                settings = sequence.request.sampling
                previous = sequence.tokens if settings.reads_previous else None
                try:
                    steps = SamplingSteps(computed[rows[place]], settings, previous)
                    tokens[place] = steps.draw(_number(drawing, sequence))
                except ValueError as problem:
                    tokens[place] = problem

        def together(places: list[int], draw: Callable[[list[int]], list[int]]) -> None:
            """Draw for some places at once, or one by one where that is refused."""
            try:
                drawn_now: list[Draw] = [*draw(places)]
            except ValueError as problem:
                if len(places) > 1:
                    for place in places:
                        together([place], draw)
                    return
                drawn_now = [problem]
            for place, token in zip(places, drawn_now, strict=True):
                tokens[place] = token

        def by_temperature(temperature: float, places: list[int]) -> list[int]:
            numbers = [_number(drawings[place], plan.draws[place][1]) for place in places]
            return drawn(computed[[rows[place] for place in places]], temperature, numbers)

        if greedy:
            together(greedy, lambda places: most_probable(computed, [rows[i] for i in places]))
        for temperature, places in plain.items():
            together(places, partial(by_temperature, temperature))
        return tokens

    def forget(self, sequence: Sequence) -> None:
        """Drop the random numbers of a sequence that has ended."""
        self._drawings.pop(sequence.name, None)


def _drawing(sequence: Sequence) -> _Drawing:
    kind = kind_of_drawing(sequence.request.sampling)
    if kind == GREEDY:  # no random number changes it
        return _Drawing(kind, [])
    generator = torch.Generator().manual_seed(sequence.request.seed + sequence.sample)
    count = sequence.request.max_new_tokens
    return _Drawing(kind, torch.rand(count, generator=generator, dtype=torch.float64).tolist())


def _number(drawing: _Drawing, sequence: Sequence) -> float:
    return drawing.numbers[len(sequence.tokens) - sequence.prompt_length]


def kind_of_drawing(settings: SamplingSettings) -> str:
    """Whether the most probable token is taken, or one by temperature alone, or by more steps."""
    active = [name for name in settings.order if settings.active(name)]
    if active == ["temperature"] and settings.temperature == 0:
        return GREEDY
    plain = not set(active) - {"temperature"} and settings.strip == "id"
    return PLAIN if plain and 1e-3 <= settings.temperature < float("inf") else STEPS


def most_probable(logits: np.ndarray, rows: list[int]) -> list[int]:
    """The id of the largest logit of some rows of (N, V), the lowest where some are equal.

    Raises ValueError for logits that are no numbers.
    """
    logits = logits if len(rows) == len(logits) and rows == [*range(len(rows))] else logits[rows]
    best = logits.argmax(axis=1)
    highest = logits[np.arange(len(rows)), best]
    if not np.isfinite(highest).all():
        raise ValueError(f"logits must be finite; got {highest[~np.isfinite(highest)][0]}")
    return best.tolist()


def drawn(logits: np.ndarray, temperature: float, numbers: list[float]) -> list[int]:
    """Tokens of logits (N, V) by temperature alone, each by its random number.

    The same arithmetic as `SamplingSteps`, all rows at once. Raises ValueError for logits that
    are no numbers.
    """
    scaled = logits.astype(np.float64)
    scaled /= temperature
    highest = scaled.max(axis=1, keepdims=True)
    if not np.isfinite(highest).all():
        raise ValueError(f"logits must be finite; got {highest[~np.isfinite(highest)][0]}")
    scaled -= highest
    np.exp(scaled, out=scaled)
    scaled /= scaled.sum(axis=1, keepdims=True)
    ends = np.cumsum(scaled, axis=1)
    ends /= ends[:, -1:]
    return [int(row.searchsorted(u, side="right")) for row, u in zip(ends, numbers, strict=True)]
