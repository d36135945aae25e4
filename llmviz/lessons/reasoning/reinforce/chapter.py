"""Chapter "Reinforcement": a small GPT of sums learns from rewards, update by update."""

from __future__ import annotations

import streamlit as st

from llmviz.lessons.reasoning.reinforce import group, learning, record, words
from llmviz.study import reward_runs, sum_texts
from llmviz.study.reward_runs import SAMPLES, recorded
from llmviz.ui.common import percent
from llmviz.ui.kept import kept
from llmviz.ui.lesson import section, seen
from llmviz.ui.notices import is_here
from llmviz.ui.prose import prose
from llmviz.ui.question import Question, predict, share_question
from llmviz.ui.state import PageState

KEY = "reasoning.reinforce"


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    texts = sum_texts.BATCH * sum_texts.STEPS
    section(words.intro, parameters=parameters(), texts=texts)
    commands = f"{sum_texts.COMMAND}\n{reward_runs.COMMAND}"
    if not is_here(words.missing, commands, recorded, sum_texts.bundled):
        return
    base = recorded().base
    prose(
        words.base_read,
        questions=base.questions,
        samples=SAMPLES,
        right=percent(base.right),
        greedy=base.greedy,
    )
    if not predict(many_question(), f"{KEY}.many", covers=True):
        return
    group.draw(state)
    learning.draw(state)
    if record.draw():
        seen(words.end, **end())


@kept(1)
def parameters() -> int:
    """Return how many parameters the model has."""
    return sum(one.numel() for one in sum_texts.new_model().parameters())


def many_question() -> Question:
    """Return the question in how many sums one of several answers is right."""
    return share_question(
        words.ask_many.format(samples=SAMPLES),
        recorded().base.passed(SAMPLES),
        [one.format(samples=SAMPLES) for one in words.ask_many_reasons],
        percent,
    )


def end() -> dict[str, object]:
    """Return the numbers of the chapter's end."""
    base = recorded().base
    return {
        "samples": SAMPLES,
        "before": percent(base.right),
        "after": percent(record.mean("grpo", lambda one: one.right)),
        "pass_before": percent(base.passed(SAMPLES)),
        "pass_after": percent(record.mean("grpo", lambda one: one.passed(SAMPLES))),
    }
