"""The chapter "One test for all": its chart is the cards', its cards what the models do."""

from __future__ import annotations

import json
from string import ascii_lowercase as LETTERS

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

from experiments import first_letter as make_first_letter
from llmviz.course.lessons.history.memory import chapter, own_string, words
from llmviz.course.lessons.history.memory.model import answers
from llmviz.course.ui import kit
from llmviz.training import first_letter
from llmviz.training.config import TrainConfig
from llmviz.training.first_letter import CHANCE, FARTHEST, LENGTH, OPTIONS, FirstLetterData
from tests.pages.harness import boxes, fine_part, prose_of, put, sent

pytestmark = pytest.mark.usefixtures("ready")

shares = some.lists(some.floats(0, 1), min_size=FARTHEST, max_size=FARTHEST)


@pytest.mark.parametrize("name", OPTIONS)
def test_a_card_says_what_its_model_does(name):
    card, model = first_letter.read_card(name), first_letter.load(name)
    assert card["right"] == pytest.approx(first_letter.shares_right(model), abs=2 / card["asked"])
    assert card["parameters"] == sum(p.numel() for p in set(model.parameters()))
    whole = TrainConfig().to_dict() | card["train"]  # settings that came later have their default
    assert whole == first_letter.TRAINING.to_dict()
    assert card["model"]["config"] == first_letter.settings(name)


def test_the_first_letter_is_asked_for_at_every_place_and_is_every_letter():
    letters, targets = FirstLetterData().batch(1, 4000)
    rows, places = (targets >= 0).nonzero(as_tuple=True)
    assert rows.tolist() == list(range(4000))
    assert set(places.tolist()) == set(range(1, LENGTH))
    assert set(letters[:, 0].tolist()) == set(range(FirstLetterData().vocab_size))
    assert (targets[rows, places] == letters[:, 0]).all()


def test_all_were_trained_alike_and_are_small():
    cards = [first_letter.read_card(name) for name in OPTIONS]
    assert len({json.dumps(card["train"]) for card in cards}) == 1
    files = [first_letter.folder_of(name) / first_letter.MODEL for name in OPTIONS]
    assert sum(path.stat().st_size for path in files) < 1_000_000


@pytest.mark.parametrize("name", ["mlp", "wavenet"])
def test_what_left_the_window_is_guessed(name):
    """No string holds a hint, so a model with a window can do no better than chance past it."""
    model = first_letter.load(name)
    right = first_letter.read_card(name)["right"]
    window = model.config.window
    assert first_letter.beyond_luck(right) == window - 1
    assert max(right[window - 1 :]) < 2 * CHANCE


def test_the_questions_have_the_first_letter_as_answer_and_no_string_twice():
    data = FirstLetterData()
    ids, targets = data.batch(1, 5)
    assert ids.shape == targets.shape == (5, LENGTH)
    asked = targets >= 0
    assert (asked.sum(1) == 1).all() and not asked[:, 0].any()
    assert torch.equal(targets[asked], ids[:, 0]) and data.count((ids, targets)) == 5
    again, _ = data.batch(1, 5)
    other, _ = data.batch(2, 5)
    held = [batch[0] for batch in data.validation_batches(5, 2)]
    assert torch.equal(ids, again)
    rows = {tuple(row) for one in (ids, other, *held) for row in one.tolist()}
    assert len(rows) == 20


def test_a_model_is_made_and_read_again(tmp_path, monkeypatch):
    card = first_letter.make("rnn", tmp_path / first_letter.FOLDER, steps=1)
    monkeypatch.setattr(first_letter, "EXPERIMENT_FOLDER", tmp_path)
    assert first_letter.there() == ["rnn"]
    assert first_letter.read_card("rnn") == card
    path = first_letter.folder_of("rnn") / "card.json"
    path.write_text(json.dumps(card | {"right": [2.0] * FARTHEST}))
    with pytest.raises(ValueError, match="60 shares from 0 to 1"):
        first_letter.read_card("rnn")
    app = fine_part("history", "memory")
    assert "60 shares" in boxes(app)
    path.unlink()
    app = fine_part("history", "memory")
    assert "not in this copy" in boxes(app)


def test_wrong_arguments_are_refused(monkeypatch, capsys):
    with pytest.raises(ValueError, match="the model must be one of mlp"):
        first_letter.make("bert")
    for wrong in (["bert"], ["rnn", "--steps", "0"]):
        monkeypatch.setattr("sys.argv", ["first_letter", *wrong])
        with pytest.raises(SystemExit) as stop:
            make_first_letter.main()
        assert stop.value.code == 2
    assert "must be" in capsys.readouterr().err


def test_the_lines_are_the_cards_and_an_own_string_goes_through_all():
    string = "qabcdefghij"
    link = {"string": "Q abc-defghij", "asked": "gpt.4"}
    app = fine_part("history", "memory", models=",".join(OPTIONS), **link)
    lines = {
        one["label"]: one for one in sent(app, "draw_on")["lines"] if one["role"] != "residual"
    }
    assert set(lines) == set(words.models.values())
    for name in OPTIONS:
        right = first_letter.read_card(name)["right"]
        assert lines[words.models[name]]["y"] == pytest.approx(right)
        assert lines[words.models[name]]["x"] == list(range(1, LENGTH))
    assert "Left out" in boxes(app)
    grid = sent(app, "cell_grid")
    assert grid["columnNames"] == list(string)
    for row, name in enumerate(OPTIONS):
        p = answers(first_letter.load(name), string)
        assert np.allclose(p.sum(1), 1)
        assert np.allclose(grid["values"][row], p[:, LETTERS.index("q")], atol=1e-5)
        assert grid["texts"][row] == [LETTERS[one] for one in p.argmax(1)]
    assert grid["chosen"] == [list(OPTIONS).index("gpt"), 4]
    assert "GPT after letter 5" in prose_of(app)


@pytest.mark.parametrize("models", ["", "rnn", "gpt", "nobody"])
def test_before_a_guess_no_page_tells_how_the_line_goes_on(covers, models):
    app = fine_part("history", "memory", models=models)
    lines = {one["label"]: one["x"] for one in sent(app, "draw_on")["lines"]}
    assert lines[words.models["rnn"]] == [1] and sent(app, "draw_on")["asked"]["x"][0] == 2
    assert words.models["rnn"] not in sent(app, "cell_grid")["rowNames"]
    told = kit.percent(first_letter.read_card("rnn")["right"][-1])
    assert told not in prose_of(app)


def test_the_looks_hold_for_the_models():
    right = {name: first_letter.read_card(name)["right"] for name in OPTIONS}
    assert min(right["gru"] + right["lstm"]) > 0.99
    mlp, wavenet = (first_letter.load(name).config.window for name in ("mlp", "wavenet"))
    assert wavenet == 4 * mlp and mlp < 12


def test_an_answer_does_not_depend_on_what_comes_later():
    model = first_letter.load("gpt")
    assert np.allclose(answers(model, "qabc"), answers(model, "qabcxyz")[:4], atol=1e-5)
    for wrong in ("", "aB", "é"):
        with pytest.raises(ValueError, match="letters from a to z"):
            answers(model, wrong)


def test_odd_strings():
    app = fine_part("history", "memory", asked="mlp.60")
    for string, says in (
        ("", "no letter"),
        ("123", "no letter"),
        ("z" * 200, "200 letters"),
        ("é", "Left out"),
        ("a", ""),
    ):
        put(app, history__string=string)
        assert says in boxes(app)


@given(right=shares)
def test_reach_holds_for_every_curve(right):
    reach = first_letter.reach(right)
    assert all(one >= 0.9 for one in right[:reach])
    assert reach == FARTHEST or right[reach] < 0.9
    assert "{" not in chapter.measured(right, 2000)


def test_what_a_model_remembers_is_said_in_words_of_its_own_at_both_ends():
    said = {share: chapter.measured([share] * FARTHEST, 2000) for share in (1.0, 0.5, 0.0)}
    assert len(set(said.values())) == 3
    assert str(FARTHEST) in said[1.0] and "guessing" not in said[1.0]
    assert "never" in said[0.5] and "no better" in said[0.0]


def told_apart(right: list[float]) -> None:
    question = chapter.question(right)
    if question is None:
        return
    truth, *wrong = map(np.array, question.values)
    assert truth.tolist() == right[1:]
    assert all(np.abs(other - truth).mean() >= chapter.APART for other in wrong)
    # What is said of the right line: it ends level, and above guessing.
    assert np.ptp(truth[30:]) <= chapter.APART and truth[30:].min() > CHANCE
    fades, keeps, gone = wrong
    assert (np.diff(fades) <= 0).all() and set(keeps) == {right[0]} and set(gone) == {CHANCE}
    assert "{" not in question.text + "".join(question.reasons)


@given(right=shares)
def test_the_lines_of_the_question_are_apart_for_every_curve(right):
    told_apart(right)


@given(first=some.floats(0, 1), level=some.floats(0, 1), fall=some.floats(0.5, 1))
def test_the_lines_of_the_question_are_apart_where_a_curve_ends_level(first, level, fall):
    told_apart([level + (first - level) * fall**n for n in range(FARTHEST)])


def test_the_line_of_the_rnn_is_asked_for():
    assert chapter.question(first_letter.read_card("rnn")["right"]) is not None
    assert chapter.question(first_letter.read_card("gpt")["right"]) is None


def test_lines_that_lie_on_each_other_are_named():
    flat, high = [0.2] * FARTHEST, [0.9] * FARTHEST
    known = {"mlp": flat, "rnn": high, "gru": [0.896, *high[1:]], "gpt": high}
    assert chapter.together({name: {"right": one} for name, one in known.items()}) == [
        "RNN",
        "GRU",
        "GPT",
    ]


@given(right=some.lists(some.booleans(), min_size=1, max_size=6))
def test_the_end_of_a_string_names_who_knows(right):
    names = list(words.models.values())[: len(right)]
    text = own_string.ending("qab", names, right)
    assert "{" not in text
    assert all(name in text for name in names)
    if sum(right) == 1:
        assert "gives the first one" in text
