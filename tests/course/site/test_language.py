"""Sheets and the site in another language: their own words, and links that say which."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from llmviz.course.components.words import words as pictures
from llmviz.course.document import languages, texts_of
from llmviz.course.lessons import LESSONS
from llmviz.course.site import live, write
from llmviz.course.site.live.words import words as live_words
from llmviz.course.site.words import words
from llmviz.course.ui import worksheet
from llmviz.course.ui.furniture import words as furniture

LESSON = next(lesson for lesson in LESSONS if lesson.key == "tokenization")


@pytest.fixture
def spanish(monkeypatch):
    monkeypatch.setattr(languages, "_asks", lambda: "es")


def test_a_worksheet_is_in_the_language_that_was_asked_for(spanish, tmp_path):
    sheet, answers = worksheet.write_sheets(LESSON, tmp_path)
    html = sheet.read_text("utf-8")
    assert '<html lang="es">' in html and "Tu razón" in html and "part=cut&amp;lang=es" in html
    assert "¿Por qué un modelo no puede ver cuántas t hay en kitten?" in html
    assert "Your reason" not in html and "soluciones" in answers.read_text("utf-8")
    english = [page.key for page in worksheet.pages_of(LESSON) if page.note]
    assert english == ["compare", "learn", "merge"]
    assert html.count(texts_of(furniture, "es")["in_english"]) == len(english)


def page(place: write.Place) -> str:
    return write.page_html([place], place, "", place.title, "", {})


def test_a_page_of_the_site_is_too(spanish):
    place = next(one for one in write.places(["tokenization/cut"]) if one.chapter == "cut")
    html = page(place)
    assert "kitten?" in html  # what a search engine shows
    data = json.loads(re.search(r'id="page">(.*?)</script>', html, re.DOTALL)[1])
    assert '<html lang="es">' in html and ">Lecciones<" in html
    assert data["said"]["Right."] == "Correcto."


def test_in_english_a_page_says_nothing_of_languages():
    place = next(one for one in write.places(["tokenization/cut"]) if one.chapter == "cut")
    html = page(place)
    assert '<html lang="en">' in html and '"said"' not in html


def test_a_stop_of_the_hour_is_no_chapter_of_its_lesson_in_any_language(spanish):
    head = furniture.place["chapter"].format(lesson="Muestreo", at=2, count=7)
    assert head != "Muestreo" and re.sub(write._chapter_of(), "", f"{head} · x") == "Muestreo · x"


def test_what_live_pages_say_stands_in_their_document():
    scripts = "".join(path.read_text("utf-8") for path in live.HERE.glob("*.js"))
    pages = "".join(path.read_text("utf-8") for path in live.HERE.glob("*.html"))
    literals = set(re.findall(r'say\(\s*"([^"]+)"', scripts))
    literals |= {
        text
        for both in re.findall(r'say\([^"()]*\? "([^"]+)" : (?:done\(\) \? )?"([^"]+)"', scripts)
        for text in both
    }
    texts = texts_of(live_words, "en")
    known = {text for one in (live_words, words, pictures) for text in texts_of(one, "en").values()}
    assert literals - known == set()
    assert len(literals) >= 80
    python = "".join(path.read_text("utf-8") for path in Path(write.__file__).parent.glob("*.py"))
    python += "".join(path.read_text("utf-8") for path in live.HERE.glob("*.py"))
    unused = [
        name
        for name, text in texts.items()
        if isinstance(text, str)
        and json.dumps(text, ensure_ascii=False) not in scripts
        and f"live.{name}" not in pages + python
        and f'"{name}"' not in python
        and not name.endswith(("_title", "_question"))
    ]
    assert unused == []


MARKUP = re.compile(r"<textarea.*?</textarea>|\{[{%#].*?[}%#]\}|<[^>]*>", re.DOTALL)


@pytest.mark.parametrize("path", sorted(live.HERE.glob("*.html")), ids=lambda path: path.name)
def test_a_live_page_has_no_words_outside_its_document(path):
    """Names of one letter, as of a matrix, are the same in every language."""
    assert re.findall(r"[^\W\d_]{2,}", MARKUP.sub(" ", path.read_text("utf-8"))) == []


@pytest.mark.parametrize("path", sorted(live.HERE.glob("*.js")), ids=lambda path: path.name)
def test_a_live_script_says_no_sentence_outside_its_document(path):
    known = {text for one in (live_words, words, pictures) for text in texts_of(one, "en").values()}
    script = re.sub(r"^\s*//.*", "", path.read_text("utf-8"), flags=re.MULTILINE)
    said = re.findall(r'["`]([A-Z][a-z]* [^"`\n]*[a-z]{2}[^"`\n]*)["`]', script)
    assert set(said) - known == set()


def test_what_the_script_of_the_site_says_stands_in_its_document():
    script = Path(write.__file__).with_name("site.js").read_text("utf-8")
    said = set(re.findall(r'say\((?:isDark\(\) \? )?"([^"]+)"(?: : "([^"]+)")?', script))
    literals = {text for pair in said for text in pair if text}
    literals |= set(re.findall(r'const (?:ASKS|ALONE|ELSEWHERE|LOST) = "([^"]+)"', script))
    known = {text for text in texts_of(words, "en").values() if isinstance(text, str)}
    assert literals - {"Nothing has these words. Try fewer letters."} <= known
    assert len(literals) >= 10
