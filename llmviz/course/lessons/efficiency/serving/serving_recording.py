"""The two recorded runs that the chapter on serving opens with; bundled as a file.

`python -m experiments make serving` records them again, in a few seconds: the bundled story
model, the same requests under two policies. The result is `data/experiments/FILE`.
"""

from __future__ import annotations

import dataclasses
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from llmviz.course.lessons.efficiency.serving.serving_run import Run, Trial
from llmviz.paths import EXPERIMENT_FOLDER
from llmviz.serving.recording import Recording
from llmviz.serving.settings import ServingConfig
from llmviz.serving.workload import Workload
from llmviz.training.files import read_json
from llmviz.wholefile import write_whole

FILE = "serving.json"
COMMAND = "python -m experiments make serving"
TRIAL = Trial(
    Workload(requests=12, arrival_rate=100.0, prompt_tokens=24, new_tokens=32, samples=2),
    ServingConfig(max_batch=8, block_size=8, n_blocks=40),
    ("continuous", "static"),
)


@dataclasses.dataclass(frozen=True)
class Bundled:
    """The file: what was served, both runs, when they were recorded and on what."""

    trial: Trial
    runs: tuple[Run, ...]
    date: str
    environment: dict[str, Any]


def written(
    trial: Trial,
    runs: tuple[Run, ...],
    environment: dict[str, Any],
    date: str,
    command: str = COMMAND,
) -> str:
    """Return runs as the text of a file."""
    values = {
        "command": command,
        "date": date,
        "environment": environment,
        "workload": trial.workload.to_dict(),
        "policies": trial.policies,
        "base": trial.base,
        "prompts": runs[0].prompts,
        "runs": [
            {
                "recording": _rounded(run.recording.to_json()),
                "pieces": run.pieces,
                "texts": run.texts,
            }
            for run in runs
        ],
    }
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n"


def _rounded(recording: str) -> Any:
    """A recording's values, its times to the microsecond."""
    return json.loads(recording, parse_float=lambda text: round(float(text), 6))


def read(path: Path = EXPERIMENT_FOLDER / FILE) -> Bundled:
    """Return what a file holds. Raises ValueError: it is missing or damaged."""
    values = read_json(path)
    try:
        runs = tuple(
            Run(
                Recording.from_json(json.dumps(run["recording"])),
                values["prompts"],
                *(
                    {
                        name: tuple((tick, text) for tick, text in pieces)
                        for name, pieces in run.get(field, {}).items()
                    }
                    for field in ("pieces", "texts")
                ),
            )
            for run in values["runs"]
        )
        first, second = values["policies"]
        workload = Workload.from_dict(values["workload"])
        config = runs[0].recording.config
        trial = Trial(workload, config, (first, second), base=values["base"])
        return Bundled(trial, runs, values["date"], values["environment"])
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError(f"{path.name} is no file of recorded runs: {error}") from None


def write(trial: Trial, runs: tuple[Run, ...], file: str, command: str) -> None:
    """Write runs as a file among the experiments, with today's date and what they ran on."""
    import torch

    from llmviz.training.checkpoints import versions

    environment = {**versions(), "threads": torch.get_num_threads()}
    text = written(trial, runs, environment, datetime.now(UTC).date().isoformat(), command)
    write_whole(EXPERIMENT_FOLDER / file, lambda path: path.write_text(text, encoding="utf-8"))
