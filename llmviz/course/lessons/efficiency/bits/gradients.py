"""The gradients of one real step against what float16 can hold, and the loss scale."""

import math

import streamlit as st

from llmviz.course.figures.quantization import PowerBars, power_bars
from llmviz.course.lessons.efficiency.bits import words
from llmviz.course.lessons.efficiency.bits.step_gradients import RealStep, Sizes, real_step
from llmviz.course.ui import engine, kit
from llmviz.quantization.formats import FLOAT16

KEY = "efficiency.bits.gradients"
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


@kit.kept(4)
def step_of(bundled: engine.Bundled) -> RealStep:
    """Return one real step of a bundled model."""
    return real_step(bundled.name)


def draw(state: kit.PageState) -> None:
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
    scaled = line.format(scale=f"2{kit.raised(power)} = {2**power:,}", power=power)
    kit.chart(figure_of(bundled, of, power, kit.theme()), f"{KEY}.bars")
    kit.prose(f"{scaled}\n\n{fates_told(sizes, power)}")
    kit.prose(
        words.gradient_text,
        normal=f"2{kit.raised(NORMAL)}",
        vanish=f"2{kit.raised(VANISHES)}",
        counted=words.counted[of].format(count=len(sizes.sizes)),
        loss=f"{step.loss:.3f}",
        tokens=kit.count(step.tokens, "token"),
    )
    kit.show_code(
        [Sizes.fates],
        words.snippet_gradients.format(name=name, of=of, power=power),
        lambda: str(sizes.fates(power)),
    )


def fates_told(sizes: Sizes, power: int) -> str:
    """Return in a sentence what float16 makes of gradients that are multiplied by 2^power."""
    fates = sizes.fates(power)
    counted = {name: f"{getattr(fates, name):,}" for name in (*RANGES, "zero")}
    return words.fate_read.format(**counted, lost=kit.percent(fates.lost))


@kit.kept(64)
def figure_of(bundled: engine.Bundled, of: str, power: int, mode: kit.Mode) -> kit.Figure:
    """Return how many gradients have which size at a loss scale, coloured by what they become."""
    powers, counts = step_of(bundled).gradients[of].powers
    groups = []
    for fate, (first, last, role) in RANGES.items():
        inside = (powers + power >= first) & (powers + power <= last) & (counts > 0)
        groups.append(PowerBars(words.fates[fate], powers[inside] + power, counts[inside], role))
    ends = (int(powers[0]), int(powers[-1]) + MOST_SCALE) if len(powers) else (VANISHES, LARGEST)
    return power_bars(groups, words.power_axes, mode, between=ends)
