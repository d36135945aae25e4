"""How far the grammar can have written a text, against the whole stories and the true tokens."""

from __future__ import annotations

import random

import pytest

from llmviz.corpus.kept import kept_characters
from llmviz.corpus.next_tokens import true_tokens
from llmviz.corpus.tiny_world import generate, is_story
from llmviz.tokenizers import get_tokenizer

STORIES = [document.text for document in generate(40, 4321)]


def test_every_beginning_of_a_story_is_kept_whole():
    chance = random.Random(0)
    for text in STORIES:
        for end in chance.sample(range(len(text) + 1), 25):
            assert kept_characters(text[:end]) == end


def test_what_stands_behind_the_end_of_a_story_is_not_kept():
    for text in STORIES[:10]:
        assert kept_characters(text + " And so") == len(text)


def test_a_changed_character_is_found_where_true_tokens_find_it():
    tokenizer, chance = get_tokenizer("char"), random.Random(1)
    for text in STORIES[:8]:
        at = chance.randrange(20, 200)
        changed = text[:at] + ("Q" if text[at] != "Q" else "X") + text[at + 1 :]
        kept = kept_characters(changed)
        possible = true_tokens(changed, tokenizer).possible
        assert kept <= possible <= at  # the phrase begins before the character that is wrong
        assert not is_story(changed)
        assert kept_characters(changed[:kept]) == kept


@pytest.mark.parametrize("text", ["", "O", "Once there was a"])
def test_short_beginnings_are_kept(text):
    assert kept_characters(text) == len(text)
