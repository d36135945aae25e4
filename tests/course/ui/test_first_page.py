"""What a browser gets first: Streamlit's page, with ours in its head, wherever the app lies."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from llmviz.course import streamlit_parts
from llmviz.course.lessons import LESSONS
from llmviz.course.ui import first_page, shell

PAGES = [lesson.key for lesson in LESSONS]


@pytest.mark.parametrize("base", ["", "llmviz", "/llmviz/"])
def test_every_page_is_streamlits_own_with_our_head_before_its_scripts(base):
    app = TestClient(Starlette(routes=first_page.routes(PAGES, base)))
    theirs = streamlit_parts.first_page()
    for name in ("", *PAGES):
        answer = app.get(f"/llmviz/{name}" if base else f"/{name}")
        assert answer.status_code == 200 and answer.headers["cache-control"] == "no-cache"
        head, rest = answer.text.split(shell.STYLE)
        assert head.endswith(f"<head>\n{first_page.HEAD.read_text('utf-8')}\n")
        assert head.split("<head>")[0] + "<head>" + rest == theirs
    assert app.get("/llmviz/nowhere").status_code == 404


def test_where_streamlit_is_another_one_it_serves_its_own_page(monkeypatch):
    monkeypatch.setattr(streamlit_parts, "first_page", lambda: None)
    assert first_page.routes(PAGES) == []
