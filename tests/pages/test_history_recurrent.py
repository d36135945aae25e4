"""The chapter "RNN, GRU, LSTM": strips as torch computes them, gradients as autograd does."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as some
from torch import nn

from llmviz.course.lessons.history.recurrent import chapter, gradient, words
from llmviz.course.lessons.history.recurrent.gradient_through_time import (
    PastGradients,
    fresh,
    past_gradients,
    scaled,
)
from llmviz.course.lessons.history.recurrent.recurrent_states import GATES, gate_steps, read_states
from llmviz.course.lessons.history.recurrent.unit_roles import (
    correlations,
    explained,
    find_roles,
    guessed,
    linear_guess,
)
from llmviz.course.ui import engine
from tests.pages import harness

pytestmark = pytest.mark.usefixtures("ready")

CELLS = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
NAME = "olivia"


def model_of(cell):
    bundled = engine.load(f"names-{cell}")
    return bundled.model, bundled.tokenizer


def of_torch(cell, model):
    """torch's own layer with the model's weights."""
    layer = model.layers[0]
    theirs = CELLS[cell](model.config.n_embd, layer.hidden_size, batch_first=True)
    with torch.no_grad():
        for name, part in (("ih", layer.input), ("hh", layer.recurrent)):
            getattr(theirs, f"weight_{name}_l0").copy_(part.weight)
            getattr(theirs, f"bias_{name}_l0").copy_(part.bias)
    return theirs


def drawn(app) -> list[dict[str, np.ndarray]]:
    """The values of the matrices of each view on the page, by name."""
    return [
        {one["name"]: one["values"] for one in payload["matrices"]}
        for payload in harness.unpack_all(app, "matrix_view")
    ]


@pytest.mark.parametrize("cell", CELLS)
def test_the_strips_are_what_torch_computes(cell):
    app = harness.fine_part("history", "recurrent", cell=cell, name="Olivia")
    model, tokenizer = model_of(cell)
    ids = torch.tensor([tokenizer.encode_from_start(NAME)])
    with torch.no_grad():
        hidden = of_torch(cell, model)(model.token(ids))[0][0].numpy()
    stage, first = drawn(app)[:2]
    assert np.allclose(stage["list"], hidden, atol=1e-5)
    assert np.allclose(first["hidden"], hidden, atol=1e-5)
    sums = {"rnn": ("from input", "from state", "total"), "gru": ("kept", "new", "hidden")}
    a, b, total = sums.get(cell, ("kept", "new", "cell"))
    assert np.allclose(first[a] + first[b], first[total], atol=1e-5)
    if cell == "lstm":
        assert np.allclose(first["output"] * np.tanh(first["cell"]), hidden, atol=1e-5)
    if cell == "gru":
        assert np.allclose(first["before"][1:], hidden[:-1], atol=1e-5)
        assert not first["before"][0].any()


@pytest.mark.parametrize("cell", CELLS)
def test_an_opened_gate_is_the_recorded_one(cell):
    model, tokenizer = model_of(cell)
    read = read_states(model, tokenizer.encode_from_start(NAME))
    for gate in GATES[cell]:
        steps = gate_steps(model, read, gate)
        assert torch.allclose(steps.value, read.parts[gate], atol=1e-5)
        a = steps.x @ steps.input_weight + steps.input_bias
        assert torch.allclose(a, steps.from_input, atol=1e-5)
    with pytest.raises(ValueError, match="the gate of"):
        gate_steps(model, read, "door")


def test_the_gate_of_a_link_is_opened_and_a_kept_number_stays():
    app = harness.fine_part("history", "recurrent", cell="lstm", gate="fourth", state="cell.2.5")
    assert "output" in drawn(app)[2] and "forget" not in drawn(app)[2]
    assert harness.unpack_all(app, "matrix_view")[1]["pinned"] == ["cell", 2, 5]
    app = harness.fine_part("history", "recurrent", cell="gru", gate="fourth", state="cell.2.500")
    assert app.session_state["history.gate"] == "third"


@pytest.mark.parametrize("look", words.parts)
def test_every_part_prints_what_its_snippet_prints(look):
    app = harness.fine_part("history", "recurrent", recurrent=look, times="2.0")
    found = harness.snippets(app)
    assert found
    for snippet, prints in found:
        assert harness.run_snippet(snippet).strip() == prints.strip()


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("trained", [True, False])
def test_the_gradient_through_time_is_that_of_torchs_cells(cell, trained):
    bundled, tokenizer = model_of(cell)
    model = scaled(bundled, 1.0) if trained else fresh(bundled, 0, 2.0)
    text, after = gradient.letters(NAME, 9)
    ids, target = tokenizer.encode(text), tokenizer.encode(after)[0]
    found = past_gradients(model, ids, target)
    layer, h = model.layers[0], model.layers[0].hidden_size
    kind = {"rnn": nn.RNNCell, "gru": nn.GRUCell, "lstm": nn.LSTMCell}[cell]
    step = kind(model.config.n_embd, h)
    with torch.no_grad():
        for name, part in (("ih", layer.input), ("hh", layer.recurrent)):
            getattr(step, f"weight_{name}").copy_(part.weight)
            getattr(step, f"bias_{name}").copy_(part.bias)
    state = (torch.zeros(1, h), torch.zeros(1, h)) if cell == "lstm" else torch.zeros(1, h)
    kept = []
    for one in ids:
        state = step(model.token(torch.tensor([one])), state)
        tensors = state if cell == "lstm" else (state,)
        for tensor in tensors:
            tensor.retain_grad()
        kept.append(tensors)
    loss = nn.functional.cross_entropy(model.head(kept[-1][0]), torch.tensor([target]))
    loss.backward()
    assert found.loss == pytest.approx(float(loss.detach()), rel=1e-5)
    hidden = [float(tensors[0].grad.norm()) for tensors in kept]
    assert found.norms["hidden"] == pytest.approx(hidden, rel=1e-3, abs=1e-9)
    if cell == "lstm":
        cells = [float(tensors[1].grad.norm()) for tensors in kept]
        assert found.norms["cell"] == pytest.approx(cells, rel=1e-3, abs=1e-9)


def test_the_bundled_model_is_left_as_it_is():
    model, _ = model_of("gru")
    before = model.layers[0].recurrent.weight.clone()
    past_gradients(scaled(model, 3.0), [1, 2], 3)
    assert torch.equal(model.layers[0].recurrent.weight, before)
    assert not any(p.requires_grad or p.grad is not None for p in model.parameters())
    with pytest.raises(ValueError, match="at least one letter"):
        past_gradients(model, [], 3)


sizes = some.floats(0, 1e25, allow_nan=False)


@given(first=sizes, last=sizes)
@example(first=1.0, last=0.0)
def test_what_is_said_of_a_gradient_holds_at_its_edges(first, last):
    found = PastGradients(1.0, {"hidden": np.array([first, last])})
    line = gradient.sentence(found, "trained", "RNN")
    assert "nan" not in line and "inf" not in line.replace("infinite", "")
    if found.ratio >= 1e3:
        assert "explodes" in line


def test_correlation_and_explained_variance_are_those_of_numpy():
    chance = np.random.default_rng(0)
    values, groups = chance.normal(size=(60, 3)), chance.integers(0, 4, 60)
    places = chance.normal(size=60)
    values[:, 2] = 1.0  # constant: nothing to explain
    for j in (0, 1):
        assert correlations(values, places)[j] == pytest.approx(
            np.corrcoef(values[:, j], places)[0, 1]
        )
        marks = (groups[:, None] == np.unique(groups)).astype(float)
        fit = marks @ np.linalg.lstsq(marks, values[:, j], rcond=None)[0]
        share = (
            1
            - ((values[:, j] - fit) ** 2).sum() / ((values[:, j] - values[:, j].mean()) ** 2).sum()
        )
        assert explained(values, groups)[j] == pytest.approx(share)
    assert correlations(values, places)[2] == explained(values, groups)[2] == 0


def test_a_linear_reading_finds_what_is_there():
    chance = np.random.default_rng(1)
    groups = chance.integers(0, 3, 200)
    values = np.eye(3)[groups] + 0.05 * chance.normal(size=(200, 3))
    assert (linear_guess(values[:100], groups[:100], values[100:]) == groups[100:]).all()


@pytest.mark.parametrize("cell", CELLS)
def test_units_are_found_on_one_half_of_the_names_and_measured_on_the_other(cell):
    bundled = engine.load(f"names-{cell}")
    found = chapter.roles(bundled)
    assert np.abs(found.correlations).argmax() == found.counts
    assert found.shares.argmax() == found.remembers
    assert 0 <= found.explained <= 1 and -1 <= found.correlation <= 1
    error = (found.usual * (1 - found.usual) / found.names) ** 0.5
    assert found.guessed > found.usual - 2 * error  # a guess that is worse than none is no reading
    with pytest.raises(ValueError, match="at least 20 names"):
        find_roles(bundled.model, bundled.tokenizer, ["ann", "olivia"])


def test_before_the_guess_no_share_of_a_model_is_told(covers):
    app = harness.fine_part("history", "recurrent")
    rows = harness.sent(app, "case_rows")["rows"]
    assert [row["value"] is None for row in rows] == [False, True, True, True]
    assert len(harness.unpack_all(app, "matrix_view")) == 1


@given(shares=some.tuples(*[some.floats(0, 1)] * 3))
def test_answers_that_are_near_the_right_one_are_not_asked(shares):
    found = {
        cell: SimpleNamespace(together=share, usual=0.1)
        for cell, share in zip(CELLS, shares, strict=True)
    }
    asked = chapter.question(found)
    far = [np.abs(np.array(shares) - other).mean() for other in (1, 0.25)]
    assert (asked is None) == (min(far) < chapter.APART)
    assert asked is None or asked.values[asked.right] == shares


def test_a_group_is_guessed_from_a_number_that_tells_it_and_from_no_other():
    chance = np.random.default_rng(0)
    groups = chance.integers(0, 2, 2000) + 3
    telling = np.where(groups == 3, -1.0, 1.0) + 0.1 * chance.normal(size=2000)
    half = slice(None, 1000), slice(1000, None)
    assert guessed(telling[half[0]], groups[half[0]], telling[half[1]], groups[half[1]]) > 0.9
    noise = chance.normal(size=2000)
    share = guessed(noise[half[0]], groups[half[0]], noise[half[1]], groups[half[1]])
    assert 0.44 < share < 0.56
    flat = np.zeros(1000)
    usual = (groups[half[1]] == np.bincount(groups[half[0]]).argmax()).mean()
    assert guessed(flat, groups[half[0]], flat, groups[half[1]]) == usual


@given(moved=some.lists(some.floats(0, 50, allow_nan=False), min_size=1, max_size=15))
def test_the_largest_move_is_named(moved):
    said = chapter.report("abcdefghijklmno"[: len(moved)], moved)
    if len(set(moved)) > 1:
        assert f"letter {1 + int(np.argmax(moved))}," in said
    else:
        assert "Its one letter" in said
