"""Analogies and word categories: what the embeddings lesson asks."""

import re

import pytest

from llmviz.corpus import RELATIONS, analogies, load_corpus, word_categories
from llmviz.corpus.words import article, plural


@pytest.fixture(scope="module")
def corpus_words() -> set[str]:
    """Every word of a long stretch of tiny-world."""
    return set(re.findall(r"[\w-]+", load_corpus("tiny-world", characters=2_500_000).text))


@pytest.mark.parametrize("relation", RELATIONS)
def test_analogies_are_made_of_words_that_occur(relation, corpus_words):
    quadruples = analogies(relation)
    pairs = {quadruple[:2] for quadruple in quadruples}
    assert len(quadruples) == len(pairs) * (len(pairs) - 1)
    assert all(quadruple[2:] in pairs for quadruple in quadruples)
    assert {word for pair in pairs for word in pair} <= corpus_words


def test_the_best_known_analogy():
    assert ("man", "woman", "king", "queen") in analogies("pairs")
    with pytest.raises(ValueError, match="no relation 'rhymes'"):
        analogies("rhymes")


def test_no_word_is_in_two_categories(corpus_words):
    categories = word_categories()
    every = [word for category in categories.values() for word in category]
    assert len(set(every)) == len(every) and set(every) <= corpus_words
    assert all(len(category) >= 4 for category in categories.values())


@pytest.mark.parametrize(
    ("word", "many", "a"),
    [
        ("fox", "foxes", "a fox"),
        ("butterfly", "butterflies", "a butterfly"),
        ("donkey", "donkeys", "a donkey"),
        ("mouse", "mice", "a mouse"),
        ("owl", "owls", "an owl"),
        ("heir", "heirs", "an heir"),
        ("unicorn", "unicorns", "a unicorn"),
        ("uncle", "uncles", "an uncle"),
    ],
)
def test_spelling(word, many, a):
    assert plural(word) == many
    assert f"{article(word)} {word}" == a
