"""The chapter on numbers as bits: links, bad input, questions, and what its pictures are sent."""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise, product
from urllib.parse import parse_qsl

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.efficiency.bits import MOST, chapter, race, words
from llmviz.course.lessons.efficiency.bits.precision_race import WAYS, PrecisionEnd, PrecisionStep
from llmviz.course.lessons.efficiency.bits.small_sums import ADDED_IN
from llmviz.course.lessons.efficiency.bits.step_gradients import ROWS
from llmviz.quantization.formats import FLOAT16, FORMATS
from tests.pages.finished_job import FakeJob
from tests.pages.harness import boxes, fine, fine_part, prose_of, unpack_all

LOOK = re.compile("\ufdd9([^\ufdda]*)\ufdda")  # as a document marks the state of a look


def opened_with(**link):
    return fine_part("efficiency", "bits", **link)


@pytest.fixture(scope="module")
def opened():
    return opened_with(number="0.3", scalepower="9", updaterate="0.0003", updatein="float16")


def rows(app):
    """The board of a number; the film of the sums stands above it."""
    return unpack_all(app, "bit_rows")[1]


def test_the_typed_number_and_all_formats_are_sent(opened):
    payload = rows(opened)
    assert float(payload["number"]) == 0.3 and payload["pattern"] == ""
    assert [one["name"] for one in payload["formats"]] == list(FORMATS)
    for one in payload["formats"]:
        assert sum(width for _, width in one["groups"]) == one["bits"] == FORMATS[one["name"]].bits


def test_every_word_that_the_browser_asks_for_is_there(opened):
    """The names in braces are those that the script fills in."""
    fates = rows(opened)["words"]["fates"]
    assert set(fates) == {"exact", "rounded", "vanishes", "overflows"}


@pytest.mark.parametrize(
    ("typed", "rule"),
    [
        ("abc", "A number is needed"),
        ("", "A number is needed"),
        ("1e400", "1e400 is too large"),
        ("<b>1</b>", "A number is needed"),
    ],
)
def test_what_is_no_number_is_refused_in_one_line_and_stays_in_its_box(typed, rule):
    app = opened_with(number=typed)
    assert rule in boxes(app) and float(rows(app)["number"]) == chapter.EXAMPLE
    assert app.text_input[0].value == typed


@pytest.mark.parametrize("typed", ["nan", "inf", "-inf", "-0", "1e-60", "5e-324", "1.7e308"])
def test_numbers_at_the_edges_are_shown(typed):
    app = opened_with(number=typed)
    assert boxes(app) == "" and rows(app)["number"] == repr(float(typed))


def test_flipped_bits_come_from_the_link_and_go_with_another_number():
    app = opened_with(pattern="float16:15361")
    assert rows(app)["pattern"] == "float16:15361"
    app.text_input[0].set_value("2").run()
    fine(app)
    assert rows(app)["pattern"] == "" and "pattern" not in app.query_params


@pytest.mark.parametrize("pattern", ["float16:65536", "float16:-1", "float64:1", "int4:²", "x"])
def test_flipped_bits_that_are_no_pattern_are_told(pattern):
    app = opened_with(pattern=pattern)
    assert "The flipped bits of the link cannot be shown" in boxes(app)
    assert rows(app)["pattern"] == ""


CHOICES = list(product(words.large, words.small))


@pytest.mark.parametrize(("large", "small"), CHOICES)
def test_the_question_about_float16_is_answered_by_its_sums(large, small):
    asked, sums = chapter.question(large, small), chapter.sums_of(large, small)
    ends = {name: float(sums[name].running[-1]) for name in ADDED_IN}
    exact = float(large) + float(small) * MOST
    if asked is None:  # float16 gets as far as bfloat16, or nearly
        assert ends["float16"] - ends["bfloat16"] < chapter.APART * 1.01 * exact
        return
    values = [value for (value,) in asked.values]
    assert values[asked.right] == ends["float16"]
    apart = sorted(values)
    assert all(b - a >= 0.99 * chapter.APART * exact for a, b in pairwise(apart))
    # What the reason says: it stands still, as a step is at most half of the way to the next.
    assert sums["float16"].running[-2] == ends["float16"]
    assert sums["float16"].small <= FLOAT16.spacing(ends["float16"]) / 2


def test_the_film_hides_the_sum_that_is_asked_for(monkeypatch):
    monkeypatch.setattr("llmviz.course.ui.guess_given.COVERS", True)
    film = unpack_all(opened_with(), "bit_rows")[0]
    assert film["film"]["sums"]["float16"] is None and film["film"]["sums"]["bfloat16"]
    assert "{float16}" not in film["words"]["film"]
    told = unpack_all(opened_with(show="1"), "bit_rows")[0]
    assert told["film"]["sums"]["float16"][-1] == 4


def test_the_looks_show_what_they_say():
    def at(look):
        link = dict(parse_qsl(LOOK.findall(look)[0]))
        sums = chapter.sums_of(link["sumlarge"], link["sumsmall"])
        return {name: sums[name].running[: int(link["added"]) + 1] for name in ADDED_IN}

    first, two, four, larger, high = map(at, words.looks)
    bits = [[int(FORMATS[n].encode(value)) for value in first[n]] for n in ("float16", "bfloat16")]
    assert [(a ^ b).bit_count() for a, b in bits] == [1, 0]
    assert two["float16"][-1] == 2 and FLOAT16.spacing(2.0) == 2 * FLOAT16.spacing(1.9)
    assert 1.9 < FLOAT16.spacing(2.0) / 0.001 < 2
    assert four["float16"][-1] == 4 > 1 + 0.001 * 2048
    assert chapter.sums_of("1", "0.001")["float16"].running[-1] == 4
    assert larger["bfloat16"][-1] == larger["bfloat16"][300] == 4
    assert (high["float16"] == 256).all() and (high["bfloat16"] == 256).all()
    assert high["float32"][-1] > 600


@pytest.mark.parametrize("added", [0, 1, 17, 1024, MOST])
def test_the_film_stands_at_the_additions_of_the_link(added):
    payload = unpack_all(opened_with(added=str(added)), "bit_rows")[0]
    film = payload["film"]
    assert film["stops"][payload["step"]] == added
    assert film["exact"][payload["step"]] == pytest.approx(1 + 0.001 * added)
    for name, own in film["sums"].items():
        assert (
            own is None
            or own[payload["step"]] == chapter.sums_of("1", "0.001")[name].running[added]
        )


def bars(app, key):
    (chart,) = (one for one in app.get("plotly_chart") if one.proto.id.endswith(key))
    return json.loads(chart.proto.spec)["data"]


def test_the_bars_are_the_gradients_of_the_step_at_the_links_scale(opened):
    name = "tiny-world-char"
    step = chapter.step_of(chapter.engine.load(name))
    sizes = step.gradients["activations"]
    data = bars(opened, f"{chapter.GRADIENTS_KEY}.bars")
    shown = {power: count for one in data for power, count in zip(one["x"], one["y"], strict=True)}
    powers, counts = sizes.powers
    kept = counts > 0
    assert shown == dict(zip((powers[kept] + 9).tolist(), counts[kept].tolist(), strict=True))
    assert as_markdown(chapter.fates_told(sizes, 9)).split("**")[1] in prose_of(opened)
    fates = sizes.fates(9)
    assert sum(data[2]["y"]) == pytest.approx(fates.normal, abs=0.01 * fates.total)


def test_the_share_of_lost_updates_is_that_of_the_link():
    opened = opened_with(bittraining="update", updaterate="0.0003", updatein="float16")
    name = "tiny-world-char"
    step = chapter.step_of(chapter.engine.load(name))
    share = step.lost_updates(FLOAT16, 0.0003)
    said = prose_of(opened)
    assert f"<strong>{chapter.kit.percent(share)}</strong> of the changes" in said
    assert f"{len(step.weights):,} weights" in said
    assert sum(sum(one["y"]) for one in bars(opened, f"{chapter.UPDATES_KEY}.bars")) == len(
        step.weights
    )


@given(some.fixed_dictionaries(dict.fromkeys(words.updated_in, some.sampled_from([0, 0.3, 1]))))
def test_none_and_all_changes_have_words_of_their_own(shares):
    for kind, share in shares.items():
        line = chapter.lost_told("0.01", kind, shares)
        assert ("loses no change" in line) == (share == 0)
        assert ("loses every change" in line) == (share == 1)


@given(some.integers(-40, 40))
def test_lost_gradients_are_said_to_become_what_they_become(power):
    sizes = chapter.step_gradients.Sizes(np.array([0.0, 1e-3, 1.0], dtype=np.float32))
    fates, line = sizes.fates(power), chapter.fates_told(sizes, power)
    assert ("loses none" in line) == (fates.lost == 0)
    assert ("become 0" in line or "some become 0" in line) == (fates.vanish > 0)
    assert ("infinite" in line) == (fates.overflow > 0)


def test_every_model_of_the_gradients_can_be_chosen():
    from llmviz.course.lessons.efficiency.bits import PARAMS

    (param,) = (one for one in PARAMS if one.key == "gradmodel")
    for name in ROWS:
        assert param.read(name) == name


def a_step(way, step, loss, **more):
    values = {"held_out": loss, "zero": 0.1, "unchanged": 0.2, "skipped": False, "seconds": 1.0}
    return PrecisionStep(way, step, loss, **(values | more))


def finished(float16=2.5, skipped=False):
    problem = "the loss is not finite at step 2 (learning rate 0.1); no earlier loss is known; try"
    results = [
        a_step("float32", 1, 3.0),
        a_step("float16", 1, 3.0),
        a_step("float16-all", 1, 3.0),
        a_step("float32", 2, 2.0),
        a_step("float16", 2, float16, zero=0.9, skipped=skipped),
        PrecisionEnd("float16-all", 2, problem),
        PrecisionEnd("float32", 2, ""),
        PrecisionEnd("float16", 2, ""),
    ]
    return FakeJob(results)


def test_a_finished_training_is_drawn_and_told(monkeypatch):
    job = finished(skipped=True)
    monkeypatch.setattr(race, "race_of", lambda *given: job)
    link = {"ways": "float32,float16,float16-all", "precisionrun": "1", "racesteps": "20"}
    app = opened_with(bittraining="race", **link)
    text = prose_of(app)
    assert "all in float16, no scale</strong> ended at step 2: the loss is not finite" in text
    assert "0.50 above float32" in text and "90.0\u00a0%" in text
    ends = unpack_all(app, "case_rows")[-1]["rows"]
    assert [one["value"] for one in ends] == [2.0, 2.5, 3.0]
    loss = bars(app, f"{race.KEY}.loss")
    assert [one["name"] for one in loss] == [words.race_ways[w] for w in link["ways"].split(",")]
    assert loss[0]["y"] == [3.0, 2.0] and loss[2]["y"] == [3.0]


@settings(deadline=None, max_examples=60)
@given(some.floats(0, 9), some.floats(0, 9))
def test_the_verdict_agrees_with_its_numbers(plain, half):
    steps = (a_step("float32", 1, plain), a_step("float16", 1, half, zero=0.5))
    line = race.verdict(steps)
    more = round(half - plain, 4)
    if abs(more) < race.NEAR:
        assert line == words.race_same
    else:
        assert f"{abs(more):.2f} {'above' if more > 0 else 'below'} float32" in line
    assert race.verdict(steps[:1]) == ""


def test_a_training_that_ended_early_counts_as_done():
    assert race.share_done(finished(), 3, 2) == 1.0
    assert race.share_done(FakeJob(finished().results[:3]), 3, 2) == 0.5


def test_a_race_without_a_way_says_so():
    app = opened_with(bittraining="race")
    app.multiselect[0].set_value([]).run()
    fine(app)
    assert words.race_no_way in boxes(app)


def test_the_ways_of_the_page_are_those_of_the_study():
    assert list(words.race_ways) == list(WAYS)


@pytest.mark.usefixtures("bundle")
def test_a_copy_without_the_model_says_how_to_make_it():
    app = opened_with()
    assert "tiny-world-char is not in this copy" in boxes(app)


def test_the_end_says_how_formats_hold_numbers_of_any_kind():
    held = chapter.held_as
    assert held(0.5) == {"number": "0.5", "half": "0.5", "brain": "0.5", "eighth": "0.5"}
    assert held(70_000.0)["half"] == "∞" and held(70_000.0)["eighth"] == "448"
    assert held(math.nan)["half"] == "NaN"
