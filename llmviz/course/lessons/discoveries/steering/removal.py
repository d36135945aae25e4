"""What goes with a direction that is taken out: a grid of rules by rules."""

import contextlib

import numpy as np

from llmviz.corpus.states import RULES
from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.lessons.discoveries.steering import words
from llmviz.course.lessons.discoveries.steering.doses import label_of, three
from llmviz.course.lessons.discoveries.steering.model import (
    FEATURE,
    MEANS,
    RANDOM,
    REMOVED_IN,
    Removals,
    recorded,
)
from llmviz.course.ui import kit

KEY = "discoveries.steering.removed"
TARGET = "names"


def question(width: int) -> kit.Question:
    """Return the question where the loss rises when a direction is taken out."""
    found = recorded().removals
    row = RULES.index(TARGET)
    return kit.Question.of(
        words.ask_removed,
        target=label_of(f"rule {TARGET}"),
        layer=found.layer,
        own=float(found.rises[:, row, row].mean()),
        rest=float(found.rises[:, row, -1].mean()),
        width=width,
    )


def changed(value: float) -> str:
    """Return a change with two digits; what is rounded to 0 has no sign.

    >>> changed(-0.001), changed(-0.25)
    ('0.00', '−0.25')
    """
    return kit.signed(round(float(value), 2) + 0.0)


def rises_of(how: str) -> np.ndarray:
    """Return the rises (S, R + 1, R + 1) with two means or features taken out, and by chance."""
    found = recorded().removals
    own = found.by_feature if how == FEATURE else found.rises
    return np.concatenate((own, found.random.mean(1, keepdims=True)), 1)


@kit.kept(2)
def grid_of(how: str) -> tuple[np.ndarray, list[list[str]], list[list[str]]]:
    """Return the mean rises (R + 1, R + 1), a text for each cell, and a note for each."""
    every = rises_of(how)
    mean = every.mean(0)
    texts = [[changed(value) for value in row] for row in mean]
    notes = [
        [
            words.note.format(rise=changed(mean[r, c]), sets=three(every[:, r, c]))
            for c in range(len(RULES) + 1)
        ]
        for r in range(len(mean))
    ]
    return mean.astype(np.float32), texts, notes


def cell_of(link: str) -> tuple[int, int]:
    """Return the cell of a link; the first rule's own where it names none."""
    row = column = RULES.index(TARGET)
    with contextlib.suppress(ValueError):
        row, column = map(int, link.split("."))
    inside = 0 <= row <= len(RULES) and 0 <= column <= len(RULES)
    return (row, column) if inside else (RULES.index(TARGET),) * 2


def draw(state: kit.PageState) -> None:
    """Show the grid, and read one cell out."""
    found = recorded().removals
    kit.section(words.removed, layer=found.layer, stories=REMOVED_IN, random=RANDOM)
    how = state["steerout"]
    kit.choose(state, "steerout", words.out, {out: words.outs[out] for out in (MEANS, FEATURE)})
    mean, texts, notes = grid_of(how)
    row, column = cell_of(state["steercell"])
    key = f"{KEY}.grid"
    cell_grid(
        mean,
        key=key,
        row_names=[*(words.rule_names[rule] for rule in RULES), words.chance],
        column_names=[*(words.rule_names[rule] for rule in RULES), words.no_rule],
        texts=texts,
        notes=notes,
        role="weights",
        label=words.rise_label,
        chosen=(row, column),
        on_change=kit.bound(state, key, chosen=("steercell", lambda at: kit.link_of(at) or None)),
    )
    kit.prose(read_out(found, how, row, column))


def own_largest(how: str) -> int:
    """Return for how many rules the largest mean rise of their row is their own."""
    mean = rises_of(how).mean(0)[: len(RULES)]
    return int((mean.argmax(1) == np.arange(len(mean))).sum())


def smaller_by_feature() -> int:
    """Return for how many rules a feature costs less than two means, in every set."""
    found, at = recorded().removals, np.arange(len(RULES))
    return int((found.by_feature[:, at, at] < found.rises[:, at, at]).all(0).sum())


def read_out(found: Removals, how: str, row: int, column: int) -> str:
    """Return a cell, and what the whole grid says, in sentences."""
    name = words.chance_read if row == len(RULES) else label_of(f"rule {RULES[row]}")
    rises = rises_of(how)[:, row, column]
    count = own_largest(how)
    said = [
        words.removed_read.format(
            row=name,
            column=words.no_rule_read
            if column == len(RULES)
            else label_of(f"rule {RULES[column]}"),
            rise=three(rises),
            plain=float(found.plain[column]),
            places=f"{int(found.tokens[column]):,}",
        ),
        words.removed_more["own" if count else "none"].format(count=count, rules=len(RULES)),
    ]
    if how == FEATURE:
        said.append(words.removed_less.format(count=smaller_by_feature(), rules=len(RULES)))
    most = float(np.abs(found.random.mean(0)).max())
    return " ".join((*said, words.removed_chance.format(most=most)))
