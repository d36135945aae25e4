"""Chapter "Learned by heart": how often a sentence is read until it comes out whole."""

import streamlit as st

from llmviz.corpus.planted import EACH, LENGTH, PLAIN, TIMES
from llmviz.course.figures.ranges import Ranged, ranged_lines
from llmviz.course.lessons.errors.memorization import membership, own_sentence, tests, words
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

STAGED = True
KEY = "errors.memorization"
GUESS = f"{KEY}.first"


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show how much of a sentence brings out the rest, the guess, and the sentences themselves."""
    kit.prose(words.hook, plain=PLAIN, length=LENGTH)
    if not kit.is_here(words.missing, COMMAND, lambda: bundled(0, PASSES[0])):
        return
    seed, passes = state["hearttext"], int(state["heartpasses"])
    model, asked = bundled(seed, passes), question(seed, passes)
    opened = kit.answered(asked, GUESS)
    with kit.stage("heart", stays=False):
        _line(asked, model)
        if opened:
            kit.prose(caption(model))
        with st.container(horizontal=True, gap="medium"):
            kit.choose(state, "hearttext", words.text, {seed: str(seed + 1) for seed in SEEDS})
            named = {str(passes): words.passes_word[passes] for passes in PASSES}
            kit.choose(state, "heartpasses", words.passes, named)
    kit.predict(asked, GUESS, covers=True, hand=True)
    if opened:
        kit.looks(state, words.looks, f"{KEY}.looks", length=LENGTH, most=f"{TIMES[-1]:,}")
        _out(state, model)
        _needs(seed, passes, model)
    membership.draw(state, model, passes)
    opened = tests.draw() and opened
    own_sentence.draw(state)
    if opened:
        _end(seed, passes, model)


def mean_needed(model: Remembered) -> list[float]:
    """Return how many first tokens bring out the rest, the mean of each count's sentences."""
    groups = (by_times(model, times) for times in TIMES)
    return [sum(kept.needed for kept in those) / len(those) for those in groups]


def _line(asked: kit.Question, model: Remembered) -> None:
    kit.guess_line(
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
        asked,
        GUESS,
        known=1,
        picture=f"{KEY}.line",
        ghosts=[
            kit.Drawn(answer, TIMES[1:], values, "residual", dashed=True)
            for at, (answer, values) in enumerate(zip(asked.answers, asked.values, strict=True))
            if at != asked.right
        ],
    )


def caption(model: Remembered) -> str:
    """Return from which count on one token is enough, and what one reading does."""
    first, once = first_whole(model), mean_needed(model)[0]
    text = words.caption["never" if first is None else "from"]
    return text.format(first=first or 0, most=TIMES[-1], once=once, length=LENGTH)


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
        words.ask.format(text=seed + 1, passes=words.passes_word[passes], needed=right[0]),
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
    kit.section(words.needs, each=EACH)
    kit.plot(f"{KEY}.loss", figure, passes)
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


@kit.kept(4)
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
