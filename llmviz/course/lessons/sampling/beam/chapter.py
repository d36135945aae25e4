"""Chapter "Beam search": the tree with its scores, and what greedy missed."""

import math
from functools import partial

import streamlit as st

from llmviz.course.components.beam_tree.view import Branch, beam_tree
from llmviz.course.lessons.sampling import source
from llmviz.course.lessons.sampling.beam import exhaustive, words
from llmviz.course.lessons.sampling.beam.growing_beam import GrowingBeam
from llmviz.course.lessons.sampling.beam.model import scored_at, taken_at
from llmviz.course.lessons.sampling.beam.searches import growing
from llmviz.course.lessons.sampling.source import Prompted
from llmviz.course.ui import engine, kit
from llmviz.sampling import BeamTree, beam_search

SLICE = 0.1  # seconds of work by which each search grows at a time: all of it, in most cases
POLL = 0.1  # seconds between two reruns while they grow


def draw(state: kit.PageState) -> None:
    """Show the chapter: the tree, and a search among all texts beside it."""
    _draw_tree(state)
    if engine.ready():
        exhaustive.draw(state)


@source.reads_prompt(words.intro)
def _draw_tree(state: kit.PageState, prompt: Prompted) -> None:
    with st.container(horizontal=True, gap="medium"):
        st.slider(words.width, width=220, **state.ranged("width"))
        st.slider(words.tokens, width=220, **state.ranged("depth"))
        st.slider(
            words.penalty,
            step=0.1,
            width=220,
            help=words.penalty_help,
            **state.ranged("penalty"),
        )
    width, depth, penalty = state["width"], state["depth"], state["penalty"]
    try:
        searches = [growing(prompt, beams, depth, penalty) for beams in (width, 1)]
        live = not all([search.grow(SLICE) for search in searches])
    except ValueError as error:
        kit.refuse(error)
        return
    body = partial(_searched, state, prompt, searches, live)
    # Behind a prompt as long as the context each token takes the model a whole window.
    st.fragment(body, run_every=POLL if live else None)()


def _searched(
    state: kit.PageState, prompt: Prompted, searches: list[GrowingBeam], live: bool
) -> None:
    """Show the tree once both searches are over: that of the beam, and the greedy one."""
    if live and not all([search.grow(SLICE) for search in searches]):
        st.caption(words.growing)
        return
    if live:
        st.rerun()  # which ends the looking
    width = state["width"]
    tree, greedy = (search.whole() for search in searches)
    quiz = question(tree, width, prompt.logits.size)
    if quiz is None or kit.predict(quiz, "beam.scored", covers=True):
        _tree(prompt, tree, width)
    kit.prose(beside_greedy(prompt, tree, greedy))
    _code(prompt, tree, state)


def _tree(prompt: Prompted, tree: BeamTree, width: int) -> None:
    branches = [
        Branch(
            parent=node.parent,
            text=words.picture["prompt"] if node.token is None else prompt.token_text(node.token),
            depth=node.depth,
            log_probability=node.log_probability,
            total=node.total,
            score=node.score,
            status=node.status,
        )
        for node in tree.nodes
    ]
    steps = max(node.depth for node in tree.nodes)
    picture = words.picture
    start = picture["start"].format(n=f"{prompt.logits.size:,}", w=width)
    captions = [start, *(_caption(tree, step) for step in range(1, steps))]
    end = picture["end"].format(f=len(tree.finals), score=kit.signed(tree.best.score))
    beam_tree(
        branches,
        tree.finals,
        key="sampling.beam",
        hidden=tree.hidden,
        words=picture,
        captions=[*captions, end],
    )


def _caption(tree: BeamTree, step: int) -> str:
    taken, ended = taken_at(tree, step)
    text = words.picture["at_ends" if ended else "at"]
    return text.format(k=step, w=kit.count(taken, "continuation"), ended=ended)


def beside_greedy(prompt: Prompted, tree: BeamTree, greedy: BeamTree) -> str:
    """Say what the beam found beside greedy, in nats and in how many times as probable."""
    best, first = tree.tokens(), greedy.tokens()
    decode = prompt.bundled.tokenizer.decode
    numbers = {
        "best": kit.quote(decode(best), 90),
        "greedy": kit.quote(decode(first), 90),
        "best_total": kit.signed(tree.best.total),
        "greedy_total": kit.signed(greedy.best.total),
        "best_mean": kit.signed(tree.best.total / len(best)),
        "greedy_mean": kit.signed(greedy.best.total / len(first)),
        "times": times(tree.best.total - greedy.best.total),
    }
    if best == first:
        return words.same.format(**numbers)
    return (words.other if len(best) == len(first) else words.other_length).format(**numbers)


def times(nats: float) -> str:
    """Return a difference of log-probabilities as a factor, in digits that say something.

    >>> times(0.0), times(-7.0), times(60.0)
    ('1.00', '0.00091', 'e^60')
    """
    if abs(nats) > 20:
        return f"e^{kit.signed(nats)[:-3]}"
    factor = math.exp(nats)
    return f"{factor:,.2f}" if factor >= 0.1 else f"{factor:.2g}"


def question(tree: BeamTree, width: int, vocab_size: int) -> kit.Question | None:
    """Return the question how many continuations the second step scores; None without that step.

    None, too, where the vocabulary is so small that wrong answers would be right.
    """
    right = scored_at(tree, 2, vocab_size)
    if not right:
        return None
    taken, ended = taken_at(tree, 1)
    living = taken - ended
    reason = words.ask_beam_reason.format(
        beams=kit.count(living, "beginning"),
        v=kit.count(vocab_size, "token"),
        n=f"{right:,}",
        w=width,
    )
    answers = {right: reason}
    if ended:
        answers.setdefault(taken * vocab_size, words.ask_beam_ended)
    answers.setdefault(
        vocab_size**2, words.ask_beam_all.format(kept=kit.count(living, "beginning"))
    )
    answers.setdefault(living * width, words.ask_beam_few)
    if len(answers) < 3:
        return None
    text = words.ask_beam_ends if ended else words.ask_beam
    return kit.Question.among(
        text.format(beams=kit.count(taken, "beginning"), ended=ended),
        answers,
        right,
        lambda n: kit.count(n, "continuation"),
    )


def _code(prompt: Prompted, tree: BeamTree, state: kit.PageState) -> None:
    width, depth, penalty = state["width"], state["depth"], state["penalty"]
    kit.show_code(
        [beam_search],
        source.snippet(prompt) + words.snippet.format(width=width, depth=depth, penalty=penalty),
        f"{prompt.bundled.tokenizer.decode(tree.tokens())!r} {round(tree.best.score, 2)}",
    )
