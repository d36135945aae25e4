"""The lesson on attention: bad input, and what is said about it."""

from __future__ import annotations

import pandas as pd
import pytest

from llmviz.course.lessons.attention import params
from llmviz.course.lessons.attention.heads import switching
from llmviz.course.lessons.attention.inputs import examples
from llmviz.course.lessons.attention.steps import words
from llmviz.course.ui import engine, model_on_text
from tests.pages import harness
from tests.pages.attention_models import PARTS
from tests.pages.attention_models import models as models

ODD_TEXTS = ["a", "   ", "a\x00b", "<|endoftext|>", "<b>x</b> [[token]] {0} $x$", "🙂é한"]


def test_one_token_is_said_to_look_at_itself():
    app = harness.fine_part("attention", "steps", source="journey", words="step")
    assert words.one_token in harness.prose_of(app)
    for part in PARTS:
        harness.fine_part("attention", part, source="model", model="narrow", text="a")


def test_more_tokens_than_the_context_are_cut_saying_where(models):
    text = "the cat sat on the mat and the dog sat on the cat. " * 5
    app = harness.fine_part("attention", "trained", model="narrow", text=text)
    line = next(
        m for m in harness.messages(app) if "context of narrow holds only the first 24" in m
    )
    tokenizer = models["narrow"].tokenizer
    last = model_on_text.names_of(tokenizer.encode(text)[22:23], tokenizer)[0]
    assert f"{len(tokenizer.encode(text)) + 1:,} tokens long" in line and last in line


@pytest.mark.parametrize(
    ("cell", "rule"),
    [
        ("nan", "finite"),
        ("-inf", "finite"),
        ("cat", "not a number"),
        ("", "empty"),
    ],
)
def test_an_edited_matrix_needs_numbers(cell, rule):
    rows = f"1,0,0,0;0,1,0,0;0,0,1,{cell};0,0,0,1"
    with pytest.raises(ValueError, match=rf"row 2, column 3 is .*{rule}|row 2, column 3.*{rule}"):
        params.parse_matrix(rows)
    app = harness.fine_part("attention", "steps", wq=rows)
    assert any("row 2, column 3" in m for m in harness.messages(app))


@pytest.mark.parametrize("cell", [None, float("nan"), float("inf"), "cat"])
def test_a_table_with_a_bad_cell_is_refused(cell):
    table = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], dtype=object)
    assert examples.checked(table) == "1,2;3,4"
    table.iat[1, 0] = cell
    with pytest.raises(ValueError, match="row 1, column 0"):
        examples.checked(table)


def test_matrices_of_another_shape_are_refused():
    for rows in ("1,2;3", "1,2;3,4", ";".join(["1"] * 40)):
        app = harness.fine_part("attention", "steps", wq=rows)
        assert harness.messages(app), rows
    with pytest.raises(ValueError, match="same number of cells"):
        params.parse_matrix("1,2;3")


def test_every_later_matrix_follows_an_edit():
    nothing = ";".join(["0,0,0,0"] * 4)
    app = harness.fine_part("attention", "steps", source="cat", rung="causal", wv=nothing)
    snippet, prints = harness.snippets(app)[0]
    assert prints.count("0.000") == 4
    assert harness.run_snippet(snippet).strip() == prints


@pytest.mark.parametrize(
    ("link", "rule"),
    [
        ({"mask": "own", "own": "100.000.111"}, "row 1 of the mask may look at no token"),
        ({"mask": "padding", "real": "0"}, "1 to 3 can be real, but the number is 0"),
        ({"mask": "padding", "real": "9"}, "1 to 3 can be real, but the number is 9"),
    ],
)
def test_a_fully_masked_row_is_refused(link, rule):
    app = harness.fine_part("attention", "masks", **link)
    assert any(rule in m for m in harness.messages(app))


def test_unknown_words_are_refused():
    app = harness.fine_part("attention", "steps", source="journey", words="Your <b>dog</b> starts")
    assert any("The word '<b>dog</b>' has no vector" in m for m in harness.messages(app))
    app = harness.fine_part("attention", "trained", look="cross", sentence="the unicorn sleeps")
    assert any("does not know the sentence" in m for m in harness.messages(app))


@pytest.mark.parametrize("part", ["steps", "trained"])
def test_a_head_that_does_not_exist_is_replaced_and_prose_of(part):
    app = harness.fine_part("attention", part, source="model", model="narrow", layer="7", head="9")
    said_so = " ".join(harness.messages(app))
    assert "layer = 7 does not exist" in said_so and "head = 9 does not exist" in said_so


def test_a_missing_text_is_said_once_where_two_parts_read_it():
    app = harness.fine_part("attention", "heads", source="model", model="narrow")
    app.text_area[0].set_value("").run()
    harness.fine(app)
    assert len(harness.messages(app)) == 1


def test_a_head_switched_off_that_does_not_exist_is_prose_of():
    app = harness.fine_part("attention", "heads", model="narrow", off="0.1,5.5,x")
    assert any("5.5,x" in m.replace(" ", "") for m in harness.messages(app))
    assert switching.read_heads("1.3,0.0,0.0,2.0,", 2, 4) == ([(0, 0), (1, 3)], ["2.0"])


@pytest.mark.parametrize(
    "cell", ["weights.7.7", "Q.²2.1", "Q.1.²", "Q.٣.1", "Q.1.1.1", f"Q.{'9' * 5000}.1"]
)
def test_a_cell_that_does_not_exist_is_let_go(cell):
    app = harness.fine_part("attention", "steps", cell=cell)
    assert words.no_cell in harness.messages(app)


@pytest.mark.parametrize("part", PARTS)
def test_odd_texts_break_nothing(part):
    app = harness.fine_part("attention", part, source="model", model="narrow")
    for text in ODD_TEXTS if app.text_area else ():  # other chapters read no text
        app.text_area[0].set_value(text).run()
        harness.fine(app)
        harness.snippets_print(app)


@pytest.mark.parametrize("part", PARTS)
def test_without_models_the_page_says_so_and_goes_on(part, monkeypatch, tmp_path):
    monkeypatch.setattr(engine, "CHECKPOINTS", tmp_path)
    app = harness.fine_part("attention", part)
    if part != "steps":
        assert any(
            "not in this copy" in m or "missing in this copy" in m for m in harness.messages(app)
        )
