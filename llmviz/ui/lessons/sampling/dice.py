"""Chapter "The dice": the random number, and what many of them add up to."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from llmviz.figures import sampling as figures
from llmviz.figures.theme import Mode
from llmviz.sampling import SamplingSteps, sampling_steps
from llmviz.ui.components.dice import dice
from llmviz.ui.kept import kept
from llmviz.ui.lesson import Question, predict, section, show_code
from llmviz.ui.lessons.common import count, percent, theme
from llmviz.ui.lessons.sampling import knobs, params, source, sweeps, words
from llmviz.ui.lessons.sampling.source import Prompted
from llmviz.ui.prose import prose, quote
from llmviz.ui.state import PageState

BARS = 14
RECENT = 200  # random numbers that are drawn on the strip
MORE = (100, 10_000)


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.dice.TITLE, words.dice.TEXT)
    said = source.prompted(state)
    if said is None:
        return
    settings = knobs.usable(state, said)
    try:
        steps = sampling_steps(said.logits, previous=said.ids, **settings)
    except ValueError as error:
        knobs.refused(state, error)
        return
    n = state["draw"]
    us = source.random_numbers(state["seed"], n)
    drawn = steps.draw_many(us)
    head, picture = st.container(), st.container()
    with picture:  # sent first: the hand waits for it
        _dice(said, steps, us, drawn)
    with head:
        st.caption(words.IN_FORCE.format(settings=knobs.described(settings)))
        prose(why(said, steps, float(us[-1]), int(drawn[-1])))
        _buttons(state)
    prose(words.dice.COUNTS.format(n=count(n, "draw"), seed=state["seed"]))
    if n >= 10:
        st.plotly_chart(
            convergence(*map(tuple, distances(steps, drawn)), theme()),
            key="sampling.convergence",
            theme=None,
            config={"displayModeBar": False},
        )
        prose(words.dice.CURVE)
    _ask(steps, state)
    _code(said, settings, state, drawn)


def why(said: Prompted, steps: SamplingSteps, u: float, token: int) -> str:
    """Say why the most probable token was or was not taken, from the numbers of this draw."""
    top = int(np.argmax(steps.probabilities))
    start, end = steps.interval(top)
    share = float(steps.probabilities[top])
    text = words.dice.TOP if token == top else words.dice.WHY
    if share > 1 - 1e-12:
        text = words.dice.SURE
    return text.format(
        top=quote(said.token_text(top)),
        drawn=quote(said.token_text(token)),
        p=percent(share),
        start=start,
        end=end,
        u=u,
        others=f"{100 * (1 - share):.0f}",
    )


def _buttons(state: PageState) -> None:
    def draw_more(n: int) -> None:
        state["draw"] = min(params.MOST_DRAWS, state["draw"] + n)

    def replay() -> None:
        state["draw"] = 1

    full = state["draw"] >= params.MOST_DRAWS
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.button(
            words.dice.ONE,
            icon=":material/casino:",
            type="primary",
            on_click=draw_more,
            args=(1,),
            disabled=full,
        )
        for n in MORE:
            st.button(
                words.dice.MORE.format(n=n),
                on_click=draw_more,
                args=(n,),
                disabled=full,
                key=f"+{n}",
            )
        st.button(words.dice.REPLAY, icon=":material/replay:", on_click=replay)
        st.number_input(words.SEED, step=1, width=150, **state.ranged("seed"))
        st.selectbox(
            words.STRIP,
            list(words.STRIPS),
            format_func=words.STRIPS.__getitem__,
            width=210,
            **state.bind("strip"),
        )


def _dice(said: Prompted, steps: SamplingSteps, us: np.ndarray, drawn: np.ndarray) -> None:
    shown = sweeps.steps_top(steps.probabilities, min(BARS, said.logits.size))
    shown = shown[np.argsort(-steps.probabilities[shown], kind="stable")]
    shown = shown[steps.probabilities[shown] > 0]
    counts = np.bincount(drawn, minlength=said.logits.size)
    kept = int(np.count_nonzero(steps.probabilities))
    strip = sorted(
        ((i, *steps.interval(int(token))) for i, token in enumerate(shown)),
        key=lambda piece: piece[1],
    )
    dice(
        said.texts(shown),
        steps.probabilities[shown],
        counts[shown].tolist(),
        key="sampling.dice",
        draws=drawn.size,
        rest=(
            kept - shown.size,
            max(0.0, 1 - float(steps.probabilities[shown].sum())),
            int(drawn.size - counts[shown].sum()),
        ),
        strip=strip,
        recent=[
            (float(u), said.token_text(token))
            for u, token in zip(us[-RECENT:], drawn[-RECENT:], strict=True)
        ],
    )


def distances(steps: SamplingSteps, drawn: np.ndarray) -> tuple[list[int], list[float]]:
    """Return numbers of draws and, for each, the total variation distance of the frequencies."""
    ns = sorted({round(float(n)) for n in np.geomspace(1, drawn.size, 25)})
    own = steps.probabilities
    found = []
    for n in ns:
        frequencies = np.bincount(drawn[:n], minlength=own.size) / n
        found.append(float(np.abs(frequencies - own).sum() / 2))
    return ns, found


@kept(128)
def convergence(draws: tuple[int, ...], apart: tuple[float, ...], mode: Mode) -> go.Figure:
    """Return how far the frequencies are from the probabilities."""
    return figures.convergence(draws, apart, mode)


def _ask(steps: SamplingSteps, state: PageState) -> None:
    if steps.probabilities.max() > 0.9:
        return
    drawn = steps.draw_many(source.random_numbers(state["seed"], 10_000))
    _, found = distances(steps, drawn[:100])
    _, later = distances(steps, drawn)
    right = int(np.argmin([abs(later[-1] / found[-1] - share) for share in (0.01, 0.1, 0.5)]))
    reason = words.dice.ASK_DICE_REASON.format(last=f"{later[-1]:.4f}")
    predict(
        Question(
            words.dice.ASK_DICE.format(first=f"{found[-1]:.4f}"),
            words.dice.ASK_DICE_ANSWERS,
            right,
            [reason if i == right else words.dice.ASK_DICE_NO for i in range(3)],
        ),
        "dice.root",
    )


def _code(said: Prompted, settings: dict[str, Any], state: PageState, drawn: np.ndarray) -> None:
    counts = np.bincount(drawn)
    top = int(counts.argmax())
    show_code(
        [SamplingSteps.draw_many],
        "import numpy as np\nimport torch\n"
        + source.snippet(said)
        + "from llmviz.sampling import sampling_steps\n"
        "from llmviz.sampling.generation import NextLogits\n\n"
        f"steps = sampling_steps(NextLogits(model)(ids), previous=ids{knobs.arguments(settings)})\n"
        f"drawn = steps.draw_many({drawn.size}, torch.Generator().manual_seed({state['seed']}))\n"
        "counts = np.bincount(drawn)\n"
        "print(tokenizer.token_bytes(int(counts.argmax())), counts.max())",
        f"{said.bundled.tokenizer.token_bytes(top)} {counts.max()}",
    )
