"""What the chapters on training share: links to what stands in another chapter today."""

from llmviz.course.ui import kit


def follow_old_links(state: kit.PageState) -> None:
    """Let old links to surfaces, letters and models, once in "descent", lead to them."""
    if state["look"] != "one":
        state["part"], state["ways"], state["look"] = "optimizers", state["look"], "one"


def draw(state: kit.PageState) -> None:
    """Show the box for the text, where a chapter cuts it; the others read something else."""
    if state["part"] == "windows":
        kit.text_box(state)
