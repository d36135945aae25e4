"""Tokenizers that SentencePiece trained, as transformers writes them: the same ids and texts."""

import io
import itertools
import json
import sys

import pytest

from llmviz.tokenizers import load_tokenizer
from llmviz.tokenizers.published import PublishedTokenizer, has_tokenizer, read_published_tokenizer
from tests.tokenizers.samples import random_texts

sentencepiece = pytest.importorskip("sentencepiece")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
sentencepiece_model_pb2 = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
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
    model = trained(kind, size, **options)
    for file in ("tokenizer.model", "spiece.model"):
        (tmp_path / file).write_bytes(model)
    theirs = getattr(transformers, name).from_pretrained(tmp_path)
    theirs.save_pretrained(tmp_path)
    source = sentencepiece.SentencePieceProcessor(model_proto=model)
    return name, source, theirs, tmp_path


def trained(kind: str, size: int, **options: object) -> bytes:
    """A tokenizer.model that SentencePiece learned from a few sentences."""
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
    return model.getvalue()


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


ODD = (
    *(" Ada", "Ada\n", "\tAda", "Ada\u3000", "\t", "a<s>b", "x</s>", "<unk>", "<0x0A>", "a\r\nb"),
    *("Ａ\u0351", "ｶﾞ", "▁", " ▁", "▁a ▁", " qz the qz ", "日", " 日 "),
    *("\x00", "e\u0301\u0327", "ﷺ"),
)
EITHER = (False, True)


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@pytest.mark.parametrize("rule", ["identity", "nmt_nfkc", "nfkc_cf"])
def test_every_text_has_the_ids_and_the_text_of_sentencepiece(kind, rule, tmp_path):
    texts = [*ODD, *random_texts(100, seed=3)]
    for bytes_, prefix, extra, own in itertools.product(EITHER, repeat=4):
        data = trained(
            kind,
            340 if bytes_ else 90,
            byte_fallback=bytes_,
            normalization_rule_name=rule,
            add_dummy_prefix=prefix,
            remove_extra_whitespaces=extra,
            user_defined_symbols=["qz", "▁th"] if own else [],
        )
        (tmp_path / "tokenizer.model").write_bytes(data)
        source = sentencepiece.SentencePieceProcessor(model_proto=data)
        ours = read_published_tokenizer(tmp_path, source.vocab_size())
        for text in texts:
            expected = source.encode(text)
            assert ours.encode(text) == expected, text
            assert ours.decode(expected) == source.decode(expected), text
            tokens = ours.tokens(text)
            assert [token.id for token in tokens] == expected, text
            assert all(0 <= token.char_start <= token.char_end <= len(text) for token in tokens)


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_as_a_tokenizer_json_it_gives_the_same_ids_for_common_texts(kind, tmp_path):
    for prefix, extra in itertools.product(EITHER, repeat=2):
        data = trained(
            kind,
            340,
            byte_fallback=True,
            normalization_rule_name="identity",
            add_dummy_prefix=prefix,
            remove_extra_whitespaces=extra,
        )
        source = sentencepiece.SentencePieceProcessor(model_proto=data)
        (tmp_path / "tokenizer.model").write_bytes(data)
        content = read_published_tokenizer(tmp_path, source.vocab_size()).to_dict()["content"]
        theirs = tokenizers.Tokenizer.from_str(json.dumps(content))
        theirs.encode_special_tokens = True
        for text in ("", " Ada", "Ada\n", "\tAda", "Ada\u3000 ", "\t", " a  b\n\n c ", *LEARNED):
            assert theirs.encode(text).ids == source.encode(text), text


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (lambda m: setattr(m.normalizer_spec, "escape_whitespaces", False), "escape_whitespaces"),
        (lambda m: setattr(m.trainer_spec, "treat_whitespace_as_suffix", True), "not behind it"),
        (lambda m: setattr(m.trainer_spec, "model_type", 3), "words and characters are not"),
        (lambda m: setattr(m.denormalizer_spec, "precompiled_charsmap", b"x"), "denormalizer"),
    ],
)
def test_an_option_that_is_not_read_is_refused_by_name(tmp_path, changed, message):
    model = sentencepiece_model_pb2.ModelProto.FromString(trained("bpe", 90))
    changed(model)
    (tmp_path / "tokenizer.model").write_bytes(model.SerializeToString())
    with pytest.raises(ValueError, match=message):
        read_published_tokenizer(tmp_path, len(model.pieces))


@pytest.mark.parametrize("model", [3, "no base64!", ""])
def test_a_saved_file_with_a_damaged_model_is_refused(tmp_path, model):
    (tmp_path / "tokenizer.model").write_bytes(trained("bpe", 90))
    ours = read_published_tokenizer(tmp_path, 90)
    with pytest.raises(ValueError, match=r"base64|no model of SentencePiece"):
        PublishedTokenizer.from_dict(
            {**ours.to_dict(), "name": "x", "more_ends": [], "sentencepiece": model}
        )


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
