"""Chapter "Many machines": ways to share a training, each run on processes of this machine.

When each process works is a row of time, in which the bubble of a pipeline is seen.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import streamlit as st

from llmviz.course.figures.parallel import Segment, Stretch, lying, over_time
from llmviz.course.lessons.efficiency.parallel import on_paper, words
from llmviz.course.ui import kit
from llmviz.models.costs import count, tensors
from llmviz.models.memory_limits import spoken_bytes
from llmviz.parallel.formulas import bubble_share, sent_per_step
from llmviz.parallel.outcome import (
    COMMAND,
    COMPUTE,
    KINDS,
    SEND,
    WAIT,
    Outcome,
    Piece,
    Progress,
    Span,
    idle_share,
    recorded,
    replayed,
)
from llmviz.parallel.plan import BYTES_EACH, METHODS, PIPELINES, ParallelPlan, part_of

TIMES_KEY = "efficiency.parallel.times"


def draw_times(outcome: Outcome, origin: str) -> None:
    """Show the time line and what it adds up to; origin: where the run is from."""
    kit.section(words.times)
    kit.chart(timeline(outcome, kit.theme()), TIMES_KEY)
    kit.prose(time_line(outcome))
    if outcome.plan.method in PIPELINES:
        kit.prose(words.bubble, measured=kit.percent(outcome.idle_share()))
        kit.chart(replayed_timeline(outcome, kit.theme()), f"{TIMES_KEY}.replayed")
        kit.prose(replayed_line(outcome))
    spent = {"step": 1e3 * min(outcome.seconds), "alone": 1e3 * min(outcome.alone_seconds)}
    kit.measured(words.how_times, origin=origin, **spent)


@kit.cached(48, key=lambda outcome, mode: (outcome.plan, outcome.seconds, mode))
def timeline(outcome: Outcome, mode: kit.Mode) -> kit.Figure:
    return _figure([process.spans for process in outcome.processes], mode)


@kit.cached(48, key=lambda outcome, mode: (outcome.plan, outcome.seconds, mode))
def replayed_timeline(outcome: Outcome, mode: kit.Mode) -> kit.Figure:
    """Return the step of a pipeline as it would be with a core for each process."""
    return _figure(replayed(outcome), mode)


def _figure(spans: Sequence[Sequence[Span]], mode: kit.Mode) -> kit.Figure:
    rows = [words.process.format(number=number + 1) for number in range(len(spans))]
    stretches = [stretch(row, span) for row, own in zip(rows, spans, strict=True) for span in own]
    return over_time(rows, stretches, words.time_kinds, words.time_axis, mode)


def stretch(row: str, span: Span) -> Stretch:
    """Return a span as it is drawn, in milliseconds."""
    kind = kind_of(span)
    what = {"send": words.sends, "wait": words.waits_for}.get(kind, "{label}")
    start, end = 1e3 * span.start, 1e3 * span.end
    text = words.stretch.format(what=what.format(label=span.label), time=end - start)
    return Stretch(row, kind, start, end, text)


def kind_of(span: Span) -> str:
    """Return the kind by which a span is coloured.

    >>> kind_of(Span(COMPUTE, "backward 2", 0, 1)), kind_of(Span(COMPUTE, "loss", 0, 1))
    ('backward', 'forward')
    """
    if span.kind != COMPUTE:
        return span.kind
    word = span.label.split(" ")[0]
    return word if word in ("backward", "update") else "forward"


def shares(outcome: Outcome) -> dict[str, float]:
    """Return the share of the time of all processes that each kind has; what is left is waiting."""
    whole = len(outcome.processes) * outcome.duration
    spent = {
        kind: sum(process.seconds(kind) for process in outcome.processes) / whole
        for kind in (COMPUTE, SEND)
    }
    return spent | {WAIT: max(0.0, 1 - sum(spent.values()))}


def time_line(outcome: Outcome) -> str:
    """Return the sentence about what the time of a step went into."""
    spent = shares(outcome)
    return words.step_time.format(**{kind: kit.percent(spent[kind]) for kind in (COMPUTE, SEND)})


def replayed_line(outcome: Outcome) -> str:
    """Return the sentence about the bubble of the replayed step, and by formula."""
    plan = outcome.plan
    return words.replayed.format(
        replayed=kit.percent(idle_share(replayed(outcome))),
        processes=plan.processes,
        micro=plan.micro_batches,
        parts=words.micro_batches[plan.micro_batches > 1],
        formula=kit.percent(bubble_share(plan.processes, plan.micro_batches)),
    )


KEY, GUESS = "efficiency.parallel", "efficiency.parallel.sent"
HOST = "HOST:29500"
EACH = {"weights": 1, "gradients": 1, "state": 2}  # numbers for each parameter
GUESSED = "zero3"  # the way whose bytes are asked for
Settings = tuple[str, int, int]  # method, processes, micro-batches


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show what lies where, and the guess what is sent; then when each works, and any machines."""
    kit.prose(words.hook)
    stage, below = kit.stage("parallel"), st.container()
    with below:
        kit.or_refused(recorded)  # says why, where there are no runs
    try:
        with stage:
            picture = st.container()
            _controls(state)
            outcome, own = outcome_of(state)
            with picture:
                kit.chart(blocks(outcome, kit.theme()), f"{KEY}.places")
            kit.prose(f"{held_line(outcome)} {about(outcome.plan)}")
            guess = kit.Guess(GUESS, question(outcome.plan.processes))
            shown = _ask(guess, outcome.plan.processes)
    except ValueError:
        return
    if shown:
        kit.looks(state, words.looks, f"{KEY}.looks")
    draw_times(outcome, origin(outcome, own=own))
    _run(state)
    if shown:
        _sent(outcome)
    kit.prose(same_line(outcome))
    kit.measured(words.how_same, **apart(outcome))
    kit.section(words.start, processes=outcome.plan.processes)
    st.code(commands(outcome.plan), language="bash", wrap_lines=True)
    on_paper.draw(state)
    if shown:
        kit.seen(words.end, **end(outcome))


def question(processes: int) -> kit.Question:
    """Ask how much ZeRO 3 sends. The wrong answers: less kept is less sent; sharing is free."""
    data, right = (sent_of(ParallelPlan(way, processes)) for way in ("data", GUESSED))
    return kit.Question.among(
        words.ask,
        {right: words.ask_right, data / processes: words.ask_part, data: words.ask_same},
        right,
        "{:.2f} MB".format,
        processes=processes,
        data=data,
        right=right,
    )


def _ask(guess: kit.Guess, processes: int) -> bool:
    values = (
        sent_of(ParallelPlan("data", processes)),
        guess.right[0],
    )
    guess.cases(
        [kit.Case(name, value) for name, value in zip(words.rows, values, strict=True)],
        kit.Axis(0, 1.3 * max(values), words.sent_axis),
        veiled=[1],
        picture=f"{KEY}.guess",
        form="figure",
    )
    return guess.ask()


def sent_of(plan: ParallelPlan) -> float:
    """Return the megabytes that the process sends in a step that sends most, as it was counted."""
    return max(process.bytes_sent for process in recorded()[plan].processes) / 1e6


def _sent(outcome: Outcome) -> None:
    """Show what all ways send and keep, in the recorded runs."""
    kit.section(words.sent)
    processes, method = outcome.plan.processes, outcome.plan.method
    cases = [
        kit.Case(words.methods[plan.method], sent_of(plan), role="query" if on else "residual")
        for plan in first_plans(processes)
        for on in (plan.method == method,)
    ]
    axis = kit.Axis.over(cases, words.sent_axis)
    kit.case_rows(cases, axis, key=f"{KEY}.all", form="figure")
    kit.prose(words.sent_text[{"zero2": "zero1", "1f1b": "gpipe"}.get(method, method)])
    kit.programmers(words.how_sent)
    text = words.snippet.format(
        method=method, processes=processes, micro=outcome.plan.micro_batches
    )
    kit.show_code([sent_per_step], text, lambda: printed(outcome.plan))


def first_plans(processes: int) -> list[ParallelPlan]:
    """Return a recorded plan for each way on so many processes."""
    plans = {plan.method: plan for plan in recorded() if plan.processes == processes}
    return [plans[method] for method in METHODS if method in plans]


def printed(plan: ParallelPlan) -> str:
    each = (sent_per_step(plan, rank) for rank in range(plan.processes))
    return "\n".join(str({name: round(n) for name, n in sent.items()}) for sent in each)


def end(outcome: Outcome) -> dict[str, object]:
    plan, own = outcome.plan, totals(outcome)
    share = max(own) / alone(plan)
    same = words.end_same["apart" if outcome.difference else "equal"]
    return {
        "method": words.methods[plan.method],
        "processes": plan.processes,
        "most": spoken_bytes(max(own)),
        "share": words.end_share["all" if share == 1 else "part"].format(share=kit.percent(share)),
        "steps": plan.steps,
        "same": same.format(
            weight=kit.power_of_ten(outcome.difference) if outcome.difference else 0
        ),
    }


def _controls(state: kit.PageState) -> None:
    def anew() -> None:
        state["runhere"] = False
        options = micro_options(state["split"], int(state["processes"]))
        if state["micro"] not in options and state["split"] in PIPELINES:
            state["micro"] = options[0]

    kit.choose(state, "split", words.method, words.methods, then=anew, parts=True)
    with st.container(horizontal=True, gap="medium"):
        kit.choose(state, "processes", words.processes, words.processes_of, then=anew, width=200)
        if state["split"] in PIPELINES:
            options = micro_options(state["split"], int(state["processes"]))
            kit.keep(state, "micro", options)
            names = {option: option for option in options}
            kit.choose(state, "micro", words.micro, names, then=anew, width=300)


def about(plan: ParallelPlan) -> str:
    """Return what a way splits, in words."""
    numbers = {"rows": plan.rows, "micro": plan.micro_batches}
    return words.about[plan.method].format(
        **numbers,
        batch=plan.batch,
        processes=plan.processes,
        experts=plan.n_expert,
        through=words.through[plan.micro_batches > 1].format(**numbers),
    )


def origin(outcome: Outcome, *, own: bool) -> str:
    line = words.live if own else words.recorded
    cores = words.cores[outcome.cores > 1].format(cores=outcome.cores)
    line = line.format(cores=cores, command=COMMAND)
    processes = outcome.plan.processes
    if processes > outcome.cores:
        line += " " + words.turns.format(processes=processes, cores=cores)
    return line


def part_name(part: str) -> str:
    """Return how a part of the model is called.

    >>> part_name("0.attention"), part_name("2.expert.3"), part_name("head")
    ('layer 1, attention', 'layer 3, expert 4', 'last norm and head')
    """
    layer, _, rest = part.partition(".")
    if not rest:
        return words.parts[part]
    kind, _, expert = rest.partition(".")
    number = int(expert) + 1 if expert else 0
    return words.parts[kind].format(layer=int(layer) + 1, expert=number)


@lru_cache(64)
def parts_of(plan: ParallelPlan) -> dict[str, tuple[int, int]]:
    """Return where each part of the model begins and how many parameters it has, in order."""
    sizes: dict[str, int] = {}
    for tensor in tensors(plan.model()):
        sizes[part_of(tensor.name)] = sizes.get(part_of(tensor.name), 0) + tensor.count
    spread = plan.method == "experts"  # what is no expert of a feed-forward is its router
    at, places = 0, {}
    for part, size in sizes.items():
        name = part.replace(".mlp", ".router") if spread else part
        places[name] = at, size
        at += size
    return places


@kit.cached(48, key=lambda outcome, mode: (outcome.plan, outcome.seconds, mode))
def blocks(outcome: Outcome, mode: kit.Mode) -> kit.Figure:
    parts = parts_of(outcome.plan)
    rows, segments = [], []
    for number, process in enumerate(outcome.processes, 1):
        for kind in KINDS:
            row = words.row.format(process=number, kind=words.kinds[kind])
            rows.append(row)
            segments += [
                segment(outcome.plan, row, kind, piece, parts) for piece in process.held[kind]
            ]
    whole = count(outcome.plan.model())
    return lying(rows, segments, whole, words.places_axis, mode)


def segment(
    plan: ParallelPlan, row: str, kind: str, piece: Piece, parts: dict[str, tuple[int, int]]
) -> Segment:
    """Return a piece at its place in the model; it never reaches beyond its part."""
    name = piece.part.replace(".mlp", ".router") if plan.method == "experts" else piece.part
    begin, size = parts[name]
    length = piece.numbers / EACH[kind]
    start = min(begin + piece.start * size, begin + size - length)
    text = words.piece.format(
        part=part_name(name),
        numbers=piece.numbers,
        whole=size * EACH[kind],
        bytes=spoken_bytes(BYTES_EACH * piece.numbers),
    )
    return Segment(row, start, length, group_of(name, plan.n_layer), text)


def group_of(part: str, layers: int) -> int:
    """Return the number of the colour: the embedding, each layer, the head."""
    unit = part.partition(".")[0]
    return {"embedding": 0, "head": layers + 1}.get(unit, 0) or (
        int(unit) + 1 if unit.isdigit() else 0
    )


def totals(outcome: Outcome) -> list[int]:
    """Return the bytes that each process holds."""
    return [sum(process.bytes_held(kind) for kind in KINDS) for process in outcome.processes]


def alone(plan: ParallelPlan) -> int:
    """Return the bytes of weights, gradients and state of one process that has the whole model."""
    return BYTES_EACH * sum(EACH.values()) * count(plan.model())


def held_line(outcome: Outcome) -> str:
    """Return the sentence about what the fullest process holds."""
    own, whole = totals(outcome), alone(outcome.plan)
    return words.held["all" if min(own) == whole else "part"].format(
        most=spoken_bytes(max(own)),
        alone=spoken_bytes(whole),
        share=kit.percent(max(own) / whole),
        all=spoken_bytes(sum(own)),
    )


def given(state: kit.PageState) -> Settings:
    """Return what makes a run; only pipelines have micro-batches to choose."""
    micro = int(state["micro"]) if state["split"] in PIPELINES else ParallelPlan().micro_batches
    return state["split"], int(state["processes"]), micro


def plan_of(settings: Settings) -> ParallelPlan:
    method, processes, micro = settings
    return ParallelPlan(method, processes, micro_batches=micro)


def micro_options(method: str, processes: int) -> list[str]:
    """Return the numbers of micro-batches with which a pipeline is recorded."""
    numbers = {
        plan.micro_batches
        for plan in recorded()
        if (plan.method, plan.processes) == (method, processes)
    }
    return [str(number) for number in sorted(numbers)]


@kit.cached(12)
def job_of(*settings: Any) -> kit.Job:
    """Return a run in processes of its own; the same one is run only once."""
    return kit.training_jobs().start("llmviz.parallel.launch:run", plan=plan_of(settings))


def outcome_of(state: kit.PageState) -> tuple[Outcome, bool]:
    """Return the run to show, and whether it is the learner's own.

    Raises ValueError where the bundled ones cannot be read.
    """
    settings = given(state)
    if state["runhere"]:
        job = kit.job_for(state, "runhere", job_of, settings)
        outcomes = [result for result in list(job.results) if isinstance(result, Outcome)]
        if job.over and outcomes:
            return outcomes[-1], True
    return recorded()[plan_of(settings)], False


def _run(state: kit.PageState) -> None:
    settings = given(state)
    steps = plan_of(settings).steps

    def share(job: kit.Job) -> float:
        return len(job.results) / (steps + 1)

    def report(job: kit.Job) -> None:
        steps_done = [result for result in list(job.results) if isinstance(result, Progress)]
        if job.over and any(isinstance(result, Outcome) for result in job.results):
            kit.prose(words.done)
        elif steps_done:
            last = steps_done[-1]
            kit.prose(words.so_far, step=last.step, steps=steps, loss=last.loss)

    kit.live(
        state,
        "runhere",
        job_of,
        settings,
        report,
        start=words.run,
        share=share,
        said=kit.JobWords(
            words.runs.format(processes=settings[1]), words.stopped, words.again, repeats=True
        ),
    )


def same_line(outcome: Outcome) -> str:
    """Return whether the run is that of one process, in a sentence."""
    differ = (outcome.loss_difference, outcome.difference, outcome.logits_difference or 0.0)
    near = outcome.difference < outcome.plan.learning_rate / 5
    how = "equal" if not any(differ) else "rounding" if near else "apart"
    return words.same_text[how].format(weight=kit.power_of_ten(outcome.difference))


def apart(outcome: Outcome) -> dict[str, object]:
    """Return in numbers how far a run is from one process."""
    most = outcome.logits_difference
    line = "" if most is None else words.logits if most else words.logits_same
    return {
        "processes": outcome.plan.processes,
        "steps": outcome.plan.steps,
        "loss": f"{kit.power_of_ten(outcome.loss_difference)} nats",
        "weight": kit.power_of_ten(outcome.difference),
        "rate": f"{outcome.plan.learning_rate:g}",
        "logits": line.format(logits=kit.power_of_ten(most or 0)),
    }


def commands(plan: ParallelPlan) -> str:
    """Return the lines that start a run on one machine, and on two with half of the processes."""
    more = f" --micro-batches {plan.micro_batches}" if plan.method in PIPELINES else ""
    own = f"-m llmviz.parallel {plan.method}{more}"
    each = plan.processes
    return "\n".join(
        (
            f"python {own} --processes {each}",
            f"torchrun --nproc-per-node {each} {own}",
            f"torchrun --nnodes 2 --nproc-per-node {each // 2} --rdzv-backend c10d "
            f"--rdzv-endpoint {HOST} {own}",
        )
    )
