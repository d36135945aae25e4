"""The project's files are found from one place, whether it is installed or not."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

import pytest

from llmviz import paths
from llmviz.nn.loss import IGNORED
from llmviz.textfile import ENDOFTEXT
from tests.sources import nodes_where

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "llmviz").rglob("*.py"))


@pytest.mark.parametrize(
    "path",
    [
        *(paths.APP, paths.PAGES, paths.ICON, paths.DATA, paths.IMPORTED_FROM / "llmviz"),
        *(paths.TOKENIZER_FOLDER, paths.EXPERIMENT_FOLDER, paths.BUNDLED_CHECKPOINTS),
    ],
    ids=lambda path: path.name,
)
def test_they_are_there(path):
    assert path.exists()


def test_an_installed_package_finds_them_inside_itself(tmp_path):
    package = tmp_path / "llmviz"
    (package / "home").mkdir(parents=True)
    (package / "paths.py").write_text(Path(paths.__file__).read_text("utf-8"), "utf-8")
    spec = importlib.util.spec_from_file_location("installed_paths", package / "paths.py")
    installed = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(installed)
    assert package / "home" / "data" == installed.DATA
    assert package / "home" / "app.py" == installed.APP
    assert tmp_path == installed.IMPORTED_FROM


def test_nobody_else_counts_folders_upwards():
    found = [
        str(path.relative_to(ROOT))
        for path, node in nodes_where(FILES, "parents")
        if path.name != "paths.py"
        and isinstance(node, ast.Subscript)
        and ast.unparse(node.value).endswith(".parents")
    ]
    assert not found


def test_the_end_of_a_text_and_an_ignored_target_are_written_once():
    """As values that the program uses; texts and snippets may spell them out."""
    found = []
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and node.value == ENDOFTEXT:
                found.append(path.relative_to(ROOT).as_posix())
            if isinstance(node, ast.Assign) and any(
                isinstance(target, ast.Name) and target.id.startswith("IGNORE")
                for target in node.targets
            ):
                found.append(f"{path.relative_to(ROOT).as_posix()}: {ast.unparse(node)}")
    assert sorted(found) == [f"llmviz/nn/loss.py: IGNORED = {IGNORED}", "llmviz/textfile.py"]
