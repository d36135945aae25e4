"""Descent and optimizers: every number that their views are sent is the library's own."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from llmviz.course.components.descent_view.view import (
    DescentState,
    Walker,
    descent_payload,
    settled,
)
from llmviz.course.lessons.training.descent import chapter as descent
from llmviz.course.lessons.training.optimizers import bigram, letters, surface
from llmviz.course.lessons.training.trajectories import Rates
from llmviz.training.descent import descend
from llmviz.training.optimizers import Hyper
from llmviz.training.surfaces import (
    SURFACES,
    batches,
    binary_cross_entropy,
    name_lengths,
    names_bigram,
    train_logistic,
    vowels,
)
from tests.pages.asked import SHOWN_ANYWAY
from tests.pages.harness import fine, open_part, press, prose_of, run_snippet, sent, snippets

pytestmark = pytest.mark.usefixtures("ready")


def opened(look: str, **link: str) -> tuple[AppTest, dict]:
    """A view, opened by a link from when all stood in one chapter."""
    app = open_part("training", "descent", look=look, **link)
    fine(app)
    for snippet, prints in snippets(app):
        assert run_snippet(snippet).strip() == prints.strip()
    return app, sent(app, "descent_view")


def test_one_weight_goes_down_its_own_parabola():
    app, view = opened("one")
    guess = name_lengths()
    (walker,) = view["walkers"]
    w = walker["path"][..., 0]
    assert np.allclose(walker["losses"], (w - guess.best) ** 2 + guess.floor, rtol=1e-4)
    # On a parabola of curvature 2 each step leaves 1 − 2 lr of the distance.
    distance = w - guess.best
    assert np.allclose(
        distance[:, 1], (1 - 2 * view["rates"]) * distance[:, 0], rtol=1e-5, atol=1e-5
    )
    assert view["stage"]["kind"] == "curve" and len(view["lines"]) == len(view["rates"])
    assert f"{guess.best:.3f}" in prose_of(app)


@pytest.mark.parametrize(
    "rate, says",
    [
        (0.01, "Too small for 20 steps"),
        (0.2, "without overshooting"),
        (0.5, "Just right"),
        (0.8, "overshoots"),
        (0.97, "Too large for 20 steps"),
        (1.2, "Much too large"),
    ],
)
def test_each_rate_is_said_what_it_is(rate, says):
    assert says in descent.sentence(rate)


@pytest.mark.parametrize("name", sorted(SURFACES))
def test_a_surface_shows_its_own_ways(name):
    _, view = opened("surface", surface=name, opts="momentum,adamw", decay="0.1", beta1="0.8")
    field = SURFACES[name]
    hyper = Hyper(momentum=0.8, beta1=0.8, beta2=0.99, weight_decay=0.1)
    rates = surface.RATES.values()
    start = torch.tensor(field.start, dtype=torch.float64)
    assert [walker["name"] for walker in view["walkers"]] == ["momentum", "adamw"]
    for walker in view["walkers"]:
        found = descend(walker["name"], field.height, field.gradient, start, rates, 80, hyper)
        assert np.allclose(walker["path"], found.path, rtol=1e-4, atol=1e-4)
        for name, values in walker["values"].items():
            assert np.allclose(values, found.values[name], rtol=1e-3, atol=1e-4), name
        assert {row["name"] for row in walker["rows"]} == set(walker["values"])
    heights = view["stage"]["heights"]
    assert heights[0, 0] == pytest.approx(
        field.height(torch.tensor(field.low, dtype=torch.float64)).item(), rel=1e-5
    )


def test_the_arithmetic_of_every_row_is_its_number():
    """What the table writes out, worked out from the same numbers, is the number behind it."""
    _, view = opened(
        "surface", opts="sgd,momentum,nesterov,adagrad,rmsprop,adam,adamw", decay="0.05"
    )
    stop, step = 20, 7
    for walker in view["walkers"]:
        for p in (0, 1):
            names = {
                "lr": float(view["rates"][stop]),
                "t": step + 1,
                "w": float(walker["path"][stop, step, p]),
                **walker["constants"],
            }
            for name, values in walker["values"].items():
                names[name] = float(values[stop, step, p])
                names[f"{name}'"] = float(values[stop, step - 1, p])
            for row in walker["rows"]:
                if row["text"]:
                    worth = work_out(row["text"], names)
                    assert worth == pytest.approx(names[row["name"]], rel=2e-3, abs=1e-6), row


def work_out(text: str, names: dict[str, float]) -> float:
    """The value of an arithmetic text, the way a reader would."""
    for name, value in names.items():
        text = text.replace("{" + name + "}", f"({value!r})")
    signs = {"−": "-", "×": "*", "÷": "/", "^": "**", "²": "**2", "ε": "1e-8"}
    for sign, python in signs.items():
        text = text.replace(sign, python)
    text = text.replace("√(", "math.sqrt(")
    return eval(text, {"math": __import__("math")})


def test_a_link_restores_where_the_ball_was_set_down():
    app, view = opened("surface", opts="sgd", **{"from": "1.000,-0.500"}, surface="bowl")
    assert view["walkers"][0]["path"][0, 0].tolist() == pytest.approx([1, -0.5])
    assert "(1.00, −0.50)" in prose_of(app)
    _, view = opened("surface", opts="", **{"from": "99,99"}, surface="bowl")
    assert [walker["name"] for walker in view["walkers"]] == ["sgd"]  # none was chosen
    assert view["walkers"][0]["path"][0, 0].tolist() == pytest.approx(SURFACES["bowl"].start)


def test_only_the_small_rates_are_sent_before_an_answer(covers):
    known = surface.question("ravine", SURFACES["ravine"])[1]
    app = open_part("training", "optimizers")
    assert len(sent(app, "descent_view")["rates"]) == known < surface.RATES.count
    assert len(sent(open_part("training", "descent"), "descent_view")["rates"]) == descent.KNOWN
    assert float(descent.RATES.values()[descent.KNOWN - 1]) < 0.5 < descent.RATES.high
    for part, rate in (("optimizers", {"surf_lr": "30"}), ("descent", {"one_lr": "38"})):
        app = open_part("training", part, **rate)  # who comes with such a rate sees it
        assert len(sent(app, "descent_view")["rates"]) == 41


def test_who_has_answered_sees_sgd_at_the_rate_that_is_right(covers):
    question, _, largest = surface.question("ravine", SURFACES["ravine"])
    app = press(open_part("training", "optimizers", decay="0.5", opts="adam"), SHOWN_ANYWAY)
    view = sent(app, "descent_view")
    assert view["walkers"][0]["name"] == "sgd" and view["stops"][0] == largest
    assert question.answers[question.right] == f"{view['rates'][largest]:.3g}"
    start, end = view["walkers"][0]["losses"][largest, [0, -1]] - SURFACES["ravine"].floor
    assert end <= 0.01 * start


def test_letters_are_parted_by_the_librarys_neuron():
    app, view = opened("letters", order="3", ltr_who="1", ltr_lr="5")
    points = vowels()
    rates = letters.RATES.values()
    sizes = {"batch": None, "mini": 5, "stochastic": 1}
    stage = view["stage"]
    for at, (kind, size) in enumerate(sizes.items()):
        plan = batches(26, size, letters.EPOCHS, 3)
        found = train_logistic(points, rates, plan)
        walker = view["walkers"][at]
        assert np.allclose(walker["path"], found.path, rtol=1e-4, atol=1e-4)
        assert stage["batches"][at] == plan
        assert walker["when"][-1] == 26 * letters.EPOCHS
        if kind == "mini":
            answer = binary_cross_entropy(found.path, points.inputs(), points.y)
            assert stage["answers"]["of"] == at
            assert np.allclose(stage["answers"]["p"], answer.p, atol=1e-5)
            assert np.allclose(stage["answers"]["loss"], answer.loss, rtol=1e-4, atol=1e-5)
    assert f"mini-batch {view['walkers'][1]['losses'][5, -1]:.3f} nats" in prose_of(app)


def test_the_bigram_ends_where_the_report_says():
    app, view = opened("model", racers="adam,sgd", big_lr="9,16")
    table = names_bigram()
    rates = bigram.RATES.values()
    for walker, stop in zip(view["walkers"], (9, 16), strict=True):
        field = table.height, table.gradient, table.start()
        how = rates[stop : stop + 1], bigram.STEPS, Hyper(beta2=0.99)
        found = descend(walker["name"], *field, *how)
        end = found.losses[0, -1].item()
        assert walker["losses"][stop, -1] == pytest.approx(end, rel=1e-5)
        assert f"{end:.4f}" in prose_of(app)
        q_to_u = found.path[0, -1].view(27, 27)[17, 21].item()
        assert walker["path"][stop, -1, 0] == pytest.approx(q_to_u, rel=1e-4)
    assert view["floor"] == pytest.approx(table.floor)


def test_the_rates_rise_by_one_factor_from_end_to_end():
    values = Rates(0.01, 1.0, 5).values()
    ratios = values[1:] / values[:-1]
    assert len(values) == 5 and torch.allclose(ratios, ratios[0].expand(4))
    assert float(values[0]) == pytest.approx(0.01) and float(values[-1]) == pytest.approx(1.0)


def test_sgd_on_the_bowl_shrinks_each_weight_by_its_own_share():
    way = surface.ways("bowl", (-2.0, 1.0), "sgd", 0.9, 0.99, 0.0, 30)
    assert torch.allclose(way.path[:, 2, 0], -2.0 * (1 - way.rates) ** 2)
    assert torch.allclose(way.path[:, 2, 1], (1 - 2 * way.rates) ** 2)


def test_every_kind_of_batch_sees_every_letter_in_every_epoch():
    for way, plan in letters.trained(4).values():
        seen = sorted(point for batch in plan for point in batch)
        assert seen == sorted([*range(26)] * letters.EPOCHS)
        assert way.path.shape[1] == len(plan) + 1


def walker(**changes) -> Walker:
    made = {"name": "sgd", "label": "SGD", "role": "residual", "best": 0}
    made |= {"path": np.zeros((3, 5, 2)), "losses": np.ones((3, 5)), "lasted": np.full(3, 4)}
    made |= {"settled": np.zeros(3, bool), "values": {"step": np.zeros((3, 4, 2))}}
    return Walker(**made | changes)


@pytest.mark.parametrize(
    "changes, rule",
    [
        ({"path": np.zeros((2, 5, 2))}, "3 rates need as many ways"),
        ({"losses": np.ones((3, 4))}, "3 rates need as many ways"),
        ({"values": {"step": np.zeros((3, 5, 2))}}, "step must have the shape"),
        ({"when": np.array([0, 1, 1, 2, 3])}, "when must rise"),
    ],
)
def test_walkers_that_do_not_fit_are_refused(changes, rule):
    with pytest.raises(ValueError, match=rule):
        descent_payload([walker(**changes)], np.ones(3), {}, 0.0, None, ("x", "y"))


def test_a_view_without_walkers_or_with_few_lines_is_refused():
    with pytest.raises(ValueError, match="at least one walker"):
        descent_payload([], np.ones(3), {}, 0.0, None, ("x", "y"))
    with pytest.raises(ValueError, match="as many lines"):
        descent_payload([walker()], np.ones(3), {}, 0.0, None, ("x", "y"), ["one"])


@pytest.mark.parametrize(
    "said, wanted",
    [
        ({"step": 3, "stops": [1, 2], "followed": 1}, DescentState(3, (1, 2), 1)),
        ({"step": 9, "stops": [1, 2], "followed": 1}, None),
        ({"step": 3, "stops": [1], "followed": 0}, None),
        ({"step": 3, "stops": [1, 7], "followed": 0}, None),
        ({"step": 3, "stops": [1, "x"], "followed": 0}, None),
        ({}, None),
    ],
)
def test_what_a_component_says_is_checked(said, wanted):
    assert settled(said, walkers=2, rates=5, steps=4) == wanted
