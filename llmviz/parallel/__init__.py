"""A training that several processes share: the ways to split it, run for real, and by formula.

`plan` says what is run, `launch.run` starts the processes and yields what they say, `work` is what
each does, with one file for each way to share. `formulas` and `paper` compute without running.
Nothing here imports torch before a run begins, so that what is on paper costs nothing.
"""

from llmviz.parallel.formulas import bubble_share, ring_bytes, sent_per_step
from llmviz.parallel.launch import ProcessEnded, run, run_all
from llmviz.parallel.outcome import Outcome, Progress
from llmviz.parallel.paper import Training, bytes_per_step, days, memory_per_gpu
from llmviz.parallel.plan import METHODS, ParallelPlan

__all__ = [
    "METHODS",
    "Outcome",
    "ParallelPlan",
    "ProcessEnded",
    "Progress",
    "Training",
    "bubble_share",
    "bytes_per_step",
    "days",
    "memory_per_gpu",
    "ring_bytes",
    "run",
    "run_all",
    "sent_per_step",
]
