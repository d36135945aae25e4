"""Any picture of a chapter in a notebook: the chapter runs here with your text and model."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

from llmviz.course.components._shared.transport import Sent
from llmviz.files.nearest import nearest
from llmviz.show.widget import HEIGHT, widget_of

if TYPE_CHECKING:
    from llmviz.course.ui.contents import Lesson


def lesson(place: str, picture: str, /, *, height: int = HEIGHT, **settings: Any) -> Any:
    """Return a picture of a chapter as a widget, a chart as a Plotly figure.

    place: the lesson and the chapter, such as `attention/steps`; `home` has no chapter.
    picture: its name, which its link in the app has as `embed=`.
    height: as for `picture`.
    settings: controls of the chapter by their names in its links, such as `text="The cat sat"`.
    What questions of the chapter cover is shown.
    Raises ImportError without anywidget, ValueError for what is not there and a setting that the
    chapter refuses.
    """
    from llmviz.course.ui.placed_question import OF_THE_APP, SILENT, elements, key_of, opened

    found, chapter = _chapter(place)
    link = _link(found, settings)
    logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").disabled = True
    app = opened(found.key, chapter, show="1", **link)
    pictures: dict[str, Any] = {}
    silent = []
    for element in elements(app.main):
        if element.type == "plotly_chart":
            pictures[key_of(element)] = element.proto.spec
        elif element.type == "bidi_component":
            name = element.proto.component_name.removeprefix("llmviz_")
            sent = Sent(name, key_of(element), bytes(element.proto.bytes))
            if name in SILENT:
                silent.append(sent)
            elif name not in OF_THE_APP:
                pictures[sent.key] = sent
    if picture not in pictures:
        near = ", ".join(nearest(picture, sorted(pictures)))
        raise ValueError(f"{place} has no picture {picture!r}; nearest are {near}")
    drawn = pictures[picture]
    if isinstance(drawn, Sent):
        return widget_of([*silent, drawn], height)
    import plotly.graph_objects as go

    return go.Figure(json.loads(drawn))


def _chapter(place: str) -> tuple[Lesson, str]:
    """Return a lesson and the key of its chapter. Raises ValueError: there is none."""
    from llmviz.course.lessons import LESSONS

    known: dict[str, tuple[Lesson, str]] = {}
    for found in LESSONS:
        if not found.keys:
            known[found.key] = (found, "")
        for name in found.keys:
            known[f"{found.key}/{name}"] = (found, name)
    if place not in known:
        near = ", ".join(nearest(place, sorted(known)))
        raise ValueError(f"there is no chapter {place!r}; nearest are {near}")
    return known[place]


def _link(found: Lesson, settings: dict[str, Any]) -> dict[str, str]:
    """Return settings as a link writes them; a text is taken as it is. Raises ValueError."""
    params = {control.key: control for control in found.params()}
    link = {}
    for key, value in settings.items():
        if key not in params:
            near = ", ".join(nearest(key, sorted(params)))
            raise ValueError(f"{found.key} has no setting {key!r}; nearest are {near}")
        param = params[key]
        plain = isinstance(value, str) and param.most is None
        written = value if plain else param.write(value)
        if written is None:
            raise ValueError(f"{key} is too long for a link")
        link[key] = written
    return link
