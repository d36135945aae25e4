"""What holds for every page in `pages/`, whatever it teaches."""

from __future__ import annotations

import ast
import importlib
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block, Header, Subheader

from llmviz.course.components import unpack
from llmviz.course.document import Section, languages, texts_of
from llmviz.course.document.marks import unmarked
from llmviz.course.document.values import sentences
from llmviz.course.lessons import LESSONS
from llmviz.course.ui import class_session
from llmviz.course.ui.classes import Place
from llmviz.course.ui.documents import offer_languages
from llmviz.course.ui.furniture import words as furniture
from llmviz.course.ui.guess_drawn import words as guess_words
from llmviz.course.ui.lesson import CHAPTERS
from tests.pages.asked import SHOWN_ANYWAY, TAG
from tests.pages.asked import texts as texts_on
from tests.pages.harness import (
    PAGES,
    ROOT,
    fine,
    idle_looks,
    open_page,
    open_part,
    parts,
    prose_of,
    run_snippet,
    runs_here,
    snippets,
)
from tests.pages.test_chapter_form import NUMBER
from tests.test_layers import draws

MARK = re.compile(
    "[\ufdd0-\ufdd8]|ufdd[0-8]|\\\\357\\\\267\\\\2[0-9]{2}"
)  # also as a message writes them


def test_every_lesson_has_its_page_and_every_page_its_lesson():
    assert sorted(lesson.key for lesson in LESSONS) == PAGES
    for lesson in LESSONS:
        source = (ROOT / "pages" / f"{lesson.key}.py").read_text("utf-8")
        assert f"from llmviz.course.lessons.{lesson.key} import LESSON\n" in source


# A number as a program writes it: a hyphen for its minus sign, or e-05 for a power of ten.
TYPED = re.compile(r"(?:^|[\s(=,;:])-\d[\d.,]*|\d(?:\.\d+)?e[-+]\d+")
# A word twice, as where a value brings the word with it that its sentence has, too.
TWICE = re.compile(r"\b([^\W\d_]{2,}) \1\b(?! \1)")


def seen(app) -> list[str]:
    """Return the sentences that a visitor reads, without code, and the texts in tables."""
    texts = [re.sub(r"(?s)<code>.*?</code>|<[^>]+>", "", prose_of(app))]
    texts += [block.value for block in (*app.caption, *app.info)]
    texts += [option for radio in app.radio for option in radio.options]
    for table in app.dataframe:
        texts += map(str, table.value.select_dtypes(["object", "str"]).to_numpy().ravel())
    return [re.sub(r"`[^`]*`", "", text) for text in texts]


@pytest.mark.parametrize(("name", "part"), [(name, part) for name in PAGES for part in parts(name)])
def test_a_link_opens_all_of_a_chapter_whose_snippets_print_what_the_page_says(name, part, covers):
    """And which reads as its document, ends with what was seen, and leads on."""
    app = open_part(name, part, **({"show": "1"} if part else {}))
    assert [str(error.value) for error in app.exception] == []
    assert len(app.title) == 1
    assert len(app.warning) == 0
    texts = seen(app)
    assert [found for text in texts for found in TYPED.findall(text)] == []
    if part != "teach":  # what a model writes that is only learning stutters
        assert [found[0] for text in texts for found in TWICE.finditer(text)] == []
    for snippet, prints in snippets(app):
        if runs_here(snippet):  # with the real model: `tests/pages/test_real.py`
            assert run_snippet(snippet).strip() == prints.strip()
    assert [button.label for button in leads_on(app)] == onward(name, part)
    assert no_marks(app.main), "marks or markup that nobody turned into tags"
    if part:
        fine(app)
        assert SHOWN_ANYWAY not in [button.label for button in app.button]
        assert tuple(app.session_state[CHAPTERS]) == parts(name)
        covered = "its stage stays in view over what goes deeper: end its container first"
        assert not stays_too_long(app.main), covered
        assert idle_looks(app) == [], "looks that lead to where the chapter is already"
        has_the_form_of_its_document(app, name, part)


def stays_too_long(block: Block, key: str = "lv-stays-") -> bool:
    """Whether a picture that stays in view has a heading beside it, below its looks: it stays as
    long as the block that it stands in is in view."""
    inside = list(block.children.values())
    if any(key in getattr(part.proto, "id", "") for part in inside):
        return any(isinstance(part, Header | Subheader) for part in inside)
    return any(stays_too_long(part) for part in inside if isinstance(part, Block))


def has_the_form_of_its_document(app, name: str, part: str) -> None:
    """Its texts come in the order of its document, and what was seen is the last of them."""
    words = importlib.import_module(f"llmviz.course.lessons.{name}.{part}").words
    end = texts_of(words)["end"]
    assert isinstance(end, Section), "the section that ends a chapter is named {#end}"
    last = [block.proto.body for block in app.get("html") if 'class="lv-prose"' in block.proto.body]
    # Behind it stands, folded, what the lesson needs.
    assert "<strong>Try:</strong>" in last[-2], "the end is the last text of the chapter"
    assert 2 <= len(re.findall(r"[.?!](?=[\s<])", TAG.sub("", last[-2]))) <= 6
    assert NUMBER.search(TAG.sub("", prose_of(app))), "an end has numbers of the learner's own"
    assert list(texts_of(words))[-1] == "end" or _only_labels_after(words)
    reads_in_the_order_of_its_page(words, app.main)


def reads_in_the_order_of_its_page(words: Any, main: Any) -> None:
    """Each text is looked for by its longest piece without a slot; where it is found once, its
    place on the page must come after the place of the text before it in the document. A question
    stands above the picture that it is about, wherever its reasons are."""
    page = "\n".join(text for text in texts_on(main, pictures=False) if not asks(text))
    at, before = -1, "the top"
    for key, value in texts_of(words).items():
        if key == "front":
            continue
        for sentence in sentences(value):
            pieces = re.split(r"\{[^{}]*\}|\n\s*\n", unmarked(sentence))
            piece = max((" ".join(one.split()) for one in pieces), key=len)
            if len(piece) < 40 or page.count(piece) != 1:
                continue
            here = page.index(piece)
            assert here >= at, f"on the page, {key} ({piece!r}) stands above {before}"
            at, before = here, f"{key} ({piece!r})"
            break


def asks(text: str) -> bool:
    return text.startswith(guess_words.mark)


def _only_labels_after(words: Any) -> bool:
    names = list(texts_of(words))
    after = names[names.index("end") + 1 :]
    return all(not isinstance(texts_of(words)[name], Section) for name in after)


def leads_on(app) -> list:
    """The main buttons that lead on from a page."""
    return [button for button in app.button if button.label.startswith("Next")]


def onward(name: str, part: str) -> list[str]:
    """What the main button of a chapter says: no chapter is the end of the way but the glossary."""
    at = [lesson.key for lesson in LESSONS].index(name)
    titles = {chapter.key: chapter.title for chapter in LESSONS[at].chapters}
    keys = LESSONS[at].further if part in LESSONS[at].further else LESSONS[at].names
    if part and part != keys[-1]:
        return [f"Next: {titles[keys[keys.index(part) + 1]]}"]
    after = [] if name == "glossary" else LESSONS[at + 1 : at + 2]
    return [f"Next lesson: {lesson.title}" for lesson in after]


def texts_sent(element) -> str:
    """What an element sends, as a message writes it; of a picture its texts, without numbers."""
    proto = getattr(element, "proto", None)
    if element.type == "bidi_component":
        return json.dumps(unpack(proto.bytes), default=lambda array: None)
    return "" if proto is None else str(proto)


def no_marks(block) -> bool:
    """Whether no text on the page holds marks of a document, and no prose holds raw markup."""
    for element in block.children.values():
        proto = getattr(element, "proto", None)
        body = getattr(proto, "body", "") if element.type == "html" else ""
        raw = re.sub(r"<code>.*?</code>", "", body) if 'class="lv-' in body else ""
        sent = texts_sent(element) + "".join(map(str, getattr(element, "options", ())))
        if re.search(r"\*\*|(?<!\w)\*\w[^*<\n]*\*|\[\[|`", raw) or MARK.search(sent):
            return False
        if hasattr(element, "children") and not no_marks(element):
            return False
    return True


def test_the_button_after_a_lesson_opens_the_first_chapter_of_the_next():
    app = open_part("tokenization", "learn", text="One two.")
    leads_on(app)[0].click().run()
    assert app.session_state["embeddings.part"]
    assert app.session_state["embeddings.part"] == parts("embeddings")[0]


@pytest.fixture
def spoken(monkeypatch):
    """Languages are offered, as a server does when it starts."""
    monkeypatch.setattr(languages, "_asks", None)
    offer_languages()


def test_a_link_asks_for_texts_in_another_language(spoken):
    """A translated chapter is in it with its numbers; nothing kept is mixed up with English."""
    app = open_part("tokenization", "cut", lang="es", text="Hello there.")
    assert "Tú ves 12 caracteres." in prose_of(app) and not app.warning
    assert app.query_params["lang"] == "es"
    lines = texts_of(furniture, "es")
    said = {lines["in_english"], lines["partly"]}
    assert not said & {line.value for line in app.caption}
    app = open_part("tokenization", "cut", text="Hello there.")
    assert "You see 12 characters." in prose_of(app)


def test_who_follows_a_class_reads_the_language_of_its_presenter(spoken, monkeypatch):
    words = next(one for one in LESSONS if one.key == "training").chapters[0].words
    hooks = {wanted: texts_of(words, wanted)["hook"] for wanted in ("es", "en")}
    app = open_part("training", "teach")
    place = Place("training", {"part": "teach", "lang": "es"})
    monkeypatch.setattr(class_session, "take_place", lambda page: place)
    app.run()
    assert hooks["es"] in prose_of(app) and app.query_params["lang"] == "es"
    del place.query["lang"]
    app.run()
    assert hooks["en"] in prose_of(app) and "lang" not in app.query_params


def test_a_chapter_without_a_translation_says_so_and_is_english_throughout(spoken):
    """Also where an English link is opened in Spanish."""
    app = open_part("tokenization", "merge", lang="es")
    assert texts_of(furniture, "es")["in_english"] in {line.value for line in app.caption}
    plain = open_part("tokenization", "merge")
    assert prose_of(plain) and prose_of(plain).partition("\n")[2] in prose_of(app)
    assert any(button.label.startswith("Siguiente") for button in app.button)


def test_a_half_translated_chapter_says_what_is_english(spoken, monkeypatch):
    words = next(one for one in LESSONS if one.key == "tokenization").chapters[0].words
    english = texts_of(words, "en")
    texts = texts_of(words, "es") | {"hook": english["hook"]}
    monkeypatch.setitem(words._texts, "es", texts)
    monkeypatch.setitem(words._open, "es", (1, 90))
    app = open_part("tokenization", "cut", lang="es", text="Hello there.")
    assert texts_of(furniture, "es")["partly"] in {line.value for line in app.caption}
    assert "You see 12 caracteres." in prose_of(app) and "Para ti, las mayúsculas" in prose_of(app)


def test_a_browsers_language_is_offered_once_and_never_forced(spoken, monkeypatch):
    locale = property(lambda _: "es-MX")
    monkeypatch.setattr(type(st.context), "locale", locale)
    offer = texts_of(furniture, "es")["take_offer"]

    def page():
        from llmviz.course.ui.languages import offer, switch

        offer("first")
        switch()

    app = AppTest.from_function(page).run()
    assert [button.label for button in app.button][:1] == [offer]
    app.button[0].click().run()
    assert not app.button and app.query_params["lang"] == "es"
    app = AppTest.from_function(page).run()
    app.button[1].click().run()  # it stays with English
    assert not app.button and "lang" not in app.query_params
    monkeypatch.setattr(type(st.context), "locale", property(lambda _: "fr"))
    assert not AppTest.from_function(page).run().button


@pytest.mark.parametrize("lang", ["xx", "Spanish!", "EN", ""])
def test_a_language_that_there_is_not_is_said_in_one_line(spoken, lang):
    app = open_part("tokenization", "cut", lang=lang)
    assert len(app.warning) == 1
    said = app.warning[0].value.replace("\\", "")
    assert f"lang={lang}, but one of en, es, zh is needed" in said
    assert "one for each piece that was cut" in prose_of(app)


def test_how_many_may_be_chosen_is_what_a_link_may_name():
    for path in sources():
        if path.name != "state.py":
            assert "max_selections=" not in path.read_text("utf-8"), f"{path}: state.several()"


def test_every_chapter_asks_one_question_before_it_explains():
    for lesson in LESSONS:
        for chapter in lesson.chapters:
            assert chapter.front.question.endswith("?"), chapter.key
            assert len(chapter.front.question.split()) <= 25 and 0 < chapter.minutes <= 45


@pytest.mark.parametrize("name", PAGES)
def test_page_survives_a_link_that_makes_no_sense(name):
    app = open_page(name, text="~broken", nonsense="1")
    assert [str(error.value) for error in app.exception] == []
    assert any("nonsense" in warning.value for warning in app.warning)


ROOMS = ("components", "lessons", "ui")


@cache
def sources() -> list[Path]:
    """All that draws."""
    return [
        path
        for room in ROOMS
        for path in sorted((ROOT / "llmviz" / "course" / room).rglob("*.py"))
        if room != "lessons" or draws(path)
    ]


def test_what_a_visitor_sees_holds_no_markup_no_random_numbers_and_hides_no_bugs():
    for path in sources():
        source = path.read_text("utf-8")
        for forbidden in ("unsafe_allow_html", "import random"):
            assert forbidden not in source, f"{path}: {forbidden}"
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ExceptHandler):
                caught = ast.unparse(node.type) if node.type else ""
                handed_on = any(isinstance(line, ast.Raise) and not line.exc for line in node.body)
                fine = handed_on or caught not in ("", "Exception", "BaseException")
                assert fine, f"{path}, line {node.lineno}"
