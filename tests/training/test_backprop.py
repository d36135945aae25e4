"""Every gradient by hand is autograd's and the slope that differences measure."""

import pytest
import torch
import torch.nn.functional as F

from llmviz.models import MLP, build
from llmviz.training.backprop import (
    CHOICES,
    TARGET,
    WEIGHTS,
    autograd,
    backward,
    central_difference,
    example,
    forward,
    loss_with,
    stepped,
)
from llmviz.training.one_weight import Copy, matrices
from tests.random_weights import with_random_weights

IDS = [0, 3, 5, 3, 1, 6, 2]


def close(value, digits: list[float]) -> None:
    torch.testing.assert_close(
        value.flatten(), torch.tensor(digits, dtype=torch.float64), atol=6e-5, rtol=0
    )


def test_the_worked_example_has_its_known_values():
    made = forward(example(), TARGET)
    close(made["h"], [0.3350, 0.4479, 0.5607])
    close(made["f"], [0.1118, 0.3805, 0.6492, 0.9180])
    close(made["logits"], [0.2709, 0.4500, 0.2328, 0.3201, 0.1522])
    close(made["p"], [0.1962, 0.2347, 0.1889, 0.2061, 0.1742])
    close(made["loss"], [1.4496])
    d = backward(made)
    close(d["logits"], [0.1962, -0.7653, 0.1889, 0.2061, 0.1742])
    close(d["f"], [0.0419, -0.3289, 0.0790, -0.0932])
    close(d["h"], [-0.1504, -0.1203, -0.0901])
    close(d["W1"][0], [-0.0120, -0.0096, -0.0072])


@pytest.mark.parametrize("target", range(CHOICES))
def test_every_gradient_is_autograds(target):
    given = example()
    by_hand = backward(forward(given, target))
    by_torch = autograd(given, target)
    assert by_torch.keys() == {*WEIGHTS, "X", "q", "K", "V", "scores", "scaled", "weights"} | {
        *("a", "z", "h", "f", "logits", "p")
    }
    for name, theirs in by_torch.items():
        torch.testing.assert_close(by_hand[name], theirs, rtol=0, atol=1e-12, msg=name)


def test_gradients_hold_where_relu_is_shut():
    given = example()
    given["W1"] = given["W1"] * torch.tensor([1.0, -1.0, 1.0], dtype=torch.float64)
    made = forward(given, 3)
    assert (made["h"] == 0).any() and (made["h"] > 0).any()
    by_hand, by_torch = backward(made), autograd(given, 3)
    for name, theirs in by_torch.items():
        torch.testing.assert_close(by_hand[name], theirs, rtol=0, atol=1e-12, msg=name)


@pytest.mark.parametrize("name", WEIGHTS)
def test_differences_measure_every_weight(name):
    given = example()
    gradient = backward(forward(given, TARGET))[name]
    rows, columns = given[name].shape
    for row in range(rows):
        for column in range(columns):
            measured = central_difference(
                lambda value, at=(row, column): loss_with(given, TARGET, name, *at, value),
                float(given[name][row, column]),
                1e-5,
            )
            assert measured == pytest.approx(gradient[row, column].item(), abs=1e-9)
    assert torch.equal(given[name], example()[name])


def test_bad_input_names_the_rule():
    with pytest.raises(ValueError, match="target must be from 0 to 4; got 5"):
        forward(example(), 5)
    with pytest.raises(ValueError, match="above 0"):
        central_difference(lambda x: x, 0.0, 0.0)
    with pytest.raises(ValueError, match=r"at least 0; got -1"):
        stepped(example(), {}, -1)
    with pytest.raises(ValueError, match="at least 2 tokens"):
        Copy(small("bigram"), [1])


# ---- one weight of a whole model


def small(name: str, **options):
    torch.manual_seed(3)
    model = build(name, {"vocab_size": 8, "context_length": 16, **options})
    with_random_weights(model, 0.4)
    return model.eval()


@pytest.mark.parametrize(
    "model",
    [
        small("gpt", n_layer=2, n_head=2, n_embd=12),
        small("gpt", n_layer=1, n_head=2, n_embd=12, tied_head=False),
        small("mlp", window=3, n_embd=6, hidden_size=10),
        small("bigram"),
    ],
    ids=["gpt", "untied", "mlp", "bigram"],
)
def test_any_weights_products_add_up_to_autograds(model):
    before = {name: value.clone() for name, value in model.state_dict().items()}
    copy = Copy(model, IDS)
    looked_up_elsewhere = {"token.weight"} if isinstance(model, MLP) else set()
    for name in set(matrices(model)) - looked_up_elsewhere:
        rows, columns = model.get_parameter(name).shape
        whole = copy.gradients(name)
        for row, column in ((0, 0), (3, columns - 1), (rows - 1, 1)):
            found = copy.explain(name, row, column)
            assert found.by_hand == pytest.approx(found.autograd, abs=1e-6), name
            assert found.autograd == pytest.approx(whole[row, column].item(), abs=1e-12)
            h = 1e-5
            up, down = copy.losses_with(name, row, column, [found.value + h, found.value - h])
            assert (up - down) / (2 * h) == pytest.approx(found.autograd, abs=1e-7)
    after = model.state_dict()
    assert all(torch.equal(value, after[name]) for name, value in before.items())


def test_a_tied_matrix_is_used_twice():
    copy = Copy(small("gpt", n_layer=1, n_head=2, n_embd=12, tied_head=True), IDS)
    found = copy.explain("token.weight", 3, 1)
    assert len(found.uses) == 2
    assert {use.module for use in found.uses} == {"token", "head"}
    table = next(use for use in found.uses if use.module == "token")
    assert table.local.tolist() == [float(i == 3) for i in IDS[:-1]]


def test_the_copys_loss_is_the_models():
    model = small("gpt", n_layer=1, n_head=2, n_embd=12)
    logits = model(torch.tensor([IDS[:-1]]))[0][0]
    wanted = F.cross_entropy(logits, torch.tensor(IDS[1:])).item()
    assert Copy(model, IDS).loss().item() == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize(
    "cell, rule",
    [
        (("norm_final.weight", 0, 0), "the matrix must be one of token.weight"),
        (("token.weight", 8, 0), "token.weight is 8×12; got the cell"),
        (("token.weight", 0, -1), "token.weight is 8×12; got the cell"),
    ],
)
def test_a_weight_that_is_not_there_is_refused(cell, rule):
    with pytest.raises(ValueError, match=rule):
        Copy(small("gpt", n_layer=1, n_head=2, n_embd=12), IDS).explain(*cell)


def test_a_recurrent_matrix_is_refused():
    copy = Copy(small("rnn", n_embd=6), IDS)
    with pytest.raises(ValueError, match="not used by a layer"):
        copy.explain("layers.0.recurrent.weight", 0, 0)


@pytest.mark.parametrize("target", range(CHOICES))
def test_a_small_step_against_the_gradient_lowers_the_loss_by_what_the_slopes_predict(target):
    given = example()
    made = forward(given, target)
    d = backward(made)
    predicted = sum(float((d[name] ** 2).sum()) for name in WEIGHTS)
    for rate in (1e-2, 1e-3):
        after = stepped(given, d, rate)
        fall = float(made["loss"] - forward(after, target)["loss"])
        assert fall > 0 and fall == pytest.approx(rate * predicted, rel=10 * rate)
        assert after["X"] is given["X"]
    # torch's own plain SGD makes the same step
    leaves = {name: given[name].clone().requires_grad_() for name in WEIGHTS}
    optimizer = torch.optim.SGD(leaves.values(), lr=0.5)
    forward({**given, **leaves}, target)["loss"].sum().backward()
    optimizer.step()
    for name, value in leaves.items():
        torch.testing.assert_close(stepped(given, d, 0.5)[name], value.detach())
