"""The model of an engine: computes a plan's tokens and draws the next one of each sequence."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
    from llmviz.models.base import LanguageModel

GREEDY, PLAIN, STEPS, BEAMS = "greedy", "plain", "steps", "beams"


class _Drawing(NamedTuple):
    """How a sequence draws: its kind, and its random numbers, one for each new token."""

    kind: str
    numbers: list[float]


class ModelRunner:
    """A GPT as an engine needs it. Raises ValueError for a model that `PagedModel` refuses."""

    def __init__(self, model: LanguageModel, config: ServingConfig):
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

        For a hypothesis of a beam search its log-probabilities (V,). A ValueError where a draw's
        logits are no numbers.
        """
        if not plan.draws:
            return []
        number_of = drawing_rows(plan)
        sequences = [sequence for _, sequence in plan.draws]
        rows = [number_of[row] for row, _ in plan.draws]
        drawings = [self._drawing_of(sequence) for sequence in sequences]

        def most_probable_of(places: list[int]) -> list[int]:
            return most_probable(computed, [rows[place] for place in places])

        def by_temperature(places: list[int]) -> list[int]:
            numbers = [_number(drawings[place], sequences[place]) for place in places]
            temperature = sequences[places[0]].request.sampling.temperature
            return drawn(computed[[rows[place] for place in places]], temperature, numbers)

        def by_steps(places: list[int]) -> list[int]:
            return [
                _by_steps(computed[rows[place]], drawings[place], sequences[place])
                for place in places
            ]

        def of_beams(places: list[int]) -> list[np.ndarray]:
            banned = sequences[places[0]].request.sampling.banned
            return [*log_probabilities(computed[[rows[place] for place in places]], banned)]

        ways: dict[str, Callable[[list[int]], Iterable[Draw]]] = {
            GREEDY: most_probable_of,
            PLAIN: by_temperature,
            STEPS: by_steps,
            BEAMS: of_beams,
        }
        groups: dict[tuple[str, object], list[int]] = {}
        for place, (drawing, sequence) in enumerate(zip(drawings, sequences, strict=True)):
            together: object = None  # what those that are drawn at once must have in common
            if drawing.kind == PLAIN:
                together = sequence.request.sampling.temperature
            elif drawing.kind == BEAMS:
                together = sequence.request.sampling.banned
            groups.setdefault((drawing.kind, together), []).append(place)
        tokens: list[Draw] = [0] * len(sequences)
        for (kind, _), places in groups.items():
            for place, token in zip(places, _draws(ways[kind], places), strict=True):
                tokens[place] = token
        return tokens

    def _drawing_of(self, sequence: Sequence) -> _Drawing:
        held = self._drawings.get(sequence.name)
        if held is None:
            held = self._drawings[sequence.name] = _drawing(sequence)
        return held

    def forget(self, sequence: Sequence) -> None:
        """Drop the random numbers of a sequence that has ended."""
        self._drawings.pop(sequence.name, None)


def _drawing(sequence: Sequence) -> _Drawing:
    if sequence.beams is not None:
        return _Drawing(BEAMS, [])
    kind = kind_of_drawing(sequence.request.sampling)
    if kind == GREEDY:  # no random number changes it
        return _Drawing(kind, [])
    generator = torch.Generator().manual_seed(sequence.request.seed + sequence.sample)
    count = sequence.request.max_new_tokens
    return _Drawing(kind, torch.rand(count, generator=generator, dtype=torch.float64).tolist())


def _draws(way: Callable[[list[int]], Iterable[Draw]], places: list[int]) -> list[Draw]:
    """Draw for all places at once, or one by one where that is refused."""
    try:
        return [*way(places)]
    except ValueError as problem:
        if len(places) == 1:
            return [problem]
    return [token for place in places for token in _draws(way, [place])]


def _by_steps(logits: np.ndarray, drawing: _Drawing, sequence: Sequence) -> int:
    """A token of logits (V,) by all the steps of the request's sampling."""
    settings = sequence.request.sampling
    previous = sequence.tokens if settings.reads_previous else None
    return SamplingSteps(logits, settings, previous).draw(_number(drawing, sequence))


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


def log_probabilities(logits: np.ndarray, banned: Iterable[int]) -> np.ndarray:
    """Natural logarithms (N, V) of the probabilities of logits (N, V), in float64, without banned.

    Raises ValueError for logits that are no numbers.
    """
    wide = torch.from_numpy(logits).double()
    if not wide.isfinite().all():
        raise ValueError(f"logits must be finite; got {wide[~wide.isfinite()][0]:g}")
    wide[:, list(banned)] = float("-inf")
    return torch.log_softmax(wide, dim=-1).numpy()
