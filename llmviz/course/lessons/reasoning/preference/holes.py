"""What a reward model likes and nobody meant: searches, recorded and live, and the best of n."""

import math
from collections.abc import Callable

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.reasoning.preference import models, words
from llmviz.course.lessons.reasoning.preference.best_of_n import COUNTS
from llmviz.course.lessons.reasoning.preference.preference_model import LONGEST
from llmviz.course.lessons.reasoning.preference.preference_record import (
    CURVE_STORIES,
    GOOD,
    ROUNDS,
    SAMPLES,
    SEARCH_SAMPLES,
    SIZES,
    Search,
    recorded,
)
from llmviz.course.lessons.reasoning.preference.preference_texts import good_endings
from llmviz.course.lessons.reasoning.preference.reward_search import TRIED, Found, search
from llmviz.course.ui import kit

KEY = "reasoning.preference"
EXAMPLES = 3  # recorded searches that are shown
FEW, MANY = SIZES[0], SIZES[-1]
Given = tuple[str, str, str]


def anew(state: kit.PageState) -> Callable[[], None]:
    """Return what lets a search begin again after a change."""
    then = state.setter(prefrun=False)
    return then


def draw(state: kit.PageState, given: Given | None) -> bool:
    """Show the section; return whether its question was answered."""
    kit.section(words.holes)
    shown = kit.predict(holes_question(), f"{KEY}.holes", covers=True)
    if shown:
        kit.prose(holes_read())
        kit.rows_table(example_rows(), words.example_columns)
    if given is not None:
        _live(state, given)
    if shown:
        _best()
    return shown


def holes_question() -> kit.Question:
    """Return the question how often a search finds a hole."""
    found = recorded().holes
    low, high = found.interval
    place = 0 if found.share < 1 / 2 else 1 if found.share <= 3 / 4 else 2
    reason = words.holes_reason.format(
        holes=found.right, count=found.count, low=kit.percent(low), high=kit.percent(high)
    )
    numbers = {"count": found.count, "samples": SEARCH_SAMPLES, "rounds": ROUNDS, "good": GOOD}
    quiz = kit.Question.of(words.ask_holes, place, reason=reason, **numbers)
    return kit.Question(quiz.text, quiz.answers, quiz.right, quiz.reasons, scale=True)


def holes_read() -> str:
    """Return what became of the recorded searches."""
    found = recorded().searches
    return words.holes_read.format(
        count=len(found),
        grammar=sum(result.grammatical for result in found),
        glad=sum(result.mood > 0 for result in found),
    )


def example_rows() -> list[tuple[str, ...]]:
    """Return the first recorded searches."""
    some: tuple[Search, ...] = recorded().searches[:EXAMPLES]
    return [
        (
            result.ending,
            kit.signed(result.last),
            kit.signed(result.best_good),
            words.marks["yes" if result.mood > 0 else "no"],
            words.marks["yes" if result.grammatical else "no"],
        )
        for result in some
    ]


job_of = kit.job_of(
    "llmviz.course.lessons.reasoning.preference.reward_search:live_search",
    "story",
    "ending",
    "samples",
    "rounds",
    "seed",
)


@kit.kept(32)
def best_good(story: str) -> tuple[int, float]:
    """Return how many good endings the grammar has for a story, and the highest reward of them."""
    from llmviz.finetuning.reward_model import Endings

    good = good_endings(story, GOOD)
    if not good:
        return 0, float("nan")
    reader = Endings(models.reward(), models.tokenizer(), story, LONGEST)
    return len(good), max(reader.rewards(good))


def _live(state: kit.PageState, given: Given) -> None:
    kit.prose(words.own_text, tried=TRIED)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.slider(words.samples, width=200, **state.ranged("prefsamples", then=anew(state)))
        st.slider(words.rounds, width=200, **state.ranged("prefrounds", then=anew(state)))
        st.number_input(words.draw, width=140, **state.ranged("prefdraw", then=anew(state)))
    rounds = state["prefrounds"]
    kit.live(
        state,
        "prefrun",
        job_of,
        (given[0], given[1], state["prefsamples"], rounds, state["prefdraw"]),
        lambda job: _results(job, given, state),
        start=words.start,
        share=lambda job: len(job.results) / (rounds + 2),
        said=kit.Said(going_on=words.going),
    )


def _results(job: kit.Job, given: Given, state: kit.PageState) -> None:
    found: list[Found] = list(job.results)
    if not found:
        return
    kit.chart(run_figure(job, len(found), given[0], kit.theme()), f"{KEY}.run", bar=False)
    kit.rows_table(step_rows(found), words.step_columns)
    if job.over:
        kit.prose(live_end(found, best_good(given[0])))
        settings = given[0], given[1], state["prefsamples"], state["prefrounds"], state["prefdraw"]
        kit.show_code(
            [search],
            "from llmviz.course.lessons.reasoning.preference.reward_search import live_search\n\n"
            f"*_, last = live_search{settings!r}\n"
            "print(f'{last.reward:.2f}')",
            f"{found[-1].reward:.2f}",
        )


@kit.kept(32)
def run_figure(job: kit.Job, count: int, story: str, mode: kit.Mode) -> go.Figure:
    """Return the reward by rounds over the first results of a search."""
    found: list[Found] = list(job.results)[:count]
    line = Line(words.live_name, [find.step for find in found], [find.reward for find in found], 0)
    known, best = best_good(story)
    level = (best, words.best_good_name.format(count=known)) if known else None
    axes = (words.live_axes[0], words.live_axes[1])
    return lines([line], axes, mode, level=level, hover="%{y:.2f}", height=300)


def grammatical(find: Found) -> str:
    """Return whether the grammar can write what was found."""
    return words.marks[
        "unknown" if find.truth.in_story else "yes" if find.truth.grammatical else "no"
    ]


def step_rows(found: list[Found]) -> list[tuple[str, ...]]:
    """Return a row for each step of a search that changed something, the last one first."""
    return [
        (
            str(find.step),
            words.hows[find.how],
            kit.signed(find.reward),
            words.marks["yes" if find.truth.mood > 0 else "no"],
            grammatical(find),
            find.ending or words.nothing,
        )
        for find in reversed(found)
        if find.how != "kept" or find is found[-1]
    ]


def live_end(found: list[Found], good: tuple[int, float]) -> str:
    """Return what a search came to, beside good endings: how many, and their highest reward."""
    last, (count, best) = found[-1], good
    kind = (
        "alone"
        if not count
        else "good"
        if last.truth.good
        else "hole"
        if last.reward > best
        else "below"
    )
    return words.live_end[kind].format(
        tried=last.tried,
        reward=kit.signed(last.reward),
        first=kit.signed(found[0].reward),
        count=count,
        best=kit.signed(best) if count else "",
    )


def _best() -> None:
    kit.section(words.best, samples=SAMPLES, stories=CURVE_STORIES)
    kit.chart(best_figure(kit.theme()), f"{KEY}.best", bar=False)
    kit.prose(best_read())
    kit.prose("\n\n".join(best_turn(pairs) for pairs in (FEW, MANY)))
    kit.rows_table(best_rows(), [title.format(few=FEW, many=MANY) for title in words.best_columns])


def along(pairs: int, name: str) -> np.ndarray:
    """Return a number of the curves of all models from so many pairs, (seeds, n)."""
    return np.array([getattr(curve, name) for size, _, curve in recorded().curves if size == pairs])


@kit.kept(2)
def best_figure(mode: kit.Mode) -> go.Figure:
    """Return shares of good and of grammatical endings by n, models of few and many pairs."""
    drawn = []
    for at, pairs in enumerate((FEW, MANY)):
        for name in ("good", "grammatical"):
            found = along(pairs, name)
            mean = found.mean(0)
            title = words.best_names[name].format(pairs=pairs)
            errors = np.abs(found - mean).max(0)
            drawn.append(Line(title, COUNTS, mean, at, dashed=name != "good", errors=errors))
    return lines(
        drawn,
        (words.n_axis, words.good_axis),
        mode,
        logarithmic=(True, False),
        hover="%{y:.1%}",
        ticks=COUNTS,
    )


def best_read() -> str:
    """Return what the best of all samples is worth, beside one sample."""
    few, many = along(FEW, "good").mean(0), along(MANY, "good").mean(0)
    grammar = {pairs: along(pairs, "grammatical").mean(0) for pairs in (FEW, MANY)}
    return words.best_read.format(
        grammar_once=kit.percent(grammar[MANY][0]),
        grammar_many=kit.percent(grammar[MANY][-1]),
        grammar_few=kit.percent(grammar[FEW][-1]),
        once=kit.percent(many[0]),
        samples=SAMPLES,
        many=kit.percent(many[-1]),
        few=kit.percent(few[-1]),
        many_pairs=MANY,
        few_pairs=FEW,
    )


def best_turn(pairs: int) -> str:
    """Return at which n the true goal is met most often, within the spread of three models."""
    good = along(pairs, "good")
    mean = good.mean(0)
    at = int(mean.argmax())
    apart = good[:, at] - good[:, -1]
    error = float(apart.std(ddof=1)) / math.sqrt(len(apart))
    kind = "turns" if apart.mean() > 2 * error else "rises"
    return words.best_turn[kind].format(
        pairs=pairs, n=COUNTS[at], most=kit.percent(mean[at]), samples=COUNTS[-1]
    )


@kit.kept(1)
def best_rows() -> list[tuple[str, ...]]:
    """Return a row for each n: means over three models."""
    columns = [along(p, name).mean(0) for p in (FEW, MANY) for name in ("reward", "good")]
    return [
        (str(n), kit.signed(few), kit.percent(few_good), kit.signed(many), kit.percent(many_good))
        for n, few, few_good, many, many_good in zip(COUNTS, *columns, strict=True)
    ]
