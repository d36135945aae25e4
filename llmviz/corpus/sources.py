"""Texts of a user's own files: a file, a folder, a pattern, in the formats that texts come in.

.txt .md and any other   UTF-8, cut into documents by the rule of `load_corpus`
.jsonl                   an object a line; one of its fields is a document
.parquet                 one of its columns holds documents
.gz .zst behind these    the same, compressed
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from glob import has_magic
from pathlib import Path
from typing import Any

from llmviz.corpus.pieces import Piece, lines_of, pieces_of
from llmviz.files.text import check_text, read_blocks, read_text_file

FIELD = "text"  # of a .jsonl or .parquet that holds the documents
LIMIT = 2**30  # bytes or characters of a text that is held whole
ROWS = 1024  # of a .parquet that are read at once
TEXTS = (".txt", ".md", ".text", ".markdown")
LINES, TABLE = (".jsonl", ".ndjson"), (".parquet",)
COMPRESSED = (".gz", ".zst")
IN_FOLDERS = (*TEXTS, *LINES, *TABLE)  # what is taken out of a folder, compressed or not


def files_of(source: str) -> list[Path]:
    """The files that a path, a folder or a pattern stands for, in the order of their names.

    Of a folder, and of all below it, those in a format that is known; hidden ones are left out.
    Raises ValueError where there is none.
    """
    path = Path(source)
    if path.is_dir():
        below = (file for file in path.rglob("*") if file.is_file() and _is_text(file))
        found = [file for file in below if not _is_hidden(file.relative_to(path))]
        if not found:
            kinds = ", ".join(IN_FOLDERS)
            raise ValueError(f"the folder {source!r} holds no file of a kind that is read: {kinds}")
        return sorted(found)
    if not path.exists() and has_magic(source):
        root = Path(path.anchor)
        fitting = root.glob(str(path.relative_to(root)) if path.anchor else source)
        hidden = _is_hidden(path)  # `.notes/*.md` names a hidden folder itself
        found = [file for file in fitting if file.is_file() and (hidden or not _is_hidden(file))]
        if not found:
            raise ValueError(f"no file fits the pattern {source!r}")
        return sorted(found)
    return [path]


def read_pieces(path: Path, field: str) -> Iterator[Piece]:
    """Yield the documents of one file in pieces; a line and a row are a document, one piece each.

    field: of its objects, or its column.
    Raises ValueError in one line: it cannot be read, a line is broken (its number is said), or
    there is no such field or column.
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packing = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSED else ""
    kind = suffixes[-1] if suffixes else ""
    if kind in TABLE:
        if packing:
            raise ValueError(f"{path.name} is compressed twice; a .parquet is compressed inside")
        return _column(path, field)
    whole = [] if packing or path.is_file() else [read_text_file(path, LIMIT)]  # a pipe, read once

    def blocks() -> Iterator[str]:
        return iter(whole) if whole else _blocks(path, packing)

    return _lines(path.name, blocks(), field) if kind in LINES else pieces_of(blocks)


def _is_text(path: Path) -> bool:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return bool(suffixes) and suffixes[-1] in IN_FOLDERS


def _is_hidden(inside: Path) -> bool:
    return any(part.startswith(".") for part in inside.parts)


def _blocks(path: Path, packing: str) -> Iterator[str]:
    """The text of a file in parts."""
    verb = "unpacked" if packing else "read"
    try:
        with _opened(path, packing) as file:
            yield from read_blocks(file, path.name)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"{path.name} cannot be {verb}: {reason}") from None


def _opened(path: Path, packing: str) -> Any:
    if not packing:
        return path.open("rb")
    if packing == ".gz":
        return gzip.open(path, "rb")
    import pyarrow

    return pyarrow.CompressedInputStream(pyarrow.OSFile(str(path)), "zstd")


def _lines(name: str, blocks: Iterator[str], field: str) -> Iterator[Piece]:
    for number, line in enumerate(lines_of(blocks), start=1):
        if not line.strip():
            continue
        try:
            value: Any = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = getattr(error, "msg", None) or "it cannot be read"
            raise ValueError(f"line {number} of {name} is not JSON: {reason}") from None
        if not isinstance(value, dict):
            raise ValueError(f"line {number} of {name} is no object")
        if field not in value:
            there = ", ".join(map(str, value)) or "none"
            raise ValueError(f"line {number} of {name} has no field {field!r}; it has {there:.200}")
        yield Piece(_document(value[field], f"line {number} of {name}: {field}"), True)


def _column(path: Path, column: str) -> Iterator[Piece]:
    import pyarrow
    import pyarrow.parquet

    number = 0
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            if column not in names:
                raise ValueError(
                    f"{path.name} has no column {column!r}; it has {', '.join(names):.200}"
                )
            for batch in file.iter_batches(batch_size=ROWS, columns=[column]):
                for value in batch.column(0).to_pylist():
                    number += 1
                    yield Piece(_document(value, f"row {number} of {path.name}: {column}"), True)
    except (OSError, pyarrow.ArrowException) as error:
        raise ValueError(f"{path.name} cannot be read: {str(error).splitlines()[0]}") from None


def _document(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{where} must be a text; got {type(value).__name__}")
    try:
        return check_text(value)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
