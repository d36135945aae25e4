"""From counts to GPT: what its sentences and questions say at their edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from llmviz.corpus.counts import LETTERS
from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.history.all import chapter
from llmviz.course.lessons.history.all import words as all_words
from llmviz.course.lessons.history.memory import chapter as memory
from llmviz.course.lessons.history.memory import own_string
from llmviz.course.lessons.history.memory import words as memory_words
from llmviz.course.lessons.history.recurrent import chapter as recurrent
from llmviz.course.lessons.history.recurrent.unit_roles import UnitRoles
from llmviz.course.lessons.history.series import chapter as series
from llmviz.course.lessons.history.series import words as series_words
from llmviz.course.lessons.history.series.series_fit import fit_series
from llmviz.course.lessons.history.where import chapter as where
from llmviz.course.lessons.history.where import drawing
from llmviz.course.lessons.history.where import words as where_words
from llmviz.course.lessons.history.where.letter_pictures import (
    EACH,
    TESTED,
    pictures,
    train_networks,
)
from llmviz.course.ui import engine
from llmviz.evaluation.nine_models import COUNTED, NINE
from llmviz.training.first_letter import FARTHEST, OPTIONS, read_card
from tests.pages.harness import fine_part, prose_of

letters = some.text("abqxz", min_size=1, max_size=6)


def test_a_lag_more_is_not_said_to_lower_the_error_in_any_case():
    """With a lag more, one value less is predicted: the mean is taken over others."""
    errors = [
        [fit_series(values, lags).mean_square for lags in (1, 2)]
        for values in np.random.default_rng(0).normal(size=(20, 12))
    ]
    assert any(two > one + 1e-9 for one, two in errors)
    assert "falls or stays" not in series_words.end.text


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_the_state_is_rewritten_as_often_as_its_strips_have_rows(cell):
    app = fine_part("history", "recurrent", cell=cell, name="ann")
    read = recurrent.states(engine.load(f"names-{cell}"), "ann")
    assert f"{len(read.parts['hidden'])} times: once" in prose_of(app)


def test_a_name_that_the_dice_end_is_not_said_to_go_on(monkeypatch):
    for whole, said in (("mila", "with dice: it ends"), ("milan", "with dice: milan")):
        monkeypatch.setattr(where, "continued", lambda *_, whole=whole: whole)
        assert where.says("mila", 1)["generative"] == said


def test_what_is_called_deep_has_layers_on_top_of_each_other():
    assert engine.load(where.NETWORK).model.config.n_layer > 1
    assert "strictly speaking, not deep" in where_words.example_of["generative"]
    assert "so it is not deep" in where_words.example_of["ml"]
    assert "outside “deep”" in " ".join(" ".join(where_words.looks).split())


def test_a_letter_drawn_without_a_name_is_nobodys_first():
    pixels = np.zeros((2, 2))
    assert "your name" in drawing.drawn_letter("mila", "M", pixels)
    assert "your name" not in drawing.drawn_letter("", "A", pixels)


def test_no_picture_of_the_test_was_learned():
    *_, (_, _, networks) = train_networks(1)
    learned = {one.tobytes() for one in pictures(EACH, 0)[0]}
    new = [one for one in pictures(TESTED, 1)[0] if one.tobytes() not in learned]
    assert networks.tested == len(new) <= 26 * TESTED
    assert networks.accuracy * networks.tested == pytest.approx(
        round(networks.accuracy * networks.tested)
    )


@pytest.mark.parametrize("held", range(2, 7))
def test_the_growth_of_an_error_names_different_lengths(held):
    values = np.random.default_rng(held).normal(size=30)
    fitted = len(values) - held
    said = series.how_far(values, fitted, fit_series(values[:fitted], 2))
    assert "first 1 " not in said and (f"first {held} " not in said)
    assert ("over the first" in said) == (held > 2)
    worse = series.missed(values, fitted, fit_series(values[:fitted], 2))
    grown = series.growth(values, fitted, fit_series(values[:fitted], 2))
    assert ("its own mistakes" in grown) == (worse.running[-1] > worse.ahead)


@given(*[some.floats(0, 1)] * 3)
def test_a_model_is_said_to_lose_a_letter_or_to_spread_it_only_where_it_does(
    together, usual, guessed
):
    nothing = np.zeros(64)
    found = UnitRoles(1, 0.5, 2, 0.1, guessed, usual, together, 900, nothing, nothing)
    said = recurrent.verdicts({"gru": found})
    assert ("hardly anything" in said) == (together <= usual + recurrent.CLEAR)
    assert "alone" not in said or guessed > usual
    assert "no single one" not in " ".join(said.split()) or not found.tells


def test_a_row_has_a_single_1_and_elman_and_the_first_lstm_have_nothing_that_came_later():
    """Elman 1990 stops the gradient at the copied state; Gers and others 2000: the forget gate."""
    row = " ".join(series_words.letters.text.split())
    assert f"{len(LETTERS) - 1} zeros and a single 1" in row
    told = {year: " ".join(row) for year, row in all_words.events.items()}
    assert "forget gate came in 2000" in told["1997"] and "Gers" in told["1997"]


@given(some.lists(some.floats(0, 1), min_size=2, max_size=6))
def test_lines_said_to_lie_on_each_other_are_within_one_point(levels):
    known = {
        name: {"right": [level] * FARTHEST} for name, level in zip(OPTIONS, levels, strict=False)
    }
    names = {memory_words.models[name]: card["right"][0] for name, card in known.items()}
    alike = [names[one] for one in memory.together(known)]
    assert max(alike) - min(alike) < 0.01


def test_one_letter_more_is_said_in_the_singular():
    right = [0.95] + [0.0] * (FARTHEST - 1)
    assert "1 more letter," in memory.measured(right, 2000)


@pytest.mark.parametrize("right", [[True], [False], [True, False]])
def test_a_string_of_one_letter_has_no_last_of_many(right):
    names = ["MLP", "RNN"][: len(right)]
    assert "your one letter" in own_string.ending("q", names, right)
    assert "2 letters" in own_string.ending("qa", names, right)


def test_the_six_lines_can_be_told_apart():
    lines = [memory.line(name, read_card(name)["right"]) for name in OPTIONS]
    assert len({one.role for one in lines}) == len(lines)
    warm = ("kind-1", "kind-5")  # orange and yellow
    assert len({one.dashed for one in lines if one.role in warm}) == 2


def test_the_order_is_not_said_to_be_one_of_cause():
    app = fine_part("history", "memory")
    said = " ".join(prose_of(app).split())
    assert "one seed" in said and "were invented" in said


@given(letters)
def test_the_end_of_a_name_is_called_no_letter(name):
    chances = np.full((9, len(name) + 1), 0.5)
    chances[0, -1] = 0.01
    said = chapter.best(name, chances)
    assert all_words.place_end in said and "letter " not in said.split("differ most at")[1][:20]
    chances = np.full((9, len(name) + 1), 0.5)
    chances[0, 0] = 0.01
    assert f"letter 1, `{name[0]}`" in as_markdown(chapter.best(name, chances))


def test_all_were_trained_on_the_same_tokens_as_is_said():
    """“6,000 steps each”, “the same batches”, “all from the same names”."""
    from llmviz.course.ui import engine

    trained = [key for key in NINE if key not in COUNTED]
    cards = [engine.card(key) for key in trained]
    assert {card["steps"] for card in cards} == {6000} and "6,000 steps" in all_words.how_costs
    assert len({card["tokens"] for card in cards}) == 1
    assert {card["training_documents"] for card in cards} == {len(where.split()[0])}
    for key in COUNTED:
        assert chapter.counted(key).grams.raw[0].counts[0] == len(where.split()[0])
    assert f"gets {len(where.split()[1])} new ones" in " ".join(all_words.hook.split())
