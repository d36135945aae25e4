"""Lemmas: the tag decides where a word has two."""

import pytest
import simplemma

from llmviz.language.lemmas import AMBIGUOUS, TWO_VERBS, lemma


@pytest.mark.parametrize(
    ("word", "tag", "expected"),
    [
        ("saw", "NOUN", "saw"),
        ("saw", "VERB", "see"),
        ("leaves", "NOUN", "leaf"),
        ("leaves", "VERB", "leave"),
        ("Leaves", "VERB", "leave"),
    ],
)
def test_the_tag_decides(word, tag, expected):
    found = lemma(word, tag)
    assert found.lemma == expected and found.why == "tag"
    assert found.dictionary == simplemma.lemmatize(word.lower(), lang="en")


def test_without_a_tag_it_is_the_dictionarys():
    for word in ("mice", "walked", "better", "leaves", "lamp"):
        assert lemma(word).lemma == simplemma.lemmatize(word, lang="en")
    assert lemma("lamp").why == "as it is" and lemma("mice").why == "dictionary"


def test_rules_go_as_far_as_spelling_does():
    assert (lemma("berries", "NOUN").by_rule, lemma("berries", "NOUN").rule) == (
        "berry",
        "ies → y",
    )
    assert lemma("mice", "NOUN").by_rule == "mice"  # no rule of spelling knows it
    assert lemma("glass", "NOUN").by_rule == "glass"


def test_names_stay_as_they_are():
    assert lemma("James", "PROPN").lemma == "James"


def test_every_ambiguous_word_has_a_form_for_its_tags():
    for word, by_tag in AMBIGUOUS.items():
        assert len(by_tag) == len(set(by_tag.values())) > 1, word  # the tag decides something
        assert {lemma(word, tag).lemma for tag in by_tag} == set(by_tag.values())


def test_a_form_of_two_verbs_names_the_one_that_is_not_taken():
    for form, other in TWO_VERBS.items():
        found = lemma(form, "VERB")
        assert found.other == other != found.lemma, form
        assert lemma(form, "NOUN").other == ""
    assert (lemma("lay", "VERB").lemma, lemma("lay", "VERB").other) == ("lie", "lay")
    assert (lemma("found", "VERB").lemma, lemma("found", "VERB").other) == ("find", "found")
    assert lemma("went", "VERB").other == ""


@pytest.mark.parametrize("word", ["", " ", "two words", "a\n"])
def test_what_is_no_word_is_refused(word):
    with pytest.raises(ValueError, match="no white space"):
        lemma(word)


def test_very_long_words_and_words_without_letters():
    assert lemma("x" * 500).word == "x" * 500
    assert lemma("1984").lemma == "1984"
