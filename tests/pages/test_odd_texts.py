"""Chapters that read a text are shown or say why not, whatever is typed, and keep it in its box."""

from __future__ import annotations

import pytest

from llmviz.course.lessons.training.loss.chapter import MOST
from llmviz.course.ui.furniture import words as furniture
from tests.pages.harness import ODD_TEXTS, boxes, fine, open_part, prose_of, sent
from tests.pages.small_model import CONTEXT

TRAINED = {"how": "trained", "pupil": "tiny-world-gpt"}
# Where the text stands, for chapters that read it with the small model.
SMALL = [
    ("sampling", "loop", "sampling.prompt", {}),
    ("sampling", "pipeline", "sampling.prompt", {}),
    ("sampling", "dice", "sampling.prompt", {}),
    ("sampling", "writing", "sampling.prompt", {}),
    ("sampling", "temperature", "sampling.prompt", {}),
    ("sampling", "knows", "sampling.prompt", {}),
    ("training", "backprop", "training.story", TRAINED),
    ("training", "loss", "training.sentence", {}),
    ("training", "step", "shared.text", {}),
    ("transformer", "block", "shared.text", {"of": "model"}),
    ("transformer", "patching", "transformer.prompt", {}),
    ("transformer", "residuals", "shared.text", {}),
    ("transformer", "stream", "shared.text", {}),
]
BUNDLED = [  # and with models of their own
    ("transformer", "halves", "transformer.sentence", {}),
    ("transformer", "masked", "shared.text", {}),
    ("transformer", "since", "shared.text", {"change": "window"}),
]
SAID = {
    ("backprop", "empty"): "nothing to predict",
    ("loss", "empty"): "nothing to predict",
    ("step", "empty"): furniture.empty_text,
    ("step", "one character"): "at least 2 characters",
    ("masked", "spaces"): "no word in this text",
    **{("halves", name): "This grammar does not know the sentence" for name in ODD_TEXTS},
}


def typed(part: str, lesson: str, key: str, link: dict[str, str]) -> None:
    app = open_part(lesson, part, **link)
    for name, text in ODD_TEXTS.items():
        app.session_state[key] = text
        app.run()
        fine(app)
        assert text in [box.value for box in (*app.text_area, *app.text_input)], name
        assert SAID.get((part, name), "") in boxes(app), name
        assert "<script" not in prose_of(app).lower()
        if part == "loss" and text:
            rows = sent(app, "matrix_view")["matrices"]
            assert all(one["values"].shape[0] <= min(MOST, CONTEXT) for one in rows), name


@pytest.mark.parametrize(("lesson", "part", "key", "link"), SMALL)
def test_odd_texts_are_read_by_the_small_model_or_refused(bundle, lesson, part, key, link):
    typed(part, lesson, key, link)


@pytest.mark.parametrize(("lesson", "part", "key", "link"), BUNDLED)
def test_odd_texts_are_read_by_the_bundled_models_or_refused(ready, lesson, part, key, link):
    typed(part, lesson, key, link)
