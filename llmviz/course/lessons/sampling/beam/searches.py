"""The searches of chapter "Beam search", kept: a control that is moved back costs nothing."""

from collections.abc import Sequence
from typing import Any

from llmviz.course.lessons.sampling.beam.growing_beam import GrowingBeam
from llmviz.course.lessons.sampling.beam.model import Compared, compare
from llmviz.course.lessons.sampling.source import Prompted, cache_after
from llmviz.course.ui import engine, kit
from llmviz.sampling import BeamTree, beam_steps, exhaustive_search


def searched(prompt: Prompted, width: int, depth: int, penalty: float = 0.0) -> BeamTree:
    """Return the tree of a beam search behind the prompt."""
    return growing(prompt, width, depth, penalty).whole()


def growing(prompt: Prompted, width: int, depth: int, penalty: float = 0.0) -> GrowingBeam:
    """Return the search behind the prompt, the same one for all visitors."""
    return _beam(*_key(prompt), width, depth, penalty)


def compared(prompt: Prompted, depth: int, widths: Sequence[int]) -> Compared:
    """Return all continuations of the prompt beside the finds of a beam of each width."""
    return _compared(*_key(prompt), depth, tuple(widths))


def _key(prompt: Prompted) -> tuple[Any, ...]:
    return prompt.bundled, prompt.ids, prompt.stop_id


@kit.kept(128)
def _beam(
    bundled: engine.Bundled,
    ids: tuple[int, ...],
    stop_id: int | None,
    width: int,
    depth: int,
    penalty: float,
) -> GrowingBeam:
    model, cache = bundled.model, cache_after(bundled, ids)
    steps = beam_steps(
        model, list(ids), width, depth, penalty, stop_id, shown=max(2, width), cache=cache
    )
    return GrowingBeam(steps)


@kit.kept(32)
def _compared(
    bundled: engine.Bundled,
    ids: tuple[int, ...],
    stop_id: int | None,
    depth: int,
    widths: tuple[int, ...],
) -> Compared:
    every = exhaustive_search(bundled.model, list(ids), depth, stop_id=stop_id)
    return compare(
        every, lambda width: _beam(bundled, ids, stop_id, width, depth, 0.0).whole(), widths
    )
