"""The questions of the lesson on attention: what they ask for is covered until it is answered."""

from __future__ import annotations

import numpy as np
import pytest

from llmviz.course.lessons.attention.heads import asking_heads
from tests.pages.attention_models import matrices_of
from tests.pages.attention_models import models as models
from tests.pages.harness import fine_part, press, sent


def hidden_cells(app) -> dict[str, list]:
    return {m["name"]: m["hidden"] for m in matrices_of(app) if m["hidden"]}


@pytest.mark.parametrize("rung", ["simple", "causal", "dropout", "heads"])
@pytest.mark.parametrize("source", ["roles", "journey", "model"])
def test_the_shares_in_question_are_covered_until_one_is_guessed(rung, source, covers):
    link = {"source": source, "rung": rung, "model": "narrow", "text": "the cat and the dog"}
    app = fine_part("attention", "steps", **link)
    found, rows = hidden_cells(app), sent(app, "case_rows")["rows"]
    if not found:  # one word has all, say
        assert all(row["value"] is not None for row in rows)
        return
    assert all(row["value"] is None for row in rows)
    weights = next(name for name in found if name.startswith("weights"))
    size = len(rows)
    assert found[weights] == [[size - 1, column] for column in range(size)]
    assert all({row for row, _ in cells} == {size - 1} for cells in found.values())
    values = next(m["values"] for m in matrices_of(app) if m["name"] == weights)
    press(app, "Show me without an answer")
    assert hidden_cells(app) == {}
    told = [row["value"] for row in sent(app, "case_rows")["rows"]]
    np.testing.assert_allclose(told, values[-1], atol=1e-6)


def test_too_few_tokens_or_equal_weights_ask_nothing():
    for words_typed in ("step", "step one"):
        app = fine_part("attention", "steps", source="journey", words=words_typed)
        assert hidden_cells(app) == {} and not app.radio


@pytest.mark.parametrize("size", ["1", "64", "512"])
def test_no_share_of_a_larger_head_travels_until_one_is_guessed(covers, size):
    app = fine_part("attention", "scale", size=size)
    rows = {row["label"][0][0]: row["value"] for row in sent(app, "case_rows")["rows"]}
    assert {name for name, value in rows.items() if value is not None} == {
        "d = 1",
        "d = 4",
        "d = 16",
    }
    press(app, "Show me without an answer")
    assert all(row["value"] for row in sent(app, "case_rows")["rows"])


def test_only_the_first_head_travels_until_it_is_answered(covers, monkeypatch):
    monkeypatch.setattr(asking_heads, "APART", 0)
    app = fine_part("attention", "heads")
    (drawn,) = matrices_of(app)
    assert drawn["values"][0].any() and not drawn["values"][1:].any()
    press(app, "Show me without an answer")
    values = matrices_of(app)[0]["values"]
    assert values.any(1).all() and np.allclose(values.sum(1), 1, atol=0.1)
