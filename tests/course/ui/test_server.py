"""What the server's process does once: no watcher, no count of frozen objects, no Nagle."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import psutil
import pytest
from streamlit import net_util
from streamlit.testing.v1 import AppTest
from streamlit.web.server.app_discovery import discover_asgi_app

from llmviz.course import streamlit_parts
from llmviz.course.document import Document
from llmviz.course.document.read import DocumentError
from llmviz.course.lessons import LESSONS
from llmviz.course.ui import contents, documents, server
from llmviz.course.ui.codec import flag
from tests.awaiting import awaited
from tests.sources import ROOT, nodes_where


def test_no_file_watcher_unless_asked_for():
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert config["server"]["fileWatcherType"] == "none"
    assert "--server.fileWatcherType auto" in (ROOT / "docs" / "INSTALL.md").read_text("utf-8")


def test_nobody_counts_frozen_objects():
    files = [ROOT / "app.py", *(ROOT / "llmviz").rglob("*.py"), *(ROOT / "pages").glob("*.py")]
    for path, node in nodes_where(files, "get_freeze_count"):
        names = [getattr(node, field, "") for field in ("attr", "id", "name", "value")]
        assert "get_freeze_count" not in names, path


def test_frozen_once(monkeypatch):
    frozen = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(1))
    server.freeze_imports.cache_clear()
    server.freeze_imports()
    server.freeze_imports()
    assert len(frozen) == 1


@pytest.fixture
def listening():
    # As Streamlit makes its socket: without a protocol number.
    with socket.socket(socket.AF_INET) as own:
        own.bind(("127.0.0.1", 0))
        own.listen()
        yield own


def nodelay(connection: socket.socket) -> bool:
    return bool(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))


@pytest.mark.skipif(psutil.WINDOWS, reason="Windows does not tell the sockets' descriptors")
def test_who_is_connected_already_and_who_comes_later_is_sent_to_at_once(listening):
    assert not nodelay(listening)
    for before in (False, True):
        with socket.create_connection(listening.getsockname()):
            accepted, _ = listening.accept()
            with accepted:
                assert nodelay(accepted) == before
                assert server.send_at_once() >= 1
                assert nodelay(accepted)


def test_harmless_where_a_system_does_not_say(listening, monkeypatch):
    def denied(*_, **__):
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil.Process, "net_connections", denied)
    assert server.send_at_once() == 0
    assert not nodelay(listening)


@pytest.fixture
def light_start(monkeypatch):
    """A start and an end without loading models, and without ending other tests' runs."""
    calls = []
    monkeypatch.setattr(server, "load_ahead", lambda lessons: calls.append("load"))
    monkeypatch.setattr(server.runs, "close", lambda: calls.append("close"))
    monkeypatch.setattr(net_util, "get_external_ip", net_util.get_external_ip)
    monkeypatch.setattr(net_util, "get_internal_ip", net_util.get_internal_ip)
    return calls


@pytest.fixture
def started(listening, light_start):
    """What was done by a server's start and end."""

    async def start_and_end():
        async with server.lifespan([])(None):
            assert light_start == ["load"]
            assert net_util.get_external_ip() is None

    awaited(start_and_end())
    return light_start


@pytest.mark.usefixtures("light_start")
@pytest.mark.skipif(psutil.WINDOWS, reason="Windows does not tell the sockets' descriptors")
def test_who_waited_for_the_start_is_sent_to_at_once(listening, monkeypatch):
    monkeypatch.setattr(server, "ACCEPTED", 0.0)

    async def accepted_after_the_start() -> tuple[bool, bool]:
        with socket.create_connection(listening.getsockname()):
            async with server.lifespan([])(None):
                accepted, _ = listening.accept()
                with accepted:
                    before = nodelay(accepted)
                    for _ in range(3):
                        await asyncio.sleep(0)
                    return before, nodelay(accepted)

    before, after = awaited(accepted_after_the_start())
    assert after and not (psutil.LINUX and before)


def test_the_start_switches_nagle_off_and_the_end_closes_runs(started, listening):
    assert psutil.WINDOWS or nodelay(listening)
    assert started == ["load", "close"]


def wrong(_lessons, _between):
    raise DocumentError("chapter.md, line 3: a broken table")


def test_a_document_that_is_wrong_ends_the_start(monkeypatch, caplog):
    ended = []
    monkeypatch.setattr(server.signal, "raise_signal", ended.append)
    monkeypatch.setattr(server, "check_changed_documents", wrong)
    assert not server.check_pages([]) and ended == [signal.SIGTERM]
    assert "chapter.md, line 3: a broken table" in caplog.text


@pytest.fixture
def seen(monkeypatch, tmp_path):
    """What is checked of a course that lies in a folder of the test."""
    checked = []
    monkeypatch.setattr(documents, "COURSE", tmp_path)
    monkeypatch.setattr(documents, "PACKAGE", tmp_path)
    monkeypatch.setattr(documents, "FIT", tmp_path / "kept" / "documents.txt")
    monkeypatch.setattr(documents, "check_documents", lambda lessons, _: checked.append(lessons))
    return checked


def test_documents_are_checked_again_only_when_a_file_has_changed(seen, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("a text", "utf-8")
    small, other = (contents.Lesson(key, "", Document(page)) for key in ("small", "other"))

    def checked(*lessons):
        before = len(seen)
        documents.check_changed_documents(lessons)
        return len(seen) > before

    assert checked(small) and not checked(small)
    assert checked(small, other) and not checked(small, other)
    page.write_text("another text", "utf-8")
    assert checked(small, other) and not checked(small, other)
    os.utime(page, (1, 1))
    assert checked(small, other)
    (tmp_path / "code.py").write_text("", "utf-8")
    assert checked(small, other) and not checked(small, other)
    documents.FIT.write_bytes(b"\xff nonsense")
    assert checked(small, other) and not checked(small, other)


@pytest.mark.usefixtures("seen")
def test_a_document_that_is_wrong_is_checked_at_each_start(monkeypatch):
    monkeypatch.setattr(documents, "check_documents", wrong)
    for _ in range(2):
        with pytest.raises(DocumentError):
            documents.check_changed_documents([])


def test_documents_are_checked_where_nothing_can_be_kept(seen, tmp_path):
    (tmp_path / "kept").write_text("", "utf-8")  # a file, no folder
    documents.check_changed_documents([])
    documents.check_changed_documents([])
    assert len(seen) == 2


class Chapter:
    """A module that computes three parts ahead, of which a visitor comes in the first."""

    def __init__(self, monkeypatch) -> None:
        self.visited, self.log = 0, []
        monkeypatch.setattr(server.streamlit_parts, "scripts_run", self.scripts_run)
        # A clock of its own: the module's is everybody's, and other threads sleep too.
        clock = SimpleNamespace(
            monotonic=lambda: float(len(self.log)), sleep=lambda _: self.log.append("slept")
        )
        monkeypatch.setattr(server, "time", clock)
        monkeypatch.setattr(server, "QUIET", 2.0)

    def scripts_run(self) -> bool:
        self.visited -= self.visited > 0
        return self.visited > 0

    def ahead(self):
        for part in range(3):
            self.log.append(part)
            self.visited = 4 if part == 0 else 0
            yield

    def modules(self):
        return [self]


def test_what_is_computed_ahead_lets_visitors_go_first(monkeypatch):
    chapter = Chapter(monkeypatch)
    monkeypatch.setattr(server, "engine", Mock(names=list))
    monkeypatch.setattr(server, "AHEAD", ())
    monkeypatch.setattr(server, "check_pages", lambda lessons, between: True)
    server._load([chapter])
    # Three looks that find a script running, then a moment without one.
    assert chapter.log == [0, *["slept"] * 4, 1, 2]


def test_a_script_that_runs_is_seen():
    def page() -> None:
        import streamlit as st

        from llmviz.course import streamlit_parts

        st.text(str(streamlit_parts.scripts_run()))

    assert not streamlit_parts.scripts_run()
    assert AppTest.from_function(page).run().text[0].value == "True"


def test_documents_are_held_against_the_code_in_small_steps(tmp_path, monkeypatch):
    steps = []
    documents.check_documents([], lambda: steps.append(1))
    assert steps == []  # nothing asks for the engine's names
    lesson = next(lesson for lesson in LESSONS if lesson.key == "glossary")
    documents.check_documents([lesson], lambda: steps.append(1))
    assert steps


def test_two_controls_of_one_name_end_the_start(monkeypatch, caplog):
    declared = {"llmviz.course.lessons.small": [flag("on", False)] * 2}
    monkeypatch.setattr(contents, "_params", declared.__getitem__)
    ended = []
    monkeypatch.setattr(server.signal, "raise_signal", ended.append)
    small = contents.Lesson("small", "", Document(Path("small.md")))
    assert not server.check_pages([small]) and ended == [signal.SIGTERM]
    assert "'on' is declared twice: in llmviz.course.lessons.small" in caplog.text
    declared["llmviz.course.lessons.small"].pop()
    assert server.check_pages([small]) and len(ended) == 1


def test_streamlit_serves_app_with_that_start():
    found = discover_asgi_app(ROOT / "app.py")
    assert found.is_asgi_app and found.app_name == "app"
    assert "lifespan=server.lifespan" in (ROOT / "app.py").read_text("utf-8")


@pytest.mark.slow
def test_what_a_run_will_cost_is_known_without_a_further_import():
    code = (
        "import sys\n"
        "from llmviz.course.ui import server\n"
        "server.load_ahead(()).join(150)\n"  # lessons could only bring more
        "from llmviz.training.config import Plan, TrainConfig\n"
        "from llmviz.training.estimate import estimate\n"
        "before = set(sys.modules)\n"
        "plan = Plan(model='gpt', model_options={}, corpus='names', tokenizer='char',\n"
        "            context_length=16, windows='padded', train=TrainConfig())\n"
        "assert estimate(plan, 30).parameters\n"
        "print(len(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, timeout=180, check=True, cwd=ROOT
    )
    assert int(done.stdout) < 20


@pytest.mark.skipif(psutil.WINDOWS, reason="Windows has no limit of open files")
@pytest.mark.parametrize(
    ("given", "expected"),
    [((256, 10_240), 4096), ((256, 1_000), 1_000), ((8_192, 10_240), 8_192), ((256, -1), 4096)],
)
def test_open_files_are_allowed_as_far_as_the_system_lets(monkeypatch, given, expected):
    import resource

    limit = [given]
    monkeypatch.setattr(resource, "RLIM_INFINITY", -1)
    monkeypatch.setattr(resource, "getrlimit", lambda _: limit[0])
    monkeypatch.setattr(resource, "setrlimit", lambda _, new: limit.append(new) or limit.pop(0))
    assert server.allow_many_files() == expected
    assert limit[0] == (expected, given[1])


@pytest.mark.skipif(psutil.WINDOWS, reason="Windows has no limit of open files")
def test_a_system_that_refuses_more_open_files_keeps_its_own(monkeypatch):
    import resource

    def refuse(*_):
        raise ValueError("not here")

    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 10_240))
    monkeypatch.setattr(resource, "setrlimit", refuse)
    assert server.allow_many_files() == 256
