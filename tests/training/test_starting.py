"""Going on from a trained model: its weights are where the run begins, whatever kills it."""

import json
import shutil

import pytest
import torch

import llmviz
from llmviz.training import read_metrics
from llmviz.training.plan import prepare_again
from llmviz.training.reading import CHAT
from llmviz.training.run_folder import run_in_folder
from llmviz.training.starting import begin_from, plan_of_base
from llmviz.training.tensors import load_tensors
from tests.published_models import make_gpt2, make_llama
from tests.test_cli import FAST, call, refused
from tests.training.conftest import same_end

TEXT = "the owl sang a song\n\n" * 80
FOUR_STEPS = {"device": "cpu", "dtype": "float32", "threads": 1, "batch_size": 4}
FOUR_STEPS |= {"eval_batches": 1, "steps": 4}


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "own.txt"
    path.write_text(TEXT, encoding="utf-8")
    return str(path)


def train(capsys, base, out, text, *more):
    given = ["train", "--from", str(base), "--corpus", text, "--out", str(out), "--eval-batches=1"]
    return call(capsys, *given, "--steps=4", *FAST, *more)


@pytest.mark.parametrize(
    ("name", "corpus"),
    [
        ("names-gpt", None),
        ("names-gru", None),
        ("names-bigram", None),
        ("masked-words", None),
        ("pairs-seq2seq", "pairs"),
    ],
)
def test_a_run_begins_with_the_weights_and_tokens_of_its_base(capsys, tmp_path, text, name, corpus):
    base = llmviz.load(name)
    out = tmp_path / "run"
    code, _, err = train(capsys, name, out, corpus or text, "--lr=1e-6", "--checkpoint-every=0")
    assert code == 0, err
    after = llmviz.load(out)
    assert after.kind == base.kind and after.tokenizer.to_dict() == base.tokenizer.to_dict()
    assert after.module.config == base.module.config
    start, end = base.module.state_dict(), after.module.state_dict()
    moved = max((end[key] - start[key]).abs().max().item() for key in start)
    assert 0 < moved < 1e-4  # four steps of a millionth
    config = json.loads((out / "config.json").read_text("utf-8"))
    assert config["plan"]["base"] == name


def test_the_first_loss_is_that_of_the_base_on_its_batch(capsys, tmp_path, text):
    base = llmviz.load("names-gpt")
    assert train(capsys, "names-gpt", tmp_path / "run", text, "--set", "dropout=0.0")[0] == 0
    first = read_metrics(tmp_path / "run")[0].train_loss
    inputs, targets = prepare_again(tmp_path / "run").data.batch(1, 4)
    with torch.no_grad():
        expected = base.module(inputs, targets)[1].item()
    assert first == pytest.approx(expected, rel=1e-5)


def test_what_is_killed_at_any_step_goes_on_bit_for_bit(capsys, tmp_path, text):
    whole, begun, cut = (tmp_path / one for one in ("whole", "begun", "cut"))
    assert train(capsys, "names-gpt", whole, text)[0] == 0
    base = llmviz.load("names-gpt")._trained
    plan = plan_of_base(base, {"base": "names-gpt", "corpus": text}, {}, FOUR_STEPS)
    begun.mkdir()
    run = begin_from(base, plan, begun)  # killed before its first step
    started = llmviz.load(begun)
    assert all(torch.equal(started.module.state_dict()[k], v)
               for k, v in base.model.state_dict().items())  # fmt: skip
    shutil.copytree(begun, cut)
    records = run_in_folder(cut, run, resume=True)
    next(records), next(records)
    records.close()  # interrupted after two
    for folder in (begun, cut):
        assert call(capsys, "train", "--out", str(folder), "--resume")[0] == 0
        assert same_end(whole, folder)
    assert train(capsys, "names-gpt", whole, text, "--resume", "--steps=5")[0] == 0
    line = refused(capsys, "train", "--from", "names-gru", "--out", str(whole), "--resume")
    assert "--from cannot change in a run that is resumed" in line


@pytest.mark.parametrize("make", [make_gpt2, make_llama], ids=["gpt2", "llama"])
def test_a_published_model_goes_on_with_its_own_tokens_context_and_template(
    capsys, tmp_path, text, make
):
    folder, out = make(tmp_path / "theirs"), tmp_path / "run"
    (folder / "tokenizer_config.json").write_text('{"chat_template": "{{ messages }}"}', "utf-8")
    assert train(capsys, folder, out, text, "--checkpoint-every=2")[0] == 0
    theirs, ours = llmviz.load(folder), llmviz.load(out)
    assert ours.tokenizer.encode_from_start("The cat") == theirs.tokenizer.encode_from_start(
        "The cat"
    )
    assert ours.context_length == theirs.context_length
    assert ours.loss(TEXT[:200]) < theirs.loss(TEXT[:200])
    for one in (ours, llmviz.load(out)):
        assert one.description[CHAT]["template"] == "{{ messages }}"
    assert call(capsys, "train", "--out", str(out), "--resume", "--steps=5")[0] == 0
    assert llmviz.load(out).description[CHAT]["template"] == "{{ messages }}"
    assert call(capsys, "generate", "--checkpoint", str(out), "--tokens=2")[0] == 0


def test_from_python_a_model_goes_on_as_well(tmp_path):
    base = llmviz.load("names-gpt")
    few: dict = {"steps": 2, "batch_size": 2, "eval_batches": 1, "dtype": "float32", "threads": 1}
    run = llmviz.train(TEXT, base=base, **few, out=tmp_path / "run")
    again = llmviz.train(TEXT, base="names-gpt", **few)
    assert run.model.kind == "gpt"
    weights = [load_tensors(one.folder / "model.safetensors") for one in (run, again)]
    assert all(torch.equal(weights[0][key], weights[1][key]) for key in weights[0])
    with pytest.raises(ValueError, match="model must be left out: names-gpt is a gpt"):
        llmviz.train(TEXT, "lstm", base=base, steps=1)


@pytest.mark.parametrize("name", ["names-gpt", "masked-words", "gpt2"])
def test_a_change_of_low_rank_is_trained_and_read_as_a_model_like_any_other(
    capsys, tmp_path, text, name
):
    base = str(make_gpt2(tmp_path / "theirs")) if name == "gpt2" else name
    whole, saved = tmp_path / "whole", tmp_path / "saved"
    assert train(capsys, base, whole, text, "--lora=2", "--lr=0.01")[0] == 0
    before, after = llmviz.load(base), llmviz.load(whole)
    own, new = before.module.state_dict(), after.module.state_dict()
    assert own.keys() == new.keys()
    ranks = {
        key: int(torch.linalg.matrix_rank((new[key] - own[key]).double(), rtol=1e-3))
        for key in own
        if not torch.equal(own[key], new[key])
    }
    assert ranks and set(ranks.values()) <= {1, 2} and not any("embed" in key for key in ranks)
    assert call(capsys, "train", "--out", str(whole), "--resume", "--steps=6")[0] == 0
    after.save(saved)
    assert torch.equal(llmviz.load(saved).module.state_dict()[min(ranks)], new[min(ranks)])
    again = ["train", "--from", str(whole), "--corpus", text, "--out", str(tmp_path / "again")]
    assert call(capsys, *again, "--steps=1", "--lora=1", "--eval-batches=1", *FAST)[0] == 0


def test_a_cut_run_of_low_rank_goes_on_bit_for_bit(capsys, tmp_path, text):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    base = llmviz.load("names-gpt")._trained
    plan = plan_of_base(base, {"base": "names-gpt", "corpus": text, "lora": 2}, {}, FOUR_STEPS)
    for folder, steps in ((whole, 4), (cut, 2)):
        folder.mkdir()
        records = run_in_folder(folder, begin_from(base, plan, folder), resume=True)
        for _ in range(steps):
            next(records)
        records.close()
    assert call(capsys, "train", "--out", str(cut), "--resume")[0] == 0
    assert same_end(whole, cut)


BAD = {
    "no base": (["--lora=2"], "--lora is for a model that is gone on from"),
    "no attention": (["--from=names-gru", "--lora=2"], "--lora is for models with attention"),
    "a large rank": (["--from=names-gpt", "--lora=999"], "rank must be at most"),
    "nowhere": (["--from=nowhere"], "nearest are"),
    "a folder of nothing": (["--from=."], "config.json is missing"),
    "its model": (["--from=names-gpt", "--model=lstm"], "--model must be left out"),
    "its tokens": (["--from=names-gpt", "--tokenizer=bpe"], "--tokenizer must be left out"),
    "its size": (["--from=names-gpt", "--n-layer=9"], "--n-layer cannot change in a model"),
    "a setting": (["--from=names-gpt", "--set", "positions=rotary"], "positions cannot change"),
    "its context": (["--from=names-gpt", "--context-length=17"], "at most that of the model, 16"),
    "another kind of text": (["--from=names-gpt", "--corpus=pairs"], "translations"),
    "texts for pairs": (["--from=pairs-seq2seq"], "pairs of sentences"),
    "an empty name": (["--from="], "must not be empty"),
}


@pytest.mark.parametrize(("given", "words"), BAD.values(), ids=BAD)
def test_what_does_not_fit_the_base_is_one_line_and_leaves_nothing(
    capsys, tmp_path, text, monkeypatch, given, words
):
    monkeypatch.chdir(tmp_path)
    line = ["train", "--corpus", text, "--out", "run", "--steps", "1", *FAST, *given]
    assert words in refused(capsys, *line)
    assert not list(tmp_path.iterdir())
