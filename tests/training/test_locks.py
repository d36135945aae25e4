"""Files and folders of runs that one process has, with the locks of Unix and of Windows."""

import subprocess
import sys

import pytest

from llmviz.runs import store
from llmviz.runs.store import claim_private
from llmviz.training import locks, read_metrics
from llmviz.training.plan import prepare, prepare_again
from llmviz.training.run_folder import run_in_folder

pytestmark = pytest.mark.usefixtures("system_locks")


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


def test_a_run_is_locked_against_a_second_writer(tmp_path, plan):
    records = run_in_folder(tmp_path / "run", prepare(plan))
    next(records)
    assert store.is_written(tmp_path / "run")
    assert len(read_metrics(tmp_path / "run")) == 1
    with pytest.raises(ValueError, match="is being written by another process"):
        next(run_in_folder(tmp_path / "run", prepare_again(tmp_path / "run"), resume=True))
    records.close()
    assert not store.is_written(tmp_path / "run")
    list(run_in_folder(tmp_path / "run", prepare_again(tmp_path / "run"), resume=True))
    assert [record.step for record in read_metrics(tmp_path / "run")][-1] == 6


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


@pytest.fixture
def private_run(tmp_path, monkeypatch):
    monkeypatch.setenv("LLMVIZ_RUNS", str(tmp_path))
    folder = store.new_private_folder()
    folder.mkdir(parents=True)
    return folder


def test_what_a_server_that_is_gone_left_is_cleared(private_run):
    assert claim_private(clear=True) is not None
    assert not private_run.exists()


def test_a_second_server_leaves_the_first_ones_runs(private_run):
    first = claim_private(clear=False)
    second = claim_private(clear=True)
    assert first is not None and second is not None
    assert private_run.exists()


def test_a_server_that_starts_again_leaves_the_others_runs(private_run):
    first = claim_private(clear=False)
    second = claim_private(clear=False)
    first.close()  # it was killed
    first = claim_private(clear=True)
    assert private_run.exists()
    first.close()
    second.close()
    assert claim_private(clear=True) is not None
    assert not private_run.exists()
