"""Words and their roles: tables against the model counted elsewhere, sentences, stems, truths."""

from __future__ import annotations

import random

import numpy as np
import pytest
import snowballstemmer
from hypothesis import given
from hypothesis import strategies as some

from llmviz.corpus.roles import TAGS, split_words
from llmviz.course.lessons.language import word_roles
from llmviz.course.lessons.language.stems import model as word_forms
from llmviz.language.hmm import count_hmm, viterbi
from llmviz.language.role_scores import counted_sentences
from llmviz.language.tagger import tagged_stories, text_of


@pytest.fixture(scope="module")
def told():
    return tagged_stories(12, seed=4)


def test_the_tables_are_those_of_the_hidden_markov_model():
    sentences = counted_sentences(20, seed=5)
    counts, hmm = word_roles.count_tags(sentences), count_hmm(sentences, TAGS, 0.25)
    for table, ours in ((hmm.start, counts.start), (hmm.transition, counts.transition)):
        smoothed = ours + 0.25
        assert np.allclose(table, smoothed / smoothed.sum(-1, keepdims=True))
    divisor = counts.totals + 0.25 * (len(counts.words) + 1)
    for word in [*random.Random(0).sample(sorted(counts.words), 20), "zzyx"]:
        assert np.allclose(hmm.column(word), (counts.of(word) + 0.25) / divisor)
    assert counts.totals.sum() == sum(map(len, sentences))


@given(some.lists(some.sampled_from(["a", "b", ".", "?", "!"])))
def test_sentences_cover_all_words_in_order(words):
    parts = word_roles.cut_sentences(words)
    assert [i for part in parts for i in part] == list(range(len(words)))
    assert all(len(part) for part in parts)
    assert all(words[part[-1]] in ".?!" for part in parts[:-1])
    assert all(words[i] not in ".?!" for part in parts for i in part[:-1])


def test_a_text_is_tagged_sentence_by_sentence(told):
    hmm = count_hmm(counted_sentences(20, seed=5), TAGS)
    words = [word for word, _ in split_words(text_of(told[0]))]
    tags = word_roles.hmm_tags(hmm, words)
    first = word_roles.cut_sentences(words)[0]
    assert tags[: len(first)] == list(viterbi(hmm, words[: len(first)]).tags)
    assert len(tags) == len(words)


def test_the_commonest_tag_is_the_largest_count():
    counts = word_roles.count_tags([[("a", "NOUN"), ("a", "VERB"), ("a", "VERB"), ("b", "DET")]])
    assert word_roles.commonest_tags(counts, ["a", "b", "c"]) == ["VERB", "DET", None]


def test_the_truth_of_a_story_and_of_no_story(told):
    story = told[0]
    assert word_roles.story_names(text_of(story)) == [word.entity for word in story]
    assert word_roles.story_names("Barack flew to Chicago.") is None
    first = word_roles.beginning(story, 30)
    assert first == story[: len(first)] and first
    assert first[-1].text in ".?" or len(first) == len(story)


def test_known_words_are_those_of_the_stories(told):
    assert all(word_roles.is_known(word.text) for story in told for word in story)
    assert not word_roles.is_known("Chicago" * 3)


def test_stemmers_are_other_peoples_and_pairs_are_judged_by_their_stems():
    porter = snowballstemmer.stemmer("porter")
    for name, theirs in (("porter", porter.stemWord), ("snowball", word_forms.snowball_stem)):
        for pair in word_forms.judged_pairs(name):
            assert pair.stems == tuple(map(theirs, pair.words))
            joined = pair.stems[0] == pair.stems[1]
            assert bool(pair.fault) == (joined != pair.together)
            assert pair.fault != (-1 if joined else 1)


def test_families_share_a_stem_and_nobody_is_alone():
    words = ["connect", "Connected", "connected", "tree", "trees", "house"]
    assert word_forms.families(words) == {
        "connect": ["connect", "connected"],
        "tree": ["tree", "trees"],
    }
