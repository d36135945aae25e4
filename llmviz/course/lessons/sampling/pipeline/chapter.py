"""Chapter "Logits to a token": every step of the pipeline over the same tokens."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.components.sampler.view import Column, named_tokens, sampler
from llmviz.course.lessons.sampling import params, pipeline_settings, source, sweeps
from llmviz.course.lessons.sampling import words as lesson_words
from llmviz.course.lessons.sampling.pipeline import mistakes, words
from llmviz.course.lessons.sampling.source import Prompted
from llmviz.course.ui import kit
from llmviz.course.ui.paint_order import pictures_first
from llmviz.sampling import STEPS, SamplingSteps, kind_of, nucleus_size, sampling_steps, usual_order
from llmviz.sampling.kinds import full_order
from llmviz.sampling.pipeline import top_ids
from llmviz.sampling.sweeps import steps_with_column

KEY = "sampling.board"
SHOWN = 18  # tokens that have a bar of their own
SLIDERS = tuple(kind.name for kind in STEPS if kind.stops)
ASKED = 0.75  # a share of the probability that "Spot the mistake" does not use
COVERED = "top_p"  # the step that gives the answer away


@source.reads_prompt(words.intro)
def draw(state: kit.PageState, prompt: Prompted) -> None:
    """Show the chapter."""
    settings = pipeline_settings.usable(state, prompt)
    quiz = question(sampling_steps(prompt.logits).model_probabilities)
    sliders = SLIDERS
    if quiz and not kit.predict(quiz, "pipeline.nucleus", covers=True):
        st.caption(words.ask_nucleus_waits)  # its slider would count the tokens
        settings[COVERED] = kind_of(COVERED).neutral
        sliders = tuple(name for name in SLIDERS if name != COVERED)
    steps = pipeline_settings.steps_of(state, prompt, settings)
    if steps is None:
        _board(state, prompt, settings, sliders)
        return
    board, below = st.container(), st.container()
    # The bars already stand as the hand left them: what is said about them comes before all stops
    # of all sliders are computed anew.
    with below:
        _buttons(state, settings)
        kit.prose(words.ban + " " + tail(prompt, settings["banned"]))
        kit.prose(order_effect(prompt, settings, steps))
    pictures_first()
    with board:
        _board(state, prompt, settings, sliders)
    _code(prompt, settings, state)
    mistakes.draw(prompt)
    kit.seen(words.end, **end(prompt, steps, u_of(state)))


def u_of(state: kit.PageState) -> float:
    """Return the random number of the page's present draw."""
    return float(source.random_numbers(state["seed"], state["draw"])[-1])


def bar_ids(prompt: Prompted, banned: tuple[int, ...] = ()) -> np.ndarray:
    """Return the tokens that have a bar: the model's most probable ones and the forbidden."""
    top = top_ids(prompt.logits, min(SHOWN, prompt.logits.size))
    return np.array([*top, *(token for token in banned if token not in top)], dtype=np.int64)


def _board(
    state: kit.PageState, prompt: Prompted, settings: dict[str, Any], sliders: Sequence[str]
) -> None:
    ids, u = bar_ids(prompt, settings["banned"]), u_of(state)
    controls = []
    for name in sliders:
        try:
            controls.append(sweeps.control(name, prompt, settings, ids, u))
        except ValueError as error:
            kit.refuse(error)
            return
    sampler(
        columns(settings),
        controls,
        ids,
        {token: prompt.token_text(token) for token in named_tokens(controls, ids)},
        key=KEY,
        u=u,
        vocab_size=prompt.logits.size,
        banned=settings["banned"],
        on_act=source.acted(KEY, lambda act: take_act(state, act, prompt.logits.size)),
    )


def columns(settings: dict[str, Any]) -> list[Column]:
    """Return the columns of the picture; the one of forbidden tokens only where there are any."""
    return [
        Column("model", words.model_column, words.model_hint, movable=False),
        *(
            Column(name, kind_of(name).title, kind_of(name).hint)
            for name in steps_with_column(settings)
        ),
    ]


def take_act(state: kit.PageState, act: dict[str, Any], vocab_size: int) -> None:
    """Put what was done in the picture into the page's state."""
    match act:
        case {"set": str(name), "value": value} if name in SLIDERS:
            control = params.CONTROL_OF[name]
            number = value if value is None or kind_of(name).whole else float(value)
            # Read as from a link, so that nothing gets in that a link could not hold.
            param = state.params[control]
            state[control] = param.read(param.write(number))
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


def _buttons(state: kit.PageState, settings: dict[str, Any]) -> None:
    def again() -> None:
        state["draw"] = state["draw"] % params.MOST_DRAWS + 1

    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.button(words.draw_again, icon=":material/casino:", type="primary", on_click=again)
        st.button(
            lesson_words.reset, icon=":material/restart_alt:", on_click=params.reset, args=(state,)
        )
        st.number_input(lesson_words.seed, step=1, width=150, **state.ranged("seed"))
        pipeline_settings.strip_box(state)
    st.caption(words.draw_number.format(draw=state["draw"], seed=state["seed"]))


def tail(prompt: Prompted, banned: tuple[int, ...]) -> str:
    """Say which tokens have a bar, and what the others have in the model's own probabilities."""
    steps = sampling_steps(prompt.logits)
    bars, most = bar_ids(prompt, banned), bar_ids(prompt).size
    if bars.size == prompt.logits.size:
        return words.tail_none.format(vocabulary=prompt.logits.size)
    return words.tail_text.format(
        bars=most,
        forbidden=words.tail_forbidden if bars.size > most else "",
        vocabulary=prompt.logits.size,
        rest=prompt.logits.size - bars.size,
        mass=kit.percent(max(0.0, 1 - float(steps.model_probabilities[bars].sum()))),
    )


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
    """Return the question how many tokens the nucleus of the probabilities (V,) holds.

    None where the vocabulary leaves no wrong answer.
    """
    size = nucleus_size(own, ASKED)
    mass = np.cumsum(np.sort(own)[::-1])
    others = {max(1, size // 5), size * 4, size * 20} - {size}
    # A wrong answer must not look right: fewer tokens whose mass would be shown as the limit.
    others = {n for n in others if n <= own.size and (n > size or mass[n - 1] < ASKED - 0.005)}
    if not others:
        return None
    lines = {n: words.ask_nucleus_many if n > size else words.ask_nucleus_few for n in others}
    lines[size] = words.ask_nucleus_reason
    reasons = {
        n: line.format(n=kit.count(n, "token"), p=ASKED, mass=kit.percent(min(1.0, mass[n - 1])))
        for n, line in lines.items()
    }
    return kit.Question.among(
        words.ask_nucleus, reasons, size, lambda n: kit.count(n, "token"), p=ASKED
    )


def end(prompt: Prompted, steps: SamplingSteps, u: float) -> dict[str, str]:
    """Return the numbers that the chapter ends with: what was left, and what was drawn."""
    token = steps.draw(u)
    return {
        "logits": kit.count(prompt.logits.size, "logit"),
        "kept": kit.count(int(steps.kept.sum()), "token"),
        "u": f"{u:.4f}",
        "token": kit.quote(prompt.token_text(token)),
        "own": kit.percent(float(steps.model_probabilities[token])),
        "p": kit.percent(float(steps.probabilities[token])),
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
        f"{tokenizer.token_bytes(token)} {round(float(steps.probabilities[token]), 3)}",
    )
