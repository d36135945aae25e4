"""Word and character tokenizers: sorted vocabularies, unknown tokens, readable decoding."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmviz.tokenizers import TRAINERS, CharTokenizer, WordTokenizer, train_tokenizer
from tests.tokenizers.samples import CORPUS, random_texts

STORY = "The boy (a cook) said: \"Boys aren't toys!\"\nThe end, it's true; 50% of it."


def test_words_and_marks_are_the_tokens_in_sorted_order():
    tokenizer = WordTokenizer.train("b a, b!\na")
    texts = [tokenizer.token_bytes(i).decode() for i in range(tokenizer.vocab_size)]
    assert texts == ["\n", "!", ",", "a", "b", "<|endoftext|>", "<|unk|>", "<|pad|>"]
    assert tokenizer.encode("a b") == [3, 4]
    assert [tokenizer.special_tokens[text] for text in texts[5:]] == [5, 6, 7]


def test_ordinary_prose_comes_back_from_words():
    assert WordTokenizer.train(STORY).decode(WordTokenizer.train(STORY).encode(STORY)) == STORY
    stories = CORPUS.read_text(encoding="utf-8")[:20_000].split("\n\n")
    tokenizer = WordTokenizer.train(stories)
    back = [tokenizer.decode(tokenizer.encode(story)) for story in stories]
    assert sum(a == b for a, b in zip(stories, back, strict=True)) > 0.9 * len(stories)


@given(st.lists(st.sampled_from([*'.,!?()"\n', "it's", "'", "a", "boy", "7"]), max_size=12))
def test_decoded_words_are_the_same_words(words):
    tokenizer = WordTokenizer.train(["it's ' a boy 7 .,!?()\"\n"])
    ids = [i for word in words for i in tokenizer.encode(word)]
    assert tokenizer.encode(tokenizer.decode(ids)) == ids


def test_words_not_seen_are_unknown():
    tokenizer = WordTokenizer.train("the boy")
    assert tokenizer.decode(tokenizer.encode("the boys")) == "the <|unk|>"
    (_, unknown) = tokenizer.tokens("the boys")
    assert (unknown.id, unknown.data) == (tokenizer.special_tokens["<|unk|>"], b"boys")
    # a special token's text is ordinary text, unless allowed
    assert "<|endoftext|>" not in tokenizer.decode(tokenizer.encode("<|endoftext|>"))
    assert tokenizer.decode(tokenizer.encode("boy<|endoftext|>", "all")) == "boy <|endoftext|>"


def test_a_limit_keeps_the_most_frequent():
    tokenizer = WordTokenizer.train("c c c b b a a d", 5)
    assert tokenizer.vocabulary == ["a", "c"]  # a and b are equally frequent: the first stays
    assert CharTokenizer.train("ccbba", 4).vocabulary == ["b"]
    with pytest.raises(ValueError, match="above 3"):
        WordTokenizer.train("a b", 3)


def test_characters_come_back_but_for_those_not_seen():
    texts = random_texts(300, seed=2)
    tokenizer = CharTokenizer.train(texts)
    assert tokenizer.vocabulary == sorted(set("".join(texts)))
    for text in texts:
        assert tokenizer.decode(tokenizer.encode(text)) == text
        assert [token.data.decode() for token in tokenizer.tokens(text)] == list(text)
    assert len(tokenizer.encode("dinosaur")) == 8
    assert CharTokenizer.train("ab").decode(CharTokenizer.train("ab").encode("aXb")) == "a<|unk|>b"


@pytest.mark.parametrize("kind", ["word", "char", "bpe"])
def test_every_trained_tokenizer_knows_the_end_of_text(kind):
    tokenizer = train_tokenizer(kind, ["one text", "two texts"])
    assert tokenizer.kind == tokenizer.name == kind
    end = tokenizer.special_tokens["<|endoftext|>"]
    assert tokenizer.encode("<|endoftext|>", ["<|endoftext|>"]) == [end]
    assert tokenizer.token_bytes(end) == b"<|endoftext|>"
    assert sorted(tokenizer.special_tokens.values())[-1] == tokenizer.vocab_size - 1


def test_a_kind_that_cannot_be_trained_is_refused():
    with pytest.raises(ValueError, match=f"one of {', '.join(TRAINERS)}; got 'gpt2'"):
        train_tokenizer("gpt2", "text")
