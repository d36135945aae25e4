"""Tokenizers that SentencePiece trained, as transformers writes them: the same ids and texts."""

import io
import sys

import pytest

from llmviz.tokenizers import load_tokenizer
from llmviz.tokenizers.published import has_tokenizer, read_published_tokenizer

sentencepiece = pytest.importorskip("sentencepiece")
transformers = pytest.importorskip("transformers")
LEARNED = [
    "The cat sat on the mat. The dog, it was sad!",
    "Été naïve 12 345 balls  two spaces",
    "she said: hello world, one fish two fish",
    "1 < 2 > 0 / 3",
]
TEXTS = ("The cat sat.", "  two  spaces 😀 Été\nline", "", "日本", "x", " ", "<s>a</s><0x41>▁b")
KEPT = dict(normalization_rule_name="identity", remove_extra_whitespaces=False)
LLAMA = dict(byte_fallback=True, **KEPT)
GEMMA = dict(byte_fallback=True, add_dummy_prefix=False, pad_id=0, eos_id=1, bos_id=2, unk_id=3)
T5 = dict(pad_id=0, eos_id=1, unk_id=2, bos_id=-1)


@pytest.fixture(
    params=[
        ("LlamaTokenizer", "bpe", 340, LLAMA),
        ("GemmaTokenizer", "bpe", 340, GEMMA | KEPT),
        ("T5Tokenizer", "unigram", 90, T5),
    ],
    ids=lambda one: one[0],
)
def made(request, tmp_path):
    """A tokenizer of SentencePiece's, the same of transformers', and a folder with it."""
    name, kind, size, options = request.param
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LEARNED * 30),
        model_writer=model,
        vocab_size=size,
        model_type=kind,
        hard_vocab_limit=False,
        minloglevel=2,
        **options,
    )
    for file in ("tokenizer.model", "spiece.model"):
        (tmp_path / file).write_bytes(model.getvalue())
    theirs = getattr(transformers, name).from_pretrained(tmp_path)
    theirs.save_pretrained(tmp_path)
    source = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    return name, source, theirs, tmp_path


def test_the_ids_and_the_texts_are_those_of_its_publisher(made):
    name, source, theirs, folder = made
    ours = read_published_tokenizer(folder, len(theirs), [theirs.eos_token_id])
    for text in TEXTS:
        ids = ours.encode(text)
        expected = theirs(text, add_special_tokens=False, split_special_tokens=True).input_ids
        assert ids == expected, text
        assert ours.decode(ids) == theirs.decode(ids)
        plain = text == text.strip() and "▁" not in text  # spaces at the ends have their own rules
        if plain and name != "T5Tokenizer":  # whose normalizer writes some characters otherwise
            assert ours.decode(ids) == text
    assert ours.encode(TEXTS[0]) == source.encode(TEXTS[0])
    ids = ours.encode("The cat 😀")
    for n in range(1, len(ids) + 1):  # as it is written token by token
        assert ours.decode(ids[:n]).rstrip("\ufffd") == theirs.decode(ids[:n]).rstrip("\ufffd")
    assert ours.end == theirs.eos_token_id
    ours.save(folder / "saved.json")
    again = load_tokenizer(folder / "saved.json")
    assert [again.encode(text) for text in TEXTS] == [ours.encode(text) for text in TEXTS]


def test_tokens_cover_the_text_that_they_come_from(made):
    _, _, theirs, folder = made
    ours = read_published_tokenizer(folder, len(theirs), [theirs.eos_token_id])
    text = "The cat 😀 sat"
    tokens = ours.tokens(text)
    assert [one.id for one in tokens] == ours.encode(text)
    assert all(one.char_start <= one.char_end <= len(text) for one in tokens)
    assert any(text[one.char_start : one.char_end].strip() for one in tokens)
    byte = [i for i in range(ours.vocab_size) if ours.token_bytes(i) == b"\xf0"]
    assert byte == ([] if "T5" in type(theirs).__name__ else byte[:1])


def test_what_sentencepiece_wrote_is_read_without_a_tokenizer_json(made):
    name, source, _, folder = made
    for one in folder.glob("*.json"):
        one.unlink()
    (folder / "spiece.model").unlink()
    assert has_tokenizer(folder)
    ours = read_published_tokenizer(folder, source.vocab_size(), ())
    for text in (*TEXTS, *LEARNED, "Ünë, 2\u0301 ﬁ\u3000x!", " a", "a ", "▁"):
        assert ours.encode(text) == source.encode(text), text
        if "▁" not in text and name != "T5Tokenizer":
            assert ours.decode(ours.encode(text)) == source.decode(source.encode(text))
    begin = source.bos_id()
    assert ours.front == ((begin,) if begin >= 0 else ())
    assert ours.end == source.eos_id()
    ours.save(folder / "saved.json")
    again = load_tokenizer(folder / "saved.json")
    assert again.front == ours.front and again.encode(TEXTS[1]) == ours.encode(TEXTS[1])
    (folder / "tokenizer_config.json").write_text('{"add_bos_token": false}', "utf-8")
    assert read_published_tokenizer(folder, source.vocab_size()).front == ()


@pytest.mark.parametrize("data", [b"", b"\xff" * 40, b"text", b"{}"])
def test_a_file_that_is_none_of_sentencepiece_is_refused(tmp_path, data):
    (tmp_path / "tokenizer.model").write_bytes(data)
    with pytest.raises(ValueError, match=r"tokenizer\.model: it"):
        read_published_tokenizer(tmp_path, 100)


def test_without_the_package_it_says_what_is_needed(tmp_path, monkeypatch):
    (tmp_path / "tokenizer.model").write_bytes(b"x")
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(ValueError, match="pip install sentencepiece"):
        read_published_tokenizer(tmp_path, 100)
