"""Longer contexts: how many rows their tables have, how many are ever seen, and the loss."""

import numpy as np
import pandas as pd
import streamlit as st

from llmviz.corpus.counts import LETTERS
from llmviz.course.figures.history import losses_by_length
from llmviz.course.lessons.history import typed_name
from llmviz.course.lessons.history.counting import pairs, words
from llmviz.course.lessons.history.counting.longer_contexts import LongerContexts, longer_contexts
from llmviz.course.lessons.history.counting.params import LONGEST
from llmviz.course.ui import kit
from llmviz.models.ngram import METHODS, V, positions

KEY = f"{pairs.KEY}.longer"
TOP = 3  # symbols


def draw(state: kit.PageState) -> None:
    """Show the tables of all lengths, their losses, and one row for the learner's name."""
    measured = measure()
    kit.section(words.longer, counted=measured.counted_names, held_out=len(measured.held_out))
    question = curse_question(measured)
    if question is not None and not kit.predict(question, f"{KEY}.curse", covers=True):
        return
    st.dataframe(_frame(), hide_index=True)
    kit.prose(words.longer_methods)
    st.plotly_chart(_figure(kit.theme()), key=f"{KEY}.losses")
    kit.prose("\n\n".join([turns(measured), curse(measured)]))
    _one_row(state, measured)
    _code(measured)


@kit.kept(1)
def measure() -> LongerContexts:
    """Return what was counted and measured, for all visitors."""
    return longer_contexts(LONGEST)


@kit.kept(1)
def _frame() -> pd.DataFrame:
    columns: dict[str, list[object]] = {name: [] for name in words.columns.values()}
    for row in measure().rows:
        values = (
            row.n,
            f"{row.rows:,}",
            f"{row.seen:,}",
            kit.percent(row.seen / row.rows) if row.seen / row.rows > 1e-4 else "< 0.01 %",
            kit.percent(row.known),
        )
        for name, value in zip(columns, values, strict=True):
            columns[name].append(value)
    for method in METHODS:
        title = words.loss_column.format(method=words.methods[method])
        columns[title] = [f"{row.losses[method]:.4f}" for row in measure().rows]
    return pd.DataFrame(columns)


@kit.kept(2)
def _figure(mode: kit.Mode) -> kit.Figure:
    measured = measure()
    lines = {
        words.methods[method]: [row.losses[method] for row in measured.rows] for method in METHODS
    }
    return losses_by_length([row.n for row in measured.rows], lines, words.axes, mode)


def turns(measured: LongerContexts) -> str:
    """Say for each method at which length it is best, and what comes after."""
    last = measured.rows[-1]
    lines = []
    for method in METHODS:
        best = measured.best(method)
        after = words.turn_not
        if best.n < last.n:
            after = words.turn_after.format(longest=last.n, last=last.losses[method])
        name = words.methods[method].capitalize() if method != "kneser-ney" else "Kneser–Ney"
        lines.append(
            words.turn.format(method=name, n=best.n, loss=best.losses[method], after=after)
        )
    return " ".join(lines)


def curse(measured: LongerContexts) -> str:
    """Say how few rows of the longest table were seen, and how many letters need one of them."""
    last = measured.rows[-1]
    share = last.seen / last.rows
    return words.curse.format(
        longest=last.n,
        rows=last.rows,
        seen=last.seen,
        share=kit.percent(share) if share > 1e-3 else f"one of {round(1 / share):,}",
        unknown=kit.percent(1 - last.known),
    )


def _one_row(state: kit.PageState, measured: LongerContexts) -> None:
    kit.section(words.row)
    name = typed_name.ask(state)
    left, right = st.columns(2, gap="medium")
    left.slider(words.n_label, **state.ranged("back"))
    with right:
        kit.choose(state, "smooth", words.method_label, words.methods)
    if name:
        kit.prose(row_of(measured, name, state["back"], state["smooth"]))


def row_of(measured: LongerContexts, name: str, n: int, method: str) -> str:
    """Say what comes after the last n symbols of a name, by one method."""
    contexts, _ = positions([name], LONGEST)
    context = contexts[-1:] % V**n  # before the name's end
    row = measured.grams.rows(context, n, method)[0]
    seen = int(measured.grams.raw[n].rows(context).sum())
    order = np.argsort(-row, kind="stable")[:TOP]
    return words.row_text.format(
        context=kit.quote((LETTERS[0] * n + name)[-n:]),
        typed=words.row_from.format(symbols=kit.count(n, "symbol")),
        seen=words.row_seen.format(count=seen) if seen else words.row_unseen,
        top=", ".join(f"{kit.quote(LETTERS[i])} {kit.percent(row[i])}" for i in order),
    )


def curse_question(measured: LongerContexts) -> kit.Question | None:
    """Ask how many rows of the longest table can be seen at all; None where that is all of them."""
    last = measured.rows[-1]
    letters = measured.grams.letters
    if letters >= last.rows:
        return None
    numbers = {
        "n": last.n,
        "rows": last.rows,
        "letters": letters,
        "seen": last.seen,
        "longer": last.rows * V,
    }

    return kit.Question.of(words.ask_curse, **numbers)


def _code(measured: LongerContexts) -> None:
    from llmviz.models.ngram import NGrams

    best = measured.best("kneser-ney")
    kit.show_code(
        [NGrams],
        words.snippet_longer.format(longest=LONGEST, n=best.n),
        f"{best.seen} {best.losses['kneser-ney']:.4f}",
    )
