"""The runs that the chapter shows: the recorded ones, or those that the learner started last."""

from collections.abc import Callable
from dataclasses import dataclass

from llmviz.background import DONE
from llmviz.course.components.serving_film.view import FilmPicture, film_picture
from llmviz.course.lessons.efficiency.serving import serving_recording, serving_texts, words
from llmviz.course.lessons.efficiency.serving.film import film_of, opening, sharing_opening
from llmviz.course.lessons.efficiency.serving.serving_recording import Bundled
from llmviz.course.lessons.efficiency.serving.serving_run import Run, Trial, own_prompts, runs_of
from llmviz.course.ui import kit
from llmviz.serving.recording import Recording
from llmviz.serving.settings import ServingConfig
from llmviz.serving.workload import Workload

FLAG = "serverun"


@dataclass(frozen=True, eq=False)
class TwoRuns:
    """Two runs of the same requests, each as a picture, and where its film opens."""

    trial: Trial
    runs: tuple[Run, ...]
    pictures: tuple[FilmPicture, ...]
    openings: tuple[tuple[int, int], ...]  # tick, sequence


def trial_of(state: kit.PageState) -> Trial:
    """Return what the controls ask for. Raises ValueError for wrong prompts of the learner's."""
    workload = Workload(
        requests=state["servecount"],
        arrival_rate=float(state["serverate"]),
        prompt_tokens=state["serveprompt"],
        new_tokens=state["servenew"],
        samples=state["servesamples"],
        beams=state["servekind"] == "beams",
        same_beginning=state["servebeginning"],
    )
    size = int(state["serveblock"])
    config = ServingConfig(
        max_batch=state["servebatch"],
        block_size=size,
        n_blocks=state["servememory"] // size,
        preemption=state["servepreempt"],
        share_prefixes=state["serveshare"],
    )
    policies = state["servepolicy"], state["serveagainst"]
    return Trial(workload, config, policies, own_prompts(state["serveown"]))


@kit.kept(8)
def job_of(trial: Trial) -> kit.Job:
    """Return both runs in a process of their own; the same trial is run only once."""
    return kit.training_jobs().start(
        "llmviz.course.lessons.efficiency.serving.serving_run:serving_run", trial=trial
    )


bundled = kit.kept(1)(serving_recording.read)


@kit.kept(1)
def bundled_shown() -> TwoRuns:
    """Return the recorded runs as the page shows them. Raises ValueError as `bundled` does."""
    recorded = bundled()
    return _two_runs(recorded.trial, recorded.runs)


@kit.kept(1)
def texts_shown() -> tuple[Bundled, TwoRuns]:
    """Return the recorded runs of one prompt. Raises ValueError as `bundled` does."""
    recorded = serving_texts.read()
    return recorded, _two_runs(recorded.trial, recorded.runs, sharing_opening)


@kit.kept(8)
def job_shown(trial: Trial, job: kit.Job) -> TwoRuns:
    """Return the runs of a job that is over."""
    return _two_runs(trial, runs_of(trial, job.results))


def _two_runs(
    trial: Trial,
    runs: tuple[Run, ...],
    rule: Callable[[Recording], tuple[int, int]] = opening,
) -> TwoRuns:
    pictures = tuple(film_picture(film_of(run), words.film, words.states) for run in runs)
    return TwoRuns(trial, runs, pictures, tuple(rule(run.recording) for run in runs))


def own_shown(state: kit.PageState) -> TwoRuns | None:
    """Return the learner's last runs with these controls; None where there are none."""
    if not state[FLAG]:
        return None
    try:
        trial = trial_of(state)
    except ValueError:
        return None
    job = kit.job_for(state, FLAG, job_of, (trial,))
    return job_shown(trial, job) if job.state == DONE else None
