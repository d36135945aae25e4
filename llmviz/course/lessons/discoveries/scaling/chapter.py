"""Chapter "Scaling laws": a law fitted to forty small trainings, and the floor that is known.

Then which size has the lowest loss for the same compute, and a run of the learner's.
N parameters, D tokens, L the loss in nats per token.
"""

from dataclasses import astuple
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from llmviz.course.figures.bars import named_bars
from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.discoveries.scaling import (
    OWN_AMOUNTS,
    OWN_SIZES,
    laws,
    scaling_fit,
    scaling_runs,
    words,
)
from llmviz.course.lessons.discoveries.scaling.laws import (
    fit_of,
    law_figure,
    of_width,
    sizes,
    taken_of,
)
from llmviz.course.lessons.discoveries.scaling.scaling_fit import COMMAND as FITS_COMMAND
from llmviz.course.lessons.discoveries.scaling.scaling_fit import recorded as fits
from llmviz.course.lessons.discoveries.scaling.scaling_runs import recorded as runs
from llmviz.course.ui import kit
from llmviz.processes.background import DONE

OWN_KEY = "discoveries.scaling.own"
job_of = kit.job_of(
    "llmviz.course.lessons.discoveries.scaling.scaling_runs:train_one", "size", "amount", "seed"
)


def draw_own_run(state: kit.PageState, *, opened: bool) -> None:
    """Show the controls, the button, and the run; opened: whether the law may be seen."""
    kit.section(words.own)
    anew = state.setter(ownscale=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        names = dict(zip(OWN_SIZES, (f"{count:,}" for count in sizes()), strict=True))
        st.selectbox(words.own_width, width=160, **state.named("ownwidth", names, anew))
        amounts = {amount: f"{int(amount):,}" for amount in OWN_AMOUNTS}
        st.selectbox(words.own_stories, width=140, **state.named("ownstories", amounts, anew))
        st.number_input(words.own_seed, step=1, width=110, **state.ranged("scaleseed", then=anew))
    size = next(model for model in scaling_runs.SIZES if str(model.width) == state["ownwidth"])
    kit.live(
        state,
        "ownscale",
        job_of,
        (size, int(state["ownstories"]), state["scaleseed"]),
        lambda job: _results(state, job, opened=opened),
        start=words.own_start,
        share=lambda job: job.results[-1].step / job.results[-1].steps if job.results else 0.0,
    )


def _results(state: kit.PageState, job: kit.Job, *, opened: bool) -> None:
    if not job.results:
        return
    last = job.results[-1]
    if last.run is None or job.state != DONE:
        kit.prose(words.own_going.format(tokens=last.tokens, loss=last.loss))
        return
    run, taken = last.run, taken_of(state)
    kit.chart(
        law_figure(taken if opened else None, run, kit.theme()), f"{OWN_KEY}.chart", bar=False
    )
    like = next(other for other in of_width(run.width) if other.stories == run.stories)
    text, numbers = words.own_alone, {"loss": run.loss, "bundled": like.loss}
    if opened:
        try:
            law = fit_of(taken).law
        except ValueError:
            pass
        else:
            text = words.own_read
            numbers["law"] = float(law.loss(getattr(run, taken.counted), run.tokens))
    kit.prose(text.format(**numbers))


COMPUTE_KEY = "discoveries.scaling.compute"
COSTS = (1e10, 3e10, 1e11, 3e11)


class Point(NamedTuple):
    """A size at a cost: its parameters, and its loss between two measured amounts of text."""

    parameters: int
    loss: float


@kit.cached(1)
def equal_compute() -> dict[float, list[Point]]:
    """Return for each cost the sizes whose amounts of text were measured on both sides."""
    found: dict[float, list[Point]] = {cost: [] for cost in COSTS}
    for size in scaling_runs.SIZES:
        of_size = of_width(size.width)
        tokens = np.log([run.tokens for run in of_size])
        losses = np.log([run.loss for run in of_size])
        for cost, points in found.items():
            at = np.log(cost / 6 / of_size[0].parameters)
            if tokens[0] <= at <= tokens[-1]:
                loss = float(np.exp(np.interp(at, tokens, losses)))
                points.append(Point(of_size[0].parameters, loss))
    return found


def costs_written(cost: float) -> str:
    """Return a cost in powers of ten.

    >>> costs_written(3e10)
    '3·10¹⁰'
    """
    power = int(np.floor(np.log10(cost) + 1e-9))
    factor = round(cost / 10**power)
    return ("" if factor == 1 else f"{factor}·") + "10" + kit.raised(power)


def draw_compute(taken: scaling_fit.Taken, law: scaling_fit.Law | None) -> None:
    """Show the curves of equal compute, and the best size of each."""
    kit.section(words.compute)
    kit.chart(figure(kit.theme()), f"{COMPUTE_KEY}.chart", bar=False)
    counts_all = law is not None and taken.counted == scaling_fit.ALL
    rows = []
    for cost, points in equal_compute().items():
        best = min(points, key=lambda point: point.loss)
        by_law = f"{law.best_size(cost):,.0f}" if law is not None and counts_all else "–"
        rows.append((costs_written(cost), f"{best.parameters:,}", f"{best.loss:.3f}", by_law))
    kit.rows_table(rows, words.compute_columns)
    if law is not None and counts_all:
        kit.prose(words.compute_read.format(power=law.beta / (law.alpha + law.beta)))
    kit.measured(words.how_equal)


@kit.cached(2)
def figure(mode: kit.Mode) -> go.Figure:
    """Return the loss by size, a line for each cost."""
    drawn = [
        Line(
            words.compute_line.format(cost=costs_written(cost)),
            [point.parameters for point in points],
            [point.loss for point in points],
            number,
        )
        for number, (cost, points) in enumerate(equal_compute().items())
    ]
    chart = lines(
        drawn, (words.compute_axis, words.loss_axis), mode, logarithmic=(True, True), height=380
    )
    sizes = [2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5]
    chart.update_layout(
        xaxis={"dtick": None, "tickvals": sizes, "ticktext": [f"{size:,.0f}" for size in sizes]},
        yaxis={"dtick": None, "tickvals": [1, 2, 3, 4, 5, 6], "ticktext": list("123456")},
    )
    return chart


KEY = "discoveries.scaling"
GUESS = f"{KEY}.next"
# The constants E, A, α, B and β that others published; Kaplan and others use another form.
PUBLISHED = (
    ("1.69", "406.4", "0.34", "410.7", "0.28"),
    ("1.82", "482.0", "0.35", "2,085", "0.37"),
    ("–", "–", "0.076", "–", "0.095"),
)


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show seven sizes and where the eighth lies, then the law of all runs and its floor."""
    try:
        every, _ = runs()[1], fits()
    except ValueError:
        st.info(words.missing, icon=":material/download:")
        st.code(f"{scaling_runs.COMMAND}\n{FITS_COMMAND}", language=None)
        return
    kit.prose(words.hook, sizes=len(scaling_runs.SIZES) - 1, most=scaling_runs.AMOUNTS[-1])
    guess = kit.Guess(GUESS, next_question())
    with kit.stage("scaling"):
        _next(guess)
    guess.ask()
    if guess.open:
        kit.prose(words.caption, **next_numbers())
    counts = [run.parameters for run in every]
    kit.section(
        words.intro,
        sizes=len(scaling_runs.SIZES),
        amounts=len(scaling_runs.AMOUNTS),
        smallest=min(counts),
        largest=max(counts),
        fewest=scaling_runs.AMOUNTS[0],
        most=scaling_runs.AMOUNTS[-1],
    )
    if guess.open:
        kit.plot(f"{KEY}.runs", laws.runs_figure)
    kit.measured(words.how_runs, held=scaling_runs.HELD_OUT)
    opened = kit.Guess(f"{KEY}.floor", question()).ask()
    if opened:
        taken = laws.taken_of(state)
        found = _fit(state, taken)
        if found is not None:
            _truth(taken, found)
        draw_compute(taken, None if found is None else found.law)
    draw_own_run(state, opened=opened)
    if opened:
        kit.seen(words.end, **end_numbers())


def next_numbers() -> dict[str, float]:
    """Return what a law of the smaller models says of the largest, and what was measured."""
    largest = laws.longest()[-1]
    said = float(laws.without_largest().loss(largest.parameters, largest.tokens))
    return {"said": said, "loss": largest.loss, "floor": runs()[0].entropy}


def next_question() -> kit.Question:
    """Return the question what the next larger model comes to.

    The wrong answers are those of somebody to whom it has levelled off, and of one to whom each
    size brings as much as the one before.
    """
    losses, counts = zip(*((run.loss, run.parameters) for run in laws.longest()), strict=True)
    values = {
        "level": losses[-2],
        "step": 2 * losses[-2] - losses[-3],
        "right": losses[-1],
    }
    return kit.Question(
        words.ask_next.format(times=counts[-1] / counts[-2]),
        [words.next_answer.format(loss=loss) for loss in values.values()],
        2,
        [words.ask_next_reasons[name].format(**next_numbers()) for name in values],
        values=[(loss,) for loss in values.values()],
        write=lambda loss: words.next_answer.format(loss=loss),
    )


def _next(guess: kit.Guess) -> None:
    every = laws.longest()
    losses, places = [run.loss for run in every], range(1, len(every) + 1)
    level = [(runs()[0].entropy, words.floor_level)] if guess.open else []
    guess.line(
        [],
        kit.Drawn(words.sizes_line, places, losses, "loss"),
        kit.Scale(
            0.8,
            len(every) + 0.2,
            words.size_axis,
            marks=[
                (at, f"{every[at - 1].parameters:,}") for at in (1, len(every) // 2, len(every))
            ],
        ),
        kit.Scale(0, max(losses) * 1.05, words.surprise_axis),
        known=len(every) - 1,
        picture=f"{KEY}.next",
        levels=level,
    )


def verdict(found: scaling_fit.Fitted, exact: float) -> str:
    """Return whether the fitted E is too low, too high, or has the floor in its interval."""
    low, high = found.low[0], found.high[0]
    return "low" if high < exact else "high" if low > exact else "in"


def question() -> kit.Question:
    """Return the question how the fitted E compares with the exact floor."""
    floor, every = runs()
    right = ("low", "in", "high").index(verdict(laws.fit_of(scaling_fit.Taken()), floor.entropy))
    return kit.Question.rated(
        words.ask_floor,
        words.ask_floor_answers,
        right,
        words.ask_floor_reasons,
        runs=len(every),
    )


def end_numbers() -> dict[str, object]:
    floor, _ = runs()
    law = laws.fit_of(scaling_fit.Taken()).law
    return {
        "off": kit.percent(float(laws.misses(law, scaling_fit.Taken()).mean())),
        "e": law.e,
        "exact": floor.entropy,
    }


def _fit(state: kit.PageState, taken: scaling_fit.Taken) -> scaling_fit.Fitted | None:
    kit.section(words.fit)
    kit.choose(state, "counted", words.counted, words.counts)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        sizes = {place: f"{count:,}" for place, count in enumerate(laws.sizes())}
        st.select_slider(words.smallest, width=320, **state.named("smallest", sizes))
        st.select_slider(words.shortest, width=320, **state.named("shortest", laws.least_text()))
    kit.chart(laws.law_figure(taken, None, kit.theme()), f"{KEY}.law", bar=False)
    try:
        found = laws.fit_of(taken)
    except ValueError as error:
        kit.refuse(error)
        return None
    kit.rows_table(constants(found), words.law_columns)
    off = laws.misses(found.law, taken)
    kit.prose(
        words.fit_read.format(
            runs=len(off),
            off=kit.percent(float(off.mean())),
            worst=kit.percent(float(off.max())),
        )
    )
    kit.looks(state, words.looks, f"{KEY}.looks")
    kit.prose(words.published)
    near = kit.percent(scaling_fit.NEAR - 1)
    starts = {"found": found.found, "starts": found.starts, "draws": scaling_fit.DRAWS}
    kit.measured(words.how_fitted, near=near, **starts)
    _code(taken)
    return found


def constants(found: scaling_fit.Fitted) -> list[tuple[str, ...]]:
    """Return a row for this law, one for its intervals, and one for each published law."""
    own = tuple(written(value) for value in astuple(found.law)[:5])
    apart = tuple(
        f"{written(low)} – {written(high)}" for low, high in zip(found.low, found.high, strict=True)
    )
    names = [name.format(covered=kit.whole_percent(scaling_fit.COVERED)) for name in words.law_rows]
    return [(name, *row) for name, row in zip(names, (own, apart, *PUBLISHED), strict=True)]


def written(value: float) -> str:
    """Return a constant with about three digits.

    >>> written(0.3821), written(4678.6), written(0.00001)
    ('0.382', '4,679', '0.000')
    """
    return f"{value:.3f}" if value < 10 else f"{value:,.0f}"


def _truth(taken: scaling_fit.Taken, found: scaling_fit.Fitted) -> None:
    kit.section(words.truth)
    floor, every = runs()
    best, law = min(run.loss for run in every), found.law
    held = laws.law_with_floor(taken, floor.entropy)
    names = (words.truth_fit, words.truth_exact, words.truth_best)
    values = [law.e, floor.entropy, best]
    mode = kit.theme()
    figure = named_bars(
        names,
        values,
        [f"{value:.3f}" for value in values],
        [kit.role_color(role, mode) for role in ("weights", "accent", "residual")],
        {"title": {"text": words.truth_axis, "standoff": 8}, "rangemode": "tozero"},
        mode,
    )
    kit.chart(figure, f"{KEY}.truth", bar=False)
    read = words.truth_read[verdict(found, floor.entropy)].format(
        e=law.e,
        low=found.low[0],
        high=found.high[0],
        exact=floor.entropy,
        wide=found.high[0] - found.low[0],
    )
    fitted = [fits()[part.name].law.e for part in scaling_fit.EVERY]
    stable = words.stable.format(fits=len(fitted), least=min(fitted), most=max(fitted))
    kit.prose("\n\n".join((read, words.why.format(gap=best - floor.entropy), stable)))
    off, floor_off = (
        kit.percent(float(laws.misses(fitted_law, taken).mean())) for fitted_law in (law, held)
    )
    kit.measured(words.how_floor, off=off, floor_off=floor_off)


def _code(taken: scaling_fit.Taken) -> None:
    start = (5.0, 5.0, 0.8, 0.8, 0.0)
    law = scaling_fit.fit_from(start, *taken.numbers(runs()[1]))
    constants = np.round(astuple(law)[:5], 3).tolist()
    kit.show_code(
        [scaling_fit.fit_from],
        "from dataclasses import astuple\n\n"
        "import numpy as np\n\n"
        "from llmviz.course.lessons.discoveries.scaling.scaling_fit import fit_from\n"
        "from llmviz.course.lessons.discoveries.scaling.scaling_fit import Taken\n"
        "from llmviz.course.lessons.discoveries.scaling.scaling_runs import recorded\n\n"
        f"taken = Taken({taken.counted!r}, {taken.smallest}, {taken.shortest})\n"
        f"law = fit_from({start!r}, *taken.numbers(recorded()[1]))\n"
        "print(np.round(astuple(law)[:5], 3).tolist())",
        f"{constants}",
    )
