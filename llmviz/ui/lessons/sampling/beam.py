"""Chapter "Beam search": the tree with its scores, and what greedy missed."""

from __future__ import annotations

import math

import streamlit as st

from llmviz.sampling import BeamTree, beam_search
from llmviz.ui import codec, engine
from llmviz.ui.components.beam import Branch, beam_tree
from llmviz.ui.lesson import Question, predict, section, show_code
from llmviz.ui.lessons.common import count, refuse, signed
from llmviz.ui.lessons.sampling import exhaustive, source, words
from llmviz.ui.lessons.sampling.searches import searched
from llmviz.ui.lessons.sampling.source import Prompted
from llmviz.ui.prose import prose, quote
from llmviz.ui.state import PageState

MOST_WIDTH, MOST_TOKENS = 6, 12
PARAMS = [
    codec.integer("width", 3, 1, MOST_WIDTH),
    codec.integer("depth", 7, 1, MOST_TOKENS),
    codec.number("penalty", 0.0, 0.0, 2.0),
]


def draw(state: PageState) -> None:
    """Show the chapter: the tree, and a search among all texts beside it."""
    _draw_tree(state)
    if engine.ready():
        exhaustive.draw(state)


@st.fragment
def _draw_tree(state: PageState) -> None:
    section(words.beam.TITLE, words.beam.TEXT)
    said = source.prompted(state)
    if said is None:
        return
    with st.container(horizontal=True, gap="medium"):
        st.slider(words.beam.WIDTH, width=220, **state.ranged("width"))
        st.slider(words.beam.TOKENS, width=220, **state.ranged("depth"))
        st.slider(
            words.beam.PENALTY,
            step=0.1,
            width=220,
            help=words.beam.PENALTY_HELP,
            **state.ranged("penalty"),
        )
    width, depth, penalty = state["width"], state["depth"], state["penalty"]
    try:
        tree = searched(said, width, depth, penalty)
        greedy = searched(said, 1, depth, penalty)
    except ValueError as error:
        refuse(error)
        return
    _tree(said, tree, width)
    prose(found(said, tree, greedy))
    _ask(width, said.logits.size)
    _code(said, tree, state)


def _tree(said: Prompted, tree: BeamTree, width: int) -> None:
    branches = [
        Branch(
            parent=node.parent,
            text=words.beam.PICTURE["prompt"]
            if node.token is None
            else said.token_text(node.token),
            depth=node.depth,
            log_probability=node.log_probability,
            total=node.total,
            score=node.score,
            status=node.status,
        )
        for node in tree.nodes
    ]
    steps = max(node.depth for node in tree.nodes)
    picture = words.beam.PICTURE
    start = picture["start"].format(n=f"{said.logits.size:,}", w=width)
    captions = [start, *(picture["at"].format(k=k, w=width) for k in range(1, steps))]
    end = picture["end"].format(f=len(tree.finals), score=signed(tree.best.score))
    beam_tree(
        branches,
        tree.finals,
        key="sampling.beam",
        hidden=tree.hidden,
        words=picture,
        captions=[*captions, end],
    )


def found(said: Prompted, tree: BeamTree, greedy: BeamTree) -> str:
    """Say what the beam found beside greedy, in nats and in how many times as probable."""
    best, first = tree.tokens(), greedy.tokens()
    decode = said.bundled.tokenizer.decode
    numbers = {
        "best": quote(decode(best), 90),
        "greedy": quote(decode(first), 90),
        "best_total": signed(tree.best.total),
        "greedy_total": signed(greedy.best.total),
        "best_mean": signed(tree.best.total / len(best)),
        "greedy_mean": signed(greedy.best.total / len(first)),
        "times": f"{math.exp(min(50.0, tree.best.total - greedy.best.total)):.2f}",
    }
    if best == first:
        return words.beam.SAME.format(**numbers)
    return (words.beam.FOUND if len(best) == len(first) else words.beam.SHORTER).format(**numbers)


def _ask(width: int, vocab_size: int) -> None:
    answers = {
        width * vocab_size: "",
        vocab_size**2: words.beam.ASK_BEAM_ALL,
        width * width + 1: words.beam.ASK_BEAM_FEW,
    }
    if len(answers) < 3:
        return
    order = sorted(answers)
    reason = words.beam.ASK_BEAM_REASON.format(w=width, v=vocab_size, n=width * vocab_size)
    predict(
        Question(
            words.beam.ASK_BEAM.format(w=width),
            [count(n, "continuation") for n in order],
            order.index(width * vocab_size),
            [reason if n == width * vocab_size else answers[n] for n in order],
        ),
        "beam.scored",
    )


def _code(said: Prompted, tree: BeamTree, state: PageState) -> None:
    width, depth, penalty = state["width"], state["depth"], state["penalty"]
    show_code(
        [beam_search],
        source.snippet(said) + "from llmviz.sampling import beam_search\n\n"
        f"tree = beam_search(model, ids, beam_width={width}, max_new_tokens={depth},\n"
        f"                   length_penalty={penalty!r}, stop_id=ids[0])\n"
        "print(repr(tokenizer.decode(tree.tokens())), round(tree.best.score, 2))",
        f"{said.bundled.tokenizer.decode(tree.tokens())!r} {round(tree.best.score, 2)}",
    )
