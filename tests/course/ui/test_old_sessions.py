"""Sessions whose window is away: few, for a while, and ended when they go."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from streamlit.runtime import memory_session_storage
from streamlit.runtime.session_manager import SessionInfo

from llmviz.course.ui.old_sessions import OldSessions, keep_few
from llmviz.course.ui.origin import Origin

ENDED: list[str] = []


def session(name: str) -> SessionInfo:
    own = SimpleNamespace(id=name, shutdown=lambda: ENDED.append(name))
    return SessionInfo(client=None, session=own, script_run_count=1)


@pytest.fixture
def kept():
    ENDED.clear()
    now = SimpleNamespace(seconds=0.0)
    storage = OldSessions(most=2, ttl_seconds=100, clock=lambda: now.seconds)
    storage.now = now
    return storage


def names(storage: OldSessions) -> list[str]:
    return [info.session.id for info in storage.list()]


def test_no_more_than_the_most_and_the_oldest_is_ended(kept):
    for name in "abc":
        kept.save(session(name))
    assert names(kept) == ["b", "c"]
    assert ENDED == ["a"]


def test_one_that_comes_back_is_not_ended(kept):
    kept.save(session("a"))
    assert kept.get("a").session.id == "a"
    kept.delete("a")
    assert kept.get("a") is None
    assert ENDED == []


def test_after_the_time_it_is_ended(kept):
    kept.save(session("a"))
    kept.now.seconds = 100
    assert kept.get("a") is not None
    kept.now.seconds = 101
    assert kept.get("a") is None
    assert ENDED == ["a"]


def test_the_others_go_on_when_one_is_too_old(kept):
    kept.save(session("a"))
    kept.now.seconds = 60
    kept.save(session("b"))
    kept.now.seconds = 120
    assert kept.get("b") is not None
    assert names(kept) == ["b"]


def test_what_is_not_kept_cannot_be_let_go(kept):
    with pytest.raises(KeyError):
        kept.delete("nobody")


def test_streamlit_takes_it_with_its_own_setting(monkeypatch):
    monkeypatch.setattr(memory_session_storage, "MemorySessionStorage", object)
    keep_few()
    made = memory_session_storage.MemorySessionStorage(ttl_seconds=7)
    assert isinstance(made, OldSessions)


def test_who_opens_and_closes_windows_pushes_nobody_else_out():
    ENDED.clear()
    where = {"a": ("1", ""), "b": ("2", "x"), "c": ("2", "y")}  # address and browser
    storage = OldSessions(most=4, origin=lambda name: Origin(*where[name[0]]))
    for name in ("a1", "b1", "c1", "c2", "c3", "c4"):
        storage.save(session(name))
    assert ENDED == ["c1", "c2"] and names(storage) == ["a1", "b1", "c3", "c4"]
    for name in ("a2", "a3", "a4"):
        storage.save(session(name))
    assert ENDED[2:] == ["c3", "a1", "a2"] or names(storage)[0] == "b1"
    assert names(storage) == ["b1", "c4", "a3", "a4"]
