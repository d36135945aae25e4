"""The two recorded runs that the chapter on serving opens with; bundled as a file.

Makes what `llmviz.course.lessons.efficiency.serving.serving_recording` reads.
"""

from __future__ import annotations

from llmviz.course.lessons.efficiency.serving.serving_recording import COMMAND, FILE, TRIAL, write
from llmviz.course.lessons.efficiency.serving.serving_run import runs_of, serving_run


def main() -> None:
    """Record both runs and write the file."""
    write(TRIAL, runs_of(TRIAL, list(serving_run(TRIAL))), FILE, COMMAND)


if __name__ == "__main__":
    main()
