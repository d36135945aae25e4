"""A text that grows token by token: what of it can be sent, and where it must end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

_UNFINISHED = "\ufffd"  # stands for bytes of a character whose last ones are still to come


def settled(text: str) -> str:
    """A text of tokens without its last character if more bytes of it may come.

    Of bytes that make no character only the last ones can still become a part of one.
    """
    return text.removesuffix(_UNFINISHED)


class TextStream:
    """Turns tokens into pieces of text that never have to be taken back.

    A character whose bytes have not all come is held back, and so is what may be the beginning of
    a stop text. The stop text itself, and all behind it, is left out.
    """

    def __init__(self, decode: Callable[[Sequence[int]], str], stops: Sequence[str] = ()) -> None:
        self._decode, self._stops = decode, tuple(stops)
        self._ids: list[int] = []
        self._sent = 0  # characters
        self.stopped = False
        self.text = ""  # all that can be sent so far

    def push(self, token: int) -> str:
        """Return what can be sent once a token has come; nothing after a stop text."""
        if self.stopped:
            return ""
        self._ids.append(token)
        whole = self._decode(self._ids)
        places = [place for stop in self._stops if (place := whole.find(stop)) >= 0]
        if places:
            self.stopped = True
            return self._send(whole[: min(places)])
        return self._send(whole[: len(whole) - self._held(whole)])

    def end(self) -> str:
        """Return what was held back, now that no token will come."""
        if self.stopped:
            return ""
        self.stopped = True
        return self._send(self._decode(self._ids))

    def _held(self, whole: str) -> int:
        """How many characters at the end must wait."""
        text = settled(whole)
        begun = [
            size
            for stop in self._stops
            for size in range(1, len(stop))
            if text.endswith(stop[:size])
        ]
        return len(whole) - len(text) + max(begun, default=0)

    def _send(self, until: str) -> str:
        piece = until[self._sent :]
        self._sent += len(piece)
        self.text += piece
        return piece
