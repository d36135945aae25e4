"""Every chapter on rewards shows any setting or refuses it, and names the command it lacks."""

from __future__ import annotations

import importlib
import re

import pytest

from llmviz.course.lessons.reasoning.distillation.distil_record import MANY
from llmviz.course.lessons.reasoning.distillation.distilling import SOFT_1
from tests.pages.harness import fine, open_part, prose_of

MAKES = {
    "chain_of_thought": "think-first",
    "best_of_n": "more-tries",
    "distillation": "distilled",
    "preference": "reward-models",
    "reinforce": "reward-runs",
    "retrieval": "passages",
    "reward_hacking": "gamed-rewards",
    "tools": "tools",
}


@pytest.mark.parametrize("part", MAKES)
def test_a_copy_without_the_record_names_the_command(part, monkeypatch):
    def missing(*_: object) -> None:
        raise ValueError("no")

    chapter = importlib.import_module(f"llmviz.course.lessons.reasoning.{part}.chapter")
    monkeypatch.setattr(getattr(chapter, "model", chapter), "recorded", missing)
    page = open_part("reasoning", part)
    fine(page)
    command = f"python -m experiments make {MAKES[part]}"
    assert any(command in one.value.splitlines() for one in page.code)


ALWAYS = {
    "best_of_n": "A vote removes slips, and elects habits",
    "distillation": "students of text fell",
    "reinforce": "The reward explained nothing",
    "reward_hacking": "You get what you pay for",
    "tools": "the question put to it is a guess",
    "trust": "does not know who speaks",
}
SAME, NOTHING = "All arms pay the same", "nothing is learned"  # said of these settings alone
FIRST = "The first ending gets"


@pytest.mark.parametrize(
    ("part", "link", "refused", "said"),
    [
        ("reinforce", {"paya": "1", "payb": "1", "payc": "1", "armbase": "mean"}, "", SAME),
        ("reinforce", {"paya": "0", "payb": "0", "payc": "0"}, "", SAME),
        (
            "reinforce",
            dict(paya="-1", payb="-1", payc="-0.3", armrate="2", armupdate="100"),
            "",
            "",
        ),
        ("reinforce", {"armcell": "variance.9.9", "armseed": "999", "armbase": "best"}, "", ""),
        ("best_of_n", {"trysum": "10+10", "trycount": "1", "trybeam": "1"}, "", ""),
        ("best_of_n", dict(trysum="99+99", trycount="64", trybeam="15", trydraw="999"), "", ""),
        ("best_of_n", {"trysum": "<i>1</i>"}, "Type a sum", ""),
        ("distillation", dict(distheat="1", diststudent=SOFT_1, distcount=str(MANY)), "", ""),
        ("distillation", {"distat": "1"}, "", "Only one token can come here"),
        ("distillation", {"distat": "300", "distheat": "10"}, "", ""),
        ("distillation", {"disttext": "Лес <b>x</b>"}, "", "No story of the grammar begins with"),
        ("distillation", {"disttext": "{story} Then 🙂"}, "", "read up to this token"),
        ("preference", {}, "", "a hunt found bad text"),
        ("preference", {"prefone": "", "preftwo": ""}, "", "Both endings are empty"),
        ("preference", {"prefstory": "", "prefone": "x"}, "", FIRST),
        ("preference", {"prefone": "<script>a(1)</script>", "preftwo": "日本語 🙂"}, "", FIRST),
        ("preference", {"prefone": "word " * 59}, "", FIRST),
        ("reinforce", {"rlway": "reinforce", "rlgroup": "1"}, "", ""),
        ("reinforce", {"rlway": "ppo", "rlgroup": "1"}, "compares the answers of a group", ""),
        ("reinforce", {"rlway": "baseline", "rlgroup": "2"}, "", ""),
        ("reinforce", {"rlsum": "47+850"}, "Type a sum", ""),
        ("reinforce", {"rlsum": "10+10", "rlgroup": "16", "rlway": "baseline"}, "", ""),
        ("reward_hacking", {"paypattern": "("}, "no regular expression", ""),
        ("reward_hacking", {"paypattern": "((a{100}){100}){100}"}, "at most 1000 times", ""),
        ("reward_hacking", {"payform": "0"}, "", NOTHING),
        (
            "reward_hacking",
            dict(payright="-1", payword="0.25", payholds="<b>", payform="0"),
            "",
            "",
        ),
        ("tools", {}, "", "a loop has to end"),
        ("tools", {"toolasked": "37 add 85"}, "", "which is right"),
        ("tools", {"toolasked": "5 divided by 0"}, "", "not defined as a whole number"),
        ("tools", {"toolasked": "37"}, "from 1 to 4 steps", ""),
        ("tools", {"toolasked": "<b>1</b> + 2"}, "a question is whole numbers", ""),
        ("tools", {"toolasked": "1" * 13 + "+2"}, "at most 12 digits", ""),
        ("trust", {"trustlie": "own", "trustsays": "ñ"}, "", "not in the vocabulary"),
        ("trust", {"trustlie": "own", "trustsays": "<b>⟨end⟩"}, "", "characters of the tool"),
        ("trust", {"trustlie": "own", "trustsays": ""}, "", ""),
        ("trust", dict(trustlie="sign", trustmodel="doubt", toolasked="12+3*4-5"), "", ""),
        ("trust", {"trustlie": "own", "trustsays": "9" * 100}, "", ""),
    ],
)
def test_the_chapter_is_whole_at_any_setting_or_refuses_it(part, link, refused, said):
    if "disttext" in link:
        words = importlib.import_module(f"llmviz.course.lessons.reasoning.{part}").words
        link = {"disttext": link["disttext"].replace("{story}", words.story)}
    page = open_part("reasoning", part, show="1", **link)
    fine(page)
    errors = " ".join(one.value for one in page.error)
    assert (refused in errors) if refused else not errors
    told = " ".join([prose_of(page), *(one.value for one in page.info)])
    assert "<script>" not in told and not re.search(r"\bnan\b", told)
    plain = " ".join(told.split())
    assert said.lower() in plain.lower() and ALWAYS.get(part, "") in plain
    for alone in (SAME, NOTHING):
        assert (alone in plain) == (said == alone)
