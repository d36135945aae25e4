"""Chapter "Preferences": pairs of endings, the loss of DPO, and a model that learns from them."""

import math

import streamlit as st

from llmviz.course.lessons.finetuning.preferences import (
    loss_picture,
    own_story,
    pairs_of_rule,
    run,
    words,
)
from llmviz.course.lessons.finetuning.tuned_model import base
from llmviz.course.ui import kit
from llmviz.finetuning.plan import BASE


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    if not kit.models_here(BASE):
        return
    number = kit.or_refused(pairs_of_rule.draw, state)
    if number is None:
        return
    trained = run.model_of(state)
    ends = _loss(state, number, trained)
    run.draw(state)
    own_story.draw(state, trained)
    if ends:
        kit.seen(words.end, **ends)


def _loss(state: kit.PageState, number: int, trained: object) -> dict[str, object] | None:
    """Show the loss of a pair; return what was seen, once asked."""
    kit.section(words.loss)
    anew = state.setter(prefer=False)
    st.select_slider(words.beta, words.betas, width=420, **state.bind("beta", then=anew))
    kit.prose(words.beta_text)
    rule, beta = state["rule"], float(state["beta"])
    shown = kit.predict(question(state["beta"], number), "finetuning.preferences.ask", covers=True)
    before = pairs_of_rule.base_logs(base(), rule).log_p
    now = before if trained is None else pairs_of_rule.logs_of(trained, rule)
    loss_picture.draw(state, number, now, before, beta)
    steps = loss_picture.numbers_of(now.tobytes(), before.tobytes(), beta)
    loss = float(steps.nats.mean())
    slots = {"updates": state["preferupdates"], "beta": state["beta"]}
    slots["right"] = int((steps.margin > 0).sum())
    if trained is None:
        kit.prose(words.at_start, loss=loss)
    else:
        kit.prose(words.after, pairs=len(now), loss=loss, **slots)
    loss_picture.code(rule, beta)
    if not shown:
        return None
    return {
        "before": int((before[:, 0] > before[:, 1]).sum()),
        "pairs": len(before),
        "now": words.end_start if trained is None else words.end_trained.format(**slots),
    }


def question(beta: str, number: int) -> kit.Question:
    """Return the question what the margin of a pair is; its gains come from the pair's number."""
    up, down, scale = number % 4 + 2, number % 2 + 1, float(beta)
    about = {"up": up, "down": down, "sum": up + down, "beta": beta}
    about |= {"gained": kit.count(up, "nat"), "lost": kit.count(down, "nat")}
    about["margin"] = f"{scale * (up + down):g}"
    about["loss"] = math.log1p(math.exp(-scale * (up + down)))
    offered = {about["margin"]: words.ask_right}
    for value, reason in (
        (up + down, words.ask_plain),
        (scale * (up - down), words.ask_sign),
        (scale * up, words.ask_better),
    ):
        offered.setdefault(f"{value:g}", reason)
    return kit.Question.among(words.ask, offered, about["margin"], **about)
