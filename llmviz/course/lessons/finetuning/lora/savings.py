"""What LoRA trains and what it takes, at any rank: counted from the model's settings."""

import streamlit as st

from llmviz.course.lessons.finetuning.lora import words
from llmviz.course.lessons.finetuning.lora.adapter_counts import Trained, of_rank, sides, whole
from llmviz.course.lessons.finetuning.tuned_model import base
from llmviz.course.ui import kit


def draw(state: kit.PageState) -> None:
    """Show the section; its controls draw it again alone while no race is shown."""
    kit.section(words.count)
    _counted(state, state["race"])


@st.fragment
def _counted(state: kit.PageState, raced: bool) -> None:
    """Show the controls and the table; raced: whether the rest of the chapter shows a race."""
    if raced and not state["race"]:
        st.rerun()  # the race was of another rank
    config = base().model.config
    anew = state.setter(race=False)  # which trains with this rank
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        most = min(map(min, sides(config).values()))
        st.slider(words.rank, width=260, **state.ranged("rank", most=most, then=anew))
        st.pills(
            words.targets,
            list(words.matrices),
            selection_mode="multi",
            format_func=words.matrices.__getitem__,
            wrap=True,
            **state.bind("targets"),
        )
    targets = tuple(state["targets"])
    if not targets:
        st.info(words.no_targets, icon=":material/touch_app:")
        return
    adapter = of_rank(config, state["rank"], targets)
    rows = rows_of(adapter.parameters, whole(config).parameters, state["rank"])
    kit.rows_table(rows, words.count_columns)
    share = adapter.parameters / whole(config).parameters
    kit.prose(words.count_read, share=kit.percent(share))
    kit.show_code(
        [of_rank, sides],
        words.snippet_savings.format(name=base().name, rank=state["rank"], targets=targets),
        f"{adapter.parameters} {adapter.optimizer} {whole(config).parameters}",
    )


def rows_of(parameters: int, every: int, rank: int) -> list[tuple[str, ...]]:
    """Return both trainings with what they take, as text."""
    rows = []
    for label, count in zip(words.count_rows, (every, parameters), strict=True):
        trained = Trained(count)
        taken = [
            words.mib.format(size=size / 2**20)
            for size in (trained.gradients, trained.optimizer, trained.file)
        ]
        rows.append((label.format(rank=rank), f"{count:,}", kit.percent(count / every), *taken))
    return rows
