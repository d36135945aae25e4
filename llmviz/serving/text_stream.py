"""A text that grows token by token: what of it can be sent, and where it must end."""

from __future__ import annotations

from collections.abc import Sequence

from llmviz.tokenizers import Tokenizer


class TextStream:
    """Turns tokens into pieces of text that never have to be taken back.

    A character whose bytes have not all come is held back, and so is what may be the beginning of
    a stop text. The stop text itself, and all behind it, is left out.

    before: the ids behind which the tokens stand. A character that they leave unfinished is the
    first one of the text.
    """

    def __init__(
        self, tokenizer: Tokenizer, before: Sequence[int] = (), stops: Sequence[str] = ()
    ) -> None:
        self._tokenizer, self._ids, self._stops = tokenizer, list(before), tuple(stops)
        self._begin = len(tokenizer.settled(self._ids))
        self._sent = 0  # characters
        self.stopped = False
        self.text = ""  # all that can be sent so far

    def push(self, token: int) -> str:
        """Return what can be sent once a token has come; nothing after a stop text."""
        if self.stopped:
            return ""
        self._ids.append(token)
        whole = self._tokenizer.decode(self._ids)[self._begin :]
        places = [place for stop in self._stops if (place := whole.find(stop)) >= 0]
        if places:
            self.stopped = True
            return self._send(whole[: min(places)])
        return self._send(self._without_begun())

    def end(self) -> str:
        """Return what was held back, now that no token will come."""
        if self.stopped:
            return ""
        self.stopped = True
        return self._send(self._tokenizer.decode(self._ids)[self._begin :])

    def _without_begun(self) -> str:
        """The text without what must wait at its end."""
        text = self._tokenizer.settled(self._ids)[self._begin :]
        begun = [
            size
            for stop in self._stops
            for size in range(1, min(len(stop), len(text) + 1))
            if text.endswith(stop[:size])
        ]
        return text[: len(text) - max(begun, default=0)]

    def _send(self, until: str) -> str:
        piece = until[self._sent :]
        self._sent += len(piece)
        self.text += piece
        return piece
