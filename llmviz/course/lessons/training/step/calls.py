"""The calls of a step, training and inference mode, and a run that continues from its files."""

import dataclasses
import inspect

import streamlit as st

from llmviz.course.lessons.training.step import questions, words
from llmviz.course.lessons.training.step.one_step import STEPS, Asked
from llmviz.course.lessons.training.step.step_calls import (
    DROPOUT,
    Call,
    Modes,
    calls,
    modes,
    resumed,
)
from llmviz.course.ui import kit

KEY = "training.step"


def draw(state: kit.PageState, choice: Asked) -> None:
    """Show the loop's calls, training and inference mode, and a run that went on from its files."""
    _calls(_followed(choice))
    _modes(_measured(choice))
    _resume(state, choice)


_followed = kit.kept(64)(calls)
_measured = kit.kept(64)(modes)


_compared = kit.kept(16)(resumed)


def _calls(followed: list[Call]) -> None:
    from llmviz.course.lessons.training.step.one_step import update

    kit.section(words.calls_section)
    question = questions.twice(followed[1].norm)
    shown = question is None or kit.predict(question, f"{KEY}.twice", covers=True)
    st.code(inspect.getsource(update), language="python")
    if not shown:
        return
    rows = [
        [*words.calls[call.name], f"{call.moved:.4f}" if call.moved else "0", f"{call.norm:.4f}"]
        for call in followed
    ]
    _table(rows, words.calls_columns, 2)
    kit.prose(words.calls_read)


def _modes(measured: Modes) -> None:
    kit.section(words.modes_section, dropout=DROPOUT)
    rows = [
        [words.modes[mode], *(f"{loss:.6f}" for loss in getattr(measured, mode))]
        for mode in words.modes
    ]
    _table(rows, words.modes_columns, 1)
    kit.prose(words.modes_read)


def _resume(state: kit.PageState, choice: Asked) -> None:
    kit.section(words.resume, steps=STEPS, middle=STEPS // 2)
    begin = state.setter(batch_resume=True)
    if not state["batch_resume"]:
        st.button(words.resume_button, icon=":material/save:", on_click=begin)
        return
    comparison = _compared(
        dataclasses.replace(choice, step=1)
    )  # the whole run: no step is looked at
    rows = [
        [words.resume_rows[0], f"{comparison.loss:.6f}", ""],
        [words.resume_rows[1], f"{comparison.resumed_loss:.6f}", _apart(comparison.resumed_apart)],
        [
            words.resume_rows[2],
            f"{comparison.weights_only_loss:.6f}",
            _apart(comparison.weights_only_apart),
        ],
    ]
    _table(rows, words.resume_columns, 1)
    files = ", ".join(
        f"{kit.quote(name)} ({size:,} bytes)" for name, size in comparison.files.items()
    )
    apart = words.resume_apart.format(apart=comparison.resumed_apart)
    lines = [
        words.resume_files.format(files=files),
        apart if comparison.resumed_apart else words.resume_equal,
        words.resume_memory[comparison.weights_only_apart == 0],
    ]
    kit.prose(" ".join(lines))


def _apart(value: float) -> str:
    return kit.power_of_ten(value, 3) if value else words.no_difference


def _table(rows: list[list[str]], columns: tuple[str, ...], figures: int) -> None:
    """A table of text, whose columns from `figures` on are numbers."""
    right = st.column_config.TextColumn(alignment="right")
    kit.rows_table(rows, columns, column_config=dict.fromkeys(columns[figures:], right))
