"""Chapter "Preferences": pairs of endings, the loss of DPO, and a model that learns from them."""

from __future__ import annotations

import streamlit as st

from llmviz.finetuning.plan import BASE
from llmviz.lessons.finetuning.preferences import (
    loss_picture,
    own_story,
    pairs_of_rule,
    run,
    words,
)
from llmviz.lessons.finetuning.tuned_model import base
from llmviz.ui.lesson import section
from llmviz.ui.model_on_text import models_here
from llmviz.ui.notices import refuse
from llmviz.ui.prose import prose
from llmviz.ui.question import Question, predict
from llmviz.ui.state import PageState


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.intro)
    if not models_here(BASE):
        return
    try:
        number = pairs_of_rule.draw(state)
    except ValueError as error:
        refuse(error)
        return
    trained = run.model_of(state)
    _loss(state, number, trained)
    run.draw(state)
    own_story.draw(state, trained)


def _loss(state: PageState, number: int, trained: object) -> None:
    section(words.loss)

    def anew() -> None:
        state["prefer"] = False

    st.select_slider(words.beta, words.betas, width=420, **state.bind("beta", then=anew))
    prose(words.beta_text)
    rule, beta = state["rule"], float(state["beta"])
    predict(question(state["beta"]), "finetuning.preferences.ask")
    before = pairs_of_rule.base_logs(base().version, rule).log_p
    now = before if trained is None else pairs_of_rule.logs_of(trained, rule)
    loss_picture.draw(state, number, now, before, beta)
    steps = loss_picture.numbers_of(now.tobytes(), before.tobytes(), beta)
    if trained is None:
        prose(words.at_start.format(loss=float(steps.nats.mean())))
    else:
        prose(
            words.after.format(
                updates=state["preferupdates"],
                beta=state["beta"],
                pairs=len(now),
                right=int((steps.margin > 0).sum()),
                loss=float(steps.nats.mean()),
            )
        )
    loss_picture.code(rule, beta)


def question(beta: str) -> Question:
    """Ask what the loss is at the start; it does not depend on β."""
    answers = [one.format(beta=beta) for one in words.ask_answers]
    return Question(words.ask.format(beta=beta), answers, 1, words.ask_reasons)
