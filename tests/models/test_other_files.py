"""What is given in place of a model's folder, and folders that are nearly one."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

import llmviz
from llmviz.cli import main
from llmviz.corpus import load_corpora
from tests.published_models import WEIGHTS, make_gpt2, make_llama
from tests.test_cli import refused

POINTER = (
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
)


@pytest.mark.parametrize("name", [WEIGHTS, "tokenizer.json", "config.json"])
def test_a_pointer_of_git_lfs_is_called_one(tmp_path, capsys, name):
    folder = make_llama(tmp_path / "llama")
    main(["import", str(folder), "--out", str(tmp_path / "run")])
    capsys.readouterr()
    for place in (folder, tmp_path / "run"):
        (place / name).write_text(POINTER, "utf-8")
        assert "git lfs pull" in refused(capsys, "generate", "--checkpoint", str(place))
    given = ["import", str(folder), "--out", str(tmp_path / "other")]
    assert "git lfs pull" in refused(capsys, *given)


def test_a_pointer_in_place_of_other_files_is_called_one_too(tmp_path, capsys):
    for name in ("model.gguf", "text.txt", "more.jsonl", "tokenizer.model"):
        (tmp_path / name).write_text(POINTER, "utf-8")
    given = ["generate", "--checkpoint", str(tmp_path / "model.gguf")]
    assert "git lfs pull" in refused(capsys, *given)
    for name in ("text.txt", "more.jsonl"):
        with pytest.raises(ValueError, match="git lfs pull"):
            list(load_corpora([str(tmp_path / name)]).documents)
    folder = make_llama(tmp_path / "llama")
    (folder / "tokenizer.json").unlink()
    shutil.copy(tmp_path / "tokenizer.model", folder)
    assert "git lfs pull" in refused(capsys, "generate", "--checkpoint", str(folder))


@pytest.mark.parametrize(
    ("name", "said"),
    [("model.safetensors", "config.json"), ("model.pt", "safetensors"), ("a.bin", "safetensors")],
)
def test_a_file_in_place_of_a_folder_is_told_what_it_lacks(tmp_path, capsys, name, said):
    path = tmp_path / name
    path.write_bytes(b"\x80\x02}q\x00.")
    for given in (
        ["generate", "--checkpoint", str(path)],
        ["import", str(path), "--out", str(tmp_path / "run")],
        ["quantize", str(path)],
    ):
        problem = refused(capsys, *given)
        assert said in problem and "folder" in problem and "nearest" not in problem


@pytest.mark.parametrize("prefix", ["_orig_mod.", "module.", "module._orig_mod."])
@pytest.mark.parametrize("make", [make_gpt2, make_llama])
def test_what_torch_puts_in_front_of_names_is_taken_away(tmp_path, make, prefix):
    folder = make(tmp_path / "model")
    ids = torch.arange(12)[None]
    expected = llmviz.load(folder).module(ids)[0]
    tensors = load_file(folder / WEIGHTS)
    save_file({prefix + name: tensor for name, tensor in tensors.items()}, folder / WEIGHTS)
    assert torch.equal(llmviz.load(folder).module(ids)[0], expected)


def test_a_config_that_does_not_say_its_type_is_read_by_all_alike(tmp_path, capsys):
    folder = make_gpt2(tmp_path / "gpt2")
    expected = llmviz.load(folder).module(torch.arange(9)[None])[0]
    about = json.loads((folder / "config.json").read_text("utf-8"))
    del about["model_type"]
    (folder / "config.json").write_text(json.dumps(about), "utf-8")
    assert torch.equal(llmviz.load(folder).module(torch.arange(9)[None])[0], expected)
    assert main(["generate", "--checkpoint", str(folder), "--tokens", "2"]) == 0
    assert main(["import", str(folder), "--out", str(tmp_path / "run")]) == 0
