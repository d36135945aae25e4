"""Chapter "Many requests": a serving engine at work, step by step, and two policies compared."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.components.serving_film import view
from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.efficiency.serving import OPENING, model, words
from llmviz.course.lessons.efficiency.serving.model import Bundled, Run, Trial, runs_of
from llmviz.course.ui import kit
from llmviz.processes.background import DONE
from llmviz.serving.recording import EngineStep, Recording
from llmviz.serving.settings import ServingConfig
from llmviz.serving.workload import Workload

Changes = list[tuple[int, Any]]


def film_of(run: Run, until: float = 0.0) -> view.Film:
    """Return the film of a run: a sequence for each sample of each request, in their order.

    until: seconds up to which its clock goes, if that is longer than the run.
    """
    recording = run.recording
    steps = recording.steps
    tables = changes(steps, "blocks")
    lengths = changes(steps, "room")
    sequences = [
        view.FilmSequence(
            name=request.name(sample),
            prompt=run.prompts[request.id],
            prompt_tokens=len(request.prompt),
            wanted=request.max_new_tokens,
            arrives=request.arrival,
            pieces=run.pieces.get(request.name(sample), ()),
            tables=tables.get(request.name(sample), ()),
            lengths=lengths.get(request.name(sample), ()),
            texts=run.texts.get(request.name(sample), ()),
        )
        for request in recording.requests
        for sample in range(request.texts)
    ]
    numbers = {sequence.name: number for number, sequence in enumerate(sequences)}
    return view.Film(
        block_size=recording.config.block_size,
        blocks=recording.config.n_blocks,
        sequences=sequences,
        steps=film_ticks(recording, numbers),
        kept=kept_changes(steps),
        until=until,
    )


def opening(recording: Recording) -> tuple[int, int]:
    """Return the step that a film opens at, and the number of the sequence chosen in it.

    The first of the steps that compute most rows and, of these, use most blocks. In it, the first
    of the sequences computed whose block table is the longest.
    """
    steps = recording.steps
    if not steps:
        return 0, 0
    rows = [[row.sequence for row in step.rows if row.phase != "padding"] for step in steps]
    used = [len({block for table in step.blocks.values() for block in table}) for step in steps]
    at = max(range(len(steps)), key=lambda number: (len(rows[number]), used[number], -number))
    names = [request.name(n) for request in recording.requests for n in range(request.texts)]
    tables = {name: len(steps[at].blocks.get(name, ())) for name in rows[at]}
    longest = max(tables, key=tables.__getitem__, default=names[0])
    return at, names.index(longest)


def sharing_opening(recording: Recording) -> tuple[int, int]:
    """Return the step that the film of several texts to one prompt opens at, and its first text.

    The first of the steps in which most blocks are held by more than one text.
    """
    shared = [sum(len(owners) > 1 for owners in step.owners.values()) for step in recording.steps]
    return shared.index(max(shared)) if shared else 0, 0


def film_ticks(recording: Recording, numbers: Mapping[str, int]) -> list[view.FilmStep]:
    by_id = {request.id: request for request in recording.requests}
    swapped: dict[str, None] = {}
    steps = []
    for step in recording.steps:
        ended = [by_id[outcome.request].name(outcome.sample) for outcome in step.finished]
        for name in step.swapped_out:
            swapped[name] = None
        for name in (*step.swapped_in, *ended):
            swapped.pop(name, None)
        steps.append(
            view.FilmStep(
                begin=step.begin,
                end=step.end,
                rows=[
                    (numbers[row.sequence], view.PHASES.index(row.phase), row.tokens)
                    for row in step.rows
                ],
                padding=step.padding,
                waiting=_numbered(step.queue, numbers),
                swapped=_numbered(swapped, numbers),
                preempted=_numbered((*step.preempted, *step.swapped_out), numbers),
                finished=_numbered(ended, numbers),
                free=step.free,
                waste=step.waste,
            )
        )
    return steps


def _numbered(names: Iterable[str], numbers: Mapping[str, int]) -> list[int]:
    return [numbers[name] for name in names if name in numbers]


def changes(steps: Iterable[EngineStep], field: str) -> dict[str, Changes]:
    """Return for each sequence at which steps its entry of a field changed, and to what.

    field: "blocks" or "room". A sequence that left it has () or 0 from then on.
    """
    listed: dict[str, Changes] = {}
    before: dict[str, Any] = {}
    gone: Any = () if field == "blocks" else 0
    for number, step in enumerate(steps):
        now = getattr(step, field)
        for name in {**before, **now}:
            value = now.get(name, gone)
            if before.get(name, gone) != value:
                listed.setdefault(name, []).append((number, value))
        before = now
    return listed


def kept_changes(steps: Iterable[EngineStep]) -> Changes:
    """Return at which steps the free blocks whose content is kept changed, and to what."""
    listed: Changes = []
    for number, step in enumerate(steps):
        now = tuple(sorted(step.cached))
        if now != (listed[-1][1] if listed else ()):
            listed.append((number, now))
    return listed


KEY, GUESS = "efficiency.serving", "efficiency.serving.end"
FLAG = "serverun"
APART = 0.1  # of the longer run, between the answers of the question


@dataclass(frozen=True, eq=False)
class TwoRuns:
    """Two runs of the same requests, each as a picture, and where its film opens."""

    trial: Trial
    runs: tuple[Run, ...]
    pictures: tuple[view.FilmPicture, ...]
    openings: tuple[tuple[int, int], ...]  # step, sequence

    @property
    def names(self) -> tuple[str, ...]:
        return run_names(self.trial.policies)

    @property
    def rules(self) -> tuple[str, ...]:
        """What each run's policy does, in a few words; of equal policies, their names."""
        first, second = self.trial.policies
        return self.names if first == second else (words.rule[first], words.rule[second])

    @property
    def seconds(self) -> list[float]:
        """How long each run took."""
        return [run.recording.seconds for run in self.runs]


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the lanes of a run and the guess when the other ends; then what goes deeper."""
    kit.prose(words.hook)
    own = own_shown(state)
    two_runs = own or recorded(bundled_shown)
    shown = True
    if two_runs is not None:
        with kit.stage("serving"):
            shown = _stage(state, two_runs)
    if two_runs is not None and shown:
        if own is None:
            kit.looks(state, words.looks, f"{KEY}.looks")
        _policies(state, two_runs, own is not None)
        _waits(two_runs)
    _texts(state)
    _trial(state)
    kit.section(words.server_section)
    st.code(words.server, language="sh")
    if two_runs is not None and shown:
        kit.seen(words.end, **end(two_runs))


def recorded(read: Callable[[], TwoRuns]) -> TwoRuns | None:
    """Return recorded runs; None, saying so, where their file is not here."""
    try:
        return read()
    except ValueError:
        kit.inform(words.no_file, ":material/download:")
        return None


def two_runs_of(
    trial: Trial,
    runs: tuple[Run, ...],
    rule: Callable[[Recording], tuple[int, int]] = opening,
) -> TwoRuns:
    """Return runs with their pictures, all on the longest clock; rule: where a film opens."""
    until = max(run.recording.seconds for run in runs)
    pictures = tuple(
        view.film_picture(film_of(run, until), words.film, words.states) for run in runs
    )
    return TwoRuns(trial, runs, pictures, tuple(rule(run.recording) for run in runs))


bundled = kit.cached(1)(model.read)


@kit.cached(1)
def bundled_shown() -> TwoRuns:
    """Return the recorded runs as the page shows them. Raises ValueError as `bundled` does."""
    return two_runs_of(bundled().trial, bundled().runs)


@kit.cached(1)
def texts_shown() -> TwoRuns:
    """Return the recorded runs of one prompt. Raises ValueError as `bundled` does."""
    found: Bundled = model.read(model.EXPERIMENT_FOLDER / model.TEXTS_FILE)
    return two_runs_of(found.trial, found.runs, sharing_opening)


job_of = kit.job_of("llmviz.course.lessons.efficiency.serving.model:serving_run", "trial")


@kit.cached(8)
def job_shown(trial: Trial, job: kit.Job) -> TwoRuns:
    return two_runs_of(trial, runs_of(trial, job.results))


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


def run_names(policies: tuple[str, str]) -> tuple[str, ...]:
    """Return how two runs are called: by their policies, numbered where these are the same."""
    names = tuple(words.policies[policy] for policy in policies)
    if names[0] != names[1]:
        return names
    return tuple(words.same_run.format(policy=names[0], number=number) for number in (1, 2))


def _stage(state: kit.PageState, two_runs: TwoRuns) -> bool:
    """Draw how long both runs took, and one of them; return whether all is shown."""
    guess, seconds = kit.Guess(GUESS, question(two_runs)), two_runs.seconds
    cases = [kit.Case(*row) for row in zip(two_runs.rules, seconds, strict=True)]
    veiled, axis = [int(np.argmin(seconds))], kit.Axis(0, 1.1 * max(seconds), words.seconds)
    guess.cases(cases, axis, veiled=veiled, picture=f"{KEY}.guess", form="figure")
    shown = guess.ask()
    number = int(state["serveshown"]) if shown else int(np.argmax(seconds))
    key, (step, request) = f"{KEY}.film", two_runs.openings[number]
    view.serving_film(
        two_runs.pictures[number],
        key=key,
        step=step if state["servetick"] == OPENING else state["servetick"],
        chosen=request if state["serverequest"] == OPENING else state["serverequest"],
        on_change=kit.bound(state, key, step="servetick", chosen="serverequest"),
    )
    if shown:
        kit.choose(
            state, "serveshown", words.run, dict(zip(words.runs, two_runs.names, strict=True))
        )
    return shown


def question(two_runs: TwoRuns) -> kit.Question | None:
    """Ask when the quicker policy is through. None where the answers are too near.

    The wrong answers: the same work takes the same time, and who never waits for others is through
    as soon as the last request has come.
    """
    slow, right = max(two_runs.seconds), min(two_runs.seconds)
    requests = two_runs.runs[0].recording.requests
    comes = max(request.arrival for request in requests)
    if min(b - a for a, b in pairwise(sorted((0.0, comes, right, slow)))) < APART * slow:
        return None
    return kit.Question.among(
        words.ask,
        {right: words.ask_right, slow: words.ask_same, comes: words.ask_comes},
        right,
        "{:.2f} s".format,
        slow_ends=f"{slow:.2f} s",
        slow=two_runs.rules[int(np.argmax(two_runs.seconds))],
        quick=two_runs.rules[int(np.argmin(two_runs.seconds))],
    )


def _policies(state: kit.PageState, two_runs: TwoRuns, own: bool) -> None:
    """Say what the policy of the run does, and where the runs are from."""
    kit.section(words.film_section)
    config = two_runs.runs[int(state["serveshown"])].recording.config
    window = f"{1000 * config.window:g}"
    kit.prose(words.about[config.policy], budget=config.token_budget, window=window)
    kit.prose(words.memory)
    if own:
        kit.prose(words.own_runs)
        return
    about = bundled()
    threads = kit.count(about.environment["threads"], "thread")
    kit.measured(words.how_bundled, date=about.date, threads=threads, command=model.COMMAND)


def _waits(two_runs: TwoRuns) -> None:
    kit.section(words.figures_section)
    kit.chart(first_tokens(two_runs, kit.theme()), f"{KEY}.first")
    kit.prose(f"{compared(two_runs)} {words.curve_text}")


@kit.cached(32)
def first_tokens(two_runs: TwoRuns, mode: kit.Mode) -> kit.Figure:
    """Return the share of texts that had their first token after so many milliseconds."""
    drawn = []
    for number, (name, run) in enumerate(zip(two_runs.names, two_runs.runs, strict=True)):
        times = np.sort([1000 * timing.to_first for timing in run.recording.timings])
        shares = 100 * np.arange(1, len(times) + 1) / max(1, len(times))
        drawn.append(Line(name, times, shares, number))
    figure = lines(drawn, words.curve_axes, mode, hover="%{y:.0f} %", height=300)
    return figure.update_traces(line_shape="hv")  # between two texts the share does not change


def compared(two_runs: TwoRuns) -> str:
    """Return which run wrote more tokens a second, in a sentence."""
    rates = [run.recording.tokens_per_second for run in two_runs.runs]
    if not min(rates):
        return ""
    if f"{max(rates) / min(rates):.2f}" == "1.00":
        return words.alike.format(rate=sum(rates) / 2)
    best = int(np.argmax(rates))
    return words.faster.format(
        first=two_runs.names[best],
        rate=rates[best],
        second=two_runs.names[1 - best],
        other=rates[1 - best],
    )


def _texts(state: kit.PageState) -> None:
    """Show a recorded run of one prompt with several answers."""
    two_runs = recorded(texts_shown)
    if two_runs is None:
        return
    kit.section(words.samples_section)
    number = model.WAYS.index(state["serveways"])
    key, (step, _) = f"{KEY}.ways.{state['serveways']}", two_runs.openings[number]
    view.serving_film(
        two_runs.pictures[number],
        key=key,
        step=step if state["servewaystick"] == OPENING else state["servewaystick"],
        chosen=state["servewaystext"],
        near=True,
        on_change=kit.bound(state, key, step="servewaystick", chosen="servewaystext"),
    )
    kit.choose(state, "serveways", words.ways, words.kinds)
    recording = two_runs.runs[number].recording
    named, held = model.blocks_at_once(recording)
    kit.prose(
        words.ways_saved,
        named=kit.count(named, "block"),
        held=held,
    )


def _trial(state: kit.PageState) -> None:
    """Show the controls of the learner's own runs, the button, and how far they are."""
    kit.section(words.serve)
    if not kit.models_here(model.BASE):
        return
    with st.expander(words.settings, icon=":material/tune:"):
        _controls(state)
    trial = kit.or_refused(trial_of, state)
    if trial is None:
        return
    if trial.workload.beams:
        kit.prose(words.searched, tokens=kit.count(model.memory_of_beam(trial), "token"))
    kit.live(
        state,
        FLAG,
        job_of,
        (trial,),
        lambda job: kit.prose(words.done) if job.state == DONE else None,
        start=words.start,
        share=lambda job: model.done_share(trial, list(job.results)),
        said=kit.JobWords(words.goes, words.stopped, words.again),
    )


def _controls(state: kit.PageState) -> None:
    anew = state.setter(**{FLAG: False})
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        kit.choose(state, "servepolicy", words.policy, words.policies, then=anew)
        kit.choose(state, "serveagainst", words.against, words.policies, then=anew)
        kit.choose(state, "servekind", words.kind, words.kinds, then=anew)
        for key, label in words.sliders.items():
            steps = {"serverate": 10, "servebeginning": 4, "servememory": 32}
            st.slider(label, step=steps.get(key, 1), width=250, **state.ranged(key, then=anew))
        kit.choose(state, "serveblock", words.block, words.block_sizes, then=anew)
        kit.choose(state, "servepreempt", words.preempt, words.preemptions, then=anew)
        st.toggle(words.share, **state.bind("serveshare", then=anew))
    kit.text_area(
        state,
        "serveown",
        words.own,
        placeholder=words.own_place,
        help=words.own_help.format(lines=model.MOST_OWN, characters=model.MOST_OWN_CHARACTERS),
        height=90,
        then=anew,
    )


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
    return Trial(workload, config, policies, model.own_prompts(state["serveown"]))


def end(two_runs: TwoRuns) -> dict[str, object]:
    texts = kit.count(len(two_runs.runs[0].recording.timings), "text")
    ends = [
        f"{seconds:.2f} s with “{name}”"
        for name, seconds in zip(two_runs.names, two_runs.seconds, strict=True)
    ]
    return {"texts": texts, "ends": kit.listed(ends)}
