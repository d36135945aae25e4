"""The page that a picture is saved as. The menu of the pictures is in saver.js."""

from __future__ import annotations

from functools import cache
from html import escape
from pathlib import Path

from llmviz.course.components._shared.bundle import joined
from llmviz.course.figures.theme import INK, PRIMARY, Mode
from llmviz.paths import LICENCE

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
