"""The callbacks that a page's state hands out."""

from llmviz.course.ui.state import PageState


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
