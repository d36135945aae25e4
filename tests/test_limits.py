"""What one browser, one address and all together may have: settings, each a whole number."""

import ast
from pathlib import Path

import pytest

import llmviz
from llmviz import limits
from llmviz.course.components.token_strip import view
from llmviz.course.ui import prose
from tests.sources import nodes_where
from tests.test_readme import README

PACKAGE = Path(llmviz.__file__).parent


@pytest.mark.parametrize("setting", limits.DEFAULTS)
def test_each_limit_has_a_default_and_a_setting_that_is_checked(setting, monkeypatch):
    monkeypatch.delenv(setting, raising=False)
    assert limits.limit(setting) == limits.DEFAULTS[setting]
    monkeypatch.setenv(setting, "7")
    assert limits.limit(setting) == 7
    for wrong in ("0", "-1", "many", "1.5"):
        monkeypatch.setenv(setting, wrong)
        with pytest.raises(ValueError, match=f"{setting} must be a whole number .* got '{wrong}'"):
            limits.limit(setting)


def test_readme_says_each_limit_with_its_default():
    for setting, default in limits.DEFAULTS.items():
        assert f"| `{setting}` | {default:,} |" in README, setting


@pytest.mark.parametrize("kind", ["RUNS", "UNKEPT", "WINDOWS"])
def test_an_address_may_have_more_than_a_browser(kind):
    assert limits.DEFAULTS[f"LLMVIZ_ADDRESS_{kind}"] > limits.DEFAULTS[f"LLMVIZ_BROWSER_{kind}"]


def test_no_address_alone_fills_the_server():
    default = limits.DEFAULTS
    assert default["LLMVIZ_ADDRESS_RUNS"] < default["LLMVIZ_MAX_WAITING"]
    assert default["LLMVIZ_ADDRESS_WINDOWS"] < default["LLMVIZ_MAX_WINDOWS"]
    assert default["LLMVIZ_ADDRESS_UPLOADS"] < default["LLMVIZ_MAX_UPLOADS"]


# Caches without a limit that have arguments: each is asked only for what this project itself has.
OUR_OWN = {
    "corpus/deeds.py": {"_deeds", "_addends"},
    "corpus/facts_in_passages.py": {"values"},
    "corpus/scenes.py": {"_lore"},
    "corpus/story.py": {"slot", "phrases", "others_of"},
    "corpus/words.py": {"words"},
    "course/components/_shared/bundle.py": {"modules"},
    "course/components/_shared/transport.py": {"renderer"},
    "study/read_letters.py": {"counting", "recorded"},
    "study/smoothed_runs.py": {"recorded"},
    "study/answering_heads.py": {"recorded"},
    "study/beyond_context.py": {"recorded"},
    "study/chat_model.py": {"bundled"},
    "study/chat_prompts.py": {"template_of"},
    "study/chat_record.py": {"recorded"},
    "study/case_evidence.py": {"_world"},
    "course/site/live/__init__.py": {"packed_model"},
    "course/document/check.py": {"_names"},
    "course/lessons/training/runs/plan_controls.py": {"options_of"},
    "show/widget.py": {"_script"},
    "streamlit_parts.py": {"_say"},
    "study/distil_record.py": {"bundled", "recorded"},
    "study/features_record.py": {"scores", "bundle"},
    "study/grokking_record.py": {"_parts", "film", "final_logits"},
    "study/induction_record.py": {"_parts", "learned", "story_on_random"},
    "study/model_errors.py": {"recorded"},
    "study/more_tries.py": {"recorded"},
    "study/moved_answers.py": {"recorded"},
    "study/own_reward.py": {"recorded"},
    "study/preference_record.py": {"recorded"},
    "study/passage_recall.py": {"recorded"},
    "study/passage_record.py": {"bundled", "recorded"},
    "study/probe_chances.py": {"told_apart"},
    "study/read_facts.py": {"bundled"},
    "study/read_leaning.py": {"bundled"},
    "study/read_planted.py": {"bundled"},
    "study/scaling_fits.py": {"recorded"},
    "study/reward_runs.py": {"recorded"},
    "study/scaling_runs.py": {"recorded"},
    "study/sum_texts.py": {"bundled"},
    "study/steering_record.py": {"recorded", "_directions"},
    "study/superposition_record.py": {"_parts"},
    "study/tested_in_training.py": {"bundled"},
    "study/think_first.py": {"bundled", "recorded"},
    "study/think_tasks.py": {"recorded"},
    "study/token_letters.py": {"recorded"},
    "study/tool_record.py": {"bundled", "recorded"},
    "course/ui/code.py": {"_source"},
    "course/ui/contents.py": {"_short_names", "_params"},
}


def test_no_cache_without_a_limit_keeps_what_visitors_write():
    found = {}
    for path, node in nodes_where(sorted(PACKAGE.rglob("*.py")), "cache"):
        if isinstance(node, ast.FunctionDef) and (node.args.args or node.args.vararg):
            endless = {"cache", "functools.cache", "lru_cache(None)", "lru_cache(maxsize=None)"}
            if endless & {ast.unparse(one) for one in node.decorator_list}:
                found.setdefault(path.relative_to(PACKAGE).as_posix(), set()).add(node.name)
    assert found == OUR_OWN


@pytest.mark.parametrize(
    ("remembered", "shown", "text"),
    [
        (view._known_text, view.visible_text, b"a" * 10_000),
        (prose._known_html, prose.to_html, "a" * 10_000),
    ],
)
def test_a_text_as_long_as_a_visitor_likes_is_not_remembered(remembered, shown, text):
    before = remembered.cache_info().currsize
    assert shown(text) == shown(text)
    assert remembered.cache_info().currsize == before
