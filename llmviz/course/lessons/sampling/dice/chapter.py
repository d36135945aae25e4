"""Chapter "The dice": the random number, and what many of them add up to."""

from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.components.dice.view import Hand, dice
from llmviz.course.lessons.sampling import params, pipeline_settings, source
from llmviz.course.lessons.sampling import words as lesson_words
from llmviz.course.lessons.sampling.dice import words
from llmviz.course.lessons.sampling.draws import distances
from llmviz.course.lessons.sampling.source import Prompted
from llmviz.course.ui import kit
from llmviz.sampling import SamplingSteps, sampling_steps
from llmviz.sampling.sweeps import likeliest

KEY, GUESS = "sampling.dice", "dice.rewind"
BARS = 10
RECENT = 200  # random numbers that are drawn on the strip
MORE = (100, 10_000)
APART = 0.04  # of the strip, between the places of the question's answers
FEW, MANY = 100, 10_000  # throws between which a distance is asked for
FAR_APART = 0.02  # between the lines of its answers, on average


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the strip, the guess about it and the looks at it, then what goes deeper."""
    kit.prose(words.hook)
    prompt = source.prompted(state)
    if prompt is None:
        kit.source(state)
        return
    settings = pipeline_settings.usable(state, prompt)
    steps = pipeline_settings.steps_of(state, prompt, settings)
    if steps is None:
        kit.source(state)
        return
    us = source.random_numbers(state["seed"], state["draw"])
    drawn = steps.draw_many(us)
    first = source.random_numbers(state["seed"], params.FIRST_DRAWS)
    guess = kit.Guess(GUESS, question(steps, first), seen=us.size == 1, by_hand=True)
    shown = guess.open
    with kit.stage("dice"):
        _dice(prompt, steps, us, drawn, guess)
        kit.prose(caption(prompt, steps, float(us[-1]), int(drawn[-1])))
        said = pipeline_settings.described(settings)
        if said != lesson_words.plain:
            st.caption(lesson_words.in_force.format(settings=said))
        _buttons(state)
    guess.ask()
    kit.source(state)
    if not shown:
        return
    widest = {
        name: kit.percent(sampling_steps(prompt.logits, temperature=t).probabilities.max())
        for name, t in (("cold", 0.2), ("plain", 1.0))
    }
    kit.looks(state, words.looks, f"{KEY}.looks", **widest)
    kit.real_look(state, words.real, f"{KEY}.real")
    many = steps.draw_many(source.random_numbers(state["seed"], MANY))
    _fit(state, steps.probabilities, many)
    _code(prompt, settings, state, drawn)
    kit.seen(words.end, **end(prompt, steps, float(us[-1]), drawn))


def caption(prompt: Prompted, steps: SamplingSteps, u: float, token: int) -> str:
    """Say where a random number fell, and how often others miss the favourite."""
    top = int(np.argmax(steps.probabilities))
    share = float(steps.probabilities[top])
    equal = int(np.count_nonzero(steps.probabilities == share))
    case = "tie" if equal > 1 else "top" if token == top else "other"
    return words.caption["sure" if share > 1 - 1e-12 else case].format(
        top=kit.quote(prompt.token_text(top)),
        token=kit.quote(prompt.token_text(token)),
        p=kit.percent(share),
        u=u,
        equal=kit.count(equal, "token"),
        others=f"{100 * (1 - share):.3g}",
    )


def question(steps: SamplingSteps, us: np.ndarray) -> kit.Question | None:
    """Return the question where the first of the random numbers us (n,) falls after a rewind.

    Somebody who takes it for a new throw bets on the widest piece; somebody who thinks that chance
    evens out, on the widest gap between the throws. None where two of these places are near.
    """
    right = float(us[0])
    favourite = sum(steps.interval(int(np.argmax(steps.probabilities)))) / 2
    ends = np.array([0.0, *np.sort(us), 1.0])
    widest = int(np.diff(ends).argmax())
    gap = float(ends[widest : widest + 2].mean())
    places = sorted((right, favourite, gap))
    if min(np.diff(places)) < APART:
        return None
    reasons = {
        right: words.ask_rewind_right,
        favourite: words.ask_rewind_favourite,
        gap: words.ask_rewind_gap,
    }
    write = "{:.2f}".format
    return kit.Question.among(words.ask_rewind, reasons, right, write, right=write(right))


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


def _dice(
    prompt: Prompted,
    steps: SamplingSteps,
    us: np.ndarray,
    drawn: np.ndarray,
    guess: kit.Guess,
) -> None:
    def point(act: dict[str, Any]) -> None:
        guess.settle(act.get("guess"))

    own = guess.own
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
        key=KEY,
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
        hand=Hand(words.hand, guess.asks, own[0] if own else None),
        on_act=source.acted(KEY, point),
    )


def _fit(state: kit.PageState, probabilities: np.ndarray, drawn: np.ndarray) -> None:
    """Show how far the first of many tokens (n,) drawn from probabilities (V,) are from them."""
    kit.section(words.intro, few=FEW, seed=state["seed"])
    numbers, far = distances(probabilities, drawn)
    known = sum(n <= FEW for n in numbers)
    guess = kit.Guess("dice.far", far_question(numbers, far, known))
    ghosts = (
        []
        if guess.question is None
        else [
            kit.Drawn(name, numbers[known:], line, role, dashed=True)
            for name, line, role in zip(
                (words.hundredth, words.steady),
                guess.question.values[1:],
                ("key", "value"),
                strict=True,
            )
        ]
    )
    guess.line(
        [],
        kit.Drawn(words.line, numbers, far),
        kit.Scale(1, MANY, words.axis, log=True),
        kit.Scale(0, 1, words.line),
        known=known,
        picture=f"{KEY}.far",
        ghosts=ghosts,
    )
    guess.ask()


def far_question(numbers: list[int], far: list[float], known: int) -> kit.Question | None:
    """Return the question how the distance goes on behind its first `known` points.

    None where it ends nearer to what a wrong idea says than `FAR_APART`.
    """
    first = far[known - 1]
    right = tuple(far[known:])
    hundredth = tuple(first * numbers[known - 1] / n for n in numbers[known:])
    steady = (first,) * len(right)
    if any(np.abs(np.subtract(right, wrong)).mean() < FAR_APART for wrong in (hundredth, steady)):
        return None
    reasons = {
        right: words.ask_far_right,
        hundredth: words.ask_far_hundredth,
        steady: words.ask_far_steady,
    }
    said: dict[str, Any] = {"few": numbers[known - 1], "many": numbers[-1], "first": first}
    write = words.far_answer.format
    return kit.Question.among(
        words.ask_far, reasons, right, lambda line: write(last=line[-1], many=numbers[-1]), **said
    )


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
        f"{prompt.bundled.tokenizer.token_bytes(top)!r} {counts.max()}",
    )
