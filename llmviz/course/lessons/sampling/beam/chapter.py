"""Chapter "Beam search": its tree, and its find among all texts that there are."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from llmviz.course.components.beam_tree.view import Branch, beam_tree
from llmviz.course.lessons.sampling import source
from llmviz.course.lessons.sampling.beam import MOST_WIDTH, model, words
from llmviz.course.lessons.sampling.source import Prompted
from llmviz.course.ui import engine, kit
from llmviz.course.ui.engine_ready import engine_ready
from llmviz.files.text import check_text
from llmviz.sampling import BeamTree, Continuations, beam_search, exhaustive_search, softmax

KEY, GUESS = "sampling.beam", "beam.first"
WIDTHS = range(1, MOST_WIDTH + 1)
ROWS = 12  # of the list of all texts, and those that a search found
FIRST = 3  # of the most probable first tokens, those among which the best text's one is asked
SMALL = source.SmallPicker("small", first=source.SMALL_MODEL)
MANY = 10  # tokens: all texts of so many are too many to be scored


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show what greedy choice writes, ask which first token is best, then wider searches."""
    kit.prose(words.hook)
    name = SMALL.name(state) if engine_ready() else None
    bundled = kit.load(name) if name else None
    if bundled is None:
        return
    try:
        check_text(state["begin"])
        prompt = source.read(bundled, state["begin"])
        compared = searched(bundled, prompt.ids, prompt.stop_id, state["letters"])
    except ValueError as error:
        kit.refuse(error)
        _controls(state, shown=True)
        return
    guess = kit.Guess(GUESS, question(prompt, compared.every))
    revealed = guess.open
    shown = revealed or state["width"] > 1
    width = state["width"]
    with kit.stage("beam"):
        _tree(prompt, compared.trees[width], width)
        place = compared.places[width]
        kit.prose(
            words.caption["best" if width in compared.best and shown else "place"],
            width=width,
            scored=f"{compared.expanded[width] * prompt.vocab_size:,}",
            text=kit.quote(written(prompt, compared.every.tokens(place))),
            place=f"{place:,}" if shown else words.unknown,
            p=kit.percent(float(compared.every.probabilities[place - 1])),
            all=f"{len(compared.every.ids):,}",
        )
        _controls(state, shown=shown)
    guess.ask()
    if not shown:
        return
    kit.looks(state, words.looks, f"{KEY}.looks")
    kit.section(words.intro)
    _ladder(prompt, compared)
    _all(prompt, compared)
    _code(prompt, compared, state["letters"])
    kit.seen(words.end, **end(prompt, compared))


def _controls(state: kit.PageState, *, shown: bool) -> None:
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        if shown:
            st.slider(words.width, width=220, **state.ranged("width"))
        kit.text_input(state, "begin", words.beginning, width=220)
        st.slider(words.tokens, width=220, **state.ranged("letters"))
        SMALL.menu(state, title=words.model)


@kit.cached(32)
def searched(
    bundled: engine.Bundled, ids: tuple[int, ...], stop_id: int | None, length: int
) -> model.Compared:
    """Return all texts of up to some tokens, and the finds of a beam of each width among them."""
    every = exhaustive_search(bundled.model, list(ids), length, stop_id=stop_id)
    return model.compare(
        every,
        lambda width: beam_search(
            bundled.model, list(ids), width, length, 0.0, stop_id, shown=max(2, width)
        ),
        WIDTHS,
    )


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
        key=f"{KEY}.tree",
        hidden=tree.hidden,
        words=picture,
        captions=[*captions, end],
    )


def _caption(tree: BeamTree, step: int) -> str:
    taken, ended = model.taken_at(tree, step)
    text = words.picture["at_ends" if ended else "at"]
    return text.format(k=step, w=kit.count(taken, "continuation"), ended=ended)


def written(prompt: Prompted, tokens: list[int]) -> str:
    """Return a text from its beginning on, to read; its end as a mark."""
    ends = bool(tokens) and tokens[-1] == prompt.stop_id
    text = "".join(prompt.texts(tokens[:-1] if ends else tokens))
    return prompt.text + text + (words.mark if ends else "")


def question(prompt: Prompted, every: Continuations) -> kit.Question | None:
    """Ask with which first token the most probable text begins; None where two are best.

    The answers are the most probable first tokens, so the first of them is who follows the
    favourite. Each reason is the best text that begins so.
    """
    chances = softmax(prompt.logits)
    first = every.ids[:, 0]
    right = int(first[0])
    likely = np.argsort(-chances, kind="stable")[:FIRST].tolist()
    tokens = likely if right in likely else [*likely, right]
    best = {token: int(np.flatnonzero(first == token)[0]) for token in tokens}
    if len(tokens) < FIRST or min(np.diff(np.sort(-every.totals[[*best.values()]]))) < 1e-6:
        return None

    def word(token: int) -> str:
        return words.mark if token == prompt.stop_id else prompt.token_text(token)

    reasons = {
        word(token): (words.ask_right if token == right else words.ask_other).format(
            token=kit.quote(word(token)),
            chance=kit.percent(float(chances[token])),
            text=kit.quote(written(prompt, every.tokens(place + 1))),
            p=kit.percent(float(every.probabilities[place])),
        )
        for token, place in best.items()
    }
    if len(reasons) < len(tokens):
        return None
    shares = [f"{kit.quote(word(token))} {kit.percent(float(chances[token]))}" for token in tokens]
    text = words.ask.format(
        beginning=kit.quote(prompt.text) if prompt.text else words.nothing,
        shares=kit.listed(shares),
        n=kit.count(every.ids.shape[1], "token"),
    )
    return kit.Question.among(text, reasons, word(right))


def _ladder(prompt: Prompted, compared: model.Compared) -> None:
    every, places = compared.every, compared.places
    rows = sorted({*range(1, min(ROWS, len(every.ids)) + 1), *places.values()})
    cases = []
    for place in rows:
        widths, share = note(place, places), float(every.probabilities[place - 1])
        text = f"{place:,}. {written(prompt, every.tokens(place))}"
        label = [(text, bool(widths)), (f" · {widths}" if widths else "", False)]
        cases.append(kit.Case(label, share, role="query" if widths else "residual"))
    most = float(every.probabilities[0])
    kit.case_rows(cases, kit.Axis(0, 1.1 * most, words.axis), key=f"{KEY}.ladder", form="chance")


def note(place: int, places: dict[int, int]) -> str:
    """Return what stands beside a place: which widths ended there.

    >>> note(3, {1: 3, 2: 3, 3: 1}), note(1, {1: 3, 2: 1, 3: 1, 4: 1}), note(2, {1: 3})
    ('width 1, 2', 'width 2–4', '')
    """
    widths = [width for width, own in places.items() if own == place]
    if not widths:
        return ""
    together = len(widths) > 2 and widths == list(range(widths[0], widths[-1] + 1))
    listed = f"{widths[0]}–{widths[-1]}" if together else ", ".join(map(str, widths))
    return (words.greedy if widths == [1] else words.of_width).format(widths=listed)


def _all(prompt: Prompted, compared: model.Compared) -> None:
    every = compared.every
    kit.prose(
        words.all_texts,
        v=prompt.vocab_size,
        n=kit.count(len(every.ids), "text"),
        beginning=kit.quote(prompt.text) if prompt.text else words.nothing,
        mass=f"{every.probabilities.sum():.4f}",
        end=words.mark,
    )
    found = beams_find(
        compared.best, MOST_WIDTH, compared.expanded, prompt.vocab_size, len(every.ids)
    )
    kit.prose(found)


def beams_find(best: Sequence[int], most: int, expanded: dict[int, int], v: int, n: int) -> str:
    """Say which widths up to `most` find the best of n texts: those in `best`.

    `expanded` holds how many beginnings each width went on from, each with all v tokens.
    """
    if not best:
        return words.not_found.format(most=most)
    if best[0] < most and list(best) == list(range(best[0], most + 1)):
        return words.found_from.format(
            width=best[0], most=most, scored=f"{expanded[best[0]] * v:,}", all=f"{n:,}"
        )
    return words.found_some.format(most=most, widths=", ".join(map(str, best)))


def end(prompt: Prompted, compared: model.Compared) -> dict[str, str]:
    """Return what the chapter ends with: where greedy choice stands among all texts."""
    every, v = compared.every, prompt.vocab_size
    found = words.end_finds if 1 in compared.best else words.end_misses
    can_end = prompt.stop_id is not None
    return {
        "found": found.format(
            place=compared.places[1],
            all=kit.count(len(every.ids), "text"),
            beginning=kit.quote(prompt.text) if prompt.text else words.nothing,
        ),
        "n": kit.count(MANY, "token"),
        "many": kit.count(model.continuation_count(v, MANY, can_end=can_end), "text"),
        "beam": f"{v + 3 * v * (MANY - 1):,}",
    }


def _code(prompt: Prompted, compared: model.Compared, length: int) -> None:
    every = compared.every
    kit.show_code(
        [beam_search, exhaustive_search],
        source.snippet(prompt) + words.snippet.format(length=length),
        f"{len(every.ids)} {prompt.bundled.tokenizer.decode(every.tokens(1))!r} "
        f"{compared.places[1]}",
    )
