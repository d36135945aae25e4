"""A picture of the lessons as a widget of a notebook, and as a page of its own.

The widget needs `anywidget`. Where no widget can run, as in a notebook that was saved as HTML, the
same picture stands as a page in a frame: alive, with nothing to fetch.
"""

from __future__ import annotations

import base64
import json
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from llmviz.course.components._shared.bundle import script
from llmviz.course.components._shared.saver.page import outside_script, page_template
from llmviz.course.components._shared.transport import (
    Sent,
    collected,
    parts_at,
    parts_of,
    whole_style,
)
from llmviz.files.whole import write_whole

NEEDED = "pictures in a notebook need anywidget: pip install anywidget"
HEIGHT = 560  # pixels of the frame of a picture that is no widget
_EXPORT = re.compile(r"^export default function", re.MULTILINE)


def picture(component: Callable[..., Any], *given: Any, height: int = HEIGHT, **named: Any) -> Any:
    """Return a component of `llmviz.course.components` as a widget, drawn with what it is given.

    height: of the frame in a notebook that was saved as HTML, in pixels. Its `state` holds what the
    hand has set, by the component's own names.
    Raises ImportError without anywidget, ValueError for what the component refuses.
    """
    key = f"{getattr(component, '__name__', 'picture')}.{uuid.uuid4().hex[:8]}"
    with collected() as sent:
        component(*given, key=key, **named)
    return widget_of(sent, height)


def widget_of(sent: list[Sent], height: int = HEIGHT) -> Any:
    """Return a widget of what components were sent. Raises ImportError without anywidget."""
    stored = {
        address: parts_at[address].data for view in sent for address in parts_of(view.message)
    }
    return _widget_class()(sent, stored, height)


def saved_page(
    sent: Sequence[Sent],
    stored: Mapping[str, bytes],
    heading: str = "",
    caption: Sequence[str] = (),
    settings: Sequence[tuple[str, str]] = (),
) -> str:
    """Return a page with pictures alive that needs nothing else, as the app's menu makes it."""
    scripts = (
        f'<script type="module">\n{_as_view(view.name, at)}\n</script>'
        for at, view in enumerate(sent)
    )
    pictures = [
        {
            "name": f"llmviz_{view.name}",
            "key": view.key,
            "css": whole_style(view.name),
            "message": base64.b64encode(view.message).decode(),
            "lasting": {"told": {}, "reported": {}, "remembered": []},
        }
        for view in sent
    ]
    saved = {
        "title": " · ".join(filter(None, (heading, "llmviz"))),
        "heading": heading,
        "caption": list(caption),
        "settings": [list(pair) for pair in settings],
        "link": "",
        "pictures": pictures,
        "parts": {name: base64.b64encode(part).decode() for name, part in stored.items()},
    }
    data = json.dumps(saved).replace("<", "\\u003c")
    page = page_template().replace("/*saved*/", data)
    return page.replace("<!--scripts-->", "\n".join(scripts))


def _as_view(name: str, at: int) -> str:
    return _EXPORT.sub(f"globalThis.llmvizViews[{at}] = function", script(name))


@cache
def _script(names: tuple[str, ...]) -> str:
    """Return one module with the scripts of components, each in a scope of its own."""
    views = [
        f"globalThis.llmvizViews[{json.dumps(name)}] ??= (() => {{\n"
        f"{_EXPORT.sub('const view = function', script(name))}\nreturn view;\n}})();\n"
        for name in names
    ]
    own = Path(__file__).with_name("widget.js").read_text("utf-8")
    return "\n".join(["globalThis.llmvizViews ??= {};", outside_script(), *views, own])


@cache
def _widget_class() -> type:
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise ImportError(NEEDED) from error

    class Picture(anywidget.AnyWidget):
        """A picture of the lessons; `state` is what the hand has set there."""

        pictures = traitlets.List().tag(sync=True)
        messages = traitlets.List(traitlets.Bytes()).tag(sync=True)
        parts = traitlets.Dict().tag(sync=True)
        state = traitlets.Dict().tag(sync=True)

        def __init__(self, sent: list[Sent], stored: dict[str, bytes], height: int) -> None:
            self._esm = _script(tuple(sorted({view.name for view in sent})))
            self._sent, self._stored, self._height = sent, stored, height
            super().__init__(
                pictures=[
                    {
                        "name": f"llmviz_{view.name}",
                        "view": view.name,
                        "key": view.key,
                        "css": whole_style(view.name),
                    }
                    for view in sent
                ],
                messages=[view.message for view in sent],
                parts=stored,
            )

        def page(self, heading: str = "", caption: Sequence[str] = ()) -> str:
            """Return a page with this picture alive, which needs no network."""
            return saved_page(self._sent, self._stored, heading, caption)

        def save(self, path: str | Path, heading: str = "", caption: Sequence[str] = ()) -> Path:
            """Write that page to a file, whole or not at all."""
            path = Path(path)
            page = self.page(heading, caption)
            write_whole(path, lambda file: file.write_text(page, encoding="utf-8"))
            return path

        def _repr_mimebundle_(self, **given: Any) -> Any:
            known = super()._repr_mimebundle_(**given)
            data, about = known if isinstance(known, tuple) else (known or {}, {})
            frame = (
                f'<iframe srcdoc="{escape(self.page())}" width="100%" height="{self._height}" '
                'style="border:0" title="llmviz"></iframe>'
            )
            return {**data, "text/html": frame}, about

    return Picture
