"""What a classifier gets right on the test: the share, the confusion matrix, texts of a cell."""

import numpy as np

from llmviz.course.components.cell_grid.view import cell_grid, read_cell
from llmviz.course.lessons.finetuning.classifier import words
from llmviz.course.lessons.finetuning.classifier.class_training import Trained
from llmviz.course.lessons.finetuning.classifier.runs import Outcome
from llmviz.course.ui import kit
from llmviz.textfile import whole_number

KEY = "finetuning.classifier.table"
TEXTS = 5  # of an opened cell


def draw(state: kit.PageState, now: Outcome) -> None:
    """Show how good a classifier is, and where it errs."""
    trained = now.trained
    assert trained is not None
    kit.section(words.reached_section)
    opened = confusion(state, trained, trained.table)
    line = words.reached.format(**reached(now))
    kit.prose(f"{line} {words.table[0].upper()}{words.table[1:]}. {words.open_cell}")
    _texts_of(trained, trained.table, opened)


def reached(now: Outcome) -> dict[str, str]:
    """Return what a classifier gets right of the test, and what the most frequent class would."""
    trained, begun = now.trained, now.begun
    assert trained is not None and begun is not None
    most = max(begun.tested, key=begun.tested.__getitem__)
    return {
        "count": kit.count(int(trained.table.sum()), "test text"),
        "right": f"{np.trace(trained.table):,}",
        "share": kit.percent(trained.accuracy),
        "guess": kit.quote(most),
        "chance": kit.percent(begun.tested[most] / trained.table.sum()),
    }


def confusion(state: kit.PageState, trained: Trained, table: np.ndarray) -> tuple[int, int] | None:
    """Draw the confusion matrix and return the opened cell."""
    names = trained.names
    shares = table / np.maximum(1, table.sum(1, keepdims=True))
    notes = [
        [
            words.cell_note.format(
                texts=kit.count(int(table[i, j]), "text"),
                own=own,
                called=called,
                share=kit.percent(shares[i, j]),
            )
            for j, called in enumerate(names)
        ]
        for i, own in enumerate(names)
    ]
    row, _, column = state["cell"].partition(".")
    chosen = read_cell([whole_number(row), whole_number(column)], len(names), len(names))
    return cell_grid(
        shares,
        key=KEY,
        row_names=names,
        column_names=names,
        texts=[[f"{n:,}" for n in line] for line in table],
        notes=notes,
        strong=np.eye(len(names), dtype=bool),
        limit=1.0,
        scale=words.scale,
        label=words.table,
        chosen=chosen,
        on_change=kit.bound(state, KEY, chosen=("cell", kit.link_of)),
    )


def _texts_of(trained: Trained, table: np.ndarray, cell: tuple[int, int] | None) -> None:
    if cell is None:
        return
    chosen = trained.probabilities.argmax(1)
    places = np.flatnonzero((trained.labels == cell[0]) & (chosen == cell[1]))[:TEXTS]
    own, called = (kit.quote(trained.names[i]) for i in cell)
    if not len(places):
        kit.prose(words.cell_empty, own=own, called=called)
        return
    line = {"shown": len(places), "count": f"{table[cell]:,}"}
    kit.prose(words.cell_opened, own=own, called=called, **line)
    cases = [
        kit.Case(trained.texts[at], float(trained.probabilities[at, cell[1]])) for at in places
    ]
    axis = kit.Axis(0, 1, words.cell_axis)
    kit.case_rows(cases, axis, key=f"{KEY}.texts", words={}, form="percent")
