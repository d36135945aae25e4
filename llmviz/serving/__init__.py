"""Many requests served at once by one model: queue, scheduler, memory in blocks, engine.

`Engine` adds requests and makes steps; `record` lets requests come at their times and yields the
steps; `simulate` does so without a model. What needs torch is imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmviz.files.lazy import lazy_names
from llmviz.serving.blocks import BlockManager
from llmviz.serving.engine import Engine
from llmviz.serving.plan import Plan, Runner
from llmviz.serving.record import RunClock, record, record_all, record_bundled
from llmviz.serving.recording import (
    DECODE,
    PADDING,
    PREFILL,
    EngineStep,
    Recording,
    Row,
    Timing,
    percentiles,
)
from llmviz.serving.requests import (
    REASONS,
    EngineClosed,
    Outcome,
    Request,
    TooManyWaiting,
)
from llmviz.serving.scheduler import Scheduler
from llmviz.serving.sequences import Sequence
from llmviz.serving.settings import POLICIES, PREEMPTIONS, Policy, ServingConfig
from llmviz.serving.simulate import CostModel, SimulatedModel, replay, simulate
from llmviz.serving.workload import Workload, make_requests

if TYPE_CHECKING:
    from llmviz.serving.model_runner import ModelRunner
    from llmviz.serving.paged_model import PagedModel

_NEED_TORCH = {"ModelRunner": "model_runner", "PagedModel": "paged_model"}

__all__ = [
    "DECODE",
    "PADDING",
    "POLICIES",
    "PREEMPTIONS",
    "PREFILL",
    "REASONS",
    "BlockManager",
    "CostModel",
    "Engine",
    "EngineClosed",
    "EngineStep",
    "ModelRunner",
    "Outcome",
    "PagedModel",
    "Plan",
    "Policy",
    "Recording",
    "Request",
    "Row",
    "RunClock",
    "Runner",
    "Scheduler",
    "Sequence",
    "ServingConfig",
    "SimulatedModel",
    "Timing",
    "TooManyWaiting",
    "Workload",
    "make_requests",
    "percentiles",
    "record",
    "record_all",
    "record_bundled",
    "replay",
    "simulate",
]

__getattr__ = lazy_names(__name__, _NEED_TORCH)
