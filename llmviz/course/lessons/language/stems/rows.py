"""The steps of one word as the cells of a column."""

from collections.abc import Sequence
from typing import NamedTuple

from llmviz.course.lessons.language.stems import words
from llmviz.course.ui import kit
from llmviz.language.porter import STEPS, Rule, StemStep

LONG = 24  # letters of a word that a note holds


class Row(NamedTuple):
    """One cell: its row's name, the word after the step, what is said of it, whether it changed."""

    name: str
    text: str
    note: str
    fired: bool
    colour: float  # 0: no rule fits; a little: one was tried; 1: it fired


def rows_of(steps: Sequence[StemStep]) -> list[Row]:
    """Return a word's cells: the word itself, then one for each step of the algorithm."""
    by_name = {step.name: step for step in steps}
    first = steps[0].before
    rows = [Row(words.start_row, first, words.note_start, False, 0.0)]
    now = first
    for name in STEPS:
        step = by_name.get(name)
        title = words.step_row.format(name=name)
        if step is None:
            rows.append(Row(title, now, words.note_skipped, False, 0.0))
            continue
        now = step.after
        rows.append(Row(title, now, note_of(step), step.fired, colour_of(step)))
    return rows


def colour_of(step: StemStep) -> float:
    """Return how strongly a step is coloured."""
    return 0.0 if step.rule is None else 1.0 if step.fired else 0.25


def note_of(step: StemStep) -> str:
    """Return what a step did, in a line."""
    if step.rule is None:
        return words.note_none
    slots = {"rule": rule_text(step.rule), "before": short(step.before), "after": short(step.after)}
    if not step.fired:
        return words.note_held.format(**slots)
    return (words.note_kept if step.before == step.after else words.note_fired).format(**slots)


def rule_text(rule: Rule) -> str:
    """Return a rule as it is written, also one that has no suffix.

    >>> rule_text(Rule("ed", "", "*v*")), rule_text(Rule("", "e", "m = 1 and *o"))
    ('(*v*) ED → ∅', '(m = 1 and *o) nothing → E')
    """
    if rule.suffix:
        return str(rule)
    if "*d" in rule.condition:
        return words.rule_double.format(condition=rule.condition)
    replacement = rule.replacement.upper()
    return words.rule_added.format(condition=rule.condition, replacement=replacement)


def short(word: str) -> str:
    """Return a word for a note: the end of a long one, where the rules look."""
    word = kit.visible(word)
    return word if len(word) <= LONG else f"…{word[1 - LONG :]}"


def row_of(row: int) -> str | None:
    """Return the name of the step of a row; None for the word itself."""
    return None if row == 0 else list(STEPS)[row - 1]
