"""What the makers of records have in common."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from llmviz.files.paths import EXPERIMENT_FOLDER


def write_to(make: Callable[[Path], object], about: str, folder: Path = EXPERIMENT_FOLDER) -> None:
    """Be the command that makes a record: `make` gets the folder, another one with `--to`.

    about: what the command does, as its `--help` says it.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--to", type=Path, default=folder, help="the folder written to")
    make(parser.parse_args().to)
