"""Parts of chapters that compute in the browser: what the app does with a visitor's own text."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from llmviz.corpus import load_corpus
from llmviz.course.components._shared.transport import pack
from llmviz.course.lessons.home import TEXT
from llmviz.course.lessons.sampling.params import PROMPT
from llmviz.course.lessons.sampling.temperature import chapter as temperature
from llmviz.course.site.files import Files
from llmviz.course.site.live import live_html, live_script, packed_model, packed_tokenizer
from llmviz.course.ui.state import DEFAULT_TEXT
from llmviz.pretrained import load_bundled
from llmviz.tokenizers import get_tokenizer


class Own(NamedTuple):
    """A chapter's own part: its script, page and data, and how links name it.

    script: the file, and the global object that it fills. data: what its script is told. example:
    the text whose picture the stage shows; "" for a part that stands below the stage. pictures:
    of the app that it draws. code: files that the part shows, by the names of its slots.
    """

    script: tuple[str, str]
    page: str
    link: str
    data: Callable[[Files], dict[str, Any]]
    example: str = ""
    pictures: Sequence[str] = ()
    code: Mapping[str, str] = {}


def _names(files: Files) -> dict[str, Any]:
    """The names that the bundled runs learned from, and those that were held out of them."""
    learned, held = load_corpus("names").split()
    return {"names": files.data(pack({"learned": list(learned), "held": list(held)}))}


def _stories(files: Files) -> dict[str, Any]:
    return {"model": files.data(packed_model(STORIES, int8=True))}


def _softmax(files: Files) -> dict[str, Any]:
    """The model, and the words and stops of the picture of softmax."""
    words = temperature.words
    size = load_bundled(STORIES)[1].vocab_size
    most = words.softmax["all"].format(n=f"{size:,}", entropy=f"{math.log(size):.2f}")
    stops = [*temperature.STOPS, None]
    said = {"words": {**words.softmax, "all": most}, "captions": dict(words.caption)}
    return {**_stories(files), **said, "stops": stops}


STORIES = "tiny-world-gpt"  # reads texts of any kind, in words and parts of words
FIELDS = {"Your text", "Prompt"}  # settings for which the own part has a field
OWN_TEXT = "on your own text, in your browser"
OWN = {
    "home": Own(
        ("machine_view.js", "llmvizMachine"), "machine.html", OWN_TEXT, _stories, TEXT, ["machine"]
    ),
    "tokenization/cut": Own(
        ("cut_view.js", "llmvizCut"),
        "cut.html",
        OWN_TEXT,
        lambda files: {"tokenizer": files.data(packed_tokenizer(get_tokenizer("bpe")))},
        DEFAULT_TEXT,
        ["token_strip"],
    ),
    "embeddings/similarity": Own(
        ("alike_view.js", "llmvizAlike"),
        "alike.html",
        OWN_TEXT,
        _stories,
        " kitten cow cat",
        ["matrix_view"],
    ),
    "attention/steps": Own(
        ("steps_view.js", "llmvizAttention"),
        "steps.html",
        OWN_TEXT,
        _stories,
        "The cat sat",
        ["matrix_view"],
    ),
    "sampling/temperature": Own(
        ("temperature_view.js", "llmvizTemperature"),
        "temperature.html",
        OWN_TEXT,
        _softmax,
        PROMPT,
        ["softmax_view"],
    ),
    "training/curves": Own(
        ("train_view.js", "llmvizTrain"),
        "train.html",
        "train one here, in your browser",
        _names,
        code={"code": "gpt_backward.js", "training": "learning.js"},
    ),
}
OWN["training/teach"] = OWN["training/curves"]  # the stop of the hour
_LEAD = re.compile(r"<h1>.*?</h1>\s*<div.*?</div>", re.DOTALL)


def own_part(files: Files, name: str, html: str) -> tuple[str, dict[str, Any] | None]:
    """Return a chapter's HTML with its own part, and what its script is told.

    The part stands over the stage, whose place it takes for another text, or under it.
    """
    if name not in OWN:
        return html, None
    own = OWN[name]
    entry, holder = own.script
    path = f"assets/{entry.removesuffix('_view.js')}.js"
    files.write(path, live_script(entry, holder))
    for picture in own.pictures:
        files.view(picture)
    inside = live_html(own.page, own.code, example=own.example)
    lead = _LEAD.search(html)
    at = lead.end() if own.example and lead else html.index("<h2")
    part = f'<section class="own" id="own">{inside}</section>\n'
    told = {"script": path, "name": holder, "pictures": list(own.pictures)}
    return f"{html[:at]}{part}{html[at:]}", told | own.data(files)
