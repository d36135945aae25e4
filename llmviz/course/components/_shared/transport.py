"""How data travel to a component, and where its script and style come from.

Streamlit forwards raw bytes untouched only when they are the whole payload, so one message
is packed by hand: four bytes of little-endian length, that many bytes of ASCII JSON (padded
with spaces to a multiple of four), then the arrays one after the other, each padded likewise.
In the JSON an array is ``{"$array": [dtype, shape, offset]}`` with the offset counted from
the end of the JSON. Parts that browsers fetch by themselves (see `Stored`) stand in the JSON as
``"$parts": [address, …]``. A mounted component's message ends with its key and the turns of
its state (see ``starting``), as JSON with its length in the last four bytes; where the page is not
in English, also the words of scripts (see ``said``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, reduce
from operator import or_
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import streamlit as st

from llmviz.course.components._shared.bundle import script, style
from llmviz.course.components.words import words
from llmviz.course.document import ENGLISH, language, texts_of
from llmviz.course.document.translated import leaves
from llmviz.course.figures.theme import css_variables
from llmviz.course.streamlit_parts import address_of

PARTS = "$parts"
STORED_KIND = "application/octet-stream"
# Parts by the address that they were given, for tests that read what a component was sent.
parts_at: WeakValueDictionary[str, Stored] = WeakValueDictionary()
_DTYPES = ("float32", "int32", "uint8")


def pack(payload: dict[str, Any], *parts: Stored) -> bytes:
    """Return ``payload`` as one message; NumPy arrays in it travel as raw bytes.

    Of ``parts`` only the addresses travel; the browser adds their fields to those of ``payload``.
    One that cannot be stored travels itself.
    Arrays must be float32, int32 or uint8. Raises ValueError for another dtype.
    """
    blobs: list[bytes] = []
    offset = 0

    def place(array: Any) -> dict[str, Any]:
        nonlocal offset
        if not isinstance(array, np.ndarray):
            raise TypeError(f"a payload holds plain data and arrays; got {type(array).__name__}")
        if array.dtype.name not in _DTYPES:
            raise ValueError(f"arrays must be {', '.join(_DTYPES)}; got {array.dtype.name}")
        raw = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
        blob = raw.tobytes()
        blob += b"\0" * (-len(blob) % 4)
        reference = {"$array": [array.dtype.name, list(array.shape), offset]}
        blobs.append(blob)
        offset += len(blob)
        return reference

    addresses = [part.address() for part in parts]
    for part, address in zip(parts, addresses, strict=True):
        if address is None:
            payload = unpack(part.data) | payload
    if any(addresses):
        payload = payload | {PARTS: [address for address in addresses if address]}
    head = json.dumps(payload, default=place, allow_nan=False, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 4)
    return b"".join([len(head).to_bytes(4, "little"), head, *blobs])


def unpack(message: bytes) -> dict[str, Any]:
    """Return what ``pack`` was given; tests of pages read their figures with it."""
    length = int.from_bytes(message[:4], "little")
    body = memoryview(message)[4 + length :]

    def restore(item: dict[str, Any]) -> Any:
        if set(item) != {"$array"}:
            return item
        dtype, shape, offset = item["$array"]
        count = int(np.prod(shape))
        array = np.frombuffer(
            body, dtype=np.dtype(dtype).newbyteorder("<"), count=count, offset=offset
        )
        return array.reshape(shape)

    payload = json.loads(bytes(message[4 : 4 + length]), object_hook=restore)
    if PARTS not in payload:
        return payload
    addresses = payload.pop(PARTS)
    return reduce(or_, (unpack(parts_at[address].data) for address in addresses)) | payload


def parts_of(message: bytes) -> list[str]:
    """Return the addresses of a message's parts, which browsers fetch by themselves."""
    length = int.from_bytes(message[:4], "little")
    return json.loads(message[4 : 4 + length]).get(PARTS, [])


def as_bytes(weights: Any) -> np.ndarray:
    """Return shares from 0 to 1 as uint8, 255 is 1: one byte a cell travels; uint8 stays as it is.

    Raises ValueError: some lie outside, or are NaN.
    """
    weights = np.asarray(weights)
    if weights.dtype == np.uint8:
        return weights
    low, high = float(weights.min()), float(weights.max())
    if not (low >= 0 and high <= 1.0001):
        raise ValueError(f"weights must lie between 0 and 1; got {low:.4g} to {high:.4g}")
    return np.rint(weights * 255).astype(np.uint8)


def component_key(*parts: str) -> str:
    """Return a component's key made of parts, such as a chart and the name of a run.

    Streamlit refuses a key with two underscores in a row, which any folder's name may have. Keys
    of different parts are different.

    >>> component_key("chart", "run:my__run")
    'chart/run:my~1~1run'
    """
    return "/".join(part.replace("~", "~0").replace("_", "~1").replace("/", "~2") for part in parts)


@dataclass(frozen=True)
class Sent:
    """What a component was sent: the name of its folder, its key, its message."""

    name: str
    key: str
    message: bytes


_collected: ContextVar[list[Sent] | None] = ContextVar("collected", default=None)


@contextmanager
def collected() -> Iterator[list[Sent]]:
    """Gather what components are sent in this block, in place of mounting them in a page.

    So a picture can be shown where there is no Streamlit. Each says that nothing was set by hand.
    """
    sent: list[Sent] = []
    token = _collected.set(sent)
    try:
        yield sent
    finally:
        _collected.reset(token)


def is_collecting() -> bool:
    """Whether components are gathered now, and no page is drawn."""
    return _collected.get() is not None


@cache
def renderer(name: str) -> Callable[..., Any]:
    """Register the component of folder ``name`` once and return its mounting function.

    The role colours are the theme's, written as CSS variables, so that no colour is typed twice.
    """
    mount = st.components.v2.component(f"llmviz_{name}", js=script(name), css=whole_style(name))

    def mounted(*, data: bytes, key: str, **more: Any) -> Any:
        sent = _collected.get()
        if sent is not None:
            sent.append(Sent(name, key, data + _written_ending(key, {})))
            return dict(more.get("default") or {})
        return mount(data=data + _ending(key), key=key, **more)

    return mounted


def whole_style(name: str) -> str:
    """Return a component's style with the colours that it names."""
    return "\n".join([css_variables(), style(name)])


def mount(
    name: str,
    payload: dict[str, Any],
    *parts: Stored,
    key: str,
    state: str,
    start: Any,
    on_change: Callable[[], None] | None = None,
) -> Any:
    """Mount the component of folder ``name``, which keeps one thing that the hand sets.

    state: what that is called; start: what the page wants it to be (see ``starting``). Returns what
    it is now, as the browser reported it and so unchecked.
    """
    starts = {state: start}
    return mount_states(name, payload, *parts, key=key, starts=starts, on_change=on_change)[state]


def mount_states(
    name: str,
    payload: dict[str, Any],
    *parts: Stored,
    key: str,
    starts: dict[str, Any],
    on_change: Callable[[], None] | None = None,
) -> dict[str, Any]:
    """As ``mount``, for a component that keeps several things; starts, returned: by their names."""
    started = {state: starting(key, state, start) for state, start in starts.items()}
    result = renderer(name)(
        data=pack(payload | {state: sent for state, (sent, _) in started.items()}, *parts),
        key=key,
        default=starts,
        **{f"on_{state}_change": on_change or nothing for state in starts},
    )
    return {
        state: starts[state] if moved else result.get(state)
        for state, (_, moved) in started.items()
    }


def place_of(reported: Any, count: int, otherwise: Any) -> Any:
    """Return a place among ``count`` that a browser reported, or `otherwise` where it is none.

    >>> place_of(2, 3, 0), place_of(3, 3, 0), place_of("2", 3, None)
    (2, 0, None)
    """
    return reported if isinstance(reported, int) and 0 <= reported < count else otherwise


def starting(key: str, name: str, wanted: Any) -> tuple[Any, bool]:
    """Return what to send as the start of a component's state, and whether the page moved it.

    A page may hand back what the component said, now or one run late (it lives in the address,
    say). Sending that would change the message, so the whole of it would travel again after
    every step, and a quick hand would be pulled back to where it was a moment ago. So the start
    stays as first sent until the page wants what neither it nor the component said before.

    Each start has a turn, a number that travels with it. A component that left the page and came
    back while its state lived on here sees its old turn, and goes on where its hand left it; with
    a new turn it starts as it is told.
    """
    if is_collecting():
        return wanted, False
    state = st.session_state.get(key)
    memory = st.session_state.setdefault("_components", {})
    before = memory.get((key, name))
    if state is None or before is None:
        memory[key, name] = (wanted, wanted, wanted, _next_turn())
        return wanted, False
    reported = state.get(name)
    last_wanted, last_reported, sent, turn = before
    moved = wanted not in (reported, last_wanted, last_reported)
    if moved:
        sent, turn = wanted, _next_turn()
    memory[key, name] = (wanted, reported, sent, turn)
    return sent, moved


def _next_turn() -> int:
    turn = st.session_state.get("_turns", 0) + 1
    st.session_state["_turns"] = turn
    return turn


def _ending(key: str) -> bytes:
    """Return the end of a component's message: its key and the turn of each of its starts."""
    memory = st.session_state.get("_components", {})
    turns = {name: kept[-1] for (owner, name), kept in memory.items() if owner == key}
    return _written_ending(key, turns)


def _written_ending(key: str, turns: dict[str, int]) -> bytes:
    words = translations()
    ending = {"key": key, "turns": turns} | ({"words": words} if words else {})
    text = json.dumps(ending, separators=(",", ":")).encode()
    return text + len(text).to_bytes(4, "little")


def translations() -> dict[str, str]:
    """Return what scripts say of their own, by its English; nothing in English."""
    if language() == ENGLISH:
        return {}
    english, here = (leaves(texts_of(words, wanted)) for wanted in (ENGLISH, language()))
    return {text: here[path] for path, text in english.items() if here[path] != text}


def nothing() -> None:
    """Do nothing: a component's state needs a callback to be readable."""


class Stored:
    """A large part of a payload that is the same for everybody: packed once, and fetched once.

    A message that holds a table of a million numbers would carry it to every visitor, and again
    with each small change beside it. `pack(payload, part)` puts the part's address into the
    message; the browser fetches it, and adds its fields to the payload's.
    """

    def __init__(self, payload: dict[str, Any]) -> None:
        self.data = pack(payload)
        self.name = hashlib.blake2b(self.data, digest_size=16).hexdigest()

    def address(self) -> str | None:
        """Return where the browser of this session finds the part, for as long as it needs it.

        Streamlit lets go of a file once no session's last run has asked for it. None where it
        cannot be stored.
        """
        url = address_of(self.data, STORED_KIND, f"llmviz.{self.name}")
        if url is None:
            return None
        url = url or f"/media/{self.name}.bin"  # of a test
        parts_at[url] = self
        return url
