"""The project's folder, and its Python files as syntax trees, to look for a name in all of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]


def nodes_where(paths: Iterable[Path], *names: str) -> Iterator[tuple[Path, ast.AST]]:
    """Yield each node of the files in whose text one of the names occurs, with the file's path.

    An identifier is written in a file as it is: one without it is read, but not parsed, which takes
    fifty times as long.
    """
    for path in paths:
        source = path.read_text("utf-8")
        if any(name in source for name in names):
            for node in ast.walk(ast.parse(source)):
                yield path, node
