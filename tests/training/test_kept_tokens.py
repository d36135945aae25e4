"""Tokens that are kept on the disk are the tokens; what is damaged or half written is made anew."""

from __future__ import annotations

import os

import numpy as np
import pytest
import torch

from llmviz.tokenizers import train_tokenizer
from llmviz.training import kept_tokens, load_checkpoint, plan, read_metrics
from llmviz.training.kept_tokens import KeptTokens
from llmviz.training.plan import plan_from, prepare
from llmviz.training.runs import run_in_folder
from llmviz.training.stream import Stream

STORIES = [f"The {one} sat on mat {i}, café." for i, one in enumerate(["cat", "dog", "owl"] * 9)]
FAST = {"steps": 4, "batch_size": 4, "device": "cpu", "dtype": "float32", "threads": 1}
SMALL = {"n_layer": 1, "n_head": 1, "n_embd": 8}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where tokens are kept, of texts of any size."""
    monkeypatch.setenv("LLMVIZ_TOKENS", str(tmp_path / "tokens"))
    monkeypatch.setattr(kept_tokens, "LARGE", 0)
    return tmp_path / "tokens"


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "own.txt"
    path.write_text("<|endoftext|>".join(STORIES), encoding="utf-8")
    return str(path)


def prepared(text, tokenizer="bpe", **more):
    chosen = {"corpus": text, "tokenizer": tokenizer, "context_length": 8, **more}
    return prepare(plan_from(chosen, SMALL, {**FAST, "eval_batches": 1}))


def contents(run) -> list[np.ndarray]:
    data = run.data
    arrays = [one for s in (data.train, data.validation) for one in (s.ids, s.starts, s.lengths)]
    return [*arrays, *(part.numpy() for part in data.batch(3, 4))]


def same(one, other) -> bool:
    pairs = zip(contents(one), contents(other), strict=True)
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)


def no_work(monkeypatch):
    """Let everything that would be kept fail if it is made again."""

    def fails(*_, **__):
        raise AssertionError("it is made again")

    monkeypatch.setattr(plan, "train_tokenizer", fails)
    monkeypatch.setattr("llmviz.training.builders.references", fails)
    monkeypatch.setattr(Stream, "join", fails)


@pytest.mark.parametrize("tokenizer", ["char", "word", "bpe"])
def test_what_is_kept_is_what_is_made_and_is_read_from_the_disk(
    folder, text, monkeypatch, tokenizer
):
    monkeypatch.setattr(kept_tokens, "LARGE", 10**9)
    plain = prepared(text, tokenizer)
    assert not folder.exists()
    monkeypatch.setattr(kept_tokens, "LARGE", 0)
    first = prepared(text, tokenizer)
    no_work(monkeypatch)
    again = prepared(text, tokenizer)
    assert same(plain, first) and same(plain, again)
    assert again.tokenizer.to_dict() == plain.tokenizer.to_dict()
    assert again.description == plain.description
    for run in (first, again):
        base = run.data.train.ids
        while base.base is not None and not isinstance(base, np.memmap):
            base = base.base
        assert isinstance(base, np.memmap) and not run.data.train.ids.flags.writeable
    assert len(list(folder.iterdir())) == 3


def test_another_text_or_tokenizer_is_kept_apart(folder, text, tmp_path):
    prepared(text)
    other = tmp_path / "other.txt"
    other.write_text("<|endoftext|>".join([*STORIES[:-1], STORIES[-1] + "!"]), encoding="utf-8")
    counts = [len(list(folder.iterdir()))]
    for given in ((str(other), "bpe", {}), (text, "char", {}), (text, "bpe", {"vocab_size": 270})):
        prepared(given[0], given[1], **given[2])
        counts.append(len(list(folder.iterdir())))
    assert counts == [3, 6, 9, 12]


DAMAGE = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-3]),
    "a flipped bit": lambda path: path.write_bytes(path.read_bytes()[:-1] + b"\x7f"),
    "empty": lambda path: path.write_bytes(b""),
    "gone": lambda path: path.unlink(),
    "a pickle": lambda path: np.save(path.open("wb"), np.array([{}]), allow_pickle=True),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_what_is_damaged_is_made_anew(folder, text, damage):
    whole = prepared(text)
    expected = [array.copy() for array in contents(whole)]
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) == 5 + 1 + 1
    for path in files:
        damage(path)
        again = contents(prepared(text))
        assert all(np.array_equal(a, b) for a, b in zip(again, expected, strict=True)), path.name
    assert not list(folder.glob(".tmp-*"))


def test_what_was_interrupted_is_not_taken_for_whole(folder, text):
    whole = prepared(text)
    for one in list(folder.iterdir()):
        one.rename(one.with_name(f".tmp-1234-{one.name}"))  # a kill before the name was given
    assert same(prepared(text), whole)


def test_of_two_that_make_the_same_both_get_it(folder):
    tokenizer = train_tokenizer("char", STORIES, None)
    kept = KeptTokens("both", 9)

    def make() -> tuple[Stream, Stream]:
        streams = [Stream.join([tokenizer.encode(one)], tokenizer.end) for one in STORIES[:2]]
        return streams[0], streams[1]

    def slower() -> tuple[Stream, Stream]:
        kept.streams(tokenizer, make)  # meanwhile the other process has come to its end
        return make()

    first = kept.streams(tokenizer, slower)
    again = kept.streams(tokenizer, lambda: pytest.fail("it is made again"))
    for one, other in zip(first, again, strict=True):
        assert np.array_equal(one.ids, other.ids)
    assert len(list(folder.iterdir())) == 1


def test_where_nothing_can_be_kept_it_is_made_each_time(tmp_path, monkeypatch, folder, text):
    whole = prepared(text)
    (tmp_path / "file").write_text("x", encoding="utf-8")
    monkeypatch.setenv("LLMVIZ_TOKENS", str(tmp_path / "file" / "below"))
    assert same(prepared(text), whole)


def test_what_was_not_used_for_the_longest_time_goes_first(folder, text, monkeypatch):
    prepared(text, "char")
    old = set(folder.iterdir())
    for one in old:
        os.utime(one, (1, 1))
    monkeypatch.setattr(kept_tokens, "MOST", 1)
    prepared(text, "word")
    assert not old & set(folder.iterdir()) and len(list(folder.iterdir())) == 1


def test_a_run_on_kept_tokens_that_is_cut_goes_on_bit_for_bit(folder, text, tmp_path, monkeypatch):
    monkeypatch.setattr(kept_tokens, "LARGE", 10**9)
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    list(run_in_folder(whole, prepared(text)))
    monkeypatch.setattr(kept_tokens, "LARGE", 0)
    records = run_in_folder(cut, prepared(text))
    next(records), next(records)
    records.close()
    list(run_in_folder(cut, plan.prepare_again(cut), resume=True))
    ends = [load_checkpoint(one).model for one in (whole, cut)]
    assert all(torch.equal(ends[0][key], ends[1][key]) for key in ends[0])
    curves = [[(r.step, r.train_loss) for r in read_metrics(one)] for one in (whole, cut)]
    assert curves[0] == curves[1]
