"""What the chapters of the lesson on embeddings promise beyond their pictures."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from llmviz.course.lessons.embeddings import LESSON
from llmviz.course.lessons.embeddings.lookup import chapter as lookup
from llmviz.course.lessons.embeddings.lookup import words as lookup_words
from llmviz.course.lessons.embeddings.maps import chapter
from llmviz.course.lessons.embeddings.ways import LONGER, words
from llmviz.course.lessons.embeddings.ways import chapter as ways
from llmviz.course.lessons.embeddings.ways import words as position_words
from llmviz.course.lessons.embeddings.word_maps import Mapped, judge
from llmviz.course.ui import engine
from llmviz.evaluation.longer_texts import loss_beyond
from llmviz.files.paths import CHECKPOINTS
from llmviz.pretrained import load_bundled
from llmviz.similarity.trust import neighbour_ids, neighbour_ranks
from tests.pages import harness
from tests.pages.harness import fine_part, prose_of

pytestmark = pytest.mark.usefixtures("ready")


def test_the_page_says_what_it_needs_and_how_long_each_chapter_takes():
    for one in (LESSON.chapters[0], LESSON.chapters[-1]):  # one of its way, a further one
        app = harness.fine_part("embeddings", one.key)
        assert "You need to know what a" in harness.prose_of(app)
        assert f"about {one.minutes} minutes" in harness.prose_of(app)
    said = harness.prose_of(harness.fine_part("attention", "cross"))
    assert "counting starts from 0" in said and "about 10 minutes" in said


def test_what_a_model_does_beyond_its_places_is_shown_once_it_was_guessed(covers):
    app = harness.fine_part("embeddings", "ways")
    rows = [row["value"] for row in harness.sent(app, "case_rows")["rows"]]
    assert [value is None for value in rows] == [False, True, True]
    harness.press(app, "Show me without an answer")
    told = harness.unpack_all(app, "case_rows")[0]
    learned, waves, turned = (row["value"] for row in told["rows"])
    losses = {kind: loss_beyond(*load_bundled(name)[:2]) for kind, name in LONGER.items()}
    for value, kind in ((learned, "learned"), (waves, "sinusoidal"), (turned, "rotary")):
        assert value == round(math.exp(losses[kind].far))
    assert turned < 0.5 * waves and waves < 0.7 * learned
    changes = {kind: loss.far - loss.inside for kind, loss in losses.items() if kind != "none"}
    assert min(changes, key=changes.get) == "rotary"  # as the section says
    (pair,) = [pair for pair in harness.snippets(app) if "loss_beyond" in pair[0]]
    assert harness.run_snippet(pair[0]).strip() == pair[1].strip()


@given(some.tuples(*[some.integers(1, 99)] * 4))
def test_answers_on_places_beyond_are_apart_and_in_the_order_that_reasons_say(values):
    learned, waves, turned, before = values
    far = {"learned": learned, "sinusoidal": waves, "rotary": turned}
    asked = ways.question(far, before)
    if asked is None:
        assert not before < waves < learned or min(waves - before, learned - waves) < 10
    else:
        assert asked.values[asked.right] == (waves,) and before < waves < learned


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
                r"([\d.]+)\s%", re.split("nearest words of a fruit", harness.prose_of(app))[-1]
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
    assert re.search(r"all the others \([\d,]+\) are 0", prose_of(app))
    assert "zeros with a single 1" not in prose_of(app)  # V numbers, of which V − 1 are zeros


@pytest.mark.parametrize(("other", "above"), [("-3, 1, 5", "1 is"), ("-3, 0, 5", "0 are")])
def test_products_above_zero_are_counted(other, above):
    link = {"kind": "numbers", "v1": "3, 1, 0", "v2": other, "v3": "1, 1, 1"}
    assert f"{above} above 0" in prose_of(fine_part("embeddings", "similarity", **link))


@pytest.mark.parametrize(
    ("metric", "name"), [("cosine", "cosine"), ("euclidean", "distance"), ("dot", "dot product")]
)
def test_the_picture_of_all_tokens_is_described_by_its_own_measure(metric, name):
    app = fine_part("embeddings", "similarity", look="neighbours", metric=metric, word="cat")
    text = prose_of(app)
    if metric != "cosine":
        assert "tokens have rows that point nearly the same way" not in text
    assert f"Half of all other tokens have a {name} of " in text


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
    assert [answer.split()[0] for answer in question.answers] == ["2", "6", "0"]  # on both sides


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
    link = {"corpus": "text", "text": "a b c d e f"}
    text = prose_of(fine_part("embeddings", "word2vec", window="1", **link))
    assert "right beside it" in text and "from 1 to 1" not in text
    wider = prose_of(fine_part("embeddings", "word2vec", window="2", **link))
    assert re.search(r"(1 word|2 words) on each side", wider)
    assert "like <code>the</code>" not in text
