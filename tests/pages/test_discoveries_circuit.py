"""The chapter "A circuit, edge by edge": what it draws and says is what patching gives."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from llmviz.course.figures.circuit import Node, circuit_graph
from llmviz.course.lessons.discoveries.circuit import PARAMS, chapter, words
from llmviz.course.ui.question import APART, whole_percent
from llmviz.course.ui.two_prompts import written
from llmviz.interpretability import circuit
from llmviz.interpretability.circuit import (
    Edge,
    GrowingCircuit,
    Part,
    all_edges,
    patch_edges,
    read_sums,
)
from llmviz.pretrained import load_bundled
from tests.pages.harness import boxes, fine, fine_part, prose_of, sent, unpack_all
from tests.pages.small_model import HEADS, LAYERS, ids_of

OWN, DONOR = "Once Anna had a key. It", "Once Anna had a dog. It"
PROMPTS = {"prompt": OWN, "donor": DONOR, "answer": "a", "other": "e"}
TINY = [
    Edge(Part("embed"), Part("head", 0, 0)),
    Edge(Part("embed"), Part("mlp", 0)),
    Edge(Part("head", 0, 0), Part("mlp", 0)),
    Edge(Part("embed"), Part("logits")),
    Edge(Part("head", 0, 0), Part("logits")),
    Edge(Part("mlp", 0), Part("logits")),
]


def grown(bundle) -> GrowingCircuit:
    own, donor = (read_sums(bundle.model, ids_of(bundle, text)) for text in (OWN, DONOR))
    a, e = (bundle.tokenizer.encode(token)[0] for token in "ae")
    found = GrowingCircuit(bundle.model, own, donor, (a, e))
    found.grow(60)
    return found


def test_the_slider_has_room_for_all_edges_that_are_patched():
    (kept,) = (one for one in PARAMS if one.key == "edgeskept")
    assert kept.high == circuit.MOST_EDGES


@pytest.mark.parametrize("number", [0, 1, 5, 999])
def test_what_is_left_and_each_cell_is_what_patching_gives(bundle, number):
    edges = all_edges(bundle.model)
    number = min(number, len(edges))
    link = "embed>mlp.0,mlp.0>logits,nothing>mlp.0,head.0.1>mlp.0"
    app = fine_part(
        "discoveries", "circuit", **PROMPTS, edgeskept=str(number), hypothesis=link, show="1"
    )
    found, said = grown(bundle), prose_of(app)
    assert f"<strong>{written(found.left[number])}</strong> of the preference" in said
    grid = sent(app, "cell_grid")["values"]
    senders = 1 + LAYERS * (HEADS + 1)
    assert grid.shape == (senders, senders)
    assert np.count_nonzero(grid) <= len(edges)
    assert sorted(grid[grid != 0]) == pytest.approx(
        sorted(share for share in np.clip(list(found.effects.values()), -9.99, 9.99) if share),
        abs=5e-3,
    )
    own = chapter.chosen_edges(link, edges)
    assert len(own) == 3
    assert f"With your 3 edges, <strong>{written(found.left_with(own))}</strong>" in said
    rows = sent(app, "case_rows")["rows"]
    counts = [n for n in chapter.COUNTS if n < len(edges)] + [len(edges)]
    assert [row["value"] for row in rows] == pytest.approx(
        [found.left[n] for n in counts], abs=5e-3
    )


def test_edges_are_measured_by_slices_with_a_bar(bundle, monkeypatch):
    monkeypatch.setattr(chapter, "SLICE", 0.0)
    chapter.growing.clear()
    app = fine_part("discoveries", "circuit", **PROMPTS)
    (bar,) = app.get("progress")
    first = bar.proto.value
    assert 0 < first < 100
    app.run()
    (bar,) = app.get("progress")
    assert bar.proto.value > first and not unpack_all(app, "case_rows")
    monkeypatch.setattr(chapter, "SLICE", 60.0)
    app.run()
    fine(app)
    assert not app.get("progress") and unpack_all(app, "case_rows")


@pytest.mark.parametrize(
    ("link", "line"),
    [
        ({"donor": OWN}, "Both prompts have the same tokens"),
        ({"answer": "e", "other": "e"}, "Both answers are e"),
        ({"prompt": ""}, "Both need at least one character"),
        ({"prompt": "so " * 200}, "40 at most"),
    ],
)
def test_prompts_that_do_not_fit_say_why(bundle, link, line):
    app = fine_part("discoveries", "circuit", **PROMPTS | link)
    assert line in boxes(app)


@pytest.mark.parametrize(
    ("own", "donor", "longer"),
    [(OWN, DONOR + " is", "second"), (OWN + " s", DONOR, "first"), ("So " + OWN, DONOR, "first")],
)
def test_prompts_of_different_length_are_aligned_and_it_is_said(bundle, own, donor, longer):
    alone = abs(len(ids_of(bundle, own)) - len(ids_of(bundle, donor)))
    tokens = "one token stands" if alone == 1 else f"{alone} tokens stand"
    line = f"At the beginning of the {longer} prompt, {tokens} alone"
    link = {"prompt": own, "donor": donor, "edgeskept": "0", "hypothesis": "head.0.0>logits"}
    app = fine_part("discoveries", "circuit", **PROMPTS | link, show="1")
    said = prose_of(app)
    assert line in said and "with its position" in said
    # Without any edge the logits are the second prompt's, whatever its length.
    assert f"<strong>{written(0)}</strong> of the preference" in said
    assert "have no partner in the other text" in said
    rows = [row["value"] for row in sent(app, "case_rows")["rows"]]
    assert rows[0] == pytest.approx(0, abs=5e-3) and rows[-1] == pytest.approx(1, abs=5e-3)
    app = fine_part("discoveries", "circuit", **PROMPTS, show="1")
    assert "aligned at the end" not in prose_of(app)


def test_long_prompts_and_many_edges_are_refused(bundle, monkeypatch):
    monkeypatch.setattr(chapter, "MOST_TOKENS", 5)
    app = fine_part("discoveries", "circuit", **PROMPTS)
    assert "patches 5 at most" in boxes(app)
    monkeypatch.setattr(chapter, "MOST_EDGES", 9)
    app = fine_part("discoveries", "circuit", **PROMPTS)
    assert "patches 9 at most" in boxes(app)


def test_a_model_without_attention_is_not_taken(folder, monkeypatch):
    app = fine_part("discoveries", "circuit", model="names-mlp")
    assert "cannot be used here" in boxes(app)


@given(st.lists(st.floats(-2, 2), min_size=5, max_size=5), st.permutations(TINY), st.floats(-2, 2))
@example([0.0] * 5, TINY, 0.671875)  # as much as an even share, in whole percent
def test_the_question_asks_what_few_edges_leave(shares, order, alone):
    left = [0.0, *shares, 1.0]
    circuit = chapter.Circuit(order, dict.fromkeys(order, alone), left)
    asked = chapter.question(circuit)
    if asked is None:
        wrong = (chapter.FEW / len(order), min(1.0, abs(alone)))
        near = min(abs(left[chapter.FEW] - value) for value in wrong) < APART
        alike = len(set(map(whole_percent, wrong))) == 1
        assert near or alike or not 0 <= left[chapter.FEW] <= 1
        return
    assert asked.values[asked.right] == (left[chapter.FEW],)
    assert asked.values[0] == (min(1.0, abs(alone)),)
    assert asked.values[1] == (chapter.FEW / len(order),)


def test_heads_of_a_hypothesis_look_at_both_prompts(bundle):
    link = "embed>head.0.1,head.0.1>logits"
    app = fine_part("discoveries", "circuit", **PROMPTS, hypothesis=link, show="1")
    looked = unpack_all(app, "look_back")
    assert [one["names"] for one in looked] == [
        [f"{which} prompt, head 0.1"] for which in ("First", "Second")
    ]
    ids = tuple(ids_of(bundle, OWN))
    assert np.asarray(looked[0]["cells"]).size == len(ids) ** 2


@given(st.sets(st.sampled_from(TINY)))
def test_a_hypothesis_is_kept_in_a_link_and_its_sentence_counts_it(some):
    edges = [edge for edge in TINY if edge in some]
    link = ",".join(map(chapter.link_of, edges))
    assert chapter.chosen_edges(link, TINY) == tuple(edges)
    circuit = chapter.Circuit(TINY, dict.fromkeys(TINY, 0.1), [0, 0.1, 0.2, 0.3, 0.4, 0.5, 1])
    said = chapter.own_line(circuit, edges, 0.25)
    assert ("You chose no edge" in said) == (not edges)
    assert (f"With your {len(edges)} edges" in said) == (len(edges) > 1)
    assert ("25\xa0%" in said) == bool(edges)
    assert ("No path" in said) == (bool(edges) and not chapter.is_path(edges))
    direct, by_mlp = (
        TINY[3] in some,
        TINY[5] in some and (TINY[1] in some or {TINY[0], TINY[2]} <= some),
    )
    by_head = {TINY[0], TINY[4]} <= some
    assert chapter.is_path(edges) == (direct or by_mlp or by_head)


def test_edges_without_a_path_leave_nothing(bundle):
    edges = all_edges(bundle.model)
    no_path = [edge for edge in edges if edge.sender.kind != "embed"]
    assert not chapter.is_path(no_path)
    own, donor = (read_sums(bundle.model, ids_of(bundle, text)) for text in (OWN, DONOR))
    others = set(edges).difference(no_path)
    logits = patch_edges(bundle.model, own, donor, [others])[0]
    np.testing.assert_allclose(logits, donor.logits, atol=1e-4)


@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.integers(2, 3), st.floats(-1.5, 1.5)),
        unique_by=lambda edge: edge[:2],
    )
)
def test_a_graph_draws_each_edge_from_its_part_to_a_later_one(edges):
    nodes = [Node("abcd"[k], float(k % 2), float(k)) for k in range(4)]
    drawn = json.loads(circuit_graph(nodes, edges, ("to", "away")).to_json())["data"]
    ends = []
    for trace in drawn[:-1]:
        pieces = [[]]
        for x, y in zip(trace["x"], trace["y"], strict=True):
            pieces.append([]) if x is None else pieces[-1].append((x, y))
        ends += [(piece[0], piece[-1]) for piece in pieces if piece]
    wanted = [tuple((nodes[k].x, nodes[k].y) for k in edge[:2]) for edge in edges]
    assert sorted(ends) == sorted(wanted)
    assert sum(bool(trace["showlegend"]) for trace in drawn) == len(
        {share >= 0 for *_, share in edges}
    )


def test_three_edges_of_the_bundled_prompts_leave_nothing_and_the_fourth_leads_to_the_answer():
    model, tokenizer, _ = load_bundled(chapter.MODEL)
    texts = (words.own, words.donor)
    sums = (read_sums(model, tokenizer.encode_from_start(text)) for text in texts)
    anna, samir = (tokenizer.encode(name)[0] for name in (" Anna", " Samir"))
    found = GrowingCircuit(model, *sums, (anna, samir))
    found.grow(600)
    path = found.order[:4]
    assert all(edge.receiver == after.sender for edge, after in pairwise(path))
    assert path[0].sender == Part("embed") and path[-1].receiver == Part("logits")
    assert [abs(left) < 0.005 for left in found.left[:5]] == [True] * 4 + [False]
