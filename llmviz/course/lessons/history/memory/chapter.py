"""Chapter "One test for all": which letter came first, asked of every model at every distance."""

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.document.marks import as_markdown
from llmviz.course.figures.history import is_dashed, network_number
from llmviz.course.lessons.history.memory import PARAMS, own_string, words
from llmviz.course.ui import kit
from llmviz.course.ui.engine_ready import engine_ready
from llmviz.course.ui.rerun import once
from llmviz.training import first_letter
from llmviz.training.first_letter import CHANCE, FARTHEST, LENGTH, OPTIONS, TRAINING

KEY = "history.memory"
GUESS = "history.memory.line"
DRAWN_BY_HAND = "rnn"  # whose line is drawn by hand
APART = 0.1  # of all right answers, on average, between the lines of the question
NEAR = 7  # letters, which the reason of the right line names


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show what models remember, up to the line that is drawn by hand, then a typed string."""
    known = kit.or_refused(cards)
    if known is None:
        return
    if not known:
        st.info(words.none, icon=":material/download:")
        st.code(words.command, language=None)
        return
    kit.prose(words.hook)
    guess = kit.Guess(
        GUESS, question(known[DRAWN_BY_HAND]["right"]) if DRAWN_BY_HAND in known else None
    )
    revealed = guess.open
    shown = [name for name in known if name in state["models"]]
    shown = shown or [name for name in known if name in PARAMS[0].default] or list(known)
    if not revealed and DRAWN_BY_HAND not in shown:  # or there would be nothing to draw on
        shown.append(DRAWN_BY_HAND)
    with kit.stage("memory"):
        _lines(known, shown, guess)
        guess.ask()
        st.pills(
            words.shown,
            list(known),
            selection_mode="multi",
            format_func=words.models.__getitem__,
            wrap=True,
            **kit.tied(f"_models@{state.page}", shown, partial(state.__setitem__, "models")),
        )
        kit.prose(caption(known, [name for name in shown if revealed or name != DRAWN_BY_HAND]))
    missing = [words.models[name] for name in OPTIONS if name not in known]
    if missing:
        line = words.missing.format(names=", ".join(missing), command=words.command)
        st.info(as_markdown(line), icon=":material/download:")
    if revealed:
        kit.looks(state, words.looks, f"{KEY}.looks")
    if engine_ready():
        own_string.draw(state, [name for name in known if revealed or name != DRAWN_BY_HAND])
    if revealed:
        _reasons(known)
        shares = ", ".join(
            f"{words.models[name]} {kit.percent(float(np.mean(card['right'])))}"
            for name, card in known.items()
        )
        kit.seen(words.end, farthest=FARTHEST, shares=shares)


def question(right: list[float]) -> kit.Question | None:
    """Ask how a model's share of right answers goes on; None where a wrong line is near it.

    The wrong lines are those of somebody to whom each letter takes the same share away, of one to
    whom nothing can be lost without a window, and of one to whom a list that is rewritten holds
    nothing of before. None, too, where the line does not end level.
    """
    truth, first = np.array(right[1:]), right[0]
    kept = max(0.0, (first - CHANCE) / (1 - CHANCE))
    fades = CHANCE + (1 - CHANCE) * kept ** np.arange(2, LENGTH)
    level = {"keeps": np.full(truth.size, first), "gone": np.full(truth.size, CHANCE)}
    values = {"right": truth, "fades": fades} | level
    apart = min(np.abs(truth - line).mean() for line in [fades, *level.values()])
    half = truth[truth.size // 2 :]
    if apart < APART or np.ptp(half) > APART or half.min() < 2 * CHANCE:
        return None
    numbers = {
        "near": NEAR,
        "at_near": kit.percent(right[NEAR - 1]),
        "farthest": FARTHEST,
        "at_end": kit.percent(right[-1]),
        "chance": kit.percent(CHANCE),
    }
    return kit.Question(
        words.ask.format(first=kit.percent(first)),
        [words.answers[name] for name in values],
        0,
        [words.reasons[name].format(**numbers) for name in values],
        values=[tuple(map(float, line)) for line in values.values()],
    )


def _lines(known: dict[str, dict[str, Any]], shown: list[str], guess: kit.Guess) -> None:
    """Each model's share of right answers by distance; that of the asked one goes on by hand."""
    drawn = [line(name, known[name]["right"]) for name in shown if name != DRAWN_BY_HAND]
    here = DRAWN_BY_HAND in shown
    whole = line(DRAWN_BY_HAND, known[DRAWN_BY_HAND]["right"]) if here else drawn.pop()
    (guess if here else kit.Guess(GUESS, None)).line(
        drawn,
        whole,
        kit.Scale(1, FARTHEST, words.axes[0]),
        kit.Scale(0, 1.04, words.axes[1]),
        known=1,
        picture=f"{KEY}.picture",
        levels=[(CHANCE, words.chance)],
        form="percent",
    )


def line(name: str, right: list[float]) -> kit.Drawn:
    """Return a model's line, in the colour of its kind."""
    # Dashes, so that what lies below a line is seen between them.
    dashed = name == list(words.models)[-1] or is_dashed(name)
    role = f"kind-{network_number(name)}"
    return kit.Drawn(words.models[name], range(1, LENGTH), right, role, dashed)


def caption(known: dict[str, dict[str, Any]], shown: list[str]) -> str:
    """Say how often models are right at the longest distance."""
    shares = ", ".join(
        words.share.format(model=words.models[name], share=kit.percent(known[name]["right"][-1]))
        for name in shown
    )
    if not shown:
        return words.caption_none.format(chance=kit.percent(CHANCE))
    return words.caption.format(farthest=FARTHEST, shares=shares, chance=kit.percent(CHANCE))


def _reasons(known: dict[str, dict[str, Any]]) -> None:
    kit.section(words.why)
    alike = together(known)
    if len(alike) > 1:
        kit.prose(words.together.format(names=kit.listed(alike)))
    kit.prose("\n\n".join(reasons(known)))
    kit.measured(
        words.how_trained,
        models=len(known),
        asked=max(card["asked"] for card in known.values()),
        steps=TRAINING.steps,
        rows=TRAINING.batch_size,
        length=LENGTH,
        means=kit.listed(
            [f"{words.models[name]} {np.mean(of['right']):.1%}" for name, of in known.items()]
        ),
    )
    kit.show_code(
        [first_letter.FirstLetterData, first_letter.shares_right, first_letter.make],
        words.snippet.format(known=list(known)),
        "\n".join(
            f"{name} {first_letter.reach(card['right'])} {card['right'][-1]:.4f}"
            for name, card in known.items()
        ),
    )


@once
def cards() -> dict[str, dict[str, Any]]:
    """Return the cards of the models that are in this copy, by name, in the order of OPTIONS.

    Raises ValueError: one of them is damaged.
    """
    return {name: first_letter.read_card(name) for name in first_letter.there()}


def together(known: dict[str, dict[str, Any]]) -> list[str]:
    """Return the models whose lines cannot be told from that of the last one, by name.

    Each is within half a point of it everywhere, so that any two are within one.
    """
    last = np.array(list(known.values())[-1]["right"])
    return [
        words.models[name]
        for name, card in known.items()
        if np.abs(last - card["right"]).max() < 0.005
    ]


def reasons(known: dict[str, dict[str, Any]]) -> list[str]:
    """Return for each model its idea, and what was measured of it."""
    lines = []
    for name, card in known.items():
        config = card["model"]["config"]
        window = config.get("window") or 2 ** config.get("n_layer", 0)
        reads = {"window": window, "covered": window - 1, "farthest": FARTHEST}
        text = f"{kit.bold(words.models[name] + '.')} {words.ideas[name].format(**reads)} "
        lines.append(text + measured(card["right"], card["asked"]))
    return lines


def measured(right: list[float], questions: int) -> str:
    """Say how far a model remembers."""
    far = first_letter.reach(right)
    beyond = first_letter.beyond_luck(right, questions)
    case = "always" if far == FARTHEST else "far" if far else "never" if beyond else "guesses"
    return words.measured[case].format(
        farthest=FARTHEST, far=_distance(far), beyond=_distance(beyond)
    )


def _distance(reach: int) -> str:
    if reach == FARTHEST:
        return words.everywhere
    return words.up_to.format(letters=kit.count(reach, words.more_letter))
