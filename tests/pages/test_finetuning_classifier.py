"""The chapter on classifiers: what is trained, what is refused, and what is said of it."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

from llmviz.course.lessons.finetuning.classifier import (
    STEPS,
    chapter,
    source,
    training,
    words,
)
from llmviz.course.lessons.finetuning.classifier.class_training import ClassPlan
from llmviz.course.lessons.finetuning.classifier.examples_curve import COUNTS, Band, Measured
from llmviz.course.ui import engine, guess_given
from llmviz.course.ui.common import percent
from llmviz.course.ui.question import APART
from llmviz.finetuning.classifier import encode
from llmviz.finetuning.explain import gradient_times_input, occlusion
from llmviz.finetuning.labels import from_csv
from llmviz.finetuning.tuned_classes import load_classes
from tests.finetuning.test_runs import SMALL
from tests.pages.harness import boxes, fine, fine_part, prose_of, put, unpack_all
from tests.test_cli import call


@pytest.fixture(scope="module", autouse=True)
def own_trainings():
    """What is trained here is trained on the small model, and no other file sees it."""
    training.first_of.clear()
    yield
    training.first_of.clear()


@pytest.fixture(autouse=True)
def ready(bundle):
    """On the small model: what is tested here is the page."""


def grid(app, index: int = 0) -> dict:
    return unpack_all(app, "cell_grid")[index]


def test_a_classifier_is_there_before_anything_is_touched_and_explains_itself():
    app = fine_part("finetuning", "classifier", cell="0.1", sentence="Anna met a king")
    outcome = training.first(ClassPlan())
    trained = outcome.trained
    said = prose_of(app)
    assert f"<strong>{np.trace(trained.table):,}</strong> get their own class" in said
    texts = [[int(cell.replace(",", "")) for cell in row] for row in grid(app)["texts"]]
    assert texts == trained.table.tolist()
    # A cell of the table opens its texts.
    chosen = trained.probabilities.argmax(1)
    inside = [
        text
        for text, own, called in zip(trained.texts, trained.labels, chosen, strict=True)
        if (own, called) == (0, 1)
    ]
    if inside:
        rows = unpack_all(app, "case_rows")[-1]["rows"]
        assert [row["label"][0][0] for row in rows] == inside[:5]
    else:
        assert "No text of" in said
    # The two explanations are those of the engine.
    _, first, second = unpack_all(app, "token_strip")
    model = training.model_of(outcome)
    ids = encode(engine.load("tiny-world-gpt").tokenizer, ["Anna met a king"], 64).idx[0]
    target = trained.names.index(said.split("The classifier says <code>")[1].split("</code>")[0])
    assert np.allclose(first["rows"][0]["values"], occlusion(model, ids, target), atol=1e-5)
    slopes = gradient_times_input(model, ids, target)
    assert np.allclose(second["rows"][0]["values"], slopes, atol=1e-5)
    low, high = first["valueRange"]
    assert low == -high < 0
    # A head that shares the embeddings is not taken away.
    config = engine.load("tiny-world-gpt").model.config
    old, new = config.vocab_size * config.n_embd, 2 * (config.n_embd + 1)
    assert config.tied_head and f"by {new:,}." in said and f"= {old:,} numbers" in said
    assert "taken away" not in said and "stays where it is" in said


LINES = {
    "no colon here": "line 1 must be `label: text`",
    "a: one\na: two": "there must be 2 to 10 different labels; got 1: 'a'",
    "a: one\na: two\nb: three": "'b' has 1",
    "\n".join(f"c{n}: one\nc{n}: two" for n in range(11)): "2 to 10 different labels; got 11",
    "": "2 to 10 different labels; got 0",
}


def test_lines_that_cannot_be_used_are_refused_and_kept_and_markup_stays_text():
    app = fine_part("finetuning", "classifier", labels="typed")
    for lines, rule in LINES.items():
        put(app, finetuning__typed=lines)
        assert rule in boxes(app)
        (box,) = (one for one in app.text_area if one.label == words.typed_label)
        assert box.value == lines
    label = "<b>![x](http://a)</b>"
    put(app, finetuning__typed="\n".join([f"{label}: one"] * 2 + ["b: two"] * 2))
    assert "<b>!" not in prose_of(app) and "&lt;b&gt;" in prose_of(app)


def test_a_file_is_asked_for_and_used():
    app = fine_part("finetuning", "classifier", labels="file")
    assert "Choose a file" in boxes(app)
    table = b'label,text\nx,"one, two"\nx,three\ny,four\ny,"five ""six"""\n'
    app.session_state[source.FILE] = ("mine.csv", from_csv(table))
    app.run()
    fine(app)
    assert "<code>x</code> 2" in prose_of(app)
    shown = unpack_all(app, "token_strip")[0]["rows"]
    assert [row["name"] for row in shown] == ["x", "x", "y", "y"]


@pytest.mark.slow
def test_typed_lines_are_trained_on_in_the_background(monkeypatch):
    app = fine_part("finetuning", "classifier", labels="typed", classupdates="10")
    assert not unpack_all(app, "cell_grid")  # nothing is trained yet
    # the process that trains reads the bundled model, so the page must look at it too
    monkeypatch.undo()
    app = fine_part("finetuning", "classifier", labels="typed", classupdates="10")
    (button,) = (one for one in app.button if one.label == words.train)
    button.click().run()
    deadline = time.monotonic() + 100
    while "numbers learned from" not in prose_of(app):  # said when it has come to its end
        assert time.monotonic() < deadline
        time.sleep(0.2)
        app.run()
    fine(app)
    assert app.query_params["classtrained"] in ("1", ["1"])
    assert "test texts, kept apart from the training texts" in prose_of(app)


def test_another_way_takes_its_own_number_of_steps():
    app = fine_part("finetuning", "classifier")
    (choice,) = (one for one in app.get("button_group") if one.label == words.way)
    choice.set_value("last").run()
    fine(app)
    assert app.session_state["finetuning.classupdates"] == STEPS["last"]


def rows(app) -> list[dict]:
    return unpack_all(app, "case_rows")[0]["rows"]


def test_the_rows_are_the_measured_trainings_and_wait_for_the_answer(monkeypatch):
    found = chapter.curves()
    by_way = {band.way: band for band in found.bands}
    for count in ("100", "1000"):
        at = found.counts.index(int(count))
        shown = rows(fine_part("finetuning", "classifier", texts=count))
        expected = [by_way[way].mean[at] for way in chapter.WAYS]
        assert [row["value"] for row in shown] == pytest.approx(expected)
    monkeypatch.setattr(guess_given, "COVERS", True)
    hidden = rows(fine_part("finetuning", "classifier"))
    assert [row["value"] is None for row in hidden] == [False, True, True, True]


@given(*[some.lists(some.floats(0, 1), min_size=6, max_size=6)] * 3, some.integers(0, 5))
def test_what_training_everything_gets_is_asked_where_answers_are_apart(nothing, head, every, at):
    shares = {"nothing": nothing, "head": head, "all": every}
    bands = tuple(Band(way, *(tuple(mean),) * 3) for way, mean in shares.items())
    asked = chapter.question(Measured(COUNTS, 3, 400, 0.5, {}, bands), at)
    three = sorted((nothing[at], head[at], every[at]))
    apart = min(b - a for a, b in pairwise(three)) >= APART
    assert (asked is not None) == apart
    if asked is not None:
        assert asked.values[asked.right] == (every[at],)
        assert sorted(value for (value,) in asked.values) == three


@pytest.fixture
def mine(tmp_path, monkeypatch, capsys):
    """A classifier that the command `finetune` wrote into the folder of runs."""
    monkeypatch.setenv("LLMVIZ_RUNS", str(tmp_path))
    line = ["finetune", "--task", "about", "--way", "last", "--out", str(tmp_path / "mine")]
    assert call(capsys, *line, *SMALL, "--steps", "2")[0] == 0
    return "run:mine"


def test_a_classifier_of_a_folder_is_asked_in_the_chapter(mine):
    text = "Anna met a king"
    app = fine_part("finetuning", "classifier", classfolder=mine, sentence=text)
    classes = load_classes(engine.folder_of(mine))
    row = classes.probabilities([text])[0]
    said = prose_of(app)
    assert all(name in said for name in classes.names)
    assert percent(float(row.max())) in said
    fine(fine_part("finetuning", "classifier"))  # offered, and not in the way
    gone = fine_part("finetuning", "classifier", classfolder="run:gone")
    assert any("is no classifier that is there" in one.value for one in gone.warning)
    assert grid(gone)


def test_lessons_that_look_inside_take_a_classifier_and_others_refuse_it_in_words(mine):
    classes = load_classes(engine.folder_of(mine))
    app = fine_part("attention", "trained", model=mine)
    assert any("is a classifier" in one.value for one in app.info)
    assert unpack_all(app, "heads_grid")
    assert torch.equal(engine.load(mine).model.token.weight, classes.model.body.token.weight)
    fine_part("attention", "steps", source="model", model=mine)
    fine_part("embeddings", "lookup", model=mine)
    for page, part in (("sampling", "pipeline"), ("attention", "heads")):
        refused = fine_part(page, part, model=mine, source="model")
        assert any("it is a classifier" in one.value for one in refused.warning), page
