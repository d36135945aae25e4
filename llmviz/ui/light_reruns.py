"""What Streamlit does again and again in a rerun, done with less work.

All give what Streamlit's own gives; the tests compare them. They replace what Streamlit does not
promise to keep, so they are for one version of it: any other one is left as it is.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from functools import cache
from typing import Any

import streamlit

WRITTEN_FOR = "1.67.0"  # the version of Streamlit, as in requirements.txt
_LOG = logging.getLogger(__name__)
try:
    from streamlit import config
    from streamlit.cursor import Cursor, SparseList
    from streamlit.delta_generator import DeltaGenerator
    from streamlit.proto.NewSession_pb2 import CustomThemeConfig, NewSession
    from streamlit.runtime import app_session
    from streamlit.runtime.runtime import Runtime
    from streamlit.runtime.state.common import is_element_id
    from streamlit.runtime.state.safe_session_state import SafeSessionState
    from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX
    from streamlit.runtime.state.session_state_proxy import SessionStateProxy, get_session_state

    # Streamlit's own: a dict of every value; what writes a section of the theme into a message; and
    # what is called for each message to be sent.
    _all_of_it = SafeSessionState.filtered_state.fget
    _own_theme = app_session._populate_theme_msg
    _own_wake = Runtime._enqueued_some_message
except (ImportError, AttributeError) as error:
    _missing = str(error)
else:
    _missing = ""


class Values(Mapping[str, Any]):
    """All values of a session by their keys, looked up one by one.

    Each box, slider and menu asks whether its own value is None. Streamlit gathers the values of
    the whole session for that, those of pages visited before too.
    """

    def __init__(self, state: SafeSessionState) -> None:
        self._state = state

    def __getitem__(self, key: str) -> Any:
        if is_element_id(key) or key.startswith(STREAMLIT_INTERNAL_KEY_PREFIX):  # Streamlit's own
            raise KeyError(key)
        with self._state._lock:
            return self._state._state[key]

    def __iter__(self) -> Iterator[str]:
        return iter(_all_of_it(self._state))

    def __len__(self) -> int:
        return len(_all_of_it(self._state))

    def __repr__(self) -> str:
        return repr(_all_of_it(self._state))


def _value_or(self: SessionStateProxy, key: str, default: Any = None) -> Any:
    """The value of a key, or the default: `get` of the session's state.

    A page asks for each of its controls, most of which nobody has set. Streamlit's own finds that
    out by six exceptions.
    """
    key, state = str(key), get_session_state()
    with state._lock:
        known = state._state
        if key not in known._key_id_mapper and not key.startswith("$$"):  # of no widget
            for values in (known._new_session_state, known._old_state):
                if key in values:
                    return values[key]
            return default
    return Mapping.get(self, key, default)


def _copy_of_place(self: Cursor, memo: dict[int, Any]) -> Cursor:
    """A copy of a place on the page: numbers and tuples, and rarely a spinner."""
    other = object.__new__(type(self))
    other.__dict__.update(self.__dict__)
    elements = self._transient_elements
    other._transient_elements = deepcopy(elements, memo) if len(elements) else SparseList()
    return other


def _copy_of_block(self: DeltaGenerator, memo: dict[int, Any]) -> DeltaGenerator:
    """A copy of a block and of those around it, each of which is copied once.

    A fragment copies all blocks that it stands in. Streamlit's own copies the blocks around each
    of them anew, so that a fragment in a fragment takes the square of its depth.
    """
    other = DeltaGenerator(
        root_container=self._root_container,
        cursor=deepcopy(self._cursor, memo),
        parent=deepcopy(self._parent, memo),
        block_type=self._block_type,
    )
    other._form_data = self._form_data  # a tuple
    other._creating_fragment_id = self._creating_fragment_id
    return other


def theme_once() -> Callable[..., None]:
    """Return what writes a section of the theme into a message, reading the settings once.

    Each rerun begins with a message that holds the theme, for which Streamlit looks through all
    settings six times. They are read again when the settings are parsed again.
    """
    known: dict[str, CustomThemeConfig | None] = {}  # None: the section leaves a message untouched

    def populate(message: CustomThemeConfig, section: str = "theme") -> None:
        if section not in known:
            holder = NewSession()
            _own_theme(holder.custom_theme, section)
            known[section] = holder.custom_theme if holder.HasField("custom_theme") else None
        theme = known[section]
        if theme is not None:
            message.SetInParent()
            message.MergeFrom(theme)

    config.on_config_parsed(known.clear, force_connect=True)
    return populate


def _wake(self: Runtime) -> None:
    """Tell the loop that sends that there is a message.

    Who runs on that loop says so directly. Streamlit's own writes into a socket to wake it, for
    every message of a rerun.
    """
    objects = self._get_async_objs()
    try:
        here = asyncio.get_running_loop() is objects.eventloop
    except RuntimeError:  # another thread
        here = False
    if here:
        objects.need_send_data.set()
    else:
        _own_wake(self)


def unfit() -> str:
    """Say why they do not fit the Streamlit that is installed; an empty text where they do."""
    if streamlit.__version__ != WRITTEN_FOR:
        return f"they are written for {WRITTEN_FOR}, and {streamlit.__version__} is installed"
    return _missing


@cache
def lighten() -> bool:
    """Let Streamlit use them, for all sessions of this process; return whether it does.

    Where they do not fit, nothing is replaced, and the log says why, once: pages are the same, and
    take longer.
    """
    problem = unfit()
    if problem:
        _LOG.warning("Streamlit's own functions stay in use, reruns take longer: %s", problem)
        return False
    SafeSessionState.filtered_state = property(Values)
    SessionStateProxy.get = _value_or
    Cursor.__deepcopy__ = _copy_of_place
    DeltaGenerator.__deepcopy__ = _copy_of_block
    app_session._populate_theme_msg = theme_once()
    Runtime._enqueued_some_message = _wake
    return True
