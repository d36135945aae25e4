"""The two tests on paper."""

from collections.abc import Iterator
from urllib.parse import urlencode

from llmviz.course.lessons.before_after import AFTER, BEFORE, LESSON, words
from llmviz.course.lessons.before_after.questions import MODEL, continued, questions, test_of, why
from llmviz.course.ui import engine
from llmviz.course.ui.placed_question import SECONDS, PlacedQuestion
from llmviz.course.ui.worksheet import Page


def pages(address: str) -> Iterator[Page]:
    """Return both tests; without the bundled model, nothing is asked in own words.

    address: where the app is for the class.
    """
    engine.start()
    engine.wait(SECONDS)
    for when in (BEFORE, AFTER):
        test = test_of(when, swapped=False)
        sheet = [PlacedQuestion("", "", question) for question in questions(test)]
        own = ("", "")
        if MODEL in engine.names():
            found = continued(engine.load(MODEL), test)
            own = why(found), f"{found.beginning} … {found.written}"
        link = f"{address}/{LESSON.key}?{urlencode({'when': when})}"
        yield Page(when, words.title_of[when], words.paper, link, [], sheet, own)
