"""The search over all chapters and terms, and what this browser keeps of the way so far."""

from __future__ import annotations

from llmviz.course.components._shared.transport import Stored, nothing, pack, renderer


def finder(index: Stored, *, key: str = "finder") -> str | None:
    """Show the box of the search and the count of what was opened.

    index: what can be found (see ``ui.course``). Returns the place that the visitor has just chosen
    there, unchecked: a chapter such as ``attention/steps``, or a term such as ``glossary/softmax``.
    """
    result = renderer("finder")(data=pack({}, index), key=key, on_go_change=nothing)
    return result.get("go")
