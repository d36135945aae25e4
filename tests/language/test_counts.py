"""n-grams, Zipf's line and tf-idf against numpy and scikit-learn."""

import math

import numpy as np
import pytest

from llmviz.corpus import load_corpus
from llmviz.language.counts import ngrams, tf_idf, zipf

DOCUMENTS = load_corpus("tiny-world", characters=20_000).documents


def words(text):
    return text.split()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_ngrams_equal_scikit_learns(n):
    from sklearn.feature_extraction.text import CountVectorizer

    theirs = CountVectorizer(
        tokenizer=words, token_pattern=None, lowercase=False, ngram_range=(n, n)
    )
    counts = theirs.fit_transform(DOCUMENTS[:1]).toarray()[0]
    found = ngrams(words(DOCUMENTS[0]), n)
    named = zip(theirs.get_feature_names_out(), counts, strict=True)
    assert {" ".join(gram): count for gram, count in found.items()} == dict(named)


def test_short_texts_have_no_ngrams_and_n_is_at_least_one():
    assert not ngrams(["a"], 2) and not ngrams([], 1)
    with pytest.raises(ValueError, match="n must be at least 1"):
        ngrams(["a"], 0)


def test_tf_idf_equals_scikit_learns_and_gensims():
    pytest.importorskip("gensim", reason="gensim has no wheel for this Python")
    from gensim.corpora import Dictionary
    from gensim.models import TfidfModel
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

    cut = [words(one) for one in DOCUMENTS]
    found = tf_idf(cut)
    counter = CountVectorizer(tokenizer=words, token_pattern=None, lowercase=False)
    counted = counter.fit_transform(DOCUMENTS)
    plain = TfidfTransformer(norm=None, smooth_idf=False).fit(counted)
    assert list(found.words) == list(counter.get_feature_names_out())
    assert np.allclose(found.idf, plain.idf_ - 1)  # theirs is ln(D / df) + 1
    names = Dictionary(cut)
    model = TfidfModel(dictionary=names, normalize=False)
    weights = [{names[i]: weight for i, weight in model[names.doc2bow(one)]} for one in cut]
    expected = [[row.get(word, 0.0) for word in found.words] for row in weights]
    assert np.allclose(found.weights, np.array(expected) * math.log(2))  # theirs takes log 2


def test_a_word_of_every_document_weighs_nothing():
    found = tf_idf([["the", "cat", "the"], ["the", "dog"]])
    assert found.idf.tolist() == [math.log(2), math.log(2), 0]
    assert found.weights.tolist() == [[math.log(2), 0, 0], [0, math.log(2), 0]]
    assert (tf_idf([["a", "b"]]).weights == 0).all()
    assert (tf_idf([["a"], []]).weights == [[math.log(2)], [0]]).all()
    with pytest.raises(ValueError, match="at least one word"):
        tf_idf([[], []])


def test_zipfs_line_through_an_exact_law():
    made = [f"w{rank}" for rank in range(1, 7) for _ in range(60 // rank)]
    found = zipf(made)
    assert found.frequencies.tolist() == [60, 30, 20, 15, 12, 10]
    assert found.slope == pytest.approx(-1) and found.intercept == pytest.approx(math.log(60))
    assert zipf(["b", "a"]).words == ("a", "b")
    with pytest.raises(ValueError, match="at least two different words"):
        zipf(["a", "a"])
