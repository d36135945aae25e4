"""Part of the chapter "RNN, GRU, LSTM": how the state is made, and the gates opened.

T letters, the start token among them; H units.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llmviz.course import components as lv
from llmviz.course.lessons.history.recurrent import recurrent_states, words
from llmviz.course.lessons.history.recurrent.name_read import KEY, rows_of, states
from llmviz.course.lessons.history.typed_name import show
from llmviz.course.ui import engine, kit
from llmviz.course.ui.matrix_picture import Picture

if TYPE_CHECKING:
    from torch import Tensor

ORDINALS = ("first", "second", "third", "fourth")
GATED = {"reset", "update", "input", "forget", "output", "rest"}
BOUNDED = {"hidden", "candidate", "before", "shown"}  # between −1 and 1


def draw(state: kit.PageState, bundled: engine.Bundled, name: str) -> None:
    """Show how the state was made at each letter, and one gate opened."""
    cell, known = state["cell"], (bundled, name)
    gated, gate = len(recurrent_states.GATES[cell]) > 1, recurrent_states.GATES[cell][-1]
    kit.section(words.strips)
    picture = strips(*known) if gated else gate_picture(*known, "hidden")
    show(state, picture, key=f"{KEY}.{cell}", control="state", stacked=True)
    if gated:
        kit.section(words.gate_section)
        gate = _choice(state, cell)
        opened_gate = gate_picture(*known, gate)
        show(state, opened_gate, key=f"{KEY}.{cell}.{gate}", control="gated", stacked=True)
    kit.prose(words.gate_read)
    kit.programmers(
        words.shapes, c=bundled.model.config.n_embd, h=bundled.model.layers[0].hidden_size
    )
    layer, value = bundled.model.layers[0], float(opened(bundled, name, gate).value[-1, 0])
    kit.show_code(
        [layer.step, type(layer).steps, recurrent_states.gate_steps],
        words.snippet_strips.format(bundled_name=bundled.name, name=name, gate=gate),
        f"{value:.4f}",
    )


def _choice(state: kit.PageState, cell: str) -> str:
    """Show the choice of a gate; return it. Where a cell has fewer gates, the last one stands."""
    gates = dict(zip(ORDINALS, recurrent_states.GATES[cell], strict=False))
    if state["gate"] not in gates:
        state["gate"] = list(gates)[-1]
    kit.choose(state, "gate", words.gate, {key: words.labels[gate] for key, gate in gates.items()})
    return gates[state["gate"]]


class _Strips:
    """A picture whose drawn matrices are all (T, H), one below the other."""

    def __init__(self, rows: list[str]) -> None:
        self.picture, self.rows = Picture(), rows

    def add(self, name: str, values: Tensor, op: lv.Op | None = None, formula: str = "") -> None:
        gate = name in GATED
        more: dict[str, Any] = {"scale": "sequential" if gate else "diverging"}
        if gate or name in BOUNDED:
            more["limit"] = 1.0
        role = "weights" if gate else "value" if name in ("hidden", "cell") else "neutral"
        self.picture.add(
            name,
            values,
            words.labels[name],
            formula or words.formulas.get(name, ""),
            op=op,
            role=role,
            row_labels=self.rows,
            col_labels=[str(unit) for unit in range(values.shape[1])],
            row_axis=words.row,
            col_axis=words.column,
            **more,
        )
        self.picture.layout.append([name])


@kit.cached(64)
def strips(bundled: engine.Bundled, name: str) -> Picture:
    """Return the gates and states of a GRU or an LSTM over the letters of a name."""
    cell = bundled.model.cell
    parts = states(bundled, name).parts
    drawn = _Strips(rows_of(bundled, name))
    memory = "cell" if "cell" in parts else "hidden"
    old = recurrent_states.before(parts[memory])
    first = {"cell": "cell before", "hidden": "before"}[memory]
    drawn.add(first, old)
    for gate in recurrent_states.GATES[cell]:
        drawn.add(gate, parts[gate])
    later = _lstm(drawn, parts, old) if "cell" in parts else _gru(drawn, parts, old)
    for names, line in zip(
        [[first, *recurrent_states.GATES[cell]], *later], words.steps[cell], strict=True
    ):
        drawn.picture.step(names, line)
    return drawn.picture


def _gru(drawn: _Strips, parts: dict[str, Tensor], old: Tensor) -> list[list[str]]:
    """Add how a GRU's parts make its state; return which of it appear together."""
    update, candidate = parts["update"], parts["candidate"]
    drawn.add("kept", update * old, lv.multiply("update", "before"), words.kept["gru"])
    drawn.add("rest", 1 - update, lv.function("update", "1 − "))
    drawn.add("new", (1 - update) * candidate, lv.multiply("rest", "candidate"), words.new["gru"])
    drawn.add("hidden", parts["hidden"], lv.add("kept", "new"), words.whole["gru"])
    return [["kept"], ["rest", "new"], ["hidden"]]


def _lstm(drawn: _Strips, parts: dict[str, Tensor], old: Tensor) -> list[list[str]]:
    """Add how an LSTM's parts make its cell and state; return which of it appear together."""
    stays, new = parts["forget"] * old, parts["input"] * parts["candidate"]
    drawn.add("kept", stays, lv.multiply("forget", "cell before"), words.kept["lstm"])
    drawn.add("new", new, lv.multiply("input", "candidate"), words.new["lstm"])
    drawn.add("cell", parts["cell"], lv.add("kept", "new"), words.cell_formula)
    drawn.add("shown", parts["cell"].tanh(), lv.function("cell", "tanh"))
    drawn.add("hidden", parts["hidden"], lv.multiply("output", "shown"), words.whole["lstm"])
    return [["kept"], ["new", "cell"], ["shown", "hidden"]]


@kit.cached(64)
def opened(bundled: engine.Bundled, name: str, gate: str) -> recurrent_states.GateSteps:
    """Return how one gate came about at every letter of a name."""
    return recurrent_states.gate_steps(bundled.model, states(bundled, name), gate)


@kit.cached(64)
def gate_picture(bundled: engine.Bundled, name: str, gate: str) -> Picture:
    """Return one gate, or the RNN's state, with its products and sums."""
    steps, drawn = opened(bundled, name, gate), _Strips(rows_of(bundled, name))
    picture = drawn.picture
    # Not drawn, but in the arithmetic of a number: the letters' vectors and the weights.
    for label, values in (
        ("x", steps.x),
        ("W", steps.input_weight),
        ("b", steps.input_bias),
        ("U", steps.state_weight),
        ("b′", steps.state_bias),
    ):
        picture.add(label, values)
    drawn.add("from input", steps.from_input, lv.matmul("x", "W", bias="b"))
    drawn.add("before", steps.before)
    drawn.add("from state", steps.from_state, lv.matmul("before", "U", bias="b′"))
    second = "from state"
    if steps.reset is not None:
        second, through = "through", steps.reset * steps.from_state
        drawn.add("reset", steps.reset)
        drawn.add(second, through, lv.multiply("reset", "from state"))
    drawn.add("total", steps.total, lv.add("from input", second))
    sign = words.functions["tanh" if gate in ("hidden", "candidate") else "sigmoid"]
    drawn.add(gate, steps.value, lv.function("total", sign), f"{sign}({words.labels['total']})")
    if gate == "hidden":
        parts = (["from input"], ["before", "from state"], ["total", "hidden"])
        for names, line in zip(parts, words.steps["rnn"], strict=True):
            picture.step(names, line)
    return picture
