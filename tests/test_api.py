"""The public face: what `llmviz.load` and `llmviz.train` give is what the engine computes."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F

import llmviz
from llmviz.api.continuing import Continuation
from llmviz.cli import main
from llmviz.files.nearest import nearest
from llmviz.pretrained import load_bundled
from llmviz.sampling import generate
from llmviz.tokenizers import ENDOFTEXT, get_tokenizer
from llmviz.training.data import padding_ids
from llmviz.training.evaluate import evaluate_documents
from llmviz.training.measures import bits_per_byte

TEXT = "adalbert"


@pytest.fixture(scope="module")
def names():
    return llmviz.load("names-gpt")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "a"
    sizes = {"n_layer": 1, "n_head": 1, "n_embd": 8, "context_length": 16}
    settings = {"batch_size": 4, "threads": 1, "device": "cpu", "eval_every": 2}
    text = "The cat sat on the mat.\n" * 60
    return llmviz.train(text, steps=5, out=out, **sizes, **settings)


def test_what_is_public_is_there_and_importing_it_imports_nothing_that_takes_long():
    assert set(llmviz.__all__) <= set(dir(llmviz))
    code = (
        "import sys, llmviz\n"
        "heavy = {'torch', 'numpy', 'pandas', 'streamlit', 'requests'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "assert len(sys.modules) < 200, len(sys.modules)\n"
        "from llmviz import *"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_logits_loss_and_score_are_those_of_the_network(names):
    module, tokenizer, _ = load_bundled("names-gpt")
    ids = tokenizer.encode_from_start(TEXT)
    with torch.no_grad():
        expected = module(torch.tensor([ids]))[0][0]
    torch.testing.assert_close(names.logits(TEXT), expected)
    assert "".join(names.tokens(TEXT)[1:]) == TEXT and len(names.tokens(TEXT)) == len(ids)
    loss = F.cross_entropy(expected[:-1], torch.tensor(ids[1:])).item()
    assert names.loss(TEXT) == pytest.approx(loss, rel=1e-5)
    several = [TEXT, "zoe", "al"]
    whole = evaluate_documents(module, tokenizer, several)
    assert names.loss(several, end=True) == pytest.approx(whole.per_token)
    (one,) = names.score(TEXT)
    assert one.tokens == len(ids) - 1
    assert one.bits_per_byte == pytest.approx(bits_per_byte(loss * one.tokens, len(TEXT)))


def test_a_stride_gives_each_token_at_least_as_much_to_read(names):
    """Held against one forward pass for each token, with all that fits before it."""
    text = "anna" * 9
    context, ids = names.context_length, names.tokenizer.encode_from_start("anna" * 9)
    assert len(ids) > context
    nats = 0.0
    with torch.no_grad():
        for i in range(1, len(ids)):
            logits = names.module(torch.tensor([ids[max(0, i - context) : i]]))[0][0, -1]
            nats -= logits.log_softmax(-1)[ids[i]].item()
    (closest,) = names.score(text, stride=1)
    assert closest.nats == pytest.approx(nats, rel=1e-5)
    for stride in (2, context // 2, context):
        (other,) = names.score(text, stride=stride)
        assert other.tokens == closest.tokens == len(ids) - 1


def test_where_nothing_stands_in_front_of_a_text_its_first_token_is_not_counted():
    model = llmviz.load("tiny-world-gpt")
    model.tokenizer.front = ()
    text = "It was Saturday."
    ids = model.tokenizer.encode(text)
    (one,) = model.score(text)
    first = model.tokenizer.token_bytes(ids[0])
    assert (one.tokens, one.bytes) == (len(ids) - 1, len(text) - len(first))
    with pytest.raises(ValueError, match="must have a token that is predicted"):
        model.loss(first.decode())


def test_attention_has_every_layer_and_head_and_sums_to_one(names):
    weights = names.attention(TEXT)
    size = len(names.tokens(TEXT))
    config = names.module.config
    assert weights.shape == (config.n_layer, config.n_head, size, size)
    torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))
    assert weights.triu(1).abs().max() == 0
    trace = names.trace(TEXT, ["blocks.1.attn.weights", "logits*"])
    torch.testing.assert_close(trace["blocks.1.attn.weights"][0], weights[1])
    assert set(names.trace(TEXT)) <= set(names.trace_names)


def test_what_is_generated_streamed_and_written_by_the_command_is_the_same(names, capsys):
    settings = {"temperature": 1.2, "min_p": 0.02, "repetition_penalty": 1.1, "top_k": 9}
    text = names.generate("an", tokens=9, seed=4, **settings)
    assert text == "".join(names.stream("an", 9, seed=4, **settings)) and text
    options = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]
    line = ["generate", "--checkpoint=names-gpt", "--prompt=an", "--tokens=9", "--seed=4"]
    assert main([*line, *options]) == 0
    assert capsys.readouterr().out == f"an{text}\n"
    samples = names.generate("an", 9, samples=3, seed=4, **settings)
    assert samples == [names.generate("an", 9, seed=seed, **settings) for seed in (4, 5, 6)]
    assert main([*line, *options, "--samples=3"]) == 0
    assert capsys.readouterr().out == "---\n".join(f"an{one}\n" for one in samples)
    assert names.generate(["an", "bo"], 5) == [
        names.generate("an", 5),
        names.generate("bo", 5, seed=1),
    ]
    assert names.generate("an", 0) == ""


def test_bytes_that_make_no_character_are_given_in_the_end():
    model = llmviz.load("tiny-world-gpt")
    tokenizer = model.tokenizer
    ids = {tokenizer.token_bytes(id): id for id in range(tokenizer.vocab_size)}

    def only(*kept):
        return tuple(set(range(tokenizer.vocab_size)) - set(kept))

    assert model.generate("The", 12, banned=only(ids[b"\xfc"])) == "\ufffd" * 12
    lengths = set()
    for seed in range(8):  # half of a character, and then the end of the text
        banned = only(ids[b"\xe2"], tokenizer.end)
        settings = {"banned": banned, "temperature": 100.0}
        text = Continuation(model._trained, "The", 4, seed, **settings)
        assert "".join(piece for _, piece in text) == "\ufffd" * len(text.written)
        assert model.generate("The", 4, seed=seed, **settings) == "\ufffd" * len(text.written)
        lengths.add(len(text.written))
    assert lengths & {1, 2, 3}


def test_a_model_that_translates_translates(capsys):
    model = llmviz.load("pairs-seq2seq")
    assert main(["generate", "--checkpoint=pairs-seq2seq", "--prompt=the cat sleeps"]) == 0
    assert model.generate("the cat sleeps") == capsys.readouterr().out.rstrip("\n")


def test_a_run_has_its_curves_and_its_model(run, tmp_path):
    assert list(run.curves.index) == [1, 2, 3, 4, 5] and run.curves.index.name == "step"
    measured = run.curves["validation_loss"].dropna()
    assert list(measured.index) == [2, 4, 5]
    assert run.curves["train_loss"].iloc[0] == pytest.approx(math.log(run.model.module.vocab_size),
                                                             rel=0.1)  # fmt: skip
    again = llmviz.load(run.folder)
    assert torch.equal(again.logits("The"), run.model.logits("The"))
    saved = run.model.save(tmp_path / "new" / "copy")
    assert torch.equal(llmviz.load(saved).logits("The"), run.model.logits("The"))
    assert main(["generate", "--checkpoint", str(saved), "--tokens", "1"]) == 0


def test_texts_and_files_become_documents(tmp_path):
    (tmp_path / "a.txt").write_text("one cat sat here\n" * 30, encoding="utf-8")
    (tmp_path / "b.txt").write_text("two dogs sat there\n" * 30, encoding="utf-8")
    fast = {"steps": 1, "model": "bigram", "context_length": 8, "batch_size": 2, "eval_batches": 1}
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    texts = [path.read_text("utf-8") for path in files]
    runs = [llmviz.train(given, **fast) for given in (files, list(map(str, files)), texts)]
    said = [one.model.description["data"] for one in runs]
    assert said[0]["sha256"] == said[1]["sha256"]
    assert [one["documents"] + one["validation_documents"] for one in said] == [2, 2, 2]
    assert llmviz.train(tmp_path, **fast).model.description["data"]["sha256"] == said[0]["sha256"]
    whole = llmviz.train(files[0], **fast)
    assert whole.model.tokenizer.vocab_size < runs[0].model.tokenizer.vocab_size
    assert not [path for path in tmp_path.iterdir() if path not in files]


def test_notes_of_a_folder_come_as_warnings(run, tmp_path):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(run.folder, copy)
    (copy / "wrong.json").write_text('{"step": 9, "line": "loss is not finite"}', encoding="utf-8")
    with pytest.warns(UserWarning, match="went wrong: loss is not finite"):
        model = llmviz.load(copy)
    assert len(model.notes) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        llmviz.load(run.folder)


BAD = {
    "unknown name": (lambda m: llmviz.load("tiny-wrld-gpt"), "nearest are tiny-world-gpt, "),
    "unknown run": (lambda m: llmviz.load("run:nothing"), "no run 'nothing'"),
    "empty folder": (lambda m: llmviz.load("."), "config.json is missing"),
    "too long": (lambda m: m.logits("x" * 500), "context is 16 tokens"),
    "lone surrogate": (lambda m: m.generate("a\ud83d"), "lone surrogate"),
    "no such name": (lambda m: m.trace("a", "blocks.0.atn.weights"), "nearest are blocks.0.attn.w"),
    "no text": (lambda m: m.score([]), "at least one document"),
    "stride": (lambda m: m.score("a", stride=17), "stride must be from 1 to the context of 16"),
    "no samples": (lambda m: m.generate(samples=0), "samples must be at least 1"),
    "both": (lambda m: m.generate(["a"], samples=2), "leave it out for several"),
    "a setting": (lambda m: m.stream("a", top_p=2), "top_p must"),
    "a step": (lambda m: m.stream("a", topk=2), "there is no step 'topk'"),
    "no attention": (lambda m: llmviz.load("names-gru").attention("a"), "has no attention"),
    "two texts": (lambda m: llmviz.load("pairs-seq2seq").logits("a"), "does not read one text"),
    "no writer": (lambda m: llmviz.load("masked-words").stream("a"), "continues no text; those"),
    "no scorer": (lambda m: llmviz.load("masked-words").loss("a"), "predicts no next token"),
    "greedy only": (
        lambda m: llmviz.load("pairs-seq2seq").generate("the cat", top_k=3),
        "takes no top_k",
    ),
    "unknown setting": (lambda m: llmviz.train("names", stepz=2), "nearest are steps"),
    "unknown model": (lambda m: llmviz.train("names", "oracle"), "model must be one of"),
    "mixed": (lambda m: llmviz.train([Path("a.txt"), "x\ny"]), "either texts or files"),
    "no file": (lambda m: llmviz.train("no-such.txt", steps=1), "no corpus and no file"),
    "empty text": (lambda m: llmviz.train([], steps=1), "the text is empty"),
    "short text": (lambda m: llmviz.train("a\n", steps=1), "must|needs|empty|too short"),
    "a full folder": (lambda m: llmviz.train("names", out=".", steps=1), "already holds"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_with_the_rule_and_leaves_nothing(names, case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if case == "a full folder":
        (tmp_path / "letter.txt").write_text("dear", encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    call, words = BAD[case]
    with pytest.raises(ValueError, match=words):
        call(names)
    assert sorted(tmp_path.rglob("*")) == before


def test_the_nearest_names_come_first():
    known = ["names-gpt", "tiny-world-gpt", "tiny-world-char", "words-gpt"]
    for name in known:
        assert nearest(name, known)[0] == name
    assert nearest("TINY-WORLD", known, 2) == ["tiny-world-gpt", "tiny-world-char"]
    assert nearest("x", []) == []


def test_names_of_special_tokens_are_these_tokens_where_that_is_asked_for(names):
    end, own = names.tokenizer.end, names.tokenizer.encode
    text = f"anna{ENDOFTEXT}bo"
    assert names.encode(text) == [end, *own(text)] and end not in own(text)
    read = [end, *own("anna"), end, *own("bo")]
    assert names.encode(text, special=True) == read
    assert names.encode(ENDOFTEXT + text, special=True) == read  # it stands in front already
    assert names.encode("", special=True) == names.encode("") == [end]
    begun = Continuation(names._trained, text, 5, special=True, temperature=0)
    written = [token.id for token, _ in begun]
    expected = generate(names.module, read, 5, 0, stop_id=end, banned=padding_ids(names.tokenizer))
    assert written == [token.id for token in expected]
    assert names.generate(text, 5, special=True, temperature=0) == names.tokenizer.decode(
        [id for id in written if id != end]
    )


@pytest.mark.parametrize(
    ("written", "cut"), [(b"\xef\xbf\xbd", False), (b"a", False), (b"\xe2\x82", True)]
)
def test_a_replacement_character_that_was_written_as_one_is_not_a_cut_one(written, cut):
    tokenizer = get_tokenizer("bpe")
    single = {tokenizer.token_bytes(id): id for id in range(256)}
    ids = [single[bytes([byte])] for byte in written]
    trained = SimpleNamespace(tokenizer=tokenizer, model=Writes(ids, tokenizer))
    text = Continuation(trained, "The", len(ids), temperature=0)
    assert "".join(piece for _, piece in text) == written.decode("utf-8", "replace")
    assert text.is_cut == cut


class Writes(torch.nn.Module):
    """A model that writes the same ids behind a prompt of one token."""

    context_length = 16

    def __init__(self, ids, tokenizer):
        super().__init__()
        self.ids, self.begin, self.vocab_size = (
            ids,
            len(tokenizer.encode("The")) + 1,
            tokenizer.vocab_size,
        )

    def forward(self, idx, targets=None):
        logits = torch.zeros(*idx.shape, self.vocab_size)
        logits[0, -1, self.ids[idx.shape[1] - self.begin]] = 1.0
        return logits, None
