"""Published models looked at, imported, deleted: from folders, and from a hub served here."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import psutil
import pytest
import torch
from huggingface_hub import constants
from safetensors.torch import load_file, save_file

from llmviz.course.lessons.models import published_model
from llmviz.course.lessons.models.gpt2_sizes import gpt2_sizes
from llmviz.course.lessons.models.published_import import (
    delete_imported,
    import_steps,
)
from llmviz.models import count_parameters
from llmviz.models.published import load_published
from llmviz.models.published_hub import HubFile, HubModel
from llmviz.pretrained import load_bundled
from llmviz.runs import store
from tests.published_models import WEIGHTS, Hub, change_config, make_gpt2, make_llama, serve

MAKERS = {"gpt2": make_gpt2, "llama": make_llama}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A folder of runs for each test, and no cache of the hub."""
    monkeypatch.setenv("LLMVIZ_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "runs"


@pytest.fixture
def hub(monkeypatch):
    with serve(Hub()) as running:
        monkeypatch.setattr(constants, "ENDPOINT", running.url)
        yield running


def looked(source, from_hub=False, own=True):
    (about,) = published_model.look_at(str(source), from_hub=from_hub, own=own)
    return about


def left(home):
    """Every file and folder in the folder of runs that is not the server's lock."""
    return [one for one in home.rglob("*") if one.name not in (store.SESSIONS, ".server")]


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("from_hub", [False, True])
def test_a_look_says_what_the_model_is_and_reads_no_weights(tmp_path, hub, kind, from_hub):
    folder = MAKERS[kind](tmp_path / "them")
    model = load_published(folder)
    if not from_hub:
        about = looked(folder)
    else:
        hub.folders["somebody/them"] = folder
        about = looked("somebody/them", from_hub=True)
    assert about.problem == "" and about.kind == kind
    assert about.parameters == count_parameters(model)
    assert about.numbers == sum(one.numel() for one in load_file(folder / WEIGHTS).values())
    assert about.stored == sum(one.stat().st_size for one in folder.iterdir())
    assert about.memory == 8 * about.parameters
    assert about.config == model.config


def test_the_outline_of_a_hub_takes_no_weights(tmp_path, hub):
    hub.folders["somebody/them"] = make_gpt2(tmp_path / "them", width=256, layers=8)
    hub.gate.clear()  # no more than half of the weights can come
    assert looked("somebody/them", from_hub=True).problem == ""
    assert hub.sent == 0


def cut(folder):
    (folder / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes()[:-400])


def reshape(folder):
    tensors = load_file(folder / WEIGHTS)
    name = next(name for name in tensors if name.endswith("wpe.weight"))
    tensors[name] = torch.zeros(3, 32)
    save_file(tensors, folder / WEIGHTS)


def drop(folder):
    tensors = load_file(folder / WEIGHTS)
    del tensors[next(name for name in tensors if "h.1.mlp" in name)]
    save_file(tensors, folder / WEIGHTS)


WRONG = {
    "another architecture": (lambda f: change_config(f, model_type="bert"), "'bert'"),
    "no config": (lambda f: (f / "config.json").unlink(), "config.json is missing"),
    "no weights": (lambda f: (f / WEIGHTS).unlink(), f"{WEIGHTS} is missing"),
    "cut off": (cut, "not a readable safetensors file"),
    "no tokenizer": (lambda f: (f / "tokenizer.json").unlink(), "has no tokenizer"),
    "other shapes": (reshape, r"wpe.weight must be \(64, 32\); got \(3, 32\)"),
    "a tensor less": (drop, "it lacks h.1.mlp"),
    "an option": (lambda f: change_config(f, scale_attn_by_inverse_layer_idx=True), "by_inverse"),
    "an activation": (lambda f: change_config(f, activation_function="mish"), "'mish'"),
}


@pytest.mark.parametrize(("spoil", "message"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_taken_is_refused_by_name_before_it_is_read(tmp_path, home, spoil, message):
    folder = make_gpt2(tmp_path / "them")
    spoil(folder)
    problem = looked(folder).problem
    assert re.search(message, problem) and "\n" not in problem
    with pytest.raises(ValueError, match=message):
        list(import_steps(str(folder), from_hub=False, own=True, wanted="them"))
    assert left(home) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (dict(rope_parameters={"rope_type": "yarn"}), "rope_type"),
        (dict(quantization_config={"bits": 4}), "quantization_config"),
        (dict(num_hidden_layers=3), "it lacks layers.2"),
    ],
)
def test_a_llama_with_what_is_not_computed_is_refused(tmp_path, changes, message):
    folder = make_llama(tmp_path / "them")
    change_config(folder, **changes)
    assert message in looked(folder).problem


def test_a_model_larger_than_memory_or_disk_is_refused_with_numbers(tmp_path, monkeypatch, home):
    folder = make_gpt2(tmp_path / "them")
    about = looked(folder)
    monkeypatch.setattr(
        psutil, "virtual_memory", lambda: SimpleNamespace(available=about.memory - 1)
    )
    told = looked(folder).problem
    assert f"{about.memory:,} bytes of memory" in told and f"{about.memory - 1:,} are free" in told
    with pytest.raises(ValueError, match="bytes of memory"):
        list(import_steps(str(folder), from_hub=False, own=True, wanted="them"))
    assert left(home) == []
    assert "bytes of disk" in published_model.too_large(replace(about, free_disk=about.disk - 1))
    assert published_model.too_large(replace(about, free_disk=about.disk)) == ""


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("from_hub", [False, True])
def test_an_import_is_a_run_with_the_published_numbers(tmp_path, hub, home, kind, from_hub):
    folder = MAKERS[kind](tmp_path / "them")
    hub.folders["somebody/them"] = folder
    source = "somebody/them" if from_hub else str(folder)
    for wanted, name in (("mine", "mine"), ("mine", "mine-2")):
        steps = list(import_steps(source, from_hub=from_hub, own=True, wanted=wanted))
        assert steps[-1].name == name
        model = load_bundled(f"run:{name}")[0]
        ids = torch.tensor([[1, 5, 9, 2]])
        assert torch.equal(model(ids)[0], load_published(folder)(ids)[0])
    if from_hub:
        counts = [one.done for one in steps if one.stage == "downloading"]
        assert counts == sorted(counts) and counts[-1] == steps[0].total
    assert sorted(one.name for one in home.iterdir() if one.name[0] != ".") == ["mine", "mine-2"]
    delete_imported("mine")
    assert store.kept_runs() == ["mine-2"]


def test_a_stopped_import_leaves_nothing_at_any_step(tmp_path, hub, home):
    hub.folders["somebody/them"] = make_gpt2(tmp_path / "them")
    count = len(list(import_steps("somebody/them", from_hub=True, own=True, wanted="whole")))
    delete_imported("whole")
    for stop in range(count - 1):
        steps = import_steps("somebody/them", from_hub=True, own=True, wanted="half")
        for _ in range(stop + 1):
            next(steps)
        steps.close()
        assert left(home) == []


def test_a_damaged_download_leaves_nothing(tmp_path, hub, home):
    hub.folders["somebody/them"] = make_gpt2(tmp_path / "them")
    hub.wrong_sha256 = True
    with pytest.raises(ValueError, match="its sha256 is not the one of the hub"):
        list(import_steps("somebody/them", from_hub=True, own=True, wanted="them"))
    assert left(home) == []


def test_a_file_that_is_not_as_long_as_the_hub_says_is_refused(tmp_path, hub):
    hub.folders["somebody/them"] = make_gpt2(tmp_path / "them")
    size = (tmp_path / "them" / WEIGHTS).stat().st_size
    for wrong, message in ((size + 1, f"sent {size:,}"), (size - 1, "more than")):
        with pytest.raises(ValueError, match=message):
            list(HubModel("somebody/them").download(tmp_path, [HubFile(WEIGHTS, wrong)]))


def test_without_a_network_one_line_says_how_to_go_on(monkeypatch):
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(ValueError, match="cannot be reached; without the network give a folder"):
        looked("somebody/them", from_hub=True)


def test_what_the_hub_does_not_have_is_one_line(hub):
    with pytest.raises(ValueError, match="does not give 'nobody/nothing': it answers 404"):
        looked("nobody/nothing", from_hub=True)
    with pytest.raises(ValueError, match="neither a folder here nor"):
        looked("../secret", from_hub=True)


def test_only_the_owner_shows_a_token_and_uses_the_cache(tmp_path, hub, monkeypatch):
    folder = make_gpt2(tmp_path / "them")
    hub.folders["somebody/them"] = folder
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    looked("somebody/them", from_hub=True, own=False)
    assert {token for _, token in hub.asked} == {""}
    hub.asked.clear()
    looked("somebody/them", from_hub=True, own=True)
    assert {token for _, token in hub.asked} == {"Bearer hf_secret"}
    snapshot = tmp_path / "cache" / "models--somebody--them" / "snapshots" / ("0" * 40)
    (snapshot.parents[1] / "refs").mkdir(parents=True)
    (snapshot.parents[1] / "refs" / "main").write_text("0" * 40, "utf-8")
    snapshot.parent.mkdir()
    snapshot.symlink_to(folder)
    hub.asked.clear()
    looked("somebody/them", from_hub=True, own=True)
    assert hub.asked == []
    looked("somebody/them", from_hub=True, own=False)
    assert hub.asked


@pytest.mark.parametrize("text", ["/etc", "~/models", "./runs", "a/b/c", "C:\\models", "  "])
def test_a_visitor_elsewhere_names_no_folder(text):
    with pytest.raises(ValueError, match=r"on the server itself only|give a folder"):
        published_model.source_of(text, folders=False)


def test_a_visitor_elsewhere_gets_the_hub_where_a_folder_has_the_same_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "gpt2").mkdir(parents=True)
    assert published_model.source_of("runs/gpt2", folders=False) == ("runs/gpt2", True)
    assert published_model.source_of("runs/gpt2", folders=True) == ("runs/gpt2", False)


def test_a_run_that_was_trained_is_not_deleted(home):
    folder = home / "trained"
    folder.mkdir(parents=True)
    description = {
        "format": "llmviz-run-1",
        "model": {"name": "gpt", "config": {}},
        "train": {"steps": 100},
        "data": {"corpus": "tiny-world"},
    }
    (folder / "config.json").write_text(json.dumps(description), "utf-8")
    with pytest.raises(ValueError, match="was trained here"):
        delete_imported("trained")
    with pytest.raises(ValueError, match="is not a folder below"):
        delete_imported("../them")
    assert folder.is_dir()


def test_gpt2s_sizes_are_the_published_ones():
    rows = {row.name: row for row in gpt2_sizes()}
    assert rows["GPT-2"].parameters == 124_439_808
    assert rows["GPT-2 XL"].parameters == 1_557_611_200
    assert rows["GPT-2"].weights["bfloat16"] == 2 * 124_439_808
