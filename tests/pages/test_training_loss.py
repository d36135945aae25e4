"""The chapter on the loss: its matrices are the model's own numbers, its loss is torch's."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from llmviz.course.lessons.training import words as reader_words
from llmviz.course.lessons.training.loss import chapter as loss
from llmviz.course.lessons.training.loss import words
from tests.pages import harness
from tests.pages.small_model import CONTEXT, ids_of

TEXT = "Mila found a ball"


def logits_of(bundle, ids: list[int]) -> torch.Tensor:
    with torch.inference_mode():
        return bundle.model(torch.tensor([ids[:-1]]))[0][0].double()


def matrices(app) -> dict[str, np.ndarray]:
    return {one["name"]: one["values"] for one in harness.sent(app, "matrix_view")["matrices"]}


def test_the_matrices_are_the_models_numbers(bundle):
    app = harness.open_part("training", "loss", sentence=TEXT)
    harness.fine(app)
    ids = ids_of(bundle, TEXT)
    logits, targets = logits_of(bundle, ids), torch.tensor(ids[1:])
    shown = matrices(app)
    own = list(dict.fromkeys(ids[1:]))
    assert np.allclose(shown["logits"][:, :-1], logits[:, own], atol=1e-4)
    rest = np.delete(logits.numpy(), own, axis=1)
    assert np.allclose(shown["logits"][:, -1], np.logaddexp.reduce(rest, axis=1), atol=1e-4)
    # With the others in one column, a softmax of the few is the softmax of all.
    assert np.allclose(shown["probabilities"][:, :-1], logits.softmax(-1)[:, own], atol=1e-6)
    assert np.allclose(shown["probabilities"].sum(-1), 1, atol=1e-6)
    nats = torch.nn.functional.cross_entropy(logits, targets, reduction="none")
    assert np.allclose(shown["nats"][:, 0], nats, atol=1e-5)
    assert np.allclose(shown["p"][:, 0], (-nats).exp(), atol=1e-6)
    assert shown["loss"] == pytest.approx(nats.mean().item(), rel=1e-5)
    assert f"{nats.mean().item():.4f} nats per token" in harness.prose_of(app)
    rows = harness.sent(app, "case_rows")["rows"]
    assert np.allclose([row["value"] for row in rows], nats[: len(rows)], atol=1e-5)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_the_controls_are_torchs_arguments(bundle, reduction):
    ids = ids_of(bundle, TEXT)
    logits, targets = logits_of(bundle, ids), torch.tensor(ids[1:])
    heavy = ids[2]
    link = {"sentence": TEXT, "reduction": reduction, "skip": "0,3", "smooth": "0.2"}
    app = harness.open_part("training", "loss", **link, weighs=str(heavy), weight="3.0")
    harness.fine(app)
    weight = torch.ones(logits.shape[1], dtype=torch.float64)
    weight[heavy] = 3
    targets[[0, 3]] = -1
    how = {"weight": weight, "ignore_index": -1, "reduction": reduction, "label_smoothing": 0.2}
    wanted = torch.nn.functional.cross_entropy(logits, targets, **how)
    shown = matrices(app)
    last = {"mean": "loss", "sum": "total", "none": "parts"}[reduction]
    assert np.allclose(shown[last].ravel(), wanted.numpy().ravel(), rtol=1e-5)
    assert ("loss" in shown) == (reduction == "mean")
    assert shown["w"][[0, 3], 0].tolist() == [0, 0]
    (snippet,) = harness.snippets(app)
    assert harness.run_snippet(snippet[0]).strip() == snippet[1].strip()


def test_controls_change_the_link_and_the_numbers(bundle):
    app = harness.open_part("training", "loss", sentence=TEXT)
    before = matrices(app)["loss"]
    app.segmented_control(key="_training.reduction@training").set_value("sum").run()
    harness.fine(app)
    assert "sum" in matrices(app).keys() | {"sum"} and "loss" not in matrices(app)
    assert app.query_params["reduction"] in ("sum", ["sum"])
    app.segmented_control(key="_training.reduction@training").set_value("mean").run()
    assert matrices(app)["loss"] == before


@pytest.mark.parametrize("weight", [0.5, 1.0, 2.0])
def test_a_weight_of_1_makes_no_weighted_mean(bundle, weight):
    token = str(ids_of(bundle, TEXT)[1])
    app = harness.open_part("training", "loss", sentence=TEXT, weighs=token, weight=str(weight))
    harness.fine(app)
    assert ("not by the number of positions" in harness.prose_of(app)) == (weight != 1)


def test_nothing_to_average_is_said(bundle):
    count = len(ids_of(bundle, TEXT)) - 1
    app = harness.open_part(
        "training", "loss", sentence=TEXT, skip=",".join(map(str, range(count)))
    )
    harness.fine(app)
    assert words.bad_mean in harness.boxes(app)


def test_all_tokens_of_a_longer_sentence_are_there_through_a_window(bundle):
    text = "Mila found a ball. Then Mila gave the ball to Oskar, and Oskar took the ball home."
    app = harness.open_part("training", "loss", sentence=text)
    harness.fine(app)
    ids = ids_of(bundle, text)[: CONTEXT + 1]
    assert len(ids) - 1 > loss.SEEN
    nats = torch.nn.functional.cross_entropy(
        logits_of(bundle, ids), torch.tensor(ids[1:]), reduction="none"
    )
    shown = matrices(app)
    assert np.allclose(shown["nats"][:, 0], nats, atol=1e-5)
    assert shown["loss"] == pytest.approx(nats.mean().item(), rel=1e-5)
    view = harness.sent(app, "matrix_view")
    assert view["windows"]["position"] == {"size": len(nats), "show": loss.SEEN}
    for matrix in view["matrices"]:
        tall = matrix["values"].shape[0] == len(nats)
        assert matrix["windows"][0] == ("position" if tall else "")


def test_an_example_fits_the_model_that_is_chosen():
    app = harness.open_part("training", "loss")
    box = app.selectbox(key="_training.reader@training")
    if "names-gpt" not in box.options:
        pytest.skip("bundled models are missing")
    box.set_value("names-gpt").run()
    harness.fine(app)
    assert app.text_area[0].value == reader_words.model_name
    app.selectbox(key="_training.reader@training").set_value("tiny-world-gpt").run()
    assert app.text_area[0].value == words.sentence
    app.text_area[0].set_value("anna").run()
    app.selectbox(key="_training.reader@training").set_value("names-gpt").run()
    assert app.text_area[0].value == "anna"  # the learner's own
