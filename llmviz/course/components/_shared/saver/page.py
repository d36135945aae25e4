"""What a saved picture's page consists of: its template, and what it needs of Plotly's script.

The menu of the pictures is in saver.js. All of the script is 4.8 MB, most charts need 1.5.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from html import escape
from pathlib import Path

import plotly

from llmviz.course.components._shared.bundle import joined
from llmviz.course.figures.theme import INK, PRIMARY, Mode
from llmviz.files.paths import DATA, LICENCE

WHOLE = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
CARTESIAN = DATA / "plotly-cartesian.min.js"
# The kinds of traces that it draws.
DRAWN = frozenset({"bar", "box", "contour", "heatmap", "histogram", "histogram2d"})
DRAWN |= {"histogram2dcontour", "image", "pie", "scatter", "scatterternary", "violin"}


def script_for(kinds: Iterable[str]) -> Path:
    """Return the smallest script here that draws all these kinds of traces.

    >>> script_for(["bar", "scatter"]).name, script_for(["scatter3d"]).name
    ('plotly-cartesian.min.js', 'plotly.min.js')
    """
    return CARTESIAN if DRAWN.issuperset(kinds) else WHOLE


PAGE = Path(__file__).with_name("page.html")
FONT = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif"
CODE_FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"


@cache
def page_template() -> str:
    """Return the page that a picture is saved as, before its scripts and data are put in."""
    page = PAGE.read_text("utf-8").replace("/*theme*/", theme_rules())
    page = page.replace("/*outside*/", outside_script())
    return page.replace("/*licence*/", escape(LICENCE.read_text("utf-8")))


def outside_script() -> str:
    """Return the function that shows a picture outside of the app."""
    return f"(() => {{\n{joined(PAGE.with_name('outside.js'))}\n}})();"


def theme_rules() -> str:
    """Return the colours and fonts of a page outside of the app, as rules of a style."""

    def rules(mode: Mode) -> str:
        ink = INK[mode]
        return (
            f"--st-background-color: {ink['surface']}; --st-primary-color: {PRIMARY[mode]}; "
            f"--ink: {ink['ink']}; --muted: {ink['muted']}; color-scheme: {mode};"
        )

    return (
        f":root {{ --st-font: {FONT}; --st-code-font: {CODE_FONT}; {rules('light')} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {rules('dark')} }} }}\n"
        f":root[data-theme=light] {{ {rules('light')} }}\n"
        f":root[data-theme=dark] {{ {rules('dark')} }}"
    )
