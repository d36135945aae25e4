"""The chapter "A head learns to copy": what its sentences say at any setting."""

from __future__ import annotations

import numpy as np
import pytest

from llmviz.course.lessons.discoveries.induction import FIRST, SECOND, chapter, words
from llmviz.course.lessons.discoveries.induction import induction_record as record
from llmviz.course.ui.common import percent
from llmviz.interpretability import induction
from tests.pages.finished_job import FakeJob
from tests.pages.harness import fine_part, prose_of, sent, unpack_all

DEFAULT = "qmxztbqmxz"
LAST = len(record.learned().moments) - 1


def opened(**link: str):
    return fine_part("discoveries", "induction", show="1", **link)


@pytest.mark.parametrize("place", [0, 1, 27, 39])
def test_a_moment_of_the_film_is_read_out(place):
    page = opened(copyframe=str(place))
    moment, said = record.learned().moments[place], prose_of(page)
    assert f"{moment.repeat_loss:.3f} nats at step {moment.step:,}" in said
    rows = unpack_all(page, "case_rows")[1]
    assert [row["value"] for row in rows["rows"]] == pytest.approx(moment.off.ravel())
    assert rows["levels"][0][0] == pytest.approx(moment.repeat_loss)
    points = sent(page, "scatter_film")["points"]
    assert points.shape == (LAST + 1, 4, 2)
    assert points[place, :, 0] == pytest.approx(moment.previous.ravel())
    assert points[place, :, 1] == pytest.approx(moment.induction.ravel())
    frame, shown = record.frame_of(place)
    assert 0 <= place - shown <= 1
    pair = induction.pair_of(record.model_at(frame=frame), FIRST, SECOND)
    assert (
        f"At step {record.learned().moments[shown].step:,}, {induction.diagonal(pair.match)} of 26"
        in said
    )


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("second", [0, 1])
def test_any_two_heads_are_multiplied(first, second):
    page = opened(copyfirst=str(first), copysecond=str(second))
    matrices = {one["name"]: one["values"] for one in sent(page, "matrix_view")["matrices"]}
    assert matrices["match"] == pytest.approx(matrices["asks"] @ matrices["keys"].T, abs=1e-4)
    assert matrices["copies"] == pytest.approx(matrices["adds"] @ matrices["head"].T, abs=1e-4)
    alone = [induction.pair_of(record.model_at(), first, one).copies for one in (0, 1)]
    both = induction.diagonal(alone[0] + alone[1])
    assert f"{both} if both heads" in prose_of(page)


@pytest.mark.parametrize("letters", [DEFAULT, "AB ab a", "abcdefg", "aa", "zzzz"])
def test_letters_of_a_learner_are_continued(letters):
    page = opened(copyletters=letters)
    ids, said = induction.ids_of(letters), prose_of(page)
    again = ids[-1] in ids[:-1]
    assert ("behind the earlier" in said) == again
    assert ("nothing to copy" in said) == (not again)
    assert sent(page, "look_back")["tokens"] == [induction.LETTERS[one] for one in ids]
    chances = chapter.results(tuple(ids), record.frame_of(LAST)[0])[0]
    after = max((at + 1 for at in range(len(ids) - 1) if ids[at] == ids[-1]), default=None)
    target = int(chances.argmax()) if after is None else ids[after]
    values = [row["value"] for row in unpack_all(page, "case_rows")[0]["rows"]]
    assert values[0] == pytest.approx(float(chances[target]))
    assert percent(values[0]) in said


@pytest.mark.parametrize("letters", ["", "a", "abc1", "naïve", "a" * 33])
def test_what_the_models_cannot_read_is_refused_and_kept(letters):
    page = fine_part("discoveries", "induction", show="1", copyletters=letters)
    assert not page.exception
    assert any("letters" in one.value for one in page.error)
    assert page.text_input[0].value == letters


def test_a_learned_letter_is_copied_by_two_layers_and_not_by_one():
    two, one, _ = chapter.results(tuple(induction.ids_of(DEFAULT)), record.frame_of(LAST)[0])
    assert induction.LETTERS[int(two.argmax())] == "t"
    assert two.max() > 0.8 > 0.5 > one[induction.LETTERS.index("t")]


def test_the_head_is_covered_until_a_letter_is_clicked_and_its_weights_do_not_travel(covers):
    page = fine_part("discoveries", "induction")
    look = sent(page, "look_back")
    assert look["covered"] == [1]
    assert np.asarray(look["cells"]).reshape(2, -1)[1].max() == 0
    assert not page.select_slider
    shown = sent(opened(), "look_back")
    assert shown["covered"] == [] and np.asarray(shown["cells"]).reshape(2, -1)[1].max() > 200


@pytest.mark.parametrize("head", [0, 1])
@pytest.mark.parametrize("letters", [DEFAULT, "abcdefabcd", "worldworl"])
def test_right_is_where_the_head_looks_and_each_wrong_letter_is_its_misconception(letters, head):
    ids = tuple(induction.ids_of(letters))
    asked = chapter.question(ids, head)
    assert asked is not None
    looks = int(chapter.results(ids, -1)[2][1, head, -1].argmax())
    assert asked.values[asked.right] == (looks, 0)
    assert ids[looks - 1] == ids[-1] and ids[-1] not in ids[looks : len(ids) - 1]
    assert {at for at, _ in asked.values} == {looks - 1, looks, len(ids) - 2}


@pytest.mark.parametrize("letters", ["abcdefg", "aa", "abab", "zzzz"])
def test_no_question_is_asked_where_two_answers_are_one_letter_or_nothing_came_before(letters):
    assert chapter.question(tuple(induction.ids_of(letters)), 1) is None


@pytest.mark.parametrize("other", [{"copyletters": "abcdefabcd"}, {"copysecond": "0"}])
def test_other_letters_and_the_other_head_are_shown_at_once(other, covers):
    page = fine_part("discoveries", "induction", **other)
    assert sent(page, "look_back")["covered"] == []
    assert "Show me without an answer" not in [button.label for button in page.button]


def test_the_looks_name_moments_before_and_after_the_step():
    named = chapter.summary()
    assert named["before"].repeat_loss > 2.5 > 1 > named["after"].repeat_loss
    assert named["last"].off[0][0] > np.log(induction.V) - 0.5, "without head 0.0 nothing is copied"
    _, _, maps = chapter.results(tuple(induction.ids_of(DEFAULT)), record.frame_of(26)[0])
    assert maps[1, 1, -1].argmax() != 4
    assert "copysecond=0" in str(words.looks)


def test_where_the_loss_falls_is_said_of_any_training():
    bare = record.learned().moments[0]

    def moment(step: int, loss: float) -> induction.Moment:
        return induction.Moment(
            step, bare.by_place, 3.0, loss, bare.previous, bare.induction, bare.off
        )

    one = induction.Learned(
        induction.Copier(), [moment(0, 3.0), moment(10, 2.9), moment(20, 1.0), moment(40, 0.9)]
    )
    said = chapter.step_read(one, [0.1, 0.2, 0.3], [2.0, 2.1, 2.2])
    assert "between step 10 and 20" in said and "from 2.90 to 1.00" in said
    assert "0.300 or below" in said and "2.00 or above" in said


@pytest.mark.parametrize("state", ["running", "done"])
@pytest.mark.parametrize("layers", [1, 2])
def test_a_training_of_the_learners_is_shown(monkeypatch, state, layers):
    copier = induction.Copier(layers, 2, seed=7, steps=25)
    moments = list(induction.learn(copier))
    monkeypatch.setattr(chapter, "job_of", lambda _: FakeJob(moments, state))
    page = opened(copylayers=str(layers), copyseed="7", copyown="1")
    said, last = prose_of(page), moments[-1]
    if state == "done":
        assert f"After step 25 the loss on letters that repeat is {last.repeat_loss:.3f}" in said
        assert f"earlier {percent(float(last.induction.max()))}" in said
    else:
        assert (
            f"Step 25 of 1,500: the loss on letters that repeat is {last.repeat_loss:.3f}" in said
        )
    figures = [chart for chart in page.get("plotly_chart") if "your model" in chart.proto.spec]
    assert len(figures) == 1


def test_the_story_model_copies_no_random_tokens():
    found = record.story_on_random()
    assert found["induction"] < 2 * found["even"] < 0.1
    assert found["induction"] < record.learned().last.induction.max() / 5
    helped = found["first"] - found["again"]
    assert helped > 3 * np.hypot(found["first_error"], found["again_error"]), "a little, but it is"
    assert percent(found["induction"]) in prose_of(opened())


def test_the_end_names_steps_between_which_most_of_the_fall_came():
    said, one = chapter.end_numbers(), record.learned()
    loss = dict(zip(one.steps.tolist(), one.curve("repeat_loss"), strict=True))
    fallen = loss[said["since"]] - loss[said["until"]]
    assert fallen > 0.6 * loss[0]
    assert said["until"] - said["since"] < 0.2 * said["steps"]


def test_the_default_heads_are_those_without_which_most_is_lost():
    off = record.learned().last.off
    assert (off[0].argmax(), off[1].argmax()) == (FIRST, SECOND)
