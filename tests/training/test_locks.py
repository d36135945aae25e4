"""A file that one process has is locked for the others, with the locks of Unix and of Windows."""

from __future__ import annotations

import subprocess
import sys

import pytest

from llmviz.training import locks, read_metrics, run_folders
from llmviz.training.plan import prepare, prepare_again
from llmviz.training.runs import run_in_folder
from tests.training.small_plans import small_plan, small_training

pytestmark = pytest.mark.usefixtures("system_locks")
PLAN = small_plan(small_training(steps=4, eval_batches=1, warmup_steps=0))


@pytest.fixture
def opened(tmp_path):
    (tmp_path / "file").write_text("what it holds\n", encoding="utf-8")
    files = []

    def open_again(mode="a+"):
        files.append((tmp_path / "file").open(mode, encoding="utf-8"))
        return files[-1]

    yield open_again
    for file in files:
        file.close()


def test_one_has_a_file_alone_until_it_is_closed(opened):
    first, second = opened(), opened()
    assert locks.lock(first) and not locks.lock(second) and not locks.share(second)
    assert locks.is_locked(opened("r"))
    first.close()
    assert not locks.is_locked(opened("r"))
    assert locks.lock(second)


def test_many_share_a_file_and_nobody_has_it_alone(opened):
    sharers = [opened() for _ in range(20)]
    assert all(locks.share(one) for one in sharers)
    assert not locks.lock(opened()) and not locks.is_locked(opened("r"))
    for one in sharers:
        locks.release(one)
    assert locks.lock(opened())


def test_a_released_file_may_be_locked_otherwise(opened):
    first, second = opened(), opened()
    locks.release(first)  # it has none yet
    assert locks.lock(first)
    locks.release(first)
    assert locks.share(first) and locks.share(second)


def test_a_locked_file_is_read_and_written_as_before(opened):
    file = opened()
    assert locks.lock(file)
    file.write("more\n")
    file.flush()
    assert opened("r").read() == "what it holds\nmore\n"
    file.seek(0)
    assert file.readline() == "what it holds\n"


def test_a_run_is_locked_against_a_second_writer(tmp_path):
    records = run_in_folder(tmp_path / "run", prepare(PLAN))
    next(records)
    assert run_folders.is_written(tmp_path / "run")
    assert len(read_metrics(tmp_path / "run")) == 1
    with pytest.raises(ValueError, match="is being written by another process"):
        next(run_in_folder(tmp_path / "run", prepare_again(tmp_path / "run"), resume=True))
    records.close()
    assert not run_folders.is_written(tmp_path / "run")
    list(run_in_folder(tmp_path / "run", prepare_again(tmp_path / "run"), resume=True))
    assert [record.step for record in read_metrics(tmp_path / "run")][-1] == 4


def test_a_lock_ends_with_its_process(opened, tmp_path):
    file = opened()
    program = (
        "import sys\nfrom llmviz.training import locks\n"
        f"locks.fcntl = {'locks.fcntl' if locks.fcntl else None}\n"
        "from tests.training import windows_locks\nsys.modules['msvcrt'] = windows_locks\n"
        f"file = open({str(tmp_path / 'file')!r}, 'a+')\nassert locks.lock(file)\n"
        "print('locked', flush=True)\nsys.stdin.read()\n"
    )
    process = subprocess.Popen(
        (sys.executable, "-c", program), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout.readline().strip() == b"locked"
    assert locks.is_locked(file) and not locks.lock(file)
    process.kill()
    process.communicate()
    assert locks.lock(file)
