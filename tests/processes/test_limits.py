"""What one browser, one address and all together may have: settings, each a whole number."""

import ast
from pathlib import Path

import pytest

import llmviz
from llmviz.course.components.token_strip import view
from llmviz.course.ui import prose
from llmviz.processes import limits
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
    "course/lessons/next/diffusion/model.py": {"bundled", "recorded"},
    "course/lessons/next/experts/model.py": {"recorded"},
    "course/lessons/next/language/model.py": {"recorded", "spelling_other", "tokenizer_of"},
    "course/lessons/next/longer/longer_record.py": {"recorded"},
    "course/lessons/next/memory/model.py": {"bundled", "recorded"},
    "course/lessons/next/watermark/model.py": {"recorded"},
    "course/lessons/real/record.py": {"recorded"},
    "corpus/action_productions.py": {"_actions", "_addends"},
    "corpus/facts_in_passages.py": {"values"},
    "corpus/scene_productions.py": {"_lore"},
    "corpus/story.py": {"slot", "phrases", "others_of"},
    "corpus/villages.py": {"followers"},
    "corpus/words.py": {"words"},
    "course/components/_shared/bundle.py": {"modules"},
    "course/components/_shared/transport.py": {"renderer"},
    "course/lessons/errors/letters/model.py": {"counting", "recorded"},
    "course/lessons/finetuning/preferences/model.py": {"recorded"},
    "course/lessons/glossary/pictures.py": {"picture"},
    "finetuning/preference_run.py": {"shown_pairs"},
    "course/lessons/errors/calibration/model.py": {"recorded"},
    "course/lessons/errors/causes/answering_heads.py": {"recorded"},
    "course/lessons/errors/asked/beyond_context.py": {"recorded"},
    "course/lessons/reasoning/conversation/chat_model.py": {"bundled"},
    "course/lessons/reasoning/conversation/chat_prompts.py": {"template_of"},
    "course/lessons/reasoning/conversation/chat_record.py": {"recorded"},
    "course/lessons/errors/causes/case_evidence.py": {"_world"},
    "course/site/live/__init__.py": {"packed_model"},
    "course/document/check.py": {"_names"},
    "course/lessons/training/runs/plan_controls.py": {"options_of"},
    "obtainable/catalogue.py": {"_installed"},
    "show/widget.py": {"_script"},
    "course/streamlit_parts.py": {"_say"},
    "course/lessons/reasoning/distillation/distil_record.py": {"bundled", "recorded"},
    "course/lessons/discoveries/features_record.py": {"scores", "bundle"},
    "course/lessons/discoveries/grokking/grokking_record.py": {"_parts", "film", "final_logits"},
    "course/lessons/discoveries/induction/induction_record.py": {
        "_parts",
        "learned",
        "story_on_random",
    },
    "course/lessons/errors/model_errors.py": {"recorded"},
    "course/lessons/reasoning/best_of_n/model.py": {"recorded"},
    "course/lessons/errors/moved_answers.py": {"recorded"},
    "course/lessons/reasoning/reward_hacking/model.py": {"recorded"},
    "course/lessons/reasoning/preference/preference_record.py": {"recorded"},
    "course/lessons/reasoning/retrieval/passage_ranking.py": {"recorded"},
    "course/lessons/reasoning/retrieval/passage_record.py": {"bundled", "recorded"},
    "course/lessons/sampling/knows/model.py": {"told_apart"},
    "course/lessons/errors/read_facts.py": {"bundled"},
    "course/lessons/errors/read_leaning.py": {"bundled"},
    "course/lessons/errors/read_planted.py": {"bundled"},
    "course/lessons/discoveries/scaling/scaling_fit.py": {"recorded"},
    "course/lessons/reasoning/reward_runs.py": {"recorded"},
    "course/lessons/discoveries/scaling/scaling_runs.py": {"recorded"},
    "course/lessons/reasoning/sum_texts.py": {"bundled"},
    "course/lessons/discoveries/steering/model.py": {"recorded", "_directions"},
    "course/lessons/discoveries/superposition/model.py": {"_parts"},
    "course/lessons/errors/tested_in_training.py": {"bundled"},
    "course/lessons/reasoning/think_first.py": {"bundled", "recorded"},
    "course/lessons/reasoning/chain_of_thought/model.py": {"recorded"},
    "course/lessons/errors/token_letters.py": {"recorded"},
    "course/lessons/reasoning/tools/tool_record.py": {"bundled", "recorded"},
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
