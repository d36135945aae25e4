"""One real step: its tensors as a time line, and what was measured beside the formula."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from llmviz.course.components.byte_timeline.view import Life, Section, byte_timeline
from llmviz.course.lessons.efficiency.memory import formula, words
from llmviz.course.lessons.efficiency.memory.chosen import FLOAT, KEY, Chosen
from llmviz.course.lessons.efficiency.memory.model import watched_step
from llmviz.course.ui import engine, kit
from llmviz.models.arithmetic import count
from llmviz.models.room import spoken_bytes
from llmviz.training.step_times import batch

if TYPE_CHECKING:
    from llmviz.training.step_memory import Held, StepMemory


def draw(state: kit.PageState) -> Chosen | None:
    """Show the controls and the step; return what was chosen, None where there is no model."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        bundled = kit.load(kit.Picker("memorymodel").choose(state))
        if bundled is None:
            return None
        config = bundled.model.config
        anew = state.setter(memorymoment=-1)  # look at the peak
        number = {"width": 150}
        st.number_input(words.rows, **number, **state.ranged("memoryrows", then=anew))
        most = bundled.model.context_length
        st.number_input(
            words.tokens, **number, **state.ranged("memorytokens", most=most, then=anew)
        )
        most = min(state["memoryrows"], state.params["memorypieces"].high)
        st.number_input(
            words.pieces,
            help=words.pieces_help,
            **number,
            **state.ranged("memorypieces", most=most, then=anew),
        )
        st.number_input(
            words.recompute,
            help=words.recompute_help,
            width=250,
            **state.ranged("memoryrecompute", most=config.n_layer, then=anew),
        )
    controls = ("memoryrows", "memorytokens", "memorypieces", "memoryrecompute")
    chosen = Chosen(bundled, config, *(state[key] for key in controls))
    shown = kit.predict(question(count(config)), f"{KEY}.ask", covers=True)
    memory = kit.or_refused(memory_of, *chosen.known)
    if memory is None:
        return None
    if shown:
        _picture(state, chosen, memory)
        kit.prose(peak_told(memory))
        rows = formula.table(memory, chosen)
        kit.rows_table(
            rows, words.table_columns, column_config=kit.grouped(words.table_columns[1:4])
        )
        st.caption(formula.table_read(chosen))
        _code(chosen, memory)
    formula.show_kept(config)
    return chosen


def end(chosen: Chosen) -> dict[str, object] | None:
    """Return the numbers that the chapter ends with; None while the question covers them."""
    if not kit.answered(question(count(chosen.config)), f"{KEY}.ask"):
        return None
    peak = int(memory_of(*chosen.known).live().sum(axis=0).max())
    weights = FLOAT * count(chosen.config)
    return {
        "peak": spoken_bytes(peak),
        "weights": spoken_bytes(weights),
        "times": peak / weights,
    }


@kit.kept(24)
def memory_of(
    bundled: engine.Bundled, rows: int, tokens: int, pieces: int, recompute: int
) -> StepMemory:
    """Return the memory of one step of a model, made once for all visitors."""
    return watched_step(bundled.model, batch(bundled.tokenizer, rows, tokens), pieces, recompute)


@kit.kept(24)
def picture_of(
    bundled: engine.Bundled, rows: int, tokens: int, pieces: int, recompute: int
) -> tuple[np.ndarray, list[Life], list[Section], list[str]]:
    """Return a step as the time line takes it."""
    memory = memory_of(bundled, rows, tokens, pieces, recompute)
    kinds = list(words.kinds)
    lives = [
        Life(tensor_words(tensor), kinds.index(tensor.kind), tensor.bytes, tensor.born, tensor.died)
        for tensor in memory.held
        if tensor.born < tensor.died
    ]
    sections: list[Section] = []
    for i, moment in enumerate(memory.moments):
        place = words.phases[moment.phase], part_words(moment.part)
        if not sections or place != (sections[-1].phase, sections[-1].part):
            sections.append(Section(*place, i))
    operations = [operation_words(moment.operation) for moment in memory.moments]
    return memory.live(), lives, sections, operations


def part_words(part: str) -> str:
    """Return how a part of a model is called.

    >>> part_words("blocks.3"), part_words("loss")
    ('block 3', 'loss')
    """
    layer = part.removeprefix("blocks.")
    return words.block.format(layer=layer) if layer != part else words.parts.get(part, part)


def operation_words(name: str) -> str:
    """Return how one of torch's operations is called.

    >>> operation_words("gelu"), operation_words("gelu_backward"), operation_words("addmm")
    ('gelu', 'backward of gelu', 'matrix product')
    """
    if name in words.operations:
        return words.operations[name]
    if name.endswith("_backward"):
        of = operation_words(name.removesuffix("_backward"))
        return words.backward_of.format(operation=of)
    return name.strip("_").replace("_", " ")


def tensor_words(tensor: Held) -> str:
    """Return what a tensor is, in words."""
    shape = " × ".join(f"{size:,}" for size in tensor.shape) or words.number
    if tensor.kind == "weights":
        return words.parameter.format(name=tensor.name, shape=shape)
    if tensor.kind == "gradients":
        return words.gradient.format(name=tensor.name, shape=shape)
    if tensor.kind == "averages":
        name, _, key = tensor.name.rpartition(" ")
        return words.averages.get(key, f"{{name}} {key}").format(name=name, shape=shape)
    if tensor.kind == "batch":
        text = words.batch if tensor.name == "batch" else words.parameter
        return text.format(name=tensor.name, shape=shape)
    return words.made_by.format(
        operation=operation_words(tensor.name), part=part_words(tensor.part), shape=shape
    )


def _picture(state: kit.PageState, chosen: Chosen, memory: StepMemory) -> None:
    live, lives, sections, operations = picture_of(*chosen.known)
    key = f"{KEY}.step"
    moment = state["memorymoment"]

    byte_timeline(
        live,
        lives,
        key=key,
        kinds=list(words.kinds.values()),
        sections=sections,
        operations=operations,
        words=words.picture,
        chosen=moment if 0 <= moment < len(memory.moments) else None,
        on_change=kit.bound(
            state, key, chosen=("memorymoment", kit.one_of(range(len(memory.moments)), -1))
        ),
    )


def peak_told(memory: StepMemory) -> str:
    """Return the sentence about the peak."""
    live, peak = memory.live(), memory.peak()
    moment, column = memory.moments[peak], live[:, peak]
    most = int(column.argmax())
    return words.peak_told.format(
        peak=spoken_bytes(int(column.sum())),
        when=words.when.format(phase=words.phases[moment.phase], part=part_words(moment.part)),
        kind=list(words.kinds.values())[most],
        share=kit.percent(column[most] / column.sum()),
        rest=spoken_bytes(int(live[:3, -1].sum())),
    )


def question(parameters: int) -> kit.Question:
    """Ask what weights, gradients and averages take together."""
    right = 16 * parameters
    wrong = {
        "weights": 4 * parameters,
        "averages": 8 * parameters,
        "one": 12 * parameters,
        "master": 20 * parameters,
    }
    offered = {number: words.ask_wrong[name] for name, number in wrong.items()}
    offered[right] = words.ask_right
    return kit.Question.among(words.ask, offered, right, n=parameters, right=right)


def _code(chosen: Chosen, memory: StepMemory) -> None:
    from llmviz.training.step_memory import StepMemory
    from llmviz.training.step_watch import watch_step

    live, peak = memory.live(), memory.peak()
    kit.show_code(
        [watched_step, watch_step, StepMemory],
        words.snippet_step.format(
            name=chosen.bundled.name,
            rows=chosen.rows,
            tokens=chosen.tokens,
            pieces=chosen.pieces,
            recompute=chosen.recompute,
        ),
        f"{memory.moments[peak]}\n{live[:, peak].tolist()} {live[:, peak].sum()}",
    )
