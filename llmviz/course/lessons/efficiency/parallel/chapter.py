"""Chapter "Many machines": ways to share a training, each run on processes of this machine."""

import streamlit as st

from llmviz.course.figures.adapters import Curve, lines
from llmviz.course.lessons.efficiency.parallel import (
    code,
    on_paper,
    places,
    run,
    sent,
    times,
    words,
)
from llmviz.course.lessons.efficiency.parallel.amounts import bytes_text
from llmviz.course.ui import kit
from llmviz.models.arithmetic import count
from llmviz.parallel.formulas import bubble_share
from llmviz.parallel.outcome import Outcome
from llmviz.parallel.plan import PIPELINES, ParallelPlan
from llmviz.parallel.recording import COMMAND

KEY = "efficiency.parallel"
HOST = "HOST:29500"


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    usual = ParallelPlan()
    sizes = {"layers": usual.n_layer, "parameters": count(usual.model())}
    kit.section(words.intro, **sizes)
    try:
        _controls(state)
        outcome, own = run.outcome_of(state)
    except ValueError as error:
        kit.refuse(error)
        return
    plan = outcome.plan
    kit.prose(f"{about(plan)}\n\n{origin(outcome, own=own)}")
    run.draw(state)
    places.draw(outcome)
    kit.predict(question(plan.processes, plan.micro_batches), f"{KEY}.ask")
    times.draw(outcome)
    _same(outcome)
    sent.draw(outcome)
    code.draw(plan)
    _start(plan)
    on_paper.draw(state)
    kit.seen(words.end, **end(outcome))


def end(outcome: Outcome) -> dict[str, object]:
    """Return the numbers that the chapter ends with."""
    plan, own = outcome.plan, places.totals(outcome)
    same = words.end_same["apart" if outcome.difference else "equal"]
    return {
        "method": words.methods[plan.method],
        "processes": plan.processes,
        "most": bytes_text(max(own)),
        "share": kit.percent(max(own) / places.alone(plan)),
        "steps": plan.steps,
        "same": same.format(
            weight=kit.power_of_ten(outcome.difference) if outcome.difference else 0
        ),
    }


def _controls(state: kit.PageState) -> None:
    def anew() -> None:
        state["runhere"] = False
        options = run.micro_options(state["split"], int(state["processes"]))
        if state["micro"] not in options and state["split"] in PIPELINES:
            state["micro"] = options[0]

    kit.choose(state, "split", words.method, words.methods, then=anew, parts=True)
    with st.container(horizontal=True, gap="medium"):
        kit.choose(state, "processes", words.processes, words.processes_of, then=anew, width=200)
        if state["split"] in PIPELINES:
            options = run.micro_options(state["split"], int(state["processes"]))
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
    """Return where the figures come from."""
    line = words.live if own else words.recorded
    cores = words.cores[outcome.cores > 1].format(cores=outcome.cores)
    line = line.format(cores=cores, command=COMMAND)
    processes = outcome.plan.processes
    if processes > outcome.cores:
        line += " " + words.turns.format(processes=processes, cores=cores)
    return line


def question(processes: int, micro: int) -> kit.Question:
    """Ask what twice as many micro-batches do to the bubble of a pipeline."""
    now, right = bubble_share(processes, micro), bubble_share(processes, 2 * micro)
    shares = [right, now / 2, now, bubble_share(processes, micro / 2)]
    return kit.Question.among(
        words.ask,
        dict(zip(shares, words.ask_reasons, strict=True)),
        right,
        kit.percent,
        processes=processes,
        micro=micro,
        parts=words.micro_batches[micro > 1],
        now=kit.percent(now),
        double=2 * micro,
        top=processes - 1,
        right=kit.percent(right),
    )


def _same(outcome: Outcome) -> None:
    kit.section(words.same)
    kit.chart(losses(outcome, kit.theme()), f"{KEY}.losses")
    kit.prose(same_line(outcome))


def same_line(outcome: Outcome) -> str:
    """Return the sentences about how far the run is from one process."""
    logits = outcome.logits_difference
    return words.same_text.format(
        processes=outcome.plan.processes,
        steps=outcome.plan.steps,
        loss=f"{kit.power_of_ten(outcome.loss_difference)} nats",
        weight=kit.power_of_ten(outcome.difference),
        rate=f"{outcome.plan.learning_rate:g}",
        why=_why_apart(outcome),
        logits="" if logits is None else _logits_apart(logits),
    )


def _logits_apart(most: float) -> str:
    return words.logits.format(logits=kit.power_of_ten(most)) if most else words.logits_same


def _why_apart(outcome: Outcome) -> str:
    apart = (outcome.loss_difference, outcome.difference, outcome.logits_difference or 0.0)
    if not any(apart):
        return words.equal
    return words.rounding if outcome.difference < outcome.plan.learning_rate / 5 else ""


@kit.kept(48, key=lambda outcome, mode: (outcome.plan, outcome.seconds, mode))
def losses(outcome: Outcome, mode: kit.Mode) -> kit.Figure:
    """Return the loss of each step, on one process and on several."""
    steps = list(range(1, len(outcome.losses) + 1))
    alone, shared = words.same_names
    curves = [
        Curve(alone, steps, outcome.alone, "query", marks=True),
        Curve(
            shared.format(processes=outcome.plan.processes),
            steps,
            outcome.losses,
            "key",
            dashed=True,
            marks=True,
        ),
    ]
    return lines(curves, words.same_axes, mode, at=steps)


def _start(plan: ParallelPlan) -> None:
    each = words.each[plan.processes > 2].format(each=plan.processes // 2)
    text = words.start_text.format(processes=plan.processes, each=each)
    kit.section(words.start.title, f"{text}\n\n{words.start_train}")
    train = f"torchrun --nproc-per-node {plan.processes} -m llmviz train --shard --model gpt"
    st.code(f"{commands(plan)}\n{train}", language="bash", wrap_lines=True)


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
