"""The chapter "Grokking": what its sentences say at any setting."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmviz.course.document import Sentence
from llmviz.course.document.marks import looks
from llmviz.course.lessons.discoveries.grokking import WAVES, chapter, words
from llmviz.course.lessons.discoveries.grokking import grokking_record as record
from llmviz.course.lessons.discoveries.grokking.model import Film, Moment, Sums, learn
from llmviz.course.ui import guess_given
from llmviz.course.ui.common import percent
from tests.pages.finished_job import FakeJob
from tests.pages.harness import fine_part, prose_of, sent

TASK = Sums(5, 0.4, width=8, seed=3)
SHARE = st.sampled_from([0.0, 0.2, 0.98, 0.99, 1.0])


def film_of(*rights: tuple[float, float]) -> Film:
    """A training with these shares of right shown and new sums."""
    power = np.array([0.25, 0.75])
    return Film(
        TASK,
        [
            Moment(10 * n + 1, shown, 0.5, new, 0.1, 2.0, power)
            for n, (shown, new) in enumerate(rights)
        ],
    )


@given(st.lists(st.tuples(SHARE, SHARE), min_size=1, max_size=6))
def test_the_sentence_on_the_two_moments_holds_for_any_training(rights):
    one = film_of(*rights)
    said = chapter.curves_read(one)
    shown = [10 * n + 1 for n, (right, _) in enumerate(rights) if right >= 0.99]
    new = [10 * n + 1 for n, (_, right) in enumerate(rights) if right >= 0.99]
    assert re.search(rf"step {shown[0]:,}\b", said) if shown else "by heart" not in said
    later = bool(shown and new and new[0] >= 1.5 * shown[0])
    assert ("times as long" in said) == later
    if shown and new:
        assert f"step {new[0]:,}" in said.replace("\n", " ")
    if later:
        assert f"{new[0] / shown[0]:.0f} times" in said
    assert bool(chapter.turned_read(one)) == bool(shown)
    assert bool(chapter.losses_read(one)) == bool(shown and new and new[0] > shown[0])


@given(st.lists(st.tuples(SHARE, SHARE), min_size=3, max_size=3))
def test_three_trainings_are_counted(rights):
    every = [film_of(one) for one in rights]
    said = chapter.grid_read(every)
    known = sum(new >= 0.99 for _, new in rights)
    assert ("All three" in said) == (known == 3)
    assert (f"{known} of three" in said) == (known in (1, 2))
    assert ("None of the three" in said) == (known == 0)


@pytest.mark.parametrize(("a", "b"), [(0, 0), (58, 58), (17, 50), (1, 58)])
def test_the_sum_of_any_two_numbers_opens(a, b):
    page = fine_part("discoveries", "grokking", groka=str(a), grokb=str(b), show="1")
    said, modulus = prose_of(page), record.MAIN.modulus
    total = (a + b) % modulus
    assert f"{a} + {b} is {total}" in said
    matrices = {one["name"]: one["values"] for one in sent(page, "matrix_view")["matrices"]}
    answers = (total + np.arange(-chapter.AROUND, chapter.AROUND + 1)) % modulus
    frequencies, high, _ = chapter.waves()
    waves = [
        sum(
            h * np.cos(2 * np.pi * k * (a + b - c) / modulus)
            for k, h in zip(frequencies, high, strict=True)
        )
        for c in answers
    ]
    assert matrices["result"][0] == pytest.approx(waves, abs=1e-3)
    logits = record.final_logits()[a * modulus + b]
    assert matrices["model"][0] == pytest.approx((logits - logits.mean())[answers], abs=1e-3)
    assert ("both the waves and the model are highest" in said) == (
        logits.argmax() == total
        and np.argmax([high @ np.cos(2 * np.pi * frequencies * (a + b - c) / modulus)
                       for c in range(modulus)]) == total
    )  # fmt: skip


def test_the_film_shows_each_bundled_moment_along_the_waves_of_the_last():
    for wave, frame in ((0, -1), (WAVES - 1, 3)):
        page = fine_part(
            "discoveries", "grokking", grokwave=str(wave), grokframe=str(frame), show="1"
        )
        film = sent(page, "scatter_film")
        moments = chapter.frames()
        frequency = record.film().strongest(WAVES)[wave]
        rows = moments[-1].rows
        turns = 2 * np.pi * frequency * np.arange(len(rows)) / len(rows)
        last = film["points"][-1]
        along = np.abs(np.fft.fft(last - last.mean(0), axis=0)[1 : len(rows) // 2 + 1]) ** 2
        assert along[:, 0].argmax() == along[:, 1].argmax() == frequency - 1
        assert np.corrcoef(last[:, 0], np.cos(turns))[0, 1] > 0.9
        assert np.corrcoef(last[:, 1], np.sin(turns))[0, 1] > 0.9
        assert len(film["points"]) == len(moments)
        assert f"At step {moments[frame].step:,} the {WAVES} strongest" in prose_of(page)


@pytest.mark.parametrize("n", range(record.MAIN.modulus)[1:6])
def test_neighbours_on_a_wave_make_one_round(n):
    modulus = record.MAIN.modulus
    following = dict(chapter.neighbours(n, modulus))
    place, seen = 0, []
    for turn in range(modulus):
        seen.append(place)
        assert place * n % modulus == turn
        place = following[place]
    assert place == 0
    assert sorted(seen) == list(range(modulus))


@pytest.mark.parametrize("decay", record.DECAYS)
def test_a_setting_of_the_grid_is_read_out(decay):
    page = fine_part("discoveries", "grokking", griddecay=f"{decay:g}", show="1")
    share = record.SHARES[-1]
    assert chapter.grid_read(chapter.films(23, share, decay)) in prose_of(page)


def test_three_trainings_without_a_single_new_sum_are_told_so():
    task = Sums(17, 0.6, 1.0, 5, record.SMALL_WIDTH, 60)
    (first, *_) = learn(task)
    none = Film(task, [replace(first, new_right=0.0)])
    assert "single new sum" in chapter.grid_read([none] * 3)


@pytest.mark.parametrize("state", ["running", "done"])
def test_a_training_of_the_learners_is_shown_while_it_learns_and_after(monkeypatch, state):
    task = Sums(17, 0.6, 1.0, 5, record.SMALL_WIDTH, 60)
    moments = list(learn(task))
    monkeypatch.setattr(chapter, "job_of", lambda _: FakeJob(moments, state))
    link = {"ownmodulus": "17", "owngrokseed": "5", "owngrok": "1"}
    page = fine_part("discoveries", "grokking", **link)
    said = prose_of(page)
    assert ("Step 60: it gets" in said) == (state == "running")
    assert (chapter.curves_read(Film(task, moments)) in said) == (state == "done")
    assert f"make up {percent(float(np.sort(moments[-1].power)[-WAVES:].sum()))}" in said


def test_the_end_names_a_moment_between_the_two():
    film = record.film()
    said = chapter.end_numbers(film)
    assert film.memorised_at < said["between"].step < film.generalised_at
    assert said["between"].new_right < 0.1
    assert said["held"] > 1.2 * said["begin_held"]


def test_before_the_guess_nothing_behind_the_asked_step_is_sent(monkeypatch):
    monkeypatch.setattr(guess_given, "COVERS", True)
    page = fine_part("discoveries", "grokking")
    film, memorised = sent(page, "scatter_film"), record.film().memorised_at
    assert film["captions"][-1].startswith(f"Step {memorised:,}:")
    assert len(film["points"]) == len(film["captions"]) == len(film["curve"]["values"])
    figure = chapter.main_figure(memorised, memorised, "light")
    assert max(max(line.x) for line in figure.data) == memorised
    assert "{" not in prose_of(page) and "understands" not in prose_of(page)
    looked = fine_part("discoveries", "grokking", grokframe=str(chapter.SAID_AT["awake"]))
    assert len(sent(looked, "scatter_film")["points"]) == len(chapter.frames())


def test_looks_lead_to_the_frames_that_they_name():
    steps = {frame: f"{chapter.frames()[frame].step:,}" for frame in chapter.SAID_AT.values()}
    assert chapter.frames()[chapter.SAID_AT["memorised"]].step == record.film().memorised_at
    for passage, frame in zip(words.looks, chapter.SAID_AT.values(), strict=True):
        ((words_of, look),) = [
            pair for pair in looks(passage.format(**chapter.summary())) if pair[1]
        ]
        assert (words_of, look) == (f"step {steps[frame]}", f"grokframe={frame}")


def test_the_guess_has_the_right_numbers_and_those_of_two_misconceptions():
    asked = chapter.question()
    assert len(set(asked.answers)) == 3
    memorised, asleep, awake = (chapter.frames()[frame] for frame in chapter.SAID_AT.values())
    said = asked.answers[asked.right]
    assert f"{round(asleep.new_right * 100)}" in said and f"{round(awake.new_right * 100)}" in said
    ramp = np.interp([asleep.step, awake.step], [memorised.step, record.film().last.step], [0, 100])
    written = [[int(n) for n in re.findall(r"(\d+)\s%", one)] for one in asked.answers]
    assert [round(n) for n in ramp] in written
    assert [0, 0] in written


def test_a_slot_names_its_form_and_other_numbers_keep_their_true_minus():
    said = Sentence("{share:percent} of {names:listed}, {below:.1f}")
    written = said.format(share=0.5, names=["a", "b-2"], below=-2.5)
    assert written == f"{percent(0.5)} of a and b-2, −2.5"
