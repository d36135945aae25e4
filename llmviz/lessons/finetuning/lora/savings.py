"""What LoRA trains and what it takes, at any rank: counted from the model's settings."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from llmviz.lessons.finetuning.lora import words
from llmviz.lessons.finetuning.tuned_model import base
from llmviz.study.adapter_counts import Trained, of_rank, sides, whole
from llmviz.ui.code import show_code
from llmviz.ui.common import percent
from llmviz.ui.kept import kept
from llmviz.ui.lesson import section
from llmviz.ui.prose import prose
from llmviz.ui.state import PageState


def draw(state: PageState) -> None:
    """Show the section."""
    section(words.COUNT_TITLE, words.COUNT_TEXT)
    config = base().model.config

    def anew() -> None:
        state["race"] = False  # which trains with this rank

    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        most = min(map(min, sides(config).values()))
        st.slider(words.RANK, width=260, **state.ranged("rank", most=most, then=anew))
        st.pills(
            words.TARGETS,
            list(words.MATRICES),
            selection_mode="multi",
            format_func=words.MATRICES.__getitem__,
            wrap=True,
            **state.bind("targets"),
        )
    targets = tuple(state["targets"])
    if not targets:
        st.info(words.NO_TARGETS, icon=":material/touch_app:")
        return
    found = of_rank(config, state["rank"], targets)
    st.dataframe(table(found.parameters, whole(config).parameters, state["rank"]), hide_index=True)
    share = found.parameters / whole(config).parameters
    prose(words.COUNT_READ.format(share=percent(share)))
    show_code(
        [of_rank, sides],
        "from llmviz.pretrained import load_bundled\n"
        "from llmviz.study.adapter_counts import of_rank, whole\n\n"
        f"config = load_bundled({base().name!r})[0].config\n"
        f"found = of_rank(config, {state['rank']}, {targets!r})\n"
        "print(found.parameters, found.optimizer, whole(config).parameters)",
        f"{found.parameters} {found.optimizer} {whole(config).parameters}",
    )


@kept(64)
def table(parameters: int, every: int, rank: int) -> pd.DataFrame:
    """Return both trainings with what they take."""
    rows = []
    for label, count in zip(words.COUNT_ROWS, (every, parameters), strict=True):
        one = Trained(count)
        taken = [
            words.MIB.format(size=size / 2**20) for size in (one.gradients, one.optimizer, one.file)
        ]
        share = percent(count / every)
        rows.append((label.format(rank=rank), f"{count:,}", share, *taken))
    return pd.DataFrame(rows, columns=list(words.COUNT_COLUMNS))
