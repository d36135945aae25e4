"""The command line: what it prints, what it writes, exit codes, one line for a mistake."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
import torch

import llmviz
from llmviz.cli import main
from llmviz.corpus import PROBES, load_corpus
from llmviz.files.paths import BUNDLED_CHECKPOINTS
from llmviz.models import GPT, MODELS, GPTConfig
from llmviz.pretrained import load_bundled
from llmviz.tokenizers import ENDOFTEXT, BPETokenizer, TokenizerUnavailable, get_tokenizer
from llmviz.training import load_checkpoint, read_metrics
from llmviz.training.evaluate import probe_scores
from llmviz.training.files import read_json
from llmviz.training.recipes import SINCE_2017
from llmviz.training.run_folder import load_trained
from llmviz.training.tensors import load_tensors, save_tensors
from tests.finetuning.conftest import small_base
from tests.pages.small_model import make_checkpoint
from tests.serving import test_text_behind_a_prompt as behind
from tests.sources import ROOT

__all__ = ["small_base"]  # a fixture

FAST = ["--device", "cpu", "--dtype", "float32", "--threads", "1", "--batch-size", "4"]
SMALL = ["--n-layer", "1", "--n-head", "1", "--n-embd", "8", "--context-length", "16"]


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "any.txt"
    path.write_text("The cat sat on the mat. The dog sat on the cat.\n" * 60, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def trained(text, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "a"
    given = ["train", "--corpus", str(text), "--out", str(out), "--steps", "5", *FAST, *SMALL]
    assert main(given) == 0
    return out


def call(capsys, *arguments):
    """Exit code, standard output, standard error."""
    try:
        code = main(list(arguments))
    except SystemExit as stop:
        code = stop.code
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def refused(capsys, *arguments):
    """The one line with which a command refuses."""
    code, out, err = call(capsys, *arguments)
    assert code == 2 and out == ""
    lines = err.strip().splitlines()
    assert len(lines) == 1, err
    return lines[0]


def test_training_on_any_text_file_just_works(trained, text):
    written = {"config.json", "metrics.jsonl", "model.safetensors", "run.toml", "tokenizer.json"}
    assert {path.name for path in trained.iterdir()} == {"checkpoints", *written}
    records = read_metrics(trained)
    assert [r.step for r in records] == [1, 2, 3, 4, 5]
    assert records[-1].validation_loss > 0
    config = json.loads((trained / "config.json").read_text(encoding="utf-8"))
    assert config["model"]["name"] == "gpt" and config["model"]["config"]["n_embd"] == 8
    assert config["plan"]["corpus"] == str(text) and config["plan"]["tokenizer"] == "char"


@pytest.mark.parametrize(
    "model",
    sorted(name for name, entry in MODELS.items() if not entry.translates and name != "gpt"),
)
def test_every_model_of_the_registry_trains(capsys, text, tmp_path, model):
    size = ["--set", "window=4"] if model == "mlp" else []
    given = ["train", "--model", model, "--corpus", str(text), "--out", str(tmp_path / "r")]
    given += ["--steps", "2", "--context-length", "16", "--json"]
    code, out, _ = call(capsys, *given, *size, *FAST)
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and [line["step"] for line in lines] == [1, 2]
    assert lines == [json.loads(x) for x in (tmp_path / "r" / "metrics.jsonl").open()]


@pytest.mark.parametrize("model", sorted(name for name in MODELS if MODELS[name].translates))
def test_translation_trains_translates_and_says_what_it_does_not_know(capsys, tmp_path, model):
    out = str(tmp_path / "r")
    attends = MODELS[model].attention
    sizes = ["--n-embd", "8", *(["--n-layer", "1", "--n-head", "1"] if attends else [])]
    given = ["--model", model, "--steps", "1"]  # by itself it reads the words of the pairs
    assert call(capsys, "train", *given, "--out", out, "--eval-batches", "1", *sizes, *FAST)[0] == 0
    code, _, _ = call(
        capsys, "generate", "--checkpoint", out, "--prompt", "the cat", "--tokens", "3"
    )
    assert code == 0
    assert "--prompt must be a sentence" in refused(capsys, "generate", "--checkpoint", out)
    given = ["generate", "--checkpoint", out, "--prompt", "the xyzzy sleeps"]
    assert "does not know 'xyzzy'" in call(capsys, *given)[2]


def test_word_vectors_train_on_any_text_and_say_that_they_write_none(capsys, text, tmp_path):
    out = str(tmp_path / "r")
    given = ["train", "--model", "word2vec", "--corpus", str(text), "--out", out, "--steps", "3"]
    assert call(capsys, *given, *FAST)[0] == 0
    config = json.loads((tmp_path / "r" / "config.json").read_text("utf-8"))
    assert config["plan"]["tokenizer"] == "word" and config["train"]["weight_decay"] == 0
    assert "writes no text" in refused(capsys, "generate", "--checkpoint", out, "--prompt", "cat")
    code, _, err = call(capsys, "train", "--out", out, "--resume", "--steps", "5", "--json")
    assert code == 0 and "Traceback" not in err
    assert [record.step for record in read_metrics(out)] == [1, 2, 3, 4, 5]


def test_generate_continues_and_repeats_itself_for_a_seed(capsys, trained):
    given = ["generate", "--checkpoint", str(trained), "--prompt", "The cat", "--tokens", "12"]
    first, again = call(capsys, *given)[1], call(capsys, *given)[1]
    assert first == again and first.startswith("The cat")
    other = [call(capsys, *given, "--seed", str(seed))[1] for seed in range(1, 5)]
    assert any(text != first for text in other)
    code, out, _ = call(capsys, *given, "--json")
    pieces = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and "The cat" + "".join(p["text"] for p in pieces) == first.rstrip("\n")
    assert "at most 2147483647" in refused(capsys, *given, "--seed", "9" * 20)
    greedy = [*given, "--temperature", "0"]
    assert call(capsys, *greedy)[1] == call(capsys, *greedy, "--seed", "9")[1]


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A small random GPT-2 with GPT-2's own tokens, as transformers writes it."""
    transformers = pytest.importorskip("transformers")
    try:
        vocabulary = get_tokenizer("gpt2").vocab_size
    except TokenizerUnavailable as problem:
        pytest.skip(str(problem))
    torch.manual_seed(0)
    sizes = dict(n_positions=32, n_embd=16, n_layer=1, n_head=2, initializer_range=0.5)
    config = transformers.GPT2Config(vocab_size=vocabulary, **sizes)
    folder = tmp_path_factory.mktemp("published")
    model = transformers.GPT2LMHeadModel(config).eval()
    model.save_pretrained(folder)
    return folder, model


def test_generate_takes_a_gpt2_in_its_published_format(capsys, published, monkeypatch):
    folder, model = published
    tokenizer = get_tokenizer("gpt2")
    ids = tokenizer.encode("The cat")
    with torch.no_grad():
        for _ in range(8):
            ids.append(int(model(torch.tensor([ids])).logits[0, -1].argmax()))
    expected = tokenizer.decode(ids)
    given = ["generate", "--prompt", "The cat", "--tokens", "8", "--temperature", "0"]
    assert call(capsys, *given, "--checkpoint", str(folder)) == (0, expected + "\n", "")
    packed = call(capsys, *given, "--checkpoint", str(folder), "--precision", "bfloat16")
    assert packed[0] == 0 and packed[1].startswith("The cat")
    asked = []
    monkeypatch.setattr("llmviz.pretrained.find_folder", lambda name: asked.append(name) or folder)
    assert call(capsys, *given, "--checkpoint", "hub:someone/gpt2")[1] == expected + "\n"
    assert asked == ["someone/gpt2"]


def test_a_gpt2_becomes_a_run(capsys, published, tmp_path):
    folder, model = published
    out = tmp_path / "gpt2"
    code, said, _ = call(capsys, "import", str(folder), "--out", str(out))
    assert code == 0 and "1 layers of 2 heads, width 16, context 32" in said
    trained = load_trained(out)
    ids = torch.tensor([[5, 6, 7]])
    torch.testing.assert_close(trained.model(ids)[0], model(ids).logits, atol=1e-4, rtol=1e-4)
    assert f"import {folder} --out {out}" in trained.description["command"]
    given = ["generate", "--prompt", "The cat", "--tokens", "8", "--checkpoint"]
    assert call(capsys, *given, str(out)) == call(capsys, *given, str(folder))
    assert "already holds" in refused(capsys, "import", str(folder), "--out", str(out))
    assert "no plan" in refused(capsys, "train", "--out", str(out), "--resume")


def test_a_gpt2_with_other_tokens_is_refused(capsys, tmp_path):
    folder, out = tmp_path / "theirs", tmp_path / "ours"
    GPT(GPTConfig(vocab_size=300, n_layer=1, n_head=1, n_embd=8)).to_gpt2(folder)
    reading = (
        ["generate", "--checkpoint", str(folder)],
        ["import", str(folder), "--out", str(out)],
    )
    for given in reading:
        assert "its 300 tokens are not GPT-2's 50,257" in refused(capsys, *given)
        assert not out.exists()
    (folder / "tokenizer.json").write_text("{", encoding="utf-8")
    for given in reading:
        assert "tokenizer.json cannot be read" in refused(capsys, *given)
    (folder / "model.safetensors").write_bytes(b"no")
    for given in reading:  # what is wrong with the model comes first
        assert "model.safetensors is not a readable" in refused(capsys, *given)
    away = refused(capsys, "import", str(tmp_path / "none"), "--out", str(out))
    assert "there is no folder" in away and not out.exists()


def test_a_gpt2_comes_with_its_own_tokens(capsys, tmp_path):
    folder, out = tmp_path / "theirs", tmp_path / "ours"
    own = BPETokenizer.train("the cat sat on the mat. " * 9, 280, ["<|endoftext|>"])
    torch.manual_seed(0)
    config = dict(vocab_size=288, n_layer=1, n_head=1, n_embd=8, context_length=40)
    GPT(GPTConfig(**config)).to_gpt2(folder)
    own.to_huggingface(folder / "tokenizer.json")
    assert call(capsys, "import", str(folder), "--out", str(out))[0] == 0
    tokenizer = load_trained(out).tokenizer
    text = "the cat, a hat"
    assert tokenizer.encode_from_start(text) == own.encode_from_start(text)
    given = ["generate", "--prompt", text, "--tokens", "20", "--checkpoint"]
    written = [call(capsys, *given, str(one)) for one in (folder, out)]
    assert written[0] == written[1] and written[0][0] == 0
    assert written[0][1].startswith(text)


def test_generate_can_write_with_fewer_bits(capsys, trained):
    given = ["generate", "--checkpoint", str(trained), "--prompt", "The cat", "--tokens", "12"]
    plain = call(capsys, *given)[1]
    assert call(capsys, *given, "--precision", "float32")[:2] == (0, plain)
    assert "invalid choice: 'int3'" in refused(capsys, *given, "--precision", "int3")
    bigram = ["generate", "--checkpoint", "names-bigram", "--precision", "int8"]
    assert "for GPTs" in refused(capsys, *bigram)
    gru = ["generate", "--checkpoint", "names-gru", "--precision", "int8"]
    assert "names-gru is a gru" in refused(capsys, *gru)
    pairs = ["generate", "--checkpoint", "pairs-seq2seq", "--prompt", "the cat sleeps"]
    assert "pairs-seq2seq is a seq2seq" in refused(capsys, *pairs, "--precision", "int8")


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("Zo\u00eb\u2603", "does not know 'Z', '\u00eb', '\u2603'; the model reads <|unk|>"),
        ("ZZZ", "does not know 'Z'; the model"),
        ("ABCDEFGHIJ", "'G', 'H', \u2026; the model"),
        ("anna" * 8, "the prompt has 33 tokens; the model reads the last "),
    ],
)
def test_what_a_model_does_not_read_of_a_prompt_is_said(capsys, prompt, said):
    for extra in ([], ["--json"]):
        given = ["generate", "--checkpoint", "names-gpt", "--prompt", prompt, *extra]
        code, _, error = call(capsys, *given, "--tokens", "1")
        assert code == 0 and any(line.startswith("note: ") for line in error.splitlines())
        assert said in error
    assert call(capsys, "generate", "--checkpoint", "names-gpt", "--prompt", "ann")[2] == ""


def test_a_text_that_is_empty_says_why(capsys):
    given = ["generate", "--checkpoint", "names-gpt-no-shift"]
    code, out, error = call(capsys, *given)
    assert (code, out) == (0, "\n")
    assert error == (
        "note: nothing was written: the first token that the model chose ends the text\n"
    )
    assert call(capsys, *given, "--tokens", "0")[2] == ""  # nobody asked for more
    assert json.loads(call(capsys, *given, "--json")[1])["text"] == ""


def test_a_character_that_is_not_whole_is_said(capsys):
    given = ["generate", "--checkpoint", "tiny-world-gpt", "--temperature", "1000"]
    cut = 0
    for seed in range(12):
        _, out, error = call(capsys, *given, "--tokens", "1", "--seed", str(seed))
        written = call(capsys, *given, "--tokens", "1", "--seed", str(seed), "--json")[1]
        broken = "\ufffd" in json.loads(written)["text"]
        assert ("make no whole character" in error) == broken == ("\ufffd" in out)
        cut += broken
    assert cut


def test_options_of_chance_that_a_translation_has_no_use_for_are_said(capsys):
    given = ["generate", "--checkpoint", "pairs-seq2seq", "--prompt", "the cat sleeps"]
    _, out, error = call(capsys, *given)
    assert out.strip() and error == ""
    for option in (["--seed", "4"], ["--temperature", "2"], ["--top-k", "3"], ["--top-p", "0.5"]):
        assert call(capsys, *given, *option)[1] == out
        assert "--seed, --samples change nothing" in (call(capsys, *given, *option)[2])
    assert call(capsys, *given, "--tokens", "0")[:2] == (0, "\n")


def test_tokenize_prints_the_tokenizers_own_ids(capsys):
    text = "the café cat"
    code, out, _ = call(capsys, "tokenize", "--tokenizer", "bpe", "--json", text)
    said = json.loads(out)
    assert code == 0 and said["ids"] == get_tokenizer("bpe").encode(text)
    assert b"".join(map(bytes, said["bytes"])).decode() == text
    code, out, _ = call(capsys, "tokenize", "--tokenizer", "bpe", text)
    assert code == 0 and len(out.splitlines()) == len(said["ids"]) + 1
    assert "runes" in refused(capsys, "tokenize", "--tokenizer", "runes", "x")


def test_tokenize_names_what_the_tokenizer_does_not_know(capsys):
    for name, text, unknown in (("word", "the xyzzy cat", "xyzzy"), ("char", "a\u2603b", "\u2603")):
        code, out, _ = call(capsys, "tokenize", "--tokenizer", name, "--json", text)
        answer, special = json.loads(out), get_tokenizer(name).special_tokens
        assert code == 0 and answer["ids"][1] == special["<|unk|>"]
        assert answer["tokens"][1] == "<|unk|>" and text.startswith(answer["tokens"][0])
        assert bytes(answer["bytes"][1]).decode() == unknown
        _, out, _ = call(capsys, "tokenize", "--tokenizer", name, text)
        assert f"<|unk|> for '{unknown}'" in out.splitlines()[2]


def test_no_padding_is_written(capsys, trained, tmp_path):
    """A model whose logits are all alike writes each token but the padding."""
    copy = tmp_path / "copy"
    shutil.copytree(trained, copy)
    shutil.rmtree(copy / "checkpoints")
    weights = load_tensors(copy / "model.safetensors")
    flat = {name: torch.zeros_like(weight) for name, weight in weights.items()}
    save_tensors(copy / "model.safetensors", flat)
    ids = load_trained(copy).tokenizer.special_tokens
    written = set()
    for seed in range(20):
        given = ["generate", "--checkpoint", str(copy), "--json", "--seed", str(seed)]
        lines = call(capsys, *given)[1].splitlines()
        written |= {json.loads(line)["id"] for line in lines}
    assert ids["<|unk|>"] in written and ids["<|endoftext|>"] in written
    assert ids["<|pad|>"] not in written


def test_models_lists_the_registry(capsys):
    _, out, _ = call(capsys, "models", "--json")
    listed = json.loads(out)
    assert listed.keys() == MODELS.keys()
    assert listed["bigram"]["parameters"] == 27 * 27
    _, out, _ = call(capsys, "models")
    assert all(name in out for name in MODELS)


def test_corpus_lists_shows_and_gets(capsys, text):
    _, out, _ = call(capsys, "corpus", "list")
    assert "tiny-world" in out and "names" in out
    _, out, _ = call(capsys, "corpus", "show", str(text), "--json")
    assert json.loads(out)["characters"] == len(text.read_text(encoding="utf-8"))
    for name in ("story", str(text)):
        code, out, _ = call(capsys, "corpus", "get", name, "--json")
        assert code == 0 and load_corpus(json.loads(out)["file"]).text == load_corpus(name).text
    code, out, _ = call(capsys, "corpus", "get", "pairs", "--json")
    assert code == 0 and json.loads(out)["file"] is None
    assert str(text) in call(capsys, "corpus", "get", str(text))[1]
    assert "no corpus" in refused(capsys, "corpus", "show", "nowhere")


def test_checkpoints_lists_the_recipes(capsys):
    _, out, _ = call(capsys, "checkpoints", "list")
    assert "tiny-world-gpt" in out and "names-bigram" in out
    assert "checkpoint must be one of" in refused(capsys, "checkpoints", "make", "nonsense")
    card = read_json(BUNDLED_CHECKPOINTS / "tiny-world-gpt" / "card.json")
    lowest = min(card["probes"].values(), key=lambda one: one["share"])
    (line,) = (line for line in out.splitlines() if line.startswith("tiny-world-gpt "))
    assert f" {100 * lowest['share']:.1f} % ({100 * lowest['low']:.1f} to" in line


def test_a_model_is_scored_on_probes_with_their_interval(capsys):
    name = f"{SINCE_2017}/rotary"
    given = ["checkpoints", "score", name, "--probes", "12", "--seed", "5"]
    code, out, _ = call(capsys, *given, "--json")
    scores = json.loads(out)
    assert code == 0 and set(scores) == set(PROBES)
    model, tokenizer, _ = load_bundled(name)
    known = probe_scores(model, tokenizer, ["days", "sums"], 12, seed=5)
    for kind, one in known.items():
        assert scores[kind] == one.of_two.to_dict() | {"greedy": one.greedy.to_dict()}
    code, out, _ = call(capsys, *given)
    lines = out.splitlines()
    assert code == 0 and len(lines) == 1 + len(PROBES) + 2
    (line,) = (line for line in lines if line.startswith("days "))
    assert str(known["days"].of_two) in line and line.endswith(str(known["days"].greedy))
    assert "guessing: 50 %" in lines[-2]
    for other, why in (
        ("names-gpt", "names-gpt is gpt on names"),
        ("masked-words", "masked-words is bert on tiny-world"),
        ("pairs-seq2seq", "seq2seq on pairs"),
        ("nowhere", "no run or checkpoint 'nowhere'"),
    ):
        assert why in refused(capsys, "checkpoints", "score", other)
    assert "at least 1" in refused(capsys, "checkpoints", "score", name, "--probes", "0")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--model", "oracle"], "model must be one of"),
        (["--corpus", "/nowhere/x.txt"], "no corpus"),
        (["--tokenizer", "runes"], "tokenizer must be one of"),
        (
            ["--n-embd", "30", "--n-head", "4"],
            "--n-head must divide --n-embd; got --n-embd=30, --n-head=4",
        ),
        (["--n-embd", "-8"], "at least 1; got -8"),
        (["--steps", "0"], "at least 1; got 0"),
        (["--steps", "many"], "got many"),
        (["--lr", "nan"], "must be a number"),
        (["--lr", "-1"], "--lr must be"),
        (["--context-length", "100000"], "longer than the context"),
        (["--device", "abacus"], "device must be one of"),
        (["--set", "colour"], "NAME=VALUE"),
        (["--set", "colour=red"], "no field 'colour'"),
        (["--model", "bigram", "--n-layer", "2"], "--n-layer: BigramConfig has no field 'n_layer'"),
        (["--characters", "9"], "--characters must be left out"),
        (["--batch-size", "2", "--accumulate", "3"], "accumulate must not exceed"),
        (["--nonsense"], "unrecognized arguments"),
    ],
)
def test_a_wrong_setting_of_train_is_one_line(capsys, text, tmp_path, given, words):
    base = ["train", "--corpus", str(text), "--out", str(tmp_path / "run"), "--steps", "1"]
    assert words in refused(capsys, *base, *given)


def test_a_learning_rate_of_a_million_stops_with_advice(capsys, text, tmp_path):
    given = ["train", "--corpus", str(text), "--out", str(tmp_path / "r"), "--lr", "1e6"]
    code, _, err = call(capsys, *given, "--warmup-steps", "0", "--steps", "50", *FAST, *SMALL)
    assert code == 2 and "loss is not finite at step" in err and "smaller learning rate" in err
    assert read_metrics(tmp_path / "r")  # the curve stays


@pytest.mark.parametrize("content", ["", "  \n ", "ab"])
def test_an_empty_or_tiny_corpus_is_refused(capsys, tmp_path, content):
    (tmp_path / "x.txt").write_text(content, encoding="utf-8")
    given = ["--corpus", str(tmp_path / "x.txt"), "--out", str(tmp_path / "r")]
    assert refused(capsys, "train", *given)


def start(*arguments, **more):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), **more}
    return subprocess.Popen(
        [sys.executable, "-m", "llmviz", *arguments],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow  # it is killed
def test_a_fine_tuning_killed_before_its_first_checkpoint_is_not_finished_and_goes_on(
    capsys, tmp_path, small_base, monkeypatch
):
    monkeypatch.setattr("llmviz.pretrained.CHECKPOINTS", small_base)
    given = ["finetune", "--task", "instructions", "--examples", "20", "--test-examples", "5"]
    given += ["--steps", "4", "--checkpoint-every", "4", "--eval-every", "0", "--mix", "0"]
    cut, whole = tmp_path / "cut", tmp_path / "whole"
    process = start(*given, "--out", str(cut), LLMVIZ_CHECKPOINTS=str(small_base))
    deadline = time.monotonic() + 180
    while not (cut / "config.json").exists() and time.monotonic() < deadline:
        time.sleep(0.005)
    process.kill()
    process.communicate(timeout=60)
    left = {path.name for path in cut.iterdir()}
    if not left & {"latest.safetensors", "card.json"}:  # as good as always
        assert not list(cut.rglob("*.safetensors")) and "card.json" not in left
        assert "no checkpoint yet" in refused(capsys, "generate", "--checkpoint", str(cut))
    assert call(capsys, *given, "--out", str(cut), "--resume")[0] == 0
    assert call(capsys, *given, "--out", str(whole))[0] == 0
    cards = [read_json(folder / "card.json") for folder in (cut, whole)]
    assert cards[0]["right"] == cards[1]["right"] and (cut / "card.json").exists()
    curves = [[(r.step, r.train_loss) for r in read_metrics(out)] for out in (cut, whole)]
    assert curves[0] == curves[1]


def wait_for_step(out, step):
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        records = read_metrics(out)
        if records and records[-1].step >= step:
            return
        time.sleep(0.02)
    raise AssertionError(f"no step {step} in time")


@pytest.mark.slow  # it is killed
def test_interrupted_then_killed_then_resumed_is_the_run_that_never_stopped(
    capsys, text, tmp_path, ctrl_c
):
    settings = ["--corpus", str(text), "--checkpoint-every", "7", "--eval-every", "0"]
    settings += [*FAST, *SMALL, "--set", "dropout=0.1", "--steps", "150"]
    whole, cut = tmp_path / "whole", tmp_path / "cut"

    process = start("train", "--out", str(cut), *settings)
    wait_for_step(cut, 10)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in err
    interrupted = read_metrics(cut)[-1].step
    assert load_checkpoint(cut).step == interrupted < 150

    process = start("train", "--out", str(cut), "--resume")
    wait_for_step(cut, interrupted + 30)
    process.kill()
    process.communicate(timeout=60)
    assert load_checkpoint(cut).step >= interrupted + 21  # at most the steps since the last one

    assert call(capsys, "train", "--out", str(cut), "--resume")[0] == 0
    assert call(capsys, "train", "--out", str(whole), *settings)[0] == 0
    ends = [load_checkpoint(out).model for out in (whole, cut)]
    assert all(torch.equal(ends[0][name], ends[1][name]) for name in ends[0])
    curves = [[(r.step, r.train_loss) for r in read_metrics(out)] for out in (whole, cut)]
    assert curves[0] == curves[1]


def test_a_prompt_is_read_with_its_special_tokens_where_that_is_asked_for(capsys):
    given = ["generate", "--checkpoint", "names-gpt", "--tokens", "4", "--temperature", "0"]
    special = f"anna{ENDOFTEXT}bo"
    code, plain, note = call(capsys, *given, "--prompt", special)
    assert code == 0 and ENDOFTEXT in note and "--special" in note
    code, said, note = call(capsys, *given, "--prompt", special, "--special")
    assert (code, note) == (0, "")
    model = llmviz.load("names-gpt")
    written = model.generate(special, 4, temperature=0, special=True)
    assert said == f"{special}{written}\n" and said != plain


def test_the_text_of_each_token_is_what_it_adds(capsys, tmp_path):
    """SentencePiece's tokens have their space in front, which alone is not written."""
    checkpoint = make_checkpoint(tmp_path, "spaced", behind.TOKENIZER)
    unwritten = [str(behind.ID[text]) for text in ("<unk>", "<s>", "</s>", *behind.BYTES)]
    given = ["generate", "--checkpoint", str(checkpoint), "--prompt", "The", "--tokens", "9"]
    _, whole, _ = call(capsys, *given, "--banned", *unwritten)
    lines = call(capsys, *given, "--json", "--banned", *unwritten)[1].splitlines()
    added = whole.removeprefix("The").removesuffix("\n")
    assert "".join(json.loads(line)["text"] for line in lines) == added and " " in added
