"""The films of the chapter "Word2vec": the bundled one, and those that the learner trains.

F frames, N words shown, C numbers in a vector.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import streamlit as st

from llmviz.background import Job
from llmviz.corpus import word_categories
from llmviz.similarity import VectorTable
from llmviz.similarity.film import film_maps, frame_map
from llmviz.training import library
from llmviz.training.word_vector_files import load_film, save_vectors
from llmviz.training.word_vectors import (
    Beginning,
    End,
    Frame,
    WordVectorPlan,
)
from llmviz.ui import engine
from llmviz.ui.office import training_office

BUNDLED = "tiny-world-word2vec"
FILM = "llmviz.training.word_vectors:film"
RUNS = "embeddings.word2vec.runs"  # in the session: {settings: OwnRun}
KEPT_RUNS = 4


@dataclass(frozen=True, eq=False)  # one film is itself: what is kept of it is found by that
class Shown:
    """A film ready to be drawn."""

    words: list[str]  # N
    kinds: np.ndarray  # (N,) of `kind_names`, -1 for none
    vectors: np.ndarray  # (F, N, C)
    maps: np.ndarray  # (F, N, 2)
    read: np.ndarray  # (F,) words so far
    total: int
    loss: np.ndarray  # (F,) nats a pair, NaN at first
    rate: np.ndarray  # (F,)
    counts: np.ndarray | None = None  # (N,) how often each stands in the text
    vocabulary: int = 0  # words of the text, most of which the film may leave out

    @property
    def frames(self) -> int:
        """F."""
        return len(self.vectors)


@dataclass
class OwnRun:
    """A training of the learner: the job, and what came of it so far."""

    plan: WordVectorPlan
    job: Job
    beginning: Beginning | None = None
    frames: list[Frame] = field(default_factory=list)
    maps: list[np.ndarray] = field(default_factory=list)
    kinds: np.ndarray | None = None
    end: End | None = None
    kept: str = ""  # under which name every lesson finds it
    _taken: int = 0

    def sync(self) -> None:
        """Take over what the job has yielded since the last time."""
        for part in self.job.results[self._taken :]:
            self._taken += 1
            if isinstance(part, Beginning):
                self.beginning = part
                self.kinds = kinds_of(self.words)
            elif isinstance(part, End):
                self.end = part
            elif np.isfinite(part.vectors).all():  # a run that diverged may end in infinity
                before = self.maps[-1] if self.maps else None
                self.maps.append(frame_map(part.vectors, before, self.kinds))
                self.frames.append(part)

    @property
    def words(self) -> list[str]:
        """The words shown, N."""
        assert self.beginning is not None
        names = self.beginning.tokenizer.vocabulary
        return [names[i] for i in self.beginning.rows]

    def shown(self) -> Shown | None:
        """The film so far; None before its first frame."""
        if not self.frames or self.beginning is None or self.kinds is None:
            return None
        return Shown(
            self.words,
            self.kinds,
            np.stack([frame.vectors for frame in self.frames]),
            np.stack(self.maps),
            np.array([frame.read for frame in self.frames]),
            self.frames[-1].total,
            np.array([frame.loss for frame in self.frames]),
            np.array([frame.rate for frame in self.frames]),
            self.beginning.counts[self.beginning.rows],
            how_many(self.beginning.tokenizer.vocabulary),
        )


def kind_names() -> list[str]:
    """Return the kinds of words that maps are coloured by."""
    return list(word_categories())


def how_many(vocabulary: Sequence[str]) -> int:
    """Return how many entries of a vocabulary are words, and no marks."""
    return sum(word[0].isalnum() for word in vocabulary)


def kinds_of(words: list[str]) -> np.ndarray:
    """Return the number of each word's kind (N,), -1 for a word of none."""
    kind = {word: k for k, members in enumerate(word_categories().values()) for word in members}
    return np.array([kind.get(word, -1) for word in words], dtype=np.int32)


# ---- the learner's own runs


def warm_up() -> None:
    """Have a process ready: importing torch takes longer than the training."""
    training_office().warm_up(FILM.partition(":")[0])


def own_run(plan: WordVectorPlan, text: str | None) -> OwnRun | None:
    """Return this session's run of these settings, brought up to date; None if there is none."""
    run = st.session_state.get(RUNS, {}).get(_settings(plan, text))
    if run is not None:
        run.sync()
    return run


def start(plan: WordVectorPlan, text: str | None) -> None:
    """Start a run of these settings; another one of this session that is going is stopped."""
    runs = st.session_state.setdefault(RUNS, {})
    for run in runs.values():
        run.job.stop()
    runs.pop(_settings(plan, text), None)
    runs[_settings(plan, text)] = OwnRun(plan, training_office().start(FILM, plan=plan, text=text))
    while len(runs) > KEPT_RUNS:
        runs.pop(next(iter(runs)))


def _settings(plan: WordVectorPlan, text: str | None) -> str:
    return json.dumps([plan.to_dict(), text])


def keep(run: OwnRun) -> str:
    """Keep a run's vectors among the runs, where every lesson finds them; return their name.

    Raises ValueError: they cannot be written.
    """
    assert run.beginning is not None and run.end is not None
    try:
        folder = library.new_private_folder()
        save_vectors(folder, run.plan, run.beginning, run.end)
    except OSError as error:
        raise ValueError(f"the vectors cannot be kept: {error.strerror}") from error
    kept = library.keep(folder, f"word2vec-{run.end.word.shape[1]}")
    run.kept = library.PREFIX + library.run_name(kept)
    return run.kept


def table(run: OwnRun) -> VectorTable:
    """Return a run's vectors with its words, for downloads."""
    assert run.beginning is not None and run.end is not None
    return VectorTable("word2vec", run.end.word, run.beginning.tokenizer)


# ---- the bundled film


def bundled() -> Shown | None:
    """Return the film that comes with the project; None where there is none.

    Raises ValueError: it is damaged.
    """
    folder = engine.CHECKPOINTS / BUNDLED
    if not (folder / "frames.safetensors").is_file():
        return None
    return _bundled(str(folder), engine.tokenizer(BUNDLED).vocabulary)


@lru_cache(maxsize=2)
def _read_bundled(folder: str, vocabulary: tuple[str, ...]) -> Shown:
    film = load_film(folder)
    names = [vocabulary[i] for i in film.rows]
    return Shown(
        names,
        kinds_of(names),
        film.vectors,
        film_maps(film.vectors),
        film.read,
        film.total,
        film.loss,
        film.rate,
        vocabulary=how_many(vocabulary),
    )


def _bundled(folder: str, vocabulary: list[str]) -> Shown:
    return _read_bundled(folder, tuple(vocabulary))


def bundled_plan() -> WordVectorPlan:
    """Return the plan that the bundled film was made by."""
    from llmviz.training.recipes import RECIPES

    plan = RECIPES[BUNDLED].plan
    assert isinstance(plan, WordVectorPlan)
    return plan
