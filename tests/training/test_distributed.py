"""Two processes give the losses of one on the same global batch, in copies or in shards."""

import dataclasses
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from llmviz.models import build
from llmviz.training import TrainData, load_checkpoint, train
from llmviz.training.distributed import World

SCRIPT = Path(__file__).with_name("two_processes.py")


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    """What the two processes found, from one launch of both kinds."""
    out = tmp_path_factory.mktemp("together")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(SCRIPT), str(out)]
    root = str(Path(__file__).resolve().parents[2])
    finished = subprocess.run(
        command,
        env={
            **os.environ,
            **{"OMP_NUM_THREADS": "1", "PYTHONPATH": root},
            **{"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)},
        },
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr[-2000:]
    return out


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["copies", "shards", "shards-resumed"])
def test_same_losses_as_one_process(together, kind):
    from tests.training.two_processes import CONFIG, DOCUMENTS, model

    data = TrainData.from_documents(DOCUMENTS, DOCUMENTS[:4], *model.tokenizer_and_context())
    alone_model = model()
    alone = list(train(alone_model, data, CONFIG))
    found = json.loads((together / f"{kind}.json").read_text(encoding="utf-8"))
    expected = [
        [r.step, r.tokens, r.train_loss, r.validation_loss or 0.0, r.grad_norm] for r in alone
    ]
    if kind == "shards-resumed":
        expected = expected[-len(found) :]
    for one, two in zip(expected, found, strict=True):
        assert two == pytest.approx(one, rel=1e-4)
    saved = load_checkpoint(together / kind)
    for name, tensor in alone_model.state_dict().items():
        torch.testing.assert_close(saved.model[name], tensor, rtol=1e-3, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["recomputed", "float16"])
@pytest.mark.parametrize("kind", ["copies", "shards"])
def test_blocks_computed_again_and_float16_give_what_they_give_in_one_process(together, kind, way):
    from tests.training.two_processes import CONFIG, DOCUMENTS, WAYS, model

    data = TrainData.from_documents(DOCUMENTS, DOCUMENTS[:4], *model.tokenizer_and_context())
    alone = list(train(model(), data, dataclasses.replace(CONFIG, **WAYS[way])))
    found = json.loads((together / f"{kind}-{way}.json").read_text(encoding="utf-8"))
    rel = 0.02 if way == "float16" else 1e-4  # 11 bits, and sums of other parts
    for one, two in zip(alone, found, strict=True):
        expected = [one.step, one.tokens, one.train_loss, one.validation_loss or 0.0, one.grad_norm]
        assert two == pytest.approx(expected, rel=rel)
    assert found[-1][2] < found[0][2]


def test_the_parts_of_a_batch_are_the_batch():
    batch = (torch.arange(14).view(7, 2), torch.arange(7))
    parts = [World(3, rank).part(batch) for rank in range(3)]
    for i in range(2):
        assert torch.equal(torch.cat([part[i] for part in parts]), batch[i])
    assert build("bigram").context_length and World().add([1.5], torch.device("cpu")) == [1.5]
