"""Who may show the app in a frame: what the setting says, and nobody without it."""

from __future__ import annotations

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from llmviz.course.ui.frames import Frames, ancestors


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (None, "frame-ancestors 'none'"),
        ("nobody", "frame-ancestors 'none'"),
        ("anyone", "frame-ancestors *"),
        (
            " https://learn.example.org  http://127.0.0.1:80",
            "frame-ancestors 'self' https://learn.example.org http://127.0.0.1:80",
        ),
    ],
)
def test_every_answer_says_who_may_frame_it(monkeypatch, setting, said):
    monkeypatch.delenv("LLMVIZ_FRAMES", raising=False)
    if setting is not None:
        monkeypatch.setenv("LLMVIZ_FRAMES", setting)
    headers = TestClient(Frames(PlainTextResponse("page"))).get("/").headers
    assert headers["Content-Security-Policy"] == said
    assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "setting",
    [
        "learn.example.org",
        "https://a.example; script-src *",
        "nobody anyone",
        "https://a/b",
        "'self'",
    ],
)
def test_a_setting_that_is_no_address_is_refused(setting):
    with pytest.raises(ValueError, match="LLMVIZ_FRAMES must be"):
        ancestors(setting)
