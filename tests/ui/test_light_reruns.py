"""What is done with less work in a rerun gives what Streamlit's own gives, or is not used."""

from __future__ import annotations

import asyncio
import importlib.util
import re
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import streamlit
from streamlit import config, cursor, delta_generator
from streamlit.proto.NewSession_pb2 import NewSession
from streamlit.runtime import app_session, runtime
from streamlit.runtime.state import safe_session_state, session_state, session_state_proxy
from streamlit.testing.v1 import AppTest

from llmviz.ui import light_reruns
from tests.awaiting import awaited

ROOT = Path(__file__).parents[2]

light_reruns.lighten()

REPLACED = [
    (safe_session_state.SafeSessionState, "filtered_state"),
    (session_state_proxy.SessionStateProxy, "get"),
    (cursor.Cursor, "__deepcopy__"),
    (delta_generator.DeltaGenerator, "__deepcopy__"),
    (runtime.Runtime, "_enqueued_some_message"),
    (app_session, "_populate_theme_msg"),
]


def values_page() -> None:
    """A page with values of every kind, which compares both ways to read them."""
    from collections.abc import Mapping

    import streamlit as st
    from streamlit.runtime.state.session_state_proxy import get_session_state

    from llmviz.ui import light_reruns

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
    own, ours = light_reruns._all_of_it(state), state.filtered_state
    assert isinstance(ours, light_reruns.Values)
    assert own.keys() >= {"plain", "none", "given", "empty", "open", "more", "part"}
    for key, value in own.items():
        assert key in ours and ours[key] == value, key
        mine = st.session_state.get(key, "default")
        assert mine == value == Mapping.get(st.session_state, key, "default"), key
    assert st.session_state.get("absent", 7) == 7 and st.session_state.get("none", 7) is None
    hidden = [key for key in state._state._keys() if key not in own]
    assert any("$$ID" in key for key in hidden)  # the widgets' own names
    for key in ["absent", "late" if "late" not in own else "never", *hidden]:
        assert key not in own and key not in ours, key
    assert set(ours) == own.keys() and len(ours) == len(own) and repr(ours) == repr(own)
    assert st.session_state["empty"] is None and st.session_state["given"] == "text"


def test_values_one_by_one_are_those_of_the_whole_session():
    app = AppTest.from_function(values_page).run()
    for box in (True, False):
        assert not app.exception
        app.checkbox(key="more").set_value(box).run()
    assert not app.exception


def blocks_page() -> None:
    """Blocks in blocks, copied as a fragment in them copies them."""
    from collections import Counter
    from copy import deepcopy

    import streamlit as st
    from streamlit.delta_generator import DeltaGenerator
    from streamlit.delta_generator_singletons import context_dg_stack
    from streamlit.proto.Element_pb2 import Element

    light, copied = DeltaGenerator.__deepcopy__, Counter()

    def counted(block: DeltaGenerator, memo: dict) -> DeltaGenerator:
        copied[id(block)] += 1
        return light(block, memo)

    def told(stack: tuple[DeltaGenerator, ...]) -> list[tuple]:
        return [
            (
                [one._cursor.delta_path for one in block._ancestors],
                list(block._ancestor_block_types),
                block._form_data,
                block._root_container,
                block._creating_fragment_id,
                type(block._cursor),
            )
            for block in stack
        ]

    st.write("before")
    with st.container(border=True), st.columns(2)[1], st.expander("fold"):
        st.write("inside")
        stack = context_dg_stack.get()
        places = told(stack)
        DeltaGenerator.__deepcopy__ = counted
        try:
            copies = deepcopy(stack)
        finally:
            DeltaGenerator.__deepcopy__ = light
        assert len(stack) >= 4 and told(copies) == places
        assert set(copied.values()) == {1}, copied
        for block, other in zip(stack, copies, strict=True):
            assert other is not block and other._cursor is not block._cursor
        copies[-1]._cursor.lock_element()  # moves the copy on, and nothing else
        assert told(stack) == places and told(copies) != places
        cursor = stack[-1]._cursor
        cursor.transient_elements[0] = Element()  # as a spinner that goes on
        elements = deepcopy(cursor).transient_elements
        assert list(elements.items()) == list(cursor.transient_elements.items())
        del cursor.transient_elements[0]
        assert len(elements) == 1
    st.write("after")


def test_a_copy_of_blocks_in_blocks_stands_where_they_stand_and_is_made_once():
    app = AppTest.from_function(blocks_page).run()
    assert not app.exception
    assert [one.value for one in app.markdown] == ["before", "inside", "after"]


def test_the_server_works_with_them():
    assert "light_reruns.lighten()" in (ROOT / "app.py").read_text("utf-8").split("\nelse:")[1]


def in_use() -> list[object]:
    """What stands in Streamlit's places, which ours take; None where there is nothing."""
    return [getattr(owner, name, None) for owner, name in REPLACED]


@pytest.fixture
def undone(monkeypatch):
    """Streamlit's places hold something else; afterwards they hold again what they held."""
    for owner, name in REPLACED:
        other = property(dict) if name == "filtered_state" else f"Streamlit's own {name}"
        monkeypatch.setattr(owner, name, other)


def imported_anew() -> ModuleType:
    """The module as a server that starts now imports it."""
    spec = importlib.util.spec_from_file_location("light_reruns_anew", light_reruns.__file__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_they_are_for_the_version_that_requirements_name():
    pinned = re.findall(r"^streamlit==(.+)$", (ROOT / "requirements.txt").read_text("utf-8"), re.M)
    assert pinned == [light_reruns.WRITTEN_FOR]
    assert light_reruns.unfit() == ""


def left_alone(caplog, why: str) -> None:
    """Fail unless a server that starts now keeps Streamlit's own and says why, once."""
    own = in_use()
    anew = imported_anew()
    assert [anew.lighten() for _ in range(3)] == [False] * 3
    assert in_use() == own
    (line,) = [record for record in caplog.records if record.name == anew.__name__]
    assert line.levelname == "WARNING" and why in line.getMessage()


@pytest.mark.usefixtures("undone")
@pytest.mark.parametrize("other", ["1.66.1", "1.67.0rc1", "1.67.1", "2.0.0"])
def test_another_version_of_streamlit_is_left_as_it_is(other, monkeypatch, caplog):
    monkeypatch.setattr(streamlit, "__version__", other)
    left_alone(caplog, other)


@pytest.mark.usefixtures("undone")
@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (cursor, "SparseList"),
        (delta_generator, "DeltaGenerator"),
        (safe_session_state.SafeSessionState, "filtered_state"),
        (session_state, "STREAMLIT_INTERNAL_KEY_PREFIX"),
        (session_state_proxy, "get_session_state"),
        (app_session, "_populate_theme_msg"),
        (runtime.Runtime, "_enqueued_some_message"),
    ],
)
def test_where_a_name_is_missing_streamlit_is_left_as_it_is(owner, name, monkeypatch, caplog):
    monkeypatch.delattr(owner, name)
    left_alone(caplog, name)


@pytest.mark.usefixtures("undone")
def test_with_the_version_that_they_are_for_all_are_used(caplog):
    anew = imported_anew()
    assert anew.lighten() and not caplog.records
    values, *others, theme = in_use()
    assert values.fget is anew.Values
    assert others == [anew._value_or, anew._copy_of_place, anew._copy_of_block, anew._wake]
    assert theme.__qualname__ == "theme_once.<locals>.populate"


# ---- the theme, and the loop that sends

SECTIONS = {
    "theme": lambda theme: theme,
    "theme.light": lambda theme: theme.light,
    "theme.dark": lambda theme: theme.dark,
    "theme.sidebar": lambda theme: theme.sidebar,
    "theme.light.sidebar": lambda theme: theme.light.sidebar,
    "theme.dark.sidebar": lambda theme: theme.dark.sidebar,
}
THEMES = {
    "this app's": None,
    "none": {},
    "one colour": {"theme.dark": {"primaryColor": "#112233"}},
    "what a message takes for nothing": {"theme": {"base": "light"}, "theme.sidebar": {"font": ""}},
}


def themed(populate) -> bytes:
    """What a rerun's first message says of the theme."""
    message = NewSession()
    for section, part in SECTIONS.items():
        populate(part(message.custom_theme), section)
    return message.SerializeToString(deterministic=True)


@pytest.mark.parametrize("name", THEMES)
def test_the_theme_is_that_of_streamlit_and_looked_up_once(name, monkeypatch):
    settings, looked_up = config.get_options_for_section, []

    def counted(section):
        looked_up.append(section)
        whole = settings(section)
        given = THEMES[name]
        return whole if given is None else {**dict.fromkeys(whole), **given.get(section, {})}

    monkeypatch.setattr(config, "get_options_for_section", counted)
    own, ours = themed(light_reruns._own_theme), light_reruns.theme_once()
    looked_up.clear()
    assert [themed(ours) for _ in range(3)] == [own] * 3
    assert sorted(looked_up) == sorted(SECTIONS)
    config._on_config_parsed.send()  # as when the settings' file is read again
    assert themed(ours) == own and len(looked_up) == 2 * len(SECTIONS)


def test_the_loop_that_sends_is_told_from_itself_and_from_other_threads():
    async def told() -> list[bool]:
        loop, data = asyncio.get_running_loop(), asyncio.Event()
        objects = SimpleNamespace(eventloop=loop, need_send_data=data)
        runtime = SimpleNamespace(_get_async_objs=lambda: objects)
        light_reruns._wake(runtime)
        at_once = data.is_set()
        data.clear()
        await asyncio.to_thread(light_reruns._wake, runtime)
        await asyncio.wait_for(data.wait(), 60)
        return [at_once, data.is_set()]

    assert awaited(told()) == [True, True]
