"""The films of the chapter "Word2vec": the bundled one, and those that the learner trains."""

import json
from dataclasses import dataclass

import streamlit as st

from llmviz.corpus import word_categories
from llmviz.course.lessons.embeddings.word2vec.model import FilmBuilder, WordFilm, read_film
from llmviz.course.ui import engine, kit
from llmviz.course.ui.rerun import once
from llmviz.similarity import VectorTable
from llmviz.training import run_folders
from llmviz.training.word_vectors import Beginning, End, Frame, WordVectorPlan, save_vectors

BUNDLED = "tiny-world-word2vec"
FILM = "llmviz.training.word_vectors:film"
RUNS = "embeddings.word2vec.runs"  # in the session: {settings: OwnRun}
KEPT_RUNS = 4


@dataclass
class OwnRun:
    """A training of the learner: the job, and its results so far."""

    plan: WordVectorPlan
    job: kit.Job
    beginning: Beginning | None = None
    builder: FilmBuilder | None = None
    end: End | None = None
    kept: str = ""  # under which name every lesson finds it
    _taken: int = 0

    @property
    def frames(self) -> list[Frame]:
        """The frames so far."""
        return self.builder.frames if self.builder is not None else []

    def sync(self) -> None:
        """Take over what the job has yielded since the last time."""
        for part in self.job.results[self._taken :]:
            self._taken += 1
            if isinstance(part, Beginning):
                self.beginning, self.builder = part, FilmBuilder(part)
            elif isinstance(part, End):
                self.end = part
            elif self.builder is not None:
                self.builder.add(part)

    def film(self) -> WordFilm | None:
        """The film so far; None before its first frame."""
        return self.builder.film() if self.builder is not None else None


def kind_names() -> list[str]:
    """Return the kinds of words that maps are coloured by."""
    return list(word_categories())


# ---- the learner's own runs


def warm_up() -> None:
    """Have a process ready: importing torch takes longer than the training."""
    kit.training_jobs().warm_up(FILM.partition(":")[0])


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
    runs[_settings(plan, text)] = OwnRun(
        plan, kit.training_jobs().start(FILM, plan=plan, text=text)
    )
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
        folder = run_folders.new_private_folder()
        save_vectors(folder, run.plan, run.beginning, run.end)
    except OSError as error:
        raise ValueError(f"the vectors cannot be kept: {error.strerror}") from error
    kept = run_folders.keep(folder, f"word2vec-{run.end.word.shape[1]}")
    run.kept = run_folders.PREFIX + run_folders.run_name(kept)
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
    return read_film(str(folder), tuple(engine.tokenizer(BUNDLED).vocabulary))


def bundled_plan() -> WordVectorPlan:
    """Return the plan of the training behind the bundled film."""
    from llmviz.training.recipes import RECIPES

    plan = RECIPES[BUNDLED].plan
    assert isinstance(plan, WordVectorPlan)
    return plan
