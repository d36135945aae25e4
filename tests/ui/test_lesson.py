"""State in the address, questions and their grading, as a page uses them."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from llmviz.ui.lesson import Question


def small_page() -> None:
    import streamlit as st

    from llmviz.ui import codec
    from llmviz.ui.lesson import Question, predict
    from llmviz.ui.state import THROUGH_APP, page_state

    st.session_state[THROUGH_APP] = True
    state = page_state("small", [codec.number("heat", 1.0, 0, 5), codec.flag("on", False)])
    state.show_problems()
    st.slider("Heat", 0.0, 5.0, **state.bind("heat"))
    st.text_area("Text", **state.bind("text"))
    st.write(f"heat={state['heat']}")
    question = Question("Is 1 < 2?", ["yes", "no"], 0, ["It is.", "1 comes before 2."])
    if predict(question, "less"):
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


def test_a_question_is_graded_with_its_reason():
    app = AppTest.from_function(small_page).run()
    assert "answered" not in shown(app)
    app.radio[0].set_value(1).run()
    assert app.error[0].value == "Not this one."
    assert "answered" in shown(app)
    app.radio[0].set_value(0).run()
    assert app.success[0].value == "Right."


def test_a_question_without_a_reason_for_each_answer_is_refused():
    with pytest.raises(ValueError, match="one reason for each"):
        Question("?", ["a", "b"], 0, ["x"])
    with pytest.raises(ValueError, match="must name one"):
        Question("?", ["a", "b"], 2, ["x", "y"])
