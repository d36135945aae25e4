"""What the chapters of the lesson on embeddings promise beyond their pictures."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as some

from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.embeddings import LESSON
from llmviz.course.lessons.embeddings.ways import LONGER, words
from llmviz.course.lessons.embeddings.ways.chapter import what_longer_does
from llmviz.evaluation.longer_texts import LossBeyond
from llmviz.paths import CHECKPOINTS
from tests.pages import harness

pytestmark = pytest.mark.usefixtures("ready")


def test_the_page_says_what_it_needs_and_how_long_each_chapter_takes():
    for chapter in (LESSON.chapters[0], LESSON.chapters[-1]):  # one of its way, a further one
        app = harness.fine_part("embeddings", chapter.key)
        assert "You need to know what a" in harness.prose_of(app)
        assert f"about {chapter.minutes} minutes" in harness.prose_of(app)
    said = harness.prose_of(harness.fine_part("attention", "scale"))
    assert "counting starts from 0" in said and "about 15 minutes" in said


def test_a_longer_text_is_measured_once_the_order_was_guessed(covers):
    app = harness.fine_part("embeddings", "ways")
    assert "Rotary:" not in harness.prose_of(app)
    harness.press(app, "Show me without an answer")
    text = harness.prose_of(app)
    found = re.findall(
        r"<strong>([A-Za-z() ]*):</strong> ([\d.]+) at .*?, ([\d.]+) right .*?, ([\d.]+) at", text
    )
    rows = {name.lower(): list(map(float, values)) for name, *values in found}
    assert list(rows) == list(words.longer_names.values())
    learned, rotary = rows["learned"], rows["rotary"]
    assert learned[1] - learned[0] > 1  # rows that nobody trained
    assert abs(rotary[1] - rotary[0]) < 0.2
    assert "With rotary positions the loss changes least" in text
    (pair,) = [pair for pair in harness.snippets(app) if "loss_beyond" in pair[0]]
    assert harness.run_snippet(pair[0]).strip() == pair[1].strip()


def test_the_models_of_a_longer_text_differ_in_their_positions_alone():
    """Only what was trained alike is compared; the model without positions is called another."""
    settings = {}
    for kind, name in LONGER.items():
        config = json.loads((CHECKPOINTS / name / "config.json").read_text(encoding="utf-8"))
        model = config["model"]["config"]
        assert model.pop("positions") == kind
        settings[kind] = [model, config["train"], config["data"], config["tokenizer"]]
    other = settings.pop("none")
    assert all(one == settings["rotary"] for one in settings.values())
    assert other[0]["n_layer"] == 1 and "one layer" in words.longer_measured


@given(some.lists(some.floats(0, 9), min_size=12, max_size=12))
def test_the_sentence_on_longer_texts_holds_for_all_losses(values):
    kinds = list(LONGER)
    losses = {
        kind: LossBeyond(64, *values[3 * at : 3 * at + 3], 0.0) for at, kind in enumerate(kinds)
    }
    text = as_markdown(what_longer_does(losses))
    for kind, loss in losses.items():
        line = text.split(f"**{words.longer_names[kind].capitalize()}:**")[1].split("**")[0]
        for value in (loss.inside, loss.beyond, loss.far):
            assert f"{value:.2f} " in line or f"{value:.2f}," in line
    changes = [abs(losses[kind].far - losses[kind].inside) for kind in kinds[:3]]
    assert f"by {min(changes):.2f} nats" in text


def test_a_table_before_training_is_chance_and_its_link_says_so():
    before = harness.fine_part(
        "embeddings", "maps", of="tiny-world-gpt", untrained="1", points="200"
    )
    after = harness.fine_part("embeddings", "maps", of="tiny-world-gpt", points="200")
    shares = []
    for app in (before, after):
        harness.fine(app)
        shares.append(
            re.findall(
                r"([\d.]+)\s%", re.split("all numbers count|is known,", harness.prose_of(app))[-1]
            )
        )
    (random, chance, *_), (trained, same, *_) = shares
    assert chance == same
    assert abs(float(random) - float(chance)) < 3 < float(trained) - float(random)
    harness.snippets_print(before)
    # Vectors of words have no beginning that could be made anew here.
    other = harness.fine_part("embeddings", "maps", of="tiny-world-word2vec", untrained="1")
    assert "before training: random numbers" not in harness.prose_of(other)
