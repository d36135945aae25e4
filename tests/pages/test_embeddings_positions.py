"""The chapter on positions without a browser: tables, sums, turns, and the shuffle test."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
import torch

from llmviz.course.lessons.embeddings.positions import PROMPT, WITH, WITHOUT, words
from llmviz.course.lessons.embeddings.ways import SENTENCE, TABLE_MODEL, TURN_WIDTH
from llmviz.course.lessons.embeddings.ways import words as ways_words
from llmviz.course.lessons.embeddings.ways.model import computed_positions
from llmviz.course.ui import engine
from llmviz.models.word_order import shuffled
from llmviz.trace import record
from tests.pages.harness import boxes, fine_page, prose_of, run_snippet, sent, snippets, unpack_all

pytestmark = pytest.mark.usefixtures("ready")


open_chapter = partial(fine_page, "embeddings", part="positions")
open_ways = partial(fine_page, "embeddings", part="ways")


def matrices(app) -> dict[str, np.ndarray]:
    return {m["name"]: m["values"] for m in sent(app, "matrix_view")["matrices"]}


def test_sinusoidal_waves_are_those_of_the_paper():
    app = open_ways(length="20", width="8", base="100", position="3", number="5")
    data = sent(app, "positions_view")
    assert data["wave"] == ["sinusoidal", 100]
    expected = [
        [(math.sin, math.cos)[j % 2](t / 100 ** (2 * (j // 2) / 8)) for j in range(8)]
        for t in range(20)
    ]
    assert np.allclose(data["table"], expected, atol=1e-4)
    # cos(position) = mean of the cosines of the angles between, by the distance alone.
    rates = [100 ** (-2 * i / 8) for i in range(4)]
    kernel = [np.mean([math.cos(d * rate) for rate in rates]) for d in range(20)]
    assert np.allclose(data["similarity"][0], kernel, atol=1e-4)
    assert np.allclose(data["similarity"][7, 7:], kernel[:13], atol=1e-4)
    assert data["place"] == [3, 5]
    assert f"after {2 * math.pi * 100**0.5:,.1f} positions" in prose_of(app)
    (pair, *_) = snippets(app)
    assert run_snippet(pair[0]).strip() == pair[1].strip()
    scores, same = pair[1].splitlines()
    assert same == "True" and len(set(scores.split())) == 1


@pytest.mark.parametrize("placing", ["sinusoidal", "rotary"])
def test_what_depends_on_the_distance_alone_never_differs_by_zero(placing):
    told = prose_of(open_ways(placing=placing, base="10", length="128"))
    assert "to within a hundred-thousandth" in told and "within 0.000" not in told
    table = computed_positions(placing, 128, 64, 10)
    assert table.spread < 1e-5


def test_rotary_scores_fall_with_distance_alone():
    app = open_ways(placing="rotary", length="16", width="6", base="50")
    data = sent(app, "positions_view")
    assert data["wave"] == ["rotary", 50]
    angles = np.arange(16)[:, None] * 50.0 ** (-2 * np.arange(3) / 6)
    assert np.allclose(data["table"], np.hstack((np.cos(angles), np.sin(angles))), atol=1e-5)
    for d in range(16):
        kernel = np.cos(angles[d]).mean()
        assert np.allclose(np.diagonal(data["similarity"], d), kernel, atol=1e-5)


def test_learned_positions_are_the_model_s_own():
    app = open_ways(placing="learned", placed="tiny-world-char", position="200", number="900")
    data = sent(app, "positions_view")
    assert data["wave"] is None  # no formula
    model = engine.load("tiny-world-char").model
    assert np.array_equal(data["table"], model.position.weight.numpy())
    unit = torch.nn.functional.normalize(model.position.weight.double(), dim=1)
    assert np.allclose(data["similarity"], unit @ unit.T, atol=1e-5)
    assert data["place"] == [model.context_length - 1, model.config.n_embd - 1]


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ({"width": "7"}, "even width; got 7"),
        ({"width": "7", "placing": "rotary"}, "even head size; got 7"),
    ],
)
def test_an_odd_width_is_one_clear_line(link, said):
    app = open_ways(**link)
    assert said in boxes(app) and len(app.error) == 1


def test_the_smallest_table_is_drawn():
    for way in ("sinusoidal", "rotary"):
        app = open_ways(placing=way, length="2", width="2")
        assert sent(app, "positions_view")["table"].shape == (2, 2)


@pytest.mark.parametrize("way", ["sinusoidal", "rotary"])
def test_places_as_far_apart_are_as_alike_where_a_formula_says_so(way):
    similarity = computed_positions(way, 64, 16, 10_000).similarity
    for apart in (1, 8, 40):
        np.testing.assert_allclose(np.ptp(np.diagonal(similarity, apart)), 0, atol=1e-4)


def test_every_input_number_is_a_token_s_plus_a_position_s():
    app = open_ways(**{"from": "10"})
    found = matrices(app)
    bundled = engine.load(TABLE_MODEL)
    ids = [bundled.tokenizer.special_tokens["<|endoftext|>"]]
    ids += bundled.tokenizer.encode(SENTENCE)
    with torch.inference_mode(), record() as trace:
        bundled.model(torch.tensor([ids]))
    columns = slice(10, 15)
    assert np.allclose(found["input"], trace["embed"][0, :, columns], atol=1e-6)
    assert np.allclose(found["token"] + found["position"], found["input"], atol=1e-6)
    table = bundled.model.position.weight[: len(ids), columns]
    assert np.allclose(found["position"], table, atol=1e-7)
    whole = trace["embed"][0].double()
    at = [i for i, one in enumerate(ids) if one == ids[2]]
    cosine = torch.cosine_similarity(whole[at[0]], whole[at[-1]], dim=0).item()
    assert f"<strong><code>cat</code> is at position {at[0]} and at position {at[-1]}." in prose_of(
        app
    )
    assert f"their cosine is {cosine:.3f}" in prose_of(app)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ways_words.no_words),
        ("one word", ways_words.no_word_twice),
        ("<b>x</b> $y$ `z` " * 60, "is at position"),
    ],
)
def test_any_sentence_can_be_added_up(text, said):
    app = open_ways(sat=text)
    assert said in boxes(app) + prose_of(app)


def test_a_turned_query_and_key_score_by_distance_alone():
    app = open_ways(placing="rotary", m="12", n="5", shift="31", base="100")
    found = matrices(app)
    for name in ("q", "k"):
        straight = found[name] * found[f"{name}cos"]
        across = found[f"{name}half"] * found[f"{name}sin"]
        assert np.allclose(found[f"{name}turned"], straight + across, atol=1e-6)
        length = np.linalg.norm(found[name])
        assert np.linalg.norm(found[f"{name}turned"]) == pytest.approx(length, abs=1e-6)
    # The score as one rotation by the distance.
    d = TURN_WIDTH // 2
    q, k = (found[name][0, :d] + 1j * found[name][0, d:] for name in ("q", "k"))
    turn = np.exp(1j * (12 - 5) * 100.0 ** (-np.arange(d) / d))
    expected = float((q * turn * np.conj(k)).sum().real)
    assert found["score"][0, 0] == pytest.approx(expected, abs=1e-6)
    text = prose_of(app)
    written = f"{expected:.6f}".replace("-", "−")
    assert text.count(f"<strong>{written}</strong>") == 2
    assert "the key is 7 places before the query" in text
    text = prose_of(open_ways(placing="rotary", m="4", n="5"))
    assert "the key is 1 place after the query" in text


def test_a_word_without_a_row_is_met_with_likely_ones():
    app = open_ways(placing="rotary", asks="qzxqzx")
    assert unpack_all(app, "matrix_view") == []


def probabilities(name: str, ids: list[int]) -> np.ndarray:
    with torch.inference_mode():
        logits, _ = engine.load(name).model(torch.tensor([ids]))
    return logits[0, -1].double().softmax(-1).numpy()


def test_order_matters_to_the_model_with_positions_alone():
    app = open_chapter(order="3")
    tokenizer = engine.load(WITH).tokenizer
    ids = [tokenizer.special_tokens["<|endoftext|>"], *tokenizer.encode(PROMPT)]
    other = shuffled(ids, 3, first=1)
    assert other != ids
    charts = unpack_all(app, "paired_bars")
    moved = []
    for chart, name in zip(charts, (WITH, WITHOUT), strict=True):
        before, after = probabilities(name, ids), probabilities(name, other)
        moved.append(np.abs(before - after).sum() / 2)
        rows = [tokenizer.encode(label)[0] for label in chart["labels"]]
        for drawn, expected in ((chart["before"], before), (chart["after"], after)):
            assert np.allclose(drawn, expected[rows], atol=1e-6)
            assert np.isclose(drawn.max(), expected.max()) or expected is after
    assert moved[0] > 0.3 and moved[1] < 1e-5
    assert f"{100 * moved[0]:.1f}\u00a0%" in prose_of(app)
    assert "without positions nothing." in prose_of(app)
    probes = [engine.card(name)["probes"]["opposites"] for name in (WITH, WITHOUT)]
    with_, without = (score["right"] for score in probes)
    assert probes[0]["count"] == probes[1]["count"] == 1000
    assert f"right in {with_} of 1,000 probes, the one without in {without};" in prose_of(app)
    strip = sent(app, "token_strip")
    assert [row["name"] for row in strip["rows"]] == list(words.orders)


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("", words.too_short),
        ("the cat", words.too_short),
        ("the qzx cat was", "do not know 1 word"),
        ("the cat " * 80, "its last 63 words"),
        ("<script> $x$ :red[y] `c`", "do not know 13 words"),
    ],
)
def test_prompts_that_are_short_long_or_unknown(prompt, said):
    app = open_chapter(prompt=prompt)
    assert said in boxes(app)


def test_without_the_pair_the_commands_stand_there(monkeypatch):
    names = [name for name in engine.names() if name != WITHOUT]
    monkeypatch.setattr(engine, "names", lambda: names)
    app = open_chapter()
    commands = [block.value for block in app.code]
    assert words.no_pair_command.format(name=WITHOUT) in commands


def test_an_older_link_to_a_way_opens_it():
    app = open_chapter(way="rotary")
    assert app.query_params["part"] == "ways" and app.query_params["placing"] == "rotary"


def test_who_shuffles_before_the_guess_sees_what_the_models_say_of_it(monkeypatch):
    monkeypatch.setattr("llmviz.course.ui.guess_given.COVERS", True)
    for link, shown in (({}, False), ({"order": "3"}, True)):
        charts = unpack_all(open_chapter(**link), "paired_bars")
        assert [chart["after"] is not None for chart in charts] == [shown, shown]


def test_the_look_with_two_names_hardly_moves_a_bar():
    app = open_chapter(prompt="Anna saw Samir and she", order="1")
    for chart in unpack_all(app, "paired_bars"):
        moved = np.abs(np.subtract(chart["before"], chart["after"]))
        assert moved.max() < 0.05
    (with_, _) = unpack_all(app, "paired_bars")
    assert with_["labels"][int(np.argmax(with_["after"]))] == "had" and max(with_["after"]) > 0.5


def test_buttons_shuffle_and_put_back():
    app = open_chapter()
    shuffle = next(button for button in app.button if button.label == words.shuffle)
    assert len(sent(app, "token_strip")["rows"]) == 1
    assert all(chart["after"] is None for chart in unpack_all(app, "paired_bars"))
    for given_away in (
        "other words in this order?",
        "Over 20 orders",
        "Without positions, attention",
    ):
        assert given_away not in prose_of(app)
    for times in ("1", "2"):
        shuffle.click().run()
        assert app.query_params["order"] == times
    assert "other words in this order?" in prose_of(app)
    back = next(button for button in app.button if button.label == words.as_it_is)
    back.click().run()
    assert "order" not in app.query_params
    assert "other words in this order?" not in prose_of(app)
