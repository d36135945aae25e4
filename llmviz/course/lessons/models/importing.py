"""Looking at a published model and importing it, in the background, with a way to stop."""

import re
from dataclasses import dataclass
from pathlib import PurePath

import pandas as pd
import streamlit as st

from llmviz.course.lessons.models import model_list, words
from llmviz.course.lessons.models.published_import import DOWNLOADING
from llmviz.course.lessons.models.published_model import About, source_of
from llmviz.course.ui import engine, kit
from llmviz.course.ui.sizes import size
from llmviz.processes.background import DONE, STOPPED
from llmviz.runs import store

POLL = 0.5  # seconds between two looks at how far a job is
LOOK = "llmviz.course.lessons.models.published_model:look_at"
STEPS = "llmviz.course.lessons.models.published_import:import_steps"
IMPORT = "transformer.bring"  # in the session: an `ImportRequest`
PROBLEM = "transformer.bring.problem"  # in the session: why nothing was begun
NAME = "transformer.bring.name"


@dataclass
class ImportRequest:
    """What a visitor asked for: where it is, the look at it, and the import once one was begun."""

    source: str
    from_hub: bool
    own: bool
    look: kit.Job
    work: kit.Job | None = None


def draw(state: kit.PageState, *, own: bool) -> None:
    """Ask for a model, show what is known of it, import it.

    own: whether the visitor is at the server's own machine, whose folders may be read.
    """
    box = state.bind("published")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            words.source[own], placeholder=words.example, max_chars=1000, width=480, **box
        )
        st.button(
            words.look, key="transformer.published.look", on_click=_look, args=(box["key"], own)
        )
    if problem := st.session_state.get(PROBLEM):
        kit.refuse(problem)
    wanted = st.session_state.get(IMPORT)
    if not isinstance(wanted, ImportRequest):
        return
    if wanted.work is None:
        _looked(wanted)
    else:
        _imported(wanted, wanted.work)


def _look(box: str, own: bool) -> None:
    """Begin to look at what stands in a box; a click may come before the box's own change."""
    st.session_state.pop(PROBLEM, None)
    st.session_state.pop(NAME, None)
    known = st.session_state.pop(IMPORT, None)
    if isinstance(known, ImportRequest):
        _stop(known)
    try:
        source, from_hub = source_of(st.session_state[box], folders=own)
    except ValueError as rule:
        st.session_state[PROBLEM] = str(rule)
        return
    job = kit.import_jobs().start(LOOK, source=source, from_hub=from_hub, own=own)
    st.session_state[IMPORT] = ImportRequest(source, from_hub, own, job)


def _looked(wanted: ImportRequest) -> None:
    job = wanted.look
    if not job.over:
        _wait(wanted)
    elif _ended(job):
        about = job.results[-1]
        st.dataframe(
            pd.DataFrame(about_rows(about), columns=words.about_columns),
            hide_index=True,
            width=800,
        )
        st.caption(words.room)
        if about.problem:
            kit.refuse(words.refused.format(source=about.source, problem=about.problem.rstrip(".")))
        else:
            _offer(wanted)


def about_rows(about: About) -> list[tuple[str, str]]:
    """Return what is known of a model, line by line; what its files do not say is left out."""
    config, cells = about.config, {}
    if about.kind is not None:
        cells["kind"] = about.kind
    if config is not None:
        cells["shape"] = words.shape.format(
            layers=config.n_layer,
            heads=config.n_head,
            width=config.n_embd,
            vocab=config.vocab_size,
            context=config.context_length,
        )
    for name in ("parameters", "numbers"):
        if (number := getattr(about, name)) is not None:
            cells[name] = f"{number:,}"
    for name in ("stored", "memory", "free_memory", "disk", "free_disk"):
        if (number := getattr(about, name)) is not None:
            cells[name] = words.with_bytes.format(short=size(number), bytes=number)
    return [(words.about[name], cell) for name, cell in cells.items()]


def _offer(wanted: ImportRequest) -> None:
    st.session_state.setdefault(NAME, proposed(wanted.source))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(words.name, max_chars=60, width=320, key=NAME)
        st.button(
            words.import_text,
            key="transformer.published.import",
            type="primary",
            on_click=_begin,
            args=(wanted,),
        )


def proposed(source: str) -> str:
    """Return a run's name for a model, from the last part of where it is.

    >>> proposed("somebody/My model"), proposed("/data/gpt2/")
    ('My-model', 'gpt2')
    """
    last = PurePath(source.replace("\\", "/")).name
    return re.sub(r"[^A-Za-z0-9._-]+", "-", last).strip("._-")[:40] or "model"


def _begin(wish: ImportRequest) -> None:
    st.session_state.pop(PROBLEM, None)
    wanted = str(st.session_state.get(NAME, "")).strip()
    try:
        store.free_name(wanted)
    except ValueError as rule:
        st.session_state[PROBLEM] = str(rule)
        return
    wish.work = kit.import_jobs().start(
        STEPS, source=wish.source, from_hub=wish.from_hub, own=wish.own, wanted=wanted
    )


def _imported(wanted: ImportRequest, job: kit.Job) -> None:
    if not job.over:
        _wait(wanted)
        st.caption(words.stay)
        return
    if not _ended(job):
        return
    name = store.PREFIX + job.results[-1].name
    brought = st.session_state.setdefault(model_list.BROUGHT, set())
    brought.add(name)
    kit.inform(words.imported.format(name=job.results[-1].name), ":material/check:")
    st.button(words.use, key="transformer.published.use", on_click=_use, args=(name,))


def _use(name: str) -> None:
    st.session_state[engine.ASKED_MODEL] = name


def _ended(job: kit.Job) -> bool:
    """Whether a job brought what it should; one line where it did not."""
    if job.state == STOPPED:
        kit.inform(words.cancelled, ":material/block:")
    elif job.state != DONE:
        last = (job.problem.strip().splitlines() or [""])[-1]
        kit.refuse(job.problem if job.expected else words.broken.format(problem=last))
    return job.state == DONE


@st.fragment(run_every=POLL)
def _wait(wanted: ImportRequest) -> None:
    """Show how far a job is, and look again until it is over."""
    job = wanted.look if wanted.work is None else wanted.work
    if job.over:
        st.rerun()
    text, share = words.looking, 0.0
    if wanted.work is not None:
        text, share = _how_far(job)
    if job.before:
        text = words.waiting.format(before=kit.count(job.before, "other job"))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(share, text=text, width=480)
        st.button(
            words.cancel,
            key="transformer.published.cancel",
            icon=":material/close:",
            on_click=_stop,
            args=(wanted,),
        )


def _how_far(job: kit.Job) -> tuple[str, float]:
    """What an import does now, and which share of it is done: a download is nearly all of it."""
    if not job.results:
        return words.stages[""], 0.0
    now = job.results[-1]
    text = words.stages[now.stage].format(done=size(now.done), total=size(now.total))
    return text, 0.9 * now.done / max(1, now.total) if now.stage == DOWNLOADING else 0.95


def _stop(wanted: ImportRequest) -> None:
    for job in (wanted.look, wanted.work):
        if job is not None and not job.over:
            job.stop()
