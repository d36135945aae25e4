"""What is private to Streamlit stands in one file, and is off with another version of it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import streamlit
from streamlit.testing.v1 import AppTest

from llmviz import streamlit_parts
from llmviz.streamlit_parts import WRITTEN_FOR, part

ROOT = Path(__file__).parents[1]
ONE_FILE = ROOT / "llmviz" / "streamlit_parts.py"
# Documented: the type of a container, and what a page is.
PUBLIC = {"streamlit", "streamlit.delta_generator", "streamlit.navigation.page"}
PUBLIC |= {"streamlit.testing.v1"}  # documented: runs a page without a browser
REPLACES = ("send_whole", "ask_nobody_outside", "store_sessions_in", "check_uploads")
REPLACES += ("look_up_values",)
SOURCES = [ROOT / "app.py", *(ROOT / "pages").glob("*.py"), *(ROOT / "llmviz").rglob("*.py")]


def test_it_is_for_the_version_that_requirements_name():
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    assert re.findall(r"^streamlit==(\S+)", text, re.MULTILINE) == [WRITTEN_FOR]


def test_no_other_file_imports_what_is_private():
    for path in SOURCES:
        if path == ONE_FILE:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            ours = [name for name in names if name.split(".")[0] == "streamlit"]
            assert set(ours) <= PUBLIC, path


@pytest.mark.parametrize("version", ["1.66.0", "1.68.0"])
@pytest.mark.parametrize("name", REPLACES)
def test_nothing_is_replaced_in_another_version_and_the_log_says_what_is_lost(
    name, version, monkeypatch, caplog
):
    from streamlit import net_util
    from streamlit.runtime import memory_session_storage
    from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
    from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
    from streamlit.runtime.state.safe_session_state import SafeSessionState

    def now() -> list[object]:
        return [
            net_util.get_external_ip,
            memory_session_storage.MemorySessionStorage,
            ForwardMsgQueue.clear,
            MemoryUploadedFileManager.add_file,
            SafeSessionState.filtered_state,
        ]

    monkeypatch.setattr(streamlit, "__version__", version)
    streamlit_parts._say.cache_clear()
    before, more = now(), {"store_sessions_in": (dict,), "check_uploads": (print,)}
    for _ in range(2):
        assert getattr(streamlit_parts, name)(*more.get(name, ())) is None
    assert now() == before
    (line,) = caplog.messages
    assert line.startswith(f"Streamlit {version}: {name} is off (written for {WRITTEN_FOR}), ")


@pytest.mark.parametrize("error", [ImportError, AttributeError, TypeError])
def test_what_fails_is_off_in_any_version(error, caplog):
    @part("nothing much", replaces=False)
    def look_up() -> int:
        raise error("it is gone")

    streamlit_parts._say.cache_clear()
    assert look_up() is look_up() is None
    assert [line.split(": ", 1)[1] for line in caplog.messages] == [
        "look_up is off (it is gone), nothing much"
    ]


def test_the_server_uses_every_part():
    text = (ROOT / "app.py").read_text(encoding="utf-8").split("\nelse:")[1]
    for called in ("look_up_values()", "send_whole()", "check_uploads(uploads.check)"):
        assert f"streamlit_parts.{called}" in text
    assert "old_sessions.keep_few()" in text


def values_page() -> None:
    """A page with values of every kind, which compares both ways to read them."""
    import streamlit as st
    from streamlit.runtime.state.session_state_proxy import get_session_state

    from llmviz import streamlit_parts

    part = st.components.v2.component("lightened", js="export default () => {}")
    st.session_state["plain"] = 3
    st.session_state["none"] = None
    st.session_state.setdefault("given", "text")
    st.text_input("given", key="given")
    st.number_input("empty", value=None, key="empty")
    st.radio("open", ["a", "b"], index=None, key="open")
    st.slider("without a key", 0, 9)
    if st.checkbox("more", key="more"):
        st.selectbox("late", ["x", "y"], key="late")
    part(key="part", default={"step": 2}, on_step_change=lambda: None)
    state = get_session_state()
    own, ours = streamlit_parts._own["filtered_state"](state), state.filtered_state
    assert isinstance(ours, streamlit_parts.Values)
    assert own.keys() >= {"plain", "none", "given", "empty", "open", "more", "part"}
    for key, value in own.items():
        assert key in ours and ours[key] == value, key
    hidden = [key for key in state._state._keys() if key not in own]
    assert any("$$ID" in key for key in hidden)  # the widgets' own names
    for key in ["absent", "late" if "late" not in own else "never", *hidden]:
        assert key not in own and key not in ours, key
    assert set(ours) == own.keys() and len(ours) == len(own) and repr(ours) == repr(own)
    assert st.session_state["empty"] is None and st.session_state["given"] == "text"


def test_values_one_by_one_are_those_of_the_whole_session():
    streamlit_parts.look_up_values()
    app = AppTest.from_function(values_page).run()
    for box in (True, False):
        assert not app.exception
        app.checkbox(key="more").set_value(box).run()
    assert not app.exception


def test_a_page_opens_where_nothing_private_can_be_had(monkeypatch):
    """As if each look-up had failed."""
    for name in ("session", "memory_of_rerun", "connection_of", "address_of", "is_open"):
        broken = part("", replaces=False)(lambda *_: [].gone)
        for module in list(filter(None, map(_module, SOURCES))):
            if hasattr(module, name) and getattr(module, name) is getattr(streamlit_parts, name):
                monkeypatch.setattr(module, name, broken)
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    for page in ("embeddings", "sampling"):
        app.switch_page(f"pages/{page}.py").run()
        assert not app.exception and app.title


def _module(path: Path) -> object:
    import sys

    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return sys.modules.get(name)
