"""Chapter "In context": one word in two sentences, its vectors layer by layer.

S stages, T tokens, C = n_embd, L layers, H heads.
"""

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.figures import embeddings as figures
from llmviz.course.lessons.embeddings import sources
from llmviz.course.lessons.embeddings.clear import stands_out
from llmviz.course.lessons.embeddings.context import words
from llmviz.course.lessons.embeddings.context.model import (
    Move,
    Place,
    TwoPaths,
    largest_move,
    two_paths,
)
from llmviz.course.lessons.embeddings.context.reading import KEY, SENTENCES, sentence
from llmviz.course.ui import engine, kit
from llmviz.course.ui import pinned_cells as cells
from llmviz.models.gpt import GPT
from llmviz.models.residual import Stage, read_stream
from llmviz.similarity import VectorTable, unit_rows


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    _examples(state)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        table = sources.choose(state)
        if table is None:
            return
        kit.text_input(state, "ctxword", words.word, width=160, then=_forget(state))
    bundled = engine.load(table.name)
    if not isinstance(bundled.model, GPT):
        kit.prose(words.no_layers, name=sources.named(table))
        return
    try:
        places = [sentence(state, table, bundled, number) for number in (0, 1)]
    except ValueError as error:
        kit.refuse(error)
        return
    if None not in places:
        st.caption(words.click)
        _compare(state, table, bundled, *places)


def _forget(state: kit.PageState) -> Callable[[], None]:
    """Return a callback after which both words are looked for anew."""
    return state.setter(**{at: -1 for _, at in SENTENCES})


def _examples(state: kit.PageState) -> None:
    def take(name: str) -> None:
        for key, text in zip(("ctxword", "ctx1", "ctx2"), words.examples[name], strict=True):
            state[key] = text
        _forget(state)()

    kit.suggest(
        words.examples_label, list(words.examples), take, key="_embeddings.examples", wrap=True
    )


def _compare(
    state: kit.PageState, table: VectorTable, bundled: engine.Bundled, a: Place, b: Place
) -> None:
    paths = two_paths(bundled.model, a, b)
    names = [_named(words.stages, step) for step in paths.steps]
    with st.container():
        _warn(table, a, b)
    if not _ask(paths):
        return
    kit.chart(
        curve(
            tuple(names), tuple(paths.cosines.tolist()), tuple(paths.others.tolist()), kit.theme()
        ),
        f"{KEY}.curve",
        bar=False,
    )
    kit.prose(what_happens(table, paths, a, b))
    _moved(state, table, bundled, largest_move(paths, a, b))
    _matrix(state, names, paths)
    kit.show_code(
        [read_stream, two_paths, largest_move],
        words.snippet.format(
            name=bundled.name, list_a_ids=list(a.ids), list_b_ids=list(b.ids), a_at=a.at, b_at=b.at
        ),
        str([f"{value:.2f}" for value in paths.cosines]),
    )
    kit.seen(
        words.end,
        a=sources.label(table, a.ids[a.at]),
        b=sources.label(table, b.ids[b.at]),
        change=end_change(paths, bundled.model.config.n_layer),
    )


def end_change(paths: TwoPaths, n_layer: int) -> str:
    """Return how the cosine of two vectors changed from the row to the last layer."""
    written, layers = (
        [kit.signed(float(value)) for value in paths.cosines],
        kit.count(n_layer, "layer"),
    )
    if set(written) == {"1.00"}:
        return words.end_same.format(layers=layers, end=written[-1])
    low = int(paths.cosines.argmin())
    return words.end_change.format(
        start=written[0],
        end=written[-1],
        layers=layers,
        low=written[low],
        stage=_named(words.stage_names, paths.steps[low]),
    )


@kit.kept(64)
def curve(
    names: tuple[str, ...], cosines: tuple[float, ...], others: tuple[float, ...], mode: kit.Mode
) -> kit.Figure:
    """Return the cosine of the two vectors after each step, and that of other tokens."""
    return figures.by_stage(
        names,
        np.array(cosines),
        np.array(others),
        (words.same, words.others),
        (words.stage_axis, words.cosine_axis),
        mode,
    )


def _warn(table: VectorTable, a: Place, b: Place) -> None:
    """Say so where the two tokens are not the same one."""
    if a.ids[a.at] != b.ids[b.at]:
        own, other = (sources.label(table, place.ids[place.at]) for place in (a, b))
        kit.prose(words.other_token, a=own, b=other)


def _named(texts: dict[str, str], stage: Stage) -> str:
    return texts[stage.kind].format(layer=stage.layer)


def what_happens(table: VectorTable, paths: TwoPaths, a: Place, b: Place) -> str:
    """Return the sentences about the curve: where both begin, where it falls, what comes next."""
    cosines = [kit.signed(float(value)) for value in paths.cosines]
    sentences = []
    if a.ids[a.at] == b.ids[b.at]:
        sentences.append(words.say_start.format(row=cosines[0]))
    if paths.steps[1].kind == "position":
        place = words.say_same_place if a.at == b.at else words.say_place
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
    expected = words.say_next.format(
        a=sources.label(table, a.ids[a.at]),
        b=sources.label(table, b.ids[b.at]),
        next_a=sources.label(table, next_a),
        share_a=kit.percent(share_a),
        next_b=sources.label(table, next_b),
        share_b=kit.percent(share_b),
    )
    return "\n\n".join((" ".join(sentences), expected, words.say_others))


def _moved(state: kit.PageState, table: VectorTable, bundled: engine.Bundled, move: Move) -> None:
    """Say which head wrote the most different things, and lead to it in the next lesson."""
    kit.section(words.moved_section)
    kit.prose(what_moved(table, move))
    with st.container(horizontal=True):
        for (key, _), title in zip(SENTENCES, words.open, strict=True):
            kit.head_link(title, state[key], bundled.name, move.layer, move.head)


def what_moved(table: VectorTable, move: Move) -> str:
    """Return the sentences about the attention step that moved the two vectors apart."""
    before, after = kit.signed(move.before), kit.signed(move.after)
    line = words.moved if move.before > move.after and before != after else words.moved_nowhere
    text = line.format(layer=move.layer, before=before, after=after)
    if f"{move.apart:.1f}" == "0.0":
        return f"{text} {words.heads_alike}"
    (from_a, share_a), (from_b, share_b) = move.taken
    return f"{text} " + words.head_apart.format(
        head=move.head,
        apart=move.apart,
        from_a=sources.label(table, from_a),
        share_a=kit.percent(share_a),
        from_b=sources.label(table, from_b),
        share_b=kit.percent(share_b),
    )


def _matrix(state: kit.PageState, names: Sequence[str], paths: TwoPaths) -> None:
    a, b = unit_rows(paths.a), unit_rows(paths.b)
    kit.section(words.matrix, width=a.shape[1])
    limit = float(np.quantile(np.abs(np.vstack((a, b))), 0.99)) or None
    product = a * b
    edge = float(np.quantile(np.abs(product), 0.99)) or None
    like = {"row_labels": names, "role": "residual"}
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
        control="term",
        stacked=True,
    )


def _ask(paths: TwoPaths) -> bool:
    """Ask after which step the two vectors are least alike, where that has one answer."""
    question = least_question(paths.steps, paths.cosines)
    return question is None or kit.predict(question, f"{KEY}.least", covers=True)


def least_question(steps: list[Stage], cosines: np.ndarray) -> kit.Question | None:
    """Return the question after which of the steps the cosine (S,) is lowest.

    None where two steps are equally low as their cosines are written, or there are too few.
    """
    low = int(cosines.argmin())
    options = sorted({1, 2, len(steps) // 2, len(steps) - 1, low})
    options = [i for i in options if i < len(steps)]
    if len(options) < 3 or not stands_out([float(cosines[i]) for i in options], options.index(low)):
        return None
    return kit.Question(
        words.ask,
        [_named(words.stage_names, steps[i]) for i in options],
        options.index(low),
        [words.ask_reason.format(cosine=kit.signed(float(cosines[i]))) for i in options],
        scale=True,
    )
