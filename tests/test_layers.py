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
    {"study"},
    {"cli", "__main__"},
    {"components"},  # in-page pictures: what moves under the hand
    {"ui"},  # the furniture that all lessons share
    {"lessons"},
]
STREAMLIT = {"components", "ui", "lessons"}  # the only parts that import it
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
        pieces = name.split(".")
        if own not in STREAMLIT:
            assert pieces[0] != "streamlit", f"{own} imports streamlit"
        assert pieces[0] not in ("pages", "app"), f"{own} imports {name}"
        if pieces[0] != "llmviz" or len(pieces) < 2 or own == "__init__":
            continue
        target = pieces[1]
        if own == "figures":
            assert target == "figures", f"figures imports {name}"
        elif target in FLOOR:
            assert FLOOR[target] <= FLOOR[own], f"{own} imports {name}"
        else:
            assert target == "figures" and own in STREAMLIT | {"figures"}, f"{own} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_lesson_takes_nothing_from_another_lesson(path):
    """What two lessons need is furniture, or study."""
    own = path.relative_to(ROOT / "llmviz").parts
    if own[0] != "lessons" or len(own) < 3:
        return
    for name in imports(path):
        pieces = name.split(".")
        if pieces[:2] == ["llmviz", "lessons"] and len(pieces) > 2 and pieces[2] != "LESSONS":
            assert pieces[2] == own[1], f"{'/'.join(own)} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_lessons_and_furniture_run_no_model_and_draw_no_number(path):
    """That is computing: it has its place in study, or in the engine below."""
    if part(path) not in ("lessons", "ui"):
        return
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "torch":
            computes = node.attr.startswith("rand") or node.attr in ("inference_mode", "no_grad")
            assert not computes, f"line {node.lineno}: torch.{node.attr}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = ast.unparse(node.func.value)
            forward = node.func.attr == "model" and ("bundled" in owner or "load(" in owner)
            assert not forward, f"line {node.lineno}: {owner}.model(...)"


def test_every_part_has_its_layer():
    known = FLOOR.keys() | {"figures", "__init__"}
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
