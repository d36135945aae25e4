"""What stands on a page keeps its place when something above it goes.

A browser makes anew all that changes its place, and what a hand did to it is lost.
"""

from __future__ import annotations

from types import SimpleNamespace

import streamlit as st
from streamlit.testing.v1 import AppTest

from llmviz.course import streamlit_parts
from llmviz.course.ui import browser, runs
from tests.pages.harness import boxes, fine, open_page


def test_a_page_stays_when_a_warning_above_it_goes():
    app = open_page("glossary", nonsense="1")
    fine(app)
    assert "nonsense" in boxes(app)
    before = max(app.main.children)  # the place of all that stands below the head
    app.run()
    fine(app)
    assert boxes(app) == ""
    assert max(app.main.children) == before


def test_a_page_stays_when_the_browser_comes_with_its_secret(monkeypatch):
    def page() -> None:
        import streamlit as st

        from llmviz.course.ui.shell import sidebar, tidy

        sidebar()
        tidy("")
        st.title("Below")

    def place() -> int:
        return next(at for at, part in app.main.children.items() if part.type == "title")

    def secrets() -> list[str]:
        return [one.key for one in app.get("bidi_component") if one.key == "browser_secret"]

    app = AppTest.from_function(page).run()
    fine(app)
    assert len(secrets()) == 1
    before = place()
    monkeypatch.setattr(browser, "checked", lambda value: "s" * 43)  # as with its cookie
    app.run()
    fine(app)
    assert not secrets()
    assert place() == before


def test_a_session_in_another_browser_has_nothing_of_the_first_ones(monkeypatch):
    def page() -> None:
        import streamlit as st

        from llmviz.course.ui import browser, runs

        browser.remember()
        st.text(f"{browser.secret()} {runs.visitor()}")

    cookies: dict[str, str] = {}
    monkeypatch.setattr(type(st.context), "cookies", property(lambda _: cookies))
    monkeypatch.setattr(streamlit_parts, "session", lambda: "the session")
    monkeypatch.setattr(runs, "_managers", [SimpleNamespace(know=lambda *_, **__: None)])
    app = AppTest.from_function(page)

    def told(connection: str, cookie: str = "") -> list[str]:
        monkeypatch.setattr(browser, "_connection", lambda: connection)
        cookies.clear()
        cookies.update({browser.COOKIE: cookie} if cookie else {})
        app.run()
        fine(app)
        return app.text[0].value.split(" ", 1)

    mine, visitor = told("first")
    assert visitor == "the session" and told("first") == [mine, visitor]
    others = [told("second"), told("third", "b" * 43), told("fourth")]
    assert others[1][0] == "b" * 43
    assert len({mine, *(secret for secret, _ in others)}) == 4
    assert len({visitor, *(name for _, name in others)}) == 4
    assert told("fifth", mine) == [mine, visitor]  # a short loss of the network
