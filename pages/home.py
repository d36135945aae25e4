"""Home: the whole machine on the learner's own sentence."""

from llmviz.ui.lesson import lesson
from llmviz.ui.lessons.home import words
from llmviz.ui.lessons.home.params import PARAMS
from llmviz.ui.shell import text_box
from llmviz.ui.state import page_state


def body() -> None:
    """Draw what stands below the title; its imports wait until the title is on its way."""
    from llmviz.ui.lessons.home import below, picture

    text_box(state, label=words.TEXT_LABEL, height=80)
    shown = picture.draw(state)
    below.lesson_cards()
    if shown is not None:
        below.questions(shown, picture.changed_reading)
        below.code(shown)
    below.model_list()


state = page_state("home", PARAMS, with_text=False)
lesson(words.TITLE, words.PROMISE, state)
body()
