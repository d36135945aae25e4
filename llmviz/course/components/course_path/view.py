"""A way through the course as a path: its stops in order, with minutes and what each needs."""

from __future__ import annotations

from llmviz.course.components._shared.transport import Stored, nothing, pack, renderer


def course_path(way: Stored, *, key: str) -> str | None:
    """Show a way; what the visitor's browser keeps as opened is ticked.

    way: its stops (see ``ui.course``). Returns the place that the visitor has just chosen,
    unchecked: a lesson, or a chapter such as ``attention/steps``.
    """
    result = renderer("course_path")(data=pack({}, way), key=key, on_go_change=nothing)
    return result.get("go")
