"""What the chapters of the lesson on embeddings promise beyond their pictures."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.embeddings import LESSON
from llmviz.course.lessons.embeddings.lookup import chapter as lookup
from llmviz.course.lessons.embeddings.lookup import words as lookup_words
from llmviz.course.lessons.embeddings.maps import chapter
from llmviz.course.lessons.embeddings.ways import LONGER, words
from llmviz.course.lessons.embeddings.ways import words as position_words
from llmviz.course.lessons.embeddings.ways.chapter import what_longer_does
from llmviz.course.lessons.embeddings.word_maps import Mapped, judge
from llmviz.course.ui import engine
from llmviz.evaluation.longer_texts import LossBeyond
from llmviz.paths import CHECKPOINTS
from llmviz.similarity.trust import neighbour_ids, neighbour_ranks
from tests.pages import harness
from tests.pages.harness import fine_part, prose_of

pytestmark = pytest.mark.usefixtures("ready")


def test_the_page_says_what_it_needs_and_how_long_each_chapter_takes():
    for one in (LESSON.chapters[0], LESSON.chapters[-1]):  # one of its way, a further one
        app = harness.fine_part("embeddings", one.key)
        assert "You need to know what a" in harness.prose_of(app)
        assert f"about {one.minutes} minutes" in harness.prose_of(app)
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


def test_the_order_of_ids_is_the_one_that_the_page_tells():
    assert "the order in which they were learned" in lookup_words.ids_order["bpe"]
    bpe = engine.tokenizer("tiny-world-gpt")
    assert bpe.kind == "bpe"
    assert [bpe.token_bytes(i) for i in range(256)] == [bytes([i]) for i in range(256)]
    parts = [bpe.token_bytes(a) + bpe.token_bytes(b) for a, b in bpe.merges]
    assert [bpe.token_bytes(256 + rank) for rank in range(len(parts))] == parts
    for name in ("words-gpt", "tiny-world-word2vec", "names-gpt"):
        tokenizer = engine.tokenizer(name)
        assert tokenizer.kind in ("word", "char")
        assert list(tokenizer.vocabulary) == sorted(tokenizer.vocabulary)


def test_no_id_is_said_to_tell_how_frequent_a_token_is():
    for text in lookup_words.ids_order.values():
        assert "frequent" not in text


def test_nine_in_ten_lie_between_the_two_numbers():
    draw = np.random.default_rng(0)
    for size in (1, 2, 20, 1000):
        alike = draw.normal(0.4, 0.1, size + 1)
        alike[0] = np.nan  # a row of zeros, which points nowhere
        low, high = (
            float(x.replace("−", "-")) for x in lookup.middle(alike, np.arange(1, size + 1))
        )
        share = ((alike[1:] >= low - 0.006) & (alike[1:] <= high + 0.006)).mean()
        assert share >= 0.9 - 2 / size


def test_a_table_that_is_drawn_whole_leaves_nothing_out():
    app = fine_part("embeddings", "lookup", model="tiny-world-gpt", word="#0")
    assert "others are 0, too" in prose_of(app)
    assert "zeros with a single 1" not in prose_of(app)  # V numbers, of which V − 1 are zeros


def test_the_product_farthest_from_zero_may_be_negative():
    link = {"look": "pair", "kind": "numbers", "v1": "3, 1, 0", "v2": "-3, 1, 5", "v3": "1, 1, 1"}
    text = prose_of(fine_part("embeddings", "similarity", **link))
    assert "farthest from 0 is number 0" in text and "= −9" in text
    assert "Of these products, 1 is above 0." in text
    link |= {"v2": "-3, 0, 5"}
    text = prose_of(fine_part("embeddings", "similarity", **link))
    assert "Of these products, 0 are above 0." in text


@pytest.mark.parametrize(
    ("metric", "name"), [("cosine", "cosine"), ("euclidean", "distance"), ("dot", "dot product")]
)
def test_the_picture_of_all_tokens_is_described_by_its_own_measure(metric, name):
    app = fine_part("embeddings", "similarity", look="neighbours", metric=metric, word="cat")
    text = prose_of(app)
    if metric != "cosine":
        assert "tokens have rows that point nearly the same way" not in text
    assert f"Half of the other tokens have a {name} of " in text


def test_what_is_said_of_one_mean_holds_for_any_two_sentences():
    link = {"look": "pair", "kind": "sentences", "s1": "red and blue", "s2": "blue and red"}
    text = prose_of(fine_part("embeddings", "similarity", **link))
    assert "their means are the same vector" in text and "chased" not in text


def test_a_map_that_kept_all_neighbours_lost_none_in_its_reasons():
    draw = np.random.default_rng(0)
    points = draw.normal(size=(40, 2))
    here = Mapped(
        np.arange(40),
        [f"w{i}" for i in range(40)],
        np.full(40, -1),
        points,
        0,
        neighbour_ranks(points).astype(np.int16),
        neighbour_ids(points, 15),
    )
    truth = judge(here, points, 6)
    assert (truth.kept == 6).all()
    question = chapter.kept_question(here, truth, 0, "pca")
    assert question is not None
    for at, reason in enumerate(question.reasons):
        assert "lost" not in reason, (at, reason)
    half = replace(here, vectors=np.hstack((points, draw.normal(size=(40, 3)))))
    question = chapter.kept_question(half, replace(truth, kept=np.full(40, 2)), 0, "pca")
    text = " ".join(question.reasons)
    assert "some neighbours were lost" in text


def test_the_page_does_not_say_that_all_bundled_models_learned_their_positions():
    """Some have waves, some turn, one has none."""
    kinds = {
        engine.load(name).model.config.positions
        for name in ("since-2017/rms-norm", "since-2017/rotary", "words-gpt-no-positions")
    }
    assert kinds == {"sinusoidal", "rotary", "none"}
    for text in position_words.add_text.values():
        assert "bundled models" not in text


def test_where_the_key_stands_is_said_without_two_meanings():
    """Behind a word may mean before it or after it; the page says which."""
    for text in position_words.apart.values():
        assert "behind" not in text
    for way in position_words.alike.values():
        assert "behind" not in way


def test_the_pairs_of_a_word_are_counted_with_the_right_plural():
    text = prose_of(
        fine_part("embeddings", "word2vec", corpus="text", text="a b c d e f", window="1")
    )
    assert re.search(r"1 word on each side", text)
    assert "like <code>the</code>" not in text


def test_a_negative_factor_stands_in_brackets():
    app = fine_part(
        "embeddings", "similarity", kind="numbers", v1="1, -3, 0.5", v2="2, -4, 1", pair="12"
    )
    told = re.sub(r"<[^>]+>", "", prose_of(app))
    assert "is number 1: −3.0000 × (−4.0000) = 12.0000." in told
