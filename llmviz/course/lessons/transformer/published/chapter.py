"""Chapter "Your own model, or GPT-2": bring a published model, and see what is here."""

import pandas as pd
import streamlit as st

from llmviz.course.lessons.transformer.published import importing, model_list, words
from llmviz.course.lessons.transformer.published.gpt2_sizes import SizeRow, gpt2_sizes
from llmviz.course.lessons.transformer.sizes import size
from llmviz.course.ui import kit
from llmviz.course.ui.own_machine import may_import


def ahead() -> None:
    """Count GPT-2's sizes before the first visitor asks."""
    sizes()


sizes = kit.kept(1)(gpt2_sizes)


def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    allowed = own = False
    try:
        allowed, own = may_import()
    except ValueError as rule:
        kit.refuse(rule)
    if allowed:
        importing.draw(state, own=own)
    else:
        kit.inform(words.not_here, ":material/lock:")
    models = model_list.draw(own=own)
    _without_network()
    largest = max(models, key=lambda model: model.parameters, default=None)
    if largest is not None:
        name = kit.quote(kit.label(largest.name))
        kit.predict(bytes_question(name, largest.parameters), "transformer.published.bytes")
    _code(sizes()[0])
    if largest is not None:
        kit.seen(
            words.end,
            models=kit.count(len(models), "model"),
            name=name,
            parameters=largest.parameters,
            gpt2=sizes()[0].parameters,
        )


def _without_network() -> None:
    kit.section(words.offline)
    kit.prose(words.shapes)
    rows = [
        (
            row.name,
            row.layers,
            row.heads,
            row.width,
            row.parameters,
            *(size(row.weights[kind]) for kind in words.shape_columns[5:]),
        )
        for row in sizes()
    ]
    number = st.column_config.NumberColumn(format="localized")
    st.dataframe(
        pd.DataFrame(rows, columns=words.shape_columns),
        hide_index=True,
        column_config={words.shape_columns[4]: number},
    )


def bytes_question(name: str, parameters: int) -> kit.Question:
    """Return how many bytes the weights of a model take in bfloat16, as a question."""
    known = {"name": name, "parameters": parameters, "right": 2 * parameters}
    reasons = {each * parameters: reason for each, reason in words.wrong.items()}
    reasons[2 * parameters] = words.right
    return kit.Question.among(words.question, reasons, 2 * parameters, **known)


def _code(row: SizeRow) -> None:
    kit.show_code(
        [gpt2_sizes],
        words.snippet.format(name=row.name),
        f"{row.parameters}",
    )
