"""The lowest validation loss: which weights are kept, when a run ends early, that a kill changes
nothing."""

import dataclasses

import pytest
import torch

from llmviz.training import TrainConfig, read_metrics
from llmviz.training.best import BEST
from llmviz.training.plan import prepare, prepare_again
from llmviz.training.runs import load_trained, run_in_folder


@pytest.fixture
def plan(plan):
    """Its loss falls, then rises: the rate is far too high for it."""
    train = dict(steps=60, learning_rate=0.9, schedule="constant", eval_every=2, patience=3)
    changed = dataclasses.replace(plan.train, **train, checkpoint_every=5)
    return dataclasses.replace(plan, train=changed)


def kept(folder):
    """Step and loss of the kept run's last line, and its weights."""
    last = read_metrics(folder / BEST)[-1]
    return last.step, last.validation_loss, load_trained(folder / BEST).model.state_dict()


def test_the_run_ends_after_its_patience_and_keeps_its_lowest(plan, tmp_path):
    records = list(run_in_folder(tmp_path / "run", prepare(plan)))
    losses = [(one.validation_loss, one.step) for one in records if one.validation_loss is not None]
    low = min(losses)
    after = [one for one in losses if one[1] > low[1]]
    assert len(after) == plan.train.patience and records[-1].step < plan.train.steps
    assert all(loss >= low[0] for loss, _ in after) and "ended early" in records[-1].notes[0]
    step, loss, _ = kept(tmp_path / "run")
    assert (loss, step) == low
    # The weights are those of that step: measured again, they have its loss.
    run = prepare(plan)
    run.model.load_state_dict(load_trained(tmp_path / "run" / BEST).model.state_dict())
    total = count = 0
    for batch in run.data.validation_batches(plan.train.batch_size, 0):
        tokens = run.data.count(batch)
        total += run.model(*batch)[1].item() * tokens
        count += tokens
    assert total / count == pytest.approx(loss, rel=1e-6)
    assert list(run_in_folder(tmp_path / "run", prepare_again(tmp_path / "run"), resume=True)) == []
    on = prepare_again(tmp_path / "run", patience=0, keep_best=True, steps=records[-1].step + 1)
    assert [one.step for one in run_in_folder(tmp_path / "run", on, resume=True)] == [
        on.config.steps
    ]


@pytest.mark.parametrize("stops", [3, 6, 11])
def test_a_run_that_was_cut_ends_at_the_same_step_with_the_same_weights(plan, tmp_path, stops):
    whole = list(run_in_folder(tmp_path / "whole", prepare(plan)))
    parts = run_in_folder(tmp_path / "cut", prepare(plan))
    for _ in range(stops):
        next(parts)
    parts.close()
    parts = run_in_folder(tmp_path / "cut", prepare_again(tmp_path / "cut"), resume=True)
    for record in parts:
        last = record
    assert (last.step, last.validation_loss) == (whole[-1].step, whole[-1].validation_loss)
    (step, loss, weights), expected = kept(tmp_path / "cut"), kept(tmp_path / "whole")
    assert (step, loss) == expected[:2]
    assert all(torch.equal(one, expected[2][name]) for name, one in weights.items())


def test_weights_that_are_gone_are_not_called_the_lowest(plan, tmp_path):
    out = tmp_path / "run"
    low = min(
        (one.validation_loss, one.step)
        for one in run_in_folder(out, prepare(plan))
        if one.validation_loss is not None
    )
    (out / BEST).rename(tmp_path / "aside")
    more = prepare_again(out, patience=0, keep_best=True, steps=80)
    after = list(run_in_folder(out, more, resume=True))
    later = min((one.validation_loss, one.step) for one in after if one.validation_loss is not None)
    assert later[1] > low[1] and kept(out)[:2] == later[::-1]  # the lowest of those that are there


def test_patience_needs_measurements_and_without_it_nothing_is_kept(plan, tmp_path):
    with pytest.raises(ValueError, match="patience must be 0 where eval_every is 0"):
        TrainConfig(patience=2, eval_every=0)
    plain = dataclasses.replace(plan, train=dataclasses.replace(plan.train, patience=0, steps=4))
    list(run_in_folder(tmp_path / "run", prepare(plain)))
    assert not (tmp_path / "run" / BEST).exists()
