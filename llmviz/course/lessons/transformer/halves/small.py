"""The small decoder: every tensor that it computes, and every one that it learns."""

import pandas as pd
import streamlit as st

from llmviz.course.lessons.transformer.halves import words
from llmviz.course.lessons.transformer.small_decoder import (
    SMALL,
    Sized,
    learned_tensors,
    shapes_on_the_way,
)
from llmviz.course.ui import kit

BLOCK = "decoder.blocks.0."


def draw(sources: int, targets: int) -> None:
    """Show its shapes for S source and T target tokens, and its parameters."""
    c, h = SMALL.n_embd, SMALL.n_head
    line = {"v": SMALL.vocab_size, "c": c, "h": h, "d": c // h, "f": SMALL.hidden_size}
    kit.section(words.small, t=targets, s=sources, **line)
    question = count_question(sources, targets)
    if question is None or kit.predict(question, "transformer.halves.count", covers=True):
        st.dataframe(shape_table(sources, targets), hide_index=True, height=420)
    tensors = learned()
    total = sum(tensor.count for tensor in tensors)
    st.dataframe(count_table(), hide_index=True, height="content")
    kit.prose(words.count, tensors=len(tensors), total=total)
    kit.show_code(
        [learned_tensors, shapes_on_the_way],
        words.snippet_small.format(sources=sources, targets=targets, block=BLOCK),
        f"{total}\n{_shape(sources, targets, BLOCK + 'cross.scores')} "
        f"{_shape(sources, targets, 'logits')}",
    )


learned = kit.kept(1)(learned_tensors)


@kit.kept(32)
def shapes(sources: int, targets: int) -> list[Sized]:
    """Return what is computed, each thing once: without dropout two entries repeat another."""
    tensors = shapes_on_the_way(sources, targets)
    return [tensor for tensor in tensors if not tensor.name.endswith((".dropped", ".projection"))]


def _shape(sources: int, targets: int, name: str) -> tuple[int, ...]:
    return next(tensor.shape for tensor in shapes(sources, targets) if tensor.name == name)


@kit.kept(32)
def shape_table(sources: int, targets: int) -> pd.DataFrame:
    """Return the shapes as a table."""
    rows = [
        (tensor.name, *words.shapes[tensor.name.removeprefix(BLOCK)], _written(tensor.shape))
        for tensor in shapes(sources, targets)
    ]
    return pd.DataFrame(rows, columns=words.shape_columns)


@kit.kept(1)
def count_table() -> pd.DataFrame:
    """Return the learned tensors as a table."""
    rows = [
        (
            tensor.name,
            next(text for end, text in words.tensors.items() if tensor.name.endswith(end)),
            _written(tensor.shape),
            tensor.count,
        )
        for tensor in learned()
    ]
    return pd.DataFrame(rows, columns=words.count_columns)


def _written(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))


def count_question(sources: int, targets: int) -> kit.Question | None:
    """Return how many scores the cross-attention computes; None where answers fall together.

    sources: S words that were read. targets: T tokens of the decoder.
    """
    h, t, s = SMALL.n_head, targets, sources
    given = {"h": h, "t": t, "s": s, "right": h * t * s}
    offered = {h * t * s: words.count_right}
    wrong = {
        t * s: words.count_one,
        h * (t + s): words.count_sum,
        h * t * t: words.count_own,
        h * s * s: words.count_read,
    }
    for number, reason in wrong.items():
        if len(offered) < 4:
            offered.setdefault(number, reason)
    if len(offered) < 3:
        return None
    return kit.Question.among(words.count_ask, offered, h * t * s, **given)
