"""Parts of chapters that compute in the browser: what the app does with a visitor's own text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from llmviz.corpus import load_corpus
from llmviz.course.components._shared.transport import pack
from llmviz.course.document import texts_of
from llmviz.course.lessons.attention import words as attention
from llmviz.course.lessons.attention.heads import words as sentences
from llmviz.course.lessons.attention.trained import words as trained
from llmviz.course.lessons.embeddings.similarity import words as similarity
from llmviz.course.lessons.home import REAL_TEXT, TEXT
from llmviz.course.lessons.home import words as home
from llmviz.course.lessons.real.defaults import FRANCE, ITALY
from llmviz.course.lessons.real.travels import words as travels
from llmviz.course.lessons.sampling import words as sampling
from llmviz.course.lessons.sampling.params import PROMPT
from llmviz.course.lessons.sampling.temperature import chapter as temperature
from llmviz.course.lessons.tokenization.cut import words as cut
from llmviz.course.site.elements import Setting
from llmviz.course.site.files import Files
from llmviz.course.site.live import live_html, live_script, packed_model, packed_tokenizer
from llmviz.course.site.live.words import words as live
from llmviz.course.ui.course import HOME
from llmviz.course.ui.furniture import words as furniture
from llmviz.course.ui.get_model import REAL
from llmviz.course.ui.state import DEFAULT_TEXT
from llmviz.tokenizers import get_tokenizer


class Own(NamedTuple):
    """A chapter's own part: its script, page and data, and how links name it.

    link: the name of the words for it. script: the file, and the global object that it fills. data:
    what its script is told. example: the text whose picture the stage shows; "" for a part that
    stands below the stage. pictures: of the app that it draws. code: files that the part shows, by
    the names of its slots. real: what of a real model it can load, the whole of it or its tokenizer
    alone; "" for nothing. real_text: that one's example, where it is another. own: what stands over
    another text than the example: `title`, `hooks` by the model that reads it, and the names of
    `sections` that are then left out.
    """

    script: tuple[str, str]
    page: str
    link: str
    data: Callable[[Files], dict[str, Any]]
    example: str = ""
    pictures: Sequence[str] = ()
    code: Mapping[str, str] = {}
    real: Literal["", "model", "tokenizer"] = ""
    real_text: str = ""
    own: Callable[[], dict[str, Any]] = dict

    @property
    def named(self) -> str:
        """What it does, as a part of a sentence."""
        return texts_of(live)[self.link]


def _names(files: Files) -> dict[str, Any]:
    """The names that the bundled runs learned from, and those that were held out of them."""
    learned, held = load_corpus("names").split()
    return {"names": files.data(pack({"learned": list(learned), "held": list(held)}))}


def _stories(files: Files) -> dict[str, Any]:
    return {"model": files.data(packed_model(STORIES, int8=True))}


def _softmax(files: Files) -> dict[str, Any]:
    """The model, and the words and stops of the picture of softmax."""
    words = temperature.words
    said = {"words": dict(words.softmax), "captions": dict(words.caption)}
    return {**_stories(files), **said, "stops": [*temperature.STOPS, None]}


def _heads(files: Files) -> dict[str, Any]:
    """The model, and what is said of a head and of the answer without it."""
    said = {"captions": dict(trained.caption), "look": dict(trained.look)}
    return {**_stories(files), **said, "headName": attention.head_name}


def _said(hook: str = "", title: str = "") -> dict[str, Any]:
    return {"title": title, "hooks": {"small": hook, "real": hook}}


def _machine() -> dict[str, Any]:
    """Which model reads, by the model; its questions are about the example."""
    models = {"small": STORIES, "real": REAL}
    hooks = {on: home.purposes[model] for on, model in models.items()}
    return {"hooks": hooks, "sections": [home.questions.title, home.code.title]}


STORIES = "tiny-world-gpt"  # reads texts of any kind, in words and parts of words


def fields() -> set[str]:
    """The settings for which an own part has a field, as the app calls them."""
    sentences = {travels.own_label, travels.other_label}
    return {furniture.your_text, sampling.prompt_prompt_label} | sentences


OWN = {
    "home": Own(
        ("machine_view.js", "llmvizMachine"),
        "machine.html",
        "on_own",
        _stories,
        TEXT,
        ["machine"],
        real="model",
        real_text=REAL_TEXT,
        own=_machine,
    ),
    "tokenization/cut": Own(
        ("cut_view.js", "llmvizCut"),
        "cut.html",
        "on_own",
        lambda files: {"tokenizer": files.data(packed_tokenizer(get_tokenizer("bpe")))},
        DEFAULT_TEXT,
        ["token_strip"],
        real="tokenizer",
        real_text=REAL_TEXT,
        own=lambda: _said(live.cut_hook, cut.no_kitten),
    ),
    "embeddings/similarity": Own(
        ("alike_view.js", "llmvizAlike"),
        "alike.html",
        "on_own",
        _stories,
        " kitten cow cat",
        ["matrix_view"],
        real="model",
        real_text=" London France Paris",
        own=lambda: _said(title=similarity.title_words),
    ),
    "attention/steps": Own(
        ("steps_view.js", "llmvizAttention"),
        "steps.html",
        "on_own",
        _stories,
        "The cat sat",
        ["matrix_view"],
        own=lambda: _said(live.steps_hook),
    ),
    "attention/trained": Own(
        ("trained_view.js", "llmvizHeads"),
        "trained.html",
        "on_own",
        _heads,
        sentences.texts["book"],
        ["look_back", "heads_grid"],
        real="model",
        real_text=REAL_TEXT,
        own=lambda: _said(trained.hook["other"], trained.title_own),
    ),
    "real/travels": Own(
        ("travels_view.js", "llmvizTravels"),
        "travels.html",
        "on_own",
        _stories,
        FRANCE,
        real="model",
        own=lambda: _said(travels.hook_own, travels.title_own),
    ),
    "sampling/temperature": Own(
        ("temperature_view.js", "llmvizTemperature"),
        "temperature.html",
        "on_own",
        _softmax,
        PROMPT,
        ["softmax_view"],
        real="model",
        real_text=REAL_TEXT,
    ),
    "training/curves": Own(
        ("train_view.js", "llmvizTrain"),
        "train.html",
        "train_here",
        _names,
        code={"code": "gpt_backward.js", "training": "learning.js"},
    ),
}
OWN["training/teach"] = OWN["training/curves"]  # the stop of the hour
_LEAD = re.compile(r"<h1>.*?</h1>\s*<div.*?</div>", re.DOTALL)


def own_part(
    files: Files, name: str, html: str, settings: Sequence[Setting] = ()
) -> tuple[str, dict[str, Any] | None]:
    """Return a chapter's HTML with its own part, and what its script is told.

    The part stands over the stage, whose place it takes for another text, or under it. settings: of
    the chapter, which say whether its stage shows the real model.
    """
    if name not in OWN:
        return html, None
    own = OWN[name]
    entry, holder = own.script
    path = f"assets/{entry.removesuffix('_view.js')}.js"
    files.write(path, live_script(entry, holder))
    for picture in own.pictures:
        files.view(picture)
    real = files.real if own.real else None
    link = files.real.link("home/") if files.real and name == HOME else ""
    shows_real = name.startswith("real/") or any(
        (setting.value or "").split(" ")[0] == REAL for setting in settings
    )
    example = own.real_text if shows_real and own.real_text else own.example
    texts = {
        "example": example,
        "other": ITALY,
        "real": link,
        "real_title": real.title if real else "",
    }
    inside = live_html(own.page, own.code, **texts)
    lead = _LEAD.search(html)
    at = lead.end() if own.example and lead else html.index("<h2")
    part = f'<section class="own" id="own">{inside}</section>\n'
    told: dict[str, Any] = {"script": path, "name": holder, "pictures": list(own.pictures)}
    if real:
        given = {"root": "../" * name.count("/"), "text": own.real_text, "shown": shows_real}
        told["real"] = given | real.script_data(own.real)
    told["own"] = own.own()
    return f"{html[:at]}{part}{html[at:]}", told | own.data(files)
