"""What was measured of a step beside the formula, and the formula's tensors one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from llmviz.course.lessons.efficiency.memory import words
from llmviz.course.lessons.efficiency.memory.chosen import FLOAT, KEY, Chosen
from llmviz.course.ui import kit
from llmviz.models.arithmetic import activations_per_token, count
from llmviz.models.settings import GPTConfig
from llmviz.models.training_bytes import kept_numbers, kept_tensors

if TYPE_CHECKING:
    from llmviz.training.step_memory import StepMemory


def table(memory: StepMemory, chosen: Chosen) -> list[tuple[str, int, int, int, str]]:
    """Return what was measured beside the formula, row by row."""
    live, n = memory.live(), count(chosen.config)
    first = -(-chosen.rows // chosen.pieces)
    moments = {"activations": memory.after_forward()}
    formulas = {
        "weights": FLOAT * n,
        "gradients": FLOAT * n,
        "averages": 2 * FLOAT * n,
        "activations": FLOAT * first * chosen.tokens * each_token(chosen)[0],
    }
    rows = []
    for kind, (name, formula) in words.table_rows.items():
        measured = int(live[list(words.kinds).index(kind), moments.get(kind, -1)])
        rows.append((name, measured, formulas[kind], measured - formulas[kind], formula))
    name, formula = words.peak_row
    peak, total = int(live.sum(axis=0).max()), sum(formulas.values())
    return [*rows, (name, peak, total, peak - total, formula)]


def each_token(chosen: Chosen) -> tuple[int, bool]:
    """Return the numbers that a token leaves for the backward pass, and whether that is exact."""
    config, every = chosen.config, chosen.recompute
    try:
        return kept_numbers(config, every), True
    except ValueError:  # another form than the exact list is for
        if every:
            ends = 2 * config.n_embd + config.vocab_size
            return -(-config.n_layer // every) * config.n_embd + ends, False
        # The logits are not kept once their softmax is there: see `kept_tensors`.
        return activations_per_token(config) - config.vocab_size, False


def table_read(chosen: Chosen) -> str:
    """Return what the letters of the table stand for."""
    each, exact = each_token(chosen)
    return words.table_read.format(
        parameters=count(chosen.config),
        rows=-(-chosen.rows // chosen.pieces),
        tokens=chosen.tokens,
        each=each,
        rest=f"{words.table_exact if exact else words.table_about} {words.table_peak}",
    )


def show_kept(config: GPTConfig) -> None:
    """Show what a token leaves behind, tensor by tensor, in a fold."""
    box = kit.fold(words.kept_title, f"{KEY}.kept", ":material/list:")
    if box is None:
        return
    try:
        listed = kept_tensors(config)
    except ValueError as error:
        with box:
            kit.refuse(error)
        return
    rows = [
        (
            words.kept[tensor.name],
            tensor.numbers,
            f"{tensor.layers:,}" if tensor.layers else words.once,
            tensor.numbers * max(1, tensor.layers),
        )
        for tensor in listed
    ]
    with box:
        kit.rows_table(
            rows, words.kept_columns, column_config=kit.grouped(words.kept_columns[1::2])
        )
        st.caption(words.kept_note)
