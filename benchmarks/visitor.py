"""One visitor's browser without a screen: Streamlit's websocket, spoken as its own page speaks it.

A `Visitor` keeps what a browser keeps: the address, the elements that stand on the page, the
values of the widgets, and the large messages that the server need not send again. `rerun` sends
what a link, a chapter or a control sends and reads until the script has ended.
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import quote_plus

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

PATIENCE = 120.0  # seconds that an answer may take
RERUN_FOLLOWS = ForwardMsg.FINISHED_EARLY_FOR_RERUN
FRAGMENT_DONE = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
PICTURES = ("bidi_component", "plotly_chart", "echarts_chart", "dataframe")
EVENTS = "$$STREAMLIT_INTERNAL_KEY_{}__events"  # the widget that carries what components trigger


@dataclass
class Exchange:
    """What came back for one rerun: seconds, bytes and messages, and the exceptions shown."""

    seconds: float = 0.0  # until the script has ended
    picture: float = 0.0  # until the last picture has come; as `seconds` where none came
    received: int = 0  # bytes
    messages: int = 0
    elements: int = 0
    exceptions: list[str] = field(default_factory=list)
    fragment: bool = False


@dataclass
class _Standing:
    element: Element | None  # None for a block that holds others
    fragment: str
    run: int


def query(**values: Any) -> str:
    """Return controls as the address holds them."""
    return "&".join(f"{key}={quote_plus(str(value))}" for key, value in values.items())


class Visitor:
    """One connection to the app. Open it with `async with`.

    host: as `127.0.0.1:8501`. path: the app's path behind a proxy, without slashes at its ends.
    at: where that host really is, if no name leads there. origin: whose page it is that connects.
    session: one to connect to again.
    """

    def __init__(
        self,
        host: str,
        path: str = "",
        *,
        headers: dict[str, str] | None = None,
        at: tuple[str, int] | None = None,
        origin: str = "",
        session: str = "",
    ) -> None:
        self.host, self.path, self.headers = host, path, headers or {}
        self.origin = origin or f"http://{host}"
        self._at = {"host": at[0], "port": at[1]} if at else {}
        self.session = session
        self.address = ""  # what stands behind the question mark
        self.page = ""  # hash of the page's script
        self.pages: dict[str, str] = {}  # hash of each page by its path
        self.standing: dict[tuple[int, ...], _Standing] = {}
        self.polls: dict[str, float] = {}  # seconds between reruns of a fragment by itself
        self._values: dict[str, WidgetState] = {}
        self._kept: dict[str, tuple[bytes, int]] = {}  # large messages by hash, with the run's age
        self._oldest = 2  # runs for which a browser keeps them
        self._run = 0

    async def __aenter__(self) -> Self:
        prefix = f"/{self.path}" if self.path else ""
        named = ["streamlit", *(["no-token", self.session] if self.session else [])]
        self._socket = await websockets.connect(
            f"ws://{self.host}{prefix}/_stcore/stream",
            subprotocols=[websockets.Subprotocol(one) for one in named],
            max_size=None,
            open_timeout=PATIENCE,
            origin=websockets.Origin(self.origin),
            additional_headers=self.headers,
            compression=None,
            **self._at,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._socket.close()

    # ---- what a hand does

    async def open(self, page: str = "", address: str = "") -> Exchange:
        """Open a link in this window: a page by its path, and what stands behind the mark."""
        self.address = address
        return await self._send(page_name=page)

    async def reload(self) -> Exchange:
        """Run the whole page again with nothing changed."""
        return await self._send(page_script_hash=self.page)

    async def go_to(self, page: str) -> Exchange:
        """Choose another lesson in the list beside the page."""
        self.address, self.polls = "", {}
        return await self._send(page_script_hash=self.pages[page])

    async def set(self, element: Element, **value: Any) -> Exchange:
        """Give a widget a value, such as `string_value="…"`, and wait for what it changes."""
        widget = getattr(element, element.WhichOneof("type"))
        state = WidgetState(id=widget.id)
        for name, content in value.items():
            if name.endswith("array_value"):
                getattr(state, name).data[:] = content
            else:
                setattr(state, name, content)
        return await self._change(element, state)

    async def act(self, element: Element, what: dict[str, Any], event: str = "act") -> Exchange:
        """Let a component report what the hand did in it."""
        told = json.dumps([{"event": event, "value": what}])
        name = EVENTS.format(element.bidi_component.id)
        return await self._change(element, WidgetState(id=name, json_trigger_value=told))

    async def poll(self, fragment: str) -> Exchange:
        """Run a fragment as the browser does by itself now and then."""
        return await self._send(
            page_script_hash=self.page, fragment_id=fragment, is_auto_rerun=True
        )

    async def _change(self, element: Element, state: WidgetState) -> Exchange:
        fragment = next(one.fragment for one in self.standing.values() if one.element is element)
        trigger = state.WhichOneof("value") in ("trigger_value", "json_trigger_value")
        if not trigger:
            self._values[state.id] = state
        return await self._send(
            [state] if trigger else [], page_script_hash=self.page, fragment_id=fragment
        )

    # ---- what stands on the page

    def elements(self, *kinds: str) -> list[Element]:
        """Return the elements of some kinds (`slider`, `text_area` …) from top to bottom."""
        return [
            one.element
            for _, one in sorted(self.standing.items())
            if one.element is not None and one.element.WhichOneof("type") in kinds
        ]

    # ---- the exchange

    async def _send(self, more: list[WidgetState] | None = None, **parts: Any) -> Exchange:
        message = BackMsg()
        script = message.rerun_script
        for name, value in parts.items():
            setattr(script, name, value)
        script.query_string = self.address
        script.cached_message_hashes.extend(self._kept)
        script.context_info.url = f"http://{self.host}/"
        script.widget_states.widgets.extend(self._widgets())
        script.widget_states.widgets.extend(more or [])
        done = Exchange(fragment=bool(script.fragment_id))
        begun = time.perf_counter()
        await self._socket.send(message.SerializeToString())
        while True:
            raw = await asyncio.wait_for(self._socket.recv(decode=False), PATIENCE)
            done.received += len(raw)
            done.messages += 1
            if self._take(raw, done, begun, script.fragment_id):
                done.seconds = time.perf_counter() - begun
                done.picture = done.picture or done.seconds
                return done

    def _widgets(self) -> list[WidgetState]:
        """The values of all widgets that stand: what was chosen, else what the server gave them."""
        states = []
        for one in self.standing.values():
            state = _given(one.element) if one.element is not None else None
            if state is not None:
                states.append(self._values.get(state.id, state))
        return states

    def _take(self, raw: bytes, done: Exchange, begun: float, fragment: str) -> bool:
        """Read one message; return whether the rerun is over."""
        message = ForwardMsg()
        message.ParseFromString(raw)
        kind = message.WhichOneof("type")
        if kind == "ref_hash":
            path, name = list(message.metadata.delta_path), message.ref_hash
            kept, _ = self._kept[name]
            self._kept[name] = kept, self._run
            message.ParseFromString(kept)
            message.metadata.delta_path[:] = path
            kind = message.WhichOneof("type")
        elif message.metadata.cacheable:
            self._kept[message.hash] = raw, self._run
        if kind == "new_session":
            self._run += 1
            session = message.new_session
            self.session = session.initialize.session_id or self.session
            self.page = session.page_script_hash
            if not message.metadata.run.fragment_ids:
                self.polls = {}
        elif kind == "navigation":
            self.pages = {
                page.url_pathname if not page.is_default else "": page.page_script_hash
                for page in message.navigation.app_pages
            }
            self.page = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self.address = message.page_info_changed.query_string
        elif kind == "auto_rerun":
            self.polls[message.auto_rerun.fragment_id] = message.auto_rerun.interval
        elif kind == "stop_auto_rerun":
            for name in message.stop_auto_rerun.fragment_ids:
                self.polls.pop(name, None)
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self._place(message, done, begun)
        elif kind == "delta" and message.delta.WhichOneof("type") == "add_block":
            path = tuple(message.metadata.delta_path)
            self.standing[path] = _Standing(None, message.delta.fragment_id, self._run)
        elif kind == "script_finished" and message.script_finished != RERUN_FOLLOWS:
            self._clear(fragment if message.script_finished == FRAGMENT_DONE else None)
            return True
        return False

    def _place(self, message: ForwardMsg, done: Exchange, begun: float) -> None:
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        path = tuple(message.metadata.delta_path)
        self.standing[path] = _Standing(element, message.delta.fragment_id, self._run)
        done.elements += 1
        if kind in PICTURES:
            done.picture = time.perf_counter() - begun
        elif kind == "exception":
            done.exceptions.append(f"{element.exception.type}: {element.exception.message}")
        given = _given(element)
        if given is not None and getattr(element, kind).set_value:
            self._values[given.id] = given

    def _clear(self, fragment: str | None) -> None:
        """Take away what the run did not send again, and messages that are too old."""
        inside: tuple[int, ...] = (-1,)  # the path of the block that holds the fragment
        if fragment is not None:
            held = (path for path, one in self.standing.items() if one.fragment == fragment)
            inside = min(held, key=len, default=inside)
        self.standing = {
            path: one
            for path, one in self.standing.items()
            if one.run == self._run
            or not (fragment in (None, one.fragment) or path[: len(inside)] == inside)
        }
        # The server does not answer for a fragment that is no longer on the page.
        there = {one.fragment for one in self.standing.values()}
        self.polls = {name: pause for name, pause in self.polls.items() if name in there}
        self._kept = {
            name: (raw, run)
            for name, (raw, run) in self._kept.items()
            if self._run - run <= self._oldest
        }


def _given(element: Element) -> WidgetState | None:
    """Return the state that the server gave a widget with it; None for other elements."""
    kind = element.WhichOneof("type")
    if kind not in _READERS:
        return None
    widget = getattr(element, kind)
    state = WidgetState(id=widget.id)
    _READERS[kind](widget, state)
    return state


def _text(widget: Any, state: WidgetState) -> None:
    state.string_value = widget.value if widget.set_value else widget.default


def _one_of(widget: Any, state: WidgetState) -> None:
    if widget.set_value:
        state.string_value = widget.raw_value
    elif widget.HasField("default"):
        state.string_value = widget.options[widget.default]


def _some_of(widget: Any, state: WidgetState) -> None:
    if widget.set_value:
        chosen = list(widget.raw_values)
    else:
        texts = [getattr(option, "content", option) for option in widget.options]
        chosen = [texts[i] for i in widget.default]
    state.string_array_value.data[:] = chosen


def _slid(widget: Any, state: WidgetState) -> None:
    if widget.type == widget.SELECT_SLIDER:
        chosen = widget.raw_value if widget.set_value else [_option(widget)]
        state.string_array_value.data[:] = chosen
    else:
        state.double_array_value.data[:] = widget.value if widget.set_value else widget.default


def _option(widget: Any) -> str:
    return widget.options[int(widget.default[0])]


def _number(widget: Any, state: WidgetState) -> None:
    state.double_value = widget.value if widget.set_value else widget.default


def _ticked(widget: Any, state: WidgetState) -> None:
    state.bool_value = widget.value if widget.set_value else widget.default


_READERS = {
    "text_area": _text,
    "text_input": _text,
    "selectbox": _one_of,
    "radio": _one_of,
    "button_group": _some_of,
    "multiselect": _some_of,
    "slider": _slid,
    "number_input": _number,
    "checkbox": _ticked,
}
