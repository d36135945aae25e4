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


def draw(state: kit.PageState, now: Outcome) -> bool:
    """Show how good a classifier is, and where it errs, once asked."""
    trained, begun = now.trained, now.begun
    assert trained is not None and begun is not None
    kit.section(words.reached_section)
    question = guess_question(begun.tested)
    if question is not None and not kit.predict(
        question, "finetuning.classifier.guess", covers=True
    ):
        return False
    table = trained.table
    line = words.reached.format(**_reached(now))
    balanced = words.balanced_reached.format(balanced=kit.percent(trained.balanced_accuracy))
    paragraphs = [
        f"{line} {balanced}",
        f"{words.table[0].upper()}{words.table[1:]}. {words.open_cell}",
    ]
    if now.plan.rare < 1:
        paragraphs.insert(1, rare_line(now))
    kit.prose("\n\n".join(paragraphs))
    opened = confusion(state, trained, table)
    _texts_of(trained, table, opened)
    return True


def _reached(now: Outcome) -> dict[str, str]:
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


def end_texts(now: Outcome) -> dict[str, str]:
    """Return what the end of the chapter says of a classifier."""
    begun = now.begun
    assert begun is not None
    return _reached(now) | {
        "trained": f"{begun.trained:,}",
        "parameters": f"{begun.parameters:,}",
        "texts": kit.count(sum(begun.counts.values()), "text"),
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
    shares = [kit.percent(float(trained.probabilities[i, cell[1]])) for i in places]
    rows = dict(zip(words.cell_columns, ([trained.texts[i] for i in places], shares), strict=True))
    kit.columns_table(rows, height="content")


def rare_line(now: Outcome) -> str:
    """Return what became of a class of which training texts were left out."""
    begun, trained = now.begun, now.trained
    assert trained is not None and begun is not None
    name, table = trained.names[0], trained.table
    few = begun.counts[name]
    return words.rare_seen.format(
        name=kit.quote(name),
        few=kit.count(few, "text"),
        rest=f"{sum(begun.counts.values()) - few:,}",
        tested=kit.count(int(table[0].sum()), "text"),
        recognised=f"{table[0, 0]:,}",
        advice=words.rare_balanced if now.plan.balanced else words.rare_advice,
    )


def guess_question(tested: dict[str, int]) -> kit.Question | None:
    """Return what always saying one class gets right, as a question; None for equal answers.

    tested: how many test texts each class has.
    """
    total, classes = sum(tested.values()), len(tested)
    most = max(tested, key=tested.__getitem__)
    right, wrong = tested[most], {"even": total // classes, "none": 0, "all": total}
    if len({right, *wrong.values()}) < 1 + len(wrong):
        return None
    counts = ", ".join(f"{kit.quote(name)} {n:,}" for name, n in tested.items())
    known = {"count": f"{total:,}", "counts": counts, "classes": classes}
    known |= {"guess": kit.quote(most), "most": f"{tested[most]:,}"}
    reasons = {number: words.guess_wrong[key] for key, number in wrong.items()}
    reasons[right] = words.guess_right
    return kit.Question.among(words.guess_question, reasons, right, **known)
