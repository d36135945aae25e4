"""One row in the chapter on quantization: its cells, their arithmetic, one large weight."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.course.lessons.efficiency.quantization import row, words
from llmviz.course.lessons.efficiency.quantization.model import row_steps
from tests.pages.harness import boxes, sent
from tests.pages.quantization_chapter import opened, schemes


def number(text: str) -> float:
    return float(text.replace("−", "-"))


@pytest.mark.parametrize("form", words.forms)
def test_each_cell_follows_from_the_cells_above_it(bundle, form):
    app = opened(qform=form, qbits="3", qper="group", qgroup="8", qtimes="4")
    grid = sent(app, "cell_grid")
    written = dict(zip(grid["rowNames"], grid["texts"], strict=True))
    named = {
        name: [number(text) for text in written.get(words.steps[name], ())] for name in words.steps
    }
    assert ("shifted" in named) and bool(named["shifted"]) == (form == "asymmetric")
    codes = range(8) if form == "asymmetric" else range(-3, 4)
    for column, code in enumerate(named["codes"]):
        w, s = named["weights"][column], named["scale"][column]
        assert named["divided"][column] == pytest.approx(w / s, abs=0.02 + 1e-3 * abs(w / s))
        assert code in codes
        zero = 0
        if form == "asymmetric":
            zero = named["shifted"][column] - named["rounded"][column]
        assert named["restored"][column] == pytest.approx((code - zero) * s, abs=3e-4)
        assert abs(named["error"][column]) <= s / 2 + 2e-4
    # The line of a cell says what stands in it.
    notes = dict(zip(grid["rowNames"], grid["notes"], strict=True))
    for name, line in notes.items():
        for text, note in zip(written[name], line, strict=True):
            if name == words.steps["scale"]:  # one digit more, enough to divide by
                assert number(note.split(": ")[1]) == pytest.approx(number(text), abs=1e-5)
            else:
                assert text in note


steps_of_rows = some.builds(
    lambda seed, size, shape: shape(random_row(seed) * size),
    some.integers(0, 2**31),
    some.sampled_from([1e-5, 0.003, 0.1, 20.0]),
    some.sampled_from([np.array, np.abs, np.zeros_like, lambda w: w * 0 + w[0], np.round]),
)


def random_row(seed):
    return np.random.default_rng(seed).standard_normal(16)


@settings(max_examples=80, deadline=None)
@given(steps_of_rows, schemes, some.booleans())
def test_the_arithmetic_of_a_cell_is_true_as_it_is_written(weights, scheme, half):
    import torch

    if half:  # in symmetric codes of 2 bits, half the largest weight is half a step
        weights[1] = weights[0] / 2
    scheme = dataclasses.replace(scheme, group=8)
    found = row_steps(torch.tensor(weights[None], dtype=torch.float32), 0, scheme)
    here = row.Place("blocks.0.attn.qkv", 0, 3, 1, 16)
    notes = row.notes_of(found, here, scheme, range(16), 5)
    assert ("shifted" in notes) != scheme.symmetric
    for column in range(16):
        line = {name: notes[name][column] for name in notes}
        assert all("{" not in one and "-" not in one for one in line.values())
        assert not any(re.search(r"−0(\.0*)?(?![\d.])", one) for one in line.values())
        assert ("multiplied by 5" in line["weights"]) == (column == 3)
        w, s, divided = (number(one) for one in re.split(" [÷=] ", line["divided"])[2:])
        assert divided == pytest.approx(w / s, abs=0.03)
        nearest, whole = re.findall(r"−?[\d.]+", line["rounded"])[:2]
        assert abs(number(nearest) - number(whole)) <= 0.5
        assert (abs(number(nearest)) % 1 == 0.5) == ("halfway" in line["rounded"])
        *_, error, half_step = re.findall(r"−?[\d.]+", line["error"])
        assert abs(number(error)) <= number(half_step) * 1.02


def test_the_enlarged_weight_is_the_largest_and_its_neighbours_pay(bundle):
    app = opened(qper="channel", qtimes="30", qgroup="8")
    grid = sent(app, "cell_grid")
    (column,) = np.flatnonzero(np.reshape(grid["strong"], grid["values"].shape)[0])
    weights = [abs(number(text)) for text in grid["texts"][0]]
    assert column == int(np.argmax(weights))


def test_a_group_that_is_larger_than_a_row_is_refused_in_one_line(bundle):
    app = opened(qper="group", qgroup="32")
    assert "group must be at most 24, the weights of a row; got 32" in boxes(app)
