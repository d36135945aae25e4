"""WordPiece: training against a count of everything anew, encoding against the library's."""

import string
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmviz.tokenizers import Tokenizer, WordPieceTokenizer, piece_steps
from llmviz.tokenizers.wordpiece import CLS, INSIDE, PAD, SEP, UNK, alphabet
from tests.tokenizers.samples import CORPUS

TEXTS = st.text(alphabet="aabbcde ,\n", min_size=1, max_size=80).filter(str.strip)
FORMS = "token tokens tokenization modern modernization unhappy happy happiness unhappiness " * 3


def counted_anew(text: str, merges: int) -> list[tuple[tuple[str, str], int, int, int, int]]:
    """Train by the rule alone: at each step every pair and piece of every word is counted again."""
    words = [[word[0], *(f"##{c}" for c in word[1:])] for word in WordPieceTokenizer.split(text)]
    chosen = []
    for _ in range(merges):
        single = Counter(piece for word in words for piece in word)
        pairs = Counter(pair for word in words for pair in pairwise(word))
        if not pairs:
            break
        best = max(n / (single[a] * single[b]) for (a, b), n in pairs.items())
        pair = min(p for p, n in pairs.items() if n / (single[p[0]] * single[p[1]]) == best)
        chosen.append((pair, pairs[pair], *(single[p] for p in pair), max(pairs.values())))
        for word in words:
            at = 0
            while at < len(word) - 1:
                if (word[at], word[at + 1]) == pair:
                    word[at : at + 2] = [pair[0] + pair[1][2:]]
                at += 1
    return chosen


@settings(max_examples=150)
@given(TEXTS)
def test_training_is_the_rule(text):
    steps = list(piece_steps(text, 10_000))
    chosen = counted_anew(text, len(steps) + 1)
    assert [
        (s.best.pair, s.best.count, *s.best.counts, s.most_frequent.count) for s in steps
    ] == chosen
    for step in steps:
        assert step.piece == step.best.pair[0] + step.best.pair[1][2:]
        assert step.best.score >= step.most_frequent.score
    # The end: every word is one piece.
    trained = WordPieceTokenizer.train(text, 10_000)
    assert all(len(trained.pieces(word)) == 1 for word in trained.split(text))


@given(TEXTS, st.integers(0, 20), st.text(alphabet="aabbcdexé🙂 ,_#'\n", max_size=40))
def test_encoding_is_the_librarys(corpus, merges, text):
    library = pytest.importorskip("tokenizers")
    size = len(alphabet([corpus])) + 4 + merges
    ours = WordPieceTokenizer.train(corpus, size)
    vocabulary = {ours.token_bytes(i).decode(): i for i in range(ours.vocab_size)}
    model = library.models.WordPiece(vocabulary, unk_token=UNK, max_input_chars_per_word=10_000)
    theirs = library.Tokenizer(model).encode(ours.split(text), is_pretokenized=True)
    assert ours.encode(text) == theirs.ids
    spans = [(token.char_start, token.char_end) for token in ours.tokens(text)]
    for token, (start, end) in zip(ours.tokens(text), spans, strict=True):
        assert text[start:end].encode() == token.data
        piece = ours.token_bytes(token.id).decode()
        assert piece == UNK or piece.removeprefix(INSIDE) == text[start:end]
    assert spans == sorted(spans)


@given(st.text(alphabet=string.ascii_lowercase + string.punctuation + " é\n", max_size=60))
def test_words_are_cut_as_bert_cuts_them(text):
    library = pytest.importorskip("tokenizers")
    theirs = library.pre_tokenizers.BertPreTokenizer().pre_tokenize_str(text)
    assert WordPieceTokenizer.split(text) == [word for word, _ in theirs]


def test_a_real_text_comes_back_and_its_pieces_are_shared():
    stories = CORPUS.read_text(encoding="utf-8")[:20_000]
    trained = WordPieceTokenizer.train(stories, 400)
    words = trained.split(stories)
    assert trained.split(trained.decode(trained.encode(stories))) == words
    assert trained.vocab_size == 400


def test_a_word_with_an_unknown_character_is_unknown_as_a_whole():
    trained = WordPieceTokenizer.train(FORMS, 60)
    assert trained.pieces("tokens") != [UNK] and trained.pieces("tokenß") == [UNK]
    (token,) = trained.tokens(" tokenß")
    assert (token.id, token.data) == (trained.special_tokens[UNK], "tokenß".encode())


def test_marks_stand_where_bert_has_them():
    trained = WordPieceTokenizer.train(FORMS, 60)
    ids = trained.encode_with_marks("token", "tokens", 40)
    texts = [trained.token_bytes(i).decode() for i in ids]
    assert len(ids) == 40 and texts[0] == CLS and texts.count(SEP) == 2
    inner = texts[: texts.index(PAD)]
    assert inner[-1] == SEP and set(texts[len(inner) :]) == {PAD}
    assert ids[1 : texts.index(SEP)] == trained.encode("token")
    assert trained.encode_with_marks("token") == ids[: texts.index(SEP) + 1]
    with pytest.raises(ValueError, match="length must be at least"):
        trained.encode_with_marks("token", length=2)
    with pytest.raises(ValueError, match="at least"):
        WordPieceTokenizer.train(FORMS, 5)


def test_a_saved_one_is_the_same_and_a_wrong_one_is_refused(tmp_path):
    trained = WordPieceTokenizer.train(FORMS, 60)
    trained.save(tmp_path / "t.json")
    loaded = Tokenizer.load(tmp_path / "t.json")
    assert isinstance(loaded, WordPieceTokenizer)
    assert loaded.encode(FORMS) == trained.encode(FORMS)
    for wrong in (None, ["a b"], ["##"], [""], ["a", "a"], [3], ["a_b"]):
        with pytest.raises(ValueError, match="vocabulary"):
            WordPieceTokenizer.from_dict({"vocabulary": wrong})
