"""Files: a learner's texts, weights that are cut off while they are read, what is written whole."""

from __future__ import annotations

import ast
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from llmviz.files import paths, whole
from llmviz.files.text import ENDOFTEXT, check_text, read_text_file, whole_number
from llmviz.files.weights import open_weights
from llmviz.files.whole import write_whole
from llmviz.nn.loss import IGNORED
from llmviz.tokenizers import CharTokenizer
from llmviz.training.errors import CheckpointError
from llmviz.training.stream import StoredIds
from llmviz.training.tensors import load_tensors
from tests.sources import ROOT, nodes_where


def test_a_good_file_comes_back(tmp_path):
    path = tmp_path / "story.txt"
    path.write_bytes("\ufeffOne é\r\ntwo 🙂\n".encode())
    assert read_text_file(path) == read_text_file(path.read_bytes()) == "One é\ntwo 🙂\n"
    assert read_text_file(str(path)) == "One é\ntwo 🙂\n"
    assert read_text_file(b"") == ""


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("é".encode("latin-1"), "not UTF-8: byte 0xE9 at byte 0"),
        ("text".encode("utf-16"), "UTF-16"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "looks binary"),
        (b"x" * 101, "is 101 bytes; the limit is 100 bytes"),
        ("\ud800".encode("utf-8", "surrogatepass"), "not UTF-8"),
    ],
)
def test_a_bad_file_is_refused_in_one_line(data, message, tmp_path):
    (tmp_path / "bad.txt").write_bytes(data)
    for source in (data, tmp_path / "bad.txt"):
        with pytest.raises(ValueError, match=message) as caught:
            read_text_file(source, limit_bytes=100)
        assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"none\.txt cannot be read"):
        read_text_file(tmp_path / "none.txt")
    with pytest.raises(ValueError, match="cannot be read"):
        read_text_file(tmp_path)


def test_checking_a_text_returns_it():
    for text in ("", "plain", "é🙂\x00\uffff"):
        assert check_text(text) is text
    with pytest.raises(ValueError, match=r"lone surrogate \(U\+DC00\) at character 1"):
        check_text("a\udc00b")
    with pytest.raises(ValueError, match="must be a string; got int"):
        check_text(5)


@pytest.mark.parametrize("text", ["", "-1", "+1", "1.0", " 1", "1_0", "²", "٣", "1²", "1" * 10])
def test_what_is_no_short_row_of_digits_is_no_whole_number(text):
    assert whole_number(text) is None


@pytest.mark.parametrize("text", ["0", "7", "007", "999999999"])
def test_a_short_row_of_digits_is_a_whole_number(text):
    assert whole_number(text) == int(text)


def fail(path: Path) -> None:
    path.write_text("half")
    raise OSError("no space left")


def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "text"
    write_whole(path, lambda temporary: temporary.write_text("old"))
    with pytest.raises(OSError, match="no space"):
        write_whole(path, fail)
    assert path.read_text() == "old"
    assert [left.name for left in tmp_path.iterdir()] == ["text"]


def test_the_file_is_on_the_disk_before_it_has_its_name_and_the_name_before_we_go_on(
    tmp_path, monkeypatch
):
    path, synced = tmp_path / "text", []

    def note(descriptor: int) -> None:
        synced.append((os.fstat(descriptor).st_ino, path.exists()))

    monkeypatch.setattr(whole, "os", SimpleNamespace(**{**vars(os), "fsync": note}))
    write_whole(path, lambda temporary: temporary.write_text("new"))
    file, folder = synced
    assert file == (path.stat().st_ino, False)
    assert folder == (tmp_path.stat().st_ino, True)


def test_a_tokenizer_is_written_so(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(whole, "os", SimpleNamespace(**{**vars(os), "fsync": synced.append}))
    CharTokenizer.train("abc").save(tmp_path / "deep" / "tokenizer.json")
    assert len(synced) == 2


def test_nobody_else_renames_a_file_over_another():
    """`Path.replace` takes one argument, `str.replace` two, and `dataclasses.replace` names."""
    found = set()
    for path, node in nodes_where((ROOT / "llmviz").rglob("*.py"), "replace"):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "replace"
            and len(node.args) == 1
            and not node.keywords
            and ast.unparse(node.func.value) != "dataclasses"
        ):
            found.add(path.relative_to(ROOT).as_posix())
    assert found == {
        "llmviz/files/whole.py",
        "llmviz/cli/make_checkpoint.py",  # a whole folder
        "llmviz/obtainable/fetch.py",  # what was checked, file or folder
        "llmviz/training/checkpoints.py",  # a link to a file that is there already
        "llmviz/runs/store.py",  # a whole folder
    }


READERS = """
import os, sys
from pathlib import Path
import numpy as np
from llmviz.models.published_files import StoredTensors
from llmviz.training.stream import StoredIds
from llmviz.training.tensors import load_tensors
first, second, third = (Path(folder) / "model.safetensors" for folder in sys.argv[1:])
tensors = load_tensors(first)
os.truncate(first, 100)
print(sum(tensor.sum().item() for tensor in tensors.values()))
try:
    with StoredTensors(second.parent) as tensors:
        tensors.read("a")
        os.truncate(second, 100)
        tensors.read("b")
except ValueError as error:
    print(error)
ids = StoredIds(third)
os.truncate(third, 100)
try:
    print(ids[np.array([[100_000, 100_001]])])
except ValueError as error:
    print(error)
"""


def weights(folder: Path, value: float = 1.0) -> Path:
    path = folder / "model.safetensors"
    save_file({name: torch.full((200_000,), value) for name in "ab"}, path)
    return path


def test_who_reads_a_file_that_is_cut_off_goes_on(tmp_path):
    """The system ends a process that looks at a lost page of a mapped file: they have their own."""
    folders = [tmp_path / name for name in ("whole", "tensors", "tokens")]
    for folder in folders:
        folder.mkdir()
        weights(folder)
    line = (sys.executable, "-c", READERS, *folders)
    ran = subprocess.run(line, capture_output=True, text=True, cwd=ROOT)
    assert ran.returncode == 0, ran.stderr
    for said, part in zip(
        ran.stdout.splitlines(), ("400000.0", "not a readable", "it lacks ids"), strict=True
    ):
        assert part in said


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
    assert found == {("llmviz/files/weights.py", "safe_open")}


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
    (package / "files").mkdir()
    (package / "files" / "paths.py").write_text(Path(paths.__file__).read_text("utf-8"), "utf-8")
    spec = importlib.util.spec_from_file_location("installed_paths", package / "files" / "paths.py")
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
    assert sorted(found) == ["llmviz/files/text.py", f"llmviz/nn/loss.py: IGNORED = {IGNORED}"]
