"""Part "How the model finds who has what": the bundled model's own look-ups."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest
import torch

from llmviz.course.lessons.attention import words
from llmviz.course.lessons.attention.trained import words as lookup_words
from llmviz.course.lessons.attention.trained.lookup import cells as lookup_cells
from llmviz.course.lessons.attention.trained.lookup import part as lookup
from llmviz.course.lessons.attention.trained.lookup import trace as looking
from llmviz.course.lessons.attention.trained.model import MOVERS
from llmviz.course.ui import engine
from llmviz.course.ui.common import percent
from llmviz.nn.attention import heads_given
from llmviz.trace import record
from llmviz.training import TrainConfig
from llmviz.training.plan import Plan, prepare
from llmviz.training.run_folder import run_in_folder
from tests.pages import harness
from tests.pages.conftest import load_torch

SCALE = (1 / np.sqrt(48), "÷ √48")  # of heads that are 48 numbers wide


@pytest.fixture(scope="module")
def bundled():
    load_torch()
    return engine.load("tiny-world-gpt")


@pytest.fixture(scope="module")
def pairs(bundled):
    stories = looking.stories(bundled)
    return [looking.pair(bundled, story) for story in stories]


def traced(bundled, prompt, *parts):
    ids = torch.tensor([bundled.tokenizer.encode_from_start(prompt)])
    with torch.inference_mode(), record([f"blocks.*.attn.{part}" for part in parts]) as trace:
        logits = bundled.model(ids)[0][0, -1]
    return logits, trace


def test_the_bundled_model_looks_most_answers_up(bundled, pairs):
    assert len(pairs) == looking.STORIES
    right = [looking.chances(bundled, one).argmax(axis=1).tolist() == [0, 1] for one in pairs]
    assert sum(right) >= 0.75 * len(pairs)


def test_what_is_shown_is_that_of_a_plain_forward_pass(bundled, pairs):
    found = pairs[1]
    shown = looking.chances(bundled, found)
    for row, prompt, look in zip(shown, found.story.prompts, found.looks, strict=True):
        logits, trace = traced(bundled, prompt, "weights", "scaled")
        p = logits.softmax(-1)[looking.answer_ids(bundled, found.story)]
        assert np.allclose(row, p.numpy(), atol=1e-5)
        for layer, head in found.movers:
            weights, scaled = (
                trace[f"blocks.{layer}.attn.{part}"][0, head, -1].numpy()
                for part in ("weights", "scaled")
            )
            assert np.allclose(look.weights[layer, head], weights, atol=1e-5)
            assert np.allclose(look.scaled[layer, head], scaled, atol=1e-4)
            scores = look.keys[layer, head] @ look.queries[layer, head]
            assert np.allclose(scores, look.scores[layer, head], atol=1e-3)


def test_movers_move_most(pairs):
    for found in pairs:
        ordered = [found.moved[head] for head in found.movers]
        others = np.sort(found.moved, axis=None)[::-1]
        assert np.allclose(ordered, others[:MOVERS])
        first, second = (one.ids[: found.shared] for one in found.looks)
        assert first == second and found.looks[0].ids != found.looks[1].ids


def test_swapping_the_heads_that_move_swaps_the_answer(bundled, pairs):
    """What is called a look-up is one: put in from the other story, it gives the other answer."""
    flipped = []
    for found in pairs:
        after = looking.after_swap(bundled, found)
        p = after[looking.answer_ids(bundled, found.story)]
        flipped.append(p[1] > p[0])
        assert np.isclose(after.sum(), 1)
    assert sum(flipped) >= 0.75 * len(pairs)
    found = pairs[0]
    ids, own = torch.tensor([found.looks[0].ids]), found.looks[0]
    same = {head: torch.from_numpy(own.outputs[head]) for head in found.movers}
    with torch.inference_mode(), heads_given(same):
        assert np.allclose(bundled.model(ids)[0][0, -1].numpy(), own.logits, atol=1e-4)


def test_the_part_shows_the_story_its_answers_and_the_heads(bundled, pairs):
    app = harness.fine_part("attention", "trained", story="3")
    said = html.unescape(harness.prose_of(app))
    story = pairs[3].story
    shown = " ".join(block.value for block in app.markdown).replace("\\", "")
    plain = re.sub(r":(?:violet|orange)-background\[(\w+)\]", r"\1", shown)
    assert story.prompts[0] in plain
    for colour, thing, answer in zip(
        ("violet", "orange"), story.things, story.answers, strict=True
    ):
        for one in (thing, answer.strip()):
            assert f":{colour}-background[{one}]" in shown
    for share in looking.chances(bundled, pairs[3]).diagonal():
        assert percent(share) in said
    rows = next(one for one in harness.unpack_all(app, "case_rows") if len(one["rows"]) == MOVERS)
    moved = [pairs[3].moved[head] for head in pairs[3].movers]
    np.testing.assert_allclose([row["value"] for row in rows["rows"]], moved, atol=1e-6)


def test_every_token_carries_its_weight(bundled, pairs):
    app = harness.fine_part("attention", "trained", story="2", mover="1")
    rows, found = harness.sent(app, "token_strip")["rows"], pairs[2]
    head = found.movers[1]
    assert len(rows) == 2
    for row, look, prompt in zip(rows, found.looks, found.story.prompts, strict=True):
        assert np.allclose(row["values"], look.weights[head], atol=1e-6)
        tokens = lookup_cells.tokens_of(prompt, bundled.tokenizer)
        assert [token.id for token in tokens] == list(look.ids)
        assert b"".join(token.data for token in tokens[1:]).decode() == prompt
    codes = dict(harness.snippets(app))
    assert any("import heads_given" in code for code in codes)
    (weights,) = [prints for code, prints in codes.items() if "softmax_terms" in code]
    assert len(weights.split()) == 2
    harness.snippets_print(app)


@pytest.mark.parametrize("place", ["first", "shared", "asked"])
def test_the_numbers_below_make_the_weight_above(pairs, place):
    found = pairs[4]
    head = found.movers[0]
    at = {"first": 0, "shared": found.shared - 1, "asked": found.shared}[place]
    picture = lookup_cells.product(found, head, 1, at, SCALE)
    asked = [1] if place == "asked" else [0, 1]
    value = {matrix.name: matrix.values for matrix in picture.matrices}
    looks = [found.looks[i] for i in asked]
    assert np.allclose(value["terms"].sum(axis=1, keepdims=True), value["score"], atol=1e-4)
    assert np.allclose(value["score"] * SCALE[0], value["scaled"], atol=1e-4)
    assert np.allclose(value["scaled"] - value["highest"], value["less"], atol=1e-6)
    assert np.allclose(np.exp(value["less"]), value["power"])
    assert np.allclose(value["powers"].sum(axis=1, keepdims=True), value["total"])
    for row, look in enumerate(looks):
        weight = look.weights[head][at]
        assert np.isclose(value["weight"][row, 0], weight)
        assert np.isclose(value["power"][row, 0] / value["total"][row, 0], weight, atol=1e-5)
    drawn = {name for row in picture.layout for name in row}
    sum_up = {"score", "scaled", "less", "power", "total", "weight"}
    assert drawn == {"q", "k", "terms", *sum_up}
    assert {matrix.name for matrix in picture.matrices if matrix.op} == {"terms", *sum_up}


def test_weights_that_are_no_softmax_are_not_called_one(pairs):
    picture = lookup_cells.product(pairs[0], pairs[0].movers[0], 0, 3, SCALE, plain=False)
    assert picture.matrix("weight").op is None
    assert picture.layout[-2:] == [["score", "scaled"], ["weight"]]


def test_scores_of_any_size_have_their_powers(pairs):
    """Without a scale some models' scores reach hundreds, whose powers no number holds."""
    found = pairs[0]
    looks = tuple(look._replace(scaled=look.scaled * 1000) for look in found.looks)
    picture = lookup_cells.product(found._replace(looks=looks), found.movers[0], 0, 3, SCALE)
    for matrix in picture.matrices:
        assert np.isfinite(matrix.values).all(), matrix.name


@pytest.mark.parametrize("written", ["", "2.0", "1.9999", "0.-1", "x", "1.", "1.2.3"])
def test_a_token_that_is_not_there_is_the_one_looked_at_most(pairs, written):
    found, head = pairs[0], pairs[0].movers[0]
    best = int(found.looks[0].weights[head].argmax())
    assert lookup_cells.chosen(written, found, head) == (0, best)
    assert lookup_cells.chosen("1.5", found, head) == (1, 5)


def test_a_link_opens_a_token_and_a_cell(pairs):
    app = harness.fine_part(
        "attention", "trained", story="0", mover="2", looked="1.9", cell="terms.1.4"
    )
    assert harness.sent(app, "token_strip")["selected"] == [1, 9]
    assert harness.sent(app, "matrix_view")["pinned"] == ["terms", 1, 4]
    harness.snippets_print(app)
    head = pairs[0].movers[2]
    named = words.head_name.format(layer=head[0], head=head[1])
    assert any(named in group.options for group in app.get("button_group"))


def test_a_model_of_two_heads_has_two_to_choose_from(tmp_path, monkeypatch):
    monkeypatch.setenv("LLMVIZ_RUNS", str(tmp_path))
    shape = {"n_layer": 1, "n_head": 2, "n_embd": 16, "positions": "rotary"}
    settings = TrainConfig(steps=1, batch_size=2, eval_batches=1, device="cpu", threads=1)
    plan = Plan(
        model="gpt",
        model_options=shape,
        corpus="tiny-world",
        characters=400_000,
        tokenizer="bpe",
        vocab_size=2048,
        context_length=256,
        train=settings,
    )
    list(run_in_folder(tmp_path / "two", prepare(plan)))
    app = harness.fine_part("attention", "trained", model="run:two", mover="3")
    assert any("mover" in box.value and "3" in box.value for box in app.warning)
    (control,) = [one for one in app.get("button_group") if one.label == lookup_words.lookup_choose]
    assert len(control.options) == 2 and control.value == "0"
    assert lookup_words.lookup_ask.partition("{count}")[2][:10] in html.unescape(
        harness.prose_of(app)
    )
    assert "2 heads" in html.unescape(harness.prose_of(app))
    bundled = engine.load("run:two")
    found = looking.pair(bundled, looking.stories(bundled)[0])
    for head in found.movers:  # turned by their positions, queries and keys still make the weight
        made = lookup_cells.product(found, head, 0, 7, (1 / np.sqrt(8), ""))
        share = made.matrix("power").values / made.matrix("total").values
        assert np.allclose(share, made.matrix("weight").values, atol=1e-5)


def test_another_story_and_the_way_to_the_tiles(pairs):
    app = harness.fine_part("attention", "trained", story=str(len(pairs) - 1), looked="1.3")
    button = {one.label: one for one in app.button}
    button[lookup_words.lookup_next].click().run()
    assert app.query_params.get("story") in (None, ["0"])
    assert "looked" not in app.query_params
    {one.label: one for one in app.button}[lookup_words.lookup_open].click().run()
    harness.fine(app)
    typed = [box.value for box in (*app.text_area, *app.text_input)]
    assert pairs[0].story.prompts[0] in typed


def test_what_comes_of_the_swap_is_said_after_the_answer(bundled, pairs, covers):
    app = harness.fine_part("attention", "trained", story="1")
    found = pairs[1]
    after = looking.after_swap(bundled, found)
    asked = lookup.question(bundled, found, after)
    next(one for one in app.button if one.label == "Show me without an answer").click().run()
    (radio,) = [one for one in app.radio if set(one.options) == set(asked.answers)]
    radio.set_value(asked.right).run()
    harness.fine(app)
    assert percent(after.max()) in html.unescape(harness.prose_of(app))
    assert len(app.success) == 1 and not app.error


def test_each_outcome_of_the_swap_has_its_reason(bundled, pairs):
    found = pairs[0]
    ids = looking.answer_ids(bundled, found.story)
    third = next(i for i in range(300, 400) if i not in ids)
    for right, best in enumerate((*ids, third)):
        after = np.full(bundled.model.config.vocab_size, 1e-5)
        after[[*ids, third]] = 0.1
        after[best] = 0.7
        asked = lookup.question(bundled, found, after)
        assert asked.right == right and len(set(asked.answers)) == 3
        before = int(looking.chances(bundled, found)[0].argmax())
        reason = (
            lookup_words.lookup_ask_same if right == before else lookup_words.lookup_ask_why[right]
        )
        assert asked.reasons[right].endswith(reason)
        for i, reason in enumerate(asked.reasons):
            assert percent(0.7 if i == right else 0.1) in reason
