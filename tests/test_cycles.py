"""The imports of llmviz go in no circle, those inside functions included."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def modules(root: Path, package: str) -> dict[str, Path]:
    """The modules of a package by their full names; a package is its `__init__`."""
    found = {}
    for path in sorted((root / package).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def running(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those under `if TYPE_CHECKING:`, which never run."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from running(node)


def needed(path: Path, known: Mapping[str, Path]) -> set[str]:
    """The modules that a file imports, wherever in it.

    `from package import name` needs the module `name` where there is one, else what the package
    itself defines. That a package's `__init__` runs first is no need of its modules: it collects
    their names, and they do not ask for them.
    """
    names = set()
    for node in running(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                names.add(inner if inner in known else node.module)
    return names & known.keys()


def circle(root: Path, package: str) -> list[str]:
    """The modules of one circle of imports, in order; none where there is none."""
    known = modules(root, package)
    graph = {name: needed(path, known) - {name} for name, path in known.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


# Named for readers of types alone: what runs is no circle. ARCHITECTURE says why.
FOR_TYPES = {
    "llmviz.models.base": {"llmviz.models.decoder", "llmviz.models.numpy_decoder"},
    "llmviz.models.decoder": {"llmviz.models.gpt"},
    "llmviz.models.gpt2_format": {"llmviz.models.gpt"},
    "llmviz.models.layer_parts": {"llmviz.models.gpt"},
    "llmviz.models.numpy_decoder": {"llmviz.models.gpt"},
    "llmviz.tokenizers.export": {"llmviz.tokenizers.bpe"},
}


def test_imports_go_in_no_circle():
    assert circle(ROOT, "llmviz") == []


def test_types_go_in_the_circles_that_are_explained_and_no_others(monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "running", ast.walk)
    known = modules(ROOT, "llmviz")
    graph = {name: needed(path, known) - {name} for name, path in known.items()}
    for name, given in FOR_TYPES.items():
        assert given <= graph[name], name
        graph[name] -= given
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("from pack.b import x", "from pack.a import y"),
        ("import pack.b", "def late():\n    from pack import a\n    return a"),
        ("from pack import b", "class C:\n    import pack.a"),
    ],
)
def test_a_circle_is_found_wherever_the_imports_stand(tmp_path, first, second):
    write(tmp_path, a=first, b=second)
    assert {"pack.a", "pack.b"} <= set(circle(tmp_path, "pack"))


def test_what_only_a_reader_of_types_sees_is_no_circle(tmp_path):
    guarded = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pack.a import y"
    write(tmp_path, a="from pack.b import x", b=guarded)
    assert circle(tmp_path, "pack") == []


def write(root: Path, **sources: str) -> None:
    (root / "pack").mkdir()
    (root / "pack" / "__init__.py").write_text("from pack.a import y\n")
    for name, source in sources.items():
        (root / "pack" / f"{name}.py").write_text(source + "\n")
