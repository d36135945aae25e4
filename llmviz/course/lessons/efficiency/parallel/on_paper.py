"""On paper: memory, bytes and days of a typed training on typed machines."""

import streamlit as st

from llmviz.course.figures.parallel import held
from llmviz.course.lessons.efficiency.parallel import words
from llmviz.course.ui import kit
from llmviz.parallel import paper

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
    kit.section(words.paper_intro)
    picture = st.container()
    _controls(state)
    training = kit.or_refused(training_of, state)
    if training is None:
        return
    with picture:
        kit.chart(memory_figure(training, kit.theme()), f"{KEY}.memory")
        kit.prose(f"{fits_line(training)} {days_line(training)}")
    kit.measured(words.how_paper, **slots_of(training))


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


def training_of(state: kit.PageState) -> paper.Training:
    """Return what was typed, in units without prefixes. Raises ValueError for what is no number."""
    return paper.Training(
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


@kit.cached(64)
def memory_figure(training: paper.Training, mode: kit.Mode) -> kit.Figure:
    """Return the memory of one GPU with each stage, and how much it has."""
    stages = [
        paper.memory_parts(training.parameters, training.gpus, stage) for stage in paper.STAGES
    ]
    parts: dict[str, list[float]] = {
        name: [stage[kind] / 1e9 for stage in stages] for kind, name in words.kinds.items()
    }
    names = [words.paper_stages[stage] for stage in paper.STAGES]
    limit = training.memory / 1e9
    return held(names, parts, words.paper_axis, mode, limit=limit, limit_name=words.paper_limit)


def fits(training: paper.Training, stage: str) -> bool:
    """Whether weights, gradients and state fit into one GPU."""
    return paper.memory_per_gpu(training.parameters, training.gpus, stage) <= training.memory


def fits_line(training: paper.Training) -> str:
    """Return the sentence about the first way that fits."""
    first = next((stage for stage in paper.STAGES if fits(training, stage)), "")
    line = words.paper_fits_line.get(first, words.paper_fits_line["other"])
    return line.format(stage=words.paper_stages.get(first, ""))


def slots_of(training: paper.Training) -> dict[str, object]:
    seconds, each = paper.days(training) * paper.SECONDS_A_DAY, paper.operations_each(training)
    steps = number_text(round(training.tokens / training.batch))
    return {
        "step": duration_text(paper.seconds_computing(training)),
        "steps": words.paper_steps[steps != "1"].format(steps=steps),
        "time": duration_text(seconds),
        "gpus": words.paper_gpus_counted[training.gpus > 1].format(gpus=training.gpus),
        "hours": number_text(seconds / 3600 * training.gpus),
        "operations": kit.power_of_ten(each * training.parameters * training.tokens),
        "each": each,
        "sending": duration_text(paper.seconds_sending(training, "data")),
    }


def days_line(training: paper.Training) -> str:
    """Return the sentence about how long it takes."""
    line = words.paper_days + (words.paper_sending if training.gpus > 1 else "")
    return line.format(**slots_of(training))


def duration_text(seconds: float) -> str:
    """Return a long time in days, a shorter one in hours, minutes, or in seconds.

    >>> duration_text(864_000), duration_text(5400), duration_text(90), duration_text(2.5)
    ('10 days', '1.5 hours', '1.5 minutes', '2.5 s')
    """
    for size, name in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            number = number_text(seconds / size)
            return f"{number} {name}" if number == "1" else f"{number} {name}s"
    return f"{number_text(seconds)} s"


def number_text(number: float) -> str:
    """Return a number with three digits, from 100 on whole; an extreme one with a power of ten.

    >>> number_text(33.814), number_text(830_959.4), number_text(2.5e16), number_text(1.2e-7)
    ('33.8', '830,959', '2.5·10¹⁶', '1.2·10⁻⁷')
    """
    return _digits(number) if not number or 0.001 <= number < 1e9 else kit.power_of_ten(number)


def _digits(number: float) -> str:
    return f"{number:,.0f}" if number >= 99.95 else f"{number:.3g}"
