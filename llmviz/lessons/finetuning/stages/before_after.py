"""One prompt through the model before any training, after pretraining, and after fine-tuning."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from llmviz.figures.stream import three_bars
from llmviz.figures.theme import Mode
from llmviz.finetuning.plan import BASE
from llmviz.lessons.finetuning import tuned_model
from llmviz.lessons.finetuning.stages import words
from llmviz.study.continuations import Continuation, continuation
from llmviz.textfile import check_text
from llmviz.ui.common import suggest, theme
from llmviz.ui.kept import kept
from llmviz.ui.lesson import section
from llmviz.ui.model_on_text import models_here, names_of
from llmviz.ui.notices import inform, refuse
from llmviz.ui.prose import prose
from llmviz.ui.state import PageState
from llmviz.ui.text import escape_plotly
from llmviz.ui.text_field import text_area

TUNED = "instructions"
TOKENS = 40
BARS = 6  # tokens whose probabilities are drawn

MODELS = {
    "random": lambda: tuned_model.random_one(),
    "base": lambda: tuned_model.base().model,
    "tuned": lambda: tuned_model.tuned(TUNED),
}


def draw(state: PageState) -> None:
    """Show what each model writes after the learner's prompt, and its first choice."""
    section(words.before)

    def take(name: str) -> None:
        state["prompt"] = words.prompts[name]

    key = "_finetuning.stages.examples"
    suggest(words.examples, list(words.prompts), take, key=key, label_visibility="collapsed")
    text_area(state, "prompt", words.prompt, height=150)
    if not models_here(BASE):
        return
    try:
        prompt = check_text(state["prompt"])
        version = tuned_model.base().version
        written = {name: after(name, version, prompt) for name in MODELS}
    except ValueError as error:
        refuse(error)
        return
    if written["base"].left_out:
        kept_tokens = max(1, tuned_model.base().model.context_length - TOKENS)
        inform(words.cut.format(kept=kept_tokens), ":material/content_cut:")
    for column, (name, one) in zip(st.columns(len(written)), written.items(), strict=True):
        with column:
            st.markdown(f"**{words.models[name]}**")
            st.code(one.text or words.nothing, language=None, wrap_lines=True)
            st.caption(words.ends if one.ended else words.stopped.format(count=TOKENS))
    prose(words.first)
    figure = first_bars(version, prompt, theme())
    st.plotly_chart(figure, key="finetuning.stages.first", theme=None)
    prose(words.before_reading)


@kept(96)
def after(name: str, version: str, prompt: str) -> Continuation:
    """Return what one of the models writes after a prompt."""
    return continuation(MODELS[name](), tuned_model.base().tokenizer, prompt, TOKENS)


@kept(32)
def first_bars(version: str, prompt: str, mode: Mode) -> go.Figure:
    """Return the likeliest first tokens of the trained models, under all three."""
    chances = [after(name, version, prompt).first for name in MODELS]
    best = [int(i) for i in sum(chances[1:]).argsort()[::-1][:BARS]]
    labels = [escape_plotly(one) for one in names_of(best, tuned_model.base().tokenizer)]
    series = [[float(row[i]) for i in best] for row in chances]
    return three_bars(labels, series, [words.models[name] for name in MODELS], mode)
