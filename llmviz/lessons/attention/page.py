"""What stands above the chapters on attention: the learner's text."""

from llmviz.ui.shell import text_box
from llmviz.ui.state import PageState


def draw(state: PageState) -> None:
    """Show the box for the text; old links to the translation, once in "trained", lead to it."""
    if state["look"] == "cross":
        state["part"], state["look"] = "cross", "gpt"
    text_box(state, height=80)
