"""Links that were written for earlier versions of the app open today, with all that they say."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from llmviz.course.lessons import LESSONS
from llmviz.course.ui.lesson import SOUGHT
from llmviz.course.ui.state import RETIRED
from tests.pages.harness import fine, open_page

OLD = Path(__file__).with_name("old_links.txt").read_text("utf-8").split()
"""Links of plans, documents and tests, from the first weeks of the app on."""


def test_every_control_and_value_of_an_old_link_is_known():
    params = {lesson.key: lesson.params() for lesson in LESSONS}
    assert len(OLD) > 400
    gone = {lesson.key: lesson.gone for lesson in LESSONS}
    for link in OLD:
        page, _, query = link.partition("?")
        page = gone[page].get(dict(parse_qsl(query)).get("part"), page)
        known = {name: param for param in params[page] for name in (param.key, param.formerly)}
        for key, value in parse_qsl(query):
            if not key.startswith("embed") and key not in RETIRED:
                known[key].read(value)


def test_each_chapter_that_moved_names_one_that_is_there():
    by_key = {lesson.key: lesson for lesson in LESSONS}
    for lesson in LESSONS:
        assert all(
            key in [*by_key[there].keys, *by_key[there].moved] for key, there in lesson.gone.items()
        )
        assert not set(lesson.gone) & set(lesson.keys)
        assert set(lesson.hosts.values()) <= set(lesson.keys)
        assert not set(lesson.moved) & set(lesson.keys)


@pytest.mark.slow
@pytest.mark.parametrize("link", OLD)
def test_an_old_link_opens_without_a_complaint(link):
    page, _, query = link.partition("?")
    app = open_page(page, **dict(parse_qsl(query)))
    fine(app)
    assert "The link" not in " ".join(warning.value for warning in app.warning)


@pytest.mark.parametrize(
    "link",
    [
        f"{lesson.key}?part={old}"
        for lesson in LESSONS
        for old in [*lesson.moved, *lesson.gone, *(old for old, *_ in lesson.split.values())]
    ],
)
def test_a_chapter_is_found_under_its_old_name(link):
    test_an_old_link_opens_without_a_complaint(link)


@pytest.mark.parametrize(
    ("page", "old", "now"),
    [(lesson.key, *moved) for lesson in LESSONS for moved in lesson.moved.items()],
)
def test_a_link_to_a_chapter_that_was_joined_to_another_leads_to_its_section(page, old, now):
    app = open_page(page, part=old, show=old)
    fine(app)
    now, _, section = now.partition("#")
    opened, address = app.session_state["_address"]
    if opened != page:  # "Models", a page of its own today, was a chapter of the transformer
        assert (page, old) == ("transformer", "published")
        return
    assert address["part"] == address["show"] == now
    sought = [block for block in app.get("flex_container") if block.proto.id.endswith(SOUGHT)]
    assert len(sought) == bool(section)
    assert "The link" not in " ".join(warning.value for warning in app.warning)
