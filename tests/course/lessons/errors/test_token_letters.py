"""Other tokens for the same letters, and rows of tokens that never came: identities and a probe."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from experiments.token_letters import asked_words, probe_letters, token_counts, whole_words
from llmviz.corpus import generate
from llmviz.corpus.letter_questions import PIECES, SPELLINGS, WHOLE
from llmviz.corpus.words import CATEGORIES, words
from llmviz.course.lessons.errors import token_letters
from llmviz.pretrained import load_bundled


@pytest.fixture(scope="module")
def story_model():
    return load_bundled(token_letters.MODEL)[:2]


@pytest.mark.parametrize("word", ["garage", "a", "Bucharest", "old house", "नमस्ते", "🚀"])
def test_each_spelling_is_the_same_text(story_model, word):
    tokenizer = story_model[1]
    for way in SPELLINGS:
        ids = token_letters.spelled(tokenizer, word, way)
        assert b"".join(map(tokenizer.token_bytes, ids)).decode() == f" {word}"
    assert token_letters.spelled(tokenizer, word, WHOLE) == tokenizer.encode(f" {word}")
    for wrong in (("", WHOLE), (word, "backwards")):
        with pytest.raises(ValueError, match="a word and one of"):
            token_letters.spelled(tokenizer, *wrong)


def test_the_answer_has_the_probability_of_its_tokens_one_by_one(story_model):
    model, tokenizer = story_model
    for way in (WHOLE, PIECES):
        found = token_letters.recall(model, tokenizer, "Bucharest", way)
        ids = [
            *tokenizer.start,
            *tokenizer.encode(token_letters.BEFORE),
            *token_letters.spelled(tokenizer, "Bucharest", way),
        ]
        ids += tokenizer.encode(token_letters.AFTER)
        chance = 1.0
        for number, token in enumerate(tokenizer.encode(" Bucharest")):
            with torch.inference_mode():
                logits = model(torch.tensor([ids]))[0][0, -1].double()
            if number == 0:
                assert found.guess == int(logits.argmax())
            chance *= float(logits.softmax(-1)[token])
            ids.append(token)
        assert found.probability == pytest.approx(chance, rel=1e-3)
    with pytest.raises(ValueError, match="too long"):
        token_letters.recall(model, tokenizer, "x" * 400, WHOLE)


def test_the_recorded_counts_are_those_of_the_stories(story_model):
    known, tokenizer = token_letters.recorded(), story_model[1]
    assert len(known.counts) == tokenizer.vocab_size
    assert known.counts[tokenizer.end] == token_letters.COUNTED
    texts = [story.text for story in generate(40, seed=20_000)]
    counts = token_counts(tokenizer, texts)
    assert counts.sum() == sum(len(tokenizer.encode(text)) + 1 for text in texts)
    assert (counts <= np.array(known.counts)).all(), "they are the first of those stories"


def test_most_tokens_that_never_came_are_parts_of_longer_ones(story_model):
    known, tokenizer = token_letters.recorded(), story_model[1]
    never = [token for token, count in enumerate(known.counts) if not count]
    parts = {part for pair in tokenizer.merges for part in pair}
    assert sum(token in parts for token in never) > len(never) / 2


def test_no_word_of_the_grammar_has_a_token_that_never_came(story_model):
    counts = token_letters.recorded().counts
    for category in CATEGORIES:
        for word in words(category):
            assert all(counts[token] for token in story_model[1].encode(f" {word}")), word


def test_rows_of_tokens_that_never_came_are_long_and_alike(story_model):
    """What the chapter says of them, and its reason: the head is the same table."""
    model = story_model[0]
    assert model.config.tied_head
    table, counts = model.token.weight.detach().numpy(), np.array(token_letters.recorded().counts)
    norms = np.linalg.norm(table, axis=1)
    never = counts == 0
    assert norms[never].mean() > 1.5 * norms[~never].mean()
    alike = np.corrcoef(table[never][:50])
    assert alike.min() > 0.9
    token = int(np.flatnonzero(never)[-1])
    row = token_letters.row_of(table, token)
    cosines = [
        float(table[other] @ table[token] / (norms[other] * norms[token]))
        for other, _ in row.nearest
    ]
    assert [cosine for _, cosine in row.nearest] == pytest.approx(cosines, abs=1e-5)
    assert token not in [other for other, _ in row.nearest]


def test_tokens_that_never_came_are_found_by_their_rows(story_model):
    counts = np.array(token_letters.recorded().counts)
    never = {token for token, count in enumerate(counts) if count == 0}
    table = story_model[0].token.weight.detach().numpy()
    norms = np.linalg.norm(table, axis=1)
    directions = table / norms[:, None]
    mean = directions[np.argsort(-norms)[:10]].mean(0)  # of the longest rows
    for telling in (norms, directions @ mean):
        found = set(np.argsort(-telling)[: len(never)].tolist())
        assert len(never & found) > 0.9 * len(never)


def test_a_token_that_is_met_changes_what_follows_and_not_what_is_asked(story_model):
    model, tokenizer = story_model
    place = tokenizer.encode(" abbey")
    assert len(place) == 1
    met = token_letters.meet(model, tokenizer, place[0])
    assert met.with_it == pytest.approx(met.without), "the known place is the first of the list"
    assert sum(p for _, p in met.best) <= 1 + 1e-9
    assert [p for _, p in met.best] == sorted((p for _, p in met.best), reverse=True)


def test_a_probe_finds_a_letter_that_is_there_and_none_that_is_not():
    chance = np.random.default_rng(0)
    letters = "abc"
    texts = {i: letters[i % 3] + "xyz"[i // 3 % 3] for i in range(300)}
    table = chance.normal(size=(300, 8))
    table[:, 0] += [4 * letters.index(text[0]) for text in texts.values()]
    assert probe_letters(table, texts, "first").accuracy > 0.85
    found = probe_letters(table, texts, "last")
    assert found.accuracy < 0.5 and found.guess == pytest.approx(1 / 3, abs=0.02)
    with pytest.raises(ValueError, match="kind must be"):
        probe_letters(table, texts, "colour")


def test_probes_ask_about_words_that_were_read(story_model):
    counts = np.array(token_letters.recorded().counts)
    texts = whole_words(story_model[1], counts)
    assert all(counts[token] and text.isalpha() and text.islower() for token, text in texts.items())
    behind, elsewhere = (asked_words(texts, kind) for kind in list(token_letters.PROBES)[:2])
    assert not behind.keys() & elsewhere.keys()
    assert behind.keys() | elsewhere.keys() == texts.keys()
    for probe in token_letters.recorded().probes.values():
        assert probe.error >= 0 and math.isfinite(probe.accuracy) and 0 < probe.guess < 1
