"""What probes reached: the bundled measurements, and those that this session has fitted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import streamlit as st

from llmviz.course.lessons.language.measured import card
from llmviz.course.lessons.language.probing import words
from llmviz.course.lessons.language.sentence import BASE
from llmviz.course.ui import engine, kit

JOBS = "language.probing.jobs"  # in the session: the jobs by what was asked for
KEPT_JOBS = 6
TARGET = "llmviz.language.role_scores:measure_probes"


class Asked(NamedTuple):
    """Which probes are wanted: of which model, of what, fitted to how many stories."""

    bundled: engine.Bundled
    kind: str
    stories: int


@dataclass(frozen=True)
class Results:
    """What the probes of L places reached, as shares of the words of held-out stories.

    command: what measures it again; empty for a session's own. whole: whether all places are there.
    """

    layers: tuple[str, ...]
    accuracy: tuple[float, ...]
    control: tuple[float, ...]
    stories: int
    test: int
    command: str
    whole: bool

    @property
    def selectivity(self) -> tuple[float, ...]:
        """accuracy − control of each place."""
        return tuple(a - b for a, b in zip(self.accuracy, self.control, strict=True))


def can_be_read(card: kit.Card) -> bool:
    """Whether probes of a model can be fitted: a transformer of decoder blocks on tiny-world."""
    return kit.reads_text(card) and str(card.get("corpus", "")).startswith("tiny-world")


def known(choice: Asked) -> Results | None:
    """Return what is known: what this session fitted, else the bundled measurements of these."""
    job = own_job(choice)
    if job is not None and job.results:
        done = job.state == "done"
        return results_of(list(job.results), choice.stories, choice.stories, "", whole=done)
    if job is not None and not job.over:
        return None
    try:
        measured = card()
    except ValueError:  # not in this copy: the button measures it
        return None
    if choice.bundled.name != BASE or choice.stories != measured["probe_stories"]:
        return None
    return bundled(choice.kind)


@kit.kept(4)
def bundled(kind: str) -> Results:
    """Return the bundled measurements of a kind."""
    measured = card()
    return results_of(
        measured["probes"][kind],
        measured["probe_stories"],
        measured["probe_test_stories"],
        measured["command"],
        whole=True,
    )


def results_of(
    rows: Sequence[dict[str, Any]], stories: int, test: int, command: str, *, whole: bool
) -> Results:
    """Return probes as they are measured, with their places named."""
    return Results(
        tuple(name_of(row["layer"]) for row in rows),
        tuple(row["accuracy"] for row in rows),
        tuple(row["control"] for row in rows),
        stories,
        test,
        command,
        whole,
    )


def name_of(layer: str) -> str:
    """Return how a place of the model is called.

    >>> name_of("embed"), name_of("blocks.2.residual")
    ('embeddings', 'after layer 2')
    """
    if layer == "embed":
        return words.embeddings
    return words.layer.format(layer=layer.split(".")[1])


def own_job(choice: Asked) -> kit.Job | None:
    """Return this session's job of these probes; None where there is none."""
    return st.session_state.get(JOBS, {}).get(choice)


def start(choice: Asked) -> None:
    """Fit these probes in the background; other ones of this session that are going are stopped."""
    jobs = st.session_state.setdefault(JOBS, {})
    for job in jobs.values():
        job.stop()
    jobs.pop(choice, None)
    jobs[choice] = kit.training_jobs().start(
        TARGET,
        model=choice.bundled.name,
        kind=choice.kind,
        train=choice.stories,
        test=choice.stories,
    )
    while len(jobs) > KEPT_JOBS:
        jobs.pop(next(iter(jobs)))
