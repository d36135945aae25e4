"""Files of weights that are read into memory, so that nothing outside can end the process.

A file that is mapped into memory ends every process that looks at a page of it which somebody has
cut off meanwhile: the system sends SIGBUS, and no `except` hears of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import safe_open


@contextmanager
def open_weights(path: Path, framework: str = "pt") -> Iterator[Any]:
    """Open a safetensors file; its header is read now, each tensor when it is asked for.

    A file that gets the name meanwhile (`wholefile`) changes nothing. Raises SafetensorError or
    OSError for what is no such file, or is cut off or overwritten while it is open.
    """
    before = path.stat()
    with safe_open(path, framework=framework, backend="pread") as file:
        yield file
    try:
        after = path.stat()
    except FileNotFoundError:  # what was opened was whole
        return
    kept = (before.st_dev, before.st_ino) == (after.st_dev, after.st_ino)
    if kept and (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise OSError(f"{path.name} was changed while it was read")
