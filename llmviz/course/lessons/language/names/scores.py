"""Both scores of one story with their arithmetic, and those of many stories."""

from collections.abc import Sequence

import numpy as np

from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.lessons.language.names import words
from llmviz.course.lessons.language.sentence import card
from llmviz.course.ui import kit
from llmviz.language.names import Score, span_score, token_score

KEY = "language.names.scores"


def draw(truth: Sequence[str], given: Sequence[str]) -> None:
    """Show the scores of some tags against the true ones."""
    kit.section(words.scores)
    scores = token_score([truth], [given]), span_score([truth], [given])
    values = [[0.0, 0.0, 0.0, score.precision, score.recall, score.f1] for score in scores]
    cell_grid(
        np.array(values, dtype=np.float32),
        key=KEY,
        row_names=words.score_rows,
        column_names=words.score_columns,
        texts=[texts_of(score) for score in scores],
        notes=[notes_of(score) for score in scores],
        limit=1.6,
        label=words.score_grid,
    )
    kit.prose(f1_line(truth, given))


def f1_line(truth: Sequence[str], given: Sequence[str]) -> str:
    """Return both scores in a sentence: whether they differ as they are written, and why."""
    scores = token_score([truth], [given]), span_score([truth], [given])
    token, span = (f"{score.f1:.2f}" for score in scores)
    line = words.same if token == span else words.differ
    return line.format(f1=token, token=token, span=span)


def texts_of(score: Score) -> list[str]:
    """Return the cells of a score."""
    counts = [str(score.right), str(score.given), str(score.there)]
    return counts + [f"{share:.2f}" for share in (score.precision, score.recall, score.f1)]


def notes_of(score: Score) -> list[str]:
    """Return the arithmetic of each cell of a score."""
    slots = {
        "right": score.right,
        "given": score.given,
        "there": score.there,
        "precision": f"{score.precision:.2f}",
        "recall": f"{score.recall:.2f}",
        "f1": f"{score.f1:.2f}",
    }
    notes = [note.format(**slots) for note in words.score_notes]
    if not score.given:
        notes[3] = words.none_given
    if not score.there:
        notes[4] = words.none_there
    if not score.given + score.there:
        notes[5] = words.none_there
    return notes


def draw_bundled() -> None:
    """Show what the tagger reached on many stories, by kind of name."""
    measured = kit.or_refused(card)
    if measured is None:
        return
    slots = {"stories": measured["test_stories"], "command": measured["command"]}
    kit.section(words.bundled, **slots)
    named = {words.kinds[kind]: score for kind, score in measured["names"]["by_kind"].items()}
    named[words.bundled_all] = measured["names"]
    rows = [(Score(*score["token"]), Score(*score["span"])) for score in named.values()]
    cell_grid(
        np.array([[token.f1, span.f1, 0.0] for token, span in rows], dtype=np.float32),
        key=f"{KEY}.bundled",
        row_names=list(named),
        column_names=words.bundled_columns,
        texts=[[f"{a.f1:.4f}", f"{b.f1:.4f}", f"{b.there:,}"] for a, b in rows],
        notes=[[notes_of(a)[5], notes_of(b)[5], notes_of(b)[2]] for a, b in rows],
        starts=[len(rows) - 1],
        limit=1.6,
        label=words.bundled_grid,
    )
