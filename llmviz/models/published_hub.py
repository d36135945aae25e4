"""A published model on the hub: which files it has, how large, their first bytes, all of them.

Over the hub's plain addresses, piece by piece: a download can be counted, stopped and thrown away.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from urllib.parse import quote

from llmviz.models.published_files import CONFIG, DOWNLOADED, PROBE_SECONDS, WEIGHTS

READ_SECONDS = 30  # how long the hub may send nothing
PIECE = 2**20  # bytes that are read at once
LONGEST_HEADER = 2**24  # bytes of names and shapes at the beginning of a file of weights
LONGEST_ANSWER = 2**24  # bytes of a list of files


@dataclass(frozen=True)
class HubFile:
    """A file of a repository: its name, its size in bytes, its sha256 where the hub knows it."""

    name: str
    size: int
    sha256: str = ""


class HubModel:
    """A model on the hub that HF_ENDPOINT names, or else the public one.

    name: OWNER/NAME. token: whether to show the token of this machine's owner, with which the hub
    also gives what is not public.

    Raises: ValueError for what is no such name, without the package huggingface_hub, and where
    HF_HUB_OFFLINE is set. Every method raises ValueError in one line where the hub gives nothing.
    """

    def __init__(self, name: str, *, token: bool = False) -> None:
        try:
            from huggingface_hub import constants
            from huggingface_hub.errors import HFValidationError
            from huggingface_hub.utils import build_hf_headers, validate_repo_id
        except ModuleNotFoundError as error:
            raise ValueError(
                f"to download {name!r} needs the package huggingface_hub, which is not installed"
            ) from error
        try:
            validate_repo_id(name)
        except HFValidationError as error:
            raise ValueError(f"{name[:80]!r} is neither a folder here nor OWNER/NAME") from error
        if constants.HF_HUB_OFFLINE:
            raise ValueError(f"{name!r} is not in the local cache and HF_HUB_OFFLINE is set")
        self.name, self.endpoint = name, constants.ENDPOINT.rstrip("/")
        self._headers = build_hf_headers(token=None if token else False)
        # So that as many bytes come as the hub has said.
        self._headers["Accept-Encoding"] = "identity"

    def files(self) -> list[HubFile]:
        """The files that a model is read from; a single file of weights goes before several."""
        with self._get(f"api/models/{quote(self.name)}?blobs=true") as answer:
            raw = b"".join(_up_to(answer, LONGEST_ANSWER))
        try:
            listed = [_file(file) for file in json.loads(raw)["siblings"]]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"the hub's list of the files of {self.name!r} is damaged") from error
        wanted = [file for file in listed if any(fnmatchcase(file.name, a) for a in DOWNLOADED)]
        if any(file.name == WEIGHTS for file in wanted):
            wanted = [file for file in wanted if not file.name.startswith("model-")]
        return [file for file in wanted if Path(file.name).name == file.name]

    def outline(self, folder: Path, files: list[HubFile]) -> None:
        """Write the files into a folder, those of weights as names and shapes alone.

        The numbers in them are left out: as large as they are, such files hold nothing there.
        """
        for file in files:
            path = folder / file.name
            with self._get(self._address(file)) as answer, path.open("wb") as target:
                if not file.name.endswith(".safetensors"):
                    target.writelines(_up_to(answer, max(file.size, 1)))
                    continue
                target.write(_header(answer, f"{self.name}/{file.name}"))
                try:
                    target.truncate(file.size)
                except (OSError, OverflowError) as error:
                    raise ValueError(f"{file.name} cannot have {file.size:,} bytes") from error

    def download(self, folder: Path, files: list[HubFile]) -> Iterator[int]:
        """Write the files into a folder; yields how many bytes are there, again and again.

        Raises: ValueError also for a file that is not as the hub has said, and for a full disk.
        """
        done = 0
        for file in files:
            digest, size, path = hashlib.sha256(), 0, folder / file.name
            try:
                with self._get(self._address(file)) as answer, path.open("wb") as to:
                    for piece in _up_to(answer, file.size):
                        to.write(piece)
                        digest.update(piece)
                        size += len(piece)
                        yield done + size
            except OSError as error:
                raise ValueError(f"{file.name} cannot be written: {error.strerror}") from error
            if size != file.size:
                raise ValueError(
                    f"{file.name} must have {file.size:,} bytes; the hub sent {size:,}"
                )
            if file.sha256 and digest.hexdigest() != file.sha256:
                raise ValueError(f"{file.name} is damaged: its sha256 is not the one of the hub")
            done += size

    def _address(self, file: HubFile) -> str:
        return f"{quote(self.name)}/resolve/main/{quote(file.name)}"

    @contextmanager
    def _get(self, address: str) -> Iterator[Any]:
        """Ask the hub; what it sends is read inside the `with`."""
        import requests

        try:
            with requests.get(
                f"{self.endpoint}/{address}",
                headers=self._headers,
                stream=True,
                timeout=(PROBE_SECONDS, READ_SECONDS),
            ) as answer:
                answer.raise_for_status()
                yield answer
        except requests.HTTPError as error:
            status = answer.status_code
            raise ValueError(f"the hub does not give {self.name!r}: it answers {status}") from error
        except requests.ConnectionError as error:
            raise ValueError(
                f"{self.name!r} is not in the local cache, and {self.endpoint} cannot be reached; "
                f"without the network give a folder with {CONFIG} and {WEIGHTS}"
            ) from error
        except requests.RequestException as error:
            raise ValueError(f"{self.name!r} could not be read: {type(error).__name__}") from error


def _file(listed: dict[str, Any]) -> HubFile:
    stored = listed.get("lfs") or {}
    name, size = listed["rfilename"], listed["size"]
    if not isinstance(name, str) or type(size) is not int or size < 0:
        raise ValueError(f"a file must have a name and a size; got {name!r}, {size!r}")
    return HubFile(name, size, str(stored.get("sha256") or ""))


def _up_to(answer: Any, most: int) -> Iterator[bytes]:
    """The pieces of an answer; ValueError once there are more bytes than there may be."""
    size = 0
    for piece in answer.iter_content(PIECE):
        size += len(piece)
        if size > most:
            raise ValueError(f"the hub sends more than {most:,} bytes")
        yield piece


def _header(answer: Any, name: str) -> bytes:
    """The first bytes of a safetensors file: a length, and as many bytes of names and shapes."""
    read = b""
    for piece in answer.iter_content(2**16):
        read += piece
        if len(read) < 8:
            continue
        length = 8 + int.from_bytes(read[:8], "little")
        if length > LONGEST_HEADER:
            break
        if len(read) >= length:
            return read[:length]
    raise ValueError(f"{name} is not a readable safetensors file: its header is damaged")
