"""The pairs of a rule, and what the base, or a trained model, thinks of them."""

import numpy as np
import streamlit as st

from llmviz.course.lessons.finetuning.preferences import words
from llmviz.course.lessons.finetuning.preferences.model import PairLogs, pair_logs
from llmviz.course.lessons.finetuning.tuned_model import base
from llmviz.course.ui import engine, kit
from llmviz.finetuning.labels import GLAD, SORRY
from llmviz.finetuning.preferences import Pair, pairs
from llmviz.models import GPT

SHOWN = 5  # pairs
SEED = 1  # not that of the pairs that are learned from


@kit.kept(8)
def shown_pairs(rule: str) -> tuple[Pair, ...]:
    """Return the pairs that are looked at; none of them is trained on."""
    return tuple(pairs(rule, SHOWN, SEED))


@kit.kept(8)
def base_logs(bundled: engine.Bundled, rule: str) -> PairLogs:
    """Return what the base thinks of them."""
    return pair_logs(bundled.model, bundled.tokenizer, shown_pairs(rule))


@kit.kept(16)
def logs_of(model: GPT, rule: str) -> np.ndarray:
    """Return ln P of the endings under a trained model, (P, 2)."""
    return pair_logs(model, base().tokenizer, shown_pairs(rule)).log_p


def draw(state: kit.PageState) -> int:
    """Show the choice of the rule and of a pair, and the pair; return its number from 0."""
    anew = state.setter(prefer=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.choose(state, "rule", words.rule, words.rules, then=anew)
        st.number_input(words.pair, width=110, **state.ranged("pair"))
    kit.prose(words.about[state["rule"]], glad=len(GLAD), sorry=len(SORRY))
    number = state["pair"] - 1
    pair = shown_pairs(state["rule"])[number]
    st.caption(words.pair_story)
    st.code(pair.story, language=None, wrap_lines=True)
    logs = base_logs(base(), state["rule"])
    both = zip((words.better, words.worse), (pair.better, pair.worse), strict=True)
    for column, (label, text) in zip(st.columns(2), both, strict=True):
        with column:
            st.markdown(f"**{label}**")
            st.code(text, language=None, wrap_lines=True)
    better, worse = logs.log_p[number].tolist()
    kit.prose(thinks(better, worse))
    return number


def thinks(better: float, worse: float) -> str:
    """Return what the base makes of a pair, in a sentence; both as ln P."""
    sign = int(np.sign(round(better, 2) - round(worse, 2)))
    written = {"better": kit.signed(better), "worse": kit.signed(worse)}
    return words.base_thinks.format(**written, prefers=words.prefers[sign])
