"""tiktoken's files in the user's cache folder: found there, or fetched within a bounded time.

tiktoken's own loader waits for the network without a limit. Here nobody waits longer than
`PATIENCE`: the transfer goes on in a thread of its own, and a later call finds the file, or
raises with the reason why there is none.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterable
from pathlib import Path

from llmviz.tokenizers.files import write_bytes

PATIENCE = 1.5  # seconds that a caller waits
NETWORK_TIMEOUT = 10.0  # seconds without a byte after which the transfer gives up
REMEMBER_FAILURE = 60.0  # seconds before a failed file is tried again
OFFLINE = "this machine cannot reach the server that has it"


class TokenizerUnavailable(ValueError):
    """Tokenizers that cannot be had now; the message says why, and names no folder.

    Attributes:
        names: of the tokenizers.
        reason: the rest of the message.
    """

    def __init__(self, names: Iterable[str], reason: str) -> None:
        self.names, self.reason = tuple(names), reason
        *first, last = self.names
        subject = f"{', '.join(first)} and {last} are" if first else f"{last} is"
        super().__init__(f"{subject} not available{reason}")

    @staticmethod
    def by_reason(problems: Iterable[TokenizerUnavailable]) -> list[TokenizerUnavailable]:
        """One for each reason, with the names of all that it keeps away."""
        names: dict[str, list[str]] = {}
        for problem in problems:
            names.setdefault(problem.reason, []).extend(problem.names)
        return [TokenizerUnavailable(listed, reason) for reason, listed in names.items()]


class _Transfer:
    """One download in the background."""

    def __init__(self, url: str, sha256: str, target: Path) -> None:
        self.finished = threading.Event()
        self.reason: str | None = None
        self.ended_at = 0.0
        self._thread = threading.Thread(target=self._run, args=(url, sha256, target), daemon=True)
        self._thread.start()

    def _run(self, url: str, sha256: str, target: Path) -> None:
        try:
            with urllib.request.urlopen(url, timeout=NETWORK_TIMEOUT) as response:
                data = response.read()
            if hashlib.sha256(data).hexdigest() != sha256:
                self.reason = "what came is another file: its checksum differs"
            else:
                self._write(target, data)
        except urllib.error.HTTPError as error:
            self.reason = f"the server that has it says: {error.reason}"
        except (OSError, http.client.HTTPException):  # in words that only programmers read
            self.reason = OFFLINE
        finally:
            self.ended_at = time.monotonic()
            self.finished.set()

    def _write(self, target: Path, data: bytes) -> None:
        try:
            write_bytes(target, data)
        except OSError as error:  # in its own words it would name the folder
            self.reason = f"the file cannot be written: {error.strerror}"


_transfers: dict[Path, _Transfer] = {}
_lock = threading.Lock()


def cache_folder() -> Path | None:
    """Return the folder of tiktoken's files; it need not exist yet. None: it wants no cache.

    That is the folder in TIKTOKEN_CACHE_DIR (or DATA_GYM_CACHE_DIR), else one in the user's cache
    folder: tiktoken's own choice would be a temporary one, which a restart of the machine empties.
    """
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if variable in os.environ:
            return Path(os.environ[variable]) if os.environ[variable] else None
    import platformdirs

    return Path(platformdirs.user_cache_dir("llmviz", appauthor=False)) / "tokenizers"


def ensure_cached(name: str, url: str, sha256: str, *, wait: bool = False) -> Path:
    """Return where the file of a URL lies in tiktoken's cache, fetching it if it does not.

    Args:
        name: the tokenizer that wants it, for the message.
        url: where the file is.
        sha256: what its content must hash to.
        wait: until the transfer ends, however long it takes.

    Raises:
        TokenizerUnavailable: it is not there and could not be fetched (without `wait`, within
            `PATIENCE` seconds), or not within the last `REMEMBER_FAILURE`.
    """
    folder = cache_folder()
    if folder is None:
        raise TokenizerUnavailable(
            [name], ": TIKTOKEN_CACHE_DIR is empty, which turns the cache off"
        )
    path = folder / hashlib.sha1(url.encode("utf-8")).hexdigest()
    if _is_good(path, sha256):
        return path
    with _lock:
        transfer = _transfers.get(path)
        if transfer is None or (
            transfer.finished.is_set() and time.monotonic() - transfer.ended_at > REMEMBER_FAILURE
        ):
            transfer = _transfers[path] = _Transfer(url, sha256, path)
    if not transfer.finished.wait(None if wait else PATIENCE):
        raise TokenizerUnavailable(
            [name], " yet: the download is still going on; try again in a moment"
        )
    if transfer.reason is not None:
        raise TokenizerUnavailable(
            [name],
            f": the file for it is not on this machine yet, and {transfer.reason}. Once there is a "
            "connection, “python -m llmviz tokenize --fetch” gets it for good.",
        )
    return path


def _is_good(path: Path, sha256: str) -> bool:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() == sha256
    except OSError:
        return False
