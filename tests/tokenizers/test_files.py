"""Tokenizer files: what is saved comes back, and damage is named."""

import json

import pytest

from experiments.tokenizers import make_bundled
from llmviz.files.paths import TOKENIZER_FOLDER
from llmviz.tokenizers import (
    TOKENIZERS,
    BPETokenizer,
    WordTokenizer,
    get_tokenizer,
    load_tokenizer,
    train_tokenizer,
)
from llmviz.tokenizers.files import write_tokenizer_file
from tests.tokenizers.samples import random_texts

TEXTS = random_texts(60, seed=5)


@pytest.mark.parametrize("kind", ["word", "char", "bpe"])
def test_what_is_saved_comes_back(kind, tmp_path):
    tokenizer = train_tokenizer(kind, TEXTS, 400 if kind == "bpe" else None)
    tokenizer.save(tmp_path / "deep" / "tokenizer.json")
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["tokenizer.json"]
    loaded = load_tokenizer(tmp_path / "deep" / "tokenizer.json")
    assert type(loaded) is type(tokenizer)
    assert (loaded.kind, loaded.vocab_size) == (kind, tokenizer.vocab_size)
    assert loaded.special_tokens == tokenizer.special_tokens
    for text in TEXTS:
        assert loaded.encode(text, "all") == tokenizer.encode(text, "all")
        assert loaded.tokens(text) == tokenizer.tokens(text)


def test_a_class_loads_its_own_kind_only(tmp_path):
    BPETokenizer([(97, 98)]).save(tmp_path / "t.json")
    assert BPETokenizer.load(tmp_path / "t.json").merges == [(97, 98)]
    with pytest.raises(ValueError, match=r"t\.json holds a tokenizer of kind 'bpe', not 'word'"):
        WordTokenizer.load(tmp_path / "t.json")


def test_a_file_cut_anywhere_is_refused_in_one_line(tmp_path):
    whole, cut = tmp_path / "whole.json", tmp_path / "cut.json"
    BPETokenizer.train("the cat and the hat", 262).save(whole)
    data = whole.read_bytes()
    for size in range(len(data)):
        cut.write_bytes(data[:size])
        with pytest.raises(ValueError, match=r"cut\.json") as caught:
            load_tokenizer(cut)
        assert "\n" not in str(caught.value)


def test_a_changed_file_is_refused(tmp_path):
    path = tmp_path / "t.json"
    BPETokenizer([(97, 98)]).save(path)
    path.write_text(path.read_text(encoding="utf-8").replace("98", "99"), encoding="utf-8")
    with pytest.raises(ValueError, match="does not match its checksum"):
        load_tokenizer(path)


BPE = {"kind": "bpe", "name": "b", "merges": [[97, 98]], "special_tokens": ["<|x|>"]}
WORD = {"kind": "word", "name": "w", "vocabulary": ["a"]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({**BPE, "kind": "sentencepiece"}, "kind 'sentencepiece'"),
        ({**BPE, "kind": ["bpe"]}, "kind"),
        ({**BPE, "name": 3}, '"name"'),
        ({**BPE, "merges": [[97]]}, '"merges"'),
        ({**BPE, "merges": [[97, "98"]]}, '"merges"'),
        ({**BPE, "merges": "ab"}, '"merges"'),
        ({**BPE, "merges": [[97, 400]]}, "merge 0 joins"),
        ({**BPE, "special_tokens": ["", "a"]}, "special tokens must differ"),
        ({**BPE, "special_tokens": None}, "special_tokens must be a list"),
        ({**BPE, "special_tokens": [1]}, "must be a string"),
        ({**WORD, "vocabulary": {"a": 1}}, '"vocabulary"'),
        ({**WORD, "vocabulary": ["two words"]}, '"vocabulary"'),
        ({**WORD, "vocabulary": ["a", "a"]}, '"vocabulary"'),
        ({**WORD, "kind": "char", "vocabulary": ["ab"]}, '"vocabulary"'),
        ({"kind": "tiktoken", "name": "gpt9"}, "tiktoken encoding must be one of"),
    ],
)
def test_a_file_that_says_the_impossible_is_refused(content, message, tmp_path):
    write_tokenizer_file(tmp_path / "t.json", content)
    with pytest.raises(ValueError, match=message) as caught:
        load_tokenizer(tmp_path / "t.json")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a whole tokenizer file"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"[]", "not a tokenizer file"),
        (b"{}", "not a tokenizer file"),
        (b'{"format": "llmviz-tokenizer", "version": 99}', "version 99"),
        (b"[" * 100_000, "not a"),
    ],
)
def test_a_file_of_something_else_is_refused(data, message, tmp_path):
    (tmp_path / "t.json").write_bytes(data)
    with pytest.raises(ValueError, match=message):
        load_tokenizer(tmp_path / "t.json")


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"none\.json cannot be read"):
        load_tokenizer(tmp_path / "none.json")
    with pytest.raises(ValueError, match="cannot be read"):
        load_tokenizer(tmp_path)


def test_the_bundled_files_are_what_their_command_makes(tmp_path):
    for path in make_bundled(folder=tmp_path):
        made = json.loads(path.read_text(encoding="utf-8"))
        assert made == json.loads((TOKENIZER_FOLDER / path.name).read_text(encoding="utf-8")), (
            "data/tiny-world.txt has changed: run python -m experiments make tokenizers"
        )
    assert get_tokenizer("bpe").vocab_size == 1024
    assert get_tokenizer("bpe") is get_tokenizer("bpe")


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match=f"one of {', '.join(TOKENIZERS)}; got 'gpt3'"):
        get_tokenizer("gpt3")
