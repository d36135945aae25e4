"""The chapters inside a real model: with a model here (a small one stands for it), and without."""

from __future__ import annotations

from urllib.parse import parse_qsl

import pytest

from llmviz.course.document import texts_of
from llmviz.course.document.marks import looks
from llmviz.course.lessons import LESSONS
from llmviz.course.lessons.real import LESSON, source
from llmviz.course.ui.state import LINK_ICON
from tests.pages.conftest import use
from tests.pages.harness import boxes, fine_part, messages, prose_of
from tests.pages.small_model import make_checkpoint, make_real

RTL = "עיר הבירה של צרפת היא"
LONG = "word " * 3_000
# By chapter: what one may type, and whether it can be measured.
OWN = {
    "knows": [
        ({"knowsland": "Bolivia"}, True),
        ({"knowsland": "the United Republic of Tanzania"}, True),
        ({"knowsland": RTL}, True),
        ({"knowsland": "<b>x</b>"}, True),
    ],
    "travels": [
        ({"travelsown": "One winter", "travelsother": "Two summers ago"}, None),
        ({"travelsown": "One", "travelsother": "One"}, False),
        ({"travelsown": "", "travelsother": "One"}, False),
        ({"travelsown": "word " * 39, "travelsother": "One"}, False),
    ],
    "carrier": [
        ({"carrytext": RTL[:9]}, True),
        ({"carrytext": " "}, False),
        ({"carrytext": "word " * 39}, False),
        ({"carrytext": "One winter", "carryhead": "99.1"}, True),
    ],
    "meanings": [
        ({"sumplus": "Constantinople", "summinus": "a", "sumother": "b"}, True),
        ({"sumplus": "", "summinus": "a", "sumother": "b"}, False),
        ({"nearword": "kitten"}, True),
        ({"nearword": " "}, False),
    ],
    "examples": [
        ({"rule": "own", "rulepairs": "a -> b\n" * 6}, True),
        ({"rule": "own", "rulepairs": "a -> b"}, False),
        ({"rule": "own", "rulepairs": "no arrow"}, False),
        ({"rule": "own", "rulepairs": ""}, False),
    ],
    "first": [
        ({"firsttext": "One winter morning"}, True),
        ({"firsttext": "x"}, None),
        ({"firsttext": RTL}, True),
        ({"firsttext": ""}, False),
    ],
    "copies": [({"copytext": "abra kadabra"}, True), ({"copytext": LONG[:290]}, False)],
    "heart": [
        ({"hearttext": "One winter morning"}, True),
        ({"hearttext": "x"}, None),
        ({"hearttext": ""}, False),
    ],
    "people": [
        ({"peoplejob": "astronaut"}, True),
        ({"peoplefirst": "young", "peoplesecond": "old"}, True),
        ({"peoplefirst": "she", "peoplesecond": "she"}, False),
        ({"peoplefirst": "", "peoplesecond": "she"}, False),
        ({"peoplejob": ""}, None),
    ],
    "assistant": [({"chatquestion": "Who are you?"}, False), ({"chatalone": ""}, False)],
    "bits": [({"bitstext": "One winter"}, False), ({"bitstext": ""}, False)],
    "yesterday": [({"yesterdayname": "Amira"}, False), ({"yesterdayname": ""}, False)],
}
CASES = [(part, link, measured) for part, cases in OWN.items() for link, measured in cases]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    make_real(folder, layers=24)
    return folder


@pytest.fixture
def here(models, tmp_path, monkeypatch):
    monkeypatch.setenv("LLMVIZ_MODELS", str(models))
    monkeypatch.setattr(source, "SLICE", 300.0)
    make_checkpoint(tmp_path / "bundled")
    use(monkeypatch, tmp_path / "bundled")


@pytest.mark.parametrize("part", LESSON.names)
def test_without_the_model_a_chapter_is_whole_and_offers_it(part, tmp_path, monkeypatch):
    monkeypatch.setenv("LLMVIZ_MODELS", str(tmp_path))
    app = fine_part("real", part)
    assert "python -m llmviz get smollm2" in " ".join(line.value for line in app.caption)
    assert "What you have seen" in [head.value for head in app.subheader]
    assert not app.error and not app.warning


@pytest.mark.parametrize(("part", "link", "measured"), CASES)
def test_what_one_types_is_measured_or_refused_in_one_line(part, link, measured, here):
    app = fine_part("real", part, **link)
    lines = [box.value for box in app.error]
    if measured:
        assert lines == []
    elif measured is not None:
        assert len(lines) == 1 and len(lines[0]) < 300, lines
    assert "<b>x</b>" not in prose_of(app)


@pytest.mark.parametrize(
    ("part", "link"), [(part, link) for part, link, measured in CASES if measured]
)
def test_without_the_model_ones_own_words_wait_and_lose_nothing(part, link, tmp_path, monkeypatch):
    monkeypatch.setenv("LLMVIZ_MODELS", str(tmp_path))
    app = fine_part("real", part, **link)
    assert "recorded examples" in boxes(app)
    for key, value in link.items():
        assert app.session_state[f"real.{key}"] == value


def test_a_measure_goes_on_from_one_rerun_to_the_next_and_can_be_stopped(here, monkeypatch):
    monkeypatch.setattr(source, "SLICE", 0.0)
    app = fine_part("real", "carrier", carrytext="One cold evening")
    seen = 0
    while [button for button in app.button if button.label == "Stop"]:
        seen += 1
        app.run()
        assert seen < 40
    assert seen and "Without head" in prose_of(app)
    app = fine_part("real", "carrier", carrytext="Two cold evenings")
    next(button for button in app.button if button.label == "Stop").click().run()
    app.run()
    assert not app.get("progress")
    go_on = next(button for button in app.button if button.label == "Go on asking the model")
    go_on.click().run()
    assert not messages(app)


def real_looks():
    """The looks of all chapters at the real model: lesson, chapter, link."""
    for lesson in LESSONS:
        for chapter in lesson.chapters:
            passage = texts_of(chapter.words).get("real")
            if isinstance(passage, str):
                for _, look in looks(passage):
                    if look:
                        yield lesson.key, chapter.key, dict(parse_qsl(look))


REAL_LOOKS = list(real_looks())


@pytest.mark.parametrize(("lesson", "part", "link"), REAL_LOOKS)
def test_a_look_at_the_real_model_leads_to_it_and_nothing_is_said_against_it(
    lesson, part, link, here
):
    assert "smollm2" in (link.get("model"), link.get("reader"), link.get("tokenizer"))
    app = fine_part(lesson, part, **link)
    assert not app.error and not [box for box in app.warning if box.icon == LINK_ICON]


def test_many_chapters_look_at_the_real_model_and_offer_it_where_it_is_not(tmp_path, monkeypatch):
    assert len(REAL_LOOKS) >= 15
    monkeypatch.setenv("LLMVIZ_MODELS", str(tmp_path))
    app = fine_part("training", "loss")
    assert "Now a real one" in " ".join(line.value for line in app.caption)
    assert "get smollm2" in " ".join(line.value for line in app.caption)
