"""Files of weights and tokens that somebody cuts off or overwrites while they are read.

The system ends a process that looks at a lost page of a mapped file, so each reader is tried in a
process of its own.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from llmviz.training.errors import CheckpointError
from llmviz.training.stream import StoredIds
from llmviz.training.tensors import load_tensors
from llmviz.weightfile import open_weights
from tests.sources import nodes_where

ROOT = Path(__file__).parents[1]
READERS = {
    "after they were read": """
from llmviz.training.tensors import load_tensors
tensors = load_tensors(path)
os.truncate(path, 100)
print(sum(tensor.sum().item() for tensor in tensors.values()))
""",
    "a tensor at a time": """
from llmviz.models.published_files import StoredTensors
try:
    with StoredTensors(path.parent) as tensors:
        tensors.read("a")
        os.truncate(path, 100)
        tensors.read("b")
except ValueError as error:
    print(error)
""",
    "tokens": """
import numpy as np
from llmviz.training.stream import StoredIds
ids = StoredIds(path)
os.truncate(path, 100)
try:
    print(ids[np.array([[100_000, 100_001]])])
except ValueError as error:
    print(error)
""",
}


def weights(folder: Path, value: float = 1.0) -> Path:
    path = folder / "model.safetensors"
    save_file({name: torch.full((200_000,), value) for name in "ab"}, path)
    return path


@pytest.mark.parametrize(
    ("code", "says"),
    list(zip(READERS.values(), ("400000.0", "not a readable", "it lacks ids"), strict=True)),
    ids=READERS,
)
def test_who_reads_a_file_that_is_cut_off_goes_on(tmp_path, code, says):
    path = weights(tmp_path)
    begin = "import os, sys\nfrom pathlib import Path\npath = Path(sys.argv[1])\n"
    ran = subprocess.run(
        (sys.executable, "-c", begin + code, path), capture_output=True, text=True, cwd=ROOT
    )
    assert ran.returncode == 0, ran.stderr
    assert says in ran.stdout


def test_no_file_is_mapped_into_memory():
    """Other ways of opening weights map them, and so does NumPy where it is asked to."""
    modules = [path for name in ("llmviz", "experiments") for path in (ROOT / name).rglob("*.py")]
    found = set()
    for path, node in nodes_where(modules, "safetensors", "mmap", "memmap"):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("safetensors"):
            names = {alias.name for alias in node.names} & {"safe_open", "load_file", "load_model"}
        else:
            said = {str(getattr(node, field, "")) for field in ("attr", "arg", "name", "module")}
            names = {name for name in said if "mmap" in name or "memmap" in name}
        found |= {(path.relative_to(ROOT).as_posix(), name) for name in names}
    assert found == {("llmviz/weightfile.py", "safe_open")}


def change(path: Path) -> None:
    """Overwrite a file in place by other numbers, a second later."""
    other = path.with_name("other")
    other.mkdir()
    path.write_bytes(weights(other, 2.0).read_bytes())
    os.utime(path, ns=(0, 0))


def test_weights_of_which_half_are_other_ones_are_refused(tmp_path):
    path = weights(tmp_path)
    with pytest.raises(OSError, match=r"model\.safetensors was changed"), open_weights(path) as f:
        assert f.get_tensor("a").unique().tolist() == [1]
        change(path)
        assert f.get_tensor("b").unique().tolist() == [2]


def test_a_new_file_of_that_name_disturbs_nobody(tmp_path):
    path, other = weights(tmp_path), tmp_path / "other"
    other.mkdir()
    with open_weights(path) as file:
        weights(other, 2.0).replace(path)
        assert file.get_tensor("a").unique().tolist() == [1]
    with open_weights(path) as file:
        path.unlink()
        assert file.get_tensor("b").unique().tolist() == [2]


def test_a_file_that_is_changed_is_named(tmp_path, monkeypatch):
    path = weights(tmp_path)

    def meanwhile(*_):
        change(path)
        return {}

    monkeypatch.setattr("llmviz.training.tensors._tied", meanwhile)
    with pytest.raises(CheckpointError, match=r"model\.safetensors was changed"):
        load_tensors(path)


def test_stored_ids_are_those_of_an_array(tmp_path):
    ids = np.random.default_rng(0).integers(0, 999, 100).astype(np.int32)
    (tmp_path / "ids").write_bytes(ids.tobytes())
    stored = StoredIds(tmp_path / "ids")
    assert len(stored) == 100 and np.array_equal(np.asarray(stored), ids)
    places = [7, np.array([3, 99, 3, 0]), np.array([[5, 6, 7], [99, 98, 98]]), np.array([], int)]
    for at in [*places, slice(None), slice(4, -9), slice(9, 4), slice(None, None, -2)]:
        assert np.array_equal(stored[at], ids[at]) and stored[at].dtype == np.int32, at
