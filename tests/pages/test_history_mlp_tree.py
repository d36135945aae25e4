"""WaveNet in the chapter "MLP": its tree is that of the weights, and sees what it says it sees."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from llmviz.course.components.fused_tree.view import TreeLevel, tree_payload
from llmviz.course.lessons.history.mlp import tree as chapter
from llmviz.course.lessons.history.mlp.fused import fused_tree
from llmviz.course.ui import engine
from tests.pages.conftest import load_torch
from tests.pages.harness import fine_part, prose_of, sent, unpack_all

NAME = "olivia"


@pytest.fixture(scope="module", autouse=True)
def bundled():
    load_torch()
    return engine.load(chapter.MODEL)


def grown(model, window):
    """The nodes of each level for one window of ids, the pad's among them, by torch alone."""
    x, levels = model.token.weight[torch.tensor(window)], []
    for level in model.levels:
        norm = level.norm
        x = F.linear(x.reshape(len(x) // 2, -1), level.linear.weight, level.linear.bias)
        mean, variance = norm.running_mean, norm.running_variance
        x = F.batch_norm(x, mean, variance, norm.weight, norm.bias).tanh()
        levels.append(x)
    return levels


def test_the_tree_of_each_letter_is_the_one_grown_from_the_weights(bundled):
    model, ids = bundled.model, bundled.tokenizer.encode_from_start(NAME)
    pad, window = model.config.vocab_size, model.config.window
    padded = [pad] * (window - 1) + ids
    for at in range(len(ids)):
        found = fused_tree(model, ids, at)
        expected = grown(model, padded[at : at + window])
        for one, nodes in zip(found.levels, expected, strict=True):
            assert torch.allclose(one.nodes, nodes, atol=1e-5)
        with torch.no_grad():
            p = model.head(expected[-1])[0].softmax(-1)
        assert torch.allclose(found.probabilities, p, atol=1e-5)


def test_a_node_depends_on_the_letters_that_it_has_seen_and_on_no_other(bundled):
    model, tokenizer = bundled.model, bundled.tokenizer
    ids = tokenizer.encode_from_start("margaret")
    at = len(ids) - 1
    plain, last = fused_tree(model, ids, at), len(ids) - 1
    for place in range(1, len(ids)):
        changed = list(ids)
        changed[place] = tokenizer.encode("q")[0]
        other = fused_tree(model, changed, at)
        slot = model.config.window - 1 - (last - place)
        for level, (a, b) in enumerate(zip(plain.levels, other.levels, strict=True), 1):
            moved = (a.nodes != b.nodes).any(1).tolist()
            assert moved == [node == slot >> level for node in range(len(moved))]


def test_the_page_draws_the_tree_and_the_node_of_a_link():
    app = fine_part("history", "mlp", name="Olivia", node="2.1", treeat="5")
    found = chapter.tree(engine.load(chapter.MODEL), NAME, 5)
    drawn = sent(app, "fused_tree")
    assert drawn["chosen"] == [2, 1]
    assert [len(one["labels"]) for one in drawn["levels"]] == [8, 4, 2, 1]
    assert drawn["levels"][0]["labels"] == ["·", "·", "·", "o", "l", "i", "v", "i"]
    assert drawn["levels"][2]["labels"][1] == "livi"
    for level, one in enumerate(found.levels, 1):
        assert np.allclose(drawn["levels"][level]["values"], one.nodes)
    opened = {one["name"]: one["values"] for one in unpack_all(app, "matrix_view")[-1]["matrices"]}
    assert np.allclose(opened["tanh"], found.levels[1].nodes[[1]], atol=1e-6)
    assert np.allclose(opened["gained"] + opened["shift"], opened["normed"], atol=1e-4)
    pair = np.concatenate((opened["left"], opened["right"]), axis=1)
    assert np.allclose(pair @ opened["W"], opened["linear"], atol=1e-4)


def test_a_node_that_is_not_there_is_the_root():
    for node in ("3.1", "9.0", "x", "1.-1"):
        app = fine_part("history", "mlp", node=node)
        assert sent(app, "fused_tree")["chosen"] == [3, 0]
    leaf = fine_part("history", "mlp", node="0.7")
    assert [one["name"] for one in unpack_all(leaf, "matrix_view")[-1]["matrices"]] == ["embedding"]


@pytest.mark.parametrize(("levels", "tokens"), [(1, 1), (2, 5), (3, 7), (4, 16)])
def test_shared_nodes_are_those_of_all_trees_together(levels, tokens):
    window = 2**levels
    spans = {
        (level, at + node * 2**level)
        for at in range(tokens)
        for level in range(1, levels + 1)
        for node in range(window >> level)
    }
    nodes = chapter.nodes_of(levels, tokens)
    assert sum(nodes.together) == len(spans)
    assert nodes.apart == tokens * sum(window >> level for level in range(1, levels + 1))


@pytest.mark.parametrize("levels", range(1, 9))
@pytest.mark.parametrize("tokens", [1, 2, 3, 16])
def test_the_question_is_right_for_every_depth_and_name(levels, tokens):
    nodes = chapter.nodes_of(levels, tokens)
    asked = chapter.question(nodes, "x")
    if asked is not None:
        assert asked.values[asked.right] == (sum(nodes.together),)
        numbers = sorted(number for (number,) in asked.values)
        assert all(b >= chapter.APART * a for a, b in pairwise(numbers))


@pytest.mark.parametrize("tokens", range(1, 20))
def test_sharing_is_said_to_save_nothing_where_the_model_computes_as_much_or_more(tokens):
    """Of a name of one letter, more nodes are computed than its trees have."""
    levels, window = 3, 8
    in_a_tree = {
        (level, last)
        for level in range(1, levels + 1)
        for end in range(tokens)
        for last in range(end, end - window, -(2**level))
    }
    nodes = chapter.nodes_of(levels, tokens)
    assert len(in_a_tree) <= min(nodes.apart, sum(nodes.together))
    assert bool(nodes.more) == (sum(nodes.together) >= nodes.apart)
    if nodes.more:
        assert len(in_a_tree) < sum(nodes.together)  # some are in none of the trees


def test_the_sentences_name_the_likeliest_letter(bundled):
    app = fine_part("history", "mlp", name=NAME)
    found = chapter.tree(bundled, NAME, len(NAME))
    assert f"{100 * float(found.probabilities.max()):.1f}" in prose_of(app)


def test_what_fits_no_tree_is_refused(bundled):
    with pytest.raises(ValueError, match="a WaveNet is needed"):
        fused_tree(engine.load("names-mlp").model, [1, 2], 0)
    with pytest.raises(ValueError, match="from 0 to 1"):
        fused_tree(bundled.model, [1, 2], 2)
    found = fused_tree(bundled.model, [1, 2], 1)
    with pytest.raises(ValueError, match="no node 1 at level 3"):
        found.span(3, 1)
    for values, labels in ((np.zeros((2, 3)), ["a"]), (np.full((1, 3), np.nan), ["a"])):
        with pytest.raises(ValueError):
            tree_payload([TreeLevel("", "", values, labels)])
    with pytest.raises(ValueError, match="with one node"):
        tree_payload([])
