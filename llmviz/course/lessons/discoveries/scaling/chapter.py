"""Chapter "Scaling laws": a law fitted to forty small trainings, and the floor that is known.

N parameters, D tokens, L the loss in nats per token.
"""

from dataclasses import astuple

import numpy as np
import streamlit as st

from llmviz.course.figures.bars import named_bars
from llmviz.course.lessons.discoveries.scaling import compute, laws, own_run, words
from llmviz.course.lessons.discoveries.scaling.scaling_fit import COVERED, DRAWS, fit_from
from llmviz.course.lessons.discoveries.scaling.scaling_fits import COMMAND as FITS_COMMAND
from llmviz.course.lessons.discoveries.scaling.scaling_fits import EVERY, NEAR, Fitted, Taken
from llmviz.course.lessons.discoveries.scaling.scaling_fits import recorded as fits
from llmviz.course.lessons.discoveries.scaling.scaling_runs import (
    AMOUNTS,
    BATCH,
    COMMAND,
    HELD_OUT,
    SIZES,
)
from llmviz.course.lessons.discoveries.scaling.scaling_runs import recorded as runs
from llmviz.course.ui import kit

STAGED = True
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
        st.code(f"{COMMAND}\n{FITS_COMMAND}", language=None)
        return
    kit.prose(words.hook, sizes=len(SIZES) - 1, most=AMOUNTS[-1])
    asked = next_question()
    with kit.stage("scaling", stays=False):
        _next(asked)
    kit.predict(asked, GUESS, covers=True, hand=True)
    if kit.answered(asked, GUESS):
        kit.prose(words.caption, **next_numbers())
        kit.looks(state, words.looks, f"{KEY}.looks")
    counts = [run.parameters for run in every]
    kit.section(
        words.intro,
        sizes=len(SIZES),
        amounts=len(AMOUNTS),
        smallest=min(counts),
        largest=max(counts),
        fewest=AMOUNTS[0],
        most=AMOUNTS[-1],
        held=HELD_OUT,
    )
    if kit.answered(asked, GUESS):
        kit.plot(f"{KEY}.runs", laws.runs_figure)
    opened = kit.predict(question(), f"{KEY}.floor", covers=True)
    if opened:
        taken = laws.taken_of(state)
        found = _fit(state, taken)
        if found is not None:
            _truth(taken, found)
        compute.draw(taken, None if found is None else found.law)
    own_run.draw(state, opened=opened)
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
    losses = [run.loss for run in laws.longest()]
    values = {
        "level": losses[-2],
        "step": 2 * losses[-2] - losses[-3],
        "right": losses[-1],
    }
    return kit.Question(
        words.ask_next.format(count=laws.longest()[-1].parameters),
        [words.next_answer.format(loss=loss) for loss in values.values()],
        2,
        [words.ask_next_reasons[name].format(**next_numbers()) for name in values],
        values=[(loss,) for loss in values.values()],
        write=lambda loss: words.next_answer.format(loss=loss),
    )


def _next(asked: kit.Question) -> None:
    every = laws.longest()
    counts = [run.parameters for run in every]
    losses = [run.loss for run in every]
    level = [(runs()[0].entropy, words.floor_level)] if kit.answered(asked, GUESS) else []
    kit.guess_line(
        [],
        kit.Drawn(words.sizes_line, counts, losses),
        kit.Scale(
            counts[0] * 0.9,
            counts[-1] * 1.1,
            words.size_axis,
            log=True,
            marks=[(count, f"{count:,}") for count in (counts[0], counts[3], counts[-1])],
        ),
        kit.Scale(0, max(losses) * 1.05, words.loss_axis),
        asked,
        GUESS,
        known=len(counts) - 1,
        picture=f"{KEY}.next",
        levels=level,
    )


def verdict(found: Fitted, exact: float) -> str:
    """Return whether the fitted E is too low, too high, or has the floor in its interval."""
    low, high = found.low[0], found.high[0]
    return "low" if high < exact else "high" if low > exact else "in"


def question() -> kit.Question:
    """Return the question how the fitted E compares with the exact floor."""
    floor, every = runs()
    right = ("low", "in", "high").index(verdict(laws.fit_of(Taken()), floor.entropy))
    return kit.Question.rated(
        words.ask_floor,
        words.ask_floor_answers,
        right,
        words.ask_floor_reasons,
        runs=len(every),
        covered=kit.whole_percent(COVERED),
    )


def end_numbers() -> dict[str, object]:
    """Return the numbers that the chapter ends with."""
    floor, every = runs()
    law = laws.fit_of(Taken()).law
    return {
        "off": kit.percent(float(laws.misses(law, Taken()).mean())),
        "e": law.e,
        "exact": floor.entropy,
        "gap": min(run.loss for run in every) - floor.entropy,
    }


def _fit(state: kit.PageState, taken: Taken) -> Fitted | None:
    kit.section(words.fit, draws=DRAWS)
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
            found=found.found,
            starts=found.starts,
            near=kit.percent(NEAR - 1),
            runs=len(off),
            off=kit.percent(float(off.mean())),
            worst=kit.percent(float(off.max())),
        )
    )
    kit.prose(words.published)
    _code(taken)
    return found


def constants(found: Fitted) -> list[tuple[str, ...]]:
    """Return a row for this law, one for its intervals, and one for each published law."""
    own = tuple(written(value) for value in astuple(found.law)[:5])
    apart = tuple(
        f"{written(low)} – {written(high)}" for low, high in zip(found.low, found.high, strict=True)
    )
    names = [name.format(covered=kit.whole_percent(COVERED)) for name in words.law_rows]
    return [(name, *row) for name, row in zip(names, (own, apart, *PUBLISHED), strict=True)]


def written(value: float) -> str:
    """Return a constant with about three digits.

    >>> written(0.3821), written(4678.6), written(0.00001)
    ('0.382', '4,679', '0.000')
    """
    return f"{value:.3f}" if value < 10 else f"{value:,.0f}"


def _truth(taken: Taken, found: Fitted) -> None:
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
    fitted = [fits()[part.name].law.e for part in EVERY]
    kit.prose(
        "\n\n".join(
            (
                read,
                words.why.format(
                    best=best,
                    gap=best - floor.entropy,
                    steps=AMOUNTS[taken.shortest] // BATCH,
                    off=kit.percent(float(laws.misses(law, taken).mean())),
                    floor_off=kit.percent(float(laws.misses(held, taken).mean())),
                ),
                words.stable.format(fits=len(fitted), least=min(fitted), most=max(fitted)),
            )
        )
    )


def _code(taken: Taken) -> None:
    start = (5.0, 5.0, 0.8, 0.8, 0.0)
    law = fit_from(start, *taken.numbers(runs()[1]))
    constants = np.round(astuple(law)[:5], 3).tolist()
    kit.show_code(
        [fit_from],
        "from dataclasses import astuple\n\n"
        "import numpy as np\n\n"
        "from llmviz.course.lessons.discoveries.scaling.scaling_fit import fit_from\n"
        "from llmviz.course.lessons.discoveries.scaling.scaling_fits import Taken\n"
        "from llmviz.course.lessons.discoveries.scaling.scaling_runs import recorded\n\n"
        f"taken = Taken({taken.counted!r}, {taken.smallest}, {taken.shortest})\n"
        f"law = fit_from({start!r}, *taken.numbers(recorded()[1]))\n"
        "print(np.round(astuple(law)[:5], 3).tolist())",
        f"{constants}",
    )
