"""How much the files may have that visitors upload: they stay in memory as long as their window.

A page offers a box for one file or two. The address behind such a box takes any number of them.
"""

from __future__ import annotations

from collections import defaultdict

import streamlit
from starlette.exceptions import HTTPException
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from llmviz.limits import limit
from llmviz.ui.light_reruns import WRITTEN_FOR
from llmviz.ui.origin import of_session

FULL = (
    "The files that {who} uploaded would have more than {most} MB. Remove one, or close a window."
)
WHOSE = {
    "WINDOW": "this window",
    "ADDRESS": "the windows of your network address",
    "MAX": "all visitors of this server",
}
MEGABYTE = 2**20
TOO_LARGE = 413  # status: too large
_add_file = MemoryUploadedFileManager.add_file  # Streamlit's own


def _add_file_within(
    self: MemoryUploadedFileManager, session_id: str, file: UploadedFileRec
) -> None:
    """Keep a file of a session, or refuse it with one line."""
    address = of_session(session_id).address
    held: dict[str, int] = defaultdict(int)
    with self._lock:
        for session, files in list(self.file_storage.items()):
            own = session == session_id
            size = sum(
                len(one.data) for key, one in files.items() if key != file.file_id or not own
            )
            held["MAX"] += size
            held["WINDOW"] += size if own else 0
            if own or (address and of_session(session).address == address):
                held["ADDRESS"] += size
    for kind, who in WHOSE.items():
        most = limit(f"LLMVIZ_{kind}_UPLOADS")
        if held[kind] + len(file.data) > most * MEGABYTE:
            raise HTTPException(TOO_LARGE, FULL.format(who=who, most=most))
    _add_file(self, session_id, file)


def keep_within() -> None:
    """Let this process refuse what is too much; another Streamlit is left as it is."""
    if streamlit.__version__ == WRITTEN_FOR:
        MemoryUploadedFileManager.add_file = _add_file_within
