"""State in the address, in a rerun and in pictures; questions and their grading."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from llmviz.course.ui import contents, guess_given, pinned_cells
from llmviz.course.ui.guess_drawn import words as guess_words
from llmviz.course.ui.pinned_cells import bound, link_of, one_of, or_first, second_of, windows_link
from llmviz.course.ui.question import Question
from llmviz.course.ui.rerun import once
from llmviz.course.ui.state import PageState


def small_page() -> None:
    import streamlit as st

    from llmviz.course.ui import codec
    from llmviz.course.ui.guess import Guess
    from llmviz.course.ui.question import Question
    from llmviz.course.ui.state import LEARNER_TEXT, THROUGH_APP, page_state

    st.session_state[THROUGH_APP] = True
    controls = [LEARNER_TEXT, codec.number("heat", 1.0, 0, 5), codec.flag("on", False)]
    state = page_state("small", controls)
    state.show_problems()
    st.slider("Heat", 0.0, 5.0, **state.bind("heat"))
    st.text_area("Text", **state.bind("text"))
    st.write(f"heat={state['heat']}")
    question = Question("Is 1 < 2?", ["yes", "no"], 0, ["It is.", "1 comes before 2."])
    if Guess("less", question).ask():
        st.write("answered")


def shown(app: AppTest) -> list[str]:
    return [block.value for block in app.markdown]


def test_a_link_sets_the_controls():
    app = AppTest.from_function(small_page)
    app.query_params["heat"] = "2.5"
    app.query_params["text"] = "hello"
    app.run()
    assert app.slider[0].value == 2.5
    assert app.text_area[0].value == "hello"
    assert not app.warning


def test_a_wrong_value_in_a_link_falls_back_and_says_so():
    app = AppTest.from_function(small_page)
    app.query_params["heat"] = "nan"
    app.run()
    assert app.slider[0].value == 1.0
    assert "heat=nan" in app.warning[0].value.replace("\\", "")
    assert app.query_params == {}


def test_a_control_writes_the_address_and_its_default_leaves_it():
    app = AppTest.from_function(small_page).run()
    app.slider[0].set_value(3.0).run()
    assert app.query_params["heat"] in ("3.0", ["3.0"])
    assert "heat=3.0" in shown(app)
    app.slider[0].set_value(1.0).run()
    assert "heat" not in app.query_params


@pytest.fixture
def covers(monkeypatch):
    """Questions cover what they ask for, as on the pages; other tests look at all of it."""
    monkeypatch.setattr(guess_given, "COVERS", True)


def test_what_a_question_covers_is_shown_to_who_asks_for_it(covers):
    app = AppTest.from_function(small_page).run()
    assert "answered" not in shown(app)
    (button,) = [one for one in app.button if one.label == "Show me without an answer"]
    button.click().run()
    assert "answered" in shown(app) and not app.success and not app.error
    assert not [one for one in app.button if one.label == "Show me without an answer"]
    app = AppTest.from_function(small_page)
    app.session_state[guess_given._ALL] = True  # by the link of a teacher
    assert "answered" in shown(app.run())


def test_a_question_is_graded_with_its_reason(covers):
    app = AppTest.from_function(small_page).run()
    assert "answered" not in shown(app)
    app.radio[0].set_value(1).run()
    assert "answered" in shown(app)
    assert "Right is: yes" in app.error[0].value.replace("\\", "") and not app.radio
    (again,) = [one for one in app.button if one.label == guess_words.again]
    again.click().run()
    assert "answered" not in shown(app)
    app.radio[0].set_value(0).run()
    assert app.success[0].value.replace("\\", "") == guess_words.graded["right"]


def test_one_reason_for_all_answers_is_given_once():
    def page() -> None:
        from llmviz.course.ui.guess import Guess
        from llmviz.course.ui.question import Question

        reasons = ["One of 5.", "One of 5.", "No."]
        Guess("many", Question("How many?", ["1", "2", "3"], 0, reasons)).ask()

    for answer, reasons in ((0, 1), (1, 1), (2, 2)):
        app = AppTest.from_function(page).run()
        app.radio[0].set_value(answer).run()
        told = [one.proto.body for one in app.get("html")]
        assert sum("One of 5." in one for one in told) == 1
        assert sum("No." in one for one in told) == reasons - 1


def test_a_question_without_a_reason_for_each_answer_is_refused():
    with pytest.raises(ValueError, match="one reason for each"):
        Question("?", ["a", "b"], 0, ["x"])
    with pytest.raises(ValueError, match="must name one"):
        Question("?", ["a", "b"], 2, ["x", "y"])


def page_that_sets() -> None:
    import streamlit as st

    from llmviz.course.ui import codec
    from llmviz.course.ui.state import THROUGH_APP, page_state

    st.session_state[THROUGH_APP] = True
    state = page_state("small", [codec.integer("size", 1, 0, 99), codec.choice("kind", "a", "abc")])
    st.button("Preset", on_click=lambda: state.__setitem__("size", 7))
    st.number_input("Size", 0, 99, **state.bind("size"))
    st.selectbox("Kind", list("abc"), **state.bind("kind"))
    st.write(f"size={state['size']} kind={state['kind']}")


def test_a_late_message_does_not_undo_what_the_page_set():
    app = AppTest.from_function(page_that_sets).run()
    late = app._tree  # a browser that has not heard of anything newer
    late.number_input[0].set_value(1)
    late.selectbox[0].set_value("a")
    app.run()
    app.button[0].click().run()
    assert "size=7 kind=a" in shown(app) and app.number_input[0].value == 7
    late.run()
    app.run()
    assert "size=7 kind=a" in shown(app) and app.number_input[0].value == 7
    # Nor with what the learner does elsewhere just then: that counts.
    late.selectbox[0].set_value("b")
    late.run()
    app.run()
    assert "size=7 kind=b" in shown(app) and app.number_input[0].value == 7


def test_a_widget_is_a_new_one_only_when_the_page_changed_its_value():
    app = AppTest.from_function(page_that_sets).run()
    first = app.number_input[0].key
    app.number_input[0].set_value(3).run()
    assert app.number_input[0].key == first and "size=3 kind=a" in shown(app)
    app.button[0].click().run()
    second = app.number_input[0].key
    assert second != first
    app.number_input[0].set_value(8).run()
    assert app.number_input[0].key == second and "size=8 kind=a" in shown(app)
    keys = set()
    for size in range(20, 60):  # the session does not grow with each change
        app.query_params["size"] = str(size)
        app.run()
        keys.add(app.number_input[0].key)
        assert app.number_input[0].value == size
    assert len(keys) == 16


def test_two_controls_of_one_name_are_refused_with_both_places(monkeypatch, tmp_path):
    from llmviz.course.document import Document
    from llmviz.course.ui import codec

    declared = {
        "llmviz.course.lessons.small": [codec.flag("on", False)],
        "llmviz.course.lessons.small.first": [],
        "llmviz.course.lessons.small.second": [codec.flag("on", True)],
    }
    monkeypatch.setattr(contents, "_params", declared.__getitem__)
    small = contents.Lesson("small", "", Document(tmp_path / "lesson.md"), ("first", "second"))
    with pytest.raises(ValueError, match="'on' is declared twice") as refused:
        small.params()
    assert "in llmviz.course.lessons.small and in llmviz.course.lessons.small.second" in str(
        refused.value
    )
    declared["llmviz.course.lessons.small.second"] = []
    assert [param.key for param in small.params()] == [
        "part",
        "show",
        "lang",
        "course",
        "more",
        "on",
    ]


def test_a_title_is_typed_once():
    """A head that says the same as the list asks the lesson for it."""
    from llmviz.course.lessons import LESSONS

    for one in LESSONS:
        assert one.headline != one.title, one.key
        for chapter in one.chapters:
            folder = Path(one.module(chapter).__file__).parent
            texts = [file.read_text("utf-8") for file in folder.glob("*words.py")]
            assert not any(f'TITLE = "{chapter.title}"' in text for text in texts), folder


def test_all_that_draws_a_page_can_be_imported_ahead():
    from llmviz.course.lessons import LESSONS

    for lesson in LESSONS:
        modules = lesson.modules()
        assert len(modules) >= len(lesson.chapters)
        for module in modules:
            assert hasattr(module, "draw") or hasattr(module, "follow_old_links"), lesson.key


def test_controls_get_their_values_when_the_callback_is_called():
    state: dict = {"a": 1}
    reset = PageState.setter(state, a=7, b="")
    assert state == {"a": 1}
    reset()
    assert state == {"a": 7, "b": ""}


def test_a_choice_goes_into_its_control_and_none_leaves_it_as_it_is():
    state = {"a": 1}
    take = PageState.taker(state, "a")
    take(None)
    assert state == {"a": 1}
    take(0)
    assert state == {"a": 0}


@pytest.mark.parametrize(
    ("reported", "held"),
    [
        (
            {"step": 1, "pinned": ["w", 1, 2], "chosen": [0, 3], "window": [["C", 4], ["F", 0]]},
            {"stage": "b", "cell": "w.1.2", "token": 3, "seen": "C.4"},
        ),
        ({"step": 2}, {"stage": "old", "cell": "", "token": -1, "seen": ""}),
        ({"step": -1, "chosen": None}, {"stage": "old", "cell": "", "token": -1, "seen": ""}),
        ({"step": "1"}, {"stage": "old", "cell": "", "token": -1, "seen": ""}),
        (None, {"stage": "old", "cell": "", "token": -1, "seen": ""}),
    ],
)
def test_controls_hold_what_was_reported_and_no_step_that_there_is_not(reported, held, monkeypatch):
    monkeypatch.setattr(pinned_cells, "st", SimpleNamespace(session_state={"part": reported}))
    state = {"stage": "old"}
    bound(
        state,
        "part",
        step=("stage", one_of("ab")),
        pinned=("cell", link_of),
        chosen=("token", second_of),
        window=("seen", windows_link),
    )()
    assert state == held


def test_what_needs_no_change_goes_into_its_control_as_it_is(monkeypatch):
    state = {"tick": 4, "row": 1}
    for reported, held in (({"step": 0}, {"tick": 0, "row": 1}), (None, {"tick": 0, "row": 1})):
        monkeypatch.setattr(pinned_cells, "st", SimpleNamespace(session_state={"film": reported}))
        bound(state, "film", step="tick", chosen="row")()
        assert state == held


def test_the_last_step_and_none_have_values_of_their_own():
    at = one_of([*range(3), -1])
    assert [at(step) for step in (0, 2, 3, 4, None)] == [0, 2, -1, None, None]
    assert or_first(None) == or_first(0) == 0 and or_first(2) == 2


CALLS: list[int] = []


@once
def doubled(number: int) -> int:
    """Note each call."""
    CALLS.append(number)
    if number < 0:
        raise ValueError("no number")
    return 2 * number


def page() -> None:
    """A page that asks several times, also in a part that runs alone."""
    import streamlit as st

    from tests.course.ui.test_lesson import doubled

    @st.fragment
    def part() -> None:
        st.button("again")
        st.write(doubled(1) + doubled(1) + doubled(2))
        for _ in range(2):
            try:
                doubled(-1)
            except ValueError as error:
                st.write(str(error))

    st.write(doubled(1))
    part()


def test_once_in_each_rerun():
    app = AppTest.from_function(page)
    for _ in range(2):
        CALLS.clear()
        app.run()
        assert not app.exception
        assert CALLS == [1, 2, -1, -1]
    CALLS.clear()
    app.button[0].click().run()
    assert CALLS == [1, 2, -1, -1]


def test_outside_a_rerun_each_call_looks():
    CALLS.clear()
    assert doubled(3) == doubled(3) == 6
    assert CALLS == [3, 3]
