"""Text that comes from outside: checked once, here, with one clear line when it cannot be used."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

# Between two documents, in a text file as among token ids.
ENDOFTEXT = "<|endoftext|>"
DEFAULT_LIMIT = 20 * 1024 * 1024
NOTHING = "there is nothing to learn from: the text is empty"
BLOCK = 1 << 20  # bytes of a text that are read at once
POINTER = b"version https://git-lfs.github.com/spec/"


def check_text(text: str) -> str:
    """Return `text` unchanged if it can be written as UTF-8.

    NUL and every other real character are fine.

    Raises:
        ValueError: it is not a string, or it holds a lone surrogate (half of a UTF-16 pair,
            which stands for no character and has no bytes).
    """
    if not isinstance(text, str):
        raise ValueError(f"a text must be a string; got {type(text).__name__}")
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            code = ord(text[error.start])
            raise ValueError(
                f"the text holds a lone surrogate (U+{code:04X}) at character {error.start}: "
                "half of a pair, which is not a character; remove it"
            ) from None
    return text


def whole_number(text: str) -> int | None:
    """Return the whole number that a text is, or None: digits 0 to 9, at most nine of them.

    `str.isdigit` and `str.isdecimal` also take digits that `int` refuses, and any number of them.

    >>> whole_number("12"), whole_number("²2"), whole_number("-1"), whole_number("9" * 5000)
    (12, None, None, None)
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None


def check_texts(text_or_documents: str | Iterable[str]) -> list[str]:
    """Return a text, or several, to learn from as a list, each unchanged.

    Raises:
        ValueError: there is none that is not empty, or one cannot be written as UTF-8.
    """
    given = [text_or_documents] if isinstance(text_or_documents, str) else text_or_documents
    texts = [check_text(text) for text in given]
    if not any(texts):
        raise ValueError(NOTHING)
    return texts


def read_text_file(source: str | Path | bytes, limit_bytes: int = DEFAULT_LIMIT) -> str:
    """Read a UTF-8 text from a path, or from bytes that were uploaded.

    A byte-order mark is dropped and Windows line ends become plain ones.

    Args:
        source: a path, or the bytes themselves.
        limit_bytes: the largest size accepted, in bytes.

    Raises:
        ValueError: the file cannot be read, is larger than the limit, is binary, or is not UTF-8.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        name, data = "the file", bytes(source)
        size = len(data)
    else:
        path = Path(source)
        name = path.name or str(path)
        try:
            size = path.stat().st_size
            data = path.read_bytes() if size <= limit_bytes else b""
        except OSError as error:
            raise ValueError(f"{name} cannot be read: {error.strerror or error}") from None
    if size > limit_bytes:
        raise ValueError(f"{name} is {_megabytes(size)}; the limit is {_megabytes(limit_bytes)}")
    _check_plain(data, name, 0)
    return decode(data, name).removeprefix("\ufeff").replace("\r\n", "\n")


def read_blocks(file: IO[bytes], name: str) -> Iterator[str]:
    """Yield a UTF-8 text as `read_text_file` returns it, in parts of about BLOCK bytes.

    Raises ValueError for a binary file and one that is not UTF-8, and what reading raises.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    at, before, begun = 0, "", False  # before: a carriage return whose line end may come next
    while True:
        data = file.read(BLOCK)
        _check_plain(data, name, at)
        pending = len(decoder.getstate()[0])
        try:
            text = before + decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            raise _not_utf8(error, name, at - pending) from None
        text = text if begun else text.removeprefix("\ufeff")
        at, begun = at + len(data), begun or bool(text)
        before = "\r" if data and text.endswith("\r") else ""
        text = text[:-1] if before else text
        if text:
            yield text.replace("\r\n", "\n")
        if not data:
            return


def pointer_note(beginning: bytes) -> str:
    """What is wrong with a file that only says where git-lfs has it; empty for any other."""
    if not beginning.startswith(POINTER):
        return ""
    return "it is a pointer of git-lfs, in place of the file; `git lfs pull` fetches the file"


def _check_plain(data: bytes, name: str, at: int) -> None:
    """Refuse bytes, which stand `at` bytes behind the beginning, that are surely no UTF-8 text."""
    if not at and (note := pointer_note(data)):
        raise ValueError(f"{name} cannot be read: {note}")
    if not at and data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError(f"{name} is UTF-16, not UTF-8; save it as UTF-8 and try again")
    zero = data.find(b"\x00")
    if zero >= 0:
        raise ValueError(f"{name} looks binary, not text: it holds a zero byte at byte {at + zero}")


def decode(data: bytes, name: str) -> str:
    """Return the text of UTF-8 bytes; ValueError says which byte of `name` does not fit."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(error, name, 0) from None


def _not_utf8(error: UnicodeDecodeError, name: str, at: int) -> ValueError:
    return ValueError(
        f"{name} is not UTF-8: byte 0x{error.object[error.start]:02X} at byte {at + error.start} "
        "does not fit; save it as UTF-8 and try again"
    )


def _megabytes(size: int) -> str:
    return f"{size / 2**20:,.1f} MB" if size >= 2**20 else f"{size:,} bytes"


def table_cell(text: str) -> str:
    """Return a text as a cell of a table that a spreadsheet may open.

    What would be taken for a formula there gets a quote mark in front.

    >>> table_cell("=1+1"), table_cell("the cat")
    ("'=1+1", 'the cat')
    """
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
