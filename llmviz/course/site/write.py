"""Writes the whole site: it is there when all of it is written, or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from llmviz.course.components._shared.transport import translations, unpack
from llmviz.course.document import ENGLISH, Sentence, language, texts_of
from llmviz.course.document.marks import unmarked
from llmviz.course.glossary import seen as seen_at
from llmviz.course.glossary import terms
from llmviz.course.lessons import LESSONS
from llmviz.course.lessons.glossary import words as glossary
from llmviz.course.lessons.home import words as home
from llmviz.course.site.elements import Body, plain
from llmviz.course.site.files import HERE, Files
from llmviz.course.site.live import MODELS, live_html, live_script, packed_model
from llmviz.course.site.live.words import words as live
from llmviz.course.site.own import OWN, STORIES, fields, own_part
from llmviz.course.site.real_page import real_page
from llmviz.course.site.visit import Visit, largest, looks, visit
from llmviz.course.site.words import words
from llmviz.course.ui.common import Parts
from llmviz.course.ui.contents import WAY, Lesson
from llmviz.course.ui.course import GLOSSARY, HOME, search_index, stops
from llmviz.course.ui.furniture import words as furniture
from llmviz.course.ui.placed_question import SILENT, elements
from llmviz.course.ui.prose import to_html
from llmviz.files.nearest import nearest
from llmviz.files.paths import ICON, LICENCE
from llmviz.files.whole import writing
from llmviz.training.files import whole_folder

REAL = "real"  # of these, the page that is there with a model alone
LIVE_PICTURES = ["machine", "heads_grid"]
LIVE = ("model", "parts", REAL)  # pages of the site alone, which compute in the browser
LARGEST = 8_000_000  # bytes, unpacked, that a page asks for without a click


@dataclass(frozen=True)
class Place:
    """One page of the site: its lesson, and its chapter; empty for a lesson without chapters.

    question: what stands at its head; before it is written, what its document begins with. part:
    the control that opens one of the chapter's parts, and its value; empty for what the chapter
    begins with. look: the state that one of its passages leads to.
    """

    lesson: Lesson
    chapter: str
    title: str
    question: str = field(default="", compare=False)
    part: tuple[str, str] | None = None
    look: str = ""

    @property
    def file(self) -> str:
        """Its file in the site's folder."""
        if self.look:
            name = hashlib.blake2b(self.look.encode(), digest_size=4).hexdigest()
            return f"{self.lesson.key}/{self.chapter}.look.{name}.html"
        if self.part:
            return f"{self.lesson.key}/{self.chapter}.{'.'.join(self.part)}.html"
        if self.chapter:
            return f"{self.lesson.key}/{self.chapter}.html"
        return "index.html" if self.lesson.key == HOME else f"{self.lesson.key}.html"

    @property
    def is_live(self) -> bool:
        """Whether the page computes in the browser, and is no chapter of the app."""
        return self.lesson.key == HOME and self.chapter in LIVE

    @property
    def name(self) -> str:
        """As links to the app name it."""
        return f"{self.lesson.key}/{self.chapter}" if self.chapter else self.lesson.key


class Written(NamedTuple):
    """A site that was written: how many pages, with parts and looks of chapters, and bytes."""

    pages: int
    bytes: int


def places(only: Sequence[str] = (), way: str = "", model: str = "") -> list[Place]:
    """Return the pages of a site in the order of the course.

    way: of the ways through the course, whose stops alone are written, and the whole machine.
    only: lessons, or chapters such as `attention/steps`; all if none is named. Home and the
    glossary are always there.
    model: of `get`, which a page of its own loads; "" for none.
    Raises ValueError: there is no such lesson or chapter.
    """
    found, told = [], texts_of(live)
    for lesson in LESSONS:
        if lesson.key in (HOME, GLOSSARY):  # other pages without chapters need a server
            found.append(Place(lesson, "", lesson.title))
        if lesson.key == HOME:
            found += [
                Place(lesson, key, told[f"{key}_title"], told[f"{key}_question"])
                for key in LIVE
                if model or key != REAL
            ]
        for chapter in lesson.chapters:
            question = unmarked(chapter.front.question)
            found.append(Place(lesson, chapter.key, chapter.title, question))
    if way:
        only = [f"{stop.lesson}/{stop.chapter}" for stop in stops(way)]
        found = [place for place in found if place.name != "home/parts"]
    known = {place.name for place in found} | {lesson.key for lesson in LESSONS}
    for wanted in only:
        if wanted not in known:
            near = ", ".join(nearest(wanted, sorted(known)))
            raise ValueError(f"there is no lesson or chapter {wanted!r}; nearest are {near}")
    always = {HOME, GLOSSARY, *only}
    return [place for place in found if not only or {place.lesson.key, place.name} & always]


def write_site(
    folder: Path,
    app: str,
    only: Sequence[str] = (),
    tell: Callable[[str], None] = print,
    way: str = "",
    model: str = "",
) -> Written:
    """Write the course into a new folder.

    only, way, model: as of `places`. A way stays in the browser that has opened it, for a time
    without a network.
    app: the address of the app, for its links; "": there are none. tell: is given a line for each
    page, and for each state of one that gets none.
    Raises ValueError where something has the folder's name, the address is none of the web, as
    `places` does, for a model that is not here or that no page computes, and where the folder
    cannot be written; nothing of the site is there then.
    """
    if folder.exists():
        raise ValueError(f"{folder} exists already; name a new folder, or remove it first")
    address = urlsplit(app)
    if app and (address.scheme not in ("http", "https") or not address.hostname):
        raise ValueError(f"the app's address begins with http:// or https://; got {app!r}")
    pages = places(only, way, model)
    real = real_page(model) if model else None
    if real:
        tell(real.size_line)
    with writing(str(folder)), _own_runs(), whole_folder(folder) as unfinished:
        files = Files(unfinished, kept=bool(way), real=real)
        files.write("assets/icon.svg", ICON.read_text("utf-8"))
        files.write("LICENSE", LICENCE.read_text("utf-8"))
        if real:
            real.shards.put(files.large)
        home_last = [*range(1, len(pages)), 0]  # it and the search tell what the others ask
        for number, at in enumerate(home_last, 1):
            tell(f"{number:3d} of {len(pages)}  {pages[at].name}")
            pages[at] = _write_chapter(files, pages, pages[at], app, tell, way)
        files.shared(_index(pages))
        if way:
            files.offline()
    return Written(files.pages, files.bytes)


@contextmanager
def _own_runs() -> Iterator[None]:
    """Show the runs that come with the project, and none of who writes the site."""
    before = os.environ.get("LLMVIZ_RUNS")
    with tempfile.TemporaryDirectory() as empty:
        os.environ["LLMVIZ_RUNS"] = empty
        try:
            yield
        finally:
            if before is None:
                del os.environ["LLMVIZ_RUNS"]
            else:
                os.environ["LLMVIZ_RUNS"] = before


def _index(pages: Sequence[Place]) -> dict[str, Any]:
    """What the search finds, of the pages that there are."""
    known = {place.name: place.question for place in pages}
    index = unpack(search_index().data)
    live = [
        {
            "place": place.name,
            "title": place.title,
            "question": place.question,
            "lesson": place.lesson.title,
            "more": [],
        }
        for place in pages
        if place.is_live
    ]
    chapters = [
        chapter | {"question": known[chapter["place"]]}
        for chapter in index["chapters"]
        if chapter["place"] in known
    ]
    return index | {"chapters": [*live, *chapters]}


def _write_chapter(
    files: Files,
    pages: Sequence[Place],
    place: Place,
    app: str,
    tell: Callable[[str], None],
    way: str = "",
) -> Place:
    """Write a page, those of its other parts, and those of the states that its passages lead to.

    tell: is given a line for each state that gets no page. way: that the page says it is a stop of.
    Returns the page with the question that it asks.
    """
    if place.lesson.key == GLOSSARY or place.is_live:
        _write_page(files, pages, place, app, None, {})
        return place
    on_way = {WAY.key: way} if way else {}
    if place.name == HOME:  # the model that reads in its page
        on_way["model"] = STORIES

    def run(link: Mapping[str, str], *, told: bool = False) -> Visit:
        return visit(place.lesson.key, place.chapter, {**link, **on_way}, told=told)

    seen = run({})
    heads = [part for part in elements(seen.main) if part.type == "title"]
    place = replace(place, question=plain(heads[0].value)) if heads else place
    parts, _ = _parts(place, seen.parts)
    known = {part.part: part for part in parts if part.part}
    known |= {(key, opens.first): place for key, opens in seen.parts.items()}
    files_of: dict[str, str] = {}
    there: list[tuple[Place, Visit]] = []
    for look in looks(seen):
        link = parse_qsl(look, keep_blank_values=True)
        if len(link) == 1 and link[0] in known:
            files_of[look] = known[link[0]].file
            continue
        state = replace(place, look=look)
        try:
            found = run(dict(link), told=True)
        except ValueError as error:  # a state that the chapter's own text does not have
            tell(f"    without {look}: {error}")
            continue
        if (size := largest(found)) <= LARGEST:
            there.append((state, found))
            files_of[look] = state.file
        else:
            tell(f"    without {look}: its picture has {size / 1e6:.1f} MB")
    _write_page(files, pages, place, app, seen, files_of)
    for part in parts:
        found = run(dict([part.part] if part.part else []))
        _write_page(files, pages, part, app, found, files_of)
    for state, found in there:
        _write_page(files, pages, state, app, found, files_of)
    return place


def _write_page(
    files: Files,
    pages: Sequence[Place],
    place: Place,
    app: str,
    seen: Visit | None,
    states: Mapping[str, str],
) -> None:
    """Write a page. seen: what it shows. states: by the look that leads there, files."""
    address = _address(app, place)
    html, title = "", place.title
    told: dict[str, Any] = {"looks": dict(states), "offline": files.kept}
    if place.lesson.key == GLOSSARY:
        html = _glossary(files, pages, place)
    elif place.is_live:
        html, told["live"] = _live(files, place)
    elif seen is not None:
        body = Body(seen, address)
        _, body.ways = _parts(place, seen.parts)
        body.instead_of["course_path"] = _way(pages)
        body.left_out = {"_shared.course@home"}
        if place.name == HOME:
            body.left_out |= {id(part) for part in elements(seen.main) if _leads_away(part, files)}
        whole = not place.part and not place.look
        if whole and place.name in OWN and OWN[place.name].example:
            body.said_elsewhere = fields()
        html, told["hands"] = body.html(), body.hands
        if files.kept:  # of a lesson's other chapters there are none here
            html = re.sub(_chapter_of(), "", html, count=1)
        if whole:
            html, told["live"] = own_part(files, place.name, html, body.settings)
        if place.part:
            title += f": {plain(seen.parts[place.part[0]].names[place.part[1]])}"
        told["pictures"] = [files.picture(*picture) for picture in body.pictures]
        told["charts"] = [files.chart(chart) for chart in body.charts]
    files.pages += 1
    files.write(place.file, page_html(pages, place, address, title, html, told))


def _chapter_of() -> str:
    """What says in a page's head which chapter of its lesson it is, as a pattern."""
    of = re.escape(furniture.place["chapter"].removeprefix("{lesson}"))
    return re.sub(r"\\\{\w+\\\}", r"\\d+", of)


def _leads_away(part: Any, files: Files) -> bool:
    """Whether a part of the home page is about pages that this site has not, or about a server."""
    if getattr(part, "label", "") == home.longer:
        return files.kept  # a way alone has no page of the longer ones
    prose = [to_html(text) for text in (home.tests, home.more_models)]
    server = home.device.partition("{")[0]
    body = getattr(part.proto, "body", "")
    return any(text in body for text in prose) or (part.type == "caption" and server in body)


def page_html(
    pages: Sequence[Place],
    place: Place,
    address: str,
    title: str,
    body: str,
    told: Mapping[str, Any],
) -> str:
    """Return a page. address: where the app shows it; "" for nowhere. told: to its script."""
    root = "../" * place.file.count("/")
    data = {
        "root": root,
        "file": place.file,
        "app": address,
        "silent": SILENT,
        "chapters": {
            page.name: page.file for page in pages if page.chapter and not (page.part or page.look)
        },
        **({} if language() == ENGLISH else {"said": _said(), "inPictures": translations()}),
        **{"looks": {}, "pictures": [], "charts": [], "hands": {}, "live": None, **told},
    }
    at = pages.index(replace(place, part=None, look=""))
    return _template().render(
        title=title,
        language=language(),
        said=texts_of(words),
        finder=furniture.finder,
        leads=furniture.leads,
        description=place.question or place.title,
        lesson=place.lesson.title if place.is_live else "",  # a chapter names its own
        root=root,
        menu=_menu(pages, place),
        body=Markup(body),
        back=pages[at - 1] if at else None,
        onward=_onward(pages, at),
        app=address,
        own_text=place.lesson.key != GLOSSARY and not place.is_live,
        own_link=_own_link(place),
        live=data["live"] and not place.is_live,
        licence=LICENCE.read_text("utf-8").splitlines()[2],
        data=Markup(json.dumps(data).replace("<", "\\u003c")),
        scripts=[],
    )


def _parts(place: Place, known: Mapping[str, Parts]) -> tuple[list[Place], dict[str, str]]:
    """The other parts of a chapter, and by the control that opens them, the links to all."""
    others, ways = [], {}
    for key, parts in known.items():
        chosen = place.part[1] if place.part and place.part[0] == key else parts.first
        links = []
        for value, name in parts.names.items():
            page = replace(place, look="", part=None if value == parts.first else (key, value))
            if page.part:
                others.append(page)
            here = ' aria-current="page"' if value == chosen else ""
            file = escape(Path(page.file).name)
            links.append(f'<a href="{file}"{here}>{escape(plain(name))}</a>')
        ways[key] = (
            f'<nav class="parts" aria-label="{escape(words.chapter_parts)}">{"".join(links)}</nav>'
        )
    return ([] if place.part else others), ways


def _live(files: Files, place: Place) -> tuple[str, dict[str, Any]]:
    """A page that computes in the browser, and what its script is told."""
    placed: dict[str, Any] = {}
    if place.chapter == "parts":
        files.write("assets/parts.js", live_script("parts_view.js", "llmvizSteps"))
        body = live_html("parts.html", {"code": "parts.js"})
        placed = {"script": "assets/parts.js", "name": "llmvizSteps"}
    elif place.chapter == REAL and files.real:
        files.write("assets/real.js", live_script("real_view.js", "llmvizReal"))
        body = files.real.html()
        placed = {"script": "assets/real.js", "name": "llmvizReal"}
        placed |= {"root": "../" * place.file.count("/"), "example": files.real.example}
        placed["manifest"] = files.real.shards.manifest
    else:
        files.write("assets/live.js", live_script("view.js", "llmvizLive"))
        for name in LIVE_PICTURES:
            files.view(name)
        models = [
            model._asdict() | {"data": files.data(packed_model(model.name, int8=model.int8))}
            for model in MODELS
        ]
        code = {"code": "model.js", "sampler": "sampling.js"}
        body = live_html("page.html", code, real=files.real.link("") if files.real else "")
        placed = {"script": "assets/live.js", "name": "llmvizLive", "models": models}
        placed["pictures"] = LIVE_PICTURES
    where = f'<div class="lv-opening"><p>{escape(place.title)}</p></div>'
    return f"{where}<h1>{escape(place.question)}</h1>{body}", placed


@cache
def _template() -> Any:
    files = FileSystemLoader(HERE, encoding="utf-8")
    room = Environment(
        loader=files,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return room.get_template("page.html")


def _own_link(place: Place) -> dict[str, str] | None:
    """The link to what computes on a visitor's own text, from the chapter or one of its states."""
    whole = replace(place, part=None, look="")
    if place.name not in OWN or (place == whole and OWN[place.name].example):
        return None  # the part is on the first screen
    file = "" if place == whole else Path(whole.file).name
    return {"href": f"{file}#own", "text": OWN[place.name].named.capitalize()}


def _address(app: str, place: Place) -> str:
    if not app:
        return ""
    listed = place.chapter in place.lesson.keys
    link = ({"part": place.chapter} if listed else {}) | dict([place.part] if place.part else [])
    link |= dict(parse_qsl(place.look, keep_blank_values=True))
    query = f"?{urlencode(link)}" if link else ""
    return f"{app.rstrip('/')}/{'' if place.lesson.key == HOME else place.lesson.key}{query}"


def _said() -> dict[str, str]:
    """What scripts of the pages say, by its English."""
    none = {texts_of(furniture, ENGLISH)["finder"]["none"]: furniture.finder["none"]}
    own = [(texts_of(said_in, ENGLISH), texts_of(said_in)) for said_in in (words, live)]
    told = {
        text: here[name]
        for english, here in own
        for name, text in english.items()
        if isinstance(text, Sentence)
    }
    return translations() | none | told


def _onward(pages: Sequence[Place], at: int) -> dict[str, str] | None:
    if at + 1 == len(pages):
        return None
    after = pages[at + 1]
    new = after.lesson.key != pages[at].lesson.key
    line = furniture.leads["lesson" if new else "next"]
    label = line.format(title=after.lesson.title if new else after.title)
    return {"file": after.file, "label": label}


def _menu(pages: Sequence[Place], here: Place) -> list[dict[str, Any]]:
    menu: list[dict[str, Any]] = []
    for place in pages:
        opened = place.lesson.key == here.lesson.key
        if not menu or menu[-1]["key"] != place.lesson.key:
            menu.append(
                {
                    "key": place.lesson.key,
                    "title": place.lesson.title,
                    "file": place.file,
                    "open": opened,
                    "here": place == here and not place.chapter,
                    "chapters": [],
                }
            )
        if place.chapter:
            menu[-1]["chapters"].append(
                {
                    "title": place.title,
                    "file": place.file,
                    "here": place == replace(here, part=None, look=""),
                }
            )
    return menu


def _way(pages: Sequence[Place]) -> str:
    """All lessons with their chapters, as the home page lists them."""
    stops = []
    for entry in _menu(pages, pages[0]):
        if entry["key"] in (HOME, GLOSSARY):
            continue
        lesson = next(known for known in LESSONS if known.key == entry["key"])
        chapters = "".join(
            f'<li><a href="{escape(chapter["file"])}">{escape(chapter["title"])}</a>'
            f"{_own(chapter)}</li>"
            for chapter in entry["chapters"]
        )
        # Of a lesson that is here in part, its chapters' questions say more than its card.
        asked = [page.question for page in pages if page.lesson == lesson]
        about = unmarked(lesson.card) if len(asked) == len(lesson.chapters) else " ".join(asked)
        stops.append(
            f"<li><h3>{escape(lesson.title)}</h3><p>{escape(about)}</p><ol>{chapters}</ol></li>"
        )
    return f'<ul class="way">{"".join(stops)}</ul>'


def _own(chapter: Mapping[str, str]) -> str:
    """What a chapter of the list computes in the browser, as a link after its name."""
    own = OWN.get(chapter["file"].removesuffix(".html"))
    if not own:
        return ""
    if own.example:  # it stands on the first screen
        return live.does.format(link=escape(own.named))
    link = f'<a href="{escape(chapter["file"])}#own">{escape(own.named)}</a>'
    return live.also.format(link=link)


def _glossary(files: Files, pages: Sequence[Place], place: Place) -> str:
    """The terms, each with a link to where it is seen, if that is a page of this site."""
    chapters, places_of = {page.name: page for page in pages}, seen_at()
    listed = "".join(
        f'<dt id="{quote(name)}">{escape(name)}</dt>'
        f"<dd>{escape(text)}{_see(files, chapters, places_of.get(name, ''))}</dd>"
        for name, text in terms().items()
    )
    return f'<h1>{escape(place.title)}</h1><dl class="terms">{listed}</dl>'


def _see(files: Files, chapters: Mapping[str, Place], at: str) -> str:
    """The link to a chapter in a state, or to the chapter alone; "" if it is not in this site."""
    name, _, state = at.partition("?")
    chapter = chapters.get(name)
    if chapter is None:
        return ""
    ways = [replace(chapter, look=state)] if state else []
    ways += [replace(chapter, part=part) for part in parse_qsl(state)[:1]]
    file = next((way.file for way in ways if files.has(way.file)), chapter.file)
    label = glossary.see.format(chapter=chapter.title)
    return f' <a class="see" href="{escape(file)}">{escape(label)}</a>'
