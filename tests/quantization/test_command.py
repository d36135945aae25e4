"""`python -m llmviz quantize`: what it writes, prints and refuses."""

import json

import pytest
import torch

from llmviz.cli import main
from llmviz.corpus import load_corpus
from llmviz.pretrained import load_bundled
from llmviz.quantization import quantized_models
from llmviz.quantization.model import quantize_model
from llmviz.quantization.scheme import Scheme
from llmviz.training import load_trained
from llmviz.training.tensors import load_tensors, save_tensors
from tests.pages.small_model import make_checkpoint
from tests.published_models import make_gpt2, make_llama
from tests.test_cli import refused


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return make_checkpoint(tmp_path_factory.mktemp("checkpoints"))


def test_the_folder_that_it_writes_is_a_model_for_the_other_commands(checkpoint, tmp_path, capsys):
    out = tmp_path / "small"
    given = [str(checkpoint), "--bits", "3", "--group", "8", "--scheme", "asymmetric"]
    assert main(["quantize", *given, "--documents", "3", "--out", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    model = load_trained(checkpoint).model
    expected = quantize_model(model, Scheme(3, False, "group", 8))
    loaded = load_trained(out).model
    for name, tensor in expected.model.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], tensor), name
    saved = load_tensors(out / "model.safetensors")
    stored = {one.data_ptr(): one.nbytes for one in saved.values()}
    assert told["bytes"]["all"] == sum(stored.values()) == expected.sizes.total
    assert told["loss"]["documents"] == 3
    assert told["loss"]["before"] > 0 and told["loss"]["after"] > 0
    write = ["generate", "--checkpoint", str(out), "--prompt", "Mila", "--tokens", "3"]
    assert main([*write, "--temperature", "0"]) == 0
    assert capsys.readouterr().out.startswith("Mila")
    # The same prompt by the model in memory: the packed file is the same model.
    assert main(["quantize", str(out), "--documents", "0"]) == 2  # 32 does not divide 24
    assert "--group must be at most 24" in capsys.readouterr().err


def test_it_prints_losses_and_sizes_and_writes_nothing_unless_asked(checkpoint, tmp_path, capsys):
    given = [str(checkpoint), "--per", "channel", "--method", "awq", "--documents", "2"]
    assert main(["quantize", *given]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("before") and lines[2].startswith("after")
    assert not any(tmp_path.iterdir())
    assert main(["quantize", str(checkpoint), "--per", "tensor", "--documents", "0"]) == 0
    assert capsys.readouterr().out.count("not measured") == 2


def test_a_model_that_is_trained_on_its_grid_is_better_on_it_and_is_written_as_any(
    tmp_path, capsys
):
    out = tmp_path / "trained"
    given = ["names-gpt", "--bits", "2", "--per", "channel", "--documents", "40", "--json"]
    assert main(["quantize", *given, "--train", "60", "--out", str(out)]) == 0
    told = json.loads(capsys.readouterr().out)
    loss = told["loss"]
    assert loss["before"] < loss["after"] < loss["rounded"]  # to 2 bits the loss is large at first
    assert told["method"] == "trained" and told["train"]["steps"] == 60
    description = json.loads((out / "config.json").read_text("utf-8"))
    assert description["quantization"]["method"] == "trained"
    assert "quantize names-gpt --bits 2" in description["command"]
    model, before = load_trained(out).model, load_bundled("names-gpt")[0]
    for path in description["quantization"]["matrices"]:
        rows = model.get_submodule(path).weight
        assert all(len(row.unique()) <= 4 for row in rows), path
    changed = [
        not torch.equal(new, old.half().float())
        for new, old in zip(model.parameters(), before.parameters(), strict=True)
    ]
    assert all(changed)  # embeddings and norms have learned, too
    assert main(["quantize", *given]) == 0
    plain = json.loads(capsys.readouterr().out)["loss"]
    assert plain["after"] == pytest.approx(loss["rounded"]) and "rounded" not in plain


def test_training_on_a_grid_that_cannot_be_is_refused_in_one_line(checkpoint, tmp_path, capsys):
    for given, said in (
        (["names-gpt", "--train", "5", "--method", "awq"], "--train goes with --method rounding"),
        (["names-gpt", "--train", "5", "--learning-rate", "0"], "--learning-rate must be a number"),
        (["names-gpt", "--train", "-1"], "--train"),
        ([str(checkpoint), "--train", "5"], "no plan that can be trained"),
    ):
        out = ["--out", str(tmp_path / "deep" / "small")]
        assert said in refused(capsys, "quantize", *given, "--per", "channel", *out)
        assert not (tmp_path / "deep").exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--bits", "1"], "--bits must be from 2 to 8; got 1"),
        (["--bits", "33"], "--bits must be from 2 to 8; got 33"),
        (["--bits", "four"], "whole number"),
        (["--group", "64"], "--group must be at most 24, the weights of a row; got 64"),
        (["--group", "5"], "--group must divide 24, the weights of a row; got 5"),
        (["--group", "0"], "must be a whole number of at least 1; got 0"),
        (["--clip", "2"], "--clip must be above 0 and at most 1; got 2.0"),
        (["--per", "layer"], "--per must be one of tensor, channel, group; got"),
        (["--out", ""], "must not be empty"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(checkpoint, tmp_path, capsys, given, said):
    more = ["--out", str(tmp_path / "deep" / "small"), "--documents", "0", *given]
    assert said in refused(capsys, "quantize", str(checkpoint), *more)
    assert not (tmp_path / "deep").exists()


def test_a_folder_with_other_files_is_left_as_it_is(checkpoint, tmp_path, capsys):
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    given = [str(checkpoint), "--per", "channel", "--documents", "0", "--out", str(tmp_path)]
    assert "already holds a run or other files" in refused(capsys, "quantize", *given)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_weights_that_are_no_numbers_and_models_that_are_none_are_refused(tmp_path, capsys):
    folder = make_checkpoint(tmp_path)
    weights = load_tensors(folder / "model.safetensors")
    weights["blocks.1.mlp.hidden.weight"][0, 0] = float("nan")
    save_tensors(folder / "model.safetensors", weights)
    for given, said in (
        ([str(folder), "--per", "channel"], "blocks.1.mlp.hidden.weight holds NaN: 1 of"),
        ([str(tmp_path / "nothing")], "there is no run or checkpoint"),
        (["names-rnn"], "linear layers of transformer blocks"),
    ):
        assert said in refused(capsys, "quantize", *given, "--documents", "0")


def test_an_imported_model_is_measured_on_a_text_that_is_named_or_not_at_all(tmp_path, capsys):
    folder = make_gpt2(tmp_path / "published")
    text = tmp_path / "text.txt"
    text.write_text("The cat sat on the mat. " * 20, "utf-8")
    assert main(["import", str(folder), "--out", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    for number, checkpoint in enumerate((folder, tmp_path / "run")):
        out = tmp_path / f"small{number}"
        given = ["quantize", str(checkpoint), "--per", "channel"]
        assert main([*given, "--json", "--out", str(out)]) == 0
        said = capsys.readouterr()
        assert "loss" not in json.loads(said.out) and "--corpus" in said.err
        assert main([*given, "--json", "--corpus", str(text)]) == 0
        said = capsys.readouterr()
        before = json.loads(said.out)["loss"]["before"]
        end = ["--end", "--json", "--corpus", str(text)]
        assert main(["eval", "--checkpoint", str(checkpoint), *end]) == 0
        assert before == pytest.approx(json.loads(capsys.readouterr().out)["nats_per_token"])
        assert load_trained(out).model.context_length == 64
        problem = refused(capsys, *given, "--train", "5")
        assert ("--train" in problem) if number == 0 else ("no plan" in problem)
        assert "'plan'" not in problem


def test_awq_is_calibrated_on_what_the_model_read_or_says_that_it_is_not(
    checkpoint, tmp_path, capsys, monkeypatch
):
    calibrated = []
    monkeypatch.setattr(
        quantized_models,
        "stories",
        lambda count, seed: calibrated.append("stories") or ["Anna met Samir."],
    )
    own = quantized_models.rows_of
    monkeypatch.setattr(
        quantized_models,
        "rows_of",
        lambda tokenizer, texts, length: calibrated.append(texts) or own(tokenizer, texts, length),
    )
    awq = ["--per", "channel", "--method", "awq", "--documents", "2"]
    assert main(["quantize", "names-gpt", *awq]) == 0
    said = capsys.readouterr().err
    (names,) = calibrated
    corpus = {str(one) for one in load_corpus("names").documents}
    assert names and set(names) <= corpus and not said
    text = tmp_path / "own.jsonl"
    lines = [json.dumps({"text": f"line {number}"}) for number in range(9)]
    text.write_text("\n".join(lines), "utf-8")
    assert main(["quantize", "names-gpt", *awq, "--corpus", str(text)]) == 0
    assert calibrated[-1] == [f"line {number}" for number in range(2, 9)]  # behind the measured
    imported = make_gpt2(tmp_path / "gpt2")
    capsys.readouterr()
    assert main(["quantize", str(imported), *awq]) == 0
    assert "stories" in calibrated and "tiny-world" in capsys.readouterr().err


def test_awq_names_the_setting_that_does_not_fit(tmp_path, capsys):
    folder = make_llama(tmp_path / "llama")
    given = ["quantize", str(folder), "--per", "channel", "--method", "awq"]
    assert "n_kv_head=2 in place of 4" in refused(capsys, *given)
