"""What a rerun has drawn is sent to the browser whole, also where a part of it is drawn again.

When a fragment runs, Streamlit drops from the queue what the same fragment drew a moment before and
what was not sent yet. The end of the rerun that drew it is sent all the same, and then the browser
takes away all that this rerun did not bring: the fragment's part of the page goes, and is made anew
when the fragment has been drawn. On a busy server, which sends late, that closed open menus of a
run that is looked at each second.
"""

from __future__ import annotations

import streamlit
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from llmviz.ui.light_reruns import WRITTEN_FOR

_clear = ForwardMsgQueue.clear  # Streamlit's own


def _clear_for_all(
    self: ForwardMsgQueue,
    retain_lifecycle_msgs: bool = False,
    fragment_ids_this_run: list[str] | None = None,
) -> None:
    """Drop what a rerun of the whole page draws again; for a fragment's rerun drop nothing."""
    if not retain_lifecycle_msgs or fragment_ids_this_run is None:
        _clear(self, retain_lifecycle_msgs, fragment_ids_this_run)
    else:
        self._delta_index_map = {}  # no message of this rerun takes the place of an earlier one


def send_whole() -> None:
    """Let the queues of all sessions of this process do so; another Streamlit is left as it is."""
    if streamlit.__version__ == WRITTEN_FOR:
        ForwardMsgQueue.clear = _clear_for_all
