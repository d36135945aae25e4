"""What is done with less work in a rerun gives what Streamlit's own gives."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest

from llmviz.ui import light_reruns

ROOT = Path(__file__).parents[2]

light_reruns.lighten()


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
