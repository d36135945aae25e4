"""Sentences of the home page that are computed: true for every model and text."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest

from llmviz.course.components.machine.view import NextToken
from llmviz.course.lessons.home import below, picture, words
from llmviz.course.lessons.home.sentence import machine_rows, sentence
from llmviz.models.settings import NORMS, POSITIONS
from llmviz.tokenizers import ENDOFTEXT, UNKNOWN, CharTokenizer


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("following", words.following)
@pytest.mark.parametrize("starts", [False, True])
def test_the_picture_says_what_this_model_does(positions, norm, following, starts):
    say = picture.picture_words(positions, norm, following, starts=starts)["say"]
    assert not re.search(r"\{(placed|last|following|counted)\}", " ".join(say.values()))
    assert ("normalised once more" in say["scores"]) == (norm == "pre")
    assert ("ends the text" in say["next"]) == (following == "end")
    assert ("start token" in say["tokens"]) == starts
    added = "is added" in say["vectors"] and "Nothing is added" not in say["vectors"]
    assert added == (positions in ("learned", "sinusoidal"))


def screen_of(row: np.ndarray, window: int | None = None) -> below.OnScreen:
    """A screen whose last row has these weights (T,), of a model with a window or without."""
    weights = np.zeros((1, 1, row.size, row.size))
    weights[0, 0, -1] = row
    reading = SimpleNamespace(weights=weights, earlier=np.zeros((1, 1, row.size)))
    tokenizer = CharTokenizer.train("ab")
    bundled = SimpleNamespace(
        tokenizer=tokenizer, model=SimpleNamespace(config=SimpleNamespace(window=window))
    )
    text = SimpleNamespace(ids=tuple(tokenizer.encode("ab" * row.size)[: row.size]))
    return below.OnScreen(bundled, text, reading, 0, 0)


@pytest.mark.parametrize("case", range(60))
def test_the_sum_adds_up_as_it_is_shown_or_says_that_it_is_rounded(case):
    chance = np.random.default_rng(case)
    row = chance.dirichlet(np.ones(int(chance.integers(2, 12))) * chance.choice([0.1, 1, 50]))
    if case % 5 == 0:
        row[:] = 1 / row.size
    asked = below.sum_question(screen_of(row))
    shown = asked.reasons[0].partition("Here: ")[2]
    parts, _, total = shown.partition(" = ")
    added = sum(map(float, re.findall(r"\d\.\d+", parts)))
    assert total.startswith("1.000")
    assert (words.rounded in shown) == (f"{added:.3f}" != "1.000")
    assert f"each of the {row.size} tokens" in asked.text


def test_a_window_leaves_fewer_tokens_to_see():
    row = np.array([0.0, 0.0, 0.25, 0.25, 0.5])
    assert "each of the 3 tokens" in below.sum_question(screen_of(row, window=3)).text
    assert below.sum_question(screen_of(np.array([0.0, 1.0]), window=1)) is None


def test_an_unknown_character_is_not_called_the_start_of_the_text():
    tokenizer = CharTokenizer.train("the cat")
    unknown = tokenizer.special_tokens[UNKNOWN]
    rows = machine_rows(sentence("the 한 cat", tokenizer, None), tokenizer)
    assert unknown in [row.id for row in rows]
    assert [row.id for row in rows if row.special] == [tokenizer.special_tokens[ENDOFTEXT]]


@pytest.mark.parametrize("front", [None, [], [UNKNOWN], [UNKNOWN, ENDOFTEXT]])
@pytest.mark.parametrize("text", ["", "the cat"])
@pytest.mark.parametrize("context", [None, 2, 5])
def test_a_start_token_is_counted_only_where_the_model_reads_one(front, text, context):
    """Published tokenizers put another token in front, or several, or none; a window slides on."""
    tokenizer = CharTokenizer.train("the cat")
    tokenizer.front = (
        None if front is None else tuple(tokenizer.special_tokens[one] for one in front)
    )
    read = sentence(text, tokenizer, context)
    assert read.starts == (len(tokenizer.start) == 1 and read.ids[:1] == tokenizer.start)


def test_a_token_that_only_marks_something_does_not_end_the_text():
    tokenizer = CharTokenizer.train("the cat")

    def kind(token: int) -> str:
        ends = token in tokenizer.special_tokens.values()
        return picture.kind_of(NextToken("", token, 1.0, 1, ends=ends), tokenizer)

    assert kind(0) == "text"
    assert kind(tokenizer.special_tokens[ENDOFTEXT]) == "end"
    assert kind(tokenizer.special_tokens[UNKNOWN]) == "mark"


def test_softmax_is_not_called_a_division_of_the_scores():
    """Scores divided by their sum are no weights; the powers of e are divided by their sum."""
    scores = np.array([-1.0, 0.5, 2.0])
    powers = np.exp(scores)
    assert (scores / scores.sum()).min() < 0 < (powers / powers.sum()).min()
    assert "sum of all these powers" in next(iter(words.sum_question.answers.values()))
