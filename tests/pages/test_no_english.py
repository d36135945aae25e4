"""A page that is translated holds no English sentence, whatever is told, linked or typed there."""

from __future__ import annotations

import html
import json
import re

import pytest

from llmviz.course.components import unpack
from llmviz.course.document import languages, texts_of
from llmviz.course.lessons import LESSONS
from llmviz.course.lessons.training import teach
from llmviz.course.ui.documents import offer_languages
from tests.pages.harness import boxes, fine, open_part

# What stands in English sentences, and in no Spanish one.
SMALL = {
    *("the", "of", "is", "and", "to", "in", "with", "it", "its", "that", "this", "for", "on"),
    *("from", "by", "are", "was", "you", "your", "each", "which", "has", "have", "what", "when"),
    *("where", "than", "there", "only", "into", "at", "an", "not", "as"),
}
STOPS = [
    ("home", ""),
    ("tokenization", "cut"),
    ("embeddings", "similarity"),
    ("attention", "trained"),
    ("training", "teach"),
    ("sampling", "temperature"),
]
REAL = [("real", key) for lesson in LESSONS if lesson.key == "real" for key in lesson.keys]
# What a model reads or writes, a name, a quotation: it is English where the page is not.
GIVEN = re.compile(
    r"<(code|em|a|pre)\b.*?</\1>|«[^»]*»|“[^”]*”|《[^》]*》|<p><strong>T = .*?</p>|^\S+$", re.DOTALL
)


@pytest.fixture(autouse=True)
def spoken(monkeypatch):
    monkeypatch.setattr(languages, "_asks", None)
    offer_languages()


def english(text: str) -> list[str]:
    """Return the parts of a text that are English: a third of their words are small ones."""
    plain = html.unescape(re.sub(r"<[^>]+>", "\n", GIVEN.sub(" … ", text)))
    found = []
    for part in re.split(r"[\n.:;?!。：；？！]+", plain):
        words = re.findall(r"[A-Za-z']+", part.lower())
        if len(words) > 2 and 3 * sum(word in SMALL for word in words) >= len(words):
            found.append(part.strip())
    return found


def said(app) -> list[str]:
    """Return what a page says of its own: prose, lines, labels, and the words of its pictures."""
    texts = [block.proto.body for block in app.get("html")]
    texts += [one.value for one in (*app.caption, *app.error, *app.info, *app.warning)]
    for kind in (app.button, app.radio, app.selectbox, app.text_input, app.text_area, app.toggle):
        texts += [one.label for one in kind]
    for part in app.get("bidi_component"):
        payload = unpack(part.proto.bytes)
        texts += re.findall(r'"((?:[^"\\]|\\.)*)"', json.dumps(payload.get("words", {})))
    return texts


def test_english_sentences_are_known_from_others():
    assert english("<p>This is what the model reads.</p>") == ["This is what the model reads"]
    assert english("<p>Después de <code>The cat is on the</code> dice <em>the</em>.</p>") == []
    assert english("看看 GPT-2 的 softmax") == []


@pytest.mark.parametrize("language", ["es", "zh"])
@pytest.mark.parametrize(("page", "part"), STOPS + REAL)
def test_a_translated_page_holds_no_english_sentence(page, part, language):
    app = open_part(page, part, lang=language, show="1")
    fine(app)
    found = {line: one for line in said(app) for one in english(line)}
    assert not found


LINKS = {
    "a number": ("sampling", "temperature", {"temperature": "hot"}),
    "a name": ("tokenization", "cut", {"tokenizer": "mine"}),
    "a damaged text": ("tokenization", "cut", {"text": "~~~~"}),
    "a switch": ("embeddings", "similarity", {"inputs": "maybe"}),
    "no such control": ("real", "knows", {"zebra": "1"}),
    "no number": ("embeddings", "similarity", {"kind": "numbers", "v1": "a, b"}),
    "no numbers": ("embeddings", "similarity", {"kind": "numbers", "v1": ""}),
    "a short text": ("training", "teach", {"taught": "hi", "teaching": "1"}),
    "a sentence twice": ("real", "travels", {"travelsown": "A cat", "travelsother": "A cat"}),
    "no word": ("real", "meanings", {"sumplus": ""}),
    "a line without an arrow": ("real", "examples", {"rule": "own", "rulepairs": "no arrow"}),
}


@pytest.mark.parametrize("language", ["es", "zh"])
@pytest.mark.parametrize("case", LINKS)
def test_what_is_refused_is_refused_in_the_pages_language(case, language):
    page, part, link = LINKS[case]
    app = open_part(page, part, lang=language, **link)
    fine(app)
    assert boxes(app) and not [one for line in said(app) for one in english(line)]


def test_the_paragraph_that_teach_begins_with_is_in_the_pages_language_whoever_came_first():
    """Its default is no value of the moment at which the chapter was imported."""
    for language in ("es", "en", "zh", "es"):
        app = open_part("training", "teach", **({} if language == "en" else {"lang": language}))
        fine(app)
        assert app.text_area[0].value == texts_of(teach.words, language)["paragraph"]
        assert "taught" not in app.query_params
