"""Large parts of messages that are the same for everybody: browsers fetch them by their address.

A message that holds a table of a million numbers would carry it to every visitor, and again with
each small change beside it. A `Stored` part is packed once for the process; `pack(payload, part)`
puts its address into the message. The browser fetches it once and adds its fields to the payload's.
"""

from __future__ import annotations

import hashlib
from typing import Any

from llmviz.course.components._shared import transport as wire
from llmviz.course.streamlit_parts import address_of

KIND = "application/octet-stream"


class Stored:
    """A part of a payload, packed; keep it, so that it is packed once."""

    def __init__(self, payload: dict[str, Any]) -> None:
        self.data = wire.pack(payload)
        self.name = hashlib.blake2b(self.data, digest_size=16).hexdigest()

    def address(self) -> str | None:
        """Return where the browser of this session finds the part, for as long as it needs it.

        Streamlit lets go of a file once no session's last run has asked for it. None where it
        cannot be stored.
        """
        url = address_of(self.data, KIND, f"llmviz.{self.name}")
        if url is None:
            return None
        url = url or f"/media/{self.name}.bin"  # of a test
        wire.parts_at[url] = self
        return url
