"""Files that visitors upload: so much for a window, for an address and for all."""

from __future__ import annotations

import pytest
from starlette.exceptions import HTTPException
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from llmviz.course import streamlit_parts
from llmviz.course.ui import uploads
from llmviz.course.ui.origin import Origin


@pytest.fixture
def manager(monkeypatch):
    monkeypatch.setattr(MemoryUploadedFileManager, "add_file", MemoryUploadedFileManager.add_file)
    monkeypatch.setattr(uploads, "MEGABYTE", 1)
    monkeypatch.setattr(uploads, "of_session", lambda session: Origin(session[0]))
    for kind, most in (("WINDOW", 10), ("ADDRESS", 15), ("MAX", 20)):
        monkeypatch.setenv(f"LLMVIZ_{kind}_UPLOADS", str(most))
    streamlit_parts.check_uploads(uploads.check)
    return MemoryUploadedFileManager("/upload")


def add(manager, session, name, size):
    manager.add_file(session, UploadedFileRec(name, "a.txt", "text/plain", b"x" * size))


def refused(manager, session, size):
    with pytest.raises(HTTPException) as error:
        add(manager, session, "more", size)
    assert error.value.status_code == 413
    assert manager.get_files(session, ["more"]) == []
    return error.value.detail


def test_what_a_window_an_address_and_all_may_hold(manager):
    add(manager, "a1", "one", 6)
    add(manager, "a1", "one", 10)  # in the place of the first
    assert "this window uploaded would have more than 10 MB" in refused(manager, "a1", 1)
    add(manager, "a2", "one", 5)
    assert "your network address uploaded" in refused(manager, "a2", 1)
    add(manager, "b1", "one", 5)
    assert "all visitors of this server uploaded" in refused(manager, "c1", 1)
    manager.remove_session_files("a1")
    add(manager, "a2", "two", 5)


def test_windows_of_unknown_places_are_no_ones_neighbours(manager, monkeypatch):
    monkeypatch.setattr(uploads, "of_session", lambda session: Origin())
    add(manager, "a1", "one", 10)
    add(manager, "b1", "one", 10)
    assert "all visitors" in refused(manager, "c1", 1)
