"""How sure a model is of the learner's own text, and the temperature that fits it."""

import math
from typing import Any

import numpy as np

from llmviz.course.lessons.errors.calibration import words
from llmviz.course.lessons.errors.story import (
    ALSO,
    ReadStory,
    divided_of,
    guesses_on,
    logits_of,
    read_story,
    reads_stories,
    story_box,
    story_text,
    within_context,
)
from llmviz.course.ui import engine, kit
from llmviz.evaluation.calibration import fit_temperature, reliability
from llmviz.evaluation.exact_loss import log_softmax
from llmviz.evaluation.text_loss import target_logits

ENDS = (0.05, 20.0)  # of the fitted temperatures


def draw(state: kit.PageState) -> dict[str, Any] | None:
    """Show the section on the learner's story; return its numbers for the end."""
    kit.section(words.own_section)
    story_box(state)
    bundled = kit.load(kit.Picker(fits=kit.continues, also=ALSO).choose(state))
    if bundled is None:
        return None
    if reads_stories(bundled.card):
        story = read_story(state, bundled)
        numbers = None if story is None else own_numbers(story)
    else:
        numbers = numbers_without_truth(state, bundled)
    if numbers is None:
        return None
    line = words.own["true" if "true" in numbers else "came"].format(**numbers)
    at_end = any(math.isclose(numbers["fitted"], end, rel_tol=0.01) for end in ENDS)
    kit.prose(line + words.own_end_of_range if at_end else line)
    return {"tokens": numbers["tokens"], "own": numbers["came"], "reader": numbers["model"]}


def own_numbers(story: ReadStory) -> dict[str, Any]:
    """Return the calibration on a story, and the temperature that fits it best."""
    guesses = guesses_on(story.bundled, story.text)
    sure = guesses.sure[guesses.at(1.0)]
    return {
        **came_numbers(story.bundled, sure, guesses.right),
        "true": kit.percent(reliability(sure, guesses.true).error),
        "fitted": fitted_to(story.bundled, story.text),
    }


def came_numbers(bundled: engine.Bundled, sure: np.ndarray, right: np.ndarray) -> dict[str, Any]:
    """Return how sure the guesses (T,) were, how many right, and the error of both."""
    return {
        "tokens": kit.count(len(sure), "token"),
        "model": kit.quote(kit.label(bundled.name)),
        "came": kit.percent(reliability(sure, right).error),
        "sure": kit.percent(float(sure.mean())),
        "right": kit.percent(float(right.mean())),
    }


def numbers_without_truth(state: kit.PageState, bundled: engine.Bundled) -> dict[str, Any] | None:
    """Return the calibration of a model whose tokens have no known truth; None without a text."""
    text = story_text(state)
    if text is None:
        return None
    try:
        ids, sure, right, fitted = read_without_truth(bundled, text)
    except ValueError as error:
        kit.refuse(error)
        return None
    within_context(ids, bundled)
    return {**came_numbers(bundled, sure, right), "fitted": fitted}


@kit.kept(64)
def read_without_truth(
    bundled: engine.Bundled, text: str
) -> tuple[int, np.ndarray, np.ndarray, float]:
    """Return how many tokens a text has, and of the T that the model reads: how sure, how right.

    Last, the temperature with the lowest loss on them.
    """
    ids = bundled.tokenizer.encode(text)
    targets = np.array(ids[: bundled.model.context_length])
    logits = target_logits(bundled.model, bundled.tokenizer.behind_start(targets.tolist()))
    sure = np.exp(log_softmax(logits)).max(-1)
    right = logits.argmax(-1) == targets
    return len(ids), sure, right, fit_temperature(logits, targets)


@kit.kept(64)
def fitted_to(bundled: engine.Bundled, text: str) -> float:
    """Return the temperature with the lowest loss on a story."""
    return fit_temperature(logits_of(bundled, text), divided_of(bundled, text).ids)
