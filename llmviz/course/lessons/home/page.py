"""The page of the whole machine: the picture, and what stands below it."""

from llmviz.course.lessons.home import below, ending, picture, words
from llmviz.course.ui import kit


def draw(state: kit.PageState) -> None:
    """Show the machine on the learner's text, the lessons, questions, code and models."""
    picture.lock_text(state)
    if state["end"]:
        kit.prose(words.back_again)
    screen = picture.draw(state)
    if state["end"]:
        ending.draw(state, screen)
        return
    below.way_through(state)
    if screen is not None:
        below.questions(screen, picture.changed_reading)
        below.code(screen)
    below.models()
