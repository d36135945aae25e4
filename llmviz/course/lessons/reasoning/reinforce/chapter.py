"""Chapter "Reinforcement": a small GPT of sums learns from rewards, update by update."""

import streamlit as st

from llmviz.course.lessons.reasoning import reward_runs, sum_texts
from llmviz.course.lessons.reasoning.reinforce import group, learning, record, words
from llmviz.course.lessons.reasoning.reward_runs import SAMPLES, recorded
from llmviz.course.ui import kit

KEY = "reasoning.reinforce"


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    texts = sum_texts.BATCH * sum_texts.STEPS
    kit.section(words.intro, parameters=parameters(), texts=texts)
    commands = f"{sum_texts.COMMAND}\n{reward_runs.COMMAND}"
    if not kit.is_here(words.missing, commands, recorded, sum_texts.bundled):
        return
    base = recorded().base
    kit.prose(
        words.base_read,
        questions=base.questions,
        samples=SAMPLES,
        right=kit.percent(base.right),
        greedy=base.greedy,
    )
    if not kit.predict(many_question(), f"{KEY}.many", covers=True):
        return
    group.draw(state)
    learning.draw(state)
    if record.draw():
        kit.seen(words.end, **end())


@kit.kept(1)
def parameters() -> int:
    """Return how many parameters the model has."""
    return sum(parameter.numel() for parameter in sum_texts.new_model().parameters())


def many_question() -> kit.Question:
    """Return the question in how many sums one of several answers is right."""
    return kit.share_question(
        words.ask_many.format(samples=SAMPLES),
        recorded().base.passed(SAMPLES),
        [reason.format(samples=SAMPLES) for reason in words.ask_many_reasons],
        kit.percent,
    )


def end() -> dict[str, object]:
    """Return the numbers of the chapter's end."""
    base = recorded().base
    return {
        "samples": SAMPLES,
        "before": kit.percent(base.right),
        "after": kit.percent(record.mean("grpo", lambda look: look.right)),
        "pass_before": kit.percent(base.passed(SAMPLES)),
        "pass_after": kit.percent(record.mean("grpo", lambda look: look.passed(SAMPLES))),
    }
