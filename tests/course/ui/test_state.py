"""What the browser is told of the address, and what is taken for one that was opened."""

import streamlit as st
from streamlit.testing.v1 import AppTest


def one_slider() -> None:
    import streamlit as st

    from llmviz.course.ui import codec
    from llmviz.course.ui.state import THROUGH_APP, page_state

    st.session_state[THROUGH_APP] = True
    st.slider("n", **page_state("sampling", [codec.number("n", 1, 0, 9)]).ranged("n"))


def test_an_address_is_told_anew_to_a_browser_that_had_not_heard_of_the_last(monkeypatch):
    kind, told = type(st.query_params), []
    own = kind.from_dict
    monkeypatch.setattr(kind, "from_dict", lambda *given: (told.append(given[1]), own(*given)))
    app = AppTest.from_function(one_slider).run()
    assert told == []
    app.slider[0].set_value(3).run()
    assert told == [{"n": "3.0"}]
    # Back at once: the request has the address from before, which is the right one again.
    del app.query_params["n"]
    app.slider[0].set_value(1).run()
    app.run()
    assert (told[-1], app.slider[0].value) == ({}, 1)


def test_a_request_from_before_the_last_address_opens_no_old_link():
    app = AppTest.from_function(one_slider)
    app.query_params["n"] = "2.0"
    app.run()
    app.slider[0].set_value(3).run()
    for _ in range(2):  # such as a fragment that runs by itself, or a click
        app.query_params["n"] = "2.0"
        app.run()
        assert (app.slider[0].value, app.query_params["n"]) == (3, "3.0")
    # Once the browser has heard of it, the same address is a link.
    app.run()
    app.query_params["n"] = "2.0"
    app.run()
    assert app.slider[0].value == 2


def one_of_two() -> None:
    import streamlit as st

    from llmviz.course.ui import codec
    from llmviz.course.ui.state import THROUGH_APP, page_state

    st.session_state[THROUGH_APP] = True
    state = page_state("sampling", [codec.choice("n", "0", ["0", "1"])])
    st.pills("n", **state.named("n", {"0": "one", "1": "two"}))


def test_where_a_message_names_no_option_that_is_there_the_choice_stays():
    app = AppTest.from_function(one_of_two).run()
    app.button_group[0].set_value("1").run()
    assert app.query_params["n"] == "1"
    app.button_group[0].set_value(None).run()
    assert (app.query_params["n"], app.button_group[0].value) == ("1", "1")
