"""The chapters "Two halves" and "Hidden words": what they show is what the engine computes."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmviz.corpus.language import translate
from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons import transformer
from llmviz.course.lessons.transformer.halves import chapter as halves
from llmviz.course.lessons.transformer.halves import teacher, words
from llmviz.course.lessons.transformer.halves.model import forced, free, looks
from llmviz.course.lessons.transformer.masked import chapter as masked
from llmviz.course.lessons.transformer.masked import words as masked_words
from llmviz.course.lessons.transformer.masked.model import (
    all_weights,
    from_both_sides,
    from_the_left,
    hidden_at,
)
from llmviz.course.ui import engine
from llmviz.course.ui.common import percent
from llmviz.tokenizers import UNKNOWN
from llmviz.training.export import scores
from llmviz.training.run_folder import load_trained
from tests.pages import harness
from tests.pages.asked import SHOWN_ANYWAY
from tests.pages.conftest import use
from tests.pages.small_model import make_checkpoint

pytestmark = pytest.mark.usefixtures("ready")

SENTENCES = (
    words.sentence,
    "Ada sleeps",
    "again the old fox buys a cake",
    "tonight two clever children sing in the garden",
    "yesterday the small cat sees two singers in the bridge",
)


# ---- two halves


@pytest.mark.parametrize(("step", "head"), [("0", "3"), ("4", "3"), ("900", "999")])
def test_the_picture_is_the_translation_of_the_engine(step, head):
    app = harness.open_part("transformer", "halves", halfstep=step, halfhead=head)
    harness.fine(app)
    bundled = engine.load("pairs-seq2seq")
    source = bundled.tokenizer.encode(words.sentence)
    found = free(bundled.model, source)
    weights = looks(bundled.model, source, found.read)
    got = harness.sent(app, "two_halves")
    for name in ("encoder", "own", "cross"):
        wanted = np.rint(getattr(weights, name) * 255)
        np.testing.assert_allclose(got[name], wanted, atol=1)
    np.testing.assert_allclose(got["chances"], found.chances, atol=1e-6)
    assert got["source"] == words.sentence.split()
    assert got["read"][1:] == translate(words.sentence).target.split()
    assert [row[0] for row in got["best"]] == [*got["read"][1:], words.end_token]
    assert got["step"] == min(int(step), len(found.read))
    assert got["chosen"] == 3 if head == "3" else got["chosen"] < len(got["names"])
    for t, line in enumerate(got["captions"][1:], 1):
        assert f"{t} of {len(found.read)}" in line and got["best"][t - 1][0] in line


@pytest.mark.parametrize("name", list(words.translators))
@pytest.mark.parametrize("sentence", SENTENCES)
def test_both_ways_are_those_of_the_engine_and_the_parting_is_named(name, sentence):
    known = translate(sentence)
    app = harness.open_part("transformer", "halves", sentence=sentence, translator=name)
    harness.fine(app)
    bundled = engine.load(name)
    source, target = (bundled.tokenizer.encode(text) for text in known[:2])
    ways = forced(bundled.model, source, target), free(bundled.model, source)
    grid, right = harness.sent(app, "cell_grid"), [*known.target.split(), words.end_token]
    for row, way in zip((0, 2), ways, strict=True):
        said = [teacher.named(one, bundled.tokenizer) for one in way.written]
        read = [words.start, *(teacher.named(one, bundled.tokenizer) for one in way.read[1:])]
        assert grid["texts"][row][: len(read)] == read
        assert grid["texts"][row + 1][: len(said)] == said
        shown = grid["values"][row + 1][: len(said)]
        np.testing.assert_allclose(shown, way.chances[:, 0], atol=1e-5)
        bold = [one != two for one, two in zip(said, right, strict=False)]
        assert grid["strong"][row + 1][: len(bold)].astype(bool).tolist() == bold
    own = [teacher.named(one, bundled.tokenizer) for one in ways[1].written]
    text = harness.prose_of(app)
    if own == right:
        assert "They never differ" in text
    else:
        first = next(i for i, one in enumerate(right) if own[i : i + 1] != [one])
        assert re.search(rf"\b(mistake is|differ) at step {first + 1}\b", text)


@given(st.lists(st.integers(0, 5), min_size=2, max_size=6))
def test_the_question_asks_where_a_head_looks_and_not_at_the_same_place(looked):
    source, written = list("abcdef"), [f"w{i}" for i in range(len(looked))]
    asked, step = halves.question(source, written, np.eye(6)[looked])
    fits = [i for i in range(1, len(looked)) if len({looked[i], looked[i - 1], i}) == 3]
    assert (asked is None) == (not fits)
    if asked is not None:
        at = fits[-1]
        assert f"w{at}" in asked.text and asked.answers[asked.right] == source[looked[at]]
        assert step == at + 1  # step 1 writes the first word
        assert set(asked.answers) == {source[i] for i in (looked[at], at, looked[at - 1])}


def test_who_has_answered_sees_the_step_that_was_asked_about(covers):
    app = harness.open_part("transformer", "halves")
    harness.press(app, SHOWN_ANYWAY)
    got = harness.sent(app, "two_halves")
    step, text = got["step"], harness.prose_of(app)
    assert f"about to write {got['best'][step - 1][0]}." in re.sub(r"[`⟨⟩*]|</?\w+>", "", text)
    looked = got["source"][got["cross"][got["chosen"]][step - 1].argmax()]
    assert f"Right: {looked}" in re.sub(r"[`*]", "", text)


def test_a_copy_without_the_translators_says_so(tmp_path, monkeypatch):
    make_checkpoint(tmp_path)
    use(monkeypatch, tmp_path)
    for part, name in (("halves", "pairs-seq2seq"), ("masked", "masked-words")):
        app = harness.open_part("transformer", part)
        harness.fine(app)
        assert f"{name} is not in this copy" in harness.boxes(app)


# ---- words hidden

TEXT = "Leila found a purple shield. She gave it to Oscar."


def told(text):
    both, left = engine.load(masked.BOTH), engine.load(masked.LEFT)
    ids = both.tokenizer.encode_from_start(text)[: masked.DRAWN]
    return both, left, ids, from_both_sides(both.model, ids), from_the_left(left.model, ids)


@pytest.mark.parametrize("word", [-1, 0, 4, 99])
def test_the_answers_are_those_of_both_models(word):
    app = harness.open_part("transformer", "masked", text=TEXT, hide=str(word))
    harness.fine(app)
    both, left, ids, p, q = told(TEXT)
    rows = harness.sent(app, "token_strip")["rows"]
    own = [one[range(len(ids) - 1), ids[1:]] for one in (p, q)]
    for row, wanted in zip(rows, own, strict=True):
        np.testing.assert_allclose(row["values"], wanted, atol=1e-5)
    at = harness.sent(app, "token_strip")["selected"][1]
    best = int(masked.gains(rows[0]["texts"], own).argmax())
    assert at == (word if 0 <= word < len(ids) - 1 else best)
    bars = harness.sent(app, "paired_bars")
    assert bars["before"].max() == pytest.approx(p[at].max(), abs=1e-5)
    assert bars["after"].max() == pytest.approx(q[at].max(), abs=1e-5)
    name = both.tokenizer.decode([ids[at + 1]])
    place = bars["labels"].index(name)
    assert bars["before"][place] == pytest.approx(own[0][at], abs=1e-5)
    assert bars["after"][place] == pytest.approx(own[1][at], abs=1e-5)
    hidden = hidden_at(both.model, ids, at)
    maps = harness.unpack_all(app, "heads_grid")
    assert [one["triangle"] for one in maps] == [False, True]
    for one, wanted in zip(
        maps, (all_weights(both.model, hidden), all_weights(left.model, ids)), strict=True
    ):
        assert one["shape"] == list(wanted.shape)
        cells = wanted[:, :, *np.tril_indices(len(ids))] if one["triangle"] else wanted
        np.testing.assert_allclose(one["cells"], np.rint(cells * 255), atol=1)
    assert maps[0]["tokens"][at + 1] == masked_words.mask


def test_a_word_that_the_models_do_not_know_is_said_to_be_so():
    app = harness.open_part("transformer", "masked", text="The zyxglob slept.", hide="1")
    harness.fine(app)
    tokenizer = engine.tokenizer(masked.BOTH)
    assert tokenizer.special_tokens[UNKNOWN] == tokenizer.encode("zyxglob")[0]
    strip = harness.sent(app, "token_strip")
    assert strip["rows"][0]["texts"][1] == "zyxglob" and strip["rows"][0]["values"][1] == 0
    assert "do not know this word" in harness.prose_of(app) and "unknown" in harness.boxes(app)


shares = st.lists(st.floats(0, 1), min_size=5, max_size=5)


@given(shares, shares)
def test_the_question_asks_where_reading_on_helps_most(both, left):
    texts = ["a", "longest", "b", "c", "d"]
    own = [np.array(both), np.array(left)]
    asked, gain = masked.question(texts, own), own[0] - own[1]
    right = int(gain.argmax())
    assert (asked is None) == (right in (1, 4) or gain[right] <= 0)
    if asked is not None:
        assert asked.values[asked.right] == (right,)
        assert {value for (value,) in asked.values} == {right, 1, 4}


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=9), st.integers(-1, 1000))
def test_the_hidden_word_is_one_of_the_text(gain, asked):
    assert 0 <= masked.hidden_word(asked, np.array(gain)) < len(gain)


@given(st.text(max_size=8), st.integers(1, 9), st.integers(1, 9))
def test_any_head_of_a_link_is_one_that_exists(written, layers, heads):
    layer, head = masked.chosen_head(written, layers, heads)
    assert 0 <= layer < layers and 0 <= head < heads


def test_the_shares_of_the_page_are_those_of_the_cards_and_the_cards_of_the_models():
    app = harness.open_part("transformer", "masked", text=transformer.TEXT)
    card = engine.card(masked.BOTH)
    fresh = scores(load_trained(engine.CHECKPOINTS / masked.BOTH))
    for name, found in fresh.items():
        for what in ("tokens", "nats_per_token", "share_right"):
            assert card[name][what] == pytest.approx(found[what], rel=1e-4)
    rows = harness.unpack_all(app, "case_rows")[-1]["rows"]
    own = [card[name]["share_right"] for name in ("score", "without_right_side")]
    assert [row["value"] for row in rows] == own and own[1] < own[0]


def test_no_colour_tells_before_the_click(covers):
    app = harness.open_part("transformer", "masked", text=transformer.TEXT)
    strip = harness.sent(app, "token_strip")
    assert not any(value for row in strip["rows"] for value in row["values"])
    assert not harness.unpack_all(app, "paired_bars")


def test_the_end_on_hidden_words_counts_the_known_ones_alone():
    own = [np.array([0.5, 0.0, 0.1]), np.array([0.25, 0.0, 0.05])]
    told = masked.end_of((0, 5, 9, 6), 9, own, 1, "`x`")
    assert told["mean_both"] == percent(0.3) and told["mean_left"] == percent(0.15)
    assert told["both"] == "3 tokens" and told["left"] == "2 tokens"
    assert masked.end_of((0, 9), 9, own, 0, "`x`") is None
    last = masked.end_of((0, 5, 9, 6), 9, own, 2, "`x`")
    assert last["both"] == last["left"]  # nothing stands on the right of the last word
    assert "on both sides" not in as_markdown(masked_words.end.filled(**last)[1])
