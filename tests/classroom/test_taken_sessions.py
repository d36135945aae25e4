"""A session that another browser connects to again: nothing of the first browser's is its own."""

from __future__ import annotations

import pytest

from benchmarks.follow import SECRET, press, sent
from benchmarks.visitor import Visitor
from llmviz.course.ui.browser import COOKIE
from llmviz.course.ui.class_session import PROJECTOR
from llmviz.course.ui.classes import Classes
from llmviz.course.ui.classroom import words
from tests.awaiting import awaited

ANN, BOB = "a" * 43, "b" * 43


def cookie(secret: str) -> dict[str, str]:
    return {"cookie": f"{COOKIE}={secret}"} if secret else {}


def led(visitor: Visitor) -> list[str]:
    """The code of the class that a window leads, if it leads one."""
    return [one.metric.body for one in visitor.elements("metric")]


@pytest.mark.parametrize("came_with", ["", ANN])  # at a first visit a browser is given its secret
def test_a_session_leads_in_the_browser_alone_that_began(served, monkeypatch, came_with):
    monkeypatch.setenv("LLMVIZ_RUNS", str(served.notes.parent / "runs"))

    async def taken_up_again() -> None:
        async with Visitor(served.host, headers=cookie(came_with)) as ann:
            await ann.open("glossary")
            own = came_with or sent(ann, SECRET)["secret"]
            for label in (words.open_box, words.open):
                await press(ann, label)
            (code,) = led(ann)
            session = ann.session
        for secret in (BOB, ""):
            async with Visitor(served.host, headers=cookie(secret), session=session) as thief:
                done = await thief.open("sampling", f"{PROJECTOR}=0")
                assert thief.session == session and not done.exceptions and not led(thief)
                assert Classes().find(code).place.page == "glossary"
                assert not [b for b in thief.elements("button") if b.button.label == words.end]
        async with Visitor(served.host, headers=cookie(own), session=session) as ann:
            await ann.open("training")
            assert ann.session == session and led(ann) == [code]
            assert Classes().find(code).place.page == "training"
            await press(ann, words.end)
            await press(ann, words.end_now)

    awaited(taken_up_again())
