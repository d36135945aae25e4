"""What is looked up once in a rerun: by argument, anew in the next one, and not where it fails."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from llmviz.course.ui.rerun import once

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

    from tests.course.ui.test_rerun import doubled

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
