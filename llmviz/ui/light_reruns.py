"""Three things that Streamlit does again and again in a rerun, done with less work.

All give what Streamlit's own gives; the tests compare them. They replace what Streamlit does not
promise to keep, so they are for one version of it: any other one is left as it is.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from typing import Any

import streamlit

WRITTEN_FOR = "1.67.0"  # the version of Streamlit, as in requirements.txt
_LOG = logging.getLogger(__name__)
try:
    from streamlit.cursor import Cursor, SparseList
    from streamlit.delta_generator import DeltaGenerator
    from streamlit.runtime.state.common import is_element_id
    from streamlit.runtime.state.safe_session_state import SafeSessionState
    from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX
    from streamlit.runtime.state.session_state_proxy import SessionStateProxy, get_session_state

    _all_of_it = SafeSessionState.filtered_state.fget  # Streamlit's own: a dict of every value
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
    return True
