"""Tokenizer files: one JSON object with a checksum, written whole, checked when read."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from llmviz.files.whole import write_whole

FORMAT = "llmviz-tokenizer"
VERSION = 1


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a file whole, with the folders that it needs; see `write_whole`."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, lambda temporary: temporary.write_bytes(data))


def write_tokenizer_file(path: str | Path, content: dict) -> None:
    """Write `content` with the format's name, its version and a checksum."""
    content = {"format": FORMAT, "version": VERSION, **content}
    content["sha256"] = checksum(content)
    write_bytes(path, json.dumps(content, ensure_ascii=False).encode("utf-8"))


def read_tokenizer_file(path: str | Path) -> dict:
    """Read what `write_tokenizer_file` wrote.

    Raises:
        ValueError: the file cannot be read, is no JSON (cut off, perhaps), is no tokenizer file,
            has another version, or has been changed since it was written.
    """
    path = Path(path)
    try:
        content = json.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise ValueError(f"{path.name} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} is not a tokenizer file: it is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{path.name} is not a whole tokenizer file: its JSON breaks at character {error.pos} "
            f"({error.msg})"
        ) from None
    except RecursionError:
        raise ValueError(f"{path.name} is not a tokenizer file: nested too deeply") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f'{path.name} is not a tokenizer file: it has no "format": "{FORMAT}"')
    if content.get("version") != VERSION:
        raise ValueError(
            f"{path.name} has version {content.get('version')!r}; this program reads {VERSION}"
        )
    written = content.pop("sha256", None)
    if written != checksum(content):
        raise ValueError(
            f"{path.name} was changed after it was saved: its content does not match its checksum"
        )
    return content


def checksum(content: dict) -> str:
    """Return the SHA-256 of the content's JSON with sorted keys."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()
