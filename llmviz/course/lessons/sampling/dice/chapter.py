"""Chapter "The dice": the random number, and what many of them add up to."""

from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.components.dice.view import dice
from llmviz.course.figures import sampling as figures
from llmviz.course.lessons.sampling import params, pipeline_settings, source
from llmviz.course.lessons.sampling import words as lesson_words
from llmviz.course.lessons.sampling.dice import words
from llmviz.course.lessons.sampling.draws import distance, distances, expected_distance
from llmviz.course.lessons.sampling.source import Prompted
from llmviz.course.ui import kit
from llmviz.sampling import SamplingSteps
from llmviz.sampling.sweeps import likeliest

BARS = 14
RECENT = 200  # random numbers that are drawn on the strip
MORE = (100, 10_000)
SHORTEST = 10  # draws: fewer make no curve
SURE = 0.9  # above it, nearly all draws are one token, and there is little to ask
FEW, MANY = 100, 10_000  # draws that the question compares
RATIOS = {"tenth": (0.07, 0.15), "half": (0.35, 0.7)}  # what still counts as about this much


@source.reads_prompt(words.intro)
def draw(state: kit.PageState, prompt: Prompted) -> None:
    """Show the chapter."""
    settings = pipeline_settings.usable(state, prompt)
    steps = pipeline_settings.steps_of(state, prompt, settings)
    if steps is None:
        return
    n = state["draw"]
    us = source.random_numbers(state["seed"], n)
    drawn = steps.draw_many(us)
    head, picture = st.container(), st.container()
    with picture:  # sent first: the hand waits for it
        _dice(prompt, steps, us, drawn)
    with head:
        st.caption(lesson_words.in_force.format(settings=pipeline_settings.described(settings)))
        kit.prose(why(prompt, steps, float(us[-1]), int(drawn[-1])))
        _buttons(state)
    kit.prose(words.counts, n=kit.count(n, "draw"), seed=state["seed"])
    kit.prose(words.distance)
    many = steps.draw_many(source.random_numbers(state["seed"], MANY))
    quiz = question(steps.probabilities, many)
    if quiz is None or kit.predict(quiz, "dice.root", covers=True):
        kit.prose(words.curve)
        if n >= SHORTEST:
            kit.chart(
                convergence(*map(tuple, distances(steps.probabilities, drawn)), kit.theme()),
                "sampling.convergence",
                bar=False,
            )
        else:
            st.caption(words.curve_waits.format(n=SHORTEST))
    _code(prompt, settings, state, drawn)
    kit.seen(words.end, **end(prompt, steps, float(us[-1]), drawn))


def why(prompt: Prompted, steps: SamplingSteps, u: float, token: int) -> str:
    """Say why the most probable token was or was not taken, from the numbers of this draw."""
    top = int(np.argmax(steps.probabilities))
    start, end = steps.interval(top)
    share = float(steps.probabilities[top])
    text = words.top if token == top else words.why
    if np.count_nonzero(steps.probabilities == share) > 1:
        text = words.tie
    if share > 1 - 1e-12:
        text = words.sure
    return text.format(
        top=kit.quote(prompt.token_text(top)),
        drawn=kit.quote(prompt.token_text(token)),
        p=kit.percent(share),
        start=start,
        end=end,
        u=u,
        equal=kit.count(int(np.count_nonzero(steps.probabilities == share)), "token"),
        others=f"{100 * (1 - share):.3g}",
    )


def _buttons(state: kit.PageState) -> None:
    def draw_more(n: int) -> None:
        state["draw"] = min(params.MOST_DRAWS, state["draw"] + n)

    replay = state.setter(draw=1)
    full = state["draw"] >= params.MOST_DRAWS
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.button(
            words.one,
            icon=":material/casino:",
            type="primary",
            on_click=draw_more,
            args=(1,),
            disabled=full,
        )
        for n in MORE:
            st.button(
                words.more.format(n=n),
                on_click=draw_more,
                args=(n,),
                disabled=full,
                key=f"+{n}",
            )
        st.button(words.replay, icon=":material/replay:", on_click=replay)
        st.number_input(lesson_words.seed, step=1, width=150, **state.ranged("seed"))
        pipeline_settings.strip_box(state)


def _dice(prompt: Prompted, steps: SamplingSteps, us: np.ndarray, drawn: np.ndarray) -> None:
    bars = likeliest(steps.probabilities, min(BARS, prompt.logits.size))
    bars = bars[np.argsort(-steps.probabilities[bars], kind="stable")]
    bars = bars[steps.probabilities[bars] > 0]
    counts = np.bincount(drawn, minlength=prompt.logits.size)
    can_be_drawn = int(np.count_nonzero(steps.probabilities))
    strip = sorted(
        ((i, *steps.interval(int(token))) for i, token in enumerate(bars)),
        key=lambda piece: piece[1],
    )
    dice(
        prompt.texts(bars),
        steps.probabilities[bars],
        counts[bars].tolist(),
        key="sampling.dice",
        draws=drawn.size,
        rest=(
            can_be_drawn - bars.size,
            max(0.0, 1 - float(steps.probabilities[bars].sum())),
            int(drawn.size - counts[bars].sum()),
        ),
        strip=strip,
        recent=[
            (float(u), prompt.token_text(token))
            for u, token in zip(us[-RECENT:], drawn[-RECENT:], strict=True)
        ],
    )


convergence = kit.kept(128)(figures.convergence)


def question(probabilities: np.ndarray, drawn: np.ndarray) -> kit.Question | None:
    """Return the question how much nearer 10,000 draws come than the first 100 of them.

    `drawn` are the tokens of 10,000 draws from probabilities (V,). None where the distance on
    average, or that of these draws, is not clearly one of the answers.
    """
    first, last = distance(probabilities, drawn[:FEW]), distance(probabilities, drawn)
    usual = expected_distance(probabilities, FEW)
    if probabilities.max() > SURE or not first or not usual:
        return None
    ratios = last / first, expected_distance(probabilities, drawn.size) / usual
    right = next(
        (name for name, (low, high) in RATIOS.items() if all(low < r < high for r in ratios)), None
    )
    if right is None:
        return None
    numbers = {
        "first": f"{first:.4f}",
        "last": f"{last:.4f}",
        "tokens": f"{np.count_nonzero(probabilities):,}",
        "met": f"{np.unique(drawn).size:,}",
    }
    reasons = {name: words.ask_dice_reasons[f"{right}, {name}"] for name in words.ask_dice_answers}
    written = words.ask_dice_answers.__getitem__
    return kit.Question.among(words.ask_dice, reasons, right, written, **numbers)


def end(prompt: Prompted, steps: SamplingSteps, u: float, drawn: np.ndarray) -> dict[str, str]:
    """Return the numbers that the chapter ends with: of the token that was drawn last."""
    token = int(drawn[-1])
    times = int(np.count_nonzero(drawn == token))
    return {
        "token": kit.quote(prompt.token_text(token)),
        "u": f"{u:.4f}",
        "p": kit.percent(float(steps.probabilities[token])),
        "n": kit.count(drawn.size, "draw"),
        "times": kit.count(times, "time"),
        "share": kit.percent(times / drawn.size),
    }


def _code(
    prompt: Prompted, settings: dict[str, Any], state: kit.PageState, drawn: np.ndarray
) -> None:
    counts = np.bincount(drawn)
    top = int(counts.argmax())
    kit.show_code(
        [SamplingSteps.draw_many],
        "import numpy as np\nimport torch\n"
        + source.snippet(prompt)
        + words.snippet.format(
            settings=pipeline_settings.arguments(settings), size=drawn.size, seed=state["seed"]
        ),
        f"{prompt.bundled.tokenizer.token_bytes(top)} {counts.max()}",
    )
