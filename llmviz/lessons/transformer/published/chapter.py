"""Chapter "Your own model, or GPT-2": bring a published model, and see what is here."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from llmviz.lessons.transformer.published import importing, model_list, words
from llmviz.lessons.transformer.sizes import size
from llmviz.study.gpt2_sizes import SizeRow, gpt2_sizes
from llmviz.ui.code import show_code
from llmviz.ui.common import count
from llmviz.ui.kept import kept
from llmviz.ui.lesson import section, seen
from llmviz.ui.notices import inform, refuse
from llmviz.ui.own_machine import may_import
from llmviz.ui.prose import prose, quote
from llmviz.ui.question import Question, predict
from llmviz.ui.selectable_models import label
from llmviz.ui.state import PageState


def ahead() -> None:
    """Count GPT-2's sizes before the first visitor asks."""
    sizes()


@kept(1)
def sizes() -> list[SizeRow]:
    """Return GPT-2's sizes, counted once for all visitors."""
    return gpt2_sizes()


def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.intro)
    allowed = own = False
    try:
        allowed, own = may_import()
    except ValueError as rule:
        refuse(rule)
    if allowed:
        importing.draw(state, own)
    else:
        inform(words.not_here, ":material/lock:")
    models = model_list.draw(own)
    _without_network()
    largest = max(models, key=lambda one: one.parameters, default=None)
    if largest is not None:
        name = quote(label(largest.name))
        predict(bytes_question(name, largest.parameters), "transformer.published.bytes")
    _code(sizes()[0])
    if largest is not None:
        seen(
            words.end,
            models=count(len(models), "model"),
            name=name,
            parameters=largest.parameters,
            gpt2=sizes()[0].parameters,
        )


def _without_network() -> None:
    section(words.offline)
    prose(words.shapes)
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


def bytes_question(name: str, parameters: int) -> Question:
    """Return how many bytes the weights of a model take in bfloat16, as a question."""
    known = {"name": name, "parameters": parameters, "right": 2 * parameters}
    numbers = {each: each * parameters for each in sorted([2, *words.wrong])}
    return Question(
        words.question.format(**known),
        [f"{number:,}" for number in numbers.values()],
        list(numbers).index(2),
        [words.wrong.get(each, words.right).format(**known) for each in numbers],
    )


def _code(row: SizeRow) -> None:
    show_code(
        [gpt2_sizes],
        "import torch\n"
        "from llmviz.models import build, count_parameters\n"
        "from llmviz.models.arithmetic import PRESETS\n\n"
        'with torch.device("meta"):\n'
        f'    model = build("gpt", PRESETS[{row.name!r}])\n'
        "print(count_parameters(model))",
        f"{row.parameters}",
    )
