"""The films of the chapter "Word2vec": the bundled one, and those that the learner trains."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import streamlit as st

from llmviz.corpus import word_categories
from llmviz.course.lessons.embeddings.word2vec.model import FilmBuilder, WordFilm, read_film
from llmviz.course.ui import engine, kit
from llmviz.course.ui.rerun import once
from llmviz.runs import store
from llmviz.similarity import VectorTable
from llmviz.training.word_vectors import Beginning, End, Frame, WordVectorPlan, save_vectors

BUNDLED = "tiny-world-word2vec"
FILM = "llmviz.training.word_vectors:film"
OWN = "embeddings.word2vec.run"  # in the session: the OwnRun that is looked at


@dataclass
class OwnRun:
    """A training of the learner: the job, and its results so far."""

    job: kit.Job
    beginning: Beginning | None = None
    builder: FilmBuilder | None = None
    end: End | None = None
    kept: str = ""  # under which name every lesson finds it
    _taken: int = 0

    @property
    def frames(self) -> list[Frame]:
        return self.builder.frames if self.builder is not None else []

    def sync(self) -> OwnRun:
        """Take over what the job has yielded since the last time."""
        for part in self.job.results[self._taken :]:
            self._taken += 1
            if isinstance(part, Beginning):
                self.beginning, self.builder = part, FilmBuilder(part)
            elif isinstance(part, End):
                self.end = part
            elif self.builder is not None:
                self.builder.add(part)
        return self

    def film(self) -> WordFilm | None:
        """The film so far; None before its first frame."""
        return self.builder.film() if self.builder is not None else None


def kind_names() -> list[str]:
    """Return the kinds of words that maps are coloured by."""
    return list(word_categories())


# ---- the learner's own runs


@kit.cached(4)
def job_of(settings: str, text: str | None) -> kit.Job:
    """Return the training of a plan, written by `given_of`, begun once for all who ask for it."""
    plan = WordVectorPlan.from_dict(json.loads(settings))
    return kit.training_jobs().start(FILM, plan=plan, text=text)


def given_of(plan: WordVectorPlan, text: str | None) -> tuple[str, str | None]:
    """Return what tells a training from all others, as `job_of` takes it."""
    return json.dumps(plan.to_dict()), text


def own_run(state: kit.PageState, plan: WordVectorPlan, text: str | None) -> OwnRun | None:
    """Return this session's run of these settings, brought up to date; None if there is none."""
    job = kit.begun(state, "trained", job_of, given_of(plan, text))
    if job is None:
        return None
    if getattr(st.session_state.get(OWN), "job", None) is not job:
        st.session_state[OWN] = OwnRun(job)
    return st.session_state[OWN].sync()


def keep(run: OwnRun, plan: WordVectorPlan) -> str:
    """Keep a run's vectors among the runs, where every lesson finds them; return their name.

    Raises ValueError: they cannot be written.
    """
    assert run.beginning is not None and run.end is not None
    try:
        folder = store.new_private_folder()
        save_vectors(folder, plan, run.beginning, run.end)
    except OSError as error:
        raise ValueError(f"the vectors cannot be kept: {error.strerror}") from error
    kept = store.keep(folder, f"word2vec-{run.end.word.shape[1]}")
    run.kept = store.PREFIX + store.run_name(kept)
    return run.kept


def table(run: OwnRun) -> VectorTable:
    """Return a run's vectors with its words, for downloads."""
    assert run.beginning is not None and run.end is not None
    return VectorTable("word2vec", run.end.word, run.beginning.tokenizer)


# ---- the bundled film


@once
def bundled() -> WordFilm | None:
    """Return the film that comes with the project; None where there is none.

    Raises ValueError: it is damaged.
    """
    folder = engine.CHECKPOINTS / BUNDLED
    if not (folder / "frames.safetensors").is_file():
        return None
    tokenizer: Any = engine.tokenizer(BUNDLED)
    return read_film(str(folder), tuple(tokenizer.vocabulary))


def bundled_plan() -> WordVectorPlan:
    """Return the plan of the training behind the bundled film."""
    from llmviz.training.recipes import RECIPES

    plan = RECIPES[BUNDLED].plan
    assert isinstance(plan, WordVectorPlan)
    return plan
