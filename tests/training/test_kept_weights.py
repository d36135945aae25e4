"""What a training kept on its way: the bundled film is of the bundled run."""

import numpy as np
import pytest
import torch

from llmviz.files.paths import BUNDLED_CHECKPOINTS, DATA, EXPERIMENT_FOLDER
from llmviz.pretrained import load_bundled
from llmviz.similarity.projection import pca
from llmviz.training import kept_weights
from llmviz.training.data import end_id
from llmviz.training.evaluate import score_each
from llmviz.training.kept_weights import (
    MOST,
    kept_models,
    kept_steps,
    planes_of,
    texts_of,
    weights_of,
)
from llmviz.training.plan import prepare
from llmviz.training.reading import plan_in, read_description, read_metrics, read_tokenizer
from llmviz.training.references import references_again

NAMES = BUNDLED_CHECKPOINTS / "names-gpt"


@pytest.fixture(scope="module")
def models():
    return dict(kept_models(NAMES))


def test_the_bundled_film_is_of_the_bundled_run(models):
    """Its last model says what the bundled one says, and its first weights are those of the seed.

    The bias of the keys moves no weight of attention, so nothing holds it in its place.
    """
    bundled, _, _ = load_bundled("names-gpt")
    ids = torch.tensor([read_tokenizer(NAMES).encode("margaretsamira")])
    said, now = (model(ids)[0].log_softmax(-1) for model in (bundled, models[max(models)]))
    assert (said - now).abs().max() < 0.01
    plan = plan_in(read_description(NAMES))
    begun = prepare(plan).model.state_dict()
    for name, tensor in models[0].state_dict().items():
        assert torch.equal(tensor, begun[name].half().float()), name
    recorded = {record.step: record.validation_loss for record in read_metrics(NAMES)}
    losses = kept_weights._card(EXPERIMENT_FOLDER / "names-film")["losses"]
    for step, loss in losses.items():
        assert loss == pytest.approx(recorded[int(step)], abs=1e-5), step
    assert kept_steps(NAMES) == list(models) == list(kept_weights.STEPS)


def test_it_learns_from_step_to_step(models):
    tokenizer = read_tokenizer(NAMES)
    names = ["anna", "samira", "fergus", "olivia"]
    losses = [
        sum(score.nats for score in score_each(models[step], tokenizer, names, end=True))
        for step in (0, 100, 1000)
    ]
    assert losses == sorted(losses, reverse=True)


def test_what_the_chapter_says_of_the_names_model(models):
    """Its losses lie beside those of counts, and of two heads one looks at the letter before."""
    plan = plan_in(read_description(NAMES)).to_dict()
    references, _ = references_again(plan, read_tokenizer(NAMES))
    losses = {record.step: record.train_loss for record in read_metrics(NAMES)}
    assert abs(losses[40] - references.unigram) < 0.1 and losses[1000] < references.bigram - 0.3
    tokenizer = read_tokenizer(NAMES)
    names = (DATA / "names.txt").read_text("utf-8").split()[::130]

    def before(step: int) -> np.ndarray:
        """A head's mean weight on the letter before, over letters that have one and more."""
        shares = []
        for name in names:
            weights = weights_of(models[step], [end_id(tokenizer), *tokenizer.encode(name)][:16])
            rows = np.arange(2, weights.shape[-1])
            shares.append(weights[:, rows, rows - 1].mean(-1))
        return np.mean(shares, axis=0)

    assert before(6000)[0] == pytest.approx(0.77, abs=0.01) and before(20)[0] < 0.3
    assert before(6000)[5] < 0.3


def test_the_same_texts_come_again_and_weights_are_shares_of_what_came_before(models):
    tokenizer = read_tokenizer(NAMES)
    texts = texts_of(models[200], tokenizer, 3, 8)
    assert texts == texts_of(models[200], tokenizer, 3, 8) and len(texts) == 3
    ids = tokenizer.encode("samira")
    weights = weights_of(models[200], ids)
    assert weights.shape == (8, len(ids), len(ids))
    assert np.allclose(weights.sum(-1), 1, atol=1e-5) and np.triu(weights, 1).max() == 0


def test_the_plane_is_that_of_the_last_table():
    tables = list(np.random.default_rng(0).normal(size=(3, 9, 5)))
    points, share = planes_of(tables)
    assert np.allclose(points[-1], pca(tables[-1], 2).points)
    assert 0 < share < 1
    apart = lambda rows: np.linalg.norm(rows[:, None] - rows[None], axis=-1)  # noqa: E731
    for table, lain in zip(tables, points, strict=True):
        assert (apart(lain) <= apart(table) + 1e-9).all()


def test_of_a_run_with_many_checkpoints_some_are_taken_that_lie_evenly(tmp_path, monkeypatch):
    saved = [(step, tmp_path) for step in range(0, 1000, 10)]
    monkeypatch.setattr(kept_weights, "steps_saved", lambda folder: saved)
    steps = kept_steps(tmp_path)
    assert len(steps) == MOST and (steps[0], steps[-1]) == (0, 990)
    assert max(np.diff(steps)) - min(np.diff(steps)) <= 10
    monkeypatch.setattr(kept_weights, "steps_saved", lambda folder: [])
    assert list(kept_models(tmp_path)) == []
