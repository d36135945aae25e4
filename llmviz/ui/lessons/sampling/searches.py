"""The searches of chapter "Beam search", kept for who moves a control back."""

from __future__ import annotations

from typing import Any

import streamlit as st

from llmviz.sampling import BeamTree, Continuations, beam_search, exhaustive_search
from llmviz.ui import engine
from llmviz.ui.lessons.sampling import source
from llmviz.ui.lessons.sampling.source import Prompted


def searched(said: Prompted, width: int, depth: int, penalty: float = 0.0) -> BeamTree:
    """Return the tree of a beam search behind the prompt."""
    return _beam(*_key(said), width, depth, penalty)


def every(said: Prompted, depth: int) -> Continuations:
    """Return all continuations of the prompt, the best first."""
    return _every(*_key(said), depth)


def _key(said: Prompted) -> tuple[Any, ...]:
    return said.bundled.name, source.stamp(said.bundled), said.ids, said.stop_id


@st.cache_resource(max_entries=128, show_spinner=False)  # only read from
def _beam(
    name: str,
    version: str,
    ids: tuple[int, ...],
    stop_id: int | None,
    width: int,
    depth: int,
    penalty: float,
) -> BeamTree:
    model = engine.load(name).model
    return beam_search(model, list(ids), width, depth, penalty, stop_id, shown=max(2, width))


@st.cache_resource(max_entries=32, show_spinner=False)  # only read from
def _every(
    name: str, version: str, ids: tuple[int, ...], stop_id: int | None, depth: int
) -> Continuations:
    return exhaustive_search(engine.load(name).model, list(ids), depth, stop_id=stop_id)
