"""The chapter on numbers as bits: links, bad input, questions, and what its pictures are sent."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.efficiency.bits import (
    gradients,
    lost_updates,
    one_number,
    race,
    sums,
    words,
)
from llmviz.course.lessons.efficiency.bits.precision_race import WAYS, PrecisionEnd, PrecisionStep
from llmviz.course.lessons.efficiency.bits.step_gradients import ROWS, Sizes
from llmviz.course.lessons.efficiency.bits.written import written
from llmviz.pretrained import load_bundled
from llmviz.quantization.formats import BFLOAT16, FLOAT16, FORMATS
from tests.pages.conftest import use
from tests.pages.finished_job import FakeJob
from tests.pages.harness import boxes, fine, open_part, prose_of, sent


def opened_with(**link):
    app = open_part("efficiency", "bits", **link)
    fine(app)
    return app


@pytest.fixture(scope="module")
def opened():
    return opened_with(number="0.3", scalepower="9", updaterate="0.0003", updatein="float16")


def rows(app):
    return sent(app, "bit_rows")


def test_the_typed_number_and_all_formats_are_sent(opened):
    payload = rows(opened)
    assert float(payload["number"]) == 0.3 and payload["pattern"] == ""
    assert [one["name"] for one in payload["formats"]] == list(FORMATS)
    for one in payload["formats"]:
        assert sum(width for _, width in one["groups"]) == one["bits"] == FORMATS[one["name"]].bits
        assert one["scale"] == 1


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
    assert rule in boxes(app) and float(rows(app)["number"]) == one_number.EXAMPLE
    assert app.text_input[0].value == typed


@pytest.mark.parametrize("typed", ["nan", "inf", "-inf", "-0", "1e-60", "5e-324", "1.7e308"])
def test_numbers_at_the_edges_are_shown(typed):
    app = opened_with(number=typed)
    assert boxes(app) == "" and rows(app)["number"] == repr(float(typed))


def test_a_cell_outside_the_matrix_becomes_the_nearest_one():
    app = opened_with(numberfrom="weight", bitmodel="names-gpt", bitrow="999999", bitcolumn="5")
    model, *_ = load_bundled("names-gpt")
    weight = model.token.weight
    last = weight.shape[0] - 1
    assert f"bitrow = 999999 does not exist here; {last} is shown" in boxes(app)
    payload = rows(app)
    assert float(payload["number"]) == weight[last, 5].item()
    scales = {one["name"]: one["scale"] for one in payload["formats"]}
    largest = weight.abs().max().item()
    assert scales == {name: 1.0 for name in FORMATS} | {"int8": largest / 127, "int4": largest / 7}
    assert words.stored_16 in prose_of(app)


@pytest.mark.parametrize(
    ("link", "rule"),
    [
        ({"bitmatrix": "nowhere"}, "bitmatrix = nowhere does not exist here"),
        ({"bitmodel": "gone"}, "bitmodel = gone does not exist here"),
        ({"bitrow": "-1"}, "The link says bitrow=-1"),
    ],
)
def test_a_weight_that_is_not_there_is_told(link, rule):
    app = opened_with(numberfrom="weight", **link)
    assert rule in boxes(app) and math.isfinite(float(rows(app)["number"]))


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


@settings(deadline=None, max_examples=100)
@example(1.0)  # the next smaller number is only half as far away
@example(65504.0)  # no larger number follows
@given(some.floats())
def test_the_question_about_a_distance_has_one_right_answer(number):
    asked = one_number.question(number)
    held = float(FLOAT16.round(abs(number)))
    if not FLOAT16.smallest_normal <= held < FLOAT16.largest:
        held = 1.0
    assert f"from {written(held, 9)} to the next larger" in asked.text
    following = float(FLOAT16.decode(int(FLOAT16.encode(held)) + 1))
    assert asked.answers[asked.right] == written(following - held)
    power = math.floor(math.log2(held))
    assert f"e = {power}.".replace("-", "−") in asked.reasons[asked.right]


@pytest.mark.parametrize("large", words.large)
@pytest.mark.parametrize("small", words.small)
def test_the_question_about_a_sum_is_answered_by_the_sum(large, small):
    asked = sums.question(large, small)
    assert len(asked.answers) >= 2
    first = sums.sums_of(large, small, 1)["bfloat16"].running[1]
    assert asked.answers[asked.right] == written(float(first), 9)
    assert float(BFLOAT16.round(float(large))) == float(large)  # the texts call it by its name


@settings(deadline=None, max_examples=100)
@given(some.lists(some.floats(0, 1e4, width=32), max_size=20))
def test_the_question_about_the_scale_is_right_at_its_edges(sizes):
    held = Sizes(np.sort(np.array(sizes, dtype=np.float32)))
    asked = gradients.question(held)
    if not any(sizes):
        assert asked is None
        return
    power = gradients.needed_power(held)
    assert asked.answers[asked.right] == "2" + str(power).translate(SUPER)
    assert held.fates(power).vanish == 0
    assert power == 0 or held.fates(power - 1).vanish > 0


SUPER = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@settings(deadline=None, max_examples=60)
@given(some.fixed_dictionaries({name: some.floats(0, 1) for name in words.updated_in}))
def test_the_question_about_updates_has_different_answers(shares):
    asked = lost_updates.question("0.001", shares)
    assert len(asked.answers) >= 2
    assert asked.answers[asked.right] == lost_updates.kit.percent(shares["bfloat16"])


def bars(app, key):
    (chart,) = (one for one in app.get("plotly_chart") if one.proto.id.endswith(key))
    return json.loads(chart.proto.spec)["data"]


def test_the_bars_are_the_gradients_of_the_step_at_the_links_scale(opened):
    name = "tiny-world-char"
    step = gradients.step_of(gradients.engine.load(name))
    sizes = step.gradients["activations"]
    data = bars(opened, f"{gradients.KEY}.bars")
    shown = {power: count for one in data for power, count in zip(one["x"], one["y"], strict=True)}
    powers, counts = sizes.powers
    kept = counts > 0
    assert shown == dict(zip((powers[kept] + 9).tolist(), counts[kept].tolist(), strict=True))
    assert as_markdown(gradients.fates_told(sizes, 9)).split("**")[1] in prose_of(opened)
    fates = sizes.fates(9)
    assert sum(data[2]["y"]) == pytest.approx(fates.normal, abs=0.01 * fates.total)


def test_the_share_of_lost_updates_is_that_of_the_link(opened):
    name = "tiny-world-char"
    step = gradients.step_of(gradients.engine.load(name))
    share = step.lost_updates(FLOAT16, 0.0003)
    assert (
        f"<strong>{lost_updates.kit.percent(share)}</strong> of {len(step.weights):,} weights"
        in (prose_of(opened))
    )
    assert sum(sum(one["y"]) for one in bars(opened, f"{lost_updates.KEY}.bars")) == len(
        step.weights
    )


def test_every_model_of_the_gradients_can_be_chosen():
    from llmviz.course.lessons.efficiency.bits.params import PARAMS

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
    app = opened_with(**link)
    text = prose_of(app)
    assert "all in float16, no scale</strong> ended at step 2: the loss is not finite" in text
    assert "0.5000 nats per token above float32" in text and "90.0\u00a0%" in text
    table = next(one.value for one in app.dataframe if words.race_columns[0] in one.value)
    assert list(table[words.race_columns[3]]) == ["+0.0000", "+0.5000", "+1.0000"]
    assert list(table[words.race_columns[6]]) == ["0", "1", "0"]
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
        assert "a scale was not needed" in line
    else:
        assert f"{abs(more):.4f} nats per token" in line
        assert ("above float32" in line) == (more > 0)
    assert race.verdict(steps[:1]) == ""


def test_a_training_that_ended_early_counts_as_done():
    assert race.share_done(finished(), 3, 2) == 1.0
    assert race.share_done(FakeJob(finished().results[:3]), 3, 2) == 0.5


def test_a_race_without_a_way_says_so():
    app = opened_with()
    app.multiselect[0].set_value([]).run()
    fine(app)
    assert words.race_no_way in boxes(app)


def test_the_ways_of_the_page_are_those_of_the_study():
    assert list(words.race_ways) == list(WAYS)


@pytest.mark.usefixtures("bundle")
def test_a_copy_without_the_model_says_how_to_make_it():
    app = opened_with()
    assert "tiny-world-char is not in this copy" in boxes(app)


def test_without_any_model_the_typed_number_stands_for_the_weight(tmp_path, monkeypatch):
    use(monkeypatch, tmp_path)
    app = opened_with(numberfrom="weight", number="0.5")
    assert "names-gpt is not in this copy" in boxes(app)
    assert words.typed_instead.format(number="0.5") in prose_of(app)
    assert float(rows(app)["number"]) == 0.5


def test_the_end_says_how_formats_hold_numbers_of_any_kind():
    held = one_number.held_as
    assert held(0.5) == {"number": "0.5", "half": "0.5", "brain": "0.5", "eighth": "0.5"}
    assert held(70_000.0)["half"] == "∞" and held(70_000.0)["eighth"] == "448"
    assert held(math.nan)["half"] == "NaN"
