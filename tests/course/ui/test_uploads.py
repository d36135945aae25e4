"""Files that visitors upload: so much for a window, for an address and for all."""

from __future__ import annotations

import socket
import threading
from types import SimpleNamespace

import psutil
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.web.server.starlette import starlette_routes

from llmviz.course import streamlit_parts
from llmviz.course.ui import uploads
from llmviz.course.ui.origin import Origin
from llmviz.files.paths import APP
from llmviz.processes.read_to_end import ReadToEnd


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


@pytest.fixture
def address(manager):
    """Where Streamlit's own route for uploads listens, behind what app.py puts before it."""
    active = SimpleNamespace(is_active_session=lambda session: True)
    app = Starlette(
        routes=starlette_routes.create_upload_routes(active, manager, ""),
        middleware=[Middleware(ReadToEnd)],
    )
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    yield listening.getsockname()
    server.should_exit = True
    thread.join()


@pytest.mark.parametrize(
    ("size", "says"),
    [
        (11, "this window uploaded would have more than 10 MB. Remove one"),
        (9, ""),
        (30 * 2**20, "File too large"),  # than Streamlit takes: more than lies in any buffer
    ],
)
def test_who_uploads_too_much_is_told_so_and_not_cut_off(address, monkeypatch, size, says):
    monkeypatch.setattr(starlette_routes, "is_xsrf_enabled", lambda: False)
    monkeypatch.setattr(starlette_routes.config, "get_option", lambda name: OPTIONS.get(name, ""))
    head = b'--x\r\nContent-Disposition: form-data; name="a"; filename="a.txt"\r\n\r\n'
    body = head + b"a" * size + b"\r\n--x--\r\n"
    with socket.create_connection(address) as client:  # which reads nothing before it sent all
        client.sendall(
            b"PUT /_stcore/upload_file/a1/more HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            b"Content-Type: multipart/form-data; boundary=x\r\n"
            b"Content-Length: %d\r\n\r\n" % len(body)
        )
        client.sendall(body)
        answer = client.makefile("rb").read().decode()
    assert answer.startswith("HTTP/1.1 413 " if says else "HTTP/1.1 204 ") and says in answer


@pytest.mark.slow
@pytest.mark.parametrize("chunked", [False, True])
def test_half_a_gigabyte_is_refused_and_takes_no_memory(address, monkeypatch, chunked):
    monkeypatch.setattr(starlette_routes, "is_xsrf_enabled", lambda: False)
    monkeypatch.setattr(starlette_routes.config, "get_option", lambda name: OPTIONS.get(name, ""))
    head = b'--x\r\nContent-Disposition: form-data; name="a"; filename="a.txt"\r\n\r\n'
    pieces = [head, *[b"a" * 2**20] * 500, b"\r\n--x--\r\n"]
    length = b"Content-Length: %d" % sum(map(len, pieces))
    process, peak = psutil.Process(), 0
    before = process.memory_info().rss
    with socket.create_connection(address) as client:
        client.sendall(
            b"PUT /_stcore/upload_file/a1/more HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            b"Content-Type: multipart/form-data; boundary=x\r\n"
            + (b"Transfer-Encoding: chunked" if chunked else length)
            + b"\r\n\r\n"
        )
        for piece in pieces:
            client.sendall(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
            peak = max(peak, process.memory_info().rss)
        client.sendall(b"0\r\n\r\n" if chunked else b"")
        answer = client.makefile("rb").read().decode()
    assert answer.startswith("HTTP/1.1 413 ") and "File too large" in answer
    assert peak - before < 100 * 2**20


OPTIONS = {"server.maxUploadSize": 10}


def test_the_app_reads_what_it_refuses_before_all_else():
    assert "before = [Middleware(ReadToEnd)," in APP.read_text("utf-8")
