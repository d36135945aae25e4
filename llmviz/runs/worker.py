"""A process that trains for another one: `python -m llmviz.runs.worker`.

It imports torch, says that it is ready, and waits for jobs on its standard input, a line of JSON
each; a line of JSON each tells on its standard output how they go. What a run writes down lies in
the run's folder, as always.

    in   {"do": "train", "job": 1, "out": DIR, "plan": {…}}   a new run of a Plan
         {"do": "train", "job": 2, "out": DIR}                go on with the run in DIR
         {"do": "time", "job": 3, "plan": {…}}                how long a step takes; with
                                                              "vocab_size" without the corpus
         {"do": "stop", "job": 3}                             save after this step and end the job
    out  {"is": "ready"}                                      may be given a job
         {"is": "begun", "step": N}                           its first point stands in DIR
         {"is": "ended", "how": "done", "line": ""}           or stopped, diverged, refused
         {"is": "timed", "seconds": S, "line": ""}

End of input means that nobody waits any more: the run is saved after the present step, then the
process exits. It is niced and uses one CPU thread, so that pages stay quick.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import sys
import threading
from pathlib import Path
from typing import IO, Any

from llmviz.processes.child import serve_parent
from llmviz.training.config import Plan

NICE = 10


class Worker:
    """Reads jobs from one stream and tells on another how they go."""

    def __init__(self, given: IO[str], answers: IO[str]) -> None:
        self.given, self.answers = given, answers
        self.jobs: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.job, self.stopped = 0, 0  # the present one, and the last that is to end
        self.alone = threading.Event()  # nobody waits any more
        self.stepping = False  # there is something to save

    def tell(self, what: str, **more: Any) -> None:
        """One line, at once; if nobody reads it any more, the run is saved as at end of input."""
        try:
            self.answers.write(json.dumps({"is": what, **more}, ensure_ascii=False) + "\n")
            self.answers.flush()
        except OSError:
            self.alone.set()

    def serve(self) -> None:
        """Do jobs until the input ends."""
        threading.Thread(target=self._listen, daemon=True).start()
        self.tell("ready")
        while not self.alone.is_set() and (job := self.jobs.get()) is not None:
            self.job = job["job"]
            if job["do"] == "train":
                self._train(job)
            elif job["do"] == "time":
                self._time(job)
            self.tell("ready")

    def _listen(self) -> None:
        for line in self.given:
            job = json.loads(line)
            if job["do"] == "stop":
                self.stopped = job["job"]
            else:
                self.jobs.put(job)
        self.alone.set()
        self.jobs.put(None)
        if not self.stepping:  # preparing a large corpus can take minutes, for nobody
            os._exit(0)

    def _train(self, job: dict[str, Any]) -> None:
        from llmviz.training.errors import Diverged

        how, line = "done", ""
        try:
            how = "stopped" if self._steps(job) else "done"
        except Diverged as error:
            how, line = "diverged", str(error)
        except ValueError as error:
            how, line = "refused", str(error)
        except (RuntimeError, MemoryError, OSError) as error:  # such as a GPU without memory left
            lines = str(error).strip().splitlines()
            how, line = "refused", f"the run cannot go on: {lines[0] if lines else type(error)}"
        finally:
            self.stepping = False
        self.tell("ended", how=how, line=line)

    def _steps(self, job: dict[str, Any]) -> bool:
        """Train; return whether it was stopped before its end."""
        from llmviz.training.run_folder import run_in_folder
        from llmviz.training.samples import sampler

        out = Path(job["out"])
        run = self._prepared(job, out)
        records = run_in_folder(out, run, resume=True, sample=sampler(run))
        begun = False
        with contextlib.closing(records):
            while not self._asked_to_end():
                self.stepping = True
                record = next(records, None)
                if record is None:
                    return False
                if not begun:
                    begun = True
                    self.tell("begun", step=record.step)
        return True

    def _asked_to_end(self) -> bool:
        return self.stopped >= self.job or self.alone.is_set()

    def _prepared(self, job: dict[str, Any], out: Path) -> Any:
        from llmviz.training.plan import prepare, prepare_again

        if "plan" in job:
            return prepare(Plan.from_dict(job["plan"]), job.get("command", ""), out)
        return prepare_again(out)

    def _time(self, job: dict[str, Any]) -> None:
        """Tell the seconds of a step of a plan, the fastest of a few; nothing is written."""
        from llmviz.training.throughput import step_seconds

        try:
            seconds = step_seconds(
                Plan.from_dict(job["plan"]),
                job.get("vocab_size"),
                Path(job["out"]) if job.get("out") else None,
                self._asked_to_end,
            )
            self.tell("timed", key=job.get("key"), seconds=seconds)
        except (ValueError, RuntimeError, MemoryError, OSError) as error:
            lines = str(error).strip().splitlines()
            self.tell("timed", key=job.get("key"), seconds=None, line=lines[0] if lines else "")


def warm_up() -> None:
    """Import what a run needs and take one step of a tiny model, so that no run pays for it."""
    import torch

    import llmviz.sampling.generation
    import llmviz.training.plan
    import llmviz.training.samples  # noqa: F401
    from llmviz.models import build
    from llmviz.models.catalogue import DEFAULT
    from llmviz.training import Stream, TrainConfig, TrainData, train
    from llmviz.training.memory import keep_freed_memory

    keep_freed_memory()
    torch.set_num_threads(1)
    streams = Stream.join([[1, 2, 3, 1] * 8], 0), Stream.join([[1, 2, 3, 1] * 2], 0)
    data = TrainData(*streams, 4, 4)
    sizes = {"vocab_size": 4, "context_length": 4, "n_layer": 1, "n_head": 1, "n_embd": 4}
    config = TrainConfig(steps=1, batch_size=2, device="cpu", dtype="float32", threads=1)
    list(train(build(DEFAULT, sizes), data, config))


def main() -> None:
    """Serve standard input; what libraries print goes to standard error."""
    answers = serve_parent(NICE, encoding="utf-8")
    warm_up()
    Worker(sys.stdin, answers).serve()


if __name__ == "__main__":
    main()
