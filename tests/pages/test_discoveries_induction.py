"""The chapter "A head learns to copy": what its sentences say at any setting."""

from __future__ import annotations

import numpy as np
import pytest

from llmviz.course.lessons.discoveries.induction import (
    chapter,
    curves,
    film,
    own,
    params,
    product,
    yours,
)
from llmviz.course.lessons.discoveries.induction import induction_record as record
from llmviz.course.ui.common import percent
from llmviz.interpretability.induction import (
    LETTERS,
    Copier,
    Learned,
    Moment,
    V,
    diagonal,
    floor,
    ids_of,
    learn,
    pair_of,
)
from tests.pages.finished_job import FakeJob
from tests.pages.harness import fine, open_part, prose_of, sent


def opened(**link: str):
    page = open_part("discoveries", "induction", show="1", **link)
    fine(page)
    return page


@pytest.mark.parametrize("place", [0, 1, 27, 39, 40])
def test_a_moment_of_the_film_is_read_out(place):
    page = opened(copyframe=str(place))
    moment, said = record.learned().moments[place], prose_of(page)
    assert f"lost at step {moment.step:,} when one head" in said
    assert f"repeat is {moment.repeat_loss:.3f}" in said
    (table,) = [one.value for one in page.dataframe if len(one.value) == 4]
    assert table.iloc[:, 3].tolist() == [f"{loss:.3f}" for loss in moment.off.ravel()]
    points = sent(page, "scatter_film")["points"]
    assert points.shape == (len(record.learned().moments), 4, 2)
    assert points[place, :, 0] == pytest.approx(moment.previous.ravel())
    assert points[place, :, 1] == pytest.approx(moment.induction.ravel())
    frame, shown = record.frame_of(place)
    assert 0 <= place - shown <= 1
    model = record.model_at(frame=frame)
    pair = pair_of(model, params.FIRST, params.SECOND)
    assert f"At step {record.learned().moments[shown].step:,}, {diagonal(pair.match)} of 26" in said


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("second", [0, 1])
def test_any_two_heads_are_multiplied(first, second):
    page = opened(copyfirst=str(first), copysecond=str(second))
    matrices = {one["name"]: one["values"] for one in sent(page, "matrix_view")["matrices"]}
    assert matrices["match"] == pytest.approx(matrices["asks"] @ matrices["keys"].T, abs=1e-4)
    assert matrices["copies"] == pytest.approx(matrices["adds"] @ matrices["head"].T, abs=1e-4)
    alone = [pair_of(record.model_at(), first, one).copies for one in (0, 1)]
    assert f"added up these are {diagonal(alone[0] + alone[1])} of {V}" in prose_of(page)


@pytest.mark.parametrize("letters", ["qmxztbqmxz", "AB ab a", "abcdefg", "aa", "zzzz"])
def test_letters_of_a_learner_are_continued(letters):
    page = opened(copyletters=letters)
    ids, said = ids_of(letters), prose_of(page)
    again = ids[-1] in ids[:-1]
    assert ("stood in the text before. The last time" in said) == again
    assert ("Nothing can be copied" in said) == (not again)
    assert sent(page, "heads_grid")["tokens"] == [LETTERS[one] for one in ids]
    (table,) = [one.value for one in page.dataframe if len(one.value) == 2]
    chances = yours.results(tuple(ids), record.frame_of(40)[0])[0]
    best = int(chances.argmax())
    assert table.iloc[0, 1].startswith(f"{LETTERS[best]} {percent(float(chances[best]))}")


@pytest.mark.parametrize("letters", ["", "a", "abc1", "naïve", "a" * 33])
def test_what_the_models_cannot_read_is_refused_and_kept(letters):
    page = open_part("discoveries", "induction", show="1", copyletters=letters)
    assert not page.exception
    assert any("letters" in one.value for one in page.error)
    assert page.text_input[0].value == letters


def test_a_learned_letter_is_copied_by_two_layers_and_not_by_one():
    two, one, _ = yours.results(tuple(ids_of("qmxztbqmxz")), record.frame_of(40)[0])
    assert LETTERS[int(two.argmax())] == "t"
    assert two.max() > 0.8 > 0.5 > one[LETTERS.index("t")]


def test_where_the_loss_falls_is_said_of_any_training():
    bare = record.learned().moments[0]

    def moment(step: int, loss: float) -> Moment:
        return Moment(step, bare.by_place, 3.0, loss, bare.previous, bare.induction, bare.off)

    one = Learned(Copier(), [moment(0, 3.0), moment(10, 2.9), moment(20, 1.0), moment(40, 0.9)])
    said = curves.step_read(one, [0.1, 0.2, 0.3], [2.0, 2.1, 2.2])
    assert "up to step 20, from 2.90 to 1.00 nats since step 10" in said
    assert "0.100, 0.200 and 0.300" in said
    assert "2.00, 2.10 and 2.20" in said


@pytest.mark.parametrize("state", ["running", "done"])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("shown", ["0", "1"])
def test_a_training_of_the_learners_is_shown(monkeypatch, state, layers, shown, covers):
    copier = Copier(layers, 2, seed=7, steps=25)
    moments = list(learn(copier))
    monkeypatch.setattr(own, "job_of", lambda _: FakeJob(moments, state))
    link = {"copylayers": str(layers), "copyseed": "7", "copyown": "1", "show": shown}
    page = open_part("discoveries", "induction", **link)
    fine(page)
    said, last = prose_of(page), moments[-1]
    assert (f"Step 25 of {copier.steps:,}" in said) or state == "done" or "Step 25 of" in said
    if state == "done":
        assert f"After step 25 the loss on letters that repeat is {last.repeat_loss:.3f}" in said
        assert f"earlier {percent(float(last.induction.max()))}" in said
    figures = [chart for chart in page.get("plotly_chart") if "your model" in chart.proto.spec]
    assert len(figures) == 1
    assert ("one layer, training" in figures[0].proto.spec) == (shown == "1")


def test_the_question_has_three_different_answers_and_the_measured_one_is_right():
    asked = chapter.question()
    loss = record.learned(record.ONE).last.repeat_loss
    assert asked.answers[asked.right].startswith(f"{loss:.2f}")
    assert record.learned().last.repeat_loss + 1 < loss < np.log(V) - 0.5


def test_pairs_that_come_again_are_listed_and_others_are_not():
    page = opened(copytext="The red cat saw the red cat.")
    said = prose_of(page)
    assert "each pair of neighbours that stood in your text before" in said
    (table,) = [one.value for one in page.dataframe if len(one.value.columns) == 5]
    assert "·red·cat" in table.iloc[:, 0].tolist()
    assert "No pair of neighbours comes again" in prose_of(opened(copytext="The red cat."))
    assert "These are the first 12 of" in prose_of(opened(copytext="The red cat saw it. " * 5))


@pytest.mark.parametrize("text", ["", " ", "x" * 900, "🙂 <b>a</b> " * 9])
def test_any_text_may_be_typed_for_the_story_model(text):
    page = open_part("discoveries", "induction", show="1", copytext=text)
    assert not page.exception
    assert ("There is no text yet" in str([one.value for one in page.info])) == (not text)
    assert page.text_area[0].value == text


def test_the_story_model_copies_no_random_tokens():
    found = record.story_on_random()
    assert found.induction < 2 * found.even < 0.1
    assert found.induction < record.learned().last.induction.max() / 5
    assert percent(found.induction) in prose_of(opened())


def test_the_end_names_steps_between_which_most_of_the_fall_came():
    said, one = chapter.end_numbers(), record.learned()
    loss = dict(zip(one.steps.tolist(), one.curve("repeat_loss"), strict=True))
    fallen = loss[said["since"]] - loss[said["until"]]
    assert fallen > 0.6 * loss[0]
    assert said["until"] - said["since"] < 0.2 * said["steps"]


def test_the_default_heads_are_those_without_which_most_is_lost():
    off = record.learned().last.off
    assert (off[0].argmax(), off[1].argmax()) == (params.FIRST, params.SECOND)
    assert film.head_names(record.learned()) == ["0.0", "0.1", "1.0", "1.1"]
    assert len(floor()) == len(record.learned().last.by_place)
    assert product.SEEN <= V


def test_a_copy_without_the_bundled_trainings_names_the_command(monkeypatch):
    def missing(*_: object) -> None:
        raise ValueError("no")

    monkeypatch.setattr(chapter, "card", missing)
    page = open_part("discoveries", "induction")
    fine(page)
    assert any(record.COMMAND in one.value for one in page.code)
