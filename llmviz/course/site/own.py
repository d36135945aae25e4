"""Parts of chapters that compute in the browser: what the app does with a visitor's own text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from llmviz.corpus import load_corpus
from llmviz.course.components._shared.transport import pack
from llmviz.course.site.files import Files
from llmviz.course.site.live import live_html, live_script, packed_model, packed_tokenizer


class Own(NamedTuple):
    """A chapter's own part: its script, page and data, and the link at the chapter's top.

    script: the file, and the global object that it fills. code: files that the part shows, by the
    names of its slots. data: what its script is told.
    """

    script: tuple[str, str]
    page: str
    link: str
    data: Callable[[Files], dict[str, Any]]
    code: Mapping[str, str]


def _names(files: Files) -> dict[str, Any]:
    """The names that the bundled runs learned from, and those that were held out of them."""
    learned, held = load_corpus("names").split()
    return {"names": files.data(pack({"learned": list(learned), "held": list(held)}))}


def _stories(files: Files) -> dict[str, Any]:
    return {"model": files.data(packed_model(STORIES, int8=True))}


STORIES = "tiny-world-gpt"  # reads texts of any kind, in words and parts of words
OWN_TEXT = "On your own text, in your browser"
OWN = {
    "tokenization/cut": Own(
        ("cut_view.js", "llmvizCut"),
        "cut.html",
        OWN_TEXT,
        lambda files: {"tokenizer": files.data(packed_tokenizer(STORIES)), "whose": STORIES},
        {},
    ),
    "embeddings/similarity": Own(
        ("alike_view.js", "llmvizAlike"), "alike.html", OWN_TEXT, _stories, {}
    ),
    "attention/steps": Own(
        ("steps_view.js", "llmvizAttention"), "steps.html", OWN_TEXT, _stories, {}
    ),
    "sampling/temperature": Own(
        ("temperature_view.js", "llmvizTemperature"), "temperature.html", OWN_TEXT, _stories, {}
    ),
    "training/curves": Own(
        ("train_view.js", "llmvizTrain"),
        "train.html",
        "Train one here, in your browser",
        _names,
        {"code": "gpt_backward.js", "training": "learning.js"},
    ),
}


def own_part(files: Files, name: str, html: str) -> tuple[str, dict[str, Any] | None]:
    """Return a chapter's HTML with its own part under the stage, and what its script is told."""
    if name not in OWN:
        return html, None
    own = OWN[name]
    entry, holder = own.script
    path = f"assets/{entry.removesuffix('_view.js')}.js"
    files.write(path, live_script(entry, holder))
    part = f'<section class="own" id="own">{live_html(own.page, **own.code)}</section>\n'
    before, heading, after = html.partition("<h2")
    return f"{before}{part}{heading}{after}", {"script": path, "name": holder} | own.data(files)
