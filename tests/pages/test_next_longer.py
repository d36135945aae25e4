"""The chapter "Longer texts": what its pictures hold, and what it says in each state."""

from __future__ import annotations

import pytest

from llmviz.course.lessons.next.longer import chapter, words
from llmviz.course.lessons.next.longer.longer_record import BIN, KINDS, TIMES, WAYS, recorded
from tests.pages.harness import fine, open_part, prose_of, sent, unpack_all


@pytest.mark.parametrize("way", [*WAYS, "learned"])
@pytest.mark.parametrize("tuned", ["0", "1"])
def test_each_state_draws_its_line_and_says_what_it_wastes(way, tuned):
    app = open_part("next", "longer", show="1", stretch=way, stretchtuned=tuned)
    fine(app)
    kind = f"{way}-tuned" if tuned == "1" and way != "learned" else way
    drawn, _ = [{line["label"] for line in one["lines"]} for one in unpack_all(app, "draw_on")]
    lines = [chapter.line_of(recorded(), one) for one in {"plain", kind}]
    assert drawn == {line.label for line in lines}
    assert len({line.role for line in lines}) == len(lines), "each has a colour of its own"
    (practice,) = app.toggle
    assert practice.disabled == (way == "learned")
    assert f"{recorded().far(kind).mean():.2f}" in prose_of(app)


def test_nothing_beyond_the_context_is_sent_before_the_guess(covers):
    app = open_part("next", "longer")
    fine(app)
    (line,) = sent(app, "draw_on")["lines"]
    assert len(line["x"]) == recorded().context // BIN
    assert f"{recorded().far('plain').mean():.2f}" not in prose_of(app)
    assert "bar is" not in prose_of(app), "nothing is said of pictures that are not there yet"


def test_the_question_has_the_rest_of_the_line_and_two_other_ones():
    found, asked = recorded(), chapter.question(recorded())
    known = found.context // BIN
    assert list(asked.values[asked.right]) == found.over_floor("plain")[known:].tolist()
    assert len({*asked.values}) == 3 and len(asked.values[0]) == (TIMES - 1) * known


def test_the_bars_are_the_means_of_three_trainings_each():
    app = open_part("next", "longer", show="1")
    rows, windows = (bars["rows"] for bars in unpack_all(app, "case_rows"))
    assert len(rows) == len(KINDS)
    for row, kind in zip(rows, KINDS, strict=True):
        assert row["value"] == pytest.approx(sum(row["dots"]) / 3)
        assert row["value"] == pytest.approx(float(recorded().far(kind).mean()))
    assert len(windows) == len({str(row["label"]) for row in windows}) == 4
    assert {*words.lines} == {*WAYS, "learned", "tuned"}


@pytest.mark.parametrize(("own", "free"), [(1, 1), (1, 0), (0, 1), (0, 0)])
def test_each_twin_is_said_to_miss_its_beginning_or_not(own, free):
    said = words.first_read[chapter.who_misses({"own": bool(own), "free": bool(free)})]
    assert len({*words.first_read.values()}) == 4
    assert ("neither" in said or "Both" in said) == (own == free)
