"""Chapter "Learned by heart": how often a sentence is read until it comes out whole."""

import streamlit as st

from llmviz.corpus.planted import EACH, LENGTH, PLAIN, TIMES
from llmviz.course.figures.ranges import Ranged, ranged_lines
from llmviz.course.lessons.errors.facts.own_fact import often
from llmviz.course.lessons.errors.heart import membership, own_sentence, tests, words
from llmviz.course.lessons.errors.read_planted import (
    COMMAND,
    PASSES,
    SEEDS,
    Kept,
    Remembered,
    area,
    bundled,
    needed,
    train_one,
)
from llmviz.course.ui import kit

KEY = "errors.heart"


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    listed = ", ".join(f"{times:,}" for times in TIMES[:-1])
    counts = f"{listed} or {TIMES[-1]:,}"
    kit.section(words.intro, plain=PLAIN, length=LENGTH, each=EACH, counts=counts)
    if not kit.is_here(words.missing, COMMAND, lambda: bundled(0, PASSES[0])):
        return
    with st.container(horizontal=True, gap="medium"):
        kit.choose(state, "hearttext", words.text, {seed: str(seed + 1) for seed in SEEDS})
        named = {str(passes): words.passes_word[passes] for passes in PASSES}
        kit.choose(state, "heartpasses", words.passes, named)
    seed, passes = state["hearttext"], int(state["heartpasses"])
    model = bundled(seed, passes)
    opened = kit.predict(question(seed, passes), f"{KEY}.first", covers=True)
    if opened:
        _needs(seed, passes, model)
        _out(state, model)
    membership.draw(state, model, passes)
    opened = tests.draw() and opened
    own_sentence.draw(state)
    if opened:
        _end(seed, passes, model)


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
    """Return the question from which count on one token is enough."""
    right = first_whole(bundled(seed, passes))
    at = len(TIMES) if right is None else TIMES.index(right)
    last = len(TIMES)
    offered = sorted(
        {at, *(place for place in (at - 2, at - 1, at + 1, at + 2) if 0 <= place <= last)}
    )
    why, fewer, more = words.ask_first_reasons
    return kit.Question(
        words.ask_first.format(text=seed + 1, passes=words.passes_word[passes], each=EACH),
        [
            words.ask_first_never.format(count=f"{TIMES[-1]:,}")
            if place == last
            else often(TIMES[place]).capitalize()
            for place in offered
        ],
        offered.index(at),
        [why if place == at else fewer if place < at else more for place in offered],
        scale=True,
    )


def mean_loss(model: Remembered, times: int) -> float:
    """Return the mean loss of the sentences that stood so often, in nats per token."""
    those = by_times(model, times)
    return sum(kept.loss for kept in those) / len(those)


def _needs(seed: int, passes: int, model: Remembered) -> None:
    kit.section(words.needs, each=EACH)
    for what, axis in (("needed", words.needed_axis), ("loss", words.loss_axis)):
        kit.chart(figure(what, axis, passes, kit.theme()), f"{KEY}.{what}")
    kit.prose(
        words.needs_read.format(
            most=f"{TIMES[-1]:,}",
            low=mean_loss(model, TIMES[-1]),
            text=seed + 1,
            passes=words.passes_word[passes],
            unread=model.unread,
            deduplicated=mean_loss(bundled(seed, passes, repeats=False), TIMES[-1]),
        )
    )
    kit.show_code(
        [train_one, needed],
        words.snippet.format(seed=seed, passes=passes, each=EACH),
        str([(kept.times, kept.needed) for kept in model.planted][::EACH]),
    )


@kit.kept(8)
def figure(what: str, axis: str, passes: int, mode: kit.Mode) -> kit.Figure:
    """Return one measure over how often a sentence stood, as planted and kept once."""
    drawn = []
    for repeats, name, role in ((True, words.repeated, "weights"), (False, words.once, "residual")):
        rows = []
        for seed in SEEDS:
            model = bundled(seed, passes, repeats=repeats)
            groups = [by_times(model, times) for times in TIMES]
            rows.append([sum(getattr(kept, what) for kept in those) / EACH for those in groups])
        drawn.append(Ranged(name, role, rows, dashed=not repeats))
    return ranged_lines(TIMES, drawn, (words.times_axis, axis), mode)


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
    how = "end" if not left else "right" if right == len(left) else "part"
    return words.out_read[how].format(all=len(left), right=right)


def _end(seed: int, passes: int, model: Remembered) -> None:
    kit.seen(
        words.end,
        text=seed + 1,
        passes=words.passes_word[passes],
        unread=model.unread,
        once=mean_loss(model, TIMES[0]),
        often=mean_loss(model, TIMES[-1]),
        most=f"{TIMES[-1]:,}",
        area=kit.percent(area(model.read, model.fresh)),
        **tests.ends(),
    )
