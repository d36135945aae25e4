"""The pictures of the lessons in a notebook: Jupyter, marimo, VS Code.

    from llmviz import show

    show.attention("tiny-world-gpt", "The cat sat")

Each is alive there, without a server of ours. They need `anywidget`; `ledger` is a Plotly figure.
"""

from llmviz.show.lesson import lesson
from llmviz.show.pictures import attention, curves, ledger, lens, sampler, tokens
from llmviz.show.widget import picture, saved_page

__all__ = [
    "attention",
    "curves",
    "ledger",
    "lens",
    "lesson",
    "picture",
    "sampler",
    "saved_page",
    "tokens",
]
