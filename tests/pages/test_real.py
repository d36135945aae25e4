"""The chapters inside a real model: with a model here (a small one stands for it), and without."""

from __future__ import annotations

import math
import re
from collections import Counter
from urllib.parse import parse_qsl

import pytest

from llmviz.course.document import texts_of
from llmviz.course.document.marks import looks
from llmviz.course.lessons import LESSONS
from llmviz.course.lessons.real import LESSON, record, source
from llmviz.course.ui import guess_given
from llmviz.course.ui.state import LINK_ICON
from llmviz.obtainable.catalogue import path_of
from llmviz.pretrained import obtained_tokenizer
from tests.pages.conftest import use
from tests.pages.harness import (
    boxes,
    fine_page,
    fine_part,
    messages,
    prose_of,
    run_snippet,
    snippets,
)
from tests.pages.small_model import find_real, make_checkpoint, make_real
from tests.pages.test_guesses import pictures_of

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


def shown(app) -> Counter[str]:
    """The pictures of a page by kind, its questions and sections."""
    asked = [block for block in app.get("html") if 'class="lv-ask"' in block.proto.body]
    sections = [head.value for head in (*app.header, *app.subheader)]
    return Counter([*pictures_of(app).elements(), *("asked" for _ in asked), *sections])


@pytest.mark.parametrize("told", [{}, {"show": "1"}])
@pytest.mark.parametrize(
    ("part", "link"),
    [(part, cases[0][0]) for part, cases in OWN.items() if part != "knows"]
    + [("meanings", {"nearword": "kitten"}), ("knows", {"knowsland": "Atlantis"})],
)
def test_without_the_model_ones_own_words_wait_and_take_nothing_away(
    part, link, told, tmp_path, monkeypatch
):
    monkeypatch.setenv("LLMVIZ_MODELS", str(tmp_path))
    monkeypatch.setattr(guess_given, "COVERS", True)
    app, begun = fine_part("real", part, **told, **link), fine_part("real", part, **told)
    assert "recorded examples" in boxes(app)
    assert not shown(begun) - shown(app)
    assert not told or snippets(app) == snippets(begun)
    for key, value in link.items():
        assert app.session_state[f"real.{key}"] == value


# Chapters whose snippet asks for what is typed; the others' repeats what is recorded.
TYPED = ("knows", "travels", "carrier", "meanings", "examples", "first", "copies")


@pytest.mark.parametrize(
    ("part", "link"),
    [(p, link) for p, link, fine in CASES if fine and p in TYPED and "nearword" not in link],
)
def test_a_snippet_prints_what_is_measured_of_ones_own_words(part, link, here):
    app = fine_part("real", part, show="1", **link)
    found = [pair for pair in snippets(app) if "smollm2" in pair[0]]
    assert found
    for snippet, prints in found:
        assert run_snippet(snippet).strip() == prints.strip()


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        if path_of("smollm2") is None:
            patch.setenv("LLMVIZ_MODELS", str(tmp_path_factory.mktemp("models")))
        yield find_real()


@pytest.mark.slow
@pytest.mark.parametrize("part", LESSON.names)
def test_the_real_model_prints_what_a_chapter_shows(part, real):
    found = snippets(fine_part("real", part, show="1"))
    assert len(found) == 1 and real in found[0][0]
    assert run_snippet(found[0][0]).strip() == found[0][1].strip()


@pytest.mark.slow
def test_the_greeting_of_compare_costs_the_real_model_least_in_english(real):
    ((_, _, link),) = [look for look in REAL_LOOKS if look[:2] == ("tokenization", "compare")]
    tokenizer = obtained_tokenizer(real)
    english, *others = (len(tokenizer.encode(part)) for part in link["text"].split(", "))
    assert len(others) == 4 and english < min(others)


# A cell that is clicked, and what its picture then shows beside it.
CELLS = {
    "travels": ({"travelscell": "22.4"}, "leads by"),
    "carrier": ({"carryhead": "23.4"}, "What is gone is"),
    "first": ({"firsthead": "5.3"}, "in all, and"),
    "copies": ({"copyhead": "18.6"}, "word by word of the second time"),
}


@pytest.mark.parametrize(("part", "link", "told"), [(p, *v) for p, v in CELLS.items()])
def test_a_cell_opens_to_its_arithmetic_once_it_is_told(part, link, told, tmp_path, monkeypatch):
    monkeypatch.setenv("LLMVIZ_MODELS", str(tmp_path))
    with monkeypatch.context() as covered:
        covered.setattr(guess_given, "COVERS", True)
        assert told not in prose_of(fine_part("real", part, **link))
    app = fine_part("real", part, show="1", **link)
    assert told in prose_of(app)
    sums = re.findall(r"<code>([^<]*[/−+]\s[^<]*)</code>", prose_of(app))
    assert sums
    for line in sums:
        assert is_true(line, prose_of(app)), line


def is_true(line: str, page: str) -> bool:
    """Whether a sum comes to what is said behind it, within the rounding of what is written."""
    written = line.partition(" = ")[0].replace("−", "-").replace("\N{NO-BREAK SPACE}", " ")
    written = re.sub(r"e\^([-\d.]+)", r"exp(\1)", re.sub(r"([\d.]+) %", r"(\1/100)", written))
    said = re.search(rf"<code>{re.escape(line)}</code>\D*?([\d.]+)\s%", page)
    return said is not None and abs(100 * eval(written, {"exp": math.exp}) - float(said[1])) < 2.5


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
# Chapters that say what is recorded of the real model, and lead to its lesson.
CASES_ELSEWHERE = [
    (lesson.key, chapter.key)
    for lesson in LESSONS
    for chapter in lesson.chapters
    if lesson.key != "real"
    and isinstance(passage := texts_of(chapter.words).get("real"), str)
    and not any(look for _, look in looks(passage))
]


@pytest.mark.parametrize(("lesson", "part"), CASES_ELSEWHERE)
def test_a_case_elsewhere_has_its_numbers_and_leads_to_a_state_of_the_real_lesson(
    lesson, part, tmp_path, monkeypatch
):
    monkeypatch.setenv("LLMVIZ_MODELS", str(tmp_path))
    app = fine_part(lesson, part, show="1")
    said = re.search(r"Now a real one: .*?</p>", prose_of(app))[0]
    assert re.search(r"\d|<code>", said) and "{" not in said
    (link,) = [one for one in app.get("page_link") if "Inside a real model" in one.proto.label]
    state = dict(parse_qsl(link.proto.query_string))
    there = fine_page("real", **state)
    assert not [box for box in there.warning if box.icon == LINK_ICON]


@pytest.mark.parametrize(("lesson", "part", "link"), REAL_LOOKS)
def test_a_look_at_the_real_model_leads_to_it_and_nothing_is_said_against_it(
    lesson, part, link, here
):
    named = (link.get(name, "") for name in ("model", "reader", "tokenizer", "rows"))
    assert "smollm2" in ",".join(named).split(",")
    app = fine_part(lesson, part, **link)
    assert not app.error and not [box for box in app.warning if box.icon == LINK_ICON]


@pytest.mark.parametrize(("lesson", "part"), [("errors", "people"), ("transformer", "patching")])
def test_another_lesson_is_whole_without_the_records(lesson, part, tmp_path, monkeypatch):
    monkeypatch.setattr(record, "EXPERIMENT_FOLDER", tmp_path)
    record.recorded.cache_clear()
    try:
        app = fine_part(lesson, part, show="1")
    finally:
        record.recorded.cache_clear()
    assert "What you have seen" in [head.value for head in app.subheader]
    assert "Now a real one" not in prose_of(app)


def test_many_chapters_look_at_the_real_model_and_offer_it_where_it_is_not(tmp_path, monkeypatch):
    assert len({look[:2] for look in REAL_LOOKS}) + len(CASES_ELSEWHERE) >= 25
    monkeypatch.setenv("LLMVIZ_MODELS", str(tmp_path))
    app = fine_part("training", "loss")
    assert "Now a real one" in " ".join(line.value for line in app.caption)
    assert "get smollm2" in " ".join(line.value for line in app.caption)
