"""Chapter "A model of preference": a reward model learned from pairs, and its holes."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.lessons.reasoning.preference import models, words
from llmviz.course.lessons.reasoning.preference.best_of_n import COUNTS
from llmviz.course.lessons.reasoning.preference.preference_model import (
    COMMAND,
    LABELLER,
    LONGEST,
    PAIRS,
)
from llmviz.course.lessons.reasoning.preference.preference_reading import Reading, readings
from llmviz.course.lessons.reasoning.preference.preference_record import (
    ALL,
    BY_LENGTH,
    CURVE_STORIES,
    GOOD,
    SAMPLES,
    SHORTER,
    recorded,
)
from llmviz.course.lessons.reasoning.preference.preference_texts import KINDS, good_endings
from llmviz.course.lessons.reasoning.preference.reward_search import TRIED, Found, search
from llmviz.course.ui import kit
from llmviz.files.text import check_text
from llmviz.finetuning.plan import BASE
from llmviz.finetuning.preferences import happier

KEY = "reasoning.preference"
GUESS = f"{KEY}.holes"
APART = 0.1  # between two answers of the question
EXAMPLES = 3  # recorded searches that are drawn
Given = tuple[str, str, str]  # the story and both endings


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show nonsense that a judge likes, then what the judge learned and where it is blind."""
    kit.prose(words.hook)
    if not kit.models_here(BASE):
        return
    if not kit.is_here(words.missing, COMMAND, recorded, models.reward):
        return
    guess = kit.Guess(GUESS, question())
    with kit.stage("preference"):
        rows = example_rows()
        axis = kit.Axis(0, max(row.value or 0 for row in rows), words.reward_axis)
        kit.case_rows(rows, axis, key=f"{KEY}.examples", form="figure")
        count = recorded().holes.count
        cases = [kit.Case(words.holes_row, recorded().holes.share, recorded().holes.interval)]
        whole = kit.Axis(0, 1, words.holes_axis.format(count=count))
        guess.cases(cases, whole, veiled=[0], picture=f"{KEY}.holes_row")
    opened = guess.ask()
    if opened:
        kit.looks(state, words.looks, f"{KEY}.looks")
    by_length, wrong = kit.percent(LABELLER.by_length), kit.percent(LABELLER.wrong)
    kit.section(words.intro, pairs=PAIRS)
    kit.measured(words.how_labelled, by_length=by_length, wrong=wrong)
    given = _endings(state)
    _kinds()
    if given is not None:
        _live(state, given)
    _best()
    if opened:
        right, holes = recorded().bundled.right[ALL].share, recorded().holes
        numbers: dict[str, Any] = {"pairs": PAIRS, "holes": holes.right, "count": holes.count}
        kit.seen(words.end, all=kit.percent(right), **numbers)


def question() -> kit.Question | None:
    """Return the question how often bad text gets more than every good ending.

    The wrong answers are of somebody to whom a judge judges what it learned, to whom it errs here
    as often as on new pairs, and to whom a hunt always ends well. None where two answers are too
    near.
    """
    found = recorded().holes
    errs = 1 - recorded().bundled.right[ALL].share
    reasons = {0.0: words.ask_never, errs: words.ask_as_often, 1.0: words.ask_always}
    reasons[found.share] = words.ask_right
    if len(reasons) < 4 or np.diff(sorted(reasons)).min() < APART:
        return None
    numbers: dict[str, Any] = {"good": GOOD, "count": found.count}
    return kit.Question.among(words.ask, reasons, found.share, kit.whole_percent, **numbers)


def example_rows() -> list[kit.Case]:
    """Return the first recorded searches that ended in a hole, each beside the best good ending."""
    rows = []
    for result in [result for result in recorded().searches if result.hole][:EXAMPLES]:
        rows.append(kit.Case([(result.ending, True)], result.last, role="value"))
        rows.append(kit.Case(words.best_row, result.best_good))
    return rows


def _endings(state: kit.PageState) -> Given | None:
    """Show two endings of a story, token by token, with the reward after each."""
    kit.section(words.places)
    keys = "prefstory", "prefone", "preftwo"
    given: Given = tuple(state[key].strip() for key in keys)
    fits = all(kit.or_refused(check_text, text) is not None for text in given)
    if fits:
        _tokens(given)
    kit.text_input(state, "prefone", words.one, anew(state))
    kit.text_input(state, "preftwo", words.two)
    kit.text_area(state, "prefstory", words.story, anew(state), height=120)
    return given if fits else None


@kit.cached(64)
def readings_of(given: Given) -> list[Reading]:
    """Return both endings as the reward model reads them."""
    story, *endings = given
    return readings(models.reward(), models.tokenizer(), story, tuple(endings))


def _tokens(given: Given) -> None:
    both = readings_of(given)
    drawn = [at for at, reading in enumerate(both) if reading.tokens]
    if not drawn:
        kit.prose(words.no_tokens)
        return
    most = max(float(np.abs(reading.rewards).max()) for reading in both)
    look = {"value_label": words.value_label, "value_range": (-most, most)}
    rows = [
        lv.TokenRow(words.which[at], both[at].tokens, values=both[at].rewards[1:].tolist())
        for at in drawn
    ]
    lv.token_strip(rows, key=f"{KEY}.tokens", show_ids=False, **look)
    kit.prose(pair_read(given))
    if max(len(reading.tokens) for reading in both) == LONGEST:
        kit.prose(words.cut, most=LONGEST)
    story, *endings = given
    kit.show_code(
        [readings],
        words.snippet.format(story=story, endings=tuple(endings)),
        str([f"{reading.reward:.3f}" for reading in both]),
    )


def pair_read(given: Given) -> str:
    """Return the rewards of both endings, and what the rule says of them."""
    first, second = (reading.reward for reading in readings_of(given))
    apart = happier(given[1], given[0]) - happier(given[2], given[0])
    kind = pair_kind(first - second, apart)
    higher = words.which[second > first]
    return words.pair_read[kind].format(
        one=kit.signed(first), two=kit.signed(second), higher=higher
    )


def pair_kind(liked: float, better: float) -> str:
    """Return whether the judge agrees with the rule on a pair; both from the second ending up.

    >>> pair_kind(1, 2), pair_kind(-1, 2), pair_kind(1, 0), pair_kind(0, 2), pair_kind(0, 0)
    ('agrees', 'errs', 'neither', 'tie', 'equal')
    """
    if not liked:
        return "tie" if better else "equal"
    return "neither" if not better else "agrees" if liked * better > 0 else "errs"


def shorter(by_length: float) -> list[float]:
    """Return how often models are right where the better ending is the shorter one."""
    return [run.right[SHORTER].share for run in recorded().of(by_length=by_length)]


def kind_rows() -> list[kit.Case]:
    """Return the kinds of pairs as lines, then models whose labels went by length or did not."""
    right = recorded().bundled.right
    rows = [
        kit.Case(words.kinds[kind], right[kind].share, right[kind].interval, role="value")
        for kind in (ALL, *KINDS)
    ]
    for by_length in (BY_LENGTH[0], BY_LENGTH[-1]):
        found = shorter(by_length)
        label = words.length_row.format(share=kit.percent(by_length))
        rows.append(kit.Case(label, float(np.mean(found)), dots=found))
    return rows


def _kinds() -> None:
    """Show how often the judge is right, by kind of pair."""
    kit.section(words.accuracy)
    axis, level = kit.Axis(0, 1, words.right_axis), [(0.5, words.guess)]
    kit.case_rows(kind_rows(), axis, key=f"{KEY}.kinds", levels=level)
    kit.prose(kind_read())
    kit.prose(words.length_read)
    kit.measured(words.how_kinds)


def kind_read() -> str:
    """Return in which kinds the model is not told apart from guessing, or worse."""
    right = recorded().bundled.right
    lost = [words.kinds[kind] for kind in KINDS if right[kind].interval[0] <= 0.5]
    if not lost:
        return words.kind_read["none"]
    return words.kind_read["some"].format(kinds=kit.listed([f"“{name}”" for name in lost]))


def anew(state: kit.PageState) -> Callable[[], None]:
    """Return what lets a search begin again after a change."""
    return state.setter(prefrun=False)


job_of = kit.job_of(
    "llmviz.course.lessons.reasoning.preference.reward_search:live_search",
    "story",
    "ending",
    "samples",
    "rounds",
    "seed",
)


@kit.cached(32)
def best_good(story: str) -> tuple[int, float]:
    """Return how many good endings the grammar has for a story, and the highest reward of them."""
    from llmviz.finetuning.reward_model import Endings

    good = good_endings(story, GOOD)
    if not good:
        return 0, float("nan")
    reader = Endings(models.reward(), models.tokenizer(), story, LONGEST)
    return len(good), max(reader.rewards(good))


def _live(state: kit.PageState, given: Given) -> None:
    """Search for text that the judge likes, from the learner's first ending on."""
    kit.section(words.live, tried=TRIED)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.slider(words.samples, width=200, **state.ranged("prefsamples", then=anew(state)))
        st.slider(words.rounds, width=200, **state.ranged("prefrounds", then=anew(state)))
        st.number_input(words.draw, width=140, **state.ranged("prefdraw", then=anew(state)))
    rounds = state["prefrounds"]
    settings = given[0], given[1], state["prefsamples"], rounds, state["prefdraw"]
    kit.live(
        state,
        "prefrun",
        job_of,
        settings,
        lambda job: _results(job, settings),
        start=words.start,
        share=lambda job: len(job.results) / (rounds + 2),
        said=kit.JobWords(going_on=words.going),
    )


def _results(job: kit.Job, settings: tuple[str, str, int, int, int]) -> None:
    found: list[Found] = list(job.results)
    if not found:
        return
    count, best = good = best_good(settings[0])
    drawn = [run_line(found)]
    if count:
        level = words.best_good_name.format(count=count)
        drawn.append(kit.Drawn(level, [0, settings[3] + 1], [best, best], "query", dashed=True))
    values = [value for line in drawn for value in line.y]
    kit.draw_on(
        drawn,
        kit.Scale(0, settings[3] + 1, words.round_axis),
        kit.Scale(min(0.0, *values), max(0.1, *values), words.reward_axis),
        key=f"{KEY}.run",
        words={},
        form="figure",
    )
    kit.prose(words.now, ending=kit.quote(found[-1].ending, 200))
    if job.over:
        kit.prose(live_end(found, good))
        last = f"{found[-1].reward:.2f}"
        kit.show_code([search], words.live_snippet.format(settings=settings), last)


def run_line(found: list[Found]) -> kit.Drawn:
    """Return the reward by rounds over the first results of a search."""
    steps = [find.step for find in found]
    return kit.Drawn(words.live_name, steps, [find.reward for find in found], "value")


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


def along(name: str) -> np.ndarray:
    """Return a number of the curves of the models from as many pairs as the bundled one, by n."""
    return np.array([getattr(curve, name) for size, _, curve in recorded().curves if size == PAIRS])


def _best() -> None:
    kit.section(words.best)
    names = {"good": "value", "grammatical": "query"}
    drawn = [
        kit.Drawn(words.best_names[name], COUNTS, list(map(float, along(name).mean(0))), role)
        for name, role in names.items()
    ]
    x = kit.Scale(COUNTS[0], COUNTS[-1], words.n_axis, log=True)
    kit.draw_on(
        drawn, x, kit.Scale(0, 1, words.share_axis), key=f"{KEY}.best", words={}, form="percent"
    )
    kit.prose(best_turn())
    kit.measured(words.how_best, samples=SAMPLES, stories=CURVE_STORIES)


def best_turn() -> str:
    """Return at which n the true goal is met most often, within the spread of three models."""
    good = along("good")
    mean = good.mean(0)
    at = int(mean.argmax())
    apart = good[:, at] - good[:, -1]
    error = float(apart.std(ddof=1)) / math.sqrt(len(apart))
    kind = "turns" if apart.mean() > 2 * error else "rises"
    shares = {"once": kit.percent(mean[0]), "most": kit.percent(mean[at])}
    return words.best_turn[kind].format(n=COUNTS[at], **shares)
