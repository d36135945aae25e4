"""A run in a folder: what it writes, its lowest loss, resuming, reading back, what it refuses."""

import dataclasses
import json
import math
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from llmviz.training import (
    CheckpointError,
    Diverged,
    TrainConfig,
    checkpoints,
    load_checkpoint,
    steps_saved,
)
from llmviz.training.best import BEST
from llmviz.training.newest_weights import newest_checkpoint
from llmviz.training.plan import Plan, prepare, prepare_again
from llmviz.training.reading import Metrics, went_wrong
from llmviz.training.run_folder import load_trained, read_metrics, run_in_folder
from llmviz.training.samples import sampler
from llmviz.training.tensors import load_tensors, save_tensors
from tests.training.conftest import same_end
from tests.training.tampered import spoil_weights


@pytest.fixture
def out(plan, tmp_path):
    """The folder of a run that has ended."""
    list(run_in_folder(tmp_path / "run", prepare(plan)))
    return tmp_path / "run"


def cut(out, run, steps):
    """Begin a run, and close it after some steps."""
    records = run_in_folder(out, run)
    for _ in range(steps):
        next(records)
    records.close()


def test_a_run_leaves_what_is_promised_and_can_be_read_back(plan, tmp_path):
    out = tmp_path / "a" / "run"
    run = prepare(plan, "the command")
    records = list(run_in_folder(out, run))
    expected = {"metrics.jsonl", "model.safetensors", "config.json", "tokenizer.json"}
    assert {path.name for path in out.iterdir()} == expected | {"run.toml", "checkpoints"}
    assert read_metrics(out) == records
    trained = load_trained(out)
    idx = torch.tensor([run.tokenizer.encode("ann")])
    run.model.eval()
    assert torch.equal(trained.model(idx)[0], run.model(idx)[0])
    assert trained.tokenizer.encode("bob") == run.tokenizer.encode("bob")
    assert trained.description["command"] == "the command"
    assert not trained.model.training


def test_a_run_that_went_wrong_says_so_in_its_folder_until_it_goes_on(plan, tmp_path):
    out, run = tmp_path / "run", prepare(plan)
    records = run_in_folder(out, run)
    for _ in range(3):
        next(records)
    name, weight = next(run.model.named_parameters())
    with torch.no_grad():
        weight.fill_(math.nan)
    with pytest.raises(Diverged) as error:
        list(records)
    assert went_wrong(out) == str(error.value)
    assert "at step 4 " in went_wrong(out) and f"{name} holds NaN" in went_wrong(out)
    (note,) = load_trained(out).notes
    assert str(error.value) in note and load_checkpoint(out).step == 2
    assert load_trained(out, 2).notes == () if plan.train.snapshot_every else True
    list(run_in_folder(out, prepare_again(out), resume=True))
    assert went_wrong(out) == "" and load_trained(out).notes == ()


@pytest.mark.parametrize("value", [math.nan, -math.inf, 1e30])
def test_weights_that_are_no_numbers_are_damaged_weights(plan, tmp_path, value):
    """As older versions wrote them: the checkpoint before is used; without one it is refused."""
    out, name = tmp_path / "run", "token.weight"
    train = dataclasses.replace(plan.train, snapshot_every=2)
    list(run_in_folder(out, prepare(dataclasses.replace(plan, train=train))))
    *before, last = [folder for _, folder in steps_saved(out)]
    (out / "model.safetensors").unlink()  # it may be the same file
    spoil_weights(last, name, value)
    trained, checkpoint = load_trained(out), newest_checkpoint(out)
    assert f"{name} holds" in trained.notes[0] and "step 4 is used instead" in trained.notes[0]
    assert checkpoint.step == 4 and f"{name} holds" in checkpoint.notes[0]
    for folder in before:
        spoil_weights(folder, name, value)
    for refused in (load_trained, newest_checkpoint):
        with pytest.raises(CheckpointError, match=f"cannot be computed with: {name} holds"):
            refused(out)
    shutil.copy(last / "model.safetensors", out / "model.safetensors")
    shutil.rmtree(out / "checkpoints")
    for refused in (load_trained, newest_checkpoint):
        with pytest.raises(CheckpointError, match=f"cannot be computed with: {name} holds"):
            refused(out)


@pytest.mark.parametrize(
    "kind", [torch.float8_e4m3fn, torch.float8_e5m2, torch.int32, torch.bool, torch.complex64]
)
def test_weights_of_a_type_that_is_none_for_weights_are_refused_by_name(out, kind):
    shutil.rmtree(out / "checkpoints")
    tensors = load_tensors(out / "model.safetensors")
    save_tensors(
        out / "model.safetensors", tensors | {"token.weight": tensors["token.weight"].to(kind)}
    )
    with pytest.raises(
        CheckpointError, match=f"token.weight holds numbers of type {str(kind)[6:]}"
    ):
        load_trained(out)


def test_closing_saves_and_resuming_gives_the_uninterrupted_run(plan, tmp_path):
    out = tmp_path / "cut"
    list(run_in_folder(tmp_path / "whole", prepare(plan)))
    cut(out, prepare(plan), 3)
    assert load_checkpoint(out).step == 3
    rest = list(run_in_folder(out, prepare_again(out), resume=True))
    assert [r.step for r in rest] == [4, 5, 6]
    assert same_end(tmp_path / "whole", out)


def test_metrics_after_the_checkpoint_and_a_torn_line_are_dropped(plan, tmp_path):
    out = tmp_path / "run"
    cut(out, prepare(plan), 4)
    metrics = out / "metrics.jsonl"
    lines = metrics.read_text(encoding="utf-8")
    later = json.dumps({**json.loads(lines.splitlines()[0]), "step": 5}) + "\n"
    metrics.write_text(lines + later + '{"step": 6, "tok', encoding="utf-8")
    assert [r.step for r in read_metrics(out)] == [1, 2, 3, 4, 5]
    list(run_in_folder(out, prepare_again(out), resume=True))
    assert [r.step for r in read_metrics(out)] == [1, 2, 3, 4, 5, 6]


def test_a_run_killed_while_it_saves_has_the_record_of_the_saved_step(plan, tmp_path, monkeypatch):
    recorded = []

    def save(folder, state, keep=False):
        recorded.append((state.step, [record.step for record in read_metrics(folder)]))

    monkeypatch.setattr("llmviz.training.run_folder.save_checkpoint", save)
    list(run_in_folder(tmp_path / "run", prepare(plan)))
    assert recorded == [(step, list(range(1, step + 1))) for step in (2, 4, 6)]


@pytest.mark.parametrize("left", ["none", "older"])
def test_a_run_killed_behind_its_last_checkpoint_gets_its_weights_when_it_goes_on(
    plan, tmp_path, monkeypatch, left
):
    out, publish = tmp_path / "run", checkpoints.publish
    monkeypatch.setattr(checkpoints, "publish", lambda *_: None if left == "none" else publish(*_))
    monkeypatch.setattr(checkpoints, "_remove_older", lambda *_: None)
    records = run_in_folder(out, prepare(plan))
    for record in records:
        if record.step == 5:  # there are checkpoints of 2 and 4 steps; the last comes with the end
            monkeypatch.setattr(checkpoints, "publish", lambda *_: None)
    monkeypatch.undo()
    assert (out / "model.safetensors").exists() == (left == "older")
    assert list(run_in_folder(out, prepare_again(out), resume=True)) == []  # it is at its end
    newest = out / "checkpoints" / "step-000006"
    assert [path.name for path in (out / "checkpoints").iterdir()] == [newest.name]
    there = (out / "model.safetensors").read_bytes()
    assert there == (newest / "model.safetensors").read_bytes()


@pytest.mark.slow
def test_a_run_that_is_read_while_it_saves_again_and_again_is_whole_each_time(plan, tmp_path):
    out = tmp_path / "run"
    saving = dataclasses.replace(plan.train, steps=30, checkpoint_every=1)
    run = prepare(dataclasses.replace(plan, train=saving))
    records = run_in_folder(out, run)
    next(records), next(records)
    ended, read = threading.Event(), []

    def look() -> None:
        while not ended.is_set():
            trained = load_trained(out)
            read.append(sum(float(one.sum()) for one in trained.model.state_dict().values()))

    with ThreadPoolExecutor(2) as pool:
        looking = [pool.submit(look) for _ in range(2)]
        try:
            list(records)
        finally:
            ended.set()
        for one in looking:
            one.result()
    assert len(read) > 5 and all(map(math.isfinite, read)) and len(set(read)) > 1


def test_more_steps_may_be_asked_for_later(out):
    assert list(run_in_folder(out, prepare_again(out), resume=True)) == []
    list(run_in_folder(out, prepare_again(out, steps=8), resume=True))
    assert read_metrics(out)[-1].step == 8


def test_another_run_is_not_overwritten(plan, out):
    before = (out / "metrics.jsonl").read_bytes()
    with pytest.raises(ValueError, match="already holds a run"):
        next(run_in_folder(out, prepare(plan)))
    assert (out / "metrics.jsonl").read_bytes() == before


def test_a_folder_that_cannot_be_written_is_one_line(plan, tmp_path):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(ValueError, match="is a file, not a folder"):
        next(run_in_folder(tmp_path / "file", prepare(plan)))
    with pytest.raises(ValueError, match=r"cannot write .*Not a directory"):
        next(run_in_folder(tmp_path / "file" / "below", prepare(plan)))


def test_a_full_disk_is_one_line_and_leaves_the_last_checkpoint(plan, tmp_path, monkeypatch):
    out, real = tmp_path / "run", checkpoints.save_tensors

    def filling_up(path, *rest):
        if "step-000004" in str(path):
            raise OSError(28, "No space left on device")
        real(path, *rest)

    monkeypatch.setattr(checkpoints, "save_tensors", filling_up)
    with pytest.raises(ValueError, match=r"cannot write a checkpoint in .*No space left"):
        list(run_in_folder(out, prepare(plan)))
    assert load_checkpoint(out).step == 2 and load_trained(out)
    assert [path.name for path in (out / "checkpoints").iterdir()] == ["step-000002"]
    monkeypatch.undo()
    assert list(run_in_folder(out, prepare_again(out), resume=True))[-1].step == 6


def test_a_changed_corpus_is_noticed(plan, out):
    text = Path(plan.corpus)
    text.write_text(text.read_text("utf-8").replace("bob", "eve"), encoding="utf-8")
    with pytest.raises(ValueError, match="not the one that"):
        prepare_again(out)


def test_damaged_and_foreign_folders_are_refused_by_name(out):
    with pytest.raises(CheckpointError, match="no checkpoint folder"):
        load_trained(out / "nowhere")
    description = json.loads((out / "config.json").read_text(encoding="utf-8"))
    other = {**description, "model": {"name": "lstm", "config": description["model"]["config"]}}
    for content, words in (
        (other, "another model"),
        ({**description, "format": "theirs"}, "config.json is not"),
        ({**description, "model": {"name": "oracle", "config": {}}}, "no model that can be built"),
    ):
        (out / "config.json").write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(CheckpointError, match=words):
            load_trained(out)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("config.json", lambda d: json.dumps({**d, "data": None}), "says data = None"),
        ("config.json", lambda d: json.dumps({**d, "model": []}), "says model = "),
        ("metrics.jsonl", lambda d: "garbage\n", "metrics.jsonl is damaged"),
        ("metrics.jsonl", lambda d: '{"a": 1}\n', "metrics.jsonl is damaged"),
        ("tokenizer.json", lambda d: "{", "tokenizer.json is not a whole"),
        ("tokenizer.json", None, "tokenizer.json cannot be read: No such file"),
    ],
)
def test_a_damaged_run_is_not_gone_on_with(out, name, content, words):
    if content is None:
        (out / name).unlink()
    else:
        description = json.loads((out / "config.json").read_text(encoding="utf-8"))
        (out / name).write_text(content(description), encoding="utf-8")
    with pytest.raises(CheckpointError, match=words):
        list(run_in_folder(out, prepare_again(out, steps=8), resume=True))
    assert load_checkpoint(out).step == 6


@pytest.mark.parametrize("end", ["goes on", "closes"])
def test_a_run_whose_folder_was_deleted_ends_and_writes_nothing_back(plan, tmp_path, end):
    out = tmp_path / "run"
    records = run_in_folder(out, prepare(plan))
    next(records)
    shutil.rmtree(out)
    with pytest.raises(ValueError, match="was deleted while the run went on"):
        next(records) if end == "goes on" else records.close()
    records.close()
    assert not out.exists()


def test_samples_are_text_and_the_same_each_time(plan, tmp_path):
    sampled = dataclasses.replace(plan.train, sample_every=3, sample_tokens=5)
    run = prepare(dataclasses.replace(plan, train=sampled))
    records = list(run_in_folder(tmp_path / "run", run, sample=sampler(run)))
    texts = [r.sample for r in records if r.sample is not None]
    again = prepare(dataclasses.replace(plan, train=sampled))
    assert texts and texts == [
        r.sample
        for r in run_in_folder(tmp_path / "again", again, sample=sampler(again))
        if r.sample is not None
    ]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": "oracle"}, "model must be one of"),
        ({"tokenizer": "runes"}, "tokenizer must be one of"),
        ({"model_options": {"n_legs": 4}}, "no field 'n_legs'"),
        ({"model": "gpt", "model_options": {"n_embd": 30, "n_head": 4}}, "n_head must divide"),
        ({"model_options": {"n_embd": -8}}, "n_embd must be"),
        ({"context_length": 0}, "context_length"),
        ({"characters": 100}, "characters must be left out"),
        ({"context_length": 10_000, "windows": "random"}, "longer than the context"),
    ],
)
def test_choices_that_cannot_work_are_refused_with_the_rule(plan, changes, words):
    with pytest.raises(ValueError, match=words):
        prepare(dataclasses.replace(plan, **changes))


def test_a_plan_survives_json():
    plan = Plan(model_options={"n_layer": 3}, train=TrainConfig(steps=3))
    assert Plan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan


def test_a_growing_curve_is_read_on_and_a_shortened_one_anew(plan, tmp_path):
    out = tmp_path / "run"
    metrics = Metrics(out)
    assert metrics.read() == []
    records = run_in_folder(out, prepare(plan))
    for expected in range(1, 5):
        next(records)
        assert [r.step for r in metrics.read()] == list(range(1, expected + 1))
    kept = metrics.read()
    records.close()
    # Resumed from step 2: what came after is dropped and written again.
    checkpoints_before = load_checkpoint(out)
    again = run_in_folder(
        out,
        prepare_again(out, learning_rate=1e-4, min_lr=1e-5),
        resume=True,
        checkpoint=dataclasses.replace(checkpoints_before, step=2),
    )
    next(again)
    assert [r.step for r in metrics.read()] == [1, 2, 3]
    assert metrics.read()[2] != kept[2] and metrics.read() == read_metrics(out)
    assert [r.step for r in kept] == [1, 2, 3, 4]  # a list that was handed out stays as it was
    again.close()
    (out / "metrics.jsonl").write_text('{"step": 1}\n', encoding="utf-8")
    with pytest.raises(CheckpointError, match="damaged"):
        metrics.read()


def test_a_run_whose_folder_was_deleted_ends_at_its_next_step(plan, tmp_path):
    """Not at its next point, which may be a thousand steps away."""
    out, asked = tmp_path / "run", 0

    def stop():
        nonlocal asked
        asked += 1
        if asked == 3:
            shutil.rmtree(out)
        return False

    rare = dataclasses.replace(plan.train, steps=400, log_every=400, eval_every=0)
    run = prepare(dataclasses.replace(plan, train=rare))
    with pytest.raises(ValueError, match="was deleted while the run went on"):
        list(run_in_folder(out, run, stop=stop))
    assert asked == 3 and not out.exists()


def test_a_deleted_folder_is_not_made_again_by_who_goes_on(plan, tmp_path):
    out = tmp_path / "run"
    with pytest.raises(ValueError, match=r"there is no folder .* with a run to continue"):
        next(run_in_folder(out, prepare(plan), resume=True))
    assert not out.exists()


@pytest.fixture
def overshoots(plan):
    """Its loss falls, then rises: the rate is far too high for it."""
    train = dict(steps=60, learning_rate=0.9, schedule="constant", eval_every=2, patience=3)
    changed = dataclasses.replace(plan.train, **train, checkpoint_every=5)
    return dataclasses.replace(plan, train=changed)


def kept(folder):
    """Step and loss of the kept run's last line, and its weights."""
    last = read_metrics(folder / BEST)[-1]
    return last.step, last.validation_loss, load_trained(folder / BEST).model.state_dict()


def test_the_run_ends_after_its_patience_and_keeps_its_lowest(overshoots, tmp_path):
    records = list(run_in_folder(tmp_path / "run", prepare(overshoots)))
    losses = [(one.validation_loss, one.step) for one in records if one.validation_loss is not None]
    low = min(losses)
    after = [one for one in losses if one[1] > low[1]]
    assert len(after) == overshoots.train.patience and records[-1].step < overshoots.train.steps
    assert all(loss >= low[0] for loss, _ in after) and "ended early" in records[-1].notes[0]
    step, loss, _ = kept(tmp_path / "run")
    assert (loss, step) == low
    # The weights are those of that step: measured again, they have its loss.
    run = prepare(overshoots)
    run.model.load_state_dict(load_trained(tmp_path / "run" / BEST).model.state_dict())
    total = count = 0
    for batch in run.data.validation_batches(overshoots.train.batch_size, 0):
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
def test_a_run_that_was_cut_ends_at_the_same_step_with_the_same_weights(
    overshoots, tmp_path, stops
):
    whole = list(run_in_folder(tmp_path / "whole", prepare(overshoots)))
    cut(tmp_path / "cut", prepare(overshoots), stops)
    *_, last = run_in_folder(tmp_path / "cut", prepare_again(tmp_path / "cut"), resume=True)
    assert (last.step, last.validation_loss) == (whole[-1].step, whole[-1].validation_loss)
    (step, loss, weights), expected = kept(tmp_path / "cut"), kept(tmp_path / "whole")
    assert (step, loss) == expected[:2]
    assert all(torch.equal(one, expected[2][name]) for name, one in weights.items())


def test_weights_that_are_gone_are_not_called_the_lowest(overshoots, tmp_path):
    out = tmp_path / "run"
    low = min(
        (one.validation_loss, one.step)
        for one in run_in_folder(out, prepare(overshoots))
        if one.validation_loss is not None
    )
    (out / BEST).rename(tmp_path / "aside")
    more = prepare_again(out, patience=0, keep_best=True, steps=80)
    after = list(run_in_folder(out, more, resume=True))
    later = min((one.validation_loss, one.step) for one in after if one.validation_loss is not None)
    assert later[1] > low[1] and kept(out)[:2] == later[::-1]  # the lowest of those that are there


def test_patience_needs_measurements_and_without_it_nothing_is_kept(overshoots, tmp_path):
    with pytest.raises(ValueError, match="patience must be 0 where eval_every is 0"):
        TrainConfig(patience=2, eval_every=0)
    plain = dataclasses.replace(
        overshoots, train=dataclasses.replace(overshoots.train, patience=0, steps=4)
    )
    list(run_in_folder(tmp_path / "run", prepare(plain)))
    assert not (tmp_path / "run" / BEST).exists()
