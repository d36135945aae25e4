"""Byte-level BPE: the same ids as two compiled libraries, the explanation, the film."""

import tempfile
import unicodedata
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer as CompiledTokenizer
from tokenizers.pre_tokenizers import ByteLevel

from llmviz.tokenizers import BPETokenizer, film, get_tokenizer
from llmviz.tokenizers.pretokenize import count_pieces, pretokenize, split_at_spaces
from tests.tokenizers.samples import CORPUS, WORDS, random_texts

TEXTS = random_texts(4000)


@pytest.fixture(scope="module")
def trained():
    corpus = CORPUS.read_text(encoding="utf-8")[:100_000]
    return BPETokenizer.train([corpus, *random_texts(3000, seed=7), *WORDS * 20], 1500)


def test_ids_equal_tiktoken_built_from_the_same_ranks(trained):
    encoding = trained.to_tiktoken()
    assert encoding.n_vocab == trained.vocab_size
    for text in TEXTS:
        assert trained.encode(text) == encoding.encode_ordinary(text), ascii(text)
        assert trained.decode(trained.encode(text)) == text
        assert trained.encode(text, "all") == encoding.encode(text, allowed_special="all")


def test_ids_equal_the_tokenizers_library_through_our_export(trained, tmp_path):
    trained.to_huggingface(tmp_path / "tokenizer.json")
    compiled = CompiledTokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert compiled.get_vocab_size() == trained.vocab_size
    for text in TEXTS:
        theirs = compiled.encode(text)
        assert [trained.end, *trained.encode(text, "all")] == theirs.ids, ascii(text)
        assert compiled.decode(theirs.ids[1:], skip_special_tokens=False) == text


@pytest.mark.parametrize("special", ["é", "the", "Ġthe", "Ċ", "t", "ÿ"])
def test_a_special_token_spelled_like_an_ordinary_one_is_not_exported(tmp_path, special):
    merges = [(104, 101), (116, 256), (32, 257)]  # "he", "the", " the"
    tokenizer = BPETokenizer(merges, ["<|x|>", special, "<|endoftext|>"])
    with pytest.raises(ValueError, match=f"special token '{special}': token .* spelled so"):
        tokenizer.to_huggingface(tmp_path / "tokenizer.json")
    assert not list(tmp_path.iterdir())


@given(st.lists(st.text(min_size=1, max_size=3), max_size=4, unique=True), st.text(max_size=12))
def test_special_tokens_keep_their_ids_in_the_export_or_are_refused(specials, text):
    tokenizer = BPETokenizer([(116, 104), (256, 101)], specials)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        try:
            tokenizer.to_huggingface(path)
        except ValueError as refusal:
            assert "spelled so" in str(refusal)
            return
        compiled = CompiledTokenizer.from_file(str(path))
    assert compiled.get_vocab_size() == tokenizer.vocab_size
    for special, i in tokenizer.special_tokens.items():
        assert compiled.token_to_id(special) == i
    text = text.join([*specials, ""])
    assert compiled.encode(text).ids == tokenizer.encode(text, "all")


@given(st.text())
def test_any_text_comes_back_from_the_bundled_tokenizer(text):
    tokenizer = get_tokenizer("bpe")
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert b"".join(token.data for token in tokenizer.tokens(text)) == text.encode()


@given(st.text(" \n\t\u00a0\x1cab.'s", max_size=30))
def test_splitting_at_spaces_first_changes_no_piece(text):
    first, *others = split_at_spaces(text)
    pieces = [*pretokenize(first), *(p for part in others for p in pretokenize(" " + part))]
    assert pieces == pretokenize(text)
    assert "".join(pieces) == text


def test_pretokenizing_follows_the_published_rules():
    pieces = "I|'ll| see|,| | 42| cats|!|\n"
    assert pretokenize(pieces.replace("|", "")) == pieces.split("|")
    assert pretokenize("") == []


@pytest.mark.slow
def test_every_character_is_cut_as_the_compiled_libraries_cut_it():
    """Behind a letter, a digit and a mark: joined to one of them, or to none."""
    every = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
    # what is assigned in the newest edition that is installed, but for private use
    known = regex.findall(r"[^\p{Cn}\p{Co}]", every)
    newer = [c for c in known if unicodedata.category(c) == "Cn"]
    assert len(known) > 150_000 and len(newer) > 10_000  # so that there is something to differ
    joins = [(ord(mark), byte) for mark in "a1!" for byte in range(128, 256)]
    ours = BPETokenizer(joins)
    theirs = ours.to_tiktoken()
    byte_level = ByteLevel(add_prefix_space=False)
    for start in range(0, len(known), 500):  # their time grows faster than the text
        text = "".join(f"a{c}1{c}!{c} {c}" for c in known[start : start + 500])
        pieces = byte_level.pre_tokenize_str(text)
        same = [len(piece.encode()) for piece in pretokenize(text)] == [len(p) for p, _ in pieces]
        assert same, hex(ord(known[start]))
    text = "".join(f"a{c}1{c}!{c} {c}" for c in [*newer, *known[::20]])
    assert ours.encode(text) == theirs.encode_ordinary(text)
    counted = count_pieces(f"x {c}{c} a{c}" for c in newer)
    assert counted == Counter(p for c in newer for p in pretokenize(f"x {c}{c} a{c}"))


def test_encoding_is_the_end_of_its_steps(trained):
    for text in TEXTS[:400]:
        steps = trained.encode_steps(text)
        assert steps.ids == trained.encode(text) == steps.ids_after(len(steps))
        assert steps.ids_after(0) == list(text.encode())
        assert len(steps) == len(text.encode()) - len(steps.ids)
        for step in steps:
            assert trained.merges[step.rank] == step.pair
            assert step.new_id == 256 + step.rank == step.ids_after[step.position]
            assert text.encode()[step.byte_start : step.byte_end] == trained.token_bytes(
                step.new_id
            )


def test_the_state_after_each_step_differs_by_one_merge(trained):
    steps = trained.encode_steps("the tokenization of tokens")
    for before, step in enumerate(steps):
        old, new = steps.ids_after(before), steps.ids_after(before + 1)
        place = next(i for i, ids in enumerate(zip(old, new, strict=False)) if ids[0] != ids[1])
        assert [*old[:place], step.new_id, *old[place + 2 :]] == new
        assert tuple(old[place : place + 2]) == step.pair


def test_the_film_shows_the_sample_as_the_vocabulary_of_each_moment_cuts_it():
    corpus = CORPUS.read_text(encoding="utf-8")[:30_000]
    sample = "The lawyer met 🙂 at the market,  didn't she?"
    shown = film(corpus, sample, 420)
    assert shown.corpus_length == len(corpus.encode())
    assert shown.tokenizer.merges == BPETokenizer.train(corpus, 420).merges
    for k in (0, 1, 2, 10, 77, len(shown.steps)):
        then = BPETokenizer([step.pair for step in shown.steps[:k]])
        nodes = [node for node in shown.nodes if node.born <= k < node.died]
        assert [node.id for node in nodes] == then.encode(sample)
        data = [sample.encode()[node.byte_start : node.byte_end] for node in nodes]
        assert data == [then.token_bytes(node.id) for node in nodes]
    lengths = [shown.corpus_length, *(step.corpus_length_after for step in shown.steps)]
    assert all(a > b for a, b in pairwise(lengths))
    assert film("abab", "", 5000).stopped_early


def test_special_tokens_are_ordinary_text_unless_allowed(trained):
    text = "one<|endoftext|>two"
    special = trained.special_tokens["<|endoftext|>"]
    assert special == trained.vocab_size - 1
    assert special not in trained.encode(text)
    ids = trained.encode(text, ["<|endoftext|>"])
    assert ids == [*trained.encode("one"), special, *trained.encode("two")]
    assert trained.decode(ids) == text == trained.decode(trained.encode(text))
    spans = [(t.id, t.data) for t in trained.tokens(text, "all") if t.id == special]
    assert spans == [(special, b"<|endoftext|>")]
    with pytest.raises(ValueError, match="no special token"):
        trained.encode(text, ["<|pad|>"])


def test_from_the_start_is_behind_the_token_that_ends_texts(trained):
    text = "one<|endoftext|>two"
    assert trained.encode_from_start(text) == trained.encode("<|endoftext|>", "all") + (
        trained.encode(text)
    )
    assert trained.encode_from_start("") == [trained.special_tokens["<|endoftext|>"]]


def test_the_longer_of_two_special_tokens_wins():
    tokenizer = BPETokenizer([], ["<a>", "<a><b>"])
    assert tokenizer.encode("<a><b><a>", "all") == [257, 256]


def test_token_spans_inside_a_character():
    text = "é🙂e\u0301"
    tokens = BPETokenizer([]).tokens(text)
    assert [(t.byte_start, t.byte_end) for t in tokens] == [(i, i + 1) for i in range(9)]
    characters = [text[t.char_start : t.char_end] for t in tokens]
    assert characters == ["é"] * 2 + ["🙂"] * 4 + ["e"] + ["\u0301"] * 2


@pytest.mark.parametrize("name", ["word", "char", "bpe"])
def test_token_spans_point_at_their_bytes_and_characters(name):
    tokenizer = get_tokenizer(name)
    for text in TEXTS[:500]:
        data = text.encode()
        tokens = tokenizer.tokens(text)
        assert [token.id for token in tokens] == tokenizer.encode(text)
        end = 0
        for token in tokens:
            assert token.byte_start >= end
            end = token.byte_end
            assert data[token.byte_start : end] == token.data
            before = text[: token.char_start].encode()
            touched = text[token.char_start : token.char_end].encode()
            assert len(before) <= token.byte_start < end <= len(before) + len(touched)
            assert token.data in touched


def test_decoding_a_cut_character_gives_the_replacement_mark():
    tokenizer = BPETokenizer([])
    assert tokenizer.decode([0xC3]) == "\ufffd"
    assert tokenizer.decode_bytes([0xC3]) == b"\xc3"


@pytest.mark.parametrize("bad", [-1, 1024, 10**9, 1.5, "7", None])
def test_ids_out_of_range_are_refused(bad):
    tokenizer = get_tokenizer("bpe")
    with pytest.raises(ValueError, match=r"out of range: bpe has 1,024|whole numbers"):
        tokenizer.decode([0, bad])
    with pytest.raises(ValueError, match=r"out of range|whole numbers"):
        tokenizer.token_bytes(bad)


@pytest.mark.parametrize(
    "merges",
    [
        [(97, 256)],
        [(300, 1)],
        [(-1, 4)],
        [(97, 98), (97, 98)],
        [(97, 98), (97, 257)],
        [(97, 97), (256, 97), (97, 256)],
    ],
)
def test_impossible_merges_are_refused(merges):
    with pytest.raises(ValueError, match="merge"):
        BPETokenizer(merges)
