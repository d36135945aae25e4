"""What a hand sets is what the picture shows, from the first time on."""

from __future__ import annotations

import pytest

from llmviz.course.lessons.tokenization.compare import words as compare
from llmviz.course.ui.shell import EXAMPLES
from tests.pages.harness import fine, open_part, unpack_all


def shown(app) -> str:
    """The text that the first picture shows."""
    return "".join(unpack_all(app, "token_strip")[0]["characters"]).replace("·", " ")


@pytest.mark.parametrize("chapter", ["steps", "masks", "heads"])
def test_a_text_that_is_typed_is_read(bundle, chapter):
    app = open_part("attention", chapter)
    (box,) = [one for one in app.text_area if one.label == "Your text"]
    box.set_value("the cat and Anna").run()
    fine(app)
    assert app.session_state["attention.source"] == "model"
    (box,) = [one for one in app.text_area if one.label == "Your text"]
    assert box.value == "the cat and Anna"


def test_an_example_that_is_the_default_is_shown_once_it_is_chosen_and_from_its_link():
    app = open_part("tokenization", "compare")
    assert shown(app) == compare.example
    for name in ("The cat sat", "Anna and Samir"):
        app.button_group(key="_examples@tokenization").set_value(name).run()
        assert shown(app) == EXAMPLES[name]
    link = {key: "".join(value) for key, value in app.query_params.items() if key != "part"}
    assert shown(open_part("tokenization", "compare", **link)) == EXAMPLES["Anna and Samir"]


def test_the_film_counts_all_merges_before_the_guess_and_the_tree_begins_at_its_start(monkeypatch):
    monkeypatch.setattr("llmviz.course.ui.guess_given.COVERS", True)
    (film,) = unpack_all(open_part("tokenization", "learn"), "bpe_film")
    assert len(film["merges"]) < film["of"]  # the rest waits for the guess
    (tree,) = unpack_all(open_part("tokenization", "merge"), "merge_tree")
    assert tree["step"] == 0


def test_who_is_shown_the_answer_reads_it_with_its_reason(monkeypatch):
    monkeypatch.setattr("llmviz.course.ui.guess_given.COVERS", True)
    app = open_part("tokenization", "merge")
    show, *_ = [one for one in app.button if one.label == "Show me without an answer"]
    listed = app.session_state["_asked"] = []
    app.run()
    asked, *_ = listed  # further down another question has its own button
    before = len(app.get("html"))
    show.click().run()
    assert len(app.get("html")) > before
    assert show.key not in [one.key for one in app.button]
    said = " ".join(block.proto.body for block in app.get("html"))
    assert "Right:" in said and len(asked.answers) > 1
