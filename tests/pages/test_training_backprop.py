"""The chapter on backpropagation: every cell and every slope is autograd's."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

from llmviz.course.components.graph_view.view import GraphNode, GraphStep, graph_payload
from llmviz.course.components.nudge_view.view import nudge_view
from llmviz.course.lessons.training.backprop import chapter, nudging, picture, words
from llmviz.course.lessons.training.backprop import graph as net
from llmviz.course.lessons.training.backprop.model import slope_errors
from llmviz.course.lessons.training.backprop.params import NUDGE_MATRICES as MATRICES
from llmviz.training.backprop import TARGET, autograd, backward, example, forward, stepped
from llmviz.training.one_weight import Copy, matrices
from tests.pages import harness
from tests.pages.cells import work_out
from tests.pages.small_model import ids_of

WALK = len(net.FORWARD)


def values(app, at: int) -> dict[str, np.ndarray]:
    """What the matrices of one of the pictures hold."""
    return {
        one["name"]: one["values"] for one in harness.unpack_all(app, "matrix_view")[at]["matrices"]
    }


def test_the_graph_holds_every_value_and_gradient(ready):
    app = harness.open_part("training", "backprop", target="3")
    harness.fine(app)
    graph = harness.sent(app, "graph_view")
    given = example()
    made, grads = forward(given, 3), autograd(given, 3)
    seen = set()
    for node in graph["nodes"]:
        assert np.allclose(node["value"], made[node["name"]], atol=1e-6)
        if node["gradient"] is not None:
            assert np.allclose(node["gradient"], grads[node["name"]], atol=1e-6)
            seen.add(node["name"])
    assert seen == {step["node"] for step in graph["steps"] if step["backward"]}
    order = [step["node"] for step in graph["steps"] if not step["backward"]]
    # Nothing is computed before its operands are.
    for start, end in graph["edges"]:
        if start in order:
            assert order.index(start) < order.index(end)


@pytest.mark.parametrize("walk", range(len(net.FORWARD) + len(net.BACKWARD)))
def test_every_step_opens_to_its_arithmetic(walk):
    """The named operation, worked out from the operands that are shown, gives what is shown."""
    made = forward(example(), TARGET)
    d = backward(made)
    if walk < WALK:
        shown = picture.forward_step(list(net.FORWARD)[walk], made, TARGET)
    else:
        shown = picture.backward_step(net.BACKWARD[walk - WALK], made, d)
    cells = {matrix.name: np.asarray(matrix.values) for matrix in shown.matrices}
    assert shown.matrices[-1].op is not None
    for matrix in shown.matrices:
        if matrix.op is not None:
            assert np.allclose(cells[matrix.name], work_out(matrix.op, cells)), matrix.name


@pytest.mark.parametrize("walk", [0, 12, WALK, WALK + 6, WALK + 11, WALK + 17])
def test_steps_are_drawn_beside_autograd(ready, walk):
    app = harness.open_part("training", "backprop", walk=str(walk))
    harness.fine(app)
    shown = values(app, 0)
    if walk >= WALK:
        name = net.BACKWARD[walk - WALK]
        assert np.allclose(shown["autograd"], autograd(example(), TARGET)[name], atol=1e-7)
        assert np.allclose(shown["autograd"], shown[f"∂{name}"], atol=1e-7)


@pytest.mark.parametrize("walk", range(WALK, WALK + len(net.BACKWARD)))
@pytest.mark.parametrize("target", [0, 1, 4])
def test_the_caption_names_the_cell_with_the_most_blame(walk, target):
    made = forward(example(), target)
    d = backward(made)
    text = chapter.caption(walk, d)
    blame = d[net.BACKWARD[walk - WALK]]
    row, column = map(int, re.search(r"row (\d+), column (\d+)", text).groups())
    assert blame[row, column].abs() == blame.abs().max()
    assert nudging.exact(float(blame[row, column])) in text


def test_no_gradient_is_sent_before_an_answer(ready, covers):
    graph = harness.sent(harness.open_part("training", "backprop"), "graph_view")
    assert all(node["gradient"] is None for node in graph["nodes"])
    assert not any(step["backward"] for step in graph["steps"])


def test_a_nudge_is_predicted_by_the_gradient(ready):
    app = harness.open_part("training", "backprop", how="nudge", wmat="W2", wrow="1", wcol="2")
    harness.fine(app)
    view = harness.sent(app, "nudge_view")
    given = example()
    slope = autograd(given, TARGET)["W2"][1, 2].item()
    middle = nudging.MIDDLE
    assert view["weights"][middle] == pytest.approx(given["W2"][1, 2].item())
    for stop in (0, 30, middle + 1, 80):
        changed = {**given, "W2": given["W2"].clone()}
        changed["W2"][1, 2] = float(view["weights"][stop])
        loss = forward(changed, TARGET)["loss"].item()
        assert view["losses"][stop] == pytest.approx(loss, rel=1e-5)
        rise = float(view["predicted"][stop] - view["losses"][middle])
        assert rise == pytest.approx(
            slope * float(view["weights"][stop] - view["weights"][middle]), abs=1e-5
        )
    # Close by, the straight line and the curve are one.
    assert abs(view["predicted"][middle + 1] - view["losses"][middle + 1]) < 1e-3
    assert len(app.get("plotly_chart")) == 1
    for snippet, prints in harness.snippets(app):
        assert harness.run_snippet(snippet).strip() == prints.strip()
    (question,) = app.radio
    question.set_value(0).run()
    assert len(app.success) == 1 and not app.error


@pytest.mark.parametrize("name", MATRICES)
def test_measured_slopes_come_closest_in_the_middle(name):
    given = example()
    hand = autograd(given, TARGET)[name][1, 1].item()
    steps, errors = slope_errors(given, name, 1, 1, hand)
    best = int(np.argmin(errors["double"]))
    assert 1e-8 < steps[best] < 1e-2
    assert errors["double"][best] < 1e-9
    assert min(errors["single"]) > errors["double"][best]


def test_a_cell_that_is_not_there_is_replaced_and_said(ready):
    app = harness.open_part("training", "backprop", how="nudge", wmat="W1", wrow="3", wcol="9")
    harness.fine(app)
    assert "wcol = 9 does not exist" in harness.boxes(app)


# ---- a trained model


def trained(**link: str):
    app = harness.open_part("training", "backprop", how="trained", pupil="tiny-world-gpt", **link)
    harness.fine(app)
    return app


def test_the_products_add_up_to_the_models_own_gradient(bundle):
    text = "Mila found"
    name = "blocks.1.mlp.output.weight"
    app = trained(story=text, tmat=name, trow="3", tcol="7")
    ids = ids_of(bundle, text)
    grad = Copy(bundle.model, ids).gradients(name)[3, 7].item()
    shown = values(app, -1)
    assert shown["product"].sum() == pytest.approx(grad, rel=1e-4)
    assert shown["total"][0, 0] == pytest.approx(grad, rel=1e-5)
    assert len(shown["local"]) == len(ids) - 1
    view = harness.sent(app, "nudge_view")
    with torch.no_grad():
        model = Copy(bundle.model, ids).model
        model.get_parameter(name)[3, 7] = float(view["weights"][0])
        logits = model(torch.tensor([ids[:-1]]))[0][0]
    loss = torch.nn.functional.cross_entropy(logits, torch.tensor(ids[1:])).item()
    assert view["losses"][0] == pytest.approx(loss, rel=1e-5)
    (snippet,) = harness.snippets(app)
    assert harness.run_snippet(snippet[0]).strip() == snippet[1].strip()


def test_the_steepest_weight_is_found(bundle):
    text = "Mila found"
    name = "blocks.0.attn.qkv.weight"
    app = trained(story=text, tmat=name)
    grad = Copy(bundle.model, ids_of(bundle, text)).gradients(name).abs()
    row, column = (
        app.number_input(key=f"_training.{key}@training").value for key in ("trow", "tcol")
    )
    assert grad[row, column] == grad.max()


def test_every_matrix_of_a_model_can_be_asked(bundle):
    for name in (*matrices(bundle.model)[:2], "head.weight"):
        if name in matrices(bundle.model):
            app = trained(tmat=name)
            assert len(app.error) == 0
            assert name != "token.weight" or "used twice" in harness.prose_of(app)


# ---- what the components refuse


def node(**changes) -> GraphNode:
    made = {"name": "a", "label": "a", "kind": "step", "x": 0, "y": 0, "value": np.ones((2, 2))}
    return GraphNode(**made | changes)


@pytest.mark.parametrize(
    "nodes, edges, steps, rule",
    [
        ([node(), node()], [], [], "names of nodes must differ"),
        ([], [], [], "one at least"),
        ([node(kind="odd")], [], [], "kind must be one of"),
        ([node(value=np.ones(3))], [], [], "two dimensions"),
        ([node(gradient=np.ones((2, 3)))], [], [], "shape of its value"),
        ([node()], [("a", "b")], [], "an end that is no node"),
        ([node()], [], [GraphStep("b", False, "")], "which is no node"),
    ],
)
def test_graphs_that_do_not_fit_are_refused(nodes, edges, steps, rule):
    with pytest.raises(ValueError, match=rule):
        graph_payload(nodes, edges, steps)


@pytest.mark.parametrize("count, losses, lines", [(4, 4, 4), (5, 4, 5), (5, 5, 4)])
def test_nudges_that_do_not_fit_are_refused(count, losses, lines):
    more = {"key": "x", "at": 0, "words": words.nudge, "lines": [""] * lines}
    with pytest.raises(ValueError, match="odd number of weights"):
        nudge_view(np.zeros(count), np.zeros(losses), 1.0, **more)


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 10.0])
def test_what_the_step_did_to_the_loss_is_said_as_it_is(ready, rate):
    given = example()
    made = forward(given, TARGET)
    gradients = backward(made)
    before = float(made["loss"])
    after = float(forward(stepped(given, gradients, rate), TARGET)["loss"])
    text = chapter.result(before, after, rate, "on")
    if not rate:
        assert after == before and text == words.update_zero
        return
    assert f"{before:.2f}" in text and f"{abs(after):.2f}" in text
    assert ("falls" in text) == (after < before)
    assert ("did not help" in text) == (after >= before)
    change = -rate * sum(float((gradients[name] ** 2).sum()) for name in chapter.NUDGE_MATRICES)
    assert chapter.exact(change) in chapter.predicted(before, after, rate, gradients)


def test_the_page_shows_the_step(ready):
    app = harness.open_part("training", "backprop", moving="W1", eta="1")
    harness.fine(app)
    given = example()
    made = forward(given, TARGET)
    after = stepped(given, backward(made), 1.0)
    pictures = range(len(harness.unpack_all(app, "matrix_view")))
    (step,) = (shown for at in pictures if "theta" in (shown := values(app, at)))
    assert step.keys() == {"gradient", "new", "step", "theta"}
    assert np.allclose(step["new"], after["W1"], atol=1e-6)
    assert "**" not in harness.prose_of(app)


@pytest.mark.parametrize("slope", [-0.5, 0.25])
def test_the_arithmetic_of_a_nudge_can_be_worked_out_as_it_stands(slope):
    weights = nudging.values(0.3, 0.2)
    told = nudging.lines(weights, 1 + slope * (weights - 0.3) + (weights - 0.3) ** 2, slope)
    for stop, line in enumerate(told):
        if stop == nudging.MIDDLE:
            continue
        assert not re.search(r"[−+×÷] ?[-−]", line)
        product, result = line.split("predicted change ")[1].split(";")[0].split(" = ")
        plain = product.replace("×", "*").replace("−", "-")
        assert eval(plain) == pytest.approx(float(result.replace("−", "-")), abs=2e-4)
        assert (weights[stop] < weights[nudging.MIDDLE]) == ("(−" in product)
