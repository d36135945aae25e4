"""A model as files of a site: its own blocks, cut and named; and what no page computes."""

from __future__ import annotations

import hashlib
import json

import pytest

from llmviz import cli
from llmviz.course.site import shards
from llmviz.course.site.files import Files
from llmviz.course.site.shards import model_file, shards_of
from llmviz.course.site.write import places
from llmviz.models.gguf_file import GGUFFile
from llmviz.obtainable.catalogue import OBTAINABLE, SETTING, path_of
from tests.course.site.small_llama import NAME, in_its_place, write_small

SIZE = 10_000  # bytes of a shard


def test_the_shards_are_the_blocks_of_the_file(tmp_path):
    path = write_small(tmp_path / "small.gguf")
    found = shards_of(NAME, path, SIZE)
    weights = b"".join(piece.content for piece in found.pieces[:-1])
    assert len(weights) == found.manifest["weights"]
    file = GGUFFile(path)
    listed = found.manifest["tensors"]
    assert [name for name, *_ in listed] == list(file.tensors)
    assert {kind for _, kind, *_ in listed} == {"F32", "Q4_1", "Q8_0"}
    for name, _, shape, at in listed:
        stored = file.tensors[name].data.tobytes()
        assert weights[at : at + len(stored)] == stored
        assert tuple(shape) == file.shape(name) and at % 32 == 0


def test_a_name_holds_the_checksum_and_no_shard_is_too_large(tmp_path):
    found = shards_of(NAME, write_small(tmp_path / "small.gguf"), SIZE)
    told = [*found.manifest["shards"], found.manifest["tokenizer"]]
    assert len(told) > 3 and len(told) == len(found.pieces)
    for piece, about in zip(found.pieces, told, strict=True):
        checksum = hashlib.sha256(piece.content).hexdigest()
        assert about == {"path": piece.path, "bytes": len(piece.content), "sha256": checksum}
        assert checksum[:16] in piece.path
    assert all(about["bytes"] == SIZE for about in told[:-2]) and told[-2]["bytes"] <= SIZE
    assert found.bytes == sum(about["bytes"] for about in told)
    assert shards.SHARD <= 20_000_000


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"matrices": "Q5_1"}, "Q5_1"),
        ({"rope.scaling.type": "linear", "rope.scaling.factor": 2.0}, "rope_scaling"),
        ({"attention.key_length": 32}, "turn"),
        ({"tokenizer.ggml.pre": "qwen2"}, "qwen2"),
        ({"tokenizer.ggml.add_bos_token": True}, "tokens of its own"),
    ],
)
def test_what_no_page_computes_is_refused(tmp_path, fields, said):
    with pytest.raises(ValueError, match=said):
        shards_of(NAME, write_small(tmp_path / "small.gguf", **fields))


def test_a_model_that_is_not_here_is_named_with_what_brings_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(SETTING, str(tmp_path / "none"))
    assert cli.main(["site", str(tmp_path / "course"), "--model", NAME]) == 2
    assert f"get {NAME}" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_another_file_than_the_pinned_one_is_refused(tmp_path, monkeypatch):
    path = in_its_place(monkeypatch, tmp_path)
    assert model_file(NAME) == path
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="as it was published"):
        model_file(NAME)


def test_sizes_are_said_before_it_is_written_and_without_a_model_nothing_is(
    tmp_path, monkeypatch, capsys
):
    in_its_place(monkeypatch, tmp_path)
    course = tmp_path / "course"
    assert cli.main(["site", str(course), "--only", "glossary", "--model", NAME]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith(f"{NAME}: 0.1 MB, in files of at most 0.1 MB")
    assert said[1].startswith("  1 of 5")
    manifest = json.loads((course / "assets/models/smollm2.json").read_text("utf-8"))
    for about in [*manifest["shards"], manifest["tokenizer"]]:
        assert hashlib.sha256((course / about["path"]).read_bytes()).hexdigest() == about["sha256"]
    assert (course / "home/real.html").is_file()
    for page, link in [("index.html", "home/real.html"), ("home/model.html", "real.html")]:
        assert f'<a href="{link}">Ask a real model' in (course / page).read_text("utf-8")
    assert "home/real" not in [place.name for place in places()]
    plain = tmp_path / "plain"
    assert cli.main(["site", str(plain), "--only", "glossary"]) == 0
    assert not (plain / "assets/models").exists() and not (plain / "home/real.html").exists()
    assert "real.html" not in (plain / "index.html").read_text("utf-8")


def test_the_hour_has_the_page_and_keeps_no_shard_before_a_click(tmp_path):
    names = [place.name for place in places(way="hour", model=NAME)]
    assert names[:3] == ["home", "home/model", "home/real"]
    files = Files(tmp_path, kept=True)
    files.write("index.html", "")
    files.large("assets/models/a.bin", b"weights")
    files.offline()
    listed = (tmp_path / "offline.js").read_text("utf-8").splitlines()[0]
    assert "index.html" in listed and "a.bin" not in listed
    assert (tmp_path / "assets/models/a.bin").read_bytes() == b"weights"


@pytest.mark.slow
def test_the_published_model_comes_in_six_shards(monkeypatch):
    monkeypatch.delenv(SETTING, raising=False)  # the user's own folder
    if path_of(NAME) is None:
        pytest.skip("the real model is not here")
    path = model_file(NAME)
    found = shards_of(NAME, path)
    weights = b"".join(piece.content for piece in found.pieces[:-1])
    file = path.read_bytes()
    assert file[len(file) - len(weights) :] == weights  # its end, byte by byte
    assert len(found.manifest["shards"]) == 6
    assert found.bytes < 1.01 * OBTAINABLE[NAME].size
