"""Chapter "Learned by heart": how often a sentence is read until it comes out whole.

Then whether the loss tells that a sentence was in the training text, and a sentence of the
learner's, planted into a text that a new model reads.
"""

from functools import partial

import streamlit as st

from llmviz.corpus.planted import EACH, LENGTH, PLAIN, TIMES, Planted, own_sentence
from llmviz.course.figures.adapters import Curve, lines
from llmviz.course.figures.ranges import Ranged, ranged_lines
from llmviz.course.lessons.errors.facts.chapter import often
from llmviz.course.lessons.errors.memorization import tests, words
from llmviz.course.lessons.errors.read_planted import (
    COMMAND,
    OWN_PASSES,
    PASSES,
    SEEDS,
    Kept,
    Progress,
    Remembered,
    area,
    bundled,
    caught,
    needed,
    train_one,
)
from llmviz.course.ui import kit


def draw_membership(state: kit.PageState, model: Remembered, passes: int) -> None:
    """Show both curves, the threshold, and what it catches."""
    kit.section(words.membership)
    threshold = state["heartloss"]
    kit.chart(both(state["hearttext"], passes, kit.theme()), f"{KEY}.member")
    st.slider(words.threshold, step=0.1, width=320, format="%.1f", **state.ranged("heartloss"))
    hits, alarms = caught(model.read, model.fresh, threshold)
    areas = [area(found.read, found.fresh) for found in (bundled(seed, passes) for seed in SEEDS)]
    low, high = kit.percent(min(areas)), kit.percent(max(areas))
    kit.prose(
        words.member_read[verdict(hits, alarms)],
        threshold=threshold,
        hits=kit.percent(hits),
        alarms=kit.percent(alarms),
    )
    kit.measured(
        words.how_member,
        count=len(model.read),
        area=kit.percent(area(model.read, model.fresh)),
        passes=words.passes_word[passes],
        range=low if low == high else f"{low} to {high}",
    )


def verdict(hits: float, alarms: float) -> str:
    """Return what a threshold does: it catches some, all, none, or accuses nobody wrongly."""
    if not hits and not alarms:
        return "none"
    return "all" if hits == alarms == 1 else "both" if alarms else "clean"


@kit.cached(16)
def both(seed: int, passes: int, mode: kit.Mode) -> kit.Figure:
    """Return the share of sentences below each loss, for those that were read and the others."""
    model = bundled(seed, passes)
    curves = []
    for name, losses, role in (
        (words.read_line, model.read, "weights"),
        (words.fresh_line, model.fresh, "residual"),
    ):
        ordered = sorted(losses)
        heights = [(at + 1) / len(ordered) for at in range(len(ordered))]
        curves.append(Curve(name, ordered, heights, role))
    return lines(curves, (words.loss_of, words.share_of), mode, shares=True)


job_of = kit.job_of("llmviz.course.lessons.errors.read_planted:read_own", "own", "seed")


def draw_own_sentence(state: kit.PageState) -> None:
    """Show the field, the count, the button, and what the new model keeps while it reads."""
    kit.section(words.own, plain=PLAIN)
    anew = state.setter(heartread=False)
    kit.text_input(state, "heartown", words.own_text, then=anew)
    st.slider(words.own_times, width=320, **state.ranged("heartowntimes", then=anew))
    own = kit.or_refused(own_sentence, state["heartown"], state["heartowntimes"])
    if own is None:
        return
    kit.live(
        state,
        "heartread",
        job_of,
        (own, state["hearttext"]),
        partial(_draw_results, own),
        start=words.own_start,
        share=lambda job: job.results[-1].step / job.results[-1].steps if job.results else 0.0,
    )


def _draw_results(own: Planted, job: kit.Job) -> None:
    read: list[Progress] = list(job.results)
    if not read:
        return
    steps, losses = [look.step for look in read], [look.own.loss for look in read]
    curve = Curve(words.own_loss, steps, losses, "loss", marks=len(read) == 1)
    kit.chart(lines([curve], (words.own_axis, words.own_loss), kit.theme()), f"{KEY}.own")
    kit.prose(own_report(own, read[-1]))


def own_report(own: Planted, last: Progress) -> str:
    """Return how much of the learner's sentence the model has by heart."""
    everything, needed = len(last.own.tokens), last.own.needed
    how = (
        "one"
        if everything == 1
        else "whole"
        if needed <= 1
        else "none"
        if needed >= everything
        else "some"
    )
    text = words.own_read[how].format(
        steps=last.step, rest=everything - 1, all=everything, needed=needed
    )
    return text + words.own_loss_read.format(
        loss=last.own.loss, times=f"{own.times:,}", passes=often(OWN_PASSES)
    )


KEY = "errors.memorization"
GUESS = f"{KEY}.first"


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show how much of a sentence brings out the rest, the guess, and the sentences themselves."""
    kit.prose(words.hook, plain=PLAIN, length=LENGTH)
    if not kit.is_here(words.missing, COMMAND, lambda: bundled(0, PASSES[0])):
        return
    seed, passes = state["hearttext"], int(state["heartpasses"])
    model, guess = bundled(seed, passes), kit.Guess(GUESS, question(seed, passes))
    opened = guess.open
    with kit.stage("heart"):
        _line(guess, model)
        if opened:
            kit.prose(caption(model))
        with st.container(horizontal=True, gap="medium"):
            kit.choose(state, "hearttext", words.text, {seed: str(seed + 1) for seed in SEEDS})
            named = {str(passes): words.passes_word[passes] for passes in PASSES}
            kit.choose(state, "heartpasses", words.passes, named)
    guess.ask()
    if opened:
        kit.looks(state, words.looks, f"{KEY}.looks", length=LENGTH, most=f"{TIMES[-1]:,}")
        kit.real_case("heart", words.real)
        _out(state, model)
        _needs(seed, passes, model)
    draw_membership(state, model, passes)
    opened = tests.draw_tests() and opened
    draw_own_sentence(state)
    if opened:
        _end(model)


def mean_needed(model: Remembered) -> list[float]:
    """Return how many first tokens bring out the rest, the mean of each count's sentences."""
    groups = (by_times(model, times) for times in TIMES)
    return [sum(kept.needed for kept in those) / len(those) for those in groups]


def _line(guess: kit.Guess, model: Remembered) -> None:
    guess.line(
        [],
        kit.Drawn(words.needed_line, TIMES, mean_needed(model), "weights"),
        kit.Scale(
            TIMES[0],
            TIMES[-1],
            words.times_axis,
            log=True,
            marks=[(times, f"{times:,}") for times in TIMES],
        ),
        kit.Scale(0, LENGTH, words.needed_axis),
        known=1,
        picture=f"{KEY}.line",
    )


def caption(model: Remembered) -> str:
    """Return from which count on one token is enough, and what one reading does."""
    first, once = first_whole(model), once_line(mean_needed(model)[0])
    text = words.caption["never" if first is None else "from"]
    return text.format(first=first or 0, most=TIMES[-1], once=once)


def once_line(needed: float) -> str:
    """Return how many tokens a sentence needs that stood once; if all, it never comes out."""
    how = "whole" if needed >= LENGTH else "part"
    return words.once_read[how].format(needed=needed, length=LENGTH)


def by_times(model: Remembered, times: int) -> list[Kept]:
    """Return what a model keeps of the sentences that stood so often."""
    return [kept for kept in model.planted if kept.times == times]


def first_whole(model: Remembered) -> int | None:
    """Return the smallest count of which one token brings out every sentence; None: there is none.

    All more frequent ones come out, too.
    """
    found = None
    for times in reversed(TIMES):
        if any(kept.needed > 1 for kept in by_times(model, times)):
            break
        found = times
    return found


def question(seed: int, passes: int) -> kit.Question:
    """Return the question how what a sentence needs goes on with how often it stood.

    The wrong answers are those of somebody to whom nonsense cannot be learned, and of one to whom
    each time teaches as much as the one before.
    """
    right = mean_needed(bundled(seed, passes))
    slope = (right[-1] - right[0]) / (TIMES[-1] - TIMES[0])
    values = {
        "never": [right[0]] * len(TIMES[1:]),
        "each": [right[0] + slope * (times - TIMES[0]) for times in TIMES[1:]],
        "right": right[1:],
    }
    return kit.Question(
        words.ask.format(text=seed + 1, passes=words.passes_word[passes], once=once_line(right[0])),
        [words.ask_answers[name] for name in values],
        2,
        [words.ask_reasons[name].format(most=TIMES[-1]) for name in values],
        values=[tuple(line) for line in values.values()],
    )


def mean_loss(model: Remembered, times: int) -> float:
    """Return the mean loss of the sentences that stood so often, in nats per token."""
    those = by_times(model, times)
    return sum(kept.loss for kept in those) / len(those)


def _needs(seed: int, passes: int, model: Remembered) -> None:
    kit.section(words.needs)
    kit.plot(f"{KEY}.loss", figure, passes)
    kit.prose(
        words.needs_read,
        most=f"{TIMES[-1]:,}",
        low=mean_loss(model, TIMES[-1]),
        unread=model.unread,
        deduplicated=mean_loss(bundled(seed, passes, repeats=False), TIMES[-1]),
    )
    kit.measured(words.how_needs, text=seed + 1, passes=words.passes_word[passes], each=EACH)
    kit.show_code(
        [train_one, needed],
        words.snippet.format(seed=seed, passes=passes, each=EACH),
        str([(kept.times, kept.needed) for kept in model.planted][::EACH]),
    )


@kit.cached(4)
def figure(passes: int, mode: kit.Mode) -> kit.Figure:
    """Return the loss over how often a sentence stood, as planted and kept once."""
    drawn = []
    for repeats, name, role in ((True, words.repeated, "weights"), (False, words.once, "residual")):
        rows = []
        for seed in SEEDS:
            model = bundled(seed, passes, repeats=repeats)
            groups = [by_times(model, times) for times in TIMES]
            rows.append([sum(kept.loss for kept in those) / EACH for those in groups])
        drawn.append(Ranged(name, role, rows, dashed=not repeats))
    return ranged_lines(TIMES, drawn, (words.times_axis, words.loss_axis), mode)


def _out(state: kit.PageState, model: Remembered) -> None:
    kit.section(words.out)
    named = {str(times): words.times_of.format(count=f"{times:,}") for times in TIMES}
    kit.choose(state, "hearttimes", words.count, named)
    with st.container(horizontal=True, gap="medium"):
        kit.choose(state, "heartsentence", words.sentence, {at: str(at + 1) for at in range(EACH)})
        st.slider(words.given, width=280, **state.ranged("heartgiven"))
    kept = by_times(model, int(state["hearttimes"]))[state["heartsentence"]]
    given = min(state["heartgiven"], len(kept.tokens))
    for label, tokens in (
        (words.given_label, kept.tokens[:given]),
        (words.written_label, kept.written[given - 1]),
        (words.truth_label, kept.tokens[given:]),
    ):
        st.caption(label)
        st.code(" ".join(tokens) or " ", language=None, wrap_lines=True)
    kit.prose(report(kept, given))


def report(kept: Kept, given: int) -> str:
    """Return how far the model's own words are those of the sentence."""
    left = kept.tokens[given:]
    same = [a == b for a, b in zip(left, kept.written[given - 1], strict=True)]
    right = same.index(False) if False in same else len(same)
    how = "end" if not left else "right" if right == len(left) else "part" if right else "other"
    return words.out_read[how].format(all=len(left), first=right)


def _end(model: Remembered) -> None:
    kit.seen(
        words.end,
        unread=model.unread,
        often=mean_loss(model, TIMES[-1]),
        most=f"{TIMES[-1]:,}",
        **tests.ends(),
    )
