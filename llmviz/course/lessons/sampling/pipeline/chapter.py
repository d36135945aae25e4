"""Chapter "Logits to a token": every step of the pipeline over the same tokens."""

import math
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote_plus

import numpy as np
import streamlit as st

from llmviz.course.components.sampler.view import Column, Cut, named_tokens, sampler
from llmviz.course.lessons.sampling import params, pipeline_settings, source, sweeps
from llmviz.course.lessons.sampling import words as lesson_words
from llmviz.course.lessons.sampling.pipeline import words
from llmviz.course.lessons.sampling.source import Prompted, logits_after
from llmviz.course.ui import kit
from llmviz.course.ui.paint_order import pictures_first
from llmviz.sampling import STEPS, SamplingSteps, kind_of, nucleus_size, sampling_steps, usual_order
from llmviz.sampling.kinds import full_order
from llmviz.sampling.pipeline import top_ids
from llmviz.sampling.sweeps import steps_with_column

KEY, GUESS = "sampling.board", "pipeline.nucleus"
SHOWN = 18  # tokens that have a bar of their own
SLIDERS = tuple(kind.name for kind in STEPS if kind.stops)
USUAL = ("temperature", "top_p")  # steps that have a column before all are wanted
GUESSED = (0.75, 0.65, 0.85, 0.7, 0.6)  # of the probability: the first that rounding cannot decide
ROUNDED = 0.0005  # of a printed share, at most
COVERED = "top_p"  # the step that gives the answer away
APART = 2  # tokens between the answers


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the columns, the guess about the first and the looks at them, then what goes deeper."""
    prompt = source.prompted(state)
    if prompt is None:
        kit.source(state)
        return
    kit.prose(hook(prompt))
    settings = pipeline_settings.usable(state, prompt)
    guess = kit.Guess(
        GUESS, question(sampling_steps(prompt.logits).model_probabilities), by_hand=True
    )
    shown = guess.open
    if not shown:
        settings[COVERED] = kind_of(COVERED).neutral
    steps = pipeline_settings.steps_of(state, prompt, settings)
    board = kit.stage("pipeline")
    # The bars already stand as the hand left them: what is said about them comes before all stops
    # of all sliders are computed anew.
    if steps is not None:
        kit.prose(caption(prompt, steps))
        _buttons(state)
        guess.ask()
    kit.source(state)
    if steps is not None and shown:
        kit.looks(state, words.looks, f"{KEY}.looks", **summary(prompt))
        kit.real_look(state, words.real, f"{KEY}.real")
        kit.section(words.intro)
        kit.prose(order_effect(prompt, settings, steps))
        _code(prompt, settings, state)
        kit.seen(words.end, **end(prompt, steps, u_of(state)))
    pictures_first()
    with board:
        _board(state, prompt, settings, guess)


def hook(prompt: Prompted) -> str:
    """Say what the tokens without a bar have together."""
    bars = min(SHOWN, prompt.vocab_size)
    mass = 1 - float(np.sort(sampling_steps(prompt.logits).probabilities)[::-1][:bars].sum())
    rest = prompt.vocab_size - bars
    case = "all" if not rest else "tail" if mass >= 0.005 else "sure"
    return words.hook[case].format(
        bars=bars, rest=f"{rest:,}", mass=kit.percent(max(0.0, mass)), draws=f"{100 * mass:.0f}"
    )


def caption(prompt: Prompted, steps: SamplingSteps) -> str:
    """Say how many tokens may be drawn, and what the model gave to the others."""
    kept = int(steps.kept.sum())
    case = "single" if kept == 1 else "all" if kept == prompt.vocab_size else "some"
    return words.caption[case].format(
        kept=kit.count(kept, "token"),
        lost=kit.percent(float(steps.model_probabilities[~steps.kept].sum())),
        token=kit.quote(prompt.token_text(int(steps.kept.argmax()))),
    )


def summary(prompt: Prompted) -> dict[str, str]:
    """Return what looks say: of the settings and the text that they lead to."""
    text = params.PROMPT + " found"
    sure = logits_after(prompt.bundled, tuple(prompt.bundled.tokenizer.encode_from_start(text)))
    hot = sampling_steps(prompt.logits, temperature=2)
    first = int(top_ids(prompt.logits, 1)[0])
    kept = {
        "bold": sampling_steps(prompt.logits, temperature=2, min_p=0.05),
        "needs": sampling_steps(prompt.logits, top_p=0.9),
        "few": sampling_steps(sure, top_p=0.9),
    }
    others = 1 - float(hot.probabilities[bar_ids(prompt)].sum())
    return {name: kit.count(int(steps.kept.sum()), "token") for name, steps in kept.items()} | {
        "hot": kit.percent(max(0.0, others)),
        "sure": kit.percent(float(sampling_steps(sure).probabilities.max())),
        "token": prompt.token_text(first),
        "id": str(first),
        "more": quote_plus(text),
        "now": quote_plus(params.PROMPT),
    }


def u_of(state: kit.PageState) -> float:
    """Return the random number of the page's present draw."""
    return float(source.random_numbers(state["seed"], state["draw"])[-1])


def bar_ids(prompt: Prompted, banned: tuple[int, ...] = ()) -> np.ndarray:
    """Return the tokens that have a bar: the model's most probable ones and the forbidden."""
    top = top_ids(prompt.logits, min(SHOWN, prompt.logits.size))
    return np.array([*top, *(token for token in banned if token not in top)], dtype=np.int64)


def _board(
    state: kit.PageState, prompt: Prompted, settings: dict[str, Any], guess: kit.Guess
) -> None:
    ids, u, every = bar_ids(prompt, settings["banned"]), u_of(state), state["everystep"]
    asks = guess.asks
    there = [
        name
        for name in steps_with_column(settings)
        if every or name in USUAL or settings[name] != pipeline_settings.NEUTRAL[name]
    ]
    try:
        controls = [
            sweeps.control(name, prompt, settings, ids, u, there)
            for name in there
            if name in SLIDERS and not (asks and name == COVERED)
        ]
    except ValueError as error:
        kit.refuse(error)
        return
    share = share_asked(sampling_steps(prompt.logits).model_probabilities) or 0.0
    lines = []
    if guess.question is not None and not asks:
        lines = [(guess.right[0], words.cut["right"])]
    lines += [(own, words.cut["own"]) for own in guess.own or ()]

    def act(done: dict[str, Any]) -> None:
        if "guess" in done:
            guess.settle(done["guess"])
        take_act(state, done, prompt.logits.size)

    sampler(
        columns(there, movable=every),
        controls,
        ids.tolist(),
        {token: prompt.token_text(token) for token in named_tokens(controls, ids.tolist())},
        key=KEY,
        u=u,
        vocab_size=prompt.logits.size,
        banned=settings["banned"],
        cut=Cut(
            words.cut | {"hint": words.cut["hint"].format(p=share)},
            asks,
            lines,
        ),
        on_act=source.acted(KEY, act),
    )


def columns(there: Sequence[str], *, movable: bool) -> list[Column]:
    """Return the columns of the picture: the model's own, and one for each of the steps."""
    return [
        Column("model", words.model_column, words.model_hint, movable=False),
        *(Column(name, kind_of(name).title, kind_of(name).hint, movable) for name in there),
    ]


def take_act(state: kit.PageState, act: dict[str, Any], vocab_size: int) -> None:
    """Put what was done in the picture into the page's state."""
    match act:
        case {"set": str(name), "value": value} if name in SLIDERS:
            control = params.CONTROL_OF[name]
            number = value if value is None or kind_of(name).whole else float(value)
            # Read as from a link, so that nothing gets in that a link could not hold.
            param = state.params[control]
            state[control] = param.read(param.write(number) or "")
        case {"move": str(name), "by": (1 | -1) as by} if name in usual_order():
            state["order"] = moved(state["order"], name, by, with_banned=bool(state["ban"]))
        case {"ban": int(token)} if 0 <= token < vocab_size:
            banned = state["ban"]
            state["ban"] = (
                [other for other in banned if other != token]
                if token in banned
                else [*banned, token]
            )


def moved(order: list[str], name: str, by: int, *, with_banned: bool) -> list[str]:
    """Return the order after a step changed places with its neighbour among those shown.

    >>> moved(["banned", "top_k", "top_p"], "top_p", -1, with_banned=False)
    ['banned', 'top_p', 'top_k']
    """
    hidden = [] if with_banned else [step for step in order if step == "banned"]
    movable = [step for step in order if step not in hidden]
    at = movable.index(name)
    to = at + by
    if 0 <= to < len(movable):
        movable[at], movable[to] = movable[to], movable[at]
    return [*hidden, *movable]


def _buttons(state: kit.PageState) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        kit.another(state, "draw", words.draw_again, type="primary")
        st.button(
            lesson_words.reset, icon=":material/restart_alt:", on_click=params.reset, args=(state,)
        )
        st.toggle(words.every, **state.bind("everystep"))
        st.number_input(lesson_words.seed, step=1, width=150, **state.ranged("seed"))
        pipeline_settings.strip_box(state)


def order_effect(prompt: Prompted, settings: dict[str, Any], steps: SamplingSteps) -> str:
    """Say what the order of the steps changes, beside the usual one or with temperature last."""
    known = usual_order()
    usual = full_order(settings["order"]) == known
    order = (*(name for name in known if name != "temperature"), "temperature") if usual else known
    try:
        other = sampling_steps(prompt.logits, previous=prompt.ids, **settings | {"order": order})
    except ValueError as error:
        return str(error)
    apart = float(np.abs(steps.probabilities - other.probabilities).sum() / 2)
    titles = ", ".join(kind_of(name).title for name in steps_with_column(settings))
    if apart < 1e-9:
        return words.order_nothing if usual else words.order_changed_same.format(order=titles)
    return (words.order_same if usual else words.order_changed).format(
        order=titles,
        now=kit.count(int(steps.kept.sum()), "token"),
        other=kit.count(int(other.kept.sum()), "token"),
        share=kit.percent(apart),
    )


def question(own: np.ndarray) -> kit.Question | None:
    """Return the question how few tokens have a share of the probabilities (V,) together.

    The wrong answers are those of somebody who takes all for as likely as the first, and of one
    who counts bars. None where answers are nearly the same, or not among the bars.
    """
    wanted = share_asked(own)
    if wanted is None:
        return None
    ordered = np.sort(own)[::-1]
    answers = answers_to(own, wanted)
    lines = (words.ask_nucleus_right, words.ask_nucleus_first, words.ask_nucleus_bars)
    reasons = {
        n: line.format(
            n=kit.count(n, "token"),
            p=wanted,
            mass=kit.percent(min(1.0, float(ordered[:n].sum()))),
            first=kit.percent(float(ordered[0])),
            second=kit.percent(float(ordered[1])),
        )
        for n, line in zip(answers, lines, strict=True)
    }
    return kit.Question.among(
        words.ask_nucleus, reasons, answers[0], lambda n: kit.count(round(n), "token"), p=wanted
    )


def answers_to(own: np.ndarray, share: float) -> tuple[int, int, int]:
    """Return how few tokens have a share, and what both mistakes make of that."""
    bars = min(SHOWN, own.size)
    return nucleus_size(own, share), math.ceil(share / float(own.max())), round(share * bars)


def share_asked(own: np.ndarray) -> float | None:
    """Return a share of the probabilities (V,) with three answers that are apart, among the bars.

    Sums of printed shares reach it at the same token. None where there is no such share.
    """
    sums, counts = np.cumsum(np.sort(own)[::-1]), np.arange(1, own.size + 1)

    def fits(share: float) -> bool:
        size, *_ = answers = answers_to(own, share)
        places = sorted(answers)
        apart = places[-1] <= min(SHOWN, own.size) and min(np.diff(places)) >= APART
        return bool(apart and (np.abs(sums - share) > counts * ROUNDED)[:size].all())

    return next(filter(fits, GUESSED), None)


def end(prompt: Prompted, steps: SamplingSteps, u: float) -> dict[str, str]:
    """Return the numbers that the chapter ends with: what was left, and what was drawn."""
    token = steps.draw(u)
    own, p = (
        kit.percent(float(shares[token]))
        for shares in (steps.model_probabilities, steps.probabilities)
    )
    return {
        "tokens": kit.count(prompt.logits.size, "token"),
        "kept": kit.count(int(steps.kept.sum()), "token"),
        "u": f"{u:.4f}",
        "token": kit.quote(prompt.token_text(token)),
        "own": own,
        "after": words.after["same" if p == own else "other"].format(p=p),
    }


def _code(prompt: Prompted, settings: dict[str, Any], state: kit.PageState) -> None:
    steps = sampling_steps(prompt.logits, previous=prompt.ids, **settings)
    token = steps.draw(u_of(state))
    tokenizer = prompt.bundled.tokenizer
    kit.show_code(
        [SamplingSteps.draw, *(kind.function for kind in STEPS if kind.stops)],
        source.snippet(prompt)
        + words.snippet.format(
            settings=pipeline_settings.arguments(settings), seed=state["seed"], draw=state["draw"]
        ),
        f"{tokenizer.token_bytes(token)!r} {round(float(steps.probabilities[token]), 3)}",
    )
