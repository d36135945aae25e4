"""The chapter "Watermark": its guess, and what its sentences say at any setting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmviz.course.lessons.next.watermark import PARAMS, chapter, model
from llmviz.course.lessons.next.watermark.model import ALARM
from llmviz.course.ui import engine
from llmviz.sampling.watermark import Evidence, Watermark, binomial_tail, evidence
from tests.pages.harness import (
    boxes,
    fine_part,
    open_part,
    prose_of,
    run_snippet,
    sent,
    snippets,
)


def page_of(**link: str):
    return fine_part("next", "watermark", **link)


def evidence_with(green: list[bool], share: float) -> Evidence:
    lit, each = np.array(green, dtype=bool), np.ones(len(green), dtype=bool)
    tails = [binomial_tail(int(lit[:n].sum()), n, share) for n in range(1, len(green) + 1)]
    return Evidence(lit, each, np.array(tails), share)


def test_the_line_is_guessed_and_what_tells_it_does_not_travel(covers):
    page = page_of()
    (line,) = sent(page, "draw_on")["lines"]
    assert len(line["y"]) == chapter.KNOWN
    told = page_of(show="1")
    line, *ghosts = sent(told, "draw_on")["lines"]
    assert len(line["y"]) == model.TOKENS and not ghosts, "nobody guessed"
    rings = 1 + int(np.argmax(np.array(line["y"]) >= 1 / ALARM))
    assert f"rings at token {rings}." in prose_of(told)


def test_the_wrong_guesses_count_green_ones_alone_or_see_nothing():
    found = evidence_with([True, False] * 30, 0.25)
    asked = chapter.question(found)
    right, hits, flat = asked.values
    assert right == chapter.heights(found.chance, found)[chapter.KNOWN :]
    assert hits[0] == pytest.approx(4.0**4) and flat == (flat[0],) * len(right)
    assert len(set(asked.answers)) == 3 and asked.right == 0


@given(
    green=st.lists(st.booleans(), max_size=60),
    share=st.sampled_from([0.01, 0.25, 0.5, 0.99]),
    push=st.sampled_from([0.0, 2.0]),
    other=st.booleans(),
)
def test_what_is_said_of_a_text_holds_where_none_or_all_or_one_is_green(green, share, push, other):
    found = evidence_with(green, share)
    mark = Watermark(7, share, push)
    counted = chapter.counted(found)
    kinds = {"nothing": not green, "none": bool(green) and not any(green)}
    kinds |= {"all": bool(green) and all(green)}
    how = next((name for name, holds in kinds.items() if holds), "some")
    assert counted == chapter.words.counted[how].format(**chapter.numbers(found))
    said = chapter.alarm_read(found, mark, Watermark(8 if other else 7, share, push))
    assert ("rings" in said.partition("**.")[0] and "never" not in said) == (
        found.rings(ALARM) is not None and push > 0 and not other
    )
    assert ("false" in said) == (found.rings(ALARM) is not None and (other or not push))
    if "as green" in said and "most" not in said:
        named = int(said.rpartition(" in ")[2].partition(" ")[0].replace(",", ""))
        assert named < 1 / ALARM and named <= model.odds(found.chance[-1]), "as it never rang"
    question = chapter.question(found)
    if question is not None:
        assert len(set(question.answers)) == 3
        assert all(len(line) == len(green) - chapter.KNOWN for line in question.values)
    key_question = chapter.key_question(found)
    assert key_question is None or len(set(key_question.answers)) == 3


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ({"markkey": "seven"}, "whole number"),
        ({"markkey": "1.5"}, "whole number"),
        ({"markkey": ""}, "whole number"),
        ({"markread": "<b>"}, "whole number"),
        ({"markshare": "0.0"}, "a number from 0.05 to 0.95"),
        ({"markshare": "1.0"}, "a number from 0.05 to 0.95"),
        ({"markpush": "-1"}, "a number from 0 to 10"),
        ({"markpush": "nan"}, "a number from 0 to 10"),
        ({"markheat": "0"}, "is needed"),
    ],
)
def test_what_is_no_mark_is_refused_and_stays_in_its_field(link, said):
    page = open_part("next", "watermark", **link)
    assert not page.exception
    assert said in boxes(page)
    for name in {"markkey", "markread"} & set(link):
        assert link[name] in [field.value for field in page.text_input]
    assert page.slider, "the controls are still there"


def test_each_end_of_a_slider_is_a_mark():
    for slider in page_of().slider:
        for end in (slider.min, slider.max):
            page = page_of(show="1")
            one = next(each for each in page.slider if each.label == slider.label)
            one.set_value(end).run()
            assert not page.exception and not page.error, (slider.label, end)
            assert sent(page, "draw_on")["lines"]


@pytest.mark.parametrize("key", ["-3", "٣", "99999999999999999999"])
def test_any_whole_number_is_a_key(key):
    mark = Watermark(int(key), 0.25, 3.0)
    text = chapter.written(engine.load(model.MODEL), (), mark, 1.0, 7, model.TOKENS)
    page = page_of(show="1", markkey=key)
    assert chapter.counted(evidence(text.ids, mark)) in prose_of(page)


def test_the_looks_show_what_they_say():
    def found_at(**link: str) -> Evidence:
        page_of(show="1", **link)
        state = {
            param.key: param.read(link.get(param.key, param.write(param.default)))
            for param in PARAMS
        }
        mark, reader = chapter.marks(state)
        dice = float(state["markheat"]), state["markdraw"], model.TOKENS
        text = chapter.written(engine.load(model.MODEL), (), mark, *dice)
        return evidence(text.ids, reader)

    first = found_at()
    assert first.rings(ALARM) is not None
    for link in ({"markpush": "0.0"}, {"markheat": "0.01"}, {"markread": "8"}):
        found = found_at(**link)
        assert found.rings(ALARM) is None and found.chance[-1] > 0.01, link
    assert found_at(markpush="8.0").rings(ALARM) < first.rings(ALARM)


def test_the_real_model_writes_where_it_is_here_and_is_offered_where_not(monkeypatch):
    monkeypatch.setattr(chapter.engine, "obtained", dict)
    page = page_of(show="1")
    assert "next.watermark.run" not in {button.key for button in page.button}


def test_a_text_of_the_chapter_is_counted_as_a_detector_counts_it():
    mark = Watermark(7, 0.25, 3.0)
    text = chapter.written(engine.load(model.MODEL), (), mark, 1.0, 7, model.TOKENS)
    row = chapter.row_of(text.pieces, evidence(text.ids, mark))
    assert sum(row.values) == evidence(text.ids, mark).count
    assert len(row.tokens) == model.TOKENS


def test_the_code_of_the_picture_counts_what_the_picture_counts():
    ((snippet, prints),) = snippets(page_of(show="1", markpush="2.0", markread="8", markheat="0.3"))
    assert run_snippet(snippet).strip() == prints.strip()


@pytest.mark.parametrize("change", [{"markpush": "8.0"}, {"markheat": "0.01"}, {"markdraw": "3"}])
def test_another_text_is_drawn_beside_the_one_that_is_asked_about(change):
    (asked,) = sent(page_of(show="1"), "draw_on")["lines"]
    page = page_of(show="1", **change)
    now, first, *ghosts = sent(page, "draw_on")["lines"]
    assert first["y"] == asked["y"] and now["y"] != asked["y"] and not ghosts
    assert "Before this change" not in prose_of(page)
    assert "rings at token" in prose_of(page)
