"""The classifiers of the chapter: the one that is there from the start, and the learner's own."""

import uuid
from dataclasses import dataclass, field

import streamlit as st

from llmviz.course.lessons.finetuning.classifier.class_training import (
    Begun,
    ClassPlan,
    Point,
    Trained,
    rebuilt,
    training,
)
from llmviz.course.ui import engine, kit
from llmviz.finetuning.classifier import Classifier

TRAINING = "llmviz.course.lessons.finetuning.classifier.class_training:training"
RUNS = "finetuning.classifier.runs"  # in the session: {plan: OwnRun}
KEPT_RUNS = 3


@dataclass(eq=False)
class Outcome:
    """A training as far as it has come: what was yielded, and the newest classifier.

    mark: tells it from all others, for the keys of what is kept of it.
    """

    plan: ClassPlan
    begun: Begun | None = None
    points: list[Point] = field(default_factory=list)
    trained: Trained | None = None
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)

    def take(self, part: Begun | Point | Trained) -> None:
        """Take over one thing that the training has yielded."""
        if isinstance(part, Begun):
            self.begun = part
        elif isinstance(part, Point):
            self.points.append(part)
        else:
            self.trained = part

    @property
    def known(self) -> tuple[str, int]:
        """What tells its newest classifier from all others."""
        return self.mark, self.trained.step if self.trained is not None else 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the classes of its newest classifier."""
        assert self.trained is not None
        return self.trained.names

    @property
    def tokenizer_of(self) -> str:
        """The model that it began from."""
        return self.plan.base

    def model(self) -> Classifier:
        """The newest classifier, ready for use."""
        return model_of(self)


@dataclass
class OwnRun:
    """A training of the learner: the job, and its results so far."""

    job: kit.Job
    outcome: Outcome
    _taken: int = 0

    def sync(self) -> None:
        """Take over what the job has yielded since the last time; the job need not hold it too."""
        results = self.job.results
        for place in range(self._taken, len(results)):
            self.outcome.take(results[place])
            results[place] = None
            self._taken += 1


def own_run(plan: ClassPlan) -> OwnRun | None:
    """Return this session's run of a plan, brought up to date; None if there is none."""
    run = st.session_state.get(RUNS, {}).get(plan)
    if run is not None:
        run.sync()
    return run


def start(plan: ClassPlan) -> None:
    """Start a run of a plan; another one of this session that is going is stopped."""
    runs = st.session_state.setdefault(RUNS, {})
    for run in runs.values():
        run.job.stop()
    runs.pop(plan, None)
    runs[plan] = OwnRun(kit.training_jobs().start(TRAINING, plan=plan), Outcome(plan))
    while len(runs) > KEPT_RUNS:
        runs.pop(next(iter(runs)))


def warm_up() -> None:
    """Have a process ready: importing torch takes longer than training a head."""
    kit.training_jobs().warm_up(TRAINING.partition(":")[0])


def first(plan: ClassPlan) -> Outcome | None:
    """Return the classifier that is there for all visitors, if the plan is that one's."""
    if plan != ClassPlan() or plan.base not in engine.names():
        return None
    return _first(engine.load(plan.base))


@kit.kept(2)
def _first(bundled: engine.Bundled) -> Outcome:
    outcome = Outcome(ClassPlan())
    for part in training(outcome.plan):
        outcome.take(part)
    return outcome


def model_of(outcome: Outcome) -> Classifier:
    """Return the newest classifier of a training, ready for use."""
    return _model(outcome.known, outcome)


@kit.kept(8, key=lambda known, outcome: known)
def _model(known: tuple[str, int], outcome: Outcome) -> Classifier:
    assert outcome.trained is not None
    return rebuilt(engine.load(outcome.plan.base).model, outcome.plan, outcome.trained)
