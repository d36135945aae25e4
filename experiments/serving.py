"""The two recorded runs that the chapter on serving opens with; bundled as a file.

Makes what `llmviz.course.lessons.efficiency.serving.model` reads.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from llmviz.course.lessons.efficiency.serving.model import (
    COMMAND,
    FILE,
    TRIAL,
    Run,
    Trial,
    runs_of,
    serving_run,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.files.whole import write_whole


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


def write(trial: Trial, runs: tuple[Run, ...], file: str, command: str) -> None:
    """Write runs as a file among the experiments, with today's date and what they ran on."""
    import torch

    from llmviz.training.checkpoints import versions

    environment = {**versions(), "threads": torch.get_num_threads()}
    text = written(trial, runs, environment, datetime.now(UTC).date().isoformat(), command)
    write_whole(EXPERIMENT_FOLDER / file, lambda path: path.write_text(text, encoding="utf-8"))


def main() -> None:
    """Record both runs and write the file."""
    write(TRIAL, runs_of(TRIAL, list(serving_run(TRIAL))), FILE, COMMAND)


if __name__ == "__main__":
    main()
