"""Chapter "Numbers as bits": a sum that stands still, a number's bits, and training with few."""

import math
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import streamlit as st

from llmviz.course.components.bit_rows.view import bit_film, bit_rows, read_pattern
from llmviz.course.figures.lines import Line, lines
from llmviz.course.figures.quantization import PowerBars, power_bars
from llmviz.course.lessons.efficiency.bits import MOST, race, step_gradients, words
from llmviz.course.lessons.efficiency.bits.small_sums import ADDED_IN, RunningSums, running_sums
from llmviz.course.lessons.efficiency.bits.typed_number import read_number
from llmviz.course.ui import engine, kit
from llmviz.quantization.formats import FLOAT16, FORMATS, FloatFormat, bit_text

NUMBER_KEY = "efficiency.bits.board"
EXAMPLE = 0.1  # shown where nothing that was typed is a number


def draw_number(state: kit.PageState) -> float:
    """Show the section; return its number."""
    kit.section(words.board_section)
    number = _typed(state)
    formats = list(FORMATS.values())
    if state["pattern"]:
        try:
            read_pattern(state["pattern"], formats)
        except ValueError as problem:
            kit.warn(words.pattern_lost.format(problem=problem), kit.LINK_ICON)
            state["pattern"] = ""
    labels, notes = zip(*(words.labels[dtype.name] for dtype in formats), strict=True)
    bit_rows(
        formats,
        number,
        key=NUMBER_KEY,
        labels=labels,
        notes=notes,
        words=words.board,
        pattern=state["pattern"],
        on_change=kit.bound(state, NUMBER_KEY, pattern=("pattern", lambda pattern: pattern or "")),
    )
    kit.prose(words.board_text)
    kit.show_code(
        [FloatFormat.encode, FloatFormat.decode],
        words.snippet_one_number.format(number=number),
        lambda: lines_of(number),
    )
    return number


def held_as(number: float) -> dict[str, str]:
    """Return how three formats hold a number, for the end of the chapter."""
    formats = {"half": "float16", "brain": "bfloat16", "eighth": "float8_e4m3"}
    held = {key: written(float(FORMATS[name].round(number)), 9) for key, name in formats.items()}
    return {"number": written(number, 9), **held}


def lines_of(number: float) -> str:
    """Return what the snippet prints: the bits of a number in each floating-point format."""
    floats = [dtype for dtype in FORMATS.values() if isinstance(dtype, FloatFormat)]
    bits = [int(dtype.encode(number)) for dtype in floats]
    return "\n".join(
        f"{dtype.name} {bit_text(dtype, pattern)} {float(dtype.decode(pattern))}"
        for dtype, pattern in zip(floats, bits, strict=True)
    )


def _typed(state: kit.PageState) -> float:
    more = {"help": words.number_help, "width": 260}
    kit.text_input(state, "number", words.number, then=state.setter(pattern=""), **more)
    try:
        return read_number(state["number"])
    except ValueError as problem:
        line = str(problem)
        line = words.not_a_number.format(problem=line[0].upper() + line[1:], number=EXAMPLE)
        kit.warn(line)
        return EXAMPLE


def written(value: float, digits: int = 4) -> str:
    """Return a number with so many digits; very large and small ones as a power of ten.

    >>> written(65504, 5), written(5.9605e-8), written(-0.5), written(math.inf)
    ('65,504', '5.96·10⁻⁸', '−0.5', '∞')
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "−∞" if value < 0 else "∞"
    if value == 0 or 1e-4 <= abs(value) < 1e6:
        rounded = float(f"{value:.{digits}g}")
        return f"{rounded:,.12g}".replace("-", "−")
    mantissa, power = f"{value:.{digits - 1}e}".split("e")
    return f"{float(mantissa):g}".replace("-", "−") + "·10" + kit.raised(int(power))


GRADIENTS_KEY = "efficiency.bits.gradients"
MOST_SCALE = 24
VANISHES = round(math.log2(FLOAT16.smallest)) - 1  # at this power of two and below
NORMAL, LARGEST = FLOAT16.least_exponent, round(math.log2(FLOAT16.largest))
# Powers of two of each fate, the first and the last, and the role of its bars.
RANGES = {
    "vanish": (-400, VANISHES - 1, "key"),
    "subnormal": (VANISHES, NORMAL - 1, "accent"),
    "normal": (NORMAL, LARGEST - 1, "value"),
    "overflow": (LARGEST, 400, "query"),
}


@kit.cached(4)
def step_of(bundled: engine.Bundled) -> step_gradients.RealStep:
    """Return one real step of a bundled model."""
    return step_gradients.real_step(bundled.name)


def draw_gradients(state: kit.PageState) -> None:
    """Show the part, or one line where its model is not in this copy."""
    kit.section(words.gradient)
    names = {name: name for name in ("tiny-world-char", "names-gpt")}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.choose(state, "gradmodel", words.grad_model, names)
        kit.choose(state, "gradof", words.grad_of, words.gradients_of)
    name, of = state["gradmodel"], state["gradof"]
    if not kit.models_here(name):
        return
    bundled = engine.load(name)
    step = step_of(bundled)
    sizes = step.gradients[of]
    st.slider(words.scale, width=420, **state.ranged("scalepower"))
    power = state["scalepower"]
    line = words.scale_now if power else words.scale_none
    scaled = line.format(scale=f"2{kit.raised(power)} = {2**power:,}")
    kit.chart(gradients_figure(bundled, of, power, kit.theme()), f"{GRADIENTS_KEY}.bars")
    kit.prose(f"{scaled}\n\n{fates_told(sizes, power)}")
    kit.prose(words.gradient_text)
    kit.measured(
        words.how_gradients,
        normal=f"2{kit.raised(NORMAL)}",
        vanish=f"2{kit.raised(VANISHES)}",
        counted=words.counted[of].format(count=len(sizes.sizes)),
        loss=f"{step.loss:.3f}",
        tokens=kit.count(step.tokens, "token"),
        zero=f"{sizes.fates(power).zero:,}",
    )
    kit.show_code(
        [step_gradients.Sizes.fates],
        words.snippet_gradients.format(name=name, of=of, power=power),
        lambda: str(sizes.fates(power)),
    )


def fates_told(sizes: step_gradients.Sizes, power: int) -> str:
    """Return in a sentence what float16 makes of gradients that are multiplied by 2^power."""
    fates = sizes.fates(power)
    lost = [name for name in ("vanish", "overflow") if getattr(fates, name)]
    how = "both" if len(lost) > 1 else lost[0] if lost else "none"
    return words.fate_read[how].format(lost=kit.percent(fates.lost))


@kit.cached(64)
def gradients_figure(bundled: engine.Bundled, of: str, power: int, mode: kit.Mode) -> kit.Figure:
    """Return how many gradients have which size at a loss scale, coloured by what they become."""
    powers, counts = step_of(bundled).gradients[of].powers
    groups = []
    for fate, (first, last, role) in RANGES.items():
        inside = (powers + power >= first) & (powers + power <= last) & (counts > 0)
        groups.append(PowerBars(words.fates[fate], powers[inside] + power, counts[inside], role))
    ends = (int(powers[0]), int(powers[-1]) + MOST_SCALE) if len(powers) else (VANISHES, LARGEST)
    return power_bars(groups, words.power_axes, mode, between=ends)


UPDATES_KEY = "efficiency.bits.updates"
RATES = tuple(float(rate) for rate in words.rates)
HALF = -1  # as a power of two: from half of the distance on an update counts


@kit.cached(4)
def shares_of(bundled: engine.Bundled) -> Mapping[str, np.ndarray]:
    """Return for each format the share of weights (R,) that stay, at each of the RATES."""
    step = step_of(bundled)
    return {kind: step_gradients.lost_updates(step, kind, RATES) for kind in words.updated_in}


def draw_updates(state: kit.PageState) -> None:
    """Show the part, or one line where its model is not in this copy."""
    kit.section(words.update)
    name = state["gradmodel"]
    if not kit.models_here(name):
        return
    bundled = engine.load(name)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.select_slider(words.rate, words.rates, width=360, **state.bind("updaterate"))
        kit.choose(state, "updatein", words.updated, words.updated_in)
    rate, format = state["updaterate"], state["updatein"]
    at = words.rates.index(rate)
    shares = {kind: float(values[at]) for kind, values in shares_of(bundled).items()}
    kit.chart(updates_figure(bundled, rate, format, kit.theme()), f"{UPDATES_KEY}.bars")
    kit.chart(curves_of(bundled, kit.theme()), f"{UPDATES_KEY}.curves")
    kit.prose(f"{lost_told(rate, format, shares)}\n\n{words.update_why}")
    weights = kit.count(len(step_of(bundled).weights), "weight")
    kit.measured(words.how_updates, weights=weights, batches=step_gradients.BATCHES)
    kit.chapter_link("training", "descent", words.optimizers, ":material/trending_down:")
    kit.show_code(
        [step_gradients.RealStep.lost_updates],
        words.snippet_lost_updates.format(name=name, format=format, rate=float(rate)),
        lambda: str(shares[format]),
    )


def lost_told(rate: str, format: str, shares: Mapping[str, float]) -> str:
    """Return in a sentence which share of the weights stays as it is."""
    others = [
        words.update_other.format(format=kind, lost=kit.percent(share))
        for kind, share in shares.items()
        if kind != format
    ]
    share = shares[format]
    how = "none" if not share else "all" if share == 1 else "some"
    slots = {"lost": kit.percent(share), "others": ", and ".join(others)}
    return words.update_read[how].format(rate=rate, format=format, **slots)


@kit.cached(64)
def updates_figure(bundled: engine.Bundled, rate: str, format: str, mode: kit.Mode) -> kit.Figure:
    """Return how large the updates are beside the distance to the next number."""
    powers, counts = step_gradients.update_steps(step_of(bundled), FORMATS[format], float(rate))
    low = powers < HALF
    under, over = words.update_names
    groups = [
        PowerBars(under, powers[low], counts[low], "key"),
        PowerBars(over, powers[~low], counts[~low], "value"),
    ]
    return power_bars(groups, words.update_axes, mode)


@kit.cached(8)
def curves_of(bundled: engine.Bundled, mode: kit.Mode) -> kit.Figure:
    """Return the share of weights that stay against the learning rate, a line a format."""
    drawn = [
        Line(words.updated_in[kind], RATES, shares, number)
        for number, (kind, shares) in enumerate(shares_of(bundled).items())
    ]
    return lines(drawn, words.lost_axes, mode, logarithmic=(True, False), hover="%{y:.2%}")


KEY, GUESS = "efficiency.bits.sums", "efficiency.bits.far"
GUESSED = "float16"  # the format whose sums are veiled
APART = 0.1  # of the exact sum, between the answers of the question
TRAINING = {"gradient": draw_gradients, "update": draw_updates, "race": race.draw}


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the sums as they grow, bit by bit, and the guess; then a number and a training."""
    kit.prose(words.hook)
    large, small = state["sumlarge"], state["sumsmall"]
    sums = sums_of(large, small)
    guess = kit.Guess(GUESS, question(large, small))
    shown = guess.open
    with kit.stage("bits"):
        _film(state, sums, float(large) + float(small) * MOST, shown=shown)
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            for key, label, options in (
                ("sumlarge", words.sum_large, words.large),
                ("sumsmall", words.sum_small, words.small),
            ):
                kit.choose(state, key, label, {option: option for option in options})
        _guess(guess, sums, float(large) + float(small) * MOST)
    guess.ask()
    if shown:
        kit.looks(state, words.looks, f"{KEY}.looks")
    number = draw_number(state)
    kit.section(words.training)
    kit.choose(state, "bittraining", words.part, words.parts, parts=True)
    TRAINING[state["bittraining"]](state)
    if shown:
        kit.show_code(
            [running_sums],
            words.snippet_sums.format(large=large, small=small, n=MOST),
            lambda: "\n".join(f"{name} {sums[name].running[-1]}" for name in sums),
        )
        kit.seen(words.end, **held_as(number))


@kit.cached(16)
def sums_of(large: str, small: str) -> Mapping[str, RunningSums]:
    """Return the sums of the chapter's additions in each format."""
    return running_sums(float(large), float(small), MOST)


def stops_of(added: int) -> list[int]:
    """Return the additions that the film stops at: each of the first, then some, and `added`."""
    return sorted({*range(17), *range(0, MOST + 1, 32), added})


def _film(
    state: kit.PageState, sums: Mapping[str, RunningSums], exact: float, *, shown: bool
) -> None:
    """Draw the bits of each sum; shown: of all of them, else without the one that is asked for."""
    stops = stops_of(state["added"])
    first = float(state["sumlarge"])
    labels, notes = zip(*(words.labels[name] for name in ADDED_IN), strict=True)

    def take() -> None:
        at = st.session_state[f"{KEY}.film"].get("step")
        if isinstance(at, int) and 0 <= at < len(stops):
            state["added"] = stops[at]

    bit_film(
        [FORMATS[name] for name in ADDED_IN],
        {n: s.running[stops].tolist() if shown or n != GUESSED else None for n, s in sums.items()},
        [first + (exact - first) * stop / MOST for stop in stops],
        stops,
        key=f"{KEY}.film",
        labels=labels,
        notes=notes,
        words={**words.board, "film": words.film["told" if shown else "veiled"]},
        step=stops.index(state["added"]),
        on_change=take,
    )


def _guess(guess: kit.Guess, sums: Mapping[str, RunningSums], exact: float) -> None:
    guess.cases(
        [kit.Case(words.labels[name][0], float(sums[name].running[-1])) for name in ADDED_IN],
        kit.Axis(0, 1.05 * exact, words.axis),
        veiled=[ADDED_IN.index(GUESSED)],
        picture=f"{KEY}.guess",
        form="figure",
        levels=[(exact, words.exact)],
    )


def question(large: str, small: str) -> kit.Question | None:
    """Ask how far float16 gets. None where it gets as far as bfloat16, or as the exact sum.

    The wrong answers: it adds all that it hears at first, or 16 bits are 16 bits.
    """
    sums = sums_of(large, small)
    right, other, most = (float(sums[n].running[-1]) for n in (GUESSED, "bfloat16", "float32"))
    adds = float(FLOAT16.round(float(large) + float(small) * MOST))
    values = sorted((right, other, adds))
    if min(b - a for a, b in pairwise(values)) < APART * adds:
        return None
    return kit.Question.among(
        words.ask,
        {right: words.ask_right, adds: words.ask_adds, other: words.ask_other},
        right,
        kit.as_set(written, values),
        float32=written(most),
        bfloat16=written(other),
        right=written(right),
        held=written(sums[GUESSED].small),
        gap=written(float(FLOAT16.spacing(right))),
        n=f"{MOST:,}",
    )
