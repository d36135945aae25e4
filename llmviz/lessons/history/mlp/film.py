"""Part of the chapter "MLP": two models learn names, with and without batch norm; their film."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from llmviz.background import WAITING, Job
from llmviz.components.scatter_film.view import LAST, Curve, scatter_film
from llmviz.figures.lines import Line, lines
from llmviz.figures.theme import Mode
from llmviz.lessons.history.mlp import words
from llmviz.lessons.history.mlp.params import SCALES
from llmviz.study.letter_film import LetterFilm, film_of, read_film
from llmviz.study.letter_map import (
    BARS,
    REACH,
    SATURATED,
    WATCHED,
    MapSettings,
    activity,
    film,
)
from llmviz.ui.code import show_code
from llmviz.ui.common import choose, percent, refuse, signed, theme
from llmviz.ui.job_pools import training_jobs
from llmviz.ui.kept import kept
from llmviz.ui.lesson import section
from llmviz.ui.prose import prose
from llmviz.ui.question import Question, predict
from llmviz.ui.state import PageState

KEY = "history.mlp.film"
RUN = f"{KEY}.run"  # in the session
POLL = 0.5  # seconds between two looks at a training that goes on
VOWELS = "aeiou"
NAMES = 7200


@dataclass
class OwnRun:
    """A training of the learner: its settings, and the film of what the job has yielded so far."""

    settings: MapSettings
    job: Job
    _film: LetterFilm | None = None
    _of: int = 0

    def film(self) -> LetterFilm | None:
        """The film so far, the same object until there is more of it; None before a frame."""
        results = list(self.job.results)
        if len(results) > 1 and len(results) != self._of:
            start, *frames = results
            self._film, self._of = film_of(start, frames), len(results)
        return self._film


def settings_of(state: PageState) -> MapSettings:
    """Return what the controls ask for."""
    return MapSettings(
        scale=float(state["firsts"]), activation=state["bend"], seed=state["mapseed"]
    )


def draw(state: PageState) -> None:
    """Show the controls and the film."""
    settings = settings_of(state)
    text = words.MAP_TEXT.format(
        names=f"{NAMES:,}",
        window=settings.window,
        hidden=settings.hidden,
        steps=settings.steps,
    )
    section(words.MAP, text)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        choose(state, "bend", words.BEND, words.BENDS, then=lambda: _reset(state))
        scales = {one: one for one in SCALES}
        choose(state, "firsts", words.SCALE, scales, then=lambda: _reset(state))
        slot = state.ranged("mapseed", then=lambda: _reset(state))
        st.number_input(words.SEED, width=120, step=1, **slot)
    run = own_run(settings)
    live = run is not None and not run.job.over
    st.fragment(_film_part, run_every=POLL if live else None)(state, settings, live)


def _reset(state: PageState) -> None:
    state["mapframe"] = -1


def own_run(settings: MapSettings) -> OwnRun | None:
    """Return this session's training if it has these settings."""
    run: OwnRun | None = st.session_state.get(RUN)
    return run if run is not None and run.settings == settings else None


def _start(state: PageState, settings: MapSettings) -> None:
    before: OwnRun | None = st.session_state.get(RUN)
    if before is not None:
        before.job.stop()
    job = training_jobs().start("llmviz.study.letter_map:film", settings=settings)
    st.session_state[RUN] = OwnRun(settings, job)
    state["mapframe"] = -1


def _film_part(state: PageState, settings: MapSettings, live: bool) -> None:
    run = own_run(settings)
    if live != (run is not None and not run.job.over):
        st.rerun()  # looking again and again begins, or ends
    if live:
        st.button(words.STOP, icon=":material/stop:", on_click=run.job.stop, key=f"{KEY}.stop")
        _progress(run)
    else:
        st.button(
            words.TRAIN if run is None else words.AGAIN,
            icon=":material/play_arrow:",
            type="primary",
            on_click=_start,
            args=(state, settings),
            key=f"{KEY}.train",
        )
    if run is not None and run.job.problem:
        if not run.job.expected:
            raise RuntimeError(run.job.problem)  # a bug, and not the learner's
        refuse(ValueError(run.job.problem))
    own = run.film() if run is not None else None
    bend = settings.activation
    if own is None:
        own = _bundled(settings, waiting=live)
        bend = MapSettings().activation
    if own is not None:
        _drawn(state, own, bend, settings if run is not None and run.film() else MapSettings())


def _progress(run: OwnRun) -> None:
    made = run.film()
    step, steps = (int(made.steps[-1]), made.total) if made else (0, run.settings.steps)
    text = words.PROGRESS.format(step=step, steps=steps) if made else words.STARTING
    st.progress(step / steps, text=words.QUEUED if run.job.state == WAITING else text)


@kept(1)
def bundled() -> LetterFilm:
    """Return the film that comes with the project. Raises ValueError where it cannot be read."""
    return read_film()


def _bundled(settings: MapSettings, waiting: bool) -> LetterFilm | None:
    try:
        made = bundled()
    except ValueError:
        if not waiting:
            st.info(words.NO_FILM, icon=":material/download:")
            st.code(words.NO_FILM_COMMAND, language=None)
        return None
    same = settings == MapSettings()
    st.caption(words.UNTIL if waiting else words.BUNDLED_SAME if same else words.BUNDLED)
    return made


def _drawn(state: PageState, made: LetterFilm, bend: str, settings: MapSettings) -> None:
    choose(state, "map", words.MAP_LABEL, words.MAPS)
    on, last = state["map"] == "on", made.frames - 1
    at = state["mapframe"] if 0 <= state["mapframe"] < last else last

    def stepped() -> None:
        step = st.session_state[KEY].get("step", LAST)
        whole = isinstance(step, int) and 0 <= step < last
        state["mapframe"] = step if whole else -1

    kinds = np.array([0 if letter in VOWELS else 1 for letter in made.letters])
    scatter_film(
        made.vectors[on],
        made.letters,
        key=KEY,
        words=words.FILM,
        kinds=kinds,
        kind_names=words.KINDS,
        lit=[0, 1],
        captions=captions(made, on),
        curve=Curve(words.LOSS, [None if np.isnan(x) else float(x) for x in made.losses[on]]),
        axes=words.FILM_AXES,
        step=LAST if at == last else at,
        on_step=stepped,
    )
    prose(map_report(made, on, at))
    _norm(made, bend, at, settings)


def captions(made: LetterFilm, on: bool) -> list[str]:
    """Return what is known at each frame, in one line."""
    return [
        words.CAPTION.format(step=int(step))
        + ("" if np.isnan(loss) else words.CAPTION_LOSS.format(loss=float(loss)))
        for step, loss in zip(made.steps, made.losses[on], strict=True)
    ]


def distances(vectors: np.ndarray, letters: tuple[str, ...]) -> tuple[float, float]:
    """Return the mean distance between two vowels, and between a vowel and a consonant.

    vectors (N, 2).
    """
    vowel = np.array([letter in VOWELS for letter in letters])
    far = np.linalg.norm(vectors[:, None].astype(float) - vectors[None], axis=-1)
    within = far[np.ix_(vowel, vowel)][np.triu_indices(int(vowel.sum()), 1)]
    return float(within.mean()), float(far[np.ix_(vowel, ~vowel)].mean())


def map_report(made: LetterFilm, on: bool, at: int) -> str:
    """Say how far vowels lie from each other and from consonants, now and at the start."""
    vowels, across = distances(made.vectors[on][at], made.letters)
    vowels_first, across_first = distances(made.vectors[on][0], made.letters)
    return words.MAP_READ.format(
        step=int(made.steps[at]),
        vowels=vowels,
        across=across,
        vowels_first=vowels_first,
        across_first=across_first,
    )


def _norm(made: LetterFilm, bend: str, at: int, settings: MapSettings) -> None:
    """Show what reaches the activation function with and without batch norm."""
    name = words.BENDS[bend]
    flat = words.FLAT[bend].format(saturated=SATURATED)
    step = int(made.steps[at])
    text = words.NORM_TEXT.format(bend=name, step=step, names=WATCHED, flat=flat)
    section(words.NORM, text)
    predict(question(made, name, settings.scale), f"{KEY}.ask")
    shares = tuple(tuple(made.counts[on][at].tolist()) for on in (True, False))
    st.plotly_chart(histograms(*shares, name, theme()), key=f"{KEY}.histograms", theme=None)
    st.caption(words.HISTOGRAM_NOTE.format(reach=REACH))
    rows = [
        [
            words.MAPS["on" if on else "off"],
            signed(float(made.mean[on][at])),
            f"{made.deviation[on][at]:.2f}",
            f"{100 * made.saturated[on][at]:.1f}",
            f"{made.dead[on][at]} of {made.units}",
            _loss(made, on, at),
        ]
        for on in (True, False)
    ]
    frame = pd.DataFrame(rows, columns=list(words.STATS))
    st.dataframe(frame, hide_index=True, width=680)
    prose(norm_report(made, name, at))
    values = tuple(tuple((100 * made.saturated[on]).tolist()) for on in (True, False))
    figure = flat_chart(tuple(made.steps.tolist()), *values, theme())
    st.plotly_chart(figure, key=f"{KEY}.flat", theme=None)
    _code(made, settings)


def _loss(made: LetterFilm, on: bool, at: int) -> str:
    loss = float(made.losses[on][at])
    return words.NO_LOSS if np.isnan(loss) else f"{loss:.3f}"


@kept(64)
def histograms(on: tuple[int, ...], off: tuple[int, ...], bend: str, mode: Mode) -> go.Figure:
    """Return the numbers before an activation function with and without batch norm, as shares."""
    width = 2 * REACH / BARS
    centres = -REACH + width * (np.arange(BARS) + 0.5)
    drawn = [
        Line(words.MAPS[name], centres, 100 * np.array(counts) / sum(counts), colour)
        for colour, (name, counts) in enumerate((("on", on), ("off", off)))
    ]
    axes = (words.HISTOGRAM[0].format(bend=bend), words.HISTOGRAM[1])
    return lines(drawn, axes, mode, hover="%{y:.2f} %", marked=False, height=300)


@kept(64)
def flat_chart(
    steps: tuple[int, ...], on: tuple[float, ...], off: tuple[float, ...], mode: Mode
) -> go.Figure:
    """Return the share of numbers where the slope is almost 0, over the training."""
    drawn = [
        Line(words.MAPS[name], steps, values, colour)
        for colour, (name, values) in enumerate((("on", on), ("off", off)))
    ]
    return lines(drawn, words.FLAT_CHART, mode, hover="%{y:.1f} %", marked=False, height=280)


def norm_report(made: LetterFilm, bend: str, at: int) -> str:
    """Say what batch norm changes at one frame."""
    losses = {on: _loss(made, on, at) for on in (True, False)}
    nats = {on: text if text == words.NO_LOSS else f"{text} nats" for on, text in losses.items()}
    return words.NORM_READ.format(
        on=percent(float(made.saturated[True][at])),
        off=percent(float(made.saturated[False][at])),
        bend=bend,
        on_dead=int(made.dead[True][at]),
        off_dead=int(made.dead[False][at]),
        units=made.units,
        on_loss=nats[True],
        off_loss=nats[False],
    )


def question(made: LetterFilm, bend: str, scale: float) -> Question:
    """Ask how much of the first weights' numbers is flat without batch norm."""
    off = float(made.saturated[False][0])
    right = int(np.searchsorted([0.1, 0.4, 0.6], off, side="right"))
    reason = words.NORM_REASON.format(off=percent(off), on=percent(float(made.saturated[True][0])))
    text = words.NORM_ASK.format(scale=f"{scale:g}", bend=bend)
    return Question(text, words.NORM_ANSWERS, right, [reason] * len(words.NORM_ANSWERS))


def _code(made: LetterFilm, settings: MapSettings) -> None:
    saturated = f"{made.saturated[False][0]:.4f} {made.saturated[True][0]:.4f}"
    show_code(
        [film, activity],
        "from llmviz.study.letter_map import MapSettings, film\n\n"
        f"frames = film({settings!r})\n"
        "next(frames)  # the letters\n"
        "first = next(frames).activity\n"
        'print(f"{first[False].saturated:.4f} {first[True].saturated:.4f}")',
        saturated,
    )
