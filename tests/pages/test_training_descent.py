"""The chapter on descent: every number that its views are sent is the library's own."""

from __future__ import annotations

import time

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
from llmviz.course.lessons.training.descent import letters as descent_letters
from llmviz.course.lessons.training.descent import model as descent_model
from llmviz.course.lessons.training.descent import one_weight as descent_one
from llmviz.course.lessons.training.descent import surface as descent_surface
from llmviz.training.bigram_descent import names_bigram
from llmviz.training.descent import descend
from llmviz.training.logistic import batches, binary_cross_entropy, train_logistic, vowels
from llmviz.training.one_number import name_lengths
from llmviz.training.optimizer_race import RATES, race
from llmviz.training.optimizers import Hyper
from llmviz.training.surfaces import SURFACES
from tests.pages.harness import boxes, fine, open_part, prose_of, run_snippet, sent, snippets

pytestmark = pytest.mark.usefixtures("ready")


def opened(look: str, **link: str) -> tuple[AppTest, dict]:
    app = open_part("training", "descent", look=look, **link)
    fine(app)
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
    assert says in descent_one.sentence(rate)


@pytest.mark.parametrize("surface", sorted(SURFACES))
def test_a_surface_shows_its_own_ways(surface):
    _, view = opened("surface", surface=surface, opts="momentum,adamw", decay="0.1", beta1="0.8")
    field = SURFACES[surface]
    hyper = Hyper(momentum=0.8, beta1=0.8, beta2=0.99, weight_decay=0.1)
    rates = descent_surface.RATES.values()
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
    _, view = opened("surface", opts="sgd", **{"from": "99,99"}, surface="bowl")
    assert view["walkers"][0]["path"][0, 0].tolist() == pytest.approx(SURFACES["bowl"].start)


def test_no_optimizer_is_asked_for():
    app = open_part("training", "descent", look="surface", opts="")
    fine(app)
    assert "at least one optimizer" in boxes(app)


def test_letters_are_parted_by_the_librarys_neuron():
    app, view = opened("letters", order="3", ltr_who="1", ltr_lr="5")
    points = vowels()
    rates = descent_letters.RATES.values()
    sizes = {"batch": None, "mini": 5, "stochastic": 1}
    stage = view["stage"]
    for at, (kind, size) in enumerate(sizes.items()):
        plan = batches(26, size, descent_letters.EPOCHS, 3)
        found = train_logistic(points, rates, plan)
        walker = view["walkers"][at]
        assert np.allclose(walker["path"], found.path, rtol=1e-4, atol=1e-4)
        assert stage["batches"][at] == plan
        assert walker["when"][-1] == 26 * descent_letters.EPOCHS
        if kind == "mini":
            answer = binary_cross_entropy(found.path, points.inputs(), points.y)
            assert stage["answers"]["of"] == at
            assert np.allclose(stage["answers"]["p"], answer.p, atol=1e-5)
            assert np.allclose(stage["answers"]["loss"], answer.loss, rtol=1e-4, atol=1e-5)
    assert f"mini-batch {view['walkers'][1]['losses'][5, -1]:.3f} nats" in prose_of(app)


def test_the_bigram_ends_where_the_report_says():
    app, view = opened("model", racers="adam,sgd", big_lr="9,16")
    bigram = names_bigram()
    rates = descent_model.RATES.values()
    for walker, stop in zip(view["walkers"], (9, 16), strict=True):
        found = descend(
            walker["name"],
            bigram.height,
            bigram.gradient,
            bigram.start(),
            rates[stop : stop + 1],
            descent_model.STEPS,
            Hyper(beta2=0.99),
        )
        end = found.losses[0, -1].item()
        assert walker["losses"][stop, -1] == pytest.approx(end, rel=1e-5)
        assert f"{end:.4f}" in prose_of(app)
        q_to_u = found.path[0, -1].view(27, 27)[17, 21].item()
        assert walker["path"][stop, -1, 0] == pytest.approx(q_to_u, rel=1e-4)
    assert view["floor"] == pytest.approx(bigram.floor)
    assert not app.get("plotly_chart")


def test_the_race_of_a_network_is_run_on_the_spot(monkeypatch):
    steps = 30
    monkeypatch.setattr(descent_model, "DEEP_STEPS", steps)
    app = open_part("training", "descent", look="model", racers="sgd,adam", deep="1")
    fine(app)
    rates = {name: RATES[name] for name in ("sgd", "adam")}
    job, end = descent_model._race(tuple(rates.items()), steps), time.monotonic() + 240
    while not job.over and time.monotonic() < end:
        time.sleep(0.05)
    app.run()  # as the page does by itself each second
    fine(app)
    assert len(app.get("plotly_chart")) == 1
    ends = dict(race(rates, steps))
    for record in ends.values():
        assert f"{record.validation_loss:.3f} nats" in prose_of(app)


@pytest.mark.parametrize("gap, tied", [(0.0, True), (0.019, True), (0.03, False)])
def test_optimizers_that_end_alike_are_not_ranked(gap, tied):
    told = descent_model.ahead([(2.0, "sgd"), (2.0 + gap, "adam"), (2.5, "momentum")])
    assert ("has the lowest" in told) == (not tied) and ("can come from chance" in told) == tied
    assert (
        descent_model.words.names["sgd"] in told
        and descent_model.words.names["momentum"] not in told
    )


def test_the_race_starts_everyone_from_the_same_weights_and_batch():
    first = {}
    for name, record in race({"sgd": 0.1, "momentum": 0.1, "adam": 0.01}, 2):
        if record.step == 1:
            first[name] = record.train_loss
    assert len(set(first.values())) == 1


@pytest.mark.parametrize("look", ["one", "surface", "letters", "model"])
def test_snippets_print_what_the_page_says(look):
    app = open_part("training", "descent", look=look)
    for snippet, prints in snippets(app):
        assert run_snippet(snippet).strip() == prints.strip()


@pytest.mark.parametrize("look", ["one", "surface", "letters", "model"])
def test_each_question_takes_its_right_answer(look):
    app = open_part("training", "descent", look=look)
    (question,) = app.radio
    grades = []
    for option in range(len(question.options)):
        question.set_value(option).run()
        grades.append(bool(app.success))
        (question,) = app.radio
    fine(app)
    assert sum(grades) == 1


def walker(**changes) -> Walker:
    made = {
        "name": "sgd",
        "label": "SGD",
        "role": "residual",
        "path": np.zeros((3, 5, 2)),
        "losses": np.ones((3, 5)),
        "lasted": np.full(3, 4),
        "settled": np.zeros(3, bool),
        "best": 0,
        "values": {"step": np.zeros((3, 4, 2))},
    }
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
