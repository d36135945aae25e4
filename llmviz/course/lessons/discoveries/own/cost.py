"""How long the runs of a study take together, and whether this server takes them."""

import dataclasses
import json
from dataclasses import dataclass

from llmviz.course.lessons.discoveries.own import words
from llmviz.course.lessons.discoveries.own.own_study import WORLD, Study
from llmviz.course.ui import kit, runs
from llmviz.limits import limit
from llmviz.models.room import check_memory
from llmviz.training.config import Plan
from llmviz.training.references import SAMPLE
from llmviz.training.series import AT_ONCE

MEMORY_SHARE = 0.8  # of what is free now


@dataclass(frozen=True)
class Cost:
    """parameters: of the smallest and of the largest model. line: what is said of the time.

    seconds: of all runs together; None while that is not known.
    """

    parameters: tuple[int, int]
    seconds: float | None
    line: str

    @property
    def is_measured(self) -> bool:
        """Whether the runs may begin, as far as their time is known."""
        return self.seconds is not None


def cost_of(study: Study) -> Cost:
    """Return what a study takes. Raises ValueError where it cannot work, or takes too long."""
    from llmviz.training.estimate import FORWARD_SHARE, run_seconds
    from llmviz.training.pace import predict_seconds, work

    manager = runs.manager()
    plans = [study.plan(value, 0) for value in study.values]
    counts = [_counted(plan) for plan in plans]
    check_memory(max(count.memory for count in counts), words.such_runs, share=MEMORY_SHARE)
    sizes = [count.parameters for count in counts]
    parameters = min(sizes), max(sizes)
    # The value with most work is timed, the others take no longer.
    place = max(range(len(plans)), key=lambda at: work(plans[at], counts[at].parameters))
    plan, counted = plans[place], counts[place]
    known = manager.step_time(_timed(plan))
    if known is None and manager.training >= manager.limit:
        guess = predict_seconds(plan, counted.parameters, runs.paces())
        known = None if guess is None else (guess, "")
    if known is None:
        how = "measuring" if manager.training < manager.limit else "busy"
        return Cost(parameters, None, words.time[how])
    step, line = known
    if step is None:
        return Cost(parameters, None, words.time["unknown"].format(line=kit.escape_markdown(line)))
    reading = counted.held_out / counted.tokens_per_step * FORWARD_SHARE * step
    seconds = len(plans) * study.seeds * (run_seconds(plan.train, step) + reading)
    seconds /= min(AT_ONCE, manager.limit)
    most = limit("LLMVIZ_STUDY_MINUTES")
    if seconds > 60 * most:
        raise ValueError(words.too_long.format(time=kit.duration(seconds), limit=most))
    return Cost(parameters, seconds, words.time["measured"].format(time=kit.duration(seconds)))


@dataclass(frozen=True)
class _Counted:
    parameters: int
    memory: int
    held_out: int  # tokens, at most
    tokens_per_step: int


def _timed(plan: Plan) -> Plan:
    """A plan whose steps take as long, and whose text is there quickly."""
    train = dataclasses.replace(
        plan.train, steps=1000, warmup_steps=0, seed=0, eval_every=0, log_every=1
    )
    if plan.corpus == WORLD:
        plan = dataclasses.replace(plan, corpus=SAMPLE, characters=None)
    return dataclasses.replace(plan, train=train)


def _counted(plan: Plan) -> _Counted:
    """What a run has and needs. Raises ValueError: it cannot run."""
    found = _counted_or_why(plan)
    if isinstance(found, str):
        raise ValueError(found)
    return found


@kit.kept(64, key=lambda plan: json.dumps(plan.to_dict(), sort_keys=True))
def _counted_or_why(plan: Plan) -> _Counted | str:
    from llmviz.training.estimate import estimate, vocabulary
    from llmviz.training.plan import check_corpus

    try:
        train, most = check_corpus(plan)
        guess = estimate(plan, vocabulary(plan, train))
    except ValueError as error:
        return str(error)
    tokens = plan.characters or most
    held_out = round(tokens * plan.fraction / (1 - plan.fraction))
    return _Counted(guess.parameters, guess.memory, held_out, guess.tokens_per_step)
