"""Records of measured trainings: where a file is missing or damaged, its command is named."""

from __future__ import annotations

import json
import re
from importlib import import_module

import pytest

from llmviz.course.lessons.discoveries import features_record
from llmviz.course.lessons.discoveries.grokking import grokking_record
from llmviz.course.lessons.discoveries.superposition import model as superposition
from llmviz.course.lessons.errors import moved_answers, read_facts, read_leaning, read_planted
from llmviz.course.lessons.errors import tested_in_training as tested
from llmviz.course.lessons.errors.letters import model as letters
from llmviz.course.lessons.reasoning import sum_texts, think_first
from llmviz.course.lessons.reasoning.conversation import chat_model
from llmviz.course.lessons.reasoning.distillation import distil_record
from llmviz.course.lessons.reasoning.retrieval import passage_record
from llmviz.course.lessons.reasoning.tools import tool_record
from llmviz.files.paths import EXPERIMENT_FOLDER

# Modules with a function `recorded`, and records that lack something or have it of another kind.
DAMAGED = {
    "discoveries.scaling.scaling_fit": ['{"fits": {"a": {"law": 1}}}'],
    "discoveries.scaling.scaling_runs": ["{}"],
    "errors.asked.beyond_context": ['{"context": 64, "losses": {}}'],
    "errors.calibration.model": ['{"runs": [], "passes": 1}'],
    "errors.causes.answering_heads": ['{"cases": [{"kind": 1}]}'],
    "errors.letters.model": ['{"scores": {}}'],
    "errors.model_errors": ['{"models": {"a": {"corpus": 1}}}'],
    "errors.moved_answers": [],
    "errors.token_letters": ['{"spellings": {}}'],
    "finetuning.preferences.model": ["{}"],
    "next.diffusion.model": ["{}", '{"seeds": []}'],
    "next.experts.model": ["{}", '{"runs": {"free": [{"above": 1}]}}'],
    "next.memory.model": ["{}", '{"waiters": []}'],
    "next.language.model": ["{}", '{"pieces": {}}'],
    "next.watermark.model": ["{}", '{"honest": 1}'],
    "reasoning.best_of_n.model": ['{"points": []}'],
    "reasoning.chain_of_thought.model": ["{}", '{"models": []}', '{"models": 3}'],
    "reasoning.conversation.chat_record": ['{"models": [{}]}'],
    "reasoning.distillation.distil_record": ['{"runs": []}'],
    "reasoning.retrieval.passage_ranking": ["{}"],
    "reasoning.retrieval.passage_record": ["{}", '{"models": []}', '{"models": 3}'],
    "reasoning.reward_hacking.model": ['{"runs": [{"beta": 0}]}'],
    "reasoning.reward_runs": ['{"runs": [{"way": "grpo"}], "noise": []}'],
    "reasoning.think_first": ['{"models": null}', '{"models": [{"way": "path"}]}'],
    "reasoning.tools.tool_record": ['{"models": []}'],
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_record_that_is_missing_or_damaged_names_its_command(name, tmp_path):
    module = import_module(f"llmviz.course.lessons.{name}")
    command = re.escape(getattr(module, "COMMAND", chat_model.COMMAND))
    with pytest.raises(ValueError, match=rf"is not in this copy; `{command}` makes it"):
        module.recorded(tmp_path)
    for at, content in enumerate(DAMAGED[name]):
        (tmp_path / f"{at}").mkdir()
        (tmp_path / f"{at}" / module.FILE).write_text(content, "utf-8")
        with pytest.raises(ValueError, match=rf"is damaged.*`{command}` makes it again"):
            module.recorded(tmp_path / f"{at}")


def folders_with(tmp_path, file, contents):
    """A folder for each content of a file."""
    for at, content in enumerate(contents):
        folder = tmp_path / str(at)
        folder.mkdir(parents=True)
        (folder / file).write_text(json.dumps(content), "utf-8")
        yield folder


def test_a_record_in_which_one_thing_is_missing_is_damaged(tmp_path):
    ways = json.loads((EXPERIMENT_FOLDER / moved_answers.FILE).read_text("utf-8"))["ways"]
    for folder in folders_with(tmp_path / "a", moved_answers.FILE, [{"ways": ways}]):
        with pytest.raises(ValueError, match="damaged"):
            moved_answers.recorded(folder)
    whole = json.loads((EXPERIMENT_FOLDER / think_first.FILE).read_text("utf-8"))
    first, *rest = whole["models"]
    lacking = [rest, [first | {"order": "none"}, *rest], [first | {"right": []}, *rest]]
    models = [{"models": one} for one in lacking]
    for folder in folders_with(tmp_path / "b", think_first.FILE, models):
        with pytest.raises(ValueError, match="damaged"):
            think_first.recorded(folder)
    for folder in folders_with(tmp_path / "c", features_record.SCORES, [{"runs": []}]):
        with pytest.raises(ValueError, match="is damaged"):
            features_record.scores(folder)
        assert features_record.weights_of(folder) == ""


@pytest.mark.parametrize(
    ("module", "read", "of"),
    [
        (chat_model, "bundled", []),
        (distil_record, "bundled", ["text"]),
        (features_record, "bundle", [2, 384]),
        (features_record, "scores", []),
        (grokking_record, "film", [grokking_record.MAIN]),
        (letters, "counting", ["letters"]),
        (passage_record, "bundled", []),
        (read_facts, "bundled", [0, 0]),
        (read_leaning, "bundled", [0.5, 0]),
        (read_planted, "bundled", [0, 1]),
        (sum_texts, "bundled", []),
        (superposition, "film", [1.0, 0]),
        (tested, "bundled", []),
        *((think_first, "bundled", [kind]) for kind in think_first.WEIGHTS),
        (tool_record, "bundled", ["tool"]),
    ],
)
def test_weights_and_films_that_are_missing_name_their_command(module, read, of, tmp_path):
    with pytest.raises(ValueError, match=re.escape(module.COMMAND)):
        getattr(module, read)(*of, folder=tmp_path)
