"""Runs on a chart: bundled, one's own, kept; which there are, their curves, what they face."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from llmviz.components.curves.view import Line, RunCurve, View, curves, view_of
from llmviz.lessons.training import run_view_words as words
from llmviz.lessons.training.loss_unit import PAIR, blind, counted, note, units
from llmviz.models.catalogue import able
from llmviz.training import run_folders
from llmviz.training.config import Plan
from llmviz.training.curves import (
    AXES,
    KEPT_POINTS,
    Curve,
    CurveFile,
    in_unit,
    points_each,
    smooth,
    thin,
)
from llmviz.training.forks import fork_of
from llmviz.training.reading import (
    CONFIG,
    TOKENIZER,
    plan_in,
    read_description,
    read_tokenizer,
    steps_saved,
)
from llmviz.training.references import KEY, References, references_again
from llmviz.ui import engine, runs
from llmviz.ui.rerun import once
from llmviz.ui.selectable_models import card_of
from llmviz.ui.state import PageState

FIRST = "names-gpt"  # what is looked at before there is a run of one's own
POLL = 1.0  # seconds between two looks at a run that goes on


@dataclass(frozen=True)
class Shown:
    """A run that can be drawn: its name in links, its folder, its config.json, its curve."""

    name: str
    folder: Path
    description: dict[str, Any]
    curve: Curve

    @property
    def is_bundled(self) -> bool:
        """Whether it comes with the project."""
        return not self.name.startswith(run_folders.PREFIX)

    @property
    def label(self) -> str:
        """What it is called on the chart."""
        return label(self.name)

    @property
    def steps(self) -> int:
        """Updates that it is to make."""
        return self.description["train"].get("steps", 0)

    @property
    def counted(self) -> str:
        """Over what its loss is a mean: a token, or a pair of words."""
        return counted(self.description)

    @property
    def plan(self) -> Plan | None:
        """What it trains on what, if it can be trained again."""
        return plan_in(self.description)

    @property
    def fork(self) -> dict[str, Any] | None:
        """Where it was forked, if it was."""
        return fork_of(self.description)

    def saved(self) -> list[int]:
        """The steps of the checkpoints that it has."""
        return [step for step, _ in steps_saved(self.folder)]


def available() -> list[str]:
    """The names of all runs that can be drawn: this visitor's, the kept ones, the bundled ones."""
    own = [run_folders.PREFIX + run.name for run in runs.mine()]
    kept = [run_folders.PREFIX + name for name in runs.kept_names()]
    return list(dict.fromkeys([*own, *kept, *engine.names()]))


def folder_of(name: str) -> Path:
    """Where a run lies. Raises ValueError in one line where there is none."""
    if name.startswith(run_folders.PREFIX):
        return run_folders.find_run(name)
    if name not in engine.names():
        raise ValueError(f"there is no run {name[:80]!r} here")
    return engine.CHECKPOINTS / name


@once
def read(name: str) -> Shown:
    """A run as it stands now. Raises ValueError in one line where it cannot be read."""
    folder = folder_of(name)
    return Shown(name, folder, description_of(folder), _file(str(folder)).read())


@once
def description_of(folder: Path) -> dict[str, Any]:
    """A run's config.json, read once as long as it stays the same; nobody may change it.

    Raises CheckpointError where it cannot be read.
    """
    try:
        about = (folder / CONFIG).stat()
    except OSError:  # what is wrong is said by reading it
        return read_description(folder)
    return _described(str(folder), about.st_mtime_ns, about.st_size, about.st_ino)


@lru_cache(maxsize=512)
def _described(folder: str, changed: int, size: int, file: int) -> dict[str, Any]:
    return read_description(Path(folder))


@st.cache_resource(max_entries=256, show_spinner=False)
def _file(folder: str) -> CurveFile:
    return CurveFile(Path(folder))


def label(name: str) -> str:
    """What a run is called: a visitor's by its number and content, others by their name."""
    plain = run_folders.split_name(name)[0]
    known = runs.manager().run(plain) if name.startswith(run_folders.PREFIX) else None
    if known is not None:
        return runs.label(known)
    return words.PRIVATE if run_folders.is_private(name) else plain


def is_growing(name: str) -> bool:
    """Whether a run may get more points by itself; also one that has none yet."""
    if not name.startswith(run_folders.PREFIX):
        return False
    known = runs.manager().run(run_folders.split_name(name)[0])
    if known is not None:
        return known.active
    try:
        return run_folders.is_written(run_folders.find_run(name))
    except ValueError:  # deleted in between
        return False


def references_of(shown: Shown) -> tuple[References, str] | None:
    """What a run's loss is held against, and the text that was counted; None where unknown."""
    data = shown.description["data"]
    corpus = runs.corpus_label(data["corpus"])
    if KEY in data:
        counted = References.from_dict(data[KEY]), corpus
    else:
        model = shown.description["model"]["name"]
        if not able(model, "next_token") or shown.plan is None:
            return None
        try:
            stamps = _stamps(shown.folder)
        except OSError:  # without its tokenizer nothing can be counted
            return None
        counted = _counted(str(shown.folder), stamps)
    return _with_floor_of_card(counted, shown) if counted and shown.is_bundled else counted


@once
def _stamps(folder: Path) -> tuple[int, ...]:
    return tuple((folder / name).stat().st_mtime_ns for name in (CONFIG, TOKENIZER))


def _with_floor_of_card(counted: tuple[References, str], shown: Shown) -> tuple[References, str]:
    """A bundled model's card knows the floor of all texts that the model was scored on."""
    card = card_of(shown.name)  # a short run that went wrong on purpose has none there
    if card is None or "floor" not in card:
        return counted
    floor, documents = card["floor"]["nats_per_token"], card["score"]["documents"]
    return replace(counted[0], floor=floor, floor_documents=documents), counted[1]


@st.cache_data(max_entries=64, show_spinner=False)
def _counted(folder: str, stamps: tuple[int, ...]) -> tuple[References, str] | None:
    try:
        plan = plan_in(read_description(Path(folder)))
        if plan is None:
            return None
        return references_again(plan.to_dict(), read_tokenizer(Path(folder)))
    except (ValueError, OSError):  # a corpus that is not here any more: no lines, then
        return None


def lines_of(known: References | None) -> list[Line]:
    """The lines that a run's loss is held against, in nats per token; none where unknown."""
    if known is None:
        return []
    values = {
        "uniform": known.uniform,
        "unigram": known.unigram,
        "bigram": known.bigram,
        "floor": known.floor,
    }
    return [
        Line(words.LINES[name], value, floor=name == "floor")
        for name, value in values.items()
        if value is not None
    ]


def _lines(main: Shown, known: References | None) -> list[Line]:
    if main.counted == PAIR:
        return [Line(words.BLIND, blind(main.description))]
    return lines_of(known)


def chart(
    drawn: Sequence[Shown],
    view: View,
    *,
    key: str,
    main: int = 0,
    at: int | None = None,
    weights: Sequence[float] = (),
    offered: Sequence[str] = (),
    on_view: Callable[[], None] | None = None,
    on_at: Callable[[], None] | None = None,
    colours: Sequence[int] | None = None,
    hidden: Sequence[str] | None = None,
    on_hidden: Callable[[], None] | None = None,
) -> None:
    """Draw runs over one axis, with the lines that the main one is held against.

    weights: of smoothing, that the hand may choose among where `offered` has "mean".
    """
    limit = points_each(len(drawn))
    faced = [found[0] if (found := references_of(shown)) else None for shown in drawn]
    stops = tuple(sorted({*weights, view.mean} - {0.0}))
    made = [
        _drawn(
            shown.name,
            shown.label,
            colours[i] if colours else i,
            shown.curve,
            float(in_unit(1.0, "bits", known.tokens_per_byte if known else 1.0)),
            stops,
            limit,
        )
        for i, (shown, known) in enumerate(zip(drawn, faced, strict=True))
    ]
    curves(
        made,
        key=key,
        axes={
            "x": words.AXES,
            "y": units(shown.counted for shown in drawn),
            "lr": words.LR,
            "grad": words.GRADIENT,
        },
        words=words.PICTURE,
        lines=_lines(drawn[main], faced[main]),
        main=main,
        at=at,
        view=view,
        weights=stops,
        offered=offered,
        notes={
            "thinned": _thinned(drawn, limit),
            "smoothed": words.SMOOTHED,
            "bytes": "" if all(faced) else words.NO_BYTES,
            "counted": note(shown.counted for shown in drawn),
        },
        on_view=on_view,
        on_at=on_at,
        hidden=hidden,
        on_hidden=on_hidden,
    )


def take_view(state: PageState, key: str, slots: Mapping[str, str]) -> None:
    """Put what the hand chose on a chart into a page's controls; `slots` says which is where.

    What no link could say is left alone: a browser may send anything.
    """
    for name, value in view_of(key).items():
        slot = slots.get(name)
        if slot is None or value == state[slot]:
            continue
        param = state.params[slot]
        try:
            written = param.write(value)
            state[slot] = param.default if written is None else param.read(written)
        except (TypeError, ValueError, AttributeError):
            continue


@lru_cache(maxsize=256)
def _drawn(
    name: str,
    label: str,
    colour: int,
    curve: Curve,
    bits: float,
    weights: tuple[float, ...],
    limit: int,
) -> RunCurve:
    """One run's arrays; the means are over all points, and then thinned with them."""
    kept = thin(curve.train, limit)
    measured = np.flatnonzero(~np.isnan(curve.validation))
    means = [smooth(curve.train, weight)[kept] for weight in weights]
    return RunCurve(
        name=name,
        label=label,
        colour=colour,
        bits=bits,
        steps=curve.steps[kept],
        tokens=curve.tokens[kept],
        seconds=curve.seconds[kept],
        train=curve.train[kept],
        means=np.array(means).reshape(len(weights), len(kept)),
        measured={axis: curve.column(axis)[measured] for axis in AXES},
        validation=curve.validation[measured],
        lr=curve.lr[kept],
        grad_norm=curve.grad_norm[kept],
        rate=curve.rate[kept],
        samples=[(int(curve.steps[i]), text) for i, text in curve.samples],
    )


def _thinned(drawn: Sequence[Shown], limit: int) -> str:
    longest = max(shown.curve.lines for shown in drawn)
    if longest > KEPT_POINTS:
        return words.LONG.format(points=longest, kept=KEPT_POINTS)
    return "" if longest <= limit else words.THINNED.format(limit=limit, points=longest)


def polled(draw: Callable[[], None], growing: bool) -> None:
    """Draw now, and again each second while something grows.

    `draw` calls `st.rerun()` itself once nothing grows any more, which ends the polling.
    """
    st.fragment(draw, run_every=POLL if growing else None)()
