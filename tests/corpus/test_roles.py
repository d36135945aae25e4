"""Parts of speech and names out of the grammar: exact, whole, and unambiguous."""

import re
from itertools import chain

import pytest

from llmviz.corpus import NotTinyWorldError, generate
from llmviz.corpus.roles import ENTITIES, TAGS, roles, sentences, split_words
from llmviz.corpus.words import words


@pytest.fixture(scope="module")
def stories():
    return [document.text for document in generate(600, seed=77)]


@pytest.fixture(scope="module")
def words_of_stories(stories):
    """The words of each story with their roles."""
    return [roles(story) for story in stories]


def test_every_word_of_every_story_has_a_role_at_its_place(stories, words_of_stories):
    for story, told in zip(stories, words_of_stories, strict=True):
        assert [(word.text, word.start) for word in told] == split_words(story)
        assert "".join(story.split()) == "".join(word.text for word in told)
        assert {word.tag for word in told} <= {*TAGS}
        kinds = {word.entity.partition("-")[2] for word in told} - {""}
        assert kinds <= {*ENTITIES}


@pytest.mark.parametrize(
    ("word", "tags"),
    [
        ("saw", {"VERB", "NOUN"}),
        ("felt", {"VERB", "ADJ"}),
        ("little", {"ADJ", "ADV"}),
        ("one", {"NUM", "NOUN"}),
        ("was", {"AUX"}),
        (".", {"PUNCT"}),
    ],
)
def test_some_words_have_two_roles_and_most_have_one(word, tags, words_of_stories):
    every = chain.from_iterable(words_of_stories)
    assert {one.tag for one in every if one.text.lower() == word} == tags


def test_a_words_role_is_why_it_was_written(stories, words_of_stories):
    """Told once more by patterns of the text, for roles that patterns can tell."""
    for story, told in zip(stories, words_of_stories, strict=True):
        at = {word.start: word for word in told}
        for match in re.finditer(r"mended the \w+ with an? \w+ (saw)\b", story):
            assert at[match.start(1)].tag == "NOUN"
        for match in re.finditer(r"(saw) an? ", story):
            assert at[match.start(1)].tag == "VERB"
        for match in re.finditer(r"(found) an? (\w+) (\w+) (\w+) ", story):
            own = [at[match.start(k)] for k in (1, 2, 3, 4)]
            assert [word.tag for word in own] == ["VERB", "ADJ", "ADJ", "NOUN"]
            assert [word.entity for word in own] == ["O", "B-THING", "I-THING", "I-THING"]
        for match in re.finditer(r"\b([A-Z]\w+) ([A-Z]\w+)\b", story):
            if match[1] in words("names") and match[2] in words("surnames"):
                own = [at[match.start(k)] for k in (1, 2)]
                assert [word.entity for word in own] == ["B-PERSON", "I-PERSON"]
        for match in re.finditer(r"dreamed of (\w+)\.", story):
            assert (at[match.start(1)].tag, at[match.start(1)].entity) == ("PROPN", "B-PLACE")
        for match in re.finditer(r"(?:It was|it was) (\w+day)\b", story):
            assert at[match.start(1)].entity == "B-DAY"


def test_inside_follows_what_it_goes_on_with(words_of_stories):
    for told in words_of_stories:
        for before, word in zip(["O", *(one.entity for one in told)], told, strict=False):
            if word.entity.startswith("I-"):
                assert before[2:] == word.entity[2:]


def test_sentences_are_the_storys_words_in_order(words_of_stories):
    for told in words_of_stories[:50]:
        cut = sentences(told)
        assert [word for one in cut for word in one] == told
        assert all(word.text not in ".?" for one in cut for word in one[:-1])


def test_other_texts_are_refused():
    with pytest.raises(NotTinyWorldError):
        roles("The cat sat on the mat.")
