"""One script and one style for a component, from its own files and those that they import.

A component's files are ES modules: each names at its top what it takes from others. Streamlit
takes one script a component, so that the modules are joined here in the order of their imports.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from llmviz.files.paths import COURSE

COMPONENTS = COURSE / "components"
_IMPORT = re.compile(r'^import\s+\{[^}]*\}\s+from\s+"(?P<path>[^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default )", re.MULTILINE)


@cache
def modules(entry: Path) -> tuple[Path, ...]:
    """Return a script's modules, each after those that it imports, `entry` last.

    Raises FileNotFoundError: an import names a file that is not there.
    """
    order: list[Path] = []
    entered: set[Path] = set()

    def visit(path: Path) -> None:
        if path in entered:
            return
        entered.add(path)
        for imported in _IMPORT.finditer(path.read_text("utf-8")):
            visit((path.parent / imported["path"]).resolve())
        order.append(path)

    visit(entry.resolve())
    return tuple(order)


def script(name: str) -> str:
    """Return the whole script of the component in folder `name`."""
    return joined(COMPONENTS / name / "view.js")


def joined(entry: Path) -> str:
    """Return a script with all modules that it imports, as one text."""
    parts = []
    for path in modules(entry):
        parts.append(_EXPORT.sub("", _IMPORT.sub("", path.read_text("utf-8"))))
    return "\n".join(parts)


def style(name: str) -> str:
    """Return the whole style of a component: a module's style lies beside it, under its name."""
    parts = []
    for path in modules(COMPONENTS / name / "view.js"):
        sheet = path.with_suffix(".css")
        if sheet.exists():
            parts.append(sheet.read_text("utf-8"))
    return "\n".join(parts)
