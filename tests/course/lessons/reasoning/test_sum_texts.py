"""Texts with sums: which are right, what a text for the training holds, and the bundled model."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments import sums as make_sums
from llmviz.course.lessons.reasoning import sum_texts as sums
from llmviz.nn.loss import IGNORED
from llmviz.paths import EXPERIMENT_FOLDER
from llmviz.training.files import read_json

NUMBER = st.integers(sums.LEAST, sums.MOST)
PAIR = st.tuples(NUMBER, NUMBER)


@given(PAIR)
def test_a_right_answer_is_the_sum_and_nothing_else(numbers):
    true = sum(numbers)
    for path in ("", "12,13", ",,"):
        assert sums.is_right(numbers, f"{path}:{true};")
    for wrong in (
        f":{true + 1};",
        f":{true}",
        f"{true};",
        f":0{true};",
        f":{true};{true};",
        f":{true}:{true};",
        ":;",
        "",
        f":{true}1;",
        f":1{true};",
    ):
        assert not sums.is_right(numbers, wrong)


@given(PAIR, st.integers(0, 10**6))
def test_a_drawn_text_fits_and_is_right_or_has_one_mistake(numbers, seed):
    text = make_sums.draw(np.random.default_rng(seed), numbers)
    found = re.fullmatch(r"(?:(\d+),(\d+))?:(\d+);", text)
    assert found and len(text) <= sums.LONGEST
    ones, tens = numbers[0] % 10 + numbers[1] % 10, numbers[0] // 10 + numbers[1] // 10
    answer, true = int(found[3]), sum(numbers)
    if found[1]:
        assert int(found[1]) == ones
        assert int(found[2]) in {tens, tens + ones // 10}
    forgotten = true - 10 * sums.carries(numbers)
    digits = [a != b for a, b in zip(str(answer), str(true), strict=False)]
    last = [a != b for a, b in zip(str(answer), str(true - 10), strict=False)]
    assert answer in (true, forgotten) or 1 in (sum(digits), sum(last))


def test_about_half_of_all_answers_are_wrong_and_half_of_the_carries_are_forgotten():
    rng, known = np.random.default_rng(0), sums.sums()[0][:6000]
    texts = [make_sums.draw(rng, one) for one in known]
    right = [sums.is_right(one, text) for one, text in zip(known, texts, strict=True)]
    assert np.mean(right) == pytest.approx(0.51, abs=0.03)
    carried = [
        text.endswith(f":{sum(one) - 10};")
        for one, text in zip(known, texts, strict=True)
        if sums.carries(one)
    ]
    assert np.mean(carried) == pytest.approx(make_sums.FORGOTTEN, abs=0.03)
    assert np.mean([text[0] != ":" for text in texts]) == pytest.approx(0.5, abs=0.03)


def test_held_out_sums_are_in_no_training():
    known, held = sums.sums()
    assert len(held) == sums.HELD_OUT
    assert len({*known, *held}) == len(known) + len(held) == 90 * 90


def test_only_what_stands_behind_the_question_is_learned():
    inputs, targets = make_sums.batch(np.random.default_rng(1))
    assert inputs.shape == targets.shape
    for row, target in zip(inputs, targets, strict=True):
        text = sums.decode(row)
        length = text.index(sums.TOKENS[sums.END]) if ";" in text else len(text)
        assert (target[: sums.QUESTION - 1] == IGNORED).all()
        learned = target[sums.QUESTION - 1 : length]
        assert sums.decode(learned) == text[sums.QUESTION : length] + ";"
        assert (target[length:] == IGNORED).all()


def test_numbers_of_other_lengths_and_missing_weights_are_refused(tmp_path):
    for numbers in ((9, 10), (10, 100), (-10, 20)):
        with pytest.raises(ValueError, match="from 10 to 99"):
            sums.question_of(numbers)
    with pytest.raises(ValueError, match=re.escape(sums.COMMAND)):
        sums.bundled(tmp_path)


def test_the_card_is_that_of_the_bundled_model():
    card = read_json(EXPERIMENT_FOLDER / sums.CARD)
    assert card["loss"] == pytest.approx(make_sums.card_of(sums.bundled())["loss"], abs=1e-3)
    assert card["texts"] == sums.BATCH * sums.STEPS


def test_a_short_training_learns():
    import torch

    def loss(model: object) -> float:
        inputs, targets = map(torch.from_numpy, make_sums.batch(np.random.default_rng(9)))
        with torch.no_grad():
            return float(model(inputs, targets)[1])

    assert loss(make_sums.train(12)) < loss(make_sums.train(1)) < np.log(len(sums.TOKENS)) + 1
