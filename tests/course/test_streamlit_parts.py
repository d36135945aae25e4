"""What is private to Streamlit stands in one file, and is off with another version of it."""

from __future__ import annotations

import ast
import asyncio
import re
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit
from streamlit import config
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import NewSession
from streamlit.runtime import app_session
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.runtime import Runtime
from streamlit.runtime.state.session_state import SessionState
from streamlit.testing.v1 import AppTest

from llmviz.course import streamlit_parts
from llmviz.course.streamlit_parts import WRITTEN_FOR, part
from tests.awaiting import awaited
from tests.sources import ROOT

ONE_FILE = ROOT / "llmviz" / "course" / "streamlit_parts.py"
# Documented: the type of a container, and what a page is.
PUBLIC = {"streamlit", "streamlit.delta_generator", "streamlit.navigation.page"}
PUBLIC |= {"streamlit.testing.v1"}  # documented: runs a page without a browser
REPLACES = (
    "send_whole",
    "name_what_browsers_have",
    "leave_pages_whole",
    "ask_nobody_outside",
    "store_sessions_in",
    "check_uploads",
)
REPLACES += ("look_up_values", "ask_without_errors", "read_theme_once", "copy_blocks_once")
REPLACES += ("set_what_differs",)
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
    from streamlit.cursor import Cursor
    from streamlit.delta_generator import DeltaGenerator
    from streamlit.runtime import app_session, memory_session_storage
    from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
    from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
    from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
    from streamlit.runtime.state.safe_session_state import SafeSessionState
    from streamlit.runtime.state.session_state import SessionState

    def now() -> list[object]:
        return [
            net_util.get_external_ip,
            memory_session_storage.MemorySessionStorage,
            ForwardMsgQueue.clear,
            ScriptRunner._run_script,
            MemoryUploadedFileManager.add_file,
            SafeSessionState.filtered_state,
            SessionState.__contains__,
            app_session._populate_theme_msg,
            app_session.AppSession.request_rerun,
            app_session.AppSession.flush_browser_queue,
            getattr(Cursor, "__deepcopy__", None),
            DeltaGenerator.__deepcopy__,
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
    parts = ("look_up_values()", "send_whole()", "check_uploads(uploads.check)")
    parts += ("leave_pages_whole()", "name_what_browsers_have()")
    parts += ("ask_without_errors()", "set_what_differs()")
    for called in (*parts, "read_theme_once()", "copy_blocks_once()"):
        assert f"streamlit_parts.{called}" in text
    assert "old_sessions.keep_few()" in text


@pytest.mark.parametrize(
    ("parts", "page", "now", "runs"),
    [
        (["a"], "home", "tokens", False),  # a part of a page that was left
        (["a"], "home", "home", True),
        ([], "home", "tokens", True),  # a whole page: the visitor goes there
        (["a"], "", "home", True),
        (["a"], "home", "", True),  # the first of a session
    ],
)
def test_no_part_is_drawn_of_a_page_that_was_left(parts, page, now, runs, monkeypatch):
    from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
    from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

    ran = []
    monkeypatch.setattr(ScriptRunner, "_run_script", ScriptRunner._run_script)
    monkeypatch.setitem(streamlit_parts._own, "run_script", lambda _self, data: ran.append(data))
    streamlit_parts.leave_pages_whole()
    runner = SimpleNamespace(_pages_manager=SimpleNamespace(current_page_script_hash=now))
    ScriptRunner._run_script(runner, RerunData(page_script_hash=page, fragment_id_queue=parts))
    assert bool(ran) == runs


def test_whether_there_is_a_value_is_answered_as_before(monkeypatch):
    from streamlit.proto.WidgetStates_pb2 import WidgetState
    from streamlit.runtime.state.session_state import Serialized, SessionState, Value

    state = SessionState()
    state._new_session_state["new"] = None
    state._old_state |= {"old": 0, "$$ID-of-drawn-before": 1}
    states = state._new_widget_state.states
    states["$$ID-of-moved"] = Value(2)
    states["$$ID-of-away"] = Serialized(WidgetState(id="$$ID-of-away", int_value=1))
    for key in ("drawn-before", "moved", "away", "new"):
        state._key_id_mapper[key] = f"$$ID-of-{key}"
    keys = ["new", "old", "drawn-before", "moved", "away", "none", "$$ID-of-none"]
    keys += [f"$$ID-of-{key}" for key in keys[:5]]
    monkeypatch.setattr(SessionState, "__contains__", SessionState.__contains__)
    streamlit_parts.ask_without_errors()
    theirs, ours = streamlit_parts._own["contains"], SessionState.__contains__
    assert theirs is not ours
    answers = {key: theirs(state, key) for key in keys}
    assert answers == {key: ours(state, key) for key in keys}
    assert set(answers.values()) == {True, False}


def values_page() -> None:
    """A page with values of every kind, which compares both ways to read them."""
    import streamlit as st
    from streamlit.runtime.state.session_state_proxy import get_session_state

    from llmviz.course import streamlit_parts

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
    asked = ["plain", "none", "absent"]
    assert streamlit_parts.values_of(asked) == {"plain": 3, "none": None}
    assert set(ours) == own.keys() and len(ours) == len(own) and repr(ours) == repr(own)
    assert st.session_state["empty"] is None and st.session_state["given"] == "text"


def controls_of_a_page() -> None:
    import streamlit as st

    names = {"first": "one", "second": st.session_state.get("name", "two")}
    for key, value in {"slider": 3, "choice": "second"}.items():
        st.session_state[key] = st.session_state.get(f"own {key}", value)
    st.slider("slider", 0, st.session_state.get("most", 9), key="slider")
    st.select_slider("choice", list(names), format_func=names.get, key="choice")


def test_a_control_is_set_only_where_the_browser_has_it_otherwise(monkeypatch):
    monkeypatch.setattr(SessionState, "register_widget", SessionState.register_widget)
    streamlit_parts.set_what_differs()
    app = AppTest.from_function(controls_of_a_page)

    def told(**session: object) -> tuple[bool, bool]:
        for key, value in session.items():
            app.session_state[key.replace("_", " ")] = value
        app.run()
        assert (app.slider[0].value, app.select_slider[0].value) == wanted
        return app.slider[0].proto.set_value, app.select_slider[0].proto.set_value

    wanted = (3, "second")
    assert told() == (True, True)
    assert told() == (False, False)
    assert told(name="2") == (False, True)  # the browser knows the option by its name
    assert told(most=8) == (True, False)  # another slider for the browser
    wanted = (4, "first")
    assert told(own_slider=4, own_choice="first") == (True, True)
    assert told() == (False, False)


def test_values_one_by_one_are_those_of_the_whole_session():
    streamlit_parts.look_up_values()
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
    streamlit_parts.copy_blocks_once()
    app = AppTest.from_function(blocks_page).run()
    assert not app.exception
    assert [one.value for one in app.markdown] == ["before", "inside", "after"]


OWN_THEME = app_session._populate_theme_msg
SECTIONS = {
    "theme": lambda theme: theme,
    "theme.light": lambda theme: theme.light,
    "theme.dark": lambda theme: theme.dark,
    "theme.sidebar": lambda theme: theme.sidebar,
    "theme.light.sidebar": lambda theme: theme.light.sidebar,
    "theme.dark.sidebar": lambda theme: theme.dark.sidebar,
}
THEMES: dict[str, dict | None] = {
    "this app's": None,
    "none": {},
    "one colour": {"theme.dark": {"primaryColor": "#112233"}},
    "what a message takes for nothing": {"theme": {"base": "light"}, "theme.sidebar": {"font": ""}},
}


def themed(populate) -> bytes:
    """What a rerun's first message says of the theme."""
    message = NewSession()
    for section, place in SECTIONS.items():
        populate(place(message.custom_theme), section)
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
    own = themed(OWN_THEME)
    monkeypatch.setattr(app_session, "_populate_theme_msg", None)  # put back afterwards
    monkeypatch.setitem(streamlit_parts._own, "theme", OWN_THEME)
    streamlit_parts.read_theme_once()
    ours = app_session._populate_theme_msg
    looked_up.clear()
    assert [themed(ours) for _ in range(3)] == [own] * 3
    assert sorted(looked_up) == sorted(SECTIONS)
    config._on_config_parsed.send()  # as when the settings' file is read again
    assert themed(ours) == own and len(looked_up) == 2 * len(SECTIONS)


def test_a_page_opens_where_nothing_private_can_be_had(monkeypatch):
    """As if each look-up had failed."""
    looked_up = ("session", "memory_of_rerun", "connection_of", "address_of", "is_open")
    for name in (*looked_up, "values_of"):
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


EARLY, WHOLE = ForwardMsg.FINISHED_EARLY_FOR_RERUN, ForwardMsg.FINISHED_SUCCESSFULLY
PART = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY


@pytest.fixture
def queue(monkeypatch):
    monkeypatch.setattr(ForwardMsgQueue, "clear", ForwardMsgQueue.clear)  # put back at the end
    streamlit_parts.send_whole()
    return ForwardMsgQueue()


def begun(run: str) -> ForwardMsg:
    message = ForwardMsg()
    message.new_session.name = run
    return message


def drawn(text: str, place: list[int], fragment: str = "") -> ForwardMsg:
    message = ForwardMsg()
    message.metadata.delta_path[:] = place
    message.delta.new_element.text.body = text
    message.delta.fragment_id = fragment
    return message


def ended(status: int) -> ForwardMsg:
    message = ForwardMsg()
    message.script_finished = status
    return message


def told(messages: list[ForwardMsg]) -> list[str | int]:
    """What the browser hears of: the names of runs, the texts, how runs ended."""
    readers = {
        "new_session": lambda message: message.new_session.name,
        "delta": lambda message: message.delta.new_element.text.body,
        "script_finished": lambda message: message.script_finished,
    }
    return [readers[message.WhichOneof("type")](message) for message in messages]


def page(run: str, status: int) -> list[ForwardMsg]:
    """A rerun of a page with a head and two fragments, of which one stands in the other."""
    return [
        begun(run),
        drawn(f"head of {run}", [0, 0]),
        drawn(f"outer of {run}", [0, 1, 0], "outer"),
        drawn(f"inner of {run}", [0, 1, 1, 0], "inner"),
        ended(status),
    ]


@pytest.mark.parametrize("status", [WHOLE, PART, EARLY])
@pytest.mark.parametrize("fragments", [["inner"], ["outer"], ["outer", "inner"]])
def test_a_fragments_rerun_changes_nothing_of_what_was_not_sent_yet(queue, fragments, status):
    again = [begun("2"), drawn("inner of 2", [0, 1, 1, 0], "inner"), ended(PART)]
    for message in page("1", status):
        queue.enqueue(message)
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=fragments)
    for message in again:
        queue.enqueue(message)
    # As where the queue was sent in between.
    assert told(queue.flush()) == told([*page("1", status), *again])
    assert queue.is_empty()


def test_a_rerun_of_the_whole_page_drops_what_it_draws_again(queue):
    for message in page("1", WHOLE):
        queue.enqueue(message)
    queue.clear(retain_lifecycle_msgs=True)
    for message in page("2", WHOLE):
        queue.enqueue(message)
    assert told(queue.flush()) == ["1", EARLY, *told(page("2", WHOLE))]


def test_all_is_dropped_where_nothing_is_to_be_kept(queue):
    for message in page("1", WHOLE):
        queue.enqueue(message)
    queue.clear()
    assert queue.is_empty()


def test_another_streamlit_is_left_as_it_is(monkeypatch):
    own = ForwardMsgQueue.clear
    monkeypatch.setattr(ForwardMsgQueue, "clear", own)  # put back at the end
    monkeypatch.setattr("streamlit.__version__", "1.68.0")
    streamlit_parts.send_whole()
    assert ForwardMsgQueue.clear is own


THREADS, EACH = 4, 500


class Loop:
    """An event loop that counts its wakes."""

    def __init__(self) -> None:
        self.loop, self.wakes = asyncio.get_running_loop(), 0

    def call_soon_threadsafe(self, *what: object) -> None:
        self.wakes += 1
        self.loop.call_soon_threadsafe(*what)


def test_many_messages_wake_once_and_all_are_sent(monkeypatch):
    monkeypatch.setattr(Runtime, "_enqueued_some_message", Runtime._enqueued_some_message)
    streamlit_parts.wake_once()
    queue: list[int] = []

    async def served() -> tuple[int, int, int]:
        runtime = object.__new__(Runtime)
        loop, event = Loop(), asyncio.Event()
        runtime._async_objs = SimpleNamespace(eventloop=loop, need_send_data=event)

        def draw() -> None:
            for number in range(EACH):
                queue.append(number)
                runtime._enqueued_some_message()

        alone = threading.Thread(target=draw)
        alone.start()
        alone.join()  # the loop is busy meanwhile
        of_one_rerun = loop.wakes
        threads = [threading.Thread(target=draw) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        sent = 0
        while sent < (THREADS + 1) * EACH:  # as Streamlit's own loop
            await asyncio.wait_for(event.wait(), 30)
            event.clear()
            new = len(queue)
            sent += new
            del queue[:new]
            await asyncio.sleep(0)
        return of_one_rerun, sent, loop.wakes

    of_one_rerun, sent, wakes = awaited(served())
    assert of_one_rerun == 1 and sent == (THREADS + 1) * EACH
    assert wakes < sent
