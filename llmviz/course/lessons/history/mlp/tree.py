"""Below the MLP, WaveNet: the tree of fused pairs above a letter, and a node opened.

W window, L levels, F hidden width.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import streamlit as st

from llmviz.course import components as lv
from llmviz.course.components.fused_tree.view import TreeLevel
from llmviz.course.components.fused_tree.view import fused_tree as drawn_tree
from llmviz.course.document.marks import unmarked
from llmviz.course.lessons.history import typed_name
from llmviz.course.lessons.history.hidden_layer import add_layer, add_strip
from llmviz.course.lessons.history.mlp import words
from llmviz.course.lessons.history.mlp.fused import FusedTree, fused_tree
from llmviz.course.lessons.history.typed_name import show, spoken_next
from llmviz.course.ui import engine, kit
from llmviz.course.ui.matrix_picture import Picture

KEY, GUESS = "history.wavenet", "history.wavenet.nodes"
MODEL = "names-wavenet"
APART = 1.2  # times as large is the next answer of the question at least


class Nodes(NamedTuple):
    """How many nodes all trees of a text have.

    Level l of all trees together is as long as the text and its pads, less the nodes' own spans.
    """

    tokens: int
    each: int  # of one tree
    together: list[int]  # level by level, each node once

    @property
    def apart(self) -> int:
        """How many there would be if the trees shared nothing."""
        return self.tokens * self.each

    @property
    def more(self) -> str:
        """What is to be said where sharing saves nothing, because of nodes that no tree needs."""
        return words.shared_more if sum(self.together) >= self.apart else ""


def draw_section(state: kit.PageState, name: str) -> None:
    """Show how the letters of a name meet in a tree, and the guess about what neighbours share."""
    kit.section(words.tree)
    if (bundled := typed_name.load(MODEL)) is None:
        return
    _shared(nodes_of(bundled.model.config.n_layer, len(name) + 1), name)
    at = choose_place(state, name)
    node = draw(state, bundled, name, at)
    losses = {model: engine.card(model) for model in (MODEL, "names-mlp") if kit.models_here(model)}
    if len(losses) == 2:
        tree_card, window_card = losses.values()
        kit.looks(
            state,
            words.tree_looks,
            f"{KEY}.looks",
            loss=tree_card["validation_loss"],
            size=tree_card["parameters"],
            other=window_card["validation_loss"],
            other_size=window_card["parameters"],
        )
    _opened(state, bundled, name, at, node)


def _shared(nodes: Nodes, name: str) -> None:
    """Show how many nodes all trees of a name have, as a guess."""
    guess = kit.Guess(GUESS, question(nodes, name))
    cases = [
        kit.Case(words.one_tree, nodes.each, role="residual"),
        kit.Case(words.apart.format(trees=nodes.tokens), nodes.apart, role="residual"),
        kit.Case(words.together, sum(nodes.together)),
    ]
    axis = kit.Axis(0, 1.8 * max(nodes.apart, sum(nodes.together)), words.nodes_axis)
    guess.cases(cases, axis, veiled=[2], picture=f"{KEY}.nodes", form="count")
    if guess.ask() and nodes.more:
        kit.prose(nodes.more)


def choose_place(state: kit.PageState, name: str) -> int:
    """Show the choice of a letter; return its place among the tokens, the start token first."""
    places = list(range(len(name) + 1))
    at = state["treeat"] if state["treeat"] in places else places[-1]

    def moved(chosen: int) -> None:
        state["treeat"] = -1 if chosen == places[-1] else chosen

    label = [words.start, *name]
    slot = kit.tied(f"_{KEY}.at", at, moved)
    st.select_slider(
        words.treeat,
        places,
        format_func=lambda i: label[i] if i == 0 else f"{i}: {label[i]}",
        width=420,
        **slot,
    )
    return at


@kit.cached(64)
def tree(bundled: engine.Bundled, name: str, at: int) -> FusedTree:
    return fused_tree(bundled.model, bundled.tokenizer.encode_from_start(name), at)


def letters_seen(fused: FusedTree, level: int, node: int) -> str:
    """Return the letters that a node has seen; dots for what stands before a letter."""
    tokenizer = engine.tokenizer(MODEL)
    special = tokenizer.special_tokens.values()
    span = fused.span(level, node)
    letters = [token for token in span if token is not None and token not in special]
    return words.pad * (len(span) - len(letters)) + "".join(kit.names_of(letters, tokenizer))


def draw(state: kit.PageState, bundled: engine.Bundled, name: str, at: int) -> tuple[int, int]:
    """Draw the tree above a letter; return the (level, node) that is open."""
    fused = tree(bundled, name, at)
    key, last = f"{KEY}.tree", len(fused.levels)

    def opened() -> None:
        node = st.session_state[key].get("chosen")
        if isinstance(node, list) and len(node) == 2:
            state["node"] = "" if node == [last, 0] else f"{node[0]}.{node[1]}"

    node = chosen(state["node"], last)
    drawn_tree(
        levels_of(fused), key=key, words=words.view, limit=1.0, chosen=node, on_change=opened
    )
    kit.prose(report(fused, bundled, node))
    return node


def chosen(written: str, last: int) -> tuple[int, int]:
    """Return the level and node that a link names; the root where there is no such node.

    >>> chosen("1.3", 3), chosen("1.4", 3), chosen("", 3)
    ((1, 3), (3, 0), (3, 0))
    """
    level, node = kit.place_of(written, (last + 1, 2**last)) or (last, 0)
    return (level, node) if node < 2 ** (last - level) else (last, 0)


def levels_of(fused: FusedTree) -> list[TreeLevel]:
    """Return the levels of a tree as they are drawn, the letters first."""
    last, drawn = len(fused.levels), []
    for level, values in enumerate([fused.embed, *(stage.nodes for stage in fused.levels)]):
        title = words.leaves if level == 0 else words.root if level == last else words.level
        count, width = values.shape
        labels = [letters_seen(fused, level, node) for node in range(count)]
        shape = words.shape.format(n=count, width=width)
        drawn.append(TreeLevel(title.format(n=level), shape, values.numpy(), labels))
    return drawn


def report(fused: FusedTree, bundled: engine.Bundled, node: tuple[int, int]) -> str:
    """Say what the open node has read, and what comes next by the last one."""
    best = int(fused.probabilities.argmax())
    seen = letters_seen(fused, *node)
    only = seen.strip(words.pad)
    line = words.read if only else words.read_nothing
    return line.format(
        seen=kit.quote(only),
        token=spoken_next(best, bundled.tokenizer),
        p=kit.percent(float(fused.probabilities[best])),
    )


def nodes_of(levels: int, tokens: int) -> Nodes:
    """Return how many nodes the trees above so many tokens have."""
    window = 2**levels
    together = [tokens + window - 2**level for level in range(1, levels + 1)]
    return Nodes(tokens, window - 1, together)


def question(nodes: Nodes, name: str) -> kit.Question | None:
    """Ask how many nodes are computed; None where two answers would be near each other.

    The wrong ones are of somebody to whom each letter has a tree of its own, and of one to whom a
    letter adds no more than a node.
    """
    shared, single = sum(nodes.together), nodes.each + nodes.tokens - 1
    reasons = {
        shared: words.ask_nodes_right,
        nodes.apart: words.ask_nodes_apart,
        single: words.ask_nodes_single,
    }
    numbers = sorted(reasons)
    if len(numbers) < 3 or any(more < APART * less for less, more in pairwise(numbers)):
        return None
    return kit.Question.among(
        words.ask_nodes,
        reasons,
        shared,
        None,
        name=kit.quote(name),
        levels=" + ".join(map(str, nodes.together)),
        shared=shared,
        each=nodes.each,
        trees=nodes.tokens,
        count=len(nodes.together),
    )


@kit.cached(64)
def node_picture(bundled: engine.Bundled, name: str, at: int, level: int, node: int) -> Picture:
    """Return how one node was made, as matrices; of a leaf, its vector."""
    fused, picture = tree(bundled, name, at), Picture()
    if level == 0:
        picture.add("embedding", fused.embed[[node]], words.leaf_label, role="value")
        picture.layout.append(["embedding"])
        return picture
    below = (fused.embed, *(stage.nodes for stage in fused.levels))[level - 1]
    above = fused.levels[level - 1]
    left, right = (
        unmarked(kit.quote(letters_seen(fused, level - 1, 2 * node + side))) for side in (0, 1)
    )
    for side, label in enumerate((left, right)):
        key = ("left", "right")[side]
        picture.add(key, below[[2 * node + side]], label, role="value")
        picture.layout.append([key])
    add_strip(picture, "pair", above.pairs[[node]], lv.concat("left", "right"))
    layer = engine.load(MODEL).model.levels[level - 1]
    add_layer(picture, layer, "pair", above.linear[[node]], above.normed[[node]], [""])
    return picture


def _opened(
    state: kit.PageState, bundled: engine.Bundled, name: str, at: int, node: tuple[int, int]
) -> None:
    level, number = node
    fused = tree(bundled, name, at)
    label = kit.quote(letters_seen(fused, level, number))
    if level:
        left, right = (
            kit.quote(letters_seen(fused, level - 1, 2 * number + side)) for side in (0, 1)
        )
        at_level = fused.levels[level - 1]
        sizes: dict[str, Any] = {"pair": at_level.pairs.shape[1], "width": at_level.nodes.shape[1]}
        kit.prose(words.node_opened, seen=label, left=left, right=right, **sizes)
        kit.programmers(words.node_shapes, **sizes)
    else:
        kit.prose(words.leaf, seen=label)
    picture = node_picture(bundled, name, at, level, number)
    show(state, picture, key=f"{KEY}.node.{min(level, 1)}", control="fused", stacked=True)
