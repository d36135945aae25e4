"""Tokens that are kept on the disk are the tokens; what is damaged or half written is made anew.

A large text is read in pieces, with the same result; its files tell that it was read before.
"""

import gzip
import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from llmviz.corpus import streamed
from llmviz.files.whole import temporary_beside
from llmviz.training import files, kept_tokens, plan, stream, texts
from llmviz.training.plan import plan_from, prepare
from llmviz.training.run_folder import load_trained, run_in_folder
from llmviz.training.starting import begin_from, plan_of_base
from tests.training.conftest import same_end

STORIES = [f"The {one} sat on mat {i}, café." for i, one in enumerate(["cat", "dog", "owl"] * 9)]
FAST = {"steps": 4, "batch_size": 4, "device": "cpu", "dtype": "float32", "threads": 1}
SMALL = {"n_layer": 1, "n_head": 1, "n_embd": 8}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where tokens are kept, of texts of any size."""
    monkeypatch.setenv("LLMVIZ_TOKENS", str(tmp_path / "tokens"))
    monkeypatch.setattr(kept_tokens, "LARGE", 0)
    monkeypatch.setattr(streamed, "SETTLED", 0)  # the files of a test have just been written
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
    streams = data.train, data.validation
    arrays = [part for s in streams for part in (np.asarray(s.ids), s.starts, s.lengths)]
    return [*arrays, *(part.numpy() for part in data.batch(3, 4))]


def same(one, other) -> bool:
    pairs = zip(contents(one), contents(other), strict=True)
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)


def no_work(monkeypatch, *read):
    """Let everything that would be kept fail if it is made again, or read."""

    def fails(*_, **__):
        raise AssertionError("it is made again")

    made = "training.plan.train_tokenizer", "training.builders.references", "training.data.encoded"
    for name in (*made, *read):
        monkeypatch.setattr(f"llmviz.{name}", fails)


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
        assert isinstance(run.data.train.ids, stream.StoredIds)
    assert len(list(folder.iterdir())) == 4  # text, tokenizer, tokens, losses to compare with


def test_another_text_or_tokenizer_is_kept_apart(folder, text, tmp_path):
    prepared(text)
    other = tmp_path / "other.txt"
    other.write_text("<|endoftext|>".join([*STORIES[:-1], STORIES[-1] + "!"]), encoding="utf-8")
    counts = [len(list(folder.iterdir()))]
    for given in ((str(other), "bpe", {}), (text, "char", {}), (text, "bpe", {"vocab_size": 270})):
        prepared(given[0], given[1], **given[2])
        counts.append(len(list(folder.iterdir())))
    assert counts == [4, 8, 11, 14]


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
    there = [path for path in folder.rglob("*") if path.is_file()]
    assert len(there) == 1 + 6 + 1 + 1
    for path in there:
        damage(path)
        again = contents(prepared(text))
        assert all(np.array_equal(a, b) for a, b in zip(again, expected, strict=True)), path.name
    assert not list(folder.glob(".tmp-*"))


def test_what_was_interrupted_is_not_taken_for_whole_and_goes(folder, text):
    whole = prepared(text)
    for one in list(folder.iterdir()):
        one.rename(one.with_name(f".tmp-1234-{one.name}"))  # a kill before the name was given
    assert same(prepared(text), whole)
    left = list(folder.glob(".tmp-*"))
    assert [len(list(one.iterdir())) for one in left] == [1], "of the text alone, a few bytes"


def test_of_two_that_want_the_same_one_makes_it_and_both_get_it(folder, text, monkeypatch):
    made, own = [], kept_tokens.write_ids

    def slowly(*given):
        made.append(threading.get_ident())
        time.sleep(0.5)
        return own(*given)

    monkeypatch.setattr(kept_tokens, "write_ids", slowly)
    with ThreadPoolExecutor(2) as both:
        runs = list(both.map(prepared, [text, text]))
    assert len(made) == 2 and len(set(made)) == 1, "training and validation, by one of them"
    assert same(*runs) and not list(folder.glob("*.lock"))


def test_where_nothing_can_be_kept_it_is_made_each_time(tmp_path, monkeypatch, folder, text):
    whole = prepared(text)
    (tmp_path / "file").write_text("x", encoding="utf-8")
    monkeypatch.setenv("LLMVIZ_TOKENS", str(tmp_path / "file" / "below"))
    assert same(prepared(text), whole)


def test_files_of_another_time_are_read_once_and_are_still_the_tokens(folder, text, monkeypatch):
    """As after a copy of the folder: what counts is what is in them."""
    first = prepared(text)
    for path in folder.rglob("*.bin"):
        os.utime(path, (1, 1))
    no_work(monkeypatch)
    read, own = [], files.sha256
    monkeypatch.setattr(files, "sha256", lambda path: read.append(path.name) or own(path))
    assert same(prepared(text), first) and same(prepared(text), first)
    assert read == kept_tokens.FILES


def test_what_was_not_used_for_the_longest_time_goes_first(folder, text, monkeypatch):
    prepared(text, "char")
    old = set(folder.iterdir())
    for one in old:
        os.utime(one, (1, 1))
    monkeypatch.setattr(kept_tokens, "MOST", 1)
    prepared(text, "word")
    left = set(folder.iterdir())
    assert not old & left and len(left) == 1


def test_what_another_process_is_writing_is_not_deleted_and_what_a_killed_one_left_is(
    folder, text, monkeypatch
):
    prepared(text, "char")
    written, left = (temporary_beside(folder / name) for name in ("mine", "dead"))
    for one in (written, left):
        one.mkdir()
        (one / "train-ids.bin").write_bytes(b"x" * 1000)
    ago = time.time() - 3600
    os.utime(written, (ago, ago))  # it writes for an hour already
    os.utime(left, (1, 1))
    monkeypatch.setattr(kept_tokens, "MOST", 1)
    prepared(text, "word")
    assert (written / "train-ids.bin").is_file() and not left.exists()


PHRASE = "the cat sat on a mat, it's 3 o'clock.  Two\n\nlines and café naïve 日本語の文。 x"
LONG = " ".join(f"{PHRASE} {i}" for i in range(40)) + "\nend"
TEXTS = {
    "marked.txt": "\n<|endoftext|>".join(["", *STORIES, " \n ", LONG, "\n"]),
    "one.txt": LONG.replace("\n", "\r\n"),
    "many lines.md": "\n".join(STORIES) + "\n" + LONG,
    "list.txt": "\n".join(f" name {i} " for i in range(30)) + "\n\n \n",
    "lines.jsonl": "\n".join(json.dumps({"text": one}) for one in [*STORIES, "", LONG]),
    "packed.txt.gz": LONG,
}


def written(folder: Path, name: str) -> str:
    data = TEXTS[name].encode()
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return str(folder / name)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("tokenizer", ["char", "word", "bpe"])
def test_a_text_that_is_read_in_pieces_gives_the_same_run(
    folder, tmp_path, monkeypatch, name, tokenizer
):
    path = written(tmp_path, name)
    monkeypatch.setattr(kept_tokens, "LARGE", 10**9)
    plain = prepared(path, tokenizer)
    monkeypatch.setattr(kept_tokens, "LARGE", 0)
    monkeypatch.setattr(texts, "HELD", 0)
    monkeypatch.setattr("llmviz.files.text.BLOCK", 7)
    monkeypatch.setattr(stream, "BLOCK", 40)
    pieces = prepared(path, tokenizer)
    again = prepared(path, tokenizer)
    for run in (pieces, again):
        assert same(run, plain) and run.description == plain.description
        assert run.tokenizer.to_dict() == plain.tokenizer.to_dict()


def test_several_files_that_are_read_in_pieces_give_the_same_run(folder, tmp_path, monkeypatch):
    first, *more = [written(tmp_path, name) for name in TEXTS]
    runs = []
    for held in (10**9, 0, 0):
        monkeypatch.setattr(texts, "HELD", held)
        runs.append(prepared(first, files=(*more, "story")))
    assert all(same(one, runs[0]) and one.description == runs[0].description for one in runs)


@pytest.mark.parametrize("corpus", ["own", "tiny-world"])
def test_a_text_that_was_read_before_is_not_read_again(folder, text, monkeypatch, corpus):
    given = (text,) if corpus == "own" else (corpus, "bpe")
    more = {} if corpus == "own" else {"characters": 20_000}
    first = prepared(*given, **more)
    no_work(monkeypatch, "corpus.streamed.read_pieces", "corpus.streamed.load_corpus")
    again = prepared(*given, **more)
    assert same(first, again) and first.description == again.description


CHANGES = {
    "other words": lambda path, data: path.write_bytes(data.replace(b"cat", b"cow")),
    "a longer text": lambda path, data: path.write_bytes(data + b"!"),
    "another file in its place": lambda path, data: (
        path.with_name("new").write_bytes(data.replace(b"dog", b"pig")),
        path.with_name("new").replace(path),
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_file_that_was_changed_is_seen_even_if_its_time_was_put_back(
    folder, text, change, monkeypatch
):
    path, before = Path(text), Path(text).stat()
    old = prepared(text).description["data"]["sha256"]
    change(path, path.read_bytes())
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    run = prepared(text)
    assert run.description["data"]["sha256"] != old
    monkeypatch.setattr(kept_tokens, "LARGE", 10**9)
    assert same(run, prepared(text))


def test_a_file_that_has_just_been_written_is_read_again(folder, text, monkeypatch):
    monkeypatch.setattr(streamed, "SETTLED", 3600)
    assert streamed.stamp_of([Path(text)]) is None
    prepared(text)
    assert len(list(folder.iterdir())) == 3


def test_a_run_from_a_model_on_a_text_in_pieces_goes_on_bit_for_bit(
    folder, text, tmp_path, monkeypatch
):
    """All at once: --from, a text that is read in pieces, tokens on the disk, and two kills."""
    first = tmp_path / "first"
    list(run_in_folder(first, prepared(text, "char")))
    base = load_trained(first)
    planned = {"base": str(first), "corpus": text}
    planned = plan_of_base(base, planned, {}, {**FAST, "eval_batches": 1, "checkpoint_every": 1})
    for name, large, held, stops in (("whole", 10**9, 10**9, ()), ("cut", 0, 0, (1, 3))):
        monkeypatch.setattr(kept_tokens, "LARGE", large)
        monkeypatch.setattr(texts, "HELD", held)
        out = tmp_path / name
        out.mkdir()
        run = begin_from(base, planned, out)
        for stop in stops:
            records = run_in_folder(out, run, resume=True)
            while next(records).step < stop:
                pass
            records.close()  # what is written after its last checkpoint is lost, as by a kill
            run = plan.prepare_again(out)
        list(run_in_folder(out, run, resume=True))
    assert same_end(tmp_path / "whole", tmp_path / "cut")
