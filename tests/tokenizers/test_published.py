"""Tokenizers of published models: the ids of transformers, and what is refused."""

import hashlib
import json
import logging
import shutil

import pytest
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, processors
from tokenizers import Tokenizer as Compiled
from tokenizers.trainers import BpeTrainer

from llmviz.tokenizers import (
    ENDOFTEXT,
    PublishedTokenizer,
    TiktokenTokenizer,
    load_tokenizer,
    read_published_tokenizer,
)
from llmviz.tokenizers.download import cache_folder
from llmviz.tokenizers.tiktoken_bridge import ENCODING_FILES
from tests.tokenizers.samples import CORPUS, WORDS, random_texts

logging.getLogger("transformers").setLevel(logging.ERROR)
TEXTS = [*random_texts(400, seed=3), "", " a", "a ", "  the cat's 42 mats\n\n"]
PLAIN = [text.replace(ENDOFTEXT, "") for text in TEXTS]  # transformers reads it as special


def compiled(specials=(ENDOFTEXT,), prefix=False, normalizer=None, added=()):
    tokenizer = Compiled(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.normalizer = normalizer
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = BpeTrainer(vocab_size=600, initial_alphabet=alphabet, special_tokens=list(specials))
    corpus = CORPUS.read_text(encoding="utf-8")[:30_000]
    tokenizer.train_from_iterator([corpus, *random_texts(300, seed=7), *WORDS], trainer)
    tokenizer.add_tokens(list(added))
    return tokenizer


def write_config(folder, **config):
    (folder / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
    (folder / "config.json").write_text('{"model_type": "gpt2"}', "utf-8")


def write_whole_file(folder, tokenizer, **config):
    tokenizer.save(str(folder / "tokenizer.json"))
    write_config(folder, tokenizer_class="PreTrainedTokenizerFast", **config)


def write_two_files(folder, tokenizer, **config):
    tokenizer.model.save(str(folder))
    assert (folder / "vocab.json").is_file() and (folder / "merges.txt").is_file()
    write_config(folder, tokenizer_class="GPT2Tokenizer", **config)


@pytest.mark.parametrize("write", [write_whole_file, write_two_files])
@pytest.mark.parametrize("prefix", [False, True])
def test_ids_are_those_of_transformers(tmp_path, write, prefix):
    from transformers import AutoTokenizer

    write(tmp_path, compiled(prefix=prefix), add_prefix_space=prefix)
    ours = read_published_tokenizer(tmp_path, 600)
    theirs = AutoTokenizer.from_pretrained(tmp_path)
    for text in PLAIN:
        assert ours.encode(text) == theirs.encode(text, add_special_tokens=False), ascii(text)
        assert ours.decode(ours.encode(text)) == theirs.decode(theirs.encode(text))
        if not prefix:  # which piece gets the space is theirs to choose where a text is cut
            marked = f"{text}{ENDOFTEXT}{text}"
            expected = theirs.encode(marked, add_special_tokens=False)
            assert ours.encode(marked, "all") == expected, ascii(text)


def test_gpt2s_own_files_give_gpt2s_ids(tmp_path):
    folder = cache_folder()
    names = {"vocab.bpe": "merges.txt", "encoder.json": "vocab.json"}
    for url in ENCODING_FILES["gpt2"]:
        path = folder and folder / hashlib.sha1(url.encode()).hexdigest()
        if path is None or not path.is_file():
            pytest.skip("the file of gpt2 is in no cache: set TIKTOKEN_CACHE_DIR")
        shutil.copy(path, tmp_path / names[url.rpartition("/")[2]])
    ours, gpt2 = read_published_tokenizer(tmp_path, 50257), TiktokenTokenizer("gpt2")
    assert ours.special_tokens == gpt2.special_tokens
    for text in TEXTS:
        assert ours.tokens(text, "all") == gpt2.tokens(text, "all")
    assert all(ours.token_bytes(i) == gpt2.token_bytes(i) for i in range(50257))


def test_two_files_with_special_tokens_beside_them(tmp_path):
    write_two_files(tmp_path, compiled(["<s>", "</s>"]), bos_token="<s>", eos_token="</s>")
    special = {"bos_token": "<s>", "eos_token": {"content": "</s>", "lstrip": False}}
    (tmp_path / "special_tokens_map.json").write_text(json.dumps(special), "utf-8")
    (tmp_path / "added_tokens.json").write_text('{"<extra>": 600}', "utf-8")
    ours = read_published_tokenizer(tmp_path, 601, [1])
    assert ours.special_tokens == {"<s>": 0, "</s>": 1, ENDOFTEXT: 1}
    assert ours.encode("a<extra>") == [*ours.encode("a"), 600]
    assert ours.encode("<s>a</s>", "all") == [0, *ours.encode("a"), 1]
    assert 0 not in ours.encode("<s>a</s>")


@pytest.mark.parametrize("prefix", [False, True])
@pytest.mark.parametrize("normalizer", [None, normalizers.NFC(), normalizers.Lowercase()])
def test_tokens_point_at_the_bytes_they_come_from(tmp_path, prefix, normalizer):
    write_whole_file(tmp_path, compiled(prefix=prefix, normalizer=normalizer))
    ours = read_published_tokenizer(tmp_path, 600)
    for text in [*TEXTS, "e\u0301 É ÀB"]:
        tokens, data = ours.tokens(text), text.encode()
        assert [token.id for token in tokens] == ours.encode(text)
        for token in tokens:
            assert data[token.byte_start : token.byte_end] == token.data
            touched = text[token.char_start : token.char_end].encode()
            assert token.data in touched
        if not prefix and normalizer is None:
            assert b"".join(token.data for token in tokens) == data
            assert [ours.token_bytes(token.id) for token in tokens] == [t.data for t in tokens]


def test_nothing_is_cut_off_filled_up_or_added(tmp_path):
    plain, tokenizer = compiled(), compiled()
    tokenizer.enable_truncation(3)
    tokenizer.enable_padding(length=50)
    end = (ENDOFTEXT, tokenizer.token_to_id(ENDOFTEXT))
    tokenizer.post_processor = processors.TemplateProcessing(f"{ENDOFTEXT} $A", None, [end])
    write_whole_file(tmp_path, tokenizer)
    ours = read_published_tokenizer(tmp_path, 600)
    text = "the cat sat on the mat and looked at me"
    assert ours.encode(text) == plain.encode(text).ids
    assert ours.encode_from_start(text) == [end[1], *plain.encode(text).ids]


def test_a_saved_one_is_the_same(tmp_path):
    write_whole_file(tmp_path, compiled(["</s>"], added=[AddedToken("<x>", special=False)]))
    ours = read_published_tokenizer(tmp_path, 640, [0])
    ours.save(tmp_path / "t.json")
    again = load_tokenizer(tmp_path / "t.json")
    assert isinstance(again, PublishedTokenizer)
    assert (again.vocab_size, again.special_tokens) == (640, {"</s>": 0, ENDOFTEXT: 0})
    assert again.unused_ids == frozenset(range(601, 640))
    for text in [*TEXTS, "<x> </s>"]:
        assert again.tokens(text, "all") == ours.tokens(text, "all")


def test_ids_that_only_the_model_has_stand_for_no_text(tmp_path):
    write_whole_file(tmp_path, compiled())
    ours = read_published_tokenizer(tmp_path, 640)
    assert ours.vocab_size == 640 and ours.token_bytes(639) == b""
    assert ours.decode([*ours.encode("the cat"), 639]) == "the cat"
    with pytest.raises(ValueError, match="out of range"):
        ours.decode([640])


@pytest.mark.parametrize(
    ("ends", "expected"), [([1], 1), ([None], 0), ([99_999, 1], 1), ([-1, "1", True], 0), ([], 0)]
)
def test_the_end_of_a_text_is_the_configs_or_the_token_called_so(tmp_path, ends, expected):
    write_whole_file(tmp_path, compiled([ENDOFTEXT, "</s>"]))
    ours = read_published_tokenizer(tmp_path, 600, ends)
    assert ours.to_dict()["end"] == expected
    assert ours.special_tokens == {ENDOFTEXT: 0, "</s>": 1}


def edited(folder, change):
    path = folder / "tokenizer.json"
    content = json.loads(path.read_text("utf-8"))
    change(content)
    path.write_text(json.dumps(content), "utf-8")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c["model"].update(type="WordPiece"), '"BPE" or "Unigram"; got \'WordPiece\''),
        (lambda c: c.pop("model"), '"Unigram"; got None'),
        (lambda c: c.update(decoder={"type": "WordPiece"}), "of SentencePiece; got 'WordPiece'"),
        (lambda c: c.update(decoder={"type": "Metaspace"}), "of SentencePiece; got 'Metaspace'"),
        (lambda c: c["model"].update(type="Unigram"), 'of SentencePiece; got "ByteLevel"'),
        (lambda c: c.update(decoder=None), "of SentencePiece; got None"),
        (lambda c: c["model"].update(dropout=0.5), "no dropout; got 0.5"),
        (lambda c: c["model"].update(end_of_word_suffix="</w>"), "no end_of_word_suffix"),
        (
            lambda c: c["model"]["merges"].append(["no", "such"]),
            "cannot read it: .*out of vocabulary",
        ),
        (lambda c: c["model"]["vocab"].update(far=4_000_000_000), "up to 4,000,000,000"),
        (lambda c: c["model"]["vocab"].update(far=-1), "cannot read it"),
        (lambda c: c.update(added_tokens="x"), "cannot read it"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, change, message):
    write_whole_file(tmp_path, compiled())
    edited(tmp_path, change)
    with pytest.raises(ValueError, match=message) as caught:
        read_published_tokenizer(tmp_path, 600)
    assert "\n" not in str(caught.value) and "tokenizer.json" in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 200_000])
@pytest.mark.parametrize("name", ["tokenizer.json", "vocab.json", "special_tokens_map.json"])
def test_damaged_files_are_named(tmp_path, content, name):
    (write_whole_file if name == "tokenizer.json" else write_two_files)(tmp_path, compiled())
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=f"{name} (cannot be read|does not hold)"):
        read_published_tokenizer(tmp_path, 600)


def test_more_ids_than_the_model_has_and_no_end_are_refused(tmp_path):
    write_whole_file(tmp_path, compiled(["</s>"]))
    with pytest.raises(ValueError, match="ids go up to 599, and the model has 599 tokens"):
        read_published_tokenizer(tmp_path, 599, [0])
    with pytest.raises(ValueError, match="names no other end of a text"):
        read_published_tokenizer(tmp_path, 600)


def test_merges_that_are_no_text_are_refused(tmp_path):
    write_two_files(tmp_path, compiled())
    (tmp_path / "merges.txt").write_bytes(b"\xff\xff")
    with pytest.raises(ValueError, match=r"merges\.txt cannot be read"):
        read_published_tokenizer(tmp_path, 600)
    (tmp_path / "merges.txt").write_text("a b c\n", "utf-8")
    with pytest.raises(ValueError, match="cannot read it"):
        read_published_tokenizer(tmp_path, 600)
