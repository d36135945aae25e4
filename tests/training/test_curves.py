"""What a chart does to a curve: smoothing that never looks ahead, thinning that loses no peak."""

import csv
import dataclasses
import io
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmviz.training import curves
from llmviz.training.train_record import TrainRecord

numbers = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=80)
weights = st.floats(0, 0.999)


def record(step, loss=1.0, **more):
    values = dict(
        step=step,
        tokens=10 * step,
        train_loss=loss,
        validation_loss=None,
        lr=1e-3,
        grad_norm=0.5,
        tokens_per_second=100.0,
        seconds=0.1 * step,
    )
    return TrainRecord(**{**values, **more})


@given(st.floats(-1e6, 1e6), st.integers(1, 200), weights)
def test_smoothing_leaves_a_constant_constant(value, count, weight):
    assert np.allclose(curves.smooth(np.full(count, value), weight), value, rtol=1e-9, atol=1e-9)


@given(numbers, numbers, weights)
def test_smoothing_never_looks_ahead(past, future, weight):
    whole = curves.smooth(np.array(past + future), weight)
    assert np.array_equal(whole[: len(past)], curves.smooth(np.array(past), weight))


@given(numbers, weights)
def test_smoothing_is_a_mean_of_what_came(values, weight):
    means = curves.smooth(np.array(values), weight)
    for i in range(len(values)):
        shares = np.array([weight ** (i - j) for j in range(i + 1)])
        expected = np.dot(shares / shares.sum(), values[: i + 1])
        assert means[i] == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert np.array_equal(curves.smooth(np.array(values), 0), values)


@pytest.mark.parametrize("weight", [-0.1, 1.0, 2.0, math.nan])
def test_no_other_weight(weight):
    with pytest.raises(ValueError, match="weight of smoothing"):
        curves.smooth(np.ones(3), weight)


@given(st.lists(st.floats(-1e6, 1e6), min_size=0, max_size=400), st.integers(4, 120))
def test_thinning_keeps_the_ends_and_every_extreme(values, limit):
    values = np.array(values)
    kept = curves.thin(values, limit)
    assert len(kept) <= max(limit, 0) or len(values) <= limit
    assert np.array_equal(kept, np.unique(kept))
    if len(values) <= limit:
        assert len(kept) == len(values)
        return
    assert kept[0] == 0 and kept[-1] == len(values) - 1
    assert values[kept].max() == values.max() and values[kept].min() == values.min()


def test_a_single_spike_is_never_thinned_away():
    for at in range(0, 5000, 37):
        values = np.zeros(5000)
        values[at] = 9
        assert 9 in values[curves.thin(values, 100)]
    with pytest.raises(ValueError, match="at least 4"):
        curves.thin(np.ones(9), 3)


def test_many_runs_share_a_budget():
    assert (
        curves.points_each(1) == 8_000
        and curves.points_each(20) == 2000
        and curves.points_each(1000) == 400
    )


def test_units():
    assert curves.in_unit(math.log(27), "perplexity", 1.0) == pytest.approx(27)
    assert curves.in_unit(math.log(2), "bits", 0.5) == pytest.approx(0.5)
    assert curves.in_unit(np.array([1.0, 2.0]), "nats", 3.0).tolist() == [1.0, 2.0]
    assert curves.in_unit(1e4, "perplexity", 1.0) == math.inf
    with pytest.raises(ValueError, match="unit must be one of"):
        curves.in_unit(1.0, "dots", 1.0)


def test_a_file_is_read_on_and_the_curve_stays_the_same_object_until_it_grows(tmp_path):
    file = tmp_path / "metrics.jsonl"
    reader = curves.CurveFile(tmp_path)
    assert len(reader.read()) == 0
    lines = [record(1), record(2, sample="ab", validation_loss=0.5), record(3, notes=("slower",))]
    file.write_text("".join(line.to_json() + "\n" for line in lines[:2]), "utf-8")
    first = reader.read()
    assert reader.read() is first and first.steps.tolist() == [1, 2]
    with file.open("a", encoding="utf-8") as more:
        more.write(lines[2].to_json() + "\n" + '{"step": 4')
    grown = reader.read()
    assert grown.steps.tolist() == [1, 2, 3] and len(first) == 2
    whole = curves.Curve.from_records(lines)
    for name in ("steps", "tokens", "seconds", "train", "validation", "lr", "grad_norm", "rate"):
        assert np.array_equal(grown.column(name), whole.column(name), equal_nan=True)
    assert grown.samples == ((1, "ab"),) and grown.notes == ((2, "slower"),)
    assert grown.last_validation == 0.5 and curves.EMPTY.last_validation is None
    # Resumed from step 1: other lines stand there now.
    file.write_text("".join(r.to_json() + "\n" for r in (record(1), record(2, 7.0))), "utf-8")
    assert reader.read().train.tolist() == [1.0, 7.0]


def test_time_left_is_by_the_speed_of_the_newest_points():
    slow_then_quick = [record(i, seconds=100.0 + i) for i in range(1, 10)]
    slow_then_quick += [record(9 + i, seconds=109 + 0.1 * i) for i in range(1, 60)]
    assert curves.time_left(curves.Curve.from_records(slow_then_quick), 168) == pytest.approx(10)
    assert curves.time_left(curves.Curve.from_records([record(1)]), 9) is None
    assert curves.time_left(curves.Curve.from_records([record(8), record(9)]), 9) == 0


def test_the_table_of_runs_is_read_back_as_it_was():
    odd = '=HYPERLINK("http://x"), "quoted"\nline'
    records = [record(1, 1 / 3), record(2, 0.1, validation_loss=2 / 3, sample=odd)]
    text = "\n".join(
        [curves.CSV_HEAD, *curves.csv_rows("first, run", curves.Curve.from_records(records))]
    )
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["run"] for row in rows] == ["first, run"] * 2
    for row, original in zip(rows, records, strict=True):
        for name, value in dataclasses.asdict(original).items():
            if name == "sample":
                assert row[name] == ("'" + value if value else "")
            elif name != "notes":
                assert (float(row[name]) if row[name] else None) == value
