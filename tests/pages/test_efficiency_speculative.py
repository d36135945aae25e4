"""The chapter that guesses and checks: its rounds are the engine's, its sentences hold."""

from __future__ import annotations

import inspect
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.course.components.guess_rounds import view
from llmviz.course.lessons.efficiency.speculative import MOST_STEPS, WRITTEN, chapter, words
from llmviz.course.lessons.efficiency.speculative.chapter import (
    chance_text,
    draw_line,
    pictured,
    rounds_of,
    total,
)
from llmviz.course.lessons.efficiency.speculative.model import Place, Speed, guess_speeds
from llmviz.processes.background import STOPPED
from llmviz.sampling.drafts import Chances
from llmviz.sampling.speculative import Guess, Round
from tests.pages.conftest import use
from tests.pages.finished_job import FakeJob
from tests.pages.harness import boxes, fine_part, prose_of, sent
from tests.pages.small_model import CONTEXT, ids_of

TEXT = "Once Anna"


def opened(text=TEXT, **link):
    return fine_part("efficiency", "speculative", **({"guesstext": text} if text else {}), **link)


def played(bundle, text, kind="counts", k=4, heat=1.0, luck=1):
    ids = tuple(ids_of(bundle, text)[: CONTEXT - WRITTEN])
    return rounds_of(bundle, ids, kind, k, heat, luck)


def test_the_picture_holds_the_numbers_of_the_rounds(bundle):
    app = opened(draft="counts", guesses="3")
    board, rounds = sent(app, "guess_rounds"), played(bundle, TEXT, k=3)
    assert sum(len(one.tokens) for one in rounds) == WRITTEN
    assert len(board["rounds"]) == len(rounds) and len(board["steps"]) <= MOST_STEPS + 1
    for one, shown in zip(rounds, board["rounds"], strict=True):
        verdicts = [verdict for _, verdict in shown["guesses"]]
        assert verdicts.count("yes") == one.accepted
        assert len(verdicts) == len(one.guesses)
        for guess, place in zip(one.guesses, shown["places"], strict=False):
            if guess.u is None:
                continue
            q = guess.q.full(bundle.model.vocab_size)
            for name, row in (("p", guess.p), ("q", q), ("kept", np.minimum(guess.p, q))):
                assert place[name].sum() == pytest.approx(row.sum(), abs=1e-5)
            highest = max(place["p"][:-1].max(), place["q"][:-1].max())
            assert highest == pytest.approx(max(guess.p.max(), q.max()), abs=1e-6)
            np.testing.assert_allclose(place["kept"] + place["added"], place["p"], atol=1e-6)
    kinds = [step[1] for step in board["steps"]]
    assert kinds.count(view.DRAW) == len(rounds)
    assert kinds.count(view.CHECK) == sum(one.checked for one in rounds)
    assert kinds.count(view.GUESS) == sum(bool(one.guesses) for one in rounds)
    assert total(rounds) in prose_of(app)


def test_without_the_small_network_counts_guess_and_the_page_says_so(bundle):
    app = opened()
    assert "small network cannot be used here" in boxes(app)
    assert words.about["counts"] in prose_of(app)


@pytest.mark.parametrize("kind", ["copy", "counts"])
@pytest.mark.parametrize("heat", ["0.0", "2.0"])
def test_every_draft_plays_at_both_ends_of_the_temperature(bundle, kind, heat):
    app = opened(draft=kind, guessheat=heat, guesses="8", guessstep="999")
    assert sent(app, "guess_rounds")["rounds"]


def test_without_any_model_the_page_says_how_to_make_one(tmp_path, monkeypatch):
    use(monkeypatch, tmp_path)
    app = opened()
    assert "is not in this copy of the app" in boxes(app)


@pytest.mark.parametrize("kind", ["copy", "counts"])
@pytest.mark.parametrize("k", [1, 2, 8])
def test_the_sentences_say_why_there_are_fewer_guesses_or_none(bundle, kind, k):
    ids = tuple(ids_of(bundle, TEXT)[: CONTEXT - WRITTEN])
    for luck in range(1, 7):
        given = (bundle, ids, kind, k, 1.0, luck)
        rounds = rounds_of(*given)
        for one, shown in zip(rounds, pictured(*given), strict=True):
            left, end = len(ids) + WRITTEN - one.before, shown.lines[-1]
            guesses, first = len(one.guesses), shown.lines[0]
            assert ("has no guess here" in end) == (guesses == 0 and left > 1)
            assert ("Only one token is still to be written" in end) == (left == 1)
            if guesses:
                assert ("still to be written" in first) == (guesses < k and guesses == left - 1)
                assert ("has no other" in first) == (guesses < min(k, left - 1))
                assert ("one after the other" in first) == (guesses > 1)
            for at, line in enumerate(shown.lines[bool(guesses) : -1]):
                if "rejected" in line:
                    assert ("behind it" in line) == (at + 1 < guesses)


@pytest.mark.parametrize("error", [0.0, 3e-17])
def test_two_ways_without_a_difference_are_not_said_to_differ(error):
    p = np.array([0.25, 0.75])
    place = Place((0,), p, p, p, 0 * p, error)
    told = chapter._bars(place, ["a", "b"], "", 2).told
    assert ("differ from p by at most 3·10⁻¹⁷" in told) == bool(error)
    assert ("give p, to the last digit" in told) == (not error)


def test_an_end_within_the_accepted_guesses_is_told():
    p = np.eye(4)[2]
    guesses = tuple(Guess(2, Chances(p), p, 0.0) for _ in range(2))
    whole = Round(5, guesses, 1, p, 0.5, (2, 2, 1))
    cut = Round(5, guesses, 1, p, 0.5, (2,))
    assert words.line_end not in draw_line(whole, "x", 9)
    assert words.line_end in draw_line(cut, "x", 9)


@settings(max_examples=200, deadline=None)
@given(share=some.floats(0, 1) | some.floats(-12, 0).map(lambda power: 10**power))
def test_a_probability_is_written_as_0_only_where_it_is_0(share):
    written = chance_text(share)
    digits = written.replace("\u00a0", " ")
    assert (digits == "0.0 %") == (share == 0)
    if share >= 1e-8:
        assert 0.95 * share <= float(digits.removesuffix(" %")) / 100 <= 1.05 * share


def test_all_rounds_are_told_with_units_even_without_a_guess():
    p = np.ones(4) / 4
    alone = Round(5, (), 1, p, 0.5, (1,))
    assert total([alone]) == (
        "The large model looked 1 time and wrote 1 token, one each time, because it got no guess."
    )


@pytest.mark.parametrize("checked", [1, 2, 5])
def test_all_and_none_of_the_guesses_have_words_of_their_own(checked):
    for accepted in range(checked + 1):
        line = chapter.kept_line(checked, accepted)
        assert ("and none stood" in line) == (accepted == 0)
        assert ("stood." in line and "none" not in line) == (accepted == checked)


@pytest.mark.parametrize("kind", ["copy", "counts"])
def test_the_question_on_the_passes_counts_the_rounds(bundle, kind):
    asked_once = False
    for k in (1, 4, 8):
        for luck in range(1, 5):
            found = played(bundle, TEXT, kind, k, luck=luck)
            asked = chapter.question(found, k)
            if asked is None:
                continue
            asked_once = True
            written = sum(len(turn.tokens) for turn in found)
            values = sorted(value for (value,) in asked.values)
            assert asked.values[asked.right] == (len(found),)
            assert values == sorted({len(found), written, -(-written // (k + 1))})
            assert min(b - a for a, b in pairwise(values)) >= chapter.APART
    assert asked_once or kind == "copy"


def test_only_the_first_round_travels_before_the_guess(bundle, covers):
    given = (bundle, tuple(ids_of(bundle, TEXT)[: CONTEXT - WRITTEN]), "counts", 4, 1.0, 1)
    if chapter.question(rounds_of(*given), 4) is not None:
        assert len(sent(opened(draft="counts"), "guess_rounds")["rounds"]) == 1


def speeds(*ratios, accepted=3):
    """Measurements for k = 1, 2, …: one second of plain decoding for 100 tokens."""
    return tuple(
        Speed(k, 100, 50, 60, accepted * 20, 50 * k, 1 / ratio, 0.1 / ratio, 100, 1.0)
        for k, ratio in enumerate(ratios, start=1)
    )


def test_the_best_number_of_guesses_is_told_and_a_slow_draft_too():
    line = chapter.best_line(chapter.best_of(speeds(1.1, 1.9, 1.5)))
    assert "k = 2" in line and "1.90 times" in line and "did not pay" not in line
    assert "did not pay" in chapter.best_line(chapter.best_of(speeds(0.9, 0.5)))
    assert chapter.best_of(speeds(1.5, 1.5)).guesses == 1  # of two as fast the fewer guesses


def test_the_measurement_is_shown_while_it_goes_on_and_when_it_was_stopped(bundle, monkeypatch):
    found = speeds(1.2, 1.6)
    for state in ("done", STOPPED):
        monkeypatch.setattr(chapter, "job_of", lambda *_, s=state: FakeJob([found], s))
        chapter.job_of.forget = lambda *_: None
        app = opened(draft="counts", guessspeed="1")
        assert "1.60 times" in prose_of(app)
        (figure,) = app.get("plotly_chart")
        assert figure is not None


def test_the_button_starts_the_measurement_of_what_was_chosen(monkeypatch):
    class Pool:
        def start(self, target, **arguments):
            return target, inspect.signature(guess_speeds).bind(**arguments).arguments

    monkeypatch.setattr("llmviz.course.ui.live_job.training_jobs", Pool)
    chapter.job_of.clear()
    target, arguments = chapter.job_of("tiny-world-gpt", "counts", 0.7, 32)
    chapter.job_of.clear()
    assert target == f"{guess_speeds.__module__}:{guess_speeds.__name__}"
    assert tuple(arguments.values()) == ("tiny-world-gpt", "counts", 0.7, 32)


def test_a_measurements_numbers_agree_with_each_other():
    one = speeds(1.6)[0]
    assert one.speed_up == pytest.approx(1.6)
    share = one.tokens / one.rounds / (one.guessed / one.rounds * one.cost + one.read)
    assert share == pytest.approx(one.speed_up)


def bars(**changes):
    row = np.array([0.5, 0.5])
    given = {
        "names": ["a"],
        "p": row,
        "q": row,
        "kept": row,
        "added": 0 * row,
        "line": "l",
        "told": "t",
    }
    return view.PlaceBars(**given | changes)


@pytest.mark.parametrize(
    ("one", "match"),
    [
        (view.RoundPicture([("a", "yes")], "b", [bars()], ["g", "c", "d"]), "places"),
        (view.RoundPicture([("a", "yes")], "b", [bars()] * 2, ["g", "c"]), "lines"),
        (view.RoundPicture([("a", "maybe")], "b", [bars()] * 2, ["g"]), "verdict"),
        (view.RoundPicture([], "b", [bars(p=np.ones(3))], ["d"]), "2 numbers"),
    ],
)
def test_rounds_that_do_not_fit_are_refused(one, match):
    with pytest.raises(ValueError, match=match):
        view.rounds_payload(["x"], [one], words.picture)


def test_a_picture_needs_rounds_and_words():
    with pytest.raises(ValueError, match="a round at least"):
        view.rounds_payload(["x"], [], words.picture)
    with pytest.raises(ValueError, match="words lack"):
        view.rounds_payload(["x"], [view.RoundPicture([], "b", [bars()], ["d"])], {})
