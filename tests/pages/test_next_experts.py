"""The chapter "Experts": its guess, its two tables, and what its sentences say."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from llmviz.corpus.villages import VILLAGES
from llmviz.course.lessons.next.experts import STEPS, chapter, model
from llmviz.course.lessons.next.experts.model import EXPERTS, ROUTED, recorded
from llmviz.course.ui import kit
from tests.pages.finished_job import FakeJob
from tests.pages.harness import boxes, fine_part, open_part, sent, unpack_all


def page_of(**link: str):
    return fine_part("next", "experts", **link)


def bars(page):
    """The bars of the film by their name, where it stands, a height for each expert."""
    film = sent(page, "bar_film")
    names = [name for name, _ in film["layers"]]
    return dict(zip(names, film["heights"][film["step"]], strict=True))


def test_before_the_guess_the_bars_have_no_colours_and_the_answer_does_not_travel(covers):
    page = page_of()
    ((name, heights),) = bars(page).items()
    assert name == chapter.words.all
    np.testing.assert_allclose(heights, chapter.load("free", -1), rtol=1e-6)
    (row,) = sent(page, "case_rows")["rows"]
    assert row["value"] is None


@pytest.mark.parametrize("evened", ["0", "1"])
@pytest.mark.parametrize("by", ["village", "kind"])
@pytest.mark.parametrize("step", ["0", "30", "1500"])
def test_each_state_draws_all_words_once_and_says_who_has_most(evened, by, step):
    page = page_of(show="1", evened=evened, expertstep=step, expertby=by)
    kind, at = ROUTED[int(evened)], STEPS.index(int(step))
    drawn = bars(page)
    assert [*drawn] == ([*VILLAGES] if by == "village" else [*chapter.words.kinds])
    heights = np.array([*drawn.values()])
    np.testing.assert_allclose(heights.sum(0), chapter.load(kind, at), atol=1e-6)
    even = 1 / len(drawn)
    np.testing.assert_allclose(heights.sum(1), even, atol=0.02 if by == "village" else 1e-6)
    film = sent(page, "bar_film")
    assert kit.whole_percent(chapter.load(kind, at).max()) in film["captions"][film["step"]]


def test_a_film_plays_all_moments_before_the_guess_and_asks_on(covers):
    film = sent(page_of(expertstep="30"), "bar_film")
    assert [*film["steps"]] == [f"step {step:,}" for step in STEPS] and len(film["layers"]) == 1
    heights = [chapter.load("free", at) for at in range(len(STEPS))]
    np.testing.assert_allclose(film["heights"][:, 0], heights, atol=1e-6)
    assert film["step"] == STEPS.index(30)
    ((row,), (end,)) = (
        sent(page_of(**at), "case_rows")["rows"] for at in ({"expertstep": "30"}, {})
    )
    assert row == end and row["value"] is None, "a handle that was set stays while the film plays"


def test_the_wrong_guesses_are_a_village_alone_and_a_village_whole():
    asked = chapter.question()
    right, spread, whole, every = (value for (value,) in asked.values)
    counts = recorded().counts("free", "villages", -1)
    assert asked.right == 0 and right == counts[0].max() / counts[0].sum()
    assert every == 1 and whole == pytest.approx(counts.sum() / 4 / counts[0].sum())
    assert spread == 1 / counts.shape[0]
    assert spread + 0.1 < right and right + 0.15 < whole < every - 0.15


def test_bars_have_all_villages_alike_and_kinds_of_words_apart():
    for kind in ROUTED:
        for by, least, most in (("village", 0.0, 0.35), ("kind", 0.6, 1.0)):
            rows = chapter.film(kind, by)[-1].copy()
            rows /= rows.sum(1, keepdims=True)
            apart = [np.abs(a - b).sum() / 2 for a in rows for b in rows if a is not b]
            assert least <= max(apart) <= most


def test_one_expert_gets_every_full_stop_and_another_every_word_that_says_when():
    kinds = chapter.film("free", "kind")[-1]
    when, stop = kinds[3] / kinds[3].sum(), kinds[4] / kinds[4].sum()
    assert when.max() > 0.99 and stop.max() > 0.99 and when.argmax() != stop.argmax()


@pytest.mark.parametrize("village", VILLAGES)
def test_a_text_is_routed_as_its_scores_say(village):
    routed = sent(page_of(show="1", experttext=village), "matrix_view")
    drawn = {one["name"]: one for one in routed["matrices"]}
    scores = np.array(drawn["scores"]["values"]).reshape(-1, EXPERTS)
    raised = np.exp(scores)
    shares = np.array(drawn["shares"]["values"]).reshape(-1, EXPERTS)
    np.testing.assert_allclose(shares, raised / raised.sum(1, keepdims=True), atol=1e-5)
    ((_, rings),) = drawn["shares"]["rings"]
    assert [tuple(ring) for ring in rings] == [*enumerate(scores.argmax(1).tolist())]
    assert drawn["scores"]["rowLabels"][0] == village


@pytest.mark.parametrize(
    "link",
    [
        {"expertstep": "7"},
        {"expertstep": "-1"},
        {"experttext": "<b>"},
        {"evened": "2"},
        {"expertby": "x"},
    ],
)
def test_a_moment_or_a_village_that_there_is_not_is_refused(link):
    page = open_part("next", "experts", **link)
    assert not page.exception
    assert boxes(page), "it is said"
    assert bars(page), "the picture is there"


def test_how_much_the_busiest_and_the_idlest_get_is_said_at_its_edges():
    for kind in ROUTED:
        for at, step in enumerate(STEPS):
            shares = chapter.load(kind, at)
            said = chapter.caption(shares, step)
            assert shares.sum() == pytest.approx(1)
            assert f"{100 * shares.max():.0f}" in said
            if step:  # the caption of the first moment names the busiest alone
                assert ("none at all" in said) is not bool(shares.all())
                assert ("less than one" in said) is bool(0 < shares.min() < 0.01)


@pytest.mark.parametrize("link", [{"expertby": "kind"}, {"expertstep": "30"}, {"evened": "1"}])
def test_what_was_guessed_stays_whatever_is_looked_at(link):
    (asked,) = unpack_all(page_of(show="1"), "case_rows")[0]["rows"]
    (row,) = unpack_all(page_of(show="1", **link), "case_rows")[0]["rows"]
    assert row["value"] == asked["value"] == pytest.approx(chapter.favourite())
    assert (row["label"] == asked["label"]) == ("evened" not in link)
    assert "at the end" in row["label"][0][0], "the film may stand at any step"


@pytest.mark.parametrize("evened", ["0", "1"])
def test_a_model_that_learns_on_the_page_is_a_film_that_grows(monkeypatch, evened):
    kind = ROUTED[int(evened)]
    made = [*itertools.islice(model.practise(kind, chapter.OWN_SEED), 5)]
    monkeypatch.setattr(chapter, "job_of", lambda *given: FakeJob(made))
    page = page_of(show="1", evened=evened, expertby="kind", expertown="1")
    _, film = unpack_all(page, "bar_film")
    assert film["step"] == len(made) - 1 and film["steps"][-1] == f"step {STEPS[4]}"
    np.testing.assert_allclose(film["heights"].sum((1, 2)), 1, rtol=1e-5)
    last = film["heights"][-1].sum(0)
    np.testing.assert_allclose(last, made[-1].villages.sum(1) / made[-1].villages.sum(), rtol=1e-5)
    assert f"{100 * last.max():.0f}" in film["captions"][-1]


def test_what_grows_has_room_where_one_expert_gets_all():
    counts = np.zeros((EXPERTS, len(VILLAGES)))
    counts[3] = 7
    shares = chapter.layered([counts], "village")
    assert shares.shape == (1, len(VILLAGES), EXPERTS) and shares[0, :, 3].sum() == 1
    assert "100" in chapter.caption(shares[0].sum(0), 40)
