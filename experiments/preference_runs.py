"""A training on preferences for each rule, looked at on its way.

Makes what `llmviz.course.lessons.finetuning.preferences.model` reads.
"""

from dataclasses import asdict
from pathlib import Path

from experiments._command import write_to
from llmviz.course.lessons.finetuning.preferences.model import COMMAND, FILE, SETTINGS
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.finetuning.plan import BASE
from llmviz.finetuning.preference_run import Look, preference_run
from llmviz.finetuning.preferences import RULES
from llmviz.training.files import write_json


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Train once for each rule and write the looks."""
    runs = {
        rule: [asdict(look) for look in preference_run(rule, **SETTINGS) if isinstance(look, Look)]
        for rule in RULES
    }
    about = {"command": COMMAND, "base": BASE, **SETTINGS}
    write_json(folder / FILE, {**about, "runs": runs})


if __name__ == "__main__":
    write_to(make, "Train the story model on pairs of each rule.")
