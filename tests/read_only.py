"""A folder that nobody can write into for a while, not even an administrator."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Let nothing be written in a folder or below it, as long as the block runs."""
    if sys.platform == "win32":
        pytest.skip("a folder of Windows is read-only by name alone")
    if os.geteuid():
        folders = [folder, *(one for one in folder.rglob("*") if one.is_dir())]
        modes = [one.stat().st_mode for one in folders]
        for one in folders:
            one.chmod(0o555)
        try:
            yield
        finally:
            for one, mode in zip(folders, modes, strict=True):
                one.chmod(mode)
        return
    for options in (["--bind", folder], ["-o", "remount,ro,bind"]):  # modes are not for root
        if subprocess.run(["mount", *options, folder], capture_output=True).returncode:
            subprocess.run(["umount", folder], capture_output=True)
            pytest.skip("this system lets its root mount nothing")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
