"""Models that learned to decline, what that costs, and when a guess pays."""

import streamlit as st

from llmviz.course.figures.adapters import Curve, lines
from llmviz.course.lessons.errors.facts import answers, words
from llmviz.course.lessons.errors.facts.answers import FEW, NEVER, OFTEN, mean
from llmviz.course.lessons.errors.read_facts import UNKNOWN, Score, scores
from llmviz.course.ui import kit

KEY = "errors.facts"
MOST = UNKNOWN[-1]
THRESHOLDS = tuple(at / 50 for at in range(50))
STEP = 0.5  # of the slider of costs


def draw(state: kit.PageState) -> bool:
    """Show both sections; return whether what the question covers is shown."""
    kit.section(words.decline)
    if not kit.predict(question(), f"{KEY}.cost", covers=True):
        return False
    kit.chart(declining(kit.theme()), f"{KEY}.decline")
    named = {str(unknown): str(unknown) for unknown in UNKNOWN}
    kit.choose(state, "factunknown", words.unknown, named)
    chosen = int(state["factunknown"])
    never, few = (kit.percent(mean(chosen, times, "declined")) for times in (NEVER, FEW))
    kit.prose(words.decline_read.format(chosen=chosen, never=never, five=few))
    _guess(state, chosen)
    return True


def question() -> kit.Question:
    """Return the question how many facts a model is right about once it has learned to decline."""
    numbers = {
        "most": MOST,
        "declined": kit.percent(mean(MOST, NEVER, "declined")),
        "before": kit.percent(mean(0, FEW, "right")),
        "lost": kit.percent(mean(MOST, FEW, "declined")),
    }
    reasons = [reason.format(**numbers) for reason in words.ask_cost_reasons]
    text = words.ask_cost.format(**numbers)
    return kit.share_question(text, mean(MOST, FEW, "right"), reasons, kit.whole_percent)


@kit.kept(2)
def declining(mode: kit.Mode) -> kit.Figure:
    """Return how much is declined and how much is right, by how many persons nobody knows."""
    measured = ((NEVER, "declined"), (FEW, "declined"), (FEW, "right"), (OFTEN, "right"))
    roles = ("residual", "weights", "value", "query")
    curves = [
        Curve(name, UNKNOWN, [mean(unknown, *what) for unknown in UNKNOWN], role, marks=True)
        for name, what, role in zip(words.decline_lines, measured, roles, strict=True)
    ]
    return lines(curves, tuple(words.decline_axes), mode, shares=True, at=UNKNOWN)


def _guess(state: kit.PageState, unknown: int) -> None:
    kit.section(words.guess, unknown=unknown, world=state["factworld"] + 1)
    st.slider(words.cost, step=STEP, width=320, format="%.1f", **state.ranged("factcost"))
    cost, world = state["factcost"], state["factworld"]
    every = tested(world, unknown, cost)
    best = best_of(every)
    ideal = cost / (1 + cost)
    heights = [score.points for score in every]
    drawn = [
        Curve(words.points_line, THRESHOLDS, heights, "weights"),
        Curve(
            words.ideal_line, (ideal, ideal), (min(heights), max(heights)), "accent", dashed=True
        ),
    ]
    kit.chart(lines(drawn, (words.threshold_axis, words.points_axis), kit.theme()), f"{KEY}.guess")
    tried = best.answered
    kit.prose(
        words.guess_read["costly" if cost else "free"].format(
            cost=cost,
            best=f"{best.points:.2f}",
            threshold=best.threshold,
            answered=kit.percent(tried),
            wrong=kit.percent(best.wrong),
            all=kit.signed(every[0].points),
            ideal=ideal,
        )
    )


@kit.kept(64)
def tested(world: int, unknown: int, cost: float) -> tuple[Score, ...]:
    """Return what a model gets at each threshold."""
    return tuple(scores(list(answers.read(world, unknown).answers), cost, THRESHOLDS))


def best_of(every: tuple[Score, ...]) -> Score:
    """Return the score with the most points; of equal ones that of the lowest threshold."""
    return max(every, key=lambda score: score.points)
