"""Part of the chapter "MLP": two models learn names, with and without batch norm; their film."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from llmviz.background import WAITING
from llmviz.course.components.scatter_film.view import LAST, Curve, Film, scatter_film
from llmviz.course.lessons.history.mlp import norm, words
from llmviz.course.lessons.history.mlp.letter_film import LetterFilm, film_of, read_film
from llmviz.course.lessons.history.mlp.letter_map import MapSettings
from llmviz.course.lessons.history.mlp.params import SCALES
from llmviz.course.ui import kit

NEARER = 0.8  # times the distance from consonants: below it vowels are a group
KEY = "history.mlp.film"
RUN = f"{KEY}.run"  # in the session
POLL = 0.5  # seconds between two looks at a training that goes on
VOWELS = "aeiou"
NAMES = 7200


@dataclass
class OwnRun:
    """A training of the learner: its settings, and the film of what the job has yielded so far."""

    settings: MapSettings
    job: kit.Job
    _film: LetterFilm | None = None
    _of: int = 0

    def film(self) -> LetterFilm | None:
        """The film so far, the same object until there is more of it; None before a frame."""
        results = list(self.job.results)
        if len(results) > 1 and len(results) != self._of:
            start, *frames = results
            self._film, self._of = film_of(start, frames), len(results)
        return self._film


def settings_of(state: kit.PageState) -> MapSettings:
    """Return what the controls ask for."""
    return MapSettings(
        scale=float(state["firsts"]), activation=state["bend"], seed=state["mapseed"]
    )


def draw(state: kit.PageState) -> None:
    """Show the controls and the film."""
    settings = settings_of(state)
    text = words.map_text.format(
        names=f"{NAMES:,}",
        window=settings.window,
        hidden=settings.hidden,
        steps=settings.steps,
    )
    kit.section(words.map.title, text)
    reset = state.setter(mapframe=-1)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.choose(state, "bend", words.bend, words.bends, then=reset)
        kit.choose(state, "firsts", words.scale, {scale: scale for scale in SCALES}, then=reset)
        st.number_input(words.seed, width=120, step=1, **state.ranged("mapseed", then=reset))
    run = own_run(settings)
    live = run is not None and not run.job.over
    st.fragment(_film_part, run_every=POLL if live else None)(state, settings, live)


def own_run(settings: MapSettings) -> OwnRun | None:
    """Return this session's training if it has these settings."""
    run: OwnRun | None = st.session_state.get(RUN)
    return run if run is not None and run.settings == settings else None


def _start(state: kit.PageState, settings: MapSettings) -> None:
    before: OwnRun | None = st.session_state.get(RUN)
    if before is not None:
        before.job.stop()
    job = kit.training_jobs().start(
        "llmviz.course.lessons.history.mlp.letter_map:film", settings=settings
    )
    st.session_state[RUN] = OwnRun(settings, job)
    state["mapframe"] = -1


def _film_part(state: kit.PageState, settings: MapSettings, live: bool) -> None:
    run = own_run(settings)
    if live != (run is not None and not run.job.over):
        st.rerun()  # looking again and again begins, or ends
    if live:
        st.button(words.stop, icon=":material/stop:", on_click=run.job.stop, key=f"{KEY}.stop")
        _progress(run)
    else:
        st.button(
            words.train if run is None else words.again,
            icon=":material/play_arrow:",
            type="primary",
            on_click=_start,
            args=(state, settings),
            key=f"{KEY}.train",
        )
    if run is not None and run.job.problem:
        kit.refuse_failed(run.job)
    own = run.film() if run is not None else None
    bend = settings.activation
    if own is None:
        own = _bundled(settings, waiting=live)
        bend = MapSettings().activation
    if own is not None:
        _drawn(state, own, bend, settings if run is not None and run.film() else MapSettings())


def _progress(run: OwnRun) -> None:
    film = run.film()
    step, steps = (int(film.steps[-1]), film.total) if film else (0, run.settings.steps)
    text = words.progress.format(step=step, steps=steps) if film else words.starting
    st.progress(step / steps, text=words.queued if run.job.state == WAITING else text)


bundled = kit.kept(1)(read_film)


def _bundled(settings: MapSettings, waiting: bool) -> LetterFilm | None:
    try:
        film = bundled()
    except ValueError:
        if not waiting:
            st.info(words.no_film, icon=":material/download:")
            st.code(words.no_film_command, language=None)
        return None
    same = settings == MapSettings()
    st.caption(words.until if waiting else words.bundled_same if same else words.bundled)
    return film


def _drawn(state: kit.PageState, film: LetterFilm, bend: str, settings: MapSettings) -> None:
    kit.choose(state, "map", words.map_label, words.maps)
    on, last = state["map"] == "on", film.frames - 1
    at = state["mapframe"] if 0 <= state["mapframe"] < last else last

    kinds = np.array([0 if letter in VOWELS else 1 for letter in film.letters])
    scatter_film(
        Film(
            film.vectors[on],
            film.letters,
            words=words.film,
            kinds=kinds,
            kind_names=words.kinds,
            lit=[0, 1],
            captions=captions(film, on=on),
            curve=Curve(words.loss, [None if np.isnan(x) else float(x) for x in film.losses[on]]),
            axes=words.film_axes,
        ),
        key=KEY,
        step=LAST if at == last else at,
        on_step=kit.bound(state, KEY, step=("mapframe", kit.one_of([*range(last), -1], -1))),
    )
    kit.prose(map_report(film, on=on, at=at))
    norm.draw(film, bend, at, settings)


def captions(film: LetterFilm, *, on: bool) -> list[str]:
    """Return what is known at each frame, in one line."""
    return [
        words.caption.format(step=int(step))
        + ("" if np.isnan(loss) else words.caption_loss.format(loss=float(loss)))
        for step, loss in zip(film.steps, film.losses[on], strict=True)
    ]


def distances(vectors: np.ndarray, letters: tuple[str, ...]) -> tuple[float, float]:
    """Return the mean distance between two vowels, and between a vowel and a consonant.

    vectors (N, 2).
    """
    vowel = np.array([letter in VOWELS for letter in letters])
    far = np.linalg.norm(vectors[:, None].astype(float) - vectors[None], axis=-1)
    within = far[np.ix_(vowel, vowel)][np.triu_indices(int(vowel.sum()), 1)]
    return float(within.mean()), float(far[np.ix_(vowel, ~vowel)].mean())


def map_report(film: LetterFilm, *, on: bool, at: int) -> str:
    """Say how far vowels lie from each other and from consonants, now and at the start."""
    vowels, across = distances(film.vectors[on][at], film.letters)
    vowels_first, across_first = distances(film.vectors[on][0], film.letters)
    read = words.map_read.format(
        step=int(film.steps[at]),
        vowels=vowels,
        across=across,
        vowels_first=vowels_first,
        across_first=across_first,
    )
    if at == 0:
        return read
    if vowels >= NEARER * across:
        return read + words.map_mixed
    learned = vowels / across < vowels_first / across_first
    return read + (words.map_near if learned else words.map_began)
