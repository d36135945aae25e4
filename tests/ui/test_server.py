"""What the server's process does once: no watcher, no count of frozen objects, no Nagle."""

from __future__ import annotations

import ast
import gc
import socket
import tomllib
from pathlib import Path

import psutil
import pytest

from llmviz.ui import server

ROOT = Path(__file__).parents[2]


def test_no_file_watcher_unless_asked_for():
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert config["server"]["fileWatcherType"] == "none"
    assert "--server.fileWatcherType auto" in (ROOT / "README.md").read_text("utf-8")


def test_nobody_counts_frozen_objects():
    for path in [ROOT / "app.py", *(ROOT / "llmviz").rglob("*.py"), *(ROOT / "pages").glob("*.py")]:
        tree = ast.walk(ast.parse(path.read_text("utf-8")))
        names = {node.attr for node in tree if isinstance(node, ast.Attribute)}
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
        server.send_at_once.cache_clear()
        yield own


def nodelay(connection: socket.socket) -> bool:
    return bool(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))


@pytest.mark.skipif(psutil.WINDOWS, reason="Windows does not tell the sockets' descriptors")
def test_what_is_accepted_later_sends_at_once(listening):
    assert not nodelay(listening)
    assert server.send_at_once() >= 1
    with socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert nodelay(accepted)


@pytest.mark.skipif(psutil.WINDOWS, reason="Windows does not tell the sockets' descriptors")
def test_who_is_connected_already_is_sent_to_at_once(listening):
    with socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert not nodelay(accepted)
            server.send_at_once()
            assert nodelay(accepted)


def test_harmless_where_a_system_does_not_say(listening, monkeypatch):
    def denied(*_, **__):
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil.Process, "net_connections", denied)
    assert server.send_at_once() == 0
    assert not nodelay(listening)
