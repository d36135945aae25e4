"""The order of the lesson on sampling, and the links that were made before it."""

from __future__ import annotations

from llmviz.course.lessons.sampling import LESSON
from tests.pages.harness import fine, open_page, open_part, prose_of, sent

BEFORE = {"pipeline", "dice", "writing", "temperature", "beam", "knows"}


def address(app) -> dict[str, str]:
    found = app.query_params.items()
    return {key: value if isinstance(value, str) else value[0] for key, value in found}


def test_the_loop_comes_first_and_no_chapter_is_lost():
    keys = [chapter.key for chapter in LESSON.chapters]
    assert keys[:4] == ["loop", "temperature", "dice", "pipeline"]
    assert set(keys) == {"loop", *BEFORE}


def test_a_first_visit_begins_with_the_first_chapter(bundle):
    app = open_page("sampling")
    fine(app)
    sent(app, "token_loop")
    assert "You need to know what a" in prose_of(app)
    assert address(app)["part"] == "loop"


def test_a_link_without_a_chapter_opens_the_one_that_was_first(bundle):
    for link in ({"temperature": "0.5"}, {"prompt": "Mila", "k": "5"}):
        app = open_page("sampling", **link)
        fine(app)
        sent(app, "sampler")
        assert address(app)["part"] == "pipeline"  # named, so that a reload opens it again


def test_the_address_of_every_chapter_opens_it_again(bundle):
    for chapter in LESSON.chapters:
        app = open_part("sampling", chapter.key)
        fine(app)
        again = open_page("sampling", **address(app) | {"seed": "2"})
        fine(again)
        assert address(again).get("part", "pipeline") == chapter.key
        assert f"about {chapter.minutes} minutes" in prose_of(again)
