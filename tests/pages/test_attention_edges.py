"""Every graded question of the lesson on attention at its edges: one right option, true reasons."""

from __future__ import annotations

import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from llmviz.course.lessons.attention.heads import query_heads, switching
from llmviz.course.lessons.attention.steps import query_row, scale
from llmviz.course.lessons.attention.steps import words as steps_words
from llmviz.course.lessons.attention.trained import words as lookup_words
from llmviz.course.lessons.attention.trained.lookup import part as lookup
from llmviz.course.lessons.attention.trained.lookup import trace as looking
from llmviz.course.lessons.attention.why import translators
from llmviz.course.ui import engine, kit
from llmviz.nn.attention import attention, causal_mask
from llmviz.tokenizers import get_tokenizer


def percent(text: str) -> int:
    return int(re.search(r"(\d+)%", text).group(1))


@pytest.mark.parametrize("case", range(60))
def test_the_line_to_be_drawn_is_the_models_and_the_others_are_apart(case):
    chance = np.random.default_rng(case)
    lengths = range(4, 4 + int(chance.integers(0, 9)))
    falls = np.sort(chance.random(len(lengths)))[::-1] if case % 2 else chance.random(len(lengths))
    counts = {n: (1000, round(1000 * share)) for n, share in zip(lengths, falls, strict=True)}
    asked = translators.question(counts)
    if asked is None:
        return
    right, level, ruler = (np.array(line) for line in asked.values)
    np.testing.assert_allclose(right, [counts[n][1] / 1000 for n in lengths[2:]])
    np.testing.assert_allclose(level, counts[5][1] / 1000)
    steps = np.diff([counts[5][1] / 1000, *ruler])
    inside = (ruler > 0) & (ruler < 1)
    np.testing.assert_allclose(steps[inside], (counts[5][1] - counts[4][1]) / 1000, atol=1e-9)
    pairs = ((right, level), (right, ruler), (level, ruler))
    assert all(np.abs(a - b).mean() >= translators.APART for a, b in pairs)
    assert right[-1] <= min(level[-1], ruler[-1]) and asked.right == 0


@pytest.mark.parametrize("case", range(60))
def test_all_heads_that_move_most_are_named(case):
    chance = np.random.default_rng(case)
    shape = (int(chance.integers(1, 5)), int(chance.integers(1, 5)))
    worth = chance.random(shape) * chance.choice([0.001, 0.03, 1.0])
    if case % 4 == 0:
        worth = np.round(worth, 1)  # many heads alike
    count = switching.strongest(worth).count("layer")
    assert count == (0 if worth.max() < 0.005 else (worth == worth.max()).sum())


@pytest.mark.parametrize("case", range(60))
def test_the_right_word_is_what_the_veiled_heads_look_at_and_each_other_word_an_answer(case):
    chance = np.random.default_rng(case)
    tokens = ["·Anna", "·book", "·Samir", "·book", *chance.choice(["·a", ".", "·with"], 3)]
    weights = chance.dirichlet(np.full(7, 0.1), 5)
    veiled = query_heads.puzzle(weights, tokens, "·book")
    best = [tokens[at] for at in weights.argmax(1)]
    if not veiled:
        return
    asked = query_heads.question(weights, tokens, "·book")
    assert 0 not in veiled and {best[0], "·Anna", "·Samir"} == {"·Anna", "·Samir"}
    share = weights[veiled[0], [1, 3]].sum()
    assert f"{100 * share:.0f}" in asked.reasons[0]
    places = [query_heads.place_of(asked.answers, token) for token in tokens]
    assert [at for at, place in enumerate(places) if place == asked.right] == [1, 3]


def test_a_head_is_called_by_the_word_that_it_looks_at_most_and_by_none_at_a_tie():
    tokens, rows = ["·a", "·b", "·a"], query_heads.words.rows
    weights = np.array([[0.3, 0.4, 0.3], [0.2, 0.6, 0.2], [0.25, 0.5, 0.25], [0, 0, 1]])
    called = [rows["one"].format(word=word) for word in "aba"]
    called.insert(2, rows["several"])
    assert query_heads.row_names(weights, tokens, []) == called
    assert query_heads.row_names(weights, tokens, [3])[3] == rows["veiled"]


def test_the_usual_model_looks_at_both_people_and_at_what_is_asked_for():
    real = engine.load("tiny-world-gpt")
    ids = real.tokenizer.encode_from_start(query_heads.words.texts["book"])
    read = query_heads.model_on_text.read_ids(ids, real)
    weights = query_heads.shares(read, real.model.config.n_layer - 1)
    assert query_heads.puzzle(weights, list(read.tokens), "·book")


@pytest.fixture(scope="module")
def bundled():
    return SimpleNamespace(tokenizer=get_tokenizer("char"))


@pytest.mark.parametrize("seed", range(8))
def test_the_largest_share_that_is_asked_for_is_that_of_many_other_draws(seed):
    _, plain = scale.studies(seed)
    asked = scale.question(plain)
    if asked is None:
        return
    shares = [value for (value,) in asked.values]
    assert len(shares) == 4 and min(np.diff(sorted(shares))) >= scale.APART
    torch.manual_seed(seed)
    q, k = torch.randn(2000, 64), torch.randn(2000, 16, 64)
    again = torch.einsum("nd,nkd->nk", q, k).softmax(-1).amax(-1).mean()
    assert shares[asked.right] == pytest.approx(float(again), abs=0.1)


@pytest.mark.parametrize("case", range(60))
def test_the_covered_weight_is_one_option_and_each_reason_is_true(case):
    torch.manual_seed(case)
    t = 1 + case % 8
    x = torch.randn(t, 3, dtype=torch.float64) * [0.0, 0.1, 1.0, 5.0, 400.0][case % 5]
    steps = attention(x, x, x, causal_mask(t) if case % 2 else None)
    picture = SimpleNamespace(matrices=[SimpleNamespace(name="weights")])
    variant = SimpleNamespace(
        inputs=SimpleNamespace(tokens=[f"t{i}" for i in range(t)]), steps=steps, picture=picture
    )
    row = query_row.row_of(variant, -1)
    asked = query_row.share_question(variant, row)
    if asked is None:
        return
    scores = row.scores[row.scores.isfinite()]
    right = float(row.shares.max())
    meanings = {
        steps_words.ask_share_all: 1.0,
        steps_words.ask_share_even: 1 / len(scores),
        steps_words.ask_share_scores: float(scores.max() / scores.sum()),
    }
    (told,) = asked.values[asked.right]
    assert told == pytest.approx(right)
    for at, ((value,), reason) in enumerate(zip(asked.values, asked.reasons, strict=True)):
        if at != asked.right:
            assert value == pytest.approx(meanings[reason])
            assert abs(value - right) >= query_row.APART


@pytest.mark.parametrize("case", range(40))
def test_the_swap_has_one_answer_and_its_reason_says_what_was_seen(monkeypatch, case):
    chance = np.random.default_rng(case)
    words = [" Anna", " Samir", " the", "Anna", " ", "Samir", " box", "The"]
    tokenizer = SimpleNamespace(decode=lambda ids: words[ids[0]])
    story = SimpleNamespace(answers=(" Anna", " Samir"), things=("box", "cup"))
    pair = SimpleNamespace(story=story, movers=[(0, 0), (1, 2)])
    before = chance.dirichlet(np.ones(2), 2)
    after = chance.dirichlet(np.ones(len(words)) * 0.3)
    monkeypatch.setattr(looking, "answer_ids", lambda bundled, story: [0, 1])
    monkeypatch.setattr(looking, "chances", lambda bundled, found: before)
    asked = lookup.question(SimpleNamespace(tokenizer=tokenizer), pair, after)
    shares = {"Anna": after[0], "Samir": after[1]}
    for place in (2, 6, 7):
        shares[words[place].strip()] = after[place]
    offered = [shares[answer.replace("\\", "")] for answer in asked.answers]
    assert int(np.argmax(offered)) == asked.right and len(offered) == 3
    assert offered[2] == max(after[[2, 6, 7]])
    same = asked.right < 2 and before[0].argmax() == asked.right
    assert (lookup_words.lookup_ask_same in asked.reasons[asked.right]) == same
    if asked.right == 0 and not same:
        assert "changed with it" in asked.reasons[0]


@pytest.mark.parametrize(
    ("scores", "case", "best"),
    [
        ([1.0, 2.0, 3.0], "one", ["sat"]),
        ([2.0, 2.0, 1.0], "tied", ["the", "cat"]),
        ([2.0, 2.0, 2.0], "even", ["the", "cat", "sat"]),
        ([-1.0, -1.0, -math.inf], "even", ["the", "cat"]),
        ([1.0, -math.inf, -math.inf], "alone", ["the"]),
        ([0.0], "alone", ["the"]),
    ],
)
def test_the_sentence_of_a_query_names_all_that_it_takes_most_from(scores, case, best):
    raw, tokens = torch.tensor(scores), ["the", "cat", "sat"][: len(scores)]
    row = query_row.Row(0, raw, raw.softmax(0))
    quoted, share = kit.listed([kit.quote(token) for token in best]), kit.percent(max(row.shares))
    slots = {"asking": kit.quote("the"), "most": quoted, "share": share}
    assert query_row.caption(tokens, row) == steps_words.caption[case].format(**slots)
    assert quoted in query_row.caption_before(tokens, row)
