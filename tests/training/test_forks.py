"""Where a run without checkpoints is forked: at the step of the weights that it has."""

import json
import shutil

import pytest
from safetensors import safe_open

from llmviz.training import CheckpointError, load_checkpoint, read_metrics
from llmviz.training.export import export
from llmviz.training.forks import forkable, make_fork
from tests.training.tampered import healthy, line


@pytest.fixture
def killed(tmp_path):
    """A run that was killed at step 35, and its checkpoints deleted: weights of step 20."""
    folder = healthy(tmp_path / "runs" / "killed")
    with (folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(map(line, range(21, 36)))
    shutil.rmtree(folder / "checkpoints")
    return folder


def test_the_step_is_that_of_the_weights_not_of_the_curves_end(killed, tmp_path):
    assert forkable(killed) == [20]
    out = tmp_path / "fork"
    with pytest.raises(CheckpointError, match="no checkpoint of step 35 to fork at; there is 20"):
        make_fork(killed, 35, out, {})
    assert not out.exists()
    make_fork(killed, 20, out, {"steps": 30})
    assert [record.step for record in read_metrics(out)] == list(range(1, 21))
    begun = load_checkpoint(out)
    assert (begun.step, begun.tokens, begun.seconds) == (20, 8 * 20, 2.0)
    with safe_open(killed / "model.safetensors", framework="pt") as file:
        assert all((begun.model[name] == file.get_tensor(name)).all() for name in file.keys())  # noqa: SIM118
    about = json.loads((out / "config.json").read_text("utf-8"))["fork"]
    assert about["step"] == 20 and about["fresh"] is True


def test_weights_that_do_not_say_their_step_are_of_the_curves_end(tmp_path):
    run = healthy(tmp_path / "run")
    export(run, tmp_path / "bundled")  # as the models that come with the project
    assert forkable(tmp_path / "bundled") == [20]


@pytest.mark.parametrize("curve", ["", "gone", "later"])
def test_weights_of_no_known_place_are_not_forked(killed, tmp_path, curve):
    metrics = killed / "metrics.jsonl"
    if curve == "gone":
        metrics.unlink()
    else:
        metrics.write_text("".join(map(line, (30, 31))) if curve else "", "utf-8")
    with pytest.raises(CheckpointError, match=r"step 20|does not say how far the weights"):
        make_fork(killed, 20, tmp_path / "fork", {})
    assert not (tmp_path / "fork").exists()


def test_damaged_weights_are_refused_in_one_line(killed, tmp_path):
    (killed / "model.safetensors").write_bytes(b"garbage")
    for ask in (lambda: forkable(killed), lambda: make_fork(killed, 20, tmp_path / "fork", {})):
        with pytest.raises(CheckpointError, match="not a readable safetensors file"):
            ask()
    assert not (tmp_path / "fork").exists()
