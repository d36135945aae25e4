"""Optimizers on the smallest language model, a table of pairs of letters."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from llmviz.corpus.counts import LETTERS
from llmviz.course.components.descent_view.view import descent_view
from llmviz.course.lessons.training import trajectories
from llmviz.course.lessons.training.optimizers import words
from llmviz.course.lessons.training.trajectories import Rates
from llmviz.course.ui import kit

if TYPE_CHECKING:
    from llmviz.training.descent import Descent

KEY = "training.descent.model"
STEPS = 100
RATES = Rates(0.003, 100.0, 19)
WATCHED = LETTERS.index("q"), LETTERS.index("u")


def draw(state: kit.PageState) -> tuple[bool, Callable[[bool], None]]:
    """Draw the losses; return as `surface.draw` does, with nothing to guess."""
    from llmviz.training.optimizers import Hyper
    from llmviz.training.surfaces import names_bigram

    bigram = names_bigram()
    racers = state["racers"] or ["sgd"]
    descents = [ways(name) for name in racers]
    sizes = len(descents), RATES.count, STEPS
    now = trajectories.state_of(state, "big", *sizes)
    descent_view(
        [trajectories.walker(descent, Hyper(beta2=0.99), bigram.floor) for descent in descents],
        RATES.values().numpy(),
        key=KEY,
        words=words.view | words.model_view,
        floor=bigram.floor,
        state=now,
        names=(words.model_weight,),
        on_change=trajectories.keep_in_link(state, "big", KEY, len(descents), RATES.count, STEPS),
    )
    ends = sorted(
        (float(descent.losses[stop, -1]), words.names[descent.optimizer])
        for descent, stop in zip(descents, now.stops, strict=True)
    )

    def rest(shown: bool) -> None:
        parts = [words.model_part.format(name=name, loss=loss) for loss, name in ends]
        kit.prose(words.model_report, steps=STEPS, parts=", ".join(parts))
        st.pills(
            words.optimizers,
            selection_mode="multi",
            wrap=True,
            **state.named("racers", words.names),
        )
        kit.section(
            words.model,
            qu=int(bigram.counts[WATCHED]),
            q=int(bigram.counts[WATCHED[0]].sum()),
        )
        kit.measured(
            words.how_bigram,
            pairs=int(bigram.counts.sum()),
            weights=bigram.counts.numel(),
            names=int(bigram.counts[0].sum()),
            floor=bigram.floor,
        )
        _code(racers[now.followed], now.stops[now.followed], bigram.floor)
        kit.seen(words.end, told=end([loss for loss, _ in ends], bigram.floor))

    return True, rest


@kit.cached(len(words.names))
def ways(optimizer: str) -> Descent:
    """Return an optimizer's paths on the bigram, with the one weight that is watched."""
    from llmviz.training.descent import descend
    from llmviz.training.optimizers import Hyper
    from llmviz.training.surfaces import names_bigram

    bigram = names_bigram()
    return descend(
        optimizer,
        bigram.height,
        bigram.gradient,
        bigram.start(),
        RATES.values(),
        STEPS,
        Hyper(beta2=0.99),
        watched=[WATCHED[0] * len(LETTERS) + WATCHED[1]],
    )


def end(losses: list[float], floor: float) -> str:
    """Return what was seen of the bigram: the lowest of the losses, and that of the table."""
    text = words.end_model_one if len(losses) == 1 else words.end_model
    return text.format(steps=STEPS, all=len(losses), loss=min(losses), floor=floor)


def _code(name: str, stop: int, floor: float) -> None:
    from llmviz.training.descent import descend
    from llmviz.training.surfaces import BigramLoss

    losses = ways(name).losses
    kit.show_code(
        [BigramLoss, descend],
        words.snippet_model.format(
            rates=RATES, stop=stop, next_stop=stop + 1, name=name, steps=STEPS
        ),
        f"{float(losses[stop, -1]):.4f} {losses.new_tensor(floor).item():.4f}",
    )
