"""Make bundled records again: `python -m experiments make NAME`, `python -m experiments list`.

Each record of `data/` that lessons read is made by one command, from seeds. What stands behind its
name is handed on: `--to FOLDER` writes to another folder.
"""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Sequence
from typing import NamedTuple


class Record(NamedTuple):
    """What makes a record, and about how long it takes on two cores."""

    module: str
    takes: str


RECORDS = {
    "answering-heads": Record("llmviz.course.lessons.errors.causes.answering_heads", "6 minutes"),
    "beyond-context": Record("llmviz.course.lessons.errors.asked.beyond_context", "14 minutes"),
    "chat": Record("llmviz.course.lessons.reasoning.conversation.chat_record", "10 minutes"),
    "distilled": Record("llmviz.course.lessons.reasoning.distil.distil_record", "74 minutes"),
    "facts": Record("llmviz.course.lessons.errors.read_facts", "a minute"),
    "features": Record("llmviz.course.lessons.discoveries.features_record", "an hour"),
    "first-letter": Record("llmviz.training.first_letter", "11 minutes"),
    "gamed-rewards": Record("llmviz.course.lessons.reasoning.gamed.model", "8 minutes"),
    "grokking": Record("llmviz.course.lessons.discoveries.grokking.grokking_record", "25 minutes"),
    "induction": Record(
        "llmviz.course.lessons.discoveries.induction.induction_record", "10 minutes"
    ),
    "labelled-texts": Record(
        "llmviz.course.lessons.finetuning.classifier.examples_curve", "some minutes"
    ),
    "leaning": Record("llmviz.course.lessons.errors.read_leaning", "a minute"),
    "letter-map": Record("llmviz.course.lessons.history.mlp.letter_film", "seconds"),
    "letters": Record("llmviz.course.lessons.errors.letters.model", "20 minutes"),
    "many-machines": Record("llmviz.parallel.recording", "a minute"),
    "mistakes": Record("llmviz.training.experiments", "half a minute"),
    "model-errors": Record("llmviz.course.lessons.errors.model_errors", "9 minutes"),
    "more-tries": Record("llmviz.course.lessons.reasoning.tries.model", "a minute"),
    "moved-answers": Record("llmviz.course.lessons.errors.moved_answers", "7 minutes"),
    "passage-recall": Record("llmviz.course.lessons.reasoning.lookup.passage_recall", "a minute"),
    "passages": Record("llmviz.course.lessons.reasoning.lookup.passage_record", "12 minutes"),
    "planted": Record("llmviz.course.lessons.errors.read_planted", "a minute"),
    "quantization": Record(
        "llmviz.course.lessons.efficiency.quantization.quantization_curves", "3 minutes"
    ),
    "reward-models": Record(
        "llmviz.course.lessons.reasoning.preference.preference_record", "45 minutes"
    ),
    "reward-runs": Record("llmviz.course.lessons.reasoning.reward_runs", "half an hour"),
    "scaling": Record("llmviz.course.lessons.discoveries.scaling.scaling_runs", "half an hour"),
    "scaling-fits": Record("llmviz.course.lessons.discoveries.scaling.scaling_fits", "6 minutes"),
    "serving": Record("llmviz.course.lessons.efficiency.serving.serving_recording", "seconds"),
    "serving-texts": Record("llmviz.course.lessons.efficiency.serving.serving_texts", "seconds"),
    "smoothed": Record("llmviz.course.lessons.errors.sure.model", "11 minutes"),
    "steering": Record("llmviz.course.lessons.discoveries.steering.model", "3 minutes"),
    "sums": Record("llmviz.course.lessons.reasoning.sum_texts", "some minutes"),
    "superposition": Record(
        "llmviz.course.lessons.discoveries.superposition.superposition_record", "a minute"
    ),
    "tested": Record("llmviz.course.lessons.errors.tested_in_training", "a minute"),
    "think-first": Record("llmviz.course.lessons.reasoning.think_first", "an hour"),
    "think-tasks": Record("llmviz.course.lessons.reasoning.think.model", "25 minutes"),
    "token-letters": Record("llmviz.course.lessons.errors.token_letters", "a minute"),
    "tokenizers": Record("llmviz.tokenizers.bundle", "a minute"),
    "tools": Record("llmviz.course.lessons.reasoning.tools.tool_record", "a quarter of an hour"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments and make what they name; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments", description="Make bundled records again."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="name all records, and how long each takes")
    make = commands.add_parser("make", help="make one record again, or all", add_help=False)
    make.add_argument("name", choices=[*RECORDS, "all"], metavar="NAME", help="a record, or all")
    given, rest = parser.parse_known_args(arguments)
    if given.command == "list":
        width = max(map(len, RECORDS))
        sys.stdout.writelines(
            f"{name:{width}}  {record.takes}\n" for name, record in RECORDS.items()
        )
        return 0
    for name in RECORDS if given.name == "all" else [given.name]:
        sys.argv = [f"python -m experiments make {name}", *rest]
        runpy.run_module(RECORDS[name].module, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
