"""Chapter "In context": one word in two sentences, its vectors layer by layer.

S stages, T tokens, C = n_embd, L layers, H heads.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.components.token_strip.view import TokenRow, TokenSelection, token_strip
from llmviz.course.lessons.transformer.context import model, words
from llmviz.course.lessons.transformer.page import MODEL
from llmviz.course.ui import engine, kit
from llmviz.course.ui import pinned_cells as cells
from llmviz.models.residual import Stage, read_stream
from llmviz.models.transformers import require_transformer
from llmviz.similarity import unit_rows

KEY = "transformer.context"
GUESS = f"{KEY}.path"
SENTENCES = (("ctx1", "at1"), ("ctx2", "at2"))  # the controls of each: its text, the token clicked
APART = 0.05  # of the cosine, on average, between the answers of the question
_read = kit.cached(64)(kit.on_model(read_stream))


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show one word in two sentences and how its two vectors part, then what parted them."""
    kit.prose(words.hook, word=kit.quote(state["ctxword"].strip() or "–"))
    forget = state.setter(**{at: -1 for _, at in SENTENCES})
    with kit.stage("context"):
        picture = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for (key, at), label in zip(SENTENCES, words.sentences, strict=True):
            kit.text_input(state, key, label, then=state.setter(**{at: -1}))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        bundled = kit.load(MODEL.choose(state))
        kit.text_input(state, "ctxword", words.word, width=160, then=forget)
    if bundled is None or kit.or_refused(require_transformer, bundled.model) is None:
        return
    with picture:
        try:
            a, b = (_sentence(state, bundled, number) for number in (0, 1))
        except ValueError as error:
            kit.refuse(error)
            return
        if a is None or b is None:
            return
        paths = model.two_paths(bundled.model, a, b)
        guess = kit.Guess(GUESS, path_question(paths))
        known = guess.open
        _path(paths, guess, known)
        if a.ids[a.at] != b.ids[b.at]:
            own, other = (_label(bundled, place.ids[place.at]) for place in (a, b))
            kit.prose(words.other_token, a=own, b=other)
        guess.ask()
        if known:
            kit.prose(what_happens(bundled, paths, a, b))
    kit.looks(state, words.looks, f"{KEY}.looks")
    kit.real_look(state, words.real, f"{KEY}.real")
    if known:
        _deeper(state, bundled, paths, (a, b))


def _sentence(state: kit.PageState, bundled: engine.Bundled, number: int) -> model.Place | None:
    """Show one sentence as tokens and return the word in it; None where it is not there.

    Raises ValueError: there is no text, or more of it than the model reads.
    """
    (key, at), which = SENTENCES[number], words.row[number]
    if not state[key].strip():
        raise ValueError(words.empty.format(which=which))
    tokens = bundled.tokenizer.tokens(state[key])
    before, most = bundled.tokenizer.start, bundled.model.context_length
    ids = (*before, *(token.id for token in tokens))
    if len(ids) > most:
        about = {"count": len(ids), "name": kit.label(bundled.name), "most": most}
        raise ValueError(words.too_long.format(which=which, **about))
    word = state["ctxword"].strip()
    place, pieces = state[at], 1
    if not 0 <= place < len(tokens):
        place, pieces = model.last_piece(bundled.tokenizer, tokens, word) or (-1, 1)

    def taken(token: list[int] | None) -> int | None:
        """Another token than the one that was looked up in the text, which stays looked up."""
        return None if token and token[1] == place else kit.second_of(token)

    token_strip(
        [TokenRow("", tokens)],
        key=f"{KEY}.{key}",
        selected=None if place < 0 else TokenSelection(0, place, tokens[place].id),
        on_change=kit.bound(state, f"{KEY}.{key}", selected=(at, taken)),
    )
    if pieces > 1:
        count = kit.count(pieces, "token")
        st.caption(words.pieces.format(word=kit.escape_markdown(word), count=count))
    if place < 0:
        kit.prose(words.not_there, word=kit.quote(state["ctxword"]), which=which)
        return None
    return model.Place(ids, place + len(before), _read(bundled, ids), len(before))


def known_steps(paths: model.TwoPaths) -> int:
    """Return how many steps are told before the question: those that no other token changes."""
    return 1 + (paths.steps[1].kind == "position")


def path_question(paths: model.TwoPaths) -> kit.Question | None:
    """Return how alike the two vectors stay, as a line to draw on.

    The wrong answers are those of somebody to whom a word is a word, and of one to whom each layer
    changes as much as another. None where the line goes as both of them say.
    """
    known = known_steps(paths)
    right = paths.cosines[known:]
    flat = np.full(len(right), paths.cosines[known - 1])
    even = np.linspace(paths.cosines[known - 1], right[-1], len(right) + 1)[1:]
    wrong = {"flat": flat, "even": even}
    lines = {n: line for n, line in wrong.items() if np.abs(line - right).mean() >= APART}
    if not lines:
        return None
    lines["right"] = right
    return kit.Question(
        words.ask,
        [words.ask_answers[name] for name in lines],
        len(lines) - 1,
        [words.ask_reasons[name] for name in lines],
        values=[tuple(map(float, line)) for line in lines.values()],
    )


def _path(paths: model.TwoPaths, guess: kit.Guess, known: bool) -> None:
    """Draw how alike the two vectors are after each step; the hand draws what the layers do."""
    at, told = list(range(len(paths.steps))), known_steps(paths)
    inside = ("position", "attention")  # a layer, at whose end the axis is marked
    steps = enumerate(paths.steps)
    marks = [(n, _named(words.stages, s)) for n, s in steps if s.kind not in inside]
    low = min(0.0, float(paths.cosines.min()), float(paths.others.min()))
    others = kit.Drawn(words.others, at, paths.others.tolist(), "residual")
    guess.line(
        [others] if known else [],
        kit.Drawn(words.same, at, paths.cosines.tolist()),
        kit.Scale(0, at[-1], words.stage_axis, marks=marks),
        kit.Scale(low, 1, words.cosine_axis),
        known=told,
        picture=f"{KEY}.path.line",
    )


def _deeper(
    state: kit.PageState,
    bundled: engine.Bundled,
    paths: model.TwoPaths,
    places: tuple[model.Place, model.Place],
) -> None:
    """Show which head wrote the most different things, and all numbers."""
    a, b = places
    move = model.largest_move(paths, a, b)
    kit.section(words.moved_section)
    kit.prose(what_moved(bundled, move))
    with st.container(horizontal=True):
        for (key, _), title in zip(SENTENCES, words.open, strict=True):
            kit.head_link(title, state[key], bundled.name, move.layer, move.head)
    _matrix(state, [_named(words.stages, step) for step in paths.steps], paths)
    about = {"list_a_ids": list(a.ids), "list_b_ids": list(b.ids), "a_at": a.at, "b_at": b.at}
    kit.show_code(
        [read_stream, model.two_paths, model.largest_move],
        words.snippet.format(name=bundled.name, **about),
        str([f"{value:.2f}" for value in paths.cosines]),
    )
    own, other = (_label(bundled, place.ids[place.at]) for place in places)
    change = end_change(paths, bundled.model.config.n_layer)
    followed = words.end_followed["same" if own == other else "other"].format(a=own, b=other)
    kit.seen(words.end, followed=followed, change=change)


def end_change(paths: model.TwoPaths, n_layer: int) -> str:
    """Return how the cosine of two vectors changed from the row to the last layer."""
    written, layers = (
        [kit.signed(float(value)) for value in paths.cosines],
        kit.count(n_layer, "layer"),
    )
    if set(written) == {"1.00"}:
        return words.end_same.format(layers=layers)
    low = int(paths.cosines.argmin())
    return words.end_change["last" if written[low] == written[-1] else "before"].format(
        start=written[0],
        end=written[-1],
        layers=layers,
        low=written[low],
        stage=_named(words.stage_names, paths.steps[low]),
    )


def _label(bundled: engine.Bundled, token: int) -> str:
    return kit.quote(kit.names_of([token], bundled.tokenizer)[0])


def _named(texts: dict[str, str], stage: Stage) -> str:
    return texts[stage.kind].format(layer=stage.layer)


def what_happens(
    bundled: engine.Bundled, paths: model.TwoPaths, a: model.Place, b: model.Place
) -> str:
    """Return the sentences about the curve: where both begin, where it falls, what comes next."""
    cosines = [kit.signed(float(value)) for value in paths.cosines]
    sentences = []
    sentences.append(words.say_start["same" if a.ids[a.at] == b.ids[b.at] else "other"])
    if paths.steps[1].kind == "position":
        same = words.say_same_place["same" if a.ids[a.at] == b.ids[b.at] else "other"]
        place = same if a.at == b.at else words.say_place
        sentences.append(place.format(a=a.at, b=b.at, place=cosines[1]))
    else:
        sentences.append(words.say_nothing_added)
    falls = paths.cosines[:-1] - paths.cosines[1:]
    at = int(falls.argmax()) + 1
    fall = words.say_fall if falls.max() > 0 and cosines[at - 1] != cosines[at] else words.say_kept
    sentences.append(
        fall.format(
            stage=_named(words.stage_names, paths.steps[at]),
            before=cosines[at - 1],
            after=cosines[at],
            end=cosines[-1],
        )
    )
    (next_a, share_a), (next_b, share_b) = a.next_token, b.next_token
    expected = words.say_next["same" if next_a == next_b else "other"].format(
        a=_label(bundled, a.ids[a.at]),
        b=_label(bundled, b.ids[b.at]),
        next_a=_label(bundled, next_a),
        share_a=kit.percent(share_a),
        next_b=_label(bundled, next_b),
        share_b=kit.percent(share_b),
    )
    return "\n\n".join((" ".join(sentences), expected, words.say_others))


def what_moved(bundled: engine.Bundled, move: model.Move) -> str:
    """Return the sentences about the attention step that moved the two vectors apart."""
    before, after = kit.signed(move.before), kit.signed(move.after)
    line = words.moved if move.before > move.after and before != after else words.moved_nowhere
    text = line.format(layer=move.layer, before=before, after=after)
    if f"{move.apart:.1f}" == "0.0":
        return f"{text} {words.heads_alike}"
    (from_a, share_a), (from_b, share_b) = move.taken
    looks = [_label(bundled, token) for token in (from_a, from_b)]
    return f"{text} " + words.head_apart["same" if looks[0] == looks[1] else "other"].format(
        head=move.head,
        from_a=looks[0],
        share_a=kit.percent(share_a),
        from_b=looks[1],
        share_b=kit.percent(share_b),
    )


def _matrix(state: kit.PageState, names: Sequence[str], paths: model.TwoPaths) -> None:
    a, b = unit_rows(paths.a), unit_rows(paths.b)
    kit.section(words.matrix, width=a.shape[1])
    limit = float(np.quantile(np.abs(np.vstack((a, b))), 0.99)) or None
    product = a * b
    edge = float(np.quantile(np.abs(product), 0.99)) or None
    like: dict[str, Any] = {"row_labels": names, "role": "residual"}
    cells.show(
        state,
        [
            lv.Matrix(words.a, a, "", words.unit, limit=limit, **like),
            lv.Matrix(words.b, b, "", words.unit, limit=limit, **like),
            lv.Matrix(
                words.product,
                product,
                "",
                words.adds_up,
                row_labels=names,
                limit=edge,
                row_sums=True,
                op=lv.multiply(words.a, words.b),
            ),
        ],
        [[words.a], [words.b], [words.product]],
        key=f"{KEY}.matrix",
        control="ctxcell",
        stacked=True,
    )
