"""What stands above the chapters on attention: the learner's text."""

from llmviz.course.ui import kit

READ_IT = ("steps", "masks", "heads", "trained")  # chapters that read the learner's text


def follow_old_links(state: kit.PageState) -> None:
    """Let old links to the translation, once in "trained", lead to it."""
    if state["look"] == "cross":
        state["part"], state["look"] = "cross", "gpt"


def draw(state: kit.PageState) -> None:
    """Show the box for the text above chapters that read it."""
    if state["part"] in READ_IT:
        kit.text_box(state, height=80)
