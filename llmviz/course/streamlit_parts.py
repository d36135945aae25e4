"""All that touches parts of Streamlit which it does not promise to keep, in this one file.

Each part is on its own: where it fails, or where another Streamlit is installed than it was written
for, it is off, and the log says once what is lost with it. Pages open all the same.
"""

from __future__ import annotations

import functools
import logging
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import streamlit

WRITTEN_FOR = "1.67.0"  # the version of Streamlit, as in requirements.txt
_LOG = logging.getLogger(__name__)
_HELD = "_llmviz_looked_up"  # on the context of a session
_own: dict[str, Any] = {}  # Streamlit's own, by the name of the part that replaces it
P = ParamSpec("P")
R = TypeVar("R")


def part(lost: str, *, replaces: bool) -> Callable[[Callable[P, R]], Callable[P, R | None]]:
    """Let a function be a part that may be off; it then returns None.

    lost: what is lost without it. replaces: whether it puts something in the place of Streamlit's
    own, which it does only in the version that it was written for.
    """

    def guard(do: Callable[P, R]) -> Callable[P, R | None]:
        @functools.wraps(do)
        def guarded(*given: P.args, **more: P.kwargs) -> R | None:
            if replaces and streamlit.__version__ != WRITTEN_FOR:
                _say(do.__name__, lost, f"written for {WRITTEN_FOR}")
                return None
            try:
                return do(*given, **more)
            except (ImportError, AttributeError, TypeError) as error:
                _say(do.__name__, lost, str(error))
                return None

        return guarded

    return guard


@functools.cache
def _say(name: str, lost: str, why: str) -> None:
    version = streamlit.__version__
    _LOG.warning("Streamlit %s: %s is off (%s), %s", version, name, why, lost)


# ---- what is looked up


@part("nobody has runs of their own", replaces=False)
def session() -> str:
    """Return the name of the session whose script is running; "" outside one."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    context = get_script_run_ctx(suppress_warning=True)
    return "" if context is None else context.session_id


@part("pages look into the same files again and again", replaces=False)
def memory_of_rerun() -> dict[Any, Any] | None:
    """Return what lasts as long as the rerun that is going on; None outside one."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return None
    # Each rerun begins with cursors of its own, where the elements are counted.
    cursors, known = getattr(context, _HELD, (None, {}))
    if cursors is not context.cursors:
        known = {}
        setattr(context, _HELD, (context.cursors, known))
    return known


@part("limits are those of all visitors together", replaces=False)
def connection_of(name: str) -> Any:
    """Return the connection of a session's open window, with remote_ip, headers and cookies."""
    from streamlit.runtime import Runtime

    client = Runtime.instance().get_client(name) if Runtime.exists() else None
    return None if client is None else client.client_context


@part("controls look for their values more slowly", replaces=False)
def values_of(keys: Iterable[str]) -> dict[str, Any] | None:
    """Return the values that the session has for these keys, which are no widgets'.

    A page asks for each of its controls, most of which nobody has set; Streamlit's own `get` finds
    that out by six exceptions for each.
    """
    from streamlit.runtime.state.session_state_proxy import get_session_state

    state = get_session_state()
    with state._lock:
        new, old = state._state._new_session_state, state._state._old_state
        return {
            key: new[key] if key in new else old[key] for key in keys if key in new or key in old
        }


@part("below a folded stop of the hour the page ends early", replaces=False)
def stop_exception() -> type[BaseException]:
    """Return what `st.stop` raises."""
    from streamlit.runtime.scriptrunner import StopException

    return StopException


@part("Back leads nowhere right after a change", replaces=False)
def went_through_history() -> bool:
    """Return whether this rerun is of somebody who went back or forward in the browser."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and context.is_history_navigation


@part("a visitor's runs go on when the window is closed", replaces=False)
def is_open(name: str) -> bool:
    """Return whether a session's window is open; true where there is no server."""
    from streamlit.runtime import Runtime

    return not Runtime.exists() or Runtime.instance().is_active_session(name)


@part("what is computed ahead delays the first visitors", replaces=False)
def scripts_run() -> bool:
    """Return whether the script of any visitor is running or about to."""
    from streamlit.runtime.scriptrunner_utils.script_run_context import (
        SCRIPT_RUN_CONTEXT_ATTR_NAME as CONTEXT,
    )

    return any(getattr(thread, CONTEXT, None) for thread in threading.enumerate())


@part("large pictures are sent to every visitor anew", replaces=False)
def address_of(data: bytes, kind: str, name: str) -> str:
    """Return where browsers find these bytes, as long as a session's last run asks for them.

    "" where there is no server.
    """
    from streamlit import runtime

    if not runtime.exists():
        return ""
    return runtime.get_instance().media_file_mgr.add(data, kind, name)


# ---- what is put in the place of Streamlit's own


@part("each link into a lesson logs two errors, and pages jump while they open", replaces=True)
def first_page() -> str:
    """Return the page that Streamlit serves for every address of the app."""
    from streamlit.file_util import get_static_dir

    return Path(get_static_dir(), "index.html").read_text("utf-8")


@part("the server asks the internet for its own address", replaces=True)
def ask_nobody_outside() -> None:
    """Keep Streamlit from asking the internet for this machine's address.

    It would do so at the start, to print it, and for each page of another origin that wants to
    connect, to compare the two. Such a page is refused all the same.
    """
    from streamlit import net_util

    net_util.get_external_ip = lambda: None
    net_util.get_internal_ip = lambda: None


@part("one of several processes has no connections", replaces=True)
def listen_at(connections: socket.socket) -> None:
    """Let Streamlit take this for its listening socket; called before the server begins."""
    from streamlit.web.server.starlette import starlette_server

    starlette_server._bind_socket = lambda *_: connections


@part("sessions whose window is away are kept longer", replaces=True)
def store_sessions_in(storage: type) -> None:
    """Let Streamlit keep sessions whose window is away in this; called before the server begins."""
    from streamlit.runtime import memory_session_storage

    memory_session_storage.MemorySessionStorage = storage  # type: ignore[misc,assignment]  # theirs


@part("open menus may close while a run is watched", replaces=True)
def send_whole() -> None:
    """Let what a rerun has drawn be sent whole, also where a part of it is drawn again.

    When a fragment runs, Streamlit drops from the queue what the same fragment drew a moment before
    and what was not sent yet. The end of the rerun that drew it is sent all the same, and then the
    browser takes away all that this rerun did not bring: the fragment's part of the page goes, and
    is made anew when the fragment has been drawn. On a busy server, which sends late, that closed
    open menus of a run that is looked at each second.
    """
    from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

    own = _own.setdefault("clear", ForwardMsgQueue.clear)

    def clear(
        self: ForwardMsgQueue,
        retain_lifecycle_msgs: bool = False,
        fragment_ids_this_run: list[str] | None = None,
    ) -> None:
        """Drop what a rerun of the whole page draws again; for a fragment's rerun drop nothing."""
        if not retain_lifecycle_msgs or fragment_ids_this_run is None:
            own(self, retain_lifecycle_msgs, fragment_ids_this_run)
        else:
            self._delta_index_map = {}  # no message of this rerun replaces an earlier one

    ForwardMsgQueue.clear = clear  # type: ignore[method-assign]  # in place of theirs


@part("a page may stay empty where a hand is quicker than the server", replaces=True)
def leave_pages_whole() -> None:
    """Let no part of a page be drawn again once the visitor has been led to another page.

    What a hand does while a page leads to another one waits until that one has been drawn. Then
    Streamlit draws the part of the first page after all, and says so: the browser clears what it
    shows, and gets a part without the blocks around it. Of 60 clicks just after a key, on a busy
    machine, 6 ended so; with this part none did.
    """
    from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
    from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

    own = _own.setdefault("run_script", ScriptRunner._run_script)

    def run(self: ScriptRunner, rerun_data: RerunData) -> None:
        """Run a page or parts of it, but no part of a page that was left."""
        page = rerun_data.page_script_hash
        now = self._pages_manager.current_page_script_hash
        if not (rerun_data.fragment_id_queue and page and now and page != now):
            own(self, rerun_data)

    ScriptRunner._run_script = run  # type: ignore[method-assign]  # in place of theirs


class InBrowser:
    """What a session's browser has of the large messages, followed as they are sent.

    It forgets, when a run ends, what the last few runs did not use; at the end of a fragment's run
    only what that fragment drew.
    """

    def __init__(self) -> None:
        self.listed: frozenset[str] = frozenset()  # by the browser's last request
        self._runs = 0
        self._used: dict[str, int] = {}  # by hash: the run that used it last
        self._fragments: dict[str, str] = {}  # by hash: which drew it

    def sent(self, message: Any) -> Any:
        """Return what to send for a message: its name alone, where the browser has the rest."""
        from streamlit.runtime.forward_msg_cache import create_reference_msg

        if message.WhichOneof("type") == "script_finished":
            self._end(message)
        elif message.metadata.cacheable:
            known = message.hash in self._used
            self._used[message.hash] = self._runs
            if known and message.hash in self.listed:
                return create_reference_msg(message)
            self._fragments.setdefault(message.hash, message.delta.fragment_id)
        return message

    def _end(self, message: Any) -> None:
        if message.script_finished == message.FINISHED_EARLY_FOR_RERUN:
            return
        self._runs += 1
        most, ended = streamlit.get_option("global.maxCachedMessageAge"), message.metadata.run
        for name, run in list(self._used.items()):
            of = self._fragments[name]
            if self._runs - run > most and (not ended.fragment_ids or of in ended.fragment_ids):
                del self._used[name], self._fragments[name]


@part("a picture may be missing where a server is busy", replaces=True)
def name_what_browsers_have() -> None:
    """Send the name of a large message in its place only where the browser will have it then.

    A request lists what the browser has, and Streamlit believes the list until the run has ended. A
    run that ends while the request is on its way makes the browser forget some of it: it says
    "Cached ForwardMsg MISS", and has a hole in its page. On a busy machine one of eighteen sessions
    came to that, in which the model wrote and was stopped again and again; see `InBrowser`.
    """
    from streamlit.runtime.app_session import AppSession

    ask = _own.setdefault("request_rerun", AppSession.request_rerun)
    flush = _own.setdefault("flush", AppSession.flush_browser_queue)

    def kept_for(session: Any) -> InBrowser:
        return vars(session).setdefault("_llmviz_in_browser", InBrowser())

    def asked(self: Any, client_state: Any) -> None:
        """Take the list from a request: with an empty one the run sends all messages whole."""
        if client_state is not None:
            kept_for(self).listed = frozenset(client_state.cached_message_hashes)
            client_state.ClearField("cached_message_hashes")
        ask(self, client_state)

    def flushed(self: Any) -> list[Any]:
        return [kept_for(self).sent(message) for message in flush(self)]

    AppSession.request_rerun = asked  # type: ignore[method-assign]  # in place of theirs
    AppSession.flush_browser_queue = flushed  # type: ignore[method-assign]  # in place of theirs


@part("each message of a page wakes the server", replaces=True)
def wake_once() -> None:
    """Let the messages that come before the server has looked for them wake it once, not each.

    Streamlit's own writes a byte on a socket for each, and lets go of the interpreter's lock. What
    is enqueued while a wake is on its way, or before it is answered, is sent with the others: the
    server forgets the wake first and looks into the queues then.
    """
    from streamlit.runtime.runtime import Runtime

    def wake(self: Any) -> None:
        self._llmviz_waking = False
        self._get_async_objs().need_send_data.set()

    def enqueued(self: Any) -> None:
        """Wake the server, unless it is awake."""
        objects = self._get_async_objs()
        if getattr(self, "_llmviz_waking", False) or objects.need_send_data.is_set():
            return
        self._llmviz_waking = True
        objects.eventloop.call_soon_threadsafe(wake, self)

    Runtime._enqueued_some_message = enqueued  # type: ignore[method-assign]  # in place of theirs


@part("uploaded files have the limit of one file only", replaces=True)
def check_uploads(check: Callable[[dict[str, int], str, int], None]) -> None:
    """Let `check` refuse a file before it is kept.

    It gets the bytes of all other files by session, the session of the new one, and its bytes.
    """
    from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
    from streamlit.runtime.uploaded_file_manager import UploadedFileRec

    own = _own.setdefault("add_file", MemoryUploadedFileManager.add_file)

    def add_file(self: MemoryUploadedFileManager, session_id: str, file: UploadedFileRec) -> None:
        with self._lock:
            sizes = {
                session: sum(
                    len(record.data)
                    for key, record in files.items()
                    if key != file.file_id or session != session_id
                )
                for session, files in list(self.file_storage.items())
            }
        check(sizes, session_id, len(file.data))
        own(self, session_id, file)

    MemoryUploadedFileManager.add_file = add_file  # type: ignore[method-assign]  # as above


class Values(Mapping[str, Any]):
    """All values of a session by their keys, looked up one by one.

    Each box, slider and menu asks whether its own value is None. Streamlit gathers the values of
    the whole session for that, those of pages visited before too.
    """

    def __init__(self, state: Any) -> None:
        self._state = state

    def __getitem__(self, key: str) -> Any:
        from streamlit.runtime.state.common import is_element_id
        from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX

        if is_element_id(key) or key.startswith(STREAMLIT_INTERNAL_KEY_PREFIX):  # Streamlit's own
            raise KeyError(key)
        with self._state._lock:
            return self._state._state[key]

    def __iter__(self) -> Iterator[str]:
        return iter(_own["filtered_state"](self._state))

    def __len__(self) -> int:
        return len(_own["filtered_state"](self._state))

    def __repr__(self) -> str:
        return repr(_own["filtered_state"](self._state))


@part("an answer that comes late pulls a slider back under the hand", replaces=True)
def set_what_differs() -> None:
    """Let a control that the browser shows with its value not be set to it again.

    A page gives its controls their values in every run. What a hand has done to one since the
    browser's last request, an answer to that request would undo.
    """
    from streamlit.runtime.state.session_state import SessionState

    own = _own.setdefault("register", SessionState.register_widget)

    def register(self: SessionState, metadata: Any, user_key: str | None) -> Any:
        given, shown, name = self._new_session_state, self._new_widget_state, metadata.id
        before = shown.widget_metadata.get(name)
        if before and user_key in given and name in shown and not metadata.disabled:
            value = given[user_key]
            # An option may have another name by now, and the browser has names.
            if shown[name] == value and before.serializer(value) == metadata.serializer(value):
                del given[user_key]
        return own(self, metadata, user_key)

    SessionState.register_widget = register  # type: ignore[method-assign]  # in place of theirs


@part("reruns of pages with many controls take up to a fifth longer", replaces=True)
def look_up_values() -> None:
    """Let controls ask for their own values; see `Values`.

    Measured by processor time, reruns in turns in one process: 20 % less on the form for training,
    10 % on the memory of a step, nothing where a chapter has few controls.
    """
    from streamlit.runtime.state.safe_session_state import SafeSessionState

    theirs: Any = SafeSessionState
    _own.setdefault("filtered_state", theirs.filtered_state.fget)
    theirs.filtered_state = property(Values)


@part("reruns of pages with many controls take a twentieth longer", replaces=True)
def ask_without_errors() -> None:
    """Let a control find out whether it has a value without two exceptions and their message.

    Each control asks so in each rerun, and most have none: 5 % of the processor's time of thirty
    visitors.
    """
    from streamlit.runtime.state.session_state import SessionState

    _own.setdefault("contains", SessionState.__contains__)

    def contains(self: SessionState, key: str) -> bool:
        """Whether `self[key]` gives a value; see `SessionState._getitem`."""
        widget = self._get_widget_id(key)
        names = self._key_id_mapper.id_key_mapping
        name = names[widget] if widget == key and widget in names else key
        if name in self._new_session_state or not {widget, name}.isdisjoint(self._old_state):
            return True
        try:
            if widget in self._new_widget_state.states:
                self._new_widget_state[widget]
                return True
        except KeyError:  # from a browser that was away, of a control that is not drawn yet
            pass
        return False

    SessionState.__contains__ = contains  # type: ignore[method-assign]  # in place of theirs


@part("each rerun looks through all settings six times", replaces=True)
def read_theme_once() -> None:
    """Let the theme, which each rerun's first message holds, be read when the settings change.

    Without this, `values_of` and `copy_blocks_once`, a rerun took 10 to 15 % longer: processor time
    of two servers in turns, eight chapters, 100 reruns each.
    """
    from streamlit import config
    from streamlit.proto.NewSession_pb2 import CustomThemeConfig, NewSession
    from streamlit.runtime import app_session

    own = _own.setdefault("theme", app_session._populate_theme_msg)
    known: dict[str, CustomThemeConfig | None] = {}  # None: the section leaves a message untouched

    def populate(message: CustomThemeConfig, section: str = "theme") -> None:
        if section not in known:
            holder = NewSession()
            own(holder.custom_theme, section)
            known[section] = holder.custom_theme if holder.HasField("custom_theme") else None
        theme = known[section]
        if theme is not None:
            message.SetInParent()
            message.MergeFrom(theme)

    config.on_config_parsed(known.clear, force_connect=True)
    app_session._populate_theme_msg = populate  # type: ignore[assignment]  # in place of theirs


@part("parts of a page that run alone copy the blocks around them again and again", replaces=True)
def copy_blocks_once() -> None:
    """Let a fragment copy each block that it stands in once.

    Streamlit's own copies the blocks around each of them anew, so that a fragment in a fragment
    takes the square of its depth.
    """
    from streamlit.cursor import Cursor, SparseList
    from streamlit.delta_generator import DeltaGenerator

    def place(self: Any, memo: dict[int, Any]) -> Any:
        """A copy of a place on the page: numbers and tuples, and rarely a spinner."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        elements = self._transient_elements
        other._transient_elements = deepcopy(elements, memo) if len(elements) else SparseList()
        return other

    def block(self: Any, memo: dict[int, Any]) -> Any:
        other: Any = DeltaGenerator(
            root_container=self._root_container,
            cursor=deepcopy(self._cursor, memo),
            parent=deepcopy(self._parent, memo),
            block_type=self._block_type,
        )
        other._form_data = self._form_data  # a tuple
        other._creating_fragment_id = self._creating_fragment_id
        return other

    Cursor.__deepcopy__ = place  # type: ignore[attr-defined]  # theirs is the general one
    DeltaGenerator.__deepcopy__ = block  # type: ignore[method-assign,assignment]  # theirs
