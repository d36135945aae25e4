"""Below what a guess costs: a frame over the text, and how many guesses it is."""

from collections.abc import Sequence

import streamlit as st

from llmviz.corpus import WindowPlan
from llmviz.course.components import TokenRow, token_strip, windows_view
from llmviz.course.lessons.training.loss import words
from llmviz.course.ui import kit
from llmviz.tokenizers import Token

KEY, GUESS = "training.frames", "training.frames.guesses"


def draw(state: kit.PageState, texts: tuple[str, ...]) -> None:
    """Show a frame over a text, the guess how many exercises it is, then all frames.

    texts: of the tokens that a model reads.
    """
    kit.section(words.frames)
    context, stride = st.columns(2, gap="medium")
    context.slider(words.context, **state.ranged("context"))
    stride.slider(words.stride, **state.ranged("stride"))
    plan = kit.or_refused(WindowPlan, len(texts), state["context"], state["stride"])
    if plan is None:
        return
    guess, starts = kit.Guess(GUESS, guesses_question(texts, plan)), list(plan.starts)
    if guess.ask():
        windows_view(
            texts,
            starts,
            context_length=plan.context,
            batch_size=2,
            key=KEY,
            selected=min(state["window"], len(starts) - 1),
            on_change=kit.bound(state, KEY, selected=("window", kit.or_first)),
        )
    else:
        lit = [float(at < plan.context) for at in range(len(texts))]
        parts = enumerate(texts)
        chips = [Token(at, text.encode(), at, at + 1, at, at + 1) for at, text in parts]
        token_strip([TokenRow("", chips, values=lit)], key=f"{KEY}.first")
    kit.prose(f"{words.laid.format(frames=kit.count(len(starts), 'frame'))} {coverage(plan)}")
    if guess.open:
        kit.looks(state, words.frame_looks, f"{KEY}.looks")


def coverage(plan: WindowPlan) -> str:
    """Return how neighbouring windows lie to each other, and which tokens are in none of them."""
    last = plan.starts[-1] + plan.context  # of the last target
    between, after = (
        kit.count(number, "token is", "tokens are")
        for number in (sum(i < last for i in plan.never_seen), plan.tokens - 1 - last)
    )
    if len(plan.starts) == 1:
        line = words.only
    elif plan.overlap:
        line = words.overlap.format(shared=kit.count(plan.overlap, "token"))
    elif plan.stride == plan.context:
        line = words.edge
    elif plan.never_seen and plan.never_seen[0] < last:
        line = words.gap.format(missed=between)
    else:
        line = words.no_gap
    return f"{line} {words.rest.format(missed=after) if last < plan.tokens - 1 else ''}".strip()


def guesses_question(texts: Sequence[str], plan: WindowPlan) -> kit.Question | None:
    """Return how many exercises the first window is, as a question; None for a window of one token.

    The wrong answers are those of somebody to whom a window asks once, at its end, and of one to
    whom it asks only between its tokens. texts: those of the tokens.
    """
    if plan.context < 2:
        return None
    reasons = {1: words.ask_guesses_once, plan.context - 1: words.ask_guesses_between}
    reasons[plan.context] = words.ask_guesses_right
    return kit.Question.among(
        words.ask_guesses,
        reasons,
        plan.context,
        frame=" ".join(map(kit.quote, texts[: plan.context])),
        last=kit.quote(texts[plan.context - 1]),
        target=kit.quote(texts[plan.context]),
    )
