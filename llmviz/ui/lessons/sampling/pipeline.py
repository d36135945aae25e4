"""Chapter "Logits to a token": every step of the pipeline over the same tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from llmviz.sampling import ORDER, SamplingSteps, nucleus_size, sampling_steps
from llmviz.sampling.pipeline import top_ids
from llmviz.sampling.settings import full_order
from llmviz.ui.components.sampler import Column, named_tokens, sampler
from llmviz.ui.lesson import Question, pictures_first, predict, section, show_code
from llmviz.ui.lessons.common import count, percent, refuse
from llmviz.ui.lessons.sampling import knobs, params, source, sweeps, words
from llmviz.ui.lessons.sampling.source import Prompted
from llmviz.ui.prose import prose
from llmviz.ui.state import PageState

KEY = "sampling.board"
SHOWN = 18  # tokens that have a bar of their own
SLIDERS = ("repetition_penalty", "temperature", "top_k", "top_p", "min_p")
ASKED = 0.9


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.pipeline.TITLE, words.pipeline.TEXT)
    said = source.prompted(state)
    if said is None:
        return
    settings = knobs.usable(state, said)
    try:
        steps = sampling_steps(said.logits, previous=said.ids, **settings)
    except ValueError as error:
        knobs.refused(state, error)
        _board(state, said, settings)
        return
    board, below = st.container(), st.container()
    # The bars already stand as the hand left them: what is said about them comes before all stops
    # of all sliders are computed anew.
    with below:
        _buttons(state, settings)
        prose(words.pipeline.BAN + " " + _tail(said))
        prose(order_effect(said, settings, steps))
    pictures_first()
    with board:
        _board(state, said, settings)
    _ask(said)
    _code(said, settings, state)


def u_of(state: PageState) -> float:
    """Return the random number of the page's present draw."""
    return float(source.random_numbers(state["seed"], state["draw"])[-1])


def shown_ids(said: Prompted, banned: tuple[int, ...] = ()) -> np.ndarray:
    """Return the tokens that have a bar: the model's most probable ones and the forbidden."""
    top = top_ids(said.logits, min(SHOWN, said.logits.size))
    return np.array([*top, *(token for token in banned if token not in top)], dtype=np.int64)


def _board(state: PageState, said: Prompted, settings: dict[str, Any]) -> None:
    ids, u = shown_ids(said, settings["banned"]), u_of(state)
    controls = []
    for name in SLIDERS:
        try:
            controls.append(sweeps.control(name, said, settings, ids, u))
        except ValueError as error:
            refuse(error)
            return
    sampler(
        columns(settings),
        controls,
        ids,
        {token: said.token_text(token) for token in named_tokens(controls, ids)},
        key=KEY,
        u=u,
        vocab_size=said.logits.size,
        banned=settings["banned"],
        on_act=source.acted(KEY, lambda act: take_act(state, act, said.logits.size)),
    )


def columns(settings: dict[str, Any]) -> list[Column]:
    """Return the columns of the picture; the one of forbidden tokens only where there are any."""
    return [
        Column("model", words.pipeline.MODEL_COLUMN, words.pipeline.MODEL_HINT, movable=False),
        *(
            Column(name, words.STEP_TITLES[name], words.pipeline.STEP_HINTS[name])
            for name in sweeps.steps_shown(settings)
        ),
    ]


def take_act(state: PageState, act: dict[str, Any], vocab_size: int) -> None:
    """Put what was done in the picture into the page's state."""
    match act:
        case {"set": str(name), "value": value} if name in SLIDERS:
            control = params.CONTROL_OF[name]
            number = value if value is None or name == "top_k" else float(value)
            # Read as from a link, so that nothing gets in that a link could not hold.
            param = state.params[control]
            state[control] = param.read(param.write(number))
        case {"move": str(name), "by": (1 | -1) as by} if name in ORDER:
            state["order"] = moved(state["order"], name, by, bool(state["ban"]))
        case {"ban": int(token)} if 0 <= token < vocab_size:
            banned = state["ban"]
            state["ban"] = (
                [other for other in banned if other != token]
                if token in banned
                else [*banned, token]
            )


def moved(order: list[str], name: str, by: int, with_banned: bool) -> list[str]:
    """Return the order after a step changed places with its neighbour among those shown.

    >>> moved(["banned", "top_k", "top_p"], "top_p", -1, False)
    ['banned', 'top_p', 'top_k']
    """
    hidden = [] if with_banned else [step for step in order if step == "banned"]
    shown = [step for step in order if step not in hidden]
    at = shown.index(name)
    to = at + by
    if 0 <= to < len(shown):
        shown[at], shown[to] = shown[to], shown[at]
    return [*hidden, *shown]


def _buttons(state: PageState, settings: dict[str, Any]) -> None:
    def again() -> None:
        state["draw"] = state["draw"] % params.MOST_DRAWS + 1

    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.button(
            words.pipeline.DRAW_AGAIN, icon=":material/casino:", type="primary", on_click=again
        )
        st.button(words.RESET, icon=":material/restart_alt:", on_click=params.reset, args=(state,))
        st.number_input(words.SEED, step=1, width=150, **state.ranged("seed"))
        st.selectbox(
            words.STRIP,
            list(words.STRIPS),
            format_func=words.STRIPS.__getitem__,
            width=210,
            **state.bind("strip"),
        )
    st.caption(words.pipeline.DRAW_NUMBER.format(draw=state["draw"], seed=state["seed"]))


def _tail(said: Prompted) -> str:
    steps = sampling_steps(said.logits)
    shown = shown_ids(said)
    return words.pipeline.TAIL_TEXT.format(
        shown=shown.size,
        vocabulary=said.logits.size,
        rest=said.logits.size - shown.size,
        mass=percent(1 - steps.model_probabilities[shown].sum()),
    )


def order_effect(said: Prompted, settings: dict[str, Any], steps: SamplingSteps) -> str:
    """Say what the order of the steps changes, beside the usual one or with temperature last."""
    usual = full_order(settings["order"]) == ORDER
    order = (*(name for name in ORDER if name != "temperature"), "temperature") if usual else ORDER
    try:
        other = sampling_steps(said.logits, previous=said.ids, **settings | {"order": order})
    except ValueError as error:
        return str(error)
    apart = float(np.abs(steps.probabilities - other.probabilities).sum() / 2)
    shown = ", ".join(words.STEP_TITLES[name] for name in sweeps.steps_shown(settings))
    if apart < 1e-9:
        return (
            words.pipeline.ORDER_NOTHING
            if usual
            else words.pipeline.ORDER_CHANGED_SAME.format(order=shown)
        )
    return (words.pipeline.ORDER_SAME if usual else words.pipeline.ORDER_CHANGED).format(
        order=shown,
        now=count(int(steps.kept.sum()), "token"),
        other=count(int(other.kept.sum()), "token"),
        share=percent(apart),
    )


def _ask(said: Prompted) -> None:
    own = sampling_steps(said.logits).model_probabilities
    size = nucleus_size(own, ASKED)
    ordered = np.sort(own)[::-1]
    others = sorted({max(1, size // 5), size * 4, size * 20} - {size})
    answers = sorted({size, *(n for n in others if n <= own.size)})
    predict(
        Question(
            words.pipeline.ASK_NUCLEUS.format(p=ASKED),
            [count(n, "token") for n in answers],
            answers.index(size),
            [
                words.pipeline.ASK_NUCLEUS_REASON.format(n=count(n, "token"), p=ASKED)
                if n == size
                else words.pipeline.ASK_NUCLEUS_WRONG.format(n=n, mass=percent(ordered[:n].sum()))
                for n in answers
            ],
        ),
        "pipeline.nucleus",
    )


def _code(said: Prompted, settings: dict[str, Any], state: PageState) -> None:
    steps = sampling_steps(said.logits, previous=said.ids, **settings)
    token = steps.draw(u_of(state))
    tokenizer = said.bundled.tokenizer
    show_code(
        [SamplingSteps.draw, *_functions()],
        "import torch\n" + source.snippet(said) + "from llmviz.sampling import sampling_steps\n"
        "from llmviz.sampling.generation import NextLogits\n\n"
        "logits = NextLogits(model)(ids)\n"
        f"steps = sampling_steps(logits, previous=ids{knobs.arguments(settings)})\n"
        f"generator = torch.Generator().manual_seed({state['seed']})\n"
        f"u = torch.rand({state['draw']}, generator=generator, dtype=torch.float64)[-1].item()\n"
        "token = steps.draw(u)\n"
        "print(tokenizer.token_bytes(token), round(float(steps.probabilities[token]), 3))",
        f"{tokenizer.token_bytes(token)} {round(float(steps.probabilities[token]), 3)}",
    )


def _functions() -> list[Any]:
    from llmviz.sampling import steps as pure

    return [
        pure.penalise_repetition,
        pure.apply_temperature,
        pure.keep_top_k,
        pure.keep_top_p,
        pure.keep_min_p,
    ]
