"""Texts nobody hoped for: empty, tiny, huge, broken, or looking like something else."""

import pytest

from llmviz.tokenizers import BPETokenizer, get_tokenizer, train_tokenizer
from tests.tokenizers.samples import CORPUS

KINDS = ("word", "char", "bpe")
MEGABYTE, MEGABYTES_5 = 1_000_000, 5_000_000


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", ["", "x", "🙂", " ", "     ", "\n", "\x00", "a\x00b"])
def test_the_smallest_texts_work(kind, text):
    for tokenizer in (get_tokenizer(kind), train_tokenizer(kind, text or "x")):
        ids = tokenizer.encode(text)
        assert len(tokenizer.tokens(text)) == len(ids)
        if kind == "bpe":
            assert tokenizer.decode(ids) == text
            assert tokenizer.encode_steps(text).ids == ids


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("empty", ["", [], ["", ""], iter(())])
def test_an_empty_text_teaches_nothing(kind, empty):
    with pytest.raises(ValueError, match="nothing to learn from: the text is empty"):
        train_tokenizer(kind, empty, 300)


@pytest.mark.parametrize("kind", KINDS)
def test_a_lone_surrogate_is_refused_with_its_place(kind):
    tokenizer = get_tokenizer(kind)
    for use in (tokenizer.encode, tokenizer.tokens, lambda text: train_tokenizer(kind, text)):
        with pytest.raises(ValueError, match=r"lone surrogate \(U\+D83D\) at character 3"):
            use("abc\ud83d")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bad", [None, 7, b"bytes", ["a list"]])
def test_what_is_no_text_is_refused(kind, bad):
    with pytest.raises(ValueError, match="must be a string"):
        get_tokenizer(kind).encode(bad)


@pytest.mark.parametrize("kind", KINDS)
def test_markup_and_script_are_text_like_any_other(kind):
    text = "<script>alert('x')</script> & <b>bold</b> {{template}} $x^2$ ![](http://a.b/c)"
    tokenizer = train_tokenizer(kind, text)
    back = tokenizer.decode(tokenizer.encode(text))
    assert back.replace(" ", "") == text.replace(" ", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a" * MEGABYTES_5, id="one letter"),
        pytest.param(" " * MEGABYTE, id="spaces"),
        pytest.param("acgt" * (MEGABYTE // 4), id="no space"),
        pytest.param(" \n" * (MEGABYTE // 2), id="spaces and line ends"),
        pytest.param("e\u0301" * (MEGABYTE // 3), id="combining marks"),
        pytest.param("🙂한" * (MEGABYTE // 7), id="emoji and Hangul"),
    ],
)
def test_megabytes_without_words(text):
    """What takes the square of its length would take hours here."""
    tokenizer = get_tokenizer("bpe")
    assert tokenizer.decode(tokenizer.encode(text)) == text
    trained = BPETokenizer.train(text[:MEGABYTE], 300)
    assert len(trained.merges) <= 43


@pytest.mark.slow
def test_five_megabytes_of_prose():
    text = (CORPUS.read_text(encoding="utf-8") * 6)[:MEGABYTES_5]
    for kind in KINDS:
        tokenizer = get_tokenizer(kind) if kind == "word" else train_tokenizer(kind, text)
        ids = tokenizer.encode(text)
        assert max(ids) < tokenizer.vocab_size
        if kind != "word":
            assert tokenizer.decode(ids) == text
