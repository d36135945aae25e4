"""Warnings and refusals: the only place that shows a text which somebody else may have written.

What they quote (a value of a link, a line of an error, a name of a folder) is shown letter for
letter: no link, picture, colour or formula in it comes alive. A test sees to it that no page calls
`st.warning` or `st.error` with such a text by itself.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import ParamSpec, TypeVar

import streamlit as st

from llmviz.course.document.marks import unmarked
from llmviz.course.ui.text import escape_markdown
from llmviz.files.paths import HOME, IMPORTED_FROM
from llmviz.processes.background import Job
from llmviz.runs import store

REPORT_ICON, BLOCK_ICON = ":material/report:", ":material/block:"
AWAY_ICON = ":material/cloud_off:"
P = ParamSpec("P")
T = TypeVar("T")


def warn(text: str, icon: str = REPORT_ICON) -> None:
    """Show a warning as plain text."""
    st.warning(_plain(text), icon=icon)


def inform(text: str, icon: str) -> None:
    """Show something to know as plain text."""
    st.info(_plain(text), icon=icon)


def wrong(text: str) -> None:
    """Show that an answer is not the right one, as plain text."""
    st.error(_plain(text), icon=":material/cancel:")


def refuse_failed(job: Job) -> None:
    """Say why work in the background failed.

    Raises RuntimeError, with the trace, for a bug: that is not the visitor's to mend.
    """
    if not job.expected:
        raise RuntimeError(job.problem)
    refuse(job.problem)


def refuse(reason: Exception | str) -> None:
    """Show why something was not done, in plain text: an error's one clear line."""
    st.error(_plain(str(reason)), icon=BLOCK_ICON)


def is_here(missing: str, command: str, *reads: Callable[[], object]) -> bool:
    """Whether all that a chapter reads is in this copy of the app; else say what makes it.

    reads: what raises ValueError where something is missing or damaged.
    """
    try:
        for read in reads:
            read()
    except ValueError:
        st.info(missing, icon=":material/download:")
        st.code(command, language=None)
        return False
    return True


def or_refused(compute: Callable[P, T], *args: P.args, **more: P.kwargs) -> T | None:
    """Return what a function computes; None, after showing why, where it raises ValueError."""
    try:
        return compute(*args, **more)
    except ValueError as error:
        refuse(error)
        return None


def _plain(text: str) -> str:
    """Return a text without marks of authors and folders of the server, nothing in it alive."""
    return escape_markdown(without_folders(unmarked(text)))


def without_folders(text: str) -> str:
    """Return a message without where the server's folders are: of each, its last name stays.

    The command line says the whole path to its user, who may see it; a visitor has no use for it.
    """
    if "/" not in text and "\\" not in text:
        return text
    checkpoints = os.environ.get("LLMVIZ_CHECKPOINTS") or ""
    own = (str(store.root()), str(Path.cwd()), checkpoints)
    return _folders(own).sub(lambda match: Path(match[0]).name, text)


@lru_cache(maxsize=8)
def _folders(own: tuple[str, ...]) -> re.Pattern[str]:
    """What finds the folders of the server in a text, the longest first."""
    known = {*own, str(HOME), str(IMPORTED_FROM), tempfile.gettempdir(), str(Path.home())}
    known |= {str(Path(folder).resolve()) for folder in known if folder}
    paths = sorted((f for f in known if Path(f).name), key=len, reverse=True)
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, paths))})(?![\w.-])")
