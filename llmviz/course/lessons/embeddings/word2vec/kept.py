"""Part of the chapter "Word2vec": the trained vectors as files, and kept for the other lessons."""

import streamlit as st

from llmviz.course.lessons.embeddings.word2vec import run as runs
from llmviz.course.lessons.embeddings.word2vec import words
from llmviz.course.ui import kit
from llmviz.similarity.table import projector_labels
from llmviz.training import run_folders


def draw(run: runs.OwnRun) -> None:
    """Offer the vectors of a finished run: as files, and to the other lessons."""
    table = runs.table(run)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if not run.kept:
            st.button(
                words.keep,
                icon=":material/bookmark:",
                on_click=_keep,
                args=(run,),
                key="embeddings.word2vec.keep",
            )
        names = [table.bytes_of[row].decode("utf-8", "replace") for row in range(table.size)]
        for label, name, data in (
            (words.csv, "word2vec.csv", lambda: table.csv(names)),
            (words.tsv, "word2vec-vectors.tsv", table.tsv),
            (words.tsv_labels, "word2vec-words.tsv", lambda: projector_labels(names)),
        ):
            st.download_button(
                label, data, name, icon=":material/download:", key=name, on_click="ignore"
            )
    if run.kept:
        kit.prose(words.kept, name=kit.quote(run.kept.removeprefix(run_folders.PREFIX)))
    if problem := st.session_state.pop("embeddings.word2vec.kept", ""):
        kit.refuse(ValueError(problem))


def _keep(run: runs.OwnRun) -> None:
    try:
        runs.keep(run)
    except ValueError as error:
        st.session_state["embeddings.word2vec.kept"] = str(error)
