"""Imports go one way: from pages down to the ground, never up."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# A module may import from its own layer and from lower ones.
LAYERS = [
    {"background", "background_child", "child", "config", "paths", "textfile", "trace"}
    | {"wholefile"},
    {"tokenizers", "corpus", "nn"},
    {"models", "sampling", "similarity"},
    {"training", "pretrained", "finetuning", "language"},
    {"cli", "__main__"},
]
FLOOR = {name: height for height, names in enumerate(LAYERS) for name in names}
MODULES = sorted((ROOT / "llmviz").rglob("*.py"))


def imports(path: Path) -> set[str]:
    """Return the full names of all modules that a file imports, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def part(path: Path) -> str:
    inside = path.relative_to(ROOT / "llmviz")
    return inside.parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_down(path):
    own = part(path)
    for name in imports(path):
        if own != "ui":
            assert name.split(".")[0] != "streamlit", f"{own} imports streamlit"
        pieces = name.split(".")
        if pieces[0] in ("pages", "app"):
            raise AssertionError(f"{own} imports {name}")
        if pieces[0] != "llmviz" or len(pieces) < 2 or own in ("ui", "__init__"):
            continue
        target = pieces[1]
        if own == "figures":
            assert target == "figures", f"figures imports {name}"
        elif target in FLOOR:
            assert FLOOR[target] <= FLOOR[own], f"{own} imports {name}"
        else:
            assert target not in ("ui", "figures"), f"{own} imports {name}"


def test_every_part_has_its_layer():
    known = FLOOR.keys() | {"ui", "figures", "__init__"}
    assert {part(path) for path in MODULES} <= known


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_figures_know_neither_torch_nor_streamlit(path):
    if part(path) == "figures":
        roots = {name.split(".")[0] for name in imports(path)}
        assert roots <= {"__future__", "collections", "dataclasses", "math", "typing", "numpy"} | {
            "plotly",
            "llmviz",
            "html",
        }
