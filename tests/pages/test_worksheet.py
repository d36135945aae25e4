"""What is printed of a lesson asks what its pages ask, and tells no answer but on its own sheet."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from llmviz.cli import main
from llmviz.course.components.case_rows.view import Axis, Case, rows_payload
from llmviz.course.components.draw_on.view import Drawn, Hand, Scale, lines_payload
from llmviz.course.document import languages, texts_of
from llmviz.course.document.marks import unmarked
from llmviz.course.lessons import LESSONS
from llmviz.course.lessons.transformer.units import chapter as units
from llmviz.course.ui import worksheet
from llmviz.course.ui.furniture import words as furniture
from llmviz.course.ui.placed_question import elements, guess_in, questions_of
from llmviz.course.ui.state import LEARNER_TEXT
from llmviz.course.ui.worksheet import drawn
from tests.pages.asked import TAG
from tests.pages.harness import ROOT, open_part
from tests.pages.test_chapter_form import NUMBER, tells

BY_KEY = {lesson.key: lesson for lesson in LESSONS}
OWN = 'Seven <b>seals</b> sell & "sea" shells.</pre><script>x()</script>'


def plain(html: str) -> str:
    return " ".join(unescape(TAG.sub("", html)).split())


def test_a_worksheet_in_another_language_has_chapters_that_are_not_translated(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(languages, "_asks", lambda: "zh")
    sheet, _ = worksheet.write_sheets(BY_KEY["tokenization"], tmp_path)
    asking = plain(sheet.read_text("utf-8"))
    assert "如果全部大写，会变成几个？" in asking and "姓名" in asking
    assert asking.count(texts_of(furniture, "zh")["in_english"]) == len(asking.split("?part=")) - 2
    assert asking.count("?part=") == len(BY_KEY["tokenization"].chapters)


@pytest.mark.parametrize(
    ("key", "text"), [("tokenization", OWN), ("attention", None)], ids=["own", "given"]
)
def test_a_worksheet_asks_what_the_pages_ask_and_the_other_sheet_answers(key, text, tmp_path):
    lesson = BY_KEY[key]
    sheet, answers = worksheet.write_sheets(lesson, tmp_path / "new" / "folder", text)
    asking, telling = sheet.read_text("utf-8"), answers.read_text("utf-8")
    pages = worksheet.pages_of(lesson, text)
    questions = [one.question for page in pages for one in page.questions]
    link = {} if text is None else {"text": text}
    counts = {
        one.key: sum(
            guess_in(block) is not None
            for block in elements(open_part(key, one.key, show="1", **link).main)
        )
        for one in lesson.chapters
    }
    assert {page.key: len(page.questions) for page in pages} == {
        name: count for name, count in counts.items() if count
    }
    listed = [one.question for page in pages for one in page.questions if not one.picture]
    assert asking.count("☐") == sum(len(question.answers) for question in listed)
    assert asking.count("<figure>") == len(questions) - len(listed) > 0 == telling.count("<figure>")
    assert telling.count("☐") + len(questions) == sum(len(one.answers) for one in questions)
    assert "☒" not in asking
    assert telling.count("☒ is the") == 1 and telling.count("☒") == len(questions) + 1
    for question in questions:
        words = plain(worksheet.TERM.sub(r"\1", unmarked(question.text)))
        assert words in plain(asking) and words in plain(telling)
        right = plain(unmarked(question.answers[question.right]))
        assert f"☒ {right}" in plain(telling)
        assert plain(unmarked(question.reasons[question.right])) in plain(telling)
    for page in pages:
        for one in page.questions:
            numbers = set(NUMBER.findall(plain(one.text)))
            assert numbers.isdisjoint(tells(one.question)), one


@pytest.mark.parametrize("log", [False, True])
def test_an_axis_on_paper_is_marked_where_its_values_are(log):
    low, high = (1.0, 1000.0) if log else (0.0, 10.0)
    axis = Axis(low, high, "<b>how</b> many", log=log)
    row = Case("<i>mine</i>", None, note="?")
    html = str(drawn(rows_payload([row, row], axis, "count", "bar", [])))
    assert "<b>" not in html and "<i>" not in html
    found = [
        (float(x), text) for x, text in re.findall(r'<text x="([\d.]+)" y="80"[^>]*>([^<]+)<', html)
    ]
    ends = [float(x) for x in re.search(r'd="M([\d.]+) [\d.]+L([\d.]+)', html).groups()]
    by = math.log if log else float
    for (x, text), (value, said) in zip(found, axis.marks("count"), strict=True):
        share = (by(value) - by(low)) / (by(high) - by(low))
        assert text == said and x == pytest.approx(ends[0] + share * (ends[1] - ends[0]), abs=0.1)


def test_a_line_on_paper_ends_where_the_question_begins():
    line = Drawn("a < b", [1, 10], [0.5, 0.25])
    scales = Scale(1, 100, "steps", log=True), Scale(0, 1, "share")
    html = str(drawn(lines_payload([line], *scales, Hand([100]))))
    points = re.search(r'points="([^"]*)"', html)[1].split()
    (x0, y0), (x1, y1) = ([float(at) for at in point.split(",")] for point in points)
    assert x0 == 70 and x1 == pytest.approx((70 + 620) / 2) and y1 > y0
    assert "a &lt; b" in html


def test_the_text_of_a_class_is_data_and_its_links_carry_it():
    lesson = BY_KEY["tokenization"]
    pages = worksheet.pages_of(lesson, OWN, "https://school.example/app/")
    html = worksheet.html_of(lesson, pages, answers=False)
    assert "<script>" not in html and "<b>seals" not in html
    assert OWN in unescape(html)
    for page in pages:
        link = urlsplit(page.link)
        assert link.geturl().startswith("https://school.example/app/tokenization?")
        given = parse_qs(link.query)
        assert given["part"] == [page.key]
        assert LEARNER_TEXT.read(given["text"][0]) == OWN


def test_what_cannot_be_printed_is_refused_in_one_line_and_writes_nothing(tmp_path, capsys):
    for words, told in (
        (["tokenisation"], "nearest are tokenization"),
        (["glossary"], "there is no lesson 'glossary' with chapters"),
        (["history", "--text", "a"], "reads no text"),
        (["tokenization", "--text", "a" * 60_000], "too long"),
    ):
        lesson, *rest = words
        assert main(["worksheet", lesson, str(tmp_path / "out"), *rest]) == 2
        captured = capsys.readouterr()
        assert told in captured.err and len(captured.err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_script_is_told_which_files_were_written(tmp_path, capsys):
    assert main(["worksheet", "before_after", str(tmp_path / "out"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert {Path(name) for name in said["files"]} == {*(tmp_path / "out").iterdir()}


def test_the_two_tests_are_sheets_of_their_own(tmp_path):
    paths = worksheet.write_sheets(BY_KEY["before_after"], tmp_path)
    assert [path.name for path in paths] == [
        f"before_after-{when}{end}.html" for when in ("before", "after") for end in ("", "-answers")
    ]
    for path in paths:
        html = path.read_text("utf-8")
        answers = path.stem.endswith("answers")
        assert html.count("☒") == (11 if answers else 0)
        assert html.count("☐") == (30 if answers else 40)
        assert html.count("The capital of") == 1 and ("In your own words" in html) != answers


@pytest.mark.slow
def test_the_command_says_where_the_sheets_are_and_nothing_else(tmp_path):
    command = [sys.executable, "-m", "llmviz", "worksheet", "tokenization", str(tmp_path / "out")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    written = [
        tmp_path / "out" / name for name in ("tokenization.html", "tokenization-answers.html")
    ]
    assert done.stdout.splitlines() == list(map(str, written))
    assert all(path.read_text("utf-8").endswith("</html>") for path in written)


def test_what_grows_from_one_rerun_to_the_next_is_waited_for(bundle, monkeypatch):
    whole = questions_of("transformer", "units")
    units.growing.clear()
    monkeypatch.setattr(units, "SLICE", 0.001)
    assert not list(open_part("transformer", "units", show="1").radio)
    assert questions_of("transformer", "units") == whole and len(whole) == 1


def test_a_link_that_cannot_be_used_is_no_worksheet():
    with pytest.raises(ValueError, match=r"sampling/temperature: .*a number from"):
        questions_of("sampling", "temperature", temperature="hot")
