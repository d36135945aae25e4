"""What stands above the chapters on attention: the learner's text."""

from llmviz.course.ui import kit

HAVE_SOURCES = ("steps", "masks", "heads")  # of which the learner's text, in a model, is one
READ_IT = ("steps", "masks", "heads", "trained")  # chapters that read the learner's text


def follow_old_links(state: kit.PageState) -> None:
    """Let old links to the translation, once in "trained", lead to it."""
    if state["look"] == "cross":
        state["part"], state["look"] = "cross", "gpt"


def draw(state: kit.PageState) -> None:
    """Show the box for the text above chapters that read it; what is typed there is then read."""
    if state["part"] in READ_IT:
        reads = state.setter(source="model") if state["part"] in HAVE_SOURCES else None
        kit.text_box(state, height=80, then=reads)
