"""The form of every chapter: questions hold back their answers, and its end says what was seen."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any

import pytest

from llmviz.course.components import unpack
from llmviz.course.document import Section, texts_of
from llmviz.course.document.marks import unmarked
from llmviz.course.document.values import sentences
from llmviz.course.lessons import LESSONS
from llmviz.course.ui.question import Question
from tests.pages.harness import fine, open_part, prose_of

CHAPTERS = [(lesson.key, chapter.key) for lesson in LESSONS for chapter in lesson.chapters]
# A number of a right answer that stands on the page as something else: why it tells nothing.
ELSEWHERE: dict[tuple[str, str, str], str] = {
    ("efficiency", "serving", "10"): "how many blocks were copied in a recorded run",
    ("reasoning", "preference", "69"): "a byte of a token, in hex",
    ("reasoning", "trust", "100"): "how sure the model is of the digits of its call",
    ("efficiency", "memory", "16"): "the end of bfloat16, the name of a format",
}
NUMBER = re.compile(r"\d(?:[\d,]*\d)?(?:\.\d+)?")
TAG = re.compile(r"<[^>]+>")
SHOWN_ANYWAY = "Show me without an answer"


@pytest.fixture
def asked(monkeypatch) -> list[Question]:
    """The questions of the page that is opened next."""
    questions: list[Question] = []
    order = Question.order

    def noted(question: Question) -> list[int]:
        if question not in questions:
            questions.append(question)
        return order.fget(question)

    monkeypatch.setattr(Question, "order", property(noted))
    return questions


def texts(block: Any, pictures: bool = True) -> Iterator[str]:
    """All that stands on a page from top to bottom, without the code below it."""
    for element in block.children.values():
        proto = getattr(element, "proto", None)
        if element.type == "html":
            tips = re.sub(r'<span class="lv-tip".*?</span>', "", proto.body)
            yield unescaped(TAG.sub("", tips))
        elif element.type == "arrow_data_frame":
            yield from map(str, element.value.to_numpy().ravel())
        elif element.type == "bidi_component" and pictures:
            yield from _strings(unpack(proto.bytes))
        elif element.type == "radio":
            yield element.label
        elif element.type not in ("code", "expander", "bidi_component") and hasattr(
            element, "value"
        ):
            yield unmarkdown(str(element.value))
            yield getattr(element, "label", None) or ""
        if hasattr(element, "children") and element.type != "expander":
            yield from texts(element, pictures)


def unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def unmarkdown(text: str) -> str:
    return re.sub(r"[*`\\]", "", text)


def _strings(payload: Any) -> Iterator[str]:
    if isinstance(payload, str):
        yield payload
    elif isinstance(payload, int) and not isinstance(payload, bool) and payload >= 100:
        yield f"{payload:,}"
    elif isinstance(payload, dict):
        for part in payload.values():
            yield from _strings(part)
    elif isinstance(payload, list | tuple):
        for part in payload:
            yield from _strings(part)


def tells(question: Question) -> list[str]:
    """The numbers of two figures or more that only the right one of the answers has."""
    others = " ".join(
        [question.text, *(a for at, a in enumerate(question.answers) if at != question.right)]
    )
    known = set(NUMBER.findall(unmarked(others)))
    numbers = NUMBER.findall(unmarked(question.answers[question.right]))
    return [one for one in numbers if one not in known and sum(map(str.isdigit, one)) > 1]


@pytest.mark.parametrize(("name", "part"), CHAPTERS)
def test_what_a_question_asks_for_is_not_on_the_page_before_an_answer_which_opens_the_end(
    name, part, asked, covers
):
    app = open_part(name, part)
    fine(app)
    shown = list(texts(app.main))
    for question in asked:
        for number in tells(question):
            if (name, part, number) in ELSEWHERE:
                continue
            whole = re.compile(rf"(?<![\d.,]){re.escape(number)}(?![\d]|[.,]\d)")
            found = [text for text in shown if whole.search(text)]
            assert found == [], f"{question.text} {question.answers[question.right]}"
    for _ in range(12):  # an answer may open the next question
        waiting = [radio for radio in app.radio if radio.value is None]
        unanswered = [button for button in app.button if button.label == SHOWN_ANYWAY]
        if waiting:
            waiting[0].set_value(0).run()
        elif unanswered:  # the guess is made on the picture
            unanswered[0].click().run()
        else:
            break
        fine(app)
    assert SHOWN_ANYWAY not in [button.label for button in app.button]
    assert "<strong>Try:</strong>" in prose_of(app)


@pytest.mark.parametrize(("name", "part"), CHAPTERS)
def test_a_link_opens_all_and_the_chapter_reads_as_its_document_and_ends_with_what_was_seen(
    name, part, asked, covers
):
    app = open_part(name, part, show="1")
    fine(app)
    assert SHOWN_ANYWAY not in [button.label for button in app.button]
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
    place on the page must come after the place of the text before it in the document."""
    page = "\n".join(texts(main, pictures=False))
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


def _only_labels_after(words: Any) -> bool:
    names = list(texts_of(words))
    after = names[names.index("end") + 1 :]
    return all(not isinstance(texts_of(words)[name], Section) for name in after)
