"""What the chapters on training share: links to what stands in another chapter today."""

from llmviz.course.ui import kit


def follow_old_links(state: kit.PageState) -> None:
    """Let old links to surfaces, letters and models, once in "descent", lead to them."""
    if state["look"] != "one":
        state["part"], state["ways"], state["look"] = "optimizers", state["look"], "one"
