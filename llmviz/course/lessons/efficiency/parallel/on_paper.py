"""On paper: memory, bytes and days of a typed training on typed machines."""

import streamlit as st

from llmviz.course.figures.parallel import held
from llmviz.course.lessons.efficiency.parallel import words as words
from llmviz.course.lessons.efficiency.parallel.amounts import (
    bytes_text,
    duration_text,
    number_text,
    seconds_text,
)
from llmviz.course.ui import kit
from llmviz.parallel.paper import (
    SECONDS_A_DAY,
    STAGES,
    Training,
    bytes_per_step,
    days,
    memory_parts,
    memory_per_gpu,
    operations_each,
    seconds_computing,
    seconds_sending,
)

KEY = "efficiency.parallel.paper"
# Billions of parameters and tokens, GPUs, millions of tokens a step, kind of GPU, percent of its
# peak, and whether the forward pass was computed twice; words.paper_sources says from where.
PRESETS = {
    "gpt3": (175.0, 300.0, 1024, 3.2, "a100", 45.0, True),
    "llama2small": (7.0, 2000.0, 512, 4.0, "a100", 41.0, False),
    "llama2": (70.0, 2000.0, 2000, 4.0, "a100", 43.0, False),
    "llama3": (405.0, 15600.0, 16_384, 16.0, "h100", 41.0, False),
}
SHAPE = ("fleetbillions", "fleettokens", "fleetgpus", "fleetbatch")
# Tflop/s in 16 bits, GB of memory, GB/s to other machines.
GPUS = {"v100": (125.0, 32.0, 6.25), "a100": (312.0, 80.0, 25.0), "h100": (989.0, 80.0, 50.0)}
MACHINE = ("fleetpeak", "fleetmemory", "fleetband")


def draw(state: kit.PageState) -> None:
    """Show the controls and what they come to."""
    kit.section(words.paper_intro)
    _controls(state)
    training = kit.or_refused(training_of, state)
    if training is None:
        return
    kit.chart(memory_figure(training, kit.theme()), f"{KEY}.memory")
    kit.prose(fits_line(training))
    if training.gpus == 1 or kit.predict(question(training), f"{KEY}.ask", covers=True):
        kit.rows_table([row_of(training, stage) for stage in STAGES], words.paper_columns)
    kit.prose(f"{days_line(training)}\n\n{words.paper_sources}")


def _controls(state: kit.PageState) -> None:
    def machine() -> None:
        for name, value in zip(MACHINE, GPUS[state["fleetkind"]], strict=True):
            state[name] = value

    def model() -> None:
        *shape, kind, use, twice = PRESETS[state["fleetmodel"]]
        for name, value in zip(SHAPE, shape, strict=True):
            state[name] = value
        state["fleetkind"], state["fleetuse"], state["fleettwice"] = kind, use, twice
        machine()

    with st.container(horizontal=True, gap="small"):
        st.selectbox(
            words.paper_preset, width=220, **state.named("fleetmodel", words.paper_presets, model)
        )
        st.selectbox(
            words.paper_gpu, width=220, **state.named("fleetkind", words.paper_gpus_known, machine)
        )
        for name, label in words.paper_numbers.items():
            st.number_input(label, width=170, **state.ranged(name))
    st.toggle(words.paper_against, **state.bind("fleettwice"))


def training_of(state: kit.PageState) -> Training:
    """Return what was typed, in units without prefixes. Raises ValueError for what is no number."""
    return Training(
        parameters=1e9 * state["fleetbillions"],
        tokens=1e9 * state["fleettokens"],
        gpus=state["fleetgpus"],
        peak=1e12 * state["fleetpeak"],
        utilization=state["fleetuse"] / 100,
        memory=1e9 * state["fleetmemory"],
        bandwidth=1e9 * state["fleetband"],
        batch=1e6 * state["fleetbatch"],
        checkpoints=state["fleettwice"],
    )


@kit.kept(64)
def memory_figure(training: Training, mode: kit.Mode) -> kit.Figure:
    """Return the memory of one GPU with each stage, and how much it has."""
    stages = [memory_parts(training.parameters, training.gpus, stage) for stage in STAGES]
    parts = {name: [stage[kind] / 1e9 for stage in stages] for kind, name in words.kinds.items()}
    names = [words.paper_stages[stage] for stage in STAGES]
    limit = training.memory / 1e9
    return held(names, parts, words.paper_axis, mode, limit=limit, limit_name=words.paper_limit)


def fits(training: Training, stage: str) -> bool:
    """Whether weights, gradients and state fit into one GPU."""
    return memory_per_gpu(training.parameters, training.gpus, stage) <= training.memory


def fits_line(training: Training) -> str:
    """Return the sentence about the first way that fits."""
    first = next((stage for stage in STAGES if fits(training, stage)), "")
    line = words.paper_fits_line.get(first, words.paper_fits_line["other"])
    return line.format(stage=words.paper_stages.get(first, ""))


def row_of(training: Training, stage: str) -> tuple[str, str, str, str, str, str]:
    """Return a row of the table of stages."""
    sending = seconds_sending(training, stage)
    return (
        words.paper_stages[stage],
        bytes_text(memory_per_gpu(training.parameters, training.gpus, stage)),
        words.paper_fits[fits(training, stage)],
        bytes_text(bytes_per_step(training.parameters, training.gpus, stage)),
        seconds_text(sending),
        number_text(sending / seconds_computing(training)),
    )


def days_line(training: Training) -> str:
    """Return the sentence about how long it takes."""
    seconds = days(training) * SECONDS_A_DAY
    steps = number_text(round(training.tokens / training.batch))
    each = operations_each(training)
    return words.paper_days.format(
        step=duration_text(seconds_computing(training)),
        steps=words.paper_steps[steps != "1"].format(steps=steps),
        time=duration_text(seconds),
        gpus=words.paper_gpus_counted[training.gpus > 1].format(gpus=training.gpus),
        hours=number_text(seconds / 3600 * training.gpus),
        operations=kit.power_of_ten(each * training.parameters * training.tokens),
        each=each,
    )


def question(training: Training) -> kit.Question:
    """Ask what ZeRO 3 costs in bytes, on two GPUs or more."""
    data, right = (
        bytes_per_step(training.parameters, training.gpus, stage) for stage in ("data", "zero3")
    )
    values = {
        "part": data / training.gpus,
        "same": data,
        "right": right,
        "all": training.gpus * data,
    }
    answers: dict[str, str] = {bytes_text(right): "right"}
    for name, value in values.items():
        answers.setdefault(bytes_text(value), name)
    reasons = {text: words.paper_reasons[name] for text, name in answers.items()}
    line = {"gpus": training.gpus, "data": bytes_text(data), "right": bytes_text(right)}
    return kit.Question.among(words.paper_ask, reasons, line["right"], **line)
