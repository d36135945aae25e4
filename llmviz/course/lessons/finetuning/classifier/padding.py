"""Texts of one batch as they lie in memory, and what is read at the wrong column."""

import numpy as np
import streamlit as st

from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.lessons.finetuning.classifier import runs, words
from llmviz.course.lessons.finetuning.classifier.class_training import Padded, padded
from llmviz.course.lessons.finetuning.classifier.runs import Outcome
from llmviz.course.ui import engine, kit

ROWS = 3
COLUMNS = 14  # that are drawn, the last ones
LONGER = 10  # tokens by which the longest text is longer than the shortest one, at most
REAL = 0.35  # how strongly a token is coloured that is not read


def draw(now: Outcome) -> bool:
    """Show up to three texts of the test in one batch, once asked."""
    assert now.trained is not None
    kit.section(words.padding)
    seen = batch_of(now.known, now)
    lengths = seen.batch.lengths.tolist()
    question = column_question(min(lengths), max(lengths))
    if question is not None and not kit.predict(
        question, "finetuning.classifier.column", covers=True
    ):
        return False
    _grid(now, seen)
    trained = now.trained
    places = chosen(now.known, now)
    own = [int(trained.labels[place]) for place in places]
    columns = (
        [trained.texts[place] for place in places],
        lengths,
        [trained.names[label] for label in own],
        [kit.percent(float(row[k])) for row, k in zip(seen.at_last_token, own, strict=True)],
        [kit.percent(float(row[k])) for row, k in zip(seen.at_last_column, own, strict=True)],
    )
    kit.columns_table(dict(zip(words.padded_columns, columns, strict=True)), height="content")
    kit.prose(filler_line(seen))
    return True


def filler_line(seen: Padded) -> str:
    """Return what another filler did to the answers; that there is none, where all are as long."""
    if int(seen.batch.lengths.min()) == seen.batch.idx.shape[1]:
        return words.no_filler
    moved = words.moved.format(most=f"{seen.moved:.1g}") if seen.moved else words.unmoved
    return words.padded_measured.format(moved=moved)


@kit.kept(16, key=lambda known, now: known)
def chosen(known: tuple[str, int], now: Outcome) -> list[int]:
    """Return which test texts are shown: the shortest one, and longer ones of other lengths."""
    assert now.trained is not None
    tokenizer = engine.tokenizer(now.plan.base)
    lengths = [len(tokenizer.encode_from_start(text)) for text in now.trained.texts]
    return some_of(lengths)


def some_of(lengths: list[int]) -> list[int]:
    """Return up to ROWS places of different lengths, the shortest first.

    >>> some_of([9, 4, 30, 6, 4])
    [1, 3, 0]
    """
    first: dict[int, int] = {}
    for place, length in enumerate(lengths):
        first.setdefault(length, place)
    near = [length for length in sorted(first) if length <= min(lengths) + LONGER]
    apart = [near[round(i * (len(near) - 1) / (ROWS - 1))] for i in range(ROWS)]
    return [first[length] for length in dict.fromkeys(apart)]


@kit.kept(16, key=lambda known, now: known)
def batch_of(known: tuple[str, int], now: Outcome) -> Padded:
    """Return what the classifier says of these texts in one batch."""
    assert now.trained is not None
    texts = tuple(now.trained.texts[place] for place in chosen(known, now))
    return padded(runs.model_of(now), engine.tokenizer(now.plan.base), texts)


def _grid(now: Outcome, seen: Padded) -> None:
    idx, lengths = seen.batch
    width = idx.shape[1]
    start = max(0, width - COLUMNS)
    tokenizer = engine.tokenizer(now.plan.base)
    texts, notes = [], []
    values = np.zeros(idx.shape)
    for row, length in enumerate(lengths.tolist()):
        names = kit.names_of(idx[row, :length].tolist(), tokenizer)
        texts.append([*names, *([words.filler] * (width - length))][start:])
        values[row, :length], values[row, length - 1] = REAL, 1.0
        note = words.padded_notes
        kinds = [note["token"]] * (length - 1) + [note["last"]] + [note["filler"]] * width
        notes.append(kinds[start:width])
    cell_grid(
        values[:, start:],
        key="finetuning.classifier.padded",
        row_names=[f"{length} tokens" for length in lengths.tolist()],
        column_names=[f"{column + 1}" for column in range(start, width)],
        texts=texts,
        notes=notes,
        strong=values[:, start:] == 1,
        limit=1.0,
        scale=words.padded_scale,
        label=words.padded_grid,
    )
    if start:
        st.caption(words.padded_cut.format(first=start + 1, last=width))


def column_question(tokens: int, columns: int) -> kit.Question | None:
    """Return from which column a text's class is read; None where all its columns are tokens."""
    if not 1 < tokens < columns:
        return None
    known = {"tokens": tokens, "columns": columns}
    wrong = words.padded_wrong
    reasons = {1: wrong["first"], tokens: words.padded_right, columns: wrong["last"]}
    return kit.Question.among(words.padded_question, reasons, tokens, words.column.format, **known)
