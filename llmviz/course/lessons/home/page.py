"""The page of the whole machine: the picture, and what stands below it."""

from llmviz.course.lessons.home import below, picture
from llmviz.course.ui import kit


def draw(state: kit.PageState) -> None:
    """Show the machine on the learner's text, the lessons, questions, code and models."""
    picture.lock_text(state)
    screen = picture.draw(state)
    below.way_through(state)
    if screen is not None:
        below.questions(screen, picture.changed_reading)
        below.code(screen)
    below.models()
