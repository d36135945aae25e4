"""Chapter "A classifier": the head exchanged, trained live, and asked for its reasons."""

import contextlib

import streamlit as st

from llmviz.course.lessons.finetuning.classifier import (
    examples,
    outcome,
    padding,
    params,
    ready,
    runs,
    sentence,
    source,
    training,
    words,
)
from llmviz.course.lessons.finetuning.classifier.class_training import ClassPlan
from llmviz.course.lessons.finetuning.classifier.class_training import training as train_classifier
from llmviz.course.lessons.finetuning.classifier.runs import Outcome
from llmviz.course.ui import kit
from llmviz.finetuning.classifier import classifier, last_token
from llmviz.finetuning.labels import Labelled
from llmviz.models.gpt import GPT


def ahead() -> None:
    """Train the classifier that every visitor finds."""
    with contextlib.suppress(ValueError):  # the page says what is wrong
        runs.first(ClassPlan())


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    folder = ready.choose(state)
    if folder:
        _of_folder(state, folder)
        return
    name = kit.Picker().choose(state)
    source.controls(state)
    bundled = kit.load(name)
    if bundled is None:
        return
    try:
        if not isinstance(bundled.model, GPT):
            raise ValueError(words.not_a_gpt)
        own = source.own_texts(state)
        some = own or source.some_stories(state["task"], state["reads"])
    except ValueError as error:
        kit.refuse(error)
        return
    source.show(some, own=own is not None, tokenizer_of=name)
    config, classes = bundled.model.config, len(some.names)
    sizes = {"vocab": config.vocab_size, "width": config.n_embd, "classes": classes}
    new, old = classes * (config.n_embd + 1), config.vocab_size * config.n_embd
    kit.prose(
        words.head["tied" if config.tied_head else "own"], **sizes, old=f"{old:,}", new=f"{new:,}"
    )
    kit.section(words.train_section)
    training.controls(state)
    plan = plan_of(state, name, own)
    now = training.draw(state, plan)
    shown = False
    if now is not None and now.trained is not None:
        shown = outcome.draw(state, now) & padding.draw(now)
        sentence.draw(state, now)
    examples.draw()
    if now is not None and now.trained is not None:
        _code(state, now)
    if shown:
        kit.seen(words.end, **outcome.end_texts(now))


def _of_folder(state: kit.PageState, name: str) -> None:
    """Show what a classifier of the learner's says of a sentence."""
    mine = kit.or_refused(ready.OfFolder, name)
    if mine is None:
        return
    listed = ", ".join(map(kit.quote, mine.names))
    kit.prose(words.folder_text, name=kit.quote(kit.label(name)), names=listed)
    sentence.draw(state, mine)


def plan_of(state: kit.PageState, name: str, own: Labelled | None) -> ClassPlan:
    """Return what the controls say is trained."""
    first = params.FIRST
    return ClassPlan(
        base=name,
        task=state["task"] if own is None else first.task,
        reads=state["reads"] if own is None else first.reads,
        own=own,
        way=state["trains"],
        examples=state["examples"],
        steps=state["classupdates"],
        rare=state["rare"],
        balanced=state["balanced"],
        seed=state["classseed"],
    )


def _code(state: kit.PageState, now: Outcome) -> None:
    """Show the code of a training that has come to its end, where a snippet can repeat it."""
    plan, trained = now.plan, now.trained
    assert trained is not None
    if trained.step < plan.steps or state["labels"] == "file":
        return
    typed = state["typed"] if plan.own is not None else ""
    if len(typed) > kit.IN_SNIPPET:
        return
    usual = ClassPlan()
    given = ", ".join(
        f"{field}={getattr(plan, field)!r}"
        for field in ("base", "task", "reads", "way", "examples", "steps", "rare", "balanced")
        if getattr(plan, field) != getattr(usual, field)
    )
    given = ", ".join(filter(None, (given, f"seed={plan.seed}")))
    text = words.snippet if plan.own is None else words.snippet_own
    kit.show_code(
        [classifier, last_token, train_classifier],
        text.format(given=given, typed=typed),
        f"{trained.accuracy:.3f}\n{trained.table.tolist()}",
    )
