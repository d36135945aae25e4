"""Chapter "A circuit, edge by edge": path patching of all edges, and of sets of them."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.components.look_back.view import look_back
from llmviz.course.figures.circuit import Node, circuit_graph
from llmviz.course.lessons.discoveries.circuit import MOST_OWN, words
from llmviz.course.ui import engine, kit
from llmviz.course.ui.furniture import words as furniture
from llmviz.course.ui.question import APART
from llmviz.course.ui.two_prompts import (
    answers,
    both_ids,
    boxes,
    chances,
    named,
    written,
)
from llmviz.interpretability.circuit import (
    MOST_EDGES,
    Edge,
    GrowingCircuit,
    Part,
    Sums,
    all_edges,
    patch_edges,
    read_sums,
    senders,
)
from llmviz.interpretability.heads_on_text import head_maps

KEY = "discoveries.circuit"
GUESS = f"{KEY}.few"
SLICE = 0.02  # seconds of work by which the edges grow in one rerun
POLL = 0.1  # seconds between two reruns while they grow
MOST_TOKENS = 48
FEW = 4  # edges that the question keeps
COUNTS = (0, 1, FEW, 8, 16)  # strongest edges of the rows, besides all
MODEL = "tiny-world-gpt"  # whose edges the looks speak of
HEADS = 2  # of the hypothesis, that are looked at
Prompts = tuple[engine.Bundled, tuple[int, ...], tuple[int, ...], tuple[int, int]]


@dataclass(frozen=True)
class Circuit:
    """All that was measured: see `GrowingCircuit`."""

    order: list[Edge]
    effects: dict[Edge, float]
    left: list[float]

    @property
    def all(self) -> int:
        return len(self.order)


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show where two heads look in both prompts, how much few edges leave, and hypotheses."""
    kit.prose(words.hook)
    stage = kit.stage("circuit")
    with st.expander(words.yours, icon=":material/edit_note:"):
        boxes(state, words)
        bundled = kit.load(kit.Picker().choose(state))
    if bundled is None:
        return
    try:
        own, donor = both_ids(state, bundled)
        fitting(bundled, own, donor)
        of = bundled, own, donor, answers(state, bundled, own, donor)
        grown = growing(*of)
    except ValueError as error:
        kit.refuse(error)
        return
    with stage:
        left, right = st.columns([3, 2], gap="large")
        with left:
            _heads(state, of)
    # All edges are too much for one rerun: some more are patched in each.
    live = not grown.grow(0.0)
    with right:  # what is guessed there concerns the whole chapter, so it is no fragment then
        (st.fragment(_rows, run_every=POLL) if live else _rows)(of, live)
    if live:
        return
    circuit, both = whole(*of), named(bundled, of[3])
    if not kit.Guess(GUESS, question(circuit), by_hand=True).ask():
        return
    spoken_of = of[0].name == MODEL and (state["prompt"], state["donor"]) == (
        words.own,
        words.donor,
    )
    if spoken_of:
        kit.looks(state, words.looks, f"{KEY}.looks")
    kit.section(words.intro)
    if line := aligned_line(own, donor):
        kit.prose(line)
    chances(*of)
    _kept(state, of, circuit)
    if spoken_of:
        four, twelve = circuit.left[4], circuit.left[12]
        kit.looks(state, words.kept_looks, f"{KEY}.kept", four=four, twelve=twelve)
    kit.measured(words.how_ordered)
    _own(state, of, circuit)
    left_over = written(circuit.left[min(FEW, circuit.all)])
    kit.seen(words.end, edges=circuit.all, few=FEW, left=left_over, needed=needed(circuit), **both)


def fitting(bundled: engine.Bundled, own: tuple[int, ...], donor: tuple[int, ...]) -> None:
    """Raise ValueError for prompts, or a model, whose edges are not patched here."""
    number = len(all_edges(bundled.model))
    if number > MOST_EDGES:
        raise ValueError(words.many.format(edges=number, limit=MOST_EDGES))
    longest = max(len(own), len(donor))
    if longest > MOST_TOKENS:
        raise ValueError(words.long.format(count=longest, limit=MOST_TOKENS))


@kit.cached(64)
def sums(bundled: engine.Bundled, ids: tuple[int, ...]) -> Sums:
    """Return what each part of a model wrote for a prompt."""
    return read_sums(bundled.model, ids)


@kit.cached(32)
def growing(
    bundled: engine.Bundled, own: tuple[int, ...], donor: tuple[int, ...], pair: tuple[int, int]
) -> GrowingCircuit:
    """Return the edges of two prompts as far as they are, the same for all visitors.

    Raises ValueError: both prompts prefer the one answer to the other equally.
    """
    try:
        return GrowingCircuit(bundled.model, sums(bundled, own), sums(bundled, donor), pair)
    except ValueError:
        raise ValueError(furniture.prompts["no_difference"]) from None


@kit.cached(32)
def whole(
    bundled: engine.Bundled, own: tuple[int, ...], donor: tuple[int, ...], pair: tuple[int, int]
) -> Circuit:
    """Return the edges of two prompts once all are known."""
    grown = growing(bundled, own, donor, pair)
    grown.grow(math.inf)
    return Circuit(grown.order, grown.effects, grown.left)


@kit.cached(128)
def left_with(
    bundled: engine.Bundled,
    own: tuple[int, ...],
    donor: tuple[int, ...],
    pair: tuple[int, int],
    edges: tuple[Edge, ...],
) -> float:
    """Return what is left of the preference with these edges alone."""
    return growing(bundled, own, donor, pair).left_with(edges)


def part_name(part: Part) -> str:
    return words.parts_named[part.kind].format(layer=part.layer, head=part.head)


def edge_name(edge: Edge) -> str:
    return words.edge.format(sender=part_name(edge.sender), receiver=part_name(edge.receiver))


def link_of(edge: Edge) -> str:
    """Return how a link names an edge.

    >>> link_of(Edge(Part("head", 1, 3), Part("logits")))
    'head.1.3>logits'
    """
    return ">".join(".".join(str(field) for field in part if field != -1) for part in edge)


def chosen_edges(link: str, edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """Return the edges that a link names and that the model has, each once, at most `MOST_OWN`."""
    named = {link_of(edge): edge for edge in edges}
    wanted = dict.fromkeys(name for name in link.split(",") if name in named)
    return tuple(named[name] for name in list(wanted)[:MOST_OWN])


def is_path(edges: Iterable[Edge]) -> bool:
    """Whether some of the edges lead from the embedding to the logits.

    >>> is_path([Edge(Part("embed"), Part("mlp", 0)), Edge(Part("mlp", 0), Part("logits"))])
    True
    """
    ends, reached, before = list(edges), {Part("embed")}, 0
    while before != len(reached):
        before = len(reached)
        reached |= {edge.receiver for edge in ends if edge.sender in reached}
    return Part("logits") in reached


def aligned_line(own: Sequence[int], donor: Sequence[int]) -> str:
    """Return how two prompts are aligned; empty where they have the same length."""
    count = abs(len(own) - len(donor))
    if not count:
        return ""
    longer = words.longer["own" if len(own) > len(donor) else "donor"]
    alone = words.alone["one" if count == 1 else "some"].format(count=count)
    return words.unequal.format(own=len(own), donor=len(donor), longer=longer, alone=alone)


def needed(circuit: Circuit) -> int:
    """Return the least number of edges, the strongest first, that leave nine tenths."""
    shares = enumerate(circuit.left)
    return next(at for at, share in shares if share >= 0.9 or at == circuit.all)


def question(circuit: Circuit) -> kit.Question | None:
    """Return the question what the few strongest edges leave; None where answers are too near.

    The wrong answers are those of somebody to whom what moves the answer alone is enough alone, and
    to whom each edge carries as much as any other.
    """
    if circuit.all <= FEW:
        return None
    right, even = circuit.left[FEW], FEW / circuit.all
    alone = min(1.0, abs(circuit.effects[circuit.order[0]]))
    if min(abs(right - alone), abs(right - even)) < APART or not 0 <= right <= 1:
        return None
    if kit.whole_percent(alone) == kit.whole_percent(even):  # two answers would read alike
        return None
    slots: dict[str, Any] = {
        "few": FEW,
        "edges": circuit.all,
        "alone": written(alone),
        "even": written(even),
    }
    return kit.Question.among(
        words.ask.format(**slots),
        {
            alone: words.ask_reasons["alone"],
            even: words.ask_reasons["even"],
            right: words.ask_reasons["right"],
        },
        right,
        kit.whole_percent,
        **slots,
        left=written(right),
    )


def _heads(state: kit.PageState, of: Prompts) -> None:
    bundled, *both = of[:3]
    chosen = chosen_edges(state["hypothesis"], all_edges(bundled.model))
    parts = dict.fromkeys(part for edge in chosen for part in edge if part.kind == "head")
    heads = [*parts][:HEADS] or [Part("head", bundled.model.config.n_layer - 1, 0)]
    for number, ids in enumerate(both):
        maps = maps_of(bundled, ids)
        look_back(
            np.stack([maps[head.layer, head.head] for head in heads]),
            kit.names_of(ids, bundled.tokenizer),
            key=f"{KEY}.look.{number}",
            names=[words.looked[number].format(head=part_name(head)) for head in heads],
            words=words.look,
        )


@kit.cached(64)
def maps_of(bundled: engine.Bundled, ids: tuple[int, ...]) -> np.ndarray:
    """Return where all heads look in a prompt (L, H, T, T)."""
    return np.asarray(head_maps(bundled.model, ids).maps)


def _rows(of: Prompts, live: bool) -> None:
    """Show how much of the preference a few edges leave, once all are measured."""
    grown = growing(*of)
    if not grown.grow(SLICE):
        st.progress(grown.known / grown.total, words.wait.format(count=grown.total))
        return
    if live:
        kit.run_again()  # which ends the looking
    circuit = whole(*of)
    guess, counts = kit.Guess(GUESS, question(circuit)), [n for n in COUNTS if n < circuit.all]
    revealed = guess.open
    cases = []
    for number in (*counts, circuit.all):
        share = round(circuit.left[number], 4) + 0.0  # no −0
        open_row = revealed or number in (0, FEW, circuit.all)
        label = by_count(words.rows, number, circuit.all).format(count=number)
        note = "" if open_row else "?"
        cases.append(kit.Case(label, share if open_row else None, note=note))
    low, high = min(0.0, *circuit.left), max(1.0, *circuit.left)
    axis, veiled = (
        kit.Axis(low, high, words.left_axis),
        [counts.index(FEW)] if guess.question else [],
    )
    guess.cases(cases, axis, veiled=veiled, picture=f"{KEY}.rows")
    edges, both = circuit.all, named(of[0], of[3])
    kit.prose(words.parts, edges=edges, **both)


def by_count(lines: dict[str, str], number: int, every: int | None = None) -> str:
    """Return the variant of a sentence for a number of things; every: that of all."""
    how = "none" if not number else "all" if number == every else "one" if number == 1 else "some"
    return lines[how]


def _kept(state: kit.PageState, of: Prompts, circuit: Circuit) -> None:
    kit.section(words.graph)
    st.slider(words.kept_label, **state.ranged("edgeskept", most=circuit.all))
    number = state["edgeskept"]
    kit.plot(f"{KEY}.graph", graph_of, *of, tuple(circuit.order[:number]))
    line = by_count(words.left, number, circuit.all)
    kit.prose(f"{line.format(count=number, left=written(circuit.left[number]))} {words.scale}")


@kit.cached(64)
def graph_of(
    bundled: engine.Bundled,
    own: tuple[int, ...],
    donor: tuple[int, ...],
    pair: tuple[int, int],
    edges: tuple[Edge, ...],
    mode: kit.Mode,
) -> go.Figure:
    """Return the graph of some edges: the embedding below, the logits above."""
    circuit, config = whole(bundled, own, donor, pair), bundled.model.config
    parts, nodes = [*senders(bundled.model), Part("logits")], []
    for part in parts:
        if part.kind == "head":
            x, y = float(part.head), 1.0 + 2 * part.layer
        else:
            x = config.n_head + 0.5 if part.layer >= 0 else (config.n_head - 1) / 2
            y = {"embed": 0.0, "mlp": 2.0 + 2 * part.layer}.get(part.kind, 1 + 2 * config.n_layer)
        nodes.append(Node(part_name(part), x, float(y)))
    drawn = [
        (parts.index(edge.sender), parts.index(edge.receiver), circuit.effects[edge])
        for edge in edges
    ]
    first, second = words.directions
    return circuit_graph(nodes, drawn, (first, second), mode)


def _own(state: kit.PageState, of: Prompts, circuit: Circuit) -> None:
    kit.section(words.own_edges)
    rows = senders(of[0].model)
    columns = [*rows[1:], Part("logits")]
    chosen = chosen_edges(state["hypothesis"], circuit.order)

    def take(edges: Sequence[Edge]) -> None:
        state["hypothesis"] = ",".join(map(link_of, edges))

    def clicked() -> None:
        cell = st.session_state[f"{KEY}.grid"].get("chosen")
        edge = None if cell is None else Edge(rows[cell[0]], columns[cell[1]])
        if edge in circuit.effects and edge not in chosen and len(chosen) < MOST_OWN:
            take([*chosen, edge])

    values = np.zeros((len(rows), len(columns)))
    notes = [[words.no_edge] * len(columns) for _ in rows]
    for edge, share in circuit.effects.items():
        row, column = rows.index(edge.sender), columns.index(edge.receiver)
        values[row, column] = np.clip(share, -9.99, 9.99)
        notes[row][column] = words.note.format(share=written(share))
    last = chosen[-1] if chosen else None
    cell_grid(
        values,
        key=f"{KEY}.grid",
        row_names=[part_name(part) for part in rows],
        column_names=[part_name(part) for part in columns],
        notes=notes,
        limit=1.0,
        scale=tuple(words.grid_scale),
        label=words.grid,
        chosen=last and (rows.index(last.sender), columns.index(last.receiver)),
        on_change=clicked,
    )
    st.multiselect(
        words.own_label.format(most=MOST_OWN),
        circuit.order,
        format_func=edge_name,
        **state.several("hypothesis"),
        **kit.tied(f"_{KEY}.own", list(chosen), take),
    )
    alike = len(of[1]) == len(of[2])
    kit.prose(own_line(circuit, chosen, left_with(*of, chosen), same_length=alike))
    _code(of, chosen)


def own_line(
    circuit: Circuit, edges: Sequence[Edge], left: float, *, same_length: bool = True
) -> str:
    """Return what is left with the edges of a hypothesis, and what the strongest ones leave."""
    number = len(edges)
    said = [by_count(words.own_left, number).format(count=number, left=written(left))]
    if number and not is_path(edges):
        said.append(words.no_path["same" if same_length else "other"])
    if number:
        best = written(circuit.left[number])
        said.append(by_count(words.own_best, number).format(count=number, best=best))
    return " ".join(said)


def _code(of: Prompts, chosen: tuple[Edge, ...]) -> None:
    bundled, own, donor, pair = of

    def printed() -> str:
        others = set(all_edges(bundled.model)).difference(chosen)
        first, second = (sums(bundled, ids) for ids in (own, donor))
        logits = patch_edges(bundled.model, first, second, [others])[0]
        return str([f"{x:.2f}" for x in logits[list(pair)].tolist()])

    slots: dict[str, Any] = {
        "name": bundled.name,
        "own": list(own),
        "donor": list(donor),
        "kept": [*chosen],
    }
    text = words.snippet.format(**slots, pair=list(pair))
    kit.show_code([all_edges, patch_edges], text, printed)
