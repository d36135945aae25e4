"""Chapter "A circuit, edge by edge": path patching of all edges, and of sets of them."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.figures.circuit import Node, circuit_graph
from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.discoveries.circuit import edges as measured
from llmviz.course.lessons.discoveries.circuit import words
from llmviz.course.lessons.discoveries.circuit.edges import Circuit, Prompts
from llmviz.course.lessons.discoveries.circuit.params import MOST_OWN
from llmviz.course.ui import engine, kit
from llmviz.course.ui.two_prompts import answers, both_ids, boxes, chances, named, written
from llmviz.interpretability.circuit import MOST_EDGES, Edge, Part, all_edges, patch_edges, senders

KEY = "discoveries.circuit"
SLICE = 0.02  # seconds of work by which the edges grow in one rerun
POLL = 0.1  # seconds between two reruns while they grow
MOST_TOKENS = 48
ROWS = 8  # edges that the table names


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    boxes(state, words)
    bundled = kit.load(kit.Picker().choose(state))
    if bundled is None:
        return
    try:
        own, donor = both_ids(state, bundled)
        fitting(bundled, own, donor)
        of = bundled, own, donor, answers(state, bundled, own, donor)
        grown = measured.growing(*of)
    except ValueError as error:
        kit.refuse(error)
        return
    chances(*of)
    if line := measured.aligned_line(own, donor):
        kit.prose(line)
    # All edges are too much for one rerun: some more are patched in each.
    live = not grown.grow(0.0)
    st.fragment(_measured, run_every=POLL if live else None)(state, of, live)


def fitting(bundled: engine.Bundled, own: tuple[int, ...], donor: tuple[int, ...]) -> None:
    """Raise ValueError for prompts, or a model, whose edges are not patched here."""
    number = len(all_edges(bundled.model))
    if number > MOST_EDGES:
        raise ValueError(words.many.format(edges=number, limit=MOST_EDGES))
    longest = max(len(own), len(donor))
    if longest > MOST_TOKENS:
        raise ValueError(words.long.format(count=longest, limit=MOST_TOKENS))


def _measured(state: kit.PageState, of: Prompts, live: bool) -> None:
    """Show the edges and all that is said of them once all are measured."""
    bundled, *_, pair = of
    grown = measured.growing(*of)
    if not grown.grow(SLICE):
        st.progress(grown.known / grown.total, words.wait.format(count=grown.total))
        return
    if live:
        kit.run_again()  # which ends the looking
    circuit = measured.whole(*of)
    both = named(bundled, pair)
    kit.prose(
        words.parts,
        edges=circuit.all,
        **both,
    )
    if not kit.predict(measured.question(circuit), f"{KEY}.ask", covers=True):
        return
    _kept(state, of, circuit)
    _own(state, of, circuit)
    kit.seen(
        words.end,
        edges=circuit.all,
        needed=f"{circuit.needed:,}",
        left=written(circuit.left[circuit.needed]),
        **both,
    )


def _kept(state: kit.PageState, of: Prompts, circuit: Circuit) -> None:
    kit.section(words.graph)
    st.slider(words.kept_label, **state.ranged("edgeskept", most=circuit.all))
    number = state["edgeskept"]
    kit.prose(measured.kept_line(circuit, number))
    graph, curve = st.columns([3, 2], gap="large")
    with graph:
        chosen = tuple(circuit.order[:number])
        kit.chart(graph_of(*of, chosen, kit.theme()), f"{KEY}.graph")
    with curve:
        kit.chart(curve_of(*of, number, kit.theme()), f"{KEY}.curve")
    kit.prose(words.scale)
    if number:
        rows = [
            (
                measured.part_name(edge.sender),
                measured.part_name(edge.receiver),
                written(circuit.effects[edge]),
            )
            for edge in circuit.order[: min(number, ROWS)]
        ]
        kit.rows_table(rows, words.columns)


@kit.kept(64)
def graph_of(
    bundled: engine.Bundled,
    own: tuple[int, ...],
    donor: tuple[int, ...],
    pair: tuple[int, int],
    edges: tuple[Edge, ...],
    mode: kit.Mode,
) -> go.Figure:
    """Return the graph of some edges: the embedding below, the logits above."""
    circuit = measured.whole(bundled, own, donor, pair)
    config = bundled.model.config
    parts = [*senders(bundled.model), Part("logits")]
    middle = (config.n_head - 1) / 2
    nodes = []
    for part in parts:
        if part.kind == "head":
            x, y = float(part.head), 1.0 + 2 * part.layer
        else:
            x = config.n_head + 0.5 if part.layer >= 0 else middle
            y = {"embed": 0.0, "mlp": 2.0 + 2 * part.layer}.get(part.kind, 1 + 2 * config.n_layer)
        nodes.append(Node(measured.part_name(part), x, float(y)))
    drawn = [
        (parts.index(edge.sender), parts.index(edge.receiver), circuit.effects[edge])
        for edge in edges
    ]
    first, second = words.directions
    return circuit_graph(nodes, drawn, (first, second), mode)


@kit.kept(64)
def curve_of(
    bundled: engine.Bundled,
    own: tuple[int, ...],
    donor: tuple[int, ...],
    pair: tuple[int, int],
    number: int,
    mode: kit.Mode,
) -> go.Figure:
    """Return what is left of the preference with each number of edges, and a mark at one."""
    left = measured.whole(bundled, own, donor, pair).left
    return lines(
        [
            Line(words.curve, range(len(left)), left, 0, marked=False),
            Line(words.here, [number], [left[number]], 1),
        ],
        (words.edges_axis, words.left_axis),
        mode,
        level=(1.0, words.whole),
        hover="%{y:.0%}",
    )


def _own(state: kit.PageState, of: Prompts, circuit: Circuit) -> None:
    kit.section(words.own_edges)
    bundled = of[0]
    rows = senders(bundled.model)
    columns = [*rows[1:], Part("logits")]
    chosen = measured.chosen_edges(state["hypothesis"], circuit.order)

    def take(edges: list[Edge]) -> None:
        state["hypothesis"] = ",".join(map(measured.link_of, edges))

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
        row_names=[measured.part_name(part) for part in rows],
        column_names=[measured.part_name(part) for part in columns],
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
        format_func=measured.edge_name,
        **state.several("hypothesis"),
        **kit.tied(f"_{KEY}.own", list(chosen), take),
    )
    left = measured.left_with(*of, chosen)
    alike = len(of[1]) == len(of[2])
    kit.prose(measured.own_line(circuit, chosen, left, same_length=alike))
    kit.chart(graph_of(*of, chosen, kit.theme()), f"{KEY}.own")
    kit.prose(words.agrees)
    _code(of, chosen)


def _code(of: Prompts, chosen: tuple[Edge, ...]) -> None:
    bundled, own, donor, pair = of

    def printed() -> str:
        sums = (measured.sums(bundled, ids) for ids in (own, donor))
        others = set(all_edges(bundled.model)).difference(chosen)
        logits = patch_edges(bundled.model, *sums, [others])[0]
        return str([f"{x:.2f}" for x in logits[list(pair)].tolist()])

    kit.show_code(
        [all_edges, patch_edges],
        "from llmviz.pretrained import load_bundled\n"
        "from llmviz.interpretability.circuit import "
        "Edge, Part, all_edges, patch_edges, read_sums\n\n"
        f"model, tokenizer, card = load_bundled({bundled.name!r})\n"
        f"own = read_sums(model, {list(own)})\n"
        f"donor = read_sums(model, {list(donor)})\n"
        f"kept = {[*chosen]!r}\n"
        "others = set(all_edges(model)).difference(kept)\n"
        "logits = patch_edges(model, own, donor, [others])[0]\n"
        f'print([f"{{x:.2f}}" for x in logits[{list(pair)}].tolist()])',
        printed,
    )
