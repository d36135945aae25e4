"""What stands above the chapters on attention: the learner's text."""

from llmviz.ui.shell import text_box
from llmviz.ui.state import PageState


def draw(state: PageState) -> None:
    """Show the box for the text."""
    text_box(state, height=80)
