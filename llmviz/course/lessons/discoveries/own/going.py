"""The runs of a study: what they cost, begun, watched, stopped, gone on with after a restart."""

import json
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from llmviz.course.lessons.discoveries.own import own_study_folder, words
from llmviz.course.lessons.discoveries.own.own_study import Study, run_name
from llmviz.course.lessons.discoveries.own.own_study_run import to_score
from llmviz.course.ui import kit, runs
from llmviz.course.ui.rerun import once
from llmviz.course.ui.step_time import step_time
from llmviz.models.memory_limits import check_memory
from llmviz.processes.background import FAILED
from llmviz.processes.limits import limit
from llmviz.runs.series import AT_ONCE
from llmviz.training.config import Plan

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
    from llmviz.training.throughput import work

    plans = [study.plan(value, 0) for value in study.values]
    counts = [_counted(plan) for plan in plans]
    check_memory(max(count.memory for count in counts), words.such_runs, share=MEMORY_SHARE)
    sizes = [count.parameters for count in counts]
    parameters = min(sizes), max(sizes)
    # The value with most work is timed, the others take no longer.
    place = max(range(len(plans)), key=lambda at: work(plans[at], counts[at].parameters))
    plan, counted = plans[place], counts[place]
    how, step, line = step_time(plan, counted.parameters)
    if step is None:
        return Cost(parameters, None, words.time[how].format(line=kit.escape_markdown(line)))
    reading = counted.held_out / counted.tokens_per_step * FORWARD_SHARE * step
    seconds = len(plans) * study.seeds * (run_seconds(plan.train, step) + reading)
    seconds /= min(AT_ONCE, runs.manager().limit)
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


def _counted(plan: Plan) -> _Counted:
    found = _counted_or_why(plan)
    if isinstance(found, str):
        raise ValueError(found)
    return found


@kit.cached(64, key=lambda plan: json.dumps(plan.to_dict(), sort_keys=True))
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


KEY = "discoveries.own"
POLL = 1.0  # seconds between two looks
PROBLEM = "_discoveries_own_problem"


def begin(study: Study) -> None:
    """Write the study and let its runs train. Raises ValueError where there is no room for it."""
    folder = own_study_folder.folder_of(study)
    if not (folder / own_study_folder.FILE).is_file():
        most = limit("LLMVIZ_MAX_STUDIES")
        home = folder.parent
        if home.is_dir() and sum(1 for _ in home.glob(f"*/{own_study_folder.FILE}")) >= most:
            raise ValueError(words.full.format(most=most))
        own_study_folder.write_study(folder, study)
    over = {
        run_name(run.place, run.seed)
        for run in own_study_folder.results_of(folder, study)
        if run.over
    }
    plans = {folder / name: plan for name, plan in study.runs().items() if name not in over}
    for path in plans:
        path.mkdir(exist_ok=True)
    runs.manager().series.begin_series(study.key, runs.visitor(), plans)


@once
def results(study: Study) -> list[own_study_folder.Result]:
    """Return how the runs of a study stand. Raises ValueError where a file is damaged."""
    folder = own_study_folder.folder_of(study)
    table = folder / own_study_folder.RESULTS  # written once nothing changes any more
    if table.is_file():
        return _settled_results(study, folder, table.stat().st_mtime_ns)
    return own_study_folder.results_of(folder, study)


@kit.cached(64)
def _settled_results(study: Study, folder: Path, stamp: int) -> list[own_study_folder.Result]:
    return own_study_folder.results_of(folder, study)


def is_over(study: Study) -> bool:
    """Whether all runs have ended and all that is measured of them is known."""
    found = results(study)
    return all(run.over for run in found) and not to_score(study, found)


def draw(study: Study) -> None:
    """Show the plan with its button, or the runs that go on; what came out stands elsewhere."""
    manager = runs.manager()
    active = manager.series.is_active(study.key)
    found = results(study)
    if active or (all(run.over for run in found) and to_score(study, found)):
        st.fragment(lambda: _watch(study), run_every=POLL)()
        return
    begun = any(run.ended != "waits" for run in found)
    if begun:
        lines = manager.series.lines_of(study.key)
        how = "lines" if lines else "stopped"
        done = sum(run.over for run in found)
        kit.prose(
            words.resting[how], done=done, runs=len(found), line=" ".join(dict.fromkeys(lines))
        )
        _button(study, words.go_on)
        return
    unknown = _planned(study, watched=False) is None
    if unknown:
        st.fragment(lambda: _planned(study, watched=True), run_every=POLL)()


def _planned(study: Study, *, watched: bool) -> Cost | None:
    """Say what the runs take, with the button; None, having shown nothing, where time is unknown.

    watched: show it nevertheless, and look again later.
    """
    try:
        cost = cost_of(study)
    except ValueError as error:
        kit.refuse(error)
        return Cost((0, 0), None, "")
    if cost.is_measured and watched:
        st.rerun()  # which ends the looking
    if not cost.is_measured and not watched:
        return None
    least, most = cost.parameters
    counts = (
        f"{least:,}"
        if least == most
        else words.several.format(first=f"{least:,}", last=f"{most:,}")
    )
    number = len(study.values) * study.seeds
    kit.prose(words.plan, runs=number, steps=study.base.train.steps, parameters=counts)
    kit.prose(cost.line)
    _button(study, words.start, disabled=not cost.is_measured)
    return cost


def _button(study: Study, label: str, *, disabled: bool = False) -> None:
    def pressed() -> None:
        try:
            begin(study)
        except ValueError as error:
            st.session_state[PROBLEM] = str(error)

    st.button(
        label,
        type="primary",
        icon=":material/play_arrow:",
        on_click=pressed,
        key=f"{KEY}.start",
        disabled=disabled,
    )
    if problem := st.session_state.pop(PROBLEM, ""):
        kit.refuse(problem)


def _watch(study: Study) -> None:
    """The bar of the runs, the button that stops them, and the counting of rules behind them."""
    manager = runs.manager()
    found = results(study)
    if not manager.series.is_active(study.key):
        if not all(run.over for run in found):
            st.rerun()
        if to_score(study, found):
            _score(study, found)
            return
        st.rerun()
    total = study.base.train.steps * len(found)
    steps = sum(total // len(found) if run.over else run.steps for run in found)
    done = sum(run.over for run in found)
    text = words.going.format(done=done, runs=len(found), steps=steps, total=total)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.progress(steps / total, text)
        if manager.series.may_stop(study.key, runs.visitor()):
            st.button(
                words.stop,
                icon=":material/stop:",
                key=f"{KEY}.stop",
                on_click=manager.series.stop_series,
                args=(study.key, runs.visitor()),
            )


@kit.cached(32)
def _scoring(study: Study, folder: Path) -> kit.Job:
    target = "llmviz.course.lessons.discoveries.own.own_study_run:score_study"
    return kit.training_jobs().start(target, study=study, folder=folder)


def _score(study: Study, found: list[own_study_folder.Result]) -> None:
    job = kit.going_job(f"{KEY}.score", _scoring, study, own_study_folder.folder_of(study))
    trained = sum(run.ended == own_study_folder.DONE for run in found)
    st.progress(1 - len(to_score(study, found)) / trained, words.scoring)
    if job.state == FAILED:
        kit.refuse_failed(job)
    if job.over:  # refused as one too many, or of a study whose folder was emptied, say
        _scoring.forget(study, own_study_folder.folder_of(study))


def settled(study: Study) -> Path:
    """Return the folder of a study that is over, with its table written.

    Raises ValueError where it cannot be written.
    """
    folder = own_study_folder.folder_of(study)
    if folder != own_study_folder.BUNDLED and not (folder / own_study_folder.RESULTS).is_file():
        own_study_folder.settle(folder, study, results(study))
    return folder
