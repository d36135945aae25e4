"""Commands that are killed at each of their writes: the next try ends as if nothing had been."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from llmviz.course.lessons.discoveries.own.own_study import Study, base_plan
from llmviz.course.lessons.discoveries.own.own_study_folder import write_study
from tests.sources import ROOT

pytestmark = pytest.mark.slow  # of the second tier

# A process that forks for each try: the imports are made once, and torch has one thread.
KILLED = """
import hashlib, json, os, shlex, shutil, signal, sys
from pathlib import Path
import torch
torch.set_num_threads(1)
from llmviz import cli

line, again, stride = sys.argv[1], sys.argv[2], int(sys.argv[3])
TIMES = ("seconds", "tokens_per_second", "torch_threads", "time", "machine", "created", "rounded")

def tried(line, at):
    # Run a line in a child that is killed at this write; return its exit code and what it said.
    child = os.fork()
    if child == 0:
        own, count = os.fsync, 0
        def fsync(descriptor):
            nonlocal count
            count += 1
            if count == at:
                os.kill(os.getpid(), signal.SIGKILL)
            own(descriptor)
        os.fsync = fsync
        said = os.open(f"said-{os.getpid()}", os.O_WRONLY | os.O_CREAT)
        os.dup2(said, 1), os.dup2(said, 2)
        try:
            code = cli.main(shlex.split(line))
        except SystemExit as ended:
            code = ended.code or 0
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    said = Path(f"said-{child}")
    text = said.read_text("utf-8", "replace") if said.exists() else ""
    said.unlink(missing_ok=True)
    return code, text

def timeless(value):
    if isinstance(value, dict):
        return {k: timeless(v) for k, v in value.items() if not any(t in k for t in TIMES)}
    return [timeless(one) for one in value] if isinstance(value, list) else value

def there():
    # Every file with what it holds, less what a clock said and what is told of it all.
    found = {}
    for path in sorted(Path().rglob("*")):
        if not path.is_file() or path.parts[0] == "given":
            continue
        content = path.read_bytes()
        if path.suffix in (".json", ".jsonl") and "manifest" not in path.name:
            rows = [timeless(json.loads(row)) for row in content.decode().splitlines()] if (
                path.suffix == ".jsonl") else timeless(json.loads(content))
            content = json.dumps(rows, sort_keys=True).encode()
        if "manifest" not in path.name and path.suffix != ".csv":
            found[path.as_posix()] = hashlib.sha256(content).hexdigest()
        else:
            found[path.as_posix()] = ""
    return found

def clear():
    for path in Path().iterdir():
        if path.name != "given":
            shutil.rmtree(path) if path.is_dir() else path.unlink()

code, said = tried(line, 0)
assert code == 0, said
whole, at = there(), 1
while True:
    clear()
    code, said = tried(line, at)
    if code == 0:
        break
    assert code == -signal.SIGKILL, said
    now = there()
    if now != whole:
        for next_line in (again, line):  # nothing may be there to go on with
            code, said = tried(next_line, 0)
            if code == 0:
                break
        assert code == 0, (at, said)
        now = there()
    apart = {name for name in whole.keys() | now.keys() if whole.get(name) != now.get(name)}
    assert not apart, (at, sorted(apart))
    at += stride
print(at - 1)
"""
SMALL = "--examples 12 --test-examples 6 --batch-size 4 --steps 2 --eval-batches 1 --threads 1"
LINES = {  # the line, what goes on with it, every which write it is killed at
    "finetune": (f"finetune --task about --way head {SMALL} --out tuned", " --resume", 2),
    "quantize": ("quantize tiny-world-char --documents 0 --group 4 --out small", "", 1),
    "checkpoints": (
        "checkpoints make names-bigram --steps 3 --threads 1 --work work --to to",
        "",
        2,
    ),
    "site": ("site course --only glossary", "", 1),
    "study": ("study run given --out results", " --resume", 11),
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
@pytest.mark.parametrize("name", LINES)
def test_a_command_that_was_killed_anywhere_ends_as_if_it_had_not_been(name, tmp_path):
    line, more, stride = LINES[name]
    if name == "study":
        study = Study(
            "n_embd", (4, 8, 12), "validation", 1, "3", "Why.", base_plan("gpt", "names", 20)
        )
        write_study(tmp_path / "given", study)
    run = (sys.executable, "-c", KILLED, line, line + more, str(stride))
    own = {**os.environ, "PYTHONPATH": str(ROOT), "LLMVIZ_RUNS": str(tmp_path / "given" / "runs")}
    ran = subprocess.run(run, capture_output=True, text=True, cwd=tmp_path, env=own)
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout.splitlines()[-1]) >= 1
    assert not [path for path in Path(tmp_path).rglob(".tmp-*")]
