"""A text has the limit of its control: what is typed beyond it stays in the field, unread."""

from __future__ import annotations

import ast

from streamlit.testing.v1 import AppTest

from tests.course.ui.test_codec import packed
from tests.course.ui.test_ranges import LESSONS, spread
from tests.pages.harness import boxes, fine
from tests.sources import nodes_where


def page():
    import streamlit as st

    from llmviz.course.ui import codec
    from llmviz.course.ui.state import page_state
    from llmviz.course.ui.text_field import text_area, text_input

    st.session_state["_through_app"] = True
    state = page_state("p", [codec.text("word", "", 5), codec.text("story", "", 8)])
    text_input(state, "word", "Word")
    text_area(state, "story", "Story")
    st.code(state["word"] + "|" + state["story"])
    state.show_problems()


def test_what_is_typed_beyond_the_limit_stays_in_the_field_and_the_page_says_what_is_read():
    app = AppTest.from_function(page).run()
    app.text_input[0].set_value("abcdefg").run()
    app.text_area[0].set_value("12345678").run()
    fine(app)
    assert app.text_input[0].value == "abcdefg" and app.code[0].value == "abcde|12345678"
    assert "holds 7 characters. The first 5 of them are read" in boxes(app)
    assert "holds 8" not in boxes(app)
    assert app.query_params == {"story": "12345678"}


def test_a_field_that_is_half_full_says_under_it_how_much_it_may_hold():
    app = AppTest.from_function(page).run()
    app.text_area[0].set_value("1234").run()
    assert not app.caption
    app.text_area[0].set_value("12345").run()
    assert [one.value for one in app.caption] == ["5 of at most 8 characters."]
    app.text_area[0].set_value("123456789").run()
    assert not app.caption and "The first 8 of them are read" in boxes(app)


def test_a_packed_text_above_the_limit_is_refused_and_the_page_says_so():
    app = AppTest.from_function(page)
    app.query_params["word"] = packed("abcdefg")
    app.run()
    fine(app)
    assert app.text_input[0].value == "" and "5 characters are read" in boxes(app)


def test_a_longer_text_that_is_not_packed_stays_in_its_field():
    app = AppTest.from_function(page)
    app.query_params["word"] = "abcdefg"
    app.run()
    fine(app)
    assert app.text_input[0].value == "abcdefg" and app.code[0].value == "abcde|"


def test_no_chapter_reads_less_of_a_text_than_its_field_says():
    """A cut of its own would be a second limit, of which nothing stands under the field."""
    for path, node in nodes_where(sorted(LESSONS.rglob("*.py")), "state["):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            held = ast.unparse(node.value)
            assert not held.startswith("state['"), f"{path.name}:{node.lineno} cuts {held}"


def test_every_field_of_a_control_says_its_limit():
    fields = {"text_input", "text_area"}
    limited = 0
    for path, node in nodes_where(sorted(LESSONS.rglob("*.py")), *fields):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            ours = called.removeprefix("kit.") in fields
            limited += ours
            if not ours and isinstance(node.func, ast.Attribute) and node.func.attr in fields:
                where = f"{path.name}:{node.lineno}"
                assert "bind" not in spread(node), f"{where}: use llmviz.course.ui.text_field"
    assert limited > 40
