"""Chapters that read a text are shown or say why not, whatever is typed, and keep it in its box."""

from __future__ import annotations

import pytest

from llmviz.course.lessons.efficiency.cache import words as cache_words
from llmviz.course.lessons.efficiency.flash.chapter import DRAWN
from tests.pages import harness

# Where the text stands, for chapters that read it with the small model.
SMALL = [
    ("home", "", "shared.text", {}),
    ("discoveries", "circuit", "discoveries.prompt", {}),
    ("efficiency", "flash", "shared.text", {}),
    ("efficiency", "quantization", "efficiency.qtext", {"qview": "model", "qgroup": "8"}),
    ("efficiency", "speculative", "efficiency.guesstext", {"draft": "copy"}),
]
BUNDLED = [  # and with models of their own
    ("efficiency", "cache", "efficiency.cachetext", {"cachemodel": "words-gpt"}),
    ("finetuning", "stages", "finetuning.prompt", {}),
    ("finetuning", "instructions", "finetuning.story", {}),
    ("finetuning", "instructions", "finetuning.question", {}),
    ("history", "counting", "history.name", {}),
]
SAID = {
    ("shared.text", "flash", "long"): f"The picture shows only the first {DRAWN}",
    ("efficiency.cachetext", "cache", "empty"): cache_words.empty,
    ("finetuning.question", "instructions", "empty"): "There is no question",
    ("finetuning.question", "instructions", "spaces"): "There is no question",
    ("finetuning.question", "instructions", "long"): "to be trained on; they have",
    ("finetuning.story", "instructions", "long"): "to be trained on; they have",
}


def named(chapters) -> list[str]:
    return [f"{part or lesson} {key}" for lesson, part, key, _ in chapters]


def typed(lesson: str, part: str, key: str, link: dict[str, str]) -> None:
    app = harness.open_part(lesson, part, **link)
    for name, text in harness.ODD_TEXTS.items():
        app.session_state[key] = text
        app.run()
        harness.fine(app)
        assert text in [box.value for box in (*app.text_area, *app.text_input)], name
        assert SAID.get((key, part, name), "") in harness.boxes(app), name
        said = harness.prose_of(app).lower()
        assert "<script" not in said and 'src="http://a' not in said
        harness.snippets_print(app)
        if part == "flash" and name == "long":
            assert len(harness.sent(app, "tile_film")["names"]) == DRAWN


@pytest.mark.parametrize(("lesson", "part", "key", "link"), SMALL, ids=named(SMALL))
def test_odd_texts_are_read_by_the_small_model_or_refused(bundle, lesson, part, key, link):
    typed(lesson, part, key, link)


@pytest.mark.parametrize(("lesson", "part", "key", "link"), BUNDLED, ids=named(BUNDLED))
def test_odd_texts_are_read_by_the_bundled_models_or_refused(ready, lesson, part, key, link):
    typed(lesson, part, key, link)
