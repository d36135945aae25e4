"""`eval`: what it says is the loss that the network itself gives, with the error of its mean."""

from __future__ import annotations

import io
import json
import math
import statistics
import sys

import pytest
import torch
import torch.nn.functional as F

import llmviz
from llmviz.training.measures import ratio_error
from tests.test_cli import call, refused

NAMES = ["ada", "bob", "zoe", "maximilian"]
EVAL = ["eval", "--checkpoint", "names-gpt", "--corpus"]


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "names.txt"
    path.write_text("<|endoftext|>".join(NAMES), encoding="utf-8")
    return str(path)


def nats_of(model, text: str, end: bool) -> list[float]:
    """The loss of each token of a text that fits the context, from one forward pass."""
    ids = model.tokenizer.encode_from_start(text) + ([model.tokenizer.end] if end else [])
    with torch.no_grad():
        logits = model.module(torch.tensor([ids[:-1]]))[0][0]
    return F.cross_entropy(logits, torch.tensor(ids[1:]), reduction="none").tolist()


def test_an_error_of_parts_of_one_size_is_that_of_a_mean():
    values = [3.0, 1.5, 2.25, 9.0]
    expected = statistics.stdev(values) / math.sqrt(len(values))
    assert ratio_error(values, [1] * 4) == pytest.approx(expected)
    assert ratio_error([5 * one for one in values], [5] * 4) == pytest.approx(expected)
    assert ratio_error([2.0, 4.0, 6.0], [1, 2, 3]) == 0  # the same ratio everywhere
    assert ratio_error([1.0], [1]) is None and ratio_error([0.0, 0.0], [0, 0]) is None


@pytest.mark.parametrize("end", [False, True])
def test_loss_perplexity_and_bits_per_byte_are_the_networks(capsys, text, end):
    model = llmviz.load("names-gpt")
    parts = [nats_of(model, one, end) for one in NAMES]
    options = ["--end"] if end else []
    code, out, _ = call(capsys, *EVAL, text, "--json", "--each", *options)
    said = json.loads(out)
    nats, tokens = sum(map(sum, parts)), sum(map(len, parts))
    size = sum(map(len, NAMES))
    assert code == 0
    assert said["nats_per_token"] == pytest.approx(nats / tokens, rel=1e-5)
    assert said["perplexity"] == pytest.approx(math.exp(nats / tokens), rel=1e-5)
    assert said["bits_per_byte"] == pytest.approx(nats / math.log(2) / size, rel=1e-5)
    assert (said["documents"], said["tokens"], said["bytes"]) == (4, tokens, size)
    assert [one["nats"] for one in said["each"]] == pytest.approx(list(map(sum, parts)), rel=1e-4)
    error = ratio_error([sum(one) for one in parts], [len(one) for one in parts])
    assert said["nats_per_token_error"] == pytest.approx(error, rel=1e-4)
    assert said["errors_over"] == "documents"
    lines = call(capsys, *EVAL, text, "--each", *options)[1].splitlines()
    assert len(lines) == 5 + 1 + 4 + 2 and lines[4].endswith("maximilian")
    assert f"{nats / tokens:.4f}" in "\n".join(lines)


def test_one_document_has_its_error_over_windows_and_a_stride_reads_more(capsys, monkeypatch):
    def piped(*options: str) -> dict:
        data = io.BytesIO(("anna" * 30).encode())
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(data))
        code, out, _ = call(capsys, *EVAL, "-", "--json", *options)
        assert code == 0
        return json.loads(out)

    half, one = piped(), piped("--stride", "1")
    assert half["errors_over"] == one["errors_over"] == "windows"
    assert half["tokens"] == one["tokens"] == 120 and half["nats_per_token_error"] > 0
    assert half["nats_per_token"] != one["nats_per_token"]
    share = half["bits_per_byte_error"] / half["nats_per_token_error"]
    assert share == pytest.approx(half["tokens"] / half["bytes"] / math.log(2))


def test_without_a_text_what_was_held_out_is_measured(capsys):
    code, out, _ = call(capsys, "eval", "--checkpoint", "names-gpt", "--end", "--json")
    card = llmviz.pretrained.read_card("names-gpt")["score"]
    assert code == 0 and json.loads(out)["documents"] >= card["documents"]
    given = ["eval", "--checkpoint", "names-gpt", "--end", "--json", "--documents"]
    said = json.loads(call(capsys, *given, str(card["documents"]))[1])
    assert said["nats_per_token"] == pytest.approx(card["nats_per_token"], rel=1e-4)
    assert said["tokens"] == card["tokens"]


def test_a_model_with_a_mistake_is_measured_and_said_to_have_one(capsys, text):
    for name, wrong in (("names-gpt-no-mask", True), ("names-gpt-no-shift", True),
                        ("names-gpt", False), ("names-gru", False)):  # fmt: skip
        _, _, err = call(capsys, "eval", "--checkpoint", name, "--corpus", text)
        assert ("made with a mistake" in err) == wrong


BAD = {
    "another model": (["--checkpoint=masked-words", "--corpus=names"], "predicts no next token"),
    "two texts": (["--checkpoint=pairs-seq2seq"], "predicts no next token"),
    "pairs": (["--checkpoint=names-gpt", "--corpus=pairs"], "and no texts"),
    "no file": (["--checkpoint=names-gpt", "--corpus=nowhere.txt"], "no corpus and no file"),
    "stride": (["--checkpoint=names-gpt", "--corpus=names", "--stride=99999"], "--stride must be"),
    "stride 0": (["--checkpoint=names-gpt", "--corpus=names", "--stride=0"], "at least 1"),
    "documents": (["--checkpoint=names-gpt", "--documents=0"], "at least 1"),
    "no model": (["--corpus=names"], "required"),
}


@pytest.mark.parametrize(("given", "words"), BAD.values(), ids=BAD)
def test_bad_input_of_eval_is_one_line(capsys, given, words):
    assert words in refused(capsys, "eval", *given)


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"", "is empty"), (b"\xff", "is not UTF-8"), (b"\x00binary", "looks binary")],
)
def test_a_text_that_is_none_is_one_line(capsys, tmp_path, data, words):
    (tmp_path / "x.txt").write_bytes(data)
    assert words.removeprefix("is ") in refused(capsys, *EVAL, str(tmp_path / "x.txt"))


def test_a_character_alone_has_no_token_that_is_predicted_where_nothing_stands_before_it(
    capsys, tmp_path, monkeypatch
):
    model = llmviz.load("names-gpt")
    model.tokenizer.front = ()
    monkeypatch.setattr("llmviz.pretrained.find_model", lambda name: model._trained)
    (tmp_path / "x.txt").write_text("a", encoding="utf-8")
    assert "must have a token" in refused(capsys, *EVAL, str(tmp_path / "x.txt"))
